"""MinHash signatures and band keys in Python's integers, a loop over what the papers say."""

from collections.abc import Sequence

from tests.oracle.mixing import K1, K2, MASK, finish, mix

__all__ = ["EMPTY", "band_key", "classic_sketch", "fast_sketch"]

EMPTY = MASK
PRIME = 2**61 - 1


def fast_sketch(items: Sequence[int], seeds: Sequence[int]) -> list[int]:
    """Fast Similarity Sketching with half as many values as there are seeds."""
    m = len(seeds) // 2
    bins = [EMPTY] * m
    for number in range(2 * m if items else 0):
        for item in items:
            h = finish(item ^ seeds[number])
            chosen = (h & 0xFFFF) * m >> 16 if number < m else number - m
            bins[chosen] = min(bins[chosen], number << 48 | h >> 16)
        if EMPTY not in bins:
            break
    return bins


def classic_sketch(items: Sequence[int], multipliers: Sequence[int], increments: Sequence[int]) -> list[int]:
    """The least of (a·x + b) mod a prime, for each (a, b)."""
    pairs = zip(multipliers, increments, strict=True)
    return [min(((a * (item >> 3) + b) % PRIME for item in items), default=EMPTY) for a, b in pairs]


def band_key(number: int, values: Sequence[int]) -> int:
    """The key of a band: its number and its values."""
    h = mix((number + 1) * K1 & MASK, K2)
    for value in values:
        h = mix(h ^ value, K1)
    return finish(h)
