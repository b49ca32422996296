"""The count table and the prefix of a set: which shingles must be offered so that no similar pair is missed."""

import numpy as np

from samesame.kernels._jit import jit
from samesame.kernels.sets import first_at_least

__all__ = ["add_counts", "add_nibbles", "look_up", "prefix_keys"]

_FULL, _ONE = np.uint8(255), np.uint8(1)
_U1, _U2, _U15 = np.uint64(1), np.uint64(2), np.uint64(15)
_STRETCH = 1 << 21  # slots: their counters stay in cache


@jit
def add_counts(items, starts, ends, base, shift, low, high, table):
    """Add one for each item whose slot, (item - base) >> shift, is in [low, high); counters stop at 255.

    Callers that give disjoint ranges may run at once on one table: no increment is lost, which would lose pairs.
    The slots are gone through in stretches that stay in cache, with a cursor for each set: a third faster.
    """
    at = np.empty(starts.size, np.int64)
    for i in range(starts.size):
        at[i] = first_at_least(items, starts[i], ends[i], base + (np.uint64(low) << shift))
    for stretch in range(low, high, _STRETCH):
        stop = np.uint64(min(stretch + _STRETCH, high))
        for i in range(starts.size):
            j, end = at[i], ends[i]
            while j < end:
                slot = (items[j] - base) >> shift
                if slot >= stop:
                    break
                count = table[slot]
                table[slot] = count + np.uint8(count != _FULL)
                j += 1
            at[i] = j


@jit
def add_nibbles(items, starts, ends, base, shift, low, high, table):
    """The same with two slots in a byte, whose counters stop at 15; ranges must begin and end at even slots."""
    at = np.empty(starts.size, np.int64)
    for i in range(starts.size):
        at[i] = first_at_least(items, starts[i], ends[i], base + (np.uint64(low) << shift))
    for stretch in range(low, high, _STRETCH):
        stop = np.uint64(min(stretch + _STRETCH, high))
        for i in range(starts.size):
            j, end = at[i], ends[i]
            while j < end:
                slot = (items[j] - base) >> shift
                if slot >= stop:
                    break
                lift = (slot & _U1) << _U2
                count = np.uint64(table[slot >> _U1])
                room = np.uint64((count >> lift) & _U15 != _U15)
                table[slot >> _U1] = np.uint8(count + (room << lift))
                j += 1
            at[i] = j


@jit
def look_up(items, starts, ends, base, shift, num_slots, nibbles, table, counts, count_starts):
    """Write the count of each item whose slot is in the table; that of item j of set i to count_starts[i] + j."""
    at = np.empty(starts.size, np.int64)
    for i in range(starts.size):
        at[i] = first_at_least(items, starts[i], ends[i], base)
    for stretch in range(0, num_slots, _STRETCH):
        stop = np.uint64(min(stretch + _STRETCH, num_slots))
        for i in range(starts.size):
            j, end, lift = at[i], ends[i], count_starts[i] - starts[i]
            while j < end:
                slot = (items[j] - base) >> shift
                if slot >= stop:
                    break
                if nibbles:
                    counts[j + lift] = np.uint8((np.uint64(table[slot >> _U1]) >> ((slot & _U1) << _U2)) & _U15)
                else:
                    counts[j + lift] = table[slot]
                j += 1
            at[i] = j


@jit
def prefix_keys(items, begins, ends, counts, count_begins, rows, p, q, everything, keys, key_rows, places, probes):
    """The keys of each set for a threshold of p/q; returns their number.

    The order of a set is by (count, hash). Of n items the first n - ceil(p·n/q) + 1 are its prefix; those of
    count 1 stand in one set only, so they use up their places and are left out.

    Args:
        items: uint64, ascending in each set.
        begins: int64[n], where each set begins.
        ends: int64[n], where it ends.
        counts: uint8, of each item.
        count_begins: int64[n], where the counts of each set begin.
        rows: int64[n].
        p: numerator of the threshold.
        q: its denominator.
        everything: offer all items of count ≥ 2, not only the prefix (the container side of containment).
        keys: uint64, as many as items; filled.
        key_rows: int64, the same.
        places: int32, the place in the order.
        probes: uint8, whether a pair may begin here: a set that is the smaller of a pair shares one of its first
            n - ceil(2p·n/(p + q)) + 1 items (AllPairs' shorter prefix); one that is contained, one of its prefix.
    """
    filled = 0
    starts = np.zeros(257, np.int64)
    for i in range(rows.size):
        start, n = begins[i], ends[i] - begins[i]
        count_start = count_begins[i]
        length = n if everything else n - (p * n + q - 1) // q + 1
        short = n - (p * n + q - 1) // q if everything else n - (2 * p * n + p + q - 1) // (p + q)
        num_alone = np.int64(0)
        for j in range(count_start, count_start + n):
            num_alone += np.int64(counts[j] <= _ONE)
        if n == 0 or num_alone >= length:
            continue
        starts[:] = 0
        for j in range(count_start, count_start + n):
            starts[np.int64(counts[j]) + 1] += 1
        starts[2] = num_alone  # counts 0 and 1 come first; 0 is never seen, but is alone too
        for c in range(2, 256):
            starts[c + 1] += starts[c]
        for j in range(n):
            count = np.int64(counts[count_start + j])
            if count <= 1:
                continue
            place = starts[count]
            starts[count] += 1
            if place >= length:
                continue
            at = filled + place - num_alone
            keys[at] = items[start + j]
            key_rows[at] = rows[i]
            places[at] = place
            probes[at] = place <= short
        filled += length - num_alone
    return filled
