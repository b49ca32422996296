"""Files with few records each: their documents are the same, and come in as few batches as may be."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading

SIZES = st.lists(st.sampled_from([0, 1, 2, 30, 255, 256, 257, 700]), max_size=12)


def lists(sizes: list[int], name: str) -> list[list[str]]:
    """Texts of so many parts."""
    return [[f"{name} {number} {at} " + "x" * (at % 7) for at in range(size)] for number, size in enumerate(sizes)]


def parts(texts: list[list[str]]) -> list:
    """Each list a part of its own."""
    return [part for some in texts for part in open_parts([some], columns=Columns())]


@given(SIZES, SIZES, st.sampled_from([None, 1, 40, 300, 5000]))
def test_joined_batches_hold_what_each_file_has(sizes, against, batch_rows):
    """In order, the sides apart, and nothing is numbered that no batch has given yet: its origin could not be told."""
    others, texts = lists(against, "b"), lists(sizes, "a")
    reading = Reading(parts(texts), Columns(), parts(others), batch_rows=batch_rows)
    seen: list[str] = []
    for batch in reading:
        assert list(range(len(seen), len(seen) + len(batch))) == batch.column("row").to_pylist()
        assert len(batch) <= (batch_rows or 5000)
        seen += batch.column("text").to_pylist()
        assert len(seen) == reading.num_documents
        assert len({text[0] for text in batch.column("text").to_pylist()}) == 1
    assert [text for some in (*others, *texts) for text in some] == seen
    assert sum(against) == reading.num_against
    origins = reading.origins
    assert [number for number, some in enumerate((*others, *texts)) for _ in some] == origins["source"].to_pylist()


@pytest.mark.parametrize("records", [1, 20])
def test_many_small_files_are_few_batches(records, tmp_path):
    """Each batch costs a document's time many times over: 4,000 files of one record took twelve seconds."""
    line = json.dumps({"text": "a text of some words"}) + "\n"
    for number in range(300):
        (tmp_path / f"{number}.jsonl").write_text(line * records, "utf-8")
    reading = Reading(open_parts([tmp_path], columns=Columns()), Columns())
    sizes = [len(batch) for batch in reading]
    assert 300 * records == sum(sizes)
    assert len(sizes) <= 2 + 300 * records // 900


def test_large_texts_are_not_held_for_others(tmp_path):
    """A batch of a megabyte is given as it comes."""
    for number in range(4):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps({"text": "word " * 250_000}) + "\n", "utf-8")
    assert [1, 1, 1, 1] == [len(batch) for batch in Reading(open_parts([tmp_path], columns=Columns()), Columns())]
