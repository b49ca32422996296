"""Sets of 64-bit hashes as ascending arrays: making them, and what two of them share."""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.hashing import finish, mix

__all__ = [
    "count_common",
    "count_equal",
    "digest_set",
    "digest_sets",
    "first_at_least",
    "intersect_across",
    "intersect_small",
    "intersect_sorted",
    "mark_repeats",
    "same_items",
    "sort_distinct",
]

_K1 = np.uint64(0xD1B54A32D192ED03)
_K2 = np.uint64(0x8CB92BA72F3D8DD7)
_U64 = np.uint64(64)
_MANY = 1 << 22  # values of one document
_S32, _ONE = np.uint64(32), np.uint64(1)
_MUCH = 16  # where a binary search a value costs less than a step a value of the other run


@jit
def _insertion_sort(values, size, patience):
    """Sort an almost sorted array in place; False when it took more than `patience` moves."""
    for i in range(1, size):
        x = values[i]
        j = i - 1
        while j >= 0 and values[j] > x:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = x
        patience -= i - 1 - j
        if patience < 0:
            return False
    return True


@jit
def _distinct(values, size, out):
    """Write the distinct ones of values[:size] (ascending, at least one) to `out`; returns how many there are."""
    out[0] = values[0]
    kept = 1
    for i in range(1, size):
        if values[i] != values[i - 1]:
            out[kept] = values[i]
            kept += 1
    return kept


@jit
def sort_distinct(values, size, spare, counts, out):
    """Sort values[:size] and write the distinct ones to `out`; returns how many there are.

    The values are hashes, so evenly spread: one pass deals them into about as many buckets as there are values, and
    an insertion sort puts right what is left. An input that is not spread (few distinct values in a
    bucket, on purpose) falls back to quicksort. About 8 ns a value, where quicksort takes 25 and more.

    Args:
        values: uint64; not changed.
        size: how many of them count.
        spare: uint64 scratch of at least `size`; afterwards all of them, ascending.
        counts: int64 scratch of at least 2 · size + 2; of more than _MANY values it is not touched.
        out: uint64 of at least `size`; may be `values` itself.
    """
    if size == 0:
        return 0
    if size > _MANY:  # the counts would take more memory than the time is worth
        spare[:size] = values[:size]
        spare[:size].sort()
        return _distinct(spare, size, out)
    bits = 1
    while (1 << bits) < size:
        bits += 1
    shift = _U64 - np.uint64(bits)
    num_buckets = 1 << bits
    for i in range(num_buckets + 1):
        counts[i] = 0
    for i in range(size):
        counts[np.int64(values[i] >> shift) + 1] += 1
    for i in range(num_buckets):
        counts[i + 1] += counts[i]
    for i in range(size):
        bucket = np.int64(values[i] >> shift)
        spare[counts[bucket]] = values[i]
        counts[bucket] += 1
    if not _insertion_sort(spare, size, 16 * size + 64):
        spare[:size].sort()
    return _distinct(spare, size, out)


@jit
def count_equal(values, size, times):
    """How often each distinct one of values[:size] (ascending) occurs, in their order, to times."""
    i = -1
    for j in range(size):
        if j == 0 or values[j] != values[j - 1]:
            i += 1
            times[i] = 0
        times[i] += 1


@jit
def mark_repeats(values, size, spare):
    """Make the n-th copy of a value (n ≥ 2) a value of its own, so that a set counts like a bag; sorts the values."""
    values[:size].sort()
    nth = np.uint64(0)
    for i in range(size):
        nth = nth + np.uint64(1) if i > 0 and values[i] == values[i - 1] else np.uint64(0)
        spare[i] = values[i] if nth == np.uint64(0) else finish(mix(values[i] ^ _K1, _K2 + nth))
    for i in range(size):
        values[i] = spare[i]


@jit
def digest_set(values, start, end):
    """Two uint64 of values[start:end], whatever their order.

    To find what may be equal, and nothing more: who meets by it is compared value by value. Sums do not wait for each
    other, which saves 1.5 ns a value.
    """
    size = np.uint64(end - start)
    a, b = _K1 + size, _K2
    for i in range(start, end):
        a += values[i]
        b += values[i] * ((values[i] >> _S32) | _ONE)
    return finish(a ^ (b << _S32)), finish(b)


@jit
def digest_sets(values, offsets, out):
    """`digest_set` of values[offsets[i]:offsets[i + 1]] for each i: int64[2, n]."""
    for i in range(out.shape[1]):
        a, b = digest_set(values, offsets[i], offsets[i + 1])
        out[0, i], out[1, i] = np.int64(a), np.int64(b)


@jit
def intersect_sorted(values, a, a_end, b, b_end, need):
    """How many values two ascending runs of one array share; -1 as soon as fewer than `need` are possible."""
    return intersect_across(values, a, a_end, values, b, b_end, need)


@jit
def intersect_across(values, a, a_end, others, b, b_end, need):
    """How many values an ascending run of `values` and one of `others` share; -1 if fewer than `need`."""
    shared, _ = count_common(values, a, a_end, others, b, b_end, need)
    return shared


@jit
def count_common(values, a, a_end, others, b, b_end, need):
    """`intersect_across`, and how many values of both runs it has passed."""
    slack_a = a_end - a - need
    slack_b = b_end - b - need
    if slack_a < 0 or slack_b < 0:
        return -1, 0
    shared, first = 0, a + b
    while a < a_end and b < b_end:
        x = values[a]
        y = others[b]
        if x == y:
            shared += 1
            a += 1
            b += 1
        elif x < y:
            slack_a -= 1
            if slack_a < 0:
                return -1, a + b - first
            a += 1
        else:
            slack_b -= 1
            if slack_b < 0:
                return -1, a + b - first
            b += 1
    return shared if shared >= need else -1, a + b - first


@jit
def first_at_least(values, start, end, x):
    """The first place in ascending values[start:end] that holds x or more."""
    while start < end:
        middle = (start + end) >> 1
        if values[middle] < x:
            start = middle + 1
        else:
            end = middle
    return start


@jit
def intersect_small(values, a, a_end, b, b_end, need):
    """As `count_common` in one array, where the first run may be much shorter: then each of its values is looked up."""
    size = a_end - a
    if b_end - b < _MUCH * size:
        return count_common(values, a, a_end, values, b, b_end, need)
    slack = size - need
    for i in range(a, a_end):
        if slack < 0:
            return -1, i - a
        b = first_at_least(values, b, b_end, values[i])
        if b == b_end or values[b] != values[i]:
            slack -= 1
    return need + slack if slack >= 0 else -1, size


@jit
def same_items(values, a, a_end, b, b_end):
    """Whether two runs are equal, element by element."""
    if a_end - a != b_end - b:
        return False
    for i in range(a_end - a):  # noqa: SIM110  (numba has no generators in `all`)
        if values[a + i] != values[b + i]:
            return False
    return True
