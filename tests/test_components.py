"""`clusters="components"`: the transitive reading, against union-find, and what it tells of itself."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as configured
from hypothesis import strategies as st

import nearsame as ns
from bench.boilerplate import CORPORA
from nearsame.kernels import components as kernel
from nearsame.stages.clusters import components as stage
from tests.examples import share
from tests.oracle import components as oracle
from tests.oracle.corpora import corpora, settings_of, thresholds_for
from tests.oracle.decisions import Decisions, pairs
from tests.oracle.measures import jaccard
from tests.oracle.priority import order
from tests.oracle.shingles import features
from tests.test_real_corpora import _documents, _listed

Corpus = list[str | None]
WORDS = {"shingle_size": 1}


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


@given(corpora(), settings_of(), st.sampled_from(["first", "last", "longest"]), st.data())
def test_one_document_stays_of_each_component(
    texts: Corpus, settings: dict[str, Any], keep: str, data: st.DataObject
) -> None:
    """The best by priority; the others name it, and how similar they are to it; the largest is told about."""
    sets = _sets(texts, settings)
    threshold = data.draw(thresholds_for(sets))
    method = ns.Jaccard(threshold=threshold, **settings)
    found = ns.dedup(_table(texts), method=method, keep=keep, clusters="components")
    ranked, similar = order(len(texts), keep, texts), pairs(sets, Fraction(threshold))
    ids = [f"d{row}" for row in range(len(texts))]
    assert _named(oracle.decide(sets, similar, ranked), ids) == _removals(found)
    expected, said = oracle.largest(sets, similar, ranked), found.stats.component
    assert (expected is None) == (said is None)
    if expected and said:
        least = float(expected.least_similarity)
        assert expected._replace(least_similarity=least) == (
            said.number, said.documents, said.distinct, said.least_similarity, said.bridges
        )  # fmt: skip


@given(corpora(), corpora(max_size=6), st.booleans(), st.data())
def test_against_another_corpus_all_of_it_stays(
    texts: Corpus, against: Corpus, within: bool, data: st.DataObject
) -> None:
    """What a chain joins with the other side goes; without `within`, chains go to and fro between the sides."""
    both = against + texts
    sets = _sets(both, {"shingle_size": 2})
    threshold = data.draw(thresholds_for(sets))
    method = ns.Jaccard(threshold=threshold, shingle_size=2)
    found = ns.dedup(_table(texts), method=method, against=_table(against, "b"), within=within, clusters="components")
    ids = [f"b{row}" for row in range(len(against))] + [f"d{row}" for row in range(len(texts))]
    similar = pairs(sets, Fraction(threshold))
    expected = oracle.decide(sets, similar, range(len(both)), num_against=len(against), within=within)
    assert _named(expected, ids) == _removals(found)


@given(corpora(), st.data())
def test_a_measure_says_whether_it_took_a_chain(texts: Corpus, data: st.DataObject) -> None:
    """Below the threshold it is `component`, from it on what the method measures; in the pairs likewise."""
    threshold = data.draw(thresholds_for(_sets(texts, {"shingle_size": 2})))
    found = ns.dedup(_table(texts), method=ns.Jaccard(threshold=threshold, shingle_size=2), clusters="components")
    for table in (found.removals, found.pairs):
        lines = table.to_pylist()
        measures = ["jaccard" if line["similarity"] >= float(Fraction(threshold)) else "component" for line in lines]
        assert measures == [line["measure"] for line in lines]
    assert measures.count("component") == found.stats.chained


METHODS = [
    ns.Jaccard(threshold="0.5", shingle_size=2),
    ns.MinHash(threshold="0.6", shingle_size=2, verify="estimate"),
    ns.SimHash(k=10),
    ns.SimHash(k=10, search="adjacent"),
    ns.Cosine(threshold="2/3", shingle_size=2),
    ns.SimHash(k=16, confirm="jaccard", threshold="0.6"),
    ns.SimHash(k=16, confirm="cosine", threshold="2/3"),
    ns.Cosine(shingle_size=1, weights="tf", threshold="2/3"),
    ns.ModP(threshold="0.6", shingle_size=2, modulus=2, floor=4),
    ns.Digest(normalise=True),
]


@pytest.mark.threaded
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@configured(max_examples=share(25))
@given(texts=corpora(max_size=24), against=st.just([]) | corpora(max_size=6))
def test_batches_and_threads_change_nothing(texts: Corpus, against: Corpus, method: Any) -> None:
    """The same tables and the same diagnosis, on any engine's terms."""
    other = _table(against, "b") if against else None
    runs = [
        ns.dedup(_table(texts), method=method, against=other, batch_rows=rows, threads=threads, clusters="components")
        for rows, threads in [(1000, 1), (1, 1), (7, 2), (1000, 4)]
    ]
    answers = [(run.removals.to_pylist(), run.clusters.to_pylist(), run.stats.component) for run in runs]
    assert all(answers[0] == answer for answer in answers)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@configured(max_examples=share(25))
@given(texts=corpora(max_size=20))
def test_components_are_those_of_the_methods_own_pairs(texts: Corpus, method: Any) -> None:
    """Whatever the method calls a pair: a union of these, best first."""
    listed = ns.pairs(_table(texts), method=method).table.select(["a_row", "b_row"]).to_pylist()
    first = oracle.components(range(len(texts)), [(line["a_row"], line["b_row"]) for line in listed])
    found = ns.dedup(_table(texts), method=method, clusters="components").removals.to_pylist()
    assert {row: keeper for row, keeper in first.items() if row != keeper} == {
        line["row"]: line["witness_row"] for line in found
    }


