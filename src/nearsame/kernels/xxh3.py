"""XXH3 of 64 bits, seed 0: the hash of features that anybody can check with a library.

1. Written from the published description; `xxhash` is its oracle, byte for byte, for every length.
2. Nothing outside of data[start:end] is read.
3. All arithmetic wraps modulo 2**64, on uint64 only.
"""

import numpy as np

from nearsame.kernels._jit import jit, load32, load64
from nearsame.kernels.hashing import mix

__all__ = ["xxh3", "xxh3_texts"]

_SECRET = np.frombuffer(
    bytes.fromhex(
        "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
        "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
        "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
        "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
    ),
    np.uint8,
)


def _secret64(at: int) -> np.uint64:
    return np.uint64(int.from_bytes(_SECRET[at : at + 8].tobytes(), "little"))


_FLIP_3 = np.uint64(int.from_bytes(_SECRET[:4].tobytes(), "little") ^ int.from_bytes(_SECRET[4:8].tobytes(), "little"))
_FLIP_8 = _secret64(8) ^ _secret64(16)
_FLIP_16_LOW = _secret64(24) ^ _secret64(32)
_FLIP_16_HIGH = _secret64(40) ^ _secret64(48)
_EMPTY = np.uint64(0x2D06800538D394C2)

_P32_1, _P32_2, _P32_3 = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77), np.uint64(0xC2B2AE3D)
_P64_1 = np.uint64(0x9E3779B185EBCA87)
_P64_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P64_3 = np.uint64(0x165667B19E3779F9)
_P64_4 = np.uint64(0x85EBCA77C2B2AE63)
_P64_5 = np.uint64(0x27D4EB2F165667C5)
_M_8 = np.uint64(0x9FB21C651E98DF25)
_M_END = np.uint64(0x165667919E3779F9)

_LOW32 = np.uint64(0xFFFFFFFF)
_EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)
_EVEN_PAIRS = np.uint64(0x0000FFFF0000FFFF)
_U8, _U15, _U16, _U24, _U28, _U29, _U32, _U33, _U35, _U37, _U40, _U47, _U49 = (
    np.uint64(n) for n in (8, 15, 16, 24, 28, 29, 32, 33, 35, 37, 40, 47, 49)
)


@jit
def _swap(x):
    """The bytes of a uint64 in reverse."""
    x = ((x >> _U8) & _EVEN_BYTES) | ((x & _EVEN_BYTES) << _U8)
    x = ((x >> _U16) & _EVEN_PAIRS) | ((x & _EVEN_PAIRS) << _U16)
    return (x >> _U32) | (x << _U32)


@jit
def _avalanche(h):
    h = (h ^ (h >> _U37)) * _M_END
    return h ^ (h >> _U32)


@jit
def _to_16(data, start, end):
    """Lengths 9 to 16."""
    low = load64(data, start) ^ _FLIP_16_LOW
    high = load64(data, end - 8) ^ _FLIP_16_HIGH
    return _avalanche(np.uint64(end - start) + _swap(low) + high + mix(low, high))


@jit
def _to_8(data, start, end):
    """Lengths 4 to 8."""
    h = (load32(data, end - 4) + (load32(data, start) << _U32)) ^ _FLIP_8
    h ^= ((h << _U49) | (h >> _U15)) ^ ((h << _U24) | (h >> _U40))
    h *= _M_8
    h ^= (h >> _U35) + np.uint64(end - start)
    h *= _M_8
    return h ^ (h >> _U28)


@jit
def _to_3(data, start, end):
    """Lengths 1 to 3."""
    size = end - start
    first, middle, last = np.uint64(data[start]), np.uint64(data[start + (size >> 1)]), np.uint64(data[end - 1])
    h = ((first << _U16) | (middle << _U24) | last | (np.uint64(size) << _U8)) ^ _FLIP_3
    h = (h ^ (h >> _U33)) * _P64_2
    h = (h ^ (h >> _U29)) * _P64_3
    return h ^ (h >> _U32)


@jit
def _mix_16(data, at, secret):
    return mix(load64(data, at) ^ load64(_SECRET, secret), load64(data, at + 8) ^ load64(_SECRET, secret + 8))


@jit
def _to_240(data, start, end):
    """Lengths 17 to 240."""
    size = end - start
    h = np.uint64(size) * _P64_1
    if size <= 128:
        for i in range((size - 1) // 32 + 1):
            h += _mix_16(data, start + 16 * i, 32 * i) + _mix_16(data, end - 16 * (i + 1), 32 * i + 16)
        return _avalanche(h)
    for i in range(8):
        h += _mix_16(data, start + 16 * i, 16 * i)
    h = _avalanche(h)
    for i in range(8, size // 16):
        h += _mix_16(data, start + 16 * i, 16 * (i - 8) + 3)
    return _avalanche(h + _mix_16(data, end - 16, 119))


@jit
def _stripe(sums, data, at, secret):
    """Take in 64 bytes."""
    for i in range(8):
        word = load64(data, at + 8 * i)
        keyed = word ^ load64(_SECRET, secret + 8 * i)
        sums[i ^ 1] += word
        sums[i] += (keyed & _LOW32) * (keyed >> _U32)


@jit
def _longer(data, start, end):
    """Lengths above 240."""
    size = end - start
    sums = np.array([_P32_3, _P64_1, _P64_2, _P64_3, _P64_4, _P32_2, _P64_5, _P32_1])
    stripes = (size - 1) // 64
    for n in range(stripes):
        _stripe(sums, data, start + 64 * n, 8 * (n % 16))
        if n % 16 == 15:
            for i in range(8):
                sums[i] = (sums[i] ^ (sums[i] >> _U47) ^ load64(_SECRET, 128 + 8 * i)) * _P32_1
    _stripe(sums, data, end - 64, 121)
    h = np.uint64(size) * _P64_1
    for i in range(4):
        h += mix(sums[2 * i] ^ load64(_SECRET, 11 + 16 * i), sums[2 * i + 1] ^ load64(_SECRET, 19 + 16 * i))
    return _avalanche(h)


@jit
def xxh3(data, start, end):
    """64 bits of data[start:end] (uint8): XXH3_64bits with seed 0."""
    size = end - start
    if size > 16:
        return _to_240(data, start, end) if size <= 240 else _longer(data, start, end)
    if size > 8:
        return _to_16(data, start, end)
    if size > 3:
        return _to_8(data, start, end)
    return _to_3(data, start, end) if size > 0 else _EMPTY


@jit
def xxh3_texts(data, offsets, out):
    """The hash of each text: text i is data[offsets[i]:offsets[i + 1]], `out` uint64[n]."""
    for i in range(out.size):
        out[i] = xxh3(data, offsets[i], offsets[i + 1])
