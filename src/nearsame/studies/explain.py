"""A method walked through with one text: what the textbook does on paper, with the numbers of a run.

1. Every number comes from the stage that a run would use; only the tables are made here.
2. A step shows all its rows: what fits a screen is the face's business.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from nearsame import arrow, schemas
from nearsame.comparisons import Explanation, Step
from nearsame.engines.base import Stage
from nearsame.errors import ConfigError
from nearsame.flow.pipeline import steps
from nearsame.kernels import sets, unicode
from nearsame.recipes.arguments import checked
from nearsame.recipes.choices import WalkedName
from nearsame.recipes.methods import Method, MinHash, Shingled, Shingling, SimHash, as_recipe
from nearsame.stages.features.shingles import ShingleSets
from nearsame.stages.features.token_spans import place, runs
from nearsame.stages.features.weighted import TextFeatures
from nearsame.stages.keys.bands import BandKeys, collision_probability, drawn_from
from nearsame.stages.sketches.minhash import Signatures
from nearsame.stages.sketches.simhash import SimHashCodes
from nearsame.stages.texts.aligned import align, utf8

__all__ = ["explain"]

_BATCH = 4096  # shingles sketched at a time


@checked
def explain(
    text: str, *, method: Method | WalkedName = "simhash", orders: Sequence[Sequence[str]] | None = None
) -> Explanation:
    """A method step by step, with one text.

    Args:
        text: The text.
        method: `SimHash` or `MinHash`: a recipe, or its name. A SimHash with a table of hashes is the textbook's.
        orders: For MinHash: orders of words (of shingles, as the first step shows them) in place of permutations.

    Raises:
        ConfigError: The method cannot be walked through, or an order lacks one of the shingles.

    Example:
        >>> walk = explain("mouse dog", method=MinHash(shingle_size=1), orders=[["cat", "dog", "mouse", "banana"]])
        >>> walk.answer["minima"]
        ['dog']
        >>> explain("a b", method=SimHash(bits=4, table={"a": 0b1100, "b": 0b0100})).answer["binary"]
        '0100'
    """
    recipe = as_recipe(method)
    walk = _WALKS.get(recipe.name)
    if walk is None:
        raise ConfigError(f"method={recipe.name} cannot be walked through", hint=f"Choose {' or '.join(_WALKS)}.")
    return walk(text, recipe, orders)


def _minhash(text: str, recipe: MinHash, orders: Sequence[Sequence[str]] | None) -> Explanation:
    """Shingles, permutations, minima, signature, bands."""
    recipe.require_alone("one text")
    features, sets_stage = _through(text, steps(recipe).features, ShingleSets)
    words, hashes = _words(text, recipe, sets_stage.flags & 0xFF, sets_stage.seed, sets_stage.stop_words)
    shingles = _named(recipe, arrow.unsigned(arrow.ints(features.column("items")[0].values)), words, hashes)
    first = _shingle_step(recipe, shingles, len(words))
    if orders is not None:
        least, answer = _ordered(orders, shingles)
        return Explanation(recipe.name, (first, least), answer, recipe.record())
    sketches = Signatures(recipe)(features)
    signature = arrow.lists(sketches.column("items")).items.tolist()
    bands, keys = _bands(recipe, sketches)
    answer = {"signature": [_hex(value) for value in signature], "bands": keys}
    return Explanation(recipe.name, (first, _minima(recipe, shingles, signature), bands), answer, recipe.record())


def _simhash(text: str, recipe: SimHash, orders: Sequence[Sequence[str]] | None) -> Explanation:
    """Features and weights, the bits of their hashes, the sum of each bit, the code."""
    if orders is not None:
        raise ConfigError("orders do nothing to method=simhash", hint="Leave them out, or choose minhash.")
    weighted, cut = _through(text, steps(recipe).features, TextFeatures)
    words, _ = _words(text, recipe, cut.flags, 0, cut.stop_words)
    features = _weighed(recipe, weighted, words)
    sums = [
        sum(feature.weight if feature.hash >> bit & 1 else -feature.weight for feature in features)
        for bit in reversed(range(recipe.bits))
    ]
    code = _code(recipe, weighted) if words else None
    walk = (
        _feature_step(recipe, features, len(words)),
        Step(
            "Each hash as bits",
            ("#", "weight", "bits"),
            tuple((i, feature.weight, _binary(feature.hash, recipe.bits)) for i, feature in enumerate(features, 1)),
        ),
        _sum_step(recipe, sums if words else []),
        _code_step(recipe, code),
    )
    answer = {
        "bits": recipe.bits,
        "sums": sums if words else [],
        "binary": None if code is None else f"{code:0{recipe.bits}b}",
        "fingerprint": None if code is None else f"{code:0{-(-recipe.bits // 4)}x}",
        "number": None if code is None else str(code),
    }
    return Explanation(recipe.name, walk, answer, recipe.record())


_WALKS: dict[str, Callable[[str, Any, Sequence[Sequence[str]] | None], Explanation]] = {
    "simhash": _simhash,
    "minhash": _minhash,
}
_Stage = TypeVar("_Stage")


def _through(text: str, flow: Sequence[Stage], kind: type[_Stage]) -> tuple[pa.RecordBatch, _Stage]:
    """What a text is after the stage of that kind, and the stage."""
    columns = [pa.array([0], pa.int64()), pa.array([utf8(text)], pa.large_binary()).view(pa.large_string())]
    batch = pa.RecordBatch.from_arrays(columns, schema=schemas.DOCUMENTS)
    for stage in flow:
        batch = stage(batch)
        if isinstance(stage, kind):
            return batch, stage
    raise TypeError(kind)


def _words(
    text: str, recipe: Shingling, flags: int, seed: int, stops: frozenset[str]
) -> tuple[list[str], arrow.UInt64s]:
    """The tokens of a text as they were hashed, and their hashes."""
    aligned = align(text, nfkc=recipe.nfkc, strip_accents=recipe.strip_accents)
    placed = place(aligned.text, flags, seed, stops)
    spans = zip(placed.starts, placed.ends, strict=True)
    return [_word(aligned.text, *span, recipe) for span in spans], placed.hashes


class _Feature(NamedTuple):
    """A feature of SimHash."""

    text: str
    times: int
    weight: int
    hash: int


def _weighed(recipe: SimHash, weighted: pa.RecordBatch, words: list[str]) -> list[_Feature]:
    """The features in the order of the text, with what the stage noted of them."""
    items, hashes = (arrow.lists(weighted.column(name)).items.tolist() for name in ("items", "hashes"))
    width = -(-recipe.bits // 64)
    hashes = hashes or items
    where = {item: i for i, item in enumerate(items)}
    features = []
    for text, times in Counter(_runs(recipe, words)).items():
        at = where[xxhash.xxh3_64_intdigest(text.encode())] * width
        value = sum(word << 64 * i for i, word in enumerate(hashes[at : at + width]))
        features.append(_Feature(text, times, times if recipe.weights == "tf" else 1, value & (1 << recipe.bits) - 1))
    return features


def _runs(recipe: Shingling, words: list[str]) -> list[str]:
    """Shingles as they read, in order, with their repeats."""
    size, glue = recipe.shingle_size, "" if recipe.unit == "chars" else " "
    last = len(words) - size + 1 if recipe.overlapping else len(words)
    starts = range(0, max(last, min(len(words), 1)), 1 if recipe.overlapping else size)
    return [glue.join(words[start : start + size]) for start in starts]


def _code(recipe: SimHash, weighted: pa.RecordBatch) -> int:
    words = arrow.lists(SimHashCodes(recipe)(weighted).column("items")).items.tolist()
    return sum(word << 64 * i for i, word in enumerate(words))


def _make(num_tokens: int) -> str:
    return "1 token makes" if num_tokens == 1 else f"{num_tokens:,} tokens make"


def _feature_step(recipe: SimHash, features: list[_Feature], num_tokens: int) -> Step:
    digits = -(-recipe.bits // 4)
    source = "the table given" if recipe.table is not None else recipe.feature_hash
    weight = "as often as it occurs" if recipe.weights == "tf" else "once, however often it occurs"
    made = f"{_make(num_tokens)} {len(features):,} different {'feature' if len(features) == 1 else 'features'}."
    note = f"{made} Each counts {weight}; hashes are of {source}."
    rows = tuple((i, f.text, f.times, f.weight, f"{f.hash:0{digits}x}") for i, f in enumerate(features, 1))
    return Step("The text becomes weighted features", ("#", "feature", "times", "weight", "hash"), rows, note)


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
        ("hexadecimal", f"{code:0{-(-recipe.bits // 4)}x}"),
        ("number", str(code)),
    )
    note = f"Two documents are similar if their fingerprints differ in at most k={recipe.k} of {recipe.bits} bits."
    return Step(title, columns, rows, note)


class _Shingle(NamedTuple):
    """A feature as it reads, how often it stands in the text, and its hash."""

    text: str
    times: int
    item: int


def _word(text: arrow.Bytes, start: int, end: int, recipe: Shingling) -> str:
    """A token as it was hashed; a space is whatever stands between its neighbours."""
    word = bytes(text[start:end]).decode()
    kinds = unicode.classes(word)
    word = "".join(character for character, kind in zip(word, kinds, strict=True) if kind != unicode.UNSEEN)
    between = not {unicode.WORD, unicode.ALONE} & set(kinds)
    if recipe.space_is_token and between and (word.isspace() or not recipe.keep_punctuation):
        return " "
    return word if recipe.keep_case else unicode.fold(word)


def _named(recipe: Shingled, items: arrow.UInt64s, words: list[str], hashes: arrow.UInt64s) -> list[_Shingle]:
    """The items with what they were made of."""
    if not words:
        return [_Shingle("(the whole text: it has no token)", 1, item) for item in items.tolist()]
    step = 1 if recipe.overlapping else recipe.shingle_size
    hashed_runs = runs(hashes, recipe.shingle_size, recipe.seed, step=step).tolist()
    texts = dict(zip(hashed_runs, _runs(recipe, words), strict=True))
    times = Counter(hashed_runs)
    if not recipe.repeats:
        return [_Shingle(texts[item], count, item) for item, count in times.items()]
    return [
        _Shingle(f"{texts[item]} ({n})" if n > 1 else texts[item], 1, copy)
        for item, count in times.items()
        for n, copy in enumerate(_copies(item, count), 1)
    ]


def _copies(item: int, count: int) -> list[int]:
    """The hashes of a shingle's first copy, its second, and so on."""
    values = np.full(count, item, np.uint64)
    sets.mark_repeats(values, count, np.empty(count, np.uint64))
    return values.tolist()


