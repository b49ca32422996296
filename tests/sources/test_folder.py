"""Folders of text files: copies, and equality ruled out without reading."""

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import nearsame as ns
from nearsame.errors import SourceError
from nearsame.sources import Columns, TextFolder, alike, open_parts
from nearsame.sources.page_records import is_page

from .corpora import copied, only, read


def _folder(path: Path, texts: list[bytes], *, copy_files: bool = False) -> TextFolder:
    path.mkdir(parents=True)
    for number, text in enumerate(texts):
        (path / f"{number:03}.txt").write_bytes(text)
    (part,) = open_parts([path], columns=Columns())
    assert isinstance(part, TextFolder)
    return part.as_files() if copy_files else part


def test_a_copy_lists_the_paths_that_stay(tmp_path: Path) -> None:
    """One a line, in order."""
    part = _folder(tmp_path / "a", [b"A", b"B", b"C"])
    assert "000.txt\n002.txt\n" == copied(part, tmp_path, [1]).read_text()


def test_with_copy_files_the_files_that_stay_are_copied(tmp_path: Path) -> None:
    """Byte for byte, also what is not text."""
    part = _folder(tmp_path / "a", [b"A", b"B", b"\xff\r\n"], copy_files=True)
    kept = copied(part, tmp_path, [1])
    assert {"000.txt": b"A", "002.txt": b"\xff\r\n"} == {path.name: path.read_bytes() for path in kept.iterdir()}


def test_a_text_file_that_changed_since_is_not_copied(tmp_path: Path) -> None:
    """What was read is not what would be written."""
    part = _folder(tmp_path / "a", [b"A"], copy_files=True)
    (tmp_path / "a" / "000.txt").write_bytes(b"other")
    with pytest.raises(SourceError, match="changed"):
        copied(part, tmp_path)


def test_only_some_positions_are_read(tmp_path: Path) -> None:
    """They keep their numbers."""
    part = _folder(tmp_path / "a", [b"A", b"B", b"C"])
    (batch,) = part.read(Columns(), print, only=np.array([0, 2]))
    assert ([0, 2], ["A", "C"]) == (batch["position"].to_pylist(), batch["text"].to_pylist())


def test_files_that_differ_in_size_or_samples_need_no_digest(tmp_path: Path) -> None:
    """Only those that may be equal are left: here one pair is, and one differs where no sample is."""
    long = bytearray(b"x" * 100_000)
    other, late = bytearray(long), bytearray(long)
    other[20_000] = 0  # between the samples
    late[-1] = 0  # in the last one
    part = _folder(tmp_path / "a", [b"A", b"AA", b"BB", b"AA", bytes(long), bytes(other), bytes(late)])
    assert [1, 3, 4, 5] == part.narrow().tolist()
    assert [0, 1, 3, 4, 5] == part.narrow(_folder(tmp_path / "b", [b"A", b"C"])).tolist()


@given(texts=st.lists(st.sampled_from([b"", b"A", b"B", b"AB", b"A" * 9_000, b"A" * 8_999 + b"B"]), max_size=8))
def test_no_equal_pair_is_narrowed_away(tmp_path_factory: pytest.TempPathFactory, texts: list[bytes]) -> None:
    """Whatever equals another file, in its folder or in another, is left."""
    folders = [_folder(tmp_path_factory.mktemp("t") / "a", [*texts[at::2], b"only"]) for at in (0, 1)]
    left = alike(folders)
    for folder, positions, at in zip(folders, left, (0, 1), strict=True):
        for position, text in enumerate(texts[at::2]):
            assert position in positions or texts.count(text) == 1
        assert folder.narrow(*[other for other in folders if other is not folder]).tolist() == positions.tolist()


def test_a_file_that_went_away_is_a_skip(tmp_path: Path) -> None:
    """One document among many."""
    part = _folder(tmp_path / "a", [b"A", b"B"])
    (tmp_path / "a" / "000.txt").unlink()
    rows, skipped = read(part)
    assert ([1], [0]) == ([row["position"] for row in rows], [place.position for place in skipped])


def test_a_folder_knows_its_size(tmp_path: Path) -> None:
    """Of all files together; a data file's is its own."""
    assert 3 == _folder(tmp_path / "a", [b"A", b"BB"]).size_bytes()
    (tmp_path / "a.jsonl").write_bytes(b"{}")
    assert 2 == only(tmp_path / "a.jsonl").size_bytes()


def test_each_path_is_looked_at_a_few_times(tmp_path, monkeypatch):
    """Each line of the manifest looked at all of them: of 20,000 files none was ever written."""
    looked_at, inner = [], is_page
    monkeypatch.setattr("nearsame.sources.folder.is_page", lambda path: looked_at.append(path) or inner(path))
    for number in range(60):
        (tmp_path / f"{number}.txt").write_text(f"a text of its own {number} {number}", "utf-8")
    ns.dedup(tmp_path).write(tmp_path.with_name("out"))
    assert len(looked_at) <= 10 * 60
