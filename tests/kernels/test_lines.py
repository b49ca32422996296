"""Lines, against Python's split; wherever the data is cut, they are the same."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.lines import split_lines

BLANK = b" \t\r"
DATA = st.lists(st.sampled_from([b"\n", b"\r\n", b" ", b"\t", b"\r", b"a", b"{}", b"\0", b"\xff", b"\v"])).map(b"".join)


def _lines(data, final):
    """[(start, end, number) of lines that are not blank], lines, bytes of them, whether the rest is blank."""
    *whole, rest = data.split(b"\n")
    ended = [line + b"\n" for line in whole] + ([rest] if final and rest else [])
    found, at = [], 0
    for number, line in enumerate(ended):
        if line.strip(BLANK + b"\n"):
            found.append((at, at + len(line), number))
        at += len(line)
    return found, len(ended), at, not data[at:].strip(BLANK)


def _split(data, final):
    starts, ends, numbers, count, consumed, blank = split_lines(frozen(np.frombuffer(data, np.uint8)), final=final)
    return list(zip(starts.tolist(), ends.tolist(), numbers.tolist(), strict=True)), count, consumed, blank


@given(DATA | st.binary(max_size=30), st.booleans())
@example(b"", True)
@example(b"", False)
@example(b"\n", True)
@example(b"a", False)
@example(b" \r", False)
@example(b"a\n \t\r\n\nb", True)
def test_lines_are_those_of_split(data, final):
    """Without blank ones, which count; what has no line end is a line only where the data ends."""
    assert _lines(data, final) == _split(data, final)


@given(DATA, st.data())
def test_lines_are_the_same_wherever_the_data_is_cut(data, drawn):
    """What is left of the first part is read again with the second one."""
    cut = drawn.draw(st.integers(0, len(data)))
    first, count, consumed, _ = _split(data[:cut], final=False)
    then, others, bytes_, _ = _split(data[consumed:], final=True)
    moved = [(start + consumed, end + consumed, number + count) for start, end, number in then]
    assert _split(data, final=True)[:3] == (first + moved, count + others, consumed + bytes_)


@pytest.mark.parametrize("byte", range(256))
def test_only_three_bytes_are_blank(byte):
    """A space, a tab and a carriage return; a line feed ends the line; any other byte is something."""
    data = bytes([32, byte, 9])
    blank = byte in b" \t\r\n"
    assert ([] if blank else [(0, 3, 0)], 2 if byte == 10 else 1, 3, True) == _split(data, final=True)
    assert ([], int(byte == 10), 2 if byte == 10 else 0, blank) == _split(data, final=False)


def test_many_lines_have_room():
    """Fifty thousand, of which one in three is blank."""
    data = b"ab\n\ncd\r\n" * 17_000
    starts, ends, numbers, count, consumed, _ = split_lines(np.frombuffer(data, np.uint8), final=False)
    assert (34_000, 51_000, len(data)) == (len(starts), count, consumed)
    assert (0, len(data), 50_999) == (starts[0], ends[-1], numbers[-1])
    assert {b"ab\n", b"cd\r\n"} == {data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)}
