"""What has been seen so far: documents one by one, each held against all before it.

1. `Seen` is the contract: whoever keeps documents, in memory or in an index on disk, answers by it.
2. A document that resembles another is not added; the answer names the one that it resembles most.
3. Similarity is verified, by the features and the keys that `dedup` has for the same recipe.
"""

import os
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.arrow import UInt64s
from nearsame.errors import ConfigError, StoreError
from nearsame.flow.steps import Steps, steps
from nearsame.index.index import Index
from nearsame.recipes.methods import Digest, Jaccard, Method, MinHash

__all__ = ["InMemory", "Indexed", "Resemblance", "Seen"]


class Resemblance(NamedTuple):
    """The document that another one resembles."""

    id: str
    url: str | None
    similarity: float
    measure: str


class Seen(Protocol):
    """Documents seen so far."""

    def add_if_new(self, id: str, url: str | None, text: str) -> Resemblance | None:
        """The document that this one resembles most; if there is none, it is added, and the answer is None.

        A document that is there already, under the same id, resembles nothing by that.
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
        Resemblance(id='a', url=None, similarity=0.75, measure='jaccard')
    """

    def __init__(self, method: Method) -> None:
        self._stages, self._keys, self._measure = steps(method).features, _keys(method), method.reports
        self._least = method.least
        self._similarity = _equal if isinstance(method, Digest) else _jaccard
        self._documents: list[_Document] = []
        self._numbers: dict[str, int] = {}
        self._buckets: dict[int, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._numbers)

    def add_if_new(self, id: str, url: str | None, text: str) -> Resemblance | None:
        """The document that this one resembles most; if there is none, it is added, and the answer is None."""
        batch = pa.RecordBatch.from_arrays(
            [pa.array([0]), pa.array([text], pa.large_string())], schema=schemas.DOCUMENTS
        )
        for stage in self._stages:
            batch = stage(batch)
        items = arrow.unsigned(arrow.ints(batch.column("items").flatten())).copy()
        if not items.size:
            return None
        keys = self._keys(batch, items)
        found = self._closest(items, keys, self._numbers.get(id))
        if found is None:
            self._add(_Document(id, url, items), keys)
        return found

    def close(self) -> None:
        """Forget them."""
        self._documents.clear()
        self._numbers.clear()
        self._buckets.clear()

    def _closest(self, items: UInt64s, keys: list[int], own: int | None) -> Resemblance | None:
        best, similarity = -1, Fraction(0)
        for number in sorted({number for key in keys for number in self._buckets.get(key, ())} - {own}):
            found = self._similarity(items, self._documents[number].items)
            if found >= self._least and found > similarity:
                best, similarity = number, found
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
    """Documents in an index that stays: a file, or a database."""

    def __init__(self, where: str, method: Method | None) -> None:
        self._index = _opened(where, method)

    def add_if_new(self, id: str, url: str | None, text: str) -> Resemblance | None:
        """The document that this one resembles most; if there is none, it is added, and the answer is None."""
        document = {"id": id, "url": url, "text": text}
        (answer,) = self._index.add([document], if_new=True, limit=1)
        if answer.matches and answer.status != "present":
            best = answer.matches[0]
            likeness = 1.0 if best.similarity is None else best.similarity
            return Resemblance(best.id, best.url, likeness, best.measure or best.found_by[0])
        if answer.status == "conflict":  # it says something else now
            self._index.add([document], replace=True, matches=False)
        return None

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def _opened(where: str, method: Method | None) -> Index:
    """The index that is there, made by the method if one is given; or a new one."""
    if "://" not in where:
        return Index.open(where, expect=method) if os.path.lexists(where) else Index.create(where, method=method)
    try:
        return Index.open(where, expect=method)
    except StoreError:
        return Index.create(where, method=method)


def _keys(method: Method) -> Callable[[pa.RecordBatch, UInt64s], list[int]]:
    """What two similar documents have in common one of, at least."""
    step = steps(method)
    match method:
        case Digest() if method.algorithm not in ("crc32", "bytesum"):
            return lambda batch, _: [batch.column("set_a")[0].as_py()]
        case Jaccard():
            least = method.least
            return lambda _, items: _prefix(items, least)
        case MinHash(verify="exact"):
            return lambda batch, _: _banded(step, batch)
    message = f"method={method!r} keeps nothing in memory"
    raise ConfigError(message, hint="Choose minhash (verified), jaccard or digest, or name an index.")


def _prefix(items: UInt64s, least: Fraction) -> list[int]:
    """The first items by their hash: two sets that reach the threshold share one (any total order will do)."""
    needed = -(-least.numerator * items.size // least.denominator)
    return items[: items.size - needed + 1].tolist()  # type: ignore[no-any-return]


def _banded(step: Steps, batch: pa.RecordBatch) -> list[int]:
    if step.sketches is None or step.keys is None:
        return []
    return step.keys(None)(step.sketches(batch)).column("key").to_pylist()  # type: ignore[no-any-return]


def _jaccard(a: UInt64s, b: UInt64s) -> Fraction:
    shared = int(np.intersect1d(a, b, assume_unique=True).size)
    return Fraction(shared, a.size + b.size - shared)


def _equal(a: UInt64s, b: UInt64s) -> Fraction:
    return Fraction(int(np.array_equal(a, b)))
