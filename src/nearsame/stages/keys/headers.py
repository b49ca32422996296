"""FEATURES of codes to KEYS: the header of each block-permuted table, so that near codes meet.

1. Codes within k bits agree on a header of at least one table (see blocks.py), so no pair is missed.
2. Which tables are cheapest depends on how many codes there are and how fair their bits are: a `fold` finds out.
3. One empty header brings all codes together: for what looks at all of them itself.
"""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import simhash as kernel
from nearsame.kernels.hamming_blocks import windows
from nearsame.recipes.codes import Coded
from nearsame.stages.keys import blocks, curves
from nearsame.stages.keys.unordered import unordered

__all__ = ["HeaderKeys", "SampleCodes", "all_meet", "choose_tables", "plan_blocks", "reach_note", "search_record"]

_SAMPLE = 64  # codes of each batch
_SALT = 0x9E3779B97F4A7C15
Sample = list[tuple[int, npt.NDArray[np.uint64]]]


@dataclass(frozen=True)
class SampleCodes:
    """The fold that counts codes and remembers a few of each batch: (number, codes) of each."""

    bits: int

    def start(self) -> Sample:
        """An empty sample: no batch has been looked at."""
        return []

    def add(self, state: Sample, batch: pa.RecordBatch, part: int, _parts: int) -> Sample:
        """Look at a batch; there is nothing to share out, so part 0 does it."""
        if part == 0:
            starts = _present(batch)[1]
            state.append((starts.size, _codes(batch, starts[:_SAMPLE], self.bits)))
        return state

    def merge(self, a: Sample, b: Sample) -> Sample:
        """One after the other."""
        return a + b


def choose_tables(recipe: Coded, sample: Sample, costs: blocks.Costs) -> arrow.UInt64s:
    """The headers of the search that the recipe asks for: uint64[t, w]."""
    if recipe.search in ("brute", "adjacent"):
        return all_meet(recipe.bits)
    if recipe.search == "rotations":
        return arrow.frozen(windows(recipe.bits, recipe.k))
    return blocks.tables(plan_blocks(recipe, sample, costs))


def search_record(recipe: Coded, sample: Sample, costs: blocks.Costs) -> dict[str, Any]:
    """What statistics say of the search that the recipe asks for."""
    if recipe.search == "blocks":
        plan = plan_blocks(recipe, sample, costs)
        cut = {"blocks": plan.num_blocks, "header": plan.header_blocks, "tables": plan.num_tables}
    elif recipe.search == "adjacent":
        cut = {"tables": recipe.bits}  # an order for each turn
    else:
        cut = {"tables": len(choose_tables(recipe, sample, costs))}
    return {"kind": recipe.search, **cut}


def plan_blocks(recipe: Coded, sample: Sample, costs: blocks.Costs) -> blocks.BlockPlan:
    """How such codes are cut for block-permuted tables."""
    few = np.concatenate([codes for _, codes in sample] or [np.zeros((0, -(-recipe.bits // 64)), np.uint64)])
    weights = blocks.weigh_bits(few, recipe.bits)
    codes = blocks.CodeCounts(sum(number for number, _ in sample), recipe.bits, weights=weights)
    return blocks.plan(codes, recipe.k, num_blocks=recipe.blocks, header_blocks=recipe.header, costs=costs)


def reach_note(k: int, bits: int) -> str:
    """What k means in terms of Jaccard similarity, for the summary.

    >>> reach_note(3, 64)[-58:]
    '0.9 % at 0.8, 9.0 % at 0.9, 31.2 % at 0.95, 85.2 % at 0.99'
    """
    similarities = (0.8, 0.9, 0.95, 0.99)
    curve = zip(similarities, curves.within_distance(similarities, k, bits), strict=True)
    chances = ", ".join(f"{100 * chance:.1f} % at {similarity}" for similarity, chance in curve)
    return f"k={k} of {bits} bits finds, of pairs of unweighted sets with a Jaccard similarity, {chances}"


def all_meet(bits: int) -> arrow.UInt64s:
    """One table without a header."""
    return arrow.frozen(np.zeros((1, -(-bits // 64)), np.uint64))


@dataclass(frozen=True, eq=False)
class HeaderKeys:
    """The stage that offers a key for each table; a document without tokens has no code, so no key."""

    tables: arrow.UInt64s

    output = schemas.KEYS

    @cached_property
    def _salts(self) -> arrow.UInt64s:
        return arrow.frozen(np.array([(i + 1) * _SALT & (1 << 64) - 1 for i in range(len(self.tables))], np.uint64))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """KEYS of a batch of FEATURES."""
        present, starts = _present(batch)
        rows = arrow.frozen(arrow.ints(batch.column("row"))[present])
        return unordered(*self.keys(arrow.lists(batch.column("items")).items, starts, rows))

    def keys(
        self, items: arrow.UInt64s, starts: arrow.Int64s, rows: arrow.Int64s
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """(keys, their rows) of the codes that begin at `starts`, without a table around them."""
        total = rows.size * len(self.tables)
        keys, key_rows = np.empty(total, np.uint64), np.empty(total, np.int64)
        kernel.header_keys(items, starts, self.tables, self._salts, rows, keys, key_rows)
        return keys, key_rows


def _present(batch: pa.RecordBatch) -> tuple[npt.NDArray[np.bool_], arrow.Int64s]:
    """Which rows have a code, and where each of these begins among the items."""
    present = arrow.ints(batch.column("num_tokens")) > 0
    return present, arrow.frozen(arrow.lists(batch.column("items")).starts[present])


def _codes(batch: pa.RecordBatch, starts: arrow.Int64s, bits: int) -> npt.NDArray[np.uint64]:
    items = arrow.lists(batch.column("items")).items
    return np.asarray(items[starts[:, None] + np.arange(-(-bits // 64))])