def _shingle_step(recipe: Shingled, shingles: list[_Shingle], num_tokens: int) -> Step:
    unit = recipe.unit.removesuffix("s")
    size = f"{recipe.shingle_size}-{'word' if unit == 'word' else 'character'} shingle{'s' * (len(shingles) != 1)}"
    note = f"{_make(num_tokens)} {len(shingles):,} different {size}, each with a hash of 64 bits."
    rows = tuple((i, shingle.text, shingle.times, _hex(shingle.item)) for i, shingle in enumerate(shingles, 1))
    return Step("The text becomes a set of shingles", ("#", "shingle", "times", "hash"), rows, note)


def _ordered(orders: Sequence[Sequence[str]], shingles: list[_Shingle]) -> tuple[Step, dict[str, Any]]:
    """The least shingle under given orders."""
    if not isinstance(orders, list | tuple) or not all(_is_order(order) for order in orders):
        message = f"orders must be a list of lists of strings, got {str(orders)[:60]}"
        raise ConfigError(message, hint="Write one list for each order.")
    rows = []
    for number, order in enumerate(orders, 1):
        missing = [shingle.text for shingle in shingles if shingle.text not in order]
        if missing:
            message = f"order {number} of {len(order)} items lacks {missing[0]!r}"
            raise ConfigError(message, hint="Write each shingle as the first step shows it.")
        rows.append((number, " < ".join(order), min((s.text for s in shingles), key=order.index, default="")))
    note = "The least shingle of the text under each order is a value of its signature."
    return Step("Each order has its least", ("order", "from the least on", "value"), tuple(rows), note), {
        "minima": [str(row[2]) for row in rows]
    }


