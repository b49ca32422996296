"""SimHash walked through: features and weights, bits of hashes, sums, the code, and of two texts their distance."""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import xxhash

from nearsame.answers.comparisons import Explanation, Step
from nearsame.errors import ConfigError
from nearsame.flow.sketching import frequencies_of
from nearsame.flow.steps import steps
from nearsame.named import NamedTuple
from nearsame.recipes.methods import SimHash
from nearsame.shares import counted, cut, exactly
from nearsame.stages.features.weighted import TextFeatures
from nearsame.stages.pairs import likeness
from nearsame.stages.sketches.simhash import SimHashCodes
from nearsame.studies.walks.shingled import runs_of, through, token_count, words_of
from nearsame.studies.walks.sides import (
    Given,
    beside,
    explained,
    one_above_the_other,
    only_texts,
    shown_fraction,
    verified,
)

__all__ = ["walk"]

_OF_MANY = ("search", "blocks", "header")  # settings about how codes meet
_WEIGHTS = {
    "one": "once, however often it occurs",
    "tf": "as often as it occurs",
    "tfidf": "as often as it occurs, times how rare it is in the corpus",
}


class _Feature(NamedTuple):
    """A feature of SimHash."""

    text: str
    times: int
    weight: int
    hash: int


def walk(given: Sequence[Given], recipe: SimHash) -> Explanation:
    """Features and weights, the bits of their hashes, the sum of each bit, the code."""
    texts = only_texts(given, recipe)
    idle = [name for name in _OF_MANY if name in recipe.model_fields_set]
    if idle:
        raise ConfigError(f"{idle[0]} is about many codes, and does nothing to a text", hint="Give codes, or leave it.")
    stage = SimHashCodes(recipe, frequencies_of(recipe))
    batch, cut = through(texts, steps(recipe).features, TextFeatures)
    tokens = [words_of(text, recipe, cut.flags, 0, cut.stop_words)[0] for text in texts]
    features = [_weighed(recipe, stage, batch.slice(row, 1), words) for row, words in enumerate(tokens)]
    coded = stage(batch)
    codes = [_code(recipe, coded.slice(row, 1)) if words else None for row, words in enumerate(tokens)]
    sums = [_sums(recipe, side) for side in features]
    numbers = {text: i for i, text in enumerate(dict.fromkeys(f.text for side in features for f in side), 1)}
    walked = [
        beside(
            [_feature_step(recipe, side, numbers, len(words)) for side, words in zip(features, tokens, strict=True)],
            ["#", "feature", "hash"],
        ),
        beside([_bit_step(recipe, side, numbers) for side in features], ["#", "bits"], without=["weight"]),
        one_above_the_other([_sum_step(recipe, side) for side in sums]),
        one_above_the_other([_code_step(recipe, code) for code in codes]),
    ]
    answers = [_answer(recipe, side, code) for side, code in zip(sums, codes, strict=True)]
    if len(texts) == 1:
        return explained(recipe, walked, answers)
    last, together = _together(recipe, texts, coded, codes, features)
    return explained(recipe, [*walked, last], answers, together)


def _answer(recipe: SimHash, sums: list[int], code: int | None) -> dict[str, Any]:
    return {
        "bits": recipe.bits,
        "sums": sums,
        "binary": None if code is None else f"{code:0{recipe.bits}b}",
        "fingerprint": None if code is None else f"{code:0{-(-recipe.bits // 4)}x}",
        "number": None if code is None else str(code),
    }


