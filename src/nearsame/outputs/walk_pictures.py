"""Pictures of the steps of a walk, as numbers that a template prints: what a table says, seen at once.

1. A picture is made from the rows of its step and of nothing else, so it says what they say.
2. Which one a step has follows from its columns (`_MAKERS`); a step without any that fits has none.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import ceil, floor

from nearsame.answers.comparisons import Step
from nearsame.named import NamedTuple

__all__ = ["Arcs", "Bars", "Cells", "Curves", "picture"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _FOOT = 720, 240, 60, 20, 30
_MOST_CELLS = 1024
_MOST_NODES = 40
_ENTRIES = 5  # lines of a scale


class Cells(NamedTuple):
    """A row of boxes, those of one text or of two above each other: (texts, mark) of each.

    A mark is `same`, `apart` or `off`; the legend says what those that occur mean.
    """

    caption: str
    cells: Sequence[tuple[tuple[str, ...], str]]
    legend: list[tuple[str, str]]
    kind: str = "cells"


class Bars(NamedTuple):
    """Numbers above and below a line, those of each text in a picture of its own: (x, y, width, height, title)."""

    caption: str
    rows: list[list[tuple[float, float, float, float, str]]]
    axis: float
    width: int = _WIDTH
    height: int = _HEIGHT // 2
    kind: str = "bars"


class Curves(NamedTuple):
    """Curves from 0 to 1: of each its name and its points; ticks are (text, place)."""

    caption: str
    curves: list[tuple[str, str]]
    across: list[tuple[str, float]]
    up: list[tuple[str, float]]
    left: int = _LEFT
    width: int = _WIDTH
    height: int = _HEIGHT
    kind: str = "lines"


class Arcs(NamedTuple):
    """Numbered things in a row, and which two of them belong together: (path, mark, title)."""

    caption: str
    nodes: list[tuple[int, float]]
    arcs: list[tuple[str, str, str]]
    legend: list[tuple[str, str]]
    height: float
    width: int = _WIDTH
    kind: str = "arcs"


Picture = Cells | Bars | Curves | Arcs


def picture(step: Step) -> Picture | None:
    """The picture of a step, if there is one.

    Example:
        >>> picture(Step("", ("plane", "bit a", "bit b"), ((1, 1, 1), (2, 1, 0)))).cells
        [(('1', '1'), 'same'), (('1', '0'), 'apart')]
    """
    for columns, make in _MAKERS:
        if step.rows and set(columns) <= set(step.columns):
            return make(step)
    return None


def _column(step: Step, name: str) -> list[str]:
    at = step.columns.index(name)
    return [str(row[at]) for row in step.rows]


def _compared(caption: str, sides: Sequence[Sequence[str]], *, shown: bool = True) -> Cells:
    """Two rows of the same length, and where they differ; of one row what is 1."""
    if len(sides) == 1:
        cells = [((text,), "off" if text == "0" else "same") for text in sides[0]]
        return Cells(caption, cells[:_MOST_CELLS], [])
    pairs = list(zip(*sides, strict=False))
    cells = [(pair if shown else (), "same" if pair[0] == pair[1] else "apart") for pair in pairs]
    differ = sum(mark == "apart" for _, mark in cells)
    legend = [("same", f"{len(cells) - differ:,} equal"), ("apart", f"{differ:,} different")]
    return Cells(f"{caption}, a above b" if shown else caption, cells[:_MOST_CELLS], legend)


def _code(step: Step) -> Picture:
    codes = [str(row[-1]).replace(" ", "") for row in step.rows if row[0] == "bits"]
    return _compared("The bits of the fingerprint", codes)


def _digest(step: Step) -> Picture | None:
    digests = [str(row[-1]) for row in step.rows if row[0] == step.rows[0][0]]
    return _compared("The digits of the digest", digests) if len(digests) > 1 else None


def _bits(step: Step) -> Picture:
    names = ["bit"] if "bit" in step.columns else ["bit a", "bit b"]
    return _compared("The side of each plane", [_column(step, name) for name in names])


def _values(step: Step) -> Picture:
    least = "least " if "least value a" in step.columns else ""
    sides = [_column(step, f"{least}value {side}") for side in "ab"]
    return _compared("The values of the signatures", sides, shown=False)


def _keys(step: Step) -> Picture:
    return _compared(f"The key of each {step.columns[0]}", [_column(step, f"key {side}") for side in "ab"], shown=False)


def _shared(step: Step) -> Picture:
    """What is in both texts, and what in one alone."""
    sides = list(zip(_column(step, "times a"), _column(step, "times b"), strict=True))
    return _in_both("What is in a, in b and in both", [(bool(a), bool(b)) for a, b in sides])


def _kept(step: Step) -> Picture:
    if "kept" in step.columns:
        kept = _column(step, "kept")
        cells = [((), "same" if why else "off") for why in kept]
        number = sum(map(bool, kept))
        legend = [("same", f"{number:,} kept"), ("off", f"{len(kept) - number:,} not")]
        return Cells("The hashes that p divides", cells[:_MOST_CELLS], legend)
    sides = zip(_column(step, "kept a"), _column(step, "kept b"), strict=True)
    return _in_both("The hashes that are kept", [(bool(a), bool(b)) for a, b in sides if a or b])


def _in_both(caption: str, rows: Sequence[tuple[bool, bool]]) -> Cells:
    marks = {(True, True): "same", (True, False): "apart", (False, True): "other"}
    ordered = sorted(rows, key=[(True, False), (True, True), (False, True)].index)
    legend = [
        (mark, f"{rows.count(kind):,} in {name}")
        for kind, mark, name in (
            ((True, False), "apart", "a alone"),
            ((True, True), "same", "both"),
            ((False, True), "other", "b alone"),
        )
    ]
    step = ceil(len(ordered) / _MOST_CELLS) or 1
    return Cells(caption, [((), marks[row]) for row in ordered[::step]], legend)


def _sums(step: Step) -> Picture:
    at = step.columns.index("sums")
    of = step.columns.index("of") if "of" in step.columns else None
    by_side = sorted(step.rows, key=lambda row: str(row[of]) if of is not None else "")
    rows = [
        [int(number) for row in side for number in str(row[at]).split()]
        for _, side in groupby(by_side, key=lambda row: row[of] if of is not None else "")
    ]
    most = max((abs(number) for row in rows for number in row), default=0) or 1
    middle = _HEIGHT / 4
    return Bars("The sums, from the highest bit on", [list(_bars(row, most, middle)) for row in rows], middle)


def _bars(numbers: Sequence[int], most: int, middle: float) -> Iterator[tuple[float, float, float, float, str]]:
    each = _WIDTH / max(len(numbers), 1)
    for at, number in enumerate(numbers):
        height = abs(number) / most * (middle - _TOP)
        top = middle - height if number > 0 else middle
        bit = len(numbers) - 1 - at
        yield round(at * each + 1, 1), round(top, 1), round(each - 2, 1), round(height, 1), f"bit {bit}: {number:+d}"


def _chances(step: Step) -> Picture:
    """A curve for each column of chances but those to be lost."""
    names = [name for name in step.columns[1:] if "differ" not in name]
    places = [float(text) for text in _column(step, "similarity")]
    curves = [
        (name, " ".join(f"{_x(x)},{_y(float(y))}" for x, y in zip(places, _column(step, name), strict=True)))
        for name in names
    ]
    ticks = [step / _ENTRIES for step in range(_ENTRIES + 1)]
    across = [(f"{tick:g}", _x(tick)) for tick in ticks]
    return Curves("The chance to meet, by similarity", curves, across, [(f"{tick:g}", _y(tick)) for tick in ticks])


def _x(share: float) -> float:
    return round(_LEFT + share * (_WIDTH - _LEFT - _TOP), 1)


def _y(share: float) -> float:
    return round(_TOP + (1 - share) * (_HEIGHT - _TOP - _FOOT), 1)


def _pairs(step: Step) -> Picture | None:
    """Arcs over the codes by their numbers."""
    pairs = [tuple(map(int, pair.split("-"))) for pair in _column(step, "pair")]
    last = max(map(max, pairs))
    if last > _MOST_NODES:
        return None
    each = _WIDTH / (last + 1)
    places = {number: round(each * number, 1) for number in range(1, last + 1)}
    floor_y = max(floor((b - a) * each / 2) for a, b in pairs) + 2 * _TOP
    arcs = []
    for (a, b), distance, met in zip(pairs, _column(step, "distance"), _column(step, "met"), strict=True):
        radius = round((places[b] - places[a]) / 2, 1)
        path = f"M{places[a]} {floor_y} A{radius} {radius} 0 0 1 {places[b]} {floor_y}"
        title = f"{a} and {b}: distance {distance}, {met}"
        arcs.append((path, "apart" if met == "missed" else "same", title))
    missed = sum(mark == "apart" for _, mark, _ in arcs)
    legend = [("same", f"{len(arcs) - missed:,} found"), ("apart", f"{missed:,} missed")]
    return Arcs("The near pairs", list(places.items()), arcs, legend, floor_y + _FOOT)


_MAKERS: tuple[tuple[tuple[str, ...], Callable[[Step], Picture | None]], ...] = (
    (("times a", "times b"), _shared),
    (("sums", "signs"), _sums),
    (("as", "fingerprint"), _code),
    (("by", "digest"), _digest),
    (("value a", "value b"), _values),
    (("least value a", "least value b"), _values),
    (("band", "key a", "key b"), _keys),
    (("slice", "key a", "key b"), _keys),
    (("kept",), _kept),
    (("kept a", "kept b"), _kept),
    (("bit",), _bits),
    (("bit a", "bit b"), _bits),
    (("pair", "distance", "met"), _pairs),
    (("similarity", "one band"), _chances),
)
