"""What a run says of itself: frozen, JSON-able, and no more than counts and names."""

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from nearsame.answers.in_notebooks import InNotebooks
from nearsame.dataclass import dataclass
from nearsame.named import NamedTuple
from nearsame.recipes.choices import AuditedMeasure, AuditedThing, ConfirmedBy, ReportedMeasure
from nearsame.shares import counted

__all__ = ["NUM_HOSTS", "NUM_LARGEST", "Audit", "Below", "Component", "Share", "Stats", "compared_by"]

NUM_LARGEST = 5  # clusters that statistics name
NUM_HOSTS = 20


class Share(NamedTuple):
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float
    num: int
    of: int


class Below(NamedTuple):
    """What lies below the threshold, as far as a sample tells.

    Attributes:
        sampled: documents that were asked about: distinct ones, and where documents are removed, those that stay.
        stands_for: how many of all documents (or pairs of them) one that was counted stands for.
        bins: (similarity, counted from there to the next, or to the threshold): pairs of the sampled documents; where
            documents are removed, the sampled documents themselves, each by the most similar one before it that stays.
    """

    sampled: int
    stands_for: float
    bins: tuple[tuple[float, int], ...]


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
        confirm: by what a true near-duplicate must be similar as well, if by anything.
        confirm_threshold: and how much.
        below: what lies below the threshold, where that was looked at.
    """

    threshold: float
    sampled: int
    with_partner: int
    recall: Share | None
    residual: Share | None = None
    precision: Share | None = None
    measure: AuditedMeasure = "jaccard"
    of: AuditedThing = "documents"
    confirm: ConfirmedBy | None = None
    confirm_threshold: float | None = None
    below: Below | None = None

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        shares = {name: getattr(self, name) for name in ("recall", "residual", "precision")}
        names = ("confirm", "confirm_threshold") if self.confirm else ()
        plain = {
            name: getattr(self, name) for name in ("measure", "threshold", *names, "of", "sampled", "with_partner")
        }
        below = {} if self.below is None else {"below": self.below._asdict()}
        return plain | {name: None if share is None else share._asdict() for name, share in shares.items()} | below


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


def compared_by(work: Mapping[str, int]) -> dict[str, Any]:
    """What statistics say of the work of comparing."""
    return {"compared": work.get("left_by_places", 0), "comparing": dict(work) if any(work.values()) else {}}


@dataclass(frozen=True)
class Stats(InNotebooks):
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
        empty: null or empty texts: never near-duplicates, removed as redirects or revisits only. Of pages whose text no
            layer has looked at, those without bytes.
        bare: texts without a token: near-duplicates of nothing, exact copies of their like.
        dropped_shingles: different ones that stand in more documents than `drop_boilerplate`.
            Where `boilerplate_per_host` was asked for, those that stand in this share of a host's documents: a shingle
            counts for each host.
        dropped_occurrences: documents that each of them stands in, summed.
        dropped_hosts: hosts whose documents lost something so.
        dropped_by_host: of 20 of these at most, those that lost most, the `host`, how many of its `documents` have
            shingles, the different `shingles` that were dropped, and their `occurrences`.
        emptied: documents that have nothing else: near-duplicates of nothing, exact copies of identical texts.
        repeated_ids: documents that were read whose id another of these before them has.
        distinct: different feature sets.
        features: items in the distinct sets.
        keys: offered by the distinct sets.
        meeting: distinct sets that share a key with another.
        compared: pairs of distinct sets that were compared: work, which batches and engines may change.
        comparing: what that took: how often two documents `met`, once in each key that they share (not counted where
            Spark's tasks decide); the pairs `left_by_places`, which are those compared; of these, the pairs
            `left_by_bits`, which are compared item by item; and of sets the `items` of both that were passed so.
        exact_copies: removed documents that equal their witness byte for byte.
        near_copies: the others that the method removed, or a copy of theirs byte for byte.
        other_copies: the rest, which layers before it removed: since an index that was asked knows them, by their URL
            or by what they say of themselves.
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
        decisions: what became of what people have decided: how many were `read`; of these, pairs kept `apart` that are
            similar, `chosen` documents that stay while the other goes, and what changes nothing (`confirmed`,
            `unsure`); how many pairs of documents are `both_kept` so though they are similar; and how many no longer
            fit: they are `not_similar`, `overruled` by what comes before, or `lost`, with `lost_ids`, some of the ids
            that no document has, or several.
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
        room: what was chosen on the way: by what the memory holds, where features are and how the count table is made;
            of codes the `search`: its `kind`, into how many `blocks` codes are cut and how many are a `header`, the
            `tables`, and of listed pairs the `candidates` that agree on a header, once in each.
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
    dropped_hosts: int = 0
    dropped_by_host: tuple[dict[str, Any], ...] = ()
    emptied: int = 0
    repeated_ids: int = 0
    distinct: int = 0
    features: int = 0
    keys: int = 0
    meeting: int = 0
    compared: int = 0
    comparing: dict[str, int] = field(default_factory=dict)
    exact_copies: int = 0
    near_copies: int = 0
    other_copies: int = 0
    removed: int = 0
    kept: int = 0
    clusters: int = 0
    largest: tuple[tuple[str, int], ...] = ()
    chained: int = 0
    component: Component | None = None
    measure: ReportedMeasure | Literal[""] = ""
    least: float = 1.0
    layers: tuple[dict[str, Any], ...] = ()
    decisions: dict[str, Any] = field(default_factory=dict)
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

    def __repr__(self) -> str:
        decided = f"{self.kept:,} kept, {self.removed:,} removed" if self.kept or self.removed else ""
        return f"Stats({counted(self.documents, 'document')}, {decided or f'{self.distinct:,} distinct'})"

    @property
    def known_copies(self) -> int:
        """Of the other copies, those that an index knows which was asked."""
        return sum(layer["removed"] for layer in self.layers if layer["layer"] == "index")

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Stats":
        """What a record says; what it lacks has its default."""
        known: dict[str, Any] = {name: record[name] for name in cls.__dataclass_fields__ if name in record}
        known |= {name: tuple(known[name]) for name in ("dropped_by_host", "layers", "notes") if name in known}
        known["largest"] = tuple((name, size) for name, size in known.get("largest", ()))
        component = known.get("component")
        known["component"] = None if component is None else Component(**component)
        return cls(**known)

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return dataclasses.asdict(self)
