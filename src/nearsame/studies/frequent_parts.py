"""Frequent parts: what many documents of a report share, and which of its pairs share hardly anything else.

1. They are looked for in the passages that pairs share, by runs of tokens, the most frequent first.
2. Nothing follows from them: a reader may take such pairs out of sight.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from nearsame.answers.reports import FrequentPart
from nearsame.arrow import Int64s, Mask
from nearsame.forms.aligned import align
from nearsame.named import NamedTuple
from nearsame.stages.features.token_spans import place, runs

__all__ = ["SharedPassages", "frequent_parts"]

_RUN = 8  # tokens
_DOCUMENTS, _PAIRS = 5, 3  # where fewer have it, or share nothing else, it is no part
_MOST, _TRIES = 6, 20
_LOOKED_AT = 6_000  # characters of the passages of a pair
_AS_FREQUENT = 0.5  # of the documents that have the most frequent run of a part
_NOTHING_ELSE = 0.9  # of the runs that two documents share
_SHOWN = 160  # characters


class SharedPassages(NamedTuple):
    """A pair of the report: its number, its documents, and what they share."""

    pair: int
    a: int
    b: int
    passages: tuple[str, ...]


class _Runs(NamedTuple):
    """All runs of tokens in some passages, in order: the number of each, its pair by its place, and its passage."""

    keys: Int64s
    owners: Int64s
    passages: Int64s
    texts: list[str]

    @classmethod
    def of(cls, shared: Sequence[SharedPassages]) -> "_Runs":
        """Each passage of fewer tokens is one run."""
        texts, owners = [], []
        for at, one in enumerate(shared):
            few = list(_few(one.passages))
            texts += few
            owners += [at] * len(few)
        hashes = [runs(place(align(text).text, 0, 0).hashes, _RUN, 0) for text in texts]
        keys = np.unique(np.concatenate([np.zeros(0, np.uint64), *hashes]), return_inverse=True)[1]
        sizes = [one.size for one in hashes]
        return cls(keys, np.repeat(owners, sizes), np.repeat(np.arange(len(texts)), sizes), texts)

    def documents(self, chosen: Mask, sides: tuple[Int64s, Int64s]) -> Int64s:
        """How many documents have each run, of some of the runs."""
        keys, owners = self.keys[chosen], self.owners[chosen]
        many = 1 + max(side.max() for side in sides)
        pairs = np.unique(np.concatenate([keys * many + side[owners] for side in sides]))
        return np.bincount(pairs // many, minlength=self.keys.max() + 1)

    def text(self, seed: int, frequent: Mask, owner: int) -> str:
        """The frequent runs of a pair's passage around one of them, as they read."""
        first = int(np.flatnonzero((self.keys == seed) & (self.owners == owner))[0])
        passage = self.passages == self.passages[first]
        start = int(np.flatnonzero(passage)[0])
        odd = np.flatnonzero(~frequent[self.keys[passage]])
        here = first - start
        low = max((int(at) + 1 for at in odd if at < here), default=0)
        high = min((int(at) for at in odd if at > here), default=int(passage.sum()))
        text = self.texts[int(self.passages[first])]
        aligned = align(text)
        placed = place(aligned.text, 0, 0)
        last = min(high - 1 + _RUN, placed.ends.size) - 1
        begins, ends = aligned.original(placed.starts[low : low + 1], placed.ends[last : last + 1])
        words = " ".join(text[int(begins[0]) : int(ends[0])].split())
        return words if len(words) <= _SHOWN else f"{words[:_SHOWN]} …"


def frequent_parts(shared: Sequence[SharedPassages]) -> tuple[FrequentPart, ...]:
    """The parts that many of some pairs share; each pair stands with one of them at most."""
    all_runs = _Runs.of(shared)
    if not all_runs.keys.size:
        return ()
    sides = np.array([one.a for one in shared]), np.array([one.b for one in shared])
    numbers = np.array([one.pair for one in shared])
    return tuple(
        FrequentPart(text, documents, tuple(numbers[hits].tolist()))
        for text, documents, hits in _found(all_runs, sides)
    )[:_MOST]


def _found(all_runs: _Runs, sides: tuple[Int64s, Int64s]) -> Iterator[tuple[str, int, Mask]]:
    """Text, documents that have it, and which pairs share hardly anything else: the most frequent first."""
    keys, owners, number = all_runs.keys, all_runs.owners, sides[0].size
    is_left, usable = np.ones(number, np.bool_), np.ones(keys.max() + 1, np.bool_)
    total = np.maximum(np.bincount(owners, minlength=number), 1)
    for _ in range(_TRIES):
        counts = all_runs.documents(is_left[owners] & usable[keys], sides)
        seed = int(np.argmax(counts))
        if counts[seed] < _DOCUMENTS:
            return
        has_it = is_left & (np.bincount(owners[keys == seed], minlength=number) > 0)
        frequent = all_runs.documents(has_it[owners] & usable[keys], sides) >= _AS_FREQUENT * counts[seed]
        share = np.bincount(owners[frequent[keys]], minlength=number) / total
        hits = has_it & (share >= _NOTHING_ELSE)
        usable &= ~frequent
        if hits.sum() >= _PAIRS:
            is_left &= ~hits
            yield all_runs.text(seed, frequent, int(np.flatnonzero(hits)[0])), int(counts[seed]), hits


def _few(passages: Sequence[str]) -> Iterator[str]:
    """The first of them, of so many characters together."""
    left = _LOOKED_AT
    for text in passages:
        if left > 0:
            yield text[:left]
        left -= len(text)
