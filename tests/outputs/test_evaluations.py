"""Evaluations as people read them: 80 columns on a terminal, Markdown that holds, HTML that stands alone."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import nearsame as ns
from nearsame.answers.advice import Advice, Judgement, Ranged, Trade, Tried
from nearsame.answers.findings import Closing, Evaluation, Lost, Scatter, Score
from nearsame.installation import install_command
from nearsame.outputs import evaluations, html

SCORES = (
    Score(
        "minhash:threshold=0.7", "jaccard >= 0.7", 1200, 1300, 1100, 0.91, 0.84, 0.88, 0.99999, 1.25, 3 << 20, 5000, 4.5
    ),
    Score("positions", "equal texts", seconds=0.5, candidates=9, false_candidates=7),
    Score("characters", "", note="not run: 99 comparisons or so"),
)
CURVE = (Trade(1.0, 1.0, 0.09, 0.17), Trade(0.5, 0.65, 0.93, 0.77))
SHARE = Ranged(0.65, 0.6, 0.7)
ADVICE = Advice(
    command="nearsame dedup corpus.jsonl --method jaccard --threshold 0.5",
    least=0.45,
    most=0.55,
    true=198,
    false=176,
    held_out=Judgement(SHARE, SHARE, SHARE),
    tried=(
        Tried("jaccard", "0.5", ("--threshold", "0.5"), {}, 0.5, 0.65, 0.93, 0.77, 0.9, CURVE),
        Tried("jaccard:shingle_size=8:unit=chars", "0.25", (), {}, 0.25, 0.6, 0.9, 0.7, 0.1, CURVE),
        Tried("containment", note="not tried: more than 50,000,000 pairs"),
    ),
    resamples=1000,
    drawn="single pairs",
    notes=("only 3 true pairs are judged",),
)
FOUND = Evaluation(
    documents=1000,
    of_documents=5000,
    truth="the exact answer",
    near=0.9,
    scores=SCORES,
    closing=(Closing("pairwise", 6.25, 19, 19), Closing("simhash", 0.03, 19, 15, (("SimHash distance 4 > k=3", 4),))),
    lost=tuple(Lost("simhash", f"<b>id|{i}</b>", "*other*", 0.91, "SimHash distance 4 > k=3") for i in range(7)),
    scatter=(Scatter(0.5, 0.6), Scatter(1.0, 1.0)),
    advice=ADVICE,
    versions={"nearsame": "0"},
)
UNADVISED = replace(
    FOUND, advice="no pair is judged false, and it takes both to choose a setting, which is said in one line"
)
NOTHING = Evaluation(documents=0, of_documents=0, truth="nothing", near=0.9, scores=())


class Tags(HTMLParser):
    """What a page is made of."""

    def __init__(self):
        super().__init__()
        self.tags, self.links = [], []

    def handle_starttag(self, tag, attrs):
        """Note it."""
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]


@pytest.mark.parametrize("found", [FOUND, UNADVISED, NOTHING])
def test_a_terminal_shows_80_columns(found):
    """Long cells stand below their rows; few of the lost pairs are shown."""
    text = evaluations.text(found)
    assert [] == [line for line in text.splitlines() if len(line) > 80]
    assert min(5, len(found.lost)) == text.count("*other*")


def test_settings_are_drawn_at_every_similarity_that_pairs_have():
    """One bar each piece: the greatest F1 in it; the best one's table has similarities, not steps."""
    text = evaluations.text(FOUND)
    assert ["0 |" + "▆" * 25 + "▁" * 24 + "▁| 1"] * 2 == re.findall(r"0 \|.*\| 1", text)
    assert "2 of the 2 similarities" in " ".join(evaluations.markdown(FOUND).split())
    assert ["0.5000", "1.0000"] == re.findall(r"^  ([01]\.\d{4})  ", text, re.MULTILINE)
    assert evaluations.text(FOUND, ascii_only=True).isascii()


def test_the_closing_table_reads_like_the_slides():
    """Pairwise against block permutation: time, pairs, detected, and why the rest were lost."""
    text = evaluations.text(FOUND)
    assert re.search(r"pairwise +6\.250 +19 +19\n  simhash +0\.030 +19 +15\n +4 by SimHash distance 4 > k=3\n", text)


def test_nearly_one_is_not_written_as_one():
    """A perfect score is perfect."""
    assert "0.9999" in evaluations.markdown(FOUND)
    assert "1.0000" not in evaluations.text(UNADVISED)


def test_markdown_holds_whatever_ids_are():
    """A bar in an id ends no cell, a tag is no tag; every row has as many cells as its head."""
    page = evaluations.markdown(FOUND)
    assert r"\<b>id\|0\</b>" in page
    assert r"\*other\*" in page
    blocks = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
    for block in blocks:
        assert 1 == len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()})
    assert 7 == len(blocks)


def test_a_page_needs_nothing_from_elsewhere():
    """No script, no address, pictures inline, and what documents say is escaped."""
    page = html.evaluation_page(FOUND)
    tags = Tags()
    tags.feed(page)
    assert {"script", "link", "img", "iframe"}.isdisjoint(tags.tags)
    assert [] == [link for link in tags.links if not link.startswith("#")]
    assert 3 == tags.tags.count("figure")
    assert "&lt;b&gt;id|0&lt;/b&gt;" in page
    assert "b" not in tags.tags


def test_an_empty_evaluation_has_its_pages():
    """Nothing was found, nothing fails."""
    assert "0 documents" in html.evaluation_page(NOTHING)
    assert "0 documents" in evaluations.markdown(NOTHING)


@pytest.mark.parametrize(("name", "start"), [("a.md", "# Evaluation"), ("a.JSON", "{"), ("a.html", "<!DOCTYPE html>")])
def test_a_report_is_of_the_format_that_its_name_says(tmp_path, name, start):
    """Written whole, and not over what exists unless asked."""
    ns.write_evaluation(FOUND, tmp_path / name)
    assert (tmp_path / name).read_text("utf-8").startswith(start)
    with pytest.raises(ns.OutputError, match=f"{name} exists"):
        ns.write_evaluation(FOUND, tmp_path / name)
    ns.write_evaluation(NOTHING, tmp_path / name, overwrite=True)
    assert [name] == [path.name for path in tmp_path.iterdir()]


def test_a_report_in_json_is_the_record(tmp_path):
    """All of it."""
    ns.write_evaluation(FOUND, tmp_path / "a.json")
    assert json.loads(json.dumps(FOUND.record())) == json.loads((tmp_path / "a.json").read_text("utf-8"))


def test_a_report_of_another_format_is_refused(tmp_path):
    """The name is in the message, the formats in the hint."""
    with pytest.raises(ns.OutputError, match=r"a\.pdf has an unknown format") as caught:
        ns.write_evaluation(FOUND, tmp_path / "a.pdf")
    assert "Name it by what it is to hold: .md .json .html." == caught.value.hint


def test_without_jinja2_there_is_an_install_line(monkeypatch):
    """Pages are optional."""
    import builtins

    load = builtins.__import__

    def without(name, *rest, **named):
        if name == "jinja2":
            raise ImportError(name, name=name)
        return load(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ns.MissingExtraError, match="HTML needs a package that is not installed: jinja2") as caught:
        html.require()
    assert f"Run: {install_command('report')}" == caught.value.hint
