"""A report says what the run says: the same counts, the same decisions, whatever the documents are."""

import dataclasses
import json
import os
from itertools import combinations

import numpy as np
import pytest

import nearsame as ns
from nearsame.answers.reports import ClusterGraph
from nearsame.outputs.cluster_layout import laid_out
from nearsame.outputs.html import report_page
from nearsame.recipes.methods import METHODS
from nearsame.studies import report as study
from tests.cli.commands import words, write_jsonl

HOSTILE = [
    "</script><script>alert(1)</script> <!-- {{ 7 * 191 }} <img src=x onerror=alert(1)>",
    "\u202eright to left \u0627\u0644\u0633\u0644\u0627\u0645 \u0639\u0644\u064a\u0643\u0645 \u05e9\u05dc\u05d5\u05dd",
    "nul \x00 escape \x1b[31m line separators \u2028 \u2029 and a\u0301\u0302\u0303 combining marks",
    "\u6771\u4eac\u90fd\u306e\u732b\u306f\u591c\u306b\u6b69\u304f",
]


def corpus():
    """Texts of 60 words: near copies over a range of similarity, exact ones, a part of another, and nothing at all."""
    first, second = words(60, 1), words(60, 2)
    texts = {"first": first, "second": second, "copy": first, "part": first[:55], "empty": []}
    texts |= {f"edited {at}": [*first[:at], "another", *first[at + 1 :]] for at in (0, 1, 30)}
    texts |= {f"twice {at}": [*second[:at], "x", *second[at + 1 : -at], "y"] for at in (1, 2)}
    places = ["en", "de"]
    return [
        {"id": id, "text": " ".join(text), "lang": places[at % 2], "url": f"https://{places[at % 2]}.example/{at}"}
        for at, (id, text) in enumerate(texts.items())
    ]


@pytest.fixture(scope="module")
def run():
    """A run over a range of similarity."""
    return ns.dedup(corpus(), method=ns.Jaccard(threshold="0.7"))


def test_every_count_is_that_of_the_run(run):
    """Of bins, clusters, breakdowns and thresholds."""
    found, stats = ns.report(run), run.stats
    assert stats.removed == found.num_pairs == len(found.pairs) == sum(one.pairs for one in found.bins)
    assert stats.clusters == len(found.clusters) == sum(count for _, count in found.sizes)
    assert stats.removed + stats.clusters == sum(one.documents for one in found.clusters)
    for breakdown in found.breakdowns:
        assert (10, stats.removed) == tuple(
            sum(getattr(one, name) for one in breakdown.splits) for name in ("documents", "removed")
        )
    assert ["host", "lang"] == sorted(one.column for one in found.breakdowns)
    [shared] = found.maps
    assert stats.removed == sum(map(sum, shared.counts))
    assert shared.counts == tuple(tuple(cell[0] for cell in row) for row in shared.at)
    for number, step in enumerate(found.thresholds):
        assert step.count == sum(cell[number] for row in shared.at for cell in row)


@pytest.mark.parametrize(
    ("method", "at_least"),
    [
        (ns.MinHash(threshold="0.6", recall=0.9), ns.plan(threshold=0.6, recall=0.9).shape.at_threshold),
        (ns.SimHash(k=12, confirm="jaccard", threshold="0.6"), ns.plan_simhash(k=12, threshold=0.6).at_threshold),
        (ns.SimHash(k=9, confirm="cosine", threshold="0.7"),
         ns.plan_simhash(k=9, threshold=0.7, measure="cosine").at_threshold),
        (ns.MinHash(threshold="0.6", verify="estimate"), None),
        (ns.Jaccard(threshold="0.6"), None),
        (ns.SimHash(k=3), None),
    ],
)  # fmt: skip
def test_the_curve_of_a_method_is_that_of_its_plan(method, at_least):
    """Drawn where the method goes by chance, and rows tell the similarity that the curve is about."""
    found = ns.report(ns.dedup(corpus(), method=method), texts=False)
    known = dict(found.curve)
    assert (at_least and round(at_least, 4)) == known.get(found.least)
    assert bool(known) == ('class="chance"' in report_page(found))


