"""What a run says of itself: frozen, JSON-able, and no more than counts and names."""

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Clock", "Progress", "Silent", "Stats"]


@dataclass(frozen=True)
class Stats:
    """The counts at every arrow of the flow, and what made them.

    Attributes:
        documents: read, the `against` side included.
        against: of these, the `against` side.
        text_bytes: UTF-8 bytes of their texts.
        unread: of these, files that equal no other by size or samples, and were not read.
        skipped: records that could not be read.
        empty: null or empty texts: never near-duplicates, never removed.
        bare: texts without a token: near-duplicates of nothing, exact copies of their like.
        repeated_ids: documents whose id another document before them has.
        distinct: different feature sets.
        features: items in the distinct sets.
        keys: offered by the distinct sets.
        meeting: distinct sets that share a key with another.
        exact_copies: removed documents that equal their witness byte for byte.
        near_copies: the other removed documents.
        removed: all of them.
        kept: the rest of the documents that were to be judged.
        clusters: keepers that are the witness of another document.
        largest: of the largest clusters, the keeper's id and the number of its documents, itself included.
        measure: what similarities are.
        seconds: wall time of each step.
        thread_seconds: time that threads spent in each stage.
        bytes_read: on disk, where it is known.
        recipe: everything that decides the answer.
        versions: of the packages that could.
    """

    documents: int = 0
    against: int = 0
    text_bytes: int = 0
    unread: int = 0
    skipped: int = 0
    empty: int = 0
    bare: int = 0
    repeated_ids: int = 0
    distinct: int = 0
    features: int = 0
    keys: int = 0
    meeting: int = 0
    exact_copies: int = 0
    near_copies: int = 0
    removed: int = 0
    kept: int = 0
    clusters: int = 0
    largest: tuple[tuple[str, int], ...] = ()
    measure: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    thread_seconds: dict[str, float] = field(default_factory=dict)
    bytes_read: int | None = None
    recipe: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return dataclasses.asdict(self)


class Progress(Protocol):
    """Who watches a run."""

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """A step begins."""

    def add(self, documents: int, num_bytes: int) -> None:
        """So many more documents, of so many bytes of text, have been read."""

    def end(self) -> None:
        """The run is over."""


class Silent:
    """Nobody watches."""

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """Say nothing."""

    def add(self, documents: int, num_bytes: int) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


class Clock:
    """Seconds of each step of a run, and a word to whoever watches."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Silent()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str, total_bytes: int | None = None) -> Iterator[None]:
        """Time a step."""
        self.progress.begin(step, total_bytes)
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - began
