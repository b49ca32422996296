"""What other methods make of a recipe: the exact answer to its question, its shingles as sets, its words as a code.

1. A counterpart has the settings that both methods have; the others are left to their defaults.
2. Recipes come in and go out: nothing computes here.
"""

import math
from fractions import Fraction
from typing import Any

from nearsame.recipes.methods import (
    Cosine,
    Digest,
    Hyperplane,
    Jaccard,
    Method,
    MinHash,
    ModP,
    Recipe,
    Shingled,
    Shingling,
    SimHash,
    TextRecipe,
)
from nearsame.shares import exactly

__all__ = [
    "as_codes",
    "as_sets",
    "asked_for",
    "coded_join",
    "exact_join",
    "exact_question",
    "for_guesses",
    "hashed_join",
]

_PLACES = 6  # of a cosine
_MOST_BITS = 16  # that two codes of SimHash may differ in


def exact_join(method: Method) -> Jaccard | None:
    """The exact join that finds every pair which the method is to find; None where it finds other pairs.

    Example:
        >>> exact_join(MinHash(threshold=0.7)) == Jaccard(threshold=0.7)
        True
    """
    return _as_jaccard(method) if isinstance(method, Jaccard | MinHash) else None


def hashed_join(method: Method) -> MinHash | None:
    """What finds most pairs of a join with keys of signatures; None where it finds other pairs.

    Two sets with a cosine of c or more have a Jaccard similarity of c² or more: then one contains the other.

    Example:
        >>> hashed_join(Jaccard(threshold=0.7)) == MinHash(threshold=0.7)
        True
        >>> hashed_join(Cosine(threshold=0.8)).condition
        'jaccard >= 0.64, cosine >= 0.8'
    """
    settings = {name: getattr(method, name) for name in Shingled.model_fields if name in type(method).model_fields}
    if isinstance(method, Jaccard | ModP):
        return MinHash(threshold=method.least, **settings)
    if not isinstance(method, Cosine) or method.weighs_items or method.confirm:
        return None
    least = max(Fraction(math.floor(method.least**2 * 10**_PLACES), 10**_PLACES), Fraction(1, 10**_PLACES))
    return MinHash(threshold=least, **(settings | {"confirm": "cosine", "confirm_threshold": method.least}))


def coded_join(method: Method) -> SimHash | None:
    """What finds many pairs of the join by weighted cosine, at the widest distance; None where it finds other pairs.

    Example:
        >>> coded_join(Cosine(threshold=0.8, weights="tf")).k
        16
    """
    if not isinstance(method, Cosine) or not method.weighs_items or method.confirm:
        return None
    return SimHash(k=_MOST_BITS, weights=method.weights, confirm="cosine", threshold=method.least, **_cut(method))


def asked_for(method: Jaccard | MinHash | SimHash) -> str:
    """The options that ask for it in place of the method that it is the counterpart of.

    Example:
        >>> asked_for(MinHash(threshold=0.5)), asked_for(SimHash(k=16, confirm="cosine"))
        ('--method minhash', '--method simhash --k 16 --confirm cosine')
    """
    options = f"--method {method.name}"
    if method.confirm != "cosine":
        return options
    if isinstance(method, SimHash):
        return f"{options} --k {method.k} --confirm cosine"
    _, least = method.second or ("", 0)
    return f"{options} --threshold {exactly(method.least)} --confirm cosine --confirm-threshold {exactly(least)}"


