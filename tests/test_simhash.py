"""What `SimHash` promises, through `dedup` and `pairs`, against codes made bit by bit and compared one with another."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

import nearsame as ns
from nearsame.stages.features.frequencies import idf
from tests.examples import share
from tests.oracle.corpora import corpora, item_lists
from tests.oracle.decisions import decide_similar
from tests.oracle.measures import jaccard
from tests.oracle.simhash import FUNCTIONS, code_of, features_of, similarities
from tests.oracle.tokens import prepare

Corpus = list[str | None]
EXACT = ("blocks", "rotations", "brute")
THE_TABLE = {
    "the": 0b1101, "quick": 0b1010, "brown": 0b1001, "fox": 0b1111, "jumps": 0b0110, "over": 0b1011,
    "lazy": 0b1100, "dog": 0b0101, "fast": 0b0011, "a": 0b0111,
}  # fmt: skip
FOXES = ["the quick brown fox jumps over the lazy dog", "the fast brown fox jumps over a lazy dog"]


@st.composite
def recipes(draw: st.DrawFn, **fixed: Any) -> dict[str, Any]:
    """Settings of SimHash."""
    found = {
        "bits": draw(st.sampled_from([32, 64, 64, 128])),
        "weights": draw(st.sampled_from(["one", "tf", "tfidf"])),
        "feature_hash": draw(st.sampled_from(["xxh3", "xxh3", "md5", "sha1", "fnv1a", "murmur3"])),
        "zero_bit": draw(st.sampled_from([0, 1])),
        "k": draw(st.integers(0, 16)),
        "shingle_size": draw(st.integers(1, 3)),
        "unit": draw(st.sampled_from(["words", "words", "chars"])),
        "overlapping": draw(st.sampled_from([True, True, False])),
    }
    for name in ("keep_case", "keep_punctuation", "nfkc", "strip_accents"):
        found[name] = draw(st.sampled_from([False, False, True]))
    return found | fixed


def _table(texts: Corpus) -> pa.Table:
    return pa.table({"id": [f"d{row}" for row in range(len(texts))], "text": pa.array(texts, pa.string())})


def _weights(texts: Corpus, recipe: dict[str, Any]) -> list[dict[str, int]]:
    """Each text's features with their weights."""
    how = {
        name: recipe[name]
        for name in ("unit", "overlapping", "keep_case", "keep_punctuation", "nfkc", "strip_accents")
        if name in recipe
    }
    counted = [features_of(text, size=recipe.get("shingle_size", 1), **how) for text in texts]
    if recipe["weights"] == "one":
        return [dict.fromkeys(features, 1) for features in counted]
    if recipe["weights"] == "tf":
        return [dict(features) for features in counted]
    documents = Counter(feature for features in counted for feature in features)
    total = sum(bool(features) for features in counted)
    rare = {feature: int(idf(total, np.array([number]))[0]) for feature, number in documents.items()}
    return [{feature: times * rare[feature] for feature, times in features.items()} for features in counted]


def _codes(texts: Corpus, recipe: dict[str, Any]) -> list[int | None]:
    return [_code(weights, recipe) if weights else None for weights in _weights(texts, recipe)]


def _code(weights: dict[str, int], recipe: dict[str, Any]) -> int:
    function = FUNCTIONS[recipe["feature_hash"]]
    return code_of(weights, lambda f: function(f.encode(), recipe["bits"]), recipe["bits"], recipe["zero_bit"])


def _similar(texts: Corpus, recipe: dict[str, Any]) -> dict[tuple[int, int], Fraction]:
    """Pairs within k bits, and the exact copies of texts without tokens."""
    codes = _codes(texts, recipe)
    found = similarities(codes, recipe["bits"], recipe["k"])
    for b, text in enumerate(texts):
        found |= {(a, b): Fraction(1) for a in range(b) if codes[b] is None and text and texts[a] == text}
    return found


