"""Which texts stand in which documents: every window of every document is tried.

1. A text is a tuple of pieces, each of which is cut up by itself; equal texts of one benchmark count once.
2. Shingles that more than so many texts of a benchmark have are left out of all of its texts.
3. A text with fewer shingles than a shingle has words has to stand there as it is, and in one piece.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from nearsame.proofs.plain import plain
from tests.oracle.tokens import prepare, tokens

__all__ = ["Best", "Text", "boilerplate", "leaks", "texts_of", "words"]

Words = tuple[str, ...]
Cut = Callable[[str], Sequence[str]]


class Text(NamedTuple):
    """A text that is looked for, or the reason why it is not."""

    benchmark: int
    pieces: tuple[Words, ...]
    asked: frozenset[Words]
    reason: str


class Best(NamedTuple):
    """The best window of a document: tokens from the first to the one behind the last."""

    shared: int
    first: int
    behind: int


def words(text: str) -> list[str]:
    """The words of a text, whatever its marks."""
    return tokens(prepare(plain(text), nfkc=True).replace("_", " "))


def _shingles(words: Words, size: int) -> list[Words]:
    return [words[at : at + size] for at in range(len(words) - size + 1)]


def _pieces(text: Sequence[str], cut: Cut) -> tuple[Words, ...]:
    return tuple(filter(None, (tuple(cut(piece)) for piece in text)))


def boilerplate(
    texts: Sequence[tuple[int, Sequence[str]]], size: int, most: int, cut: Cut = words
) -> dict[tuple[int, Words], int]:
    """The shingles of each benchmark that too many of its different texts have, and how many have each."""
    different = {(benchmark, _pieces(text, cut)) for benchmark, text in texts}
    counts = Counter(
        (benchmark, shingle)
        for benchmark, pieces in different
        for shingle in set(chain.from_iterable(_shingles(piece, size) for piece in pieces))
    )
    return {key: count for key, count in counts.items() if count > most}


def texts_of(
    texts: Sequence[tuple[int, Sequence[str]]], *, size: int, most: int, least_bytes: int, cut: Cut = words
) -> list[Text]:
    """What is asked of each text; `cut` makes its words."""
    common = boilerplate(texts, size, most, cut)
    found = []
    for benchmark, text in texts:
        pieces = _pieces(text, cut)
        every = set(chain.from_iterable(_shingles(piece, size) for piece in pieces))
        asked = frozenset(shingle for shingle in every if (benchmark, shingle) not in common)
        letters = sum(len(word.encode()) for word in set(chain.from_iterable(pieces)))
        reason = ""
        if not pieces:
            reason = "empty"
        elif not every:
            reason = "short"
        elif letters < least_bytes:
            reason = "plain"
        elif not asked:
            reason = "boilerplate"
        elif len(asked) < size and len(pieces) > 1:
            reason = "short"
        found.append(Text(benchmark, pieces, asked, reason))
    return found


def leaks(text: Text, document: str, *, size: int, threshold: Fraction, window: Fraction) -> Best | None:
    """The window with the most of the text's shingles, the shortest of these, the first of these; None: not enough."""
    found = tuple(words(document))
    if text.reason:
        return None
    whole = tuple(chain.from_iterable(text.pieces))
    if len(text.asked) < size:
        places = [at for at in range(len(found)) if found[at : at + len(whole)] == whole]
        return Best(len(text.asked), places[0], places[0] + len(whole)) if places else None
    width = int(window * len(whole))
    best = Best(0, 0, 0)
    for first in range(len(found)):
        for behind in range(first + size, min(first + width, len(found)) + 1):
            shared = len(text.asked.intersection(_shingles(found[first:behind], size)))
            if shared > best.shared or (shared == best.shared and behind - first < best.behind - best.first):
                best = Best(shared, first, behind)
    return best if best.shared and Fraction(best.shared, len(text.asked)) >= threshold else None
