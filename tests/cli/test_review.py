"""`nearsame review`: keys in, decisions on disk at once, whatever the texts are; it goes on where it stopped."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

import nearsame as ns
from nearsame.cli.review import Sitting
from nearsame.demo import corpus_path
from nearsame.errors import ConfigError, SourceError
from nearsame.outputs.doubts import page
from nearsame.outputs.report_page import ReportPage
from nearsame.sources.judged import read_judgements
from nearsame.studies.decision_log import DecisionLog
from nearsame.studies.review import Review
from nearsame.studies.sheets import Sheet

from .commands import run as cli

DEMO = str(corpus_path())
WORDS = "one two three four five six seven eight nine ten"
EVIL = "\x1b[2J\x9b31m\u202e\u2066 \x07"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """An output: of a cluster near the threshold two removals, of another an exact copy, and an odd id."""
    texts = {
        "a": WORDS[::-1], "a2": WORDS[::-1],
        "b": WORDS, "b1": f"{WORDS} {EVIL}eleven", "b2": f"{WORDS} eleven twelve",
    }  # fmt: skip
    lines = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    ns.dedup(tmp_path / "in.jsonl", method=ns.Jaccard(threshold=0.5, shingle_size=1)).write(tmp_path / "out")
    return tmp_path / "out"


class Screen:
    """Pages of 80 columns, as they are printed."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    def show(self, *what: Any, whole: bool) -> None:
        """Print one."""
        stream = io.StringIO()
        doubt, view, standing = what
        page(ReportPage(stream), doubt, view, standing, None if whole else 24)
        self.pages.append(stream.getvalue())


def typed(run: Path, keys: str, note: str = "") -> tuple[list[str], list[str]]:
    """The pages of a session, and the lines of its file, without who and when."""
    review, screen = Review.of(run), Screen()
    Sitting(review, DecisionLog.open(run.parent / "d.tsv", review.run.inputs), screen).run(iter(keys), lambda: note)
    lines = (run.parent / "d.tsv").read_text().splitlines()[1:]
    return screen.pages, ["\t".join(line.split("\t")[:5]) for line in lines]


def test_the_most_doubtful_comes_first_and_each_key_is_a_line(run):
    """Keep both, choose the other, unsure; a note keeps the rest; at the end it says so."""
    pages, lines = typed(run, "nkbmu", note="a\ttab")
    assert ["b1\tb\tno\t\t", "b2\tb\tyes\tb2\t", "b2\tb\tyes\tb2\ta tab", "b2\tb\tunknown\t\ta tab"] == lines
    assert ["Pair 1", "Pair 2", "Pair 3", "Pair 2"] == [shown.strip()[:6] for shown in pages[:4]]


def test_no_page_is_wider_or_higher_than_the_terminal_or_obeys_a_text(run):
    """Escape sequences, a bell and marks of direction are shown as what they are."""
    pages, _ = typed(run, "  bt")
    assert max(len(line) for shown in pages for line in shown.splitlines()) <= 80
    assert max(len(shown.splitlines()) for shown in pages) <= 24
    assert not set("\x1b\x9b\u202e\u2066\x07") & set("".join(pages))
    assert any("\\x1b[[-2J\\x9b31m\\u202e" in shown for shown in pages)


def test_it_goes_on_where_it_stopped_and_takes_back(run):
    """A decision is taken back by another line, which every reader follows."""
    typed(run, "nq")
    pages, lines = typed(run, "yzq")
    assert ["b1\tb\tno\t\t", "b2\tb\tyes\t\t", "b2\tb\t\t\t"] == lines
    assert ["Pair 2", "Pair 3", "Pair 2"] == [shown.strip()[:6] for shown in pages]
    assert [("b1", "no")] == [(one.a, one.label) for one in read_judgements(str(run.parent / "d.tsv"))]
    found = ns.dedup(run.parent / "in.jsonl", method=ns.Jaccard(threshold=0.5, shingle_size=1),
                     decisions=run.parent / "d.tsv")  # fmt: skip
    assert {"b1"} <= set(found.kept().column("id").to_pylist())
    assert found.stats.decisions["read"] == 1


