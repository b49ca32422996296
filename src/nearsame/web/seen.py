"""What has been seen so far: documents one by one, each held against all before it.

1. `Seen` is the contract: whoever keeps documents, in memory or in an index on disk, answers by it.
2. A document that resembles another is not added; the answer names the one that it resembles most.
3. Similarity is verified, by the features and the keys that `dedup` has for the same recipe.
"""

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.answers.matches import FoundBy, Match
from nearsame.arrow import UInt64s
from nearsame.errors import ConfigError, StoreError, UnknownIdError
from nearsame.flow.steps import steps
from nearsame.index.index import Index
from nearsame.named import NamedTuple
from nearsame.printable import without_halves
from nearsame.recipes.choices import ReportedMeasure
from nearsame.recipes.methods import Digest, Jaccard, Method, MinHash
from nearsame.web.kept_digests import KeptDigests

__all__ = ["InMemory", "Indexed", "Resemblance", "Seen"]

_CLOSEST = 100  # among which an earlier state of a document is looked for


class Resemblance(NamedTuple):
    """The document that another one resembles; `unchanged` if that is its own state in an earlier crawl."""

    id: str
    url: str | None
    similarity: float
    measure: ReportedMeasure | FoundBy
    unchanged: bool = False


class Seen(Protocol):
    """Documents seen so far."""

    def add_if_new(self, id: str, url: str | None, text: str) -> Resemblance | None:
        """The document that this one resembles most; if there is none, it is added, and the answer is None.

        A document does not resemble itself, as it was read before in the same crawl. Where it resembles what an earlier
        crawl has stored under its URL, the answer is that, unless a hundred others are closer, and says `unchanged`.
        """

    def close(self) -> None:
        """No more will come."""


class _Document(NamedTuple):
    id: str
    url: str | None
    items: UInt64s


class InMemory:
    """Documents in memory: eight bytes for each shingle, and their keys.

    Example:
        >>> seen = InMemory(Jaccard(threshold=0.5, shingle_size=1))
        >>> seen.add_if_new("a", None, "a rose is a rose")
        >>> seen.add_if_new("b", None, "a rose is red")
        Resemblance(id='a', url=None, similarity=0.75, measure='jaccard', unchanged=False)
    """

    def __init__(self, method: Method) -> None:
        self._stages, self._measure, self._least = steps(method).features, method.reports, method.least
        self._keys, self._similarity = _way(method)
        self._documents: list[_Document] = []
        self._numbers: dict[str, int] = {}
        self._buckets: dict[int, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._numbers)

    def add_if_new(self, id: str, url: str | None, text: str) -> Resemblance | None:
        """The document that this one resembles most; if there is none, it is added, and the answer is None."""
        batch = pa.RecordBatch.from_arrays(
            [pa.array([0]), pa.array([without_halves(text)], pa.large_string())], schema=schemas.DOCUMENTS
        )
        for stage in self._stages:
            batch = stage(batch)
        items = arrow.unsigned(arrow.ints(batch.column("items").flatten())).copy()
        if not items.size:
            return None
        keys = self._keys(batch, items)
        resemblance = self._closest(items, keys, self._numbers.get(id))
        if resemblance is None:
            self._add(_Document(id, url, items), keys)
        return resemblance

    def close(self) -> None:
        """Forget the documents, which nothing else holds."""
        self._documents.clear()
        self._numbers.clear()
        self._buckets.clear()

    def _closest(self, items: UInt64s, keys: list[int], own: int | None) -> Resemblance | None:
        best, similarity = -1, Fraction(0)
        for number in sorted({number for key in keys for number in self._buckets.get(key, ())} - {own}):
            likeness = self._similarity(items, self._documents[number].items)
            if likeness >= self._least and likeness > similarity:
                best, similarity = number, likeness
        if best < 0:
            return None
        document = self._documents[best]
        return Resemblance(document.id, document.url, float(similarity), self._measure)

    def _add(self, document: _Document, keys: list[int]) -> None:
        """In the place of an earlier one with its id, if there is one."""
        number = self._numbers.get(document.id)
        if number is not None:
            self._documents[number] = self._documents[number]._replace(items=document.items[:0])  # resembles nothing
        number = self._numbers[document.id] = len(self._documents)
        self._documents.append(document)
        for key in keys:
            self._buckets[key].append(number)


