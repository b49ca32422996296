"""Standard input has no name: how it is compressed is told by how it begins."""

import io
import json

import pytest

import nearsame as ns
from nearsame.errors import SourceError
from nearsame.files.compressions import COMPRESSIONS, recognised
from nearsame.sources import Columns, Skipped
from nearsame.sources.standard_input import plain_input
from tests.cli.commands import documents, run

from .corpora import compressed, copied, only

LINES = b"".join(json.dumps(record).encode() + b"\n" for record in documents())
EVERY = pytest.mark.parametrize(("suffix", "kind"), COMPRESSIONS.items())


def packed(data, kind):
    """The bytes, compressed."""
    return compressed(data, next(suffix for suffix, name in COMPRESSIONS.items() if name == kind))


@EVERY
@pytest.mark.parametrize("data", [b"", LINES])
def test_each_compression_is_recognised(suffix, kind, data):
    """Of nothing, too."""
    assert kind == recognised(packed(data, kind)[:10])


@pytest.mark.parametrize("text", [b"", b"BZh9 and other words", b"P*M", b"{}", b"\x1f", b"\xef\xbb\xbf{}", b"7zXZ"])
def test_a_text_is_not_taken_for_compressed(text):
    """Of what begins alike, all that tells is looked at."""
    assert recognised(text) is None


@EVERY
def test_json_lines_are_read_and_copied_as_they_came(suffix, kind, tmp_path):
    """kept/ has the same compression, and a name that says so."""
    part = only("-", stdin=io.BytesIO(packed(LINES, kind)))
    assert f"stdin.jsonl{suffix}" == part.target
    texts = [text for batch in part.read(Columns(), pytest.fail) for text in batch.column("text").to_pylist()]
    assert [record["text"] for record in documents()] == texts
    copy = copied(part, tmp_path, [])
    assert kind == recognised(copy.read_bytes()[:10])


@EVERY
def test_dedup_of_compressed_input_is_that_of_the_plain_one(suffix, kind):
    """To the byte, as lines."""
    plain = run("dedup", "-", "-o", "-", stdin=LINES)
    assert plain.stdout_bytes == run("dedup", "-", "-o", "-", stdin=packed(LINES, kind)).stdout_bytes
    assert 2 == plain.stdout_bytes.count(b"\n")


@EVERY
@pytest.mark.parametrize("data", [b"http://a.example/\nhttp://b.example/?\n", b'{"url": "http://a.example/"}\n'])
def test_urls_may_come_compressed(suffix, kind, data):
    """A list of them, or JSON lines."""
    assert (
        run("urls", "-", "-o", "-", stdin=data).stdout == run("urls", "-", "-o", "-", stdin=packed(data, kind)).stdout
    )


@EVERY
def test_a_text_may_come_compressed(suffix, kind, tmp_path):
    """As of a file of such a name."""
    (tmp_path / "a.txt").write_text("one text of a few words", "utf-8")
    assert 0 == run("compare", tmp_path / "a.txt", "-", stdin=packed(b"one text of a few words", kind)).exit_code


def test_what_breaks_off_is_told_with_what_came_before(tmp_path):
    """JSON lines up to there are read; of anything else nothing is."""
    whole = packed(LINES * 50, "gzip")
    skipped = []
    part = only("-", stdin=io.BytesIO(whole[:-20]))
    assert sum(map(len, part.read(Columns(), skipped.append)))
    assert [Skipped] == [type(record) for record in skipped]
    with pytest.raises(SourceError, match="not readable as gzip to its end"), plain_input(io.BytesIO(whole[:-20])):
        pass


def test_it_goes_when_nobody_needs_it(tmp_path, monkeypatch):
    """The temporary file, whatever became of the run."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    part = only("-", stdin=io.BytesIO(packed(LINES, "zstd")))
    assert 1 == len(list(tmp_path.iterdir()))
    del part
    assert [] == list(tmp_path.iterdir())


def test_lists_and_tables_are_not_taken_for_standard_input():
    """`urls` of what is in memory looks at no stream."""
    assert 1 == ns.urls(["-"]).stats.read


def test_an_array_on_standard_input_is_refused_with_what_to_pass_it_through():
    """There is no file that could be converted."""
    done = run("dedup", "-", "-o", "-", stdin='[{"text": "a"}]')
    assert "- holds one JSON array, not one object a line\nhint: Pass it through: jq -c '.[]'\n" in done.stderr


@pytest.mark.parametrize("command", [("dedup", "", "--dry-run"), ("leaks", "", "--eval", "a.jsonl")])
def test_an_empty_name_is_told_from_a_missing_file(command):
    """As a shell gives it for a variable that nobody set."""
    assert "error: the name of a source is empty\n" in run(*command).stderr