def _pairs(found: Any) -> dict[tuple[int, int], float]:
    columns = (found.table.column(name).to_pylist() for name in ("a_row", "b_row", "similarity"))
    return {(a, b): similarity for a, b, similarity in zip(*columns, strict=True)}


def _removals(found: Any) -> dict[int, tuple[int, float]]:
    lines = found.removals.select(["row", "witness_row", "similarity"]).to_pylist()
    return {line["row"]: (line["witness_row"], line["similarity"]) for line in lines}


@given(corpora(), recipes(), st.sampled_from(EXACT))
@settings(max_examples=share(60))
def test_pairs_are_all_codes_within_k_bits(texts: Corpus, recipe: dict[str, Any], search: str) -> None:
    """Each once, whatever the features, the hash and the way to search."""
    found = ns.pairs(_table(texts), method=ns.SimHash(search=search, **recipe))
    expected = {pair: float(similarity) for pair, similarity in _similar(texts, recipe).items()}
    assert expected == _pairs(found)
    assert {"hamming"} >= set(found.table.column("measure").to_pylist())


@given(corpora(), recipes(), st.sampled_from(EXACT))
@settings(max_examples=share(60))
def test_dedup_removes_what_is_within_k_bits_of_a_keeper(texts: Corpus, recipe: dict[str, Any], search: str) -> None:
    """The same documents as by brute force, with the same witnesses: equal codes are one document, the first."""
    found = ns.dedup(_table(texts), method=ns.SimHash(search=search, **recipe))
    keys = [code if code is not None else text or None for code, text in zip(_codes(texts, recipe), texts, strict=True)]
    expected = decide_similar(keys, _similar(texts, recipe), range(len(texts)))
    assert {row: (witness, float(value)) for row, (witness, value) in expected.items()} == _removals(found)


@given(corpora(), recipes(), st.integers(1, 4), st.data())
@settings(max_examples=share(40))
def test_given_blocks_find_the_same(texts: Corpus, recipe: dict[str, Any], more: int, data: st.DataObject) -> None:
    """Any number of blocks above k, any header of those that must agree."""
    recipe["k"] = min(recipe["k"], 4)
    blocks = recipe["k"] + more
    given_blocks = {"blocks": blocks, "header": data.draw(st.integers(1, blocks - recipe["k"]))}
    expected = ns.dedup(_table(texts), method=ns.SimHash(**recipe)).removals
    assert expected.equals(ns.dedup(_table(texts), method=ns.SimHash(**given_blocks, **recipe)).removals)


@given(corpora(), corpora(), recipes(), st.sampled_from([*EXACT, "adjacent"]))
@settings(max_examples=share(40))
def test_against_pairs_across_are_those_of_all(
    texts: Corpus, against: Corpus, recipe: dict[str, Any], search: str
) -> None:
    """A query: only pairs of one document of each side."""
    found = ns.pairs(_table(texts), against=_table(against), method=ns.SimHash(search=search, **recipe))
    first = len(against)
    everything = _similar(against + texts, recipe)
    expected = {(a, b - first): float(value) for (a, b), value in everything.items() if a < first <= b}
    if search == "adjacent":
        assert expected.items() >= _pairs(found).items()
    else:
        assert expected == _pairs(found)


