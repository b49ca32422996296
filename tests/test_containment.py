"""What the containment method promises: brute force, over sets and over texts, both ways."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from tests.oracle.containments import decide, pairs
from tests.oracle.corpora import KEEPS, corpora, settings_of, thresholds
from tests.oracle.measures import containment, jaccard
from tests.oracle.priority import order
from tests.oracle.shingles import features

Sets = list[frozenset[int]]

WORDS = [f"w{number}" for number in range(400)]
ARTICLE = " ".join(WORDS)
QUOTE = " ".join(WORDS[100:130])


@st.composite
def nested_sets(draw: st.DrawFn, max_size: int = 9) -> Sets:
    """Sets of very different sizes, many of them parts of others, with holes and strangers."""
    found: Sets = []
    for _ in range(draw(st.integers(0, max_size))):
        low, high = sorted((draw(st.integers(0, 60)), draw(st.integers(0, 60))))
        items = set(range(low, high)) | draw(st.frozensets(st.integers(0, 70), max_size=4))
        items -= draw(st.frozensets(st.integers(0, 70), max_size=4))
        found.append(frozenset(items) if not found or draw(st.booleans()) else draw(st.sampled_from(found)))
    return found


@st.composite
def bounds(draw: st.DrawFn, sets: Sets) -> tuple[str, str | None]:
    """A threshold, often one that a pair just reaches, and perhaps a floor below it."""
    full = [items for items in sets if items]
    either = [containment(a, b) for a in full for b in full if a & b]
    threshold = draw(st.sampled_from(either).map(str) | thresholds() if either else thresholds())
    floors = [value for a in full for b in full if 0 < (value := jaccard(a, b)) < Fraction(threshold)]
    return threshold, draw(st.none() | st.sampled_from(floors).map(str)) if floors else None


def _table(sets: Sequence[frozenset[int]], prefix: str = "d", **columns: Sequence[Any]) -> pa.Table:
    lists = [[str(item) for item in items] for items in sets]
    ids = [f"{prefix}{row}" for row in range(len(sets))]
    return pa.table({"id": pa.array(ids, pa.string()), "items": pa.array(lists, pa.list_(pa.string())), **columns})


def _removals(found: ns.Result) -> dict[str, tuple[str, float]]:
    lines = found.removals.select(["id", "witness_id", "similarity"]).to_pylist()
    return {line["id"]: (line["witness_id"], line["similarity"]) for line in lines}


def _listed(table: pa.Table) -> dict[tuple[int, int], tuple[float, float]]:
    lines = table.to_pylist()
    assert all(line["similarity"] == max(line["a_in_b"], line["b_in_a"]) for line in lines)
    return {(line["a_row"], line["b_row"]): (line["a_in_b"], line["b_in_a"]) for line in lines}


def _named(removed: dict[int, tuple[int, Fraction]], ids: Sequence[str]) -> dict[str, tuple[str, float]]:
    return {ids[row]: (ids[witness], float(share)) for row, (witness, share) in removed.items()}


def _dedup(table: pa.Table, **settings: Any) -> ns.Result:
    given = {
        name: settings.pop(name) for name in ("keep", "against", "within", "threads", "batch_rows") if name in settings
    }
    return ns.dedup(table, method=ns.Containment(**settings), features_column="items", **given)


@given(st.data())
def test_what_goes_is_what_brute_force_removes(data: st.DataObject) -> None:
    """The same documents, witnesses and shares, at every threshold, with and without a floor, for ways to keep."""
    sets = data.draw(nested_sets())
    threshold, floor = data.draw(bounds(sets))
    keep = data.draw(st.sampled_from([keep for keep in KEEPS if keep not in ("longest", "shortest")]))
    values = data.draw(st.lists(st.none() | st.integers(0, 3), min_size=len(sets), max_size=len(sets)))
    column = pa.array(values, pa.int64())
    found = _dedup(_table(sets, when=column, score=column), threshold=threshold, jaccard_floor=floor, keep=keep)
    ranked = order(len(sets), keep, values)
    expected = decide(sets, Fraction(threshold), ranked, floor=Fraction(floor) if floor else None)
    assert _named(expected, [f"d{row}" for row in range(len(sets))]) == _removals(found)


@given(st.data())
def test_against_another_side_goes_as_brute_force_has_it(data: st.DataObject) -> None:
    """What is contained in the other side, or what contains some of it; within or not."""
    sets, others = data.draw(nested_sets()), data.draw(nested_sets())
    threshold, floor = data.draw(bounds(others + sets))
    container = data.draw(st.booleans())
    within = not container and data.draw(st.booleans())
    found = _dedup(
        _table(sets),
        threshold=threshold,
        jaccard_floor=floor,
        remove="container" if container else "contained",
        against=_table(others, "b"),
        within=None if container else within,
    )
    both = others + sets
    ids = [f"b{row}" for row in range(len(others))] + [f"d{row}" for row in range(len(sets))]
    expected = decide(
        both,
        Fraction(threshold),
        range(len(both)),
        num_against=len(others),
        within=within,
        floor=Fraction(floor) if floor else None,
        container=container,
    )
    assert _named(expected, ids) == _removals(found)


@given(st.data())
def test_pairs_are_those_of_brute_force_with_both_directions(data: st.DataObject) -> None:
    """Either direction makes a pair; both are told; so are the pairs across two sides, and the answer's own pairs."""
    sets, others = data.draw(nested_sets()), data.draw(nested_sets(4))
    threshold, floor = data.draw(bounds(sets + others))
    method = ns.Containment(threshold=threshold, jaccard_floor=floor)
    expected = pairs(sets, Fraction(threshold), Fraction(floor) if floor else None)
    found = ns.pairs(_table(sets), method=method, features_column="items")
    assert {pair: tuple(map(float, both)) for pair, both in expected.items()} == _listed(found.table)
    decided = _dedup(_table(sets), threshold=threshold, jaccard_floor=floor)
    assert _listed(decided.pairs).items() <= _listed(found.table).items()
    both = others + sets
    every = pairs(both, Fraction(threshold), Fraction(floor) if floor else None)
    across = ns.pairs(_table(sets), method=method, features_column="items", against=_table(others, "b")).table
    expected = {(a, b - len(others)): value for (a, b), value in every.items() if a < len(others) <= b}
    assert {pair: tuple(map(float, value)) for pair, value in expected.items()} == _listed(across)


