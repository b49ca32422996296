"""Layers of `--use` as steps on the cluster: who goes, by which layer, through whom and why, as on one machine."""

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.flow import pipeline
from nearsame.web.rules import UrlRule, UrlRules
from tests.frames.test_pages import crawl as pages
from tests.sparks import jobs_since, newest_job

METHOD = ns.Jaccard(threshold=0.6, shingle_size=2)
EVERY = "url,redirect,canonical,revisit,digest,text"
COUNTS = (
    "documents", "against", "text_bytes", "empty", "bare", "repeated_ids", "distinct", "features", "removed", "kept",
    "clusters", "exact_copies", "near_copies", "other_copies", "chained", "layers", "evidence", "same_host",
    "cross_host", "component", "pages", "notes", "decisions",
)  # fmt: skip


def crawl(seed, size=16):
    """Pages that are one by URLs, redirects, canonical links, revisits, bytes and texts, some in several copies."""
    draw = random.Random(seed)
    texts = [" ".join(draw.choice("abcdefgh") for _ in range(12)) for _ in range(4)]
    hosts, tails = ("a.org", "b.org", "www.a.org"), ("", "/", "/index.html", "?utm_source=q", "?sid=1", "#f")
    urls = [f"http://{draw.choice(hosts)}/{draw.choice('xyz')}{draw.choice(tails)}" for _ in range(size // 2)]
    rows = []
    for number in range(size):
        text = draw.choice([*texts, "", None, "!!!"])
        rows.append({
            "number": number,
            "id": f"d{number}",
            "where": draw.choice([*urls, None, ""]),
            "text": f"{text} {draw.choice('abz')}" if text and draw.random() < 0.4 else text,
            "redirect": draw.choice([*[None] * 4, "/y", draw.choice(urls), "x"]),
            "canonical": draw.choice([*[None] * 4, draw.choice(urls), "/z"]),
            "revisit_of": draw.choice([*[None] * 5, draw.choice(urls)]),
            "payload_digest": draw.choice([None, None, "sha1:AA", "sha1:BB"]),
            "group": draw.choice(["p", "q", None]),
            "date": draw.choice(["2020-01-01", "2021-05-06", None]),
        })  # fmt: skip
    kinds = [("number", pa.int64()), *((name, pa.string()) for name in rows[0] if name != "number")]
    return pa.Table.from_pylist([*rows, rows[1], rows[1], rows[3]], schema=pa.schema(kinds))


def answer(found, table):
    """Lines of removals and clusters, the rows that stay and go, and counts; without what rows are called."""
    lines = []
    for name in ("removals", "clusters"):
        rows = getattr(found, name)
        rows = rows if table else rows.toArrow()
        named = [column for column in rows.column_names if column.endswith(("source", "row"))]
        lines.append(sorted(map(repr, rows.drop_columns([*named, "cluster"]).to_pylist())))
    records = (rows if table else rows.toArrow() for rows in (found.kept(), found.removed()))
    lines.extend(sorted(rows.column("number").to_pylist()) for rows in records)
    counts = found.stats.record()
    return lines, {name: counts.get(name) for name in COUNTS}


def both(spark, source, **asked):
    """The answers of one machine and of the cluster."""
    here = ns.dedup(source, ties="content", url_column="where", **asked)
    frames = {name: spark.createDataFrame(asked[name]) for name in ("against",) if name in asked}
    there = ns.dedup(
        spark.createDataFrame(source).repartition(3, "number"),
        engine=ns.Spark(spark, driver_bytes=0), url_column="where", **{**asked, **frames},
    )  # fmt: skip
    answers = answer(here, table=True), answer(there, table=False)
    there.release()
    return answers


def test_layers_of_pages_are_those_of_one_machine(spark):
    """By URLs, guesses about them, canonical links, texts taken out of pages, and the method."""
    here, there = both(spark, pages(), html_column="html", use="url,canonical,digest,text", keep="longest")
    assert here == there
    assert {"url", "url-guess", "canonical", "digest", "text"} == {layer["layer"] for layer in here[1]["layers"]}


@pytest.mark.parametrize(
    ("seed", "asked"),
    [
        pytest.param(0, {"use": EVERY, "method": METHOD}, marks=pytest.mark.long),
        pytest.param(1, {"use": EVERY, "method": METHOD, "keep": "newest:date", "against": crawl(101, 8)},
                     marks=pytest.mark.long),
        (2, {"use": EVERY, "method": METHOD, "keep": "longest", "against": crawl(102, 8), "within": False}),
        (3, {"use": EVERY, "method": METHOD, "group_by": "group", "clusters": "components"}),
        pytest.param(4, {"use": "redirect,revisit,text", "method": METHOD, "group_by": "host"},
                     marks=pytest.mark.long),
        pytest.param(5, {"use": "redirect", "keep": "longest"}, marks=pytest.mark.long),
        pytest.param(6, {"use": "url,revisit,digest", "keep": "shortest"}, marks=pytest.mark.long),
        pytest.param(
            7, {"use": "url,text", "method": ns.MinHash(threshold=0.6, shingle_size=2, recall=0.99)},
            marks=pytest.mark.long,
        ),
        (8, {"use": "canonical,text", "method": "digest"}),
        pytest.param(9, {"use": "url,text", "method": METHOD, "urls": ns.CanonicalUrl(up_to="usual")},
                     marks=pytest.mark.long),
        pytest.param(10, {"use": "digest,text", "method": ns.Containment(threshold=0.8, shingle_size=2)},
                     marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_layers_are_those_of_one_machine(spark, seed, asked):
    """Whatever is asked of them, on documents of which some are the same in all columns."""
    here, there = both(spark, crawl(seed), **asked)
    assert here == there
    assert here[1]["removed"]


def sites():
    """Three paths and more of two hosts with the same texts, and one of a third; a parameter that does not matter."""
    texts = [" ".join(f"{word}{number}" for word in "abcdefghijkl") for number in range(5)]
    pages = [(f"https://{host}/{number}", text) for host in ("a.org", "b.org") for number, text in enumerate(texts)]
    pages += [("https://c.org/0", texts[0]), ("https://a.org/0?session=1", texts[0]), ("https://a.org/1?v=2", "other")]
    names = ("number", "id", "where", "text")
    rows = [(number, f"d{number}", *page) for number, page in enumerate(pages)]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.mark.parametrize("method", [METHOD, pytest.param(ns.Digest(), marks=pytest.mark.long)])
def test_mirrors_and_learnt_rules_are_those_of_one_machine(spark, method):
    """Two hosts with three paths of one text each are mirrors; what rules bring together goes if its text is near."""
    rules = UrlRules(ns.CanonicalUrl(), (UrlRule("a.org", parameters=("session",)), UrlRule("", parameters=("v",))))
    before = newest_job(spark)
    here, there = both(spark, sites(), use="url,digest,text", urls=rules, method=method)
    assert here == there
    assert 20 < len(jobs_since(spark, before)) <= 77  # some are read by `answer`
    assert 5 == here[1]["evidence"]["mirror"]
    assert 1 == here[1]["evidence"]["url-guess"]


def test_a_work_directory_keeps_the_steps_behind_layers(spark, tmp_path, monkeypatch):
    """The same call goes on with what the method knew; other layers, or other rules of URLs, are another run."""
    pq.write_table(crawl(22), tmp_path / "crawl.parquet")
    source = str(tmp_path / "crawl.parquet")
    asked = {"use": "url,digest,text", "url_column": "where", "method": METHOD}
    given = {**asked, "engine": ns.Spark(spark, driver_bytes=0), "workdir": tmp_path / "work"}
    with monkeypatch.context() as dying:
        dying.setattr(pipeline, "decide", _never)
        with pytest.raises(AssertionError):
            ns.dedup(source, **given)
    with monkeypatch.context() as resumed:
        resumed.setattr(pipeline, "_meet", _never)
        found = ns.dedup(source, **given)
    assert answer(ns.dedup(source, ties="content", **asked), table=True) == answer(found, table=False)
    found.release()
    for other in ({"use": "digest,text"}, {"urls": ns.CanonicalUrl(up_to="usual")}):
        with pytest.raises(ns.WorkdirError, match="belongs to another run"):
            ns.dedup(source, **{**given, **other})


def _never(*_args, **_kwargs):
    raise AssertionError("computed again")


def test_what_layers_write_is_what_they_say(spark, tmp_path):
    """Removed documents with their layers, kept ones as they came, and what makes the same run again."""
    source = crawl(20)
    found = ns.dedup(
        spark.createDataFrame(source), use=EVERY, method=METHOD, url_column="where",
        engine=ns.Spark(spark, driver_bytes=0),
    )  # fmt: skip
    stats = found.write(tmp_path / "out")
    assert source.num_rows == stats.removed + spark.read.parquet(str(tmp_path / "out/kept")).count()
    written = spark.read.parquet(str(tmp_path / "out/removed")).toArrow()
    assert sorted(map(repr, found.removals.toArrow().to_pylist())) == sorted(map(repr, written.to_pylist()))
    recipe = json.loads((tmp_path / "out/stats.json").read_text())["recipe"]
    assert recipe["use"] == ["url", "url-guess", "redirect", "canonical", "revisit", "digest", "text"]
    assert recipe["guesses"]["method"] == "jaccard"
    found.release()


def test_another_threshold_is_decided_behind_the_same_layers(spark):
    """As a run of its own would decide it."""
    asked = {"use": "url,digest,text", "url_column": "where"}
    source = crawl(21)
    low, engine = ns.Jaccard(threshold=0.5, shingle_size=2), ns.Spark(spark, driver_bytes=0)
    found = ns.dedup(spark.createDataFrame(source), method=low, engine=engine, **asked)
    here = ns.dedup(source, method=low, ties="content", **asked).at(threshold=0.9)
    assert answer(here, table=True) == answer(found.at(threshold=0.9), table=False)
    found.release()


@pytest.mark.parametrize("use", ["url", "redirect", "canonical", "revisit"])
def test_a_layer_without_its_column_is_refused(spark, use):
    """As on one machine, in the same words."""
    texts = pa.table({"text": ["a", "b"]})
    with pytest.raises(ns.ConfigError) as here:
        ns.dedup(texts, use=use)
    with pytest.raises(ns.ConfigError) as there:
        ns.dedup(spark.createDataFrame(texts), use=use, engine=ns.Spark(spark, driver_bytes=0))
    assert str(here.value) == str(there.value)


@pytest.mark.few
@pytest.mark.parametrize("url", ["array(url)", "struct(url)", "map('url', url)", "cast(null as void)"])
def test_lists_and_records_are_no_urls(spark, url):
    """As on one machine: nothing is known of them, and two are not one page."""
    table = spark.createDataFrame(pa.table({"url": ["http://a.org/"] * 2, "text": ["a", "b"]}))
    table = table.selectExpr(f"{url} as url", "text")
    for engine in ({"engine": ns.Spark(spark, driver_bytes=0)}, {"engine": ns.Spark(spark)}, {}):
        with pytest.raises(ns.ConfigError, match="no document has anything in the column 'url'"):
            ns.dedup(table if engine else table.toArrow(), use="url", **engine)


@pytest.mark.parametrize(
    "asked",
    [
        {"use": "url,text", "group_by": "host"},
        *(pytest.param(asked, marks=pytest.mark.long) for asked in ({"use": "url,text"}, {"keep": "newest:date"})),
    ],
)
def test_what_is_no_utf8_beside_the_text_stops_nobody(spark, asked):
    """A URL is known by its bytes, and a date is none: as on one machine."""
    odd = "cast(concat(cast('{}' as binary), unhex(if(number % 2 = 0, 'FF', 'FE'))) as string)"
    columns = ["number", "id", "text", f"{odd.format('http://a.org/')} as url"]
    columns.append(f"if(number % 3 = 0, {odd.format('2020')}, '2021-05-06') as date")
    frame = spark.createDataFrame(crawl(23)).selectExpr(*columns)
    there = ns.dedup(frame, method=METHOD, engine=ns.Spark(spark, driver_bytes=0), **asked)
    source = frame.selectExpr("* except (url, date)", "cast(url as binary) as url", "cast(date as binary) as date")
    table = source.toArrow()
    for name in ("url", "date"):  # strings as a careless writer makes them
        chunks = [pa.Array.from_buffers(pa.string(), len(one), one.buffers()) for one in table.column(name).chunks]
        table = table.set_column(table.column_names.index(name), name, pa.chunked_array(chunks))
    here = ns.dedup(table, method=METHOD, ties="content", **asked)
    lines = [sorted(map(repr, rows.select(["id", "witness_id", "similarity", "measure"]).to_pylist()))
             for rows in (here.removals, there.removals.toArrow())]  # fmt: skip
    assert lines[0] == lines[1]
    assert here.stats.record().get("layers") == there.stats.record().get("layers")
    there.release()


def test_redirects_that_lead_on_must_fit_into_what_is_broadcast(spark):
    """With their size, and what to do."""
    chain = [{"url": f"http://a.org/{number}", "redirect": f"/{number + 1}", "text": "t"} for number in range(9)]
    table = spark.createDataFrame(pa.Table.from_pylist(chain))
    with pytest.raises(ns.ConfigError, match=r"redirect take 1,840 bytes, more than broadcast_bytes=1,024"):
        ns.dedup(table, use="redirect", engine=ns.Spark(spark, driver_bytes=0, broadcast_bytes=1024))


def decided(seed, *, against, size=3):
    """Several crawls, each a group of its own; those that `against` has; and what somebody decided about them."""
    draw, sides, told = random.Random(seed), ([], []), []
    for number in range(size):
        names = []
        for rows, letter in zip(sides, "do" if against else "d", strict=False):
            every = crawl(100 * seed + 10 * number + len(rows), draw.choice([8, 14])).to_pylist()
            rows += [row | {"id": f"{letter}{number}.{row['id'][1:]}", "group": str(number)} for row in every]
            names += sorted({row["id"] for row in rows if row["group"] == str(number)})
        order = draw.sample(names, len(names))
        for pair in sorted({tuple(sorted(draw.sample(names, 2))) for _ in range(12)}):
            said = {"label": "no"} if draw.random() < 0.65 else {"keep": min(pair, key=order.index)}
            told.append({"id1": pair[0], "id2": pair[1], **said})
    frames = [pa.Table.from_pylist(rows, schema=crawl(0).schema) for rows in sides if rows]
    return frames[0], {"decisions": told, "group_by": "group", **({"against": frames[1]} if against else {})}


@pytest.mark.parametrize(
    ("seed", "against", "asked"),
    [
        (1, True, {"use": EVERY, "method": METHOD}),
        pytest.param(2, True, {"use": "url,digest,text", "method": METHOD, "within": False}, marks=pytest.mark.long),
        pytest.param(
            3, True, {"use": "redirect,revisit,text", "method": METHOD, "clusters": "components"},
            marks=pytest.mark.long,
        ),
        pytest.param(4, False, {"use": "url,text", "method": ns.Containment(threshold=0.8, shingle_size=2)},
                     marks=pytest.mark.long),
        pytest.param(5, True, {"use": "url,redirect,canonical,digest", "keep": "longest"}, marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_layers_obey_decisions_as_on_one_machine(spark, seed, against, asked):
    """Of copies, too, and of what went for a copy; and the counts are the same."""
    source, told = decided(seed, against=against)
    found = ns.dedup(source, ties="content", url_column="where", **asked, **told)
    here, there = both(spark, source, **asked, **told)
    assert here == there
    counts = found.stats.decisions
    assert counts["apart"]
    assert counts["chosen"]
    plain = ns.dedup(source, ties="content", url_column="where", **asked, **told | {"decisions": None})
    assert here[0] != answer(plain, table=True)[0]


@pytest.mark.long
def test_layers_of_pages_obey_decisions_as_on_one_machine(spark):
    """Two of one URL, two of one text, and one that is chosen."""
    told = [("d0", "d1", "no"), ("d2", "d6", "no"), ("d3", "d4", "d4"), ("d8", "d9", "no"), ("d7", "d0", "d7")]
    decisions = [{"id1": a, "id2": b, **({"label": "no"} if c == "no" else {"keep": c})} for a, b, c in told]
    asked = {"html_column": "html", "use": "url,canonical,digest,text", "decisions": decisions}
    here, there = both(spark, pages(), **asked)
    assert here == there


@pytest.mark.parametrize(
    ("pair", "sides"),
    [
        ("cf", 2),
        *(pytest.param(pair, sides, marks=pytest.mark.long)
          for pair, sides in [("cf", 1), ("fg", 1), ("fg", 2), ("bf", 1), ("bf", 2)]),
    ],
)  # fmt: skip
def test_what_is_told_passes_on_to_the_copies_of_a_witness(spark, pair, sides):
    """Of rows that are the same in all columns one was told apart: the other ones, of both sides, go all the same."""
    text = " ".join("abcdefghijkl")
    names = ("number", "id", "where", "text")
    rows = [(1, "b", "http://b.org/", text), (2, "c", "http://b.org/", "other"), *[(3, "x", "http://x.org/", text)] * 3,
            (4, "f", "http://x.org/", "another"), (5, "g", "http://g.org/", text)]  # fmt: skip
    old = [(6, "z", "http://z.org/", text), (6, "z", "http://z.org/", text)]
    source, against = (pa.table(dict(zip(names, map(list, zip(*of, strict=True)), strict=True))) for of in (rows, old))
    decisions = [{"id1": one, "id2": other, "label": "no"} for one, other in [pair, "fc"]]
    asked = {"use": "url,digest,text", "method": METHOD, "decisions": decisions}
    here, there = both(spark, source, **asked, **({"against": against} if sides == 2 else {}))
    assert here == there
