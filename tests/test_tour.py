"""examples/tour.ipynb runs from its first cell to its last, and shows what is stored in it.

`UPDATE_GOLD=1` stores what it shows now.
"""

import os
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="the notebook is run where the group dev is installed")
TOUR = Path(__file__).parents[1] / "examples" / "tour.ipynb"


def shown(notebook):
    """What each cell shows: its kinds of data."""
    return [
        [output.get("data") or (output.output_type, output.get("text")) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what Jupyter says of itself is not ours
def test_the_tour_shows_what_is_stored_in_it(tmp_path, monkeypatch):
    """Executed from nothing, by a kernel of its own."""
    from nbclient import NotebookClient

    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    stored = nbformat.read(TOUR, as_version=4)
    fresh = nbformat.read(TOUR, as_version=4)
    NotebookClient(fresh, timeout=300, kernel_name="python3", record_timing=False).execute(cwd=str(tmp_path))
    fresh.metadata = stored.metadata
    if os.environ.get("UPDATE_GOLD"):
        nbformat.write(fresh, TOUR)
    assert shown(fresh) == shown(nbformat.read(TOUR, as_version=4))


def test_the_tour_is_small_and_names_no_machine():
    """What is stored has no path, no script and no error, and every cell has been run."""
    text = TOUR.read_text("utf-8")
    assert len(text) < 200_000
    assert [] == re.findall(r"/(?:home|root|work|tmp|usr)/|<script|Traceback", text)
    notebook = nbformat.read(TOUR, as_version=4)
    nbformat.validate(notebook)
    assert all(cell.outputs for cell in notebook.cells if cell.cell_type == "code")
