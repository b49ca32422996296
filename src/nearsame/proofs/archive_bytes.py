"""Whether the records of a copied archive are those of its source, byte for byte, in order, without those that go.

With a removed document go the records that were written for it, requests and the like: any of these may be missing.
What is not a row of whole WARC records (ARC, damage) is not looked at here; its documents are compared elsewhere.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from nearsame.proofs.revisits import Stored

__all__ = ["problem_of_records"]

_BESIDE = (b"request", b"metadata", b"revisit")


def problem_of_records(source: Iterator[Stored], copy: Iterator[Stored], gone: AbstractSet[int]) -> str:
    """What is wrong with a copy; nothing: all is right.

    Args:
        source: The records that were read.
        copy: Those that were written.
        gone: Positions of documents that are not in the copy.
    """
    waiting = enumerate(source)
    for number, mine in enumerate(copy):
        for position, record in waiting:
            if position not in gone and record.digest == mine.digest:
                break
            if not _may_go(position, record, gone):
                return f"record {number} is not record {position} of its source"
        else:
            return f"it goes on after the last record of its source, with record {number}"
    missing = (position for position, record in waiting if not _may_go(position, record, gone))
    return next((f"it ends where record {position} of its source should stand" for position in missing), "")


def _may_go(position: int, record: Stored, gone: AbstractSet[int]) -> bool:
    return position in gone or record.fields.get(b"warc-type", b"").lower() in _BESIDE
