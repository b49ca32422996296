"""Pairs for people to judge: what a file of labels begins as."""

from dataclasses import field

import pyarrow as pa

from nearsame.answers.in_notebooks import InNotebooks
from nearsame.dataclass import dataclass
from nearsame.files.inputs import Inputs
from nearsame.shares import counted

__all__ = ["ToLabel"]


@dataclass(frozen=True)
class ToLabel(InNotebooks):
    """Pairs of documents that tell most about a threshold, in no order that says what they are.

    Attributes:
        table: `id1`, `id2`, `label` (empty), `weight` (how many pairs of the corpus a pair stands for), and of both
            texts what begins shortly before they part.
        floor: the similarity from which on pairs were drawn.
        pairs: of the corpus that are similar to this degree.
        documents: that were compared.
        inputs: the files that were read, none of which may be replaced.
        unread: records that could not be read.
    """

    table: pa.Table
    floor: float
    pairs: int
    documents: int
    inputs: Inputs = field(default=Inputs(), repr=False, compare=False)
    unread: int = 0

    def __repr__(self) -> str:
        drawn = f"{self.table.num_rows:,} of {self.pairs:,} pairs from {self.floor:g} on"
        return f"ToLabel({drawn}, {counted(self.documents, 'document')})"
