"""What an index answers: frozen, JSON-able."""

import dataclasses
from collections.abc import Iterable
from dataclasses import field
from typing import Any, Literal, get_args

from nearsame.answers.in_notebooks import InNotebooks, in_a_line
from nearsame.dataclass import dataclass
from nearsame.recipes.choices import ReportedMeasure, StoreKind
from nearsame.shares import counted, cut

__all__ = [
    "FOUND_BY",
    "IN_A_CROWD",
    "AddStatus",
    "Added",
    "Entry",
    "FoundBy",
    "Group",
    "IndexStats",
    "Likeness",
    "Match",
    "Matches",
]


FoundBy = Literal["minhash", "simhash", "bytes", "text", "url"]  # what decides on similarity comes first
AddStatus = Literal["added", "replaced", "resembles", "present", "conflict"]
FOUND_BY: tuple[FoundBy, ...] = get_args(FoundBy)
IN_A_CROWD = "Very many documents have much in common with it; not all of them were compared."


class _Answer(InNotebooks):
    """Anything that can be written down, and is shown in a notebook."""

    __slots__ = ()

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]


@dataclass(frozen=True)
class Match(_Answer):
    """A document of the index that resembles the one that was asked about.

    Attributes:
        id: of the document.
        similarity: by the first method of the index that compares contents; None where neither does, or one of the two
            documents has nothing to be compared by.
        measure: what that is: jaccard, estimated, hamming, or what confirms a code.
        found_by: each kind of evidence that holds: minhash, simhash (above their thresholds), bytes, text, url.
        distance: in bits, of SimHash codes.
        url: of the document, as it was given.
        columns: those that the index keeps of it.
    """

    id: str
    similarity: float | None
    measure: ReportedMeasure | Literal[""]
    found_by: tuple[FoundBy, ...]
    distance: int | None = None
    url: str | None = None
    columns: dict[str, str] = field(default_factory=dict, hash=False)

    def __repr__(self) -> str:
        value = "" if self.similarity is None else f"{cut(self.similarity)} {self.measure}, "
        return in_a_line("Match", self.id, f"{value}{', '.join(self.found_by)}")

    @property
    def same_bytes(self) -> bool:
        """Whether it is the same text, byte for byte."""
        return "bytes" in self.found_by

    @property
    def same_text(self) -> bool:
        """Whether it has the same words in the same order."""
        return "text" in self.found_by

    @property
    def same_url(self) -> bool:
        """Whether it has the same canonical URL."""
        return "url" in self.found_by


class Matches(list[Match], InNotebooks):
    """What resembles a document, best first.

    Attributes:
        complete: whether these are the best there are. False where so many documents resemble it, or share keys with
            it, that not all of them were compared: they are the best of those that were.
        recall: the chance that the keys find a document exactly at the threshold, where one below the index's own was
            asked for (that of more similar ones is higher); None otherwise.
    """

    def __init__(self, matches: Iterable[Match] = (), *, complete: bool = True, recall: float | None = None) -> None:
        super().__init__(matches)
        self.complete = complete
        self.recall = recall

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able; `recall` where there is one."""
        told = {} if self.recall is None else {"recall": round(self.recall, 4)}
        return {"matches": [match.record() for match in self], "complete": self.complete, **told}


@dataclass(frozen=True)
class Added(_Answer):
    """What became of a document that was to be added.

    Attributes:
        id: of the document.
        added: whether it is in the index because of this.
        status: added; replaced, another document of the same id; resembles, so it was left out; present, the same
            document (text, URL and columns) is there already; conflict, another document has the id, and stays.
        matches: what it resembles among those before it, best first.
        complete: whether these are the best there are: see `Matches`.
    """

    id: str
    added: bool
    status: AddStatus
    matches: tuple[Match, ...] = ()
    complete: bool = True

    def __repr__(self) -> str:
        return in_a_line("Added", self.id, self.status, counted(self.matches, "match") if self.matches else "")


@dataclass(frozen=True)
class Entry(_Answer):
    """What the index has of a document.

    Attributes:
        id: of the document.
        url: as it was given.
        digests: by their names, in hexadecimal.
        code: its SimHash code, in hexadecimal; None where there is none.
        num_features: shingles in its set; None where only a sketch is stored.
        sketch: the values of its MinHash signature, where that is what is stored.
        text: where texts are stored.
        leader: id of the document that it was found to resemble, and is grouped with.
        columns: those that the index keeps of it.
    """

    id: str
    url: str | None
    digests: dict[str, str] = field(default_factory=dict)
    code: str | None = None
    num_features: int | None = None
    sketch: tuple[int, ...] | None = None
    text: str | None = None
    leader: str | None = None
    columns: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        features = "" if self.num_features is None else counted(self.num_features, "feature")
        text = "" if self.text is None else f"a text of {counted(self.text, 'character')}"
        return in_a_line("Entry", self.id, features, text)


@dataclass(frozen=True)
class Group(_Answer):
    """A document and those that were found to resemble it.

    Attributes:
        id: of the document that the others resemble.
        size: documents, itself included.
        members: ids, itself first; no more than were asked for.
    """

    id: str
    size: int
    members: tuple[str, ...]

    def __repr__(self) -> str:
        return in_a_line("Group", self.id, counted(self.size, "document"))


@dataclass(frozen=True)
class Likeness(_Answer):
    """Two documents of an index, compared.

    Attributes:
        a: id of the one.
        b: id of the other.
        similarity: as in Match, but whatever it is.
        measure: what that is.
        threshold: its least value that counts.
        found_by: each kind of evidence that holds, as in Match.
        distance: in bits, of SimHash codes.
        similar: whether any evidence holds.
    """

    a: str
    b: str
    similarity: float | None
    measure: ReportedMeasure | Literal[""]
    threshold: float | None
    found_by: tuple[FoundBy, ...]
    distance: int | None
    similar: bool

    def __repr__(self) -> str:
        verdict = "near-duplicates" if self.similar else "not near-duplicates"
        value = "" if self.similarity is None else f"{cut(self.similarity)} {self.measure}"
        return f"Likeness({', '.join([verdict, *filter(None, [value]), *self.found_by])})"


@dataclass(frozen=True)
class IndexStats(_Answer):
    """What there is to know of an index without looking through it.

    Attributes:
        where: its place, without a password.
        documents: in it.
        bytes: on disk; None where that is not known.
        bytes_per_document: the same, shared out.
        store: what is stored of a text: shingles, sketch or text.
        methods: the recipes, in order.
        keys_per_document: at most, all methods together.
        format: of the tables.
        columns: that are kept of documents.
    """

    where: str
    documents: int
    bytes: int | None
    bytes_per_document: float | None
    store: StoreKind
    methods: tuple[dict[str, Any], ...]
    keys_per_document: int
    format: str
    columns: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return in_a_line("IndexStats", self.where, counted(self.documents, "document"))
