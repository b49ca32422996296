"""Texts as their words are read: without the marks of HTML and Markdown, and in one form of Unicode (NFKC).

Both go by places: a part of a text reads as it does in the whole, so what is found in the one is found in the other.
"""

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.arrow import Bytes, Int64s
from nearsame.dataclass import dataclass
from nearsame.forms.aligned import Aligned, align
from nearsame.forms.normalise import normalise
from nearsame.kernels.plain import plain as kernel

__all__ = ["PlainText", "plain"]

_LOW_LINE, _SPACE = np.uint8(0x5F), np.uint8(0x20)
_NO_EDITS = np.empty((0, 4), np.int64)


def plain(column: pa.LargeStringArray) -> pa.LargeStringArray:
    """Texts as their words are read; nulls stay.

    >>> plain(pa.array(["<b>fi</b>ve &lt; [ﬁfty](http://x.org/y)", None], pa.large_string())).to_pylist()
    ['five < [fifty]', None]
    """
    texts = arrow.strings(column)
    data, ends, _ = _unmarked(texts, _NO_EDITS)
    validity = pa.array(~texts.is_null).buffers()[1] if column.null_count else None
    unmarked = pa.LargeStringArray.from_buffers(len(column), pa.py_buffer(ends), pa.py_buffer(data), validity)
    return _unlined(normalise(unmarked, nfkc=True, strip_accents=False))


def _unlined(column: pa.LargeStringArray) -> pa.LargeStringArray:
    """A space for each `_` that was another character, or a reference."""
    texts = arrow.strings(column)
    lines = texts.data == _LOW_LINE
    if not lines.any():
        return column
    data = np.where(lines, _SPACE, texts.data)
    buffers = [column.buffers()[0], column.buffers()[1], pa.py_buffer(data)]
    return pa.LargeStringArray.from_buffers(len(column), buffers[1], buffers[2], buffers[0], offset=column.offset)


def _unmarked(texts: arrow.Strings, edits: Int64s) -> tuple[Bytes, Int64s, int]:
    """(data, offsets) of what is read, and how many places changed: those for which there is room are in `edits`."""
    out = np.empty(int(texts.offsets[-1] - texts.offsets[0]), np.uint8)
    ends = np.empty(texts.offsets.size, np.int64)
    changes = kernel(texts.data, texts.offsets, out, ends, edits)
    return out[: ends[-1]], ends, changes


@dataclass(frozen=True, eq=False)
class PlainText:
    """A text as its words are read, and how its bytes lie in the text that was given.

    Attributes:
        text: what is read, as UTF-8.
    """

    text: Bytes
    _given: Bytes
    _edits: Int64s
    _aligned: Aligned | None  # None: it was NFKC
    _unmarked: Bytes

    @classmethod
    def of(cls, text: str) -> "PlainText":
        """Of a text.

        >>> read = PlainText.of("a <b>ﬁ</b>n")
        >>> bytes(read.text), read.original(np.array([2]), np.array([5]))
        (b'a fin', (array([6]), array([12])))
        """
        texts = arrow.strings(pa.array([text], pa.large_string()))
        given = texts.data[texts.offsets[0] : texts.offsets[1]]
        unmarked, _, changes = _unmarked(texts, _NO_EDITS)
        edits = np.empty((changes, 4), np.int64)
        if changes:
            _unmarked(texts, edits)
            edits[:, :2] -= texts.offsets[0]
        normal = plain(pa.array([text], pa.large_string()))
        data = arrow.strings(normal)
        own = data.data[data.offsets[0] : data.offsets[1]]
        aligned = None if np.array_equal(own, unmarked) else align(unmarked.tobytes().decode(), nfkc=True)
        return cls(arrow.frozen(own), given, edits, aligned, unmarked)

    def original(self, starts: Int64s, ends: Int64s) -> tuple[Int64s, Int64s]:
        """From spans of bytes here (not empty) to spans of characters there: whole characters, whole marks within."""
        if self._aligned is not None:
            places = np.append(np.flatnonzero(_begins(self._unmarked)), self._unmarked.size)
            starts, ends = (places[chars] for chars in self._aligned.original(starts, ends))
        first, last = self._given_byte(starts)[0], self._given_byte(ends - 1)[1]
        chars = np.flatnonzero(_begins(self._given))
        return np.searchsorted(chars, first), np.searchsorted(chars, last)

    def _given_byte(self, unmarked: Int64s) -> tuple[Int64s, Int64s]:
        """From bytes without marks to where each comes from: a byte of its own, or all that was read as it."""
        edit = np.searchsorted(self._edits[:, 3], unmarked, "right")  # edits that end before it or at it
        before = np.append(self._edits, [[self._given.size, 0, self._unmarked.size, 0]], axis=0)
        shift = np.append(0, self._edits[:, 1] - self._edits[:, 3])[edit]
        inside = unmarked >= before[edit, 2]
        first = np.where(inside, before[edit, 0], unmarked + shift)
        return first, np.where(inside, before[edit, 1], unmarked + shift + 1)


def _begins(data: Bytes) -> arrow.Mask:
    """Which bytes begin a character."""
    begins: arrow.Mask = (data & np.uint8(0xC0)) != np.uint8(0x80)
    return begins
