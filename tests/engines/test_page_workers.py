"""Whoever takes the text out of many pages has it done by the workers of the process."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.engines import sharing
from nearsame.stages.texts import one_page

WORDS = [f"w{number}" for number in range(80)]
PAGES = [f"<nav>Home</nav><main><p>{' '.join(WORDS[at : at + 30])}</main>" for at in (0, 0, 25, 50, 50)]


def _deduplicated(source: str, folder: Path) -> object:
    return ns.dedup(source, html_column="html", use="digest", threads=2).stats.removed


def _indexed(source: str, folder: Path) -> object:
    with ns.Index.create(folder / "index.ns") as index:
        return [added.status for added in index.add(Path(source), html_column="html")]


def _planned(source: str, folder: Path) -> object:
    return ns.plan(corpus=source, html_column="html").record()


def _verified(source: str, folder: Path) -> object:
    ns.dedup(source, html_column="html", threads=2).write(folder / "out")
    verification = ns.verify(folder / "out")
    return verification.holds, verification.checked


@pytest.mark.parametrize("ask", [_deduplicated, _indexed, _planned, _verified])
def test_pages_are_read_by_workers_and_with_the_same_answer(
    ask: Callable[[str, Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process no page can be read; the answer is that of a process that reads them itself."""
    source = str(tmp_path / "pages.parquet")
    pq.write_table(pa.table({"html": PAGES}), source)
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    expected = ask(source, tmp_path / "here")

    def unreadable(*_: object, **__: object) -> None:
        raise AssertionError("a page was read here")

    monkeypatch.setattr(sharing, "STARTING_BYTES", 0)
    monkeypatch.setattr(one_page, "encoding", unreadable)
    assert expected == ask(source, tmp_path / "there")
