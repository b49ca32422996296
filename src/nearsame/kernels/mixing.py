"""The hash functions: seeded, 64 bits out, the same on every machine.

1. `mix` folds the 128-bit product of its operands, as the multiply-and-fold family of hashes does (Wang Yi's
   wyhash is the best known); constants are odd words with about half of their bits set.
2. All arithmetic wraps modulo 2**64, on uint64 only.
"""

import numpy as np

from nearsame.kernels._jit import jit, load64, mulhi

__all__ = ["finish", "hash_bytes", "hash_text", "hash_texts", "mix"]

_K0 = np.uint64(0x9E3779B97F4A7C15)
_K1 = np.uint64(0xD1B54A32D192ED03)
_K2 = np.uint64(0x8CB92BA72F3D8DD7)
_K3 = np.uint64(0xABC98388FB8FAC03)
_M1 = np.uint64(0xFF51AFD7ED558CCD)
_M2 = np.uint64(0xC4CEB9FE1A85EC53)
_S33 = np.uint64(33)
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_ZERO = np.uint64(0)


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
def hash_bytes(data, start, end, seed):
    """64 bits of data[start:end]; reads up to 7 bytes past `end`, which the buffer must have."""
    h = seed ^ _K0
    i = start
    while end - i > 8:
        h = mix(h ^ load64(data, i), _K1)
        i += 8
    word = load64(data, i) & (_ONES >> np.uint64(64 - 8 * (end - i))) if end > i else _ZERO
    return mix(mix(h ^ word, _K1) ^ np.uint64(end - start), _K2)


@jit
def _tail(data, start, end):
    """Up to 7 bytes as a uint64, reading none past `end`."""
    word = _ZERO
    for i in range(start, end):
        word |= np.uint64(data[i]) << np.uint64(8 * (i - start))
    return word


@jit
def hash_text(data, start, end, seed):
    """128 bits of data[start:end] as two uint64; reads nothing outside."""
    a = seed ^ _K0
    b = seed ^ _K3
    i = start
    while end - i >= 16:
        x = load64(data, i)
        y = load64(data, i + 8)
        a = mix(a ^ x, _K1 ^ y)
        b = mix(b + y, _K2) ^ x
        i += 16
    if end - i >= 8:
        x = load64(data, i)
        a = mix(a ^ x, _K1)
        b = mix(b + x, _K2)
        i += 8
    word = _tail(data, i, end)
    size = np.uint64(end - start)
    a = mix(a ^ word, _K1 ^ size)
    b = mix(b + word, _K2 + size)
    return finish(a ^ (b >> _S33)), finish(b + a)


@jit
def hash_texts(data, offsets, seed, out):
    """128 bits of each text, to out[i, 0] and out[i, 1]."""
    for i in range(offsets.size - 1):
        out[i, 0], out[i, 1] = hash_text(data, offsets[i], offsets[i + 1], seed)
