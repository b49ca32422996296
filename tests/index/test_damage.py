"""What is stored is what was written, or whoever reads it is told: on both stores."""

import json
import random
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress

import psycopg
import pytest

import nearsame as ns
from nearsame.index.columns import key_of
from nearsame.stores.postgres_session import Address
from tests.index import damaging

TEXT = "one text of a few words that are enough to make some shingles of five words each number"
DOCUMENTS = [
    {"id": str(n), "url": f"https://example.org/{n}", "text": f"{TEXT} and {n}", "lang": "en"} for n in range(5)
]
ALL = {"store": "text", "method": ["minhash", "digest", "url"], "keep_columns": "lang"}

_PAGE = 8192  # of PostgreSQL
_EXCHANGED = """CREATE OR REPLACE FUNCTION exchanged(bytea) RETURNS bytea LANGUAGE sql AS $$
    SELECT decode(replace(encode($1, 'hex'), '22656e22', '22646522'), 'hex') $$"""
_WITHOUT_COLUMNS = "UPDATE documents SET items = substr(items, 1, length(items) - 16) WHERE number = 2"
_ONE_OF_2 = "number = 2 AND key = (SELECT min(key) FROM postings WHERE number = 2)"


@pytest.fixture
def change(request, place):
    """What runs SQL on the database of an index, behind its back."""

    def on_file(statement):
        with closing(sqlite3.connect(place)) as connection:
            connection.execute(statement)
            connection.commit()

    def on_server(statement):
        schema = Address.parse(place).schema
        request.getfixturevalue("postgres").sql(f"SET search_path TO {schema}; {statement}")

    return on_server if place.startswith("postgresql:") else on_file


@pytest.mark.parametrize(
    ("seed", "files"),
    [(1, 40), pytest.param(2, 250, marks=pytest.mark.slow), pytest.param(3, 1000, marks=pytest.mark.long)],
)
def test_of_damaged_files_none_answers_wrongly_in_silence(seed, files, tmp_path):
    """Whatever is asked of it, and whatever is added: an answer that is right, an error of ours, or `check` tells."""
    found = damaging.walk(files, seed, tmp_path)
    assert [] == [kind for kind in found if "WRONG" in kind]
    assert found["told"] > 0
    assert found["refused"] > 0


