"""A text cut into pieces for a page: what is shared, numbered as on the other side, and what is not.

1. The pieces, put together, are the text; what is left out for length is a piece that says how much it is.
2. Plain data: whoever prints it escapes it.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from nearsame.answers.comparisons import Passage
from nearsame.named import NamedTuple

__all__ = ["MarkedPiece", "of_a", "of_b", "pieces"]

_CONTEXT = 240  # characters on either side of a shared passage that are shown
_SHARED = 1500  # characters of a long passage that are shown at its start, and at its end

Span = tuple[int, int, int]


class MarkedPiece(NamedTuple):
    """A stretch of a text.

    Attributes:
        kind: shared; other; alone: the other text has nothing like it at that place; or gap: left out.
        text: the characters.
        passage: the number of the shared passage, from 1.
        first: whether the passage begins here.
        left_out: of a gap, how many characters.
    """

    kind: Literal["shared", "other", "alone", "gap"]
    text: str
    passage: int = 0
    first: bool = False
    left_out: int = 0


def of_a(passages: Sequence[Passage]) -> list[Span]:
    """Where the passages are on the first side, with their numbers."""
    return [(passage.a_start, passage.a_end, number) for number, passage in enumerate(passages, 1)]


def of_b(passages: Sequence[Passage]) -> list[Span]:
    """Where they are on the second."""
    return [(passage.b_start, passage.b_end, number) for number, passage in enumerate(passages, 1)]


def pieces(
    text: str, spans: Sequence[Span], alone: Iterable[tuple[int, int]] = (), *, everything: bool
) -> list[MarkedPiece]:
    """A text in pieces; where passages overlap, the common part belongs to the one that begins first.

    Args:
        text: The text.
        spans: Its shared passages.
        alone: Where characters stand that the other text does not have there; ascending, in no passage.
        everything: Whether nothing is left out for length.
    """
    marked: list[MarkedPiece] = []
    done = 0
    for start, end, number in sorted(spans):
        begin = max(start, done)
        if begin >= end:
            marked.append(MarkedPiece("shared", "", number, first=True))  # within another one: a place to be led to
            continue
        marked.extend(_other(text[done:begin], everything=everything, inner=done > 0))
        marked.extend(_shared(text[begin:end], number, everything=everything))
        done = end
    marked.extend(_other(text[done:], everything=everything, inner=done > 0, last=True))
    return list(_told_apart(marked, deque(alone)))


def _told_apart(marked: Iterable[MarkedPiece], alone: deque[tuple[int, int]]) -> Iterator[MarkedPiece]:
    """The same, with what stands alone in pieces of its own."""
    done = 0
    for piece in marked:
        start, done = done, done + len(piece.text) + piece.left_out
        if piece.kind != "other":
            yield piece
            continue
        at = start
        while alone and alone[0][0] < done:
            first, last = alone[0]
            first, end = max(first, at), min(last, done)
            if first < end:
                if at < first:
                    yield MarkedPiece("other", piece.text[at - start : first - start])
                yield MarkedPiece("alone", piece.text[first - start : end - start])
                at = end
            if last > done:
                break
            alone.popleft()
        if at < done:
            yield MarkedPiece("other", piece.text[at - start :])


def _shared(text: str, number: int, *, everything: bool) -> Iterator[MarkedPiece]:
    if everything or len(text) <= 2 * _SHARED + _CONTEXT:
        yield MarkedPiece("shared", text, number, first=True)
        return
    yield MarkedPiece("shared", text[:_SHARED], number, first=True)
    yield MarkedPiece("gap", "", number, left_out=len(text) - 2 * _SHARED)
    yield MarkedPiece("shared", text[-_SHARED:], number)


def _other(text: str, *, everything: bool, inner: bool, last: bool = False) -> Iterator[MarkedPiece]:
    """What stands before, between or behind passages: next to one, so much of it that one sees where one is."""
    head, tail = (_CONTEXT if inner else 0), (0 if last else _CONTEXT)
    if not inner and last:
        head = 2 * _SHARED  # there is no passage at all
    if everything or len(text) <= head + tail + _CONTEXT:
        if text:
            yield MarkedPiece("other", text)
        return
    if head:
        yield MarkedPiece("other", text[:head])
    yield MarkedPiece("gap", "", left_out=len(text) - head - tail)
    if tail:
        yield MarkedPiece("other", text[len(text) - tail :])
