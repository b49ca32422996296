"""Broder's fingerprints: which hashes they are, what they find, and how well they estimate."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame import arrow, schemas
from nearsame.flow import steps
from nearsame.stages.features.shingles import ItemSets
from nearsame.stages.keys.prefix import Counting
from nearsame.stages.sketches.modp import Fingerprints
from tests.oracle.corpora import thresholds
from tests.oracle.fingerprints import decide, fingerprint, pairs
from tests.oracle.measures import containment, jaccard

FISH = (938, 664, 463, 822, 492, 798, 78, 969, 143, 236, 913, 908, 694, 553, 870, 779)

HASHES = st.lists(st.frozensets(st.integers(0, 2**64 - 1) | st.integers(0, 60), max_size=30), max_size=8)
LISTS = st.lists(st.lists(st.integers(0, 40).map(str), max_size=30), max_size=9)
MODULI = st.sampled_from([1, 2, 3, 4, 7, 25, 2**63 - 1])
FLOORS = st.sampled_from([0, 1, 2, 5, 8, 100])


def _features(sets: list[frozenset[int]]) -> pa.RecordBatch:
    offsets = np.cumsum([0, *map(len, sets)])
    items = np.array([item for one in sets for item in sorted(one)], np.uint64)
    nothing = pa.array(np.zeros(len(sets), np.int64))
    columns = [pa.array(np.arange(len(sets))), *[nothing] * 6, arrow.items(items, offsets)]
    return pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)


def _prints(sets: list[frozenset[int]], modulus: int, floor: int) -> list[list[int]]:
    column = Fingerprints(modulus, floor)(_features(sets)).column("items")
    return [arrow.unsigned(row.values.to_numpy()).tolist() for row in column]


def _hashes(lists: list[list[str]]) -> list[frozenset[int]]:
    items = pa.array(lists, pa.large_list(pa.large_string()))
    batch = ItemSets(0, 0)(
        pa.RecordBatch.from_arrays([pa.array(range(len(lists)), pa.int64()), items], schema=schemas.ITEMS)
    )
    return [frozenset(arrow.unsigned(row.values.to_numpy()).tolist()) for row in batch.column("items")]


def _table(lists: list[list[str]]) -> pa.Table:
    return pa.table({"items": pa.array(lists, pa.list_(pa.string()))})


def test_the_textbook_selects_four_of_sixteen_hashes() -> None:
    """The shingles of the tropical fish, those that 4 divides: 664 492 236 908."""
    assert [sorted([664, 492, 236, 908])] == _prints([frozenset(FISH)], 4, 0) == _prints([frozenset(FISH)], 4, 4)
    assert [sorted([664, 492, 236, 908, 78, 143])] == _prints([frozenset(FISH)], 4, 6)


@given(HASHES, MODULI, FLOORS)
def test_a_fingerprint_is_what_its_definition_says(sets: list[frozenset[int]], modulus: int, floor: int) -> None:
    """All multiples; the smallest others where they are fewer than the floor; ascending; of any batch the same."""
    expected = [sorted(fingerprint(items, modulus, floor)) for items in sets]
    assert expected == _prints(sets, modulus, floor)
    assert expected == [found for items in sets for found in _prints([items], modulus, floor)]


@given(LISTS, MODULI, FLOORS, thresholds(), st.data())
def test_pairs_are_those_of_brute_force_over_fingerprints(
    lists: list[list[str]], modulus: int, floor: int, threshold: str, data: st.DataObject
) -> None:
    """Every pair whose fingerprints are alike: what they estimate, and the exact values beside."""
    hashes = _hashes(lists)
    prints = [fingerprint(items, modulus, floor) for items in hashes]
    method = ns.ModP(threshold=threshold, modulus=modulus, floor=floor)
    how = {"batch_rows": data.draw(st.sampled_from([1, 7, 1000])), "threads": data.draw(st.sampled_from([1, 2, 4]))}
    how["audit"] = False
    found = ns.pairs(_table(lists), method=method, features_column="items", **how).table
    expected = pairs(hashes, prints, Fraction(threshold))
    assert expected.keys() == {(line["a_row"], line["b_row"]) for line in found.to_pylist()}
    for line in found.to_pylist():
        a, b = line["a_row"], line["b_row"]
        told = [line[name] for name in ("similarity", "exact", "exact_a_in_b", "exact_b_in_a")]
        shares = containment(hashes[a], hashes[b]), containment(hashes[b], hashes[a])
        assert [float(x) for x in (expected[a, b], jaccard(hashes[a], hashes[b]), *shares)] == told
        assert "estimated" == line["measure"]
        if hashes[a] != hashes[b]:
            shares = containment(prints[a], prints[b]), containment(prints[b], prints[a])
            assert tuple(map(float, shares)) == (line["a_in_b"], line["b_in_a"])


@given(LISTS, MODULI, FLOORS, thresholds(), st.data())
def test_what_goes_is_what_brute_force_removes(
    lists: list[list[str]], modulus: int, floor: int, threshold: str, data: st.DataObject
) -> None:
    """The same documents with the same witnesses, whatever the batches and threads; at once or with `at`."""
    hashes = _hashes(lists)
    prints = [fingerprint(items, modulus, floor) for items in hashes]
    how = {"batch_rows": data.draw(st.sampled_from([1, 7, 1000])), "threads": data.draw(st.sampled_from([1, 2, 4]))}
    how["audit"] = False
    settings = {"modulus": modulus, "floor": floor}
    found = ns.dedup(_table(lists), method=ns.ModP(threshold=threshold, **settings), features_column="items", **how)
    expected = decide(hashes, prints, Fraction(threshold))
    lines = found.removals.to_pylist()
    assert {row: (witness, float(similarity)) for row, (witness, similarity) in expected.items()} == {
        line["row"]: (line["witness_row"], line["similarity"]) for line in lines
    }
    low = ns.dedup(_table(lists), method=ns.ModP(threshold="0.001", **settings), features_column="items", audit=False)
    assert found.removals.equals(low.at(threshold=threshold).removals)
    assert found.pairs.num_rows == len(lines)


@pytest.mark.parametrize(
    "method", [ns.ModP(modulus=3, floor=4), ns.Containment(), ns.Jaccard()], ids=lambda method: method.name
)
def test_counting_in_passes_changes_nothing(method: ns.ModP, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a small memory does to the counts, sketches' or features', does nothing to the pairs."""
    random = np.random.Generator(np.random.PCG64(3))
    lists = [[str(item) for item in random.permutation(60)[:size]] for size in (50, 52, 54, 55, 8, 30)]
    expected = ns.pairs(_table(lists), method=method, features_column="items").table
    monkeypatch.setattr(steps, "plan_counting", lambda *_: Counting(16, nibbles=True, passes=4))
    assert expected.equals(ns.pairs(_table(lists), method=method, features_column="items").table)
    assert expected.num_rows


