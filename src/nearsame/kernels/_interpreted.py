"""The words of `_numba` in plain Python, for kernels that are stepped through in a debugger (NUMBA_DISABLE_JIT=1).

Numbers are NumPy's, as in compiled code; what wraps there wraps here without a word.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

__all__ = [
    "LANES", "MIXED", "SIGMA", "START", "blake2b_rounds", "fold64", "interpreted", "load32", "load64", "marked64",
    "mulhi", "popcount", "store64", "trailing_zeros",
]  # fmt: skip

# BLAKE2b's, by RFC 7693: the order of words in each round, which words are mixed, and where all begin.
SIGMA = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    (14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),
    (11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4),
    (7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8),
    (9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13),
    (2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9),
    (12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11),
    (13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10),
    (6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5),
    (10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0),
)
MIXED = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)  # fmt: skip
START = (
    0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
    0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
)  # fmt: skip
LANES = 8


def interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel as it stands, in which numbers may wrap."""

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return function(*args, **named)

    return called


def mulhi(a: Any, b: Any) -> Any:
    """The high 64 bits of the 128-bit product of two uint64."""
    return np.uint64(int(a) * int(b) >> 64)


def trailing_zeros(x: Any) -> Any:
    """The number of trailing zero bits of a uint64; 64 for zero."""
    return (int(x) & -int(x)).bit_length() - 1 if x else 64


def popcount(x: Any) -> Any:
    """The number of one bits of a uint64."""
    return int(x).bit_count()


def load32(array: Any, index: Any) -> Any:
    """The four bytes of a uint8 array from `index` on as a little-endian uint64."""
    return np.uint64(int.from_bytes(array[index : index + 4].tobytes(), "little"))


def load64(array: Any, index: Any) -> Any:
    """The eight bytes of a uint8 array from `index` on as a little-endian uint64; what is beyond its end is zero."""
    return np.uint64(int.from_bytes(array[index : index + 8].tobytes(), "little"))


def store64(array: Any, index: Any, value: Any) -> None:
    """Write a uint64 as eight little-endian bytes anywhere in a uint8 array."""
    array[index : index + 8] = np.frombuffer(int(value).to_bytes(8, "little"), np.uint8)


def fold64(data: Any, index: Any, text: Any, marks: Any, at: Any, keep_case: Any) -> Any:
    """64 bytes of ASCII to `text` and `marks`; bit i of what is returned says that byte i is none."""
    some = data[index : index + 64]
    lower = some | np.uint8(0x20)
    is_letter = (lower >= ord("a")) & (lower <= ord("z"))
    is_word = is_letter | ((some >= ord("0")) & (some <= ord("9"))) | (some == ord("_"))
    text[at : at + 64] = some if keep_case else np.where(is_letter, lower, some)
    marks[at : at + 64] = np.where(is_word, np.uint8(0x80), np.uint8(0))
    return marked64(some, 0)


def marked64(marks: Any, index: Any) -> Any:
    """Bit i says that byte index + i of a uint8 array is 0x80 or more."""
    return np.packbits(marks[index : index + 64] >= 0x80, bitorder="little").view("<u8")[0]


def blake2b_rounds(state: Any, message: Any, length: Any, last: Any) -> None:
    """BLAKE2b's compression (RFC 7693, 3.2) in eight lanes: uint64[8, 8], [16, 8], [8] and [8]; `state` changes."""
    v = [*state.copy(), *(np.full(LANES, word, np.uint64) for word in START)]
    v[12], v[14] = v[12] ^ length, v[14] ^ last
    for number in range(12):
        order = SIGMA[number % 10]
        for step, (a, b, c, d) in enumerate(MIXED):
            for place, first, second in ((order[2 * step], 32, 24), (order[2 * step + 1], 16, 63)):
                v[a] = v[a] + v[b] + message[place]
                v[d] = _turned(v[d] ^ v[a], first)
                v[c] = v[c] + v[d]
                v[b] = _turned(v[b] ^ v[c], second)
    for row in range(8):
        state[row] ^= v[row] ^ v[row + 8]


def _turned(words: Any, bits: int) -> Any:
    return (words >> np.uint64(bits)) | (words << np.uint64(64 - bits))
