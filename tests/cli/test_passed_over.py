"""Files of a folder that are not read are named by their kinds, with what would make them readable."""

import importlib.util
import os

import pytest

import nearsame as ns
from nearsame.files.passed_over import PassedOver, kind_of

from .commands import documents, run, write_jsonl


@pytest.fixture
def folder(tmp_path):
    """A folder with one file that is read."""
    home = tmp_path / "in"
    home.mkdir()
    write_jsonl(home / "a.jsonl", documents())
    return home


@pytest.fixture
def without_web(monkeypatch):
    """As if the packages of the extra `web` were not installed."""
    find = importlib.util.find_spec
    missing = ("resiliparse", "fastwarc")
    monkeypatch.setattr("nearsame.sources.discovery.find_spec", lambda name: None if name in missing else find(name))


def told(*arguments):
    """What a dry run says, on one line."""
    done = run("dedup", *arguments, "--dry-run")
    return done.exit_code, " ".join((done.stdout + done.stderr).split())


def test_each_kind_is_counted_and_told_how_to_convert(folder):
    """The most frequent first; capitals are the same, and hidden files are one kind."""
    for name in ("a.docx", "b.DOCX", "c.pdf", "LICENSE", ".hidden.txt", "x.an odd ending"):
        (folder / name).touch()
    code, said = told(folder)
    assert 0 == code
    assert "6 files passed over: .docx 2, .pdf 1, hidden 1, with other endings 1, without an ending 1." in said
    assert "To read them, convert them first: .docx by pandoc, .pdf by pdftotext." in said


def test_nothing_is_said_where_nothing_is_passed_over(folder):
    """Neither of kinds nor of extras."""
    assert "passed over" not in told(folder)[1]


def test_a_folder_of_nothing_that_is_read_names_what_it_holds(tmp_path):
    """In the error."""
    (tmp_path / "a.docx").touch()
    code, said = told(tmp_path)
    assert 3 == code
    assert "holds 1 files, none of a known format (.docx 1)" in said


def test_many_kinds_are_cut_short_and_counted():
    """Nothing is lost from the total."""
    passed_over = PassedOver()
    for number in range(20):
        passed_over.kinds[f".k{number}"] += 1
    assert passed_over.listed.endswith(", others 12")


@pytest.mark.parametrize("name", ["a.\x1b[31m", "a." + "x" * 200, "a.b c"])
def test_what_is_no_ending_is_not_repeated(name):
    """A name may hold anything."""
    assert "with other endings" == kind_of(name)


def test_what_is_no_regular_file_is_passed_over(folder):
    """A pipe with a known ending would never end."""
    os.mkfifo(folder / "b.jsonl")
    assert "1 file passed over: no regular file 1." in told(folder)[1]


def test_both_sides_count(folder, tmp_path):
    """What --against passes over is told, too."""
    other = tmp_path / "old"
    other.mkdir()
    write_jsonl(other / "b.jsonl", documents()[:1])
    (other / "b.pdf").touch()
    (folder / "a.pdf").touch()
    assert "2 files passed over: .pdf 2." in told(folder, "--against", other)[1]


def test_a_file_without_its_reader_is_passed_over_with_the_line_that_installs_it(folder, without_web):
    """The rest of the folder is read."""
    (folder / "p.html").write_text("<p>a page</p>", "utf-8")
    (folder / "q.warc.gz").touch()
    code, said = told(folder)
    assert 0 == code
    assert "2 files passed over: .html 1, .warc.gz 1." in said
    assert "To read .html, .warc.gz, run: " in said
    assert "[web]" in said
    found = ns.dedup(str(folder))
    assert (4, 2, {".html": 1, ".warc.gz": 1}) == (
        found.stats.documents, found.num_ignored, found.passed_over.uninstalled,
    )  # fmt: skip


def test_strict_stops_for_want_of_a_reader(folder, without_web):
    """As for any other file that cannot be read."""
    (folder / "p.html").write_text("<p>a page</p>", "utf-8")
    code, said = told(folder, "--strict")
    assert 2 == code
    assert "not installed, and needed by files of the source (.html 1): resiliparse, fastwarc" in said
    assert 0 == told(folder / "a.jsonl", "--strict")[0]


def test_a_folder_of_such_files_alone_stops(tmp_path, without_web):
    """There is nothing else to read."""
    (tmp_path / "p.html").write_text("<p>a page</p>", "utf-8")
    code, said = told(tmp_path)
    assert 2 == code
    assert "not installed, and needed by files of the source (.html 1): resiliparse, fastwarc" in said


@pytest.mark.parametrize("command", [["urls"], ["evaluate"], ["plan", "--threshold", "0.7"]])
def test_who_does_not_tell_of_it_stops(command, folder, without_web):
    """Nothing is passed over for want of a package without a word."""
    (folder / "p.html").write_text("<p>a page</p>", "utf-8")
    done = run(*command, folder)
    assert 2 == done.exit_code
    assert "not installed, and needed by files of the source (.html 1)" in done.stderr


def test_an_output_with_files_passed_over_is_proven(folder, tmp_path):
    """Their number stands in the statistics."""
    (folder / "a.pdf").touch()
    assert 1 == ns.dedup(str(folder)).write(tmp_path / "out").ignored
    assert ns.verify(tmp_path / "out").holds
