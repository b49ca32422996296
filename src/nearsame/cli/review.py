"""`nearsame review`: a finished run, or a file of pairs to label, pair by pair; what one decides is written."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from nearsame.cli import options
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError

if TYPE_CHECKING:
    from nearsame.sources.judged import JudgedPair
    from nearsame.studies.decision_log import DecisionLog
    from nearsame.studies.review import Review
    from nearsame.studies.sheets import Sheet

__all__ = ["Sitting", "review"]

_LABELS = {"y": "yes", "n": "no", "k": "yes", "u": "unknown"}
_OF_RUNS = ("c", "k", "m")  # keys that say nothing about pairs to label
_SAID = {"yes": "duplicates", "no": "not duplicates", "unknown": "unsure"}
_NEXT, _BACK, _QUIT = (" ", "\r", "\n", "\x1b[C", "\x1b[B"), ("b", "\x1b[D", "\x1b[A"), ("q", "\x03", "\x04")


@click.command(cls=options.Command, short_help="Decide about pairs of dedup -o or --to-label, on a terminal.")
@click.argument("directory", cls=options.Argument, metavar="DIR|FILE", reads=True)
@options.output(
    options.spec(
        "--decisions",
        metavar="FILE",
        writes=options.APART,
        help="Where each decision is added at once; what is in it counts.",
        stands="DIR.decisions.tsv",
    ),
)
@options.running_plainly
def review(directory: str, decisions: str | None) -> int:
    """Look at what a run has removed, and decide: the most doubtful pairs first.

    DIR is what `nearsame dedup -o DIR` wrote. Clusters that only a chain of pairs has joined come first, then those
    near the threshold, large ones before small ones. Each decision is on disk before the next pair is shown, and the
    next call goes on where this one stopped. `nearsame dedup --decisions FILE` obeys them; `nearsame report` and
    `evaluate --truth` read them. FILE is what `nearsame evaluate SOURCE --to-label N -o FILE.tsv` wrote: its column
    label is filled in, and it is a file for `evaluate --truth`. Defaults stand in brackets.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = "Run it there, or judge pairs in the page of nearsame report DIR -o page.html, and save the marks."
        raise ConfigError("review asks for keys, and this is not a terminal", hint=hint)
    if directory.endswith(".tsv") and not os.path.isdir(directory):  # noqa: PTH112  (as it was typed)
        return _label(directory, decisions)
    from nearsame.studies.decision_log import DecisionLog
    from nearsame.studies.review import Review

    run = Review.of(directory)
    place = decisions or f"{os.path.abspath(directory)}.decisions.tsv"  # noqa: PTH100  (links stay)
    session = Sitting(run, DecisionLog.open(place, run.run.inputs), _Terminal())
    session.run(_keys(), lambda: click.prompt("note", default="", show_default=False))
    click.echo(f"{session.num_decided:,} of {len(run):,} pairs are decided: {place}")
    click.echo("To have it obeyed, run dedup again with --decisions and this file.")
    return 0


def _label(path: str, decisions: str | None) -> int:
    """Fill in the labels of a file."""
    from nearsame.studies.sheets import Sheet

    if decisions is not None:
        raise ConfigError(f"--decisions does nothing with {path}: labels are written into it", hint="Leave it out.")
    sheet = Sheet(path)
    session = Sitting(sheet, sheet, _Terminal())
    session.run(_keys(), str)
    click.echo(f"{session.num_decided:,} of {len(sheet):,} pairs are decided: {path}")
    click.echo("Give it to nearsame evaluate SOURCE as --truth.")
    return 0


def _keys() -> Iterator[str]:
    while True:
        try:
            typed = click.getchar()
            yield from [typed] if typed.startswith("\x1b") else typed  # several, typed ahead
        except (EOFError, KeyboardInterrupt):
            return


class _Terminal:
    """The terminal as it is now: its size may change."""

    def show(self, *what: Any, whole: bool) -> None:
        """A page."""
        from nearsame.outputs.doubts import page
        from nearsame.outputs.report_page import ReportPage

        out = ReportPage(sys.stdout)
        out.clear()
        doubt, view, standing = what
        page(out, doubt, view, standing, None if whole else shutil.get_terminal_size().lines)