def _is_order(order: Any) -> bool:
    return isinstance(order, list | tuple) and all(isinstance(item, str) for item in order)


def _minima(recipe: MinHash, shingles: list[_Shingle], signature: list[int]) -> Step:
    """Which shingle has the least value of each permutation, and what it is."""
    stage = Signatures(recipe)
    winners = _winners(stage, shingles, signature)
    if recipe.sketch == "classic":
        note = "h(x) = (a x + b) mod (2^61 - 1), where x is a hash without its low 3 bits; the least value stays."
        random = zip(*map(list, stage.seeds), signature, winners, strict=False)  # of an empty text: no value
        rows = tuple((i, _hex(a), _hex(b), _hex(value), winner) for i, (a, b, value, winner) in enumerate(random, 1))
        return Step("Each permutation keeps its least", ("i", "a", "b", "least value", "of #"), rows, note)
    rounds = max((value >> 48 for value in signature), default=-1) + 1
    note = (
        "In each round a hash sends every shingle to a place, with a value of 48 bits. The least of a place stays, an"
        f" earlier round before a later one, and it ends when no place is empty: after round {rounds}."
    )
    fast = tuple(
        (i, (value >> 48) + 1, f"{value & (1 << 48) - 1:012x}", winner)
        for i, (value, winner) in enumerate(zip(signature, winners, strict=True), 1)
    )
    return Step("Each place keeps its least", ("place", "round", "value", "of #"), fast, note)