def test_what_a_stopped_writer_left_of_a_line_is_taken_away(run):
    """What was whole stays; a file of other columns is not added to."""
    _, before = typed(run, "n")
    with (run.parent / "d.tsv").open("a") as file:
        file.write("b2\tb\ty")
    assert [*before, "b2\tb\tunknown\t\t"] == typed(run, "u")[1]
    (run.parent / "d.tsv").write_text("id1\tid2\tlabel\tweight\n")
    with pytest.raises(SourceError, match="has other columns"):
        typed(run, "")


def test_what_is_left_of_a_line_is_told_to_who_only_reads(run):
    """It may be half of an id, so it is not taken for a decision, and not passed over without a word."""
    typed(run, "n")
    with (run.parent / "d.tsv").open("a") as file:
        file.write("b2\tb")
    with pytest.raises(SourceError, match="line 3, the last one: its writer was stopped"):
        ns.dedup(run.parent / "in.jsonl", decisions=run.parent / "d.tsv")
    (run.parent / "d.tsv").write_text((run.parent / "d.tsv").read_text().replace("b2\tb", "b2\tb\tno\n"))
    assert 2 == len(read_judgements(str(run.parent / "d.tsv")))


def test_ids_that_no_line_can_hold_are_said(run):
    """Nothing is written for them."""
    (run.parent / "in.jsonl").write_text("".join(json.dumps({"id": i, "text": "x y"}) + "\n" for i in ("a\tb", "c")))
    ns.dedup(run.parent / "in.jsonl").write(run, overwrite=True)
    pages, lines = typed(run, "y")
    assert ("Not written: an id with a tab" in pages[1].replace("\n", " "), []) == (True, lines)


def test_without_a_terminal_it_says_what_to_do(run):
    """And where nothing was removed, that there is nothing to decide."""
    result = cli("review", run)
    assert (2, True) == (result.exit_code, "nearsame report DIR -o page.html" in result.stderr)
    ns.dedup(["a rose", "a daisy"]).write(run, overwrite=True)
    with pytest.raises(ConfigError, match="nothing was removed"):
        Review.of(run)


def labelled(path: Path, keys: str) -> list[str]:
    """The pages of a session with a file of pairs to label."""
    screen, sheet = Screen(), Sheet(path)
    Sitting(sheet, sheet, screen).run(iter(keys), str)
    return screen.pages


def test_pairs_to_label_are_filled_in_and_weighed(tmp_path):
    """Mark by mark, gone on with, whoever else has written; nothing shows how similar two are."""
    path = tmp_path / "pairs.tsv"
    ns.write_to_label(ns.to_label(DEMO, number=12), path)
    before = path.read_text("utf-8").splitlines()
    pages = labelled(path, "ynuybzkcmq")
    assert [1, 2, 3, 4, 5, 4, 4, 4, 4, 4] == [int(shown.split()[1]) for shown in pages]
    assert ["Taken back."] == [line for line in pages[6].splitlines() if "back." in line]
    assert all("No such key." in shown for shown in pages[7:])
    assert not any(word in "".join(pages) for word in ("(from ", "Cluster 1", ": goes", ": stays", "n keep"))
    sheet = Sheet(path)
    path.write_text(path.read_text("utf-8").replace(before[-1], before[-1].replace("\t\t", "\t1\t", 1)), "utf-8")
    sheet.decide(sheet.doubt(3), "no")
    assert 5 == int(labelled(path, "yyyyyyy")[0].split()[1])
    after = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    assert ["yes", "no", "unknown", "no", *["yes"] * 7, "1"] == [cells[2] for cells in after[1:]]
    assert [line.split("\t") for line in before] == [
        [*cells[:2], cells[2] * (not at), *cells[3:]] for at, cells in enumerate(after)
    ]
    found = ns.evaluate(DEMO, methods=["digest"], truth=path, apart=False)
    assert (True, 9, 2) == (found.advice.weighed, found.advice.true, found.advice.false)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        ("id1\tid2\tlabel\nx\ty\t\n", "is no file of pairs to label"),
        ("id1\tid2\tlabel\ttext1\ttext2\n", "has no pairs"),
        ("id1\tid2\tlabel\ttext1\ttext2\nx\ty\n", "the line of x and y has 2 columns of 5"),
    ],
)
def test_what_is_no_file_of_pairs_to_label_is_an_error(tmp_path, content, message):
    """Before anything is shown, and nothing is written into it."""
    if content is not None:
        (tmp_path / "pairs.tsv").write_text(content)
    with pytest.raises(SourceError, match=message):
        Sheet(tmp_path / "pairs.tsv")
