"""What compare and explain say: frozen, JSON-able, plain data that templates only print."""

import dataclasses
from dataclasses import field
from fractions import Fraction
from typing import Any

from nearsame.answers.in_notebooks import InNotebooks
from nearsame.dataclass import dataclass
from nearsame.recipes.choices import MeasureName
from nearsame.shares import counted, exactly

__all__ = ["ComparedText", "Comparison", "Explanation", "Measured", "Passage", "Step"]


@dataclass(frozen=True)
class ComparedText:
    """One of two compared texts.

    Attributes:
        characters: in the text.
        tokens: in it.
        shingles: different ones.
        in_passages: of the tokens, those that stand in a shared passage.
        alone: where characters stand that the other text does not have at that place: the first, and the one behind.
    """

    characters: int
    tokens: int
    shingles: int
    in_passages: int
    alone: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Measured:
    """One measure of two texts.

    Attributes:
        name: what to ask for it by.
        of: what is compared: 5-word shingles, words, characters.
        similarity: from 0 to 1, a Fraction where that is exact; None where there is none, or it was not computed.
        distance: as the measure counts it; None likewise.
        unit: of the distance: bits, characters, radians; empty for a pure number.
        error: the standard error of an estimate.
        note: why it was not computed.
    """

    name: str
    of: str
    similarity: Fraction | float | None = None
    distance: Fraction | float | None = None
    unit: str = ""
    error: float | None = None
    note: str = ""

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able; `exact` is the similarity as p/q."""
        values = dataclasses.asdict(self)
        values["exact"] = str(self.similarity) if isinstance(self.similarity, Fraction) else None
        return {key: float(value) if isinstance(value, Fraction) else value for key, value in values.items()}


@dataclass(frozen=True)
class Passage:
    """A run of tokens that two texts share; places count the characters of the texts as they were given.

    Attributes:
        tokens: in the run.
        a_start: its first character in a.
        a_end: the one behind its last.
        b_start: likewise in b.
        b_end: likewise.
        a_text: how it reads there.
        b_text: likewise: the same but for case, punctuation and white space.
    """

    tokens: int
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    a_text: str
    b_text: str


@dataclass(frozen=True)
class Comparison(InNotebooks):
    """Two texts by every measure, and what they share.

    Attributes:
        measure: the one that decides.
        threshold: its least value.
        similar: whether it is reached; empty texts are never near-duplicates.
        a: the first text.
        b: the second.
        measures: all of them.
        passages: by their place in a.
        passage_tokens: every shared run of this many tokens is covered by the passages.
        recipe: everything that decides the answer.
    """

    measure: MeasureName
    threshold: Fraction
    similar: bool
    a: ComparedText
    b: ComparedText
    measures: tuple[Measured, ...]
    passages: tuple[Passage, ...]
    passage_tokens: int
    recipe: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        verdict = "near-duplicates" if self.similar else "not near-duplicates"
        passages = counted(self.passages, "passage")
        return f"Comparison({verdict}, {self.measure} threshold {exactly(self.threshold)}, {passages})"

    def __getitem__(self, name: str) -> Measured:
        """The measure called `name`."""
        return {measured.name: measured for measured in self.measures}[name]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The measures that were not computed; the note of each says why."""
        return tuple(
            measure.name for measure in self.measures if measure.similarity is None and measure.distance is None
        )

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        values = dataclasses.asdict(self)
        measures = [measured.record() for measured in self.measures]
        left_out = list(self.left_out)
        return {**values, "threshold": float(self.threshold), "measures": measures, "left_out": left_out}


@dataclass(frozen=True)
class Step:
    """One table of a walk through a method.

    Attributes:
        title: what happens here.
        columns: their headings.
        rows: of texts and integers.
        note: what to know about it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Explanation(InNotebooks):
    """A method walked through with one text.

    Attributes:
        method: its name.
        steps: what happens, in order.
        answer: what comes out: the fingerprint, or the signature and the keys of its bands.
        recipe: everything that decides it.
    """

    method: str
    steps: tuple[Step, ...]
    answer: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Explanation({self.method}, {len(self.steps)} steps)"

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return dataclasses.asdict(self)
