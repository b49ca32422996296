"""What layers leave to the method of a run: which documents, in which order, and how many copies of each."""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from nearsame.engines.spark.failures import STEADY
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import SourceError
from nearsame.frames.documents import FrameSide
from nearsame.frames.naming import Renamed, renamed
from nearsame.named import NamedTuple

__all__ = ["PLACE", "LeftFrame", "loaded"]

PLACE = "value0"  # the number that a document went by in the layers: of its values, the one that the order goes by


class LeftFrame(NamedTuple):
    """The documents that layers have left.

    Attributes:
        rows: row, PLACE, and how many copies there are `here` of so many `copies`.
        is_all: whether these are all documents.
        is_whole: whether of each all copies are left.
        texts: of these and others, where they have been taken out of pages.
        num: how many they are, copies included.
    """

    rows: Any
    is_all: bool
    is_whole: bool
    texts: Any = None
    num: int = 0

    @property
    def places(self) -> Any:
        """Their numbers."""
        return self.rows.select("row", PLACE)

    def require_read(self, number: int) -> None:
        """See that so many documents, which have been read again, are all of them.

        Raises:
            SourceError: They are not.
        """
        if number != self.num:
            message = f"the source changed: {self.num:,} documents were left to compare, and {number:,} were read again"
            raise SourceError(message, hint=STEADY)

    def of(self, records: Any) -> Any:
        """Their records."""
        if self.is_all:
            return records
        if self.is_whole:
            return records.join(self.rows.select("row"), "row", "left_semi")
        whole = records.join(self.rows.filter("here = copies").select("row"), "row", "left_semi")
        one = records.join(self.rows.filter("here < copies").select("row"), "row", "left_semi")
        return whole.unionByName(one.dropDuplicates(["row"]))  # what layers take of copies is all, or all but one


def loaded(sides: Iterable[FrameSide], names: Sequence[Renamed], left: LeftFrame | None) -> Any:
    """The documents of all sides, or what layers have left of them, with texts in place of pages."""
    if left is not None and left.texts is not None:
        return left.of(left.texts)
    row, parts = Verbs.expression(renamed(names)), list[Any]()
    for side in sides:
        records = side.records(by_stages=True)
        parts.append(side.as_texts(records if left is None else left.of(records.withColumn("row", row))))
    return reduce(lambda one, other: one.unionByName(other), parts)
