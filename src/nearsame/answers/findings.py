"""What plan and evaluate say: frozen, JSON-able, plain data that templates and pictures only print."""

import dataclasses
from dataclasses import field, replace
from typing import Any

from nearsame.answers.advice import Advice
from nearsame.answers.in_notebooks import InNotebooks
from nearsame.dataclass import dataclass
from nearsame.files.inputs import Inputs
from nearsame.named import NamedTuple
from nearsame.recipes.choices import JudgedBy
from nearsame.shares import counted, exactly

__all__ = [
    "Closing",
    "CurvePoint",
    "Evaluation",
    "Expected",
    "Lost",
    "Plan",
    "PlanCurve",
    "Scatter",
    "Score",
    "SearchCost",
    "Shape",
    "SimHashPlan",
]


_WIDTH = 50  # of the names of methods, where it is told in a line


class CurvePoint(NamedTuple):
    """The chance that a pair of a similarity is found."""

    similarity: float
    found: float


class PlanCurve(NamedTuple):
    """What another setting finds, to be held against a plan."""

    name: str
    points: tuple[CurvePoint, ...]


class SearchCost(NamedTuple):
    """What it takes to find all near codes by tables of block-permuted codes.

    Attributes:
        blocks: that a code is cut into; 1 where all pairs are compared.
        header: of them, those that codes must have in common in a table.
        tables: one for each choice of these.
        comparisons: to be expected of codes whose bits are fair.
        seconds: of one core, by the costs that a run chooses by.
    """

    blocks: int
    header: int
    tables: int
    comparisons: float
    seconds: float


@dataclass(frozen=True)
class Shape:
    """A number of bands of a number of rows, and what it promises.

    Attributes:
        bands: how many.
        rows: values in each.
        at_threshold: the chance that a pair at the threshold becomes a candidate.
        false_positive_area: under the curve, below the threshold.
        false_negative_area: over the curve, above the threshold.
        note: why it is listed.
    """

    bands: int
    rows: int
    at_threshold: float
    false_positive_area: float
    false_negative_area: float
    note: str


@dataclass(frozen=True)
class Expected:
    """What a corpus would offer, estimated from a sample of its documents.

    Copies are one document before keys are made, and none of the expected pairs. In a sample fewer of them meet their
    like than in the corpus, so that its estimates are too high where there are many.

    Attributes:
        documents: in the corpus.
        sampled: of these, looked at.
        pairs: of any two documents in the corpus, copies too.
        histogram: (from, to, expected pairs) of the similarities above 0.
        listed_from: pairs at or above this similarity were all listed (exact join); those below it are estimated from
            `drawn` random pairs, each compared exactly.
        drawn: how many; 0 where all pairs could be listed.
        candidates: pairs that will be verified.
        candidates_error: standard error of that number (of the drawn part).
        similar: pairs at or above the threshold.
        missed: of these, expected to be missed.
    """

    documents: int
    sampled: int
    pairs: int
    histogram: tuple[tuple[float, float, float], ...]
    listed_from: float
    drawn: int
    candidates: float
    candidates_error: float
    similar: float
    missed: float


