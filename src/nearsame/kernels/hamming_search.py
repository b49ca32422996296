"""All pairs of codes within k bits: tables dealt, compared and, where they are skewed, cut again.

1. Exact for any tables such that codes within k bits agree on one of their headers: the caller chose them so
   (stages/keys/blocks.py). What is skewed or repeated costs time, never a pair.
2. A pair is found once: in the first table whose header agrees. A bucket so full that comparing it would be
   slow is searched by itself, its bits cut anew into k + 1 blocks by what varies within it (pigeonhole again).
3. `run` is how the work is run: `map`, or the `map` of a thread pool. Work is cut by size, not by threads, and the
   answer is sorted: it is the same for every `run`.
4. Memory: 16 bytes a code beside the codes, and 8 bytes a pair found.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s, UInt64s, frozen
from nearsame.errors import ConfigError
from nearsame.kernels import hamming
from nearsame.kernels.hamming_blocks import block_masks, collision_ratio, hash_multipliers, weigh_bits

__all__ = ["CodePairs", "Run", "brute_force", "chunks", "distances", "distinct", "query", "self_join", "unpack"]

Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

_MAX_ROWS = 2**32  # a row is half of a tag and of a pair
_RANGE = 1 << 19  # codes or entries in one piece of work
_PART = 1 << 13  # entries in a part: 128 KiB, in cache twice
_MAX_PART_BITS = 11
_BUFFER = 1 << 16  # pairs in one chunk
_TILE = 1 << 12
_HOT_WORK = 1 << 27  # comparisons in a bucket that is cut again: below (7 ms), comparing is as quick as a cut
_DEAL_WORK = 2048  # comparisons that take as long as dealing one entry into a handful of tables
_WORTH = 0.5  # share of the comparisons that a cut may leave
_LOW32 = np.uint64(0xFFFFFFFF)
_U32 = np.uint64(32)


class CodePairs(NamedTuple):
    """Rows within k bits, sorted by (a, b); a < b in a self-join, a of the queries and b of the base in a query."""

    a: Int64s
    b: Int64s
    distance: npt.NDArray[np.int32]


@dataclass(frozen=True)
class _Scope:
    """The codes of one search, and what is known of the pairs that belong to it."""

    codes: UInt64s
    folded: UInt64s
    split: int
    k: int
    same: UInt64s
    apart: UInt64s

    def within(self, header: UInt64s, earlier: UInt64s) -> "_Scope":
        """The pairs that agree on `header` and on no `earlier` one."""
        same, apart = frozen(self.same | header), frozen(np.concatenate([self.apart, earlier]))
        return _Scope(self.codes, self.folded, self.split, self.k, same, apart)

    def only(self, rows: Int64s) -> "_Scope":
        """The pairs among some of the rows, numbered anew."""
        split = int((rows < self.split).sum())
        return _Scope(frozen(self.codes[rows]), frozen(self.folded[rows]), split, self.k, self.same, self.apart)


class _Dealt(NamedTuple):
    """The entries of a table: part p is starts[p] … starts[p + 1]-1, its buckets told apart by sub_bits."""

    folded: UInt64s
    tags: UInt64s
    starts: Int64s
    sub_bits: np.uint64


def self_join(codes: UInt64s, k: int, tables: UInt64s, *, run: Run = map) -> CodePairs:
    """Every pair of codes within k bits, once.

    Equal codes are pairs too, all of them: collapse them first (`distinct`) where they are many.

    Args:
        codes: uint64[n, w].
        k: the greatest distance.
        tables: uint64[t, w], the header masks of a plan.
        run: `map`, or that of a thread pool.

    Example:
        >>> self_join(np.array([[0], [1], [7]], np.uint64), 2, np.zeros((1, 1), np.uint64)).distance.tolist()
        [1, 2]
    """
    codes = _checked(codes)
    return _sorted_pairs(codes, chunks(codes, k, tables, run=run))


def query(queries: UInt64s, base: UInt64s, k: int, tables: UInt64s, *, run: Run = map) -> CodePairs:
    """Every (query, base) within k bits, once; arguments as for `self_join`."""
    if not len(queries) or not len(base):
        return unpack(np.empty((0, 1), np.uint64), np.empty(0, np.uint64))
    codes = _checked(np.concatenate([base, queries]))
    found = _sorted_pairs(codes, chunks(codes, k, tables, split=len(base), run=run))
    order = np.lexsort((found.a, found.b))
    return CodePairs(found.b[order] - len(base), found.a[order], found.distance[order])


def brute_force(codes: UInt64s, k: int, *, run: Run = map) -> CodePairs:
    """`self_join` by comparing every pair: for few codes, or a k that no table serves."""
    return self_join(codes, k, np.zeros((1, codes.shape[1]), np.uint64), run=run)


def chunks(codes: UInt64s, k: int, tables: UInt64s, *, split: int = 0, run: Run = map) -> Iterator[UInt64s]:
    """The pairs of `self_join` (or of a query, base rows first) as they are found: `a << 32 | b`, in no order.

    For answers that do not fit in memory: spill and sort them.
    """
    codes = _checked(codes)
    if len(codes) < 2:
        return iter(())
    nothing = np.zeros(codes.shape[1], np.uint64)
    scope = _Scope(codes, _folded(codes), split, k, frozen(nothing), frozen(np.empty((0, codes.shape[1]), np.uint64)))
    return _search(scope, tables, run)


def distances(codes_a: UInt64s, codes_b: UInt64s) -> npt.NDArray[np.int32]:
    """The number of bits in which each row of one differs from the same row of the other.

    Example:
        >>> distances(np.array([[7]], np.uint64), np.array([[4]], np.uint64)).tolist()
        [2]
    """
    out = np.empty(len(codes_a), np.int32)
    hamming.distances(frozen(codes_a), frozen(codes_b), out)
    return out


def distinct(codes: UInt64s) -> tuple[Int64s, Int64s]:
    """Rows in ascending order of code, then of row, and where each group of equal codes starts.

    Returns:
        order: int64[n]; starts: int64[groups + 1]. Group g is order[starts[g]:starts[g + 1]].

    Example:
        >>> [part.tolist() for part in distinct(np.array([[5], [3], [5]], np.uint64))]
        [[1, 0, 2], [0, 1, 3]]
    """
    codes = _checked(codes)
    num_codes = len(codes)
    keys, spare_keys = np.empty(num_codes, np.uint64), np.empty(num_codes, np.uint64)
    order = hamming.sort_codes(codes, keys, np.arange(num_codes), spare_keys, np.empty(num_codes, np.int64))
    ranked = codes[order]
    changes = np.flatnonzero((ranked[1:] != ranked[:-1]).any(axis=1)) + 1
    starts = np.concatenate([np.zeros(min(1, num_codes), np.int64), changes, [num_codes]])
    return frozen(order), frozen(starts)


def unpack(codes: UInt64s, packed: UInt64s) -> CodePairs:
    """Sorted pairs `a << 32 | b` as rows, with their distances.

    Example:
        >>> [part.tolist() for part in unpack(np.array([[5], [4]], np.uint64), np.array([1], np.uint64))]
        [[0], [1], [1]]
    """
    a, b = frozen((packed >> _U32).view(np.int64)), frozen((packed & _LOW32).view(np.int64))
    out = np.empty(len(packed), np.int32)
    hamming.pair_distances(codes, a, b, out)
    return CodePairs(a, b, frozen(out))


def _checked(codes: UInt64s) -> UInt64s:
    if len(codes) >= _MAX_ROWS:
        raise ConfigError(
            f"{len(codes):,} codes are too many: at most {_MAX_ROWS - 1:,} can be searched at once",
            hint="Search the codes in several parts.",
        )
    return frozen(codes)


def _folded(codes: UInt64s) -> UInt64s:
    if codes.shape[1] == 1:
        return frozen(codes[:, 0])
    out = np.empty(len(codes), np.uint64)
    hamming.fold(codes, out)
    return frozen(out)


def _sorted_pairs(codes: UInt64s, found: Iterable[UInt64s]) -> CodePairs:
    packed = np.concatenate([np.empty(0, np.uint64), *found])
    packed.sort()
    return unpack(codes, packed)


def _search(scope: _Scope, tables: UInt64s, run: Run) -> Iterator[UInt64s]:
    num_codes = len(scope.codes)
    if not tables.any():
        yield from _compare_all(scope, run)
        return
    entries = np.empty(num_codes, np.uint64), np.empty(num_codes, np.uint64)
    for i, header in enumerate(tables):
        inner = scope.within(header, tables[:i])
        dealt = _deal(inner, header, *entries, run)
        hot: list[tuple[int, int]] = []
        for pairs, buckets in run(partial(_compare_parts, inner, dealt), _groups(dealt.starts)):
            hot.extend(buckets)
            yield from pairs
        for first, end in hot:
            yield from _search_bucket(inner, (dealt.tags[first:end] & _LOW32).view(np.int64), run)


def _search_bucket(scope: _Scope, rows: Int64s, run: Run) -> Iterator[UInt64s]:
    """The pairs among the rows of one bucket: by tables of its own where these save at least half of the work."""
    inner = scope.only(rows)
    bits = 64 * scope.codes.shape[1]
    tables = np.zeros((1, scope.codes.shape[1]), np.uint64)
    if scope.k < bits:
        blocks = block_masks(weigh_bits(inner.codes, bits), scope.k + 1, scope.codes.shape[1])
        saves = collision_ratio(inner.codes, blocks) < _WORTH and len(rows) < len(scope.codes)
        tables = blocks if saves else tables
    for pairs in _search(inner, tables, run):
        a, b = rows[pairs >> _U32].view(np.uint64), rows[pairs & _LOW32].view(np.uint64)
        yield (a << _U32) | b


def _compare_all(scope: _Scope, run: Run) -> Iterator[UInt64s]:
    tags = np.arange(len(scope.codes), dtype=np.uint64)
    starts = range(scope.split, len(scope.codes), _TILE)
    for pairs in run(partial(_compare_rows, scope, tags), starts):
        yield from pairs


def _compare_rows(scope: _Scope, tags: UInt64s, first: int) -> list[UInt64s]:
    stop = min(first + _TILE, len(scope.codes))
    lower = scope.split or stop
    found = []
    for others in range(0, lower, _TILE):
        state, size = np.array([first, 0]), _BUFFER
        while state[0] < stop:
            out = np.empty(size, np.uint64)
            state[1] = 0
            hamming.compare_tile(
                scope.folded, tags, stop, others, min(others + _TILE, lower),
                scope.codes, scope.k, scope.same, scope.apart, state, out,
            )  # fmt: skip
            found.append(out[: state[1]].copy())
            size = _BUFFER if state[1] else 2 * size
    return [pairs for pairs in found if len(pairs)]


def _layout(num_codes: int, header: UInt64s) -> tuple[int, int]:
    """Bits of a bucket and how many of them choose the part: buckets of 4 to 8 entries, or the header's own."""
    size = max(num_codes.bit_length() - 3, 0)
    width = int(np.bitwise_count(header).sum())
    bucket_bits = width if width <= size + 2 else size
    part_bits = min(bucket_bits, _MAX_PART_BITS, max((num_codes // _PART).bit_length(), 0))
    return bucket_bits, part_bits


def _deal(scope: _Scope, header: UInt64s, folded: UInt64s, tags: UInt64s, run: Run) -> _Dealt:
    """Fill `folded` and `tags` with the entries in the order of their parts."""
    codes, header = scope.codes, frozen(header)
    bucket_bits, part_bits = _layout(len(codes), header)
    multipliers = frozen(hash_multipliers(header, bucket_bits))
    bits = np.uint64(part_bits), np.uint64(bucket_bits - part_bits)

    def count(first: int) -> Int64s:
        counts = np.zeros(1 << part_bits, np.int64)
        hamming.count_buckets(codes, first, min(first + _RANGE, len(codes)), header, multipliers, bits[0], counts)
        return counts

    def write(piece: tuple[int, Int64s]) -> None:
        first, cursors = piece
        last = min(first + _RANGE, len(codes))
        hamming.deal(codes, scope.folded, first, last, header, multipliers, *bits, cursors, folded, tags)

    pieces = range(0, len(codes), _RANGE)
    counts = np.stack(list(run(count, pieces)))
    starts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    cursors = starts[:-1] + np.cumsum(counts, axis=0) - counts
    for _ in run(write, zip(pieces, cursors, strict=True)):
        pass
    return _Dealt(folded, tags, frozen(starts), bits[1])


def _compare_parts(scope: _Scope, dealt: _Dealt, parts: tuple[int, int]) -> tuple[list[UInt64s], list[tuple[int, int]]]:
    """The pairs of parts first … last-1, and the buckets too full to be compared here."""
    folded, tags, starts, sub_bits = dealt
    first, last = parts
    if sub_bits:
        hamming.sort_buckets(folded, tags, starts, first, last, sub_bits)
    hot = np.empty(((starts[last] - starts[first]) // math.isqrt(2 * _HOT_WORK) + 1, 2), np.int64)
    state = np.array([first, starts[first], starts[first], 0, 0])
    found = []
    size = _BUFFER
    while state[0] < last:
        out = np.empty(size, np.uint64)
        state[3] = 0
        hamming.compare_runs(
            folded, tags, starts, last, scope.split,
            scope.codes, scope.k, scope.same, scope.apart, _HOT_WORK, _DEAL_WORK, state, out, hot,
        )  # fmt: skip
        found.append(out[: state[3]].copy())
        size = _BUFFER if state[3] else 2 * size
    return [pairs for pairs in found if len(pairs)], [(int(a), int(b)) for a, b in hot[: state[4]]]


def _groups(starts: Int64s) -> Iterator[tuple[int, int]]:
    """Parts that together have about _RANGE entries: (first, last)."""
    edges = np.unique(np.searchsorted(starts, np.arange(0, starts[-1] + _RANGE, _RANGE)).clip(max=len(starts) - 1))
    return iter([(int(a), int(b)) for a, b in pairwise(edges)])
