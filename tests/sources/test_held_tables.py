"""What stays of a source is held as a whole only as long as there is memory, and JSON lines are not made of a whole."""

import json
import os

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from pyarrow import csv, orc

import nearsame as ns
from nearsame import machine
from nearsame.flow import kept, one_file
from nearsame.outputs.lists import json_lines
from nearsame.sources import limits
from tests.sources.archive import gzipped, response

TABLE = pa.table({"id": ["a", "b", "c", "d", "e"], "text": ["a rose", "a daisy", "a rose", "an iris", "a lily"]})
COLUMNAR = {
    "rows.parquet": lambda path: pq.write_table(TABLE, path, row_group_size=2),
    "rows.feather": lambda path: pa.feather.write_feather(TABLE, path, chunksize=2),
    "rows.orc": lambda path: orc.write_table(TABLE, path),
}


def folder(path):
    path.mkdir()
    for name, text in zip(*TABLE.to_pydict().values(), strict=True):
        (path / f"{name}.txt").write_text(text)


def lines(path):
    with path.open("wb") as out:
        json_lines(TABLE, out)


OTHERS = {
    "rows.jsonl": lines,
    "rows.csv": lambda path: csv.write_csv(TABLE, path),
    "rows.warc.gz": lambda path: path.write_bytes(gzipped(*map(response, range(3)))),
    "texts": folder,
}


@pytest.fixture
def no_room(monkeypatch):
    """No memory is free, whatever is asked for."""
    monkeypatch.setattr(limits, "_PIECE", 1)
    monkeypatch.setattr(machine, "free_memory", lambda: 0)


@pytest.mark.parametrize("name", COLUMNAR | OTHERS)
def test_a_table_for_which_there_is_no_memory_is_refused(name, tmp_path, no_room):
    """By an error with the name of the source: nobody has to end the process."""
    (COLUMNAR | OTHERS)[name](tmp_path / name)
    found = ns.dedup(str(tmp_path / name))
    for held in (found.kept, lambda: found.write(tmp_path / "other.tsv")):
        with pytest.raises(ns.ConfigError, match=rf"{name}: what stays takes more memory than there is \(0 MB"):
            held()
    assert not (tmp_path / "other.tsv").exists()


@pytest.mark.parametrize("name", COLUMNAR)
def test_json_lines_and_copies_hold_no_table(name, tmp_path, no_room):
    """Records come some at a time, with what the names of folders say of each."""
    place = tmp_path / "crawl" / "year=2026"
    place.mkdir(parents=True)
    COLUMNAR[name](place / name)
    found = ns.dedup(str(tmp_path / "crawl"))
    found.write(tmp_path / "kept.jsonl")
    written = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert [{**row, "year": 2026} for row in TABLE.to_pylist() if row["id"] != "c"] == written
    found.write(tmp_path / "clean")
    assert len(list((tmp_path / "clean" / "kept").rglob("rows.*"))) == 1


@pytest.mark.parametrize("name", COLUMNAR | OTHERS)
@pytest.mark.parametrize("told", ["held", "printed"])
def test_a_source_that_changes_meanwhile_is_told(name, told, tmp_path, monkeypatch):
    """Part of what is held or printed may be of another file: an error says so, where it could pass for the answer."""
    (COLUMNAR | OTHERS)[name](tmp_path / name)
    found = ns.dedup(str(tmp_path / name))
    changed = next((tmp_path / name).iterdir()) if name == "texts" else tmp_path / name
    module, function = (kept, "table_of") if told == "held" else (one_file, "_print")
    made = getattr(module, function)

    def meanwhile(*args):
        given = made(*args)
        os.utime(changed, (1, 1))
        return given

    monkeypatch.setattr(module, function, meanwhile)
    with pytest.raises(ns.SourceError, match=r"changed (while|since) it was (being )?read"):
        found.kept() if told == "held" else found.write("-")
