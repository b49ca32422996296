"""Evaluations: every number against brute force, one answer whatever runs it, and errors that name what is wrong."""

import json
import os
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.demo import corpus_path
from nearsame.outputs import evaluations
from nearsame.recipes.methods import SimHash
from nearsame.studies import contenders, evaluate, lost_pairs
from tests.examples import share
from tests.oracle.corpora import corpora
from tests.oracle.decisions import pairs
from tests.oracle.shingles import features

EXACT = ("characters", "first-characters", "whole-hash", "positions", "sorted-digests")
DEMO = str(corpus_path())


def table(texts):
    """Documents called d0, d1, and so on."""
    names = [f"d{row}" for row in range(len(texts))]
    return pa.table({"id": pa.array(names, pa.string()), "text": pa.array(texts, pa.large_string())})


def untimed(found):
    """An evaluation without what differs from run to run."""
    scores = tuple(replace(score, seconds=None, peak_bytes=None) for score in found.scores)
    return replace(found, scores=scores, closing=tuple(replace(line, seconds=0.0) for line in found.closing))


@settings(max_examples=share(30))
@given(corpora(), st.sampled_from(["0.3", "0.5", "0.8"]))
def test_the_exact_join_agrees_with_every_pair_compared(texts, threshold):
    """Precision, recall and the Rand index of what is exact are 1, and the pairs those of brute force."""
    found = ns.evaluate(
        table(texts), methods=[f"jaccard:threshold={threshold}", "digest", "exact"], apart=False, shingle_size=2
    )
    sets = [features(text, size=2) for text in texts]
    equal = sum(a == b for a, b in combinations([text for text in texts if text], 2))
    expected = [len(pairs(sets, Fraction(threshold))), *[equal] * 6]
    assert expected == [score.pairs for score in found.scores]
    assert {(1.0, 1.0, 1.0, 1.0)} == {(s.precision, s.recall, s.f1, s.rand_index) for s in found.scores}


@pytest.mark.threaded
@settings(max_examples=share(20))
@given(corpora(), st.sampled_from([1, 2, 4]))
def test_the_answer_does_not_depend_on_threads(texts, threads):
    """All but seconds and memory."""
    methods = ["jaccard:threshold=0.5", "minhash:threshold=0.5:recall=0.6", "simhash:k=8", "exact"]
    run = dict(methods=methods, apart=False, near=0.5, shingle_size=2)
    assert untimed(ns.evaluate(table(texts), **run)) == untimed(ns.evaluate(table(texts), threads=threads, **run))


def test_a_process_of_its_own_finds_the_same_and_measures_memory():
    """Only seconds and memory differ from a run in this process."""
    [contender] = contenders.contenders(["minhash:threshold=0.6"], {})
    documents = ns.evaluate(DEMO, methods=["minhash:threshold=0.6"], sample_size=100)
    here = ns.evaluate(DEMO, methods=["minhash:threshold=0.6"], sample_size=100, apart=False)
    assert untimed(here) == untimed(documents)
    assert documents.scores[0].seconds > 0
    assert (documents.scores[0].peak_bytes is not None) == os.path.exists("/proc/self/clear_refs")  # noqa: PTH110
    assert contender == contenders.Contender.of_record(json.loads(json.dumps(contender.record())))


def test_an_error_in_that_process_is_raised_here():
    """With its class, its message and its hint."""
    refused = contenders.Contender("digest", ns.Digest())
    broken = replace(refused, label="no-such-way", recipe=None)
    with pytest.raises(ns.NearSameError, match="no-such-way"):
        contenders.run_apart(broken, table(["a"]))


def test_textbook_bands_lose_what_the_curve_says():
    """Nine bands of thirteen rows at .8 lose pairs; every lost pair of the closing table is listed with its reason."""
    found = ns.evaluate(DEMO, methods=["jaccard", "minhash:bands=9:rows=13"], near=0.8, apart=False)
    exact, bands = found.scores
    assert bands.pairs < exact.pairs == bands.true_pairs
    assert 1.0 == bands.precision > bands.recall
    pairwise, line = found.closing
    assert ("pairwise", exact.pairs, exact.pairs) == (pairwise.method, pairwise.near_pairs, pairwise.detected)
    assert bands.both == line.detected
    assert (("none of 9 bands in common", line.near_pairs - line.detected),) == line.why
    assert min(20, line.near_pairs - line.detected) == len(found.lost)


