"""What cannot be read is reported with its place and copied as it is, or is an error that names the place."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearsame.errors import ColumnError, SourceError
from nearsame.files.compressions import COMPRESSIONS as SUFFIXES
from nearsame.sources import Annotations, Columns, Skipped, open_parts

from .corpora import COMPRESSIONS, Rows, compressed, copied, decompressed, encoded, only, read, write

ROWS: Rows = [{"id": f"i{number}", "text": f"text {number}", "n": number} for number in range(2_000)]


def _file(folder: Path, name: str, data: bytes) -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


BROKEN_LINES: list[tuple[bytes, str]] = [
    (b'{"text": "x"', "not valid JSON"),
    (b'{"text": "x"} {"text": "y"}', "not valid JSON"),
    (b'["text", "x"]', "not a JSON object but an array"),
    (b"7", "not a JSON object but a number"),
    (b'{"text": 7}', "the text is a number, not a string"),
    (b'{"text": {"a": "b"}}', "the text is an object, not a string"),
    (b'{"text": "\xff"}', "invalid UTF-8"),
    (b'{"text": "\\ud800"}', "a lone surrogate"),
    (b'{"text": "x", "id": [1]}', "the id is an array"),
    (b'{"text": "x", "a": ' + b"[" * 5_000 + b"}", "not valid JSON"),
]


@pytest.mark.parametrize(("line", "reason"), BROKEN_LINES)
def test_a_broken_json_line_is_skipped_with_its_place(tmp_path: Path, line: bytes, reason: str) -> None:
    """The line takes up its position; blank lines have a line number and no position."""
    path = _file(tmp_path, "a.jsonl", b'{"id":"a","text":"A"}\n\n \r\n' + line + b'\n{"id":"b","text":"B"}\n')
    rows, skipped = read(only(path))
    assert [(0, "a", "A"), (2, "b", "B")] == [tuple(row.values()) for row in rows]
    assert [(path, 1, 4)] == [place[:3] for place in skipped]
    assert reason in skipped[0].reason
    target = copied(only(path), tmp_path, [0])
    assert b"\n \r\n" + line + b'\n{"id":"b","text":"B"}\n' == target.read_bytes()


def test_lines_that_pyarrow_would_join_are_still_lines(tmp_path: Path) -> None:
    """An object over two lines is two broken lines, even when two objects on a third make up the count."""
    path = _file(tmp_path, "a.jsonl", b'{"text":\n"a"}\n{"text":"b"}{"text":"c"}\n{"text":"d"}')
    rows, skipped = read(only(path))
    assert [(3, "d")] == [(row["position"], row["text"]) for row in rows]
    assert [1, 2, 3] == [place.line for place in skipped]


@pytest.mark.parametrize("extra", [b'"x": NaN', b'"x": "\xff"', b'"x": 1, "x": 2', b'"x": "\\ud800"', b'"x": 1e999'])
def test_what_nobody_asked_for_may_be_odd(tmp_path: Path, extra: bytes) -> None:
    """A field that is not read makes no record unreadable, whether or not its neighbours are broken."""
    line = b'{"text": "A", ' + extra + b"}\n"
    for neighbour, num_skipped in ((b"", 0), (b"broken\n", 1)):
        rows, skipped = read(only(_file(tmp_path, "a.jsonl", line + neighbour)))
        assert ["A"] == [row["text"] for row in rows]
        assert num_skipped == len(skipped)


def test_a_record_without_the_text_has_a_null_text(tmp_path: Path) -> None:
    """Missing keys and nulls are readable records."""
    rows, skipped = read(only(_file(tmp_path, "a.jsonl", b'{"text":"A"}\n{"id":1}\n{"text":null}\n')))
    assert (["A", None, None], []) == ([row["text"] for row in rows], skipped)


def test_a_byte_order_mark_is_tolerated_and_kept(tmp_path: Path) -> None:
    """At the start of JSON lines and of CSV; a copy begins with it even when the first record goes."""
    bom = b"\xef\xbb\xbf"
    lines = _file(tmp_path, "a.jsonl", bom + b'{"text":"A"}\r\n{"text":"B"}')
    table = _file(tmp_path, "a.csv", bom + b"text,n\r\nA,1\r\nB,2")
    for path, kept in ((lines, bom + b'{"text":"B"}'), (table, bom + b"text,n\r\nB,2")):
        assert ["A", "B"] == [row["text"] for row in read(only(path))[0]]
        assert kept == copied(only(path), tmp_path, [0]).read_bytes()


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_a_json_array_is_an_error_that_says_how_to_convert(tmp_path: Path, name: str) -> None:
    """`.json` means JSON lines."""
    path = _file(tmp_path, name, compressed(b'\n[{"text": "A"}]', Path(name).suffix if "gz" in name else ""))
    with pytest.raises(SourceError, match="one JSON array") as caught:
        read(only(path))
    assert "jq -c" in caught.value.hint


@pytest.mark.parametrize(
    "data", [b'{\n  "text": "A"\n}\n', b'{"id": 1,\n "text": "A"}', b'{\n"text": "A"\n}\n{\n"text": "B"\n}\n']
)
def test_a_json_object_over_several_lines_is_an_error_that_says_how_to_convert(tmp_path: Path, data: bytes) -> None:
    """As people print them; in `.jsonl` each line is a broken record."""
    with pytest.raises(SourceError, match=r"a\.json holds a JSON object over several lines") as caught:
        read(only(_file(tmp_path, "a.json", data)))
    assert "jq -c '.'" in caught.value.hint


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"id,text,text\n1,A,B\n", "has several columns named 'text'"),
        (b"a,a,a\n1,A,B\n", "has no string column"),
        ("id,text\n1,A\n".encode("utf-16-le"), "is not UTF-8 text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\r\n", "is not UTF-8 text"),
        (b"id;text\n1;A\n", "looks separated by ';'"),
        (b"id\ttext\n1\tA\n", "looks separated by '\\t'"),
    ],
)
def test_a_csv_of_another_kind_is_an_error_that_says_so(tmp_path: Path, data: bytes, says: str) -> None:
    """No message holds what it holds, where that is not a text."""
    with pytest.raises(SourceError) as caught:
        read(only(_file(tmp_path, "a.csv", data)))
    assert says in caught.value.message
    assert "a.csv" in caught.value.message
    assert "\0" not in caught.value.message + caught.value.hint


def test_a_csv_of_one_column_may_have_any_name(tmp_path: Path) -> None:
    """When it is given; and a header in another encoding is no hindrance where the text's name can be read."""
    columns = Columns(text="notes; remarks")
    assert ["A"] == [row["text"] for row in read(only(_file(tmp_path, "a.csv", b"notes; remarks\nA\n")), columns)[0]]
    assert ["A"] == [row["text"] for row in read(only(_file(tmp_path, "b.csv", b"caf\xe9,text\n1,A\n")))[0]]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"x", "1 fields where the header has 2"),
        (b'x,"y\n",z', "3 fields where the header has 2"),
        (b"x,\xff", "invalid UTF-8 at byte 0"),
    ],
)
def test_a_bad_csv_record_is_skipped_with_its_line(tmp_path: Path, record: bytes, reason: str) -> None:
    """Lines count, not records: a quoted field may span several. Copies hold the record as it was."""
    path = _file(tmp_path, "a.csv", b'id,text\na,"A\nA"\n' + record + b"\nb,B\n")
    rows, skipped = read(only(path))
    assert [(0, "a", "A\nA"), (2, "b", "B")] == [tuple(row.values()) for row in rows]
    assert [(path, 1, 4)] == [place[:3] for place in skipped]
    assert reason in skipped[0].reason
    assert b"id,text\n" + record + b"\nb,B\n" == copied(only(path), tmp_path, [0]).read_bytes()


