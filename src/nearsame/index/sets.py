"""MinHash in an index: sets of shingles, or of each only its signature."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame import arrow
from nearsame.arrow import Int64s, Lists, UInt64s
from nearsame.dataclass import dataclass
from nearsame.engines.base import Stage
from nearsame.errors import ConfigError
from nearsame.flow.steps import steps
from nearsame.index.facet import NOTHING, Batch, Facet, Input, cut, documents, hashes, listed, through
from nearsame.recipes.arguments import shown
from nearsame.recipes.given import Number
from nearsame.recipes.methods import MinHash
from nearsame.stages.features.shingles import ShingleSets
from nearsame.stages.keys.bands import BandKeys, collision_probability, drawn_from
from nearsame.stages.pairs import measures
from nearsame.stages.sketches.minhash import Signatures

__all__ = ["SetFacet"]

_LOW32 = np.uint64(0xFFFFFFFF)
_DIGITS = re.compile(r"[0-9A-Fa-f]{1,16}")


@dataclass(frozen=True)
class SetFacet(Facet):
    """MinHash: sets of shingles, or their signatures."""

    recipe: MinHash

    @property
    def num_keys(self) -> int:
        """Of a document, at most."""
        return 1 + self._bands.shape[0]

    @cached_property
    def _stages(self) -> tuple[Stage, ...]:
        return steps(self.recipe).features

    @cached_property
    def _signatures(self) -> Signatures:
        return Signatures(self.recipe)

    @cached_property
    def _bands(self) -> BandKeys:
        return BandKeys(self.recipe)

    @property
    def sketched(self) -> bool:
        """Whether signatures are stored."""
        return self.width == 4

    def items(self, inputs: Sequence[Input]) -> list[UInt64s]:
        """What each document is compared by."""
        sets = self._of_texts(Batch(inputs) if not isinstance(inputs, Batch) else inputs)
        for at, document in enumerate(inputs):
            if document.features is not None:
                sets[at] = self._of_features(document.features)
        if self.sketched:
            sets = self._sketched(sets)
            for at, document in enumerate(inputs):
                if document.sketch is not None:
                    sets[at] = self.signature(document.sketch) & _LOW32
        return sets

    def signature(self, values: Sequence[Any]) -> UInt64s:
        """A signature that somebody else made: numbers, or hexadecimal as `explain` shows them."""
        if len(values) != self.recipe.num_perm:
            message = f"a sketch of {len(values)} values, where the recipe has num_perm={self.recipe.num_perm}"
            raise ConfigError(message, hint="Make it by the recipe of the index.")
        return hashes([_of_digits(value) if isinstance(value, str) else value for value in values], "sketch")

    def sketches(self, items: Lists) -> npt.NDArray[np.uint64]:
        """The signatures of documents, none of them empty."""
        if self.sketched:
            return np.stack([items.items[start:end] for start, end in zip(items.starts, items.ends, strict=True)])
        return self._signatures.signatures(items.items, items.starts, items.ends)

    def bands(self, signatures: npt.NDArray[np.uint64], rows: Int64s) -> tuple[Int64s, Int64s]:
        """(keys, their rows) of signatures."""
        keys, of = self._bands.keys(signatures, rows)
        return keys.view(np.int64) ^ self._salt, of

    def with_threshold(self, threshold: Number) -> "Facet":
        """The same with another threshold, and the same keys."""
        recipe = self.recipe.raised(threshold)
        return replace(self, bound=measures.bound(self.bound.measure, recipe.threshold))

    def recall_of(self, lower: Facet) -> float:
        """The chance that two documents share a band which are as similar as a lower threshold."""
        similarity = lower.bound.p / lower.bound.q
        return float(collision_probability(similarity, *self._bands.shape, drawn_from(self.recipe)))

    def _other_keys(self, items: Lists, present: npt.NDArray[np.bool_]) -> tuple[Int64s, Int64s]:
        rows = present.nonzero()[0]
        if not rows.size:
            return super()._other_keys(items, present)
        some = items
        if rows.size < present.size:
            some = Lists(items.items, np.ascontiguousarray(items.starts[rows]), np.ascontiguousarray(items.ends[rows]))
        return self.bands(self.sketches(some), rows)

    def _of_texts(self, inputs: Batch) -> list[UInt64s]:
        stages = self._stages
        sets = stages[-1]
        if not isinstance(sets, ShingleSets):
            raise TypeError(sets)
        if self.recipe.nfkc or self.recipe.strip_accents:
            features = through(documents([document.text or b"" for document in inputs]), stages)
            return cut(arrow.lists(features.column("items")))
        strings = inputs.texts
        room = sets.sets(strings)
        return [room.items[start:end] for start, end in pairwise(room.ends.tolist())]

    def _of_features(self, features: tuple[Any, ...]) -> UInt64s:
        if all(isinstance(feature, str) for feature in features):
            batch = listed(features)
            return cut(arrow.lists(through(batch, steps(self.recipe, ready_items=True).features).column("items")))[0]
        return np.unique(hashes(features, "features"))

    def _sketched(self, sets: list[UInt64s]) -> list[UInt64s]:
        some = [at for at, items in enumerate(sets) if items.size]
        sketches = [NOTHING] * len(sets)
        if some:
            offsets = np.zeros(len(some) + 1, np.int64)
            np.cumsum([sets[at].size for at in some], out=offsets[1:])
            items = np.concatenate([sets[at] for at in some])
            made = self._signatures.signatures(items, offsets[:-1].copy(), offsets[1:].copy()) & _LOW32
            for at, signature in zip(some, made, strict=True):
                sketches[at] = signature
        return sketches


def _of_digits(value: str) -> int:
    if not _DIGITS.fullmatch(value):
        message = f"sketch: {shown(value)} is not a number of 64 bits in hexadecimal"
        raise ConfigError(message, hint="Give it as `nearsame explain` shows it.")
    return int(value, 16)
