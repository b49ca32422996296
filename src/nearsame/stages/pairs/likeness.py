"""How alike two documents are, and how far apart, by every measure there is: one function for each, on plain values.

1. Where a value is a ratio of integers it is a Fraction. A cosine is a root: its square is the Fraction (`_squared`).
2. What is called a distance is one: never negative, zero for equals only (as sets, codes, directions, texts),
   symmetric, never longer than a detour. An edit distance divided by a length is not one, so it is called a similarity.
3. Two empty sets are equal: their similarity is 1, their distance 0. That empty documents are never near-duplicates is
   decided where documents are.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Any

from rapidfuzz.distance import Indel, Levenshtein

from nearsame.errors import ConfigError

__all__ = [
    "agreement",
    "agreement_error",
    "cluster_jaccard",
    "containment",
    "cosine_angle",
    "cosine_of_sets_squared",
    "cosine_squared",
    "edit_similarity",
    "euclidean_distance",
    "hamming_distance",
    "indel_distance",
    "jaccard",
    "jaccard_distance",
    "length_ratio",
    "levenshtein_distance",
]

Items = AbstractSet[Hashable]
Vector = Mapping[Any, int]  # what is absent is 0; its keys are hashable, which a mapping's type cannot leave open


def jaccard(a: Items, b: Items) -> Fraction:
    """Resemblance: |A∩B| / |A∪B|.

    >>> jaccard({0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9})
    Fraction(3, 8)
    """
    return _ratio(len(a & b), len(a | b))


def jaccard_distance(a: Items, b: Items) -> Fraction:
    """1 - Jaccard: the share of all items that only one of the two has."""
    return 1 - jaccard(a, b)


def containment(a: Items, b: Items) -> Fraction:
    """How much of `a` is in `b`: |A∩B| / |A|."""
    return _ratio(len(a & b), len(a))


def cluster_jaccard(a: Items, b: Items, clusters: Iterable[Items]) -> Fraction:
    """Jaccard with each item replaced by its cluster: the items of shared clusters over those of touched clusters.

    An item in none of the clusters is a cluster by itself.

    Raises:
        ConfigError: Two clusters share an item.

    >>> cluster_jaccard({0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}, [{0, 1, 2}, {3, 4}, {5, 6}, {7, 8, 9}])
    Fraction(1, 2)
    """
    home: dict[Hashable, Items] = {}
    for cluster in clusters:
        for item in cluster:
            if item in home:
                raise ConfigError(f"item {item!r} is in two clusters", hint="Give each item one cluster.")
            home[item] = cluster
    touched = [{frozenset(home.get(item, {item})) for item in side} for side in (a, b)]
    return _ratio(sum(map(len, touched[0] & touched[1])), sum(map(len, touched[0] | touched[1])))


def cosine_squared(a: Vector, b: Vector) -> Fraction:
    """The square of the cosine of two vectors that are nowhere negative: term frequencies, say."""
    dot = sum(weight * b.get(item, 0) for item, weight in a.items())
    lengths = sum(x * x for x in a.values()), sum(x * x for x in b.values())
    return Fraction(int(lengths[0] == lengths[1])) if 0 in lengths else Fraction(dot * dot, lengths[0] * lengths[1])


def cosine_of_sets_squared(a: Items, b: Items) -> Fraction:
    """The square of |A∩B| / √(|A|·|B|)."""
    if not a or not b:
        return Fraction(int(not a and not b))
    return Fraction(len(a & b) ** 2, len(a) * len(b))


def cosine_angle(a: Vector, b: Vector) -> float:
    """The distance that belongs to the cosine: the angle between two directions, in radians."""
    squared = cosine_squared(a, b)
    return math.atan2(math.sqrt(1 - squared), math.sqrt(squared))  # acos would be 1e-8 off near equal directions


def euclidean_distance(a: Vector, b: Vector) -> float:
    """The length of the difference of two vectors."""
    return math.sqrt(sum((a.get(item, 0) - b.get(item, 0)) ** 2 for item in a.keys() | b.keys()))


def hamming_distance(a: int, b: int) -> int:
    """The number of bits in which two codes differ.

    >>> hamming_distance(0b1101, 0b1111)
    1
    """
    return (a ^ b).bit_count()


def agreement(a: Sequence[int], b: Sequence[int]) -> Fraction:
    """The share of places in which two signatures agree: of MinHash signatures, an estimate of Jaccard."""
    if len(a) != len(b):
        raise ConfigError(f"signatures of {len(a)} and {len(b)} values", hint="Make both with one recipe.")
    return _ratio(sum(x == y for x, y in zip(a, b, strict=True)), len(a))


def agreement_error(similarity: Fraction, num_perm: int) -> float:
    """The standard error of `agreement` over so many independent values, at this Jaccard.

    >>> agreement_error(Fraction(1, 2), 100)
    0.05
    """
    return math.sqrt(similarity * (1 - similarity) / num_perm)


def indel_distance(a: str, b: str, most: int | None = None) -> int | None:
    """Characters to insert and delete to make one text the other; None if these are more than `most`.

    It takes time in the length times `most`, or times the other length if that is less.
    """
    return _within(Indel.distance(a, b, score_cutoff=most), most)


def levenshtein_distance(a: str, b: str, most: int | None = None) -> int | None:
    """Characters to insert, delete and replace to make one text the other; None and time as for `indel_distance`."""
    return _within(Levenshtein.distance(a, b, score_cutoff=most), most)


def _within(distance: int, most: int | None) -> int | None:
    return distance if most is None or distance <= most else None


def edit_similarity(distance: int, most: int) -> Fraction:
    """1 - distance / most, which is the sum of the lengths for Indel, the greater one for Levenshtein.

    No distance hides in it: from "ab" to "ba" it is 1 - 2/4, although both are within 1/5 of "aba".

    >>> edit_similarity(indel_distance("ab", "ba"), 4)
    Fraction(1, 2)
    """
    return 1 - Fraction(distance, most) if most else Fraction(1)


def length_ratio(a: int, b: int) -> Fraction:
    """The lesser length over the greater."""
    return _ratio(min(a, b), max(a, b))


def _ratio(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(1)