def exact_question(method: Method | None, nearly: Jaccard | Cosine | None = None) -> Method:
    """What the answer of a method is held against: the exact answer to its own question.

    Codes estimate an angle: k of b bits stand for a cosine of cos(πk/b), of their features by their weights. Where
    another measure confirms pairs of codes, it is what is asked: the codes only choose who is compared. Vectors are
    asked for their cosine: the recipe that comes back says which, and every two are to be compared.

    Args:
        method: that was run; None stands for one of the ways to find equal texts.
        nearly: what codes are held against in place of that; where their features have weights, a cosine is theirs.

    Example:
        >>> exact_question(Digest(algorithm="crc32")).algorithm
        'sha256'
        >>> exact_question(SimHash(k=3)).condition
        'cosine >= 0.989177'
    """
    match method:
        case None:
            return Digest()
        case Digest():
            return Digest(**{**method.model_dump(), "algorithm": "sha256"})
        case Shingled():
            return _as_jaccard(method) if method.may_miss else method
        case SimHash() | Hyperplane() if nearly is None:
            return _question_of_codes(method)
        case SimHash() if isinstance(nearly, Cosine) and method.weights != "one":
            return Cosine(threshold=nearly.threshold, weights=method.weights, **_cut(method))
    return Hyperplane(threshold=nearly.least) if nearly and method.of_vectors else nearly or method


def _question_of_codes(method: SimHash | Hyperplane) -> Method:
    if isinstance(method, Hyperplane):
        return Hyperplane(threshold=method.threshold)
    if method.confirm == "jaccard":
        return Jaccard(threshold=method.least, **_cut(method))
    if method.confirm == "cosine":
        return Cosine(threshold=method.least, weights=method.weights, **_cut(method))
    least = max(round(math.cos(math.pi * method.k / method.bits), _PLACES), 10**-_PLACES)
    second: dict[str, Any] = (
        {} if method.confirm is None else {"confirm": method.confirm, "confirm_threshold": method.least}
    )
    return Cosine(threshold=repr(least), weights=method.weights, **_cut(method), **second)


def _cut(method: Shingling) -> dict[str, Any]:
    """How its texts are cut."""
    return {name: getattr(method, name) for name in Shingling.model_fields}


def _as_jaccard(method: Shingled) -> Jaccard:
    return Jaccard(**_of_one_jaccard(method, {name: getattr(method, name) for name in Shingled.model_fields}))


def _of_one_jaccard(method: Shingled, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with the threshold of Jaccard: where the second measure is that as well, the higher one of both."""
    if method.second is None or method.second[0] != "jaccard":
        return {**settings, "threshold": method.least}
    plain = {name: value for name, value in settings.items() if not name.startswith("confirm")}
    return {**plain, "threshold": max(method.least, method.second[1])}


def for_guesses(method: Recipe, *, has_text: bool) -> Method:
    """What says whether two texts are near enough, where their URLs are one by a guess only.

    Args:
        method: that of the run.
        has_text: whether it is used in the run, and not only there because there must be one.

    Example:
        >>> float(for_guesses(MinHash(threshold=0.7), has_text=True).threshold)
        0.7
    """
    if has_text and isinstance(method, Digest):
        return method
    if not has_text or not isinstance(method, Shingled):
        return Jaccard(seed=method.get("seed") or 0)
    own = {name: value for name, value in method.settings.items() if name in Jaccard.model_fields}
    return Jaccard(**_of_one_jaccard(method, {**own, "drop_boilerplate": None, "boilerplate_per_host": None}))


def as_sets(method: Recipe) -> MinHash:
    """The settings of any recipe as far as they are about texts, shingles and signatures: none of how pairs are found.

    Example:
        >>> as_sets(MinHash(bands=20, rows=5, num_perm=100)) == MinHash(num_perm=100)
        True
    """
    names = {*Shingled.model_fields, "num_perm", "sketch"} - {"confirm", "confirm_threshold"}
    return MinHash(**{name: getattr(method, name) for name in names & type(method).model_fields.keys()})


def as_codes(method: Recipe) -> SimHash:
    """Likewise for SimHash, whose features are words unless they are characters."""
    if isinstance(method, SimHash):
        return method
    names = {*TextRecipe.model_fields, "unit", "whitespace"}
    if method.get("unit") == "chars":
        names.add("shingle_size")
    return SimHash(**{name: getattr(method, name) for name in names & type(method).model_fields.keys()})
