"""Unicode normalisation of a column of UTF-8 texts: NFKC, accents dropped, or both.

1. A text is a chain of segments: each begins at a boundary, a character that neither moves before nor joins with what
   precedes it, so segments are normalised one by one (Unicode Standard Annex 15, section 9).
2. An inert character is a boundary that stays as it is unless a mark follows it; runs of them are copied, ASCII eight
   bytes at a time. A run that a mark follows gives back its last character, which begins the segment.
3. Dropping Mn happens between decomposing and reordering, so that one pass does NFD, drop, NFC (and for both: NFKD,
   drop, NFC, because NFD of an NFKC text is its NFKD).
4. Time is linear in the text, however many marks stand in a row; valid UTF-8 is taken for granted.
"""

import numpy as np

from nearsame.kernels._jit import jit, load64, store64
from nearsame.kernels.unicode import BACKWARD, BOUNDARY_SHIFT, DROPPED, INERT_SHIFT, RECORD_SHIFT

__all__ = ["BOTH", "NFKC", "STRIP_ACCENTS", "encode", "normalise"]

NFKC, STRIP_ACCENTS, BOTH = range(3)  # the modes, as the table counts them

_ASCII = np.uint64(0x8080808080808080)
_ZERO = np.uint64(0)
_MOST_PARTS = 18  # characters that one decomposes into: U+FDFA
_L, _V, _T, _S = 0x1100, 0x1161, 0x11A7, 0xAC00  # Hangul, Unicode Standard section 3.12
_NUM_L, _NUM_V, _NUM_T, _NUM_S = 19, 21, 28, 11172


@jit
def _width(lead):
    """Bytes of the character with this first byte."""
    if lead < 0x80:
        return 1
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@jit
def _decode(data, i):
    """The code point at data[i:], int64."""
    lead = np.int64(data[i])
    if lead < 0x80:
        return lead
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | data[i + 1] & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | (data[i + 1] & 0x3F) << 6 | data[i + 2] & 0x3F
    return (lead & 0x07) << 18 | (data[i + 1] & 0x3F) << 12 | (data[i + 2] & 0x3F) << 6 | data[i + 3] & 0x3F


@jit
def encode(c, out, o):
    """Write a code point to out[o:], which has room for its bytes; returns where the next one goes."""
    if c < 0x80:
        out[o] = c
        return o + 1
    if c < 0x800:
        out[o] = 0xC0 | c >> 6
        out[o + 1] = 0x80 | c & 0x3F
        return o + 2
    if c < 0x10000:
        out[o] = 0xE0 | c >> 12
        out[o + 1] = 0x80 | c >> 6 & 0x3F
        out[o + 2] = 0x80 | c & 0x3F
        return o + 3
    out[o] = 0xF0 | c >> 18
    out[o + 1] = 0x80 | c >> 12 & 0x3F
    out[o + 2] = 0x80 | c >> 6 & 0x3F
    out[o + 3] = 0x80 | c & 0x3F
    return o + 4


@jit
def _entry(table, c):
    """The entry of a code point, int64; the bits are explained in kernels/unicode.py."""
    return np.int64(table.stage2[np.int64(table.stage1[c >> 8]) << 8 | c & 255])


@jit
def _skip(data, i, end, flag, wanted, table):
    """The first character of data[i:end] whose entry has `flag` set unless that is `wanted`, or end."""
    while i < end:
        if data[i] < 0x80 and wanted:
            while (
                i + 32 <= end
                and (load64(data, i) | load64(data, i + 8) | load64(data, i + 16) | load64(data, i + 24)) & _ASCII
                == _ZERO
            ):
                i += 32
            while i + 8 <= end and load64(data, i) & _ASCII == _ZERO:
                i += 8
            while i < end and data[i] < 0x80:
                i += 1
            continue
        if (_entry(table, _decode(data, i)) & flag != 0) != wanted:
            return i
        i += _width(data[i])
    return i


@jit
def _before(data, i):
    """Where the character begins that ends at i."""
    i -= 1
    while data[i] & 0xC0 == 0x80:
        i -= 1
    return i


@jit
def _append(c, drop, table, points, classes, n):
    entry = _entry(table, c)
    if entry & drop != 0:
        return n
    points[n] = c
    classes[n] = entry & 0xFF
    return n + 1