@given(corpora(), settings_of(), thresholds())
def test_texts_go_by_their_sets_of_shingles(texts: list[str | None], settings: dict[str, Any], threshold: str) -> None:
    """The whole flow, awkward texts included."""
    recipe = {name if name != "shingle_size" else "size": value for name, value in settings.items()}
    sets = [features(text, **recipe) for text in texts]
    table = pa.table({"text": pa.array(texts, pa.string())})
    found = ns.dedup(table, method=ns.Containment(threshold=threshold, **settings))
    expected = decide(sets, Fraction(threshold), range(len(texts)))
    lines = found.removals.to_pylist()
    assert {row: (witness, float(share)) for row, (witness, share) in expected.items()} == {
        line["row"]: (line["witness_row"], line["similarity"]) for line in lines
    }


@pytest.mark.slow
@given(st.data())
def test_the_answer_is_one(data: st.DataObject) -> None:
    """Batches of 1, 7, 1000 and 1, 2, 4 threads; a higher threshold afterwards or at once."""
    sets = data.draw(nested_sets())
    low, high = sorted((Fraction(data.draw(thresholds())), Fraction(data.draw(thresholds()))))
    known = _dedup(_table(sets), threshold=high).removals
    assert known.equals(_dedup(_table(sets), threshold=low).at(threshold=high).removals)
    listed = ns.pairs(_table(sets), method=ns.Containment(threshold=low), features_column="items").table
    for rows, threads in ((1, 2), (7, 4), (1000, 1)):
        assert known.equals(_dedup(_table(sets), threshold=high, batch_rows=rows, threads=threads).removals)
        again = ns.pairs(
            _table(sets),
            method=ns.Containment(threshold=low),
            features_column="items",
            batch_rows=rows,
            threads=threads,
        )
        assert listed.equals(again.table)


