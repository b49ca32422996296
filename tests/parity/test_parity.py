"""Two engines, one answer: every method on one machine and on Spark, on corpora on which they could differ.

1. Compared are pairs, similarities, measures, clusters, keepers and the records that stay, all of them.
2. The priority is one that both know: a column of order, or the id and then the text.
3. How a table lies in partitions, and where Spark decides, must not matter: each layout and each way is tried.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nearsame as ns
from tests.examples import share
from tests.oracle.corpora import corpora as drawn
from tests.parity import corpora
from tests.parity.answers import deduplicated, difference, listed, local, on_spark

METHODS = {
    "digest": ns.Digest(),
    "jaccard": ns.Jaccard(threshold=0.6, shingle_size=2),
    "cosine": ns.Cosine(threshold=0.7, shingle_size=2),
    "weighted cosine": ns.Cosine(threshold=0.7, shingle_size=1, weights="tfidf"),
    "containment": ns.Containment(threshold=0.7, shingle_size=2),
    "minhash": ns.MinHash(threshold=0.6, shingle_size=2),
    "simhash": ns.SimHash(k=6),
    "modp": ns.ModP(threshold=0.6, shingle_size=2, modulus=3, floor=4),
    "hyperplane": ns.Hyperplane(threshold=0.95),
}
VARIANTS = {
    "digest of tokens": ns.Digest(normalise=True, algorithm="crc32"),
    "jaccard 1": ns.Jaccard(threshold=1),
    "jaccard 1/3": ns.Jaccard(threshold="1/3", shingle_size=3),
    "cosine 2/3": ns.Cosine(threshold="2/3", shingle_size=3),
    "containment with a floor": ns.Containment(threshold=0.7, shingle_size=2, jaccard_floor=0.4),
    "minhash estimated": ns.MinHash(threshold=0.6, shingle_size=2, verify="estimate"),
    "minhash classic": ns.MinHash(threshold=0.6, shingle_size=2, sketch="classic", bands=16, rows=4, choice="random"),
    "simhash confirmed by sets": ns.SimHash(k=12, confirm="jaccard", threshold=0.6),
    "simhash confirmed by cosine": ns.SimHash(k=12, confirm="cosine", weights="tf", threshold=0.7),
    "simhash confirmed by edits": ns.SimHash(k=12, confirm="edit", threshold=0.7),
    "jaccard confirmed by edits": ns.Jaccard(threshold=0.5, shingle_size=2, confirm="edit", confirm_threshold=0.85),
    "containment confirmed by cosine": ns.Containment(
        threshold=0.7, shingle_size=2, confirm="cosine", confirm_threshold="2/3"
    ),
    "modp confirmed by edits": ns.ModP(
        threshold=0.5, shingle_size=2, modulus=3, floor=4, confirm="edit", confirm_threshold=0.85
    ),
    "modp confirmed by sets": ns.ModP(threshold=0.5, shingle_size=2, modulus=3, floor=4, confirm="jaccard"),
    "cosine of frequencies, confirmed by edits": ns.Cosine(
        threshold="2/3", shingle_size=2, weights="tf", confirm="edit", confirm_threshold=0.6
    ),
    "cosine of frequencies, confirmed by sets": ns.Cosine(
        threshold="2/3", shingle_size=2, weights="tf", confirm="jaccard", confirm_threshold=0.5, drop_boilerplate=20
    ),
    "simhash of 128 bits": ns.SimHash(bits=128, k=8, search="rotations"),
    "boilerplate": ns.Jaccard(threshold=0.5, shingle_size=2, drop_boilerplate=20),
    "simhash tfidf": ns.SimHash(k=4, weights="tfidf"),
}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "1 partition": lambda frame: frame.repartition(1),
    "2 partitions": lambda frame: frame.repartition(2, "number"),
    "7 partitions": lambda frame: frame.repartition(7, "shown"),
    "skewed, some empty": lambda frame: frame.repartition(9, "skew"),
}
ALL_ROUNDS = {"driver_bytes": 0, "task_bytes": 0}  # nothing is few enough for one place
ROUNDS = {**ALL_ROUNDS, "rounds": 2}  # and the rest in order
WAYS = {
    "on the driver": {},
    "in rounds": ROUNDS,
    "in order, by one task": {"driver_bytes": 0, "rounds": 0},
    "with a small table": {**ROUNDS, "broadcast_bytes": 4096},
}


@pytest.fixture
def spark_with(spark):
    """How Spark is asked, with a layout and settings of its engine."""

    def make(layout: str = "2 partitions", **chosen: Any) -> Any:
        return on_spark(ns.Spark(spark, **chosen), lambda table: LAYOUTS[layout](spark.createDataFrame(table)))

    return make


@cache
def mixed(seed: int = 0) -> pa.Table:
    """The corpus of most tests here."""
    return corpora.mixed(seed)


@cache
def small() -> pa.Table:
    """A smaller one for the tests that always run."""
    return corpora.mixed(1, families=5, hot=8, links=8)


def same(ask: Any, source: pa.Table, **settings: Any) -> None:
    """Both engines give one answer, and it is not an empty one."""
    expected = deduplicated(local, source, **settings)
    assert {} == difference(expected, deduplicated(ask, source, **settings))
    assert expected.removals


@pytest.mark.usual
@pytest.mark.parametrize("method", ["jaccard", "simhash"])
def test_dedup_of_two_methods(method, spark_with):
    """With all kinds of policies and a column of order; the tests that take longer have all methods."""
    keep = "max:score, longest, newest:when"
    same(spark_with(), small(), method=METHODS[method], keep=keep, order_column="number")


@pytest.mark.usual
def test_pairs_with_a_direction(spark_with):
    """With similarities, and shares in both directions."""
    method = METHODS["containment"]
    expected = listed(local, small(), method=method)
    assert {} == difference(expected, listed(spark_with(), small(), method=method))
    assert expected


@pytest.mark.usual
def test_columns_of_the_other_side_have_their_own_names(spark):
    """As tests/flow/test_against_columns.py says of one machine."""
    new = spark.createDataFrame(
        [("a", "a rose is a rose", "x"), ("b", "nothing", "y")], "key string, body string, text string"
    )
    old = spark.createDataFrame([("n0", "a rose is a rose", "z")], "name string, text string, content string")
    names = {"text_column": "body", "id_column": "key", "against_text_column": "text", "against_id_column": "name"}
    found = ns.dedup(new, against=old, engine=ns.Spark(spark), **names)
    assert [("a", "n0")] == [(row["id"], row["witness_id"]) for row in found.removals.collect()]


@pytest.mark.usual
def test_names_of_folders_are_columns(tmp_path, spark):
    """Spark finds such folders itself; of one machine tests/sources/test_folder_keys.py says it."""
    for folder in ("year=2023", "year=2024", "year=999"):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table({"text": ["a rose is a rose"]}), tmp_path / folder / "part.parquet")
    found = ns.dedup(str(tmp_path), keep="max:year", engine=ns.Spark(spark))
    assert [2024] == [row["year"] for row in found.kept().collect()]


@pytest.mark.parametrize(
    ("place", "method"),
    [
        pytest.param(place, name, marks=[] if name in METHODS else pytest.mark.long)
        for place, name in enumerate([*METHODS, *VARIANTS])
    ],
)
def test_dedup_of_every_method(place, method, spark_with):
    """Each in another layout, and decided in another way."""
    recipe = METHODS.get(method) or VARIANTS[method]
    ask = spark_with([*LAYOUTS][place % 4], **[*WAYS.values()][place // 4 % 4])
    same(ask, mixed(), method=recipe, order_column="shown")


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=pytest.mark.long if way == "in rounds" else []) for way in WAYS]
)
def test_a_second_measure_by_every_way(way, spark_with):
    """Letters travel with the sets: to list pairs, and to decide with and without chains.

    The way with a small table decides in rounds, too.
    """
    method, ask = VARIANTS["jaccard confirmed by edits"], spark_with(**WAYS[way])
    expected = listed(local, small(), method=method)
    assert {} == difference(expected, listed(ask, small(), method=method))
    assert len(expected) < len(listed(local, small(), method=ns.Jaccard(threshold=0.5, shingle_size=2)))
    for clusters in ("greedy", "components"):
        same(ask, small(), method=method, clusters=clusters, order_column="number")


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(name, marks=[] if name in ("jaccard", "minhash", "simhash", "hyperplane") else pytest.mark.long)
        for name in METHODS
    ],
)
def test_pairs_of_every_method(method, spark_with):
    """All of them, none twice; each kind of keys has a method that is not long (the one in another is usual)."""
    expected = listed(local, mixed(), method=METHODS[method])
    assert {} == difference(expected, listed(spark_with("7 partitions"), mixed(), method=METHODS[method]))
    assert expected


@pytest.mark.long
@pytest.mark.parametrize("way", {**WAYS, "in rounds to the end": ALL_ROUNDS})
def test_wherever_spark_decides(way, spark_with):
    """By the driver, in rounds or in order: the same keepers and witnesses."""
    way = {**WAYS, "in rounds to the end": ALL_ROUNDS}[way]
    same(spark_with("skewed, some empty", **way), mixed(), method=METHODS["jaccard"], order_column="shown")


@pytest.mark.long
@pytest.mark.parametrize("layout", LAYOUTS)
def test_however_documents_lie(layout, spark_with):
    """Without a column of order: the id decides, then the text."""
    same(spark_with(layout), mixed(2), method=METHODS["jaccard"], ties="content")


@pytest.mark.long
@pytest.mark.parametrize(
    ("keep", "clusters"),
    [
        ("last", "greedy"),
        ("longest", "components"),
        ("shortest", "greedy"),
        ("max:score", "greedy"),
        ("min:score", "components"),
        ("newest:when", "greedy"),
        ("oldest:when", "components"),
        ("max:score, longest, oldest:when", "greedy"),
        ("shortest, newest:when, min:score", "components"),
    ],
)
def test_every_policy(keep, clusters, spark_with):
    """Nulls last, ties by order or by content, and both kinds of clusters."""
    ties = {"order_column": "number"} if keep == "last" else {"ties": "content"}
    way = ROUNDS if clusters == "components" else {}
    same(spark_with(**way), mixed(), method=METHODS["jaccard"], keep=keep, clusters=clusters, **ties)


@pytest.mark.parametrize(
    ("method", "within"),
    [
        ("jaccard", True),
        pytest.param("simhash", False, marks=pytest.mark.long),
        pytest.param("containment", True, marks=pytest.mark.long),
    ],
)
def test_against_another_side(method, within, spark_with):
    """All of it stays, in every answer, and pairs are across."""
    judged, other = mixed().slice(40), mixed().slice(0, 60)
    given = {"method": METHODS[method], "against": other, "within": within, "order_column": "number"}
    same(spark_with("7 partitions", **ROUNDS), judged, **given)
    expected = listed(local, judged, method=METHODS[method], against=other)
    assert {} == difference(expected, listed(spark_with(), judged, method=METHODS[method], against=other))


@pytest.mark.long
def test_containers_of_what_is_tested(spark_with):
    """The reverse direction, across sides."""
    method = ns.Containment(threshold=0.7, shingle_size=2, remove="container")
    judged, other = mixed().slice(40), mixed().slice(0, 60)
    same(spark_with(), judged, method=method, against=other, order_column="number")


def test_pairs_of_identical_documents_as_a_star(spark_with):
    """Of each group the first by the order column, or by id and text, is paired with the others."""
    table = corpora.table(["a text that stands here often"] * 30 + ["another that is here twice"] * 2)
    for ties in ({"order_column": "shown"}, {"ties": "content"}):
        expected = listed(local, table, method=METHODS["jaccard"], identical="star", **ties)
        assert {} == difference(
            expected, listed(spark_with(), table, method=METHODS["jaccard"], identical="star", **ties)
        )
        assert 30 == expected.total()


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_a_higher_threshold(way, spark_with):
    """Decided again, not filtered."""
    ask = spark_with(**WAYS[way])
    given = {"method": METHODS["jaccard"], "order_column": "number", "higher": "0.9"}
    assert {} == difference(deduplicated(local, mixed(), **given), deduplicated(ask, mixed(), **given))


def test_a_hot_bucket(spark_with):
    """A template of 5,000 documents, of which one stays."""
    same(spark_with(**ROUNDS), corpora.template(5000), method=ns.Jaccard(), order_column="number")


@pytest.mark.parametrize(
    "clusters",
    ["greedy", pytest.param("components", marks=pytest.mark.long)],
)
def test_a_long_chain(clusters, spark_with):
    """10,000 links: more than any rounds can do for the one, and far to go for the other."""
    table = corpora.chain(10_000)
    same(spark_with(**ROUNDS), table, method=ns.Jaccard(), clusters=clusters, order_column="number")


@pytest.mark.long
@settings(max_examples=share(4), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(texts=drawn(), method=st.sampled_from([*METHODS]), layout=st.sampled_from([*LAYOUTS]))
def test_corpora_drawn_by_chance(texts, method, layout, spark_with):
    """Texts in many scripts, nulls, copies, whatever Hypothesis thinks of."""
    table, given = corpora.table(texts), {"method": METHODS[method], "ties": "content"}
    ask = spark_with(layout, **ROUNDS)
    assert {} == difference(deduplicated(local, table, **given), deduplicated(ask, table, **given))
