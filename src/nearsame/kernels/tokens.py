"""From UTF-8 bytes to token hashes.

1. Folding writes each text into scratch as it will be hashed: case-folded UTF-8, with a byte of `marks` for each
   byte (0x80: inside a token, 0: between tokens). Tokens that touch (Han characters, kept punctuation) get
   a byte between them, so that afterwards a token is a run of marked bytes and nothing else.
2. ASCII goes 64 or eight bytes at a time: a table look-up per byte would cost more than all the rest.
3. Hashing walks the changes in the marks, 64 bytes at a time, by counting trailing zeros.
4. A combining mark goes where the character before it went; what is not shown is as if it were not there.
5. Scratch holds at least 2 · (bytes of the longest text) + 128 bytes; nothing is read outside of the text.
"""

import numpy as np

from nearsame.kernels._jit import fold64, jit, load64, marked64, store64, trailing_zeros
from nearsame.kernels.hashing import hash_bytes

__all__ = ["CHARS", "KEEP_CASE", "PUNCTUATION", "SPACE", "decode", "fold", "hash_tokens", "join_tokens", "search"]

# Flags of `fold`.
KEEP_CASE = 1
PUNCTUATION = 2
SPACE = 4
CHARS = 8

_OTHER, _WORD, _SINGLE, _WHITE, _ACCENT, _UNSEEN = range(6)  # classes in the Unicode table

_HIGH = np.uint64(0x8080808080808080)
_LOW7 = np.uint64(0x7F7F7F7F7F7F7F7F)
_GE_UPPER = np.uint64(0x3F3F3F3F3F3F3F3F)  # 0x80 - ord("A") in each byte
_GT_UPPER = np.uint64(0x2525252525252525)  # 0x7F - ord("Z")
_GE_LOWER = np.uint64(0x1F1F1F1F1F1F1F1F)  # 0x80 - ord("a")
_GT_LOWER = np.uint64(0x0505050505050505)  # 0x7F - ord("z")
_GE_DIGIT = np.uint64(0x5050505050505050)  # 0x80 - ord("0")
_GT_DIGIT = np.uint64(0x4646464646464646)  # 0x7F - ord("9")
_UNDERSCORES = np.uint64(0x5F5F5F5F5F5F5F5F)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_U2, _U63 = np.uint64(2), np.uint64(63)
_SPACE_BYTE = np.uint8(32)
_MARK = np.uint8(0x80)
_NO_MARK = np.uint8(0)


@jit
def _upper8(x):
    """0x80 in each byte of eight ASCII bytes that is A-Z."""
    return ((x + _GE_UPPER) ^ (x + _GT_UPPER)) & _HIGH


@jit
def _word8(x):
    """0x80 in each byte of eight ASCII bytes that is a letter, a digit or an underscore."""
    letters = ((x + _GE_LOWER) ^ (x + _GT_LOWER)) | _upper8(x)
    digits = (x + _GE_DIGIT) ^ (x + _GT_DIGIT)
    underscores = ~((x ^ _UNDERSCORES) + _LOW7)
    return (letters | digits | underscores) & _HIGH


@jit
def decode(data, i, end):
    """(code point, bytes) of valid UTF-8 at i; a byte that is not valid there counts as U+FFFD of one byte."""
    c = np.uint32(data[i])
    if c < 0x80:
        return c, 1
    length = 2 if c < 0xE0 else (3 if c < 0xF0 else 4)
    if c < 0xC0 or i + length > end:
        return np.uint32(0xFFFD), 1
    point = c & np.uint32(0x7F >> length)
    for j in range(1, length):
        point = (point << np.uint32(6)) | (np.uint32(data[i + j]) & np.uint32(0x3F))
    return min(point, np.uint32(0x10FFFF)), length


@jit
def _encode(point, out, o):
    """Write a code point as UTF-8 at out[o]; returns its bytes."""
    if point < 0x80:
        out[o] = point
        return 1
    if point < 0x800:
        out[o] = 0xC0 | (point >> np.uint32(6))
        out[o + 1] = 0x80 | (point & np.uint32(0x3F))
        return 2
    if point < 0x10000:
        out[o] = 0xE0 | (point >> np.uint32(12))
        out[o + 1] = 0x80 | ((point >> np.uint32(6)) & np.uint32(0x3F))
        out[o + 2] = 0x80 | (point & np.uint32(0x3F))
        return 3
    out[o] = 0xF0 | (point >> np.uint32(18))
    out[o + 1] = 0x80 | ((point >> np.uint32(12)) & np.uint32(0x3F))
    out[o + 2] = 0x80 | ((point >> np.uint32(6)) & np.uint32(0x3F))
    out[o + 3] = 0x80 | (point & np.uint32(0x3F))
    return 4


@jit
def _put(point, text, marks, o):
    """Write a marked character; returns the position behind it."""
    length = _encode(point, text, o)
    for j in range(length):
        marks[o + j] = _MARK
    return o + length


@jit
def _gap(marks, o):
    """Write an unmarked byte (its value is never read); returns the position behind it."""
    marks[o] = _NO_MARK
    return o + 1


