"""Where each token of a text stands in it: beside the hashes of `tokens.hash_tokens`, the bytes they were made of.

1. The hashes are those of `hash_tokens`, in the same order: the text is folded by the same `fold`, and folding maps
   characters one to one, so the folded characters are found again in the text one after the other.
2. This is for one or two texts that somebody looks at; the hot way is `hash_tokens`, which knows no places.
"""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.hashing import hash_bytes
from nearsame.kernels.tokens import PUNCTUATION, SPACE, decode, fold, search

__all__ = ["token_places", "token_spans"]

_OTHER, _WHITE, _ACCENT, _UNSEEN = 0, 3, 4, 5  # classes in the Unicode table
_NO_MARK = np.uint8(0)
_SPACE_BYTE = np.uint8(32)


@jit
def _width(lead):
    """Bytes of the character with this first byte."""
    if lead < 0x80:
        return 1
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@jit
def _next(data, i, end, follows, punctuation, stage1, stage2):
    """(start, end) of the next character at or after i that belongs to a token; `follows`: what is before i does."""
    while i < end:
        point, length = decode(data, i, end)
        entry = stage2[np.int64(stage1[point >> np.uint32(8)]) * 256 + np.int64(point & np.uint32(255))]
        kind = entry >> np.uint32(24)
        if kind == _ACCENT and follows:
            return i, i + length
        if kind not in (_WHITE, _ACCENT, _UNSEEN) and (punctuation or kind != _OTHER):
            return i, i + length
        follows = follows and kind == _UNSEEN
        i += length
    return end, end


@jit
def _token(data, behind, end, flags, stage1, stage2, text, marks, j, size):
    """(first byte, the byte behind the last, the folded byte behind it) of the token folded at text[j]."""
    punctuation = flags & PUNCTUATION != 0
    first, after = _next(data, behind, end, False, punctuation, stage1, stage2)
    if flags & SPACE != 0 and text[j] == _SPACE_BYTE:
        return behind, first, j + 1
    j += _width(text[j])
    while j < size and marks[j] != _NO_MARK:
        _, after = _next(data, after, end, True, punctuation, stage1, stage2)
        j += _width(text[j])
    return first, after, j


@jit
def token_spans(data, start, end, flags, keys, stops, stage1, stage2, text, marks, hashes, spans):
    """The tokens of data[start:end]; returns their number.

    Args:
        data: uint8, read-only.
        start: first byte.
        end: the byte behind the last.
        flags: as in `fold`.
        keys: of the hashes.
        stops: uint64 ascending: tokens with these hashes are left out.
        stage1: the Unicode table.
        stage2: the same.
        text: uint8 scratch, as in `fold`.
        marks: the same.
        hashes: uint64[end - start + 66], filled.
        spans: int64[end - start + 66, 2], filled: first byte and the byte behind the last, in `data`. A space is what
            stands between its neighbours.
    """
    size = fold(data, start, end, flags, stage1, stage2, text, marks)
    count = 0
    behind = start
    j = 0
    while j < size:
        if marks[j] == _NO_MARK:
            j += 1
            continue
        began = j
        first, behind, j = _token(data, behind, end, flags, stage1, stage2, text, marks, j, size)
        h = hash_bytes(text, began, j, keys)
        if stops.size == 0 or not search(stops, h):
            hashes[count] = h
            spans[count, 0] = first
            spans[count, 1] = behind
            count += 1
    return count


@jit
def token_places(data, start, end, flags, stage1, stage2, text, marks, wanted, spans):
    """Find out where some tokens of data[start:end] stand; none are left out.

    Args:
        data: uint8, read-only.
        start: first byte.
        end: the byte behind the last.
        flags: as in `fold`.
        stage1: the Unicode table.
        stage2: the same.
        text: uint8 scratch, as in `fold`.
        marks: the same.
        wanted: int64, ascending: which tokens, from 0.
        spans: int64[wanted, 2], filled as there; what is beyond the last token is not.
    """
    size = fold(data, start, end, flags, stage1, stage2, text, marks)
    count = filled = 0
    behind = start
    j = 0
    while j < size and filled < wanted.size:
        if marks[j] == _NO_MARK:
            j += 1
            continue
        first, behind, j = _token(data, behind, end, flags, stage1, stage2, text, marks, j, size)
        while filled < wanted.size and wanted[filled] == count:
            spans[filled, 0] = first
            spans[filled, 1] = behind
            filled += 1
        count += 1
