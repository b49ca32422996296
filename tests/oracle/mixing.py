"""The hash functions in Python's integers, byte by byte and bit by bit: what the kernels compute on 64-bit words.

1. Numbers wrap where a kernel's do: everything is taken modulo 2**64.
2. Texts are bytes; a word of them is little-endian, padded with zero bytes.
"""

__all__ = ["MASK", "digest_set", "finish", "hash_bytes", "hash_text", "mix", "nth_copy", "polynomial"]

MASK = 2**64 - 1

K0 = 0x9E3779B97F4A7C15
K1 = 0xD1B54A32D192ED03
K2 = 0x8CB92BA72F3D8DD7
K3 = 0xABC98388FB8FAC03


def mix(a: int, b: int) -> int:
    """The two halves of a product, folded."""
    return (a * b ^ (a * b >> 64)) & MASK


def finish(h: int) -> int:
    """MurmurHash3's finaliser."""
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & MASK
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return h ^ h >> 33


def hash_bytes(data: bytes, seed: int = 0) -> int:
    """64 bits of some bytes: eight at a time, the last one to eight of them before the length."""
    h = seed ^ K0
    words = [_word(data[at : at + 8]) for at in range(0, len(data), 8)] or [0]
    for word in words:
        h = mix(h ^ word, K1)
    return mix(h ^ len(data), K2)


def hash_text(data: bytes, seed: int = 0) -> tuple[int, int]:
    """128 bits of some bytes: sixteen at a time, then eight, then what is left."""
    a, b = seed ^ K0, seed ^ K3
    at = 0
    while len(data) - at >= 16:
        x, y = _word(data[at : at + 8]), _word(data[at + 8 : at + 16])
        a, b = mix(a ^ x, K1 ^ y), mix((b + y) & MASK, K2) ^ x
        at += 16
    if len(data) - at >= 8:
        x = _word(data[at : at + 8])
        a, b = mix(a ^ x, K1), mix((b + x) & MASK, K2)
        at += 8
    rest = _word(data[at:])
    a, b = mix(a ^ rest, K1 ^ len(data)), mix((b + rest) & MASK, (K2 + len(data)) & MASK)
    return finish(a ^ b >> 33), finish((b + a) & MASK)


def digest_set(values: list[int]) -> tuple[int, int]:
    """128 bits of an ascending list."""
    a, b = K1, K2
    for value in values:
        a = mix(a ^ value, K1)
        b = (b + value) * K2 & MASK
        b ^= b >> 29
    return finish(a ^ len(values)), finish((b + len(values)) & MASK)


def nth_copy(value: int, nth: int) -> int:
    """What stands for the copy of a value that `nth` others come before."""
    return finish(mix(value ^ K1, (K2 + nth) & MASK)) if nth else value


def polynomial(values: list[int]) -> int:
    """The hash of a run of tokens: a polynomial, and the length."""
    h = 0
    for value in values:
        h = (h * K0 + value) & MASK
    return finish((h + len(values)) & MASK)


def _word(data: bytes) -> int:
    return int.from_bytes(data, "little")
