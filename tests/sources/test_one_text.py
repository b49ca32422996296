"""No column is taken for texts beside a source whose texts stand in another one, where nobody has named it."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

import nearsame as ns

YEARS = [{"year": "MCM"}, {"year": "MCM"}]
TEXTS = [{"text": "one two three", "year": "MCM"}, {"text": "four five six", "year": "MCM"}]
CONTENTS = [{"content": "one two three", "year": "MCM"}]


def _folder(home: Path, **files: tuple[str, list[dict[str, Any]]]) -> Path:
    for name, (kind, rows) in files.items():
        (home / name).mkdir(parents=True)
        file, table = home / name / f"records.{kind}", pa.Table.from_pylist(rows)
        match kind:
            case "jsonl":
                file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            case "csv":
                file.write_text("\n".join([",".join(table.column_names), *(",".join(row.values()) for row in rows)]))
            case "orc":
                orc.write_table(table, file)
            case "parquet":
                pq.write_table(table, file)
    return home


@pytest.mark.parametrize("kinds", [("parquet", "parquet"), ("jsonl", "jsonl"), ("csv", "orc"), ("jsonl", "parquet")])
@pytest.mark.parametrize("turned", [False, True])
def test_a_file_without_a_text_is_not_compared_by_its_only_string(
    kinds: tuple[str, str], tmp_path: Path, *, turned: bool
) -> None:
    """Whichever comes first: two documents of one year are no copies."""
    given = [(kinds[0], YEARS), (kinds[1], TEXTS)]
    a, b = reversed(given) if turned else given
    home = _folder(tmp_path, a=a, b=b)
    first, second = ("'text'", "'year'") if turned else ("'year'", "'text'")
    for ask in (ns.dedup, ns.pairs, lambda source: ns.dedup([{"text": "x"}], against=source)):
        with pytest.raises(ns.ColumnError, match=f"would be {first}, that of .* {second}") as caught:
            ask(home)
        assert "--text-column" in caught.value.hint


def test_what_is_told_or_named_is_taken(tmp_path: Path) -> None:
    """A column that somebody has named, or that is called `text` or `content`, and that of the other side."""
    home = _folder(tmp_path / "in", a=("jsonl", YEARS), b=("jsonl", TEXTS))
    assert ns.dedup(home, text_column="year").stats.removed == 3
    mixed = _folder(tmp_path / "mixed", a=("jsonl", TEXTS), b=("csv", CONTENTS))
    (mixed / "c.txt").write_text("one two three")
    assert ns.dedup(mixed).stats.removed == 2
    assert ns.dedup(home / "b", against=home / "a").stats.removed == 0


def test_an_index_is_not_given_another_column(tmp_path: Path) -> None:
    """As for `dedup`; tables in memory are sources like any other."""
    with ns.Index.create(tmp_path / "index.ns") as index, pytest.raises(ns.ColumnError, match="would be 'year'"):
        index.add((pa.Table.from_pylist(YEARS), pa.Table.from_pylist(TEXTS)))
