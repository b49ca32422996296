"""Where the members of a cluster stand in its picture: the keeper in the middle, the others in rings around it.

A member stands on the ring of as many steps as it takes to the keeper by pairs over the line; one whose own similarity
to the keeper is below it stands further out: a chain is seen. No line between two others that are similar enough leads
through the keeper: a ring has an odd number of places, and each is turned a little further than the one inside it.
"""

from math import cos, pi, sin
from typing import Any

from nearsame.answers.reports import ClusterGraph

__all__ = ["laid_out"]

_SIZE, _ROOM = 240, 16
_TURN = 0.6  # radians


def laid_out(graph: ClusterGraph, least: float) -> dict[str, Any]:
    """The picture as numbers: lines (x1, y1, x2, y2, similarity, whether over the line) and nodes (x, y, member)."""
    rings = _rings(graph, least)
    last = max(rings)
    places = {0: (_SIZE / 2, _SIZE / 2)}
    for ring in range(1, last + 1):
        mine = [at for at, one in enumerate(rings) if one == ring]
        radius = (_SIZE / 2 - _ROOM) * ring / last
        for number, at in enumerate(mine):
            angle = 2 * pi * number / (len(mine) | 1) + _TURN * (ring - 1) - pi / 2
            places[at] = (_SIZE / 2 + radius * cos(angle), _SIZE / 2 + radius * sin(angle))
    lines = [
        (*_rounded(places[a]), *_rounded(places[b]), similarity, similarity >= least)
        for a, b, similarity in graph.edges
    ]
    nodes = [(*_rounded(places[at]), member) for at, member in enumerate(graph.members)]
    return {"size": _SIZE, "lines": lines, "nodes": nodes}


def _rings(graph: ClusterGraph, least: float) -> list[int]:
    """Of each member the steps to the keeper; of one that no step leads to, one more than the most."""
    steps = {0: 0}
    joined = [(a, b) for a, b, similarity in graph.edges if similarity >= least]
    reached = [0]
    for at in reached:
        for pair in joined:
            other = pair[1] if pair[0] == at else pair[0] if pair[1] == at else None
            if other is not None and other not in steps:
                steps[other] = steps[at] + 1
                reached.append(other)
    return [steps.get(at, max(steps.values()) + 1) for at in range(len(graph.members))]


def _rounded(place: tuple[float, float]) -> tuple[float, float]:
    return round(place[0], 1), round(place[1], 1)