@jit
def _fold_words(data, start, end, keep_case, stage1, stage2, text, marks):
    """The common case, words only: ASCII many bytes at a time, the rest by the table."""
    i = start
    o = 0
    single = -1  # behind a token of one character, if that was the last
    while i < end:
        if end - i >= 8:
            x = load64(data, i)
            if x & _HIGH == _ZERO:
                num = 8
                if end - i >= 64:
                    num = trailing_zeros(fold64(data, i, text, marks, o, keep_case))
                else:
                    store64(marks, o, _word8(x))
                    store64(text, o, x if keep_case else x | (_upper8(x) >> _U2))
                i += num
                o += num
                continue
        point, length = decode(data, i, end)
        entry = stage2[np.int64(stage1[point >> np.uint32(8)]) * 256 + np.int64(point & np.uint32(255))]
        kind = entry >> np.uint32(24)
        folded = point if keep_case else point ^ (entry & np.uint32(0x1FFFFF))
        i += length
        if kind == _WORD:
            o = _put(folded, text, marks, o)
        elif kind == _SINGLE:
            o = single = _gap(marks, _put(folded, text, marks, _gap(marks, o)))
        elif kind == _ACCENT:
            if o > 0 and marks[o - 1] != _NO_MARK:
                o = _put(folded, text, marks, o)
            elif single == o:
                o = single = _gap(marks, _put(folded, text, marks, o - 1))
        elif kind != _UNSEEN:
            o = _gap(marks, o)
    return o


@jit
def _fold_any(data, start, end, flags, stage1, stage2, text, marks):
    """All options, a character at a time; a run without tokens is one space, but not at either end of the text."""
    keep_case = flags & KEEP_CASE != 0
    punctuation = flags & PUNCTUATION != 0
    space = flags & SPACE != 0
    chars = flags & CHARS != 0
    i = start
    o = 0
    single = -1
    pending = False
    while i < end:
        point, length = decode(data, i, end)
        entry = stage2[np.int64(stage1[point >> np.uint32(8)]) * 256 + np.int64(point & np.uint32(255))]
        kind = entry >> np.uint32(24)
        i += length
        folded = point if keep_case else point ^ (entry & np.uint32(0x1FFFFF))
        if kind == _UNSEEN:
            continue
        if kind == _ACCENT:
            if o > 0 and marks[o - 1] != _NO_MARK:
                o = _put(folded, text, marks, o)
            elif single == o:
                o = single = _gap(marks, _put(folded, text, marks, o - 1))
            continue
        if kind == _WHITE or (kind == _OTHER and not punctuation):
            single = -1
            pending = pending or kind == _WHITE or chars
            o = _gap(marks, o) if o > 0 and marks[o - 1] != _NO_MARK else o
            continue
        if pending and space and o > 0:
            o = _gap(marks, _put(np.uint32(32), text, marks, o))
        pending = False
        alone = chars or kind != _WORD
        if alone and o > 0 and marks[o - 1] != _NO_MARK:
            o = _gap(marks, o)
        o = _put(folded, text, marks, o)
        if alone:
            o = single = _gap(marks, o)
    return o


@jit
def fold(data, start, end, flags, stage1, stage2, text, marks):
    """Fold data[start:end] into `text` and `marks`; returns the folded bytes, padded so that 64 more may be read.

    Args:
        data: uint8, read-only; valid UTF-8 between start and end.
        start: first byte.
        end: the byte behind the last.
        flags: KEEP_CASE | PUNCTUATION | SPACE | CHARS.
        stage1: uint16[0x1100], the Unicode table's blocks.
        stage2: uint32, (c ^ fold) | class << 24.
        text: uint8 scratch (rule 4).
        marks: uint8 scratch of the same size.
    """
    if flags & ~KEEP_CASE == 0:
        o = _fold_words(data, start, end, flags & KEEP_CASE != 0, stage1, stage2, text, marks)
    else:
        o = _fold_any(data, start, end, flags, stage1, stage2, text, marks)
    for j in range(9):
        store64(marks, o + 8 * j, _ZERO)
    return o


@jit
def search(values, x):
    """Whether x is in an ascending array."""
    low, high = 0, values.size
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low < values.size and values[low] == x


@jit
def hash_tokens(text, marks, size, keys, stops, out):
    """Hash each run of marked bytes into `out` (uint64), without those in `stops` (ascending); returns their number.

    `size` is what `fold` returned, `keys` are those of the seed (mixing.hash_keys); `out`
    holds size // 2 + 1 hashes. 1.5 ns a byte of ordinary English at most.
    """
    count = 0
    began = 0
    inside = _ZERO
    for base in range(0, size + 1, 64):
        word = marked64(marks, base)
        if size - base < 64:
            word &= (_ONE << np.uint64(size - base)) - _ONE
        changes = word ^ ((word << _ONE) | inside)
        inside_now = inside
        while changes != _ZERO:
            at = base + trailing_zeros(changes)
            changes &= changes - _ONE
            if inside_now == _ZERO:
                began = at
                inside_now = _ONE
            else:
                inside_now = _ZERO
                h = hash_bytes(text, began, at, keys)
                if stops.size == 0 or not search(stops, h):
                    out[count] = h
                    count += 1
        inside = word >> _U63
    return count


@jit
def join_tokens(data, offsets, flags, keys, stops, stage1, stage2, text, marks, out, ends):
    """Write the tokens of each text, folded, with one space between them, to out[ends[i]:ends[i + 1]].

    `out` holds twice the bytes of all texts and 16 more; the other arguments are those of `fold` and `hash_tokens`.
    """
    ends[0] = 0
    for i in range(offsets.size - 1):
        size = fold(data, offsets[i], offsets[i + 1], flags, stage1, stage2, text, marks)
        o = ends[i]
        began = -1
        for j in range(size + 1):
            inside = j < size and marks[j] != _NO_MARK
            if inside and began < 0:
                began = j
            if not inside and began >= 0:
                if stops.size == 0 or not search(stops, hash_bytes(text, began, j, keys)):
                    if o > ends[i]:
                        out[o] = _SPACE_BYTE
                        o += 1
                    for k in range(began, j):
                        out[o] = text[k]
                        o += 1
                began = -1
        ends[i + 1] = o
