"""The bars of a distribution of similarity, as numbers that a template prints as SVG."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import log10
from typing import Any

from nearsame.answers.reports import SampledBin, SimilarityBin
from nearsame.named import NamedTuple
from nearsame.shares import cut_short

__all__ = ["Bar", "drawn"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _FOOT = 720, 240, 60, 10, 24
_LABELS = 8  # below the axis, about


class Bar(NamedTuple):
    """A bar: of which threshold (-1: below all of them), where, what is told of it, and whether it is an estimate."""

    step: int
    x: float
    y: float
    width: float
    height: float
    title: str
    is_sampled: bool


def drawn(
    bins: Sequence[SimilarityBin], curve: Sequence[tuple[float, float]] = (), below: Sequence[SampledBin] = ()
) -> dict[str, Any]:
    """All that a template needs, on a linear and on a logarithmic scale.

    Args:
        bins: of the run, from its threshold on.
        curve: a point at the start of each bar that is not of chains; from 0 at the foot to 1 at the top.
        below: bars before those, as far as a sample tells.
    """
    chained = int(bool(bins) and bins[0].least == 0 and len(bins) > 1)  # what chains have joined, below all thresholds
    columns = [*bins[:chained], *below, *bins[chained:]]
    first, last = chained + len(below), len(columns) - 1
    most = max((one.pairs for one in columns), default=0) or 1
    each = (_WIDTH - _LEFT) / max(len(columns), 1)
    labelled = max(1, round(len(columns) / _LABELS))
    labels = [
        (_name(one.least), round(_LEFT + (at + 0.5) * each, 1))
        for at, one in enumerate(columns)
        if at == last or ((at - first) % labelled == 0 and at + labelled / 2 < last)
    ]
    scales = {"linear": _linear, "log": _log}
    starts = [_LEFT + at * each for at in range(len(columns) - len(curve), len(columns))]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "foot": _HEIGHT - _FOOT,
        "labels": labels,
        "slide": [round(100 * (_LEFT + (at + 0.5) * each) / _WIDTH, 2) for at in (first, last)],  # percent of the width
        "limit": round(_LEFT + first * each, 1) if below else None,
        "curve": " ".join(f"{x:.1f},{_y(chance)}" for x, (_, chance) in zip(starts, curve, strict=True)),
        "bars": {name: list(_bars(columns, first, each, partial(scale, most=most))) for name, scale in scales.items()},
        "ticks": {name: [(f"{value:,}", _y(scale(value, most))) for value in _values(most, name)]
                  for name, scale in scales.items()},
    }  # fmt: skip


def _bars(columns: Sequence[SimilarityBin], first: int, each: float, scale: Callable[[int], float]) -> Iterator[Bar]:
    for at, one in enumerate(columns):
        if one.pairs:
            top = _y(scale(one.pairs))
            until, is_sampled = _until(columns[at : at + 2]), isinstance(one, SampledBin)
            title = f"{until}: {one.pairs:,}"
            if isinstance(one, SampledBin):
                title = f"{until}: about {one.pairs:,} ({one.counted:,} in the sample)"
            x, width, height = _LEFT + at * each + 1, each - 2, _HEIGHT - _FOOT - top
            yield Bar(max(at - first, -1), round(x, 1), top, round(width, 1), round(height, 1), title, is_sampled)


def _until(columns: Sequence[SimilarityBin]) -> str:
    """From the first to the second, if there is one."""
    return " to ".join(_name(one.least) for one in columns)


def _linear(value: int, most: int) -> float:
    return value / most


def _log(value: int, most: int) -> float:
    return log10(1 + value) / log10(1 + most)


def _y(share: float) -> float:
    return round(_TOP + (1 - share) * (_HEIGHT - _TOP - _FOOT), 1)


def _values(most: int, scale: str) -> list[int]:
    """Where there are lines."""
    if scale == "log":
        powers = [10**power for power in range(10) if 10**power <= most]
        return [0, *powers]
    size = 10 ** (len(str(most)) - 1)
    step = next(step for step in (size // 5 or 1, size // 2 or 1, size, 2 * size) if most / step <= 5)
    return list(range(0, most + 1, step))


def _name(similarity: float) -> str:
    return cut_short(similarity)
