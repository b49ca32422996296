"""Texts that are looked for inside of others: which windows of a document have how much of each.

1. Every shingle of a document is asked of one table of the shingles that are looked for: of a filter of bits first,
   then of the slots. What that takes depends on what is looked for, not on what is read.
2. The hits of a document are dealt to their texts, and a window is pushed over those of each: linear in the hits.
3. Everything here goes by hashes of 64 bits; who calls holds what is found to the words.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s, UInt64s
from nearsame.kernels._jit import jit
from nearsame.kernels.shingles import shingle
from nearsame.kernels.tokens import fold, hash_tokens

__all__ = ["FIELDS", "LeakRoom", "Sought", "fill_slots", "find", "mark_words", "pieces"]

FIELDS = 5  # of what is found: document, text, distinct shingles, first token, the token behind the last

_ONE, _SIX, _TWELVE, _MASK = np.uint64(1), np.uint64(6), np.uint64(12), np.uint64(63)


class Sought(NamedTuple):
    """What is looked for: texts, each with some distinct shingles that are numbered from 0.

    Shingle i of the table stands in texts[starts[i]:starts[i + 1]], as their numbers[...].
    """

    shift: np.uint64  # a shingle's word of the filter is hash >> shift
    bits: UInt64s
    slots: npt.NDArray[np.int32]  # 0: free; else 1 + the shingle; a power of two of them
    hashes: UInt64s  # of the shingles
    starts: Int64s
    texts: Int64s
    numbers: Int64s
    least: Int64s  # by text: distinct shingles that it takes
    widths: Int64s  # by text: tokens of a window
    anchors: Int64s  # by text: the token that its shingle 0 begins with
    run_ends: Int64s  # by text, and one more: a text that has to stand there as it is has all its tokens in runs
    runs: UInt64s


class LeakRoom(NamedTuple):
    """Scratch: the hits of a document, and then those of its texts, one text after the other."""

    places: Int64s  # [tokens] where a hit begins
    shingles: Int64s  # [tokens] which one it is
    counts: Int64s  # [texts] hits of each; all zero between documents
    nexts: Int64s  # [texts]
    touched: Int64s  # [texts] those that have a hit
    seen: Int64s  # [shingles of a text] how many are in the window; all zero between texts
    by_text: Int64s  # [2, any] place and number of the hits of one text after the other


@jit
def _marks(h):
    """The three bits of a hash in its word of the filter."""
    return (_ONE << (h & _MASK)) | (_ONE << ((h >> _SIX) & _MASK)) | (_ONE << ((h >> _TWELVE) & _MASK))


@jit
def mark_words(hashes, shift, bits):
    """Mark each hash in a filter (uint64): three bits of the word that its upper bits number."""
    for i in range(hashes.size):
        bits[np.int64(hashes[i] >> shift)] |= _marks(hashes[i])


@jit
def fill_slots(hashes, slots):
    """Give each hash (uint64, distinct) its slot: the first that is free from hash modulo their number on."""
    last = np.uint64(slots.size - 1)
    for i in range(hashes.size):
        at = hashes[i] & last
        while slots[np.int64(at)] != 0:
            at = (at + _ONE) & last
        slots[np.int64(at)] = i + 1


@jit
def pieces(data, offsets, size, flags, keys, stops, stage1, stage2, bytes_, tokens, token_ends, items, item_ends):
    """The tokens of some texts, and their shingles in order; a text of fewer tokens than a shingle has none.

    Args:
        data: uint8, the texts' UTF-8, read-only.
        offsets: int64[n + 1].
        size: tokens in a shingle.
        flags: of `fold`.
        keys: of the hashes.
        stops: uint64 ascending: tokens that are left out.
        stage1: the Unicode table.
        stage2: the same.
        bytes_: uint8[2, 2 · longest + 128] scratch.
        tokens: uint64, room for all bytes and 66 more; filled.
        token_ends: int64[n + 1], filled: the tokens of text i are tokens[token_ends[i]:token_ends[i + 1]].
        items: uint64, as large; filled.
        item_ends: int64[n + 1], filled likewise.
    """
    token_ends[0] = item_ends[0] = 0
    for i in range(offsets.size - 1):
        own = tokens[token_ends[i] :]
        folded = fold(data, offsets[i], offsets[i + 1], flags, stage1, stage2, bytes_[0], bytes_[1])
        num = hash_tokens(bytes_[0], bytes_[1], folded, keys, stops, own)
        token_ends[i + 1] = token_ends[i] + num
        made = shingle(own, num, size, 1, keys, items[item_ends[i] :]) if num >= size else 0
        item_ends[i + 1] = item_ends[i] + made


@jit
def _hits(found, num, sought, hits):
    """Write down the shingles that are looked for; returns (hits, texts touched)."""
    last = np.uint64(sought.slots.size - 1)
    maybe = 0
    for place in range(num):  # without a branch, so that many questions are under way at once
        h = found[place]
        marks = _marks(h)
        hits.places[maybe] = place
        maybe += sought.bits[np.int64(h >> sought.shift)] & marks == marks
    count = touched = 0
    for i in range(maybe):
        place = hits.places[i]
        h = found[place]
        at = h & last
        entry = np.int64(sought.slots[np.int64(at)])
        while entry != 0 and sought.hashes[entry - 1] != h:
            at = (at + _ONE) & last
            entry = np.int64(sought.slots[np.int64(at)])
        if entry == 0:
            continue
        hits.places[count] = place
        hits.shingles[count] = entry - 1
        count += 1
        for k in range(sought.starts[entry - 1], sought.starts[entry]):
            text = sought.texts[k]
            if hits.counts[text] == 0:
                hits.touched[touched] = text
                touched += 1
            hits.counts[text] += 1
    return count, touched


@jit
def _deal(count, touched, sought, hits):
    """Deal the hits to those texts that have enough of them; returns how many these are, -1 each if there is no room.

    Afterwards touched[:returned] are these texts, ascending by first hit, and the hits of each end at nexts[text].
    """
    total = chosen = 0
    for j in range(touched):
        text = hits.touched[j]
        if hits.counts[text] >= sought.least[text]:
            hits.nexts[text] = total
            total += hits.counts[text]
            hits.touched[chosen] = text
            chosen += 1
        else:
            hits.counts[text] = 0
    if total > hits.by_text.shape[1]:
        return -total
    for i in range(count if chosen > 0 else 0):
        entry = hits.shingles[i]
        for k in range(sought.starts[entry], sought.starts[entry + 1]):
            text = sought.texts[k]
            if hits.counts[text] > 0:
                at = hits.nexts[text]
                hits.by_text[0, at] = hits.places[i]
                hits.by_text[1, at] = sought.numbers[k]
                hits.nexts[text] = at + 1
    return chosen


@jit
def _window(places, numbers, width, size, seen):
    """The window with the most distinct shingles, the shortest of these, the first of these.

    Returns (distinct shingles, first token, the token behind the last).
    """
    distinct = best = first = low = 0
    length = width + 1
    for high in range(places.size):
        seen[numbers[high]] += 1
        distinct += seen[numbers[high]] == 1
        end = places[high] + size
        while end - places[low] > width or seen[numbers[low]] > 1:  # what stands twice in it is not missed
            seen[numbers[low]] -= 1
            distinct -= seen[numbers[low]] == 0
            low += 1
        if distinct > best or (distinct == best and end - places[low] < length):
            best, first, length = distinct, places[low], end - places[low]
    for k in range(low, places.size):
        seen[numbers[k]] = 0
    return best, first, first + length


@jit
def _run(places, numbers, tokens, num_tokens, run, anchor):
    """Where all tokens of a text stand as they are, for the first time; -1 where they do not."""
    for k in range(places.size):
        start = places[k] - anchor
        if numbers[k] != 0 or start < 0 or start + run.size > num_tokens:
            continue
        same = 0
        while same < run.size and tokens[start + same] == run[same]:
            same += 1
        if same == run.size:
            return start
    return -1


@jit
def _best(text, tokens, num_tokens, size, sought, hits):
    """What a document has of a text: (distinct shingles, first token, the token behind the last); 0: not enough."""
    end = hits.nexts[text]
    places = hits.by_text[0, end - hits.counts[text] : end]
    numbers = hits.by_text[1, end - hits.counts[text] : end]
    run = sought.runs[sought.run_ends[text] : sought.run_ends[text + 1]]
    if run.size > 0:
        start = _run(places, numbers, tokens, num_tokens, run, sought.anchors[text])
        return (sought.least[text], start, start + run.size) if start >= 0 else (0, 0, 0)
    shared, first, behind = _window(places, numbers, sought.widths[text], size, hits.seen)
    return (shared, first, behind) if shared >= sought.least[text] else (0, 0, 0)


@jit
def find(data, offsets, start, size, flags, keys, stops, stage1, stage2, bytes_, words, sought, hits, out):
    """Find texts in documents, as long as there is room; returns (the next document, what was found, hits it needs).

    About 3 ns a byte where little is found. The last number is 0 unless `hits.by_text` is too short for a document.

    Args:
        data: uint8, the documents' UTF-8, read-only.
        offsets: int64[n + 1]; a null is an empty text.
        start: the first document to look at.
        size: tokens in a shingle.
        flags: of `fold`.
        keys: of the hashes.
        stops: uint64 ascending: tokens that are left out.
        stage1: the Unicode table.
        stage2: the same.
        bytes_: uint8[2, 2 · longest + 128] scratch.
        words: uint64[2, longest + 66] scratch.
        sought: a Sought.
        hits: a LeakRoom.
        out: int64[any, FIELDS], filled.
    """
    tokens, found = words[0], words[1]
    filled = 0
    for i in range(start, offsets.size - 1):
        folded = fold(data, offsets[i], offsets[i + 1], flags, stage1, stage2, bytes_[0], bytes_[1])
        num = hash_tokens(bytes_[0], bytes_[1], folded, keys, stops, tokens)
        made = shingle(tokens, num, size, 1, keys, found) if num >= size else 0
        count, touched = _hits(found, made, sought, hits)
        chosen = _deal(count, touched, sought, hits)
        if chosen < 0 or filled + chosen > out.shape[0]:
            for j in range(touched):
                hits.counts[hits.touched[j]] = 0
            return i, filled, max(-chosen, 0)
        for j in range(chosen):
            text = hits.touched[j]
            shared, first, behind = _best(text, tokens, num, size, sought, hits)
            if shared > 0:
                out[filled, 0], out[filled, 1], out[filled, 2] = i, text, shared
                out[filled, 3], out[filled, 4] = first, behind
                filled += 1
            hits.counts[text] = 0
    return offsets.size - 1, filled, 0
