"""One answer: every method on both engines, over a corpus with ties, copies, empty texts and repeated ids."""

from typing import Any

import pytest

import nearsame as ns
from nearsame.flow import pipeline

pytestmark = [  # pyspark leaves the sockets of what it fetched to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_METHODS = {
    "digest": ns.Digest(),
    "digest-weak": ns.Digest(algorithm="crc32"),
    "jaccard": ns.Jaccard(),
    "cosine": ns.Cosine(),
    "weighted cosine": ns.Cosine(shingle_size=1, weights="tfidf"),
    "containment": ns.Containment(),
    "confirmed": ns.Jaccard(threshold=0.6, confirm="edit", confirm_threshold=0.9),
    "minhash": ns.MinHash(),
    "minhash-estimate": ns.MinHash(verify="estimate"),
    "modp": ns.ModP(),
    "simhash": ns.SimHash(k=6),
    "simhash-tfidf": ns.SimHash(k=6, weights="tfidf", confirm="jaccard"),
}
_QUICK = ("jaccard",)


def _marks(name: str) -> list[Any]:
    """The rest takes a session of Spark a few seconds each."""
    return [] if name in _QUICK else [pytest.mark.long]


Rows = list[dict[str, Any]]


def corpus() -> Rows:
    """Near and exact copies, a container, empty texts, texts without tokens, ids that repeat."""
    rows: Rows = []
    for group in range(40):
        words = [f"w{group * 100 + place}" for place in range(30 + group)]
        for copy in range(group % 4 + 1):
            text = " ".join([*words, *(f"tail{copy}" for _ in range(copy % 3))])
            rows.append({"id": f"d{len(rows) % 97:03d}", "text": text, "n": (len(rows) * 37) % 61})
    rows += [{"id": "e1", "text": "", "n": 1}, {"id": "e2", "text": None, "n": None}]
    rows += [
        {"id": "x", "text": "!!!", "n": 2},
        {"id": "y", "text": "!!!", "n": 3},
        {"id": None, "text": "!!!", "n": 1},
    ]
    rows += [{"id": "same", "text": "w0 w1 w2 w3 w4 w5 w6 same", "n": 9}] * 3
    rows.append({"id": "part", "text": " ".join(f"w{place}" for place in range(12)), "n": 5})
    return rows


def frame(spark: Any, rows: Rows, parts: int = 3) -> Any:
    """The rows as a DataFrame."""
    values = [tuple(row.values()) for row in rows]
    return spark.createDataFrame(values, "id string, text string, n int").repartition(parts)


def decisions(table: Any) -> list[tuple[Any, ...]]:
    """Removed documents with their witnesses, whatever the engine."""
    rows = table.to_pylist() if hasattr(table, "to_pylist") else [row.asDict() for row in table.collect()]
    return sorted((_id(row["id"]), _id(row["witness_id"]), row["similarity"], row["measure"]) for row in rows)


def listed(table: Any) -> list[tuple[Any, ...]]:
    """Pairs, whatever the engine and whichever side it puts first."""
    rows = table.to_pylist() if hasattr(table, "to_pylist") else [row.asDict() for row in table.collect()]
    found = []
    for row in rows:
        beside = {name: value for name, value in row.items() if name.endswith(("_in_b", "_in_a"))}
        one, other = _id(row["a_id"]), _id(row["b_id"])
        values = sorted(beside.items()) if one <= other else sorted(
            (name.replace("a_in_b", "?").replace("b_in_a", "a_in_b").replace("?", "b_in_a"), value)
            for name, value in beside.items()
        )  # fmt: skip
        if one == other:
            values = sorted(value for _, value in values)
        found.append((*sorted((one, other)), row["similarity"], row["measure"], row.get("exact"), values))
    return sorted(found, key=repr)


def _id(name: str) -> str:
    """An id, or that there is none: default ids differ between engines."""
    return "?" if ":" in name or name.isdigit() else name


