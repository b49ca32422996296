"""The exact join by weighted cosine: every pair of brute force in whole numbers, and nothing similar stays."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import settings as configured
from hypothesis import strategies as st

import nearsame as ns
from nearsame.stages.features.frequencies import idf
from tests.examples import share
from tests.oracle.corpora import thresholds
from tests.oracle.measures import weighted_cosine

Bag = list[str]

BAGS = st.lists(
    st.lists(st.sampled_from("abc"), max_size=4)
    | st.lists(st.sampled_from("abcdefgh"), max_size=12)
    | st.builds(lambda item, times: [item] * times + ["z"], st.sampled_from("abz"), st.sampled_from([1, 3, 1000])),
    max_size=16,
)
WORDS = {"shingle_size": 1, "weights": "tf"}


def _table(bags: list[Bag]) -> pa.Table:
    return pa.table({"tags": pa.array(bags, pa.list_(pa.string()))})


def _weights(bags: list[Bag], kind: str) -> list[dict[str, int]]:
    """What each item of each bag weighs."""
    counted = [Counter(bag) for bag in bags]
    if kind == "tf":
        return [dict(times) for times in counted]
    total, documents = sum(map(bool, counted)), Counter(item for times in counted for item in times)
    rare = {item: int(idf(total, np.array([number]))[0]) for item, number in documents.items()}
    return [{item: number * rare[item] for item, number in times.items()} for times in counted]


def _pairs(found: Any) -> dict[tuple[int, int], float]:
    lines = found.table.select(["a_row", "b_row", "similarity"]).to_pylist()
    assert {"cosine"} >= set(found.table.column("measure").to_pylist())
    return {(line["a_row"], line["b_row"]): line["similarity"] for line in lines}


def _by_words(*texts: str, **recipe: Any) -> dict[tuple[int, int], float]:
    return _pairs(ns.pairs(list(texts), method=ns.Cosine(**{**WORDS, **recipe})))


@configured(max_examples=share(200))
@given(BAGS, st.sampled_from(["tf", "tfidf"]), thresholds())
@example([["a"] * 3 + ["b"] * 4, ["a"]], "tf", "3/5")  # just reached, where floats say 0.6000000000000001
@example([["a"] * 100_000 + ["b"], ["a", "b"], ["b", "b"]], "tfidf", "0.7")
def test_the_join_finds_the_pairs_of_brute_force(bags: list[Bag], kind: Any, threshold: str) -> None:
    """Every pair at the threshold or above, none below, each similarity right to nine places; of items in lists."""
    weights, least = _weights(bags, kind), Fraction(threshold)
    full = [row for row, each in enumerate(weights) if each]
    every = {(a, b): weighted_cosine(weights[a], weights[b], least) for a, b in combinations(full, 2)}
    expected = {pair: float(value) for pair, value in every.items() if value >= least}
    recipe = ns.Cosine(threshold=threshold, weights=kind)
    assert expected == _pairs(ns.pairs(_table(bags), method=recipe, features_column="tags"))
    kept = ns.dedup(_table(bags), method=recipe, features_column="tags", audit=False)
    stay = set(range(len(bags))) - {row["row"] for row in kept.removals.to_pylist()}
    assert not [pair for pair in expected if stay.issuperset(pair)]


def test_the_same_words_in_other_numbers_are_not_the_same_document() -> None:
    """Copies have a cosine of 1; so have multiples, and what has one word more of five has not."""
    found = _by_words("a b", "b a", "a a b b", "a b b b b", threshold=0.7)
    assert {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0}.items() <= found.items()
    assert found[0, 3] == pytest.approx(5 / 34**0.5, abs=1e-9)
    removed = ns.dedup(["a b", "a b b b b", "b a"], method=ns.Cosine(threshold=0.9, **WORDS)).removals
    assert [(2, 1.0)] == [(row["row"], row["similarity"]) for row in removed.to_pylist()]


def test_a_word_that_is_repeated_a_hundred_thousand_times_drowns_the_others() -> None:
    """And nothing overflows."""
    assert {(0, 1): 0.999999994} == _by_words("a " * 100_000 + "b", "a " * 9_999 + "c", threshold=0.99)


def test_letters_confirm_what_weights_have_found() -> None:
    """They stand behind the weights of each document."""
    texts = "the cat sat on the mat", "on the mat sat the cat", "the cat sat on the mats"
    assert {(0, 1), (0, 2), (1, 2)} == _by_words(*texts, threshold=0.7).keys()
    assert {(0, 2)} == _by_words(*texts, threshold=0.7, confirm="edit", confirm_threshold=0.9).keys()
    assert {(0, 1)} == _by_words(*texts, threshold=0.7, confirm="jaccard", confirm_threshold=1).keys()


def test_dropped_boilerplate_weighs_nothing() -> None:
    """Neither what is dropped counts, nor how often; what has nothing left resembles its copies alone."""
    texts = "menu x x y", "menu menu menu x x y", "menu", "menu"
    found = _by_words(*texts, threshold=0.99, drop_boilerplate=3)
    assert {(0, 1): 1.0, (2, 3): 1.0} == found


def test_frequencies_are_of_both_sides() -> None:
    """A word of all documents weighs little, also where most of these are of the other side."""
    other = [f"the one {number}" for number in range(30)]
    judged = ["the whale", "the shark"]
    recipe = ns.Cosine(threshold=0.3, shingle_size=1, weights="tfidf")
    assert {(0, 1)} == _pairs(ns.pairs(judged, method=recipe)).keys()
    found = ns.dedup(judged, against=other, method=recipe, audit=False)
    assert [] == found.removals.to_pylist()


def test_frequencies_of_another_run_weigh(tmp_path: Path) -> None:
    """Those of this method; SimHash's are of other hashes."""
    texts = ["the whale sings", "the shark sings", "the whale dives", "a stone"]
    recipe = {"threshold": 0.5, "shingle_size": 1, "weights": "tfidf"}
    whole = ns.dedup(texts, method=ns.Cosine(**recipe), audit=False)
    whole.write(tmp_path / "out")
    saved = str(tmp_path / "out" / "frequencies.parquet")
    expected = {pair: value for pair, value in _by_words(*texts, **recipe).items() if max(pair) < 3}
    assert expected == _by_words(*texts[:3], **recipe, frequencies=saved)
    assert [] == [*ns.verify(tmp_path / "out", source=texts).problems]
    ns.dedup(texts[:3], method=ns.Cosine(**recipe, frequencies=saved), audit=False).write(tmp_path / "again")
    assert [] == [*ns.verify(tmp_path / "again", source=texts[:3]).problems]
    with pytest.raises(ns.ConfigError, match="has frequencies of other features: seed=0 there, 5 here"):
        ns.pairs(texts, method=ns.Cosine(**recipe, frequencies=saved, seed=5))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"frequencies": "x.parquet"}, "frequencies=x.parquet does nothing with weights=one"),
        ({"frequencies": "x.parquet", "weights": "tf"}, "does nothing with weights=tf"),
        ({"repeats": True, "weights": "tf"}, "repeats=True counts what weights=tf weighs: leave one of them out"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings: dict[str, Any], message: str) -> None:
    """By name."""
    with pytest.raises(ns.ConfigError, match=message):
        ns.Cosine(**settings)


def test_a_recipe_without_weights_has_the_record_that_it_had() -> None:
    """Outputs and indexes of earlier versions open."""
    assert {"weights", "frequencies"}.isdisjoint(ns.Cosine().record())
    assert "tf" == ns.Cosine(weights="tf").record()["weights"]
