"""Plans as people read them: 80 columns of plain text, with a sparkline of the curve.

1. Everything shown stands in the plan; nothing is computed here but words.
2. `ascii_only` leaves out whatever a plain terminal cannot show.
"""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from nearsame.answers.findings import Expected, Plan, PlanCurve, Shape, SimHashPlan
from nearsame.shares import counted, exactly, small_percent

__all__ = ["in_ascii", "plan_text", "simhash_text", "sparkline"]

_WIDTH = 80
_SPARK, _BESIDE = 61, 19  # bars of a curve, and what stands on both sides of them
_NEAR_HEADERS = 2  # likewise of blocks in a header
_NEAR = 5  # shapes with so many rows more or less than the one that is used are shown
_BLOCKS = " ▁▂▃▄▅▆▇█"
_ASCII = " .:-=+*#@"
_MEASURED = {
    "jaccard": ("Jaccard", "Jaccard similarity of two unweighted sets"),
    "cosine": ("cosine", "cosine of two texts' weighted features"),
}


def plan_text(plan: Plan, *, ascii_only: bool = False, width: int = _WIDTH) -> str:
    """A plan for MinHash.

    Example:
        >>> from nearsame.studies.plan import plan
        >>> plan_text(plan()).splitlines()[0]
        'MinHash: threshold 0.8, recall 0.99, 128 permutations'
    """
    shape = plan.shape
    lines = [f"MinHash: threshold {exactly(plan.threshold)}, recall {plan.recall:g}, {plan.num_perm} permutations"]
    lines += [f"{counted(shape.bands, 'band')} of {counted(shape.rows, 'row')}: {plan.reason}."]
    lines += ["", "Chance that a pair is found, by its Jaccard similarity:", ""]
    curves = [PlanCurve(f"{shape.bands} x {shape.rows}", plan.curve), *plan.also]
    lines += _curves(curves, plan.threshold, _bars(width), ascii_only=ascii_only)
    lines += ["", *_missed(plan), "", *_shapes(plan)]
    if plan.expected is not None:
        lines += ["", *_expected(plan.expected, plan.threshold)]
    lines += [f"Note: {note}." for note in plan.notes]
    return _fitted(lines, width)


def simhash_text(plan: SimHashPlan, *, ascii_only: bool = False, width: int = _WIDTH) -> str:
    """A plan for SimHash.

    Example:
        >>> from nearsame.studies.plan import plan_simhash
        >>> simhash_text(plan_simhash(k=3)).splitlines()[0]
        'SimHash: 64 bits, within k=3'
    """
    lines = [f"SimHash: {plan.bits} bits, within k={plan.k}"]
    by, kind = _MEASURED[plan.measure]
    threshold = exactly(plan.threshold)
    advice = (
        f"k={plan.k} finds {small_percent(plan.at_threshold)} of the pairs at {by} {threshold}, and half of them"
        f" from {plan.half:.3f} on. A recall of {plan.recall:g} at {threshold} takes k={plan.least_k}."
    )
    lines += [
        advice,
        "",
        f"Chance to be within k bits, by the {kind}:",
        "",
    ]
    curves = [PlanCurve(f"k={plan.k}", plan.curve), *plan.also]
    lines += _curves(curves, plan.threshold, _bars(width), ascii_only=ascii_only)
    lines += ["", "     k" + "".join(f"{f'{by[0]}={similarity:g}':>10}" for similarity in plan.similarities)]
    for k, chances in plan.by_k:
        lines.append(
            f"{'*' if k == plan.k else ' '}{k:>5}" + "".join(f"{small_percent(chance):>10}" for chance in chances)
        )
    lines += ["", *_searches(plan)]
    return _fitted(lines, width)


def sparkline(values: Sequence[float], *, ascii_only: bool = False) -> str:
    """Values from 0 to 1 as a row of little bars.

    Example:
        >>> sparkline([0, 0.5, 1])
        ' ▄█'
    """
    line = "".join(_BLOCKS[round(min(max(value, 0.0), 1.0) * (len(_BLOCKS) - 1))] for value in values)
    return in_ascii(line) if ascii_only else line


def in_ascii(text: str) -> str:
    """A text with marks of ASCII in place of its bars."""
    return text.translate(str.maketrans(_BLOCKS, _ASCII))


def _bars(width: int) -> int:
    """How many bars of a curve have room."""
    return max(2, min(_SPARK, width - _BESIDE))


def _fitted(lines: Sequence[str], width: int) -> str:
    """The lines as a text; one that is too wide goes on below, further in."""
    fitted = []
    for line in lines:
        further = " " * 8 if line[:1] in {" ", "*"} else ""
        fitted += wrap(line, width, subsequent_indent=further) if len(line) > width else [line]
    return "\n".join(fitted) + "\n"