class Indexed:
    """Documents in an index that stays: a file, or a database.

    Args:
        where: The file or the URL.
        method: The method of a new index, or the one that is expected.
        job: A file that remembers which documents are of this crawl where it is stopped and goes on; None: it does not.
    """

    def __init__(self, where: str, method: Method | None, job: Path | None = None) -> None:
        self._index = _opened(where, method)
        self._own = _OwnDocuments(job)

    def add_if_new(self, id: str, url: str | None, text: str) -> Resemblance | None:
        """The document that this one resembles most; if there is none, it is added, and the answer is None."""
        document = {"id": id, "url": url, "text": text}
        if id not in self._own and self._has(id):
            matches = self._index.query(document, limit=_CLOSEST)
            if matches:
                return self._resemblance(matches, id, url)
        self._own.add(id)
        (answer,) = self._index.add([document], if_new=True, limit=_CLOSEST)
        if answer.matches and answer.status != "present":
            itself = [match.id for match in answer.matches if self._is_itself(match, url)]
            others = [match for match in answer.matches if match.id not in itself]
            if others:
                return self._resemblance(others, id, url)
            with self._index.transaction():
                for name in itself:
                    self._index.remove(name)
                self._index.add([document], replace=True, matches=False)
            return None
        if answer.status == "conflict":  # it says something else now
            self._index.add([document], replace=True, matches=False)
        return None

    def close(self) -> None:
        """Close the index, whose documents stay for the next crawl, and the file of this one's ids."""
        self._index.close()
        self._own.close()

    def _has(self, id: str) -> bool:
        try:
            self._index.get(id)
        except UnknownIdError:
            return False
        return True

    def _resemblance(self, matches: Sequence[Match], id: str, url: str | None) -> Resemblance:
        """To its own earlier state, if that is among them: another page may be closer. Else to the closest."""
        earlier = [match for match in matches if self._is_earlier(match, id, url)]
        match = next(iter(earlier), matches[0])
        likeness = 1.0 if match.similarity is None else match.similarity
        return Resemblance(match.id, match.url, likeness, match.measure or match.found_by[0], bool(earlier))

    def _is_itself(self, match: Match, url: str | None) -> bool:
        """Whether it is what an earlier part of this crawl has stored of the same page, in whatever order it came."""
        return url is not None and match.url == url and self._own.is_left(match.id)

    def _is_earlier(self, match: Match, id: str, url: str | None) -> bool:
        """Whether it is what an earlier crawl has stored of the same document."""
        return (match.id == id or (url is not None and match.url == url)) and match.id not in self._own


class _OwnDocuments:
    """The ids of one crawl, by their digests; with a file they outlast a stop."""

    _BYTES = 16

    def __init__(self, path: Path | None) -> None:
        self._digests = KeptDigests(path, self._BYTES)

    def __contains__(self, id: str) -> bool:
        return self._digest(id) in self._digests

    def is_left(self, id: str) -> bool:
        """Whether an earlier part of the job has stored it, and this one has not met it."""
        return self._digest(id) in self._digests.left

    def add(self, id: str) -> None:
        """Before the document itself is stored: after a stop in between it must not look like an earlier crawl's."""
        self._digests.add(self._digest(id))

    def close(self) -> None:
        """Close the file, if there is one; the ids in it stay."""
        self._digests.close()

    def _digest(self, id: str) -> bytes:
        return hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=self._BYTES).digest()


def _opened(where: str, method: Method | None) -> Index:
    """The index that is there, made by the method if one is given; or a new one."""
    if "://" not in where:
        return Index.open(where, expect=method) if os.path.lexists(where) else Index.create(where, method=method)
    try:
        return Index.open(where, expect=method)
    except StoreError:
        return Index.create(where, method=method)


class _Way(NamedTuple):
    """How documents in memory are found: two similar ones have one of their keys in common, at least."""

    keys: Callable[[pa.RecordBatch, UInt64s], list[int]]
    similarity: Callable[[UInt64s, UInt64s], Fraction]


def _way(method: Method) -> _Way:
    """How documents are found by a method.

    Raises:
        ConfigError: They cannot be kept in memory for it.
    """
    made = _WAYS.get(type(method)) if method.get("confirm") is None else None
    way = made(method) if made else None
    if way is None:
        message = f"method={method!r} keeps nothing in memory"
        raise ConfigError(message, hint="Choose minhash (verified), jaccard or digest, or name an index.")
    return way


def _by_digest(method: Digest) -> _Way | None:
    return None if method.can_collide else _Way(lambda batch, _: [batch.column("set_a")[0].as_py()], _equal)


def _by_prefix(method: Jaccard) -> _Way:
    """The first items by their hash: two sets that reach the threshold share one (any total order will do)."""
    p, q = method.threshold.as_integer_ratio()
    return _Way(lambda _, items: items[: items.size - -(-p * items.size // q) + 1].tolist(), _jaccard)


def _by_bands(method: MinHash) -> _Way | None:
    step = steps(method)
    if method.verify != "exact" or step.sketches is None or step.keys is None:
        return None
    sketches, keys = step.sketches, step.keys(None)
    return _Way(lambda batch, _: keys(sketches(batch)).column("key").to_pylist(), _jaccard)


def _jaccard(a: UInt64s, b: UInt64s) -> Fraction:
    shared = int(np.intersect1d(a, b, assume_unique=True).size)
    return Fraction(shared, a.size + b.size - shared)


def _equal(a: UInt64s, b: UInt64s) -> Fraction:
    return Fraction(int(np.array_equal(a, b)))


_WAYS: dict[type, Callable[[Any], _Way | None]] = {Digest: _by_digest, Jaccard: _by_prefix, MinHash: _by_bands}
