"""Features' own bytes to the words of their hash, by a library or a table: what is not hot.

1. A hash is a number; a code of f bits takes its low f bits. Digests are read as big-endian numbers.
2. fnv1a and xxh3 have a 64-bit and a 128-bit form: up to 64 bits take the first, longer codes the second. So does
   murmur3, whose two words come low first, as its library gives them.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xxhash

from nearsame.arrow import UInt64s, frozen
from nearsame.errors import ConfigError, MissingExtraError
from nearsame.recipes.choices import FeatureHash

__all__ = ["hash_features", "hasher", "table_hasher"]

Hasher = Callable[[bytes], int]

_LOW64 = (1 << 64) - 1
_FNV = {64: (0xCBF29CE484222325, 0x100000001B3), 128: (0x6C62272E07BB014262B821756295C58D, (1 << 88) + 0x13B)}


def hasher(name: FeatureHash, bits: int) -> Hasher:
    """The hash function called `name` for codes of that length.

    >>> hasher("fnv1a", 64)(b"a") == 0xAF63DC4C8601EC8C
    True
    """
    wide = 64 if bits <= 64 else 128
    if name == "xxh3":
        return xxhash.xxh3_64_intdigest if wide == 64 else xxhash.xxh3_128_intdigest
    if name == "fnv1a":
        return lambda data: _fnv1a(data, wide)
    return _murmur3() if name == "murmur3" else _digest(name)


def table_hasher(table: Mapping[str, int]) -> Hasher:
    """A table in place of a function; a feature that it does not have is an error."""
    known = {text.encode(): value for text, value in table.items()}

    def look_up(data: bytes) -> int:
        if data not in known:
            message = f"the table of {len(known)} hashes has none for the feature {data.decode(errors='replace')!r}"
            raise ConfigError(message, hint="Add it to the table; features are folded to small letters by default.")
        return known[data]

    return look_up


def hash_features(features: Sequence[bytes], function: Hasher, bits: int) -> UInt64s:
    """The words of each one's hash, low first: uint64[n, w]."""
    num_words = -(-bits // 64)
    hashes = [function(feature) for feature in features]
    words = [[value >> 64 * word & _LOW64 for word in range(num_words)] for value in hashes]
    return frozen(np.array(words, np.uint64).reshape(len(features), num_words))


def _digest(name: str) -> Hasher:
    return lambda data: int.from_bytes(hashlib.new(name, data, usedforsecurity=False).digest(), "big")


def _fnv1a(data: bytes, wide: int) -> int:
    value, prime = _FNV[wide]
    mask = (1 << wide) - 1
    for byte in data:
        value = (value ^ byte) * prime & mask
    return value


def _murmur3() -> Hasher:
    try:
        import mmh3  # noqa: PLC0415  (an extra: loaded only where it is asked for)
    except ImportError:
        message = "feature_hash=murmur3 needs the package mmh3"
        raise MissingExtraError.of(message, "murmur3") from None

    def hashed(data: bytes) -> int:
        low, high = mmh3.hash64(data, signed=False)
        return int(low | high << 64)

    return hashed
