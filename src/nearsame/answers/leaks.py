"""What a search for leaks counts: of all benchmarks, and of each."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from nearsame.answers.in_notebooks import InNotebooks
from nearsame.dataclass import dataclass
from nearsame.shares import counted

__all__ = ["BenchmarkCounts", "LeakStats", "RemovedLeaks"]


@dataclass(frozen=True)
class BenchmarkCounts:
    """What became of one benchmark.

    Attributes:
        name: of the benchmark.
        items: that it has.
        sought: of these, those with a text that was looked for.
        leaked: of these, those of which a text was found.
        documents: in which one was found.
        texts: that the items have.
        unsought: of these, those that were not looked for, by reason.
        boilerplate: different shingles that were left out.
    """

    name: str
    items: int
    sought: int
    leaked: int
    documents: int
    texts: int
    unsought: Mapping[str, int]
    boilerplate: int


@dataclass(frozen=True)
class RemovedLeaks:
    """What was left out of training data.

    Attributes:
        documents: as a whole.
        cut: documents that stay without some passages.
        passages: of these, and of documents that went since no word was left.
        characters: of all passages.
    """

    documents: int
    cut: int = 0
    passages: int = 0
    characters: int = 0


@dataclass(frozen=True)
class LeakStats(InNotebooks):
    """Counts.

    Attributes:
        documents: that were read.
        text_bytes: of their texts.
        skipped: records that could not be read, of both sides.
        ignored: files of folders and patterns that were passed over.
        items: of all benchmarks.
        sought: of these, those with a text that was looked for.
        leaked: of these, those of which a text was found.
        leaked_documents: documents in which one was found.
        benchmarks: each by itself.
        seconds: of each step.
        notes: what one must know of what was read.
        removed: what was left out of the training data, where they were written: whole documents, passages of others.
    """

    documents: int
    text_bytes: int
    skipped: int
    ignored: int
    items: int
    sought: int
    leaked: int
    leaked_documents: int
    benchmarks: tuple[BenchmarkCounts, ...]
    seconds: Mapping[str, float]
    notes: tuple[str, ...] = ()
    removed: RemovedLeaks | None = None

    def __repr__(self) -> str:
        items = f"{self.leaked:,} of {counted(self.items, 'item')}"
        return f"LeakStats({items}, in {counted(self.leaked_documents, 'document')})"

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return asdict(self)
