"""Every kind of file, in and out again: what the table of docs/inputs.md says."""

import io
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

import nearsame as ns
from nearsame.files.formats import FORMATS, PAGES, SOURCE_CODE, TEXTS
from tests.sources.archive import PAGE, gzipped, html, http, record, response, wacz
from tests.sources.test_cdx import LINES as CAPTURES
from tests.sources.test_cdx import _cdx, _cdxj

pytest.importorskip("fastwarc")

WORDS = [PAGE.format(number) * 3 for number in (0, 1, 0)]  # the third is a copy of the first
JSON = [f'{{"id": "{at}", "text": "{text}"}}\n' for at, text in enumerate(WORDS)]
ROWS = pa.table({"id": ["0", "1", "2"], "text": WORDS})
ARC = b"1 0 x\nURL IP-address Archive-date Content-type Archive-length\n"


def _mhtml(text: str) -> bytes:
    return b"MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html(text)


def _arc() -> bytes:
    made = b"filedesc://a.arc 0.0.0.0 20260102030405 text/plain %d\n" % len(ARC) + ARC + b"\n"
    for number, text in enumerate(WORDS):
        block = http(html(text))
        made += f"http://a.example/{number} 0.0.0.0 20260102030405 text/html {len(block)}\n".encode() + block + b"\n"
    return made


def _delimited(mark: str) -> bytes:
    return "".join(f'{at}{mark}"{text}"\n' for at, text in [("id", "text"), *enumerate(WORDS)]).encode()


MADE = {
    ".mht": lambda: map(_mhtml, WORDS),
    ".mhtml": lambda: map(_mhtml, WORDS),
    ".csv": lambda: [_delimited(",")],
    ".tsv": lambda: [_delimited("\t")],
    ".warc": lambda: [b"".join(response(number, text) for number, text in enumerate(WORDS))],
    ".wet": lambda: [b"".join(map(_wet, WORDS))],
    ".arc": lambda: [_arc()],
    ".wacz": lambda: [wacz({"a.warc.gz": gzipped(*(response(number, text) for number, text in enumerate(WORDS)))})],
    ".cdx": lambda: [_cdx(*CAPTURES[:3]).encode()],
    ".cdxj": lambda: [_cdxj(*CAPTURES[:3]).encode()],
    ".parquet": lambda: [_table(pq.write_table)],
    ".orc": lambda: [_table(orc.write_table)],
    **dict.fromkeys((".arrow", ".feather"), lambda: [_table(pyarrow.feather.write_feather)]),
    **dict.fromkeys((".jsonl", ".json", ".ndjson"), lambda: ["".join(JSON).encode()]),
    **dict.fromkeys(TEXTS, lambda: (text.encode() for text in WORDS)),
    **dict.fromkeys((".htm", ".html", ".xhtml"), lambda: map(html, WORDS)),
}


def _wet(text: str) -> bytes:
    return record(text.encode(), "Content-Type: text/plain", kind="conversion")


def _table(write: Callable[..., object]) -> bytes:
    out = io.BytesIO()
    write(ROWS, out)
    return out.getvalue()


# By endings: how many documents and what is in kept/, as the table says it.
KINDS = {
    TEXTS: ("a file", "a list of paths, or with `--copy` the files"),
    tuple(PAGES): ("a page, by its main content", "likewise"),
    (".jsonl", ".ndjson", ".json"): ("a line", "the lines that stay, byte for byte"),
    (".csv",): ("a row", "the rows that stay, byte for byte"),
    (".tsv",): ("a row", "the rows that stay, byte for byte"),
    (".parquet",): ("a row", "Parquet of the same schema, codecs and encodings"),
    (".orc",): ("a row", "ORC of the same columns"),
    (".arrow", ".feather"): ("a row", "Arrow of the same schema and form"),
    (".warc", ".wet"): ("a page, or a text of one", "the archive, the other records byte for byte"),
    (".arc",): ("a page", "the archive, the other records byte for byte"),
    (".wacz",): ("a page", "the package with its archives, indexes and lists of pages without them"),
    (".cdx", ".cdxj"): ("a capture, by its digest", "the lines that stay, byte for byte"),
}


@pytest.mark.parametrize("suffix", [suffix for endings in KINDS for suffix in endings if suffix not in SOURCE_CODE[1:]])
def test_every_kind_goes_in_and_comes_out_again(tmp_path: Path, suffix: str) -> None:
    """Of three documents two stay, in files of the same kind; these are read again, and nothing more goes."""
    source = tmp_path / "in"
    source.mkdir()
    for number, data in enumerate(MADE[suffix]()):
        (source / f"{number}{suffix}").write_bytes(data)
    found = ns.dedup(source)
    assert (3, 1, 0) == (found.stats.documents, found.stats.removed, found.stats.skipped)
    found.write(tmp_path / "out", copy_files=suffix in TEXTS or suffix in PAGES)
    assert {suffix} == {path.suffix for path in (tmp_path / "out" / "kept").rglob("*") if path.is_file()}
    again = ns.dedup(tmp_path / "out" / "kept")
    assert (2, 0, 0) == (again.stats.documents, again.stats.removed, again.stats.skipped)
    texts = "text" if "text" in found.kept().column_names else "digest"
    assert sorted(found.kept()[texts].to_pylist()) == sorted(again.kept()[texts].to_pylist())


def test_the_docs_have_a_row_for_every_kind() -> None:
    """And all that is read has one."""
    lines = (Path(__file__).parents[2] / "docs" / "inputs.md").read_text("utf-8").splitlines()
    listed = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines if line.startswith("| `.")]
    shown = {endings: endings[:6] if endings == TEXTS else endings for endings in KINDS}
    more = {TEXTS: ", source code"}
    expected = [(f"`{' '.join(shown[endings])}`{more.get(endings, '')}", *KINDS[endings]) for endings in KINDS]
    assert expected == listed
    known = {*TEXTS, *PAGES, *(suffix for form in FORMATS for suffix in form.suffixes)}
    assert known - {".wat"} == {
        suffix for endings in KINDS for suffix in endings
    }  # these describe pages, and have none
