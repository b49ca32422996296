"""What a method of an index makes of a document: items to compare, and keys to be found by.

1. Items come from the library's own stages, so an index answers as `dedup` does. They are all that is stored of a
   text, and keys can be made of them again: what is stored can be checked.
2. A document without items, of a method, has no key of it.
3. A *set key* is shared by all documents with the same items; who shares
   one is compared, item by item. The other keys (bands, headers) are for those that are
   similar, and only one of all documents with the same items needs to have them.
4. Keys of two methods never meet: each method has a salt.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.answers.matches import FoundBy
from nearsame.arrow import Int64s, Lists, UInt64s
from nearsame.dataclass import dataclass
from nearsame.engines.base import Stage
from nearsame.errors import ConfigError
from nearsame.kernels.scores import Bound
from nearsame.named import NamedTuple
from nearsame.recipes.choices import ReportedMeasure
from nearsame.recipes.given import Number
from nearsame.recipes.methods import Digest, MinHash, SimHash, TextRecipe
from nearsame.recipes.urls import CanonicalUrl
from nearsame.stages.pairs import measures

__all__ = [
    "NOTHING",
    "Batch",
    "Facet",
    "Facets",
    "IndexMethod",
    "Input",
    "Keys",
    "cut",
    "documents",
    "hashes",
    "listed",
    "through",
]

IndexMethod = MinHash | SimHash | Digest | CanonicalUrl

NOTHING: UInt64s = arrow.NO_HASHES


class Input(NamedTuple):
    """A document that came in."""

    id: str
    url: str | None = None
    text: bytes | None = None  # UTF-8; None: features or a sketch are given
    features: tuple[Any, ...] | None = None  # ready items: texts, or hashes of 64 bits
    sketch: tuple[Any, ...] | None = None  # a signature by the recipe of the index
    columns: bytes = b""  # that the index keeps, packed


class Batch(tuple[Input, ...]):  # noqa: SLOT001  (it remembers what was made)
    """Documents that came in together; what all methods need of them is made once."""

    @cached_property
    def texts(self) -> arrow.Strings:
        """Their texts, one after the other."""
        return arrow.packed([document.text or b"" for document in self])


class Keys(NamedTuple):
    """What documents are found by."""

    sets: Int64s  # by row
    present: npt.NDArray[np.bool_]  # by row: whether it has items, hence keys
    keys: Int64s  # the others
    rows: Int64s  # whose they are


@dataclass(frozen=True)
class Facet:
    """One method of an index; what a kind of it does differently is in the classes below.

    Attributes:
        name: what evidence is called.
        recipe: the method.
        bound: what counts as similar.
        measure: what its similarities are called; empty where it compares no contents.
        width: bytes of an item as it is stored.
    """

    name: FoundBy
    recipe: IndexMethod
    bound: Bound = field(default_factory=lambda: measures.bound(measures.EQUAL, Fraction(1)))
    measure: ReportedMeasure | Literal[""] = ""
    width: int = 8

    @property
    def num_keys(self) -> int:
        """Of a document, at most."""
        return 1

    def items(self, inputs: Sequence[Input]) -> list[UInt64s]:
        """What each document is compared by."""
        raise NotImplementedError

    def keys(self, items: Lists) -> Keys:
        """What documents with these items are found by."""
        sets, present = self._set_keys(items)
        return Keys(sets, present, *self._other_keys(items, present))

    def set_key(self, items: UInt64s) -> int:
        """What documents with these items share."""
        return _word(items.tobytes()) ^ self._salt

    def only_equal(self, items: Lists) -> npt.NDArray[np.bool_] | None:  # noqa: ARG002  (codes have some)
        """Which rows are similar to nothing but their copies; None: none."""
        return None

    def implies(self, other: "Facet") -> bool:  # noqa: ARG002  (digests do)
        """Whether documents with the same items here have the same items there, whatever they are."""
        return False

    def with_threshold(self, threshold: Number) -> "Facet":  # noqa: ARG002  (equality has no threshold)
        """The same with another threshold, and the same keys."""
        return self

    def recall_of(self, lower: "Facet") -> float | None:  # noqa: ARG002  (likewise)
        """The chance that two documents share a key which are as similar as a lower threshold; None: not known."""
        return None

    @cached_property
    def cutting(self) -> dict[str, Any]:
        """How its recipe makes words of texts."""
        return {name: getattr(self.recipe, name, None) for name in TextRecipe.model_fields}

    @cached_property
    def _salt(self) -> int:
        return _word(self.name.encode())

    def _set_keys(self, items: Lists) -> tuple[Int64s, npt.NDArray[np.bool_]]:
        bounds = zip(items.starts.tolist(), items.ends.tolist(), strict=True)
        return np.array([self.set_key(items.items[a:b]) for a, b in bounds], np.int64), items.sizes > 0

    def _other_keys(self, items: Lists, present: npt.NDArray[np.bool_]) -> tuple[Int64s, Int64s]:  # noqa: ARG002  (equality has none)
        return np.zeros(0, np.int64), np.zeros(0, np.int64)


class Facets(tuple[Facet, ...]):  # noqa: SLOT001  (it remembers what was made)
    """The methods of an index, in the order of FOUND_BY, and what every question needs to know of them."""

    @cached_property
    def ranking(self) -> Facet | None:
        """The one that answers are ranked by: the first that compares contents."""
        return next((facet for facet in self if facet.measure), None)

    @cached_property
    def sufficient(self) -> list[int]:
        """By which all is found that any finds, of ranked answers: equal texts have equal items where they rank."""
        ranking = self.ranking
        return [
            at for at, facet in enumerate(self) if ranking is None or facet is ranking or not facet.implies(ranking)
        ]

    @cached_property
    def in_order(self) -> list[bool]:
        """Of each, whether the documents that have the same items by it are equally good answers."""
        ranking = self.ranking
        return [ranking is None or facet is ranking or facet.implies(ranking) for facet in self]


def _word(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little", signed=True)


def documents(texts: Iterable[bytes]) -> pa.RecordBatch:
    """DOCUMENTS of some texts."""
    column = pa.array(list(texts), pa.large_binary()).view(pa.large_string())
    return pa.RecordBatch.from_arrays([pa.array(range(len(column)), pa.int64()), column], schema=schemas.DOCUMENTS)


def through(batch: pa.RecordBatch, stages: tuple[Stage, ...]) -> pa.RecordBatch:
    """What comes of a batch at the end."""
    for stage in stages:
        batch = stage(batch)
    return batch


def cut(lists: Lists) -> list[UInt64s]:
    """Each row for itself."""
    return [lists.items[a:b] for a, b in zip(lists.starts.tolist(), lists.ends.tolist(), strict=True)]


def hashes(values: Sequence[Any], what: str) -> UInt64s:
    """Numbers of 64 bits that a caller gives, with a sign or without."""
    try:
        return np.array(values, np.int64).view(np.uint64)
    except OverflowError:
        return np.array([value & (1 << 64) - 1 for value in values], np.uint64)
    except (TypeError, ValueError):
        message = f"{what} of an index are texts or whole numbers, all of one kind"
        raise ConfigError(message, hint=f"Fix the {what}.") from None


def listed(features: tuple[Any, ...]) -> pa.RecordBatch:
    """ITEMS of the ready features of one document."""
    columns = [pa.array([0], pa.int64()), pa.array([list(features)], pa.large_list(pa.large_string()))]
    return pa.RecordBatch.from_arrays(columns, schema=schemas.ITEMS)
