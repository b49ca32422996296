"""Progress goes to standard error, seldom enough to read, and never into a pipe of results."""

import io
import re
import threading

import pytest
from rich.console import Console

import nearsame as ns
from nearsame.clock import Clock, Silent
from nearsame.outputs import live, steps
from nearsame.outputs.live import Live
from nearsame.outputs.progress import watched
from nearsame.outputs.steps import Lines, RunSoFar, logged


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests advance."""

    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(live, "time", clock)
    monkeypatch.setattr(steps, "time", clock)
    return clock


def test_plain_lines_are_seldom(clock, capsys):
    """One every few seconds at most, with documents, megabytes and speed."""
    lines = Lines()
    lines.begin("features")
    for _ in range(14):
        clock.now += 0.5
        lines.add(5000, 5_000_000)
    lines.begin("deciding")
    said = capsys.readouterr()
    assert ("", ["reading: 30,000 documents, 30 MB, 10 MB/s", "reading: 60,000 documents, 60 MB, 10 MB/s"]) == (
        said.out,
        said.err.splitlines(),
    )


def test_time_left_is_told_from_the_bytes_on_disk(clock, capsys, monkeypatch):
    """Of 1000 bytes 250 after 4 seconds: 12 more."""
    monkeypatch.setattr(steps, "_bytes_read", iter([0, 0, 250]).__next__)
    lines = Lines()
    lines.begin("features", 1000)
    clock.now += 4
    lines.add(5, 5_000_000)
    assert "reading: 5 documents, 5.0 MB, 1.2 MB/s, about 12 s left\n" == capsys.readouterr().err


def test_time_left_is_that_of_all_steps(clock, monkeypatch):
    """By what they take for a second of reading; corrected by those that are over, and none where one takes longer."""
    monkeypatch.setattr(steps, "_bytes_read", iter([0, 0, 500, *[0] * 9]).__next__)
    so_far = RunSoFar(writes=True)
    so_far.expect([("features", 1.0), ("keys", 0.5), ("meeting", 0.5), ("deciding", 0.1)])
    so_far.begin("features", 1000)
    clock.now += 10
    assert 10 + 20 * (0.5 + 0.5 + 0.1 + 1.4) == so_far.seconds_left()
    clock.now += 10
    so_far.begin("keys", None)
    clock.now += 4
    assert 6 + 20 * (0.5 + 0.1 + 1.4) == pytest.approx(so_far.seconds_left())
    clock.now += 18  # 22 in all, where 10 were reckoned
    assert so_far.seconds_left() is None
    so_far.begin("meeting", None)
    assert 2 * 20 * (0.5 + 0.1 + 1.4) == pytest.approx(so_far.seconds_left())
    so_far.foreseen({"deciding": 100})
    assert 2 * 20 * (0.5 + 1.4) + 100 == pytest.approx(so_far.seconds_left())
    so_far.begin("other", None)
    assert so_far.seconds_left() is None


def test_who_waits_is_told_while_a_step_says_nothing(monkeypatch, caplog):
    """Also through the logger; the thread that does so ends with the step."""
    said = threading.Event()
    monkeypatch.setattr("nearsame.clock._TICK_SECONDS", 0.001)
    monkeypatch.setattr(steps, "_EVERY_SECONDS", 0)
    before = set(threading.enumerate())
    with caplog.at_level("INFO", "nearsame"):
        watching = logged(None)
        monkeypatch.setattr(watching, "_write", lambda line: line == "comparing and deciding" and said.set())
        with Clock(watching)("deciding"):
            assert said.wait(60)
    assert not set(threading.enumerate()) - before


def test_no_time_is_told_when_all_bytes_were_read_ahead(clock, capsys, monkeypatch):
    """Small files are read at once: that says nothing of the work that is left."""
    monkeypatch.setattr(steps, "_bytes_read", iter([0, 0, 1000]).__next__)
    lines = Lines()
    lines.begin("verifying witnesses", 1000)
    clock.now += 20
    lines.add(846, 6_000_000)
    assert "comparing with witnesses: 846 documents, 6.0 MB, 0.3 MB/s\n" == capsys.readouterr().err


def test_notes_and_steps_are_shown_as_they_are(monkeypatch):
    """What rich would take for its markup or an emoji is a text like others."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with watched() as live:
        assert isinstance(live, Live)
        live.begin("[/step]")
        live.note("[/b] [red]x :smile:")
        live._display.refresh()
    assert [True, True] == [shown in terminal.getvalue() for shown in ("[/step]", "[/b] [red]x :smile:")]


def test_bytes_read_grow_with_reading(tmp_path):
    """Where Linux counts them."""
    (tmp_path / "a").write_bytes(bytes(1_000_000))
    before = steps._bytes_read()
    (tmp_path / "a").read_bytes()
    assert steps._bytes_read() - before >= 1_000_000


def test_the_live_line_fits_80_columns_and_goes():
    """On a terminal: the stage, documents and speed; at the end nothing of it remains."""
    stream = io.StringIO()
    live = Live(Console(file=stream, force_terminal=True, width=80))
    live.begin("features", 10**9)
    live.add(12_345_678, 45_678_000_000)
    live._display.refresh()
    live.begin("deciding")
    live.end()
    text = stream.getvalue()
    assert "12,345,678 documents" in text
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text))
    assert max(map(len, lines)) <= 80


def test_quiet_is_silent(capsys):
    """No watcher, no word."""
    with watched(quiet=True) as watcher:
        assert isinstance(watcher, Silent)
    assert ("", "") == tuple(capsys.readouterr())


def test_without_a_terminal_there_are_lines(capsys):
    """Standard error of tests is none."""
    with watched() as watcher:
        assert isinstance(watcher, Lines)


def test_the_logger_has_the_lines_where_nobody_watches(clock, caplog, capsys):
    """Of whoever listens to it, at the level INFO; else nothing is counted, and nothing is written."""
    assert isinstance(logged(None), Silent)
    own = Silent()
    with caplog.at_level("INFO", "nearsame"):
        assert own is logged(own)
        watching = logged(None)
        watching.begin("features")
        clock.now += 3
        watching.add(5000, 5_000_000)
        watching.note("of note")
        found = ns.dedup(["a rose", "a rose"])
    said = ["reading: 5,000 documents, 5.0 MB, 1.7 MB/s", "of note"]
    assert (1, said) == (found.stats.removed, [record.getMessage() for record in caplog.records])
    assert ("", "") == tuple(capsys.readouterr())


def _migrated(monkeypatch, folder):
    """Only the call: an index of an older format is another test's."""
    monkeypatch.setattr("nearsame.index.migrating.migrate", lambda _, *, progress, **__: progress.note("migrating"))
    return ns.Index.migrate(folder / "seen.ns")


_WATCHED = {
    "leaks": lambda _, __: ns.leaks(["a rose is a rose"], [{"question": "which rose is a rose that is a rose"}]),
    "codes": lambda _, folder: ns.codes(["a rose is a rose"], folder / "codes.parquet"),
    "to_label": lambda _, __: ns.to_label(["a rose is a rose is a rose", "a rose is a rose is a daisy"]),
    "migrate": _migrated,
}


@pytest.mark.parametrize("question", _WATCHED)
def test_every_question_tells_the_logger_where_nobody_watches(question, monkeypatch, caplog, tmp_path):
    """Not only dedup and pairs."""
    monkeypatch.setattr(steps, "_EVERY_SECONDS", 0)
    with caplog.at_level("INFO", "nearsame"):
        _WATCHED[question](monkeypatch, tmp_path)
    assert [] != [record for record in caplog.records if record.name == "nearsame"]
