"""Which files of folders are read, and as what: patterns mean what they mean to a shell, from any folder on."""

import glob
import os
from pathlib import Path

import pytest

import nearsame as ns
from nearsame.errors import ConfigError, SourceError
from nearsame.sources import Columns, Wanted, open_parts
from tests.cli.commands import run

PATHS = (
    "a.java",
    "b.log",
    "src/a.java",
    "src/deep/b.java",
    "tests/a.java",
    "tests/x/y/b.log",
    "src/tests/c.txt",
    "d+.txt",
)
PATTERNS = (
    "*.java",
    "?.log",
    "tests/**",
    "src/*.java",
    "src/**/*.java",
    "**",
    "*",
    "tests/**/*",
    "d+.txt",
    "**/x/**/b.*",
    "none",
)
TEXT = "the quick brown fox jumps over the lazy dog near the river"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder of files of one text."""
    for path in PATHS:
        (tmp_path / "in" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / path).write_text(TEXT)
    return tmp_path / "in"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_it_means_to_glob(tree: Path, pattern: str) -> None:
    """In whatever folder it begins."""
    found = glob.glob(f"{tree}/**/{pattern}", recursive=True)  # noqa: PTH207  (the oracle)
    expected = {os.path.relpath(path, tree) for path in found if Path(path).is_file()}
    assert expected == {path for path in PATHS if Wanted.of(include=pattern).takes(path)}
    assert expected.isdisjoint(path for path in PATHS if Wanted.of(exclude=pattern).takes(path))


def test_files_are_chosen_and_the_others_are_counted(tree: Path) -> None:
    """On the command line and in Python, of folders and of patterns; what is excluded is not read."""
    out = tree.parent / "out"
    done = run(
        "dedup",
        tree,
        "--include",
        "*.java",
        "--include",
        "*.log",
        "--exclude",
        "tests/**",
        "--as",
        "text=*.log",
        "-o",
        out,
    )
    assert (0, "a.java\n") == (done.exit_code, (out / "kept" / "kept.txt").read_text())
    assert "4 files passed over: left out as asked 4." in " ".join(done.stdout.split())
    assert ns.verify(out).holds
    found = ns.dedup(f"{tree}/**", include=["*.java", "*.log"], exclude="tests/**", read_as=["text=*.log"])
    assert (4, 3, 4) == (found.stats.documents, found.stats.removed, found.stats.ignored)
    assert 1 == ns.pairs(tree, include=("src/*.java", "d+.txt")).table.num_rows
    with pytest.raises(SourceError, match=r"8 files, none of a known format \(left out as asked 8\)"):
        ns.dedup(tree, include="*.py")


def test_a_file_is_read_as_what_is_said(tmp_path: Path) -> None:
    """Also one that is named alone, and both sides; the first kind that fits counts."""
    (tmp_path / "a.log").write_text(f'{{"text": "{TEXT}"}}\n{{"text": "{TEXT}"}}\n')
    (tmp_path / "b.dump").write_text(f"text\tn\n{TEXT}\t1\n")
    found = ns.dedup(tmp_path / "a.log", against=tmp_path / "b.dump", read_as=["jsonl=a.*", "tsv=*.dump", "text=*"])
    assert (3, 1, 2) == (found.stats.documents, found.stats.against, found.stats.removed)
    found.write(tmp_path / "out")
    assert ns.verify(tmp_path / "out").holds
    assert b"" == (tmp_path / "out" / "kept" / "a.log").read_bytes()


@pytest.mark.parametrize("wrong", ["log=*.log", "text", "text=", "=*.log"])
def test_a_kind_that_is_none_is_refused(wrong: str) -> None:
    """With all that there are."""
    with pytest.raises(ConfigError, match="is not KIND=PATTERN") as caught:
        ns.dedup(["a"], read_as=wrong)
    assert "text, jsonl, csv" in caught.value.hint


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    """Choosing files where there are none; texts that are compressed, and pages, which have their own option."""
    with pytest.raises(ConfigError, match="no source is a file"):
        ns.dedup(["a text"], include="*.java")
    for name, what in (("a.txt.gz", "compressed"), ("a.html", "a web page")):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(ConfigError, match=f"is {what}"):
            open_parts([tmp_path], columns=Columns(), wanted=Wanted.of(read_as=f"text={name}"))
        (tmp_path / name).unlink()
    done = run("dedup", tmp_path, "--engine", "spark", "--include", "*.java", "-o", tmp_path / "out")
    assert (2, True) == (done.exit_code, "--include does nothing with --engine spark" in done.stderr)
