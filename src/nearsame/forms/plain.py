"""Texts as their words are read: without the marks of HTML and Markdown, and in one form of Unicode (NFKC).

Both go by places: a part of a text reads as it does in the whole, so what is found in the one is found in the other.
"""

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.arrow import Bytes, Int64s, Strings
from nearsame.dataclass import dataclass
from nearsame.forms.aligned import Aligned, align
from nearsame.forms.normalise import normalised
from nearsame.kernels import plain as kernels
from nearsame.kernels.normalise import NFKC

__all__ = ["PlainText", "plain"]

_NO_EDITS = np.empty((0, 4), np.int64)


def plain(column: pa.LargeStringArray) -> pa.LargeStringArray:
    """Texts as their words are read; nulls stay.

    >>> plain(pa.array(["<b>fi</b>ve &lt; [ﬁfty](http://x.org/y)", None], pa.large_string())).to_pylist()
    ['five < [fifty]', None]
    """
    texts = arrow.strings(column)
    unmarked, _ = _unmarked(texts, _NO_EDITS)
    data, ends = normalised(unmarked, NFKC)
    kernels.end_words(data)
    validity = pa.array(~texts.is_null).buffers()[1] if column.null_count else None
    return pa.LargeStringArray.from_buffers(len(column), pa.py_buffer(ends), pa.py_buffer(data), validity)


def _unmarked(texts: Strings, edits: Int64s) -> tuple[Strings, int]:
    """Texts without their marks, and how many these were: those for which there is room are in `edits`."""
    out = np.empty(int(texts.offsets[-1] - texts.offsets[0]), np.uint8)
    ends = np.empty(texts.offsets.size, np.int64)
    changes = kernels.plain(texts.data, texts.offsets, out, ends, edits)
    return Strings(arrow.frozen(out[: ends[-1]]), arrow.frozen(ends), texts.is_null), changes


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
        (b'a fin', (array([5]), array([11])))
        """
        texts = arrow.strings(pa.array([text], pa.large_string()))
        unmarked, changes = _unmarked(texts, _NO_EDITS)
        edits = np.empty((changes, 4), np.int64)
        if changes:
            _unmarked(texts, edits)
        data, _ = normalised(unmarked, NFKC)
        is_nfkc = np.array_equal(data, unmarked.data)
        kernels.end_words(data)
        aligned = None if is_nfkc else align(unmarked.data.tobytes().decode(), nfkc=True)
        return cls(arrow.frozen(data), texts.data, edits, aligned, unmarked.data)

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
