"""Which version opens which index, and what becomes of one that another version made."""

import json
import shutil
import sqlite3
from contextlib import ExitStack, closing

import numpy as np
import pytest

import nearsame as ns
from nearsame.stores.base import FORMAT
from nearsame.stores.checksums import sealed
from nearsame.stores.postgres_session import Address
from tests.cli.commands import run
from tests.index import formats

TEXT = "one text of a few words that are enough to make some shingles of five words each number"
DOCUMENTS = [
    *({"id": f"id-{n}", "url": f"https://example.org/{n}", "text": f"{TEXT} {n // 3}"} for n in range(30)),
    {"id": "last", "text": TEXT, "lang": "en"},
]
METHODS = [ns.MinHash(threshold=0.7), "digest"]


@pytest.fixture
def older(request, place):
    """What makes an index one of another version of the Unicode tables."""

    def change(execute, prefix=""):
        settings = dict(execute(f"SELECT name, value FROM {prefix}settings"))  # noqa: S608  (made up here)
        records = [{**record, "unicode": "15.1.0", "tokeniser": 1} for record in json.loads(settings["methods"])]
        settings = sealed({**settings, "methods": json.dumps(records)})
        for name in ("methods", "checksum"):
            execute(f"UPDATE {prefix}settings SET value = '{settings[name]}' WHERE name = '{name}'")  # noqa: S608  (likewise)

    def on_file():
        with closing(sqlite3.connect(place)) as connection:
            change(connection.execute)
            connection.commit()

    def on_server():
        change(request.getfixturevalue("postgres").sql, f"{Address.parse(place).schema}.")

    return on_server if place.startswith("postgresql:") else on_file


@pytest.mark.parametrize("file", sorted(formats.FOLDER.glob("*.ns")), ids=lambda file: file.stem)
def test_an_index_of_each_released_format_is_read_as_ever(file, tmp_path):
    """Every answer is what it was when the file was made; or it is made anew, where methods mean something else now."""
    place = tmp_path / "seen.ns"
    shutil.copyfile(file, place)
    expected = json.loads(file.with_suffix(".json").read_text("utf-8"))
    is_new = ns.Index.migrate(place)
    with ns.Index.open(place, read_only=True) as index:
        assert [] == index.check()
        found = json.loads(json.dumps(formats.answers(index)))
        assert is_new or within(expected, found) == expected
        assert expected["ids"] == found["ids"]
    with ns.Index.open(place) as index:
        assert index.add({"id": "new", "text": "a text that nobody had"})[0].added
        index.remove("id-3")
        assert [] == index.check()


