"""The benchmark of starts: all in turn, and what its table says."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Benchmarks are scripts that import each other from their own folder."""
    monkeypatch.syspath_prepend(HERE)
    return import_module("start")


def test_all_take_turns_and_a_first_one_does_not_count(start, tmp_path):
    """What the machine does besides falls on each of them."""
    log = tmp_path / "log"
    note = "import sys; open(sys.argv[1], 'a').write(sys.argv[2])"
    jobs = {name: [start.Job([sys.executable, "-c", note, str(log), name], {})] for name in "ab"}
    found = start.medians(jobs, 2)
    assert "ababab" == log.read_text("ascii")
    assert [1, 1] == [len(each) for each in found.values()]
    assert all(seconds > 0 for each in found.values() for seconds in each)


def test_the_table_says_what_a_command_takes_over_the_imports(start):
    """Of the first size; the imports alone have one time for both."""
    found = {start.BARE_ROW: [0.3], "nearsame dedup, built": [0.4, 0.52], "rensa": [0.2, 0.41]}
    assert [
        (start.BARE_ROW, "0.30", "0.30", ""),
        ("nearsame dedup, built", "0.40", "0.52", "+100"),
        ("rensa", "0.20", "0.41", "-100"),
    ] == start.rows(found)
