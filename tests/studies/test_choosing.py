"""What judged pairs speak for: the setting that made them, told with how sure one may be, and a command that runs."""

import json
import shlex

import numpy as np
import pyarrow as pa
import pytest

import nearsame as ns
from nearsame.outputs import evaluations
from nearsame.studies.lost_pairs import code_distances
from tests.cli.commands import run

ALL = [f"w{number}" for number in range(4000)]


def corpus(tmp_path, *, spoilt, num=60, weight=None, menu=""):
    """Pairs of texts of fifty words, of which `spoilt(pair)` are others; those below 12 are called the same."""
    texts, lines = [], []
    for pair in range(num):
        own = [ALL[(53 * pair + place) % 4000] for place in range(50)]
        other = list(own)
        for place in range(spoilt(pair)):
            other[place * 4 % 50] = f"x{pair}-{place}"
        texts += [menu + " ".join(own), menu + " ".join(other)]
        label = int(spoilt(pair) < 6)
        lines.append(f"d{2 * pair}\td{2 * pair + 1}\t{label}" + (f"\t{weight(pair)}" if weight else ""))
    path = tmp_path / "truth.tsv"
    path.write_text(("id1\tid2\tlabel\tweight\n" if weight else "") + "\n".join(lines), "utf-8")
    names = [f"d{row}" for row in range(len(texts))]
    return pa.table({"id": names, "text": texts}), path


def test_what_parts_true_from_false_is_found(tmp_path):
    """Everything below six words of fifty is the same: a threshold that says just that, and held-out pairs agree."""
    table, truth = corpus(tmp_path, spoilt=lambda pair: pair % 12)
    found = ns.evaluate(table, methods=["jaccard"], truth=truth, apart=False, threads=1)
    advice = found.advice
    assert (30, 30, 1.0) == (advice.true, advice.false, advice.best.f1)
    assert all(0.9 < share.value <= share.high for share in (advice.held_out.f1, advice.held_out.precision))
    assert "groups of pairs that share documents" == advice.drawn
    assert advice.least <= advice.best.threshold <= advice.most
    assert ["nearsame", "dedup", "SOURCE"] == shlex.split(advice.command)[:3]
    recipe = ns.evaluate(table, methods=[_spelt(advice.best)], truth=truth, apart=False, threads=1).scores[0]
    assert (1.0, 1.0) == (recipe.precision, recipe.recall)


def test_settings_that_are_equally_good_are_all_told(tmp_path):
    """None was better than any of them in any resample: none is told apart from the first."""
    table, truth = corpus(tmp_path, spoilt=lambda pair: 50 * (pair % 2), num=40)
    advice = ns.evaluate(table, methods=["jaccard"], truth=truth, apart=False, threads=1).advice
    assert {1.0} == {one.f1 for one in advice.tried} == {one.won for one in advice.tried}
    assert advice.tried[1:] == advice.rivals


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_copies_without_tokens_are_similar_by_codes_too(bits):
    """As a run has them; of other texts without tokens, and of empty ones, there is no distance."""
    texts = ["!!!", "!!!", "???", "", "", "a rose"]
    table = pa.table({"id": [str(row) for row in range(6)], "text": texts})
    a, b = np.array([0, 0, 3, 0]), np.array([1, 2, 4, 5])
    assert [0, -1, -1, -1] == code_distances(ns.SimHash(bits=bits), table, a, b).tolist()


def test_advice_finds_the_copies_that_a_run_finds(tmp_path):
    """Texts without tokens among the judged pairs: each setting has their similarity."""
    texts = ["!!!", "!!!", "one two three four", "one two three four", "six seven", "completely other words here"]
    rows = [{"id": f"d{row}", "text": text} for row, text in enumerate(texts)]
    (tmp_path / "truth.tsv").write_text("d0\td1\t1\nd2\td3\t1\nd4\td5\t0\nd2\td5\t0\n", "utf-8")
    advice = ns.evaluate(rows, methods=["simhash:k=16"], truth=tmp_path / "truth.tsv", apart=False).advice
    assert {(1.0, 1.0)} == {(one.precision, one.recall) for one in advice.tried}