def _winners(stage: Signatures, shingles: list[_Shingle], signature: list[int]) -> list[int]:
    """For each value the number of its shingle: a signature of a set is the least of those of its items."""
    winners = [0] * len(signature)
    for low in range(0, len(shingles), _BATCH):
        items = [shingle.item for shingle in shingles[low : low + _BATCH]]
        alone = _sketched(stage, np.array(items, np.uint64), np.arange(len(items) + 1))
        for at, row in zip(*np.nonzero((alone == np.array(signature, np.uint64)).T), strict=True):
            winners[at] = winners[at] or low + int(row) + 1
    return winners


def _sketched(stage: Signatures, items: arrow.UInt64s, offsets: arrow.Int64s) -> npt.NDArray[np.uint64]:
    """The signatures of sets, one a row."""
    numbers = pa.array(np.zeros(offsets.size - 1, np.int64))
    columns = [arrow.items(items, offsets) if field.name == "items" else numbers for field in schemas.FEATURES]
    sketches = arrow.lists(stage(pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)).column("items"))
    return sketches.items.reshape(offsets.size - 1 if items.size else 0, -1)


def _bands(recipe: MinHash, sketches: pa.RecordBatch) -> tuple[Step, list[dict[str, Any]]]:
    """The bands and their keys."""
    stage = BandKeys(recipe)
    bands, rows = stage.shape
    keys = arrow.unsigned(arrow.ints(stage(sketches).column("key"))).tolist()
    chance = float(collision_probability(float(recipe.threshold), bands, rows, drawn_from(recipe)))
    note = (
        f"{bands} bands of {rows} values: documents that share a key are compared. At a Jaccard similarity of "
        f"{float(recipe.threshold):g} that happens with a chance of {chance:.4f}."
    )
    places = (stage.chosen[: len(keys)] + 1).tolist()
    keyed = [{"values": of, "key": _hex(key)} for of, key in zip(places, keys, strict=True)]
    table = tuple((i, ", ".join(map(str, band["values"])), band["key"]) for i, band in enumerate(keyed, 1))
    return Step("Bands of the signature become keys", ("band", "of values", "key"), table, note), keyed


def _hex(value: int) -> str:
    return f"{value:016x}"


def _binary(value: int, bits: int) -> str:
    """The bits, the highest first, 64 in a piece."""
    digits = f"{value:0{bits}b}"
    return " ".join(digits[low : low + 64] for low in range(0, bits, 64))


def _with_sign(value: int) -> str:
    return f"{value:+d}" if value else "0"
