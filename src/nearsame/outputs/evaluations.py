"""An evaluation as people read it: the same tables on a terminal, in Markdown and in HTML.

1. A table is plain data first (`tables`); what prints it computes nothing.
2. What there is none of is left out; a number that is not known is a dash.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from nearsame.answers.advice import Advice, Trade, Tried
from nearsame.answers.findings import Closing, Evaluation, Score
from nearsame.dataclass import dataclass
from nearsame.outputs.plans import in_ascii, sparkline
from nearsame.printable import shortened
from nearsame.shares import counted, cut, percent

__all__ = ["Table", "conclusion", "heading", "markdown", "result_line", "tables", "text"]

_NONE = "-"
_SHOWN_REASONS = 4
_SHARED = "against"  # the column whose cells many rows share
_SHOWN_LOST = 5  # of each method, on a terminal
_WIDTH = 80
_INDENT = " " * 6
_LONGEST = 300  # characters of an id
_MEBIBYTE = 1 << 20
_STEPS = 20  # rows of a printed curve
_CURVES, _BARS = 6, 50  # curves that are drawn, and the bars of each


@dataclass(frozen=True)
class Table:
    """Cells as text; the first column is a name, the others are numbers unless they are in `texts`.

    Where the last column is a picture, `heights` has that of each row as numbers from 0 to 1.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remark: str = ""
    texts: tuple[str, ...] = ()
    heights: tuple[tuple[float, ...], ...] = ()

    def is_text(self, column: str) -> bool:
        """Whether it is set to the left."""
        return column in self.texts or column == self.columns[0]


def heading(evaluation: Evaluation) -> str:
    """What was compared with what."""
    sampled = "" if evaluation.documents == evaluation.of_documents else f", a sample of {evaluation.of_documents:,}"
    sampled += f"; {counted(evaluation.unread, 'record')} could not be read" if evaluation.unread else ""
    several = "s" * (evaluation.documents != 1)
    return f"{evaluation.documents:,} document{several}{sampled}. Held against {evaluation.truth}."


def tables(evaluation: Evaluation) -> list[Table]:
    """Answers and costs; the pairs that were lost, and what judged pairs say of settings, where there are some."""
    made = [_answers(evaluation), _costs(evaluation)]
    if evaluation.closing:
        made.append(_closing(evaluation))
    if evaluation.lost:
        rows = tuple(
            (one.method, _named(one.a), _named(one.b), cut(one.similarity, 3), one.why) for one in evaluation.lost
        )
        columns = ("method", "document", "other", _measure(evaluation), "why")
        made.append(Table("Pairs that were lost", columns, rows, texts=("document", "other", "why")))
    if isinstance(evaluation.advice, Advice):
        made += [_tried(evaluation.advice), _curves(evaluation.advice), _curve(evaluation.advice)]
    return made


def _named(id: str) -> str:
    return shortened(id, _LONGEST)


def conclusion(evaluation: Evaluation) -> tuple[list[str], str]:
    """(what judged pairs speak for, in sentences, or why nothing; the command, if there is one)."""
    advice = evaluation.advice
    if isinstance(advice, str):
        return [f"No setting is advised: {advice}."] if advice else [], ""
    best, times = advice.best, "" if advice.weighed else f" on {advice.true:,} true and {advice.false:,} false pairs"
    said = [f"Best{times}: {best.label}, {best.cut} ({advice.least:.3f} to {advice.most:.3f} in 95 of 100 resamples)."]
    if advice.held_out is None:
        said.append(
            f"There are too few pairs to judge that by others: F1 {best.f1:.3f} is of the pairs it was chosen by."
        )
    else:
        each = ((name, getattr(advice.held_out, name)) for name in ("precision", "recall", "f1"))
        shares = (f"{name.replace('f1', 'F1')} {it.value:.3f} ({it.low:.3f} to {it.high:.3f})" for name, it in each)
        said.append(f"On pairs that it was not chosen by: {', '.join(shares)}.")
    if advice.rivals:
        others = ", ".join(f"{one.label}, {one.cut} ({percent(one.won)})" for one in advice.rivals)
        said.append(f"Best in {percent(best.won)} of the resamples; not told apart from {others}.")
    notes = (*advice.notes, *(f"{one.label}: {one.note}" for one in advice.tried if one.note))
    said += [f"{note[0].upper()}{note[1:]}." for note in notes]
    return said, advice.command


