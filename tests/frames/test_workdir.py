"""A work directory on Spark: after a driver that died the same call goes on, and what is not the same is refused."""

from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.engines.spark import stored as stored_module
from nearsame.engines.spark.places import place_at
from nearsame.engines.spark.stored import Stored, stamps
from nearsame.flow import pipeline
from nearsame.frames import corpus, request
from nearsame.frames.workdir import stored_steps
from tests.frames.test_archive_layers import answer, crawl
from tests.frames.test_layers import METHOD
from tests.sparks import with_damaged_footers

_START = "the council met on monday to talk about the new bridge and its cost over many years to come"


@pytest.fixture
def folder(tmp_path):
    """Two files of documents."""
    texts = [_START, f"{_START} again", f"{_START} again and again", "", None, "a b c", f"{_START} again"]
    (tmp_path / "crawl").mkdir()
    for number in range(2):
        mine = texts[number::2]
        table = pa.table({"id": [f"{number}-{row}" for row in range(len(mine))], "text": mine})
        pq.write_table(table, tmp_path / "crawl" / f"part-{number}.parquet")
    return tmp_path


def _never(*_args, **_kwargs):
    raise AssertionError("computed again")


def _resumed(ask, monkeypatch, module, function):
    """What a call gives after one that died in a function; whatever was finished before that is not computed again."""
    with monkeypatch.context() as dying:
        dying.setattr(module, function, _never)
        with pytest.raises(AssertionError):
            ask()
    with monkeypatch.context() as resumed:
        resumed.setattr(corpus, "placed", _never)
        resumed.setattr(pipeline, "_meet", _never)
        return ask()


def _removed(found):
    return sorted((row["id"], row["witness_id"], row["similarity"]) for row in found.removals.collect())


def test_after_a_driver_that_died_the_same_call_goes_on(spark, folder, monkeypatch):
    """Nothing that was finished is computed again, but what has lost a part; the answer is the same."""
    engine, source, workdir = ns.Spark(spark, driver_bytes=0), str(folder / "crawl"), folder / "work"
    expected = ns.dedup(source, engine=engine)
    found = _resumed(lambda: ns.dedup(source, engine=engine, workdir=workdir), monkeypatch, pipeline, "decide")
    assert _removed(expected) == _removed(found) != []
    for name in ("removed", "keys", "meeting", "features"):
        assert getattr(expected.stats, name) == getattr(found.stats, name), name
    next((workdir / "ordered").glob("part-*.parquet")).unlink()
    assert _removed(expected) == _removed(ns.dedup(source, engine=engine, workdir=workdir))
    with pytest.raises(ns.OutputError, match="is or holds the source"):
        found.write(folder / "work", overwrite=True)
    with pytest.raises(ns.WorkdirError, match=r"belongs to another run: threshold was 0\.8 and is 0\.9"):
        ns.dedup(source, method=ns.Jaccard(threshold=0.9), engine=engine, workdir=workdir)
    apart, chosen = ([{"id1": "0-0", "id2": "0-1", name: value}] for name, value in (("label", "no"), ("keep", "0-1")))
    assert _removed(expected) != _removed(ns.dedup(source, engine=engine, workdir=workdir, decisions=apart))
    with pytest.raises(ns.WorkdirError, match="chosen"):
        ns.dedup(source, engine=engine, workdir=workdir, decisions=chosen)
    pq.write_table(pa.table({"id": ["x"], "text": ["y"]}), folder / "crawl" / "part-1.parquet")
    with pytest.raises(ns.WorkdirError, match=r"belongs to another run: .*part-1\.parquet was"):
        ns.dedup(source, engine=engine, workdir=workdir)


def test_pairs_go_on_likewise(spark, folder, monkeypatch):
    """What met is found again, and the pairs are those of a run that was not ended; they are no others' folder."""
    engine, source, workdir = ns.Spark(spark, driver_bytes=0), str(folder / "crawl"), folder / "work"
    expected = ns.pairs(source, engine=engine)
    found = _resumed(lambda: ns.pairs(source, engine=engine, workdir=workdir), monkeypatch, request, "listed")
    assert _listed(expected) == _listed(found) != []
    with pytest.raises(ns.WorkdirError, match="belongs to another run"):
        ns.dedup(source, engine=engine, workdir=workdir)


def _listed(found):
    return sorted((row["a_id"], row["b_id"], row["similarity"]) for row in found.pairs.collect())


def test_archives_go_on_likewise(spark, tmp_path, monkeypatch):
    """Texts are not taken out of pages again, who goes is who went; a changed archive is not theirs."""
    engine, source, workdir = ns.Spark(spark, driver_bytes=0), crawl(tmp_path / "crawl", 1), tmp_path / "work"
    asked = {"method": METHOD, "keep": "longest"}
    expected = ns.dedup(str(source), engine=engine, **asked)

    def ask():
        return ns.dedup(str(source), engine=engine, workdir=workdir, **asked)

    found = _resumed(ask, monkeypatch, pipeline, "decide")
    assert answer(expected) == answer(found)
    assert found.stats.removed
    assert found.stats.skipped
    with (source / "b.warc").open("ab") as archive:
        archive.write(b"\r\n")
    with pytest.raises(ns.WorkdirError, match=r"belongs to another run: .*b\.warc was"):
        ask()