def _weighed(recipe: SimHash, stage: SimHashCodes, weighted: pa.RecordBatch, words: list[str]) -> list[_Feature]:
    """The features in the order of the text, with what the stages noted of them."""
    items, hashes = (weighted.column(name)[0].values.to_numpy().view("uint64").tolist() for name in ("items", "hashes"))
    weights = stage.weights(weighted)
    numbers = [1] * len(items) if weights is None else weights.items[weights.starts[0] : weights.ends[0]].tolist()
    width = -(-recipe.bits // 64)
    hashes = hashes or items
    where = {item: i for i, item in enumerate(items)}
    features = []
    for text, times in Counter(runs_of(recipe, words)).items():
        at = where[xxhash.xxh3_64_intdigest(text.encode())]
        value = sum(word << 64 * i for i, word in enumerate(hashes[at * width : (at + 1) * width]))
        features.append(_Feature(text, times, numbers[at], value & (1 << recipe.bits) - 1))
    return features


def _sums(recipe: SimHash, features: list[_Feature]) -> list[int]:
    """The sum of each bit, the highest first; of no feature there is none."""
    return [
        sum(feature.weight if feature.hash >> bit & 1 else -feature.weight for feature in features)
        for bit in reversed(range(recipe.bits if features else 0))
    ]


def _code(recipe: SimHash, coded: pa.RecordBatch) -> int:
    words = coded.column("items")[0].values.to_numpy().view("uint64")[: -(-recipe.bits // 64)].tolist()
    return sum(word << 64 * i for i, word in enumerate(words))


def _feature_step(recipe: SimHash, features: list[_Feature], numbers: dict[str, int], num_tokens: int) -> Step:
    digits = -(-recipe.bits // 4)
    source = "the table given" if recipe.table is not None else recipe.feature_hash
    made = f"{token_count(num_tokens)} {len(features):,} different {'feature' if len(features) == 1 else 'features'}."
    note = f"{made} Each counts {_WEIGHTS[recipe.weights]}; hashes are of {source}."
    rows = tuple((numbers[f.text], f.text, f.times, f.weight, f"{f.hash:0{digits}x}") for f in features)
    return Step("The text becomes weighted features", ("#", "feature", "times", "weight", "hash"), rows, note)


def _bit_step(recipe: SimHash, features: list[_Feature], numbers: dict[str, int]) -> Step:
    rows = tuple((numbers[f.text], f.weight, _binary(f.hash, recipe.bits)) for f in features)
    return Step("Each hash as bits", ("#", "weight", "bits"), rows)


def _sum_step(recipe: SimHash, sums: list[int]) -> Step:
    """The sums, eight to a row, from the highest bit on."""
    also = "; so does a sum of 0" if recipe.zero_bit else "; a sum of 0 does not"
    note = (
        "Where its hash has a 1, a feature adds its weight to the sum of that bit; where it has a 0, it takes it away."
        f" A sum above 0 sets the bit{also}."
    )
    width = max((len(_with_sign(value)) for value in sums), default=0)
    rows = []
    for low in range(0, len(sums), 8):
        group = sums[low : low + 8]
        highest = recipe.bits - 1 - low
        code = "".join(str(int(value > 0 or (value == 0 and recipe.zero_bit))) for value in group)
        rows.append(
            (
                f"{highest}-{highest - len(group) + 1}",
                " ".join(f"{_with_sign(value):<{width}}" for value in group).rstrip(),
                code,
            )
        )
    return Step("Each bit has a sum", ("bits", "sums", "signs"), tuple(rows), note)


def _code_step(recipe: SimHash, code: int | None) -> Step:
    title, columns = "The signs are the fingerprint", ("as", "fingerprint")
    if code is None:
        return Step(title, columns, (), "A text without tokens has none: only its exact copies equal it.")
    rows = (
        ("bits", _binary(code, recipe.bits)),
        ("hex", f"{code:0{-(-recipe.bits // 4)}x}"),
        ("number", str(code)),
    )
    note = f"Two documents are similar if their fingerprints differ in at most k={recipe.k} of {recipe.bits} bits."
    return Step(title, columns, rows, note)


def _together(
    recipe: SimHash, texts: list[str], coded: pa.RecordBatch, codes: list[int | None], features: list[list[_Feature]]
) -> tuple[Step, dict[str, Any]]:
    """How far apart the codes are, what that estimates, and what is true."""
    similar = texts[0] == texts[1] != "" if None in codes else verified(coded, steps(recipe).bound(recipe.least))
    confirmed = "" if recipe.confirm is None else f" and {recipe.confirm} >= {exactly(recipe.least)}"
    verdict = ("near-duplicates", "yes" if similar else "no", f"at most {counted(recipe.k, 'bit')}{confirmed}")
    columns, title = ("what", "value", "how"), "Distance, estimate and true value"
    a, b = codes
    if a is None or b is None:
        note = "A text without tokens has no code: only its exact copies equal it."
        return Step(title, columns, (verdict,), note), {"distance": None, "similar": similar}
    distance = likeness.hamming_distance(a, b)
    weights = [{feature.text: feature.weight for feature in side} for side in features]
    estimate, cosine = math.cos(math.pi * distance / recipe.bits), math.sqrt(likeness.cosine_squared(*weights))
    jaccard = likeness.jaccard(*(frozenset(side) for side in weights))
    rows = (
        ("distance", f"{distance} of {recipe.bits} bits", "where the two fingerprints differ"),
        ("similarity", shown_fraction(1 - Fraction(distance, recipe.bits)), "the share of equal bits"),
        ("estimated cosine", cut(estimate), "bits differ with a chance of angle / pi: cos(pi * distance / bits)"),
        ("cosine", cut(cosine), "the true value, of the weighted features"),
        ("Jaccard", shown_fraction(jaccard), "of the sets of features"),
        verdict,
    )
    together = {"distance": distance, "estimate": estimate, "cosine": cosine, "jaccard": float(jaccard)}
    return Step(title, columns, rows), {**together, "similar": similar}


def _binary(value: int, bits: int) -> str:
    """The bits, the highest first, 64 in a piece."""
    digits = f"{value:0{bits}b}"
    return " ".join(digits[low : low + 64] for low in range(0, bits, 64))


def _with_sign(value: int) -> str:
    return f"{value:+d}" if value else "0"
