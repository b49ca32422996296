"""The hash functions in Python's integers, step by step: what the kernels compute on 64-bit words.

1. Numbers wrap where a kernel's do: everything is taken modulo 2**64.
2. Texts are bytes; a word of them is little-endian, padded with zero bytes.
"""

import hashlib

__all__ = [
    "MASK", "digest_set", "finish", "hash_bytes", "join", "keys_of", "mix", "nth_copy", "run_of_tokens", "text_digest",
]  # fmt: skip

MASK = 2**64 - 1

K0 = 0x9E3779B97F4A7C15
K1 = 0xD1B54A32D192ED03
K2 = 0x8CB92BA72F3D8DD7


def mix(a: int, b: int) -> int:
    """The two halves of a product, folded."""
    return (a * b ^ (a * b >> 64)) & MASK


def finish(h: int) -> int:
    """MurmurHash3's finaliser."""
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & MASK
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return h ^ h >> 33


def keys_of(seed: int) -> list[int]:
    """What the seed says, as sixteen numbers."""
    data = b"".join(
        hashlib.blake2b(bytes([part]), key=seed.to_bytes(16, "little"), person=b"nearsame hashes").digest()
        for part in (0, 1)
    )
    found = [_word(data[at : at + 8]) for at in range(0, len(data), 8)]
    found[1] |= 1
    return found


def join(a: int, b: int, one: int, two: int) -> int:
    """Two words as one, under two keys."""
    return (mix(a ^ one, b ^ two) + (a ^ (b << 32 & MASK | b >> 32))) & MASK


def hash_bytes(data: bytes, seed: int = 0) -> int:
    """64 bits of some bytes: eight at a time, the last one to eight of them before the length."""
    keys = keys_of(seed)
    h = keys[0]
    for at in range(0, max(len(data), 1), 8):
        h = join(h, _word(data[at : at + 8]), keys[4], keys[5])
    return mix(h ^ (len(data) + keys[2]) & MASK, keys[1])


def text_digest(data: bytes, seed: int = 0) -> tuple[int, int]:
    """128 bits that decide whether two texts are the same, as signed numbers."""
    key = seed.to_bytes(16, "little")
    found = hashlib.blake2b(data, digest_size=16, key=key, person=b"nearsame texts").digest()
    return int.from_bytes(found[:8], "little", signed=True), int.from_bytes(found[8:], "little", signed=True)


def digest_set(values: list[int]) -> tuple[int, int]:
    """128 bits of a list, whatever its order."""
    a = (K1 + len(values) + sum(values)) & MASK
    b = (K2 + sum(value * (value >> 32 | 1) for value in values)) & MASK
    return finish(a ^ b << 32 & MASK), finish(b)


def nth_copy(value: int, nth: int) -> int:
    """What stands for the copy of a value that `nth` others come before."""
    return finish(mix(value ^ K1, (K2 + nth) & MASK)) if nth else value


def run_of_tokens(values: list[int], seed: int = 0) -> int:
    """The hash of a run of tokens: of its first and its last half (of a power of two), which may overlap."""
    keys, half = keys_of(seed), 1
    while 2 * half < len(values):
        half *= 2
    first, last = (_joined(part, keys[6], keys[7]) for part in (values[:half], values[-half:]))
    return join(first, last, (keys[8] + len(values)) & MASK, keys[9])


def _joined(values: list[int], one: int, two: int) -> int:
    # A power of two of them.
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return join(_joined(values[:half], one, two), _joined(values[half:], one, two), one, two)


def _word(data: bytes) -> int:
    return int.from_bytes(data, "little")
