"""Pairs as one looks at them to decide: of a finished run, a document that goes, and the one that it goes for."""

from nearsame.answers.reports import SeenDocument
from nearsame.dataclass import dataclass
from nearsame.recipes.choices import ReportedMeasure

__all__ = ["Doubt", "Undecided"]


@dataclass(frozen=True)
class Undecided:
    """Two documents of which nothing is said that could lead who judges.

    Attributes:
        goes: one of them; of a run the removed one.
        stays: the other; of a run the witness.
    """

    goes: SeenDocument
    stays: SeenDocument


@dataclass(frozen=True)
class Doubt(Undecided):
    """A pair of a run.

    Attributes:
        similarity: of the two.
        measure: what that is.
        least: the least that counts.
        cluster: the place of its cluster among all, the most doubtful first.
        clusters: how many there are.
        documents: of the cluster.
        why: what is doubtful about it.
    """

    similarity: float
    measure: ReportedMeasure | str
    least: float
    cluster: int
    clusters: int
    documents: int
    why: str
