"""What benchmarks write into pages, and how they watch processes."""

import sys
from pathlib import Path

import pytest

from bench import processes, report

PAGE = "# Title\n\n<!-- bench a -->\nold\n<!-- end a -->\n\n<!-- bench b -->\n<!-- end b -->\n"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page with two places."""
    file = tmp_path / "page.md"
    file.write_text(PAGE, "utf-8")
    return file


def test_only_the_named_place_is_written(page) -> None:
    """What stood between the markers goes; the rest of the page stays."""
    report.write_between(page, "a", "new\n")
    assert PAGE.replace("old\n", "\nnew\n\n") == page.read_text("utf-8")


def test_writing_twice_is_writing_once(page) -> None:
    """A second run leaves the same page."""
    report.write_between(page, "b", "new")
    once = page.read_text("utf-8")
    report.write_between(page, "b", "new")
    assert once == page.read_text("utf-8")


def test_a_page_without_the_markers_is_left_alone(page) -> None:
    """And the message names them."""
    with pytest.raises(SystemExit, match="<!-- bench c -->"):
        report.write_between(page, "c", "new")
    assert PAGE == page.read_text("utf-8")
    assert [True, False] == [report.has_place(page, name) for name in ("a", "c")]


def test_a_table_is_markdown() -> None:
    """Text to the left, numbers to the right."""
    assert "| x | n |\n| --- | ---: |\n| a | 1 |" == report.markdown(("x", "n"), [("a", "1")])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc, which this system lacks")
def test_the_peak_counts_children_too() -> None:
    """Two processes of 50 MB each have a peak of over 100 MB together, and their output is kept."""
    hold = "import time; held = bytearray(50_000_000); time.sleep(3)"
    start = "import subprocess, sys; held = bytearray(50_000_000)"  # until the other has ended
    start += f"; p=subprocess.Popen([sys.executable, '-c', {hold!r}]); p.wait(); print('done')"
    run = processes.run([sys.executable, "-c", start], {})
    assert "done\n" == run.output
    assert 100e6 < run.peak_bytes < 200e6
    assert run.seconds > 0.3


def test_a_command_that_fails_says_why() -> None:
    """Its exit code and what it printed."""
    with pytest.raises(SystemExit, match=r"exit code 3(.|\n)*the reason"):
        processes.run([sys.executable, "-c", "import sys; print('the reason'); sys.exit(3)"], {})