def test_without_a_floor_many_short_documents_have_no_fingerprint() -> None:
    """(24/25)^20 = 44.2 % of documents of 20 shingles, at p = 25; with one, none."""
    random = np.random.Generator(np.random.PCG64(7))
    sets = [frozenset(row.tolist()) for row in random.integers(0, 2**64, (20_000, 20), np.uint64)]
    empty = sum(not found for found in _prints(sets, 25, 0)) / len(sets)
    assert 0.442 == pytest.approx(empty, abs=0.012)  # 3.4 standard errors
    assert {8} == {len(found) for found in _prints(sets, 25, 8)}


def test_estimates_are_right_on_average() -> None:
    """400 pairs of 1,000 hashes of which 800 are shared: J = 2/3, containment .8, each within 4 standard errors."""
    random = np.random.Generator(np.random.PCG64(11))
    told = []
    for row in random.integers(0, 2**64, (400, 1200), np.uint64):
        a, b = (
            frozenset(part) for part in _prints([frozenset(row[:1000].tolist()), frozenset(row[200:].tolist())], 25, 32)
        )
        told.append((float(jaccard(a, b)), float(containment(a, b))))
    resemblance, share = np.mean(told, axis=0)
    assert 2 / 3 == pytest.approx(resemblance, abs=4 * np.std(told, axis=0)[0] / 20)
    assert 0.8 == pytest.approx(share, abs=4 * np.std(told, axis=0)[1] / 20)


def test_a_long_text_is_found_by_a_25th_of_its_shingles() -> None:
    """The whole way from texts; the audit says how well."""
    words = [f"w{number}" for number in range(3000)]
    texts = [" ".join(words), " ".join([*words[:2900], *(f"x{number}" for number in range(100))]), "another text"]
    found = ns.dedup(texts, method="modp")
    assert [(1, 0, "estimated")] == [
        (line["row"], line["witness_row"], line["measure"]) for line in found.removals.to_pylist()
    ]
    assert 0.935 == pytest.approx(found.pairs.column("exact")[0].as_py(), abs=0.002)
    assert found.stats.keys < 0.06 * found.stats.features
    assert 1.0 == found.audit.recall.value


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"modulus": 0}, "modulus=0: 0 is below 1"),
        ({"floor": -1}, "floor=-1: -1 is below 0"),
        ({"threshold": "x"}, "threshold='x': 'x' is not a number"),
    ],
)
def test_a_bad_recipe_names_its_values(settings: dict[str, Any], message: str) -> None:
    """What cannot be is refused at once."""
    with pytest.raises(ns.ConfigError) as caught:
        ns.ModP(**settings)
    assert f"ModP: {message}" == str(caught.value)
