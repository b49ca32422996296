"""Two texts by every measure, and what they share: compare.

1. It calls the stages that `pipeline.steps` names for a method, so what it shows is what a run does.
2. It takes texts; whoever has files reads them first.
"""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.answers.comparisons import ComparedText, Comparison, Measured, Passage
from nearsame.engines.base import Stage
from nearsame.errors import ConfigError
from nearsame.flow.sketching import frequencies_of
from nearsame.flow.steps import steps
from nearsame.forms.aligned import Aligned, align
from nearsame.named import NamedTuple
from nearsame.recipes.arguments import checked
from nearsame.recipes.choices import MeasureName, MethodName
from nearsame.recipes.counterparts import as_codes, as_sets
from nearsame.recipes.given import Number
from nearsame.recipes.methods import Cosine, Jaccard, Method, MinHash, Recipe, Shingling, SimHash, as_recipe
from nearsame.shares import exactly
from nearsame.stages.features.shingles import ShingleSets
from nearsame.stages.features.token_spans import Placed, place
from nearsame.stages.pairs import likeness, passages
from nearsame.stages.sketches.minhash import Signatures
from nearsame.stages.sketches.simhash import SimHashCodes
from nearsame.studies.walks.weights import vectors, weighed

__all__ = ["DECIDING", "compare"]

# The measures that can decide, and the power of the similarity that is a fraction: a cosine is the root of one.
DECIDING: dict[MeasureName, int] = {
    "jaccard": 1,
    "containment": 1,
    "containment_a": 1,
    "containment_b": 1,
    "cosine": 2,
    "cosine_sets": 2,
    "simhash": 1,
    "minhash": 1,
    "indel": 1,
    "levenshtein": 1,
    "clusters": 1,
}

_MOST_CELLS = 4 * 10**9  # of an edit distance's table: two texts of 63,000 letters, some tenths of a second
_PASSAGE = {"words": 8, "chars": 40}


@checked
def compare(  # noqa: PLR0913  (a keyword for each question)
    a: str,
    b: str,
    *,
    method: Method | MethodName | None = None,
    codes: SimHash | None = None,
    measure: MeasureName = "jaccard",
    threshold: Number | None = None,
    passage: int | None = None,
    clusters: Iterable[Iterable[str]] | None = None,
    edits: bool | None = None,
) -> Comparison:
    """Two texts by every measure, and the passages that they share.

    Args:
        a: A text.
        b: Another.
        method: How texts become tokens, shingles and sketches: a recipe, or the name of one with its defaults.
        codes: How texts become SimHash codes; default: of words as the method has them, 64 bits. Its `k` may stand in
            place of a threshold for measure="simhash".
        measure: The one that decides whether the two are near-duplicates; `containment` is the greater of both.
        threshold: Its least value; default the recipe's own if it is for this measure, else 0.8.
        passage: Every shared run of at least this many tokens is found; default 8 words or 40 characters.
        clusters: Words that count as one (synonyms, spellings), for the measure `clusters`: Jaccard with each word
            replaced by its cluster.
        edits: Whether to count all edits, however many. That takes time in the product of the lengths, so by default
            long texts are compared up to some number of edits, and what has more is said: two texts of 63,000
            characters whatever their edits, two of a million up to 4,000 edits. False: none are counted.

    Raises:
        ConfigError: An impossible setting, or a measure that should decide and has no value.

    Example:
        >>> found = compare("a rose is a rose is a rose", "A rose is a rose!", method=Jaccard(shingle_size=3))
        >>> found["jaccard"].similarity, found["containment_b"].similarity, found.similar
        (Fraction(1, 1), Fraction(1, 1), True)
    """
    given = Jaccard() if method is None else as_recipe(method)
    given.require_alone("two texts")
    if given.second is not None:
        message = f"jaccard_floor={exactly(given.second[1])} is about the pairs of a run, and does nothing to two texts"
        raise ConfigError(message, hint="Leave it out.")
    if given.is_textless:
        message = f"method={given.name} compares what others have made of texts, and here are two texts"
        raise ConfigError(message, hint="Leave it out, or choose a method of texts, such as jaccard.")
    by_k = codes is not None and _decides(codes, measure, threshold)
    least = _least(codes if codes and by_k else given, measure, threshold)
    recipe = as_sets(given)
    shortest = _PASSAGE[recipe.unit] if passage is None else passage
    by_codes = as_codes(given) if codes is None else codes
    one, other = _taken_apart((a, b), recipe, by_codes)
    measures, deciding = _measured(one, other, recipe, by_codes, edits=edits)
    if given.weighs_items:
        by_weights = _by_weights((a, b), cast("Cosine", given))
        measures = tuple(by_weights.get(each.name, (each, None))[0] for each in measures)
        deciding["cosine"] = by_weights["cosine"][1] or Fraction(0)
    if clusters is not None:
        clustered, deciding["clusters"] = _of_clusters(one, other, recipe, clusters)
        measures = (*measures, clustered)
    value = deciding.get(measure)
    if value is None:
        lengths = f"the texts have {len(a):,} and {len(b):,} characters"
        why, needed = ("there are no clusters", "clusters") if measure == "clusters" else (lengths, "edits")
        message = f"measure={measure} was not computed: {why}"
        raise ConfigError(message, hint=f"Ask for {needed}, or choose another measure.")
    runs = passages.shared_passages(one.placed.hashes, other.placed.hashes, shortest)
    alone = passages.unmatched(one.placed.hashes, other.placed.hashes, runs)
    return Comparison(
        measure=measure,
        threshold=least,
        similar=_can_be_similar(one, other) and value >= least ** DECIDING[measure],
        a=_described(one, runs[:, [0, 2]], alone[0]),
        b=_described(other, runs[:, [1, 2]], alone[1]),
        measures=measures,
        passages=_passages(one, other, runs),
        passage_tokens=shortest,
        recipe={**given.record(), **({} if codes is None else {"codes": codes.record()})},
    )


