"""Items that stand in many sets: what a table of saturating counters lets pass as such; and sets without them."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.kernels._jit import jit
from nearsame.kernels.sets import digest_set, first_at_least

__all__ = ["Slots", "count_these", "drop_items", "frequent_items", "hold_most", "num_frequent"]

_ONE, _TWO, _NIBBLE = np.uint64(1), np.uint64(2), np.uint8(15)
_SIX, _MASK, _ZERO = np.uint64(6), np.uint64(63), np.uint64(0)


class Slots(NamedTuple):
    """A table of counters; an item's slot is (item - base) >> shift, and what is not in the table is not counted."""

    base: np.uint64
    shift: np.uint64
    num: int
    nibbles: bool  # two counters in a byte
    table: npt.NDArray[np.uint8]


def hold_most(slots: Slots, most: int) -> int:
    """The count from which on a slot may be one of an item that stands in more than `most` sets: never too high."""
    return min(most + 1, 15 if slots.nibbles else 255)


@jit
def _count(slots, slot):
    if slots.nibbles:
        return (slots.table[slot >> _ONE] >> np.uint8((slot & _ONE) << _TWO)) & _NIBBLE
    return slots.table[slot]


@jit
def num_frequent(slots, least):
    """How many slots count to `least` or more."""
    found = 0
    for slot in range(slots.num):
        found += 1 if np.int64(_count(slots, np.uint64(slot))) >= least else 0
    return found


@jit
def frequent_items(items, starts, ends, num_tokens, slots, low, high, least, out):
    """Write the items whose slot is in [low, high) and counts to `least` or more; returns how many.

    Args:
        items: uint64, ascending in each set.
        starts: int64[n].
        ends: int64[n].
        num_tokens: int64[n]; a set of none holds no shingle, and is passed over.
        slots: a Slots.
        low: the first slot.
        high: the one behind the last.
        least: as `hold_most` has it.
        out: uint64, as many as items.
    """
    filled = 0
    first = slots.base + (np.uint64(low) << slots.shift)
    stop = np.uint64(high)
    for i in range(starts.size):
        if num_tokens[i] == 0:
            continue
        end = ends[i]
        for j in range(first_at_least(items, starts[i], end, first), end):
            slot = (items[j] - slots.base) >> slots.shift
            if slot >= stop:
                break
            if np.int64(_count(slots, slot)) >= least:
                out[filled] = items[j]
                filled += 1
    return filled


@jit
def _may_be(x, shift, bits):
    """Whether the filter of `bits` has the item; see auditing.mark_filter."""
    slot = x >> shift
    return bits[np.int64(slot >> _SIX)] & (_ONE << (slot & _MASK)) != _ZERO


@jit
def drop_items(items, starts, ends, digests, num_tokens, dropped, shift, bits, out, out_ends, about):
    """Each set without the items that are dropped; what has nothing left has the two halves of its text's digest.

    Args:
        items: uint64, ascending in each set.
        starts: int64[n].
        ends: int64[n].
        digests: int64[2, n], of the texts' bytes: as of texts without tokens, copies stay copies.
        num_tokens: int64[n]; a set of none holds no shingle, and stays as it is.
        dropped: uint64, ascending.
        shift: uint64, of the filter.
        bits: uint64, a bit for each item >> shift that may be dropped (see auditing.mark_filter).
        out: uint64, as many as items and sets; filled.
        out_ends: int64[n + 1], filled.
        about: int64[3, n], filled: tokens (0 where nothing is left), 128 bits of the set.
    """
    out_ends[0] = 0
    for i in range(starts.size):
        begin = out_ends[i]
        filled = begin
        for j in range(starts[i], ends[i]):
            x = items[j]
            if num_tokens[i] > 0 and _may_be(x, shift, bits):
                at = first_at_least(dropped, 0, dropped.size, x)
                if at < dropped.size and dropped[at] == x:
                    continue
            out[filled] = x
            filled += 1
        about[0, i] = num_tokens[i]
        if filled == begin and ends[i] > starts[i]:
            a, b = np.uint64(digests[0, i]), np.uint64(digests[1, i])
            out[filled], out[filled + 1] = min(a, b), max(a, b)
            filled += 2
            about[0, i] = 0
        out_ends[i + 1] = filled
        a, b = digest_set(out, begin, filled)
        about[1, i], about[2, i] = np.int64(a), np.int64(b)


@jit
def count_these(items, starts, ends, weights, wanted, filter_shift, bits, shift, firsts, low, high, counts):
    """Add weights[i] to counts[j] for each set i that has wanted[j], low <= j < high.

    Args:
        items: uint64, ascending in each set.
        starts: int64[n].
        ends: int64[n].
        weights: int64[n].
        wanted: uint64, ascending.
        filter_shift: uint64, of the filter, by which most that is not wanted is passed over without a miss.
        bits: uint64, a bit for each item >> filter_shift that may be wanted (see auditing.mark_filter).
        shift: uint64; an item's slot is item >> shift.
        firsts: int32, by slot: where in `wanted` its items begin; and how many are wanted, at the end.
        low: the first of `wanted` that is counted.
        high: the one behind the last.
        counts: int64, as many as `wanted`; added to.
    """
    if low == high:
        return
    least, last = wanted[low], wanted[high - 1]
    for i in range(starts.size):
        for j in range(first_at_least(items, starts[i], ends[i], least), ends[i]):
            x = items[j]
            if x > last:
                break
            if not _may_be(x, filter_shift, bits):
                continue
            slot = np.int64(x >> shift)
            begin, end = np.int64(firsts[slot]), np.int64(firsts[slot + 1])
            at = first_at_least(wanted, begin, end, x)
            if at < end and wanted[at] == x:
                counts[at] += weights[i]
