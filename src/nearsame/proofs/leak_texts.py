"""What `leaks` looks for, in plain words: the texts of items, what is asked of each, and why some are left out.

1. A text is the strings of one column of an item; each is a piece, and no shingle runs from one into the next. Words
   are read without the marks of HTML and Markdown, and in NFKC, on both sides.
2. Texts of one benchmark with the same words in the same pieces are one text.
3. An id that several items of a benchmark have names none of them: their places do.
4. Words are strings, shingles tuples of them, shares fractions: no hash decides anything.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

from nearsame.named import NamedTuple
from nearsame.proofs.features import Cut
from nearsame.proofs.plain import plain

__all__ = ["Asked", "Benchmark", "Best", "Rule", "Shingle", "Text", "best_window", "read_texts", "shingles", "words_of"]

Shingle = tuple[str, ...]
Records = Iterable[tuple[str, int, Mapping[str, Any]]]  # source, position, record

_CUT = Cut({"nfkc": True})
_LOW_LINES = dict.fromkeys(  # what is `_`, or becomes one in NFKC: it ends words
    [ord("_"), 0xFE33, 0xFE34, 0xFE4D, 0xFE4E, 0xFE4F, 0xFF3F], " "
)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(_CUT.tokens(plain(text).translate(_LOW_LINES)))


def shingles(words: Sequence[str], size: int) -> list[Shingle]:
    """Every so many words in a row, in order."""
    return list(zip(*(words[start:] for start in range(size)), strict=False))


class Rule(NamedTuple):
    """When a text counts as found."""

    threshold: Fraction
    size: int
    window: Fraction
    boilerplate: int
    least_bytes: int

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Rule":
        """The rule that a record of settings says."""
        threshold, window = (Fraction(str(settings[name])) for name in ("threshold", "window"))
        return cls(threshold, settings["shingle_size"], window, settings["boilerplate"], settings["least_bytes"])


class Benchmark(NamedTuple):
    """What is read of a benchmark."""

    name: str
    records: Records


class Text(NamedTuple):
    """A text of an item."""

    benchmark: int
    item: int
    column: str
    given: tuple[str, ...]
    asked: "Asked"


@dataclass(eq=False)
class Asked:
    """What several texts that are one ask for."""

    benchmark: int
    pieces: tuple[tuple[str, ...], ...]
    every: dict[Shingle, int]  # with the first word of each, where all pieces are one row
    asked: AbstractSet[Shingle] = frozenset()
    reason: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """All of them in one row."""
        return tuple(chain.from_iterable(self.pieces))

    def is_whole(self, rule: Rule) -> bool:
        """Whether it has to stand there word for word."""
        return len(self.asked) < rule.size


class Best(NamedTuple):
    """A window of a document: shingles, and words from the first to the one behind the last."""

    shared: int
    first: int
    behind: int


class Read(NamedTuple):
    """All items and texts, and the shingles of each benchmark that too many of its texts have."""

    names: list[str]
    items: list[tuple[int, str]]
    texts: list[Text]
    common: dict[tuple[int, Shingle], int]


def read_texts(benchmarks: Sequence[Benchmark], settings: Mapping[str, Any]) -> Read:
    """The items of some benchmarks, as settings say how they are read."""
    rule, known = Rule.of(settings), dict[tuple[int, Any], Asked]()
    items, texts = list[tuple[int, str]](), list[Text]()
    own_id, wanted, places = settings.get("eval_id_column") or "id", settings.get("eval_columns") or (), list[str]()
    for number, benchmark in enumerate(benchmarks):
        for source, position, record in benchmark.records:
            found: dict[str, list[str]] = {}
            for column, piece in _strings(record, own_id):
                found.setdefault(column, []).append(piece)
            place = f"{source}:{position}"
            name = _identity(record.get(own_id)) or place
            if not _is_unicode([name, *found, *chain.from_iterable(found.values())]):
                continue
            items.append((number, name))
            places.append(place)
            for column, pieces in found.items():
                if not wanted or any(column == one or column.startswith(f"{one}.") for one in wanted):
                    what = _known(known, number, pieces, rule.size)
                    texts.append(Text(number, len(items) - 1, column, tuple(pieces), what))
    times = Counter(items)
    items = [(one[0], place) if times[one] > 1 else one for one, place in zip(items, places, strict=True)]
    common = _common(known.values(), rule)
    for what in known.values():
        what.asked = frozenset(one for one in what.every if (what.benchmark, one) not in common)
        what.reason = _reason(what, rule)
    return Read([benchmark.name for benchmark in benchmarks], items, texts, common)


def _strings(record: Mapping[str, Any], own_id: str) -> Iterator[tuple[str, str]]:
    """The strings of a record but its id, each with the path of its column."""
    waiting = [(column, value) for column, value in record.items() if column != own_id][::-1]
    while waiting:
        column, value = waiting.pop()
        if isinstance(value, str):
            yield column, value
        elif isinstance(value, (dict, tuple)):  # a tuple: an entry of a map
            entries = [value] if isinstance(value, tuple) else value.items()
            waiting += [(f"{column}.{key}", inner) for key, inner in entries][::-1]
        elif isinstance(value, list):
            waiting += [(column, inner) for inner in value][::-1]


def _identity(value: Any) -> str:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def _is_unicode(texts: Iterable[str]) -> bool:
    return not any("\ud800" <= character <= "\udfff" for text in texts for character in text)


def _known(known: dict[tuple[int, Any], Asked], benchmark: int, pieces: Sequence[str], size: int) -> Asked:
    """What a text asks for: the same as one before it with the same words."""
    words = tuple(filter(None, map(words_of, pieces)))
    key = benchmark, words
    if key not in known:
        every, at = dict[Shingle, int](), 0
        for piece in words:
            for start, shingle in enumerate(shingles(piece, size), at):
                every.setdefault(shingle, start)
            at += len(piece)
        known[key] = Asked(benchmark, words, every)
    return known[key]


def _common(different: Iterable[Asked], rule: Rule) -> dict[tuple[int, Shingle], int]:
    counts = Counter((what.benchmark, shingle) for what in different for shingle in what.every)
    return {key: count for key, count in counts.items() if count > rule.boilerplate}


def _reason(what: Asked, rule: Rule) -> str:
    """Why it is not looked for; nothing, where it is."""
    if not what.every:
        return "short" if what.pieces else "empty"
    if sum(len(word.encode()) for word in set(what.words)) < rule.least_bytes:
        return "plain"
    if not what.asked:
        return "boilerplate"
    return "short" if what.is_whole(rule) and len(what.pieces) > 1 else ""


def best_window(hits: Sequence[tuple[int, Shingle]], what: Asked, rule: Rule) -> Best | None:
    """The window with the most of a text's shingles, the shortest of these, the first of these; None: too few.

    Args:
        hits: Where which of them stand in a document, in order.
        what: The text.
        rule: When it is found.
    """
    width = int(rule.window * len(what.words))
    most = max((shared for shared, _, _ in _windows(hits, width, rule.size)), default=0)
    if not most or Fraction(most, len(what.asked)) < rule.threshold:
        return None
    return min(
        (Best(*window) for window in _windows(hits, width, rule.size, most)),
        key=lambda best: (best.behind - best.first, best.first),
    )


def _windows(
    hits: Sequence[tuple[int, Shingle]], width: int, size: int, enough: int = 0
) -> Iterator[tuple[int, int, int]]:
    """Of each hit the window that ends there: as wide as may be or, with `enough`, as narrow as has so many."""
    inside, first = Counter[Shingle](), 0
    for place, shingle in hits:
        inside[shingle] += 1
        while place + size - hits[first][0] > width or (
            enough and len(inside) >= enough and (len(inside) > enough or inside[hits[first][1]] > 1)
        ):
            inside[hits[first][1]] -= 1
            if not inside[hits[first][1]]:
                del inside[hits[first][1]]
            first += 1
        if len(inside) >= enough:
            yield len(inside), hits[first][0], place + size
