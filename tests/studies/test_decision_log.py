"""The file of decisions: whole lines, of several writers, with nothing lost when one of them fails."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nearsame.answers.doubts import Undecided
from nearsame.answers.reports import SeenDocument
from nearsame.errors import OutputError, StoreBusyError
from nearsame.files.inputs import Inputs
from nearsame.sources.judged import DECISION_COLUMNS, WEIGHED_COLUMNS, read_judgements
from nearsame.studies import decision_log
from nearsame.studies.decision_log import DecisionLog, unfit

HEADER = "\t".join(DECISION_COLUMNS)


def pair(a: str, b: str = "z") -> Undecided:
    """Two documents, of which the first would go."""
    return Undecided(SeenDocument(a, "", 0), SeenDocument(b, "", 0))


def opened(place: Path, who: str = "somebody") -> DecisionLog:
    """The file, for a writer."""
    log = DecisionLog.open(place, Inputs())
    log.who = who
    return log


def said(place: Path) -> dict[str, tuple[str | None, str, str]]:
    """What stands in the end about each first id: label, note, who."""
    return {one.a: (one.label, one.note, one.who) for one in read_judgements(str(place))}


@pytest.mark.parametrize("can_be_cut", [True, False])
def test_a_line_that_is_written_in_part_is_not_joined_by_the_next(tmp_path, monkeypatch, can_be_cut):
    """A disk that is full has room again: what was decided then is whole, and what was not is told."""
    log = opened(tmp_path / "d.tsv")
    log.decide(pair("a"), "yes")
    write, cut = os.write, os.ftruncate

    def short(file: int, data: bytes) -> int:
        return write(file, data[:3])

    def refused(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(decision_log.os, "write", short)
    monkeypatch.setattr(decision_log.os, "ftruncate", cut if can_be_cut else refused)
    with pytest.raises(OutputError, match="could not be written: the disk is full"):
        log.decide(pair("lost"), "yes")
    assert (tmp_path / "d.tsv").read_text().endswith("\n") == can_be_cut
    monkeypatch.undo()
    assert log.about(pair("lost")) is None
    log.decide(pair("b"), "no")
    assert {"a": ("yes", "", "somebody"), "b": ("no", "", "somebody")} == said(tmp_path / "d.tsv")
    log.undo()
    log.undo()
    assert {} == said(tmp_path / "d.tsv")


def test_two_writers_know_of_each_other(tmp_path):
    """A note of the one stays when the other decides, and none takes back what the other has said."""
    one, other = opened(tmp_path / "d.tsv", "one"), opened(tmp_path / "d.tsv", "other")
    one.decide(pair("a"), "yes", note="a press release")
    other.decide(pair("a"), "no")
    assert ("no", "a press release", "other") == said(tmp_path / "d.tsv")["a"]
    assert ("z", "a")[::-1] == one.undo()
    assert ("no", "a press release", "other") == said(tmp_path / "d.tsv")["a"]
    other.undo()
    assert ("yes", "a press release", "other") == said(tmp_path / "d.tsv")["a"]
    assert 1 == (tmp_path / "d.tsv").read_text().count(HEADER)


def test_who_says_for_how_long_waits_no_longer_for_another_writer(tmp_path):
    """Nothing was decided then; when the other one is done, it is."""
    place = tmp_path / "d.tsv"
    log = DecisionLog.open(place, Inputs(), seconds=0)
    with place.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        for call in (
            log.look,
            lambda: log.decide(pair("a"), "yes"),
            lambda: DecisionLog.open(place, Inputs(), seconds=0),
        ):
            with pytest.raises(StoreBusyError, match="another process is writing"):
                call()
    log.decide(pair("b"), "no", who="me")
    assert {"b": ("no", "", "me")} == said(place)


def test_what_was_taken_back_by_another_is_not_given_again(tmp_path):
    """Undoing a change of a decision that is no more leaves it so."""
    one, other = opened(tmp_path / "d.tsv", "one"), opened(tmp_path / "d.tsv", "other")
    one.decide(pair("a"), "yes")
    one.decide(pair("a"), "no")
    other.decide(pair("a"), "", note="")
    one.undo()
    assert {} == said(tmp_path / "d.tsv")


def test_many_writers_at_once_lose_nothing(tmp_path):
    """Each line is whole, and the header stands once, though all begin at the same moment and find half a line."""
    place = tmp_path / "d.tsv"
    place.write_text(f"{HEADER}\nold\tz\tyes\t\t\t\t\nhalf\tz")
    script = (
        "import sys; from pathlib import Path; from tests.studies.test_decision_log import opened, pair\n"
        "log = opened(Path(sys.argv[1]), sys.argv[2])\n"
        "[log.decide(pair(f'{sys.argv[2]}-{number}'), 'yes') for number in range(50)]"
    )
    root = Path(__file__).resolve().parents[2]
    started = [subprocess.Popen([sys.executable, "-c", script, str(place), who], cwd=root) for who in "abc"]
    assert [0, 0, 0] == [writer.wait() for writer in started]
    assert {"old", *(f"{who}-{number}" for who in "abc" for number in range(50))} == set(said(place))
    assert 1 == place.read_text().count(HEADER)
    assert not [line for line in place.read_text().splitlines() if line.count("\t") != 6]


@pytest.mark.parametrize("start", ["", HEADER[:9], HEADER, f"{HEADER}\n"])
def test_a_file_that_has_but_begun_is_gone_on_with(tmp_path, start):
    """However far its first writer came."""
    (tmp_path / "d.tsv").write_text(start)
    opened(tmp_path / "d.tsv").decide(pair("a"), "yes")
    assert {"a"} == set(said(tmp_path / "d.tsv"))
    assert f"{HEADER}\na\tz\tyes" == (tmp_path / "d.tsv").read_text()[: len(HEADER) + 8]


def test_what_no_line_can_hold_is_said(tmp_path):
    """An id of half a character would be another one in the file; in a note it does no harm."""
    assert "not Unicode" in unfit(pair("\ud800"))
    assert "the same id" in unfit(pair("a", "a"))
    log = opened(tmp_path / "d.tsv")
    log.decide(pair("a"), "yes", note=" one\ttwo \ud800")
    assert "one two ?" == log.about(pair("a")).note == said(tmp_path / "d.tsv")["a"][1]
    log.undo()
    assert {} == said(tmp_path / "d.tsv")


def test_what_a_report_has_saved_is_gone_on_with(tmp_path):
    """A pair that is decided anew keeps its weight, also when that is taken back; a new one stands for itself."""
    place = tmp_path / "judged.tsv"
    rows = (WEIGHED_COLUMNS, *((a, "z", "yes", "", "", "", "2026-01-01T00:00:00Z", "3.5") for a in "ab"))
    place.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    log = opened(place)
    assert {("a", "z"), ("b", "z")} == set(log.known)
    for a, label in (("a", "no"), ("c", "yes"), ("b", "no")):
        log.decide(pair(a), label)
    assert ("b", "z") == log.undo()
    told = {one.a: (one.label, one.weight) for one in read_judgements(str(place))}
    assert {"a": ("no", "3.5"), "b": ("yes", "3.5"), "c": ("yes", "1")} == told
    place.write_bytes(place.read_bytes() + b"d\tz\tyes")
    assert set("abc") == {a for a, _ in opened(place).known}
