"""What a proof says: counts of what was looked at, and a list of what does not hold."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from nearsame.answers.in_notebooks import InNotebooks, in_a_line
from nearsame.shares import counted

__all__ = ["MOST", "Estimates", "Findings", "Problem", "Residual", "Verification"]

MOST = 1_000  # problems that are listed; all are counted


@dataclass(frozen=True)
class Problem:
    """Something that does not hold.

    Attributes:
        place: the file and the record.
        what: is wrong there.
    """

    place: str
    what: str


@dataclass(frozen=True)
class Estimates:
    """What the similarities of estimated rows really are.

    Attributes:
        measure: what the rows call them.
        rows: of which the Jaccard similarity was computed.
        least: the lowest of them.
        median: half of them are above it.
        reached: the share of them that reaches the threshold.
        threshold: the one of the run; of a Hamming distance there is none, and 0.8 stands for it.
    """

    measure: str
    rows: int
    least: float
    median: float
    reached: float
    threshold: float


@dataclass(frozen=True)
class Residual:
    """What a sample of kept documents says.

    Attributes:
        sampled: kept documents, drawn by a keyed hash of their places.
        compared: documents that each of them was compared with: all that stay.
        similar: of the sampled, those that have a similar document that stays.
        may_miss: whether the method promises no more than a recall, so that these are not mistakes.
    """

    sampled: int
    compared: int
    similar: int
    may_miss: bool


@dataclass(frozen=True)
class Verification(InNotebooks):
    """Whether an output holds; immutable.

    Attributes:
        directory: the output.
        num_problems: how many things do not hold.
        problems: the first of them.
        checked: what was looked at, and how often.
        estimates: of rows that are estimates, what is true.
        residual: of the sample of kept documents; None: there is nothing to ask.
        notes: what one must know to read the answer.
        unproven: of stats.json, what was held to the rest and cannot be counted again.
    """

    directory: str
    num_problems: int
    problems: tuple[Problem, ...]
    checked: dict[str, int]
    estimates: Estimates | None = None
    residual: Residual | None = None
    notes: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else counted(self.num_problems, "problem")
        return in_a_line("Verification", self.directory, verdict)

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return self.num_problems == 0

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return {"holds": self.holds, **asdict(self)}


@dataclass
class Findings:
    """What is found on the way."""

    problems: list[Problem] = field(default_factory=list)
    num_problems: int = 0
    checked: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def wrong(self, place: str, what: str) -> None:
        """Something does not hold."""
        self.num_problems += 1
        if len(self.problems) < MOST:
            self.problems.append(Problem(place, what))

    def wrong_all(self, place: str, problems: Iterable[str]) -> None:
        """Several things do not hold at one place."""
        for problem in problems:
            self.wrong(place, problem)

    def count(self, what: str, times: int = 1) -> None:
        """Something was looked at."""
        self.checked[what] = self.checked.get(what, 0) + times

    def note(self, text: str) -> None:
        """Something that one must know; once."""
        if text not in self.notes:
            self.notes.append(text)