@pytest.mark.parametrize("count", [pytest.param(4, marks=pytest.mark.slow), pytest.param(250, marks=pytest.mark.long)])
def test_of_values_changed_on_a_server_none_gives_a_wrong_answer_in_silence(count, postgres, postgres_url, tmp_path):
    """As above, in PostgreSQL, whose own pages have checksums of their own: each recipe, and changes by SQL."""
    chance, path = random.Random(count), f"-c search_path={Address.parse(postgres_url).schema},public"
    with psycopg.connect(postgres.url(), options=path, autocommit=True) as connection:
        connection.execute(_EXCHANGED)

        def run(statement):
            with suppress(psycopg.errors.UniqueViolation):
                found = connection.execute(statement)
                return found.fetchall() if found.description else []

        for recipe in damaging.RECIPES:
            whole = damaging.original(postgres_url, recipe, tmp_path)
            for _ in range(count):
                how = damaging.change_value(run, chance)
                assert "WRONG" not in damaging.judged(postgres_url, tmp_path, *whole), (how, recipe)
                damaging.made(postgres_url, recipe)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE documents SET id = 'other' WHERE number = 2", "document 2 is not what was written"),
        ("UPDATE documents SET url = 'https://example.org/3' WHERE number = 2", "document 2 is not what was written"),
        ("UPDATE documents SET url = NULL WHERE number = 2", "document 2 is not what was written"),
        ("UPDATE documents SET leader = NULL WHERE number = 2", "document 2 is not what was written"),
        ("UPDATE documents SET leader = 3 WHERE number = 5", "document 5 is not what was written"),
        ("UPDATE documents SET items = (SELECT items FROM documents WHERE number = 3) WHERE number = 2", "document 2"),
        (_WITHOUT_COLUMNS, "document 2 is not what was written"),
        ("UPDATE documents SET text = (SELECT text FROM documents WHERE number = 3) WHERE number = 2", "document 2"),
        ("UPDATE documents SET text = NULL WHERE number = 2", "document 2 is not what was written"),
        ("UPDATE documents SET text_sum = text_sum + 1 WHERE number = 2", "document 2 is not what was written"),
        ("UPDATE documents SET checksum = checksum - 1 WHERE number = 2", "document 2 is not what was written"),
        ("UPDATE documents SET number = 77 WHERE number = 2", "1 of 5 documents are missing"),
        ("DELETE FROM documents WHERE number = 5", "1 of 5 documents are missing"),
        ("UPDATE counters SET value = value - 1 WHERE name = 'documents'", "a counter is not what was written"),
        ("DELETE FROM postings WHERE number = 1", "document 1 lacks the key"),
        (f"DELETE FROM postings WHERE number = 2 AND key = {key_of('lang', 'en')}", "document 2 lacks the key"),  # noqa: S608  (likewise)
        (f"UPDATE postings SET key = 7 WHERE {_ONE_OF_2}", "document 2 lacks the key"),  # noqa: S608  (made up here)
        (f"UPDATE postings SET number = 99 WHERE {_ONE_OF_2}", "document 2 lacks the key"),  # noqa: S608  (made up here)
        ("INSERT INTO postings VALUES (7, 2)", "the key 0000000000000007 leads to document 2, which does not have it"),
        ("INSERT INTO postings VALUES (7, 99)", "leads to document 99, which does not have it"),
    ],
)  # fmt: skip
def test_check_finds_every_change_of_a_row(statement, what, place, change):
    """Each column of each table, on both stores."""
    with ns.Index.create(place, **ALL) as index:
        index.add(DOCUMENTS)
        assert [] == index.check()
    change(statement)
    with ns.Index.open(place) as index:
        found = index.check()
    assert any(what in problem for problem in found), found


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET id = 'other' WHERE number = 2",
        "UPDATE documents SET url = 'https://example.org/3' WHERE number = 2",
        "UPDATE documents SET leader = NULL WHERE number = 2",
        "UPDATE documents SET text = NULL WHERE number = 2",
        _WITHOUT_COLUMNS,
        "DELETE FROM documents WHERE number = 2",
    ],
)
def test_what_an_answer_is_made_of_is_verified(statement, place, change):
    """No answer has a changed row in it, or leaves out one that keys lead to; the hint says what to do."""
    with ns.Index.create(place, **ALL) as index:
        index.add(DOCUMENTS)
    change(statement)
    with ns.Index.open(place) as index:
        asked = {
            "query": lambda: index.query(DOCUMENTS[1]["text"]),
            "where": lambda: index.query(DOCUMENTS[1]["text"], where="lang=en"),
            "get": lambda: index.get("1"),
        }
        if "text" in statement:
            del asked["query"], asked["where"]  # read no texts
        if "DELETE" in statement:
            del asked["get"]
        if "id =" in statement:
            asked["get"] = lambda: index.get("other")
        for ask in asked.values():
            with pytest.raises(ns.StoreDamagedError, match="is damaged: document 2 is") as told:
                ask()
            assert "nearsame index export" in told.value.hint


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE settings SET value = replace(value, '0.8', '0.9') WHERE name = 'methods'",
        "UPDATE settings SET value = 'sketch' WHERE name = 'store'",
        "DELETE FROM settings WHERE name = 'methods'",
        "DELETE FROM settings WHERE name = 'store'",
        "DELETE FROM settings WHERE name = 'checksum'",
        "DELETE FROM settings",
        "INSERT INTO settings VALUES ('more', '1')",
    ],
)
def test_an_index_whose_settings_were_changed_is_refused(statement, place, change):
    """They decide on every answer."""
    ns.Index.create(place, source=DOCUMENTS).close()
    change(statement)
    with pytest.raises(ns.StoreError, match=r"is damaged: its settings|of format unknown") as told:
        ns.Index.open(place)
    assert "reate it again from its source" in told.value.hint
    assert "index export" not in told.value.hint


def test_an_export_has_what_is_whole_and_tells_what_is_not(place, change, tmp_path):
    """Documents that were changed, and those that are gone."""
    ns.Index.create(place, source=DOCUMENTS, store="text").close()
    change("UPDATE documents SET text = NULL WHERE number = 2")
    change("DELETE FROM documents WHERE number = 4")
    with ns.Index.open(place) as index:
        assert 3 == index.export(tmp_path / "saved.jsonl")
        assert ["document 2 is not what was written", "1 of 5 documents are missing"] == [
            each.reason for each in index.skipped
        ]
    saved = [json.loads(line) for line in (tmp_path / "saved.jsonl").read_text().splitlines()]
    assert [(DOCUMENTS[at]["id"], DOCUMENTS[at]["text"]) for at in (0, 2, 4)] == [(e["id"], e["text"]) for e in saved]


