"""An index in a PostgreSQL database, shared by any number of clients on any number of machines.

1. The tables are those of the SQLite file, in a schema of their own.
2. Writers that could find each other's documents wait for each other: an advisory lock for each key, taken in ascending
   order before anything is looked up, so that what one finds the other has committed. Who locks more keys than is
   sensible, or does not know them, locks out all other writers. Readers take no lock and wait for nobody.
3. A new index is made in a schema of another name, in one transaction, and moved to its place at the end of it.
4. Each transaction sees to it that the index is still the one that was opened.
"""

import secrets
import shlex
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from nearsame.arrow import Int64s, unsigned
from nearsame.errors import ConfigError, StoreDamagedError, StoreError
from nearsame.stores.base import Reader
from nearsame.stores.checksums import require_settings, sealed
from nearsame.stores.forks import Owner
from nearsame.stores.postgres_rows import INDEXES, MADE, MAKE, RESERVE, TABLES, Transaction, settled_number
from nearsame.stores.postgres_session import UTF8, Address, Session, Statement
from nearsame.turns import Turns

__all__ = ["Postgres"]

_MOST_LOCKS = 256  # of a transaction: the server's table holds some 6,000 by default, for all its clients
_WRITERS = 0  # the lock that says whether one writes alone
_NUM_LOCKS = np.uint64((1 << 31) - 1)
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"  # whatever the server's own: what others wrote is seen behind a lock
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_LOCK = "SELECT pg_advisory_xact_lock(%s::integer, %s::integer)"
_LOCK_SHARED = "SELECT pg_advisory_xact_lock_shared(%s::integer, %s::integer)"
_LOCK_EACH = "SELECT pg_advisory_xact_lock(%s::integer, key) FROM unnest(%s::integer[]) AS key"
# A new index may take long to fill, and to sort.
_ROOM = "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL maintenance_work_mem = '256MB';"
# Whose the tables, the sequence and the function of a schema are, if it is not who asks, as statements.
_OWNED = f"""
SELECT format(
    'ALTER %%s %%I.%%I OWNER TO %%s;', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
    nspname, relname, relowner::regrole
) FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
WHERE nspname = %s AND relname = ANY(%s) AND relowner <> current_user::regrole
UNION ALL
SELECT format('ALTER FUNCTION %%I.{RESERVE} OWNER TO %%s;', nspname, proowner::regrole)
FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace
WHERE nspname = %s AND proname = 'reserve' AND proowner <> current_user::regrole
"""  # noqa: S608  (our own words)
# What others may do with the tables, their columns, the sequence and the function of a schema, as statements: in place
# of what new ones in another schema are given by default, as far as these have such columns.
_GRANTED = f"""
WITH known AS (
    SELECT c.oid, nspname, relname, relacl, relowner, CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace WHERE relname = ANY(%(names)s)
),
old AS (SELECT * FROM known WHERE nspname = %(place)s),
new AS (SELECT * FROM known WHERE nspname = %(making)s),
functions AS (
    SELECT nspname, coalesce(proacl, acldefault('f', proowner)) AS proacl, proowner
    FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace WHERE proname = 'reserve'
),
rights AS (
    SELECT 1 AS nth, privilege_type AS what, grantee, is_grantable,
        kind || format(' %%I.%%I', nspname, relname) AS thing
    FROM old, aclexplode(relacl) WHERE grantee <> relowner
    UNION ALL
    SELECT 1, format('%%s (%%I)', privilege_type, a.attname), grantee, is_grantable,
        format('TABLE %%I.%%I', old.nspname, old.relname)
    FROM old JOIN pg_attribute AS a ON a.attrelid = old.oid AND NOT a.attisdropped
    JOIN new ON new.relname = old.relname
    JOIN pg_attribute AS b ON b.attrelid = new.oid AND b.attname = a.attname, aclexplode(a.attacl)
    UNION ALL
    SELECT 1, privilege_type, grantee, is_grantable, format('FUNCTION %%I.{RESERVE}', nspname)
    FROM functions, aclexplode(proacl) WHERE nspname = %(place)s AND grantee <> proowner
    UNION ALL
    SELECT 0, 'ALL', grantee, false, new.kind || format(' %%I.%%I', old.nspname, old.relname)
    FROM new JOIN old ON old.relname = new.relname, aclexplode(new.relacl) WHERE grantee <> new.relowner
    UNION ALL
    SELECT 0, 'ALL', grantee, false, format('FUNCTION %%I.{RESERVE}', old.nspname)
    FROM functions AS old, functions AS new, aclexplode(new.proacl)
    WHERE old.nspname = %(place)s AND new.nspname = %(making)s AND grantee <> new.proowner
)
SELECT format(CASE nth WHEN 0 THEN 'REVOKE %%s ON %%s FROM %%s;' ELSE 'GRANT %%s ON %%s TO %%s%%s;' END,
    what, thing, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
    CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM rights ORDER BY nth
"""  # noqa: S608  (our own words)


