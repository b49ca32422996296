"""A cluster as a graph: who of its members resembles whom, so that chains are seen.

1. What joins a member with the keeper is what the run says; what joins two others is the Jaccard similarity of their
   shingles, counted here.
2. Without texts only the first is known; so it is where a method asks more of pairs than that similarity.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import pyarrow as pa

from nearsame import schemas
from nearsame.answers.reports import ClusterGraph
from nearsame.flow.steps import steps
from nearsame.recipes.counterparts import as_sets
from nearsame.recipes.methods import Method
from nearsame.stages.pairs import likeness

__all__ = ["graph"]


def graph(
    cluster: int, members: Sequence[int], similarity: Sequence[float], texts: Mapping[int, str], method: Method | None
) -> ClusterGraph:
    """The graph of a cluster.

    Args:
        cluster: Its number.
        members: Numbers of documents, the keeper first.
        similarity: Of each other member to the keeper, as the run has it.
        texts: Of those whose texts are known, by the same numbers.
        method: The one of the run, where texts are compared by it.
    """
    edges = [(0, at, value) for at, value in enumerate(similarity, 1)]
    if method is not None:
        known = [at for at, member in enumerate(members) if member in texts and at > 0]
        edges += _edges(known, [texts[members[at]] for at in known], method)
    return ClusterGraph(cluster, tuple(members), tuple(edges))


def _edges(places: Sequence[int], texts: Sequence[str], method: Method) -> Iterator[tuple[int, int, float]]:
    """Those that are at least as similar as the run asks."""
    rows = pa.array(range(len(texts)), pa.int64())
    batch = pa.RecordBatch.from_arrays([rows, pa.array(texts, pa.large_string())], schema=schemas.DOCUMENTS)
    for stage in steps(as_sets(method)).features:
        batch = stage(batch)
    sets = [frozenset(items.as_py()) for items in batch.column("items")]
    for (one, a), (other, b) in combinations(zip(places, sets, strict=True), 2):
        value = likeness.jaccard(a, b) if a and b else 0
        if value >= method.least:
            yield one, other, float(value)
