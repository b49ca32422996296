"""CDX and CDXJ: lines of an index as documents, equal by digest, with their URLs."""

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import nearsame as ns
from tests.cli.commands import run
from tests.sources.archive import gzipped, response, wacz

KEY = "org,example)/{}"
NAMES = ("url", "mime", "status", "digest", "length", "offset", "filename")
HEADER = " CDX N b a m s k r M S V g\n"

Line = dict[str, Any]


def _line(number: int, digest: str | None, **more: Any) -> Line:
    known = {"url": f"http://example.org/{number}", "mime": "text/html", "status": "200", "digest": digest}
    return known | {"length": "10", "offset": str(10 * number), "filename": "a.warc.gz"} | more


def _cdxj(*lines: Line) -> str:
    told = ({name: value for name, value in line.items() if value is not None} for line in lines)
    return "".join(
        f"{KEY.format(number)} 202001{number + 1:02}030405 {json.dumps(line)}\n" for number, line in enumerate(told)
    )


def _cdx(*lines: Line) -> str:
    return "".join(
        " ".join(
            [
                KEY.format(number), f"202001{number + 1:02}030405", line["url"], line["mime"], line["status"],
                line["digest"] or "-", "-", "-", line["length"], line["offset"], line["filename"],
            ]
        ) + "\n"
        for number, line in enumerate(lines)
    )  # fmt: skip


LINES = [_line(0, "sha1:AAA"), _line(1, "sha1:BBB"), _line(2, "sha1:AAA"), _line(3, None), _line(4, None)]
KINDS = {
    "index.cdxj": _cdxj(*LINES),
    "meta.cdxj": f'!OpenWayback-CDXJ 1.0\n@context "x"\n{_cdxj(*LINES)}',
    "headed.cdx": HEADER + _cdx(*LINES),
    "bare.cdx": _cdx(*LINES),
    "named-otherwise.cdx": _cdxj(*LINES),
}


def _written(path: Path, text: str) -> str:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return str(path)


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", KINDS)
def test_equal_digests_are_copies_and_the_others_lines_stay_as_they_are(tmp_path: Path, name: str, packed: str) -> None:
    """What has no digest stays, and so do headers; the proof, which reads lines by itself, agrees."""
    source = _written(tmp_path / f"{name}{packed}", KINDS[name])
    found = ns.dedup(source, method="digest", keep="newest:date")
    assert (5, 1, 2) == (found.stats.documents, found.stats.removed, found.stats.empty)
    assert [("http://example.org/0", "http://example.org/2")] == [
        (line["id"], line["witness_id"]) for line in found.removals.to_pylist()
    ]
    (gone,) = found.removed().to_pylist()
    assert ("sha1:AAA", 200, 10, 0, "2020-01-01T03:04:05Z") == tuple(
        gone[column] for column in ("digest", "status", "length", "offset", "date")
    )
    found.write(tmp_path / "out")
    copy = (tmp_path / "out" / "kept" / f"{name}{packed}").read_bytes()
    lines = KINDS[name].splitlines(keepends=True)
    assert [line for line in lines if "/0" not in line] == (
        gzip.decompress(copy) if packed else copy
    ).decode().splitlines(keepends=True)
    assert ns.verify(tmp_path / "out").holds


@pytest.mark.parametrize("name", KINDS)
def test_urls_are_read_out_of_an_index(tmp_path: Path, name: str) -> None:
    """As out of a list of them."""
    source = _written(tmp_path / name, KINDS[name])
    told = json.loads(run("urls", source, "--json").stdout)
    listed = json.loads(
        run("urls", _written(tmp_path / "urls.txt", "\n".join(line["url"] for line in LINES)), "--json").stdout
    )
    assert {key: listed[key] for key in ("read", "distinct", "canonical")} == {
        key: told[key] for key in ("read", "distinct", "canonical")
    }


def test_layers_go_by_urls_and_digests_of_an_index(tmp_path: Path) -> None:
    """Of one URL, of one payload; numbers are compared as numbers."""
    lines = [*LINES[:2], _line(0, "sha1:CCC", length="9"), _line(7, "sha1:BBB", length="100")]
    found = ns.dedup(_written(tmp_path / "a.cdxj", _cdxj(*lines)), use="url,digest", keep="max:length")
    layers = {line["layer"]: line["id"] for line in found.removals.to_pylist()}
    assert {"url": "http://example.org/0", "digest": "http://example.org/1"} == layers


def test_the_index_inside_a_wacz_file_is_read_where_it_is(tmp_path: Path) -> None:
    """By a path into the zip file; digests are as the WACZ has them."""
    path = tmp_path / "crawl.wacz"
    page = "a page of some words"
    path.write_bytes(wacz({"a.warc.gz": gzipped(response(1, page), response(2, page), response(3, "another"))}))
    found = ns.dedup(f"zip://indexes/index.cdx.gz::{path}", method="digest")
    assert (3, 1) == (found.stats.documents, found.stats.removed)
    assert "http://a.example/2" == found.removals["id"][0].as_py()


BROKEN = {
    "a b c": "3 fields, where an index has 9, 10 or 11",
    'a 2020 {"url": ': "not valid JSON",
    "a 2020 {}}": "not valid JSON",
    'a 2020 {"url": "\\ud800"}': "half of a surrogate pair",
    "a \udcff b": "not UTF-8",
    f"{HEADER}a b c d": "4 fields, where an index has 11",
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_line_that_cannot_be_read_is_told_with_its_place(tmp_path: Path, line: str) -> None:
    """And stays in the copy."""
    path = tmp_path / "a.cdx"
    path.write_bytes((_cdxj(LINES[0]) + line + "\n").encode("utf-8", "surrogateescape"))
    found = ns.dedup(str(path), method="digest")
    (skipped,) = found.skipped.to_pylist()
    assert (1, 2 + line.count("\n")) == (found.stats.documents, skipped["line"])
    assert BROKEN[line] in skipped["reason"]
    found.write(tmp_path / "out")
    assert path.read_bytes() == (tmp_path / "out" / "kept" / "a.cdx").read_bytes()
    assert ns.verify(tmp_path / "out").holds


@given(
    st.binary(max_size=200)
    | st.text('abCDX N{}!@:",-0123 \n\ud800', max_size=80).map(lambda t: t.encode("utf-8", "replace"))
)
def test_no_bytes_are_too_odd(data: bytes) -> None:
    """Each line is a document, a line of metadata or told as one that cannot be read."""
    with TemporaryDirectory() as home:
        path = Path(home) / "a.cdx"
        path.write_bytes(data)
        ns.dedup(str(path), method="digest").write(Path(home) / "out")
        assert ns.verify(Path(home) / "out").holds


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ({"features_column": "url"}, "no lists"),
        ({"text_column": "body"}, "no column 'body'"),
        ({"keep": "newest:when"}, "no column 'when'"),
    ],
)
def test_columns_that_an_index_does_not_have_are_refused(tmp_path: Path, how: dict[str, Any], what: str) -> None:
    """With those that it has."""
    with pytest.raises(ns.ColumnError, match=what):
        ns.dedup(_written(tmp_path / "a.cdxj", _cdxj(*LINES)), **how)


def test_annotations_have_no_place_in_an_index(tmp_path: Path) -> None:
    """Who replays by it would not know them."""
    found = ns.dedup(_written(tmp_path / "a.cdxj", _cdxj(*LINES)), method="digest")
    with pytest.raises(ns.ColumnError, match="no place for annotations"):
        found.write(tmp_path / "out", annotate=True)
    assert not (tmp_path / "out").exists()