def result_line(evaluation: Evaluation) -> str:
    """What judged pairs speak for, in one line; without them the F1 of each method."""
    advice = evaluation.advice
    if isinstance(advice, str):
        shares = ", ".join(f"{score.method} {_share(score.f1)}" for score in evaluation.scores)
        return "".join(conclusion(evaluation)[0]) or f"F1: {shares}"
    f1 = advice.best.f1 if advice.held_out is None else advice.held_out.f1.value
    return f"F1 {f1:.3f}: {advice.command}"


def markdown(evaluation: Evaluation) -> str:
    """A page of Markdown."""
    parts = ["# Evaluation", heading(evaluation)]
    for table in tables(evaluation):
        parts += [f"## {table.title}", "\n".join(_piped(table))]
        if table.remark:
            parts.append(table.remark)
    sentences, command = conclusion(evaluation)
    if sentences:
        parts += ["## What to choose", "\n".join(f"* {one}" for one in sentences)]
    parts += [f"    {command}"] if command else []
    return "\n\n".join(parts) + "\n"


def text(evaluation: Evaluation, *, ascii_only: bool = False) -> str:
    """Tables of plain text, with fewer of the lost pairs."""
    parts = ["\n".join(wrap(heading(evaluation), _WIDTH))]
    seen: Counter[str] = Counter()
    few = []
    for lost in evaluation.lost:
        seen[lost.method] += 1
        few += [lost] if seen[lost.method] <= _SHOWN_LOST else []
    parts += [f"{table.title}\n" + "\n".join(_aligned(table)) for table in tables(replace(evaluation, lost=tuple(few)))]
    sentences, command = conclusion(evaluation)
    said = ["\n".join(wrap(one, _WIDTH, break_on_hyphens=False)) for one in sentences]
    parts += ["\n".join(filter(None, [*said, command]))] if said else []  # a command stays in one line
    made = "\n\n".join(parts) + "\n"
    return in_ascii(made) if ascii_only else made


def _tried(advice: Advice) -> Table:
    rows = tuple((one.label, one.cut, *_shares(one), percent(one.won)) for one in advice.tried if not one.note)
    by_weight = ", each pair standing for others by its weight" if advice.weighed else ""
    remark = (
        f"At the threshold of greatest F1, on the pairs it was chosen by. Best in: of {advice.resamples:,} resamples"
        f" ({advice.drawn}) those in which no other was better{by_weight}."
    )
    return Table(
        "Settings tried on the judged pairs", ("setting", "from", "precision", "recall", "F1", "best in"), rows, remark
    )


def _curves(advice: Advice) -> Table:
    """F1 by threshold, a picture of each of the best settings."""
    shown = [one for one in advice.tried if one.curve][:_CURVES]
    heights = tuple(map(_heights, shown))
    rows = tuple(
        (one.label, one.cut, f"{one.f1:.3f}", f"0 |{sparkline(bars).replace(' ', '.')}| 1")
        for one, bars in zip(shown, heights, strict=True)
    )
    remark = "Each bar is the greatest F1 of the pairs' own similarities in it."
    columns = ("setting", "best from", "F1", "F1 by threshold, from 0 to 1")
    return Table("The curves of the best settings", columns, rows, remark, columns[-1:], heights)


def _heights(one: Tried) -> tuple[float, ...]:
    """A bar for each piece of the thresholds: of the similarities that pairs have there, and of its own end."""
    bars = [one.at((place + 1) / _BARS).f1 for place in range(_BARS)]
    for line in one.curve:
        place = max(0, math.ceil(line.threshold * _BARS) - 1)
        bars[place] = max(bars[place], line.f1)
    return tuple(bars)


