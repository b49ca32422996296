"""Records that are too long are kept as they are, counted and told; the others do not notice."""

import gzip
import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

from nearsame.errors import ConfigError, SourceError
from nearsame.kernels.records import ENDED, pass_record, split_records
from nearsame.sources import Columns, delimited, into, jsonl, limits, open_parts, streams
from nearsame.sources.base import Annotations, RecordRoom
from nearsame.sources.cutting import Cuts

LONG = "long " * 400


def lines_of(*texts):
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)


def read(path, columns):
    """(positions read, texts, what was skipped) of a file."""
    skipped = []
    [part] = open_parts([str(path)], columns=columns)
    batches = list(part.read(columns, into(skipped)))
    positions = [position for batch in batches for position in batch.column("position").to_pylist()]
    texts = [text for batch in batches for text in batch.column("text").to_pylist()]
    return positions, texts, skipped


def copied(path, tmp_path, removed, annotations=None):
    [part] = open_parts([str(path)], columns=Columns())
    target = tmp_path / "copied"
    part.copy(target, np.array(removed, np.int64), annotations)
    return target.read_bytes()


@pytest.fixture
def small(monkeypatch):
    """Blocks of a few bytes, so that a record of a kilobyte is already too long for one, and is copied by pieces."""
    monkeypatch.setattr(streams, "BATCH_BYTES", 64)
    monkeypatch.setattr(jsonl, "BATCH_BYTES", 64)
    monkeypatch.setattr(streams, "_RAW_CHUNK", 50)
    monkeypatch.setattr(streams, "_CHUNK", 50)
    monkeypatch.setattr(streams.blocks, "__defaults__", (128,))
    monkeypatch.setattr(delimited.Delimited._blocks, "__defaults__", (128,))
    monkeypatch.setattr(limits, "MAX_RECORD", 128)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_long_line_is_skipped_with_its_place_and_its_neighbours_are_read(ending, tmp_path, small):
    """Its position is its own, so those behind it have theirs."""
    path = tmp_path / f"a.jsonl{ending}"
    data = lines_of("one", LONG, "two")
    path.write_bytes(gzip.compress(data) if ending else data)
    positions, texts, [skipped] = read(path, Columns(max_record=500))
    assert ([0, 2], ["one", "two"]) == (positions, texts)
    assert (1, 2) == (skipped.position, skipped.line)
    assert "2,013 bytes are more than max_record=500: not compared" == skipped.reason


