"""What an older version has made is refused by name: an index, a table of frequencies, a work directory, an output."""

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import IndexMismatchError, SourceError, StoreError, WorkdirError
from nearsame.recipes.base import TOKENISER
from nearsame.stores.checksums import sealed
from tests.cli.commands import run

TEXTS = [f"a rose is a rose number {n // 2}" for n in range(8)]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index of some texts."""
    path = tmp_path / "seen.ns"
    with ns.Index.create(path, method=["minhash", "digest"]) as made:
        made.add([{"id": str(n), "text": text} for n, text in enumerate(TEXTS)])
    return path


def _change(index: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Another value for a setting of an index; None takes it out."""
    connection = sqlite3.connect(index)
    with connection:
        ((found,),) = connection.execute("SELECT value FROM settings WHERE name = ?", (name,))
        value = change(found)
        if value is None:
            connection.execute("DELETE FROM settings WHERE name = ?", (name,))
        else:
            connection.execute("UPDATE settings SET value = ? WHERE name = ?", (value, name))
        connection.execute("DELETE FROM settings WHERE name = 'checksum'")  # as in formats that had none
        if name != "format":
            checksum = sealed(dict(connection.execute("SELECT name, value FROM settings")))["checksum"]
            connection.execute("INSERT INTO settings VALUES ('checksum', ?)", (checksum,))
    connection.close()


def _older(**versions: Any) -> Callable[[str], str]:
    """Recipes of other versions."""
    return lambda methods: json.dumps([{**record, **versions} for record in json.loads(methods)])


@pytest.mark.parametrize(
    ("name", "change", "kind", "message"),
    [
        ("format", lambda _: "1", StoreError, "is an index of format 1; this version of nearsame reads format 3"),
        ("methods", _older(tokeniser=1), IndexMismatchError, "was made with version 1 of the tokeniser, and"),
        ("methods", _older(unicode="15.1.0"), IndexMismatchError, "was made with version 15.1.0 of the Unicode tables"),
        ("methods", lambda _: "[{}]", IndexMismatchError, "was made by a recipe that this version cannot read"),
        ("methods", lambda _: "[3]", IndexMismatchError, "was made by a recipe that this version cannot read"),
        ("methods", lambda _: "nonsense", IndexMismatchError, "was made by a recipe that this version cannot read"),
        ("methods", lambda _: '[{"method": "later"}]', IndexMismatchError, "was made by a recipe that this"),
        ("store", lambda _: None, IndexMismatchError, "was made by a recipe that this version cannot read"),
    ],
)  # fmt: skip
def test_an_index_of_an_older_version_is_refused(
    index: Path, name: str, change: Any, kind: type[ns.NearSameError], message: str
) -> None:
    """With its path, what it was made by, and what to do."""
    _change(index, name, change)
    for read_only in (True, False):
        with pytest.raises(kind, match=re.escape(f"{index} {message}")) as caught:
            ns.Index.open(index, read_only=read_only)
        migrates = (
            "Run `nearsame index migrate`, if it stores texts; or create" if "with version" in message else "Create"
        )
        assert f"{migrates} it again from its source, or use the version that made it." == caught.value.hint


def test_a_work_directory_of_an_older_version_is_refused(tmp_path: Path) -> None:
    """Also one whose recipes had no tokeniser yet: those of vectors."""
    source, work = tmp_path / "v.parquet", tmp_path / "work"
    pq.write_table(pa.table({"vector": [[1.0, 0.0], [0.0, 1.0]] * 4}), source)
    again = lambda: ns.dedup(str(source), method="hyperplane", workdir=work)  # noqa: E731  (three times the same)
    again()
    begun = json.loads((work / "run.json").read_text())
    older = {name: value for name, value in begun.items() if name != "tokeniser"}
    for record, difference in (
        (older, f"tokeniser was None and is {begun['tokeniser']}"),
        (begun | {"tokeniser": 1}, f"tokeniser was 1 and is {begun['tokeniser']}"),
        (begun | {"version": "0.0.9"}, "version was '0.0.9' and is"),
    ):
        (work / "run.json").write_text(json.dumps(record))
        message = f"{work} belongs to a run of another version of nearsame: {difference}"
        with pytest.raises(WorkdirError, match=re.escape(message)) as caught:
            again()
        assert "Delete the folder to start over, or name another." == caught.value.hint
    (work / "run.json").write_text("[]")
    with pytest.raises(WorkdirError, match=f"{work} is not a work directory"):
        again()
    (work / "run.json").write_text(json.dumps(begun))
    assert 6 == again().stats.removed


def test_an_output_of_an_older_version_is_not_verified_by_another_tokeniser(tmp_path: Path) -> None:
    """It would be told that it is wrong where it was right."""
    vectors = pa.table({"vector": [[1.0, 0.0], [0.0, 1.0]] * 4})
    for source, method in ((TEXTS, "jaccard"), (vectors, "hyperplane")):
        ns.dedup(source, method=method).write(tmp_path / method)
        stats = json.loads((tmp_path / method / "stats.json").read_text())
        assert TOKENISER == stats["recipe"].pop("tokeniser")
        for version, recipe in ((1, {**stats["recipe"], "tokeniser": 1}), ("unknown", stats["recipe"])):
            (tmp_path / method / "stats.json").write_text(json.dumps({**stats, "recipe": recipe}))
            with pytest.raises(SourceError, match=f"{method} was made with version {version} of the tokeniser"):
                ns.verify(tmp_path / method, source=source)


def test_an_index_keeps_the_seed_that_was_drawn(tmp_path: Path) -> None:
    """Reopened it answers the same, shows its seed, and expects no other."""
    path = tmp_path / "seen.ns"
    with ns.Index.create(path, method=ns.MinHash(seed="random")) as index:
        index.add([{"id": str(n), "text": text} for n, text in enumerate(TEXTS)])
        (recipe,) = index.stats().methods
        answers = [index.query(text) for text in TEXTS]
    assert 2**64 < recipe["seed"]
    with ns.Index.open(path, read_only=True) as again:
        assert (recipe,) == again.stats().methods
        assert answers == [again.query(text) for text in TEXTS]
        assert all(answers)
    with ns.Index.open(path, expect=ns.MinHash(seed=recipe["seed"])):
        pass
    with pytest.raises(IndexMismatchError, match=f"minhash seed={recipe['seed']}, expected 0"):
        ns.Index.open(path, expect=ns.MinHash())


def test_the_command_line_keeps_a_drawn_seed_likewise(tmp_path: Path) -> None:
    """`index create --seed random`, then questions in processes of their own."""
    source, path = tmp_path / "a.jsonl", str(tmp_path / "seen.ns")
    source.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(TEXTS)))
    assert 0 == run("index", "create", path, "--seed", "random").exit_code
    assert 0 == run("index", "add", path, source).exit_code
    shown = [json.loads(run("index", "stats", path, "--json").stdout) for _ in range(2)]
    seeds = [{record.get("seed", 0) for record in each["methods"]} for each in shown]
    assert seeds[0] == seeds[1]
    assert 2**64 < max(seeds[0])
    answers = [run("index", "query", path, TEXTS[0], "--json").stdout for _ in range(2)]
    assert answers[0] == answers[1]
    assert '"similarity": 1.0' in answers[0]
