"""Tokens to sets of shingles: what two documents have in common, or not.

1. Fewer tokens than the size: one shingle of them all.
2. A text without tokens has two items, the halves of its hash, which no shingle equals; an empty text or null has none.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tests.oracle.tokens import tokens

__all__ = ["Raw", "features", "shingle_list", "shingles"]


@dataclass(frozen=True)
class Raw:
    """An item of a text without tokens: equal only for equal texts. It has two, as each is 64 bits of its hash."""

    text: str
    half: int = 0


def shingle_list(words: Sequence[str], size: int, *, overlapping: bool = True) -> list[tuple[str, ...]]:
    """The shingles in order, repeats included; the remainder of a cut that does not come out even is one too."""
    if not words:
        return []
    if len(words) < size:
        return [tuple(words)]
    if overlapping:
        return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]
    return [tuple(words[start : start + size]) for start in range(0, len(words), size)]


def shingles(
    words: Sequence[str], size: int, *, overlapping: bool = True, repeats: bool = False
) -> frozenset[Hashable]:
    """The set of shingles; with `repeats`, of (shingle, how many of it came before)."""
    found = shingle_list(words, size, overlapping=overlapping)
    if not repeats:
        return frozenset(found)
    seen: Counter[tuple[str, ...]] = Counter()
    numbered = set()
    for shingle in found:
        numbered.add((shingle, seen[shingle]))
        seen[shingle] += 1
    return frozenset(numbered)


def features(
    text: str | None, *, size: int = 5, overlapping: bool = True, repeats: bool = False, **recipe: object
) -> frozenset[Hashable]:
    """What a document is compared by; `recipe` is as in `tokens`."""
    if not text:
        return frozenset()
    words = tokens(text, **recipe)  # type: ignore[arg-type]
    if not words:
        return frozenset({Raw(text, 0), Raw(text, 1)})
    return shingles(words, size, overlapping=overlapping, repeats=repeats)