@dataclass(frozen=True)
class Plan(InNotebooks):
    """Bands and rows for MinHash, why these, and what they will miss.

    Attributes:
        threshold: least similarity that counts.
        recall: asked for, at the threshold.
        num_perm: values in a signature.
        shape: what is used.
        reason: why.
        others: what else was considered.
        curve: the S-curve, in steps of a hundredth.
        misses: (similarity, share of pairs lost) at the threshold and somewhat above.
        expected: about a corpus, where one was given.
        also: the curves of other bands and rows that were asked for.
        notes: what one must know of that corpus: what could not be read, what seems to be made from a template.
        unread: how many of its records could not be read.
    """

    threshold: float
    recall: float
    num_perm: int
    shape: Shape
    reason: str
    others: tuple[Shape, ...]
    curve: tuple[CurvePoint, ...]
    misses: tuple[tuple[float, float], ...]
    expected: Expected | None = None
    also: tuple[PlanCurve, ...] = ()
    notes: tuple[str, ...] = ()
    unread: int = 0

    def __repr__(self) -> str:
        shape = f"{self.shape.bands} bands of {self.shape.rows} rows"
        return f"Plan(threshold={exactly(self.threshold)}, recall={self.recall:g}, {shape})"

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class SimHashPlan(InNotebooks):
    """What "within k bits" means for texts of a similarity, and what it takes to find such codes.

    Attributes:
        measure: what similarities are: the Jaccard of unweighted sets of one size, or the cosine of weighted features.
        bits: of a code.
        k: the greatest distance.
        threshold: the similarity that is wanted.
        recall: at the threshold.
        at_threshold: the chance that a pair at the threshold is within k bits.
        half: the similarity from which on at least half of the pairs are.
        least_k: the least k that reaches the recall at the threshold.
        curve: the chance to be within k bits, in steps of a hundredth.
        by_k: for some distances, the chances at the similarities of `similarities`.
        similarities: of `by_k`.
        codes: among which near ones are searched.
        search: the cheapest way to do so.
        searches: other ways, the one that compares all pairs first.
        also: the curves of other k that were asked for.
    """

    measure: JudgedBy

    bits: int
    k: int
    threshold: float
    recall: float
    at_threshold: float
    half: float
    least_k: int
    curve: tuple[CurvePoint, ...]
    by_k: tuple[tuple[int, tuple[float, ...]], ...]
    similarities: tuple[float, ...]
    codes: int
    search: SearchCost
    searches: tuple[SearchCost, ...]
    also: tuple[PlanCurve, ...] = ()

    def __repr__(self) -> str:
        return f"SimHashPlan(bits={self.bits}, k={self.k}, threshold={exactly(self.threshold)})"

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Score:
    """How one method did.

    Attributes:
        method: as it was named.
        reference: what its pairs were held against.
        pairs: that it found (of judged ones, where only those count).
        true_pairs: that there are.
        both: found and true.
        precision: share of the found pairs that are true.
        recall: share of the true pairs that were found.
        f1: their harmonic mean.
        rand_index: adjusted, of the clusters; None where the truth says nothing about most pairs.
        seconds: of the run, reading and starting not included.
        peak_bytes: memory above what there was before the run; None where it was not measured.
        candidates: documents compared in full, or codes, two at a time.
        candidates_per_true_pair: of the pairs that are both found and true.
        false_candidates: compared and found to differ, where the answer is equality.
        unjudged: pairs found that nobody has judged; None where the truth is whole.
        note: why it was not run, if it was not.
    """

    method: str
    reference: str
    pairs: int = 0
    true_pairs: int = 0
    both: int = 0
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    rand_index: float | None = None
    seconds: float | None = None
    peak_bytes: int | None = None
    candidates: int | None = None
    candidates_per_true_pair: float | None = None
    false_candidates: int | None = None
    unjudged: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Lost:
    """A true pair that a method did not find, and why."""

    method: str
    a: str
    b: str
    similarity: float
    why: str


@dataclass(frozen=True)
class Closing:
    """A line of the closing table: how long, how many of the near pairs, and why the rest were lost.

    Attributes:
        method: as it was named; `pairwise` compares every two documents.
        seconds: it took.
        near_pairs: pairs at or above the near similarity.
        detected: of these.
        why: reasons of the others, each with how often.
    """

    method: str
    seconds: float
    near_pairs: int
    detected: int
    why: tuple[tuple[str, int], ...] = ()


class Scatter(NamedTuple):
    """A pair of documents: the cosine of their features, and the similarity of their SimHash codes."""

    cosine: float
    similarity: float


@dataclass(frozen=True)
class Evaluation(InNotebooks):
    """Several methods on one corpus, against the exact answer or a truth.

    Attributes:
        documents: that were compared.
        of_documents: in the corpus; more, if these are a sample of it.
        truth: what is taken for right, in words.
        near: least similarity of the pairs in the closing table.
        scores: one for each method.
        closing: pairwise comparison against methods that approximate; empty where there is none of these.
        lost: true pairs that were not found, some of each method.
        scatter: how well SimHash codes follow the angle; empty without a SimHash method.
        advice: the setting that judged pairs speak for; in place of it a word on why there is none, which is empty
            without a truth file.
        settings: everything that decides the answer.
        versions: of the packages that could.
        inputs: the files that were read, none of which the report may replace.
        measure: what similarity the closing table goes by.
        unread: records that could not be read.
    """

    documents: int
    of_documents: int
    truth: str
    near: float
    scores: tuple[Score, ...]
    closing: tuple[Closing, ...] = ()
    lost: tuple[Lost, ...] = ()
    scatter: tuple[Scatter, ...] = ()
    advice: Advice | str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    inputs: Inputs = field(default=Inputs(), repr=False, compare=False)
    measure: JudgedBy = "jaccard"
    unread: int = 0

    def __repr__(self) -> str:
        methods = ", ".join(score.method for score in self.scores)
        methods = methods if len(methods) <= _WIDTH else f"{len(self.scores)} methods"
        return f"Evaluation({counted(self.documents, 'document')}, {methods})"

    def record(self) -> dict[str, Any]:
        """All of it but the files, JSON-able."""
        values = dataclasses.asdict(replace(self, inputs=Inputs()))
        del values["inputs"]
        return values