def test_thresholds_are_those_of_at(run):
    """What is said of each was decided on all documents, and rows say at which of them they go."""
    found = ns.report(run)
    gone = {}
    for number, one in enumerate(found.thresholds):
        moved = run.at(threshold=str(one.threshold))
        assert (moved.stats.removed, moved.stats.kept, moved.stats.clusters) == (one.count, one.kept, one.clusters)
        gone[number] = set(moved.removals.column("id").to_pylist())
        sizes = np.unique(moved.removals.column("cluster").to_numpy(), return_counts=True)[1] + 1
        assert (sizes.size, (sizes == 2).sum()) == (sum(count for _, count in one.sizes), dict(one.sizes).get("2", 0))
    assert len(gone) == 21
    assert (0.7, 1.0) == (found.thresholds[0].threshold, found.thresholds[-1].threshold)
    for pair in found.pairs:
        id = found.documents[pair.a].id
        assert [id in ids for ids in gone.values()] == [bool(pair.at >> number & 1) for number in gone]


def test_breakdowns_and_clusters_are_counted_at_each_threshold(run):
    """By what documents say of themselves, as deciding again has it; of pairs, by who still is in one."""
    found, clusters = ns.report(run), run.removals.to_pylist()
    langs = {one["id"]: one["lang"] for one in corpus()}
    splits = {split.value: split for split in found.breakdowns[-1].splits}
    gone = [set(run.at(threshold=str(one.threshold)).removals.column("id").to_pylist()) for one in found.thresholds]
    for lang in ("en", "de"):
        assert splits[lang].at == tuple(sum(langs[id] == lang for id in ids) for ids in gone)
        assert splits[lang].removed == splits[lang].at[0]
    for cluster in found.clusters:
        members = {row["id"] for row in clusters if row["cluster"] == cluster.cluster}
        assert cluster.at == tuple(len(members & ids) for ids in gone)
        assert cluster.at[0] == cluster.documents - 1
    listed = ns.pairs(corpus(), method=ns.Jaccard(threshold="0.7"))
    told = ns.report(listed)
    for number, one in enumerate(told.thresholds):
        rows = [row for row in listed.table.to_pylist() if row["similarity"] >= one.threshold - 1e-9]
        both = {row[side] for row in rows for side in ("a_id", "b_id")}
        assert sum(split.at[number] for split in told.breakdowns[-1].splits) == len(both)


@pytest.mark.parametrize("threshold", ["2/3", "5/6", "0.66666"])
def test_a_threshold_that_no_number_of_the_machine_is_has_a_report(tmp_path, threshold):
    """The first step is the threshold itself, and no step is twice there."""
    found = ns.dedup(corpus(), method=ns.Jaccard(threshold=threshold))
    found.write(tmp_path / "out")
    told, pairs = ns.report(found), ns.report(ns.pairs(corpus(), method=ns.Jaccard(threshold=threshold)))
    assert (found.stats.least, found.stats.removed) == (told.thresholds[0].threshold, told.thresholds[0].count)
    assert len({round(at.threshold, 3) for at in told.thresholds}) == len(told.thresholds)
    assert told.bins == ns.report(tmp_path / "out").bins
    assert found.stats.least == pairs.thresholds[0].threshold


def test_a_folder_says_what_the_run_says(tmp_path, monkeypatch):
    """But for deciding again, and for writing, which takes time and is counted."""
    monkeypatch.chdir(tmp_path)
    path = write_jsonl(tmp_path / "a.jsonl", corpus())
    run = ns.dedup(path, method=ns.Jaccard(threshold="0.7"))
    run.write("out")
    here, there = (ns.report(found).record() for found in (run, "out"))
    assert there.pop("unmoved")
    assert ("", "out/removed.parquet") == (here.pop("data"), there.pop("data"))
    for record in (here, there):
        splits = [split for breakdown in record["breakdowns"] for split in breakdown["splits"]]
        for one in (*record["pairs"], *record["clusters"], *splits, *record["maps"]):
            del one["at"]
        for name in ("thresholds", "steps"):
            del record[name]
    del here["unmoved"]
    assert here == there
    os.utime(path, (0, 0))
    changed = ns.report("out")
    assert "changed since the run" in changed.untold
    assert (7, 0, ()) == (changed.num_pairs, len(changed.beside), changed.breakdowns)


def test_pairs_have_a_report():
    """Each pair once, and how many there are at higher thresholds."""
    run = ns.pairs(corpus(), method=ns.Jaccard(threshold="0.7"))
    found = ns.report(run)
    similarity = np.array(run.table.column("similarity"))
    assert run.num_pairs == found.num_pairs == len(found.beside)
    assert [int((similarity >= one.threshold).sum()) for one in found.thresholds] == [
        one.count for one in found.thresholds
    ]


