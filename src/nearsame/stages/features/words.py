"""Words as the kernels see them: their hashes, and texts reduced to them."""

import functools

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.kernels import tokens, unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.kernels.indel import pack_letters

__all__ = ["hash_words", "join_words", "packed_letters", "unpacked_letters"]


@functools.lru_cache(maxsize=8)
def hash_words(words: frozenset[str], flags: int, seed: int) -> arrow.UInt64s:
    """The hashes of single-token words, ascending, as `tokens.hash_tokens` makes them.

    All are one text, a line for each; a line that is not one token says nothing.
    """
    if not words:
        return arrow.NO_HASHES
    from nearsame.kernels import spans  # noqa: PLC0415  (most runs drop no words)

    lines = [word.encode() for word in sorted(words)]
    text = np.frombuffer(b"\n".join(lines), np.uint8)
    scratch = np.zeros((2, 2 * text.size + 128), np.uint8)
    hashes, places = np.zeros(text.size + 66, np.uint64), np.zeros((text.size + 66, 2), np.int64)
    case, keys = flags & tokens.KEEP_CASE, hash_keys(seed)
    number = spans.token_spans(
        text, 0, text.size, case, keys, arrow.NO_HASHES, *unicode.tables(), *scratch, hashes, places
    )
    ends = np.cumsum([len(line) + 1 for line in lines])
    line = np.searchsorted(ends, places[:number, 0], side="right")
    alone = np.bincount(line, minlength=len(lines))[line] == 1
    return arrow.frozen(np.unique(hashes[:number][alone]))


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
