"""Files in other encodings: read by their byte order marks or as asked, counted, and written again as they were."""

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import ConfigError, SourceError
from nearsame.page_encodings import decoded
from nearsame.sources.transcoding import encoded, to_utf8
from tests.cli.commands import run
from tests.examples import share

JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗い所で泣いていた。"
GERMAN = "Größere Bären fraßen süße Früchte über den Dächern von Zürich, während es draußen kühl und nebelig wurde."
PLAIN = "the quick brown fox jumps over the lazy dog near the river, and nobody has seen it come back since then"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (JAPANESE, "shift_jis", None),
        (JAPANESE, "euc_jp", "euc_jp"),
        (JAPANESE, "utf-16", "utf-16-le"),
        (JAPANESE, "utf-8", "utf-8"),
        (GERMAN, "latin-1", "cp1252"),
        (GERMAN, "utf-8-sig", "utf-8"),
        (PLAIN, "utf-16-le", "utf-16-le"),
        (PLAIN, "utf-16-be", "utf-16-be"),
        (PLAIN, "utf-32", "utf-32-le"),
        (PLAIN, "ascii", "utf-8"),
        ("", "utf-8", "utf-8"),
    ],
)
def test_an_encoding_is_detected(text: str, name: str, expected: str | None) -> None:
    """With and without a byte order mark; the text is the same in all of them."""
    found, detected = decoded(text.encode(name), "auto")
    assert text == found.decode()
    assert detected == expected or (expected is None and detected in ("shift_jis", "cp932"))
    assert text.removeprefix("\ufeff") == decoded(text.encode(name), name)[0].decode()


@pytest.mark.parametrize("method", ["digest", "jaccard"])
def test_files_of_one_text_are_duplicates_in_any_encoding(tmp_path: Path, method: str) -> None:
    """The note counts them, copies have the bytes that were read, and the proof holds."""
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for number, name in enumerate(("utf-8", "shift_jis", "utf-16", "utf-8")):
        (source / f"{number}.txt").write_bytes(JAPANESE.encode(name))
    (source / "z.txt").write_bytes(GERMAN.encode("latin-1"))
    options = ("--encoding", "auto", "--method", method, "--keep", "last", "--copy", "-o", out)
    done = run("dedup", source, *options)
    assert 0 == done.exit_code, done.stderr
    assert "files in other encodings than UTF-8: " in done.output
    assert ["3.txt", "z.txt"] == sorted(path.name for path in (out / "kept").rglob("*.txt"))
    assert GERMAN.encode("latin-1") == next((out / "kept").rglob("z.txt")).read_bytes()
    verification = ns.verify(out)
    assert verification.holds, verification


def test_all_files_are_read_by_the_encoding_that_is_named(tmp_path: Path) -> None:
    """One that cannot be is reported with its place, and stays."""
    (tmp_path / "a.txt").write_bytes(GERMAN.encode("utf-16"))
    (tmp_path / "b.txt").write_bytes(b"odd")
    found = ns.dedup(tmp_path, encoding="utf-16")
    assert (1, [GERMAN]) == (
        found.stats.skipped,
        [row["text"] for row in found.kept().to_pylist() if row["id"] == "a.txt"],
    )
    assert "b.txt: not utf-16" in found.skipped["reason"][0].as_py()
    assert ("files in other encodings than UTF-8: utf-16 1",) == found.stats.notes
    assert 2 == ns.dedup(tmp_path / "*.txt").stats.skipped + ns.dedup(tmp_path / "*.txt").stats.documents


def test_what_a_mark_does_not_say_is_not_guessed(tmp_path: Path) -> None:
    """By default UTF-16 is known by its mark; what else is no UTF-8 is unreadable, and a note has the option."""
    for number, raw in enumerate(
        (GERMAN.encode(), GERMAN.encode("utf-16"), PLAIN.encode("utf-16-le"), GERMAN.encode("cp1252"))
    ):
        (tmp_path / f"{number}.txt").write_bytes(raw)
    found = ns.dedup(tmp_path / "*.txt")
    assert (1, 2) == (found.stats.removed, found.stats.skipped)
    assert {"2.txt: it looks like UTF-16, and has no byte order mark"} < set(found.skipped["reason"].to_pylist())
    unread = "2 text files are not UTF-8, and unread: --encoding auto reads them as they look: utf-16-le 1, cp1252 1"
    assert ("files in other encodings than UTF-8: utf-16-le 1", unread) == found.stats.notes
    found.write(tmp_path / "out")
    assert ns.verify(tmp_path / "out").holds
    bare = ns.dedup((tmp_path / "0.txt", tmp_path / "1.txt"), method="digest")  # compares bytes
    assert (0, 2) == (bare.stats.removed, bare.stats.documents + bare.stats.skipped)


ROWS = [(str(number), text) for number, text in enumerate((GERMAN, PLAIN, GERMAN, JAPANESE))]


