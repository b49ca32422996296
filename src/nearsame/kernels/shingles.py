"""From texts (or lists of ready items) to sets of shingle hashes."""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.mixing import finish, hash_text
from nearsame.kernels.sets import digest_set, mark_repeats, sort_distinct
from nearsame.kernels.tokens import fold, hash_tokens

__all__ = ["BARE", "NOT_OVERLAPPING", "REPEATS", "list_sets", "shingle", "shingle_sets"]

# Flags of `shingle_sets`, above those of `fold`.
REPEATS = 1 << 8
NOT_OVERLAPPING = 1 << 9

_BASE = np.uint64(0x9E3779B97F4A7C15 | 1)
BARE = np.uint64(0x5851F42D4C957F2D)  # the domain of texts without tokens
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@jit
def shingle(tokens, count, size, step, out):
    """Hash the runs of `size` tokens that start at 0, step, 2·step …; returns their number.

    A polynomial in an odd base, rolled along and finished: the cost does not depend on `size`. Fewer tokens than
    `size` are one shingle of all of them; with step = size the short rest is a shingle too.
    """
    if count == 0:
        return 0
    if count <= size or step != 1:
        num = 0
        for start in range(0, count, step if count > size else count):
            h = _ZERO
            for i in range(start, min(start + size, count)):
                h = h * _BASE + tokens[i]
            out[num] = finish(h + np.uint64(min(size, count - start)))
            num += 1
        return num
    leaving = _ONE
    h = _ZERO
    for i in range(size):
        h = h * _BASE + tokens[i]
        leaving = leaving * _BASE
    length = np.uint64(size)
    out[0] = finish(h + length)
    for i in range(size, count):
        h = h * _BASE + tokens[i] - tokens[i - size] * leaving
        out[i - size + 1] = finish(h + length)
    return count - size + 1


@jit
def _close(found, num, flags, spare, counts, items, end):
    """Make found[:num] a set at items[end:]; returns its size."""
    if flags & REPEATS != 0:
        mark_repeats(found, num, spare)
    return sort_distinct(found, num, spare, counts, items[end:])


@jit
def shingle_sets(
    data, offsets, bare, size, flags, seed, stops, stage1, stage2, bytes_, words, counts, items, ends, about
):
    """The set of shingles of each text.

    Args:
        data: uint8, the texts' UTF-8, read-only.
        offsets: int64[n + 1]; a null is an empty text.
        bare: int64[n], a hash of each raw text: the one item of a text without tokens.
        size: tokens in a shingle.
        flags: of `fold`, and REPEATS, NOT_OVERLAPPING.
        seed: uint64.
        stops: uint64 ascending, hashes of stop words.
        stage1: the Unicode table.
        stage2: the same.
        bytes_: uint8[2, 2 · longest + 128] scratch.
        words: uint64[2, longest + 66] scratch.
        counts: int64[2 · longest + 130] scratch.
        items: uint64, room for the bytes and the number of the texts; filled with the sets, one after the other.
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
        num_tokens = hash_tokens(text, marks, folded, seed, stops, tokens)
        num = shingle(tokens, num_tokens, size, step, found)
        if num == 0 and stop > start:
            found[0] = finish(np.uint64(bare[i]) ^ BARE)
            num = 1
        end = ends[i]
        ends[i + 1] = end + _close(found, num, flags, spare, counts, items, end)
        a, b = digest_set(items, end, ends[i + 1])
        about[0, i], about[1, i], about[2, i] = num_tokens, np.int64(a), np.int64(b)


@jit
def list_sets(data, offsets, lists, flags, seed, words, counts, items, ends, about, digests):
    """The set of ready items of each row: row i has the strings lists[i] to lists[i + 1] of (data, offsets)."""
    found, spare = words[1], words[0]
    ends[0] = 0
    for i in range(lists.size - 1):
        first, last = lists[i], lists[i + 1]
        a, b = seed, BARE
        for j in range(first, last):
            x, y = hash_text(data, offsets[j], offsets[j + 1], seed)
            found[j - first] = x
            a, b = finish(a * _BASE + x), finish(b * _BASE + y)
        end = ends[i]
        ends[i + 1] = end + _close(found, last - first, flags, spare, counts, items, end)
        c, d = digest_set(items, end, ends[i + 1])
        about[0, i], about[1, i], about[2, i] = last - first, np.int64(c), np.int64(d)
        digests[0, i], digests[1, i] = np.int64(a), np.int64(b)
