"""Every format, plain and compressed: what is written is read, and a copy is the file without the removed records."""

import tempfile
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tests.examples import share

from .corpora import COMPRESSIONS, FORMATS, ROWS, Rows, copied, decompressed, encoded, only, read, write

EVERY_FORMAT = pytest.mark.parametrize("compression", COMPRESSIONS)
EXAMPLES = settings(deadline=None, max_examples=share(25))


def _expected(rows: Rows, kind: str) -> Rows:
    """The records as a source gives them: delimited text has no null."""
    null = "" if kind in {"csv", "tsv"} else None
    return [
        {"position": position, "id": row["id"], "text": null if row["text"] is None else row["text"]}
        for position, row in enumerate(rows)
    ]


@EVERY_FORMAT
@pytest.mark.parametrize("kind", FORMATS)
@given(rows=ROWS)
@EXAMPLES
def test_what_is_written_is_read(kind: str, compression: str, rows: Rows) -> None:
    """Any records come back in order, whatever characters they hold."""
    with tempfile.TemporaryDirectory() as folder:
        assert (_expected(rows, kind), []) == read(only(write(Path(folder), rows, kind, compression)))


@EVERY_FORMAT
@pytest.mark.parametrize("kind", FORMATS)
@given(rows=ROWS, data=st.data())
@EXAMPLES
def test_a_copy_is_the_filtered_file(kind: str, compression: str, rows: Rows, data: st.DataObject) -> None:
    """Copying without some positions equals writing the other records, byte for byte where lines are copied."""
    removed = data.draw(st.sets(st.sampled_from(range(len(rows)))) if rows else st.just(set()))
    stay = [row for position, row in enumerate(rows) if position not in removed]
    with tempfile.TemporaryDirectory() as folder:
        target = copied(only(write(Path(folder), rows, kind, compression)), Path(folder), removed)
        assert f"records.{kind}{compression}" == target.name
        assert (_expected(stay, kind), []) == read(only(target))
        if kind in {"jsonl", "csv", "tsv"}:
            assert encoded(stay, kind) == decompressed(target)
