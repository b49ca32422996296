"""No output touches what was read, by whatever name either goes, and none is read by the next run."""

import json
import os
from pathlib import Path

import pytest

import nearsame as ns
from nearsame.errors import OutputError, SourceError
from nearsame.files.inputs import Inputs, local_paths
from nearsame.outputs.folder import appearing, require_place

TEXTS = [
    {"id": str(number), "text": f"text number {number} of some that differ in {number * 7}"} for number in range(5)
]


def write(path, records=TEXTS):
    """JSON lines, with the folders above them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def snapshot(folder):
    """Every file and link below a folder, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def earlier(tmp_path):
    """The output of an earlier run in ag/base."""
    ns.dedup(str(write(tmp_path / "day1.jsonl"))).write(_made(tmp_path / "ag") / "base")
    return tmp_path / "ag"


def _made(folder):
    folder.mkdir()
    return folder


SPELLINGS = {
    "pattern": "{ag}/*/kept/*.jsonl",
    "file URL of a pattern": "file://{ag}/*/kept/*.jsonl",
    "file URL": "file://{ag}/base/kept/day1.jsonl",
    "local URL": "local://{ag}/base/kept/day1.jsonl",
    "file URL from home": "file://~/ag/base/kept/day1.jsonl",
    "local URL of a pattern from home": "local://~/ag/*/kept/*.jsonl",
    "chained URL from home": "simplecache::file://~/ag/base/kept/day1.jsonl",
    "chained URL": "simplecache::file://{ag}/base/kept/day1.jsonl",
    "folder in it": "{ag}/base/kept",
    "dots": "{ag}/base/../base/kept/day1.jsonl",
    "link to a file": "{home}/file.jsonl",
    "link to a folder": "{home}/link/day1.jsonl",
    "pattern through a link": "{home}/link/*.jsonl",
    "name with wildcards": "{ag}/base/kept/day[1].jsonl",
}