@pytest.mark.parametrize(
    ("name", "asked", "suffix"),
    [
        ("utf-16", None, ".csv"), ("utf-32-be", "utf-32-be", ".jsonl"), ("shift_jis", "shift_jis", ".csv.gz"),
        ("euc_jp", "auto", ".jsonl.gz"), ("utf-16", "utf-16", ".tsv"),
    ],
)  # fmt: skip
def test_records_come_back_byte_for_byte(tmp_path: Path, name: str, asked: str | None, suffix: str) -> None:
    """Lines that stay are those bytes, a note says how they were read, and the proof holds."""
    rows = [row for row in ROWS if "ö" not in row[1]] * 2 if "jis" in name or "jp" in name else ROWS
    form = '{{"id": "{}", "text": "{}"}}\n' if "json" in suffix else "{}\t{}\n" if "tsv" in suffix else '{},"{}"\n'
    header = "" if "json" in suffix else "id\ttext\n" if "tsv" in suffix else "id,text\n"
    path, opened = tmp_path / f"a{suffix}", gzip.open if suffix.endswith("gz") else open
    with opened(path, "wb") as out:
        out.write((header + "".join(form.format(*row) for row in rows)).encode(name))
    found = ns.dedup(path, encoding=asked)
    found.write(tmp_path / "out")
    stay = [row for at, row in enumerate(rows) if row[1] not in [text for _, text in rows[:at]]]
    with opened(tmp_path / "out" / "kept" / path.name, "rb") as copy:
        assert (header + "".join(form.format(*row) for row in stay)).encode(name) == copy.read()
    assert [text for _, text in stay] == found.kept()["text"].to_pylist()
    assert f"files in other encodings than UTF-8: {'' if asked == 'auto' else name[:6]}" in found.stats.notes[0]
    assert ns.verify(tmp_path / "out").holds


@settings(max_examples=share(100))
@given(
    st.sampled_from(["utf-16-le", "cp932", "cp1252", "gb18030", "utf-8"]),
    st.one_of(st.binary(max_size=40), st.text(max_size=20)),
    st.integers(1, 7),
)
def test_what_is_read_is_written_again(codec: str, given: bytes | str, size: int) -> None:
    """Bytes become text and the same bytes again however they are cut, or the file is refused."""
    raw = given.encode(codec, "ignore") if isinstance(given, str) else given
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    out = io.BytesIO()
    try:
        read = list(to_utf8(iter(pieces), codec, "a"))
    except SourceError:
        assert isinstance(given, bytes)
        return
    with encoded(out, codec) as back:
        back.writelines(iter([b"".join(read)[at : at + size] for at in range(0, len(b"".join(read)), size)]))
    assert raw == out.getvalue()
    if isinstance(given, str):
        assert raw.decode(codec) == b"".join(read).decode()


def test_a_file_that_would_not_come_back_is_refused(tmp_path: Path) -> None:
    """Where two ways of bytes are one character; and what another encoding cannot hold."""
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"id": "é", "text": "ein Satz"}\n'.encode("cp1252") * 2 + b'{"text": "\x81"}\n')
    found = ns.dedup(path, encoding="cp1252")
    assert (1, 1) == (found.stats.skipped, found.stats.removed)
    found.write(tmp_path / "kept.jsonl")
    assert b'{"text": "\x81"}\n' in (tmp_path / "kept.jsonl").read_bytes()
    path.write_bytes("{}".encode("utf-16-le")[:-1])
    with pytest.raises(SourceError, match="is not readable as utf-16-le from byte 2 on"):
        ns.dedup(path, encoding="utf-16-le")


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    """An encoding that is none or not of texts; sources that are not text files; Spark."""
    for name in ("klingon", "base64", "", "idna", "punycode", "unicode_escape"):
        with pytest.raises(ConfigError, match="is not an encoding of texts"):
            ns.dedup(["a"], encoding=name)
    with pytest.raises(ConfigError, match="no source is one"):
        ns.dedup(["a"], encoding="auto")
    done = run("dedup", tmp_path, "--engine", "spark", "--encoding", "auto", "-o", tmp_path / "out")
    assert (2, True) == (done.exit_code, "--encoding does nothing with --engine spark" in done.stderr)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl.gz"])
def test_records_in_another_encoding_are_told_with_the_option_that_reads_them(tmp_path: Path, name: str) -> None:
    """Files by name, with the number of records and what they look like; a wrong encoding is named in each reason."""
    form = '{{"text": "{}"}}\n' if "json" in name else '"{}"\n'
    lines = [form.format(f"{number} {text}") for number in range(3) for text in (GERMAN, PLAIN)]
    data = "".join(lines if "json" in name else ["text\n", *lines]).encode("cp1252")
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    found = ns.dedup(path, keep="longest")
    told = f"3 records are not UTF-8, and unread: {path} 3 (looks like cp1252). If a file is in another encoding, "
    assert (f"{told}--encoding cp1252 or auto reads it",) == found.stats.notes
    assert 0 == ns.dedup(path, encoding="cp1252").stats.skipped
    found = ns.dedup(path, encoding="shift_jis")
    assert {"not readable as shift_jis"} == set(found.skipped["reason"].to_pylist())
    assert () == ns.dedup(path, encoding="utf-8").stats.notes
    with pytest.raises(SourceError, match="not readable as shift_jis"):
        ns.dedup(path, encoding="shift_jis", strict=True)