def test_the_closing_table_says_why_simhash_lost_pairs():
    """By distances of the codes that are above k, and which agree with what `pairs` finds at a greater k."""
    found = ns.evaluate(DEMO, methods=["simhash"], near=0.8, apart=False)
    _, line = found.closing
    assert sum(count for _, count in line.why) == line.near_pairs - line.detected > 0
    wide = ns.pairs(DEMO, method=SimHash(k=16)).table.to_pylist()
    distances = {(pair["a_id"], pair["b_id"]): round(64 * (1 - pair["similarity"])) for pair in wide}
    for lost in found.lost:
        distance = distances.get((lost.a, lost.b), 17)
        assert distance > 3
        if distance < 17:
            assert f"SimHash distance {distance} > k=3" == lost.why


@pytest.mark.parametrize("weights", ["one", "tf", "tfidf"])
def test_the_scatter_is_of_codes_and_cosines(weights):
    """Equal features have cosine 1 and equal codes; codes follow the angle; near and far pairs are there."""
    points = ns.evaluate(DEMO, methods=[f"simhash:weights={weights}"], apart=False).scatter
    assert points == ns.evaluate(DEMO, methods=[f"simhash:weights={weights}"], apart=False).scatter
    assert all(-1e-9 <= cosine <= 1 + 1e-9 for cosine, _ in points)
    assert {1.0} == {similarity for cosine, similarity in points if cosine > 1 - 1e-12}
    far = [similarity for cosine, similarity in points if cosine < 0.05]
    near = [similarity for cosine, similarity in points if 0.9 < cosine]
    assert 0.5 == pytest.approx(sum(far) / len(far), abs=0.03)
    assert sum(near) / len(near) > 0.84  # 1 - acos(.9) / pi = .856; the mean of what is above is more


def test_containment_is_held_against_its_own_exact_join():
    """What is contained need not be similar: no loss, and no place in the closing table."""
    found = ns.evaluate(DEMO, methods=["containment:threshold=0.9"], apart=False)
    [score] = found.scores
    assert "containment >= 0.9" == score.reference
    assert (1.0, 1.0, ()) == (score.precision, score.recall, found.closing)
    assert score.pairs > len(ns.pairs(DEMO, method=ns.Jaccard(threshold=0.9)).table)


def test_the_cosines_of_the_scatter_are_those_of_the_words():
    """Of two texts, by hand: three words of each, two in common, one of these twice in the first."""
    texts = ["a a b c", "a b d"]
    for weights, cosine in (("one", 2 / 3), ("tf", 3 / (6 * 3) ** 0.5)):
        points = ns.evaluate(texts, methods=[f"simhash:weights={weights}"], apart=False, near=0.1).scatter
        assert points
        assert all(cosine == pytest.approx(point.cosine) for point in points)


def test_pairs_that_are_near_and_not_confirmed_are_said_to_be():
    """Codes within k bits, and texts that are not similar enough."""
    found = ns.evaluate(DEMO, methods=["simhash:k=12:confirm=edit:threshold=0.99"], near=0.7, apart=False)
    reasons = dict(found.closing[1].why)
    assert reasons["codes near enough, but not confirmed"] > 0


def test_reasons_tell_what_is_far_from_what_has_no_code():
    """A pair that has no codes, or near ones, is not said to be too far apart."""
    assert "no code, having no tokens" == lost_pairs.why(SimHash(), table(["***", "a"]), *_rows(0, 1))[0]
    assert "codes near enough, but no neighbours" == lost_pairs.why(SimHash(), table(["a b", "b a"]), *_rows(0, 1))[0]
    assert ["nothing that says why"] == lost_pairs.why(None, table(["a", "b"]), *_rows(0, 1))
    low = lost_pairs.why(ns.MinHash(threshold=0.9), table(["a", "b"]), *_rows(0, 1))
    assert ["less than its own threshold of 0.9"] == low


def _rows(a, b):
    import numpy as np

    return np.array([a]), np.array([b])