def _cosine(a: dict[str, int], b: dict[str, int]) -> Fraction:
    """To nine places, downwards."""
    dot = sum(weight * b.get(feature, 0) for feature, weight in a.items())
    norms = sum(w * w for w in a.values()) * sum(w * w for w in b.values())
    return Fraction(isqrt(dot * dot * 10**18 // norms), 10**9)


def _edit(a: str, b: str) -> Fraction:
    return Fraction(2 * LCSseq.similarity(a, b), len(a) + len(b))


MEASURES: dict[str, Callable[[Any, Any], Fraction]] = {"jaccard": jaccard, "cosine": _cosine, "edit": _edit}


def _evidence(texts: Corpus, recipe: dict[str, Any], confirm: str) -> list[Any]:
    """What is compared to confirm a pair."""
    if confirm == "edit":
        how = {name: recipe[name] for name in ("nfkc", "strip_accents")}
        return [prepare(text or "", **how) for text in texts]
    weights = _weights(texts, recipe)
    return weights if confirm == "cosine" else [frozenset(each) for each in weights]


def _confirmed(texts: Corpus, recipe: dict[str, Any], confirm: str, threshold: Fraction) -> dict[Any, Fraction]:
    """Of the pairs within k bits those that the measure confirms, with its value."""
    evidence, codes = _evidence(texts, recipe, confirm), _codes(texts, recipe)
    found = {}
    for (a, b), similarity in _similar(texts, recipe).items():
        value = similarity if codes[a] is None else MEASURES[confirm](evidence[a], evidence[b])
        if value >= threshold or (confirm == "cosine" and value + Fraction(1, 10**9) > threshold > value):
            found[a, b] = max(value, threshold)
    return found


@given(corpora(), recipes(), st.sampled_from(sorted(MEASURES)), st.sampled_from(["0.5", "0.8", "2/3", "1"]))
@settings(max_examples=share(80))
def test_what_hamming_found_is_confirmed(texts: Corpus, recipe: dict[str, Any], confirm: str, threshold: str) -> None:
    """Within k bits and at least as similar by the measure that every row names: pairs, and who is removed."""
    recipe["k"] = max(recipe["k"], 10)
    method = ns.SimHash(confirm=confirm, threshold=threshold, **recipe)
    expected = _confirmed(texts, recipe, confirm, Fraction(threshold))
    listed = ns.pairs(_table(texts), method=method)
    assert {pair: float(value) for pair, value in expected.items()} == _pairs(listed)
    assert {confirm} >= set(listed.table.column("measure").to_pylist())
    evidence = _evidence(texts, recipe, confirm)
    known = [
        (code, evidence[row]) if code is not None else texts[row] or None
        for row, code in enumerate(_codes(texts, recipe))
    ]
    removed = decide_similar(known, expected, range(len(texts)))
    found = ns.dedup(_table(texts), method=method)
    assert {row: (witness, float(value)) for row, (witness, value) in removed.items()} == _removals(found)


def test_a_saved_table_weighs_a_stream(tmp_path: Path) -> None:
    """Frequencies of one run, written with it, weigh the documents of the next ones as if they were among its own."""
    texts = [*FOXES, "a fox", "the dog", "a dog and a fox", "the quick cat"]
    recipe = {"weights": "tfidf", "k": 16, "confirm": "cosine", "threshold": 0.1}
    whole = ns.dedup(texts, method=ns.SimHash(**recipe))
    whole.write(tmp_path / "out")
    saved = str(tmp_path / "out" / "frequencies.parquet")
    again = ns.pairs(texts[:2], method=ns.SimHash(frequencies=saved, **recipe))
    everything = ns.pairs(texts, method=ns.SimHash(**recipe))
    assert _pairs(again)[0, 1] == _pairs(everything)[0, 1]
    assert _pairs(again)[0, 1] != _pairs(ns.pairs(texts[:2], method=ns.SimHash(**recipe)))[0, 1]


def test_a_table_of_other_features_is_an_error(tmp_path: Path) -> None:
    """The settings that differ are named, with both values."""
    ns.dedup(FOXES, method=ns.SimHash(weights="tfidf")).write(tmp_path / "out")
    saved = str(tmp_path / "out" / "frequencies.parquet")
    with pytest.raises(ns.ConfigError, match="other features: shingle_size=1 there, 2 here"):
        ns.dedup(FOXES, method=ns.SimHash(weights="tfidf", shingle_size=2, frequencies=saved))


def test_edits_are_of_texts() -> None:
    """Ready items have none."""
    table = pa.table({"tags": [["a"], ["b"]]})
    with pytest.raises(ns.ConfigError, match="confirm=edit does nothing to features_column='tags'"):
        ns.pairs(table, method=ns.SimHash(confirm="edit"), features_column="tags")


METHODS = [
    ns.SimHash(k=8),
    ns.SimHash(k=8, weights="tf", bits=128, search="rotations"),
    ns.SimHash(k=8, feature_hash="md5", unit="chars", shingle_size=3, search="adjacent"),
    ns.SimHash(k=8, bits=32, search="brute", weights="tfidf", confirm="cosine", threshold=0.6),
]


@pytest.mark.threaded
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.search)
@given(texts=corpora(max_size=20), against=st.none() | corpora(max_size=5))
@settings(max_examples=share(10))
def test_batches_and_threads_change_nothing(texts: Corpus, against: Corpus | None, method: Any) -> None:
    """The same tables for batches of 1, 7 and 1000 documents, on 1, 2 and 4 threads."""
    other = None if against is None else _table(against)
    answers = []
    for batch_rows, threads in [(1000, 1), (1, 1), (7, 2), (1000, 4)]:
        how = {"method": method, "against": other, "batch_rows": batch_rows, "threads": threads}
        found, listed = ns.dedup(_table(texts), **how), ns.pairs(_table(texts), **how)
        answers.append([table.to_pylist() for table in (found.removals, found.clusters, found.kept(), listed.table)])
    assert all(answers[0] == answer for answer in answers)


@given(item_lists(), st.sampled_from(["one", "tf"]), st.integers(0, 16))
@settings(max_examples=share(40))
def test_ready_items_are_features(lists: list[list[str]], weights: str, k: int) -> None:
    """Each string as it stands, repeats counted where frequencies are."""
    recipe = {"bits": 64, "feature_hash": "xxh3", "zero_bit": 0}
    counted = [{item: items.count(item) if weights == "tf" else 1 for item in items} for items in lists]
    codes = [_code(each, recipe) if each else None for each in counted]
    table = pa.table({"tags": pa.array(lists, pa.list_(pa.string()))})
    found = ns.pairs(table, method=ns.SimHash(weights=weights, k=k), features_column="tags")
    expected = {pair: float(similarity) for pair, similarity in similarities(codes, 64, k).items()}
    assert expected == _pairs(found)


@given(corpora(), recipes(), st.integers(0, 16))
@settings(max_examples=share(40))
def test_a_smaller_k_later_is_that_k_at_once(texts: Corpus, recipe: dict[str, Any], k: int) -> None:
    """`.at` decides again on the stored keys; a threshold of Hamming similarity is a k."""
    low, high = sorted([k, recipe["k"]])
    found = ns.dedup(_table(texts), method=ns.SimHash(**recipe | {"k": high}))
    fresh = ns.dedup(_table(texts), method=ns.SimHash(**recipe | {"k": low}))
    later = found.at(threshold=1 - Fraction(low, recipe["bits"]))
    assert fresh.removals.equals(later.removals)
    assert low == later.method.k


def test_the_four_bit_example() -> None:
    """EXAMPLES: 1101 and 1111 differ in one bit (a source printed 0111, two bits)."""
    near = ns.pairs(FOXES, method=ns.SimHash(bits=4, table=THE_TABLE, weights="tf", k=1))
    assert {(0, 1): 0.75} == _pairs(near)
    assert {} == _pairs(ns.pairs(FOXES, method=ns.SimHash(bits=4, table=THE_TABLE, weights="tf", k=0)))


@pytest.mark.parametrize(("zero_bit", "equal"), [(0, "b"), (1, "c")])
def test_a_sum_of_zero_is_a_setting(zero_bit: int, equal: str) -> None:
    """01 and 10 sum to zero in both bits: 00 or 11, as it is told."""
    table = {"x": 0b01, "y": 0b10, "b": 0b00, "c": 0b11}
    found = ns.pairs(["x y", "b", "c"], method=ns.SimHash(bits=2, table=table, k=0, zero_bit=zero_bit))
    assert {(0, 1 if equal == "b" else 2): 1.0} == _pairs(found)


def test_32_bit_distances() -> None:
    """EXAMPLES: two cat sentences and one of ice cream, at 4, 16 and 12 bits, as one-word texts of a table."""
    table = {"cat": 851459198, "cats": 847263864, "ice": 984968088}
    found = ns.pairs(["cat", "cats", "ice"], method=ns.SimHash(bits=32, table=table, k=16))
    assert {(0, 1): 1 - 4 / 32, (0, 2): 1 - 16 / 32, (1, 2): 1 - 12 / 32} == _pairs(found)


def test_sorting_finds_neighbours_and_rotating_finds_more() -> None:
    """EXAMPLES: eight 16-bit codes; (3,6), (5,8) stand side by side when sorted, (2,4) after two turns to the left."""
    codes = [37586, 50086, 2648, 934, 40957, 2650, 64475, 40955]
    words = [f"w{number}" for number in range(1, 9)]
    for search in ("adjacent", *EXACT):
        method = ns.SimHash(bits=16, table=dict(zip(words, codes, strict=True)), k=2, search=search)
        assert {(1, 3), (2, 5), (4, 7)} == set(_pairs(ns.pairs(words, method=method)))


def test_neighbours_alone_lose_pairs_and_say_so() -> None:
    """Codes crowded together hide pairs from each other, and the notes tell."""
    words = [f"w{number}" for number in range(16)]
    table = dict(zip(words, range(16), strict=True))
    some = ns.pairs(words, method=ns.SimHash(bits=16, table=table, k=4, search="adjacent"))
    assert some.table.num_rows < ns.pairs(words, method=ns.SimHash(bits=16, table=table, k=4)).table.num_rows == 120
    assert any("loses pairs" in note for note in some.stats.notes)
    assert not any("loses pairs" in note for note in ns.pairs(words, method=ns.SimHash()).stats.notes)


def test_the_summary_says_what_k_means() -> None:
    """The chance to find a pair, by Jaccard similarity: nobody takes k=3 for 80 % similar."""
    (note,) = ns.dedup(["a"], method=ns.SimHash()).stats.notes
    assert "k=3 of 64 bits" in note
    assert "0.9 % at 0.8" in note


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (dict(bits=48), "bits=48 is not 32, 64 or 128"),
        (dict(bits=4, table={"a": 1}, k=4), "k=4 is not below bits=4"),
        (dict(k=17), "k=17"),
        (dict(blocks=3), "blocks=3 is not above k=3 and at most bits=64"),
        (dict(blocks=6, header=4), "header=4 is above 3, which is blocks=6 less k=3"),
        (dict(blocks=6, search="brute"), "blocks=6 does nothing with search=brute"),
        (dict(feature_hash="crc32"), "feature_hash='crc32'"),
        (dict(bits=4, table={"a": 16}), "the table's hash of 'a', 16, does not fit bits=4"),
        (dict(table={"a": 1}, feature_hash="md5"), "feature_hash=md5 does nothing with a table"),
        (dict(threshold=0.9), "threshold=0.9 does nothing without confirm"),
        (dict(frequencies="x.parquet"), "frequencies=x.parquet does nothing with weights=one"),
        (dict(repeats=True), "repeats=True"),
    ],
)
def test_what_cannot_be_is_an_error_that_names_the_values(recipe: dict[str, Any], message: str) -> None:
    """A code too short, blocks too few, hashes unknown, settings that would do nothing."""
    with pytest.raises(ns.ConfigError) as caught:
        ns.SimHash(**recipe)
    assert message in caught.value.message


def test_a_feature_that_the_table_lacks_is_an_error() -> None:
    """A table is part of the recipe: it has every feature, or the recipe cannot be."""
    with pytest.raises(ns.ConfigError, match="table of 10 hashes has none for the feature 'cat'"):
        ns.dedup(["the cat"], method=ns.SimHash(bits=4, table=THE_TABLE))