class _Taken(NamedTuple):
    """One text, taken apart."""

    text: str
    aligned: Aligned
    placed: Placed
    items: frozenset[int]
    signature: tuple[int, ...]
    code: int | None


def _can_be_similar(one: _Taken, other: _Taken) -> bool:
    """Texts without tokens are near-duplicates of nothing, and copies of their like; empty texts not even that."""
    if one.placed.hashes.size and other.placed.hashes.size:
        return True
    return one.text == other.text != ""


def _decides(codes: SimHash, measure: MeasureName, threshold: Number | None) -> bool:
    """Whether their k does; settings that do nothing are refused."""
    codes.require_alone("two texts")
    idle: list[str] = [name for name in ("search", "blocks", "header") if name in codes.model_fields_set]
    if "k" in codes.model_fields_set:
        if measure == "simhash" and threshold is None and not idle:
            return True
        idle.append("k")
    if idle:
        message = f"{idle[0]}={codes.get(idle[0])} does nothing to two texts compared by {measure}"
        where = " or choose measure=simhash without a threshold" if idle[0] == "k" else ""
        raise ConfigError(f"{message}", hint=f"Leave it out{where}.")
    return False


def _least(given: Recipe, measure: MeasureName, threshold: Number | None) -> Fraction:
    """The threshold, validated as a recipe's."""
    if threshold is None:
        return given.least if measure in _own_measures(given) else Jaccard().threshold
    return Jaccard(threshold=threshold).threshold


def _own_measures(given: Recipe) -> tuple[str, ...]:
    """Those that its threshold is for: of signatures alone, what they estimate and the estimate."""
    if given.get("verify") == "estimate":
        return ("jaccard", "minhash")
    own = {"jaccard": "jaccard", "cosine": "cosine_sets", "containment": "containment", "hamming": "simhash"}
    return ("cosine",) if given.weighs_items else (own.get(given.measure, ""),)


def _taken_apart(texts: tuple[str, ...], recipe: MinHash, codes: SimHash) -> list[_Taken]:
    """Each text aligned, placed, as the set of its shingles, as its signature and as its code."""
    aligned = [align(text, nfkc=recipe.nfkc, strip_accents=recipe.strip_accents) for text in texts]
    step = steps(recipe)
    sets = step.features[-1]
    rows = pa.array(range(len(texts)), pa.int64())
    batch = pa.RecordBatch.from_arrays([rows, pa.array(texts, pa.large_string())], schema=schemas.DOCUMENTS)
    features = _through(batch, step.features)
    items = features.column("items")
    signatures = Signatures(recipe)(features).column("items")
    weighing = (SimHashCodes(codes, frequencies_of(codes)),) if codes.needs_frequencies else ()
    words = _through(batch, (*steps(codes).features, *weighing))
    return [
        _Taken(text, normal, _placed(normal, sets), frozenset(items[i].as_py()), tuple(signatures[i].as_py()), code)
        for i, (text, normal, code) in enumerate(zip(texts, aligned, _codes(words, codes), strict=True))
    ]


