"""SimHash codes, feature by feature and bit by bit; and which documents they bring together."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mmh3
import xxhash

from tests.oracle.shingles import shingle_list
from tests.oracle.tokens import tokens

__all__ = ["FUNCTIONS", "bit_sums", "code_of", "features_of", "similarities", "spelt"]


def _fnv1a(data: bytes, bits: int) -> int:
    value, prime = (0xCBF29CE484222325, 0x100000001B3)
    if bits > 64:
        value, prime = (144066263297769815596495629667062367629, 309485009821345068724781371)
    for byte in data:
        value = (value ^ byte) * prime % (2**64 if bits <= 64 else 2**128)
    return value


FUNCTIONS: dict[str, Callable[[bytes, int], int]] = {
    "xxh3": lambda data, bits: (xxhash.xxh3_64_intdigest if bits <= 64 else xxhash.xxh3_128_intdigest)(data),
    "md5": lambda data, _: int(hashlib.md5(data).hexdigest(), 16),  # noqa: S324  (a hash to compare with)
    "sha1": lambda data, _: int(hashlib.sha1(data).hexdigest(), 16),  # noqa: S324  (likewise)
    "fnv1a": _fnv1a,
    "murmur3": lambda data, _: mmh3.hash128(data, signed=False),
}


def spelt(shingle: Sequence[str], unit: str) -> str:
    """A shingle as text: words with spaces between, characters without."""
    return (" " if unit == "words" else "").join(shingle)


def features_of(
    text: str | None, *, size: int = 1, unit: str = "words", overlapping: bool = True, **how: Any
) -> Counter[str]:
    """Each feature of a text, and how often it occurs."""
    words = tokens(text or "", unit=unit, **how)
    return Counter(spelt(shingle, unit) for shingle in shingle_list(words, size, overlapping=overlapping))


def bit_sums(weights: dict[str, int], function: Callable[[str], int], bits: int) -> list[int]:
    """The signed sum of each bit, the lowest first."""
    hashes = {feature: function(feature) for feature in weights}
    return [sum(w if hashes[f] >> bit & 1 else -w for f, w in weights.items()) for bit in range(bits)]


def code_of(weights: dict[str, int], function: Callable[[str], int], bits: int, zero_bit: int = 0) -> int:
    """The code."""
    least = 0 if zero_bit else 1
    return sum((total >= least) << bit for bit, total in enumerate(bit_sums(weights, function, bits)))


def similarities(codes: Sequence[int | None], bits: int, k: int) -> dict[tuple[int, int], Fraction]:
    """Every pair a < b of codes within k bits."""
    found = {}
    for b, code in enumerate(codes):
        for a in range(b):
            other = codes[a]
            if code is not None and other is not None and (distance := (code ^ other).bit_count()) <= k:
                found[a, b] = 1 - Fraction(distance, bits)
    return found
