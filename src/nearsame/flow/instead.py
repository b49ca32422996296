"""What another method would take for the same documents, and find of their pairs: tried on some of them.

1. All methods are priced alike: CPU seconds of one core, by what is read, never by a clock. 4 ns a meeting, 25 more for
   a pair that places leave, 3 an item of either set that is passed, 15 an item that a signature is made of. Measured:
   2.3 to 3.7 ns an item with 100 to 2,000 items a set; 185 million meetings and 85 million pairs in 2.7 s.
2. A trial gives some documents the keys that they have in a run of all: where keys go by counts, all items are counted.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.arrow import Rows
from nearsame.errors import ConfigError
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import State
from nearsame.flow.steps import steps
from nearsame.kernels.buckets import Meeting
from nearsame.kernels.deciding import Work
from nearsame.kernels.scores import OF_SETS
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Jaccard, MinHash
from nearsame.stages.keys.bands import BandKeys
from nearsame.stages.keys.prefix import plan_counting
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.estimate import Foresight
from nearsame.stages.pairs.join import AllPairs, JoinedPairs
from nearsame.stages.sketches.minhash import Signatures

__all__ = ["Ruling", "Trial", "cpu_seconds", "recall_of", "spread", "tried"]

Ruling = Callable[[State[Arrays], Meeting, Any], Work]  # applies a method's rule to a meeting, and counts what it takes

_SAMPLED = 2048  # documents that a method is tried on
_MOST = 2000  # pairs
_MEETING_SECONDS, _COMPARISON_SECONDS, _ITEM_SECONDS = 4e-9, 25e-9, 3e-9
_VALUE_SECONDS = 1e-9  # of each value of two signatures: they are compared place by place
_SKETCHED_SECONDS = 15e-9


class Trial(NamedTuple):
    """About what a method would take for all documents."""

    method: Jaccard | MinHash
    comparisons: int
    seconds: float


def cpu_seconds(state: State[Arrays], meeting: Meeting, work: Work) -> float:
    """What so much work takes."""
    meetings = work.met * _MEETING_SECONDS + work.left_by_places * _COMPARISON_SECONDS
    if state.step.measure in OF_SETS:
        return float(meetings + work.items * _ITEM_SECONDS)
    items = 2 * meeting.items.size / max(1, meeting.entries.rows.size)
    per_item = _VALUE_SECONDS if state.step.measure == measures.AGREEMENT else _ITEM_SECONDS
    return float(meetings + work.left_by_bits * per_item * items)


def tried(state: State[Arrays], method: Jaccard | MinHash, ruling: Ruling) -> Trial | None:
    """The trial of a method in place of that of a run; None where it cannot be run like this."""
    trial, engine = replace(state, method=method, step=steps(method)), state.corpus.engine
    sizes = state.corpus.about.sizes
    leads = np.flatnonzero(state.corpus.leads & (sizes > 0))
    rows, room = spread(leads, _SAMPLED), dict(engine.room)
    try:
        meeting = _met(trial, rows, int(sizes[leads].sum()))
    except ConfigError:  # no number of bands reaches the recall
        return None
    finally:
        engine.room.clear()  # it says how the run goes, not this trial
        engine.room.update(room)
    work = engine.sample(meeting, Foresight(partial(ruling, trial), leads.size / max(1, rows.size)))
    sketching = _SKETCHED_SECONDS * int(sizes[leads].sum()) if trial.step.sketches else 0.0
    return Trial(method, int(work.left_by_places), sketching + cpu_seconds(trial, meeting, work))


def _met(trial: State[Arrays], rows: Rows, num_items: int) -> Meeting:
    """Some documents, by the keys that they would have if all met."""
    engine, step = trial.corpus.engine, trial.step
    chosen = np.zeros(trial.corpus.best.size, np.bool_)
    chosen[rows] = True
    some = engine.only(trial.leaders, chosen)
    made = engine.map(some, step.sketches) if step.sketches else some
    if plan_counting(num_items, engine.table_bytes).passes == 1:
        _, counts = step.counted(trial.leaders, num_items, engine)
    else:  # counts that travel beside all items are not worth a trial
        made, counts = step.counted(made, int(trial.corpus.about.sizes[rows].sum()), engine)
    keys = engine.keep(engine.map(made, *([step.keys(counts)] if step.keys else [])))
    meeting: Meeting = engine.meet(keys, made if step.by_sketch else some, trial.corpus.ranks, step.compared)
    return meeting


def recall_of(state: State[Arrays], recipe: MinHash) -> tuple[float, int, int]:
    """What bands find of the pairs of an exact join.

    Returns:
        The chance that they find a pair at the threshold; of how many similar pairs of some documents both share a
        band; how many of these were looked at.
    """
    chance = float(BandKeys(recipe).chances(float(recipe.threshold)))
    if state.meeting is None:
        return chance, 0, 0
    engine = state.corpus.engine
    pieces, _ = engine.sample(state.meeting, AllPairs(state.step.bound(state.method.least)))
    pairs = JoinedPairs.joined(pieces)
    chosen = spread(np.arange(pairs.a.size), _MOST)
    a, b = pairs.a[chosen], pairs.b[chosen]
    rows_of = np.unique(np.concatenate([a, b]))
    keys = _keys(*engine.take(state.leaders, rows_of), recipe)
    ends = (np.searchsorted(rows_of, side).tolist() for side in (a, b))
    return chance, sum(not keys[one].isdisjoint(keys[other]) for one, other in zip(*ends, strict=True)), chosen.size


def spread(values: Rows, most: int) -> Rows:
    """At most so many of them, at even distances."""
    return values[np.linspace(0, values.size - 1, min(values.size, most)).astype(np.int64)]


def _keys(items: arrow.UInt64s, offsets: Rows, recipe: MinHash) -> list[set[int]]:
    """The keys of each set; none of them is empty."""
    signatures = Signatures(recipe).signatures(items, offsets[:-1], offsets[1:])
    ends = recipe.num_perm * np.arange(len(signatures) + 1)
    columns = [pa.array(np.arange(len(signatures))), arrow.items(signatures.ravel(), ends)]
    batch = BandKeys(recipe)(pa.RecordBatch.from_arrays(columns, schema=schemas.SKETCHES))
    keys: list[set[int]] = [set() for _ in signatures]
    for row, key in zip(batch.column("row").to_pylist(), batch.column("key").to_pylist(), strict=True):
        keys[row].add(key)
    return keys
