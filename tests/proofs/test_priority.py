"""The order of priority, as proofs hold rows to it: what is wrong is told, and what cannot be told is named."""

import json
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.proofs.priority import Priority
from tests.cli.commands import run
from tests.sources.archive import html, http, record

TEXT = "the quick brown fox jumps over the lazy dog near the river"


def told(keep, kinds=frozenset({int}), removed=(TEXT, 1), witness=(TEXT, 1)):
    """What is wrong and what is noted of a document that is removed for a witness read before it."""
    wrong, notes = [], []
    recipe = {"keep": keep, "ties": "reading", "method": "minhash"}
    one, other = (
        {"content": content, "order": {"rank": order}, "key": key, "against": False}
        for key, (content, order) in enumerate([witness, removed])
    )
    Priority(recipe, frozenset(("rank", kind) for kind in kinds)).check(other, one, wrong.append, notes.append)
    return wrong, notes


@pytest.mark.parametrize("keep", ["first", "longest", "shortest", "max:rank", "min:rank"])
def test_an_order_that_holds_needs_no_words(keep):
    """Nothing is wrong, and nothing was left out."""
    assert ([], []) == told(keep)


def test_an_order_that_does_not_hold_is_wrong():
    """The one with the greater number was removed."""
    assert (["the witness comes after it by --keep max:rank"], []) == told("max:rank", removed=(TEXT, 2))


@pytest.mark.parametrize(
    ("keep", "kinds", "removed", "why"),
    [
        ("richest", {int}, TEXT, "this policy is not known here"),
        ("newest:rank", {date}, TEXT, "dates are not compared here"),
        ("max:rank", {int, str}, TEXT, "its values are not all whole numbers"),
        ("longest", {int}, TEXT.encode(), "contents are not all texts"),
    ],
)
def test_an_order_that_cannot_be_told_is_named_with_the_reason(keep, kinds, removed, why):
    """Silence would read as if it had been checked."""
    expected = [f"not checked: which document comes first by --keep {keep}, since {why}"]
    assert ([], expected) == told(keep, frozenset(kinds), removed=(removed, 1))


LONGER = f"{TEXT} twice"


@pytest.mark.parametrize(
    ("keep", "removed", "witness", "end"),
    [
        ("max:rank, longest", (LONGER, 1), (TEXT, 1), ""),
        (["max:rank", "shortest"], (TEXT, 1), (LONGER, 1), ""),
        ("longest, min:rank", (TEXT, 1), (TEXT, 2), ""),
        ("max:rank, last", (TEXT, 1), (TEXT, 1), ", in the order of reading"),
        ("max:rank, longest", (TEXT, 1), (LONGER, None), ""),
    ],
)
def test_a_later_policy_counts_where_earlier_ones_are_equal(keep, removed, witness, end):
    """Nulls come last; the order of reading decides at the end; the other way round all is well."""
    kinds = frozenset({int, type(None)})
    assert ([f"the witness comes after it by --keep {keep}{end}"], []) == told(keep, kinds, removed, witness)
    if not end:
        assert ([], []) == told(keep, kinds, witness, removed)


def test_verify_names_an_order_that_it_did_not_check(tmp_path):
    """As a note of the whole output, once, however many rows there are."""
    dates = ["2020-01-01", "2020-01-02", "2020-01-03"]
    lines = [json.dumps({"text": TEXT, "date": day}) for day in dates]
    (tmp_path / "in.jsonl").write_text("\n".join(lines), "utf-8")
    ns.dedup(str(tmp_path / "in.jsonl"), keep="newest:date").write(tmp_path / "out")
    verification = ns.verify(tmp_path / "out")
    expected = ["not checked: which document comes first by --keep newest:date, since dates are not compared here"]
    assert (True, expected) == (verification.holds, list(verification.notes))


def test_verify_holds_an_output_to_a_list_of_policies(tmp_path):
    """Over files of several kinds, some of which lack a column."""
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.jsonl").write_text("".join(json.dumps({"text": TEXT, "rank": rank}) + "\n" for rank in (1, None, 2)))
    (source / "b.csv").write_text(f"text,rank\n{TEXT},\n{TEXT}!!,3\n{TEXT},3\n")
    (source / "c.jsonl").write_text(json.dumps({"text": f"{TEXT}!!"}) + "\n")
    (source / "note.txt").write_text(TEXT)
    pq.write_table(pa.table({"text": [TEXT, f"{TEXT}!!"], "rank": [3, 3]}), source / "d.parquet")
    out = tmp_path / "out"
    assert 0 == run("dedup", source, "--keep", "max:rank, longest, last", "-o", out).exit_code
    assert [8] == pq.read_table(out / "clusters.parquet")["cluster"].unique().to_pylist()
    verification = ns.verify(out)
    assert (True, []) == (verification.holds, [note for note in verification.notes if "whole numbers" not in note])
    assert ["max:rank", "longest"] == ns.dedup([{"text": "a", "rank": 1}], keep=["max:rank", "longest"]).stats.recipe[
        "keep"
    ]


@pytest.mark.parametrize("keep", ["longest", "shortest"])
def test_layers_of_pages_go_by_their_bytes(tmp_path, keep):
    """The text is the same, and the markup is not: which is longer is noted as not checked."""
    pytest.importorskip("fastwarc")
    pages = [html(TEXT), html(TEXT).replace(b"</body>", b" " * 99 + b"</body>"), html(TEXT)]
    records = [record(http(page), number=number) for number, page in enumerate(pages)]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    ns.dedup(str(tmp_path / "a.warc"), keep=keep, use="digest,text").write(tmp_path / "out")
    verdict = ns.verify(tmp_path / "out")
    assert verdict.holds, verdict.problems
    assert any("the length of a page is that of its bytes" in note for note in verdict.notes)
