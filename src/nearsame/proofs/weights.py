"""What items weigh: how often they occur, or that times how rare they are, in whole numbers.

1. In how many documents items stand is counted in a pass of its own. Only those of two documents and more are held.
2. A table of frequencies that a run was given is of hashes, which nobody knows here: such weights are not made anew.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from nearsame.proofs.counting import digest, frequent, items_of
from nearsame.proofs.features import Cut

__all__ = ["Weights", "are_counted", "counted"]

_UNIT = 1 << 16
_LN2 = 2977044472  # ln 2 in units of 2⁻³²
_FRACTION = 24  # bits of a logarithm behind the point
_MOST = 1 << 62  # of a sum of squares


def are_counted(recipe: Mapping[str, Any]) -> bool:
    """Whether weights are of all documents, which are here."""
    return recipe.get("weights") == "tfidf" and recipe.get("frequencies") is None


@dataclass(frozen=True)
class Weights:
    """In how many of some documents items stand, by their digests; one that is not listed stands in one."""

    documents: int = 0
    several: Mapping[bytes, int] = field(default_factory=dict, repr=False)

    def of(self, recipe: Mapping[str, Any], cut: Cut, content: Any) -> dict[Any, int]:
        """What each item of a document weighs; what stands for all of a text without any weighs 1."""
        times, items = Counter(cut.shingles(content) if content else []), cut.features(content)
        if recipe.get("weights") == "one":
            return dict.fromkeys(items, 1)
        by_rarity = recipe.get("weights") == "tfidf"
        weights = {item: times[item] * (self._idf(item) if by_rarity else 1) if item in times else 1 for item in items}
        while sum(weight**2 for weight in weights.values()) >= _MOST:
            weights = {item: (weight + 1) // 2 for item, weight in weights.items()}
        return weights

    def _idf(self, item: Any) -> int:
        return idf(self.documents, self.several.get(digest(None, item), 1))


def counted(contents: Iterable[Any], cut: Cut) -> Weights:
    """Of all documents."""
    number = 0

    def counting() -> Iterator[tuple[None, Any]]:
        nonlocal number
        for items in items_of(contents, cut.features):
            number += bool(items)
            yield from ((None, item) for item in items)

    several = frequent(counting(), 2)
    return Weights(number, several)


@cache
def idf(documents: int, having: int) -> int:
    """ln((1 + documents) / (1 + having)) + 1 in units of 2⁻¹⁶.

    >>> idf(999, 9)
    367340
    """
    return _UNIT + ((_log2(1 + documents) - _log2(1 + having)) * _LN2 >> (_FRACTION + 16))


def _log2(number: int) -> int:
    """Bit by bit: a mantissa of 31 bits behind the point is squared, and halved when it comes to 2."""
    whole = number.bit_length() - 1
    mantissa, bits = number << (31 - whole), 0
    for _ in range(_FRACTION):
        mantissa = mantissa * mantissa >> 31
        bit = mantissa >> 32
        mantissa, bits = mantissa >> bit, 2 * bits + bit
    return (whole << _FRACTION) + bits