def test_codes_are_held_against_the_cosine_where_that_is_asked_for():
    """And so is the closing table; a method that has a question of its own keeps it."""
    found = ns.evaluate(DEMO, methods=["simhash:k=12", "minhash", "cosine"], measure="cosine", near=0.85, apart=False)
    near = ns.pairs(DEMO, method=ns.Cosine(threshold=0.85)).table
    assert ["cosine >= 0.85", "jaccard >= 0.8", "cosine >= 0.8"] == [score.reference for score in found.scores]
    assert len(near) == found.scores[0].true_pairs
    assert (1.0, 1.0) == (found.scores[2].precision, found.scores[2].recall)
    assert [("exact join", len(near))] * 2 == [("exact join", line.near_pairs) for line in found.closing[:2]]
    assert "exact join" == found.closing[0].method
    assert "Pairs of cosine 0.85 and above" in evaluations.text(found)
    assert any("less than its own threshold of 0.8" == why for why, _ in found.closing[2].why)


def test_codes_of_weighted_features_are_held_against_the_cosine_of_these():
    """By the method's own words and weights; sets by their own question, or none."""
    given = {"measure": "cosine", "near": 0.85, "apart": False}
    found = ns.evaluate(DEMO, methods=["simhash:weights=tfidf:k=12", "cosine:weights=tf:shingle_size=1"], **given)
    assert ["cosine of tfidf weights >= 0.85", "cosine of tf weights >= 0.8"] == [s.reference for s in found.scores]
    own = ns.Cosine(threshold=0.85, weights="tfidf", shingle_size=1)
    assert len(ns.pairs(DEMO, method=own).table) == found.scores[0].true_pairs
    assert (1.0, 1.0) == (found.scores[1].precision, found.scores[1].recall)


def test_codes_have_a_question_of_their_own():
    """The cosine that k bits stand for, of their features by their weights; or what confirms pairs of codes."""
    methods = ["simhash:k=8", "simhash:weights=tf", "simhash:k=9:confirm=jaccard", "simhash:k=9:confirm=edit"]
    found = ns.evaluate(DEMO, methods=methods, apart=False, strip_accents=True)
    question = dict(shingle_size=1, strip_accents=True)
    asked = {
        "cosine >= 0.92388": ns.Cosine(threshold="0.92388", **question),
        "cosine of tf weights >= 0.989177": ns.Cosine(threshold="0.989177", weights="tf", **question),
        "jaccard >= 0.8": ns.Jaccard(threshold=0.8, **question),
        "cosine >= 0.903989, edit >= 0.8": ns.Cosine(threshold="0.903989", confirm="edit", **question),
    }
    assert list(asked) == [score.reference for score in found.scores]
    for score, method in zip(found.scores, asked.values(), strict=True):
        assert len(ns.pairs(DEMO, method=method).table) == score.true_pairs
        assert min(score.precision, score.recall) > 0.6
    assert 1.0 == found.scores[2].precision
    assert found.truth.endswith("every two documents compared, by cosine an exact join")
    found = ns.evaluate(DEMO, methods=["simhash"], apart=False, sample_size=10)
    assert found.truth.endswith("own question: an exact join")