def test_a_work_directory_is_for_files(spark, folder):
    """Not for frames, nor where they lie, nor over something else."""
    engine, source = ns.Spark(spark, driver_bytes=0), str(folder / "crawl")
    with pytest.raises(ns.ConfigError, match="workdir works with files only"):
        ns.dedup(spark.read.parquet(source), engine=engine, workdir=folder / "work")
    with pytest.raises(ns.OutputError, match="inside the source"):
        ns.dedup(source, engine=engine, workdir=folder / "crawl" / "work")
    (folder / "other").mkdir()
    (folder / "other" / "notes.txt").write_text("mine")
    with pytest.raises(ns.WorkdirError, match="is not a work directory: it holds notes"):
        ns.dedup(source, engine=engine, workdir=folder / "other")


def test_what_a_driver_that_died_has_half_written_counts_as_not_there(spark, tmp_path):
    """What names the run, and what says that a step is finished."""
    place = place_at(spark, tmp_path / "work")
    place.inside("run.json").write_text('{"method": "jac')
    stored = Stored.at(place, {"method": "jaccard"})
    frame = spark.range(3)
    assert 3 == stored.once("numbers", frame).count()
    for damaged in ("", "{", "[]", "7", '{"row": 3}', '{"rows": "3"}', '{"rows": 4}'):
        place.inside("numbers").inside("_finished.json").write_text(damaged)
        assert stored.found("numbers") is None
    place.inside("numbers").inside("_finished.json").write_text('{"rows": 3}')
    assert 3 == stored.found("numbers").count()
    with_damaged_footers(tmp_path / "work" / "numbers")
    assert stored.found("numbers") is None
    assert 3 == Stored.at(place, {"method": "jaccard"}).once("numbers", frame).count()
    assert ["numbers", "run.json"] == sorted(path.name for path in (tmp_path / "work").iterdir())


def test_what_a_driver_that_was_killed_has_left_there_is_named(spark, folder):
    """Another driver may be writing it, so nobody deletes it."""
    engine, source, workdir = ns.Spark(spark, driver_bytes=0), str(folder / "crawl"), folder / "work"
    left = {".features.0123abcd.new", ".known.0123abcd.old", ".run.json.0123abcd.new"}
    for name in left:
        (workdir / name).mkdir(parents=True)
    notes = ns.dedup(source, engine=engine, workdir=workdir).stats.notes
    assert left == {note.partition(" was left by a run that was killed")[0].rpartition("/")[2] for note in notes}
    assert left <= {path.name for path in workdir.iterdir()}


@pytest.mark.parametrize("other", ["jaccard", "minhash"])
def test_of_two_drivers_that_begin_at_once_one_names_what_it_is_about(spark, tmp_path, monkeypatch, other):
    """The other one goes on with the same, and is refused with something else."""
    place, read = place_at(spark, tmp_path / "work"), stored_module.kept_identity
    Stored.at(place, {"method": other})
    looks = iter([None])  # it looks just before the other one has written
    monkeypatch.setattr(stored_module, "kept_identity", lambda place: next(looks, read(place)))
    if other == "jaccard":
        Stored.at(place, {"method": "jaccard"})
    else:
        with pytest.raises(ns.WorkdirError, match="belongs to another run: method was 'minhash' and is 'jaccard'"):
            Stored.at(place, {"method": "jaccard"})
    assert ["run.json"] == [path.name for path in (tmp_path / "work").iterdir()]
    assert {"method": other} == read(place)


def test_sides_that_have_changed_places_are_told(spark, folder):
    """Their files are what they were."""
    files = [str(folder / "crawl" / f"part-{number}.parquet") for number in range(2)]

    def begun(*names):
        sides = [
            SimpleNamespace(number=side, parts=[SimpleNamespace(frame=spark.read.parquet(name))])
            for side, name in enumerate(names)
        ]
        read = SimpleNamespace(sides=sides, verbs=SimpleNamespace(session=spark))
        return stored_steps(read, place_at(spark, folder / "work"), {})

    begun(*files)
    told = r"part-0\.parquet was .*\d, on the other side and is .*\d \(1 more changed\)$"
    with pytest.raises(ns.WorkdirError, match=told):
        begun(*reversed(files))
    begun(*files)


def test_files_are_the_same_in_every_time_zone(spark, folder):
    """The session's is no property of theirs."""
    seen = []
    for zone in ("Asia/Tokyo", "America/New_York"):
        before = spark.conf.get("spark.sql.session.timeZone")
        spark.conf.set("spark.sql.session.timeZone", zone)
        try:
            seen.append(stamps(spark, [str(folder / "crawl")]))
        finally:
            spark.conf.set("spark.sql.session.timeZone", before)
    assert seen[0] == seen[1]
    assert 2 == len(seen[0])


@pytest.mark.parametrize("step", ["entries", "known", "documents", "features"])
def test_a_part_that_is_damaged_is_made_again(spark, folder, step):
    """Footers are whole there, and say how many rows there were."""
    engine, workdir = ns.Spark(spark, driver_bytes=0), folder / "work"
    found = ns.dedup(str(folder / "crawl"), engine=engine, workdir=workdir)
    expected = _removed(found)
    found.release()
    parts = [*(workdir / step).glob("part-*.parquet")]
    for part in parts:
        data = bytearray(part.read_bytes())
        data[4:60] = b"\xff" * 56
        part.write_bytes(data)
        (part.parent / f".{part.name}.crc").unlink()
    assert parts
    again = ns.dedup(str(folder / "crawl"), engine=engine, workdir=workdir)
    assert expected == _removed(again)
