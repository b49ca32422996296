"""How alike two documents are, in exact fractions, by the measure of a row."""

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

from rapidfuzz.distance import LCSseq

from nearsame.proofs.codes import distance
from nearsame.proofs.features import Cut, Features
from nearsame.proofs.weights import Weights

__all__ = ["Judge", "cosine_of_sets", "jaccard", "rounded", "share"]

_ESTIMATES = ("estimated", "hamming")  # what a row says of a similarity that is not of the documents themselves
_PLACES = 10**9


def jaccard(a: Features, b: Features) -> Fraction:
    """The common items over all items; nothing is like nothing."""
    return Fraction(len(a & b), len(a | b)) if a or b else Fraction(0)


def share(a: Features, b: Features) -> Fraction:
    """How much of `a` is in `b`."""
    return Fraction(len(a & b), len(a)) if a else Fraction(0)


def cosine_of_sets(shared: int, size: int, other: int, least: Fraction) -> Fraction:
    """The cosine of sets of these sizes: to nine places, or the threshold that it reaches."""
    return _cosine(shared, size * other, least)


class Judge:
    """A recipe, as the judge of two documents; `weights` are to be given where they are of all documents."""

    def __init__(self, recipe: Mapping[str, Any], cut: Cut) -> None:
        self.recipe = recipe
        self.cut = cut
        self.weights: Weights | None = None if recipe.get("weights") == "tfidf" else Weights()
        self.least = _least(recipe)
        self.second = _second(recipe)

    def similarity(  # noqa: PLR0911  (one for each measure)
        self, measure: str, content: Any, witness: Any
    ) -> Fraction | None:
        """Of a removed document and its witness, by the measure of its row; None: this one is not recomputed."""
        match measure:
            case "jaccard":
                return jaccard(*self._sets(content, witness))
            case "containment":
                return share(*self._sets(content, witness))
            case "container":
                return share(*reversed(self._sets(content, witness)))
            case "digest":
                return Fraction(self.same(content, witness))
            case "edit":
                return self._edit(content, witness)
            case "cosine":
                return self._cosine(content, witness)
            case "hamming":  # of codes that are there
                bits = self.recipe["bits"]
                return 1 - Fraction(distance(content, witness), bits) if content and witness else Fraction(0)
            case _:
                return None

    def estimates(self, measure: str) -> bool:
        """Whether what a row says is not of the documents themselves: codes may be the documents."""
        return measure in _ESTIMATES and self.recipe["method"] != "codes"

    def true(self, content: Any, witness: Any) -> Fraction:
        """What an estimate is about: the Jaccard similarity of the documents."""
        return jaccard(*self._sets(content, witness))

    def shares(self, content: Any, witness: Any) -> tuple[Fraction, Fraction, Fraction]:
        """The Jaccard similarity, how much of the one is in the other, and of the other in the one."""
        a, b = self._sets(content, witness)
        return jaccard(a, b), share(a, b), share(b, a)

    def same(self, content: Any, witness: Any) -> bool:
        """Whether two texts are the same one: as they are, or by their words."""
        if self.recipe.get("method") == "digest" and self.recipe.get("normalise"):
            return bool(content) and self.cut.words(content) == self.cut.words(witness or "")
        return bool(content) and content == witness

    def items(self, content: Any) -> Features:
        """What a document is compared by: its set, or the one text that must be equal."""
        if self.recipe["method"] == "codes":
            return frozenset({tuple(content)})
        if self.recipe["method"] != "digest":
            return self.cut.features(content)
        return frozenset({self.cut.words(content) if self.recipe["normalise"] else content})

    def is_bare(self, content: Any, *, is_raw: bool) -> bool:
        """Whether a text has no token to be compared by; `is_raw`: no item of its own is left of it."""
        if self.recipe["method"] == "digest":
            return bool(self.recipe["normalise"]) and not self.cut.tokens(content)
        return is_raw and (not self.cut.dropped or not self.cut.shingles(content))

    def unconfirmed(self, content: Any, witness: Any) -> str:
        """What is wrong with two documents by the second measure; nothing where there is none."""
        if self.second is None:
            return ""
        name, measure, least = self.second
        if measure == "edit":
            value = self._edit(content, witness)
        else:
            one, other = self._sets(content, witness)
            value = jaccard(one, other)
            if measure == "cosine":
                value = cosine_of_sets(len(one & other), len(one), len(other), least)
        return "" if value >= least else f"their {measure} similarity is below {name}={float(least):g}"

    def letters(self, content: Any) -> str:
        """What tells two documents of one set apart, where letters are compared, or items weigh."""
        has_letters = self.second is not None and self.second[1] == "edit"
        letters = self.cut.prepared(content) if has_letters else ""
        if not self._weighs:
            return letters
        return letters + repr(sorted(map(repr, Weights().of({"weights": "tf"}, self.cut, content).items())))

    def weighed(self, content: Any) -> Mapping[Any, int]:
        """What a document is compared by, and what each item counts."""
        if self._weighs and self.weights is not None:
            return self.weights.of(self.recipe, self.cut, content)
        return dict.fromkeys(self.cut.features(content), 1)

    @property
    def _weighs(self) -> bool:
        return self.recipe.get("method") == "cosine" and self.recipe.get("weights", "one") != "one"

    def _sets(self, content: Any, witness: Any) -> tuple[Features, Features]:
        return self.cut.features(content), self.cut.features(witness)

    def _edit(self, content: Any, witness: Any) -> Fraction:
        a, b = self.cut.prepared(content or ""), self.cut.prepared(witness or "")
        if content == witness:
            return Fraction(1)
        return Fraction(2 * LCSseq.similarity(a, b), len(a) + len(b)) if a or b else Fraction(0)

    def _cosine(self, content: Any, witness: Any) -> Fraction | None:
        if self.recipe.get("method") == "hyperplane":
            return _cosine_of(rounded(content), rounded(witness), self.least)
        if self.recipe.get("method") == "cosine" and not self.recipe.get("weights"):
            one, other = self._sets(content, witness)
            return cosine_of_sets(len(one & other), len(one), len(other), self.least)
        if self.weights is None:
            return None  # they are of a table of hashes
        a, b = (self.weights.of(self.recipe, self.cut, side) for side in (content, witness))
        keys = sorted(a.keys() | b.keys(), key=repr)
        return _cosine_of([a.get(key, 0) for key in keys], [b.get(key, 0) for key in keys], self.least)