def test_a_quote_is_found_in_a_long_article() -> None:
    """30 of 400 words: Jaccard is .066, containment 1; with three words changed at its end still above .8."""
    changed = QUOTE.rsplit(" ", 3)[0] + " and so on"
    found = ns.pairs([QUOTE, ARTICLE, changed, "a text about other things than these"], method=ns.Containment()).table
    lines = {(line["a_row"], line["b_row"]): line for line in found.to_pylist()}
    assert {(0, 1), (0, 2), (1, 2)} == lines.keys()
    assert (1.0, 26 / 396) == (lines[0, 1]["a_in_b"], lines[0, 1]["b_in_a"])
    assert (23 / 396, 23 / 26) == (lines[1, 2]["a_in_b"], lines[1, 2]["b_in_a"])
    result = ns.dedup([QUOTE, ARTICLE], method=ns.Containment(threshold=0.9))
    assert [(0, 1)] == [(line["row"], line["witness_row"]) for line in result.removals.to_pylist()]
    assert 0 == ns.dedup([QUOTE, ARTICLE]).stats.removed


def test_a_floor_keeps_pages_that_only_share_a_template() -> None:
    """Nothing but the template, on a short page: contained in the long one, and hardly like it."""
    assert 1 == ns.dedup([QUOTE, ARTICLE], method=ns.Containment()).stats.removed
    assert 0 == ns.dedup([QUOTE, ARTICLE], method=ns.Containment(jaccard_floor=0.1)).stats.removed


def test_a_training_text_that_contains_a_test_item_goes() -> None:
    """`remove="container"`: the long text goes for the short one; the other way nothing is found."""
    found = ns.dedup([ARTICLE, "something else"], against=[QUOTE], method=ns.Containment(remove="container")).removals
    assert [(0, 1.0, "container")] == [(line["row"], line["similarity"], line["measure"]) for line in found.to_pylist()]
    assert 0 == ns.dedup([ARTICLE], against=[QUOTE], method=ns.Containment()).stats.removed


def test_the_jaccard_example_has_its_containments() -> None:
    """A = {0,1,2,5,6}, B = {0,2,3,5,7,9}: three of eight; 3/5 of A in B, 3/6 of B in A."""
    sets = [frozenset({0, 1, 2, 5, 6}), frozenset({0, 2, 3, 5, 7, 9})]
    found = ns.pairs(_table(sets), method=ns.Containment(threshold="3/5"), features_column="items").table
    assert {(0, 1): (3 / 5, 3 / 6)} == _listed(found)
    assert 0 == ns.pairs(_table(sets), method=ns.Containment(threshold="0.601"), features_column="items").table.num_rows


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 0}, "threshold=0: 0 is not above 0 and at most 1"),
        ({"jaccard_floor": 1.5}, "jaccard_floor=1.5: 1.5 is not above 0 and at most 1"),
        ({"threshold": 0.5, "jaccard_floor": 0.5}, "jaccard_floor=0.5 is not below threshold=0.5"),
        ({"remove": "both"}, "remove='both'"),
    ],
)
def test_a_bad_recipe_names_its_values(settings: dict[str, Any], message: str) -> None:
    """What cannot be is refused at once."""
    with pytest.raises(ns.ConfigError, match="Containment: ") as caught:
        ns.Containment(**settings)
    assert message in str(caught.value)


def test_container_needs_two_sides() -> None:
    """It has no meaning within one, and none for pairs."""
    method = ns.Containment(remove="container")
    with pytest.raises(ns.ConfigError, match="remove='container' needs"):
        ns.dedup([QUOTE], method=method)
    with pytest.raises(ns.ConfigError, match="within=True"):
        ns.dedup([QUOTE], method=method, against=[ARTICLE], within=True)
    with pytest.raises(ns.ConfigError, match="does nothing to pairs"):
        ns.pairs([QUOTE], method=method, against=[ARTICLE])


@given(st.lists(st.integers(0, 300), max_size=8), st.sets(st.integers(0, 300), min_size=100), st.integers(0, 8))
def test_a_short_run_is_looked_up_in_a_long_one(short: list[int], long: set[int], need: int) -> None:
    """What two ascending runs share, or -1 below what is needed, whichever way is taken."""
    import numpy as np

    from nearsame import arrow
    from nearsame.kernels.sets import intersect_small

    few, many = sorted(set(short)), sorted(long)
    values = arrow.frozen(np.array(few + many, np.uint64))
    shared = len(set(few) & long)
    found, _ = intersect_small(values, 0, len(few), len(few), values.size, need)
    assert (shared if shared >= need else -1) == found
