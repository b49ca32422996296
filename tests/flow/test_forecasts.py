"""What a long run will take, said when a sample of it has been read."""

import re

import pytest

import nearsame as ns
from nearsame.clock import Silent
from nearsame.flow import forecasts
from nearsame.outputs.steps import StepSoFar

TEXTS = "".join(f'{{"text": "{" ".join(f"w{n * k}" for k in range(90))}"}}\n' for n in range(2000))


class Notes(Silent):
    """Keeps what is said."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        """Keep it."""
        self.notes.append(text)


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A run over a file, whose tenth part has been read when the sample is looked at."""
    monkeypatch.setattr(StepSoFar, "done", lambda step: step.total // 10)
    monkeypatch.setattr(forecasts, "SAMPLE_SECONDS", 0)
    (tmp_path / "a.jsonl").write_text(TEXTS)

    def run(search=ns.dedup, *more, **options):
        progress = Notes()
        search(tmp_path / "a.jsonl", *more, progress=progress, **options)
        return progress.notes

    return run


def test_a_long_run_says_once_what_it_will_take(watched, tmp_path, monkeypatch):
    """With the disk where features will not fit in memory, or are kept in a work directory."""
    assert [] == watched()
    monkeypatch.setattr(forecasts, "LONG_SECONDS", 0)
    said = (
        r"about 1 minutes? until all is decided, up to \d.* [MG]B of memory{} \(by the first 10% of the sources; less"
    )
    (note,) = watched()
    assert re.match(said.format(""), note)
    (note,) = watched(workdir=tmp_path / "work")
    assert re.match(said.format(rf", [\d.]+ [kM]B of disk in {tmp_path}/work"), note)


def test_so_does_a_long_search_for_leaks(watched, monkeypatch):
    """Whose memory does not grow with what is read; and it needs no disk."""
    monkeypatch.setattr(forecasts, "LONG_SECONDS", 0)
    monkeypatch.setattr(forecasts, "peak_memory", lambda: 0)  # that of the whole suite
    item = [{"question": "which wise old wallaby waltzes with Wendy every Wednesday evening"}]
    said = (
        r"about 1 minutes? until all is decided, up to (\d.* [MG]B) of memory \(by the first 10% of the sources; less"
    )
    (note,) = watched(ns.leaks, item)
    assert (found := re.match(said, note))
    monkeypatch.setattr(StepSoFar, "done", lambda step: step.total // 10_000)
    (longer,) = watched(ns.leaks, item)
    assert found[1] in longer