def _curves(curves: Sequence[PlanCurve], threshold: float, bars: int, *, ascii_only: bool) -> Iterator[str]:
    """Each curve as a sparkline with the threshold below; one as a table in two columns, several with one for each."""
    for curve in curves:
        chosen = [curve.points[round(i * (len(curve.points) - 1) / (bars - 1))] for i in range(bars)]
        name = f"  {curve.name}" if len(curves) > 1 else ""
        yield f"  0 |{sparkline([point.found for point in chosen], ascii_only=ascii_only)}| 1{name}"
    yield " " * (5 + round(threshold * (bars - 1))) + f"^ {threshold:g}"
    yield ""
    if len(curves) == 1:
        half = [curves[0].points[i] for i in range(5, 101, 5)]
        rows = [f"  {point.similarity:8.2f}  {point.found:9.4f}" for point in half]
        is_narrow = bars < _SPARK // 2
        yield from rows if is_narrow else map((" " * 8).join, zip(rows[:10], rows[10:], strict=True))
        return
    yield "  similarity" + "".join(f"{curve.name:>10}" for curve in curves)
    for points in zip(*(curve.points[5::5] for curve in curves), strict=True):
        yield f"  {points[0].similarity:10.2f}" + "".join(f"{point.found:10.4f}" for point in points)


def _searches(plan: SimHashPlan) -> Iterator[str]:
    """What finding such codes takes, all pairs first, and the ways next to the cheapest."""
    yield f"To find all pairs within {plan.k} {'bit' if plan.k == 1 else 'bits'} among {plan.codes:,} codes:"
    yield ""
    yield "   blocks  header  tables          comparisons   seconds"
    near = [way for way in plan.searches if way.blocks == 1 or abs(way.header - plan.search.header) <= _NEAR_HEADERS]
    for way in sorted([plan.search, *near]):
        mark = "*" if way == plan.search else " "
        numbers = f"{way.blocks:>7}  {way.header:>6}  {way.tables:>6}  {way.comparisons:>19,.0f}"
        yield f"{mark} {numbers}  {way.seconds:>8.3g}"
    yield (
        "Comparisons are to be expected of codes whose bits are fair, and seconds of one core, by the costs that a run"
        " chooses by. One block: all pairs are compared."
    )


def _missed(plan: Plan) -> Iterator[str]:
    yield "Pairs that it misses:"
    for similarity, share in plan.misses:
        rarely = f"one in {1 / share:,.0f}" if share > 1e-12 else "none to speak of"
        rarely = "most of them" if share > 0.5 else rarely
        yield f"  at {similarity:<6g}{small_percent(share):>10}   {rarely}"


def _shapes(plan: Plan) -> Iterator[str]:
    """What was considered, the least waste first."""
    at = f"found at {exactly(plan.threshold)}"
    yield f"  bands x rows  {at:>14}  wasted below  lost above"
    rows = sorted((plan.shape, *plan.others), key=lambda shape: (-shape.rows, -shape.bands))
    always = ("least sum", "asked for")
    near = [one for one in rows if one.note.startswith(always) or abs(one.rows - plan.shape.rows) <= _NEAR]
    for shape in near:
        yield _shape(shape, used=shape is plan.shape)
    if len(near) < len(rows):
        yield f"  and {len(rows) - len(near)} more, further off"
    yield (
        "Areas: under the curve below the threshold, over it above, all similarities weighing alike. The least sum of"
        " both is what popular tools choose."
    )


def _shape(shape: Shape, *, used: bool) -> str:
    size = f"{shape.bands} x {shape.rows}"
    numbers = f"{shape.at_threshold:>14.4f}  {shape.false_positive_area:>12.4f}  {shape.false_negative_area:>10.5f}"
    note = "least sum" if shape.note.startswith("least sum") else shape.note
    return f"{'*' if used else ' '} {size:>12}  {numbers}  {note}"


def _expected(expected: Expected, threshold: float) -> Iterator[str]:
    looked = "all looked at" if expected.sampled == expected.documents else f"{expected.sampled:,} of them sampled"
    yield f"In the corpus: {expected.documents:,} documents, {looked}"
    error = f" (standard error {expected.candidates_error:,.0f})" if expected.drawn else ""
    yield f"  candidates to be verified  {expected.candidates:>16,.0f}{error}"
    yield f"  pairs from {threshold:<6g}on        {expected.similar:>16,.0f}   of these missed {expected.missed:,.2f}"
    top = max((count for _, _, count in expected.histogram), default=0.0)
    for low, high, count in expected.histogram:
        bar = "#" * round(30 * (count / top) ** 0.25) if top else ""  # the fourth root: counts span many powers of ten
        yield f"  {low:4.2f}-{high:4.2f}  {count:>16,.0f}  {bar}"
    if expected.drawn:
        estimated = f"Below {expected.listed_from:g} estimated from {expected.drawn:,} random pairs"
        yield f"{estimated}; from there on all were listed."