def within(expected, found):
    """What was found, without what nobody knew of when it was expected."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return {name: within(value, found.get(name)) for name, value in expected.items()}
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [within(*pair) for pair in zip(expected, found, strict=True)]
    return found


def test_there_is_a_file_of_this_format():
    """`scripts/make-index-file` makes it."""
    assert (formats.FOLDER / f"format-{FORMAT}-columns.ns").is_file()


def test_an_index_of_another_version_is_made_anew_from_its_texts(place, older):
    """It is then the one that this version would have made of the same documents."""
    with ns.Index.create(place, method=METHODS, store="text", keep_columns="lang") as index:
        index.add(DOCUMENTS)
        index.remove("id-0")
        expected = [index.query(each["text"]) for each in DOCUMENTS], index.clusters(), list(index.ids())
        recipes = index.stats().methods
    assert not ns.Index.migrate(place)
    older()
    with pytest.raises(ns.IndexMismatchError, match="was made with version 1 of the tokeniser") as told:
        ns.Index.open(place)
    assert "nearsame index migrate" in told.value.hint
    assert ns.Index.migrate(place)
    with ns.Index.open(place) as index:
        assert [] == index.check()
        assert expected == ([index.query(each["text"]) for each in DOCUMENTS], index.clusters(), list(index.ids()))
        assert recipes == index.stats().methods
        assert "https://example.org/1" == index.get("id-1").url
        assert ["last"] == [match.id for match in index.query(TEXT, where="lang=en")]


def test_a_recipe_that_means_something_else_now_is_named(tmp_path):
    """A setting that its version did not have: it may decide otherwise, so the index is refused, and made anew."""
    place = tmp_path / "seen.ns"
    ns.Index.create(place, source=DOCUMENTS, store="text").close()
    with closing(sqlite3.connect(place)) as connection:
        settings = dict(connection.execute("SELECT name, value FROM settings"))
        records = [{name: record[name] for name in record if name != "repeats"} for record in _methods(settings)]
        settings = sealed({**settings, "methods": json.dumps(records)})
        connection.executemany("UPDATE settings SET value = ? WHERE name = ?", [(v, n) for n, v in settings.items()])
        connection.commit()
    with pytest.raises(ns.IndexMismatchError, match="this version reads differently: minhash repeats") as told:
        ns.Index.open(place)
    assert "nearsame index migrate" in told.value.hint
    assert ns.Index.migrate(place)
    with ns.Index.open(place) as index:
        assert [] == index.check()


def _methods(settings):
    return json.loads(settings["methods"])


def test_one_without_texts_is_refused_with_what_is_needed(place, older):
    """The settings that it had, and what to give."""
    ns.Index.create(place, method=METHODS, source=DOCUMENTS).close()
    older()
    with pytest.raises(ns.IndexMismatchError, match="it can be rebuilt from stored texts only") as told:
        ns.Index.migrate(place)
    assert "store=shingles and minhash (threshold=0.7), digest, digest (normalise=True)" in told.value.hint
    assert "--from SOURCE" in told.value.hint


def test_one_that_is_written_to_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    """What was added is not lost."""
    from nearsame.index import migrating

    place = tmp_path / "seen.ns"
    ns.Index.create(place, source=DOCUMENTS, store="text").close()
    monkeypatch.setattr(migrating, "is_current", lambda *_: False)
    build = migrating.build

    def slow(*given):
        build(*given)
        with ns.Index.open(place) as index:
            index.add({"id": "meanwhile", "text": "a text"})

    monkeypatch.setattr(migrating, "build", slow)
    with pytest.raises(ns.StoreBusyError, match="changed while it was rebuilt"):
        ns.Index.migrate(place)
    with ns.Index.open(place) as index:
        assert "meanwhile" in list(index.ids())
    assert {"seen.ns", "seen.ns-wal", "seen.ns-shm"} >= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("what", ["another index", "a replacement under way"])
def test_what_no_number_of_documents_tells_is_noticed(postgres_url, monkeypatch, what):
    """Another index of as many documents in its place, and a writer who had its number before we looked."""
    from nearsame.index import migrating

    ns.Index.create(postgres_url, source=DOCUMENTS, store="text").close()
    monkeypatch.setattr(migrating, "is_current", lambda *_: False)
    build, open_store = migrating.build, migrating.stores.open_store
    with ExitStack() as writing:

        def slow(*given):
            build(*given)
            if what == "another index":
                ns.Index.create(postgres_url, source=DOCUMENTS, store="shingles", overwrite=True).close()
            writing.close()

        if what != "another index":
            store = writing.enter_context(closing(open_store(postgres_url)))
            write = writing.enter_context(store.writing(np.zeros(0, np.int64)))
            write.reserve(1)
        monkeypatch.setattr(migrating, "build", slow)
        with pytest.raises(ns.StoreBusyError, match="changed while it was rebuilt"):
            ns.Index.migrate(postgres_url)
    with ns.Index.open(postgres_url) as index:
        assert ("shingles" if what == "another index" else "text") == index.stats().store


def test_the_command_says_whether_there_was_something_to_do(tmp_path):
    """And ends well in both cases."""
    place = tmp_path / "seen.ns"
    ns.Index.create(place, source=DOCUMENTS, store="text").close()
    done = run("index", "migrate", place)
    assert (0, f"{place} is of this version already.\n") == (done.exit_code, done.stdout)