def _through(batch: pa.RecordBatch, stages: tuple[Stage, ...]) -> pa.RecordBatch:
    for stage in stages:
        batch = stage(batch)
    return batch


def _codes(features: pa.RecordBatch, recipe: SimHash) -> list[int | None]:
    """The code of each text that has tokens."""
    lists = arrow.lists(features.column("items"))
    width = -(-recipe.bits // 64)
    codes: list[int | None] = []
    for start, tokens in zip(lists.starts.tolist(), features.column("num_tokens").to_pylist(), strict=True):
        words = lists.items[start : start + width].tolist()
        codes.append(sum(word << 64 * i for i, word in enumerate(words)) if tokens else None)
    return codes


def _placed(aligned: Aligned, sets: Stage) -> Placed:
    if not isinstance(sets, ShingleSets):
        raise TypeError(sets)
    return place(aligned.text, sets.flags & 0xFF, sets.seed, sets.stop_words)


def _measured(
    one: _Taken, other: _Taken, recipe: MinHash, codes: SimHash, *, edits: bool | None
) -> tuple[tuple[Measured, ...], dict[str, Fraction]]:
    """Every measure; and of those that can decide the value, to its power in DECIDING."""
    words = "words" if recipe.unit == "words" else "characters"
    shingles = _shingles(recipe)
    measures = [
        *_of_sets(one.items, other.items, shingles),
        _of_signatures(one, other, shingles),
        _of_codes(one, other, codes),
        *_of_vectors(Counter(one.placed.hashes.tolist()), Counter(other.placed.hashes.tolist()), words),
        *_of_characters(one.text, other.text, edits=edits),
    ]
    deciding = {measured.name: value for measured, value in measures if value is not None}
    deciding["containment"] = max(deciding["containment_a"], deciding["containment_b"])
    return tuple(measured for measured, _ in measures), deciding


_Found = tuple[Measured, Fraction | None]


def _of_sets(a: frozenset[int], b: frozenset[int], of: str) -> list[_Found]:
    jaccard, squared = likeness.jaccard(a, b), likeness.cosine_of_sets_squared(a, b)
    directions = dict.fromkeys(a, 1), dict.fromkeys(b, 1)
    inside = {"containment_a": likeness.containment(a, b), "containment_b": likeness.containment(b, a)}
    return [
        (Measured("jaccard", of, jaccard, 1 - jaccard), jaccard),
        *((Measured(name, of, value), value) for name, value in inside.items()),
        (Measured("cosine_sets", of, math.sqrt(squared), likeness.cosine_angle(*directions), "radians"), squared),
    ]


def _of_signatures(one: _Taken, other: _Taken, of: str) -> _Found:
    if not one.signature or not other.signature:
        value = likeness.jaccard(one.items, other.items)
        return Measured("minhash", of, value, note="without shingles there is no signature"), value
    value = likeness.agreement(one.signature, other.signature)
    error = likeness.agreement_error(likeness.jaccard(one.items, other.items), len(one.signature))
    return Measured("minhash", of, value, error=error), value


def _of_codes(one: _Taken, other: _Taken, recipe: SimHash) -> _Found:
    of = f"{recipe.bits} bits of {_shingles(recipe)}"
    if one.code is None or other.code is None:
        value = Fraction(int(one.text == other.text))
        return Measured("simhash", of, value, note="without tokens there is no code"), value
    distance = likeness.hamming_distance(one.code, other.code)
    value = 1 - Fraction(distance, recipe.bits)
    return Measured("simhash", of, value, Fraction(distance), "bits"), value


def _shingles(recipe: Shingling) -> str:
    unit = "word" if recipe.unit == "words" else "character"
    return f"{unit}s" if recipe.shingle_size == 1 else f"{recipe.shingle_size}-{unit} shingles"


def _of_clusters(
    one: _Taken, other: _Taken, recipe: MinHash, clusters: Iterable[Iterable[str]]
) -> tuple[Measured, Fraction]:
    sets = steps(recipe).features[-1]
    known: list[set[int]] = []
    for cluster in clusters:
        if isinstance(cluster, str) or not all(isinstance(word, str) for word in cluster):
            raise ConfigError(f"{cluster!r} is not a list of words", hint="Write one list for each cluster.")
        placed = {word: _placed(align(word), sets).hashes.tolist() for word in cluster}
        wrong = [word for word, hashes in placed.items() if len(hashes) != 1]
        if wrong:
            raise ConfigError(f"{wrong[0]!r} in a cluster is not one token", hint="Write single words, one by one.")
        twice = next((word for word, hashes in placed.items() if any(hashes[0] in items for items in known)), None)
        if twice is not None:
            raise ConfigError(f"{twice!r} is in two clusters", hint="Give each word one cluster.")
        known.append({hashes[0] for hashes in placed.values()})
    a, b = (frozenset(side.placed.hashes.tolist()) for side in (one, other))
    value = likeness.cluster_jaccard(a, b, known)
    return Measured("clusters", "words by their clusters", value, 1 - value), value


def _of_vectors(a: Counter[int], b: Counter[int], of: str) -> list[_Found]:
    squared = likeness.cosine_squared(a, b)
    angle, length = likeness.cosine_angle(a, b), likeness.euclidean_distance(a, b)
    return [
        (Measured("cosine", f"{of}, counted", math.sqrt(squared), angle, "radians"), squared),
        (Measured("euclidean", f"{of}, counted", None, length), None),
    ]


def _by_weights(texts: tuple[str, str], recipe: Cosine) -> dict[str, _Found]:
    """What is measured of counted words, measured of the recipe's own shingles by their weights."""
    rows = pa.array(range(len(texts)), pa.int64())
    batch = pa.RecordBatch.from_arrays([rows, pa.array(texts, pa.large_string())], schema=schemas.DOCUMENTS)
    a, b = vectors(weighed(_through(batch, steps(recipe).features), recipe))
    squared = likeness.cosine_squared(a, b)
    angle, length, of = likeness.cosine_angle(a, b), likeness.euclidean_distance(a, b), _shingles(recipe)
    return {
        "cosine": (Measured("cosine", f"{of}, by {recipe.weights}", math.sqrt(squared), angle, "radians"), squared),
        "euclidean": (Measured("euclidean", f"{of}, by {recipe.weights}", None, length), None),
    }


def _of_characters(a: str, b: str, *, edits: bool | None) -> list[_Found]:
    ratio = likeness.length_ratio(len(a), len(b))
    measures: list[_Found] = [(Measured("length", "characters", ratio), None)]
    for name, count, longest in (
        ("indel", likeness.indel_distance, len(a) + len(b)),
        ("levenshtein", likeness.levenshtein_distance, max(len(a), len(b))),
    ):
        cheap = edits or len(a) * len(b) <= _MOST_CELLS
        most = longest if cheap else min(longest, _MOST_CELLS // max(len(a), len(b)))
        distance = None if edits is False else count(a, b, most)
        if distance is None:
            note = "not asked for" if edits is False else f"more than {most:,} edits in long texts: ask for edits"
            measures.append((Measured(name, "characters", note=note), None))
            continue
        value = likeness.edit_similarity(distance, longest)
        measures.append((Measured(name, "characters", value, Fraction(distance), "edits"), value))
    return measures


def _described(taken: _Taken, runs: npt.NDArray[np.int64], alone: npt.NDArray[np.int64]) -> ComparedText:
    """One text in numbers; `runs` are (first token, tokens) of its passages, `alone` those of what it alone has."""
    covered = np.zeros(taken.placed.hashes.size, np.bool_)
    for first, size in runs:
        covered[first : first + size] = True
    num_shingles = len(taken.items) if covered.size else min(1, len(taken.items))  # a text without tokens has two items
    spans = tuple(_spans(taken, alone[:, 0], alone[:, 1]))
    return ComparedText(len(taken.text), covered.size, num_shingles, int(covered.sum()), spans)


def _passages(one: _Taken, other: _Taken, runs: npt.NDArray[np.int64]) -> tuple[Passage, ...]:
    sizes = runs[:, 2]
    spans = zip(sizes.tolist(), _spans(one, runs[:, 0], sizes), _spans(other, runs[:, 1], sizes), strict=True)
    return tuple(Passage(size, *a, *b, one.text[a[0] : a[1]], other.text[b[0] : b[1]]) for size, a, b in spans)


def _spans(taken: _Taken, first: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """The characters of runs of tokens."""
    starts, ends = taken.aligned.original(taken.placed.starts[first], taken.placed.ends[first + sizes - 1])
    return list(zip(starts.tolist(), ends.tolist(), strict=True))