@pytest.mark.parametrize("name", [pytest.param(name, marks=_marks(name)) for name in _METHODS])
def test_both_engines_remove_the_same_documents_for_the_same_reasons(spark, name):
    """Documents, witnesses, similarities and counts are those of one machine."""
    here = ns.dedup(corpus(), method=_METHODS[name], ties="content", audit=False)
    there = ns.dedup(frame(spark, corpus()), method=_METHODS[name], engine=ns.Spark(spark))
    assert decisions(here.removals) == decisions(there.removals)
    counts = ("documents", "removed", "kept", "exact_copies", "near_copies", "clusters", "distinct", "empty", "bare",
              "repeated_ids", "text_bytes", "features")  # fmt: skip
    assert {key: getattr(here.stats, key) for key in counts} == {key: getattr(there.stats, key) for key in counts}
    there.release()


@pytest.mark.parametrize("name", [pytest.param(name, marks=_marks(name)) for name in _METHODS])
def test_both_engines_list_the_same_pairs(spark, name):
    """Pairs, similarities and the columns that a method alone has."""
    here = ns.pairs(corpus(), method=_METHODS[name], audit=False)
    there = ns.pairs(frame(spark, corpus()), method=_METHODS[name], engine=ns.Spark(spark))
    assert listed(here.table) == listed(there.table)
    there.release()


