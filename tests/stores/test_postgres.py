"""What only a server can do to an index: be away, restart, refuse, be shared by others; and what we make of it."""

import os
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import numpy as np
import pytest

import nearsame as ns
from nearsame.errors import ConfigError, InterruptedChangeError, MissingExtraError, StoreBusyError, StoreError
from nearsame.installation import install_command
from nearsame.stores import create_store, open_store
from nearsame.stores.base import Row
from nearsame.stores.postgres_rows import RESERVE
from nearsame.stores.postgres_session import Address
from tests.patience import eventually
from tests.postgres import programs

SETTINGS = {"recipe": "{}"}
NONE = np.zeros(0, np.int64)


def int64s(*values):
    """As keys come."""
    return np.array(values, np.int64)


def make(url):
    """A new index."""
    store = create_store(url, SETTINGS)
    store.publish()
    return store


def add(store, id, keys=NONE):
    """One document."""
    with store.writing(keys) as write:
        number = write.reserve(1)
        write.insert([Row(number, id, None, b"", None, None)], keys, np.full(keys.size, number))


def ids(store):
    """Those that are there."""
    with store.reading() as read:
        assert [] == read.problems()
        return sorted(row.id for row in read.page(0, 100_000))


@pytest.mark.parametrize(
    ("where", "schema", "shown"),
    [
        ("postgresql://host/db", "nearsame", "postgresql://host/db"),
        ("postgres://me@host:5433/db?schema=news_2024", "news_2024", "postgres://me@host:5433/db?schema=news_2024"),
        ("postgresql://me:s3cret@host/db", "nearsame", "postgresql://me@host/db"),
        ("postgresql://me:s3%40cret@host/db?sslmode=require", "nearsame", "postgresql://me@host/db?sslmode=require"),
        ("postgresql://host/db?user=me&password=s3cret&schema=a", "a", "postgresql://host/db?user=me&schema=a"),
        ("postgresql://me:s3cret@one:1,two:2/db", "nearsame", "postgresql://me@one:1,two:2/db"),
        ("postgresql:///db?host=/run/postgresql", "nearsame", "postgresql:///db?host=%2Frun%2Fpostgresql"),
    ],
)
def test_an_address_is_shown_without_its_password(where, schema, shown):
    """The schema is ours, the rest is libpq's."""
    address = Address.parse(where)
    assert (schema, shown) == (address.schema, address.shown)
    assert "s3" not in repr(address)
    assert "schema" not in address.parameters


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://me:s3cret@host:port/db",
        "postgresql://me:s3@cret@host/db?unknown=1",
        "postgresql://me:s3cret@host/db?schema=News",
        "postgresql://me:s3cret@host/db?schema=a;drop",
        "postgresql://me:s3cret@host/db?schema=a&schema=b",
        "postgresql://me:s3cret@host/db#part",
        "postgresql://me:s3cret@[host/db",
        "postgresql://me:s3c/ret@host/db?schema=",
    ],
)
def test_what_is_no_address_is_refused_without_its_password(where):
    """Even where the password is what makes it none."""
    with pytest.raises(ConfigError) as raised:
        open_store(where)
    assert "s3" not in f"{raised.value} {raised.value.hint}".replace("postgres", "")
    assert raised.value.hint


