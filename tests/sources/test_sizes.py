"""How much text there is, told before anything is read."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearsame.sources import Columns, open_parts
from nearsame.sources.parts import FACTORS
from nearsame.sources.sizes import text_bytes

TEXTS = [f"text number {number} " * 20 for number in range(500)]
SIZE = sum(map(len, TEXTS))


def told(*sources, **columns):
    """What is told of some sources."""
    chosen = Columns(**columns)
    return text_bytes(open_parts(list(sources), columns=chosen), chosen)


def test_parquet_tells_the_size_of_its_text_column_alone(tmp_path):
    """Uncompressed, as the footer has it."""
    table = pa.table({"text": TEXTS, "other": TEXTS})
    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=False)
    assert SIZE == pytest.approx(told(tmp_path / "a.parquet", text="text"), rel=0.1)


def test_a_file_of_lines_tells_its_size_and_a_compressed_one_by_a_factor(tmp_path):
    """Several add up."""
    lines = "".join(f'{{"text": "{text}"}}\n' for text in TEXTS).encode()
    (tmp_path / "a.jsonl").write_bytes(lines)
    packed = gzip.compress(lines)
    (tmp_path / "b.jsonl.gz").write_bytes(packed)
    assert len(lines) + FACTORS["gzip"] * len(packed) == told(tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz")


def test_tables_in_memory_and_folders_tell_theirs(tmp_path):
    """Of the text column, and of all files."""
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("x" * 100, "utf-8")
    assert 300 == told(tmp_path)
    assert SIZE == pytest.approx(told(pa.table({"text": TEXTS, "n": range(500)})), rel=0.1)


def test_what_cannot_be_told_counts_as_nothing(tmp_path):
    """A file that is no Parquet, and one without the column: reading will say so."""
    (tmp_path / "a.parquet").write_bytes(b"no Parquet at all")
    pq.write_table(pa.table({"n": [1]}), tmp_path / "b.parquet")
    assert (0, 0) == (told(tmp_path / "a.parquet"), told(tmp_path / "b.parquet"))
