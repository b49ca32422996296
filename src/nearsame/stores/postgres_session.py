"""A connection to PostgreSQL: its address, its settings, its transactions, and what its errors mean.

1. psycopg is imported in this file only, when an address is read.
2. A password leaves this file towards the server alone: no message, log or record has it.
3. A transaction that was reported as done is on the server's disk: `synchronous_commit` is never off.
4. A client that vanishes gives back its locks: the server asks for a sign of life every few seconds. So does
   the client: a server that vanishes, or a way to it that forgets the connection, is an error within a minute.
5. A lost connection is an error for the transaction that it broke, and is made anew for the next.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from nearsame.dataclass import dataclass
from nearsame.errors import (
    ConfigError,
    InterruptedChangeError,
    MissingExtraError,
    NearSameError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
)
from nearsame.stores.forks import Owner
from nearsame.turns import Turns

if TYPE_CHECKING:
    import psycopg

__all__ = ["UTF8", "Address", "Session", "Statement"]

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,50}")  # PostgreSQL takes 63; a schema in the making has a longer name
_HOST = re.compile(r"(\[[0-9A-Fa-f:.%]*\]|[^:\[\]]*)(:[0-9]*)?")
_DEFAULT_SCHEMA = "nearsame"
_SECRETS = {"password", "sslpassword"}
_SETTINGS = {
    "statement_timeout": "0",  # what takes long is not wrong; how long another is waited for is said below
    "idle_in_transaction_session_timeout": "300s",  # a client that stopped in the middle holds up all others
    "tcp_keepalives_idle": "20",  # a machine that is gone is noticed after some 50 s, not after two hours
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "client_min_messages": "warning",
    "plan_cache_mode": "force_custom_plan",  # a plan that was made for an empty table is kept as long as the connection
    "standard_conforming_strings": "on",  # by these the driver writes what is sent as text
    "array_nulls": "on",
}
_SIGNS_OF_LIFE = {  # libpq's; the same on our side, and for what was sent and is not acknowledged
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 50_000,
}
_CONNECT_SECONDS = 10
UTF8 = "Make a database that has all characters: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
_POOLED = (
    "A pooler stands between, which gives a connection to others after each transaction:"
    " let it pool by session (pool_mode = session), or connect to the server."
)
_FORM = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME"
_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_TAIL = b"\xff\xff"

Statement = tuple[str, Sequence[Any]]


@dataclass(frozen=True)
class Address:
    """Where an index is: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME`.

    Attributes:
        schema: the namespace of the index's tables within the database, so that several share one.
        shown: the address as people may read it, without its password.
        database: the same without the schema, as PostgreSQL's own programs take it.
        parameters: what libpq wants.
    """

    schema: str
    shown: str
    database: str
    parameters: dict[str, Any] = field(repr=False)

    @classmethod
    def parse(cls, where: str) -> "Address":
        """Read an address.

        Raises:
            ConfigError: It cannot be one.
        """
        driver = _driver()
        scheme, _, rest = where.partition("://")
        rest, _, query = rest.partition("?")
        netloc, _, path = rest.partition("/")
        user, _, hosts = netloc.rpartition("@")
        if "@" in path + query or "#" in where or not all(map(_HOST.fullmatch, hosts.split(","))):
            hint = f"Write {_FORM}, in a password %40 for @, %2F for /, %3A for :, %3F for ? and %23 for #."
            raise ConfigError("this is not an address of PostgreSQL", hint=hint)  # and may be a password anywhere
        pairs = parse_qsl(query.replace("+", "%2B"), keep_blank_values=True)  # to libpq a plus is no blank
        schemas = [value for name, value in pairs if name == "schema"]
        name = unquote(user.split(":", 1)[0])
        place, public = f"{name}@{hosts}" if user else hosts, [pair for pair in pairs if pair[0] not in _SECRETS]
        shown = _joined(scheme, place, path, public)
        database = _joined(scheme, place, path, [pair for pair in public if pair[0] != "schema"])
        if len(schemas) > 1 or not all(_SCHEMA.fullmatch(name) for name in schemas):
            message = f"{shown}: schema={' and '.join(schemas)} is not one name of small letters, digits and _"
            raise ConfigError(message, hint="Choose one, as in ?schema=news_2024.")
        try:
            bare = _joined(scheme, netloc, path, [pair for pair in pairs if pair[0] != "schema"])
            parameters = driver.conninfo.conninfo_to_dict(bare)
        except driver.ProgrammingError:  # its words may quote a part of the password
            raise ConfigError(f"{shown} is not an address of PostgreSQL", hint=f"Write {_FORM}.") from None
        return cls(schemas[0] if schemas else _DEFAULT_SCHEMA, shown, database, parameters)

    def concealed(self, words: str) -> str:
        """A message of the server or the driver, on one line and without secrets."""
        secrets = {str(self.parameters.get(name, "")) for name in _SECRETS} - {""}
        for secret in sorted({*secrets, *map(quote, secrets)}, key=len, reverse=True):
            words = words.replace(secret, "***")
        return " ".join(words.split())


_GOING_DOWN = ("08", "57P")  # how states begin that tell of a connection, or of a server
_IDLE, _IN_TRANSACTION = 0, 2  # what libpq calls the states of a connection


class Session:
    """A connection that is made when it is needed; one thread uses it at a time."""

    def __init__(self, address: Address, timeout_seconds: float) -> None:
        self.address = address
        self.inside = False
        self._timeout_seconds = timeout_seconds
        self.owner, self.turns = Owner(), Turns(address.shown, timeout_seconds)
        self._driver = _driver()
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def close(self) -> None:
        """Hang up; what was not committed did not happen."""
        if self._connection is not None:
            if self.owner.is_here():
                self._connection.close()
            else:
                self.owner.leave(self._connection)
            self._connection = None
        self.inside = False

    @property
    def connection(self) -> "psycopg.Connection[tuple[Any, ...]]":
        """The connection; within a transaction always the same one."""
        self.owner.require(self.address.shown)
        if self._connection is None or (self._connection.closed and not self.inside):
            self._connection = self._connected()
        return self._connection

    @property
    def version(self) -> int:
        """Of the server, as 150003 for 15.3."""
        return self.connection.info.server_version

    @property
    def encoding(self) -> str:
        """Of the database's texts, as UTF8."""
        return self.connection.info.parameter_status("server_encoding") or ""

    def run(self, text: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """The rows that a statement gives."""
        with self.translated():
            cursor = self.connection.execute(text, values, binary=True)
            return cursor.fetchall() if cursor.description else []

    def run_all(self, statements: Sequence[Statement]) -> list[tuple[Any, ...]]:
        """The rows of the last of several statements, which go there together: one journey instead of several.

        Raises:
            StoreError: Something is wrong; or they end a transaction in which something was, and which is undone.
        """
        handled = sys.exception()
        with self.translated():
            connection = self.connection
            with connection.pipeline():
                try:
                    cursors = [connection.execute(text, values, binary=True) for text, values in statements]
                except BaseException as error:
                    if not isinstance(error, self._driver.Error) or _interrupt(error, handled):
                        self._hang_up()  # before the driver waits, without an end, for answers to what was never sent
                    raise
            found = cursors[-1].fetchall() if cursors[-1].description else []
        if (cursors[-1].statusmessage, statements[-1][0]) == ("ROLLBACK", "COMMIT"):
            connection.close()
            message = f"{self.address.shown}: nothing of this transaction was stored, as something in it was refused"
            raise StoreError(message, hint="Make it anew without that.")
        return found

    def copy(self, statement: str, records: "bytes | bytearray") -> None:
        """Bring the records of a COPY in its binary form."""
        with self.translated(), self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for part in (_COPY_HEAD, records, _COPY_TAIL):
                copy.write(part)

    def script(self, text: str) -> None:
        """Run statements without values, one after the other."""
        with self.translated():
            self.connection.execute(text)

    @contextmanager
    def transaction(
        self, first: Sequence[Statement], last: Callable[[], Sequence[Statement]] | None = None
    ) -> Iterator[list[tuple[Any, ...]]]:
        """All or nothing; what was done is on the server's disk when this is left.

        Args:
            first: What begins it; given is what the last of these says.
            last: What is to be done at the end of one that changes something; None: it only reads.

        Raises:
            StoreError: The server, or the way to it, failed; what the transaction did is undone.
        """
        try:
            begun = self._begin(first)
            connection = self.connection
            self.inside = True
            yield begun
            self._require_same(connection)
            if last is None:
                self.run_all([("COMMIT", ())])
            else:
                self.commit(last())
        except BaseException:
            if self._connection is not None:
                self._undo(self._connection)
            raise
        finally:
            self.inside = False

    def _require_same(self, connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
        if self._connection is not connection:
            message = f"{self.address.shown} was closed within a transaction, of which nothing was stored"
            raise StoreError(message, hint="Leave the transaction first.")

    def _begin(self, first: Sequence[Statement]) -> list[tuple[Any, ...]]:
        """Begin a transaction; anew, if the connection turns out to have been lost since the last one."""
        self.owner.require(self.address.shown)
        idle = self._connection is not None and not self._connection.closed
        if self._connection is not None and idle and self._connection.info.transaction_status != _IDLE:
            self._connection.close()  # somebody was interrupted
        try:
            return self.run_all(first)
        except StoreError as error:
            if self._connection is None:
                raise
            if _is_refusal(error.__context__):
                self._undo(self._connection)
                raise
            self._connection.close()
            if not idle:
                raise
        return self.run_all(first)

    @contextmanager
    def savepoint(self, last: Callable[[], Sequence[Statement]]) -> Iterator[None]:
        """All or nothing, within a transaction."""
        self.run("SAVEPOINT block")
        try:
            yield
            self.run_all([*last(), ("RELEASE SAVEPOINT block", ())])
        except BaseException:
            if not self.connection.closed:
                self.run("ROLLBACK TO SAVEPOINT block")
            raise

    def commit(self, last: Sequence[Statement] = ()) -> None:
        """End a transaction that has changed something well."""
        try:
            self.run_all([*last, ("COMMIT", ())])
        except StoreError as error:
            if not isinstance(error.__context__, self._driver.Error) or _is_refusal(error.__context__):
                raise
            self.close()
            message = f"{error.message}; whether this change was stored is not known"
            raise InterruptedChangeError(message, hint="Look it up, or make the same change again.") from error

    def _undo(self, connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
        """Undo a transaction; behind an error of the server the driver takes statements for prepared that are not."""
        if not self.owner.is_here() or connection.closed:
            return
        status = connection.info.transaction_status
        try:
            if status == _IN_TRANSACTION:
                connection.execute("ROLLBACK")
                connection.execute("SELECT pg_advisory_unlock_all()")  # `reserve` holds one that outlives a transaction
            elif status != _IDLE:
                connection.close()
        except self._driver.Error:
            connection.close()

    @contextmanager
    def translated(self) -> Iterator[None]:
        """What the driver says, as an error of ours."""
        handled = sys.exception()
        try:
            yield
        except self._driver.Error as error:
            interrupt = _interrupt(error, handled)
            if interrupt is not None:
                self._hang_up()
                raise interrupt from None
            raise self._error(error) from None
        except KeyboardInterrupt:
            self._hang_up()
            raise

    def _hang_up(self) -> None:
        """Lose a connection on which something was under way: it would be taken for the answer to what comes next."""
        if self._connection is not None and self.owner.is_here():
            self._connection.close()

    def _error(self, error: "psycopg.Error") -> NearSameError:
        where, kinds = self.address.shown, self._driver.errors
        said = self.address.concealed(str(error)) or type(error).__name__
        if isinstance(error, kinds.LockNotAvailable):
            message = f"{where} is being written by others; gave up after {self._timeout_seconds:g} s"
            return StoreBusyError(message, hint="Try again, or wait longer with timeout_seconds.")
        if isinstance(error, kinds.DataCorrupted | kinds.IndexCorrupted | kinds.InternalError_):
            return StoreDamagedError.of(where, said)
        if isinstance(error, kinds.ProgramLimitExceeded):
            hint = "Give shorter ids (--id-column), or use a file: this transaction wrote nothing."
            return ConfigError("an id is longer than PostgreSQL can look up, some 2,700 bytes", hint=hint)
        if isinstance(error, kinds.UntranslatableCharacter | kinds.CharacterNotInRepertoire):
            return ConfigError(f"the database has not all characters: {said}", hint=f"{UTF8}.")
        if isinstance(error, kinds.DuplicatePreparedStatement | kinds.InvalidSqlStatementName):
            return StoreError(f"{where}: {said}", hint=_POOLED)
        if self._connection is None or self._connection.closed:
            hint = (
                "Check that the server runs and can be reached, and the user, the password and the database;"
                " PGPASSWORD or ~/.pgpass may hold a password that the address, or an output, does not."
            )
        elif isinstance(error, kinds.DiskFull | kinds.OutOfMemory):
            hint = "Free some space on the server; this transaction wrote nothing."
        elif isinstance(error, kinds.InsufficientPrivilege | kinds.ReadOnlySqlTransaction):
            hint = "Use a role that may do this, or only read."
        else:
            hint = "See the server's log; this transaction wrote nothing."
        return StoreError(f"{where}: {said}", hint=hint)

    def _connected(self) -> "psycopg.Connection[tuple[Any, ...]]":
        defaults = {"application_name": "nearsame", "connect_timeout": _CONNECT_SECONDS, **_SIGNS_OF_LIFE}
        given = {**defaults, **self.address.parameters, "client_encoding": "UTF8"}
        settings = {**_SETTINGS, "lock_timeout": f"{max(1, round(self._timeout_seconds * 1000))}ms"}
        with self.translated():
            connection: psycopg.Connection[tuple[Any, ...]] = self._driver.connect(**given, autocommit=True)
            try:
                with connection.pipeline():
                    for name, value in settings.items():
                        connection.execute("SELECT set_config(%s, %s, false)", [name, value])
                    connection.execute(
                        "SELECT set_config('synchronous_commit', 'on', false)"
                        " WHERE current_setting('synchronous_commit') = 'off'"
                    )
            except BaseException:
                connection.close()
                raise
        return connection


def _interrupt(error: BaseException, handled: BaseException | None) -> KeyboardInterrupt | None:
    """What came while the driver was at work, which then failed; not what our caller is dealing with."""
    found = error.__context__
    return found if isinstance(found, KeyboardInterrupt) and found is not handled else None


def _is_refusal(error: BaseException | None) -> bool:
    """Whether the server has said no; else, as when it or the way to it goes down, it may have said yes before."""
    state = str(getattr(error, "sqlstate", None) or "")
    return state != "" and not state.startswith(_GOING_DOWN)


def _driver() -> ModuleType:
    try:
        import_module("psycopg.conninfo")
        return import_module("psycopg")
    except ImportError:
        message = "an index in PostgreSQL needs the package psycopg, and libpq"
        raise MissingExtraError.of(message, "postgres") from None


def _joined(scheme: str, netloc: str, path: str, pairs: list[tuple[str, str]]) -> str:
    query = urlencode(pairs, quote_via=quote)
    return f"{scheme}://{netloc}{'/' if path else ''}{path}{'?' if query else ''}{query}"
