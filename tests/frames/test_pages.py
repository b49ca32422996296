"""Web pages in a column on Spark: the same texts, answers and counts as on one machine."""

import pyarrow as pa
import pytest

import nearsame as ns
from tests.parity.answers import deduplicated, difference, local, on_spark

pytestmark = pytest.mark.few

_MENU = "<nav><ul><li><a href=/>Home</a><li><a href=/news>All the news of today and of last week</a></ul></nav>"
_STORY = (
    "The town council met on Monday evening to talk about the new bridge over the river, its cost over many years to"
    " come, and who is to pay for it; after three hours of debate it put off the vote until the autumn, as before."
)


def _page(story, *, head="<title>News</title>", tail=""):
    body = f"<main><article><h1>Bridge</h1><p>{story}</p><p>{story[::-1]}</p></article></main>{tail}"
    return f"<html><head>{head}</head><body>{_MENU}{body}</body></html>"


def pages():
    """Pages that differ around their content only, others that differ in it, and what is no page at all."""
    stories = [_STORY, _STORY, f"{_STORY} So it was said.", "Nothing of that kind was ever seen in this town. " * 6]
    html = [
        *(_page(story, head=f"<title>{number}</title>") for number, story in enumerate(stories)),
        _page(_STORY, tail="<footer>" + "<p>all rights are reserved by the owner of this page</p>" * 9 + "</footer>"),
        _STORY, f"{_MENU}", f"{_MENU}", "", None, "<p>" * 3000 + _STORY, _page(stories[2], tail="<!-- x -->" * 400),
    ]  # fmt: skip
    return pa.table({
        "number": pa.array(range(len(html)), pa.int64()),
        "id": [f"d{number}" for number in range(len(html))],
        "html": html,
    })  # fmt: skip


@pytest.fixture
def asked(spark):
    """How Spark is asked, few documents on the driver or not."""

    def make(**chosen):
        return on_spark(ns.Spark(spark, **chosen), lambda table: spark.createDataFrame(table).repartition(3, "number"))

    return make


@pytest.mark.parametrize("given", [{}, {"driver_bytes": 0}], ids=["few", "many"])
def test_what_goes_is_what_one_machine_removes(asked, given):
    """By main content: all rows and columns given back."""
    settings = {"html_column": "html", "ties": "content", "keep": "longest", "max_document": 6000}
    expected = deduplicated(local, pages(), **settings)
    assert {} == difference(expected, deduplicated(asked(**given), pages(), **settings))
    assert expected.removals


def test_counts_and_examples_of_pages_are_those_of_one_machine(spark):
    """Where texts were found, how pages were read, and what the texts are."""
    given = {"html_column": "html", "ties": "content", "extract": "main"}
    one = ns.dedup(pages(), **given)
    many = ns.dedup(spark.createDataFrame(pages()), engine=ns.Spark(spark, driver_bytes=0), **given)
    for name in ("pages", "documents", "empty", "text_bytes", "kept", "exact_copies", "near_copies"):
        assert getattr(one.stats, name) == getattr(many.stats, name), name
    assert {"extract": "main", "html_column": "html"}.items() <= many.stats.recipe.items()
    texts = [set(found.examples(50).column("text").to_pylist()) for found in (one, many)]
    assert texts[0] == texts[1]
    assert all("<" not in text for text in texts[1])


@pytest.mark.parametrize("given", [{}, {"driver_bytes": 0}], ids=["few", "many"])
def test_long_pages_are_counted_as_on_one_machine(spark, given):
    """What is behind `max_document` is cut, and said."""
    rows = [{"number": n, "html": f"<p>{'word ' * 400} {n % 3}"} for n in range(5)]
    rows += [{"number": 5, "html": "<p>short"}]
    settings = {"html_column": "html", "max_document": 1000}
    one = ns.dedup(rows, **settings)
    many = ns.dedup(spark.createDataFrame(rows), engine=ns.Spark(spark, **given), **settings)
    assert [5, 5] == [found.stats.pages["cut"] for found in (one, many)]


def crawl():
    """The same at URLs: some are one by rules, some by a guess, and pages say of themselves what they are."""
    urls = [
        "http://a.org/x?utm_source=q", "http://a.org/x", "http://a.org/y", "http://a.org/z/", "http://a.org/z/index.html",
        None, "http://www.a.org/y", "https://b.org/", "http://b.org/?sid=1", "http://b.org", "http://c.org/1", "",
    ]  # fmt: skip
    table = pages().append_column("where", pa.array(urls))
    canonical = [None, None, "http://a.org/x", *[None] * 9]
    table = table.append_column("canonical", pa.array(canonical, pa.string()))
    return pa.concat_tables([table, table.slice(3, 2)])  # rows that are the same in all columns


def test_layers_and_evidence_of_few_pages_are_those_of_one_machine(asked):
    """By URLs, what pages say of themselves, texts and the method: who goes, by which layer, through whom, why."""
    settings = {
        "html_column": "html", "url_column": "where", "ties": "content", "use": "url,canonical,digest,text",
        "keep": "longest",
    }  # fmt: skip
    answers = []
    for ask in (local, asked()):
        source, given = ask(crawl(), **settings)
        found = ns.dedup(source, **given)
        table = found.removals if ask is local else found.removals.toArrow()
        table = table.drop_columns([name for name in table.column_names if name.endswith(("source", "row"))])
        lines = sorted(map(repr, table.drop_columns(["cluster"]).to_pylist()))
        stats = found.stats.record()
        answers.append((lines, [stats[name] for name in ("layers", "evidence", "pages", "kept", "other_copies")]))
        assert found.stats.kept == len(found.kept() if ask is local else found.kept().toArrow())
    assert answers[0] == answers[1]
    assert {"url", "canonical", "digest"} <= {layer["layer"] for layer in answers[0][1][0] if layer["removed"]}


def test_settings_of_pages_without_pages_are_refused(spark):
    """As on one machine."""
    with pytest.raises(ns.ConfigError, match="extract does nothing"):
        ns.dedup(["a", "b"], extract="text", engine=ns.Spark(spark))
