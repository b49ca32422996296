"""What a run says of itself: frozen, JSON-able, and no more than counts and names."""

import dataclasses
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, runtime_checkable

__all__ = [
    "NUM_LARGEST",
    "Audit",
    "Clock",
    "Comparison",
    "Component",
    "Explanation",
    "Measured",
    "Passage",
    "Progress",
    "Share",
    "Side",
    "Silent",
    "Stats",
    "Step",
]

NUM_LARGEST = 5  # clusters that statistics name


class Share(NamedTuple):
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float
    num: int
    of: int


@dataclass(frozen=True)
class Audit:
    """What a repeatable sample of the distinct documents says about the answer of a run.

    Attributes:
        threshold: similarity that makes a true near-duplicate.
        sampled: documents that were asked about.
        with_partner: of these, those that have a true near-duplicate; where documents are removed, those that had to
            go: they have one that outranks them and stays.
        recall: of the true pairs that these are in, the share that was listed (`num` and `of` count a pair once for
            each of its documents that was sampled); where documents are removed, of those that had to go, the share
            that went. None if there are none.
        residual: of the sampled documents that stay, the share with a near-duplicate that stays too.
        precision: of some removed documents, the share whose witness is a true near-duplicate.
        measure: jaccard, or of vectors cosine: what similarity is.
        of: what recall is a share of: pairs or documents.
    """

    threshold: float
    sampled: int
    with_partner: int
    recall: Share | None
    residual: Share | None = None
    precision: Share | None = None
    measure: str = "jaccard"
    of: str = "documents"

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        shares = {name: getattr(self, name) for name in ("recall", "residual", "precision")}
        plain = {name: getattr(self, name) for name in ("measure", "threshold", "of", "sampled", "with_partner")}
        return plain | {name: None if found is None else found._asdict() for name, found in shares.items()}


@dataclass(frozen=True)
class Component:
    """The largest of the connected components of similar documents, where `clusters="components"` was asked for.

    Attributes:
        number: components of at least two distinct documents.
        documents: in the largest of them, copies included.
        distinct: of these, distinct ones; the rest is about them.
        least_similarity: of two of them: how far a chain has led.
        pairs_measured: pairs of which it is the least similarity.
        pairs: all that there are; if more than were measured, the least similarity is that of a sample.
        bridges: pairs without which it would fall apart.
    """

    number: int
    documents: int
    distinct: int
    least_similarity: float
    pairs_measured: int
    pairs: int
    bridges: int


@dataclass(frozen=True)
class Stats:
    """The counts at every arrow of the flow, and what made them.

    Attributes:
        documents: read, the `against` side included.
        against: of these, the `against` side.
        text_bytes: UTF-8 bytes of their texts.
        unread: of these, files that equal no other by size or samples, and were not read.
        skipped: records that could not be read.
        ignored: files of folders and patterns that are of no known format.
        pages: of web pages: how many records of archives were `passed_over`, by status, type or kind of record; how
            many pages were `cut` at the most bytes; how many were compared by their visible text, since they are
            `without_main` content or mostly something else; how many have their text `elsewhere` (in metadata or
            noscript) or `nowhere` (these are kept); how many are `bounded`: some of their many tags were left out.
        empty: null or empty texts: never near-duplicates, removed as redirects or revisits only.
        bare: texts without a token: near-duplicates of nothing, exact copies of their like.
        dropped_shingles: different ones that stand in more documents than `drop_boilerplate`.
        dropped_occurrences: documents that each of them stands in, summed.
        emptied: documents that have nothing else: near-duplicates of nothing, exact copies of identical texts.
        repeated_ids: documents that were read whose id another of these before them has.
        distinct: different feature sets.
        features: items in the distinct sets.
        keys: offered by the distinct sets.
        meeting: distinct sets that share a key with another.
        compared: pairs of distinct sets that were compared in deciding: work, which batches and engines may change.
        exact_copies: removed documents that equal their witness byte for byte.
        near_copies: the others that the method removed, or a copy of theirs byte for byte.
        other_copies: the rest, which layers before it removed: by their URL or by what they say of themselves.
        removed: all of them.
        kept: the rest of the documents that were to be judged.
        clusters: keepers that are the witness of another document.
        largest: of the largest clusters, the keeper's id and the number of its documents, itself included.
        chained: of the near copies, those that only a chain of similar pairs joins with their witness.
        component: of clusters="components", what its largest one is like.
        measure: what similarities are.
        least: the least of them that counts.
        layers: with `use`, for each layer: documents that it looked at, those that it removed, how many of these
            have another text than their witness there, and how many have inherited the keeper of that witness, which
            a later layer removed.
        evidence: where documents have URLs, for how many of the removed ones each kind of evidence holds.
        same_host: of the removed ones, those whose witness is of the same host (or of the listed pairs, those of one
            host); None where no URL is known.
        cross_host: likewise of another host.
        notes: what one must know to read the answer.
        audit: measured recall, residual duplicates and precision, where the run was audited (see `Audit`).
        seconds: wall time of each step.
        bytes: of each step the documents, and the bytes that go `in` and come `out`, where they are known: of text,
            then of features, keys and what is written.
        thread_seconds: time that threads spent in each stage.
        bytes_read: on disk, where it is known.
        room: what was chosen by what the memory holds: where features are, and how the count table is made.
        recipe: everything that decides the answer.
        versions: of the packages that could.
    """

    documents: int = 0
    against: int = 0
    text_bytes: int = 0
    unread: int = 0
    skipped: int = 0
    ignored: int = 0
    pages: dict[str, Any] = field(default_factory=dict)
    empty: int = 0
    bare: int = 0
    dropped_shingles: int = 0
    dropped_occurrences: int = 0
    emptied: int = 0
    repeated_ids: int = 0
    distinct: int = 0
    features: int = 0
    keys: int = 0
    meeting: int = 0
    compared: int = 0
    exact_copies: int = 0
    near_copies: int = 0
    other_copies: int = 0
    removed: int = 0
    kept: int = 0
    clusters: int = 0
    largest: tuple[tuple[str, int], ...] = ()
    chained: int = 0
    component: Component | None = None
    measure: str = ""
    least: float = 1.0
    layers: tuple[dict[str, Any], ...] = ()
    evidence: dict[str, int] = field(default_factory=dict)
    same_host: int | None = None
    cross_host: int | None = None
    notes: tuple[str, ...] = ()

    audit: dict[str, Any] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    bytes: dict[str, dict[str, int]] = field(default_factory=dict)
    thread_seconds: dict[str, float] = field(default_factory=dict)
    bytes_read: int | None = None
    room: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Side:
    """One of two compared texts.

    Attributes:
        characters: in the text.
        tokens: in it.
        shingles: different ones.
        in_passages: of the tokens, those that stand in a shared passage.
    """

    characters: int
    tokens: int
    shingles: int
    in_passages: int