def test_kinds_go_by_the_texts(run):
    """The strongest that holds; whatever the shares are, both directions are told."""
    found = ns.report(run)
    kinds = {found.documents[pair.a].id: pair.kind for pair in found.pairs}
    assert ("bytes", "edits") == (kinds["copy"], kinds["edited 30"])
    [view] = [found.beside[pair.beside] for pair in found.pairs if found.documents[pair.a].id == "part"]
    assert (1.0, 55 / 60) == (view.a_in_b, view.b_in_a)
    assert ["alone"] == [kind for kind, text, *_ in view.b if kind == "alone"]
    assert dict(view.reasons)["Over the line?"] == "jaccard 0.9107 (verified); at least 0.7 counts."


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"hyperplane", "codes"}))
def test_every_method_has_a_report(method):
    """Also of hostile texts, in which nothing can do anything."""
    found = ns.dedup([*corpus(), *({"id": text, "text": f"{text} {number}"} for text in HOSTILE for number in "ab")],
                     method=METHODS[method]())  # fmt: skip
    told = ns.report(found)
    page = report_page(told)
    assert found.stats.removed == told.num_pairs
    assert (2, 2, 0) == tuple(page.count(tag) for tag in ("<script", "</script", "<img"))


def test_vectors_have_a_report_without_texts():
    """There is nothing to lay side by side."""
    chance = np.random.default_rng(0)
    vectors = chance.standard_normal((20, 64))
    found = ns.report(ns.dedup(np.concatenate([vectors, vectors + 0.01]), method="hyperplane"))
    assert (20, (), "documents are numbers") == (found.num_pairs, found.beside, found.untold)


def test_codes_have_a_report_without_texts():
    """Nor is there of codes."""
    codes = np.random.default_rng(0).integers(0, 1 << 63, 20, np.uint64)
    found = ns.report(ns.dedup(np.concatenate([codes, codes ^ np.uint64(5)]), method=ns.Codes()))
    assert (20, ()) == (found.num_pairs, found.beside)


def test_nothing_has_a_report_too():
    """No document, no pair: the page says so."""
    for run in (ns.dedup([]), ns.pairs([]), ns.dedup(["only one"])):
        found = ns.report(run)
        assert (0, (), ()) == (found.num_pairs, found.pairs, found.beside)
        assert "</html>" in report_page(found)
    assert ("No document was read.",) == ns.report(ns.dedup([])).remarks


def test_without_texts_no_word_of_a_text_is_told(run):
    """Ids and sources only."""
    page = report_page(ns.report(run, texts=False))
    assert "edited 30" in page
    assert not [word for word in words(60, 1) if word in page]


def test_large_runs_are_sampled_evenly(monkeypatch):
    """A page has room for some pairs; it says of how many, and takes them over the whole range."""
    monkeypatch.setattr(study, "_PAIRS", 20)
    monkeypatch.setattr(study, "_BESIDE", 5)
    texts = [" ".join([*words(40, number), *["x", "y", "z"][:copy]]) for number in range(30) for copy in range(4)]
    found = ns.report(ns.dedup(texts, method=ns.Jaccard(threshold="0.7")))
    assert (90, 20, 5) == (found.num_pairs, len(found.pairs), len(found.beside))
    assert "20 of them are here, evenly" in report_page(found)
    listed = [pair.similarity for pair in found.pairs]
    assert sorted(listed) == listed
    assert len(set(listed)) == 3


def test_long_ids_take_the_place_of_pairs(monkeypatch):
    """The page stays small, whatever documents are called."""
    monkeypatch.setattr(study, "_ID_BYTES", 10_000)
    texts = {f"{number} {'x' * 500}": "the same text in all of them" for number in range(100)}
    found = ns.report(ns.dedup(texts))
    assert (99, 8) == (found.num_pairs, len(found.pairs))


def test_a_report_is_plain_data(run):
    """All of it goes through JSON; what may not be replaced stays out."""
    found = ns.report(run)
    assert json.loads(json.dumps(found.record()))["figures"][0] == {
        "name": "documents",
        "value": "10",
        "remark": f"{run.stats.text_bytes / 1000:.1f} kB of text",
    }
    assert "inputs" not in found.record()
    assert dataclasses.replace(found) == ns.report(run)


