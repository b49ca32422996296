"""The order of priority, as proofs hold rows to it: what is wrong is told, and what cannot be told is named."""

import json
from datetime import date

import pytest

import nearsame as ns
from nearsame.proofs.priority import Priority

TEXT = "the quick brown fox jumps over the lazy dog near the river"


def told(keep, kinds=frozenset({int}), removed=(TEXT, 1), witness=(TEXT, 1)):
    """What is wrong and what is noted of a document that is removed for a witness read before it."""
    wrong, notes = [], []
    recipe = {"keep": keep, "ties": "reading", "method": "minhash"}
    one, other = (
        {"content": content, "order": order, "key": key, "against": False}
        for key, (content, order) in enumerate([witness, removed])
    )
    Priority(recipe, kinds).check(other, one, wrong.append, notes.append)
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
        ("newest:date", {date}, TEXT, "dates are not compared here"),
        ("max:rank", {int, str}, TEXT, "its values are not all whole numbers"),
        ("longest", {int}, TEXT.encode(), "contents are not all texts"),
    ],
)
def test_an_order_that_cannot_be_told_is_named_with_the_reason(keep, kinds, removed, why):
    """Silence would read as if it had been checked."""
    expected = [f"not checked: which document comes first by --keep {keep}, since {why}"]
    assert ([], expected) == told(keep, frozenset(kinds), removed=(removed, 1))


def test_verify_names_an_order_that_it_did_not_check(tmp_path):
    """As a note of the whole output, once, however many rows there are."""
    dates = ["2020-01-01", "2020-01-02", "2020-01-03"]
    lines = [json.dumps({"text": TEXT, "date": day}) for day in dates]
    (tmp_path / "in.jsonl").write_text("\n".join(lines), "utf-8")
    ns.dedup(str(tmp_path / "in.jsonl"), keep="newest:date").write(tmp_path / "out")
    verification = ns.verify(tmp_path / "out")
    expected = ["not checked: which document comes first by --keep newest:date, since dates are not compared here"]
    assert (True, expected) == (verification.holds, list(verification.notes))
