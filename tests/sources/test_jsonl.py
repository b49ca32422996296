"""A line of JSON means the same whatever its neighbours: the fast way and the careful one agree."""

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from nearsame.sources import Columns
from nearsame.sources import streams as module
from nearsame.sources.jsonl import split_lines
from tests.examples import share

from .corpora import Rows, encoded, only, read

_VALUES = st.sampled_from(
    [
        *(
            b'"a"',
            b'"\\ud83d\\ude00"',
            b'"\\ud800"',
            b'"\xff"',
            b'"\x01"',
            b'"}\\n{"',
            b'["a", {"b": 1}]',
            b'{"text": 1}',
        ),
        *(b"1", b"-0", b"1.5", b"1e2", b"1e999", b"NaN", b"18446744073709551615", b"null", b"true", b"[]", b""),
    ]
)
_KEYS = st.sampled_from([b'"text"', b'"id"', b'"other"', b'"te\\u0078t"', b"text"])
_OBJECTS = st.lists(st.tuples(_KEYS, _VALUES), max_size=3).map(
    lambda pairs: b"{" + b", ".join(key + b": " + value for key, value in pairs) + b"}"
)
_LINES = st.one_of(
    _OBJECTS,
    _OBJECTS.map(lambda line: b'{"text": "plain", "id": "a"}' if b"id" not in line else line),
    st.sampled_from(
        [b"", b" \t\r", b"{}", b"{", b"}", b'{"text":', b'"a"}', b"[]", b"7", b"{} {}", b' {"text": "a"} \r']
    ),
)
_COLUMNS = Columns(text="text", id="id")
_HEAD = b'{"text": "head", "id": "head"}\n'  # so that both columns are there


@given(lines=st.lists(_LINES, max_size=6))
@settings(max_examples=share(300))
def test_a_line_is_read_the_same_whatever_its_neighbours(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """All at once equals one at a time, and every line that is not blank is a record or a skip."""
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_bytes(_HEAD + b"\n".join(lines))
    rows, skipped = read(only(path), _COLUMNS)
    positions = [row["position"] for row in rows] + [place.position for place in skipped]
    assert list(range(1 + sum(bool(line.strip(b" \t\r")) for line in lines))) == sorted(filter(_is_int, positions))
    alone: Rows = []
    for line in lines:
        path.write_bytes(_HEAD + line)
        alone += read(only(path), _COLUMNS)[0][1:]
    assert [(row["id"], row["text"]) for row in alone] == [(row["id"], row["text"]) for row in rows[1:]]


def _is_int(value: object) -> bool:
    return isinstance(value, int)


@pytest.mark.parametrize("size", [1, 10, 100, 1_000, 10_000])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_the_size_of_blocks_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, size: int
) -> None:
    """Positions, lines and copies are those of the file."""
    monkeypatch.setattr(module, "BATCH_BYTES", size)
    monkeypatch.setattr(module, "_RAW_CHUNK", max(size // 3, 1))
    rows = [{"id": str(number), "text": "x\n" * number, "n": number} for number in range(20)]
    data = encoded(rows, kind) + b"broken\n" + encoded(rows, kind).split(b"\n", 1)[1]
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data)
    found, skipped = read(only(path))
    expected = [*range(20), *range(1 if kind == "jsonl" else 0, 20)]
    assert expected == [int(row["id"]) for row in found]
    place = next(place for place in skipped if place.position == 20)
    assert data[: data.index(b"broken")].count(b"\n") + 1 == place.line
    only(path).copy(tmp_path / "b", np.array([20]))
    assert data.replace(b"broken\n", b"") == (tmp_path / "b").read_bytes()


def test_lines_end_with_line_feeds_only() -> None:
    """Other line ends of Unicode, and a lone carriage return, are no ends."""
    data = "{}\r{}\u2028{}\x0b\x85\n\r\n{}".encode()
    found = split_lines(data, final=True)
    assert ([0, len(data) - 2], [0, 2], 3) == (found.starts.tolist(), found.lines.tolist(), found.num_lines)