@dataclass(frozen=True)
class Measured:
    """One measure of two texts.

    Attributes:
        name: what to ask for it by.
        of: what is compared: 5-word shingles, words, characters.
        similarity: from 0 to 1, a Fraction where that is exact; None where there is none, or it was not computed.
        distance: as the measure counts it; None likewise.
        unit: of the distance: bits, characters, radians; empty for a pure number.
        error: the standard error of an estimate.
        note: why it was not computed.
    """

    name: str
    of: str
    similarity: Fraction | float | None = None
    distance: Fraction | float | None = None
    unit: str = ""
    error: float | None = None
    note: str = ""

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able; `exact` is the similarity as p/q."""
        values = dataclasses.asdict(self)
        values["exact"] = str(self.similarity) if isinstance(self.similarity, Fraction) else None
        return {key: float(value) if isinstance(value, Fraction) else value for key, value in values.items()}


@dataclass(frozen=True)
class Passage:
    """A run of tokens that two texts share; places count the characters of the texts as they were given.

    Attributes:
        tokens: in the run.
        a_start: its first character in a.
        a_end: the one behind its last.
        b_start: likewise in b.
        b_end: likewise.
        a_text: how it reads there.
        b_text: likewise: the same but for case, punctuation and white space.
    """

    tokens: int
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    a_text: str
    b_text: str


@dataclass(frozen=True)
class Comparison:
    """Two texts by every measure, and what they share.

    Attributes:
        measure: the one that decides.
        threshold: its least value.
        similar: whether it is reached; empty texts are never near-duplicates.
        a: the first text.
        b: the second.
        measures: all of them.
        passages: by their place in a.
        passage_tokens: every shared run of so many tokens is covered by the passages.
        recipe: everything that decides the answer.
    """

    measure: str
    threshold: Fraction
    similar: bool
    a: Side
    b: Side
    measures: tuple[Measured, ...]
    passages: tuple[Passage, ...]
    passage_tokens: int
    recipe: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Measured:
        """The measure called `name`."""
        return {measured.name: measured for measured in self.measures}[name]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The measures that were not computed; the note of each says why."""
        return tuple(each.name for each in self.measures if each.similarity is None and each.distance is None)

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        values = dataclasses.asdict(self)
        measures = [measured.record() for measured in self.measures]
        left_out = list(self.left_out)
        return {**values, "threshold": float(self.threshold), "measures": measures, "left_out": left_out}


@dataclass(frozen=True)
class Step:
    """One table of a walk through a method.

    Attributes:
        title: what happens here.
        columns: their headings.
        rows: of texts and integers.
        note: what to know about it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Explanation:
    """A method walked through with one text.

    Attributes:
        method: its name.
        steps: what happens, in order.
        answer: what comes out: the fingerprint, or the signature and the keys of its bands.
        recipe: everything that decides it.
    """

    method: str
    steps: tuple[Step, ...]
    answer: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return dataclasses.asdict(self)


@runtime_checkable
class Progress(Protocol):
    """Who watches a run."""

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """A step begins."""

    def add(self, documents: int, num_bytes: int) -> None:
        """So many more documents, of so many bytes of text, have been read."""

    def note(self, text: str) -> None:
        """Something was chosen on the way that one may want to know."""

    def end(self) -> None:
        """The run is over."""


class Silent:
    """Nobody watches."""

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """Say nothing."""

    def add(self, documents: int, num_bytes: int) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


class Clock:
    """Seconds of each step of a run, and a word to whoever watches."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Silent()
        self.seconds: dict[str, float] = {}

    def note(self, room: Mapping[str, Any]) -> None:
        """Tell what had to be done for want of memory, of all that `Stats.room` says."""
        if room.get("features") == "files":
            self.progress.note("features do not fit in memory: they are in files")
        slots, slot_bits, passes = room.get("count_table", {"slots": 0, "slot_bits": 8, "passes": 1}).values()
        if slot_bits < 8 or passes > 1:
            times = f"{passes} passes" if passes > 1 else "one pass"
            self.progress.note(f"counting in {times}: {slots:,} slots of {slot_bits} bits")

    @contextmanager
    def __call__(self, step: str, total_bytes: int | None = None) -> Iterator[None]:
        """Time a step."""
        self.progress.begin(step, total_bytes)
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - began
