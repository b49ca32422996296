"""What two runs decided differently: frozen, JSON-able."""

from typing import Literal

from nearsame.dataclass import dataclass

__all__ = ["ChangedDocument", "RunChanges", "WhyChanged"]

WhyChanged = Literal["decision", "unread", "swapped", "witness", "threshold", "settings", "documents"]


@dataclass(frozen=True)
class ChangedDocument:
    """A document that goes in one of the two runs, and stays, or is not there, in the other.

    Attributes:
        id: of the document.
        source: where it is.
        row: likewise.
        witness: the document that it goes for.
        similarity: of the two.
        measure: what that is.
        cluster: the number of its cluster, in the run in which it goes.
        kind: why the other run did otherwise.
        why: the same in words.
    """

    id: str
    source: str
    row: int
    witness: str
    similarity: float
    measure: str
    cluster: int
    kind: WhyChanged
    why: str


@dataclass(frozen=True)
class RunChanges:
    """A run beside an older one. Documents are the same where their ids are.

    Attributes:
        older: what the older one is called.
        settings: (name, then, now) of each that differs.
        removed: (then, now).
        num_gone: how many documents go now, and did not then.
        num_back: how many went then, and do not now.
        num_moved: how many go in both, for another witness.
        num_unknown: documents left out, whose ids several have.
        reasons: why, for how many: (whether they go now, words, documents), most first.
        gone: some of those that go now, the least similar first.
        back: some of those that went then.
    """

    older: str
    settings: tuple[tuple[str, str, str], ...]
    removed: tuple[int, int]
    num_gone: int
    num_back: int
    num_moved: int
    num_unknown: int
    reasons: tuple[tuple[bool, str, int], ...]
    gone: tuple[ChangedDocument, ...]
    back: tuple[ChangedDocument, ...]
