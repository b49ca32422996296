"""Five ways to find texts that are exactly equal, as textbooks list them: for comparison, not for use.

1. All give the same answer; they differ in what they compare, and in how many of these comparisons are wasted.
2. A candidate is two texts that are compared in full; it is a false one when they differ.
3. Empty texts equal none.
"""

import hashlib
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
import xxhash

from nearsame import arrow
from nearsame.arrow import Rows
from nearsame.kernels import overlaps
from nearsame.named import NamedTuple

__all__ = ["MOST_COMPARED", "WAYS", "Equals"]

MOST_COMPARED = 50_000  # texts that the first way takes on: its comparisons grow with the square
_FIRST = 32
_POSITIONS = 16
_WITHIN = 1024  # bytes that fixed positions are drawn from


class Equals(NamedTuple):
    """For each text the first that equals it, and what it took to find out."""

    leaders: Rows
    candidates: int
    false_candidates: int


def characters(texts: arrow.Strings) -> Equals:
    """Every text against every different one before it, character by character."""
    leaders = np.empty(texts.offsets.size - 1, np.int64)
    compared = int(overlaps.compare_characters(texts.data, texts.offsets, leaders))
    equal = int((leaders != np.arange(leaders.size)).sum())
    return Equals(leaders, compared, compared - equal)


def first_characters(texts: arrow.Strings) -> Equals:
    """Those whose first characters have the same hash."""
    return _bucketed(texts, lambda text: xxhash.xxh3_64_intdigest(text[:_FIRST]))


def whole_hash(texts: arrow.Strings) -> Equals:
    """Those that have the same 64-bit hash."""
    return _bucketed(texts, xxhash.xxh3_64_intdigest)


def positions(texts: arrow.Strings) -> Equals:
    """Those with the same bytes at positions drawn once for all; what is beyond a text's end is nothing."""
    drawn = np.random.Generator(np.random.PCG64(0)).choice(_WITHIN, _POSITIONS, replace=False)
    places = [slice(place, place + 1) for place in sorted(drawn.tolist())]
    return _bucketed(texts, lambda text: b",".join(text[place] for place in places))


def sorted_digests(texts: arrow.Strings) -> Equals:
    """SHA-256 digests in sorted order, found by halving; they stand for their texts, which are not compared."""
    leaders = np.arange(texts.offsets.size - 1)
    known: list[tuple[bytes, int]] = []
    num_equal = 0
    for row, text in _texts(texts):
        digest = hashlib.sha256(text).digest()
        at = bisect_left(known, (digest, 0))
        if at < len(known) and known[at][0] == digest:
            leaders[row] = known[at][1]
            num_equal += 1
        else:
            insort(known, (digest, row))
    return Equals(leaders, num_equal, 0)


WAYS: dict[str, Callable[[arrow.Strings], Equals]] = {
    "characters": characters,
    "first-characters": first_characters,
    "whole-hash": whole_hash,
    "positions": positions,
    "sorted-digests": sorted_digests,
}


def _bucketed(texts: arrow.Strings, key: Callable[[bytes], object]) -> Equals:
    """Texts with the same key are compared, each with the different ones before it."""
    leaders = np.arange(texts.offsets.size - 1)
    buckets: dict[object, list[tuple[int, bytes]]] = {}
    compared = equal = 0
    for row, text in _texts(texts):
        bucket = buckets.setdefault(key(text), [])
        for other, content in bucket:
            compared += 1
            if content == text:
                leaders[row] = other
                equal += 1
                break
        else:
            bucket.append((row, text))
    return Equals(leaders, compared, compared - equal)


def _texts(texts: arrow.Strings) -> Iterable[tuple[int, bytes]]:
    """Row and bytes of each text that has any."""
    data = texts.data
    for row, (start, end) in enumerate(pairwise(texts.offsets.tolist())):
        if end > start:
            yield row, data[start:end].tobytes()