def test_candidates_of_codes_are_all_whose_distance_was_looked_at():
    """By brute force all with all; else as many as the same run says in its stats."""
    texts = [json.loads(line)["text"] for line in corpus_path().read_text("utf-8").splitlines()]
    distinct = len({code for code in ns.simhash(texts) if code is not None})
    found = ns.evaluate(DEMO, methods=["simhash:search=brute", "simhash:search=rotations"], apart=False)
    stats = ns.pairs(DEMO, method=ns.SimHash(search="rotations")).stats
    expected = [distinct * (distinct - 1) // 2, stats.room["search"]["candidates"]]
    assert expected == [score.candidates for score in found.scores]


def test_boilerplate_is_dropped_from_the_exact_answer_too():
    """Of all documents, and of hosts, by the URLs of a column; a process of its own is warmed by such a recipe, too."""
    menu = " ".join(f"menu{item}" for item in range(60))
    texts = [f"{menu} {' '.join(f'w{row // 2}-{word + row % 2}' for word in range(30))}" for row in range(40)]
    pages = table(texts).append_column("page", pa.array([f"http://a.example/{row}" for row in range(40)]))
    methods = ["jaccard:drop_boilerplate=20", "jaccard:boilerplate_per_host=0.5", "minhash:boilerplate_per_host=0.5"]
    found = ns.evaluate(pages, methods=methods, url_column="page", apart=False)
    assert [(20, 20, 20)] * 3 == [(score.pairs, score.true_pairs, score.both) for score in found.scores]
    assert 1 == contenders.run_here(contenders.contenders(methods, {})[1], contenders._WARM).a.size
    with pytest.raises(ns.ConfigError, match="anything in the column 'url2'"):
        ns.evaluate(pages, methods=methods, url_column="url2", apart=False)


def test_a_question_with_too_many_answers_is_a_note(monkeypatch):
    """And costs the others nothing."""

    def crowded(*_):
        raise ns.TooManyPairsError("3 pairs", hint="Ask for fewer.")

    monkeypatch.setattr(evaluate, "listed", crowded)
    simhash, jaccard = ns.evaluate(table(["a b", "a c"]), methods=["simhash", "jaccard"], apart=False).scores
    assert "not judged by cosine >= 0.989177: 3 pairs" == simhash.note
    assert (1.0, 1.0) == (jaccard.precision, jaccard.recall)


def test_a_whole_truth_makes_all_other_pairs_false(tmp_path):
    """Precision over everything found; clusters count; the curve is that of brute force, from one half on."""
    texts = ["a b c d e f g h", "a b c d e f g x", "a b c d e f g h", "k l m n", "k l m o"]
    path = tmp_path / "truth.tsv"
    path.write_text("d0\td1\nd0\td3\n", "utf-8")
    found = ns.evaluate(table(texts), methods=["jaccard:threshold=0.5"], truth=path, apart=False, shingle_size=1)
    [score] = found.scores
    assert "truth.tsv: 2 true pairs, all others false" == found.truth
    assert (4, 2, 1, 0.25, 0.5) == (score.pairs, score.true_pairs, score.both, score.precision, score.recall)
    assert score.rand_index is not None
    similar = pairs([features(text, size=1) for text in texts], Fraction(1, 100))
    [own] = [one for one in found.advice.tried if one.label == "jaccard:shingle_size=1"]
    assert own.curve
    for threshold, precision, recall, _ in own.curve:
        above = {pair for pair, similarity in similar.items() if similarity >= threshold - 1e-9}
        both = len(above & {(0, 1), (0, 3)})
        assert (both / len(above), both / 2) == (precision, recall)


def test_of_judged_pairs_only_these_count(tmp_path):
    """Pairs that nobody has judged are counted apart; clusters are not compared."""
    texts = ["a b c d", "a b c d", "a b c d e", "x y z"]
    path = tmp_path / "truth.tsv"
    path.write_text("d0\td1\t1\nd0\td2\t0\nd0\td3\t?\n", "utf-8")
    [score] = ns.evaluate(table(texts), methods=["jaccard"], truth=path, apart=False, shingle_size=1).scores
    assert (2, 1, 1, 1) == (score.pairs, score.true_pairs, score.both, score.unjudged)
    assert (0.5, 1.0, None) == (score.precision, score.recall, score.rand_index)


def test_a_sample_is_stated_and_always_the_same():
    """So many documents of so many."""
    run = dict(methods=["jaccard"], sample_size=120, apart=False)
    found = ns.evaluate(DEMO, **run)
    assert (120, 369) == (found.documents, found.of_documents)
    assert untimed(found) == untimed(ns.evaluate(DEMO, **run))


def test_many_documents_are_held_against_the_exact_join(monkeypatch):
    """Where comparing every two would take too long, and it is said."""
    every = ns.evaluate(DEMO, methods=["minhash"], apart=False)
    monkeypatch.setattr(evaluate, "_MOST_PAIRWISE", 10)
    joined = ns.evaluate(DEMO, methods=["minhash"], apart=False)
    assert "exact join" == joined.closing[0].method
    assert [score.both for score in every.scores] == [score.both for score in joined.scores]
    assert joined.truth.endswith("an exact join")


def test_a_way_that_would_take_too_long_is_not_run_and_says_so(monkeypatch):
    """The others are."""
    monkeypatch.setattr(contenders, "MOST_COMPARED", 2)
    found = ns.evaluate(["a", "b", "a"], methods=["exact"], apart=False)
    assert "not run: 3 comparisons or so; a sample may have at most 2 documents" == found.scores[0].note
    assert [1] * 4 == [score.pairs for score in found.scores[1:]]


def test_too_many_pairs_are_a_note_and_no_end(monkeypatch):
    """One method that finds far too much does not cost the others their answers."""
    monkeypatch.setattr(contenders, "_MOST_PAIRS", 1)
    outcome = contenders.run_here(contenders.Contender("jaccard", ns.Jaccard()), table(["a b"] * 3))
    assert outcome.note.startswith("not run: 3 pairs")


def test_methods_are_named_or_given():
    """A recipe is called by what differs from the defaults; settings are read by the recipe."""
    found = contenders.contenders([ns.MinHash(num_perm=64), "minhash:num-perm=32", "exact"], {"shingle_size": 3})
    assert ["minhash:num_perm=64", "minhash:num-perm=32", *EXACT] == [contender.label for contender in found]
    assert (64, 5) == (found[0].recipe.num_perm, found[0].recipe.shingle_size)
    assert (32, 3) == (found[1].recipe.num_perm, found[1].recipe.shingle_size)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["nonsense"], "method='nonsense' is not one of"),
        (["minhash:num_perm"], "'minhash:num_perm': 'num_perm' is not NAME=VALUE"),
        (["minhash:nothing=3"], "MinHash: nothing='3': "),
        (["jaccard:threshold=2"], "Jaccard: threshold='2': 2 is not above 0 and at most 1"),
        (["jaccard", "jaccard"], "method 'jaccard' is given twice"),
        (["exact", "positions"], "method 'positions' is given twice"),
        ([], r"methods=\[\] names none"),
        (
            ["containment:remove=container"],
            "method 'containment:remove=container' compares two sides, but there is only one",
        ),
    ],
)
def test_a_method_that_cannot_be_is_an_error_that_names_it(methods, message):
    """Before anything is read."""
    with pytest.raises(ns.ConfigError, match=message) as caught:
        ns.evaluate("no-such-file.jsonl", methods=methods)
    assert caught.value.hint


