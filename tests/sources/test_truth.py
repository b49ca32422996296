"""Truth files: what counts as true, and errors that name ids and lines."""

import gzip

import pytest

from nearsame.errors import ConfigError, SourceError
from nearsame.sources.truth import read_truth

IDS = ["a", "b", "c", "d", "e", "f", "g"]


def read(tmp_path, text, **settings):
    """A truth file of that text."""
    path = tmp_path / "pairs.tsv"
    path.write_text(text, "utf-8")
    return read_truth(str(path), settings.pop("ids", IDS), **settings)


def listed(truth):
    """Its pairs."""
    return [(IDS[a], IDS[b], bool(t)) for a, b, t in zip(truth.a, truth.b, truth.is_true, strict=True)]


def test_without_labels_every_line_is_true(tmp_path):
    """Either way round, twice or once, after a byte order mark: the truth is whole."""
    truth = read(tmp_path, "\ufeffa\tb\n\nd\tc\nb\ta\n")
    assert [("a", "b", True), ("c", "d", True)] == listed(truth)
    assert truth.is_whole


def test_labels_say_true_false_or_nothing(tmp_path):
    """Numbers from the least on, words; what is neither is not judged."""
    text = "id1\tid2\tlabel\na\tb\t3\na\tc\t0.5\na\td\tunknown\na\te\tYes\na\tf\tno\na\tg\t\n"
    truth = read(tmp_path, text)
    assert [("a", "b", True), ("a", "c", False), ("a", "e", True), ("a", "f", False)] == listed(truth)
    assert (False, 2) == (truth.is_whole, truth.num_unjudged)
    assert ("a", "c", True) in listed(read(tmp_path, text, least=0.5))


def test_a_header_that_is_an_id_is_a_pair(tmp_path):
    """Only names of columns that no documents have are passed over."""
    assert [("a", "b", True)] == listed(read(tmp_path, "a\tb\n"))
    assert [] == listed(read(tmp_path, "id1\tid2\n"))


def test_a_truth_may_be_compressed(tmp_path):
    """By its name."""
    path = tmp_path / "pairs.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb\n"))
    assert [("a", "b", True)] == listed(read_truth(str(path), IDS))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tx\n", "pairs.tsv names the id 'x', which no document has"),
        ("x1\tx2\nx3\tx4\nx5\tx6\n", "names 6 ids 'x1', 'x2', 'x3', 'x4', 'x5' and 1 more, which no document has"),
        ("a\tb\nc\td\tnope\n", "pairs.tsv, line 2: the label 'nope' says neither yes nor no"),
        ("a\ta\n", "pairs.tsv, line 1: 'a' is paired with itself"),
        ("a\tb\t1\nb\ta\t0\n", "pairs.tsv, line 2: 'b' and 'a' are judged twice, differently"),
        ("id1\tid2\tlabel\tweight\na\tb\t1\t1e308\n", "line 2: the weight '1e308' is .* out of all proportion"),
        ("id1\tid2\tlabel\tweight\na\tb\t1\t1e-310\n", "line 2: the weight '1e-310' is .* out of all proportion"),
    ],
)
def test_a_truth_that_cannot_be_is_an_error_that_names_it(tmp_path, text, message):
    """Unknown ids, a document with itself, contradictions."""
    with pytest.raises(ConfigError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.hint


def test_an_id_of_two_documents_is_an_error(tmp_path):
    """It would not be known which of them is meant."""
    with pytest.raises(ConfigError, match="names the id 'a', which several documents have"):
        read(tmp_path, "a\tb\n", ids=["a", "b", "a"])


@pytest.mark.parametrize("text", ["a b\n", "a\t\n", "\tb\n"])
def test_a_line_that_is_no_pair_is_named(tmp_path, text):
    """With the number of the line."""
    with pytest.raises(SourceError, match=r"pairs.tsv, line 1: .* is not id1, a tab, id2"):
        read(tmp_path, text)


def test_what_is_no_text_is_an_error(tmp_path):
    """Also what is not there."""
    (tmp_path / "pairs.tsv").write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match=r"pairs\.tsv"):
        read_truth(str(tmp_path / "pairs.tsv"), IDS)
    with pytest.raises(SourceError, match="does not exist"):
        read_truth(str(tmp_path / "none.tsv"), IDS)


def test_a_sample_keeps_the_pairs_within_it(tmp_path):
    """Both documents must have been drawn; rows are numbered anew."""
    import numpy as np

    truth = read(tmp_path, "a\tb\nb\td\nd\tg\n").within(np.array([1, 3, 4]))
    assert [(0, 1)] == list(zip(truth.a.tolist(), truth.b.tolist(), strict=True))
    assert 0 == read(tmp_path, "a\tb\n").within(np.zeros(0, np.int64)).a.size


def test_what_is_not_utf8_is_named_with_its_line(tmp_path):
    """And not in the words of a codec."""
    path = tmp_path / "pairs.tsv"
    path.write_bytes("a\tb\nü\tb\n".encode("latin-1"))
    with pytest.raises(SourceError, match=r"pairs.tsv, line 2: invalid UTF-8$"):
        read_truth(str(path), IDS)
