"""Pairs of a finished run as one looks at them to decide: a document that goes, and the one that it goes for."""

from dataclasses import dataclass

from nearsame.answers.reports import SeenDocument
from nearsame.recipes.choices import ReportedMeasure

__all__ = ["Doubt"]


@dataclass(frozen=True)
class Doubt:
    """A pair.

    Attributes:
        goes: the removed document.
        stays: its witness.
        similarity: of the two.
        measure: what that is.
        least: the least that counts.
        cluster: the place of its cluster among all, the most doubtful first.
        clusters: how many there are.
        documents: of the cluster.
        why: what is doubtful about it.
    """

    goes: SeenDocument
    stays: SeenDocument
    similarity: float
    measure: ReportedMeasure | str
    least: float
    cluster: int
    clusters: int
    documents: int
    why: str
