"""The count table and the prefix of a set: which shingles must be offered so that no similar pair is missed."""

from typing import NamedTuple

import numpy as np

from nearsame.kernels._jit import jit, popcount
from nearsame.kernels.sets import first_at_least

__all__ = [
    "Shares",
    "add_counts",
    "add_nibbles",
    "add_waiting",
    "count_frequent",
    "deal_counts",
    "find_full",
    "find_shared",
    "look_up",
    "look_up_until_alone",
    "mark_alone",
    "prefix_keys",
    "write_classes",
]

_FULL, _ONE, _TWO = np.uint8(255), np.uint8(1), np.uint8(2)
_U0, _U1, _U2, _U3, _U6, _U15, _U63 = (np.uint64(n) for n in (0, 1, 2, 3, 6, 15, 63))
_STRETCH = 1 << 21  # slots: their counters stay in cache
_WORD = 6  # log2 of the slots that one word says of whether they are full
_AT_ONCE = 16  # items, read before one looks whether it is enough


class Shares(NamedTuple):
    """The least share of its items that a set has in any similar one: p/q; in one no smaller, larger_p/larger_q.

    In any order of all items the first that two sets share has all others that they share behind it. So it is one of
    the first n - ceil(p·n/q) + 1 of each of them.
    """

    p: int
    q: int
    larger_p: int
    larger_q: int


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
def _count_stretch(slots, num, base, twice, table):
    if twice:
        for k in range(num):
            slot = base + np.int64(slots[k])
            lane = np.uint8((slot & 3) << 1)
            count = table[slot >> 2]
            table[slot >> 2] = count + (np.uint8((count >> lane) & _TWO != _TWO) << lane)
        return
    for k in range(num):
        slot = base + np.int64(slots[k])
        count = table[slot]
        table[slot] = count + np.uint8(count != _FULL)


@jit
def deal_counts(items, starts, ends, shift, low, high, bits, waiting, num_waiting, twice, table):
    """`add_counts` for a table much larger than the cache, where most items would fetch a line of memory each.

    Slots wait in lists, one for each stretch of 2**bits slots; a list that is full is counted while its stretch of the
    table is in cache. Half the time of `add_counts` with a table of 256 MB. `add_waiting` counts what is left.

    Args:
        items: uint64, ascending in each set.
        starts: int64[n], where each set begins.
        ends: int64[n], where it ends.
        shift: uint64; an item's slot is item >> shift.
        low: first slot that is counted, a multiple of 2**bits.
        high: the slot behind the last one.
        bits: of a stretch, at most 32.
        waiting: uint32[stretches, room], written to.
        num_waiting: int64[stretches], the numbers that wait; kept from call to call.
        twice: whether counters are of two bits, four in a byte, and stop at 2.
        table: uint8, counters that stop at 255, or those.
    """
    first, room = low >> bits, waiting.shape[1]
    least, stop, wide = np.uint64(low) << shift, np.uint64(high), np.uint64(bits)
    mask = (_U1 << wide) - _U1
    for i in range(starts.size):
        for j in range(first_at_least(items, starts[i], ends[i], least), ends[i]):
            slot = items[j] >> shift
            if slot >= stop:
                break
            stretch = np.int64(slot >> wide) - first
            at = num_waiting[stretch]
            waiting[stretch, at] = np.uint32(slot & mask)
            at += 1
            if at == room:
                _count_stretch(waiting[stretch], at, (first + stretch) << bits, twice, table)
                at = 0
            num_waiting[stretch] = at


@jit
def add_waiting(low, bits, waiting, num_waiting, twice, table):
    """Count all that waits."""
    for stretch in range(num_waiting.size):
        _count_stretch(waiting[stretch], num_waiting[stretch], low + (stretch << bits), twice, table)
        num_waiting[stretch] = 0


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
def _count_of(slot, nibbles, table):
    if nibbles:
        return np.uint8((np.uint64(table[slot >> _U1]) >> ((slot & _U1) << _U2)) & _U15)
    return table[slot]


@jit
def find_full(num_slots, nibbles, table, firsts, marks):
    """Bit i of marks[w] says that slot 64·w + i is full, firsts[w] how many before slot 64·w are.

    Returns (how many are full, the sum of all others).
    """
    full = np.uint8(15) if nibbles else _FULL
    num_full, others = np.int64(0), np.int64(0)
    for word in range(marks.size):
        firsts[word], mark = num_full, _U0
        for slot in range(word << _WORD, min((word + 1) << _WORD, num_slots)):
            count = _count_of(np.uint64(slot), nibbles, table)
            if count == full:
                num_full += 1
                mark |= _U1 << (np.uint64(slot) & _U63)
            else:
                others += np.int64(count)
        marks[word] = mark
    return num_full, others


@jit
def _is_full(slot, marks):
    return (marks[np.int64(slot >> _U6)] >> (slot & _U63)) & _U1 == _U1


@jit
def _full_before(slot, firsts, marks):
    """How many slots before this one are full."""
    word = np.int64(slot >> _U6)
    return firsts[word] + popcount(marks[word] & ((_U1 << (slot & _U63)) - _U1))