def _second(recipe: Mapping[str, Any]) -> tuple[str, str, Fraction] | None:
    """By what else documents must be similar, beside the measure of their rows: (the setting, the measure, the least).

    What confirms codes is the measure of their rows.
    """
    if recipe.get("jaccard_floor") is not None:
        return "jaccard_floor", "jaccard", Fraction(str(recipe["jaccard_floor"]))
    if recipe.get("confirm") is None or recipe.get("method") == "simhash":
        return None
    least = recipe.get("confirm_threshold")
    return "confirm_threshold", recipe["confirm"], Fraction(4, 5) if least is None else Fraction(str(least))


def _least(recipe: Mapping[str, Any]) -> Fraction:
    if recipe.get("method") in ("codes", "simhash") and recipe.get("confirm") is None:
        return Fraction(recipe["bits"] - recipe["k"], recipe["bits"])
    threshold = recipe.get("threshold")
    if threshold is None:
        return Fraction(4, 5) if recipe.get("method") == "simhash" else Fraction(1)
    return Fraction(str(threshold))


def rounded(vector: Any) -> list[int]:
    """A vector as it is compared: in whole numbers, its length does not count."""
    largest = max(map(abs, vector or [0.0]))
    return [round(number / largest * 32767.0) for number in vector or []] if largest else []


def _cosine_of(a: list[int], b: list[int], least: Fraction) -> Fraction:
    product = sum(x * y for x, y in zip(a, b, strict=False))
    return _cosine(product, sum(x * x for x in a) * sum(x * x for x in b), least)


def _cosine(product: int, squares: int, least: Fraction) -> Fraction:
    """The product over the root, to nine places, downwards; the threshold, where it is reached between two of them."""
    if product <= 0 or not squares:
        return Fraction(0)
    below = Fraction(isqrt(product**2 * _PLACES**2 // squares), _PLACES)
    return max(below, least) if Fraction(product**2, squares) >= least**2 else below