@jit
def _decompose(data, start, end, mode, table, points, classes):
    """Decompose data[start:end] into code points and their combining classes; how many, or -1 for too little room."""
    drop = 0 if mode == NFKC else DROPPED
    column = 0 if mode == STRIP_ACCENTS else 1
    n = 0
    while start < end:
        if n + _MOST_PARTS > points.size:
            return -1
        c = _decode(data, start)
        start += _width(data[start])
        if _S <= c < _S + _NUM_S:
            n = _append(_L + (c - _S) // (_NUM_V * _NUM_T), drop, table, points, classes, n)
            n = _append(_V + (c - _S) // _NUM_T % _NUM_V, drop, table, points, classes, n)
            if (c - _S) % _NUM_T != 0:
                n = _append(_T + (c - _S) % _NUM_T, drop, table, points, classes, n)
            continue
        place = np.int64(table.records[_entry(table, c) >> RECORD_SHIFT, column])
        if place == 0:
            n = _append(c, drop, table, points, classes, n)
        for k in range(place >> 5, (place >> 5) + (place & 31)):
            n = _append(np.int64(table.pool[k]), drop, table, points, classes, n)
    return n


@jit
def _insert(points, classes, start, end):
    """Stable insertion sort by class, for the few marks that a character has."""
    for i in range(start + 1, end):
        c, order = points[i], classes[i]
        j = i
        while j > start and classes[j - 1] > order:
            points[j], classes[j] = points[j - 1], classes[j - 1]
            j -= 1
        points[j], classes[j] = c, order


@jit
def _count(points, classes, start, end):
    """Stable counting sort by class, for a run of marks that insertion would be quadratic in."""
    ends = np.zeros(257, np.int64)
    for i in range(start, end):
        ends[classes[i] + 1] += 1
    for order in range(256):
        ends[order + 1] += ends[order]
    points_before, classes_before = points[start:end].copy(), classes[start:end].copy()
    for i in range(end - start):
        place = start + ends[classes_before[i]]
        ends[classes_before[i]] += 1
        points[place], classes[place] = points_before[i], classes_before[i]


@jit
def _reorder(points, classes, n):
    """Put each run of non-starters into canonical order."""
    i = 0
    while i < n:
        start = i
        while i < n and classes[i] != 0:
            i += 1
        if i - start > 32:
            _count(points, classes, start, i)
        elif i - start > 1:
            _insert(points, classes, start, i)
        i += 1


@jit
def _composite(first, second, table):
    """The primary composite of two characters, or -1."""
    if _L <= first < _L + _NUM_L and _V <= second < _V + _NUM_V:
        return _S + ((first - _L) * _NUM_V + second - _V) * _NUM_T
    if _S <= first < _S + _NUM_S and (first - _S) % _NUM_T == 0 and _T < second < _T + _NUM_T:
        return first + second - _T
    if _entry(table, second) & BACKWARD == 0:
        return -1
    key = first << 21 | second
    low, high = 0, table.pairs.size
    while low < high:
        middle = (low + high) >> 1
        if table.pairs[middle] < key:
            low = middle + 1
        else:
            high = middle
    return np.int64(table.composites[low]) if low < table.pairs.size and table.pairs[low] == key else -1


@jit
def _compose(points, classes, n, table):
    """Join each starter with the marks that are not blocked from it, in place; returns how many are left."""
    starter, kept = -1, 0
    for i in range(n):
        c, order = points[i], classes[i]
        if starter >= 0 and (starter == kept - 1 or classes[kept - 1] < order):
            joined = _composite(points[starter], c, table)
            if joined >= 0:
                points[starter] = joined
                continue
        if order == 0:
            starter = kept
        points[kept], classes[kept] = c, order
        kept += 1
    return kept


@jit
def _copy(data, start, end, out, o):
    """Copy data[start:end] to out[o:]; returns where it ends. The two are not the same memory."""
    while start + 8 <= end:
        store64(out, o, load64(data, start))
        start += 8
        o += 8
    while start < end:
        out[o] = data[start]
        start += 1
        o += 1
    return o


@jit
def _row(data, start, end, mode, table, scratch, out, o):
    """Normalise data[start:end] into out[o:]; returns (where it ends, or -1 when there is no room, scratch)."""
    inert, boundary = 1 << (INERT_SHIFT + mode), 1 << (BOUNDARY_SHIFT + mode)
    while start < end:
        i = _skip(data, start, end, inert, True, table)
        if start < i < end and _entry(table, _decode(data, i)) & boundary == 0:
            i = _before(data, i)
        if o + i - start > out.size:
            return -1, scratch
        o = _copy(data, start, i, out, o)
        if i == end:
            break
        start = _skip(data, i + _width(data[i]), end, boundary, False, table)
        n = _decompose(data, i, start, mode, table, scratch[0], scratch[1])
        while n < 0:
            scratch = np.empty((2, 2 * scratch.shape[1]), np.int64)
            n = _decompose(data, i, start, mode, table, scratch[0], scratch[1])
        _reorder(scratch[0], scratch[1], n)
        n = _compose(scratch[0], scratch[1], n, table)
        if o + 4 * n > out.size:
            return -1, scratch
        for k in range(n):
            o = encode(scratch[0, k], out, o)
    return o, scratch


@jit
def normalise(data, offsets, is_null, first, mode, table, out, out_offsets):
    """Normalise the rows from `first` on, until one does not fit.

    An ASCII text costs about as much as copying it, other inert text 2 ns a character, what changes 30 ns a character.

    Args:
        data: uint8, valid UTF-8.
        offsets: int64[n + 1]: row i is data[offsets[i]:offsets[i + 1]].
        is_null: bool[n]; a null row becomes an empty one.
        first: the row to begin with; out_offsets[first] says where it goes.
        mode: NFKC, STRIP_ACCENTS or BOTH.
        table: `unicode.normalisation()`.
        out: uint8; filled. A row never takes more than 11 bytes for each of its own, and 72 beyond.
        out_offsets: int64[n + 1]; filled up to the row that is returned.

    Returns:
        The first row that did not fit: call again from there with a larger `out`. n: all are done.
    """
    scratch = np.empty((2, 256), np.int64)
    for row in range(first, offsets.size - 1):
        o = out_offsets[row]
        if not is_null[row]:
            o, scratch = _row(data, offsets[row], offsets[row + 1], mode, table, scratch, out, o)
        if o < 0:
            return row
        out_offsets[row + 1] = o
    return offsets.size - 1
