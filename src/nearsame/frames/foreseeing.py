"""How many pairs there will be, at least, before any work on them: from a few members of buckets drawn by their size.

1. Nothing is drawn where all documents that share a bucket could be paired without being too many.
2. Buckets are drawn by priority sampling (Duffield, Lund, Thorup 2007): one that holds most pairs is always among them,
   and each stands for as many pairs as it has, or as the draw gives it. A pair that shares several buckets counts in
   each for its part. Groups of equal documents count as one document.
3. What is refused is above the limit by three standard errors: a prediction does not refuse what fits.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.flow.corpus import Question, State
from nearsame.frames.corpus import Frames
from nearsame.frames.one_task import NumberedQuestion, here

__all__ = ["foreseen"]

_BUCKETS, _MEMBERS = 32, 32
_SURE = 3.0  # standard errors
_LOT = "((pmod(xxhash64(key, 11), 1000000007) + 1) / 1000000008D)"  # of a bucket, above 0 and at most 1

Floats = npt.NDArray[np.float64]


def foreseen(state: State[Frames], question: Question, most: int) -> int:
    """About how many pairs of documents there will be, if that is surely more than `most`; else 0.

    Args:
        state: a run whose documents have met.
        question: what makes a pair.
        most: how many pairs are wanted.
    """
    if state.meeting is None:
        return 0
    across = len(state.corpus.sides) > 1
    sums = ["double(count_if(one_side)) as a", "double(count(1)) as n"]
    sizes = state.corpus.engine.aggregated(state.meeting.entries, ["key"], sums)
    pairs = "a * (n - a)" if across else "n * (n - 1) / 2"
    sizes, (total,) = state.corpus.engine.told(sizes.selectExpr("key", f"{pairs} as pairs"), "coalesce(sum(pairs), 0D)")
    if total <= most:
        return 0
    drawn = sizes.filter("pairs > 0").selectExpr("key", "pairs", f"pairs / {_LOT} as turn")
    drawn = drawn.sort("turn", "key", ascending=[False, True]).limit(_BUCKETS + 1).toArrow()
    last = drawn.column("turn")[_BUCKETS].as_py() if drawn.num_rows > _BUCKETS else 0.0
    chosen = drawn.slice(0, _BUCKETS)
    shares, errors = _shares(state, question, chosen, across=across)
    own = chosen.column("pairs").to_numpy()
    stands_for = np.maximum(own, last)
    of_draw = shares**2 * last * np.maximum(0.0, last - own)
    of_members = stands_for**2 * errors
    estimate, error = float(stands_for @ shares), float(np.sqrt((of_draw + of_members).sum()))
    return round(estimate) if estimate - _SURE * error > most else 0


def _shares(state: State[Frames], question: Question, drawn: pa.Table, *, across: bool) -> tuple[Floats, Floats]:
    """Of each drawn bucket: which part of its pairs is similar, a pair divided by the buckets that it stands in.

    The second array is the variance of that, as of half as many independent pairs as there are members.
    """
    verbs = state.corpus.engine
    keys = verbs.frame(drawn.select(["key"])).hint("broadcast")
    nth = f"row_number() over (partition by key{', one_side' if across else ''} order by xxhash64(number, 13), number)"
    some = state.meeting.entries.join(keys, "key").selectExpr("key", "number", "one_side", f"{nth} as nth")
    some = some.filter(f"nth <= {_MEMBERS // 2 if across else _MEMBERS}").select("key", "number", "one_side").toArrow()
    numbers = verbs.frame(pa.table({"number": pa.array(np.unique(some.column("number").to_numpy()))})).hint("broadcast")
    entries = verbs.tables(state.meeting.entries.join(numbers, "number").select("key", "number", "place"))
    lists = verbs.tables(state.meeting.lists.join(numbers, "number").sort("number"))
    answers = here(NumberedQuestion(question, state.method), lists, entries)
    similar = set(zip(*(answers.column(name).to_pylist() for name in "ab"), strict=True))
    shared: dict[int, set[int]] = defaultdict(set)
    for key, number, _ in _rows(pa.Table.from_batches(entries)):
        shared[number].add(key)
    members: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for key, number, side in _rows(some):
        members[key].append((number, side))
    parts = [_parts(members[key], similar, shared, across=across) for key in drawn.column("key").to_pylist()]
    halves = np.array([len(members[key]) / 2 for key in drawn.column("key").to_pylist()])
    return np.array([part.mean() for part in parts]), np.array([part.var() for part in parts]) / halves


def _parts(
    members: list[tuple[int, bool]], similar: set[tuple[int, int]], shared: dict[int, set[int]], *, across: bool
) -> Floats:
    """For each pair of members 0, or if they are similar 1 divided by the buckets that they share."""
    ends = combinations(sorted(members), 2)
    pairs = [(a, b) for (a, side), (b, other) in ends if not across or side != other]
    return np.array([1 / len(shared[a] & shared[b]) if (a, b) in similar else 0.0 for a, b in pairs])


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)