@dataclass
class Sitting:
    """Pages, one after the other.

    Attributes:
        review: what there is to decide.
        log: what was decided.
        terminal: where pages are shown.
        number: of the pair that is shown.
        whole: whether all of its texts are.
        remark: what became of the last key.
    """

    review: "Review | Sheet"
    log: "DecisionLog | Sheet"
    terminal: Any
    number: int = 0
    whole: bool = False
    remark: str = ""

    @property
    def num_decided(self) -> int:
        """How many pairs are decided."""
        return sum(one.is_decided and pair in self.review.numbers for pair, one in self.log.known.items())

    def run(self, keys: Iterator[str], ask: Callable[[], str]) -> None:
        """Show pages until it is enough; `ask` gives the text of a note."""
        self._go_on(-1)
        self._show()
        for key in keys:
            if key in _QUIT:
                return
            before = self.number
            self.remark = ""
            self._obey(key, ask)
            self.whole &= self.number == before
            self._show()

    def _obey(self, key: str, ask: Callable[[], str]) -> None:
        from nearsame.answers.doubts import Doubt
        from nearsame.studies.decision_log import unfit

        doubt = self.review.doubt(self.number)
        if key in _NEXT:
            self._to(self.number + 1)
        elif key in _BACK:
            self._to(self.number - 1)
        elif key == "c" and isinstance(doubt, Doubt):
            self._next_cluster(doubt.cluster)
        elif key == "t":
            self.whole = not self.whole
        elif key == "z":
            self._undo()
        elif key not in (*_LABELS, "m") or (key in _OF_RUNS and not isinstance(doubt, Doubt)):
            self.remark = "No such key."
        elif problem := unfit(doubt):
            self.remark = f"Not written: {problem}."
        elif key == "m":
            before = self.log.about(doubt)
            label, keep = (before.label or "", before.keep) if before else ("", "")
            self.log.decide(doubt, label, keep=keep, note=ask())
        else:
            self.log.decide(doubt, _LABELS[key], keep=doubt.goes.id if key == "k" else "")
            self._go_on(self.number)

    def _go_on(self, number: int) -> None:
        """To the next pair that is not decided, from the start again where none follows."""
        pairs = self.review.pairs
        for place in (*range(number + 1, len(pairs)), *range(number + 1)):
            if not self._is_decided(pairs[place]):
                self.number = place
                return
        self.number = max(number, 0)
        self.remark = "All pairs are decided; q ends, b goes back."

    def _to(self, number: int) -> None:
        if not 0 <= number < len(self.review):
            self.remark = "There is none before." if number < 0 else "There is none behind."
            return
        self.number = number

    def _next_cluster(self, cluster: int) -> None:
        number = self.number
        while number < len(self.review) and getattr(self.review.doubt(number), "cluster", None) == cluster:
            number += 1
        self._to(number)

    def _undo(self) -> None:
        pair = self.log.undo()
        if pair is None:
            self.remark = "Nothing was decided here that could be taken back."
            return
        self.number, self.remark = self.review.numbers[pair], "Taken back."

    def _is_decided(self, pair: tuple[str, str]) -> bool:
        known = self.log.known.get(pair)
        return known is not None and known.is_decided

    def _show(self) -> None:
        from nearsame.outputs.doubts import Standing

        doubt, laid_out = self.review.doubt(self.number), self.review.laid_out(self.number)
        said = _said(self.log.about(doubt))
        standing = Standing(self.number, len(self.review), self.num_decided, laid_out.kind, said, self.remark)
        self.terminal.show(doubt, laid_out.view, standing, whole=self.whole)


def _said(known: "JudgedPair | None") -> str:
    """A decision in words."""
    if known is None:
        return ""
    word = _SAID.get(known.label or "", known.label or "")
    keep = f"keep {known.keep}" if known.keep else ""
    return "; ".join(filter(None, (word, keep, known.note)))
