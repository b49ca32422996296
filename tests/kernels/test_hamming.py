"""The inner loops of the Hamming search, each by itself, against Python integers and lists."""

from itertools import groupby
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.hamming import (
    compare_runs,
    compare_tile,
    count_buckets,
    deal,
    distances,
    fold,
    pair_distances,
    sort_buckets,
    sort_codes,
)
from tests.examples import share

LAST = 2**64 - 1
WORDS = st.integers(0, LAST) | st.sampled_from([0, 1, 2**63 - 1, 2**63, LAST]) | st.integers(0, 3)
CANARY = 0x5A5A5A5A5A5A5A5A
SMALL_CANARY = 0x5A5A5A5A


@st.composite
def _codes(draw, min_size=0, max_size=14):
    """Codes of one width, as lists of words: a few, and those that differ from them in few bits.

    Bits 19 and 64 become one where words are folded.
    """
    width = draw(st.integers(1, 3))
    centres = draw(st.lists(st.lists(WORDS, min_size=width, max_size=width), min_size=1, max_size=3))
    bits = st.sampled_from([bit for bit in (0, 1, 7, 19, 63, 64, 127) if bit < 64 * width])
    flips = st.sets(bits | st.integers(0, 64 * width - 1), max_size=4) | st.just({19, 64 % (64 * width)})
    chosen = draw(st.lists(st.tuples(st.sampled_from(centres), flips), min_size=min_size, max_size=max_size))
    return width, [
        [word ^ sum(1 << bit % 64 for bit in bits if bit // 64 == at) for at, word in enumerate(code)]
        for code, bits in chosen
    ]


MANY = _codes(6, 16)


def _array(rows, width):
    return frozen(np.array(rows, np.uint64).reshape(-1, width))


def _int64s(values):
    return frozen(np.array(values, np.int64))


def _distance(a, b):
    return sum((x ^ y).bit_count() for x, y in zip(a, b, strict=True))


def _folded(code):
    """All words as one: each turned left by another 19 bits, and xor-ed."""
    value = 0
    for at, word in enumerate(code):
        turn = 19 * at % 64
        value ^= (word << turn | word >> 64 - turn) & LAST
    return value


@given(_codes())
@example((1, []))
@example((2, [[0, 0], [LAST, LAST]]))
def test_distances_are_counts_of_differing_bits(codes):
    """Row by row of two arrays, and of any two rows of one."""
    width, rows = codes
    out = np.full(len(rows) + 1, SMALL_CANARY, np.int32)
    distances(_array(rows, width), _array(rows[::-1], width), out[:-1])
    assert [*map(_distance, rows, rows[::-1]), SMALL_CANARY] == out.tolist()
    pairs = [(a, b) for a in range(len(rows)) for b in range(len(rows))]
    found = np.full(len(pairs) + 1, SMALL_CANARY, np.int32)
    pair_distances(_array(rows, width), *(_int64s([pair[side] for pair in pairs]) for side in (0, 1)), found[:-1])
    assert [*(_distance(rows[a], rows[b]) for a, b in pairs), SMALL_CANARY] == found.tolist()


@given(_codes())
@example((65, [[1] * 65, [2**63] * 65]))
def test_folding_turns_words_and_joins_them(codes):
    """Also one of many words, which are turned around all of their bits; none gets farther apart by it."""
    width, rows = codes
    out = np.full(len(rows) + 1, CANARY, np.uint64)
    fold(_array(rows, width), out[:-1])
    assert [*map(_folded, rows), CANARY] == out.tolist()
    assert all((_folded(a) ^ _folded(b)).bit_count() <= _distance(a, b) for a in rows for b in rows)


@given(_codes(max_size=40))
@example((1, []))
@example((2, [[5, 0]]))
@example((2, [[0, 1], [LAST, 0], [0, 1], [1 << 33, 0], [1 << 32, 0]]))
def test_codes_are_sorted_by_their_highest_word_first(codes):
    """Equal ones in the order of their rows; scratch is not overrun."""
    width, rows = codes
    size = len(rows)
    keys, spare_keys = (np.full(size + 1, CANARY, np.uint64) for _ in range(2))
    order, spare_order = (np.full(size + 1, CANARY, np.int64) for _ in range(2))
    order[:-1] = np.arange(size)
    found = sort_codes(_array(rows, width), keys[:-1], order[:-1], spare_keys[:-1], spare_order[:-1])
    assert sorted(range(size), key=lambda row: (rows[row][::-1], row)) == found.tolist()
    assert [CANARY] * 4 == [int(each[-1]) for each in (keys, spare_keys, order, spare_order)]


def _bucket(code, mask, multipliers, bits):
    """The highest bits of the sum of products, which wraps."""
    return (sum((word & m) * f for word, m, f in zip(code, mask, multipliers, strict=True)) & LAST) >> 64 - bits


@given(_codes(), st.integers(0, 4), st.integers(0, 4), st.data())
def test_entries_are_dealt_to_the_parts_of_their_buckets(codes, part_bits, sub_bits, data):
    """As many to each as were counted, in the order of rows: the folded code, and the bucket's rest with the row."""
    width, rows = codes
    words = st.lists(WORDS, min_size=width, max_size=width)
    mask, multipliers = data.draw(words), data.draw(words)
    first = data.draw(st.integers(0, len(rows)))
    last = data.draw(st.integers(first, len(rows)))
    how = (frozen(np.array(each, np.uint64)) for each in (mask, multipliers))
    how = (_array(rows, width), first, last, *how)
    parts = [[] for _ in range(1 << part_bits)]
    for row in range(first, last):
        bucket = _bucket(rows[row], mask, multipliers, part_bits + sub_bits)
        entry = _folded(rows[row]), (bucket % (1 << sub_bits)) << 32 | row
        parts[bucket >> sub_bits].append(entry)
    counts = np.full((1 << part_bits) + 1, CANARY, np.int64)
    counts[:-1] = 7
    count_buckets(*how, np.uint64(part_bits), counts[:-1])
    assert [*(7 + len(part) for part in parts), CANARY] == counts.tolist()
    starts = np.cumsum([0, *map(len, parts)])
    cursors, total = np.append(starts[:-1], CANARY), int(starts[-1])
    folded, tags = np.full(total + 1, CANARY, np.uint64), np.full(total + 1, CANARY, np.uint64)
    own = frozen(np.array([_folded(row) for row in rows], np.uint64))
    bits = np.uint64(part_bits), np.uint64(sub_bits)
    deal(how[0], own, *how[1:], *bits, cursors[:-1], folded[:-1], tags[:-1])
    expected = [entry for part in parts for entry in part]
    assert [*expected, (CANARY, CANARY)] == list(zip(folded.tolist(), tags.tolist(), strict=True))
    assert [*starts[1:].tolist(), CANARY] == cursors.tolist()


def test_the_longest_bucket_has_32_bits_of_a_part():
    """They go into the upper half of the tag, and the row into the lower one."""
    codes, ones = _array([[0], [LAST], [0x123456789ABCDEF0]], 1), frozen(np.array([LAST], np.uint64))
    out = np.zeros((2, 3), np.uint64)
    cursors = np.zeros(1, np.int64)
    deal(
        codes, frozen(codes[:, 0]), 0, 3, ones, frozen(np.ones(1, np.uint64)),
        np.uint64(0), np.uint64(32), cursors, out[0], out[1],
    )  # fmt: skip
    assert [0, 0xFFFFFFFF00000001, 0x1234567800000002] == out[1].tolist()
    assert codes[:, 0].tolist() == out[0].tolist()


@given(st.lists(st.lists(st.integers(0, 7), max_size=9), max_size=5), st.data())
def test_entries_are_brought_into_the_order_of_their_buckets(parts, data):
    """Within the chosen parts, in the order of rows within a bucket; others stay as they are."""
    first = data.draw(st.integers(0, len(parts)))
    last = data.draw(st.integers(first, len(parts)))
    rows = iter(range(100))
    entries = [[(bucket << 32 | next(rows), data.draw(WORDS)) for bucket in part] for part in parts]
    flat = [entry for part in entries for entry in part]
    tags, folded = (np.array([*(entry[side] for entry in flat), CANARY], np.uint64) for side in (0, 1))
    sort_buckets(folded[:-1], tags[:-1], _int64s(np.cumsum([0, *map(len, parts)])), first, last, np.uint64(3))
    ordered = [sorted(part) if first <= at < last else part for at, part in enumerate(entries)]
    expected = [*(entry for part in ordered for entry in part), (CANARY, CANARY)]
    assert expected == list(zip(tags.tolist(), folded.tolist(), strict=True))


class Scope(NamedTuple):
    """Codes, and what is known of the pairs that belong to a search."""

    rows: list[list[int]]
    width: int
    k: int
    same: list[int]  # bits that must be equal
    apart: list[list[int]]  # headers that may not be

    def belongs(self, a, b):
        """Whether two codes are within k bits, agree on `same`, and on no header of `apart`."""
        differ = [x ^ y for x, y in zip(self.rows[a], self.rows[b], strict=True)]
        agrees = [not any(x & m for x, m in zip(differ, header, strict=True)) for header in (self.same, *self.apart)]
        return _distance(self.rows[a], self.rows[b]) <= self.k and agrees[0] and not any(agrees[1:])

    def arrays(self):
        """As kernels take it."""
        same, apart = frozen(np.array(self.same, np.uint64)), _array(self.apart, self.width)
        return _array(self.rows, self.width), self.k, same, apart


def _scope(draw, codes):
    width, rows = codes
    few = st.lists(st.sampled_from([0, 0, 0, 1, 2**63, 0xFF, LAST]), min_size=width, max_size=width)
    k = draw(st.sampled_from([0, 1, 3, 6, 64 * width]))
    return Scope(rows, width, k, draw(few), draw(st.lists(few, max_size=2)))


def _runs(scope, buckets, span, split, work):
    """What the kernel finds in the chosen parts, with hardly more room than it needs: (pairs, buckets set aside)."""
    rows = scope.rows
    order = sorted(range(len(rows)), key=lambda row: (buckets[row], row))
    starts = _int64s(np.cumsum([0, *(sum(buckets[row][0] == part for row in order) for part in range(3))]))
    folded = frozen(np.array([_folded(rows[row]) for row in order], np.uint64))
    tags = frozen(np.array([buckets[row][1] << 32 | row for row in order], np.uint64))
    first, last = span
    state, hot = np.array([first, starts[first], starts[first], 0, 0]), np.full((10, 2), CANARY, np.int64)
    found, size = [], 0
    while state[0] < last:
        out = np.full(size + 1, CANARY, np.uint64)
        state[3] = 0
        compare_runs(folded, tags, starts, last, split, *scope.arrays(), *work, state, out[:-1], hot)
        assert {CANARY} == set(out[state[3] :].tolist())
        assert state[0] == last or state[3] > 0 or size < len(rows)
        found += out[: state[3]].tolist()
        size = 0 if state[3] else size + 1 + size // 4
    assert {CANARY} == set(hot[state[4] :].ravel().tolist())
    return sorted(found), hot[: state[4]].tolist()


def _expected_runs(scope, buckets, span, split, work):
    """Every entry of each bucket with every lower one (of the base, where there is one), unless they are too many."""
    order = sorted(range(len(scope.rows)), key=lambda row: (buckets[row], row))
    found, hot, at = [], [], 0
    for (part, _), group in groupby(order, key=lambda row: buckets[row]):
        members = list(group)
        start, at = at, at + len(members)
        pairs = [(a, b) for a in members for b in members if a < b and (split == 0 or a < split <= b)]
        if not span[0] <= part < span[1]:
            continue
        if len(pairs) > work[0] and len(pairs) > work[1] * len(members):
            hot.append([start, at])
        else:
            found += [a << 32 | b for a, b in pairs if scope.belongs(a, b)]
    return sorted(found), hot


@given(
    MANY, st.booleans(), st.sampled_from([(10**6, 0), (10**6, 0), (0, 0), (3, 0), (10, 0), (2, 1), (2, 2)]), st.data()
)
@settings(max_examples=share(600))
def test_the_entries_of_a_bucket_are_compared_with_each_other(codes, queries, work, data):
    """Each pair that belongs here once, however often the room is used up; buckets that are too full are set aside."""
    rows = codes[1]
    split = data.draw(st.integers(1, len(rows))) if queries else 0
    bucket = st.sampled_from([(1, 0)] * 8 + [(0, 0), (0, 1), (1, 2**32 - 1), (2, 0), (2, 5)])
    buckets = data.draw(st.lists(bucket, min_size=len(rows), max_size=len(rows)))
    span = data.draw(st.sampled_from([(0, 3), (0, 3), (1, 2), (0, 1), (2, 2)]))
    scope = _scope(data.draw, codes)
    assert _expected_runs(scope, buckets, span, split, work) == _runs(scope, buckets, span, split, work)


def _tile(scope, span, others, more):
    """What the kernel finds of rows and lower ones, in room for one row's pairs and a few more."""
    folded = frozen(np.array([_folded(row) for row in scope.rows], np.uint64))
    tags = frozen(np.arange(folded.size, dtype=np.uint64))
    state, found = np.array([span[0], 0]), []
    while state[0] < span[1]:
        out = np.full(others[1] - others[0] + more + 1, CANARY, np.uint64)
        before, state[1] = state[0], 0
        compare_tile(folded, tags, span[1], *others, *scope.arrays(), state, out[:-1])
        assert {CANARY} == set(out[state[1] :].tolist())
        assert state[0] > before
        found += out[: state[1]].tolist()
    return sorted(found)


def _expected_tile(scope, span, others):
    pairs = ((a, b) for b in range(*span) for a in range(others[0], min(others[1], b)))
    return sorted(a << 32 | b for a, b in pairs if scope.belongs(a, b))


@given(_codes(), st.integers(0, 3), st.data())
@settings(max_examples=share(200))
def test_a_tile_is_compared_row_by_row(codes, more, data):
    """Each row with the lower ones among the others, those that belong here, once."""
    span, others = (sorted(data.draw(st.tuples(*[st.integers(0, len(codes[1]))] * 2))) for _ in range(2))
    scope = _scope(data.draw, codes)
    assert _expected_tile(scope, span, others) == _tile(scope, span, others, more)


@pytest.mark.parametrize("width", [1, 2])
def test_hundreds_of_codes_are_passed_over_in_blocks(width):
    """Where few of them are near, at the edges of blocks as well, and where all are equal."""
    random = np.random.default_rng(width)
    rows = random.integers(0, 2**64, (300, width), np.uint64).tolist()
    for one, other in ((0, 299), (127, 128), (128, 256), (3, 255), (256, 257), (5, 130)):
        rows[other] = [*rows[one][:-1], rows[one][-1] ^ 5]
    for each in (rows, [[7] * width] * 300):
        scope = Scope(each, width, 2, [0] * width, [])
        expected = _expected_tile(scope, (0, 300), (0, 300))
        assert len(expected) >= 6
        assert expected == _tile(scope, (0, 300), (0, 300), 0)
        assert (expected, []) == _runs(scope, [(0, 0)] * 300, (0, 3), 0, (10**6, 0))


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("apart", [[], [2], [2, 4], [4, 2], [0], [1, 6]])
def test_a_pair_is_that_of_the_first_header_that_agrees(width, apart):
    """All codes of three bits: what must be equal is, no header before is, and none is farther apart than k."""
    rows = [[*[0] * (width - 1), value] for value in range(8)]
    for same in (0, 1, 5):
        for k in (0, 1, 2, 3):
            headers = [[*[LAST] * (width - 1), mask] for mask in (same, *apart)]
            scope = Scope(rows, width, k, headers[0], headers[1:])
            expected = _expected_tile(scope, (0, 8), (0, 8))
            assert expected == _tile(scope, (0, 8), (0, 8), 0)
            assert (expected, []) == _runs(scope, [(0, 0)] * 8, (0, 3), 0, (10**6, 0))
