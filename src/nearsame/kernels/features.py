"""From texts (or lists of ready items) to features: the hash of each shingle's own bytes, and how often it occurs.

1. A feature is hashed as anybody would write it: the folded words of a shingle with one space between them (characters
   with nothing between), as UTF-8. So its hash can be had from any library.
2. Features of a text are ascending and distinct; `times`, where it is asked for, says how often each occurs.
"""

import numpy as np

from nearsame.kernels._jit import jit, load64, marked64, store64, trailing_zeros
from nearsame.kernels.hashing import hash_bytes, hash_keys
from nearsame.kernels.sets import count_equal, sort_distinct
from nearsame.kernels.tokens import CHARS, fold, search
from nearsame.kernels.xxh3 import xxh3

__all__ = ["list_features", "spell", "spell_lists", "text_features"]

_U63 = np.uint64(63)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_SPACE_BYTE = np.uint8(32)
_KEYS = hash_keys(0)  # of the hashes in `stops`


@jit
def _spans(text, marks, size, stops, starts, ends):
    """Where the tokens of a folded text stand, those in `stops` left out; returns their number.

    The walk is that of `tokens.hash_tokens`: by the changes in 64 marks at a time.
    """
    count = 0
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
                starts[count] = at
                inside_now = _ONE
            else:
                inside_now = _ZERO
                ends[count] = at
                if stops.size == 0 or not search(stops, hash_bytes(text, starts[count], at, _KEYS)):
                    count += 1
        inside = word >> _U63
    return count


@jit
def _join(text, starts, ends, count, gap, out):
    """Write the tokens one after the other, `gap` spaces between; starts and ends become their places in `out`."""
    o = 0
    for i in range(count):
        start, size = starts[i], ends[i] - starts[i]
        for j in range(0, size, 8):
            store64(out, o + j, load64(text, start + j))
        starts[i] = o
        o += size
        ends[i] = o
        if gap:
            out[o] = _SPACE_BYTE
            o += 1


@jit
def _tokens(data, start, end, flags, size, stops, stage1, stage2, bytes_, spans):
    """The tokens of a text, next to each other where a shingle has several: (their buffer, their number)."""
    folded = fold(data, start, end, flags, stage1, stage2, bytes_[0], bytes_[1])
    count = _spans(bytes_[0], bytes_[1], folded, stops, spans[0], spans[1])
    if size == 1:
        return bytes_[0], count
    _join(bytes_[0], spans[0], spans[1], count, flags & CHARS == 0, bytes_[2])
    return bytes_[2], count


@jit
def _close(found, num, spare, counts, items, times):
    """Write the distinct ones of found[:num], ascending, and how often each occurs; returns their number."""
    kept = sort_distinct(found, num, spare, counts, items)
    if times.size > 0:
        count_equal(spare, num, times)
    return kept


@jit
def text_features(
    data,
    offsets,
    size,
    step,
    flags,
    stops,
    stage1,
    stage2,
    bytes_,
    spans,
    words,
    counts,
    items,
    times,
    ends,
    num_tokens,
):
    """The features of each text.

    Args:
        data: uint8, the texts' UTF-8, read-only.
        offsets: int64[n + 1]; a null is an empty text.
        size: tokens in a shingle; fewer are one shingle.
        step: tokens from one shingle to the next, 1 or `size`.
        flags: of `tokens.fold`.
        stops: uint64 ascending, hashes of stop words.
        stage1: the Unicode table.
        stage2: the same.
        bytes_: uint8[3, 3 · longest + 136] scratch.
        spans: int64[2, longest + 66] scratch.
        words: uint64[2, longest + 66] scratch.
        counts: int64[2 · longest + 134] scratch.
        items: uint64, as many as there are bytes at most: filled, one text after the other.
        times: int64 of the same size, or empty if nobody asks.
        ends: int64[n + 1], filled: text i has items[ends[i]:ends[i + 1]].
        num_tokens: int64[n], filled.
    """
    starts, stops_at, found = spans[0], spans[1], words[0]
    ends[0] = 0
    for i in range(num_tokens.size):
        buffer, count = _tokens(
            data, offsets[i], offsets[i + 1], flags, size, stops, stage1, stage2, bytes_, spans
        )  # fmt: skip
        num = 0
        for first in range(0, max(count - size + 1, min(count, 1)) if step == 1 else count, step):
            found[num] = xxh3(buffer, starts[first], stops_at[min(first + size, count) - 1])
            num += 1
        num_tokens[i] = count
        ends[i + 1] = ends[i] + _close(found, num, words[1], counts, items[ends[i] :], times[ends[i] :])


@jit
def list_features(data, offsets, lists, words, counts, items, times, ends, num_tokens):
    """The features of each row of ready items: row i has the strings lists[i] to lists[i + 1] of (data, offsets)."""
    found = words[0]
    ends[0] = 0
    for i in range(num_tokens.size):
        num = lists[i + 1] - lists[i]
        for j in range(num):
            found[j] = xxh3(data, offsets[lists[i] + j], offsets[lists[i] + j + 1])
        num_tokens[i] = num
        ends[i + 1] = ends[i] + _close(found, num, words[1], counts, items[ends[i] :], times[ends[i] :])


@jit
def _place(values, x):
    """Where x stands in an ascending array that has it."""
    low, high = 0, values.size
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _note(buffer, start, end, vocabulary, where, out, filled):
    """Write down a feature's bytes if it is new; returns the new `filled`, or -1 if `out` is full."""
    place = _place(vocabulary, xxh3(buffer, start, end))
    if where[place, 1] >= 0:
        return filled
    if filled + end - start > out.size:
        return -1
    where[place, 0], where[place, 1] = filled, filled + end - start
    for j in range(start, end):
        out[filled + j - start] = buffer[j]
    return filled + end - start


@jit
def spell(data, offsets, size, step, flags, stops, stage1, stage2, bytes_, spans, vocabulary, where, out):
    """The bytes of each feature of a vocabulary, from the texts that it was made of.

    Args as for `text_features`, and:
        vocabulary: uint64 ascending, all features of the texts.
        where: int64[v, 2] of -1, filled: feature i is out[where[i, 0]:where[i, 1]].
        out: uint8.

    Returns:
        Whether `out` was large enough.
    """
    filled = 0
    for i in range(offsets.size - 1):
        buffer, count = _tokens(
            data, offsets[i], offsets[i + 1], flags, size, stops, stage1, stage2, bytes_, spans
        )  # fmt: skip
        for first in range(0, max(count - size + 1, min(count, 1)) if step == 1 else count, step):
            end = spans[1, min(first + size, count) - 1]
            filled = _note(buffer, spans[0, first], end, vocabulary, where, out, filled)
            if filled < 0:
                return False
    return True


@jit
def spell_lists(data, offsets, lists, vocabulary, where, out):
    """`spell` for rows of ready items; `out` holds all their bytes."""
    filled = 0
    for j in range(lists[0], lists[lists.size - 1]):
        filled = _note(data, offsets[j], offsets[j + 1], vocabulary, where, out, filled)
