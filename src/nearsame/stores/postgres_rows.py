"""What a transaction in PostgreSQL reads and writes.

1. A call is one journey to the server, however many documents and keys it is about.
2. Few rows go as arrays in a statement, many by COPY in its binary form.
3. How many documents there are is counted in stripes, so that clients do not wait for one row.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s
from nearsame.errors import StoreDamagedError, StoreError
from nearsame.stores import postgres_amcheck as amcheck
from nearsame.stores.base import Hits, Row
from nearsame.stores.checksums import (
    checksum_of,
    is_counter,
    led,
    require_all,
    sorted_out,
    sum_of_text,
    verified,
)
from nearsame.stores.postgres_session import Session, Statement

__all__ = ["INDEXES", "MADE", "MAKE", "RESERVE", "TABLES", "Transaction", "settled_number"]

MADE = "made"  # the setting by which an index is told from another at the same place
TABLES = ("settings", "counters", "documents", "postings")
RESERVE = "reserve(regclass, integer, integer, bigint)"
# @ stands for the schema.
MAKE = """
CREATE TABLE @settings (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE @counters (
    name text, stripe integer, value bigint NOT NULL, checksum bigint NOT NULL, PRIMARY KEY (name, stripe)
);
CREATE SEQUENCE @next_number;
CREATE TABLE @documents (
    number bigint NOT NULL, id text COLLATE "C" NOT NULL, url text COLLATE "C", leader bigint, checksum bigint NOT NULL,
    items bytea NOT NULL, text_sum bigint, text bytea
);
CREATE TABLE @postings (key bigint NOT NULL, number bigint NOT NULL);
ALTER TABLE @documents ALTER items SET STORAGE EXTERNAL, ALTER text SET STORAGE EXTERNAL;
CREATE FUNCTION @reserve(numbers regclass, lock_class integer, lock integer, count bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE first bigint;
BEGIN
    PERFORM pg_advisory_lock(lock_class, lock);
    first := nextval(numbers);
    IF count > 1 THEN PERFORM setval(numbers, first + count - 1); END IF;
    PERFORM pg_advisory_unlock(lock_class, lock);
    RETURN first;
EXCEPTION WHEN OTHERS THEN  -- the lock outlives the transaction
    PERFORM pg_advisory_unlock(lock_class, lock);
    RAISE;
END $$;
"""
INDEXES = """
ALTER TABLE @documents ADD PRIMARY KEY (number);
ALTER TABLE @documents ADD UNIQUE (id);
ALTER TABLE @postings ADD PRIMARY KEY (key, number);
CREATE INDEX documents_by_leader ON @documents (leader) WHERE leader IS NOT NULL;
ANALYZE @documents;
ANALYZE @postings;
"""
# The counter and its stripes: a transaction that adds holds its stripe until it ends.
_COUNT = """
INSERT INTO @counters AS c VALUES ('documents', pg_backend_pid() %% 16, %s, %s)
ON CONFLICT (name, stripe) DO UPDATE SET value = c.value + excluded.value, checksum = c.checksum - excluded.value
"""
# The number that was given out last, whether or not anybody can see the document.
_LAST = "SELECT last_value - (NOT is_called)::integer FROM @next_number"
# A transaction's numbers are above the one that its lock tells, so far as 30 bits do: see `settled_number`.
_BEGUN, _NUM_BEGUN = -2, 1 << 30
_RESERVE = f"""
WITH given (last) AS MATERIALIZED ({_LAST}), begun (done) AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared(%s::integer, {_BEGUN} - (last %% {_NUM_BEGUN})::integer)::text FROM given
) SELECT @reserve(%s::regclass, %s::integer, %s::integer, %s::bigint) FROM begun WHERE done IS NOT NULL
"""  # noqa: S608  (our own words)
_BEGUN_LOCKS = """
SELECT objid::bigint FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 2 AND classid = %s::bigint::oid AND pid <> pg_backend_pid()
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
# As checksums.py takes them.
_DOCUMENTS = "SELECT number, id, url, items, NULL::bytea, leader, text_sum, checksum FROM @documents WHERE "
_WITH_TEXT = "SELECT number, id, url, items, text, leader, text_sum, checksum FROM @documents WHERE "
_COLUMNS = "number, id, url, leader, checksum, items, text_sum, text"  # as they are written
_MANY = 64  # documents, from which on COPY is faster
_POSTING = np.dtype([("fields", ">i2"), ("s1", ">i4"), ("key", ">i8"), ("s2", ">i4"), ("number", ">i8")])
_NUMBERS_LOCK = -1  # of the second number of an advisory lock; writers use those from 0 on


def settled_number(session: Session, prefix: str, lock_class: int) -> int:
    """No document that anybody adds from now on, or is adding, has this number or a smaller one.

    A writer's lock tells a number below its own, and is there from before it gets these until all can see them. So what
    is not visible later, of the numbers that were given out by now, has a lock that is seen here.
    """
    if session.run("SELECT pg_is_in_recovery()") == [(True,)]:
        message = f"{session.address.shown} is a standby, which does not know who is writing: it cannot be followed"
        raise StoreError(message, hint="Ask the primary for documents by their numbers.")
    given = _LAST.replace("@", prefix)
    settled: int = session.run(given)[0][0]
    places = [place - (1 << 32) for (place,) in session.run(_BEGUN_LOCKS, (lock_class % (1 << 32),)) if place >> 31]
    highest: int = session.run(given)[0][0]  # no lock tells more
    told = (_BEGUN - place for place in places if place <= _BEGUN)
    below: list[int] = [highest - (highest - number) % _NUM_BEGUN for number in told]
    return min(settled, *below) if below else settled


class Transaction:
    """A transaction that has begun.

    Args:
        session: where it has begun.
        schema: the schema of the tables.
        name: of the index.
        lock_class: the first number of the index's advisory locks.
        before: what is to be done before something is looked up.
    """

    def __init__(
        self, session: Session, schema: str, name: str, lock_class: int, before: Callable[[], None] | None = None
    ) -> None:
        self.name = name
        self._session = session
        self._prefix = f'"{schema}".'
        self._lock_class = lock_class
        self._before = before
        self._added = 0

    def named(self, ids: Sequence[str], *, text: bool = False) -> dict[str, Row]:
        """The documents of those ids that are there."""
        wanted = list(dict.fromkeys(ids))
        rows = self._documents("id = ANY(%s::text[])", wanted, text=text) if wanted else ()
        return {row.id: row for row in rows}

    def rows(self, numbers: Iterable[int], *, text: bool = False, missing_ok: bool = False) -> dict[int, Row]:
        """The documents of some numbers."""
        wanted = list(map(int, numbers))
        rows = self._documents("number = ANY(%s::bigint[])", wanted, text=text) if wanted else ()
        by_number = {row.number: row for row in rows}
        if not missing_ok:
            require_all(wanted, by_number, self.name)
        return by_number

    def postings(self, keys: Int64s, most: int | Int64s) -> Hits:
        """Of each key the documents with the smallest numbers, in order."""
        statement = """
            SELECT asked.place - 1, found.number
            FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS asked (key, most, place),
            LATERAL (SELECT number FROM @postings AS p WHERE p.key = asked.key ORDER BY number LIMIT asked.most)
            AS found ORDER BY 1, 2"""
        table = _pairs(self._run(statement, keys.tolist(), np.full(keys.size, most).tolist()))
        return Hits(table[:, 0], table[:, 1])

    def page(self, after: int, limit: int, *, text: bool = False) -> list[Row]:
        """The next documents by number."""
        return self._documents("number > %s ORDER BY number LIMIT %s", after, limit, text=text)

    def containing(self, words: Sequence[str], after: int, limit: int) -> list[Row]:
        """The next documents whose id or URL contains each word, small and capital letters alike."""
        part = 'position(%s in lower({} COLLATE "C")) > 0'
        has = f" AND ({part.format('id')} OR {part.format('url')})" * len(words)
        values = (value for word in words for value in (word, word))
        return self._documents(f"number > %s{has} ORDER BY number LIMIT %s", after, *values, limit, text=False)

    def last_number(self) -> int:
        """The largest number of a document."""
        last: int = self._run("SELECT coalesce(max(number), 0) FROM @documents")[0][0]
        return last

    def salvaged(self, first: int, last: int) -> tuple[list[Row], list[int]]:
        """The documents from one number to another that are whole, and the numbers of those that are not."""
        return sorted_out(self._run(_WITH_TEXT + "number BETWEEN %s AND %s ORDER BY number", first, last))

    def attempt(self) -> AbstractContextManager[None]:
        """A failed statement ends a transaction, unless it goes back to a savepoint."""
        return self._session.savepoint(tuple)

    def postings_page(self, after: tuple[int, int] | None, limit: int) -> tuple[Int64s, Int64s]:
        """The next (keys, numbers), ascending."""
        statement = "SELECT key, number FROM @postings WHERE (key, number) > (%s, %s) ORDER BY key, number LIMIT %s"
        table = _pairs(self._run(statement, *(after or (-(2**63), 0)), limit))
        return table[:, 0], table[:, 1]

    def which(self) -> str:
        """What was drawn when it was made."""
        return str(self._run("SELECT value FROM @settings WHERE name = %s", MADE)[0][0])

    def counts(self) -> dict[str, int]:
        """How many documents there are, and the next number; each counter is held to its checksum."""
        statement = """
            SELECT name, value, checksum FROM @counters UNION ALL
            SELECT 'next', last_value + is_called::integer, ~(last_value + is_called::integer) FROM @next_number"""
        counters = self._run(statement)
        if not all(is_counter(*pair) and name in ("documents", "next") for name, *pair in counters):
            raise StoreDamagedError.of(self.name, "a counter is not what was written")
        documents = sum(value for name, value, _ in counters if name == "documents")
        return {
            "documents": documents + self._added,
            "next": sum(value for name, value, _ in counters if name == "next"),
        }

    def largest(self, limit: int, offset: int = 0) -> list[tuple[int, int]]:
        """(leader, how many it leads) of the leaders that lead most."""
        statement = (
            "SELECT leader, count(*) FROM @documents WHERE leader IS NOT NULL"
            " GROUP BY leader ORDER BY count(*) DESC, leader LIMIT %s OFFSET %s"
        )
        return [(leader, led) for leader, led in self._run(statement, limit, offset)]

    def grouped(self) -> tuple[int, int]:
        """(leaders, documents that they lead)."""
        statement = "SELECT count(DISTINCT leader), count(*) FROM @documents WHERE leader IS NOT NULL"
        leaders, followers = self._run(statement)[0]
        return leaders, followers

    def followers(self, leader: int, limit: int | None = None) -> list[int]:
        """Whom a document leads, ascending."""
        statement = "SELECT number FROM @documents WHERE leader = %s ORDER BY number LIMIT %s"
        return [row[0] for row in self._run(statement, leader, limit)]

    def problems(self) -> list[str]:
        """Whether the counters are right, and what the server's own check finds where it is installed."""
        documents, last = self._run("SELECT count(*) FROM @documents")[0][0], self.last_number()
        counts, problems = self.counts(), []
        if counts["documents"] != documents:
            problems.append(f"the counter says {counts['documents']} documents, and there are {documents}")
        if counts["next"] <= last:
            problems.append(f"the next number is {counts['next']}, but document {last} exists")
        return [*problems, *amcheck.problems(self._session, [self._prefix + name for name in TABLES])]

    def reserve(self, count: int) -> int:
        """The first of so many new numbers in a row; until this ends, all can see above which number they are."""
        values = (self._lock_class, f"{self._prefix}next_number", self._lock_class, _NUMBERS_LOCK, count)
        first: int = self._session.run(self._text(_RESERVE), values)[0][0]
        return first

    def insert(self, rows: Sequence[Row], keys: Int64s, numbers: Int64s) -> None:
        """Add documents, and their postings."""
        self._added += len(rows)
        if len(rows) < _MANY:
            self._insert_few(rows, keys, numbers)
        else:
            self._copy_documents(rows)
            self.post(keys, numbers)

    def delete(self, numbers: Sequence[int], keys: Int64s, of: Int64s) -> None:
        """Take documents away, and their postings."""
        statement = "DELETE FROM @documents WHERE number = ANY(%s::bigint[]) RETURNING number"
        self._added -= len(self._run(statement, list(map(int, numbers))))
        postings = """
            DELETE FROM @postings AS p USING unnest(%s::bigint[], %s::bigint[]) AS gone (key, number)
            WHERE p.key = gone.key AND p.number = gone.number"""
        self._run(postings, keys.tolist(), of.tolist())

    def post(self, keys: Int64s, numbers: Int64s) -> None:
        """Add postings, in order."""
        order = np.lexsort((numbers, keys))
        table = np.empty(order.size, _POSTING)
        table["fields"], table["s1"], table["s2"] = 2, 8, 8
        table["key"], table["number"] = keys[order], numbers[order]
        self._session.copy(self._text("COPY @postings (key, number) FROM STDIN (FORMAT BINARY)"), table.tobytes())

    def lead(self, pairs: Iterable[tuple[int, int | None]]) -> None:
        """Write down (number, its leader)."""
        table = dict(pairs)
        records = self._run(
            "SELECT number, leader, checksum FROM @documents WHERE number = ANY(%s::bigint[])", list(table)
        )
        changed = [
            (number, table[number], led(checksum, number, old, table[number])) for number, old, checksum in records
        ]
        statement = """
            UPDATE @documents AS d SET leader = new.leader, checksum = new.checksum
            FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS new (number, leader, checksum)
            WHERE d.number = new.number"""
        if changed:
            self._run(statement, *map(list, zip(*changed, strict=True)))

    def last(self) -> list[Statement]:
        """What is to be written before the end: the counter."""
        return [(self._text(_COUNT), (self._added, ~self._added))] if self._added else []

    def _insert_few(self, rows: Sequence[Row], keys: Int64s, numbers: Int64s) -> None:
        documents = f"""
            INSERT INTO @documents ({_COLUMNS}) SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[],
            %s::bigint[], %s::bigint[], %s::bytea[], %s::bigint[], %s::bytea[])"""  # noqa: S608  (a constant)
        records = [_record(row) for row in rows]
        columns = [[record[at] for record in records] for at in range(8)]
        postings = "INSERT INTO @postings (key, number) SELECT * FROM unnest(%s::bigint[], %s::bigint[])"
        self._session.run_all(
            [
                (self._text(documents), tuple(columns)),
                (self._text(postings), (keys.tolist(), numbers.tolist())),
            ]
        )

    def _copy_documents(self, rows: Sequence[Row]) -> None:
        records = bytearray()
        for row in rows:
            records += b"\0\x08"
            for value in _record(row):
                records += _field(value)
        statement = f"COPY @documents ({_COLUMNS}) FROM STDIN (FORMAT BINARY)"
        self._session.copy(self._text(statement), records)

    def _documents(self, condition: str, *values: Any, text: bool) -> list[Row]:
        records = self._run((_WITH_TEXT if text else _DOCUMENTS) + condition, *values)
        return [verified(record, self.name, text=text) for record in records]

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        if self._before is not None:
            self._before()
            self._before = None
        return self._session.run(self._text(statement), values)

    def _text(self, statement: str) -> str:
        return statement.replace("@", self._prefix)


def _record(row: Row) -> tuple[Any, ...]:
    text_sum = sum_of_text(row.text)
    return row.number, row.id, row.url, row.leader, checksum_of(row, text_sum), row.items, text_sum, row.text


def _field(value: str | bytes | int | None) -> bytes:
    """A value of a record, as COPY has it."""
    if value is None:
        return b"\xff\xff\xff\xff"
    if isinstance(value, int):
        value = value.to_bytes(8, "big", signed=True)
    elif isinstance(value, str):
        value = value.encode()
    return len(value).to_bytes(4, "big") + value


def _pairs(rows: Sequence[tuple[int, ...]]) -> npt.NDArray[np.int64]:
    """The rows as an array of int64[n, 2]."""
    return np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows)).reshape(-1, 2)
