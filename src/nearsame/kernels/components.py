"""Connected components of similar documents: forests that grow edge by edge, and the edges that hold them together.

Two forests are kept: `first` spans the graph, and `second` spans what is left of it without the edges of the first.
Their edges, at most 2(n - 1), have the components of the graph, and the same bridges (Nagamochi and Ibaraki, 1992): so
neither all pairs nor their order matter.

A forest is int32[2, n]: parent, and size of the tree at its root.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.kernels._jit import jit
from nearsame.kernels.deciding import add_work, may_overlap, may_reach, num_asked, standing
from nearsame.kernels.scores import score
from nearsame.kernels.sets import first_at_least

__all__ = ["Joined", "add_edges", "count_bridges", "linking_pairs", "roots"]


class Joined(NamedTuple):
    """Which pairs are looked for, and what those before them have joined.

    Attributes:
        block: documents below it were joined before.
        inside: whether to look for pairs whose a is not below the block; otherwise for those whose a is.
        num_against: documents below it are one side: pairs of two of them are left out.
        within: without it, those of two of the other side, too.
        first: the forest that spans the graph.
        second: the one that spans what the first leaves.
    """

    block: int
    inside: bool
    num_against: int
    within: bool
    first: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]


@jit
def _root(forest, x):
    while forest[0, x] != x:
        x = forest[0, x]
    return x


@jit
def _unite(forest, a, b):
    """Join two trees, the smaller below the larger, so that no path is long; False if they are one."""
    a, b = _root(forest, a), _root(forest, b)
    if a == b:
        return False
    if forest[1, a] < forest[1, b]:
        a, b = b, a
    forest[0, b] = a
    forest[1, a] += forest[1, b]
    return True


@jit
def add_edges(a, b, first, second, used):
    """Add each edge a[i], b[i] to the first forest or to the second; used[i] says whether it went to one of them."""
    for i in range(a.size):
        used[i] = _unite(first, a[i], b[i]) or _unite(second, a[i], b[i])


@jit
def roots(forest, out):
    """The root of each document."""
    for x in range(out.size):
        out[x] = _root(forest, x)


@jit
def linking_pairs(low, high, joined, members, items, offsets, bound, stamps, out, work):
    """Similar pairs (a, b), a < b, for b in [low, high), but for those that both forests would leave out.

    As `deciding.all_pairs`, whose arguments these are otherwise; `joined` is a `Joined`. `stamps` is int32[3n]: behind
    the candidates, for the root of each tree of either forest what was last joined with it.
    """
    inside, first, second = joined.inside, joined.first, joined.second
    n = members.doc_starts.size - 1
    filled = 0
    for d in range(low, high):
        before = filled
        met = near = merged = passed = 0
        stamp = 2 * d + 1 + np.int64(inside)
        stamps[n + _root(first, d)] = stamp
        stamps[2 * n + _root(second, d)] = stamp
        size = offsets[d + 1] - offsets[d]
        asked = num_asked(bound, size)
        end = d if inside else joined.block
        for e in range(members.doc_starts[d], members.doc_starts[d + 1]):
            if members.doc_places[e] >= asked:
                break
            bucket, stands = members.doc_buckets[e], standing(bound, size, np.int64(members.doc_places[e]))
            start, stop = members.bucket_starts[bucket], members.bucket_starts[bucket] + members.fill[bucket]
            if inside:
                start = first_at_least(members.docs, start, stop, joined.block)
            for m in range(start, stop):
                c = members.docs[m]
                if c >= end:
                    break
                met += 1
                if not may_reach(bound, size, stands, members.sizes[m], members.standing[m]):
                    continue
                if stamps[c] == stamp:
                    continue
                stamps[c] = stamp
                if d < joined.num_against or (not joined.within and c >= joined.num_against):
                    continue
                in_first, in_second = n + _root(first, c), 2 * n + _root(second, c)
                if stamps[in_first] == stamp and stamps[in_second] == stamp:
                    continue
                near += 1
                if not may_overlap(bound, members.bits, d, size, c, members.sizes[m]):
                    continue
                merged += 1
                num, den, looked_at = score(bound, items, offsets, d, c, bound.p, bound.q)
                passed += looked_at
                if num < 0:
                    continue
                if filled == out.a.size:
                    stamps[:] = 0
                    return d, before
                out.a[filled], out.b[filled] = c, d
                out.nums[filled], out.dens[filled] = num, den
                filled += 1
                if stamps[in_first] == stamp:
                    stamps[in_second] = stamp
                stamps[in_first] = stamp
        add_work(work, met, near, merged, passed)
    return high, filled


@jit
def count_bridges(starts, neighbours, edges, order, least, stack, cursors, via):
    """How many edges of a graph are bridges: those that no other path goes around (Tarjan, 1974; without recursion).

    Args:
        starts: int64[n + 1].
        neighbours: int64; those of x are neighbours[starts[x]:starts[x + 1]].
        edges: int64, the number of the edge to each of them: two documents may be joined by more than one.
        order: int64[n] zeros; filled: when each was found, from 1.
        least: int64[n] scratch.
        stack: int64[n] scratch.
        cursors: int64[n] scratch.
        via: int64[n] scratch.
    """
    bridges = 0
    found = 0
    for source in range(starts.size - 1):
        if order[source] > 0:
            continue
        found += 1
        order[source] = least[source] = found
        stack[0], cursors[source], via[source] = source, starts[source], -1
        depth = 1
        while depth > 0:
            x = stack[depth - 1]
            if cursors[x] < starts[x + 1]:
                at = cursors[x]
                cursors[x] += 1
                y = neighbours[at]
                if edges[at] == via[x]:
                    continue
                if order[y] > 0:
                    least[x] = min(least[x], order[y])
                    continue
                found += 1
                order[y] = least[y] = found
                via[y], cursors[y] = edges[at], starts[y]
                stack[depth] = y
                depth += 1
                continue
            depth -= 1
            if depth > 0:
                above = stack[depth - 1]
                least[above] = min(least[above], least[x])
                bridges += 1 if least[x] > order[above] else 0
    return bridges
