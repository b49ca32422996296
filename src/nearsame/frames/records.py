"""Numbers back to documents: the rows of the DataFrame that was given, found again by their content.

1. The source is read once more, and checked in the same job: a row that was not there when the documents were
   compared ends it with an error. Where many documents stay and few go, a part is checked, chosen by their hashes.
2. What is known of the rows is sent to every worker while few go; else the documents themselves are shuffled.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.engines.spark.crossing import writable
from nearsame.engines.spark.failures import CHANGED
from nearsame.frames.corpus import FEW_ROWS
from nearsame.frames.documents import FrameSide
from nearsame.frames.inputs import ORDERED
from nearsame.frames.naming import Renamed

__all__ = ["ChosenRecords"]

_OWN = ("nearsame_row", "nearsame_fp", "nearsame_copies", "nearsame_goes", ORDERED)


@dataclass(frozen=True, eq=False)
class ChosenRecords:
    """The documents that stay and those that go.

    Attributes:
        side: what was given.
        names: of rows that share theirs with others.
        documents: what is known of rows: row, copies, side.
        counts: of documents, and of different ones.
        gone: what goes: row, times (how many of the copies of a row).
        num_gone: how many rows that are.
    """

    side: FrameSide
    names: tuple[Renamed, ...]
    documents: Any
    counts: Mapping[str, int]
    gone: Any
    num_gone: int

    def kept(self) -> Any:
        """The documents that stay, with all their columns."""
        stay = self._where("coalesce(nearsame_goes, 0) = 0")
        if self._repeats:  # of a row whose copies go, one stays
            stay = stay.union(self._where(_PARTLY).dropDuplicates(["nearsame_row"]))
        return stay.drop(*_OWN)

    def removed(self) -> Any:
        """The documents that go, with all their columns."""
        if not self._repeats:
            return self._where("coalesce(nearsame_goes, 0) > 0").drop(*_OWN)
        # rows of one number are the same in all columns: it does not matter which of them go
        nth = "row_number() over (partition by nearsame_row order by nearsame_fp) as nearsame_nth"
        some = self._where(_PARTLY).selectExpr("*", nth).filter("nearsame_nth <= nearsame_goes").drop("nearsame_nth")
        return self._where("coalesce(nearsame_goes >= nearsame_copies, false)").union(some).drop(*_OWN)

    def listed(self, columns: Sequence[str]) -> Any:
        """Some columns of all documents, and whether each is `kept`: of records that all differ."""
        return self._where("true").selectExpr(*columns, "coalesce(nearsame_goes, 0) = 0 as kept")

    def clustered(self, clusters: Any, columns: Sequence[str]) -> Any:
        """Some columns of all documents, and `cluster`, as rows have it: row, cluster."""
        known = clusters.selectExpr("row as nearsame_row", "cluster as nearsame_cluster").distinct()
        joined = self._where("true").join(known, "nearsame_row", "left")
        return joined.selectExpr(*columns, "nearsame_cluster as cluster")

    @property
    def _repeats(self) -> bool:
        """Whether some rows of the frames are the same in all columns: then one of them may stay."""
        return bool(self.counts["documents"] > self.counts["different"])

    def _where(self, condition: str) -> Any:
        """The rows that a condition holds for, all known: one expression, so that no filter comes before the check."""
        known, every = self._known
        new = f"nearsame_copies is null and pmod(nearsame_row, {every}) = 0"
        joined = self.side.named(self.names).join(known, "nearsame_row", "left")
        return writable(joined.filter(f"case when {new} then raise_error('{CHANGED}') else {condition} end"))

    @cached_property
    def _known(self) -> tuple[Any, int]:
        """What is known of rows: how many copies there are, and how many go; and of how many rows one is checked."""
        few = self.num_gone <= FEW_ROWS
        every = -(-max(1, self.counts["different"]) // FEW_ROWS) if few else 1
        rows = self.documents.filter("side = 1").select("row", "copies")
        rows = rows.join(self.gone.select("row", "times"), "row", "left")
        rows = rows.filter(f"times is not null or pmod(row, {every}) = 0").toDF(*_OWN[:1], *_OWN[2:4])
        return (rows.hint("broadcast") if few else rows), every


_PARTLY = "coalesce(nearsame_goes > 0 and nearsame_goes < nearsame_copies, false)"
