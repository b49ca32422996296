"""Dropping what too many documents have: exactly that, counted over all of them, whatever the memory."""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as configured
from hypothesis import strategies as st

import nearsame as ns
from nearsame.engines.local import Local
from nearsame.frames.corpus import Frames
from nearsame.outputs.promises import dropped as dropped_in_words
from nearsame.stages.clusters.policies import Keep
from nearsame.stages.features import boilerplate as stage
from nearsame.stages.features import host_boilerplate
from tests.examples import share
from tests.oracle.boilerplate import boilerplate, without, without_by_host
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


@pytest.mark.threaded
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


def _pages(texts: Corpus, hosts: list[str | None]) -> list[dict[str, str | None]]:
    urls = [None if host is None else f"http://{host}/{row}" for row, host in enumerate(hosts)]
    return [
        {"id": f"d{row}", "text": text, "url": url} for row, (text, url) in enumerate(zip(texts, urls, strict=True))
    ]


@given(corpora(max_size=24), st.data(), settings_of(), st.tuples(thresholds(), st.integers(1, 4)))
def test_boilerplate_of_a_host_is_dropped_from_its_pages_alone(
    texts: Corpus, data: st.DataObject, settings: dict[str, Any], limits: tuple[str, int]
) -> None:
    """Brute force over the sets, host by host; what nobody knows the host of keeps all that it has."""
    threshold, (share, least) = data.draw(thresholds()), limits
    names = st.sampled_from(["a.org", "A.ORG", "b.org:80", "b.org", "c.org", None])
    given_hosts = data.draw(st.lists(names, min_size=len(texts), max_size=len(texts)))
    hosts = [None if host is None else host.lower().removesuffix(":80") for host in given_hosts]
    if not any(hosts):
        return
    method = ns.Jaccard(threshold=threshold, boilerplate_per_host=share, **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_boilerplate, "LEAST_DOCUMENTS", least)
        found = ns.dedup(_pages(texts, given_hosts), method=method)
    sets = _sets(texts, settings)
    left, dropped = without_by_host(sets, texts, hosts, Fraction(share), least)
    ids = [f"d{row}" for row in range(len(texts))]
    assert _named(decide(left, Fraction(threshold), range(len(texts))), ids) == _removals(found)
    emptied = sum(isinstance(next(iter(b), None), Raw) and a != b for a, b in zip(sets, left, strict=True))
    several = [counts for counts in dropped.values() if counts]
    assert (sum(map(len, several)), sum(sum(counts.values()) for counts in several), emptied) == _counted(found)
    told = {line["host"]: (line["shingles"], line["occurrences"]) for line in found.stats.dropped_by_host}
    assert {host: (len(counts), sum(counts.values())) for host, counts in dropped.items() if counts} == told
    assert len(told) == found.stats.dropped_hosts


