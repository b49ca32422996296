"""CSV at its edges: a single record, no line end at the end, block borders anywhere, a header that is no header."""

import random
from pathlib import Path

import pytest

from nearsame.errors import SourceError
from nearsame.sources import Skipped, streams

from .corpora import copied, only, read


def _read(folder: Path, data: bytes) -> tuple[list[str | None], list[Skipped]]:
    path = folder / "a.csv"
    path.write_bytes(data)
    rows, skipped = read(only(str(path)))
    return [row["text"] for row in rows], skipped


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize(
    ("record", "text"),
    [(b"1,abc def", "abc def"), (b"1,", ""), (b'1,""', ""), (b'1,"a\r\nb"', "a\r\nb"), (b'1,"a"b', "ab")],
)
def test_one_record_is_read_whatever_ends_it(tmp_path: Path, record: bytes, text: str, end: bytes) -> None:
    """The end of the file ends a record as a line end does."""
    assert ([text], []) == _read(tmp_path, b"id,text\n" + record + end)


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\xef\xbb\xbf", b"text", b"id,text", b"id,text\r", b"\xef\xbb\xbfid,text\n"]
)
def test_a_header_alone_or_nothing_is_no_record(tmp_path: Path, data: bytes) -> None:
    """Nothing is read, and nothing is skipped."""
    assert ([], []) == _read(tmp_path, data)


def test_a_mark_and_lines_that_end_with_cr_change_no_name_and_no_value(tmp_path: Path) -> None:
    """The byte order mark is not part of the first name."""
    assert (["abc", "d\0e"], []) == _read(tmp_path, b"\xef\xbb\xbftext,id\rabc,1\rd\0e,2")


def test_a_header_with_an_endless_name_is_refused(tmp_path: Path) -> None:
    """It is data in the wrong place; a header of many names is a header."""
    with pytest.raises(SourceError, match="the header cannot be read: field larger than"):
        _read(tmp_path, b"x" * 200_000 + b",text\n1,abc")
    many = b",".join(b"c%d" % number for number in range(20_000))
    assert (["abc"], []) == _read(tmp_path, many + b",text\n" + b"," * 20_000 + b"abc")


@pytest.mark.parametrize("seed", range(40))
def test_block_borders_change_nothing(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few bytes give the records, the skips and the copy that one block gives."""
    chance = random.Random(seed)
    body = "".join(chance.choices(chance.choice(['a,"\n', 'a,"\r\n', 'ab,"\n\r\0\t\x1c\x85é']), k=40))
    data = chance.choice(["text", "id,text", "id,text,n"]) + chance.choice("\r\n") + body
    path = tmp_path / "a.csv"
    path.write_text(data, "utf-8", newline="")
    whole = read(only(str(path)))
    monkeypatch.setattr(streams, "BATCH_BYTES", chance.randint(1, 20))
    monkeypatch.setattr(streams, "_RAW_CHUNK", chance.randint(1, 20))
    assert whole == read(only(str(path)))
    assert path.read_bytes() == copied(only(str(path)), tmp_path / "kept", []).read_bytes()
