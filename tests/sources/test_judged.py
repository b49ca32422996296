"""Files of judged pairs: which first line names the columns, and what stands in each."""

import json
import re

import pytest

from nearsame.errors import ConfigError, SourceError
from nearsame.sources import judged
from nearsame.sources.judged import read_judgements


def read(tmp_path, text, ids=()):
    """A file of that text."""
    path = tmp_path / "judged.tsv"
    path.write_text(text, "utf-8")
    return read_judgements(str(path), ids)


@pytest.mark.parametrize(
    ("header", "line", "said"),
    [
        ("id1\tid2\tdecision\tkeep", "p\tq\tno\t", (False, "")),
        ("id1\tid2\tkeep\tdecision", "p\tq\tq\tno", (True, "q")),  # a name that nobody knows, behind one that is known
        ("ID1\tID2\tNote\tLabel\tKeep", "p\tq\ta note\tno\tq", (False, "q")),
        ("Id1\tId2\tWeight", "p\tq\t.5", (True, "")),
        ("id1\tid2\tnote", "p\tq\tno", (True, "")),
        ("a\tb\tlabel", "p\tq\tno", (False, "")),
        ("id1\tid2\tverdict", "p\tq\tno", (False, "")),
    ],
)
def test_columns_go_by_their_names(tmp_path, header, line, said):
    """In any capitals; the third is the label where none is called so, unless its name says otherwise."""
    (one,) = read(tmp_path, f"{header}\n{line}\n")
    assert ("p", "q", said) == (one.a, one.b, (one.verdict(), one.keep))


@pytest.mark.parametrize(
    ("line", "said"),
    [("p\tq\t\tq\ta note", True), ("p\tq\tUnsure\tq", None), ("p\tq\t?", None), ("p\tq\tnan", None),
     ("p\tq\t\t\ta note", None), ("p\tq", None), ("p\tq\t-3", False)],
)  # fmt: skip
def test_a_label_or_a_choice_says_something_and_nothing_says_nothing(tmp_path, line, said):
    """A choice of who stays says yes; a line that ends before its label is as one whose label is empty."""
    (one,) = read(tmp_path, f"id1\tid2\tlabel\tkeep\tnote\n{line}\n")
    assert said is one.verdict()


@pytest.mark.parametrize("label", ["nope", "yes!", "not the same", "ye", "-nan", "n/a", "x" * 100])
def test_a_label_that_nobody_knows_is_refused(tmp_path, label):
    """It would change nothing, and be taken for doubt."""
    with pytest.raises(ConfigError, match=rf"judged\.tsv, line 3: the label '{label[:60]}' says neither yes nor no"):
        read(tmp_path, f"id1\tid2\tlabel\np\tq\tno\np\tr\t{label}\n")


@pytest.mark.parametrize("header", ["id1\tlabel", "label\tid1\tid2", "id1\tlabel\tid2", "ID_A\tkeep", "weight\tid2"])
def test_names_of_columns_in_another_order_are_refused(tmp_path, header):
    """They are no pair, and what stands below would be read wrongly."""
    with pytest.raises(SourceError, match=r"line 1: .* are names of columns, and do not begin"):
        read(tmp_path, f"{header}\np\tq\tno\n")
    first, second, *_ = header.split("\t")
    pairs = read(tmp_path, f"{first}\t{second}\np\tq\n", (first, second))
    assert [(first, second), ("p", "q")] == [one[1:3] for one in pairs]


@pytest.mark.parametrize("line", ["a\tlabel", "note\tkeep\tno", "label\tweight", "id1\tpage-17\tno", "id\tpage-17"])
def test_a_first_line_of_ids_that_sound_like_names_is_a_pair(tmp_path, line):
    """No decision is lost."""
    one, other = read(tmp_path, f"{line}\np\tq\tno\n")
    assert line.split("\t")[:2] == [one.a, one.b]
    assert ("p", "q", False) == (other.a, other.b, other.verdict())


def test_ids_behind_names_of_columns_may_be_anything(tmp_path):
    """So a file that begins with names always says what it means."""
    pairs = [(one.a, one.b) for one in read(tmp_path, "id1\tid2\tlabel\nid1\tlabel\tno\nid1\tid2\tno\n")]
    assert [("id1", "label"), ("id1", "id2")] == pairs


def test_a_report_knows_the_same_words(root):
    """Its script reads the same files, and has to have a table of its own."""
    script = (root / "src/nearsame/outputs/templates/report.js").read_text("utf-8")
    table = re.search("const WORDS = {(.*?)};", script)[1]
    words = json.loads("{" + re.sub(r"(\w+):", r'"\1":', table) + "}")
    known = {"yes": judged._YES, "no": judged._NO, "unknown": judged._UNSURE - {""}}
    assert {word: label for label, some in known.items() for word in some} | {"": ""} == words


@pytest.mark.parametrize("name", ["a\x85b", "a\u2028b", "a\x0bb", "a\x1cb"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_ends_where_an_editor_ends_it(tmp_path, name, end):
    """And nowhere in an id."""
    path = tmp_path / "pairs.tsv"
    path.write_bytes(f"id1\tid2\tlabel{end}{name}\tc\tyes{end}d\te\tno{end}".encode())
    assert [(name, "c", "yes"), ("d", "e", "no")] == [(one.a, one.b, one.label) for one in read_judgements(str(path))]


def test_names_above_pairs_with_labels_are_no_ids_whatever_documents_are_called(tmp_path):
    """Decisions are read so, too; two ids without a label behind them may be a pair."""
    path = tmp_path / "pairs.tsv"
    path.write_text("id1\tid2\tlabel\nid1\tid2\tyes\n", "utf-8")
    assert [("id1", "id2", "yes")] == [(one.a, one.b, one.label) for one in read_judgements(str(path), ["id1", "id2"])]
    path.write_text("id1\tid2\n", "utf-8")
    assert 1 == len(read_judgements(str(path), ["id1", "id2"]))
