"""A folder appears complete or not at all, never in a source and never over one."""

import contextlib
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import OutputError
from nearsame.files import placing
from nearsame.outputs.folder import appearing, require_place

TEXT = "one two three four five six seven"


def test_it_appears_when_it_is_complete(tmp_path):
    """Inside the block nothing is at the place; after it everything is."""
    place = tmp_path / "clean"
    with appearing(require_place(place)) as made:
        made.mkdir()
        (made / "a").write_text("x", "utf-8")
        assert not place.exists()
        assert made.parent.parent == tmp_path
    assert "x" == (place / "a").read_text("utf-8")
    assert ["clean"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_was_there_is_replaced_or_left(kind, tmp_path):
    """Replaced after the block; left as it was when the block fails."""
    place = tmp_path / "clean"

    def make(path, name):
        if kind == "file":
            path.write_text(name, "utf-8")
        else:
            path.mkdir()
            (path / name).touch()

    def state():
        return place.read_text("utf-8") if kind == "file" else next(place.iterdir()).name

    make(place, "old")
    there = require_place(place, folder=kind == "folder", overwrite=True, mark=None)
    with contextlib.suppress(ValueError), appearing(there) as made:
        make(made, "new")
        raise ValueError
    assert ("old", ["clean"]) == (state(), [path.name for path in tmp_path.iterdir()])
    with appearing(there) as made:
        make(made, "new")
    assert ("new", ["clean"]) == (state(), [path.name for path in tmp_path.iterdir()])


@pytest.mark.parametrize("exchanging", [True, False])
def test_a_renaming_that_fails_leaves_the_old_one(exchanging, tmp_path, monkeypatch):
    """Whether the system can exchange two folders in one step or not: at no moment is there neither."""
    place = tmp_path / "clean"
    place.mkdir()
    (place / "old").touch()
    rename = Path.rename

    def fail(self, target):
        if self.name == "new":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    def renamed(a, b, flag):
        if exchanging:
            raise OSError(5, "Input/output error")
        return False

    monkeypatch.setattr(Path, "rename", fail)
    monkeypatch.setattr(placing, "_renamed", renamed)
    there = require_place(place, overwrite=True, mark=None)
    with pytest.raises(OutputError, match="Input/output error"), appearing(there) as made:
        made.mkdir()
    assert ["old"] == [path.name for path in place.iterdir()]
    assert ["clean"] == [path.name for path in tmp_path.iterdir()]


def test_a_folder_has_the_permissions_of_any_other(tmp_path):
    """Not those of a temporary one."""
    (tmp_path / "other").mkdir()
    found = ns.dedup([TEXT])
    found.write(tmp_path / "clean")
    assert (tmp_path / "other").stat().st_mode == (tmp_path / "clean").stat().st_mode


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    """What it leads to is replaced."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    ns.dedup([TEXT]).write(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "stats.json").exists()


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("place", ["in", "in/clean", "in/deep/clean", ".", "in/a.jsonl", "link/clean"])
def test_a_source_is_never_written_into_nor_over(place, overwrite, tmp_path):
    """By whatever path; --overwrite does not help."""
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a.jsonl").write_text('{"text": "a"}\n', "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "in")
    with pytest.raises(OutputError):
        require_place(tmp_path / place, str(tmp_path / "in"), overwrite=overwrite)
    with pytest.raises(OutputError):
        ns.dedup(str(tmp_path / "in")).write(tmp_path / place, overwrite=overwrite)
    assert ["a.jsonl", "deep"] == sorted(path.name for path in (tmp_path / "in").iterdir())


def test_beside_a_single_file_is_a_good_place(tmp_path):
    """The folder of a file that was named is not a source."""
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n', "utf-8")
    sources = (str(tmp_path / "a.jsonl"), "-", "memory://a/b.csv")
    assert tmp_path / "clean" == require_place(tmp_path / "clean", sources).path


def test_the_folder_of_a_pattern_is_a_source_only_for_replacing(tmp_path):
    """in/*.jsonl does not match in/clean/; in itself may not be replaced."""
    (tmp_path / "in").mkdir()
    pattern = str(tmp_path / "in" / "*.jsonl")
    assert require_place(tmp_path / "in" / "clean", pattern)
    with pytest.raises(OutputError, match="which the next run would read"):
        require_place(tmp_path / "in", pattern, overwrite=True)


def test_the_folder_that_one_works_in_is_not_replaced(tmp_path, monkeypatch):
    """Nor one that it is in, nor the home of the user."""
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    for place in (".", "..", Path.home()):
        with pytest.raises(OutputError, match="holds the folder that you work in"):
            require_place(place, overwrite=True)


def test_a_file_is_not_replaced_by_a_folder_nor_a_folder_by_a_file(tmp_path):
    """Whatever is asked for."""
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="is a file, and a folder"):
        require_place(tmp_path / "file", overwrite=True)
    with pytest.raises(OutputError, match="is a folder, and a file"):
        require_place(tmp_path / "folder", folder=False, overwrite=True)


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("name", ["out.jsonl", "/dev/null"])
def test_a_pipe_or_a_device_is_not_replaced(name, folder, tmp_path, monkeypatch):
    """Whoever works as root would lose /dev/null."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("out.jsonl")
    with pytest.raises(OutputError, match="is a device or a pipe, which no output may replace"):
        require_place(name, folder=folder, overwrite=True)


def test_an_output_has_a_name():
    """Of at least one character; the folder that one works in is not meant."""
    with pytest.raises(OutputError, match="needs a name"):
        require_place("")


@pytest.mark.parametrize("name", ["file:{}/out", "file://{}/out", "local:{}/out"])
def test_an_address_of_this_disk_is_a_path(name, tmp_path):
    """With one slash as with three; a file of such a name is `./file:out`."""
    assert tmp_path / "out" == require_place(name.format(tmp_path)).path


def test_what_is_in_memory_becomes_one_parquet_file(tmp_path):
    """kept/documents.parquet, with all columns."""
    ns.dedup([{"id": 1, "text": TEXT}, {"id": 2, "text": TEXT}]).write(tmp_path / "clean")
    assert [{"id": 1, "text": TEXT}] == pq.read_table(tmp_path / "clean/kept/documents.parquet").to_pylist()


def test_writing_twice_is_refused(tmp_path):
    """From Python as from the terminal."""
    found = ns.dedup([TEXT])
    found.write(tmp_path / "clean")
    with pytest.raises(OutputError, match="exists"):
        found.write(tmp_path / "clean")
    assert found.write(tmp_path / "clean", overwrite=True).kept == 1
