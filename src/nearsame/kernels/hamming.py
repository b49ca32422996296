"""Codes of 64-bit words and the bits in which they differ: distances, equal codes, and the search's inner loops.

1. A code is a row of uint64[n, w]: bit i of a code is bit i % 64 of word i // 64, and bits above the code's own are
   zero. Codes are read, never written.
2. The search deals *entries* into buckets: the code folded to one word, and a tag, `bucket << 32 | row`. A
   folded word never differs in more bits than the codes do, so it sifts codes of any width at the price of one word;
   whatever it lets through is compared whole.
3. A pair is one uint64, `a << 32 | b` with a < b, and is written once: where the headers of `same` agree and
   no header of `apart` does. A full `out` stops a kernel with its place in `state`, and it goes on from there.
4. With `split` > 0, rows below it are the base, the others are queries, and only base meets query.
"""

import numpy as np

from nearsame.kernels._jit import jit, popcount

__all__ = [
    "compare_runs",
    "compare_tile",
    "count_buckets",
    "deal",
    "distances",
    "fold",
    "pair_distances",
    "sort_buckets",
    "sort_codes",
]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_U11 = np.uint64(11)
_U32 = np.uint64(32)
_U63 = np.uint64(63)
_LOW11 = np.uint64(0x7FF)
_LOW32 = np.uint64(0xFFFFFFFF)
_BLOCK = 128  # entries that are passed over at once when none of them is near


@jit
def distances(codes_a, codes_b, out):
    """The number of differing bits of each row: uint64[n, w] twice -> int32[n]."""
    for i in range(codes_a.shape[0]):
        total = 0
        for word in range(codes_a.shape[1]):
            total += popcount(codes_a[i, word] ^ codes_b[i, word])
        out[i] = total


@jit
def pair_distances(codes, a, b, out):
    """The number of differing bits of rows a[i] and b[i] (int64[m]) of codes: -> int32[m]."""
    for i in range(a.shape[0]):
        total = 0
        for word in range(codes.shape[1]):
            total += popcount(codes[a[i], word] ^ codes[b[i], word])
        out[i] = total


@jit
def fold(codes, out):
    """Each code's words, rotated by different amounts and xor-ed into one: uint64[n, w] -> uint64[n].

    Rotation and xor are linear, so two folded words differ in at most as many bits as the codes do.
    """
    for i in range(codes.shape[0]):
        folded = codes[i, 0]
        for word in range(1, codes.shape[1]):
            turn = np.uint64(19 * word % 64)
            folded ^= (codes[i, word] << turn) | (codes[i, word] >> (_U63 - turn + _ONE) if turn > _ZERO else _ZERO)
        out[i] = folded


@jit
def sort_codes(codes, keys, order, spare_keys, spare_order):
    """Rows in ascending order of their codes (the last word is the highest), equal codes in ascending order of row.

    A radix sort of 11 bits at a time, about 4 ns a code and pass; digits that all codes share are skipped.

    Args:
        codes: uint64[n, w].
        keys: uint64[n], scratch.
        order: int64[n], holding 0 … n-1.
        spare_keys: uint64[n], scratch.
        spare_order: int64[n], scratch.

    Returns:
        The sorted one of `order` and `spare_order`.
    """
    num_codes = order.shape[0]
    counts = np.zeros(2049, np.int64)
    for word in range(codes.shape[1]):
        for i in range(num_codes):
            keys[i] = codes[order[i], word]
        for digit in range(6):
            shift = _U11 * np.uint64(digit)
            counts[:] = 0
            for i in range(num_codes):
                counts[np.int64((keys[i] >> shift) & _LOW11) + 1] += 1
            if num_codes == 0 or counts[np.int64((keys[0] >> shift) & _LOW11) + 1] == num_codes:
                continue
            for i in range(2048):
                counts[i + 1] += counts[i]
            for i in range(num_codes):
                bucket = np.int64((keys[i] >> shift) & _LOW11)
                place = counts[bucket]
                counts[bucket] = place + 1
                spare_keys[place] = keys[i]
                spare_order[place] = order[i]
            keys, spare_keys = spare_keys, keys
            order, spare_order = spare_order, order
    return order