def test_without_psycopg_there_is_its_line(monkeypatch):
    """How to install it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "psycopg.conninfo", None)
    with pytest.raises(MissingExtraError, match="psycopg") as raised:
        open_store("postgresql://host/db")
    assert f"Run: {install_command('postgres')}" == raised.value.hint


def test_a_file_needs_no_psycopg():
    """Nor does `import nearsame`."""
    code = "import nearsame, sys; from nearsame.stores import sqlite; assert 'psycopg' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_who_cannot_connect_is_told_why(postgres):
    """Nobody listens; the password is wrong; the database is not there. No password is in the message."""
    url = postgres.url()
    cases = {
        url.replace(str(postgres.port), "1"): "refused",
        url.replace(postgres.password, "not-this-one"): "password authentication failed",
        url.replace("/postgres", "/nowhere"): "nowhere",
    }
    for where, why in cases.items():
        with pytest.raises(StoreError, match=why) as raised:
            open_store(where)
        assert postgres.password not in f"{raised.value} {raised.value.hint}"
        assert "not-this-one" not in f"{raised.value} {raised.value.hint}"
        assert "user, the password and the database" in raised.value.hint
        assert "\n" not in raised.value.message


def test_where_there_is_no_index_it_says_so(postgres_url):
    """With the schema that was looked into."""
    with pytest.raises(StoreError, match="holds no index") as raised:
        open_store(postgres_url)
    assert "?schema=" in raised.value.hint


def test_indexes_of_one_database_know_nothing_of_each_other(postgres):
    """Each schema is one; replacing one leaves the other."""
    with closing(make(postgres.url("ours"))) as ours, closing(make(postgres.url("theirs"))) as theirs:
        add(ours, "a")
        add(theirs, "b")
        with closing(create_store(postgres.url("ours"), SETTINGS, overwrite=True)) as new:
            new.publish()
        assert ["b"] == ids(theirs)
    with closing(open_store(postgres.url("ours"))) as ours:
        assert [] == ids(ours)


def test_tables_of_others_are_never_replaced(postgres):
    """Whoever has tables of such names in the schema keeps them, even with overwrite; other tables stay as well."""
    postgres.sql("CREATE SCHEMA shop; CREATE TABLE shop.documents (a int); CREATE TABLE shop.mine (a int)")
    for overwrite in (False, True):
        with pytest.raises(StoreError, match="not an index's"):
            create_store(postgres.url("shop"), SETTINGS, overwrite=overwrite)
    postgres.sql("DROP TABLE shop.documents")
    make(postgres.url("shop")).close()
    with closing(create_store(postgres.url("shop"), SETTINGS, overwrite=True)) as store:
        store.publish()
        assert [] == ids(store)
    assert [(0,)] == postgres.sql("SELECT count(*) FROM shop.mine")


def test_an_index_of_another_format_is_refused(postgres, postgres_url):
    """By number."""
    make(postgres_url).close()
    table = f"{Address.parse(postgres_url).schema}.settings"
    change = f"UPDATE {table} SET value = '99' WHERE name = 'format'; DELETE FROM {table} WHERE name = 'checksum'"  # noqa: S608  (made up here)
    postgres.sql(change)
    with pytest.raises(StoreError, match="format 99"):
        open_store(postgres_url)


def test_nothing_is_left_of_what_was_not_published(postgres, postgres_url):
    """No schema, no table."""
    schema = Address.parse(postgres_url).schema
    schemas = f"SELECT nspname::text FROM pg_namespace WHERE nspname LIKE '{schema}%'"  # noqa: S608  (made up here)
    store = create_store(postgres_url, SETTINGS)
    add(store, "a")
    store.close()
    assert [] == postgres.sql(schemas)
    make(postgres_url).close()
    assert [(schema,)] == postgres.sql(schemas)


def test_an_index_that_was_replaced_is_not_written_to(postgres_url):
    """Whoever has the old one open is told, and opens the new one."""
    with closing(make(postgres_url)) as old:
        new = create_store(postgres_url, SETTINGS, overwrite=True)
        new.publish()
        add(new, "a")
        for attempt in (lambda: add(old, "b"), lambda: ids(old)):
            with pytest.raises(StoreError, match="another index") as raised:
                attempt()
            assert "Open it again." == raised.value.hint
        assert ["a"] == ids(new)
        new.close()


def test_a_role_that_may_only_read_reads(postgres, postgres_url):
    """Its first change is refused in words."""
    store = make(postgres_url)
    add(store, "a")
    schema = Address.parse(postgres_url).schema
    role = f"reader_{schema}"
    postgres.sql(f"CREATE ROLE {role} LOGIN PASSWORD 'pw-of-it'; GRANT USAGE ON SCHEMA {schema} TO {role}")
    for kind in ("TABLES", "SEQUENCES"):
        postgres.sql(f"GRANT SELECT ON ALL {kind} IN SCHEMA {schema} TO {role}")
    url = postgres_url.replace(f"postgres:{postgres.password}", f"{role}:pw-of-it")
    with closing(open_store(url)) as reader:
        assert ["a"] == ids(reader)
        with pytest.raises(StoreError, match="permission denied") as raised:
            add(reader, "b")
        assert "role" in raised.value.hint
        assert ["a"] == ids(reader)
        add(store, "c")  # what was refused holds up nobody, while its connection is open
        assert ["a", "c"] == ids(reader)
    store.close()


def test_who_might_read_an_index_may_read_the_one_that_takes_its_place(postgres, postgres_url):
    """With the right to hand that on, where it was given; and so may all, where all might; or some columns only."""
    make(postgres_url).close()
    schema = Address.parse(postgres_url).schema
    role = f"Reader of {schema}"
    postgres.sql(f'CREATE ROLE "{role}" LOGIN; GRANT USAGE ON SCHEMA {schema} TO "{role}"')
    postgres.sql(f'GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO "{role}" WITH GRANT OPTION')
    postgres.sql(f"GRANT SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO PUBLIC")
    some, reserve = f"Some of {schema}", f"{schema}.{RESERVE}"
    postgres.sql(f'CREATE ROLE "{some}" LOGIN; GRANT SELECT (id, url), UPDATE (url) ON {schema}.documents TO "{some}"')
    postgres.sql(f'REVOKE ALL ON FUNCTION {reserve} FROM PUBLIC; GRANT EXECUTE ON FUNCTION {reserve} TO "{some}"')
    later = f"Later of {schema}"
    postgres.sql(
        f'ALTER TABLE {schema}.documents ADD COLUMN note text; GRANT SELECT (note) ON {schema}.documents TO "{some}"'
    )
    postgres.sql(f'CREATE ROLE "{later}"; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO "{later}"')
    rights = f"""
        SELECT relname, grantee::regrole::text, privilege_type, is_grantable FROM pg_class, aclexplode(relacl)
        WHERE relnamespace = '{schema}'::regnamespace AND relkind IN ('r', 'S')
        UNION ALL SELECT attname, grantee::regrole::text, privilege_type, is_grantable
        FROM pg_attribute, aclexplode(attacl) WHERE attrelid = '{schema}.documents'::regclass AND attname <> 'note'
        UNION ALL SELECT proname, grantee::regrole::text, privilege_type, is_grantable
        FROM pg_proc, aclexplode(proacl) WHERE pronamespace = '{schema}'::regnamespace ORDER BY 1, 2, 3
    """  # noqa: S608  (our own name)
    before = postgres.sql(rights)
    assert len(before) > 30
    with closing(create_store(postgres_url, SETTINGS, overwrite=True)) as new:
        new.publish()
    postgres.sql(f'ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM "{later}"')  # noqa: S608  (our own name)
    assert before == postgres.sql(rights)


def test_an_index_stays_its_owners_whoever_replaces_it(postgres, postgres_url):
    """A superuser may; the owner goes on using it."""
    schema = Address.parse(postgres_url).schema
    owner = f"owner_{schema}"
    postgres.sql(f"CREATE ROLE {owner} LOGIN PASSWORD 'pw-of-it'; GRANT CREATE ON DATABASE postgres TO {owner}")
    url = postgres_url.replace(f"postgres:{postgres.password}", f"{owner}:pw-of-it")
    ns.Index.create(url).close()
    with ns.Index.create(postgres_url, overwrite=True) as index:
        index.add({"id": "a", "text": "what the other one adds"})
    with ns.Index.open(url) as index:
        index.add({"id": "b", "text": "what the owner adds"})
        assert ["a", "b"] == list(index.ids())
    ns.Index.create(url, overwrite=True).close()


def test_a_standby_is_not_followed(postgres_url, monkeypatch):
    """It sees no locks of those who write to the primary."""
    with closing(make(postgres_url)) as store:
        run = type(store._session).run
        standby = "SELECT pg_is_in_recovery()"
        monkeypatch.setattr(
            type(store._session),
            "run",
            lambda self, text, *more: [(True,)] if text == standby else run(self, text, *more),
        )
        with pytest.raises(StoreError, match="is a standby"):
            store.settled()


@pytest.mark.parametrize("setting", ["standard_conforming_strings", "array_nulls"])
def test_what_is_sent_does_not_go_by_how_a_server_reads_texts(postgres_url, setting):
    """The driver spells bytes for the default; with another one they were stored as something else."""
    url = f"{postgres_url}&options=-c%20{setting}%3Doff"
    with ns.Index.create(url, store="text", overwrite=True) as index:
        index.add([{"id": name, "text": f"one two three four five six {name} \\x04 \\"} for name in "ab"])
        assert [] == list(index.check())
        assert "one two three four five six a \\x04 \\" == index.text("a")


def cut(postgres):
    """Hang up on all of ours."""
    ours = "FROM pg_stat_activity WHERE application_name = 'nearsame'"
    eventually(lambda: not postgres.sql(f"SELECT pg_terminate_backend(pid) {ours}"))


def add_and_cut(store, postgres):
    """A document, and the connection lost before the end."""
    with store.writing(None) as write:
        write.insert([Row(write.reserve(1), "lost", None, b"", None, None)], NONE, NONE)
        cut(postgres)


def test_a_lost_connection_breaks_one_transaction_only(postgres, postgres_url):
    """What it did is undone; the next connects anew."""
    with closing(make(postgres_url)) as store:
        add(store, "a")
        with pytest.raises(InterruptedChangeError, match="not known") as raised:
            add_and_cut(store, postgres)
        assert postgres.password not in raised.value.message
        assert ["a"] == ids(store)


def test_whatever_goes_wrong_once_a_change_was_sent_leaves_it_in_doubt(postgres_url, monkeypatch):
    """But for what the server itself refuses; the next connects anew."""
    import psycopg

    with closing(make(postgres_url)) as store:
        session = store._session
        run_all = type(session).run_all

        def lose(self, statements):
            found = run_all(self, statements)
            if statements[-1][0] == "COMMIT" and statements[0][0] != "COMMIT":
                monkeypatch.undo()
                with self.translated():
                    raise psycopg.OperationalError("cannot exit pipeline mode while busy")
            return found

        monkeypatch.setattr(type(session), "run_all", lose)
        with pytest.raises(InterruptedChangeError, match="not known"):
            add(store, "a")
        assert ["a"] == ids(store)
        with pytest.raises(StoreError) as raised:
            add(store, "a")
        assert not isinstance(raised.value, InterruptedChangeError)


def test_a_transaction_in_which_something_was_refused_is_not_said_to_be_stored(postgres_url):
    """To PostgreSQL it is over, and its end a success that undoes it."""
    with ns.Index.create(postgres_url) as index:
        index.add([{"id": name, "text": f"what {name} says of itself"} for name in "ab"])

        def go_on_behind_a_refusal():
            with index.transaction():
                index.remove("a")
                with pytest.raises(ConfigError, match="longer than PostgreSQL can look up"):
                    index.add({"id": random.Random(1).randbytes(6000).hex(), "text": "what has too long a name"})

        def close_within():
            with index.transaction():
                index.add({"id": "c", "text": "what is not stored"})
                index.close()

        with pytest.raises(StoreError, match="nothing of this transaction was stored"):
            go_on_behind_a_refusal()
        assert ["a", "b"] == list(index.ids())
        with pytest.raises(StoreError, match="closed within a transaction"):
            close_within()
        assert ["a", "b"] == list(index.ids())
        assert [] == index.check()


@pytest.mark.parametrize("handled", [KeyboardInterrupt, ValueError])
def test_who_deals_with_something_else_is_told_what_was_refused(postgres_url, handled):
    """Not what was dealt with, again; and the transaction is known to be over."""
    document = {"id": random.Random(1).randbytes(6000).hex(), "text": "what has too long a name"}

    def clean_up(index):
        with index.transaction(), pytest.raises(ConfigError, match="longer than PostgreSQL can look up"):
            index.add(document)

    with ns.Index.create(postgres_url) as index:
        try:
            raise handled  # noqa: TRY301  (what our caller deals with)
        except handled:
            with pytest.raises(StoreError, match=r"transaction is aborted|nothing of this transaction was stored"):
                clean_up(index)
        assert index.add({"id": "a", "text": "what comes afterwards"})[0].added


@pytest.mark.parametrize("num_good", [1, 2, 6])
def test_refusals_leave_no_trace(postgres_url, num_good):
    """The driver takes statements for prepared behind which something was refused, and a server that lacks them."""
    long = random.Random(1).randbytes(6000).hex()
    with ns.Index.create(postgres_url) as index, ns.Index.open(postgres_url) as other:
        quick = ns.Index.open(postgres_url, timeout_seconds=0.05)
        for number in range(12):
            with pytest.raises(ConfigError):
                index.add({"id": long, "text": "what has too long a name"})
            with other.transaction(), pytest.raises(StoreBusyError):
                quick.add({"text": "what nobody waits for"})
            for one in (index, quick):
                for n in range(num_good):
                    assert one.add({"text": f"{number} {n} {one is quick} words of its own {number * n}"})[0].added
        quick.close()


def test_who_only_reads_is_in_no_doubt(postgres, postgres_url):
    """A connection that is lost at the end of a question may have stored nothing."""
    with closing(make(postgres_url)) as store:
        add(store, "a")
        with pytest.raises(StoreError) as raised, store.reading():
            cut(postgres)
        assert not isinstance(raised.value, InterruptedChangeError)
        assert ["a"] == ids(store)


def test_a_server_that_vanishes_is_missed_and_no_role_has_a_time_for_statements(postgres_url):
    """Both ends ask for signs of life; a change waits for others as long as it was told to."""
    make(postgres_url).close()
    with closing(open_store(f"{postgres_url}&options=-c%20statement_timeout%3D7s&keepalives_idle=99")) as store:
        session = store._session
        assert ("0",) == session.run("SELECT current_setting('statement_timeout')")[0]
        told = session.connection.info.get_parameters()
        wanted = {"keepalives_idle": "99", "keepalives_interval": "10", "tcp_user_timeout": "50000"}
        assert wanted == {name: told[name] for name in wanted}


def test_a_database_that_has_not_all_characters_is_refused(postgres, postgres_url):
    """Before anything is in it that could not be looked up again."""
    name = f"latin{os.getpid()}"
    postgres.sql(f"CREATE DATABASE {name} ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    try:
        with pytest.raises(ConfigError, match="a database of LATIN1"):
            make(postgres_url.replace("/postgres?", f"/{name}?"))
    finally:
        postgres.sql(f"DROP DATABASE {name}")


def test_an_id_that_cannot_be_looked_up_is_alone_in_that(postgres_url):
    """It is wrong with one document, not with the store: so a service goes on with the next line."""
    letters = [chr(code) for code in range(0x4E00, 0x9F00)]
    long = "".join(random.Random(1).sample(letters, 1000))
    with closing(make(postgres_url)) as store:
        with pytest.raises(ConfigError, match="an id is longer"):
            add(store, long)
        add(store, long[:800])
        assert [long[:800]] == ids(store)


def test_a_pooler_by_transactions_is_named(postgres_url):
    """It gives the connection to others, who have prepared statements of the same names."""
    with closing(make(postgres_url)) as store:
        store._session.run("PREPARE twice AS SELECT 1")
        with pytest.raises(StoreError) as raised:
            store._session.run("PREPARE twice AS SELECT 1")
        assert "session" in raised.value.hint


def test_a_connection_that_was_lost_in_between_is_made_anew(postgres, postgres_url):
    """Nobody had asked for anything, so nobody is told."""
    with closing(make(postgres_url)) as store:
        add(store, "a")
        cut(postgres)
        assert ["a"] == ids(store)
        cut(postgres)
        add(store, "b")
        assert ["a", "b"] == ids(store)


def test_who_waits_too_long_for_a_writer_is_told(postgres_url):
    """Not forever; and not for writers of other keys, nor for readers."""
    with closing(make(postgres_url)) as store, closing(open_store(postgres_url, timeout_seconds=0.2)) as other:
        with store.writing(int64s(1, 2, 3)) as write:
            write.insert([Row(write.reserve(1), "a", None, b"", None, None)], NONE, NONE)
            for keys in (int64s(3, 4), None, np.arange(1000)):
                with pytest.raises(StoreBusyError, match=r"0\.2 s"):
                    add(other, "b", keys)
            add(other, "c", int64s(4, 5))
            assert ["c"] == ids(other)
        with store.writing(None), pytest.raises(StoreBusyError):
            add(other, "d", int64s(9))
        assert ["a", "c"] == ids(other)


def test_who_waited_sees_what_was_written_meanwhile(postgres_url):
    """Whatever isolation the server, or an address, has for transactions: else two would add what is one."""
    url = f"{postgres_url}&options=-c%20default_transaction_isolation%3Drepeatable%5C%20read"
    keys, seen, begun = int64s(1, 2), [], threading.Event()

    def wait():
        with closing(open_store(url)) as other:
            begun.set()
            with other.writing(keys) as write:
                seen.extend(write.named(["a"]))

    with closing(make(url)) as store:
        with store.writing(keys) as write:
            write.insert([Row(write.reserve(1), "a", None, b"", None, None)], NONE, NONE)
            thread = threading.Thread(target=wait)
            thread.start()
            begun.wait()
            waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            eventually(lambda: store._session.run(waits)[0][0] > 0)
        thread.join()
    assert ["a"] == seen


@pytest.mark.parametrize("first", [1, (1 << 30) - 1, 1 << 30, (1 << 33) - 2])
def test_who_goes_on_from_a_number_misses_nobody_who_comes_later(postgres, postgres_url, first):
    """Not documents whose number was given out before, and that are there only now; locks tell 30 bits of a number."""
    make(postgres_url).close()
    postgres.sql(f"ALTER SEQUENCE {Address.parse(postgres_url).schema}.next_number RESTART {first}")
    with (
        closing(open_store(postgres_url)) as slow,
        closing(open_store(postgres_url)) as fast,
        closing(open_store(postgres_url, read_only=True)) as follower,
    ):
        assert first - 1 == follower.settled()
        for name in ("b", "d"):
            with suppress(KeyError), slow.writing(int64s(1)) as write:
                number = write.reserve(2)
                write.insert([Row(number, f"late {name}", None, b"", None, None)], NONE, NONE)
                add(fast, name, int64s(2))
                assert number - 1 == follower.settled()
                assert number + 2 == slow.settled()  # what it does itself it sees
                assert name in ids(follower)
                if name == "d":
                    raise KeyError  # it is undone: nobody comes before any more
            assert number + 2 == follower.settled()
        assert ["b", "d", "late b"] == ids(follower)


def test_a_follower_gets_each_document_once(postgres_url):
    """However many write at once."""
    ns.Index.create(postgres_url).close()

    def write(who):
        chance = random.Random(who)
        with ns.Index.open(postgres_url) as index:
            for n in range(25):
                size = chance.choice([1, 1, 2, 70])
                index.add([{"id": f"{who} {n} {m}", "text": f"{who} has {n} and {m}, {n * m}"} for m in range(size)])

    found, number = [], 0
    with ThreadPoolExecutor(4) as pool, ns.Index.open(postgres_url) as follower:
        writers = [pool.submit(write, who) for who in range(4)]
        while True:
            is_over = all(writer.done() for writer in writers)
            some = follower.records(number=number, limit=500)
            found += [one["id"] for _, one in some]
            number = some[-1][0] if some else number
            if is_over and not some:
                break
        for writer in writers:
            writer.result()
        assert sorted(follower.ids()) == sorted(found)


@pytest.mark.parametrize(
    "made",
    [
        "SEQUENCE {}.next_number",
        "TABLE {}.settings (n int)",
        "FUNCTION {}.reserve(regclass, integer, integer, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
    ],
)
def test_what_is_not_an_indexs_is_left_alone(postgres, postgres_url, made):
    """It only has a name of ours: it is named, and stays, with `overwrite` too."""
    schema = Address.parse(postgres_url).schema
    postgres.sql(f"CREATE SCHEMA {schema}; CREATE {made.format(schema)}")
    for overwrite in (False, True):
        with pytest.raises(StoreError, match="that is not an index's"):
            create_store(postgres_url, SETTINGS, overwrite=overwrite)
    postgres.sql(f"DROP {made.split(' RETURNS')[0].split(' (')[0].format(schema)}")


def test_a_plus_in_an_address_is_a_plus():
    """As libpq takes it."""
    address = Address.parse("postgresql://host/db?password=a+b%20c")
    assert "a+b c" == address.parameters["password"]


def test_a_dump_of_the_schema_is_a_backup(postgres, postgres_url):
    """Restored into another database it is the same index, and grows."""
    with closing(make(postgres_url)) as store:
        for id in "abc":
            add(store, id, int64s(1, 2))
    schema, folder = Address.parse(postgres_url).schema, programs()
    place = ["-h", "127.0.0.1", "-p", str(postgres.port), "-U", "postgres"]
    environment = {**os.environ, "PGPASSWORD": postgres.password}
    dumped = [folder / "pg_dump", *place, "--schema", schema, "--format", "custom", "postgres"]
    dump = subprocess.run(dumped, env=environment, capture_output=True, check=True).stdout
    postgres.sql(f"CREATE DATABASE other_{schema}")
    restored = [folder / "pg_restore", *place, "--dbname", f"other_{schema}"]
    subprocess.run(restored, env=environment, input=dump, capture_output=True, check=True)
    with closing(open_store(postgres_url.replace("/postgres?", f"/other_{schema}?"))) as store:
        assert ["a", "b", "c"] == ids(store)
        add(store, "d", int64s(1, 2))
        assert ["a", "b", "c", "d"] == ids(store)
        with store.reading() as read:
            assert 4 == read.postings(int64s(1), 5).numbers.size


def test_what_was_asked_while_nothing_was_there_is_planned_anew_when_there_is_much(postgres_url):
    """A plan that the server makes once for all would read the whole of each table for each key."""
    with ns.Index.create(postgres_url) as index:
        for _ in range(12):
            assert 0 == len(index.query("a text of some words"))
        session = index._store._session
        ((number, generic),) = session.run(
            "SELECT count(*), sum(generic_plans) FROM pg_prepared_statements WHERE parameter_types <> '{}'"
        )
        assert (True, 0) == (number > 0, generic)