@pytest.mark.parametrize("size", [500, 5_000])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.txt", "a.arrow", "a.orc"])
def test_every_format_knows_the_bound(name, size, tmp_path):
    """A record within it is read, one beyond it is told, whatever the file."""
    path, texts = tmp_path / name, ["one", LONG, "two"]
    if name == "a.jsonl":
        path.write_bytes(lines_of(*texts))
    elif name == "a.csv":
        path.write_text("id,text\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(texts)))
    elif name == "a.parquet":
        pq.write_table(pa.table({"text": texts}), path)
    elif name == "a.orc":
        orc.write_table(pa.table({"text": texts}), path)
    elif name == "a.arrow":
        table = pa.table({"text": pa.array(texts, pa.string_view())})
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        path = tmp_path / "texts"
        path.mkdir()
        for number, text in enumerate(texts):
            (path / f"{number}.txt").write_text(text)
    positions, found, skipped = read(path, Columns(max_record=size))
    expected = [0, 2] if size == 500 else [0, 1, 2]
    assert (expected, [texts[position] for position in expected]) == (positions, found)
    assert ([1] if size == 500 else []) == [each.position for each in skipped]


def test_a_long_record_in_memory_is_skipped(tmp_path):
    """Tables and lists are held to the same bound."""
    columns, skipped = Columns(max_record=500), []
    [part] = open_parts([["one", LONG, "two"]], columns=columns)
    [batch] = part.read(columns, into(skipped))
    assert ([0, 2], [1]) == (batch.column("position").to_pylist(), [each.position for each in skipped])


def test_a_quote_that_never_closes_does_not_hold_the_rest_of_the_file(tmp_path, small):
    """What follows it is one record, too long, and its place is told."""
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,one\n2,"open\n' + "3,three\n" * 300)
    positions, texts, [skipped] = read(path, Columns(max_record=500))
    assert ([0], ["one"]) == (positions, texts)
    assert (1, 3) == (skipped.position, skipped.line)
    assert skipped.reason.endswith("not compared; a quote that opens in it never closes")
    assert path.read_bytes() == copied(path, tmp_path, [])
    assert b"id,text\n" == copied(path, tmp_path, [0, 1])


def test_a_header_that_is_too_long_is_an_error_that_says_so(tmp_path, small):
    """Nothing can be told without it."""
    (tmp_path / "a.csv").write_text('id,"text' + "x" * 2_000)
    with pytest.raises(SourceError, match="its header has more than 500 bytes"):
        read(tmp_path / "a.csv", Columns(max_record=500))


def test_a_long_line_that_breaks_off_is_told_and_its_bytes_stay(tmp_path, small):
    """The break is told beside it."""
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(lines_of("one", *(str(n) for n in range(3)), "".join(map(chr, range(400, 3_000)))), mtime=0)
    path.write_bytes(whole[:-400])
    positions, texts, skipped = read(path, Columns(max_record=500))
    assert ([0, 1, 2, 3], "one") == (positions, texts[0])
    assert [4, None] == [each.position for each in skipped]
    assert "unread from here on" in skipped[1].reason
    assert lines_of("one")[:-1] in gzip.decompress(copied(path, tmp_path, [1]))


def test_a_file_of_one_long_array_is_refused_as_ever(tmp_path, small):
    """What it is shows in its first byte."""
    (tmp_path / "a.json").write_text("[" + ",".join(['{"text": "one"}'] * 200) + "]")
    with pytest.raises(SourceError, match="holds one JSON array"):
        read(tmp_path / "a.json", Columns(max_record=500))


def test_blanks_without_an_end_are_nothing(tmp_path, small):
    """Neither a record nor held."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines_of("one") + b" " * 3_000 + b"\n\r\n" + b"\n" * 500 + b"\t" * 3_000 + lines_of("two"))
    positions, texts, skipped = read(path, Columns(max_record=500))
    assert ([0, 1], ["one", "two"], []) == (positions, texts, skipped)
    assert path.read_bytes() == copied(path, tmp_path, [])
    assert path.read_bytes()[len(lines_of("one")) :] == copied(path, tmp_path, [0])


@given(
    sizes=st.lists(st.integers(0, 700), max_size=12),
    removed=st.sets(st.integers(0, 11)),
    name=st.sampled_from(["a.jsonl", "a.csv"]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_the_bound_changes_no_kept_byte(sizes, removed, name, ending, tmp_path_factory):
    """A copy has the bytes of the records that stay, in their order, whether they could be held or not."""
    home = tmp_path_factory.mktemp("kept")
    head = f"id,text{ending}" if name == "a.csv" else ""
    one = (lambda n, size: f'{n},"{"x, " * size}"') if head else (lambda n, size: json.dumps({"text": "x " * size}))
    records = [(one(number, size) + ending).encode() for number, size in enumerate(sizes)]
    (home / name).write_bytes(head.encode() + b"".join(records))
    gone = sorted(position for position in removed if position < len(records))
    expected = head.encode() + b"".join(record for n, record in enumerate(records) if n not in gone)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BATCH_BYTES", 64)
        patch.setattr(streams, "_RAW_CHUNK", 50)
        for held in (128, 1_000, 1 << 20):
            patch.setattr(streams.blocks, "__defaults__", (held,))
            patch.setattr(delimited.Delimited._blocks, "__defaults__", (held,))
            assert expected == copied(home / name, home, gone)
            positions, _, skipped = read(home / name, Columns(max_record=held))
            assert list(range(len(records))) == sorted([*positions, *(each.position for each in skipped)])


@given(st.text('ab,"\n\r', max_size=60), st.lists(st.integers(1, 5), min_size=1, max_size=60))
def test_pieces_end_where_the_whole_record_does(text, cuts):
    """However a record is cut, it has the bytes and the lines that it has in one piece."""
    data = np.frombuffer(b"x" + text.encode(), np.uint8)
    _, ends, _, _, _, lines = split_records(data, ord(","), final=True)
    state, size, at = np.zeros(2, np.int64), 0, 0
    for cut in (*cuts, len(data)):
        piece = data[at : at + cut]
        size, at = size + pass_record(piece, ord(","), state), at + len(piece)
        if state[0] == ENDED:
            break
    assert int(ends[0]) == size
    if int(ends[0]) == len(data):
        assert lines == state[1]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_long_record_is_annotated_if_it_was_read(name, tmp_path, small):
    """With a larger bound it was; else its bytes stay as they are."""
    path = tmp_path / name
    if name == "a.jsonl":
        path.write_bytes(lines_of("one", LONG))
    else:
        path.write_text(f"text\none\n{LONG}\n")
    cut = copied(path, tmp_path, [], Cuts(Columns("text"), {1: [(5, len(LONG))]})).splitlines()[-1]
    assert cut == (b'{"text": "long "}' if name == "a.jsonl" else b"long ")
    for number in (None, 2):
        annotations = Annotations(pa.array([0, 0]), pa.array(["w", None]), pa.array([0, number], pa.int64()))
        last = copied(path, tmp_path, [], annotations).splitlines(keepends=True)[-1]
        raw = path.read_bytes().splitlines(keepends=True)[-1]
        assert (number is None) == (raw == last)
        assert last.startswith(raw.rstrip(b"}\n"))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "texts"])
def test_a_record_that_the_memory_has_no_room_for_ends_the_run_with_its_place(name, tmp_path, small):
    """It is within the bound, so it was to be compared: the message says where it is and what it needs."""
    path = tmp_path / name
    if name == "a.jsonl":
        path.write_bytes(lines_of("one", LONG))
    elif name == "a.csv":
        path.write_text(f"text\none\n{LONG}\n")
    elif name == "a.parquet":
        pq.write_table(pa.table({"text": ["one", LONG]}), path)
    else:
        path.mkdir()
        (path / "1.txt").write_text(LONG)
    with pytest.raises(ConfigError, match=r"needs about [56],\d\d\d bytes of memory, and 1,500 are free") as raised:
        read(path, Columns(room=RecordRoom(1_500)))
    assert str(path) in raised.value.message
    assert "--max-record" in raised.value.hint
    assert ("record 1:" in raised.value.message) == (name == "a.parquet")


def _wide_cell(path, size):
    table = pa.table({"id": ["a", "b", "c"], "text": ["one two three", "x " * (size // 2), "one two three"]})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    return str(path)


def test_a_value_that_memory_cannot_hold_is_told_by_its_row_group(tmp_path):
    """It is known by what stands before its page: not a byte of it is read."""
    path = _wide_cell(tmp_path / "a.parquet", 16 << 20)
    columns = Columns(room=RecordRoom(100 << 20))
    (part,) = open_parts([path], columns=columns)
    message = f"{path}, row group 0, column 'text': a page of 16,777,"
    with pytest.raises(ConfigError, match=re.escape(message)):
        next(iter(part.read(columns, pytest.fail)))
    enough = replace(columns, room=RecordRoom(200 << 20))
    assert 3 == sum(len(batch) for batch in part.read(enough, pytest.fail))


def test_a_row_group_is_read_by_pages_however_large_it_is(tmp_path):
    """32 MB in one group of pages of one."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"{n} " * 250 for n in range(32_000)]}), path, use_dictionary=False)
    assert 1 == pq.read_metadata(path).num_row_groups
    columns = Columns(room=RecordRoom(20 << 20))
    (part,) = open_parts([str(path)], columns=columns)
    assert 32_000 == sum(len(batch) for batch in part.read(columns, pytest.fail))