def test_a_chain_is_seen_in_the_graph_of_its_cluster():
    """Who is similar enough is joined, whoever is the keeper; rings count the steps from it."""
    text = words(70, 7)
    chain = [" ".join(text[start : start + 40]) for start in (0, 10, 20, 30)]
    run = ns.dedup(chain, method=ns.Jaccard(threshold="0.5", shingle_size=2), clusters="components")
    found = ns.report(run)
    [drawn] = found.graphs
    similar = {(a, b) for a, b, similarity in drawn.edges if similarity >= 0.5}
    at = {found.documents[member].row: place for place, member in enumerate(drawn.members)}
    assert {tuple(sorted((at[row], at[row + 1]))) for row in range(3)} == {tuple(sorted(pair)) for pair in similar}
    nodes = laid_out(drawn, 0.5)["nodes"]
    distances = [round(np.hypot(x - 120, y - 120)) for x, y, _ in nodes]
    assert [0, 35, 69, 104] == sorted(distances)
    assert [distances[at[row]] for row in range(4)] == sorted(distances)


@pytest.mark.parametrize("settings", [{}, {"verify": "estimate"}, {"choice": "random"}])
def test_bands_that_were_given_have_graphs(settings):
    """Members other than the keeper are joined by the threshold, whatever finds pairs."""
    text = words(200, 7)
    texts = [" ".join([*text[:at], f"other{at}", *text[at + 1 :]]) for at in (20, 90, 150)]
    [drawn] = ns.report(ns.dedup(texts, method=ns.MinHash(bands=20, rows=5, **settings))).graphs
    assert [(0, 1), (0, 2), (1, 2)] == [(a, b) for a, b, _ in drawn.edges]


@pytest.mark.parametrize("settings", [{}, {"drop_boilerplate": 8}, {"confirm": "edit", "confirm_threshold": "0.9"}])
def test_a_graph_has_no_line_that_the_run_denies(settings):
    """What else a method asks of pairs is not counted here: then only what the run itself says is drawn."""
    menu, text = [f"t{place}" for place in range(100)], words(100, 7)
    ends = [[f"{name}{place * 10**6}" for place in range(15)] for name in "ab"]
    texts = [" ".join([*some, *menu]) for some in (text, ends[0] + text[15:], text[:85] + ends[1])]
    texts += [" ".join([f"d{number}x{place}" for place in range(30)] + menu) for number in range(10)]
    method = ns.Jaccard(threshold="0.6", **settings)
    found = ns.report(ns.dedup(texts, method=method))
    rows = (ns.pairs(texts, method=method).table.column(name).to_pylist() for name in ("a_row", "b_row"))
    similar = {tuple(sorted(pair)) for pair in zip(*rows, strict=True)}
    drawn = [
        tuple(sorted(found.documents[graph.members[place]].row for place in (a, b)))
        for graph in found.graphs
        for a, b, similarity in graph.edges
        if similarity >= 0.6
    ]
    assert {(0, 1), (0, 2)} <= set(drawn) <= similar


@pytest.mark.parametrize("others", range(2, 20))
def test_no_line_of_a_graph_leads_through_the_keeper(others):
    """Where all are similar; and in a chain, which must not look like a star."""
    members = tuple(range(others + 1))
    star = ClusterGraph(0, members, tuple((a, b, 1.0) for a, b in combinations(members, 2)))
    chain = ClusterGraph(0, members, tuple((a, b, 1.0 if b == a + 1 else 0.1) for a, b in combinations(members, 2)))
    for graph in [star] if others > 6 else [star, chain]:
        drawn = laid_out(graph, 0.5)
        (x, y, _), *rest = drawn["nodes"]
        ends = {node[:2] for node in rest}
        for x1, y1, x2, y2, _, is_similar in drawn["lines"]:
            if is_similar and {(x1, y1), (x2, y2)} <= ends:
                assert abs((x2 - x1) * (y1 - y) - (x1 - x) * (y2 - y1)) / np.hypot(x2 - x1, y2 - y1) > 8


def test_a_cluster_of_two_has_no_graph():
    """There is but one line to see; the heading goes with the last graph."""
    found = ns.report(ns.dedup(["some words to be the same"] * 2 + ["other words, thrice the same"] * 3))
    assert [3] == [len(graph.members) for graph in found.graphs]
    pairs = ns.report(ns.dedup(["some words to be the same"] * 2))
    assert ((), 1) == (pairs.graphs, len(pairs.clusters))
    assert (True, False) == tuple("as graphs" in report_page(one) for one in (found, pairs))
