"""Connected components of a graph of any size: alternating large stars and small stars.

1. Nothing is collected; each step is a grouping and a join (Kiveris and others, Connected Components in MapReduce and
   Beyond, 2014). A chain of n links takes about log n steps.
2. It ends where the edges no longer change, which counts and a sum of hashes tell.
"""

from typing import Any

__all__ = ["least_of_component"]

_SUMS = "count(1) as num", "coalesce(bit_xor(xxhash64(node, least)), 0) as hashes"  # that stay when nothing moves


def least_of_component(verbs: Any, edges: Any) -> Any:
    """For each node of an edge but the least of its component: (node, least).

    Args:
        verbs: the engine's.
        edges: u, v.
    """
    ends = edges.selectExpr("greatest(u, v) as node", "least(u, v) as least").distinct()
    stars, sums = verbs.told(ends.filter("node > least"), *_SUMS)
    while True:
        before = sums
        stars, sums = verbs.afresh(_small(verbs, _large(verbs, stars)), *_SUMS)
        if sums == before:
            return stars


def _large(verbs: Any, stars: Any) -> Any:
    """Every larger neighbour of a node is tied to the least neighbour of that node."""
    both = stars.toDF("u", "v").union(stars.selectExpr("least as u", "node as v"))
    least = verbs.aggregated(both, ["u"], ["least(u, min(v)) as least"])
    tied = both.join(least, "u").filter("v > u")
    return tied.selectExpr("v as node", "least").distinct().filter("node > least")


def _small(verbs: Any, stars: Any) -> Any:
    """Every smaller neighbour of a node, and the node, are tied to the least of them."""
    least = verbs.aggregated(stars, ["node"], ["min(least) as root"])
    tied = stars.join(least, "node")
    ends = tied.selectExpr("least as node", "root as least").union(tied.selectExpr("node", "root"))
    return ends.distinct().filter("node > least")