def test_the_same_path_twice_is_an_error(tmp_path):
    """However it is spelt; also a truth that is the corpus."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "x", "text": "a rose"}\n', "utf-8")
    spelt = f"{tmp_path}/./a.jsonl"
    for source, truth in (((str(path), str(path)), None), ((str(path), spelt), None), (str(path), spelt)):
        with pytest.raises(ns.ConfigError, match=r"a\.jsonl.* (is (given|named) twice|are one file)"):
            ns.evaluate(source, truth=truth, methods=["digest"])
    with pytest.raises(ns.ConfigError, match="is named twice"):
        ns.evaluate((str(path), str(tmp_path / "*.jsonl")), methods=["digest"])


def test_a_truth_with_unknown_ids_is_an_error_that_names_them(tmp_path):
    """Before any method runs."""
    path = tmp_path / "truth.tsv"
    path.write_text("d0\tnobody\n", "utf-8")
    with pytest.raises(ns.ConfigError, match="names the id 'nobody', which no document has"):
        ns.evaluate(table(["a", "b"]), truth=path, methods=["digest"])


def test_too_small_a_sample_is_an_error():
    """Two documents make a pair."""
    with pytest.raises(ns.ConfigError, match="sample_size=1 is below 2"):
        ns.evaluate(["a"], sample_size=1, methods=["digest"])


def test_an_evaluation_is_json():
    """All of it."""
    record = ns.evaluate(DEMO, methods=["simhash", "minhash"], sample_size=80, apart=False).record()
    assert ["simhash", "minhash"] == [score["method"] for score in json.loads(json.dumps(record))["scores"]]


def test_a_least_label_without_truth_is_refused():
    """There are no labels."""
    with pytest.raises(ns.ConfigError, match="least_label does nothing without truth"):
        ns.evaluate(["a b c", "a b d"], methods=["jaccard"], least_label=2, apart=False)
