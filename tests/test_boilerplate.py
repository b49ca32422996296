"""Dropping what too many documents have: exactly that, counted over all of them, whatever the memory."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as configured
from hypothesis import strategies as st

import nearsame as ns
from nearsame.engines.local import Local
from nearsame.stages.features import boilerplate as stage
from tests.examples import share
from tests.oracle.boilerplate import boilerplate, without
from tests.oracle.corpora import corpora, item_lists, settings_of, thresholds
from tests.oracle.decisions import Decisions, decide, pairs
from tests.oracle.shingles import Raw, features

Corpus = list[str | None]


def _table(texts: Corpus, prefix: str = "d") -> pa.Table:
    ids = [f"{prefix}{row}" for row in range(len(texts))]
    return pa.table({"id": pa.array(ids, pa.string()), "text": pa.array(texts, pa.string())})


def _sets(texts: Corpus, settings: dict[str, Any]) -> list[frozenset[Any]]:
    named = {"size" if name == "shingle_size" else name: value for name, value in settings.items()}
    return [features(text, **named) for text in texts]


def _removals(found: Any) -> dict[str, tuple[str, float]]:
    lines = found.removals.select(["id", "witness_id", "similarity"]).to_pylist()
    return {line["id"]: (line["witness_id"], line["similarity"]) for line in lines}


def _named(removed: Decisions, ids: list[str]) -> dict[str, tuple[str, float]]:
    return {ids[row]: (ids[witness], float(similarity)) for row, (witness, similarity) in removed.items()}


def _counted(found: Any) -> tuple[int, int, int]:
    stats = found.stats
    return stats.dropped_shingles, stats.dropped_occurrences, stats.emptied


@given(corpora(), corpora(max_size=5) | st.just([]), settings_of(), thresholds(), st.integers(1, 6))
def test_dropping_is_taking_out_of_the_sets(
    texts: Corpus, against: Corpus, settings: dict[str, Any], threshold: str, most: int
) -> None:
    """Brute force over the sets without what stands in more than so many documents; and it is counted."""
    method = ns.Jaccard(threshold=threshold, drop_boilerplate=most, **settings)
    found = ns.dedup(_table(texts), method=method, against=_table(against, "b") if against else None)
    both = against + texts
    sets = _sets(both, settings)
    left, dropped = without(sets, both, most), boilerplate(sets, most)
    ids = [f"b{row}" for row in range(len(against))] + [f"d{row}" for row in range(len(texts))]
    assert _named(decide(left, Fraction(threshold), range(len(both)), num_against=len(against)), ids) == _removals(
        found
    )
    emptied = sum(isinstance(next(iter(b), None), Raw) and a != b for a, b in zip(sets, left, strict=True))
    assert (len(dropped), sum(dropped.values()), emptied) == _counted(found)


@given(corpora(), thresholds(), st.integers(1, 4))
def test_pairs_are_of_what_is_left(texts: Corpus, threshold: str, most: int) -> None:
    """All pairs of the smaller sets, and no others."""
    found = ns.pairs(_table(texts), method=ns.Jaccard(threshold=threshold, shingle_size=2, drop_boilerplate=most))
    expected = pairs(without(_sets(texts, {"shingle_size": 2}), texts, most), Fraction(threshold))
    lines = found.table.select(["a_row", "b_row", "similarity"]).to_pylist()
    assert {pair: float(similarity) for pair, similarity in expected.items()} == {
        (line["a_row"], line["b_row"]): line["similarity"] for line in lines
    }


@given(item_lists(), st.integers(1, 4))
def test_ready_items_are_dropped_likewise(lists: list[list[str]], most: int) -> None:
    """A list that has nothing left is like the same list only."""
    table = pa.table({"id": [f"d{row}" for row in range(len(lists))], "tags": pa.array(lists, pa.list_(pa.string()))})
    if not lists:
        table = table.cast(pa.schema([("id", pa.string()), ("tags", pa.list_(pa.string()))]))
    found = ns.dedup(table, method=ns.Jaccard(threshold="0.5", drop_boilerplate=most), features_column="tags")
    left = without([frozenset(row) for row in lists], [repr(row) for row in lists], most)
    ids = [f"d{row}" for row in range(len(lists))]
    assert _named(decide(left, Fraction(1, 2), range(len(lists))), ids) == _removals(found)


@configured(max_examples=share(30))
@given(
    corpora(max_size=24),
    st.integers(1, 5),
    st.sampled_from([ns.Jaccard, ns.Containment, ns.MinHash]),
)
def test_batches_and_threads_change_nothing(texts: Corpus, most: int, method: Any) -> None:
    """The same tables and counts, whoever counts what."""
    recipe = method(threshold="0.6", shingle_size=2, drop_boilerplate=most)
    runs = [
        ns.dedup(_table(texts), method=recipe, batch_rows=batch_rows, threads=threads)
        for batch_rows, threads in [(1000, 1), (1, 1), (7, 2), (1000, 4)]
    ]
    answers = [(run.removals.to_pylist(), run.clusters.to_pylist(), _counted(run)) for run in runs]
    assert all(answers[0] == answer for answer in answers)


@pytest.mark.parametrize("most", [1, 13, 14, 15, 100, 253, 254, 255, 256, 299, 300, 301])
@pytest.mark.parametrize("table_bytes", [1 << 30, 1 << 12])
def test_counts_are_exact_where_the_table_is_full(most: int, table_bytes: int, monkeypatch: Any) -> None:
    """Word i stands in i documents: just those above the limit go, also by half bytes, in passes and in shares."""
    monkeypatch.setattr(Local, "table_bytes", property(lambda _: table_bytes))
    monkeypatch.setattr(stage, "_WAITING", 100)
    texts = [" ".join(f"w{word}" for word in range(row + 1, 302)) for row in range(301)]  # w{i} is in i documents
    found = ns.dedup(texts, method=ns.Jaccard(shingle_size=1, threshold=1, drop_boilerplate=most))
    assert 301 == Counter(word for text in texts for word in text.split())["w301"]
    # Documents from row `most` on have only words that stand in more: nothing is left, and they are no copies.
    dropped = range(most + 1, 302)
    assert (len(dropped), sum(dropped), 301 - most) == _counted(found)
    assert 301 == found.stats.kept


def test_what_has_nothing_left_has_exact_copies_only() -> None:
    """Boilerplate alone is not alike, unless it is the same text; a text without words is what it was."""
    page = "all rights reserved by us"
    texts: Corpus = [page, page.upper(), page, "***", "***", "", None, page + " and by none else"]
    found = ns.dedup(_table(texts), method=ns.Jaccard(shingle_size=2, drop_boilerplate=3))
    assert {"d2": ("d0", 1.0), "d4": ("d3", 1.0)} == _removals(found)
    assert (4, 16, 3) == _counted(found)
    assert (2, 2) == (found.stats.bare, found.stats.empty)
    assert 2 == found.stats.exact_copies


def test_it_is_off_by_default_and_part_of_the_record() -> None:
    """Nothing is dropped unless it is asked for; stored things say whether it was."""
    assert (0, 0, 0) == _counted(ns.dedup(["a b c"] * 9))
    assert (None, 7) == tuple(ns.Jaccard(drop_boilerplate=n).record()["drop_boilerplate"] for n in (None, 7))


@pytest.mark.parametrize("most", [0, -1, "many"])
def test_a_limit_that_cannot_be_is_refused(most: Any) -> None:
    """The message names the value."""
    with pytest.raises(ns.ConfigError, match=f"drop_boilerplate={most!r}"):
        ns.Jaccard(drop_boilerplate=most)


def test_where_there_is_no_corpus_it_is_refused() -> None:
    """Two texts, one text and a plan have no documents to count in."""
    method = ns.MinHash(drop_boilerplate=9)
    for question in (
        lambda: ns.compare("a", "b", method=method),
        lambda: ns.explain("a", method=method),
        lambda: ns.plan(drop_boilerplate=9),
    ):
        with pytest.raises(ns.ConfigError, match="drop_boilerplate=9 is about a corpus"):
            question()