@jit
def _bucket(codes, row, mask, multipliers, bucket_bits):
    """The top `bucket_bits` (below 64) of the masked words' multiply-shift hash, as uint64."""
    key = _ZERO
    for word in range(codes.shape[1]):
        key += (codes[row, word] & mask[word]) * multipliers[word]
    return (key >> _ONE) >> (_U63 - bucket_bits)


@jit
def count_buckets(codes, first, last, mask, multipliers, part_bits, counts):
    """Count rows first … last-1 by the part of their bucket: adds to int64[2**part_bits].

    `mask` and `multipliers` are uint64[w]. A multiplier of 2**s shifts a block to the top, so that buckets are the
    blocks themselves; an odd one hashes.
    """
    for row in range(first, last):
        counts[np.int64(_bucket(codes, row, mask, multipliers, part_bits))] += 1


@jit
def deal(codes, folded, first, last, mask, multipliers, part_bits, sub_bits, cursors, out_folded, out_tags):
    """Write the entries of rows first … last-1 to their parts, in the order of rows.

    A bucket has part_bits + sub_bits bits: the upper ones choose the part, the lower ones (at most 32) go into the tag.
    `cursors`, int64[2**part_bits], holds where each part goes on in `out_folded` and `out_tags`, and moves.
    """
    low = (_ONE << sub_bits) - _ONE
    for row in range(first, last):
        bucket = _bucket(codes, row, mask, multipliers, part_bits + sub_bits)
        part = np.int64(bucket >> sub_bits)
        place = cursors[part]
        cursors[part] = place + 1
        out_folded[place] = folded[row]
        out_tags[place] = ((bucket & low) << _U32) | np.uint64(row)


@jit
def sort_buckets(folded, tags, starts, first, last, sub_bits):
    """Bring the entries of each part first … last-1 into the order of their buckets, in place; keeps the order of rows.

    Part p is entries starts[p] … starts[p + 1]-1. Two passes over a part that fits the cache, about 3 ns an entry.
    """
    largest = 0
    for part in range(first, last):
        largest = max(largest, starts[part + 1] - starts[part])
    spare_folded = np.empty(largest, np.uint64)
    spare_tags = np.empty(largest, np.uint64)
    counts = np.empty((1 << np.int64(sub_bits)) + 1, np.int64)
    for part in range(first, last):
        start = starts[part]
        size = starts[part + 1] - start
        if size < 2:
            continue
        counts[:] = 0
        for i in range(size):
            tag = tags[start + i]
            spare_tags[i] = tag
            spare_folded[i] = folded[start + i]
            counts[np.int64(tag >> _U32) + 1] += 1
        for i in range(1, counts.shape[0]):
            counts[i] += counts[i - 1]
        for i in range(size):
            bucket = np.int64(spare_tags[i] >> _U32)
            place = start + counts[bucket]
            counts[bucket] += 1
            folded[place] = spare_folded[i]
            tags[place] = spare_tags[i]


@jit
def _count_near(folded, word, k):
    """How many of `folded` are within k bits of `word`; the loop is vectorised because it starts at 0."""
    count = 0
    for i in range(folded.shape[0]):
        count += popcount(folded[i] ^ word) <= k
    return count


@jit
def _is_first_match(codes, a, b, k, same, apart):
    """Whether rows a and b are within k bits, agree on `same` and on none of `apart`."""
    distance = 0
    differ = _ZERO
    for word in range(codes.shape[1]):
        x = codes[a, word] ^ codes[b, word]
        distance += popcount(x)
        differ |= x & same[word]
    if distance > k or differ != _ZERO:
        return False
    for table in range(apart.shape[0]):
        differ = _ZERO
        for word in range(codes.shape[1]):
            differ |= (codes[a, word] ^ codes[b, word]) & apart[table, word]
        if differ == _ZERO:
            return False
    return True


@jit
def _is_first_match_of_word(differ, same, apart):
    """`_is_first_match` of codes of one word that are near and differ in the bits `differ`: nothing is looked up."""
    is_first = differ & same[0] == _ZERO
    for table in range(apart.shape[0]):
        is_first &= differ & apart[table, 0] != _ZERO
    return is_first


