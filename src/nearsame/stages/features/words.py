"""Words as the kernels see them: their hashes, and texts reduced to them."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.kernels import tokens, unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.kernels.indel import pack_letters

__all__ = ["hash_words", "join_words", "packed_letters", "unpacked_letters"]


def hash_words(words: Iterable[str], flags: int, seed: int) -> arrow.UInt64s:
    """The hashes of single-token words, ascending, as `tokens.hash_tokens` makes them."""
    ordered = sorted(words)
    if not ordered:
        return arrow.NO_HASHES
    column = arrow.strings(pa.array(ordered, pa.large_string()))
    scratch, token_hashes = _scratch(column.offsets)
    tables = unicode.tables()
    hashes = []
    for start, end in zip(column.offsets[:-1], column.offsets[1:], strict=True):
        case = flags & tokens.KEEP_CASE
        size = tokens.fold(column.data, start, end, case, tables.stage1, tables.stage2, scratch[0], scratch[1])
        if tokens.hash_tokens(scratch[0], scratch[1], size, hash_keys(seed), arrow.NO_HASHES, token_hashes) == 1:
            hashes.append(token_hashes[0])
    return arrow.frozen(np.unique(np.array(hashes, np.uint64)))


def join_words(texts: arrow.Strings, flags: int, stops: arrow.UInt64s) -> tuple[arrow.Bytes, arrow.Int64s]:
    """Each text as its tokens with one space between them: (bytes, offsets)."""
    scratch, _ = _scratch(texts.offsets)
    out = np.empty(2 * int(texts.offsets[-1] - texts.offsets[0]) + 16, np.uint8)
    ends = np.empty(texts.offsets.size, np.int64)
    tables = unicode.tables()
    tokens.join_tokens(
        texts.data, texts.offsets, flags, hash_keys(0), stops, tables.stage1, tables.stage2, *scratch, out, ends
    )
    return out, ends


def packed_letters(texts: arrow.Strings) -> pa.Array:
    """Each text as its letters, three to a number: lists as `indel` reads them."""
    ends = np.empty(texts.offsets.size, np.int64)
    out = np.empty(int(texts.offsets[-1] - texts.offsets[0]) + ends.size, np.uint64)
    pack_letters(texts.data, texts.offsets, out, ends)
    return arrow.items(out[: ends[-1]].copy(), ends)


def _scratch(offsets: arrow.Int64s) -> tuple[tuple[arrow.Bytes, arrow.Bytes], arrow.UInt64s]:
    longest = int(np.diff(offsets).max(initial=0))
    size = 2 * longest + 128
    return (np.zeros(size, np.uint8), np.zeros(size, np.uint8)), np.zeros(longest + 66, np.uint64)


def unpacked_letters(numbers: arrow.UInt64s) -> str:
    """The text of such a list."""
    if not numbers.size:
        return ""
    points = numbers[1:, None] >> np.array([0, 21, 42], np.uint64) & np.uint64(0x1FFFFF)
    return points.ravel()[: int(numbers[0])].astype("<u4").tobytes().decode("utf-32-le")
