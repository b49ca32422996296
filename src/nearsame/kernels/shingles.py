"""From texts (or lists of ready items) to sets of shingle hashes."""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.hashing import hash_text, join, join_last
from nearsame.kernels.sets import count_equal, digest_set, mark_repeats, sort_distinct
from nearsame.kernels.tokens import fold, hash_tokens

__all__ = ["NOT_OVERLAPPING", "REPEATS", "list_sets", "shingle", "shingle_sets"]

# Flags of `shingle_sets`, above those of `fold`.
REPEATS = 1 << 8
NOT_OVERLAPPING = 1 << 9


@jit
def _windows(tokens, first, count, size, keys, out, at):
    """Hash every run of `size` of `count` tokens to out[at:], which has room for `count`; returns their number.

    Runs of 2, 4, 8 … tokens are joined of two halves, and the last run of two that overlap: about log2(size) joints
    for each, none of them linear, so that what is put in one place cannot be made up for in another.
    """
    num = count - size + 1
    for i in range(count):
        out[at + i] = tokens[first + i]
    width = 1
    while 2 * width < size:
        for i in range(at, at + count - 2 * width + 1):
            out[i] = join(out[i], out[i + width], keys)
        width *= 2
    length = np.uint64(size)
    for i in range(at, at + num):
        out[i] = join_last(out[i], out[i + size - width], length, keys)
    return num


@jit
def shingle(tokens, count, size, step, keys, out):
    """Hash the runs of `size` tokens that start at 0, step, 2·step …; returns their number.

    Fewer tokens than `size` are one shingle of all of them; with step > 1 what is short at the end is a shingle too.
    `out` holds `count` hashes.
    """
    if count == 0:
        return 0
    if count <= size or step == 1:
        return _windows(tokens, 0, count, min(size, count), keys, out, 0)
    _windows(tokens, 0, count, size, keys, out, 0)
    num = 0
    for start in range(0, count - size + 1, step):
        out[num] = out[start]
        num += 1
    for start in range(num * step, count, step):
        _windows(tokens, start, count - start, count - start, keys, out, num)
        num += 1
    return num


@jit
def _close(found, num, flags, spare, counts, items, times, end):
    """Make found[:num] a set at items[end:], and say at times[end:] how often each occurs; returns its size."""
    if flags & REPEATS != 0:
        mark_repeats(found, num, spare)
    kept = sort_distinct(found, num, spare, counts, items[end:])
    if times.size > 0:
        count_equal(spare, num, times[end:])
    return kept


@jit
def shingle_sets(
    data, offsets, bare, size, flags, keys, stops, stage1, stage2, bytes_, words, counts, items, times, ends, about
):
    """The set of shingles of each text.

    Args:
        data: uint8, the texts' UTF-8, read-only.
        offsets: int64[n + 1]; a null is an empty text.
        bare: int64[2, n], 128 bits of each raw text: the two items of a text without tokens.
        size: tokens in a shingle.
        flags: of `fold`, and REPEATS, NOT_OVERLAPPING.
        keys: of the seed (see mixing.hash_keys).
        stops: uint64 ascending, hashes of stop words.
        stage1: the Unicode table.
        stage2: the same.
        bytes_: uint8[2, 2 · longest + 128] scratch.
        words: uint64[2, longest + 66] scratch.
        counts: int64[2 · longest + 130] scratch.
        items: uint64, room for the bytes and the number of the texts; filled with the sets, one after the other.
        times: int64, as many, filled: how often each item occurs; or empty, if nobody asks.
        ends: int64[n + 1], filled: the set of text i is items[ends[i]:ends[i + 1]].
        about: int64[3, n], filled: tokens, 128 bits of the set.
    """
    text, marks = bytes_[0], bytes_[1]
    tokens, found = words[0], words[1]
    spare = tokens  # once the shingles are there
    step = size if flags & NOT_OVERLAPPING != 0 else 1
    ends[0] = 0
    for i in range(offsets.size - 1):
        start, stop = offsets[i], offsets[i + 1]
        folded = fold(data, start, stop, flags & 0xFF, stage1, stage2, text, marks)
        num_tokens = hash_tokens(text, marks, folded, keys, stops, tokens)
        num = shingle(tokens, num_tokens, size, step, keys, found)
        if num == 0 and stop > start:
            found[0], found[1] = np.uint64(bare[0, i]), np.uint64(bare[1, i])
            num = 2
        end = ends[i]
        ends[i + 1] = end + _close(found, num, flags, spare, counts, items, times, end)
        a, b = digest_set(items, end, ends[i + 1])
        about[0, i], about[1, i], about[2, i] = num_tokens, np.int64(a), np.int64(b)


@jit
def list_sets(data, offsets, lists, flags, keys, words, counts, items, times, ends, about):
    """The set of ready items of each row: row i has the strings lists[i] to lists[i + 1] of (data, offsets)."""
    found, spare = words[1], words[0]
    ends[0] = 0
    for i in range(lists.size - 1):
        first, last = lists[i], lists[i + 1]
        for j in range(first, last):
            found[j - first] = hash_text(data, offsets[j], offsets[j + 1], keys)
        end = ends[i]
        ends[i + 1] = end + _close(found, last - first, flags, spare, counts, items, times, end)
        c, d = digest_set(items, end, ends[i + 1])
        about[0, i], about[1, i], about[2, i] = last - first, np.int64(c), np.int64(d)
