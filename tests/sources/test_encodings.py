"""Text files in other encodings are read where that is asked for, and counted by their encodings."""

from pathlib import Path

import pytest

import nearsame as ns
from nearsame.errors import ConfigError
from nearsame.page_encodings import decoded
from tests.cli.commands import run

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
    assert "text files in other encodings than UTF-8: " in done.output
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
    assert ("text files in other encodings than UTF-8: utf-16 1",) == found.stats.notes
    assert 2 == ns.dedup(tmp_path / "*.txt").stats.skipped + ns.dedup(tmp_path / "*.txt").stats.documents


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    """An encoding that is none or not of texts; sources that are not text files; Spark."""
    for name in ("klingon", "base64", ""):
        with pytest.raises(ConfigError, match="is not an encoding of texts"):
            ns.dedup(["a"], encoding=name)
    with pytest.raises(ConfigError, match="no source is one"):
        ns.dedup(["a"], encoding="auto")
    done = run("dedup", tmp_path, "--engine", "spark", "--encoding", "auto", "-o", tmp_path / "out")
    assert (2, True) == (done.exit_code, "--encoding does nothing with --engine spark" in done.stderr)
