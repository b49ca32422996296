"""From judged pairs to a setting: methods, units and sizes tried at every threshold, and how sure the best one is.

1. A setting gives each judged pair a similarity, exactly; its best threshold is the one of greatest F1.
2. What is advised is also judged by pairs that it was not chosen by: in fifths, each by the choice of the other four.
3. Where all pairs that are not listed count as false, every setting lists its pairs from `LISTED_FROM` on; what one of
   them lists is a false pair to all, and no threshold below that is tried.
4. Sketches that only estimate a similarity (MinHash) are not tried: they find what the exact join of it finds, or less.
5. A combination of two measures is a setting whose second one stands still: its pairs have the similarity of the first
   where they pass the second, and none else.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.answers.advice import Advice, Judgement, Tried
from nearsame.arrow import Rows
from nearsame.clock import Progress
from nearsame.dataclass import dataclass
from nearsame.errors import TooManyPairsError
from nearsame.recipes.choices import Extract
from nearsame.recipes.counterparts import as_codes, exact_question
from nearsame.recipes.methods import Containment, Cosine, Jaccard, Method, SimHash
from nearsame.sources.truth import Truth
from nearsame.stages.pairs.agreement import pack
from nearsame.studies import verdicts
from nearsame.studies.contenders import contenders, listed
from nearsame.studies.lost_pairs import code_distances, features_of
from nearsame.studies.verdicts import Verdicts, cut_between

__all__ = ["LISTED_FROM", "advice"]

LISTED_FROM = Fraction(1, 2)
_SIZES = {"words": (1, 2, 3, 5), "chars": (3, 5, 8)}
_MOST_BITS = 16  # SimHash's k
_CONFIRMED_BITS = (12, 16)  # where shingles confirm (M. Henzinger, SIGIR 2006: shingles and SimHash are best together)
_FLOOR, _ABOVE = Fraction(1, 2), 0.001  # of Jaccard beside containment, and what a threshold is above it
_OF_HOST = Fraction(1, 2)  # of its documents have what is boilerplate
_FOLDS, _LEAST_GROUPS = 5, 10
_RESAMPLES, _LEAST_RESAMPLES, _WORK = 1000, 100, 100_000_000
_ROUNDING = 1e-9  # of F1: weights are added in the order of each setting
_FEW = 30  # judged pairs of a kind, below which an answer is a guess
_SWITCHES = {
    ("overlapping", False): "--no-overlap",
    ("whitespace", False): "--no-whitespace",
}

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Setting:
    """A method with the shingles that it goes by."""

    recipe: Method
    extract: Extract | None = None  # how texts are taken out of pages, where that is not how they were

    @property
    def label(self) -> str:
        """What it is called."""
        return contenders([self.recipe], {})[0].label + (f" --extract {self.extract}" if self.extract else "")

    @property
    def is_code(self) -> bool:
        """Whether it goes by the bits of codes alone."""
        return self.recipe.reports == "hamming"

    @property
    def bits(self) -> int:
        """Of a code."""
        return int(self.recipe.get("bits"))

    def floor(self, *, is_whole: bool) -> float:
        """The least similarity that it can be asked for, or is listed from."""
        if self.is_code:
            return 1 - _MOST_BITS / self.bits
        beside = self.recipe.get("jaccard_floor")
        return max(float(LISTED_FROM) if is_whole else 0.0, 0.0 if beside is None else float(beside) + _ABOVE)

    def scores(self, table: pa.Table, a: Rows, b: Rows) -> Floats:
        """The similarity of pairs; 0 where one of the two has nothing to be compared by, or a second measure fails."""
        if self.recipe.measure == "hamming":
            distances = code_distances(as_codes(self.recipe), table, a, b)
            if self.is_code:
                return np.where(distances < 0, 0.0, 1 - distances / self.bits)
            near = (distances >= 0) & (distances <= self.recipe.get("k"))
            return np.where(near, features_of(exact_question(self.recipe), table).similarity(a, b), 0.0)
        features = features_of(self.recipe, table)
        match self.recipe.measure:
            case "cosine":
                return features.cosine(a, b)
            case "containment":
                least = np.minimum(features.sizes[a], features.sizes[b])
                shares = np.asarray(features.shared(a, b) / np.maximum(least, 1))
                return np.where(features.similarity(a, b) >= float(self.recipe.get("jaccard_floor") or 0), shares, 0.0)
            case _:
                return features.similarity(a, b)

    def cut(self, above: float, below: float) -> float:
        """A threshold between two similarities that people would write; for codes that of the upper one."""
        return above if self.is_code else cut_between(above, below)

    def at(self, threshold: float) -> Method:
        """The recipe with a threshold."""
        exact = Fraction(threshold).limit_denominator(self.bits) if self.is_code else repr(threshold)
        return self.recipe.raised(exact)


@dataclass(frozen=True)
class _Scored:
    """A setting with the similarity of each pair."""

    setting: _Setting
    scores: Floats
    floor: float

    def chosen(self, judged: Verdicts) -> tuple[float, float]:
        """(the greatest F1 of any threshold, the threshold)."""
        return self.best_of(verdicts.curve(self.scores, judged, self.floor))

    def best_of(self, line: verdicts.Curve) -> tuple[float, float]:
        """The same of a curve."""
        place = verdicts.best(line)
        if place < 0:
            return 0.0, 1.0
        below = line.thresholds[place + 1] if place + 1 < line.thresholds.size else self.floor
        return float(line.f1[place]), self.setting.cut(float(line.thresholds[place]), float(below))


def advice(  # noqa: PLR0913  (judged pairs of a corpus, and how a user named both)
    texts: Mapping[Extract | None, pa.Table],
    judged: Truth,
    shingles: Mapping[str, Any],
    *,
    named: Sequence[str],
    progress: Progress,
    threads: int | None = None,
) -> Advice | str:
    """The setting that judged pairs speak for; or why none can be advised.

    Args:
        texts: the documents; of web pages also by other ways to take texts out of them.
        judged: what people say of pairs of them.
        shingles: settings that the user has chosen: they go for every setting that is tried.
        named: the sources and their columns, as arguments of a command.
        progress: who watches.
        threads: of listing.
    """
    if not judged.is_true.any() or (judged.is_true.all() and not judged.is_whole):
        return f"no pair is judged {'false' if judged.is_true.any() else 'true'}, and it takes both to choose a setting"
    settings = _settings(shingles, texts)
    a, b, known, notes = _pool(texts, judged, settings, progress, threads)
    scored = list(_scored(texts, (a, b), settings, judged, progress))
    groups, drawn = verdicts.grouped(a, b, len(texts[None]))
    weights = np.ones(a.size)
    if judged.weights is not None:
        weights[: judged.a.size] = judged.weights
    of_pairs = Verdicts(known, weights, groups)
    number = int(min(_RESAMPLES, max(_LEAST_RESAMPLES, _WORK / max(1, a.size * len(scored)))))
    progress.begin("resampling")
    won, thresholds = _won(scored, of_pairs, number)
    tried = [_tried(one, of_pairs, share) for one, share in zip(scored, won, strict=True)]
    if not any(one.f1 for one in tried):
        return "no setting that was tried finds a pair that is judged true"
    order = sorted(range(len(tried)), key=lambda at: (-tried[at].f1, at))
    low, high = np.percentile(thresholds[order[0]], [2.5, 97.5]).tolist()
    true, false = int(known.sum()), int((~known).sum())
    best = tried[order[0]]
    return Advice(
        command=shlex.join(["nearsame", "dedup", *named, *best.arguments]),
        least=low,
        most=high,
        true=true,
        false=false,
        held_out=_held_out(scored, of_pairs, number),
        tried=(*(tried[at] for at in order), *notes),
        resamples=number,
        drawn=drawn,
        weighed=judged.weights is not None,
        notes=tuple(_warnings(true, false, judged)),
    )


def _settings(shingles: Mapping[str, Any], texts: Mapping[Extract | None, pa.Table]) -> list[_Setting]:
    """What is tried: first what the user has named, or the default, then all others."""
    own = {name: value for name, value in shingles.items() if name not in ("unit", "shingle_size", "whitespace")}
    first = {**own, **{name: shingles[name] for name in ("unit", "shingle_size", "whitespace") if name in shingles}}
    sizes = [{"unit": kind, "shingle_size": size} for kind, sizes in _SIZES.items() for size in sizes]
    recipes: list[Method] = [Jaccard(**first), *(Jaccard(**{**own, **way}) for way in sizes)]
    recipes += [Cosine(**own, unit="words", shingle_size=size) for size in (1, 2, 3)]
    recipes += [Cosine(**own, unit="chars", shingle_size=5)]
    recipes += [Containment(**own, unit="words", shingle_size=size) for size in (3, 5)]
    recipes += [Containment(**own, jaccard_floor=_FLOOR)]
    known = {name: value for name, value in own.items() if name in SimHash.model_fields}
    ways_of_codes: tuple[dict[str, Any], ...] = ({}, {"weights": "tf"}, {"shingle_size": 3})
    recipes += [SimHash(**known, **way) for way in ways_of_codes]
    recipes += [SimHash(**known, confirm="jaccard", k=k) for k in _CONFIRMED_BITS]
    if "url" in texts[None].column_names and not recipes[0].drops_boilerplate:
        recipes += [Jaccard(**first, boilerplate_per_host=_OF_HOST)]
    settings = [*map(_Setting, recipes), *(_Setting(Jaccard(**first), other) for other in texts if other)]
    seen: dict[str, _Setting] = {}
    for setting in settings:
        seen.setdefault(setting.label + setting.recipe.model_dump_json(), setting)
    return list(seen.values())


def _pool(
    texts: Mapping[Extract | None, pa.Table],
    judged: Truth,
    settings: list[_Setting],
    progress: Progress,
    threads: int | None,
) -> tuple[Rows, Rows, npt.NDArray[np.bool_], list[Tried]]:
    """(a, b, whether it is true) of the pairs that count, judged ones first; and the settings that are left out."""
    if not judged.is_whole:
        return judged.a, judged.b, judged.is_true, []
    known, more, left_out = pack(judged.a, judged.b), [np.zeros(0, np.int64)], []
    for setting in list(settings):
        progress.begin(f"listing {setting.label}")
        lowest = setting.recipe.raised(repr(setting.floor(is_whole=True)))
        try:
            pairs = listed(lowest, texts[setting.extract], threads)
        except TooManyPairsError as error:
            settings.remove(setting)
            left_out.append(Tried(setting.label, note=f"not tried: {error.message}"))
            continue
        more.append(np.setdiff1d(pack(pairs.a, pairs.b), known))
    false = np.unique(np.concatenate(more))
    a, b = np.concatenate([judged.a, false >> 32]), np.concatenate([judged.b, false & 0xFFFFFFFF])
    return a, b, np.concatenate([judged.is_true, np.zeros(false.size, np.bool_)]), left_out


def _scored(
    texts: Mapping[Extract | None, pa.Table],
    pairs: tuple[Rows, Rows],
    settings: list[_Setting],
    judged: Truth,
    progress: Progress,
) -> Iterator[_Scored]:
    """Each setting with the similarity of all pairs, computed over the documents that stand in one of them.

    What is boilerplate, all documents say. A setting that is as good as another one everywhere is left out.
    """
    rows, places = np.unique(np.concatenate(pairs), return_inverse=True)
    few, seen = np.split(places, 2), list[Floats]()
    for setting in settings:
        progress.begin(setting.label)
        table = texts[setting.extract]
        some = setting.recipe.drops_boilerplate
        scores = setting.scores(table, *pairs) if some else setting.scores(table.take(pa.array(rows)), *few)
        if not any(np.array_equal(scores, others) for others in seen):
            seen.append(scores)
            yield _Scored(setting, scores, setting.floor(is_whole=judged.is_whole))


def _tried(one: _Scored, judged: Verdicts, won: float) -> Tried:
    f1, threshold = one.chosen(judged)
    line = verdicts.curve(one.scores, judged, one.floor)
    recipe = one.setting.at(threshold)
    cut = f"k={recipe.get('k')}" if one.setting.is_code else repr(threshold)
    read = ("--extract", one.setting.extract) if one.setting.extract else ()
    tried = Tried(
        one.setting.label, cut, (*_arguments(recipe), *read), recipe.record(), threshold,
        f1=f1, won=won, curve=line.trades(),
    )  # fmt: skip
    at = tried.at(threshold)
    return replace(tried, precision=at.precision, recall=at.recall)


def _won(scored: list[_Scored], judged: Verdicts, number: int) -> tuple[list[float], list[list[float]]]:
    """By setting: in which share of resamples no other was better, and its thresholds in all."""
    ordered = [verdicts.in_order(one.scores, one.floor) for one in scored]
    wins = np.zeros(len(scored))
    thresholds: list[list[float]] = [[] for _ in scored]
    for weights in verdicts.resampled(judged, number):
        reached = np.zeros(len(scored))
        for at, each in enumerate(ordered):
            line = each.of(weights, judged.is_true)
            reached[at], threshold = scored[at].best_of(line)
            thresholds[at].append(threshold)
        wins += reached >= reached.max() - _ROUNDING
    return (wins / number).tolist(), thresholds


def _held_out(scored: list[_Scored], judged: Verdicts, number: int) -> Judgement | None:
    """How good the choice of the best is, on pairs that it did not see."""
    if np.unique(judged.groups).size < _LEAST_GROUPS:
        return None
    found = np.zeros(judged.is_true.size, np.bool_)
    for held in verdicts.folds(judged, _FOLDS):
        seen = judged.some(~held)
        choices = [replace(one, scores=one.scores[~held]).chosen(seen) for one in scored]
        at = max(range(len(scored)), key=lambda place: (choices[place][0], -place))
        found[held] = scored[at].scores[held] >= choices[at][1]
    return Judgement(*verdicts.shares(found, judged, number))


def _arguments(recipe: Method) -> tuple[str, ...]:
    """How `nearsame dedup` is told a recipe."""
    given = ["--method", recipe.name]
    for name, value in recipe.model_dump(exclude_defaults=True).items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            given.append(_SWITCHES.get((name, value), option))
        elif isinstance(value, Fraction):
            given += [option, repr(float(value))]
        else:
            several = isinstance(value, list | tuple | set | frozenset)
            given += [option, ",".join(sorted(value)) if several else str(value)]
    by_bits = recipe.reports == "hamming"
    own = ("--k", str(recipe.get("k"))) if by_bits else ("--threshold", repr(float(recipe.least)))
    given += [] if own[0] in given else own  # also where it is the default
    return tuple(given)


def _warnings(true: int, false: int, judged: Truth) -> Iterator[str]:
    """What one must know before one relies on it."""
    few = [f"{number} {kind}" for number, kind in ((true, "true"), (false, "false")) if number < _FEW]
    if few:
        yield f"only {' and '.join(few)} pairs are judged: label {_FEW} of each at least, better some hundred"
    if not judged.is_whole and judged.weights is None:
        yield "shares are of the judged pairs: how these were chosen decides what they say of all others"