def test_a_quote_that_never_closes_is_one_bad_record(tmp_path: Path) -> None:
    """All that follows belongs to it."""
    path = _file(tmp_path, "a.csv", b'id,text\na,A\nb,"B\nc,C\n')
    rows, skipped = read(only(path))
    assert ["A"] == [row["text"] for row in rows]
    assert [(1, 3, "a quote that opens here never closes")] == [tuple(place[1:]) for place in skipped]
    assert b'id,text\nb,"B\nc,C\n' == copied(only(path), tmp_path, [0]).read_bytes()


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_broken_stream_gives_what_came_before_the_break(tmp_path: Path, kind: str, compression: str) -> None:
    """Whole records are read, the rest is one skip without a position, and a copy has every readable byte."""
    written = [{**row, "text": hashlib.sha512(row["text"].encode()).hexdigest()} for row in ROWS * 3]
    plain = encoded(written, kind)
    packed = compressed(plain, compression)
    path = _file(tmp_path, f"a.{kind}{compression}", packed[: -len(packed) // 5])
    rows, skipped = read(only(path))
    texts = [(position, row["text"]) for position, row in enumerate(written)]
    assert texts[: len(rows)] == [(row["position"], row["text"]) for row in rows]
    assert [None] == [place.position for place in skipped]
    assert "unread from here on" in skipped[0].reason
    again = decompressed(copied(only(path), tmp_path, [0]))
    first = encoded(written[:1], kind).splitlines(keepends=True)[-1]
    assert len(rows) > 100
    assert len(again) > 100 * len(first)
    assert plain.replace(first, b"", 1).startswith(again)


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_copy_can_do_without_the_torn_end(tmp_path: Path, kind: str, compression: str) -> None:
    """Of a stream that broke off it has the whole records, and no byte more; so it is read without a skip."""
    written = [{**row, "text": hashlib.sha512(row["text"].encode()).hexdigest()} for row in ROWS * 3]
    packed = compressed(encoded(written, kind), compression)
    part = only(_file(tmp_path, f"a.{kind}{compression}", packed[: -len(packed) // 5]))
    part.copy(tmp_path / "kept" / part.target, np.array([0]), drop_unread=True)
    rows, skipped = read(only(tmp_path / "kept" / part.target))
    expected = [row["text"] for row in read(part)[0][1:]]
    assert (expected, []) == ([row["text"] for row in rows], skipped)


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "orc", "feather"])
def test_a_file_that_is_not_compressed_at_all_is_an_error_by_name_and_a_skip_in_a_folder(
    tmp_path: Path, kind: str, compression: str
) -> None:
    """A wrong suffix leaves nothing to read, and says so; in a folder the file is copied as it is, or not at all."""
    path = _file(tmp_path, f"a.{kind}{compression}", encoded(ROWS[:100], kind))
    with pytest.raises(SourceError, match=rf"a\.{kind}{compression} is not readable as {SUFFIXES[compression]}"):
        read(only(path))
    write(tmp_path, ROWS[:2], "jsonl")
    broken, _ = open_parts([tmp_path], columns=Columns())
    rows, skipped = read(broken)
    assert ([], [(path, None, None)]) == (rows, [place[:3] for place in skipped])
    assert read(broken, Columns(order=("n",)))[1] == skipped
    assert Path(path).read_bytes() == copied(broken, tmp_path).read_bytes()
    broken.copy(tmp_path / "none", np.zeros(0, np.int64), drop_unread=True)
    assert not (tmp_path / "none").exists()
    nothing = np.zeros(0, np.int64)
    assert 0 == len(broken.take(nothing, nothing, Columns()))


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv"])
def test_an_empty_file_has_no_records(tmp_path: Path, kind: str, compression: str) -> None:
    """No bytes at all, or none once decompressed."""
    path = _file(tmp_path, f"a.{kind}{compression}", compressed(b"", compression))
    assert ([], []) == read(only(path))
    assert b"" == decompressed(copied(only(path), tmp_path))


DAMAGES: list[Callable[[bytes], bytes]] = [lambda _: b"no such format", lambda data: data[:-20], lambda _: b""]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["parquet", "orc", "feather"])
def test_a_file_that_is_not_one_is_an_error_by_name_and_a_skip_in_a_folder(
    tmp_path: Path, kind: str, damage: Callable[[bytes], bytes]
) -> None:
    """In a folder with other files the whole file is skipped, and copied as it is."""
    path = _file(tmp_path, f"a.{kind}", damage(encoded(ROWS, kind)))
    with pytest.raises(SourceError, match=rf"a\.{kind}"):
        read(only(path))
    write(tmp_path, ROWS[:2], "jsonl")
    parts = open_parts([tmp_path], columns=Columns())
    (rows, skipped), (others, _) = (read(part) for part in parts)
    assert ([], [(path, None, None)], 2) == (rows, [place[:3] for place in skipped], len(others))
    assert Path(path).read_bytes() == copied(parts[0], tmp_path).read_bytes()
    parts[0].copy(tmp_path / "none", np.zeros(0, np.int64), drop_unread=True)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("compression", ["", ".zst"])
def test_what_follows_the_end_of_an_arrow_stream_is_told_and_copied(tmp_path: Path, compression: str) -> None:
    """Such as a second stream, or what a length of zero hides; a copy can do without."""
    one = encoded(ROWS[:3], "arrow")
    path = tmp_path / f"a.arrow{compression}"
    for rest in (one, bytes(8), b"x"):
        path.write_bytes(compressed(one + rest, compression))
        part = only(str(path))
        rows, skipped = read(part)
        assert [row["position"] for row in rows] == [0, 1, 2]
        assert [(each.position, each.reason) for each in skipped] == [
            (None, f"unread: {len(rest):,} bytes after the end of the stream")
        ]
        assert decompressed(copied(part, tmp_path)) == one + rest
        shorter = decompressed(copied(part, tmp_path, [1]))
        assert shorter.endswith(rest)
        assert _ids(shorter) == ["i0", "i2"]
        for removed, ids in (([], ["i0", "i1", "i2"]), ([1], ["i0", "i2"])):
            target = tmp_path / "dropped" / part.target
            part.copy(target, np.array(removed, np.int64), drop_unread=True)
            assert _ids(decompressed(target)) == ids
            assert read(only(str(target)))[1] == []


def test_a_zeroed_length_does_not_end_an_arrow_stream_in_silence(tmp_path: Path) -> None:
    """It reads as the end."""
    data = bytearray(encoded(ROWS[:12], "arrow"))
    last = data.rindex(b"\xff\xff\xff\xff", 0, len(data) - 8)
    data[last : last + 8] = bytes(8)
    (tmp_path / "a.arrow").write_bytes(data)
    rows, skipped = read(only(str(tmp_path / "a.arrow")))
    assert len(rows) == 10
    assert len(skipped) == 1


def _ids(data: bytes) -> list[str]:
    found: list[str] = pa.ipc.open_stream(data).read_all().column("id").to_pylist()
    return found


def test_damage_inside_a_parquet_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    """The footer is whole and a page is not."""
    data = bytearray(encoded(ROWS, "parquet"))
    data[4:2_000] = b"\xff" * 1_996
    with pytest.raises(SourceError, match=r"a\.parquet is damaged"):
        read(only(_file(tmp_path, "a.parquet", bytes(data))))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_an_invalid_text_in_a_table_is_skipped(tmp_path: Path, kind: str) -> None:
    """Parquet and Arrow files are not checked by those who write them."""
    texts = pa.array([b"A", b"\xc3", None, b"B"]).view(pa.string())
    path = tmp_path / f"a.{kind}"
    table = pa.table({"text": texts})
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    rows, skipped = read(only(path))
    assert [(0, "A"), (2, None), (3, "B")] == [(row["position"], row["text"]) for row in rows]
    assert [Skipped(str(path), 1, None, "invalid UTF-8 at byte 0 of the text")] == skipped
    assert [1, 2] == [row["position"] for row in read(only(copied(only(path), tmp_path, [0])))[0]]


def test_a_lone_surrogate_in_memory_is_skipped() -> None:
    """Python strings may hold what UTF-8 cannot."""
    rows, skipped = read(only(["A", "\ud800", None]))
    assert ([(0, "A"), (2, None)], 1) == ([(row["position"], row["text"]) for row in rows], len(skipped))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_a_missing_column_is_an_error_that_lists_the_columns(tmp_path: Path, kind: str) -> None:
    """For each of the columns that can be named."""
    path = write(tmp_path, ROWS[:3], kind)
    for columns in (Columns(text="body"), Columns(id="body"), Columns(order=("body",))):
        with pytest.raises(ColumnError, match="no column 'body'") as caught:
            read(only(path, columns), columns)
        assert "id, text, n" in caught.value.hint


@pytest.mark.parametrize("pattern", ["", "*.jsonl", "none.jsonl", "none/*.jsonl"])
def test_nothing_to_read_is_an_error_that_names_the_place(tmp_path: Path, pattern: str) -> None:
    """An empty folder, a glob without a match, a file that is not there."""
    with pytest.raises(SourceError, match=str(tmp_path)):
        open_parts([str(tmp_path / pattern)], columns=Columns())


def test_a_folder_of_unknown_files_says_so(tmp_path: Path) -> None:
    """They are counted, since a user may wonder."""
    _file(tmp_path, "a.docx", b"")
    with pytest.raises(SourceError, match="1 files, none of a known format"):
        open_parts([tmp_path], columns=Columns())


def test_a_named_file_of_unknown_format_is_an_error_that_lists_the_known(tmp_path: Path) -> None:
    """The hint has all of them."""
    with pytest.raises(SourceError, match="an unknown format") as caught:
        open_parts([_file(tmp_path, "a.dat", b"")], columns=Columns())
    assert ".jsonl" in caught.value.hint


def test_a_named_file_that_can_be_converted_says_how(tmp_path: Path) -> None:
    """As the summary says of one that is passed over in a folder."""
    with pytest.raises(SourceError, match="an unknown format") as caught:
        open_parts([_file(tmp_path, "a.DOCX", b"")], columns=Columns())
    assert caught.value.hint == "Convert it first, by pandoc; or say with --as what it holds."


@contextmanager
def _nobody() -> Iterator[Path]:
    """A folder that everybody may enter, as a user who may not do everything."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65_534)
    try:
        yield folder
    finally:
        os.seteuid(user)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("name", ["closed", "closed/*.jsonl", "."])
def test_a_folder_without_permission_is_an_error_that_names_it(name: str) -> None:
    """Named itself, or met inside another; a glob finds nothing there."""
    with _nobody() as folder:
        user = os.geteuid()
        os.seteuid(os.getuid())
        (folder / "closed").mkdir(mode=0)
        (folder / "a.jsonl").write_bytes(b"")
        os.seteuid(user)
        with pytest.raises(SourceError, match=r"permission denied|matches no file") as caught:
            open_parts([str(folder / name)], columns=Columns())
        place = folder / ("closed" if name == "." else name)
        assert caught.value.message in {f"{place}: permission denied", f"{place} matches no file"}


def test_a_file_without_permission_is_an_error_that_names_it() -> None:
    """When it is a file of records; among text files it is one skipped document."""
    with _nobody() as folder:
        user = os.geteuid()
        os.seteuid(os.getuid())
        for name in ("a.jsonl", "b.txt", "c.txt"):
            _file(folder, name, b"")
        (folder / "a.jsonl").chmod(0)
        (folder / "b.txt").chmod(0)
        os.seteuid(user)
        data, texts = open_parts([folder], columns=Columns())
        with pytest.raises(SourceError, match=r"a\.jsonl: permission denied"):
            read(data)
        rows, skipped = read(texts)
        assert [1] == [row["position"] for row in rows]
        assert [(0, "b.txt: ")] == [(place.position, place.reason[:7]) for place in skipped]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "txt"])
def test_a_text_of_100_megabytes_is_one_batch(tmp_path: Path, kind: str) -> None:
    """Its neighbours are read as ever."""
    text = "0123456789" * 10_000_000
    if kind == "txt":
        _file(tmp_path, "a.txt", b"A")
        _file(tmp_path, "b.txt", text.encode())
        part = only(tmp_path)
    else:
        part = only(write(tmp_path, [{"id": "a", "text": "A", "n": 0}, {"id": "b", "text": text, "n": 1}], kind))
    batches = list(part.read(Columns(max_record=128 << 20), print))
    assert [1, 100_000_000] == [len(found) for batch in batches for found in batch.column("text").to_pylist()]
    assert 2 == len(batches)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt"])
def test_strict_makes_a_skip_an_error_that_names_the_place(tmp_path: Path, name: str) -> None:
    """File and line, where there are lines."""
    path = _file(tmp_path, name, b"id,text\n\xff\n")
    with pytest.raises(SourceError, match=name) as caught:
        read(only(path, strict=True))
    assert "without --strict" in caught.value.hint


def test_a_file_that_changed_since_is_not_copied(tmp_path: Path) -> None:
    """Its positions may be others by now."""
    path = write(tmp_path, ROWS, "jsonl")
    part = only(path)
    path.write_bytes(encoded(ROWS[1:], "jsonl"))
    with pytest.raises(SourceError, match="changed"):
        copied(part, tmp_path)


def test_unreadable_records_get_null_annotations(tmp_path: Path) -> None:
    """A line that is not an object stays as it is; one that is gets nulls."""
    path = _file(tmp_path, "a.jsonl", b'{"text":"A"}\n{"text":7 }\n{"text"\n')
    none = np.zeros(0, np.int64)
    annotations = Annotations(pa.array([4, None, None]), pa.array(["w", None, None]), pa.array([0, None, None]))
    only(path).copy(tmp_path / "kept.jsonl", none, annotations)
    nulls = b'"cluster":null,"witness_id":null,"num_duplicates":null}'
    first = b'{"text":"A","cluster":4,"witness_id":"w","num_duplicates":0}'
    assert [first, b'{"text":7 ,' + nulls, b'{"text"'] == (tmp_path / "kept.jsonl").read_bytes().splitlines()
