"""The splitter of delimited text against an obvious twin, and against Python's own reader."""

import csv
import io

import hypothesis.strategies as st
import numpy as np
from hypothesis import example, given

from nearsame.kernels.records import split_records

TEXTS = st.lists(st.sampled_from(["a", ",", '"', "\n", "\r", "\r\n", "é"]), max_size=30).map("".join)


def _twin(text: bytes) -> list[tuple[int, int, int]]:  # noqa: C901  (one obvious loop beats several clever functions)
    """Start, end and number of fields of each record, a character at a time."""
    found, start, fields, state = [], 0, 1, "field start"
    at = 0
    while at < len(text):
        character = text[at : at + 1]
        at += 1
        if state == "quoted":
            if character == b'"':
                if text[at : at + 1] == b'"':
                    at += 1
                else:
                    state = "field"
        elif state == "field start" and character == b'"':
            state = "quoted"
        elif character == b",":
            fields, state = fields + 1, "field start"
        elif character in {b"\r", b"\n"}:
            empty = start == at - 1
            if character == b"\r" and text[at : at + 1] == b"\n":
                at += 1
            if not empty:
                found.append((start, at, fields))
            start, fields, state = at, 1, "field start"
        else:
            state = "field"
    if start < len(text):
        found.append((start, len(text), -1 if state == "quoted" else fields))
    return found


def _split(data: bytes, *, final: bool) -> tuple[list[tuple[int, int, int]], int]:
    starts, ends, _, fields, consumed, _ = split_records(np.frombuffer(data, np.uint8), ord(","), final=final)
    return list(zip(starts.tolist(), ends.tolist(), fields.tolist(), strict=True)), consumed


@given(text=TEXTS)
@example(text='"a"\r')
@example(text='a,"')
@example(text='"""')
def test_records_equal_the_twin(text: str) -> None:
    """Starts, ends and numbers of fields, for any arrangement of quotes and line ends."""
    found, consumed = _split(text.encode(), final=True)
    assert (_twin(text.encode()), len(text.encode())) == (found, consumed)


@given(text=TEXTS, data=st.data())
def test_cutting_anywhere_changes_no_record(text: str, data: st.DataObject) -> None:
    """What is consumed before the end is known is what the whole gives, and the rest continues it."""
    whole = text.encode()
    cut = data.draw(st.integers(0, len(whole)))
    first, consumed = _split(whole[:cut], final=False)
    rest, _ = _split(whole[consumed:], final=True)
    shifted = [(start + consumed, end + consumed, fields) for start, end, fields in rest]
    assert _twin(whole) == first + shifted


@given(rows=st.lists(st.lists(TEXTS, min_size=2, max_size=3), max_size=5))
def test_what_python_writes_is_split_into_its_rows(rows: list[list[str]]) -> None:
    """With every field quoted, records are rows."""
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
    assert [len(row) for row in rows] == [fields for _, _, fields in _split(out.getvalue().encode(), final=True)[0]]


def test_lines_are_counted_inside_quotes() -> None:
    """The line of a record is where an editor shows it."""
    data = np.frombuffer(b'a\n\n"b\nb"\r\nc\rd', np.uint8)
    _, _, lines, _, _, num_lines = split_records(data, ord(","), final=True)
    assert ([0, 2, 4, 5], 5) == (lines.tolist(), num_lines)