@pytest.mark.threaded
@configured(max_examples=share(30))
@given(corpora(max_size=24), st.sampled_from([ns.Jaccard, ns.Cosine, ns.Containment, ns.MinHash, ns.ModP]))
def test_batches_and_threads_change_nothing_of_hosts(texts: Corpus, method: Any) -> None:
    """The same tables and counts, whoever counts what."""
    recipe = method(threshold="0.6", shingle_size=2, boilerplate_per_host=0.4)
    pages = _pages(texts, ["a.org", "b.org"] * (len(texts) // 2) + ["a.org"] * (len(texts) % 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_boilerplate, "LEAST_DOCUMENTS", 2)
        runs = [
            ns.dedup(pages, method=recipe, batch_rows=batch_rows, threads=threads)
            for batch_rows, threads in [(1000, 1), (1, 1), (7, 2), (1000, 4)]
        ]
    answers = [(run.removals.to_pylist(), _counted(run), run.stats.dropped_by_host) for run in runs]
    assert all(answers[0] == answer for answer in answers)


def _site(host: str, number: int, footer: str) -> list[dict[str, str]]:
    return [
        {"url": f"http://{host}/{page}", "text": f"{host} says {page} of {page * page} {footer}"}
        for page in range(number)
    ]


def test_a_small_host_loses_nothing_and_a_footer_elsewhere_is_no_boilerplate() -> None:
    """20 pages make a host large enough; the same footer on another host, in few of its pages, counts there."""
    footer = "all rights reserved by the owners of this very site"
    large, small = _site("large.org", 20, footer), _site("small.org", 19, footer)
    found = ns.dedup([*large, *small], method=ns.Jaccard(shingle_size=1, threshold=0.7, boilerplate_per_host=1))
    (told,) = found.stats.dropped_by_host
    assert ("large.org", 20, 1) == (told["host"], told["documents"], found.stats.dropped_hosts)
    assert {"small.org"} == {line["url"].split("/")[2] for line in found.removed().to_pylist()}
    said = "13 shingles in 100 % of a host's documents dropped on large.org."
    assert said == dropped_in_words(found.stats)


def test_twins_are_found_without_the_pages_around_them() -> None:
    """Two articles under other headings and with other menus are one where boilerplate goes host by host."""
    article = "the river rose by two metres in the night and the old bridge was closed to all traffic at dawn today"
    one, two = _site("one.org", 30, "menu one " * 9), _site("two.org", 30, "other menu two " * 9)
    twins = [
        {"url": "http://one.org/river", "text": f"{article} {'menu one ' * 9}"},
        {"url": "http://two.org/river", "text": f"{article} {'other menu two ' * 9}"},
    ]
    recipe = {"shingle_size": 3, "threshold": 0.8}
    assert 0 == ns.dedup([*one, *two, *twins], method=ns.Jaccard(**recipe)).stats.cross_host
    found = ns.dedup([*one, *two, *twins], method=ns.Jaccard(**recipe, boilerplate_per_host="0.9"))
    assert 1 == found.stats.cross_host


@pytest.mark.parametrize("use", ["url,text", "digest,text", "url,digest,text"])
@pytest.mark.parametrize("as_pages", [False, True], ids=["texts", "pages"])
def test_behind_layers_the_hosts_are_known(use: str, as_pages: bool) -> None:
    """Also where the texts that the method compares have been taken out of pages for a layer before it."""
    if as_pages:
        pytest.importorskip("resiliparse")
    footer = "all rights reserved by the owners of this very site"
    pages = [*_site("one.org", 25, footer), *_site("two.org", 25, footer)]
    if as_pages:
        pages = [{"url": page["url"], "html": f"<p>{page['text']}</p>"} for page in pages]
    column = {"html_column": "html"} if as_pages else {}
    found = ns.dedup(pages, use=use, method=ns.Jaccard(shingle_size=2, boilerplate_per_host=0.5), **column)
    assert ["one.org", "two.org"] == sorted(line["host"] for line in found.stats.dropped_by_host)


@pytest.mark.parametrize("value", [0, 2, "most", -0.5])
def test_a_share_that_cannot_be_is_refused(value: Any) -> None:
    """The message names the value."""
    with pytest.raises(ns.ConfigError, match=f"boilerplate_per_host={value!r}"):
        ns.Jaccard(boilerplate_per_host=value)


def test_two_kinds_of_boilerplate_are_refused_and_so_are_hosts_that_nobody_knows() -> None:
    """Both at once, no URLs, texts alone, two texts, a plan."""
    method = ns.Jaccard(boilerplate_per_host=0.5)
    needs = "boilerplate_per_host=0.5 needs URLs"
    for question, why in (
        (lambda: ns.Jaccard(drop_boilerplate=2, boilerplate_per_host=0.5), "cannot be combined"),
        (lambda: ns.dedup(["a b c"], method=method), f"{needs}, and no document has one in the column 'url'"),
        (lambda: ns.pairs([{"text": "a"}], method=method, url_column="at"), f"{needs}, and no document has one"),
        (lambda: ns.evaluate(["a b c"] * 3, boilerplate_per_host=0.5), f"{needs}, but only texts are read here"),
        (lambda: ns.compare("a", "b", method=method), "boilerplate_per_host=0.5 is about a corpus"),
        (lambda: ns.plan(boilerplate_per_host=0.5), "boilerplate_per_host=0.5 is about a corpus"),
    ):
        with pytest.raises(ns.ConfigError, match=why):
            question()


def test_stored_recipes_say_nothing_of_hosts_unless_it_was_asked_for() -> None:
    """What was written down before there was such a setting is still the same recipe."""
    assert "boilerplate_per_host" not in ns.MinHash().record()
    assert "1/3" == ns.MinHash(boilerplate_per_host="1/3").record()["boilerplate_per_host"]


def test_spark_refuses_hosts_in_the_words_of_other_options() -> None:
    """URLs are not read there."""
    with pytest.raises(
        ns.ConfigError, match=r"boilerplate_per_host=0\.5 is about one machine, but the engine is Spark"
    ):
        Frames((), None, Keep.parse("first", "content", None)).hosts_by(0.5)


def test_a_run_that_was_stopped_goes_on_with_its_hosts(tmp_path: Path) -> None:
    """A work directory gives the same answer again, and refuses another share."""
    source, footer = tmp_path / "pages.jsonl", "all rights reserved by the owners of this very site"
    lines = [*_site("one.org", 25, footer), *_site("two.org", 25, footer)]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    method, workdir = ns.Jaccard(shingle_size=2, threshold=0.5, boilerplate_per_host=0.5), tmp_path / "work"
    one, two = (ns.dedup(source, method=method, workdir=workdir) for _ in range(2))
    assert (one.removals.to_pylist(), one.stats.dropped_by_host) == (
        two.removals.to_pylist(),
        two.stats.dropped_by_host,
    )
    assert 2 == one.stats.dropped_hosts
    with pytest.raises(ns.NearSameError, match="boilerplate_per_host"):
        ns.dedup(source, method=ns.Jaccard(shingle_size=2, threshold=0.5, boilerplate_per_host=0.9), workdir=workdir)


def test_lists_that_have_nothing_left_are_proved_as_well(tmp_path):
    """What is compared of such a list is all of it, and it counts as emptied; one that had nothing counts as bare."""
    lists = pa.array([["a"], ["a"], ["a", "b"], [], [None], ["c"]], pa.list_(pa.string()))
    source = pa.table({"id": [f"d{row}" for row in range(6)], "items": lists})
    method = ns.Jaccard(threshold=0.5, drop_boilerplate=2)
    ns.dedup(source, features_column="items", method=method).write(tmp_path / "out")
    verified = ns.verify(tmp_path / "out", source=source)
    assert () == verified.problems
