"""What a report of a finished run says: frozen, JSON-able, and plain: the page only prints it.

1. Counts are of the whole run; pairs, clusters and texts are some of them, and it is said of how many.
2. The same run gives the same report, byte for byte.
"""

import dataclasses
from dataclasses import field, replace
from typing import Any, Literal

from nearsame.answers.changes import RunChanges
from nearsame.answers.in_notebooks import InNotebooks, in_a_line
from nearsame.dataclass import dataclass
from nearsame.files.inputs import Inputs
from nearsame.recipes.choices import ReportedMeasure
from nearsame.shares import counted

__all__ = [
    "KINDS",
    "AtThreshold",
    "Breakdown",
    "ClusterGraph",
    "Figure",
    "FrequentPart",
    "MatchKind",
    "RunReport",
    "SampledBin",
    "SeenCluster",
    "SeenDocument",
    "SeenPair",
    "SideBySide",
    "SimilarityBin",
    "SourceMap",
    "Split",
    "StepCost",
]

MatchKind = Literal["bytes", "words", "edits", "contained", "passages", "features", "unread"]

KINDS: dict[MatchKind, str] = {  # strongest first
    "bytes": "identical texts",
    "words": "the same words",
    "edits": "few edits",
    "contained": "one in the other",
    "passages": "shared passages",
    "features": "nothing but small pieces in common",
    "unread": "texts not compared here",
}


@dataclass(frozen=True)
class Figure:
    """A number of the headline."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True)
class SimilarityBin:
    """How many pairs are at least `least`, and below the next bin's."""

    least: float
    pairs: int


@dataclass(frozen=True)
class SampledBin(SimilarityBin):
    """The same below the threshold, estimated: so many of a sample were `counted`."""

    counted: int


@dataclass(frozen=True)
class AtThreshold:
    """What the run would have answered at a threshold: documents that go, or pairs that are listed; its clusters."""

    threshold: float
    count: int
    kept: int | None = None
    clusters: int | None = None
    sizes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Split:
    """How many of the judged documents have a value, and how many of these are removed (of pairs: are in one).

    `at` is the same at each threshold of the report, where there are such.
    """

    value: str
    documents: int
    removed: int
    at: tuple[int, ...] = ()


@dataclass(frozen=True)
class Breakdown:
    """Documents by what a column says of them, the most frequent values first; `rest` is how many values follow."""

    column: str
    splits: tuple[Split, ...]
    rest: int = 0


@dataclass(frozen=True)
class SourceMap:
    """How many pairs have one document in each of two sources (or hosts): `counts[a][b]`.

    `at[a][b]` is how many of these stand at each threshold of the report, where there are such.
    """

    column: str
    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    at: tuple[tuple[tuple[int, ...], ...], ...] = ()


@dataclass(frozen=True)
class StepCost:
    """What a step took: bytes that went in and came out, and the peak of memory until its end, where they are known."""

    step: str
    seconds: float
    bytes_in: int | None = None
    bytes_out: int | None = None
    peak_memory: int | None = None


@dataclass(frozen=True)
class SeenDocument:
    """A document that a pair of the report names; of an id that `is_cut` only the beginning stands here."""

    id: str
    source: str
    row: int
    is_cut: bool = False


@dataclass(frozen=True)
class SeenPair:
    """A pair of the report.

    Attributes:
        a: the removed document, by its number in the report's; of a list of pairs the first.
        b: its witness, or the second.
        similarity: of the two.
        measure: what that is.
        kind: what the two have in common, as the texts say it.
        excerpt: how the text of a begins.
        at: bit i is set where `a` is removed (the pair listed) at threshold i of the report.
        cluster: the number of its cluster, as the output's tables have it.
        beside: the number of its side-by-side view, or -1.
        reasons: without such a view, what was asked of the two, one after the other: (question, answer).
    """

    a: int
    b: int
    similarity: float
    measure: str
    kind: MatchKind = "unread"
    excerpt: str = ""
    at: int = 0
    cluster: int | None = None
    beside: int = -1
    reasons: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SideBySide:
    """Two texts beside each other.

    Attributes:
        a: pieces of the first text, as [kind, text, passage, characters left out]: see outputs/marking.py.
        b: of the second.
        a_in_b: the share of the tokens of a in passages that b has, too.
        b_in_a: likewise.
        reasons: what was asked of the two, one after the other: (question, answer).
    """

    a: tuple[tuple[str, str, int, int], ...]
    b: tuple[tuple[str, str, int, int], ...]
    a_in_b: float
    b_in_a: float
    reasons: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SeenCluster:
    """A cluster: its keeper, how many documents it is (itself included), and the least similarity to the keeper.

    `at` is how many of those that went for it go at each threshold of the report, where there are such.
    """

    cluster: int
    keeper: int
    documents: int
    least: float
    at: tuple[int, ...] = ()


