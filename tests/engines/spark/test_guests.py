"""A run is a guest in the user's session: what it takes it gives back, what cannot be trusted it refuses."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

import nearsame as ns
from nearsame.engines.spark import settings
from nearsame.engines.spark.plans import changing
from nearsame.engines.spark.verbs import Verbs
from tests import sparks
from tests.engines.spark.test_parity_with_local import corpus, decisions, frame

pytestmark = [  # pyspark leaves the sockets of what it fetched to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_JOINED = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
_TEXT = "one two three four five six"


def _of_connect(kind):
    """What can be seen of a session or a frame of Spark Connect without its packages."""
    return type("OfConnect", (), {"__module__": f"pyspark.sql.connect.{kind}", "mapInArrow": None})()


def _texts(spark, *columns):
    two = spark.createDataFrame([("a", _TEXT), ("b", f"{_TEXT} seven eight nine")], "id string, text string")
    return two.selectExpr("*", *columns)


def test_numbers_do_not_depend_on_where_a_task_stands(spark, setting):
    """Nothing is shuffled between numbering and a union of what was numbered, and all is computed anew."""
    setting("spark.sql.defaultSizeInBytes", "1")
    found = ns.dedup(frame(spark, corpus(), 4), engine=ns.Spark(spark))
    removed, kept = decisions(found.removals), found.kept().count()
    assert removed == decisions(ns.dedup(corpus(), ties="content", audit=False).removals)
    found.release()
    assert (decisions(found.removals), found.kept().count()) == (removed, kept)


@pytest.mark.parametrize(
    ("column", "what"),
    [
        ("current_timestamp() as loaded", "current_timestamp()"),
        ("date_add(current_date(), 1) as until", "current_date()"),
        ("concat(id, uuid()) as name", "uuid()"),
        ("round(rand() * 10) as part", "rand()"),
    ],
)
def test_rows_that_are_others_each_time_are_refused(spark, column, what):
    """Where they hide, too: behind a condition, beside a join."""
    given = _texts(spark, column)
    hidden = given.filter("text <> ''").join(_texts(spark, "1 as n").select("id", "n"), "id")
    for source in (given, hidden):
        with pytest.raises(ns.SourceError) as caught:
            ns.dedup(source, engine=ns.Spark(spark))
        assert caught.value.message.startswith(f"the DataFrame has {what}, so its rows differ each time")
        assert "Persist it" in caught.value.hint


def test_lots_that_a_condition_draws_are_refused(spark):
    """The time that it asks for is not."""
    assert changing(_texts(spark).filter("rand() < 0.5")) == "rand()"
    assert changing(_texts(spark).filter("current_date() > date '2000-01-01'")) is None


@pytest.mark.parametrize("word", ["user", "database", "catalog", "timezone"])
def test_what_a_session_says_of_itself_stays_the_same(spark, word):
    """Spark counts it with what says the time."""
    assert changing(_texts(spark, f"upper(current_{word}()) as loaded")) is None
    assert changing(_texts(spark, f"concat(current_{word}(), now()) as loaded")) is not None


def test_rows_that_only_look_like_chance_are_taken(spark, tmp_path):
    """What is persisted, what lies in files, and where a row stands in them."""
    kept = _texts(spark, "current_timestamp() as loaded").persist()
    assert changing(kept) is None
    kept.write.parquet(str(tmp_path / "two"))
    kept.unpersist()
    read = spark.read.parquet(str(tmp_path / "two")).selectExpr("*", "input_file_name() as file")
    assert (
        changing(read.selectExpr("*", "monotonically_increasing_id() as number", "rand(7) is null as no")) == "rand()"
    )
    assert changing(read.selectExpr("*", "monotonically_increasing_id() as number")) is None


def test_a_stream_is_refused(spark):
    """It has no end."""
    stream = spark.readStream.format("rate").load().selectExpr("cast(value as string) as text")
    with pytest.raises(ns.SourceError, match="the DataFrame is a stream, which has no end"):
        ns.dedup(stream, engine=ns.Spark(spark))


@pytest.mark.parametrize(
    ("session", "message"),
    [
        ("local[2]", "session='local\\[2\\]' is not a SparkSession"),
        (SimpleNamespace(sparkContext=SimpleNamespace(_jsc=None)), "the Spark session has been stopped"),
        (_of_connect("session"), "a session of Spark Connect cannot broadcast tables to Python functions"),
    ],
)
def test_what_is_no_session_that_runs_is_refused(spark, session, message):
    """With what to give instead."""
    with pytest.raises(ns.ConfigError, match=message):
        ns.dedup(_texts(spark), engine=ns.Spark(session))


@pytest.mark.parametrize("side", ["source", "against"])
def test_a_frame_of_connect_is_refused_and_no_session_is_started_for_it(side, monkeypatch):
    """Where notebooks have Connect, a classic session may not start at all."""
    sparks.require_java()
    monkeypatch.setattr(settings, "_found", lambda: pytest.fail("a session was looked for"))
    given = {"source": ["a"], "against": ["b"], side: _of_connect("dataframe")}
    for ask in (ns.dedup, ns.pairs):
        with pytest.raises(ns.ConfigError, match="Spark Connect cannot broadcast tables"):
            ask(given["source"], against=given["against"], engine=ns.Spark())


def test_texts_that_are_no_utf8_are_told_of(spark):
    """They stay; with `strict` they are an error."""
    good = _texts(spark).selectExpr("id", "cast(text as binary) as text")
    given = good.union(spark.sql("select 'x', x'ff' union all select 'x', x'ff'"))
    found = ns.dedup(given, engine=ns.Spark(spark))
    told = (
        "the DataFrame: 2 texts are not UTF-8, or of more than 67,108,864 bytes: "
        "these documents stay, and are compared with nothing"
    )
    assert told in found.stats.notes
    assert (found.stats.documents, found.stats.kept) == (4, 4)
    found.release()
    with pytest.raises(ns.SourceError, match="the DataFrame: 2 texts are not UTF-8"):
        ns.pairs(given, strict=True, engine=ns.Spark(spark))
    fine = ns.dedup(_texts(spark), strict=True, engine=ns.Spark(spark))
    assert not any("UTF-8" in note for note in fine.stats.notes)
    fine.release()


def _stored(spark):
    """Of each frame that is kept: bytes in memory, and on disks."""
    told = spark.sparkContext._jsc.sc().getRDDStorageInfo()
    return {each.id(): (each.memSize(), each.diskSize()) for each in told}


def _num_kept(spark):
    return len(spark.sparkContext._jsc.getPersistentRDDs())


def test_a_run_that_fails_keeps_nothing(spark):
    """Nobody could give it back."""
    before = _num_kept(spark)
    with pytest.raises(ns.TooManyPairsError):
        ns.pairs(frame(spark, corpus()), max_pairs=1, engine=ns.Spark(spark))
    assert _num_kept(spark) == before


def test_what_is_kept_takes_none_of_javas_memory(spark):
    """It is needed for what has no other place, and nobody knows how much else lies there."""
    before = _stored(spark)
    found = ns.dedup(frame(spark, corpus()), engine=ns.Spark(spark, driver_bytes=0, task_bytes=0))
    kept = {number: each for number, each in _stored(spark).items() if number not in before}
    assert {0} == {memory for memory, _ in kept.values()}
    assert sum(disk for _, disk in kept.values()) > 0
    found.release()


def test_what_deciding_shuffles_is_told(spark):
    """Not only what it takes to bring documents together."""
    told = []
    for where in ({}, {"driver_bytes": 0, "task_bytes": 0}):
        verbs = Verbs(ns.Spark(spark), spark)
        before = verbs.shuffled_bytes()
        found = ns.dedup(frame(spark, corpus()), audit=False, engine=ns.Spark(spark, **where))
        told.append(found.stats.room["shuffle"]["written_bytes"])
        assert told[-1] <= verbs.shuffled_bytes() - before
        found.release()
    assert told[1] > 1.5 * told[0] > 0


def test_settings_are_left_as_they_were(spark):
    """Set or not, and by several runs at once."""
    assert spark.conf.get(_JOINED, None) is None

    def keep(_):
        verbs = Verbs(ns.Spark(spark), spark)
        for _ in range(10):
            verbs.keep(spark.range(10))
        verbs.release()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(keep, range(4)))
    assert spark.conf.get(_JOINED, None) is None


def test_words_that_sql_reserves_are_no_trouble(spark, setting):
    """Nor are names of columns with signs of its own."""
    setting("spark.sql.ansi.enforceReservedKeywords", "true")
    given = _texts(spark, "'2024-01-01' as `we``n`")
    found = ns.dedup(given, keep="newest:we`n", engine=ns.Spark(spark))
    assert found.stats.kept == 2
    found.release()


@pytest.mark.parametrize(("kind", "fits"), [("decimal(10,2)", True), ("decimal(20,10)", False)])
def test_ids_that_engines_spell_differently_are_refused(spark, kind, fits):
    """Small decimals have an exponent on one machine."""
    given = _texts(spark).selectExpr("text", f"cast(1 as {kind}) as id")
    if fits:
        found = ns.dedup(given, engine=ns.Spark(spark))
        assert found.stats.documents == 2
        found.release()
        return
    with pytest.raises(ns.NearSameError, match="which Spark spells in its own way"):
        ns.dedup(given, engine=ns.Spark(spark))


def test_frequencies_are_those_of_one_machine(spark):
    """To weigh the features of a later run."""
    method = ns.SimHash(k=6, weights="tfidf")
    here = ns.dedup(corpus(), method=method, ties="content", audit=False)
    there = ns.dedup(frame(spark, corpus()), method=method, engine=ns.Spark(spark), audit=False)
    assert here.frequencies.to_pydict() == there.frequencies.to_pydict()
    there.release()


def test_files_of_no_known_format_are_counted(spark, tmp_path):
    """As on one machine."""
    (tmp_path / "a.jsonl").write_text(f'{{"text": "{_TEXT}"}}\n', "utf-8")
    (tmp_path / "b.what").write_text("?", "utf-8")
    there = ns.dedup(str(tmp_path), engine=ns.Spark(spark))
    assert (there.num_ignored, there.stats.documents) == (ns.dedup(str(tmp_path)).num_ignored, 1) == (1, 1)
    there.release()


def test_nothing_to_read_starts_no_session(monkeypatch):
    """What is wrong is told first."""
    monkeypatch.setattr(ns.Spark, "connected", lambda _: pytest.fail("a session was started"))
    with pytest.raises(ns.SourceError, match="source=None is nothing to read"):
        ns.dedup(None, engine=ns.Spark())