def _spelt(one):
    """A tried setting as `--methods` takes it, with its threshold."""
    return f"{one.label}:{one.cut}" if "=" in one.cut else f"{one.label}:threshold={one.cut}"


@pytest.mark.slow
def test_every_setting_is_what_the_product_makes_of_it(tmp_path):
    """Precision and recall of each are those of a run of it, on the judged pairs: of one site, which has a menu."""
    table, truth = corpus(tmp_path, spoilt=lambda pair: pair * 7 % 23, num=40, menu=" ".join(ALL[:40]) + " ")
    table = table.append_column("url", pa.array([f"http://a.example/{row}" for row in range(len(table))]))
    tried = ns.evaluate(table, methods=["digest"], truth=truth, apart=False).advice.tried
    assert {"jaccard", "cosine", "containment", "simhash"} == {one.label.split(":")[0] for one in tried}
    by_label = {one.label: one for one in tried}
    dropped = ns.evaluate(table, methods=["digest"], truth=truth, apart=False, drop_boilerplate=50).advice.tried
    [common] = [one for one in dropped if one.label == "jaccard:drop_boilerplate=50"]
    assert by_label["jaccard:boilerplate_per_host=0.5"].curve == common.curve != by_label["jaccard"].curve
    assert {"simhash:k=12:confirm=jaccard", "containment:jaccard_floor=0.5"} < by_label.keys()
    scores = ns.evaluate(table, methods=[_spelt(one) for one in tried], truth=truth, apart=False).scores
    for one, score in zip(tried, scores, strict=True):
        known = ns.pairs(table, method=_recipe(one), audit=False).table
        assert len(known) >= score.both
        assert (one.precision, one.recall) == (pytest.approx(score.precision), pytest.approx(score.recall)), one.label
    assert sorted(tried, key=lambda one: -one.f1) == list(tried)


def _recipe(one):
    settings = dict(one.recipe)
    kinds = {"jaccard": ns.Jaccard, "cosine": ns.Cosine, "containment": ns.Containment, "simhash": ns.SimHash}
    return kinds[settings.pop("method")](**settings)


def test_the_command_runs(tmp_path, monkeypatch):
    """As it is printed, with the columns that were named."""
    table, truth = corpus(tmp_path, spoilt=lambda pair: pair % 12, num=30)
    monkeypatch.chdir(tmp_path)
    lines = zip(table.column("id").to_pylist(), table.column("text").to_pylist(), strict=True)
    (tmp_path / "my corpus.csv").write_text("name,body\n" + "".join(f"{i},{text}\n" for i, text in lines), "utf-8")
    found = ns.evaluate(
        "my corpus.csv", methods=["digest"], truth=truth, text_column="body", id_column="name", apart=False
    )
    command = shlex.split(found.advice.command)
    assert ["my corpus.csv", "--text-column", "body", "--id-column", "name"] == command[2:7]
    assert 0 == run(*command[1:], "-o", "clean", "-q", "--no-audit").exit_code


def test_pages_are_tried_with_all_their_text_too(tmp_path):
    """Beside their main content: by what both make of a page, and the command says which."""
    table, truth = corpus(tmp_path, spoilt=lambda pair: 30 * (pair % 2), num=12)
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in map(_page, *_columns(table))))
    run_of = dict(methods=["digest"], truth=truth, html_column="html", apart=False)
    advice = ns.evaluate(str(tmp_path / "pages.jsonl"), **run_of).advice
    [text] = [one for one in advice.tried if one.label == "jaccard --extract text"]
    [main] = [one for one in advice.tried if one.label == "jaccard"]
    of_text = ns.evaluate(str(tmp_path / "pages.jsonl"), extract="text", **run_of).advice
    assert [text.curve] == [one.curve for one in of_text.tried if one.label == "jaccard"]
    assert text.threshold < main.threshold
    assert ("--extract", "text") == text.arguments[-2:]
    assert not any("--extract" in one.label for one in of_text.tried)


def _columns(table):
    return table.column("id").to_pylist(), table.column("text").to_pylist()


def _page(name, text):
    """A page whose menu is larger than its text, and no other's."""
    menu = "".join(f"<li><a href='/{name}/{item}'>{name} item {item}</a></li>" for item in range(40))
    return {"id": name, "html": f"<html><body><nav><ul>{menu}</ul></nav><main><p>{text}.</p></main></body></html>"}


