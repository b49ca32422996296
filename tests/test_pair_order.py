"""Which document of a pair comes first: by reading the one that was read first, by content the one that would stay."""

import pytest

import nearsame as ns

_WORDS = "one two three four five six seven eight nine ten"
_TEXTS = {"z": _WORDS, "a": f"{_WORDS} more", "m": f"{_WORDS} more words"}
_ROWS = [{"id": name, "text": text} for name, text in _TEXTS.items()]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (ns.Jaccard(threshold=0.5), {("a", "m"), ("a", "z"), ("m", "z")}),
        (ns.Containment(threshold=0.5), {("m", "a"), ("m", "z"), ("a", "z")}),  # the larger set comes first
    ],
)
@pytest.mark.parametrize("rows", [_ROWS, _ROWS[::-1], [*_ROWS[1:], _ROWS[0]]])
def test_by_content_the_first_of_a_pair_is_the_one_of_higher_priority(method, expected, rows):
    """Whatever was read first; what is said of each of the two follows it."""
    found = ns.pairs(rows, method=method, ties="content", audit=False).table.to_pylist()
    assert expected == {(each["a_id"], each["b_id"]) for each in found}
    if isinstance(method, ns.Containment):
        assert {True} == {each["a_in_b"] <= each["b_in_a"] for each in found}
    decided = ns.dedup(rows, method=method, ties="content", audit=False)
    first = [(each["a_id"], each["b_id"]) for each in decided.pairs.to_pylist()]
    assert sorted(first) == sorted((each["witness_id"], each["id"]) for each in decided.removals.to_pylist())


def test_by_reading_it_is_the_one_that_was_read_first():
    """Whichever of them stays."""
    found = ns.pairs(_ROWS, method=ns.Jaccard(threshold=0.5), audit=False).table.to_pylist()
    assert [("z", "a"), ("z", "m"), ("a", "m")] == [(each["a_id"], each["b_id"]) for each in found]


def test_the_audit_asks_for_pairs_in_either_direction():
    """All of them are listed, whichever document is first."""
    audits = [
        ns.pairs(_ROWS, method=ns.Jaccard(threshold=0.5), ties=ties, audit=True).audit
        for ties in ("reading", "content")
    ]
    assert [(1.0, 6)] * 2 == [(each.recall.value, each.recall.of) for each in audits]