@pytest.mark.parametrize("name", ["jaccard", pytest.param("minhash", marks=pytest.mark.long)])
@pytest.mark.parametrize("group_by", ["lang", pytest.param("host", marks=pytest.mark.long)])
def test_groups_are_the_same_on_both_engines(spark, name, group_by):
    """Copies and near copies in several groups and in none; what is measured knows groups, too."""
    hosts = ["x", "http://A.org/1", "https://a.org:80/2", "ftp://b.org"]
    column, values = ("url", hosts) if group_by == "host" else (group_by, [None, "en", "de"])
    rows = [row | {"n": str(at), column: values[at // 2 % len(values)]} for at, row in enumerate(corpus())]
    asked = {"method": _METHODS[name], "group_by": group_by, "audit": True}
    here = ns.dedup(rows, ties="content", **asked)
    columns = f"id string, text string, n string, {column} string"
    data = spark.createDataFrame([tuple(row.values()) for row in rows], columns)
    there = ns.dedup(data, engine=ns.Spark(spark), **asked)
    assert decisions(ns.dedup(rows, ties="content", **asked | {"group_by": None}).removals) != decisions(here.removals)
    assert decisions(here.removals) == decisions(there.removals)
    measured = there.stats.record()["audit"]
    exact = there.stats.exact_copies, measured["recall"]["value"], measured["residual"]["value"]
    assert (here.stats.exact_copies, 1.0, 0.0) == exact
    there.release()


@pytest.mark.parametrize(
    "keep", ["longest", *(pytest.param(each, marks=pytest.mark.long) for each in ("shortest", "min:n", "max:n"))]
)
def test_priority_is_the_same_on_both_engines(spark, keep):
    """Whatever decides who stays, nulls last and ties by id and text."""
    here = ns.dedup(corpus(), keep=keep, ties="content", audit=False)
    there = ns.dedup(frame(spark, corpus(), 2), keep=keep, engine=ns.Spark(spark))
    assert decisions(here.removals) == decisions(there.removals)
    there.release()


def test_an_order_that_is_written_in_its_one_place_holds_on_both_engines(spark, monkeypatch):
    """Here the greatest hash of a text stays: another answer than any policy's, and the same on both."""
    usual = decisions(ns.dedup(corpus(), ties="content", audit=False).removals)
    monkeypatch.setattr(pipeline, "order_of", lambda *_, **__: (("digest_a", False), ("id", False), ("row", True)))
    here = ns.dedup(corpus(), ties="content", audit=False)
    there = ns.dedup(frame(spark, corpus(), 2), engine=ns.Spark(spark))
    assert usual != decisions(here.removals)
    assert decisions(here.removals) == decisions(there.removals)
    there.release()


@pytest.mark.long
@pytest.mark.parametrize("keep", ["first", "last", "longest"])
def test_an_order_column_takes_the_place_of_the_order_of_reading(spark, keep):
    """On both engines, where a DataFrame has no order of its own."""
    here = ns.dedup(corpus(), keep=keep, order_column="n", audit=False)
    there = ns.dedup(frame(spark, corpus(), 5), keep=keep, order_column="n", engine=ns.Spark(spark))
    assert decisions(here.removals) == decisions(there.removals)
    there.release()


@pytest.mark.long
@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize("method", [ns.Jaccard(), ns.Containment(), ns.Digest()], ids=lambda recipe: recipe.name)
def test_two_sides_are_the_same_on_both_engines(spark, method, within):
    """The against side stays; without `within` only it removes."""
    old, new = corpus()[::2], corpus()[1::2] + corpus()[:5]
    here = ns.dedup(new, against=old, within=within, method=method, ties="content", audit=False)
    there = ns.dedup(
        frame(spark, new), against=frame(spark, old, 2), within=within, method=method, engine=ns.Spark(spark)
    )
    assert decisions(here.removals) == decisions(there.removals)
    assert (here.stats.kept, here.stats.against) == (there.stats.kept, there.stats.against)
    there.release()


def test_kept_and_removed_documents_are_rows_of_the_frame(spark):
    """With all their columns, each row as often as it was given in all."""
    given = frame(spark, corpus())
    found = ns.dedup(given, engine=ns.Spark(spark))
    stay, go = found.kept(), found.removed()
    assert given.columns == stay.columns == go.columns
    rows = lambda table: sorted(map(repr, table.collect()))  # noqa: E731
    assert rows(given) == sorted(rows(stay) + rows(go))
    assert (found.stats.kept, found.stats.removed) == (stay.count(), go.count())
    found.release()


def test_decisions_about_documents_that_met_nobody_are_not_obeyed(spark):
    """They are compared with nothing, and not with what stands before them."""
    text = "one two three four five six seven eight nine ten"
    rows = [{"id": "a0", "text": text, "n": 0}, {"id": "b", "text": f"{text} more", "n": 0}]
    rows += [{"id": f"a{at}", "text": " ".join(f"{word}{at}" for word in "abcdefgh"), "n": 0} for at in range(1, 9)]
    told = [{"id1": f"a{at}", "id2": "b", "label": "no"} for at in range(9)]
    asked = {"method": ns.Jaccard(threshold=0.5), "decisions": told}
    there = ns.dedup(frame(spark, rows), engine=ns.Spark(spark, driver_bytes=0), **asked)
    assert ns.dedup(rows, ties="content", **asked).stats.decisions == there.stats.decisions
    assert (1, 8) == (there.stats.decisions["apart"], there.stats.decisions["not_similar"])
    there.release()


def judged() -> Rows:
    """Five documents that are the same, or nearly."""
    text = "one two three four five six seven eight nine ten"
    return [{"id": name, "text": f"{text} {'more' * (name > 'c')}", "n": 0} for name in "abcde"]


@pytest.mark.parametrize("driver_bytes", [0, pytest.param("64 MB", marks=pytest.mark.long)])
def test_what_people_have_decided_is_obeyed_on_both_engines(spark, driver_bytes, tmp_path):
    """Copies of one text that are apart, and a chosen one; counted alike."""
    rows = judged()
    decided = [("a", "b", "no", ""), ("a", "e", "yes", "e"), ("d", "x", "no", "")]
    (tmp_path / "decided.tsv").write_text("id1\tid2\tlabel\tkeep\n" + "".join("\t".join(one) + "\n" for one in decided))
    asked = {"method": ns.Jaccard(threshold=0.5), "decisions": tmp_path / "decided.tsv"}
    here = ns.dedup(rows, ties="content", **asked)
    engine = ns.Spark(spark, driver_bytes=driver_bytes)
    there = ns.dedup(frame(spark, rows), engine=engine, **asked)
    assert decisions(here.removals) == decisions(there.removals)
    assert here.stats.decisions == there.stats.decisions
    assert ["x"] == there.stats.decisions["lost_ids"]
    with pytest.raises(ns.OutputError, match=r"decided\.tsv"):
        there.write(tmp_path, overwrite=True)
    there.release()


def test_a_document_without_an_id_is_called_by_its_row_where_people_decide(spark):
    """As the list of removals has it."""
    nameless = frame(spark, [{**row, "id": None, "n": at} for at, row in enumerate(judged())])
    asked = {"method": ns.Jaccard(threshold=0.5), "engine": ns.Spark(spark)}
    one, other = (row["row"] for row in ns.dedup(nameless, **asked).removals.collect()[:2])
    found = ns.dedup(nameless, decisions=[{"id1": str(one), "id2": str(other), "label": "no"}], **asked)
    assert (1, 0) == (found.stats.decisions["apart"], found.stats.decisions["lost"])
    found.release()


@pytest.mark.parametrize(
    ("clusters", "driver_bytes"),
    [
        ("greedy", "64 MB"),
        ("components", 0),
        pytest.param("greedy", 0, marks=pytest.mark.long),
        pytest.param("components", "64 MB", marks=pytest.mark.long),
    ],
)
def test_a_copy_told_apart_from_one_of_the_against_side_meets_the_others(spark, clusters, driver_bytes):
    """As on one machine, with the similarity to the one that removes it."""
    whole = "one two three four five six seven eight nine ten"
    half = whole.removesuffix(" nine ten")
    old, new = ([{"id": f"{side}{at}", "text": text, "n": 0} for at, text in enumerate(texts)]
                for side, texts in (("o", [whole, half]), ("d", [half, half, half])))  # fmt: skip
    apart = [{"id1": "o1", "id2": name, "label": "no"} for name in ("d0", "d2")]
    asked = {"method": ns.Jaccard(threshold=0.7, shingle_size=2), "clusters": clusters, "decisions": apart}
    here = ns.dedup(new, against=old, ties="content", **asked)
    engine = ns.Spark(spark, driver_bytes=driver_bytes)
    there = ns.dedup(frame(spark, new), against=frame(spark, old), engine=engine, **asked)
    assert decisions(here.removals) == decisions(there.removals)
    assert ["o0", "o1", "o0"] == here.removals.column("witness_id").to_pylist()
    assert here.stats.decisions == there.stats.decisions
    assert here.stats.component == there.stats.component
    there.release()


@pytest.mark.few
@pytest.mark.parametrize(
    ("apart", "by_cluster"),
    [
        ([], False),
        ([("a", "b")], False),
        ([("a", "c")], False),
        ([("b", "z")], False),
        ([("d", "z"), ("x", "z")], True),
    ],
)
def test_layers_obey_what_people_have_decided_on_both_engines(spark, apart, by_cluster):
    """`use=` on the driver, and by the cluster: in each layer, handed on to whom one went for, counted alike."""
    text = " ".join(f"word{n}" for n in range(60))
    urls = ["https://z.org/", "https://a.org/", "http://a.org/?utm_source=mail", "https://c.org/", "https://d.org/"]
    texts = [f"{text} end", text, "another text altogether", text, "another text altogether"]
    rows = list(zip("zabcd", urls, texts, strict=True))
    told: list[dict[str, str]] = [{"id1": one, "id2": other, "label": "no"} for one, other in apart]
    told.append({"id1": "c", "id2": "z", "keep": "c"})
    asked = {"use": "url,digest,text", "decisions": told}
    here = ns.dedup([dict(zip(("id", "url", "text"), row, strict=True)) for row in rows], ties="content", **asked)
    given = spark.createDataFrame(rows, "id string, url string, text string")
    engine = ns.Spark(spark, driver_bytes=0) if by_cluster else ns.Spark(spark)
    there = ns.dedup(given, engine=engine, **asked)
    assert decisions(here.removals) == decisions(there.removals)
    assert by_cluster == (there.stats.room.get("documents") != "driver")
    assert here.stats.decisions == there.stats.decisions
    assert len(told) == there.stats.decisions["read"]
    there.release()


def test_another_threshold_is_decided_on_what_is_kept(spark):
    """As a run of its own would decide it; a lower one is refused."""
    found = ns.dedup(frame(spark, corpus()), method=ns.Jaccard(threshold=0.6), engine=ns.Spark(spark))
    here = ns.dedup(corpus(), method=ns.Jaccard(threshold=0.9), ties="content", audit=False)
    assert decisions(here.removals) == decisions(found.at(threshold=0.9).removals)
    with pytest.raises(ns.ConfigError, match=r"threshold=0.5 is below the run's own, 0.6"):
        found.at(threshold=0.5)
    found.release()