class Postgres:
    """An open index, or one that is being made."""

    def __init__(self, session: Session, schema: str, settings: Mapping[str, str], *, read_only: bool = False) -> None:
        self._session = session
        self._schema = schema  # where its tables are now
        self._read_only = read_only
        self._overwrite = False
        self._indexed = False
        if MADE not in settings:
            raise StoreDamagedError.of(session.address.shown, "its settings are not what was written")
        self._made = settings[MADE]
        self._lock_class = _signed(zlib.crc32(session.address.schema.encode()))
        self.settings: Mapping[str, str] = {name: value for name, value in settings.items() if name != MADE}

    @classmethod
    def open(cls, where: str, *, read_only: bool, timeout_seconds: float) -> "Postgres":
        """The index at an address; see `stores.open_store`."""
        address = Address.parse(where)
        session = Session(address, timeout_seconds)
        try:
            _require_index(session)
            settings = dict(session.run(f'SELECT name, value FROM "{address.schema}".settings'))  # noqa: S608  (a checked name)
            settings = require_settings(address.shown, settings)
            return cls(session, address.schema, settings, read_only=read_only)
        except BaseException:
            session.close()
            raise

    @classmethod
    def create(cls, where: str, settings: Mapping[str, str], *, overwrite: bool, timeout_seconds: float) -> "Postgres":
        """A new index that nobody sees yet; see `stores.create_store`."""
        address = Address.parse(where)
        session = Session(address, timeout_seconds)
        making = f"{address.schema}_{secrets.token_hex(4)}"
        written = sealed({**settings, MADE: secrets.token_hex(8)})
        try:
            _require_unicode(session)
            _refuse_present(session, overwrite=overwrite)
            session.run(_WRITE)
            session.inside = True
            session.script(_ROOM + f'CREATE SCHEMA "{making}";' + MAKE.replace("@", f'"{making}".'))
            for pair in written.items():
                session.run(f'INSERT INTO "{making}".settings VALUES (%s, %s)', pair)  # noqa: S608  (a checked name)
            store = cls(session, making, require_settings(address.shown, written))
        except BaseException:
            session.close()
            raise
        store._overwrite = overwrite
        return store

    @property
    def owner(self) -> Owner:
        """The process that it is open in."""
        return self._session.owner

    @property
    def turns(self) -> Turns:
        """Whose turn it is of its threads."""
        return self._session.turns

    @property
    def name(self) -> str:
        """Its address, without a password."""
        return self._session.address.shown

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that reads one snapshot; while the store is made, what was written so far."""
        if self._making:
            yield self._transaction()
            return
        with self._session.transaction([(_SNAPSHOT, ()), self._which()]) as identity:
            self._require_same(identity)
            yield self._transaction()

    @contextmanager
    def writing(self, keys: Int64s | None) -> Iterator[Transaction]:
        """One transaction, which waits for those who write what it looks at."""
        if self._read_only:
            raise StoreError(f"{self.name} was opened read-only", hint="Open it without read_only=True.")
        transaction = self._transaction()
        if self._making:
            with self._session.savepoint(transaction.last):
                yield transaction
            return
        begin = [(_WRITE, ()), *self._locks(keys), self._which()]
        with self._session.transaction(begin, transaction.last) as identity:
            self._require_same(identity)
            yield transaction

    def publish(self, require: Callable[[Reader], None] | None = None) -> None:
        """Move a new index to its place, complete, where others may do with it what they might with the old one."""
        place, making = self._session.address.schema, self._schema
        self._index()
        self._session.run(_LOCK, (self._lock_class, _WRITERS))
        _refuse_present(self._session, overwrite=self._overwrite)
        if require is not None:
            require(Transaction(self._session, place, self.name, self._lock_class, None))
        owned = [owner for (owner,) in self._session.run(_OWNED, (place, [*TABLES, "next_number"], place))]
        named = {"place": place, "making": making, "names": [*TABLES, "next_number"]}
        granted = [grant for (grant,) in self._session.run(_GRANTED, named)]
        self._session.script(f"""
            CREATE SCHEMA IF NOT EXISTS "{place}";
            DROP TABLE IF EXISTS {", ".join(f'"{place}".{name}' for name in TABLES)};
            DROP SEQUENCE IF EXISTS "{place}".next_number;
            DROP FUNCTION IF EXISTS "{place}".{RESERVE};
            {"".join(f'ALTER TABLE "{making}".{name} SET SCHEMA "{place}";' for name in TABLES)}
            ALTER SEQUENCE "{making}".next_number SET SCHEMA "{place}";
            ALTER FUNCTION "{making}".{RESERVE} SET SCHEMA "{place}";
            DROP SCHEMA "{making}";
            {"".join(granted)}
            {"".join(owned)}
        """)
        self._session.commit()
        self._session.inside = False
        self._schema = place

    def backup(self, where: str, *, overwrite: bool) -> None:  # noqa: ARG002  (that is for pg_dump to decide)
        """Say how it is done; see `stores.base.Store`."""
        address = self._session.address
        command = ("pg_dump", "--schema", address.schema, "--format", "custom", "--file", where, address.database)
        message = f"{self.name} is on a PostgreSQL server: pg_dump can copy it, even while it is in use"
        raise StoreError(message, hint=f"Run: {shlex.join(command)}")

    def settled(self) -> int:
        """The number above which transactions that have not ended may still add documents."""
        asked = self._session, f'"{self._schema}".', self._lock_class
        if self._session.inside:
            return settled_number(*asked)
        with self._session.transaction([(f"{_WRITE} READ ONLY", ())]):
            return settled_number(*asked)

    def size_bytes(self) -> int | None:
        """The tables with their indexes."""
        places = [f'"{self._schema}".{name}' for name in TABLES]
        statement = "SELECT sum(pg_total_relation_size(name::regclass))::bigint FROM unnest(%s::text[]) AS name"
        size: int = self._session.run(statement, (places,))[0][0]
        return size

    def close(self) -> None:
        """Hang up; an index that was not published never was."""
        self._session.close()

    @property
    def _making(self) -> bool:
        return self._schema != self._session.address.schema

    def _transaction(self) -> Transaction:
        before = self._index if self._making and not self._indexed else None
        return Transaction(self._session, self._schema, self.name, self._lock_class, before)

    def _index(self) -> None:
        """Sort what was brought until now, once, before somebody looks things up in it."""
        if not self._indexed:
            prefix = f'"{self._schema}".'
            self._session.script(INDEXES.replace("@", prefix))
            self._indexed = True

    def _locks(self, keys: Int64s | None) -> list[Statement]:
        """What keeps others from adding what this transaction cannot see."""
        if keys is None or keys.size > _MOST_LOCKS:
            return [(_LOCK, (self._lock_class, _WRITERS))]
        locks = np.unique(unsigned(keys) % _NUM_LOCKS).astype(np.int64) + 1
        return [(_LOCK_SHARED, (self._lock_class, _WRITERS)), (_LOCK_EACH, (self._lock_class, locks.tolist()))]

    def _which(self) -> Statement:
        return f"SELECT value FROM \"{self._schema}\".settings WHERE name = '{MADE}'", ()  # noqa: S608  (a checked name)

    def _require_same(self, identity: list[tuple[Any, ...]]) -> None:
        if identity != [(self._made,)]:
            raise StoreError(f"{self.name} is another index than when it was opened", hint="Open it again.")


def _require_index(session: Session) -> None:
    missing = sorted({*TABLES} - _present(session))
    if missing:
        message = f"{session.address.shown}: schema {session.address.schema} holds no index"
        raise StoreError(message, hint="Create the index first, or check the address and its ?schema=NAME.")


def _require_unicode(session: Session) -> None:
    if session.encoding not in ("UTF8", "SQL_ASCII"):  # the second takes bytes as they come
        message = f"{session.address.shown} is a database of {session.encoding}, which has not all characters of texts"
        raise ConfigError(message, hint=f"{UTF8}.")


def _refuse_present(session: Session, *, overwrite: bool) -> None:
    present, address = _present(session), session.address
    if {*TABLES} <= present and not overwrite:
        raise StoreError(f"{address.shown} exists", hint="Open it, or add --overwrite (overwrite=True) to replace it.")
    if present:
        made = f"SELECT 1 FROM \"{address.schema}\".settings WHERE name = '{MADE}'"  # noqa: S608  (a checked name)
        if not {*TABLES} <= present or not session.run(made):
            message = f"{address.shown}: there is something called {', '.join(sorted(present))} that is not an index's"
            raise StoreError(message, hint="Choose another schema, with ?schema=NAME.")


def _present(session: Session) -> set[str]:
    """What has names of ours: tables, the sequence, the function."""
    statement = """
        SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relname = ANY(%s)
        UNION ALL SELECT %s::text WHERE to_regprocedure(%s) IS NOT NULL"""
    place = session.address.schema
    given = place, [*TABLES, "next_number"], RESERVE.partition("(")[0], f'"{place}".{RESERVE}'
    return {name for (name,) in session.run(statement, given)}


def _signed(number: int) -> int:
    """32 bits as PostgreSQL has them."""
    return number - (1 << 32) if number >> 31 else number
