"""What `pairs` promises, on random corpora: all pairs, each once, as brute force has them."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as configured
from hypothesis import strategies as st

import nearsame as ns
from tests.examples import share
from tests.oracle import measures
from tests.oracle.corpora import THRESHOLDS, corpora, item_lists, settings_of, thresholds, thresholds_for
from tests.oracle.decisions import cosine_pairs, pairs
from tests.oracle.shingles import Raw, features

Corpus = list[str | None]
Settings = dict[str, Any]
Pairs = dict[tuple[int, int], float]

METHODS = [
    ns.Jaccard(threshold="0.5", shingle_size=2),
    ns.Cosine(threshold="2/3", shingle_size=2),
    ns.MinHash(threshold="0.5", shingle_size=2, recall=0.6),
    ns.MinHash(threshold="0.5", shingle_size=2, verify="estimate"),
    ns.Digest(),
]


def _table(texts: Corpus) -> pa.Table:
    ids = [f"d{row}" for row in range(len(texts))]
    return pa.table({"id": pa.array(ids, pa.string()), "text": pa.array(texts, pa.string())})


def _sets(texts: Corpus, settings: Settings) -> list[frozenset[Any]]:
    names = {"shingle_size": "size"}
    return [features(text, **{names.get(name, name): value for name, value in settings.items()}) for text in texts]


def _found(answer: Any) -> Pairs:
    lines = answer.table.select(["a_row", "b_row", "similarity"]).to_pylist()
    found = {(line["a_row"], line["b_row"]): line["similarity"] for line in lines}
    assert len(lines) == len(found), "a pair stands twice"
    return found


def _floats(expected: dict[tuple[int, int], Fraction]) -> Pairs:
    return {pair: float(similarity) for pair, similarity in expected.items()}


@given(corpora(), settings_of(), st.data())
def test_the_exact_join_finds_the_pairs_of_brute_force(texts: Corpus, settings: Settings, data: st.DataObject) -> None:
    """Every pair at the threshold or above, none below, each similarity right to the last bit."""
    sets = _sets(texts, settings)
    threshold = data.draw(thresholds_for(sets))
    found = ns.pairs(_table(texts), method=ns.Jaccard(threshold=threshold, **settings))
    assert _floats(pairs(sets, Fraction(threshold))) == _found(found)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@configured(max_examples=share(40))
@given(lists=item_lists(max_size=24))
def test_ready_items_join_at_every_threshold(threshold: str, lists: list[list[str]]) -> None:
    """The join alone, without texts: sets of up to eight items, at each threshold of the list."""
    table = pa.table({"tags": pa.array(lists, pa.list_(pa.string()))})
    found = ns.pairs(table, method=ns.Jaccard(threshold=threshold), features_column="tags")
    assert _floats(pairs([frozenset(items) for items in lists], Fraction(threshold))) == _found(found)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@configured(max_examples=share(40))
@given(lists=item_lists(max_size=24) | st.lists(st.lists(st.sampled_from("abcd"), max_size=3), max_size=24))
def test_ready_items_join_by_cosine_at_every_threshold(threshold: str, lists: list[list[str]]) -> None:
    """The same by cosine; sets of up to three items of a universe of four, too."""
    table = pa.table({"tags": pa.array(lists, pa.list_(pa.string()))})
    found = ns.pairs(table, method=ns.Cosine(threshold=threshold), features_column="tags")
    assert _floats(cosine_pairs([frozenset(items) for items in lists], Fraction(threshold))) == _found(found)


@given(st.data())
def test_long_sets_of_many_sizes_join(data: st.DataObject) -> None:
    """Prefixes and lengths at work: windows of one long row of words, some of them with holes."""
    spans = data.draw(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 90), st.integers(2, 40)), max_size=14))
    texts: Corpus = [
        " ".join(f"w{word}" for word in range(start, start + length) if word % hole) for start, length, hole in spans
    ]
    sets = _sets(texts, {"shingle_size": 1})
    threshold = data.draw(thresholds_for(sets))
    for method, expected in ((ns.Jaccard, pairs), (ns.Cosine, cosine_pairs)):
        found = ns.pairs(_table(texts), method=method(threshold=threshold, shingle_size=1))
        assert _floats(expected(sets, Fraction(threshold))) == _found(found)


@given(
    corpora(),
    settings_of(),
    thresholds(least="1/10"),  # where no number of bands reaches the recall, MinHash says so and stops
    st.sampled_from([0.3, 0.9, 0.999]),
    st.sampled_from(["fast", "classic"]),
)
def test_minhash_with_verification_finds_nothing_wrong(
    texts: Corpus, settings: Settings, threshold: str, recall: float, sketch: str
) -> None:
    """Precision 1: some of the pairs of brute force, with their similarities, and all those of equal sets."""
    method = ns.MinHash(threshold=threshold, recall=recall, sketch=sketch, **settings)
    found = _found(ns.pairs(_table(texts), method=method))
    expected = _floats(pairs(_sets(texts, settings), Fraction(threshold)))
    assert found.items() <= expected.items()
    assert {pair for pair, similarity in expected.items() if similarity == 1} <= found.keys()


@given(corpora(), settings_of(), thresholds(least="1/20"))
def test_one_row_a_band_finds_what_shares_a_value(texts: Corpus, settings: Settings, threshold: str) -> None:
    """With 512 bands of one value a pair of J ≥ 1/20 is missed once in 10^11."""
    method = ns.MinHash(threshold=threshold, num_perm=512, bands=512, rows=1, **settings)
    found = _found(ns.pairs(_table(texts), method=method))
    assert _floats(pairs(_sets(texts, settings), Fraction(threshold))) == found


@given(corpora())
def test_digests_pair_equal_texts(texts: Corpus) -> None:
    """All pairs of equal, non-empty texts, at similarity 1."""
    sets = [frozenset({Raw(text)}) if text else frozenset() for text in texts]
    assert _floats(pairs(sets, Fraction(1))) == _found(ns.pairs(_table(texts), method=ns.Digest()))


@pytest.mark.threaded
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@configured(max_examples=share(40))  # six runs each
@given(texts=corpora(max_size=24))
def test_batches_and_threads_change_nothing(texts: Corpus, method: Any) -> None:
    """The same table, line by line, for batches of 1, 7 and 1000 documents, on 1, 2 and 4 threads."""
    answers = [
        ns.pairs(_table(texts), method=method, batch_rows=batch_rows, threads=threads).table.to_pylist()
        for batch_rows, threads in [(1000, 1), (1, 1), (7, 1), (1, 4), (7, 2), (1000, 4)]
    ]
    assert all(answers[0] == answer for answer in answers)


@given(corpora(), settings_of(), thresholds(), st.data())
def test_order_does_not_matter(texts: Corpus, settings: Settings, threshold: str, data: st.DataObject) -> None:
    """Shuffled documents have the same pairs, by their ids."""
    shuffled = data.draw(st.permutations(range(len(texts))))
    method = ns.Jaccard(threshold=threshold, **settings)
    table = _table(texts)
    answers = [
        {(frozenset({line["a_id"], line["b_id"]}), line["similarity"]) for line in found.table.to_pylist()}
        for found in (
            ns.pairs(table, method=method),
            ns.pairs(table.take(pa.array(shuffled, pa.int64())), method=method),
        )
    ]
    assert answers[0] == answers[1]


@given(corpora(), thresholds(), thresholds())
def test_a_higher_threshold_finds_a_part_of_the_pairs(texts: Corpus, one: str, two: str) -> None:
    """Exactly those that reach it: no pair is hidden by another setting."""
    low, high = sorted([one, two], key=Fraction)
    many, few = (_found(ns.pairs(_table(texts), method=ns.Jaccard(threshold=value))) for value in (low, high))
    assert {pair: value for pair, value in many.items() if value >= float(Fraction(high))} == few


@given(corpora(), settings_of(), thresholds())
def test_a_star_stands_for_all_pairs_of_equal_documents(texts: Corpus, settings: Settings, threshold: str) -> None:
    """From the star all pairs can be told: the first of each group speaks for the others."""
    method = ns.Jaccard(threshold=threshold, **settings)
    star = _found(ns.pairs(_table(texts), method=method, identical="star"))
    sets = _sets(texts, settings)
    first = {row: sets.index(items) for row, items in enumerate(sets) if items}
    every = pairs(sets, Fraction(threshold))
    expected = {
        (a, b): similarity
        for (a, b), similarity in every.items()
        if a == first[a] and (b == first[b] or first[a] == first[b])
    }
    assert _floats(expected) == star


@given(item_lists(), thresholds())
def test_measures_of_a_pair_are_those_of_its_sets(lists: list[list[str]], threshold: str) -> None:
    """The measure is named, and the similarity is the fraction's nearest float."""
    table = pa.table({"tags": pa.array(lists, pa.list_(pa.string()))})
    found = ns.pairs(table, method=ns.Jaccard(threshold=threshold), features_column="tags")
    for line in found.table.to_pylist():
        a, b = set(lists[line["a_row"]]), set(lists[line["b_row"]])
        assert ("jaccard", float(measures.jaccard(a, b))) == (line["measure"], line["similarity"])
        assert line["a_row"] < line["b_row"]


def test_more_pairs_than_asked_for_is_an_error_that_says_how_many() -> None:
    """Thirty copies are 435 pairs: refused above --max-pairs, with the figure; as a star they are 29."""
    texts: Corpus = ["the same words again"] * 30
    with pytest.raises(ns.TooManyPairsError, match="435"):
        ns.pairs(_table(texts), max_pairs=434)
    assert list(combinations(range(30), 2)) == sorted(_found(ns.pairs(_table(texts), max_pairs=435)))
    star = ns.pairs(_table(texts), max_pairs=29, identical="star")
    assert [(0, row) for row in range(1, 30)] == sorted(_found(star))