@given(corpora(), st.data())
def test_a_higher_threshold_later_is_that_threshold_at_once(texts: Corpus, data: st.DataObject) -> None:
    """`.at` stays with components."""
    sets = _sets(texts, {"shingle_size": 2})
    low, high = sorted((data.draw(thresholds_for(sets)) for _ in range(2)), key=Fraction)
    one, two = (ns.Jaccard(threshold=threshold, shingle_size=2) for threshold in (low, high))
    found = ns.dedup(_table(texts), method=one, clusters="components").at(threshold=high)
    fresh = ns.dedup(_table(texts), method=two, clusters="components")
    assert (fresh.removals, fresh.stats.component) == (found.removals, found.stats.component)


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda edge: edge[0] != edge[1]), max_size=40))
def test_two_forests_have_the_components_and_bridges_of_the_graph(edges: list[tuple[int, int]]) -> None:
    """Of all edges in any order at most 22 are kept, and they tell the same."""
    different = list(dict.fromkeys((min(edge), max(edge)) for edge in edges))
    graph = stage._Graph(12)
    for start in range(0, max(1, len(different)), 3):
        a, b = np.array(different[start : start + 3], np.int64).reshape(-1, 2).T
        graph.add(np.ascontiguousarray(a), np.ascontiguousarray(b), 0)
    first = oracle.components(range(12), different)
    assert [first[row] for row in range(12)] == graph.best().tolist()
    assert sum(a.size for a, _ in graph._edges) <= 22
    members = [np.array([row for row in range(12) if first[row] == root]) for root in sorted(set(first.values()))]
    assert oracle.bridges(different) == sum(graph.num_bridges(each) for each in members)


def test_a_long_chain_is_one_component_and_all_bridges() -> None:
    """10,000 links: nothing recurses, one stays, and what the chain has done to similarity is told."""
    texts = [" ".join(f"w{number}" for number in range(row, row + 10)) for row in range(10_000)]
    found = ns.dedup(texts, method=ns.Jaccard(threshold="0.8", **WORDS), clusters="components")
    assert (1, 9998) == (found.stats.kept, found.stats.chained)
    said = found.stats.component
    assert (1, 10_000, 10_000, 0.0, 9999) == (
        said.number, said.documents, said.distinct, said.least_similarity, said.bridges
    )  # fmt: skip
    assert said.pairs_measured < said.pairs == 49_995_000


@pytest.mark.slow
def test_comparisons_of_a_template_grow_with_the_documents() -> None:
    """All are similar to all: two ways between two of them are enough."""
    per_document = [
        ns.dedup(CORPORA["template"](num), clusters="components").stats.compared / num for num in (500, 2000)
    ]
    assert per_document[1] <= per_document[0]


def test_a_graph_of_one_cycle_has_no_bridge() -> None:
    """And two cycles that share an edge by a third path have none either; a pair has one."""
    for edges, expected in [([(0, 1), (1, 2), (0, 2)], 0), ([(0, 1)], 1), ([(0, 1), (1, 2), (0, 2), (2, 3)], 1)]:
        graph = stage._Graph(4)
        graph.add(*np.ascontiguousarray(np.array(edges).T), 0)
        assert expected == graph.num_bridges(np.flatnonzero(graph.best() == 0))


def test_a_forest_is_no_deeper_than_its_logarithm() -> None:
    """Roots are looked up without writing, by many threads: paths must stay short in any order."""
    forests = [np.stack([np.arange(1024, dtype=np.int32), np.ones(1024, np.int32)]) for _ in range(2)]
    links = np.arange(1023)
    kernel.add_edges(links[::-1].copy(), links[::-1] + 1, *forests, np.empty(1023, np.bool_))
    depths = []
    for row in range(1024):
        depth, at = 0, row
        while forests[0][0, at] != at:
            depth, at = depth + 1, forests[0][0, at]
        depths.append(depth)
    assert max(depths) <= 10


def test_what_cannot_be_is_refused() -> None:
    """A name that is none; and containment, which would join all that share a part."""
    with pytest.raises(ns.ConfigError, match="clusters='chains'"):
        ns.dedup(["a"], clusters="chains")
    with pytest.raises(ns.ConfigError, match="method=containment"):
        ns.dedup(["a"], method="containment", clusters="components")


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("name", "size"), [("scancode-licences", 1805), ("msdocs-en", 419)])
def test_the_components_of_real_corpora(data_dir: Any, name: str, size: int) -> None:
    """The largest that the lists of all pairs have, one kept of each, and its least similarity by the slow twin."""
    texts, listed = _documents(data_dir, name), _listed(data_dir, name, 80)
    table = pa.table({"id": list(texts), "text": pa.array(texts.values(), pa.large_string())})
    found = ns.dedup(table, method=ns.Jaccard(threshold="0.8", shingle_size=3), clusters="components")
    said = found.stats.component
    assert size == said.documents
    keepers = oracle.components(list(texts), list(listed))
    # The lists' tokens differ from ours in a few texts of other scripts.
    expected = sum(one != keeper for one, keeper in keepers.items())
    assert found.stats.removed == pytest.approx(expected, rel=0.001)
    clusters = found.clusters.group_by("cluster").aggregate([("id", "list")]).column("id_list").to_pylist()
    sets = [features(texts[one], size=3) for one in max(clusters, key=len)[::40]]
    assert said.least_similarity <= float(min(jaccard(a, b) for a in sets for b in sets))