def test_pairs_may_stand_for_others(tmp_path):
    """A weight is how many: precision and recall are of all that they stand for."""
    table, truth = corpus(tmp_path, spoilt=lambda pair: 4 * (pair % 4), weight=lambda pair: 10 if pair % 4 == 2 else 1)
    advice = ns.evaluate(table, methods=["digest"], truth=truth, apart=False).advice
    assert advice.weighed
    line = next(one for one in advice.tried if one.label == "jaccard:shingle_size=1").at(0.65)
    assert (30 / 180, 1.0) == (pytest.approx(line.precision), line.recall)


def test_of_a_whole_truth_all_else_is_false(tmp_path):
    """Pairs that a setting lists and nobody named are false to every setting."""
    same = " ".join(ALL[:60])
    texts = [same, f"{same} more", f"{same} less", *(" ".join(ALL[60 * n : 60 * n + 60]) for n in range(1, 40))]
    table = pa.table({"id": [f"d{row}" for row in range(len(texts))], "text": texts})
    truth = tmp_path / "truth.tsv"
    truth.write_text("d0\td1\n", "utf-8")
    advice = ns.evaluate(table, methods=["digest"], truth=truth, apart=False).advice
    assert 1 == advice.true
    assert 2 <= advice.false  # d2 with d0 and d1, and what shares letters
    [own] = [one for one in advice.tried if one.label == "jaccard"]
    assert (0.5, pytest.approx(1 / 3)) == (own.precision, own.curve[-1].precision)  # d2 is as near to d0, then to d1
    assert all(line.threshold >= 0.5 for one in advice.tried for line in one.curve)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("d0\td1\t1", "no pair is judged false"),
        ("d0\td1\t0", "no pair is judged true"),
        ("d0\td3\t1\nd1\td3\t0", "no setting that was tried finds a pair that is judged true"),
    ],
)
def test_where_nothing_can_be_advised_it_says_why(tmp_path, lines, why):
    """And the rest of the evaluation stands."""
    truth = tmp_path / "truth.tsv"
    truth.write_text(lines, "utf-8")
    table = pa.table({"id": ["d0", "d1", "d2", "d3"], "text": ["a b c", "a b d", "a b c", ""]})
    found = ns.evaluate(table, methods=["jaccard"], truth=truth, apart=False)
    assert why in found.advice
    assert why in " ".join(evaluations.text(found).split())
    assert why in evaluations.result_line(found)


def test_few_pairs_are_told(tmp_path):
    """Too few to hold any out."""
    truth = tmp_path / "truth.tsv"
    truth.write_text("d0\td1\t0\nd0\td2\t1", "utf-8")
    table = pa.table({"id": ["d0", "d1", "d2"], "text": ["a b c d", "a b c x", "a b c d"]})
    found = ns.evaluate(table, methods=["jaccard"], truth=truth, apart=False)
    assert found.advice.held_out is None
    text = " ".join(evaluations.text(found).split())
    assert "too few pairs to judge that by others" in text
    assert "Only 1 true and 1 false pairs are judged" in text


@pytest.mark.slow
def test_people_s_own_curve_on_real_pages(data_dir):
    """What people call near-duplicates, by Jaccard of three words: the figures that stand beside the corpus."""
    folder = data_dir / "docs"
    found = ns.evaluate(
        str(folder / "webis-copycat.docs.jsonl.gz"),
        methods=["jaccard:threshold=0.6"],
        truth=folder / "webis-copycat.pairs.tsv.gz",
        apart=False,
        shingle_size=3,
    )
    known = {0.5: (0.65, 0.93), 0.6: (0.74, 0.89), 0.7: (0.83, 0.75), 0.8: (0.89, 0.59), 0.9: (0.97, 0.35)}
    [own] = [one for one in found.advice.tried if one.label == "jaccard:shingle_size=3"]
    curve = {at: (round(own.at(at).precision, 2), round(own.at(at).recall, 2)) for at in known}
    assert known == curve
    assert known[0.6] == (round(found.scores[0].precision, 2), round(found.scores[0].recall, 2))
    held = found.advice.held_out.f1
    assert 0.73 < held.low < held.value < held.high < 0.86
