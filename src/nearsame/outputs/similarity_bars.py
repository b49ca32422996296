"""The bars of a distribution of similarity, as numbers that a template prints as SVG."""

from collections.abc import Iterator, Sequence
from math import log10
from typing import Any, NamedTuple

from nearsame.answers.reports import SimilarityBin

__all__ = ["Bar", "drawn"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _FOOT = 720, 240, 60, 10, 24
_LABELS = 8  # below the axis, about


class Bar(NamedTuple):
    """A bar: of which threshold, where, and what is told of it."""

    step: int
    x: float
    y: float
    width: float
    height: float
    title: str


def drawn(bins: Sequence[SimilarityBin]) -> dict[str, Any]:
    """All that a template needs, on a linear and on a logarithmic scale."""
    most = max((one.pairs for one in bins), default=0) or 1
    each = (_WIDTH - _LEFT) / max(len(bins), 1)
    labelled = max(1, round(len(bins) / _LABELS))
    last = len(bins) - 1
    labels = [
        (_name(one.least), round(_LEFT + (at + 0.5) * each, 1))
        for at, one in enumerate(bins)
        if at == last or (at % labelled == 0 and at + labelled / 2 < last)
    ]
    scales = {"linear": _linear, "log": _log}
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "labels": labels,
        "bars": {name: list(_bars(bins, each, most, scale)) for name, scale in scales.items()},
        "ticks": {name: [(f"{value:,}", _y(scale(value, most))) for value in _values(most, name)]
                  for name, scale in scales.items()},
    }  # fmt: skip


def _bars(bins: Sequence[SimilarityBin], each: float, most: int, scale: Any) -> Iterator[Bar]:
    below = bool(bins) and bins[0].least == 0 and len(bins) > 1  # what chains have joined, below all thresholds
    for at, one in enumerate(bins):
        if one.pairs:
            top = _y(scale(one.pairs, most))
            until = f"{_name(one.least)} to {_name(bins[at + 1].least)}" if at + 1 < len(bins) else _name(one.least)
            height = round(_HEIGHT - _FOOT - top, 1)
            yield Bar(
                at - below, round(_LEFT + at * each + 1, 1), top, round(each - 2, 1), height, f"{until}: {one.pairs:,}"
            )


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
    return f"{similarity:.4f}".rstrip("0").rstrip(".")
