"""SimHash in an index: codes, and behind each what confirms a pair."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame import arrow
from nearsame.arrow import Int64s, Lists, UInt64s
from nearsame.dataclass import dataclass
from nearsame.engines.base import Stage
from nearsame.errors import ConfigError
from nearsame.flow.steps import steps
from nearsame.index.facet import Facet, Input, cut, documents, listed, through
from nearsame.kernels import scores
from nearsame.kernels.scores import Bound
from nearsame.recipes.given import Number
from nearsame.recipes.methods import SimHash
from nearsame.stages.keys import blocks
from nearsame.stages.keys.headers import HeaderKeys
from nearsame.stages.pairs import measures

__all__ = ["EXPECTED", "CodeFacet"]

EXPECTED = 1_000_000  # codes, for which headers are chosen
_BARE_ITEMS = 4  # of a document without a code: the digest of its text, and two zeros


@dataclass(frozen=True)
class CodeFacet(Facet):
    """SimHash: codes, and behind them what confirms a pair."""

    recipe: SimHash

    @property
    def num_keys(self) -> int:
        """Of a document, at most."""
        return 1 + len(self._headers.tables)

    @property
    def num_words(self) -> int:
        """How many words of 64 bits a code takes."""
        return -(-self.recipe.bits // 64)

    @cached_property
    def hamming(self) -> Bound:
        """The distance of two codes, whatever it is."""
        return scores.unbounded(measures.bound(measures.codes(None, self.recipe.bits, self.recipe.k), Fraction(1)))

    def items(self, inputs: Sequence[Input]) -> list[UInt64s]:
        """What each document is compared by."""
        codes = cut(
            arrow.lists(through(documents([document.text or b"" for document in inputs]), self._stages).column("items"))
        )
        for at, document in enumerate(inputs):
            if document.features is not None:
                codes[at] = self._of_features(document.features)
        return codes

    def is_bare(self, items: Lists) -> npt.NDArray[np.bool_]:
        """Which documents have no code."""
        bare: npt.NDArray[np.bool_] = items.sizes == _BARE_ITEMS
        ends = items.ends[bare]
        bare[bare] = (items.items[ends - 1] == 0) & (items.items[ends - 2] == 0)
        return bare

    def only_equal(self, items: Lists) -> npt.NDArray[np.bool_] | None:
        """Those without a code."""
        return self.is_bare(items)

    def with_threshold(self, threshold: Number) -> "Facet":
        """The same with another threshold, and the same keys."""
        settings = {name: value for name, value in self.recipe.settings.items() if name not in ("blocks", "header")}
        recipe = SimHash(**settings).raised(threshold)  # these keys are for the index's own
        return replace(self, bound=measures.bound(self.bound.measure, recipe.least))

    def recall_of(self, lower: Facet) -> float | None:
        """The chance that two codes share a header whose bits differ as a lower threshold allows, any of them."""
        if self.recipe.confirm is not None:
            return None  # keys go by codes, and what confirms says little of those
        bound = lower.bound
        return blocks.recall(self._plan, (bound.q - bound.p) * self.recipe.bits // bound.q)

    @cached_property
    def _stages(self) -> tuple[Stage, ...]:
        return steps(self.recipe).features

    @cached_property
    def _plan(self) -> blocks.BlockPlan:
        recipe = self.recipe
        codes = blocks.CodeCounts(EXPECTED, recipe.bits)
        return blocks.plan(codes, recipe.k, num_blocks=recipe.blocks, header_blocks=recipe.header)

    @cached_property
    def _headers(self) -> HeaderKeys:
        return HeaderKeys(blocks.tables(self._plan))

    def _other_keys(self, items: Lists, present: npt.NDArray[np.bool_]) -> tuple[Int64s, Int64s]:
        rows = np.flatnonzero(present & ~self.is_bare(items))
        starts = np.ascontiguousarray(items.starts[rows])
        keys, of = self._headers.keys(items.items, arrow.frozen(starts), arrow.frozen(rows))
        return keys.view(np.int64) ^ self._salt, of

    def _of_features(self, features: tuple[Any, ...]) -> UInt64s:
        if not all(isinstance(feature, str) for feature in features):
            message = "features that are numbers have no SimHash code"
            raise ConfigError(message, hint="Give features as texts, or leave simhash out of the index.")
        batch = listed(features)
        return cut(arrow.lists(through(batch, steps(self.recipe, ready_items=True).features).column("items")))[0]
