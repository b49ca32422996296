"""Two sides: what is called what, what is counted on which, and how many pairs there are across."""

import json

import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import TooManyPairsError

ROSE, DAISY = "a rose is a rose is a rose", "a daisy is a daisy is a daisy"
BROKEN = "\ud800"  # no UTF-8: cannot be read


def test_a_document_is_not_its_own_witness_by_name():
    """Tables of the against side have names of their own."""
    removals = ns.dedup([ROSE], against=[ROSE]).removals.to_pylist()
    assert [("memory:0", "against:0")] == [(row["id"], row["witness_id"]) for row in removals]
    assert [("memory", "against")] == [(row["source"], row["witness_source"]) for row in removals]
    several = ns.pairs(([DAISY], [ROSE]), against=(["no"], [DAISY], [ROSE])).table
    assert {"against-2", "against-3"} == set(several["a_source"].to_pylist())
    assert {"memory-1", "memory-2"} == set(several["b_source"].to_pylist())


def test_a_record_that_cannot_be_read_belongs_to_its_side():
    """At the same position of the other side stands another record."""
    found = ns.dedup([DAISY, ROSE], against=[BROKEN, ROSE])
    assert [DAISY] == found.kept()["text"].to_pylist()
    assert 1 == found.stats.skipped


def test_pairs_of_one_side_do_not_count():
    """A hundred copies on one side, one on the other: a hundred pairs, not five thousand."""
    assert 100 == ns.pairs([ROSE] * 100, against=[ROSE], max_pairs=100).table.num_rows
    assert 0 == ns.pairs([ROSE] * 100, against=[DAISY], max_pairs=1).table.num_rows


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({}, "Raise max_pairs, raise the threshold or write groups of identical documents as a star."),
        ({"against": [ROSE] * 3}, "Raise max_pairs or raise the threshold."),
        ({"method": "digest", "against": [ROSE] * 3}, "Raise max_pairs."),
        ({"method": "digest"}, "Raise max_pairs or write groups of identical documents as a star."),
        ({"method": "simhash", "against": [ROSE] * 3}, "Raise max_pairs or lower k."),
    ],
)
def test_the_hint_of_too_many_pairs_fits_the_run(settings, hint):
    """No star of two sides, no threshold of a digest."""
    with pytest.raises(TooManyPairsError, match="pairs: above max_pairs=2") as caught:
        ns.pairs([ROSE] * 3, max_pairs=2, **settings)
    assert hint == caught.value.hint
    assert "or more" not in str(caught.value)


def test_files_that_were_not_read_count_on_their_side(tmp_path):
    """Digests of folders: what equals no other is never read, and is kept all the same."""
    for side, texts in {"old": [ROSE, "short", "longer one"], "new": [ROSE, DAISY, "x"]}.items():
        (tmp_path / side).mkdir()
        for number, text in enumerate(texts):
            (tmp_path / side / f"{number}.txt").write_text(text)
    found = ns.dedup(tmp_path / "new", method="digest", against=tmp_path / "old")
    stats = found.write(tmp_path / "out", annotate=True)
    assert (6, 3, 2, 1) == (stats.documents, stats.against, stats.kept, stats.removed)
    assert 4 == stats.unread
    lines = (tmp_path / "out" / "kept" / "annotations.jsonl").read_text().splitlines()
    assert [0, 0, 0] == [json.loads(line)["num_duplicates"] for line in lines]
    assert 1 == pq.read_table(tmp_path / "out" / "removed.parquet").num_rows
