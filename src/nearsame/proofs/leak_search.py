"""Which texts stand in a document, by words; and the tables that follow from what stands where."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nearsame.named import NamedTuple
from nearsame.proofs.leak_texts import Asked, Best, Read, Rule, Shingle, Text, best_window, shingles

__all__ = ["StandingText", "WordSearch", "counts_of", "items_of", "matrix_of", "name_of"]


@dataclass
class WordSearch:
    """Texts by their shingles."""

    read: Read
    rule: Rule
    by_shingle: dict[Shingle, list[Asked]]
    texts: dict[Asked, list[tuple[int, Text]]]  # with their numbers

    @classmethod
    def of(cls, read: Read, rule: Rule) -> "WordSearch":
        """Of all texts that are looked for."""
        by_shingle, texts = defaultdict[Shingle, list[Asked]](list), defaultdict[Asked, list[tuple[int, Text]]](list)
        for number, text in enumerate(read.texts):
            if not text.asked.reason:
                texts[text.asked].append((number, text))
        for what in texts:
            for shingle in [next(iter(what.every))] if what.is_whole(rule) else what.asked:
                by_shingle[shingle].append(what)
        return cls(read, rule, dict(by_shingle), dict(texts))

    def of_words(self, words: Sequence[str]) -> dict[Asked, Best]:
        """The texts that stand in a document, each with its best window."""
        hits = defaultdict[Asked, list[Any]](list)
        for place, shingle in enumerate(shingles(words, self.rule.size)):
            for what in self.by_shingle.get(shingle, ()):
                hits[what].append((place, shingle))
        found = {what: self._best(words, what, own) for what, own in hits.items()}
        return {what: best for what, best in found.items() if best is not None}

    def _best(self, words: Sequence[str], what: Asked, hits: Sequence[tuple[int, Any]]) -> Best | None:
        if not what.is_whole(self.rule):
            return best_window(hits, what, self.rule)
        size = len(what.words)
        places = (place for place, _ in hits if tuple(words[place : place + size]) == what.words)
        first = next(places, None)
        return None if first is None else Best(len(what.asked), first, first + size)


class StandingText(NamedTuple):
    """A text that stands in a document."""

    number: int
    text: Text
    source: str
    row: int
    best: Best

    @property
    def score(self) -> float:
        """The share of its shingles that the window has."""
        return self.best.shared / len(self.text.asked.asked)


def items_of(read: Read, hits: Sequence[StandingText]) -> list[dict[str, Any]]:
    """The leaked items."""
    by_item = defaultdict[int, list[StandingText]](list)
    for hit in hits:
        by_item[hit.text.item].append(hit)
    return [
        {
            "benchmark": read.names[read.items[item][0]],
            "item": read.items[item][1],
            "score": max(hit.score for hit in own),
            "columns": [read.texts[number].column for number in sorted({hit.number for hit in own})],
            "documents": len({(hit.source, hit.row) for hit in own}),
        }
        for item, own in by_item.items()
    ]


def matrix_of(read: Read, hits: Sequence[StandingText]) -> list[dict[str, Any]]:
    """Leaked items and their documents by benchmark and source."""
    found = defaultdict[tuple[int, str], list[StandingText]](list)
    for hit in hits:
        found[hit.text.benchmark, hit.source].append(hit)
    return [
        {"benchmark": read.names[number], "source": source, **_numbers(own)} for (number, source), own in found.items()
    ]


def _numbers(hits: Sequence[StandingText]) -> dict[str, int]:
    return {"items": len({hit.text.item for hit in hits}), "documents": len({(hit.source, hit.row) for hit in hits})}


def counts_of(read: Read, hits: Sequence[StandingText]) -> dict[str, Any]:
    """The counts of stats.json that follow from what was found, of all and of each benchmark."""
    each = [_counts_of(number, name, read, hits) for number, name in enumerate(read.names)]
    sums = {name: sum(one[name] for one in each) for name in ("items", "sought", "leaked")}
    return {**sums, "benchmarks": each}


def _counts_of(number: int, name: str, read: Read, hits: Sequence[StandingText]) -> dict[str, Any]:
    texts = [one for one in read.texts if one.benchmark == number]
    found = _numbers([hit for hit in hits if hit.text.benchmark == number])
    reasons = Counter(one.asked.reason for one in texts)
    return {
        "name": name,
        "items": sum(benchmark == number for benchmark, _ in read.items),
        "sought": len({one.item for one in texts if not one.asked.reason}),
        "leaked": found["items"],
        "documents": found["documents"],
        "texts": len(texts),
        "unsought": {reason: times for reason, times in sorted(reasons.items()) if reason},
        "boilerplate": sum(benchmark == number for benchmark, _ in read.common),
    }


def name_of(read: Read, text: Text) -> tuple[str, str, str]:
    """The benchmark, the item and the column of a text."""
    benchmark, item = read.items[text.item]
    return read.names[benchmark], item, text.column
