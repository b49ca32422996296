"""What an index needs of a store: rows, keys and transactions, and nothing of similarity.

1. Values are int64, bytes, texts and None. A key is 64 bits; what it stands for is the index's affair.
2. A block of `writing` is one transaction: all of it is durable when the block is left, or none of it happened. What it
   reads is what the last transaction left, and nobody else writes meanwhile what shares a key with it.
3. A block of `reading` is one snapshot.
4. A document has a number, given by the store, larger than those before it and never given again.
5. Counters are kept, not counted.
6. What is read is what was written: each row has a checksum (checksums.py), and one that does not agree is an error.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from nearsame.arrow import Int64s
from nearsame.named import NamedTuple

if TYPE_CHECKING:  # most runs have no index
    from nearsame.stores.forks import Owner
    from nearsame.turns import Turns

__all__ = ["FORMAT", "Hits", "Reader", "Row", "Store", "Writer"]

FORMAT = "3"  # of the tables and of what is in them


class Row(NamedTuple):
    """A document as it is stored."""

    number: int
    id: str
    url: str | None
    items: bytes  # what it is compared by
    text: bytes | None  # compressed; None where texts are not stored, or were not asked for
    leader: int | None  # number of the document that it was found to resemble; None: it leads itself


class Hits(NamedTuple):
    """Which documents have which of the keys that were asked for."""

    places: Int64s  # of the key, in what was asked
    numbers: Int64s


class Reader(Protocol):
    """One snapshot.

    Raises:
        StoreError: Whatever is asked: a row is not what was written.
    """

    @property
    def name(self) -> str:
        """Where the store is, as messages name it: without a password."""

    def named(self, ids: Sequence[str], *, text: bool = False) -> dict[str, Row]:
        """The documents of those ids that are there."""

    def rows(self, numbers: Iterable[int], *, text: bool = False, missing_ok: bool = False) -> dict[int, Row]:
        """The documents of some numbers, all of which must be there unless `missing_ok`."""

    def postings(self, keys: Int64s, most: int | Int64s) -> Hits:
        """Of each key the documents with the `most` smallest numbers, in order.

        Args:
            keys: Ascending and distinct.
            most: Of all, or of each.
        """

    def page(self, after: int, limit: int, *, text: bool = False) -> list[Row]:
        """The next documents by number."""

    def containing(self, words: Sequence[str], after: int, limit: int) -> list[Row]:
        """The next documents by number whose id or URL contains each of these, whose capitals A to Z are small."""

    def last_number(self) -> int:
        """The largest number of a document; 0 if there is none."""

    def salvaged(self, first: int, last: int) -> tuple[list[Row], list[int]]:
        """The whole documents from one number to another, with texts; and the numbers of those that are damaged."""

    def attempt(self) -> AbstractContextManager[None]:
        """A block whose failure leaves the snapshot usable."""

    def postings_page(self, after: tuple[int, int] | None, limit: int) -> tuple[Int64s, Int64s]:
        """The next (keys, numbers), ascending."""

    def which(self) -> str:
        """What tells an index from any other at its place, before or after it."""

    def counts(self) -> dict[str, int]:
        """The counters: documents, and next, the number that nobody has had."""

    def largest(self, limit: int, offset: int = 0) -> list[tuple[int, int]]:
        """(leader, how many it leads) of the leaders that lead most; among equals the smaller number comes first."""

    def grouped(self) -> tuple[int, int]:
        """(leaders, documents that they lead)."""

    def followers(self, leader: int, limit: int | None = None) -> list[int]:
        """Whom a document leads, ascending."""

    def problems(self) -> list[str]:
        """What the engine's own check of the files finds, and what counters and tables contradict each other in."""


class Writer(Reader, Protocol):
    """A transaction that changes the store: all that it does is seen afterwards, or nothing."""

    def reserve(self, count: int) -> int:
        """The first of so many new numbers in a row."""

    def insert(self, rows: Sequence[Row], keys: Int64s, numbers: Int64s) -> None:
        """Add documents, and their postings (keys[i], numbers[i])."""

    def delete(self, numbers: Sequence[int], keys: Int64s, of: Int64s) -> None:
        """Take documents away, and the postings (keys[i], of[i])."""

    def post(self, keys: Int64s, numbers: Int64s) -> None:
        """Add postings of documents that are there: (keys[i], numbers[i])."""

    def lead(self, pairs: Iterable[tuple[int, int | None]]) -> None:
        """Write down (number, its leader)."""


@runtime_checkable
class Store(Protocol):
    """An open store, of which there are two: a file of SQLite, and tables of PostgreSQL."""

    @property
    def name(self) -> str:
        """Where it is, without a password."""

    @property
    def owner(self) -> "Owner":
        """The process that it is open in, and nobody else's."""

    @property
    def turns(self) -> "Turns":
        """Whose turn it is of its threads."""

    @property
    def settings(self) -> Mapping[str, str]:
        """What was written down when it was made."""

    def reading(self) -> AbstractContextManager[Reader]:
        """A transaction that reads: what others write meanwhile is not seen."""

    def writing(self, keys: Int64s | None) -> AbstractContextManager[Writer]:
        """One transaction that looks at, and adds, these keys (ascending, distinct); None: it may touch anything."""

    def publish(self, require: Callable[[Reader], None] | None = None) -> None:
        """Make a store that was just created, and filled, appear to everybody, complete and durable.

        Args:
            require: Looks at the one whose place it takes, when nobody can write to that any more; it may raise.

        Raises:
            StoreBusyError: Somebody uses that one, for too long.
        """

    def backup(self, where: str, *, overwrite: bool) -> None:
        """Copy it to another place, as it is at this moment, complete or not at all.

        Args:
            where: The path of a file.
            overwrite: Whether the copy takes the place of an index that is there.

        Raises:
            StoreError: Something is there, it cannot be made, or the database has its own way to do it.
        """

    def settled(self) -> int | None:
        """No document will be added any more whose number is this or less; None: whatever is read later is so."""

    def size_bytes(self) -> int | None:
        """What it takes on disk."""

    def close(self) -> None:
        """Let go of it; a store that was created and not published vanishes."""