def _curve(advice: Advice) -> Table:
    """Thresholds that pairs really have, in even steps, and the best one."""
    best = advice.best
    step = -(-len(best.curve) // _STEPS)
    top = max(line.f1 for line in best.curve)
    chosen = [line for at, line in enumerate(best.curve) if at % step == 0 or line.f1 == top or line is best.curve[-1]]
    rows = tuple((_share(line.threshold), *_shares(line)) for line in reversed(chosen))
    number = len(best.curve)
    remark = f"What thresholds make of the judged pairs: {len(chosen)} of the {number:,} similarities that these have."
    return Table(f"The curve of {best.label}", ("threshold", "precision", "recall", "F1"), rows, remark)


def _shares(line: Tried | Trade) -> tuple[str, str, str]:
    return f"{line.precision:.3f}", f"{line.recall:.3f}", f"{line.f1:.3f}"


def _answers(evaluation: Evaluation) -> Table:
    rows = tuple(_answer(score) for score in evaluation.scores)
    columns = ("method", "against", "pairs", "true", "precision", "recall", "F1", "Rand")
    unjudged = sum(score.unjudged or 0 for score in evaluation.scores)
    remark = "Rand: the adjusted Rand index of the clusters. A pair that nobody has judged counts nowhere."
    remark = remark if unjudged else remark.split(". ", 1)[0] + "."
    if isinstance(evaluation.advice, Advice) and evaluation.advice.weighed:
        remark += " Each judged pair counts once here, whatever it stands for."
    return Table("Answers", columns, rows, remark, ("against",))


def _answer(score: Score) -> tuple[str, ...]:
    if score.note:
        return score.method, score.note, *[_NONE] * 6
    shares = (score.precision, score.recall, score.f1, score.rand_index)
    return score.method, score.reference, f"{score.pairs:,}", f"{score.true_pairs:,}", *(_share(one) for one in shares)


def _costs(evaluation: Evaluation) -> Table:
    rows = tuple(_cost(score) for score in evaluation.scores if not score.note)
    columns = ("method", "seconds", "MiB", "candidates", "per true pair", "wasted")
    remark = (
        "MiB: the peak above what the process had before, with the corpus in it. Candidates: two documents compared in"
        " full, identical ones only once (of SimHash: codes within k). Wasted: of texts that turned out to differ."
    )
    return Table("Cost", columns, rows, remark)


def _cost(score: Score) -> tuple[str, ...]:
    return (
        score.method,
        _number(score.seconds, lambda value: f"{value:.3f}"),
        _number(score.peak_bytes, lambda value: f"{value / _MEBIBYTE:,.0f}"),
        _number(score.candidates, lambda value: f"{value:,.0f}"),
        _number(score.candidates_per_true_pair, lambda value: f"{value:,.1f}"),
        _number(score.false_candidates, lambda value: f"{value:,.0f}"),
    )


def _closing(evaluation: Evaluation) -> Table:
    rows = tuple(
        (line.method, f"{line.seconds:.3f}", f"{line.near_pairs:,}", f"{line.detected:,}", _reasons(line))
        for line in evaluation.closing
    )
    columns = ("method", "seconds", "pairs", "detected", "why the rest was lost")
    title = f"Pairs of {_measure(evaluation)} {evaluation.near:g} and above"
    return Table(title, columns, rows, texts=("why the rest was lost",))


def _measure(evaluation: Evaluation) -> str:
    """What pairs are near by."""
    return "Jaccard" if evaluation.measure == "jaccard" else evaluation.measure


def _reasons(line: Closing) -> str:
    shown = [f"{count:,} by {why}" for why, count in line.why[:_SHOWN_REASONS]]
    rest = sum(count for _, count in line.why[_SHOWN_REASONS:])
    return "; ".join([*shown, *([f"{rest:,} more"] if rest else [])])


def _share(value: float | None) -> str:
    """A share or an index; nearly 1 is not written as 1."""
    return _number(value, lambda one: f"{min(one, 0.9999) if one < 1 else one:.4f}")


def _number(value: float | None, write: Callable[[float], str]) -> str:
    return _NONE if value is None else write(value)


def _piped(table: Table) -> Iterator[str]:
    yield "| " + " | ".join(table.columns) + " |"
    yield "|" + "|".join("---" if table.is_text(column) else "---:" for column in table.columns) + "|"
    for row in table.rows:
        yield "| " + " | ".join(_escaped(cell) for cell in row) + " |"


def _escaped(cell: str) -> str:
    """What would end a cell, or begin a line or a tag, made harmless."""
    harmless = " ".join(cell.split())
    for mark in "\\|`*_<[":
        harmless = harmless.replace(mark, "\\" + mark)
    return harmless


def _aligned(table: Table) -> Iterator[str]:
    """Rows of a terminal: long cells stand below their row, and what many rows share below the table."""
    below = [place for place, column in enumerate(table.columns) if place and table.is_text(column)]
    kept = [place for place in range(len(table.columns)) if place not in below]
    rows = [[row[place] for place in kept] for row in table.rows]
    columns = [table.columns[place] for place in kept]
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    yield _line(columns, widths)
    for row, cells in zip(table.rows, rows, strict=True):
        yield _line(cells, widths)
        if _SHARED not in table.columns:
            texts = "   ".join(row[place] for place in below)
            yield from wrap(texts, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False)
    if _SHARED in table.columns:
        yield from _grouped(table, table.columns.index(_SHARED))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = cells
    line = "  ".join(
        [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))]
    )
    return f"  {line.rstrip()}"


def _grouped(table: Table, place: int) -> Iterator[str]:
    """Which methods were held against what."""
    groups: dict[str, list[str]] = defaultdict(list)
    for row in table.rows:
        groups[row[place]].append(row[0])
    for answer, methods in groups.items():
        yield from wrap(
            f"{answer}: {', '.join(methods)}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
