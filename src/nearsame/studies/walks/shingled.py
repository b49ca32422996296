"""Documents as sets of shingles with their names: the first step of every method that compares sets.

1. The sets are those of the stage that a run would use; here each hash gets back the words it was made of.
2. A shingle has one number in all steps, whichever of two documents it stands in.
3. Given integers are taken as they are: hashes that somebody else made, or the items of a textbook's sets.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.answers.comparisons import Step
from nearsame.engines.base import Stage
from nearsame.errors import ConfigError
from nearsame.flow.steps import steps
from nearsame.forms.aligned import align, utf8
from nearsame.kernels import sets, unicode
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Containment, Cosine, Jaccard, MinHash, ModP, Shingling
from nearsame.stages.features.shingles import ShingleSets
from nearsame.stages.features.token_spans import place, runs
from nearsame.studies.walks.sides import Given, beside, hexed

__all__ = ["NamedSets", "Shingle", "named_sets", "runs_of", "through", "token_count", "words_of"]

_Stage = TypeVar("_Stage")
_MOST_KEPT = 1 << 14  # words of a text come again, and take longer to spell than to look up
_Shingled = Jaccard | Cosine | Containment | MinHash | ModP


class Shingle(NamedTuple):
    """A feature as it reads, how often it stands in the text, and its hash."""

    text: str
    times: int
    item: int


class NamedSets(NamedTuple):
    """One or two documents as sets.

    Attributes:
        batch: of FEATURES, a row for each document.
        shingles: of each document, in the order of its text.
        numbers: by hash, the number of a shingle in all steps.
        step: the table of them.
    """

    batch: pa.RecordBatch
    shingles: list[list[Shingle]]
    numbers: dict[int, int]
    step: Step

    @property
    def items(self) -> list[frozenset[int]]:
        """The sets alone, as the stage made them."""
        return [frozenset(row.values.to_numpy().view(np.uint64).tolist()) for row in self.batch.column("items")]

    @property
    def texts(self) -> dict[int, str]:
        """How each shingle reads."""
        return {shingle.item: shingle.text for side in self.shingles for shingle in side}


def named_sets(given: Sequence[Given], recipe: _Shingled) -> NamedSets:
    """Texts, or lists of whole numbers, as sets."""
    recipe.require_alone("one text" if len(given) == 1 else "two texts")
    texts = [side for side in given if isinstance(side, str)]
    if texts and len(texts) < len(given):
        raise ConfigError("a text and a list of numbers have nothing in common", hint="Give two of one kind.")
    batch, shingles, notes = _of_texts(texts, recipe) if texts else _of_numbers(given, recipe)
    numbers = {item: i for i, item in enumerate(dict.fromkeys(s.item for side in shingles for s in side), 1)}
    what = "shingle" if texts else "number"
    title = "The text becomes a set of shingles" if texts else "The numbers are the set, as they are given"
    columns = ("#", what, "times", "hash") if texts else ("#", what, "times")
    tables = [
        Step(title, columns, tuple((numbers[s.item], *s[:2], hexed(s.item))[: len(columns)] for s in side), note)
        for side, note in zip(shingles, notes, strict=True)
    ]
    return NamedSets(batch, shingles, numbers, beside(tables, [name for name in columns if name != "times"]))


def through(texts: Sequence[str], flow: Sequence[Stage], kind: type[_Stage]) -> tuple[pa.RecordBatch, _Stage]:
    """What texts are after the stage of that kind, and the stage."""
    encoded = pa.array(list(map(utf8, texts)), pa.large_binary()).view(pa.large_string())
    batch = pa.RecordBatch.from_arrays([pa.array(range(len(texts)), pa.int64()), encoded], schema=schemas.DOCUMENTS)
    for stage in flow:
        batch = stage(batch)
        if isinstance(stage, kind):
            return batch, stage
    raise TypeError(kind)


def words_of(
    text: str, recipe: Shingling, flags: int, seed: int, stops: frozenset[str]
) -> tuple[list[str], arrow.UInt64s]:
    """The tokens of a text as they were hashed, and their hashes."""
    aligned = align(text, nfkc=recipe.nfkc, strip_accents=recipe.strip_accents)
    placed = place(aligned.text, flags, seed, stops)
    spans = zip(placed.starts, placed.ends, strict=True)
    data, flags_ = aligned.text.tobytes(), (recipe.keep_case, recipe.keep_punctuation, recipe.space_is_token)
    return [_word(data[start:end], *flags_) for start, end in spans], placed.hashes


def runs_of(recipe: Shingling, words: list[str]) -> list[str]:
    """Shingles as they read, in order, with their repeats."""
    size, glue = recipe.shingle_size, "" if recipe.unit == "chars" else " "
    last = len(words) - size + 1 if recipe.overlapping else len(words)
    starts = range(0, max(last, min(len(words), 1)), 1 if recipe.overlapping else size)
    return [glue.join(words[start : start + size]) for start in starts]


def token_count(num_tokens: int) -> str:
    """The beginning of a sentence about what tokens become."""
    return "1 token makes" if num_tokens == 1 else f"{num_tokens:,} tokens make"


def _of_texts(texts: list[str], recipe: _Shingled) -> tuple[pa.RecordBatch, list[list[Shingle]], list[str]]:
    batch, stage = through(texts, steps(recipe).features, ShingleSets)
    shingles, notes = [], []
    for text, items in zip(texts, batch.column("items"), strict=True):
        words, hashes = words_of(text, recipe, stage.flags & 0xFF, stage.seed, stage.stop_words)
        named = _named(recipe, arrow.unsigned(arrow.ints(items.values)), words, hashes)
        shingles.append(named)
        notes.append(_shingle_note(recipe, len(named), len(words)))
    return batch, shingles, notes


def _of_numbers(given: Sequence[Given], recipe: _Shingled) -> tuple[pa.RecordBatch, list[list[Shingle]], list[str]]:
    idle = [name for name in (*recipe.for_texts, "repeats") if name in recipe.model_fields_set]
    if idle:
        raise ConfigError(f"{idle[0]} does nothing to numbers that are given", hint="Leave it out.")
    lists = [list(map(_item, side)) for side in given]
    ordered = [np.unique(np.array(items, np.uint64)) for items in lists]
    offsets = np.cumsum([0, *map(len, ordered)])
    columns = {name: pa.array(np.zeros(len(lists), np.int64)) for name in schemas.FEATURES.names}
    columns["row"] = pa.array(range(len(lists)), pa.int64())
    columns["items"] = arrow.items(np.concatenate(ordered), offsets)
    batch = pa.RecordBatch.from_arrays([columns[name] for name in schemas.FEATURES.names], schema=schemas.FEATURES)
    if recipe.weighs_items:
        times = [np.unique(np.array(items, np.uint64), return_counts=True)[1] for items in lists]
        counted = arrow.items(np.concatenate(times).astype(np.uint64), offsets)
        batch = pa.RecordBatch.from_arrays([*batch.columns, counted], schema=schemas.LETTERED)
    shingles = [[Shingle(str(item), times, item) for item, times in Counter(items).items()] for items in lists]
    return batch, shingles, [f"{len(items):,} numbers, {len(set(items)):,} different." for items in lists]


def _item(number: str | float) -> int:
    if isinstance(number, str) or not 0 <= number < 1 << 64 or int(number) != number:
        raise ConfigError(f"{number} is not a whole number from 0 to 2**64 - 1", hint="Give hashes of 64 bits.")
    return int(number)


@lru_cache(_MOST_KEPT)
def _word(spelt: bytes, keep_case: bool, keep_punctuation: bool, space_is_token: bool) -> str:  # noqa: FBT001  (a key)
    """A token as it was hashed; a space is whatever stands between its neighbours."""
    word = spelt.decode()
    seen = [each for each in zip(word, unicode.classes(word), strict=True) if each[1] != unicode.UNSEEN]
    kinds = [kind for _, kind in seen]
    is_between = not {unicode.WORD, unicode.ALONE} & {*kinds}
    if space_is_token and is_between and (unicode.SPACE in kinds or not keep_punctuation):
        return " "
    word = "".join(character for character, _ in seen)
    return word if keep_case else unicode.fold(word)


def _named(recipe: _Shingled, items: arrow.UInt64s, words: list[str], hashes: arrow.UInt64s) -> list[Shingle]:
    """The items with what they were made of."""
    if not words:
        return [Shingle("(the whole text: it has no token)", 1, item) for item in items.tolist()]
    step = 1 if recipe.overlapping else recipe.shingle_size
    hashed_runs = runs(hashes, recipe.shingle_size, recipe.seed, step=step).tolist()
    texts = dict(zip(hashed_runs, runs_of(recipe, words), strict=True))
    times = Counter(hashed_runs)
    if not recipe.repeats:
        return [Shingle(texts[item], count, item) for item, count in times.items()]
    return [
        Shingle(f"{texts[item]} ({n})" if n > 1 else texts[item], 1, copy)
        for item, count in times.items()
        for n, copy in enumerate(_copies(item, count), 1)
    ]


def _copies(item: int, count: int) -> list[int]:
    """The hashes of a shingle's first copy, its second, and so on."""
    values = np.full(count, item, np.uint64)
    sets.mark_repeats(values, count, np.empty(count, np.uint64))
    return values.tolist()


def _shingle_note(recipe: _Shingled, num_shingles: int, num_tokens: int) -> str:
    unit = recipe.unit.removesuffix("s")
    size = f"{recipe.shingle_size}-{'word' if unit == 'word' else 'character'} shingle{'s' * (num_shingles != 1)}"
    return f"{token_count(num_tokens)} {num_shingles:,} different {size}, each with a hash of 64 bits."