@jit
def _collect(folded, tags, word, row, codes, k, same, apart, out, filled):
    """Write the pairs of `row` with those of `tags`, all lower, that belong here; returns the new `filled`."""
    for start in range(0, folded.shape[0], _BLOCK):
        stop = min(start + _BLOCK, folded.shape[0])
        if _count_near(folded[start:stop], word, k) == 0:
            continue
        for i in range(start, stop):
            differ = folded[i] ^ word
            if popcount(differ) > k:
                continue
            other = tags[i] & _LOW32
            if codes.shape[1] == 1:
                is_first = _is_first_match_of_word(differ, same, apart)
            else:
                is_first = _is_first_match(codes, np.int64(other), np.int64(row), k, same, apart)
            if is_first:
                out[filled] = (other << _U32) | row
                filled += 1
    return filled


@jit
def compare_runs(folded, tags, starts, last, split, codes, k, same, apart, hot_work, deal_work, state, out, hot):
    """Compare the entries of each bucket in the parts up to `last`, and set the very full buckets aside.

    Args:
        folded: uint64[n], from `sort_buckets`.
        tags: uint64[n], from `sort_buckets`.
        starts: int64[parts + 1]: where each part starts.
        last: the part to stop before.
        split: 0, or the number of base rows.
        codes: uint64[n, w], by row.
        k: the greatest distance.
        same: uint64[w]: bits that must be equal.
        apart: uint64[t, w]: headers none of which may be equal.
        hot_work: a bucket of more comparisons than this is set aside in `hot`,
        deal_work: if also of more than this for each of its entries.
        state: int64[5]: part, start of the bucket, next entry, pairs in `out`, buckets in `hot`; done when part is
            last.
        out: uint64[m], the pairs; when none were written and it is not done, m is too small for one entry's.
        hot: int64[h, 2]: first entry and end of each bucket that was set aside.
    """
    part, start, i, filled, num_hot = state[0], state[1], state[2], state[3], state[4]
    while part < last:
        part_end = starts[part + 1]
        while start < part_end:
            bucket = tags[start] >> _U32
            end = start + 1
            while end < part_end and tags[end] >> _U32 == bucket:
                end += 1
            middle = start
            if split > 0:
                while middle < end and np.int64(tags[middle] & _LOW32) < split:
                    middle += 1
                work = (middle - start) * (end - middle)
            else:
                work = (end - start) * (end - start - 1) // 2
            if work > hot_work and work > deal_work * (end - start):
                hot[num_hot, 0] = start
                hot[num_hot, 1] = end
                num_hot += 1
            elif work > 0:
                i = max(i, middle)
                while i < end:
                    to = middle if split > 0 else i
                    word = folded[i]
                    near = _count_near(folded[start:to], word, k)
                    if near > 0:
                        if filled + near > out.shape[0]:
                            state[0], state[1], state[2], state[3], state[4] = part, start, i, filled, num_hot
                            return
                        row = tags[i] & _LOW32
                        filled = _collect(
                            folded[start:to], tags[start:to], word, row, codes, k, same, apart, out, filled
                        )
                    i += 1
            start = end
            i = end
        part += 1
    state[0], state[1], state[2], state[3], state[4] = part, start, i, filled, num_hot


@jit
def compare_tile(folded, tags, stop, others, others_stop, codes, k, same, apart, state, out):
    """Compare rows up to `stop` with the lower ones of rows `others` … `others_stop`-1.

    `tags` are the rows themselves; `state`, int64[2], is the next row and the pairs in `out`; done when the row is
    `stop`. `out` must have room for one row's pairs, others_stop - others. About 0.05 ns a pair where the machine
    counts bits in vectors.
    """
    row, filled = state[0], state[1]
    while row < stop:
        to = max(others, min(others_stop, row))
        word = folded[row]
        near = _count_near(folded[others:to], word, k)
        if near > 0:
            if filled + near > out.shape[0]:
                break
            tag = np.uint64(row)
            filled = _collect(folded[others:to], tags[others:to], word, tag, codes, k, same, apart, out, filled)
        row += 1
    state[0], state[1] = row, filled