@jit
def count_frequent(items, starts, ends, base, shift, low, high, firsts, marks, out):
    """Add one to out[k] for each item in the k-th full slot of the table, of those in [low, high).

    `firsts` and `marks` are what `find_full` wrote. Callers that give disjoint ranges may run at once on one `out`.
    """
    for i in range(starts.size):
        first = first_at_least(items, starts[i], ends[i], base + (np.uint64(low) << shift))
        for j in range(first, ends[i]):
            slot = (items[j] - base) >> shift
            if slot >= np.uint64(high):
                break
            if _is_full(slot, marks):
                out[_full_before(slot, firsts, marks)] += 1


@jit
def write_classes(table, classes, full_classes):
    """Each counter of a table of bytes becomes its class: classes[count], and of the k-th full one full_classes[k]."""
    k = 0
    for slot in range(table.size):
        if table[slot] == _FULL:
            table[slot] = full_classes[k]
            k += 1
        else:
            table[slot] = classes[table[slot]]


@jit
def look_up(items, starts, ends, base, shift, num_slots, nibbles, table, full, counts, count_starts):
    """Write the count of each item whose slot is in the table; that of item j of set i to count_starts[i] + j.

    Of half bytes that are full it is the class: `full` is (firsts, marks, classes), and classes[k] that of the k-th of
    them, where there are classes.
    """
    firsts, marks, classes = full
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
                count = _count_of(slot, nibbles, table)
                if nibbles and count == np.uint8(15) and classes.size > 0:
                    count = classes[_full_before(slot, firsts, marks)]
                counts[j + lift] = count
                j += 1
            at[i] = j


@jit
def mark_alone(table, marks):
    """Bit i of marks[w] says that the counter of slot 64·w + i of a table of bytes is at most one."""
    for word in range(marks.size):
        mark = _U0
        for slot in range(word << _WORD, min((word + 1) << _WORD, table.size)):
            mark |= np.uint64(table[slot] <= _ONE) << (np.uint64(slot) & _U63)
        marks[word] = mark


@jit
def find_shared(items, starts, ends, shift, least, table, out):
    """out[i] says whether least[i] items of set i, or more, were counted twice in a table of two bits a slot."""
    for i in range(starts.size):
        num_shared = np.int64(0)
        for j in range(starts[i], ends[i]):
            slot = items[j] >> shift
            num_shared += np.int64((table[slot >> _U2] >> np.uint8(((slot & _U3) << _U1) + _U1)) & _ONE)
        out[i] = num_shared >= least[i]


@jit
def look_up_until_alone(items, starts, ends, shift, shares, alone, table, counts, count_starts):
    """`look_up` in a whole table, of those sets that may have keys to offer.

    A set has none of which as many items are alone as the prefix of `prefix_keys` is long. Whether an item is says a
    bit of what `mark_alone` wrote, an eighth of the table; no more of a set are read than it takes to know. Counts
    that are not written are to be 0.
    """
    p, q = shares.p, shares.q
    for i in range(starts.size):
        n, lift = ends[i] - starts[i], count_starts[i] - starts[i]
        length = n - (p * n + q - 1) // q + 1
        num_alone = _U0
        for start in range(starts[i], ends[i], _AT_ONCE):
            for j in range(start, min(start + _AT_ONCE, ends[i])):  # no branch: the reads are under way together
                slot = items[j] >> shift
                num_alone += (alone[np.int64(slot >> _U6)] >> (slot & _U63)) & _U1
            if np.int64(num_alone) >= length:
                break
        if np.int64(num_alone) < length:
            for j in range(starts[i], ends[i]):
                counts[j + lift] = table[items[j] >> shift]


@jit
def prefix_keys(items, begins, ends, counts, count_begins, rows, shares, everything, keys, key_rows, places, probes):
    """The keys of each set for a threshold; returns their number.

    The order of a set is by (count, hash). Of n items the first n - ceil(p·n/q) + 1 are its prefix (`Shares`); those of
    count 1 stand in one set only, so they use up their places and are left out.

    Args:
        items: uint64, ascending in each set.
        begins: int64[n], where each set begins.
        ends: int64[n], where it ends.
        counts: uint8, of each item.
        count_begins: int64[n], where the counts of each set begin.
        rows: int64[n].
        shares: `Shares` of the threshold.
        everything: offer all items of count ≥ 2, not only the prefix (the container side of containment).
        keys: uint64, as many as items; filled.
        key_rows: int64, the same.
        places: int32, the place in the order.
        probes: uint8, whether a pair may begin here: a set that is the smaller of a pair shares one of its first
            n - ceil(larger_p·n/larger_q) + 1 items (AllPairs' shorter prefix).
    """
    p, q, larger_p, larger_q = shares
    filled = 0
    starts = np.zeros(257, np.int64)
    for i in range(rows.size):
        start, n = begins[i], ends[i] - begins[i]
        count_start = count_begins[i]
        length = n if everything else n - (p * n + q - 1) // q + 1
        short = n - (larger_p * n + larger_q - 1) // larger_q
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
