"""Numbers back to documents: the rows of the DataFrame that was given, found again by their content.

1. The source is read once more. Of a source that gives other rows then, this cannot be right: who writes checks it.
2. The numbers of what goes are sent to every worker while they are few; else the documents themselves are shuffled.
"""

from dataclasses import dataclass
from typing import Any

from nearsame.frames.flow import Frames, few
from nearsame.frames.parts import quoted

__all__ = ["Records"]


@dataclass(frozen=True, eq=False)
class Records:
    """The documents that stay and those that go.

    Attributes:
        frames: the run.
        gone: what goes: row, times (how many of the copies of a row).
    """

    frames: Frames
    gone: Any

    def kept(self) -> Any:
        """The documents that stay, with all their columns."""
        named, rows = self._named(), few(self.gone.selectExpr("row as nearsame_row"))
        rest = named.join(rows, "nearsame_row", "left_anti")
        if self._repeats:
            first = named.join(few(self._partly().select("nearsame_row")), "nearsame_row", "left_semi")
            rest = rest.union(first.dropDuplicates(["nearsame_row"]))
        return rest.drop("nearsame_row", "nearsame_fp")

    def removed(self) -> Any:
        """The documents that go, with all their columns."""
        named, rows = self._named(), few(self.gone.selectExpr("row as nearsame_row"))
        whole = named.join(rows, "nearsame_row", "left_semi")
        if self._repeats:
            # rows of one number are the same in all columns: it does not matter which of them go
            nth = "row_number() over (partition by nearsame_row order by nearsame_fp) as nearsame_nth"
            part = named.join(few(self._partly()), "nearsame_row").selectExpr("*", nth)
            part = part.filter("nearsame_nth > stay").drop("stay", "nearsame_nth")
            whole = whole.join(few(self._partly().select("nearsame_row")), "nearsame_row", "left_anti").union(part)
        return whole.drop("nearsame_row", "nearsame_fp")

    @property
    def _repeats(self) -> bool:
        """Whether some rows of the frames are the same in all columns: then one of them may stay."""
        counts = self.frames.counts
        return bool(counts["documents"] > counts["different"])

    def _partly(self) -> Any:
        """The rows of which some copies go and some stay, and how many stay."""
        rows = self.gone.selectExpr("row as nearsame_row", "times")
        counted = self.frames.documents.selectExpr("row as nearsame_row", "copies")
        both = rows.join(counted, "nearsame_row").filter("times < copies")
        return both.selectExpr("nearsame_row", "copies - times as stay")

    def _named(self) -> Any:
        frame = self.frames.judged.named(self.frames.salt)
        others = (quoted(name) for name in frame.columns if name != "nearsame_row")
        return frame.select("nearsame_row", *others)
