"""The hash functions: keyed, 64 bits out, the same on every machine.

1. Keys are drawn from a seed by BLAKE2b (`hash_keys`). The factor that stands alone is odd; each of the others has a
   secret part, and what is multiplied is added as well. So no seed makes a factor zero that would hide the rest.
2. Everything is made of `join`: the folded 128-bit product of two keyed words, as the multiply-and-fold family of
   hashes has it (Wang Yi's wyhash is the best known), and the words again, crosswise. The product alone could be solved
   for one of its factors, and a sum of products be put right in one place for what was changed in another.
3. All arithmetic wraps modulo 2**64, on uint64 only.
"""

import functools
import hashlib

import numpy as np

from nearsame.arrow import UInt64s, frozen
from nearsame.kernels._jit import jit, load64, mulhi

__all__ = ["finish", "hash_bytes", "hash_keys", "hash_text", "join", "join_last", "mix"]

_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_S33, _U32 = np.uint64(33), np.uint64(32)
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_ZERO = np.uint64(0)

# What each of the keys is for.
_START, _CLOSE, _LENGTH = 0, 1, 2  # of a word
_WORD = 4  # two, of the eight bytes of a word that are joined
_JOIN = 6  # two, of what is joined to a shingle
_LAST = 8  # two, of the last joint


@functools.lru_cache(maxsize=64)
def hash_keys(seed: int) -> UInt64s:
    """The keys of a seed of up to 128 bits: uint64[16]; the one that is a factor by itself is odd.

    >>> hash_keys(0).size, int(hash_keys(0)[1]) % 2
    (16, 1)
    """
    secret = seed.to_bytes(16, "little")
    parts = [hashlib.blake2b(bytes([part]), key=secret, person=b"nearsame hashes").digest() for part in range(2)]
    keys = np.frombuffer(b"".join(parts), "<u8").astype(np.uint64)
    keys[_CLOSE] |= np.uint64(1)
    return frozen(keys)


@jit
def mix(a, b):
    """The two halves of the 128-bit product a·b, folded: uint64, uint64 -> uint64."""
    return (a * b) ^ mulhi(a, b)


@jit
def finish(h):
    """A bijection of uint64 in which every input bit moves every output bit (MurmurHash3's finaliser)."""
    h = (h ^ (h >> _S33)) * _M1
    h = (h ^ (h >> _S33)) * _M2
    return h ^ (h >> _S33)


@jit
def _joined(a, b, key_a, key_b):
    """The product is not all of it: it alone could be solved for one of its factors."""
    return mix(a ^ key_a, b ^ key_b) + (a ^ ((b << _U32) | (b >> _U32)))


@jit
def join(a, b, keys):
    """One hash of two, in this order."""
    return _joined(a, b, keys[_JOIN], keys[_JOIN + 1])


@jit
def join_last(a, b, length, keys):
    """The same in the domain of a length, with keys of its own."""
    return _joined(a, b, keys[_LAST] + length, keys[_LAST + 1])


@jit
def hash_bytes(data, start, end, keys):
    """64 bits of a token, data[start:end]; reads up to 7 bytes past `end`, which the buffer must have."""
    h = keys[_START]
    k0, k1 = keys[_WORD], keys[_WORD + 1]
    i = start
    while end - i > 8:
        word = load64(data, i)
        h = _joined(h, word, k0, k1)
        i += 8
    word = load64(data, i) & (_ONES >> np.uint64(64 - 8 * (end - i))) if end > i else _ZERO
    h = _joined(h, word, k0, k1)
    return mix(h ^ (np.uint64(end - start) + keys[_LENGTH]), keys[_CLOSE])


@jit
def hash_text(data, start, end, keys):
    """The same; reads nothing outside."""
    h = keys[_START]
    k0, k1 = keys[_WORD], keys[_WORD + 1]
    i = start
    while end - i > 8:
        word = load64(data, i)
        h = _joined(h, word, k0, k1)
        i += 8
    word = _ZERO
    for j in range(i, end):
        word |= np.uint64(data[j]) << np.uint64(8 * (j - i))
    h = _joined(h, word, k0, k1)
    return mix(h ^ (np.uint64(end - start) + keys[_LENGTH]), keys[_CLOSE])
