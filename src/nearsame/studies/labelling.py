"""Pairs to label: as many of each degree of similarity, so that some hundred judgements draw a whole curve.

1. Pairs are those of the exact join by Jaccard similarity from a floor on; where that were too many, from a higher one.
2. They are drawn by strata of a tenth, the same number of each as far as there are so many, and always the same ones. A
   pair weighs what it stands for: the pairs of its stratum, over those that were drawn.
3. Their order is random and their similarity is not shown: neither is to lead who judges.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.answers.labels import ToLabel
from nearsame.arrow import Rows
from nearsame.errors import ConfigError, TooManyPairsError
from nearsame.files.inputs import Inputs
from nearsame.flow.options import DocumentOptions, ThreadOptions, WatchOptions
from nearsame.flow.page_reading import with_pages
from nearsame.outputs.steps import logged
from nearsame.recipes.arguments import checked, require_number
from nearsame.recipes.methods import by_name
from nearsame.recipes.settings import ShingleSettings, given_settings
from nearsame.recipes.signatures import Default, Doc
from nearsame.sources import Columns
from nearsame.studies.contenders import Outcome, listed
from nearsame.studies.evaluate import read_sample

__all__ = ["to_label"]

_FLOORS = (Fraction(1, 5), Fraction(3, 10), Fraction(1, 2), Fraction(7, 10))
_MOST_PAIRS = 5_000_000
_MOST_EQUAL = 5  # pairs of equal sets: nobody doubts them
_CONTEXT, _SHOWN = 20, 300  # words before two texts part, and characters

Strata = list[npt.NDArray[np.int64]]


class ToLabelOptions(DocumentOptions, ThreadOptions, WatchOptions, ShingleSettings, total=False):
    """What only `to_label` takes."""

    sample_size: Annotated[int | None, Doc("At most this many documents, drawn at random but always the same.")]
    seed_of_draw: Annotated[int, Doc("Another one draws other pairs."), Default(0)]


@checked
def to_label(source: Any, *, number: int = 100, **options: Unpack[ToLabelOptions]) -> ToLabel:
    """Draw pairs of documents for people to judge, of every degree of similarity.

    Write them to a file with `write_to_label`, put 1 or 0 into its third column, and give it to `evaluate` as `truth`.

    Args:
        source: Whatever `dedup` takes.
        number: How many pairs.

    Raises:
        ConfigError: No two documents are similar at all, or all that are too similar ones.

    Example:
        >>> texts = ["a rose is a rose is a rose", "a rose is a rose is a daisy", "nothing of all that"]
        >>> to_label(texts).table.column("id2").to_pylist()
        ['memory:1']
    """
    require_number("number", number, 1)
    require_number("seed_of_draw", options["seed_of_draw"], 0)
    if options["threads"] is not None:
        require_number("threads", options["threads"], 1)
    shingles = {"shingle_size": 3, **given_settings(options, ShingleSettings)}
    columns = with_pages(Columns(text=options["text_column"], id=options["id_column"]), options)
    taken = read_sample(source, None, columns, options["sample_size"])
    logged(options["progress"]).begin("pairs")
    pairs, floor = _listed(taken.table, shingles, options["threads"])
    random = np.random.Generator(np.random.PCG64(options["seed_of_draw"]))
    drawn, weights = _drawn(_strata(pairs.similarity), number, random)
    order = random.permutation(drawn.size)
    table = _table(taken.table, pairs.a[drawn[order]], pairs.b[drawn[order]], weights[order])
    return ToLabel(table, float(floor), pairs.a.size, len(taken.table), Inputs.of(source), len(taken.skipped))


def _listed(table: pa.Table, shingles: dict[str, Any], threads: int | None) -> tuple[Outcome, Fraction]:
    """Similar pairs, and from which similarity on."""
    for floor in _FLOORS:
        try:
            pairs = listed(by_name("jaccard", **shingles, threshold=floor), table, threads, most=_MOST_PAIRS)
        except TooManyPairsError:
            continue
        if not pairs.a.size:
            message = f"no two of {len(table):,} documents have a Jaccard similarity of {float(floor):g} or more"
            raise ConfigError(message, hint="Choose smaller shingles, or give more documents.")
        return pairs, floor
    message = f"more than {_MOST_PAIRS:,} pairs have a Jaccard similarity of {float(_FLOORS[-1]):g} or more"
    raise ConfigError(message, hint="Draw a sample of the documents first (sample_size, --sample).")


def _strata(similarity: npt.NDArray[np.float64]) -> Strata:
    """Places of pairs by tenths of similarity, where there are some; those of 1 are the last stratum, empty or not."""
    number = np.minimum((similarity * 10).astype(np.int64), 9) + (similarity == 1)
    strata = [np.flatnonzero(number == which) for which in range(11)]
    return [*(places for places in strata[:-1] if places.size), strata[-1]]


def _drawn(strata: Strata, number: int, random: np.random.Generator) -> tuple[Rows, npt.NDArray[np.float64]]:
    """Places of pairs, as many of each stratum as it has and all others leave it, and what each stands for."""
    drawn, weights = [], []
    for size, places in zip(_sizes([places.size for places in strata], number), strata, strict=True):
        if size:
            drawn.append(np.sort(random.choice(places, size, replace=False)))
            weights.append(np.full(size, places.size / size))
    return np.concatenate(drawn), np.concatenate(weights)


def _sizes(there: Sequence[int], number: int) -> list[int]:
    """How many of each, in turn, from the middle on: what one has not, the others get."""
    taken = [0] * len(there)
    limits = [*there[:-1], min(there[-1], max(_MOST_EQUAL, number - sum(there[:-1])))]
    while number and any(have < limit for have, limit in zip(taken, limits, strict=True)):
        for place in _from_the_middle(len(there)):
            if number and taken[place] < limits[place]:
                taken[place] += 1
                number -= 1
    return taken


def _from_the_middle(size: int) -> Iterator[int]:
    return iter(sorted(range(size), key=lambda place: abs(2 * place - size + 1)))


def _table(table: pa.Table, a: Rows, b: Rows, weights: npt.NDArray[np.float64]) -> pa.Table:
    ids, texts = ([table.column(name).take(pa.array(side)).to_pylist() for side in (a, b)] for name in ("id", "text"))
    shown = [_shown(one or "", other or "") for one, other in zip(*texts, strict=True)]
    return pa.table(
        {
            "id1": pa.array(ids[0], pa.string()),
            "id2": pa.array(ids[1], pa.string()),
            "label": pa.array([""] * a.size, pa.string()),
            "weight": np.round(weights, 6),
            "text1": pa.array([one for one, _ in shown], pa.string()),
            "text2": pa.array([other for _, other in shown], pa.string()),
        }
    )


def _shown(a: str, b: str) -> tuple[str, str]:
    """What two texts say from shortly before they part, each in one line."""
    one, other = a.split(), b.split()
    same = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    start = max(0, same - _CONTEXT)
    before = "… " if start else ""
    return before + _cut(" ".join(one[start:])), before + _cut(" ".join(other[start:]))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 2] + " …"
