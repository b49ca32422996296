"""What each method promises of an answer, in words: a line for each in PROMISES.

1. A promise goes by the record of a recipe, as outputs carry it, and by what was asked of the run.
2. What is exact says so; what is estimated, or found with a chance, says that.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb
from operator import mul
from typing import Any, Literal

from nearsame.named import NamedTuple
from nearsame.recipes.choices import ReportedMeasure
from nearsame.shares import exactly

__all__ = ["PROMISES", "Asked", "known", "promise"]

Record = Mapping[str, Any]


class Asked(NamedTuple):
    """What was asked of a run, as far as a promise depends on it.

    Attributes:
        measure: What its similarities are called.
        least: The least that counts.
        across: Whether there is an `against` side.
        linked: Whether clusters are connected components.
        decided: How many pairs both stay since somebody has decided so.
    """

    measure: ReportedMeasure | Literal[""]
    least: float
    across: bool
    linked: bool
    decided: int = 0


def promise(recipe: Record, asked: Asked) -> str:
    """What holds of the answer of a run by a recipe."""
    without = any(recipe.get(name) is not None for name in ("drop_boilerplate", "boilerplate_per_host"))
    also = " All of it is about texts without their boilerplate." if without else ""
    return PROMISES[recipe["method"]](recipe, asked) + also


def known(index: Record) -> str:
    """What holds of the documents that an index knew which was asked: the word of each of its methods.

    Example:
        >>> known({"name": "against/a.ns", "store": "shingles", "methods": [{"method": "digest"}]})
        'what the index a.ns knows by digest went'
    """
    words = []
    for recipe in index["methods"]:
        if recipe["method"] == "minhash":
            measure: ReportedMeasure = "estimated" if index["store"] == "sketch" else "jaccard"
            words.append(promise(recipe, Asked(measure, 0.0, across=False, linked=False)).rstrip("."))
        elif recipe["method"] == "simhash":
            least = exactly(recipe["threshold"] or 0.8)
            confirmed = f" and {recipe['confirm']} >= {least}" if recipe["confirm"] else ", and no texts were compared"
            words.append(f"codes within {recipe['k']} of {recipe['bits']} bits{confirmed}")
    by = ", ".join(dict.fromkeys(recipe["method"] for recipe in index["methods"]))
    went = f"what the index {index['name'].removeprefix('against/')} knows by {by} went"
    return f"{went} ({'; '.join(words)})" if words else went


def _digest(recipe: Record, asked: Asked) -> str:
    what = "normalised texts" if recipe["normalise"] else "texts"
    return f"exact: {_untouched(recipe, asked, f'equal {what}')}; every removed one equals a kept witness."


def _jaccard(recipe: Record, asked: Asked) -> str:
    return _exact(recipe, asked, "Jaccard")


def _cosine(recipe: Record, asked: Asked) -> str:
    weights = recipe.get("weights")
    return _exact(recipe, asked, f"cosine of {weights} weights" if weights else "cosine")


def _exact(recipe: Record, asked: Asked, measure: str) -> str:
    least = f"{measure} >= {exactly(recipe['threshold'])}{_also(recipe)}"
    return f"exact: {_untouched(recipe, asked, least)}; {_witnessed(recipe, asked, least)}."


def _also(recipe: Record) -> str:
    """What a pair must reach by a second measure."""
    if recipe.get("confirm") is None:
        return ""
    least = recipe["confirm_threshold"]
    return f" and {recipe['confirm']} >= {0.8 if least is None else exactly(least)}"


def _minhash(recipe: Record, asked: Asked) -> str:
    if asked.measure == "estimated":
        return _estimated(recipe, "signature")
    return _found(recipe, asked, "Jaccard", lambda agrees: agrees)


def _hyperplane(recipe: Record, asked: Asked) -> str:
    return _found(recipe, asked, "cosine", lambda cosine: 1 - math.acos(cosine) / math.pi)  # a bit of two codes


def _modp(recipe: Record, asked: Asked) -> str:
    del asked
    return _estimated(recipe, "fingerprint")


def _estimated(recipe: Record, sketch: str) -> str:
    least, also = f"Jaccard >= {exactly(recipe['threshold'])}", _also(recipe)
    how = f"{also}, which was verified" if also else "; none was compared"
    return f"an estimate: every removed document has a kept witness whose {sketch} says {least}{how}."


def _found(recipe: Record, asked: Asked, measure: str, agreeing: Callable[[float], float]) -> str:
    """Of methods whose keys may miss a pair; `agreeing` is the chance that two values of their sketches agree."""
    threshold = exactly(recipe["threshold"])
    witnessed = _witnessed(recipe, asked, f"{measure} >= {threshold}{_also(recipe)}")
    return f"{witnessed}; a pair at {threshold} is found with a chance of {_chance(recipe, agreeing)}."


def _witnessed(recipe: Record, asked: Asked, least: str) -> str:
    if not asked.linked:
        return f"every removed one has a kept witness with {least}, verified"
    joined = f"a chain of pairs >= {exactly(recipe['threshold'])}, each verified"
    return f"every removed one is linked to a kept witness through {joined}, and may itself be less similar to it"


def _simhash(recipe: Record, asked: Asked) -> str:
    """What holds of codes, and of what confirms them."""
    what = f"codes within {recipe['k']} of {recipe['bits']} bits"
    kept = f"exact, about codes: {_untouched(recipe, asked, what)}"
    if recipe["search"] == "adjacent":
        kept = f"pairs of {what} are lost where they are not neighbours"
    if recipe["confirm"] is None:
        return f"{kept}; every removed one has a kept witness that near, but no texts were compared."
    confirmed = f"{recipe['confirm']} >= {exactly(asked.least)}"
    if recipe["search"] != "adjacent":
        kept = f"exact, about codes: {_untouched(recipe, asked, f'{what} and {confirmed}')}"
    return f"{kept}; every removed one has a kept witness with both, verified."


def _codes(recipe: Record, asked: Asked) -> str:
    what = f"codes within {recipe['k']} of {recipe['bits']} bits"
    kept = f"exact: {_untouched(recipe, asked, what)}"
    if recipe["search"] == "adjacent":
        kept = f"pairs of {what} are lost where they are not neighbours"
    return f"{kept}; every removed one has a kept witness that near."


def _containment(recipe: Record, asked: Asked) -> str:
    share = f"{exactly(recipe['threshold'])} or more"
    floor = recipe["jaccard_floor"]
    also = f", at Jaccard >= {exactly(floor)}" if floor is not None else _also(recipe)
    if asked.measure == "container":
        return (
            f"exact: no kept document contains {share} of one of --against{also}{_but(asked)};"
            " every removed one contains its witness to that share, verified."
        )
    others = f"{'another' if recipe['within'] else 'one of --against'}{also}{_but(asked)}"
    return f"exact: no kept document is contained to {share} in {others}; every removed one is, in its witness."


def _untouched(recipe: Record, asked: Asked, what: str) -> str:
    have, but = f"have {what}", _but(asked)
    if not asked.across:
        return f"no two kept documents {have}{but}"
    if recipe["within"]:
        return f"no two kept documents {have}, none of them with one of --against either{but}"
    return f"no kept document has {what} with one of --against{but}"


def _but(asked: Asked) -> str:
    """What people have decided otherwise."""
    if not asked.decided:
        return ""
    return f", but for {asked.decided:,} {'pair that was' if asked.decided == 1 else 'pairs that were'} decided"


def _chance(recipe: Record, agreeing: Callable[[float], float]) -> str:
    if recipe["bands"] is None:
        return f"{recipe['recall']:g} or more"
    agrees, bands, rows = agreeing(float(Fraction(str(recipe["threshold"])))), recipe["bands"], recipe["rows"]
    if recipe.get("choice") == "random":  # bands that share values (stages/keys/bands.py)
        values = recipe["num_perm"]
        chances = (1 - (1 - comb(m, rows) / comb(values, rows)) ** bands for m in range(values + 1))
        number = (comb(values, m) * agrees**m * (1 - agrees) ** (values - m) for m in range(values + 1))
        return f"{sum(map(mul, chances, number)):.3f}"
    return f"{1 - (1 - agrees**rows) ** bands:.3f}"


PROMISES: dict[str, Callable[[Record, Asked], str]] = {
    "codes": _codes,
    "containment": _containment,
    "cosine": _cosine,
    "digest": _digest,
    "hyperplane": _hyperplane,
    "jaccard": _jaccard,
    "minhash": _minhash,
    "modp": _modp,
    "simhash": _simhash,
}
