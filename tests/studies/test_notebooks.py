"""What a notebook shows: every answer draws itself, hostile texts stay texts, and a terminal gets a short line."""

import re
from html.parser import HTMLParser

import pytest

import nearsame as ns
from nearsame.answers.findings import CurvePoint
from nearsame.demo import corpus_path
from nearsame.outputs import cells
from tests.cli.commands import words, write_jsonl

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
def judged(tmp_path_factory):
    """What people said of twenty pairs: versions are the same, others are not."""
    texts, path = [words(40, at) for at in range(10)], tmp_path_factory.mktemp("judged") / "pairs.tsv"
    versions = [[*text[:20], "another", *text[21:]] for text in texts]
    lines = [f"a{at}\tb{(at + other) % 10}\t{1 - other}" for at in range(10) for other in (0, 1)]
    path.write_text("\n".join(["id1\tid2\tlabel", *lines]))
    named = [("a", texts), ("b", versions)]
    rows = [{"id": f"{side}{at}", "text": " ".join(text)} for side, some in named for at, text in enumerate(some)]
    return ns.evaluate(rows, methods=["jaccard"], truth=path, apart=False)


@pytest.fixture(scope="module")
def answers(found, judged, tmp_path_factory):
    """One of each kind, all about hostile texts."""
    texts = [f"{EVIL} {' '.join(words(40))} {end}" for end in ("one", "two")]
    similar = ns.pairs(texts)
    with ns.Index.create(tmp_path_factory.mktemp("index") / "a.ns") as index:
        evil = EVIL.replace("\0", "")
        index.add([{"id": evil, "text": texts[0], "url": f"http://a.example/{evil}"}])
        matches = index.query(texts[1])
        more = index.add([{"id": f"{evil} two", "text": texts[1]}, {"id": f"{evil} {'x' * 90}", "text": texts[0]}])
        of_index = {
            "added": more[0], "entry": index.get(evil), "long entry": index.get(f"{evil} {'x' * 90}"),
            "group": next(iter(index.clusters())), "likeness": index.compare(evil, f"{evil} two"),
            "index stats": index.stats(),
        }  # fmt: skip
    pages = [{"url": f"http://{host}.example/{at}{EVIL}", "text": f"{at} is {at * at}"}
             for host in "ab" for at in range(60)]  # fmt: skip
    mirrors, urls, leaks = ns.mirrors(pages), ns.urls([page["url"] for page in pages]), ns.leaks(texts, {EVIL: texts})
    return {
        "result": found, "pairs": similar, "show": found.show(), "pairs shown": similar.show(1),
        "similarity": found.plot.similarity(), "clusters": found.plot.clusters(),
        "compare": ns.compare(*texts), "explain": ns.explain(texts[0]), "explained": ns.explain(EVIL, method="simhash"),
        "plan": ns.plan(corpus=texts), "simhash": ns.plan_simhash(), "judged": judged,
        "nothing": ns.dedup([]), "empty": ns.pairs([]), "nothing shown": ns.dedup([]).show(),
        "evaluation": ns.evaluate(texts, methods=["jaccard", "minhash"], apart=False),
        "match": matches[0], "matches": matches, "leaks": leaks, "leak stats": leaks.stats,
        **of_index, "mirrors": mirrors, "mirror stats": mirrors.stats, "urls": urls, "url stats": urls.stats,
        "stats": found.stats, "stats of pairs": similar.stats, "report": ns.report(found),
        "rules": ns.learn_urls(pages), "to label": ns.to_label(texts * 9),
        "no similarity": ns.dedup([]).plot.similarity(), "no clusters": ns.dedup([]).plot.clusters(),
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
        if name not in {"show", "pairs shown", "matches"}:
            assert len(repr(answer)) <= 80, name
            assert repr(answer).isprintable(), name
    assert f"[{answers['match']!r}]" == repr(answers["matches"])
    methods = [f"minhash:num_perm={number}" for number in (16, 32, 64, 128)]
    assert "Evaluation(2 documents, 4 methods)" == repr(ns.evaluate(["a b", "c"], methods=methods, apart=False))
    assert "RunReport('memory', 0 pairs)" == repr(ns.report(ns.dedup(["a"])))
    for line in repr(answers["show"]).splitlines():
        assert line.isprintable()
        assert len(line) <= 80


def test_one_of_a_kind_is_not_several(found):
    """Whatever is counted."""
    text = " ".join(words(30))
    one = ns.leaks([text], {"b": [text]})
    assert "Leaks(1 of 1 item, in 1 document)" == repr(one)
    assert ("Result(1 document, 1 kept, 0 removed)", "1 cluster") == (
        repr(ns.dedup(["a"])),
        repr(found.plot.clusters()),
    )
    assert "Similarity of 1 pair" == repr(found.plot.similarity())


def test_nothing_is_said_and_not_drawn(answers):
    """A picture of no pairs, or a table of no clusters, would look broken; sizes that no cluster has are left out."""
    assert ("No pairs.", "No clusters.") == tuple(repr(answers[name]) for name in ("nothing shown", "no clusters"))
    for name, said in (("no similarity", "No pairs."), ("no clusters", "No clusters."), ("nothing shown", "No pairs.")):
        assert said == Elements(answers[name]._repr_html_()).text, name
    four = [f"a rose is a rose is a rose and {end}" for end in ("this", "that", "those", "these")]
    sizes = ns.dedup([*four, "x y", "x y"], method=ns.Jaccard(threshold=0.3)).plot.clusters()._repr_html_()
    assert ["2", "4"] == re.findall(r'<th class="number" scope="row">(\d+)</th>', sizes)


def test_a_distance_has_its_value(answers):
    """With its unit, as on a terminal."""
    assert re.search(r"Euclidean distance\s*1\.4142", Elements(answers["compare"]._repr_html_()).text)


def test_curves_of_settings_are_drawn_and_codes_stay_in_one_line(answers):
    """Blocks of text would wrap between the letters; so would bits."""
    html = answers["judged"]._repr_html_()
    assert '<svg class="spark"' in html
    assert "▂" not in html
    assert re.search(r'class="code"[^>]*>[01]{64}<', answers["explained"]._repr_html_())


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


def test_what_is_not_drawn_is_a_short_line(tmp_path):
    """No address of memory, no table, no text: whatever documents say."""
    with ns.Index.create(tmp_path / "seen.ns", source=[EVIL]) as index:
        assert f"Index({str(tmp_path / 'seen.ns')!r})" == repr(index)
    with ns.Index.open(tmp_path / "seen.ns", read_only=True) as index:
        assert repr(index).endswith("seen.ns', read-only)")
    places = [(host, at) for host in "ab" for at in range(60)]
    pages = [{"url": f"http://{host}.example/{at}", "text": f"{at} says it {at * at}"} for host, at in places]
    assert "Mirrors(1 prefix pair, 120 pages)" == repr(ns.mirrors(pages))
    text = "a text of twelve words that both have in the same order here"
    assert repr(ns.compare(text, text)).endswith(", 1 passage)")
    drawn = repr(ns.to_label(str(corpus_path())))
    assert re.fullmatch(r"ToLabel\(\d+ of [\d,]+ pairs from [.\d]+ on, [\d,]+ documents\)", drawn)
    assert "Stats(2 documents, 1 kept, 1 removed)" == repr(ns.dedup([text, text]).stats)
    assert "Stats(2 documents, 1 distinct)" == repr(ns.pairs([text, text]).stats)
    assert "Jaccard(threshold=0.5)" == repr(ns.Jaccard(threshold=0.5))
    source = write_jsonl(tmp_path / "in.jsonl", [{"id": "a", "text": text}] * 2)
    ns.dedup(str(source)).write(tmp_path / ("d" * 100))
    proof = ns.verify(tmp_path / ("d" * 100))
    assert repr(proof).startswith("Verification('")
    assert repr(proof).endswith("…', holds)")
    assert len(repr(proof)) < 80
    assert "removed" in Elements(proof._repr_html_()).text
