"""How long a record may be.

1. One that is longer than `Columns.max_record` is not compared: it stays as it is, and is counted and reported.
2. One that is not, but needs more memory than the run has for it, ends the run with an error that names its place.
3. What is held of a file as a whole, as a table of what stays is, has no such bound: it ends when memory runs out, in
   an error and not in the system's ending the process.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.arrow import Bytes
from nearsame.errors import ConfigError
from nearsame.sources.base import MAX_RECORD, Annotations, Columns, Skip, Skipped, TextChange
from nearsame.sources.streams import Block

__all__ = [
    "LARGE",
    "MOST_BLOCK",
    "longest",
    "longest_copied",
    "pass_by",
    "require_page_room",
    "require_room",
    "too_long",
    "while_room",
    "why_too_long",
]

_READING = 3  # bytes of memory that reading takes for each byte of a record
_PREPARING = 3  # likewise preparing, tokens apart: the text, and its tokens as they are folded
_PAGE = 9  # for each byte of a page: 2 to read it, and the rest to write it back
_PIECE = 16 << 20  # bytes: how much is read before memory is looked at again
_AHEAD = 4  # times as much is to be free then: the next piece is being read, and something works with them
_HELD = "Write a folder, or one file in the format of the source: then a part of it is held at a time."
MOST_BLOCK = (1 << 31) - 1  # bytes of text that Arrow parses at once
LARGE = 4 << 20  # bytes: what is shorter has room in any case
_OTHERWISE = {
    "a record": "keep such records as they are with --max-record",
    "a page": "leave the file out: what is in a page is read at once",
}

Piece = TypeVar("Piece", bytes, pa.Table)

# What a byte is to a bound of the number of tokens.
_NONE, _INNER, _ALONE = range(3)
_BYTES = np.arange(256)
_LETTER = [byte >= 128 or chr(byte).isalnum() for byte in range(256)]
_KINDS = np.where(_LETTER, _INNER, np.where(_BYTES > 32, _ALONE, _NONE)).astype(np.uint8)
_KINDS[0xE0:] = _ALONE  # three bytes and more: most scripts without spaces
_CHARACTERS = np.where((_BYTES < 128) | (_BYTES >= 192), _ALONE, _NONE).astype(np.uint8)


def longest(columns: Columns) -> int:
    """Bytes of a record that may be held while it is read."""
    room = columns.room
    return columns.max_record if room is None else min(columns.max_record, room.num_bytes // _READING)


def longest_copied(annotations: Annotations | TextChange | None) -> int:
    """Bytes of a record that may be held while it is copied: where texts change, those of one that is read."""
    return MAX_RECORD if annotations is None or isinstance(annotations, Annotations) else longest(annotations.columns)


def why_too_long(size: int, columns: Columns, place: str) -> str:
    """Why a record of that size is not to be compared; nothing where it is.

    Raises:
        ConfigError: It is, and the memory has no room for it.
    """
    if size > columns.max_record:
        return f"{size:,} bytes are more than max_record={columns.max_record:,}: not compared"
    _refuse(_READING * size, size, columns, place)
    return ""


def require_page_room(num_bytes: int, columns: Columns, place: str) -> None:
    """An error where what is read at once, a page of a column, needs more memory than there is.

    Raises:
        ConfigError: It needs more.
    """
    if num_bytes > LARGE:
        _refuse(_PAGE * num_bytes, num_bytes, columns, place, what="a page")


def require_room(texts: pa.Array, columns: Columns, place: Callable[[int], str]) -> None:
    """An error where a text is so long that preparing it needs more memory than there is.

    Args:
        texts: A large_string or large_binary column.
        columns: Say how much there is, and what tokens take.
        place: Where the text of a row is, in words.

    Raises:
        ConfigError: It needs more.
    """
    room = columns.room
    if room is None:
        return
    strings = arrow.strings(texts)
    sizes = np.diff(strings.offsets)
    for row in np.flatnonzero(sizes > LARGE).tolist():
        size, text = int(sizes[row]), strings.data[strings.offsets[row] : strings.offsets[row + 1]]
        tokens = _most_tokens(text, of_chars=room.of_chars) if room.token_bytes else 0
        _refuse(_PREPARING * size + room.token_bytes * tokens, size, columns, place(row))


def _most_tokens(text: Bytes, *, of_chars: bool) -> int:
    """How many tokens a text may have: words by where they begin, punctuation, letters of scripts without spaces."""
    count, before = 0, False
    for at in range(0, len(text), LARGE):
        kinds = (_CHARACTERS if of_chars else _KINDS)[text[at : at + LARGE]]
        inner = kinds == _INNER
        begins = inner & ~np.concatenate([[before], inner[:-1]])
        count, before = count + int(np.count_nonzero(begins)) + int(np.count_nonzero(kinds == _ALONE)), inner[-1]
    return count


def _refuse(needed: int, size: int, columns: Columns, place: str, *, what: str = "a record") -> None:
    room = columns.room
    if room is not None and needed > room.num_bytes:
        message = (
            f"{place}: {what} of {size:,} bytes needs about {needed:,} bytes of memory, and {room.num_bytes:,} are "
            f"free for it"
        )
        more = -(-(needed - room.num_bytes) // (1 << 20))
        raise ConfigError(message, hint=f"Allow {more:,} MB more with --memory, or {_OTHERWISE[what]}.")


def too_long(
    block: Block, columns: Columns, skip: Skip, source: str, among: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which of some records of a block are too long; they are reported."""
    sizes = (block.records.ends - block.records.starts)[among]
    is_long = sizes > longest(columns)
    for index, size in zip(among[is_long].tolist(), sizes[is_long].tolist(), strict=True):
        line = block.line_of(index)
        skip(Skipped(source, block.position + index, line, why_too_long(size, columns, f"{source}, line {line}")))
    return is_long


def pass_by(block: Block, columns: Columns, skip: Skip, source: str) -> None:
    """Report the record of a block that does not hold it."""
    passing: Any = block.passing
    passing.finish()
    reason = why_too_long(passing.size, columns, f"{source}, line {block.line}")
    skip(Skipped(source, block.position, block.line, reason + getattr(passing.past, "remark", "")))


def while_room(pieces: Iterable[Piece], name: str, *, again: float = 0) -> Iterator[Piece]:
    """What is to be held together, as long as there is memory for more.

    Args:
        pieces: Of one file.
        name: What it is called.
        again: How much more each byte of it takes, when all of it is there.

    Raises:
        ConfigError: There is none.
    """
    unseen = total = 0
    for piece in pieces:
        size = len(piece) if isinstance(piece, bytes) else piece.nbytes
        unseen, total = unseen + size, total + size
        if unseen >= _PIECE:
            from nearsame.machine import free_memory  # noqa: PLC0415  (where much is held)

            if (free := free_memory()) < max(_AHEAD * unseen, again * total):
                message = f"{name}: what stays takes more memory than there is ({free >> 20:,} MB are left)"
                raise ConfigError(message, hint=_HELD)
            unseen = 0
        yield piece
