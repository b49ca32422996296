"""--annotate: three columns more, the rest as it was."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearsame.errors import ColumnError
from nearsame.sources import Annotations, Columns, open_parts
from nearsame.sources.feather import Feather
from nearsame.sources.json_keys import annotate_line

from .corpora import Rows, only, table_of, write

ROWS: Rows = [{"id": "a", "text": "A\n", "n": 1}, {"id": "b", "text": None, "n": 2}, {"id": "c", "text": "C", "n": 3}]
VALUES: dict[str, list[Any]] = {
    "cluster": [0, None, 0],
    "witness_id": [None, None, 'a,"\u00e9'],
    "num_duplicates": [1, 0, 0],
}
ANNOTATIONS = Annotations(
    pa.array(VALUES["cluster"], pa.int64()),
    pa.array(VALUES["witness_id"]),
    pa.array(VALUES["num_duplicates"], pa.int64()),
)
NONE = np.zeros(0, np.int64)


def _annotated(folder: Path, kind: str) -> Path:
    part = only(write(folder, ROWS, kind))
    part.copy(folder / "kept" / part.target, NONE, ANNOTATIONS)
    return folder / "kept" / part.target


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow"])
def test_a_table_gets_three_columns(tmp_path: Path, kind: str) -> None:
    """Schema and metadata stay."""
    path = _annotated(tmp_path, kind)
    if kind == "parquet":
        found = pq.read_table(path)
    else:
        found = (pa.ipc.open_file if kind == "feather" else pa.ipc.open_stream)(path.read_bytes()).read_all()
    assert table_of(ROWS).schema.metadata == found.schema.metadata
    assert {**table_of(ROWS).to_pydict(), **VALUES} == found.to_pydict()


def test_csv_gets_three_columns(tmp_path: Path) -> None:
    """Quoted where need be; the rest byte for byte, line ends included."""
    expected = (
        '"id","text","n",cluster,witness_id,num_duplicates\r\n'
        '"a","A\n","1",0,,1\r\n"b","","2",,,0\r\n"c","C","3",0,"a,""é",0\r\n'
    )
    assert expected.encode() == _annotated(tmp_path, "csv").read_bytes()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"a": 1}\r\n', b'{"a": 1,K}\r\n'),
        (b"{ }\n", b"{ K}\n"),
        (b' {"a": "}"} ', b' {"a": "}",K} '),
        (b'{"a": {}}', b'{"a": {},K}'),
    ],
)
def test_a_json_line_gets_three_keys_before_its_closing_brace(line: bytes, expected: bytes) -> None:
    """Nothing else changes."""
    keys = b'"cluster":1,"witness_id":"w","num_duplicates":0'
    assert expected.replace(b"K", keys) == annotate_line(line, (1, "w", 0))


def test_removed_records_are_gone_from_annotated_files_too(tmp_path: Path) -> None:
    """Both at once, for every format."""
    for kind in ("jsonl", "csv", "parquet", "orc", "feather"):
        part = only(write(tmp_path, ROWS, kind))
        target = tmp_path / "kept" / part.target
        part.copy(target, np.array([0, 1]), ANNOTATIONS)
        (batch,) = only(target, Columns(order=("num_duplicates",))).read(Columns(order=("num_duplicates",)), print)
        assert [("c", 0)] == list(zip(batch["id"].to_pylist(), batch["num_duplicates"].to_pylist(), strict=True))


def test_text_files_get_a_file_of_annotations(tmp_path: Path) -> None:
    """Beside kept.txt, or among the copies, under a name that is free."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (source / name).write_text(name)
    first = b'{"path":"a.txt","cluster":0,"witness_id":null,"num_duplicates":1}'
    for copy_files, home in ((False, tmp_path / "one"), (True, tmp_path / "two")):
        (part,) = open_parts([source], columns=Columns())
        part = part.as_files() if copy_files else part
        part.copy(home / part.target, NONE, ANNOTATIONS)
        lines = (home / "annotations.jsonl").read_bytes().splitlines()
        assert (first, 3) == (lines[0], len(lines))
        part.copy(home / part.target, NONE, ANNOTATIONS)
        assert (home / "annotations-1.jsonl").exists()
    assert "b.txt" == (tmp_path / "two" / "b.txt").read_text()


@pytest.mark.parametrize("kind", ["parquet", "orc", "feather", "csv"])
def test_a_column_of_that_name_is_an_error(tmp_path: Path, kind: str) -> None:
    """Two columns of one name help nobody."""
    part = only(_annotated(tmp_path, kind))
    with pytest.raises(ColumnError, match="already has a column 'cluster'"):
        part.copy(tmp_path / "again" / part.target, NONE, ANNOTATIONS)


@pytest.mark.parametrize("line", [b'{"text":"A","cluster":1}', b'{"text":"A", "witness\\u005fid" : null}'])
def test_a_key_of_that_name_in_any_json_line_is_an_error(tmp_path: Path, line: bytes) -> None:
    """However it is spelt; a text or an inner object may have the word."""
    harmless = b'{"text":"\\"cluster\\"","x":"cluster","inner":{"cluster":1}}\n'
    path = tmp_path / "a.jsonl"
    path.write_bytes(harmless * 2_000)
    only(path).copy(tmp_path / "kept.jsonl", NONE, ANNOTATIONS)
    path.write_bytes(harmless * 2_000 + line)
    with pytest.raises(ColumnError, match=r"a\.jsonl, line 2001 already has a column '(cluster|witness_id)'"):
        only(path).copy(tmp_path / "kept.jsonl", NONE, ANNOTATIONS)


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("dictionary", [False, True])
def test_an_arrow_copy_has_the_compression_of_its_source(tmp_path: Path, codec: str | None, dictionary: bool) -> None:
    """The reader does not tell; the messages do."""
    texts = pa.array(["A" * 1_000] * 9)
    table = pa.table({"text": texts.dictionary_encode() if dictionary else texts})
    path = tmp_path / "a.arrow"
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table)
    part = only(path)
    assert isinstance(part, Feather)
    part.copy(tmp_path / "b.arrow", np.array([0]))
    expected = tmp_path / "c.arrow"
    with pa.ipc.new_file(expected, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table.slice(1))
    assert pa.ipc.open_file(expected).read_all() == pa.ipc.open_file(tmp_path / "b.arrow").read_all()
    assert abs(expected.stat().st_size - (tmp_path / "b.arrow").stat().st_size) < 200
