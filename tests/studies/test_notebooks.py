"""What a notebook shows: every answer draws itself, hostile texts stay texts, and a terminal gets a short line."""

import re
from html.parser import HTMLParser

import pytest

import nearsame as ns
from nearsame.answers.findings import CurvePoint
from nearsame.outputs import cells
from tests.cli.commands import words

EVIL = "<script>alert(1)</script> <img src=x onerror=alert(2)> &amp; \"'quoted \x00 \x1b[31m \u202e \u05e9\u05dc\u05d5"


class Elements(HTMLParser):
    """The elements of a piece of HTML, with what stands in them; each is closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert [] == self._open

    def handle_starttag(self, tag, attrs):
        """One more is open."""
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._open.append(tag)

    def handle_endtag(self, tag):
        """The last one is closed."""
        assert tag == self._open.pop()

    def handle_data(self, data):
        """Text, but for the style."""
        if self._open[-1:] != ["style"]:
            self.text += data


@pytest.fixture(scope="module")
def found():
    """A run over two hostile texts."""
    one = [*words(40), EVIL]
    return ns.dedup({f"{EVIL} {at}": " ".join([*one, f"end{at}"]) for at in range(2)})


@pytest.fixture(scope="module")
def answers(found, tmp_path_factory):
    """One of each kind, all about hostile texts."""
    texts = [f"{EVIL} {' '.join(words(40))} {end}" for end in ("one", "two")]
    similar = ns.pairs(texts)
    with ns.Index.create(tmp_path_factory.mktemp("index") / "a.ns") as index:
        evil = EVIL.replace("\0", "")
        index.add([{"id": evil, "text": texts[0], "url": f"http://a.example/{evil}"}])
        matches = index.query(texts[1])
    return {
        "result": found, "pairs": similar, "show": found.show(), "pairs shown": similar.show(1),
        "similarity": found.plot.similarity(), "clusters": found.plot.clusters(),
        "compare": ns.compare(*texts), "explain": ns.explain(texts[0]), "explained": ns.explain(EVIL, method="simhash"),
        "plan": ns.plan(corpus=texts), "simhash": ns.plan_simhash(), "nothing": ns.dedup([]), "empty": ns.pairs([]),
        "evaluation": ns.evaluate(texts, methods=["jaccard", "minhash"], apart=False),
        "match": matches[0], "matches": matches,
    }  # fmt: skip


def test_hostile_texts_stay_texts(answers):
    """No element and no attribute comes from a document; nothing is fetched, and no script is there."""
    for name, answer in answers.items():
        html = answer._repr_html_()
        seen = Elements(html)
        assert not seen.names & {"script", "img", "iframe", "link", "object", "a"}, name
        assert [] == [one for one in seen.attributes if one.startswith("on") or one in {"src", "href", "style"}], name
        assert not re.search("[\x00\x1b\u202e]|url\\(|@import", html), name
    assert "<script>alert(1)</script>" in Elements(answers["show"]._repr_html_()).text
    assert "<script>alert(1)</script>" in Elements(answers["matches"]._repr_html_()).text


def test_a_terminal_gets_a_short_line(answers):
    """And pairs as lines of 80 characters at most, that it does not obey."""
    for name, answer in answers.items():
        if name not in {"show", "pairs shown", "match", "matches"}:
            assert len(repr(answer)) <= 120, name
            assert repr(answer).isprintable(), name
    for line in repr(answers["show"]).splitlines():
        assert line.isprintable()
        assert len(line) <= 80


def test_a_cell_is_the_same_each_time(found):
    """What is drawn depends on the answer alone."""
    assert found._repr_html_() == found._repr_html_()
    assert repr(found.show(1)) == repr(found.show(1))


def test_texts_of_all_pairs_come_in_one_call():
    """In the order of the table; of some, over the whole range of similarity."""
    texts = ["a rose is a rose", "a rose is a rose", "a rose is a rose!", "daisies"]
    similar = ns.pairs(texts)
    table = similar.examples(None)
    assert similar.table.select(["a_id", "b_id"]) == table.select(["a_id", "b_id"])
    for row in table.to_pylist():
        assert (texts[row["a_row"]], texts[row["b_row"]]) == (row["a_text"], row["b_text"])
    assert 1 == len(similar.examples(1))
    removed = ns.dedup(texts).examples(None)
    assert [1, 2] == removed.column("row").to_pylist()
    with pytest.raises(ns.ConfigError, match="count must be at least 0"):
        similar.examples(-1)


def test_a_result_writes_its_report(found, tmp_path):
    """What `write_report(report(found))` writes; pairs have no clusters to draw."""
    found.report(tmp_path / "here.json")
    ns.write_report(ns.report(found), tmp_path / "there.json")
    assert (tmp_path / "here.json").read_text() == (tmp_path / "there.json").read_text()
    with pytest.raises(ns.OutputError):
        found.report(tmp_path / "here.json")
    with pytest.raises(ns.ConfigError, match="pairs have no clusters"):
        ns.pairs(["a"]).plot.clusters()


def test_numbers_are_set_to_the_right_and_codes_are_not():
    """Nor what only looks like a number in some rows; long tables say what is left out."""
    html = cells.table("", ("name", "n", "share", "code"), [("a", 1, "0.5 %", "0" * 64)] * 30)
    assert 21 == html.count("<tr>")
    assert '<th class="number" scope="col">n</th>' in html
    assert '<th class="number" scope="col">share</th>' in html
    assert '<th scope="col">code</th>' in html
    assert "and 10 more" in html


def test_a_curve_is_where_it_should_be():
    """From the left edge at 0 to the right edge at 1."""
    html = cells.curve([CurvePoint(0.0, 0.0), CurvePoint(1.0, 1.0)], 0.5, "name")
    assert 'points="40.0,190.0 640.0,10.0"' in html
