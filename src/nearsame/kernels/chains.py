"""Keys of several items: where items are frequent, sets that share one of them and the next few that they share meet.

Similar sets share at least o = ceil(p·n/q) items, of either one's n (`prefixes.Shares`). So the first k items that they
share, in the order of rarity, stand within the first n - o + k of both, for each k up to o. A key is such a chain.
"""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.hashing import finish, mix

__all__ = ["chain_keys"]

_ONE = np.uint8(1)
_K1, _K2 = np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)


@jit
def _put(out, filled, key, row, place, short):
    """Write one entry; returns how many there are."""
    keys, rows, places, probes = out
    keys[filled] = key
    rows[filled] = row
    places[filled] = place
    probes[filled] = place <= short
    return filled + 1


@jit
def _longer(key, item):
    """The key of a chain and one item more."""
    return finish(mix(key ^ _K1, item + _K2))


@jit
def _put_chains(rarest, classes, alone, lengths, row, plain, splitting, out, filled):
    """The chains of a set; returns how many entries there are.

    A chain is split, into those with one item more, by what its items are, so that two sets with the same first items
    have the same chains. One that ends where a set need share no more is offered, too, for its like.
    """
    length, short, least = lengths
    depth, limit, num_sets, weights = splitting
    size = rarest.size
    for a in range(alone, length):
        key_a, expected_a = rarest[a], weights[classes[a]]
        is_split = depth >= 2 and expected_a >= limit
        if plain or not is_split or least <= 1:
            filled = _put(out, filled, key_a, row, a, short)
        if not is_split:
            continue
        for b in range(a + 1, min(length + 1, size)):
            key_b, expected_b = _longer(key_a, rarest[b]), expected_a * weights[classes[b]] // num_sets
            is_split = depth >= 3 and expected_b >= limit
            if not is_split or least <= 2:
                filled = _put(out, filled, key_b, row, b - 1, short)
            if not is_split:
                continue
            for c in range(b + 1, min(length + 2, size)):
                filled = _put(out, filled, _longer(key_b, rarest[c]), row, c - 2, short)
    return filled


@jit
def chain_keys(items, begins, ends, counts, rows, shares, largest, splitting, out):
    """The keys of each set for a threshold; returns their number.

    As `prefixes.prefix_keys` for sets of more than `largest` items, and others that may resemble such a set. Places are
    such that as many items as from there on can be shared: of a chain of k, that of its last one less k - 1.

    Args:
        items: uint64, ascending in each set.
        begins: int64[n], where each set begins.
        ends: int64[n], where it ends.
        counts: uint8, the class of each item; those of the sets stand one behind the other.
        rows: int64[n].
        shares: `prefixes.Shares` of the threshold.
        largest: int64, items of a set that has chains.
        splitting: (depth, limit, num_sets, weights): the longest chain, at most 3; how many sets with a chain are
            enough to split it; how many sets there are; and in how many an item of each class stands, int64[256].
        out: (keys uint64, rows int64, places int32, probes uint8), with room for all; filled.
    """
    p, q, larger_p, larger_q = shares
    filled = 0
    count_start = 0
    starts = np.zeros(257, np.int64)
    rarest, classes = np.empty(largest, np.uint64), np.empty(largest, np.uint8)
    for i in range(rows.size):
        start, n = begins[i], ends[i] - begins[i]
        first, count_start = count_start, count_start + n
        least = (p * n + q - 1) // q
        length, short = n - least + 1, n - (larger_p * n + larger_q - 1) // larger_q
        alone = np.int64(0)
        for j in range(first, count_start):
            alone += np.int64(counts[j] <= _ONE)
        if n == 0 or alone >= length:
            continue
        starts[:] = 0
        for j in range(first, count_start):
            starts[np.int64(counts[j]) + 1] += 1
        starts[2] = alone  # counts 0 and 1 come first
        for c in range(2, 256):
            starts[c + 1] += starts[c]
        has_chains = n <= largest
        for j in range(n):
            count = np.int64(counts[first + j])
            if count <= 1:
                continue
            place = starts[count]
            starts[count] += 1
            if has_chains:
                rarest[place], classes[place] = items[start + j], counts[first + j]
            elif place < length:
                filled = _put(out, filled, items[start + j], rows[i], place, short)
        if has_chains:
            plain = n * q > p * largest  # one that resembles it may be larger than those that have chains
            lengths = (length, short, least)
            filled = _put_chains(rarest[:n], classes[:n], alone, lengths, rows[i], plain, splitting, out, filled)
    return filled