def test_an_export_has_what_stands_on_other_pages_than_a_broken_one(tmp_path):
    """Part by part around it; what cannot be read is told by number."""
    place = tmp_path / "seen.ns"
    every = [{"id": f"id-{n}", "text": f"{TEXT} {n} " + f"{n} " * 300} for n in range(400)]
    ns.Index.create(place, source=every, store="text").close()
    with closing(sqlite3.connect(place)) as connection:
        [(page,)] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'documents'")
    content = bytearray(place.read_bytes())
    start = (page - 1) * damaging.PAGE
    child = int.from_bytes(content[start + 12 + 2 : start + 12 + 4])  # the second cell of an inner page: its left child
    leaf = int.from_bytes(content[start + child : start + child + 4]) - 1
    content[leaf * damaging.PAGE : leaf * damaging.PAGE + 8] = b"\xff" * 8
    place.write_bytes(content)
    with ns.Index.open(place, read_only=True) as index:
        written = index.export(tmp_path / "saved.jsonl")
        assert 0 < written < 400
        assert any("cannot be read: database disk image is malformed" in each.reason for each in index.skipped)
        assert any("cannot be read" in problem for problem in index.check())
    texts = {each["id"]: each["text"] for each in every}
    saved = [json.loads(line) for line in (tmp_path / "saved.jsonl").read_text().splitlines()]
    assert all(texts[each["id"]] == each["text"] for each in saved)
    command = [sys.executable, "-m", "nearsame", "index", "export", str(place), str(tmp_path / "again.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (3, f"{written:,} documents written") == (done.returncode, done.stdout.partition(":")[0])
    assert "error: left out: document" in done.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE counters SET value = 'x'",
        "DELETE FROM counters",
        "UPDATE documents SET items = 'x'",
        "UPDATE documents SET items = 7 WHERE number = 2",
        "UPDATE documents SET text = 'x'",
        "UPDATE documents SET id = x'ff' WHERE number = 2",
        "UPDATE documents SET url = x'ff'",
        "UPDATE documents SET leader = 'x'",
        "UPDATE documents SET checksum = 'x'",
        "UPDATE postings SET key = 'x' || key",
        "UPDATE settings SET value = x'ff'",
    ],
)
def test_a_value_of_another_type_is_damage_or_no_matter(statement, tmp_path):
    """SQLite holds a column to no type: whatever is asked, it is an answer or an error of ours, and `check` tells."""
    place = tmp_path / "seen.ns"
    ns.Index.create(place, source=[{"id": str(n), "text": f"{TEXT} {n}"} for n in range(3)], store="text").close()
    with closing(sqlite3.connect(place)) as connection:
        connection.execute(statement)
        connection.commit()
    with suppress(ns.StoreDamagedError), ns.Index.open(place) as index:
        for ask in (
            index.stats,
            index.clusters,
            lambda: list(index.ids()),
            lambda: index.query(TEXT),
            lambda: index.duplicates("1"),
            lambda: index.export(tmp_path / "out.jsonl", overwrite=True),
            lambda: index.add({"id": "1", "text": TEXT}, replace=True),
            lambda: index.remove("1"),
        ):
            with suppress(ns.StoreDamagedError, ns.UnknownIdError):
                ask()
        assert [] != index.check()


@pytest.mark.parametrize("change_of", ["CREATE TABLE more (a)", "DROP INDEX documents_by_leader"])
def test_a_file_with_other_tables_is_damaged(change_of, tmp_path):
    """Even if all that is looked at first is there."""
    place = tmp_path / "seen.ns"
    ns.Index.create(place).close()
    with closing(sqlite3.connect(place)) as connection:
        connection.execute(change_of)
    with pytest.raises(ns.StoreDamagedError, match="its tables are not those of an index"):
        ns.Index.open(place)


@pytest.mark.parametrize(
    "change_of",
    [
        "DROP TABLE settings",
        "DELETE FROM settings",
        "ALTER TABLE settings DROP COLUMN value",
        "DELETE FROM settings WHERE name = 'format'",
    ],
)
def test_a_file_without_settings_is_damaged(change_of, tmp_path):
    """It is not an index of another format, nor one that may not be read."""
    place = tmp_path / "seen.ns"
    ns.Index.create(place).close()
    with closing(sqlite3.connect(place)) as connection:
        connection.execute(change_of)
        connection.commit()
    for use in (ns.Index.open, ns.Index.migrate):
        with pytest.raises(ns.StoreDamagedError, match="its settings are not what was written"):
            use(place)


def test_check_lets_amcheck_look_where_it_is_there(postgres, postgres_url):
    """An index of PostgreSQL whose entries are not in order any more: without it, nothing that is read shows it."""
    ns.Index.create(postgres_url, source=DOCUMENTS).close()
    schema = Address.parse(postgres_url).schema
    [(name,)] = postgres.sql(f"SELECT pg_relation_filepath('{schema}.documents_id_key')")
    postgres.stop()
    file = postgres.home / "data" / name
    content = bytearray(file.read_bytes())
    first = slice(_PAGE + 24, _PAGE + 28)  # of the only leaf: where its first and its second entry stand
    second = slice(_PAGE + 28, _PAGE + 32)
    content[first], content[second] = content[second], content[first]
    with file.open("r+b") as out:  # it stays the server's own
        out.write(content)
    postgres.start()
    with ns.Index.open(postgres_url) as index:
        assert [] == index.check()
        postgres.sql("CREATE EXTENSION amcheck")
        found = index.check()
        postgres.sql("DROP EXTENSION amcheck")
    assert any("amcheck" in problem and "documents_id_key" in problem for problem in found), found


def test_what_was_damaged_is_made_anew_from_what_was_saved(tmp_path):
    """As the hint says: export, then create from the file."""
    place, saved = tmp_path / "seen.ns", tmp_path / "saved.jsonl"
    ns.Index.create(place, source=DOCUMENTS, store="text").close()
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE documents SET url = 'x' WHERE number = 2")
        connection.commit()
    with ns.Index.open(place) as index:
        index.export(saved)
    with ns.Index.create(place, source=saved, store="text", overwrite=True) as index:
        assert [] == index.check()
        assert ["0", "2", "3", "4"] == list(index.ids())