@dataclass(frozen=True)
class ClusterGraph:
    """Some members of a cluster, and which of them resemble each other.

    Attributes:
        cluster: its number.
        members: documents by their numbers in the report, the keeper first.
        edges: (place of a member, place of another, similarity): to the keeper as the run has it.
    """

    cluster: int
    members: tuple[int, ...]
    edges: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True)
class FrequentPart:
    """A text that many documents of the report share.

    Attributes:
        text: how it begins.
        documents: of the report, those that have it.
        pairs: numbers of the pairs that share hardly anything else.
    """

    text: str
    documents: int
    pairs: tuple[int, ...]


@dataclass(frozen=True)
class RunReport(InNotebooks):
    """All that a report says.

    Attributes:
        of: which question the run answered.
        title: what was read.
        measure: what similarities are.
        least: the least of them that counts.
        figures: the headline.
        promise: what the answer guarantees.
        measured: what its audit found.
        remarks: what one must know to read the answer.
        bins: all pairs by similarity.
        below: of a run that was audited, what a sample says of lower similarities: of pairs, or of documents that stay,
            each by the most similar one before it that stays.
        below_note: what that comes to, in words.
        curve: (similarity, chance that two documents of it share a key), at the start of each bin; empty where no
            chance is in it, or it is about another measure.
        thresholds: what would have been decided at higher ones, counted on all documents; empty if `unmoved`.
        unmoved: why there are none.
        sizes: how many clusters have so many documents, as (documents, clusters).
        breakdowns: kept and removed, by source and by what else is known.
        maps: how many pairs join two sources.
        steps: what each took.
        num_pairs: of the whole run.
        documents: those that pairs and clusters name.
        pairs: some, evenly over the order of similarity.
        clusters: the largest.
        graphs: the largest of them.
        beside: the texts of some pairs.
        parts: what many of these share.
        untold: why there are no texts.
        recipe: what decides the answer.
        versions: of the packages that could.
        changes: what an older run decided otherwise, where one was named.
        data: where all pairs of the run stand; empty if nowhere yet.
        inputs: the files that were read, none of which the report may replace.
        table: all pairs, for a file beside the report.
    """

    of: Literal["dedup", "pairs"]
    title: str
    measure: ReportedMeasure | Literal[""]
    least: float
    figures: tuple[Figure, ...]
    promise: str = ""
    measured: str = ""
    remarks: tuple[str, ...] = ()
    bins: tuple[SimilarityBin, ...] = ()
    below: tuple[SampledBin, ...] = ()
    below_note: str = ""
    curve: tuple[tuple[float, float], ...] = ()
    thresholds: tuple[AtThreshold, ...] = ()
    unmoved: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    breakdowns: tuple[Breakdown, ...] = ()
    maps: tuple[SourceMap, ...] = ()
    steps: tuple[StepCost, ...] = ()
    num_pairs: int = 0
    documents: tuple[SeenDocument, ...] = ()
    pairs: tuple[SeenPair, ...] = ()
    clusters: tuple[SeenCluster, ...] = ()
    graphs: tuple[ClusterGraph, ...] = ()
    beside: tuple[SideBySide, ...] = ()
    parts: tuple[FrequentPart, ...] = ()
    untold: str = ""
    recipe: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    changes: RunChanges | None = None
    data: str = ""
    inputs: Inputs = field(default=Inputs(), repr=False, compare=False)
    table: Any = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return in_a_line("RunReport", self.title, counted(self.num_pairs, "pair"))

    @property
    def leaves_out(self) -> bool:
        """Whether the run has pairs that do not stand here, or not with their whole ids."""
        return self.num_pairs > len(self.pairs) or any(one.is_cut for one in self.documents)

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        values = dataclasses.asdict(replace(self, inputs=Inputs(), table=None))
        del values["inputs"], values["table"]
        return values