@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize("spelling", list(SPELLINGS))
def test_a_folder_that_holds_what_was_found_is_not_replaced(spelling, against, earlier, tmp_path, monkeypatch):
    """From either side, however it is named; what is there stays byte for byte."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "file.jsonl").symlink_to(earlier / "base" / "kept" / "day1.jsonl")
    (tmp_path / "link").symlink_to(earlier / "base" / "kept")
    source = SPELLINGS[spelling].format(ag=earlier, home=tmp_path)
    before = snapshot(tmp_path)
    found = ns.dedup(TEXTS, against=source) if against else ns.dedup(source)
    with pytest.raises(OutputError, match=r"is or holds the source|which the next run would read"):
        found.write(earlier / "base", overwrite=True)
    assert before == snapshot(tmp_path)


def test_a_link_that_was_read_through_is_not_replaced(earlier, tmp_path):
    """Although what it leads to lies elsewhere."""
    elsewhere = write(tmp_path / "elsewhere" / "b.jsonl")
    (earlier / "base" / "way").symlink_to(elsewhere.parent)
    found = ns.dedup(str(earlier / "base" / "way" / "b.jsonl"))
    with pytest.raises(OutputError, match="is or holds the source"):
        found.write(earlier / "base", overwrite=True)


@pytest.mark.parametrize(
    "source", ["{home}/[a].jsonl", "file://{home}/a.jsonl", "{home}/hard.jsonl", "{home}/soft.jsonl"]
)
def test_a_file_that_was_read_is_not_replaced_by_pairs(source, tmp_path):
    """By a pattern, a URL, or another name of the same file."""
    path = write(tmp_path / "a.jsonl", [TEXTS[0], TEXTS[0]])
    (tmp_path / "hard.jsonl").hardlink_to(path)
    (tmp_path / "soft.jsonl").symlink_to(path)
    before = path.read_bytes()
    found = ns.pairs(source.format(home=tmp_path))
    with pytest.raises(OutputError, match=r"is or holds the source|which the next run would read"):
        found.write(path, overwrite=True)
    assert before == path.read_bytes()


@pytest.mark.parametrize(
    ("pattern", "place", "refused"),
    [
        ("rg/**/*.jsonl", "rg/out", True),
        ("rg/**", "rg/out", True),
        ("rg/*/*/*.jsonl", "rg/out", True),
        ("rg/o*/kept/*", "rg/out", True),
        ("rg/a/*.jsonl", "rg/a/out", False),
        ("rg/a/*.jsonl", "rg/out", False),
        ("rg/**/*.jsonl", "out", False),
        ("rg/**/*.jsonl", "rg/.out", False),
        ("*/a/*.jsonl", "rg/a", True),
        ("*/a/*.jsonl", "rg/b", False),
    ],
)
def test_a_place_that_the_pattern_would_find_is_refused(pattern, place, refused, tmp_path):
    """The first time already, though nothing is there yet: the next run would reads own output."""
    write(tmp_path / "rg" / "a" / "x.jsonl")
    write(tmp_path / "rg" / "out2" / "kept" / "x.jsonl")
    for prefix in ("", "file://"):
        read = Inputs.of(f"{prefix}{tmp_path / pattern}")
        if refused:
            with pytest.raises(OutputError, match=r"which the next run would read|is or holds"):
                require_place(tmp_path / place, read, overwrite=True, mark=None)
        else:
            assert require_place(tmp_path / place, read, overwrite=True, mark=None)


@pytest.mark.parametrize("pattern", ["rg/**/*.jsonl", "rg/*.jsonl", "rg/out*"])
def test_a_file_that_the_pattern_would_find_is_refused(pattern, tmp_path):
    """Pairs are no documents."""
    write(tmp_path / "rg" / "out1.jsonl")
    with pytest.raises(OutputError, match="matches"):
        require_place(tmp_path / "rg" / "out.jsonl", str(tmp_path / pattern), folder=False)


def test_days_are_compared_with_all_days_before(earlier, tmp_path):
    """`--against "ag/*/kept/*.jsonl" -o ag/day2` is how a day is added; a pattern that finds the tables is refused."""
    against = f"{earlier}/*/kept/*.jsonl"
    day2 = str(write(tmp_path / "day2.jsonl", [*TEXTS, {"id": "new", "text": "something else altogether"}]))
    found = ns.dedup(day2, against=against)
    found.write(earlier / "day2")
    assert 1 == found.stats.kept
    with pytest.raises(OutputError, match="is or holds the source"):
        ns.dedup(day2, against=against).write(earlier / "day2", overwrite=True)
    with pytest.raises(OutputError, match="the next run would read"):
        require_place(earlier / "day3", (), against=f"{earlier}/*/*.parquet")


def test_the_check_is_made_again_when_the_output_is_ready(tmp_path):
    """A link that was put in the way meanwhile is seen."""
    source = write(tmp_path / "deep" / "a.jsonl")
    (tmp_path / "other").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "other")
    place = require_place(tmp_path / "other", str(source), overwrite=True, mark=None)
    with pytest.raises(OutputError, match="is or holds the source"), appearing(place) as made:  # noqa: PT012
        made.mkdir()
        (tmp_path / "other").rmdir()
        (tmp_path / "deep").rename(tmp_path / "other")
        (tmp_path / "deep").symlink_to(tmp_path / "other")
    assert ["a.jsonl"] == [path.name for path in (tmp_path / "other").iterdir()]


def test_what_appeared_meanwhile_is_not_replaced_unasked(tmp_path):
    """Without overwrite the place must still be free."""
    place = require_place(tmp_path / "out.csv", folder=False)
    with pytest.raises(OutputError, match="exists"), appearing(place) as made:  # noqa: PT012
        made.write_text("ours", "utf-8")
        (tmp_path / "out.csv").write_text("somebody else's", "utf-8")
    assert "somebody else's" == (tmp_path / "out.csv").read_text("utf-8")
    assert ["out.csv"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("change", ["gone", "other", "touched"])
def test_a_source_that_changed_leaves_the_old_output(change, tmp_path):
    """Gone, of other contents, or only of another time: what was found may not be about it any more."""
    source = write(tmp_path / "a.jsonl", [TEXTS[0], TEXTS[0]])
    out = tmp_path / "out.csv"
    out.write_text("old", "utf-8")
    found = ns.pairs(str(source))
    match change:
        case "gone":
            source.unlink()
        case "other":
            write(source, TEXTS)
        case _:
            os.utime(source, ns=(1, 1))
    with pytest.raises(SourceError, match="since it was read, and nothing was written"):
        found.write(out, overwrite=True)
    assert "old" == out.read_text("utf-8")
    assert {"out.csv"} == {path.name for path in tmp_path.iterdir()} - {"a.jsonl"}


def test_a_table_of_frequencies_is_read_too(tmp_path):
    """Whatever file a recipe names."""
    source = write(tmp_path / "a.jsonl")
    method = ns.SimHash(weights="tfidf")
    ns.dedup(str(source), method=method).write(tmp_path / "first")
    again = ns.SimHash(weights="tfidf", frequencies=str(tmp_path / "first" / "frequencies.parquet"))
    with pytest.raises(OutputError, match="is or holds the source"):
        ns.dedup(str(source), method=again).write(tmp_path / "first", overwrite=True)


@pytest.mark.parametrize("place", ["work", "work/out", "."])
def test_a_folder_of_finished_steps_is_not_replaced(place, tmp_path):
    """Nor written into, nor put into a source."""
    source = write(tmp_path / "in" / "a.jsonl")
    found = ns.dedup(str(source), workdir=tmp_path / "work")
    with pytest.raises(OutputError, match="source"):
        found.write(tmp_path / place, overwrite=True)
    with pytest.raises(OutputError, match="inside the source"):
        ns.dedup(str(tmp_path / "in"), workdir=tmp_path / "in" / "work")


@pytest.mark.parametrize(
    ("url", "paths"),
    [
        ("a.jsonl", ("a.jsonl",)),
        ("file:///a/b", ("/a/b",)),
        ("file:/a/b", ("/a/b",)),
        ("local:///a/b", ("/a/b",)),
        ("zip://x.csv::/a/b.zip", ("/a/b.zip",)),
        ("filecache::file:///a/b", ("/a/b",)),
        ("s3://a/b", ()),
        ("memory://a", ()),
        ("https://example.org/file:///a", ()),
    ],
)
def test_every_local_path_in_a_url_is_seen(url, paths):
    """Of a chained one, each link's."""
    assert paths == local_paths(url)


def test_what_is_no_file_here_can_be_written_anywhere(tmp_path):
    """Memory, servers, standard input."""
    for read in ("memory://a/*.jsonl", "-", [1], ({"id": 1},), "s3://a/b"):
        assert isinstance(require_place(tmp_path / "out", read).path, Path)
