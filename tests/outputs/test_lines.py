"""Plain lines are those that Rich would have made."""

import io
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from nearsame.outputs.console import Report
from nearsame.outputs.lines import cells, columns, cropped, is_plain
from nearsame.printable import wrapped

WORDS = st.lists(st.text("ab-,[:", min_size=1, max_size=14), max_size=12)
GAPS = st.sampled_from([" ", "  ", "   "])


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self):
        """It is."""
        return True


@given(WORDS, GAPS, st.integers(1, 30))
def test_text_is_wrapped_as_rich_wraps_it(words, gap, width):
    """Between words; where one is longer than a line, in pieces that fill lines, none of which is empty."""
    text, lines = gap.join(words), wrapped(gap.join(words), width)
    if max(map(len, words), default=0) <= width:
        richs = Text(text).wrap(Console(file=io.StringIO()), width)
        assert lines == [line.plain.rstrip() for line in richs if line.plain]
    assert max(map(len, lines), default=0) <= width
    assert "".join(words) == "".join(lines).replace(" ", "")
    assert [] == [line for line in lines if line != line.strip() or not line]


@given(st.text("aé日👍 ", max_size=20), st.integers(1, 12))
def test_text_of_any_width_is_cropped_to_columns(text, width):
    """Letters of two columns included."""
    assert width == cells(cropped(text, width))
    assert len(text) <= cells(text) <= 2 * len(text)


@given(WORDS, st.sampled_from(["", "  ", "    "]))
def test_a_report_is_the_same_in_a_file_as_on_a_terminal_without_colours(words, indent):
    """Which Rich prints."""
    files = [io.StringIO(), Terminal()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.setenv("NO_COLOR", "1")
        for file in files:
            report = Report(file)
            report.line(indent + " ".join(words))
            report.heading("A title")
            report.written("out", folder=True)
    plain, rich = ([line.rstrip() for line in file.getvalue().splitlines()] for file in files)
    styled = [line.replace("\x1b[1;4m", "").replace("\x1b[0m", "") for line in rich]
    assert plain == styled


@pytest.mark.parametrize(
    ("settings", "terminal", "expected"),
    [
        ({}, False, True),
        ({}, True, False),
        ({"FORCE_COLOR": "1"}, False, False),
        ({"TTY_COMPATIBLE": "1"}, False, False),
        ({"NO_COLOR": "1"}, False, True),
    ],
)
def test_styles_are_for_terminals_and_those_who_ask(settings, terminal, expected, monkeypatch):
    """As Rich has it."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if terminal else io.StringIO()
    assert (expected, expected) == (is_plain(stream), not Console(file=stream).is_terminal)


@pytest.mark.parametrize("asked", ["", "x", "-5", "37", "200", None])
def test_the_width_is_that_which_rich_finds(asked):
    """By what is asked, or 80 where there is no terminal."""
    code = "import rich.console, nearsame.outputs.lines as lines; print(lines.columns(), rich.console.Console().width)"
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment |= {} if asked is None else {"COLUMNS": asked}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    ours, richs = ran.stdout.split()
    assert ours == richs


def test_a_width_of_nothing_is_the_usual_one(monkeypatch):
    """Nothing could be printed otherwise."""
    monkeypatch.setenv("COLUMNS", "0")
    assert columns() > 0
