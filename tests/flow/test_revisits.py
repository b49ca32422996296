"""`--revisits`: removed copies as revisits of their witnesses, and `restore`, which gives them back."""

import base64
import bz2
import gzip
import hashlib
import itertools
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.files.systems import File
from nearsame.sources.archives import WARC, Archived, walk
from nearsame.sources.streams import chunks
from tests.cli.commands import run
from tests.examples import share
from tests.sources.archive import PAGE, gzipped, html, http, record, response, wacz

pytest.importorskip("fastwarc")

PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
TEXT = "A rose is a rose is a rose, and a daisy is another flower that grows in the meadow behind the house."
OTHER = "Something else altogether, about the sea, and the ships that go there and do not come back again."


def _id(number: int) -> str:
    return f"<urn:uuid:00000000-0000-0000-0000-{number:012d}>"


def _request(number: int) -> bytes:
    return record(b"GET / HTTP/1.1\r\n\r\n", kind="request", number=20 + number)


def _page(number: int, text: str = TEXT, *headers: str) -> bytes:
    """A response that names its request, as wget writes it."""
    return response(number, text, f"WARC-Concurrent-To: {_id(20 + number)}", *headers)


RECORDS = [each for number in range(4) for each in (_request(number), _page(number, (TEXT, TEXT, OTHER, TEXT)[number]))]

PACKED: dict[str, Callable[[list[bytes]], bytes]] = {
    "": b"".join,
    ".gz": lambda records: gzipped(*records),
    ".zst": lambda records: b"".join(pa.compress(each, "zstd", asbytes=True) for each in records),
    ".lz4": lambda records: b"".join(pa.compress(each, "lz4", asbytes=True) for each in records),
    ".bz2": lambda records: bz2.compress(b"".join(records)),
    ".xz": lambda records: lzma.compress(b"".join(records)),
}


def _source(home: Path, *files: list[bytes], suffix: str = "") -> Path:
    (home / "in").mkdir()
    for name, records in zip("abc", files, strict=False):
        (home / "in" / f"{name}.warc{suffix}").write_bytes(PACKED[suffix](records))
    return home / "in"


def _plain(path: Path) -> bytes:
    kinds = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".lz4": "lz4"}
    return b"".join(chunks(File(str(path)), kinds.get(path.suffix)))


def _written(home: Path, source: Path, **how: Any) -> Path:
    ns.dedup(str(source), **how).write(home / "out", revisits=True)
    return home / "out" / "kept"


def _walked(path: Path) -> list[Archived]:
    return list(walk(str(path), WARC, 1 << 20))


def _revisits(path: Path) -> list[int]:
    return [at for at, each in enumerate(_walked(path)) if each.kind == "revisit"]


@pytest.mark.parametrize("suffix", PACKED)
def test_a_removed_copy_becomes_a_revisit_and_comes_back(tmp_path: Path, suffix: str) -> None:
    """Of two files, in the same order, with the requests; `verify` holds, and `restore` gives the same records."""
    source = _source(tmp_path, RECORDS, [_request(7), _page(7), response(8, OTHER)], suffix=suffix)
    kept = _written(tmp_path, source)
    found = ns.verify(tmp_path / "out")
    assert (True, 4) == (found.holds, found.checked["revisits"])
    for name, expected in (("a", [3, 7]), ("b", [1, 2])):
        if suffix not in {".bz2", ".xz"}:
            assert expected == _revisits(kept / f"{name}.warc{suffix}")
        assert len(_plain(kept / f"{name}.warc{suffix}.annotations.jsonl").splitlines()) == {"a": 8, "b": 3}[name]
    assert (2, 11, 4) == ns.restore(str(kept), tmp_path / "back")
    for name in "ab":
        assert _plain(source / f"{name}.warc{suffix}") == _plain(tmp_path / "back" / f"{name}.warc{suffix}")
    assert {"a", "b"} == {path.name[0] for path in (tmp_path / "back").iterdir()}


@pytest.mark.parametrize("version", [b"WARC/0.17", b"WARC/0.18", b"WARC/1.1"])
def test_archives_of_other_versions_have_revisits_and_come_back(tmp_path: Path, version: bytes) -> None:
    """What was crawled before there was a standard is in drafts of it; a revisit is of WARC/1.1 all the same."""
    source = _source(tmp_path, [each.replace(b"WARC/1.0", version, 1) for each in RECORDS])
    kept = _written(tmp_path, source)
    assert [3, 7] == _revisits(kept / "a.warc")
    assert (2, 8) == tuple(
        (kept / "a.warc").read_bytes().count(each) for each in (b"WARC-Type: revisit", b"WARC-Record-ID")
    )
    assert ns.verify(tmp_path / "out").holds
    ns.restore(str(kept), tmp_path / "back")
    assert _plain(source / "a.warc") == _plain(tmp_path / "back" / "a.warc")


def test_a_copy_of_a_page_that_is_removed_itself_leads_to_that_one(tmp_path: Path) -> None:
    """Its witness has other bytes; of those with the same the first stays, and none leads to a revisit."""
    near = f"{TEXT} Indeed."
    source = _source(tmp_path, [_page(1), _page(2, near), _page(3, near)], [_page(4, near), _page(5)])
    kept = _written(tmp_path, source, keep="shortest", method=ns.Jaccard(threshold=0.5))
    leads = [
        each.headers["warc-refers-to"]
        for name in "ab"
        for each in _walked(kept / f"{name}.warc")
        if each.kind == "revisit"
    ]
    assert [_id(2), _id(2), _id(1)] == leads
    assert ns.verify(tmp_path / "out").holds
    ns.restore(str(kept), tmp_path / "back")
    for name in "ab":
        assert _plain(source / f"{name}.warc") == _plain(tmp_path / "back" / f"{name}.warc")


def test_a_revisit_that_leads_to_a_revisit_is_told(tmp_path: Path) -> None:
    """Replay would end there."""
    source = _source(tmp_path, [_page(1), _page(2), _page(3)])
    kept = _written(tmp_path, source)
    told = (kept / "a.warc").read_bytes()
    start = told.rindex(b"WARC/1.1\r\nWARC-Type: revisit")
    one, two = _id(1).encode(), _id(2).encode()
    url = told[start:].replace(one, two).replace(b"Target-URI: http://a.example/1", b"Target-URI: http://a.example/2")
    (kept / "a.warc").write_bytes(told[:start] + url)
    assert any("what it leads to is a revisit" in problem for problem in _told(tmp_path / "out"))


def test_a_revisit_is_as_the_standard_has_it(tmp_path: Path) -> None:
    """WARC/1.1, identical-payload-digest, with all three references, and the response's own HTTP header."""
    block = http(html(TEXT), "X-Own: yes")
    twin = record(block, "WARC-IP-Address: 127.0.0.1", f"WARC-Concurrent-To: {_id(8)}", number=9)
    kept = _written(tmp_path, _source(tmp_path, [_page(1), twin]))
    plain = (kept / "a.warc").read_bytes()
    assert plain.startswith(_page(1))
    assert plain[len(_page(1)) :].startswith(b"WARC/1.1\r\nWARC-Type: revisit\r\n")
    told = _walked(kept / "a.warc")[1]
    digest = base64.b32encode(hashlib.sha1(html(TEXT), usedforsecurity=False).digest()).decode()
    expected = {
        "warc-record-id": _id(9),
        "warc-date": "2026-01-02T03:04:05Z",
        "warc-target-uri": "http://a.example/9",
        "warc-concurrent-to": _id(8),
        "warc-ip-address": "127.0.0.1",
        "warc-profile": PROFILE,
        "warc-refers-to": _id(1),
        "warc-refers-to-target-uri": "http://a.example/1",
        "warc-refers-to-date": "2026-01-02T03:04:05Z",
        "warc-payload-digest": f"sha1:{digest}",
        "content-type": "application/http; msgtype=response",
    }
    assert expected == {name: told.headers[name] for name in expected}
    assert block[: -len(html(TEXT))] == told.block


def test_a_digest_that_the_witness_tells_is_told_of_the_revisit(tmp_path: Path) -> None:
    """So that what was indexed of the one finds the other."""
    kept = _written(
        tmp_path, _source(tmp_path, [response(1, TEXT, "WARC-Payload-Digest: sha1:ABC"), response(2, TEXT)])
    )
    assert "sha1:ABC" == _walked(kept / "a.warc")[1].headers["warc-payload-digest"]
    assert ns.verify(tmp_path / "out").holds


_REVISIT = b"HTTP/1.1 200 OK\r\n\r\n"
_LEFT: dict[str, list[bytes]] = {
    "a near-duplicate": [response(1, TEXT), response(2, TEXT + " Indeed.")],
    "another content encoding": [
        record(http(html(TEXT), "Content-Encoding: identity"), number=1), record(http(html(TEXT)), number=2)
    ],
    "a truncated record": [response(1, TEXT), response(2, TEXT, "WARC-Truncated: length")],
    "digests that contradict": [
        response(1, TEXT, "WARC-Payload-Digest: sha1:A"), response(2, TEXT, "WARC-Payload-Digest: sha1:B")
    ],
    "what a revisit names": [
        response(1, TEXT), response(2, TEXT), record(_REVISIT, f"WARC-Refers-To: {_id(2)}", kind="revisit", number=5)
    ],
    "what a revisit has the URL of": [
        response(1, TEXT), response(2, TEXT),
        record(_REVISIT, "WARC-Refers-To-Target-URI: http://a.example/2", kind="revisit", number=5),
    ],
    "an id that is there twice": [response(1, TEXT), response(2, TEXT).replace(_id(2).encode(), _id(1).encode())],
    "a resource": [
        record(TEXT.encode(), "Content-Type: text/plain", kind="resource", number=number) for number in (1, 2)
    ],
    "lines that go on": [response(1, TEXT), response(2, TEXT, "X-Long: a\r\n b")],
    "a date that is none": [
        response(number, TEXT).replace(b"2026-01-02T", b"2026-01-002T") for number in (1, 2)
    ],
    "a version that nobody knows": [response(1, TEXT), response(2, TEXT).replace(b"WARC/1.0", b"WARC/0.9")],
    "damage": [response(1, TEXT), response(2, TEXT), response(3, OTHER)[:-30]],
    "blank lines too many": [response(1, TEXT), response(2, TEXT) + b"\r\n", response(3, OTHER)],
}  # fmt: skip


@pytest.mark.parametrize("name", _LEFT)
def test_what_could_not_be_given_back_stays(tmp_path: Path, name: str) -> None:
    """As a response, annotated with its witness."""
    source = _source(tmp_path, _LEFT[name])
    found = ns.dedup(str(source))
    assert 1 == found.stats.removed
    stats = found.write(tmp_path / "out", revisits=True)
    assert (source / "a.warc").read_bytes() == (tmp_path / "out" / "kept" / "a.warc").read_bytes()
    assert "0 of 1 removed documents are revisits" in " ".join(stats.notes)
    assert ns.verify(tmp_path / "out").holds
    told = (tmp_path / "out" / "kept" / "a.warc.annotations.jsonl").read_text("utf-8")
    assert 1 == told.count('"witness_id":"http')


def test_records_that_share_a_member_stay(tmp_path: Path) -> None:
    """Nobody could replay them anyway; the summary names their archive."""
    source = _source(tmp_path, [b"".join(RECORDS)], suffix=".gz")
    stats = ns.dedup(str(source)).write(tmp_path / "out", revisits=True)
    assert "a.warc.gz share compressed members or are damaged" in " ".join(stats.notes)
    assert (source / "a.warc.gz").read_bytes() == (tmp_path / "out" / "kept" / "a.warc.gz").read_bytes()
    assert ns.verify(tmp_path / "out").holds


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".lz4", ".bz2", ".xz"])
@pytest.mark.parametrize("cut", [10, 300])
def test_an_archive_that_breaks_off_beside_others_is_no_contradiction(tmp_path: Path, suffix: str, cut: int) -> None:
    """Its records stay, and are named; those of the others become revisits, and `verify` holds."""
    first, last = [_page(1), _page(2), response(3, OTHER)], [_page(4), response(5, OTHER), _page(6)]
    source = _source(tmp_path, first, last, suffix=suffix)
    torn = source / f"b.warc{suffix}"
    torn.write_bytes(torn.read_bytes()[:-cut])
    stats = ns.dedup(str(source)).write(tmp_path / "out", revisits=True)
    verdict = ns.verify(tmp_path / "out")
    assert verdict.holds, verdict.problems
    assert verdict.checked["revisits"] >= 1
    kept = tmp_path / "out" / "kept"
    assert torn.read_bytes() == (kept / torn.name).read_bytes()
    assert _plain(source / f"a.warc{suffix}") != _plain(kept / f"a.warc{suffix}")
    removed = pq.read_table(tmp_path / "out" / "removed.parquet")["source"].to_pylist()
    assert any(f"{torn.name} share" in note for note in stats.notes) == (str(torn) in removed)
    for number, how in enumerate(({}, {"annotate": True}, {"drop_unreadable": True})):
        ns.dedup(str(source)).write(tmp_path / str(number), **how)
        verdict = ns.verify(tmp_path / str(number))
        assert verdict.holds, (how, verdict.problems)


def test_a_copy_of_what_is_on_the_other_side_stays(tmp_path: Path) -> None:
    """That archive is not written, so a revisit would lead out of what is."""
    (tmp_path / "old.warc").write_bytes(response(9, TEXT))
    source = _source(tmp_path, [response(1, TEXT), response(2, OTHER)])
    kept = _written(tmp_path, source, against=str(tmp_path / "old.warc"))
    assert (source / "a.warc").read_bytes() == (kept / "a.warc").read_bytes()
    assert ns.verify(tmp_path / "out").holds


def _num_expected(out: Path, records: list[bytes]) -> int:
    """Of the responses with one payload all that are removed, but one where no other stays."""
    removed = set(pq.read_table(out / "removed.parquet")["id"].to_pylist())
    stays: dict[bytes, list[bool]] = {}
    for number, each in enumerate(records):
        if b"WARC-Type: response" in each:
            payload = each.partition(b"\r\n\r\n")[2].partition(b"\r\n\r\n")[2]
            stays.setdefault(payload, []).append(f"http://a.example/{number}" not in removed)
    return sum(len(those) - max(1, sum(those)) for those in stays.values())


@settings(deadline=None, max_examples=share(40))
@given(st.data())
def test_any_archives_come_back(data: st.DataObject) -> None:
    """Whatever is copied, near-copied, and of which kind, in one file or several."""
    import tempfile

    texts = st.sampled_from([TEXT, OTHER, f"{TEXT} Indeed.", PAGE])
    kinds = st.sampled_from([_page, response, lambda number, text: record(html(text), kind="resource", number=number)])
    pages = data.draw(st.lists(st.tuples(kinds, texts), min_size=1, max_size=9))
    records = [kind(number, text) for number, (kind, text) in enumerate(pages)]
    cut = data.draw(st.integers(0, len(records)))
    suffix = data.draw(st.sampled_from(list(PACKED)))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        source = _source(home, *(some for some in (records[:cut], records[cut:]) if some), suffix=suffix)
        kept = _written(home, source)
        verdict = ns.verify(home / "out")
        assert verdict.holds, verdict.problems
        copies = [_plain(path) for path in kept.iterdir() if path.suffix != ".jsonl"]
        assert _num_expected(home / "out", records) == sum(copy.count(b"WARC-Type: revisit") for copy in copies)
        ns.restore(str(kept), home / "back")
        for path in source.iterdir():
            assert _plain(path) == _plain(home / "back" / path.name)


def _told(home: Path) -> list[str]:
    return [f"{problem.place}: {problem.what}" for problem in ns.verify(home).problems]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (b"identical-payload-digest", b"server-not-modified", "its warc-profile is"),
        (b"WARC-Refers-To: " + _id(1).encode(), b"WARC-Refers-To: " + _id(3).encode(), "its warc-refers-to is"),
        (b"Refers-To-Date: 2026", b"Refers-To-Date: 2025", "its warc-refers-to-date is"),
        (b"Nearsame-Original: eN", b"Nearsame-Original: fN", "it cannot give its record back"),
        (b"Digest: sha256:", b"Digest: sha256:0", "its nearsame-original-digest is"),
        (b"Digest: sha1:", b"Digest: sha1:2", "its warc-payload-digest is"),
    ],
)  # fmt: skip
def test_a_revisit_that_was_changed_is_told(tmp_path: Path, old: bytes, new: bytes, what: str) -> None:
    """Each word of it is proven from the sources."""
    kept = _written(tmp_path, _source(tmp_path, [response(1, TEXT), response(2, TEXT), response(3, OTHER)]))
    data = (kept / "a.warc").read_bytes()
    assert old in data
    (kept / "a.warc").write_bytes(data.replace(old, new))
    assert any(f"kept/a.warc: record 1: {what}" in problem for problem in _told(tmp_path / "out"))


def test_any_other_change_of_a_copy_with_revisits_is_told(tmp_path: Path) -> None:
    """A request and a witness, too, are what was read."""
    kept = _written(tmp_path, _source(tmp_path, RECORDS))
    data = (kept / "a.warc").read_bytes()
    for at in range(0, len(data), 97):
        (kept / "a.warc").write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert _told(tmp_path / "out"), at
    kept.joinpath("a.warc").write_bytes(data)
    assert [] == _told(tmp_path / "out")


def test_what_a_revisit_leads_to_must_be_there(tmp_path: Path) -> None:
    """An archive without the other, or one that was changed: an error, and nothing is written."""
    kept = _written(tmp_path, _source(tmp_path, [response(1, TEXT)], [response(2, TEXT)]))
    with pytest.raises(
        ns.SourceError, match=r"cannot be given back: what it leads to \(http://a.example/1\) is not there"
    ):
        ns.restore(str(kept / "b.warc"), tmp_path / "back")
    data = (kept / "a.warc").read_bytes()
    (kept / "a.warc").write_bytes(data.replace(b"meadow", b"garden"))
    with pytest.raises(ns.SourceError, match="is another record now"):
        ns.restore(str(kept), tmp_path / "back")
    assert not (tmp_path / "back").exists()
    (kept / "a.warc").write_bytes(data)
    assert (2, 2, 1) == ns.restore((str(kept / "a.warc"), str(kept / "b.warc")), tmp_path / "back")
    with pytest.raises(ns.OutputError, match="exists"):
        ns.restore(str(kept), tmp_path / "back")


def test_an_archive_that_was_compressed_anew_as_a_whole_is_told_with_what_helps(tmp_path: Path) -> None:
    """Its records share one member; decompressed they come back."""
    source = _source(tmp_path, [_page(0), _page(1)], suffix=".gz")
    written = next((_written(tmp_path, source, method="jaccard")).iterdir())
    plain = tmp_path / "plain.warc"
    plain.write_bytes(_plain(written))
    whole = tmp_path / "whole.warc.gz"
    whole.write_bytes(gzip.compress(plain.read_bytes()))
    with pytest.raises(ns.SourceError, match="shares a compressed member"):
        ns.restore(whole, tmp_path / "again")
    assert 1 == ns.restore(plain, tmp_path / "again").restored


def test_a_bomb_in_the_place_of_a_header_is_no_header(tmp_path: Path) -> None:
    """What inflates beyond a header is not inflated."""
    import zlib

    kept = _written(tmp_path, _source(tmp_path, [response(1, TEXT), response(2, TEXT)]))
    data = (kept / "a.warc").read_bytes()
    start = data.index(b"Nearsame-Original: ") + 19
    bomb = base64.b64encode(zlib.compress(bytes(20 << 20), 9))
    (kept / "a.warc").write_bytes(data[:start] + bomb + data[data.index(b"\r\n", start) :])
    with pytest.raises(ns.SourceError, match="cannot be given back"):
        ns.restore(str(kept), tmp_path / "back")


def test_revisits_of_others_stay_what_they_are(tmp_path: Path) -> None:
    """`restore` knows its own."""
    other = record(_REVISIT, f"WARC-Refers-To: {_id(77)}", kind="revisit", number=5)
    source = _source(tmp_path, [other, response(1, TEXT), response(2, TEXT)])
    kept = _written(tmp_path, source)
    assert (1, 3, 1) == ns.restore(str(kept), tmp_path / "back")
    assert (source / "a.warc").read_bytes() == (tmp_path / "back" / "a.warc").read_bytes()


def test_a_run_that_goes_on_writes_the_same(tmp_path: Path) -> None:
    """With a work directory, and once more from its finished steps."""
    source = _source(tmp_path, RECORDS)
    found = []
    for number in range(2):
        ns.dedup(str(source), workdir=tmp_path / "steps").write(tmp_path / str(number), revisits=True)
        found.append((tmp_path / str(number) / "kept" / "a.warc").read_bytes())
        assert ns.verify(tmp_path / str(number)).holds
    assert found[0] == found[1]
    assert 2 == found[0].count(b"WARC-Type: revisit")


_REFUSED = {
    "a.jsonl": (b'{"text": "a"}\n', "is of format jsonl"),
    "a.wacz": (wacz({"a.warc.gz": gzipped(response(1))}), "is of format wacz"),
    "a.arc": (b"http://a.example/1 127.0.0.1 20260102030405 text/plain 2\nab\n", "is an ARC file"),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_what_is_no_warc_file_has_no_revisits(tmp_path: Path, name: str) -> None:
    """It is an error before anything is compared, and of what was compared before anything is written."""
    data, what = _REFUSED[name]
    (tmp_path / name).write_bytes(data)
    ended = run("dedup", str(tmp_path / name), "-o", str(tmp_path / "out"), "--revisits")
    assert (2, True) == (ended.exit_code, what in " ".join(ended.stderr.split()))
    with pytest.raises(ns.ConfigError, match=what):
        ns.dedup(str(tmp_path / name)).write(tmp_path / "out", revisits=True)
    assert not (tmp_path / "out").exists()
    with pytest.raises(ns.SourceError, match="holds no WARC files"):
        ns.restore(str(tmp_path / name), tmp_path / "back")


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--drop-unreadable"], "--revisits keeps all records"),
        (["--engine", "spark"], "--revisits does nothing with --engine spark"),
    ],
)
def test_what_contradicts_revisits_is_refused(tmp_path: Path, more: list[str], what: str) -> None:
    """In the words of the command line."""
    source = _source(tmp_path, RECORDS)
    ended = run("dedup", str(source), "-o", str(tmp_path / "out"), "--revisits", *more)
    assert (2, True) == (ended.exit_code, what in ended.stderr)


def test_standard_input_has_no_revisits() -> None:
    """It is JSON lines, and is not read for that."""
    ended = run("dedup", "-", "-o", "out", "--revisits", stdin=b"")
    assert (2, True) == (ended.exit_code, "records of WARC files" in ended.stderr)


def test_the_command_gives_back_what_the_command_took(tmp_path: Path) -> None:
    """`dedup --revisits`, `verify`, `restore`."""
    source = _source(tmp_path, RECORDS, suffix=".gz")
    out = str(tmp_path / "out")
    assert 0 == run("dedup", str(source), "-o", out, "--revisits", "-q").exit_code
    assert 0 == run("verify", out, "-q").exit_code
    ended = run("restore", f"{out}/kept", "-o", str(tmp_path / "back"))
    assert (0, True) == (ended.exit_code, "2 of 8 records in 1 archives were revisits." in ended.stdout)
    assert gzip.decompress((source / "a.warc.gz").read_bytes()) == _plain(tmp_path / "back" / "a.warc.gz")
    assert [] == [each for each, _ in itertools.groupby(_revisits(tmp_path / "back" / "a.warc.gz"))]


def test_the_pages_of_a_second_day_become_revisits_beside_those_of_the_first(tmp_path: Path) -> None:
    """Only what a revisit leads to must stay: the record of its id, or of its URL and second."""

    def visits(day: int) -> list[bytes]:
        page = http(html(TEXT))
        made = [record(page, number=10 * day + n, url=f"http://a.example/{n}") for n in (1, 2, 3)]
        return [each.replace(b"2026-01-02", b"2026-01-%02d" % (day + 1)) for each in made]

    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a.warc").write_bytes(b"".join(visits(1)))
    ns.dedup(str(tmp_path / "old")).write(tmp_path / "first", revisits=True)
    (tmp_path / "new.warc").write_bytes(b"".join(visits(2)))
    found = ns.dedup((str(tmp_path / "first" / "kept" / "a.warc"), str(tmp_path / "new.warc")))
    found.write(tmp_path / "second", revisits=True)
    kept = (tmp_path / "second" / "kept" / "new.warc").read_bytes()
    assert (3, 3) == (found.stats.removed, kept.count(b"WARC-Type: revisit"))
    assert ns.verify(tmp_path / "second").holds


@pytest.mark.parametrize("date", ["2026-01-02", "2026-01-02T03:04:06Z", "2026-01-02T04:04:05+01:00", ""])
def test_what_another_revisit_may_mean_stays(tmp_path: Path, date: str) -> None:
    """Where no page of that second is there, any of that URL is meant: replay does not follow two revisits."""
    said = ["WARC-Refers-To-Target-URI: https://a.example/2", *([f"WARC-Refers-To-Date: {date}"] if date else [])]
    named = record(_REVISIT, *said, kind="revisit", number=5)
    source = _source(tmp_path, [response(1, TEXT), response(2, TEXT), response(3, TEXT), named])
    kept = (_written(tmp_path, source) / "a.warc").read_bytes()
    assert 2 == kept.count(b"WARC-Type: revisit")
    assert 1 == kept.count(b"WARC-Target-URI: http://a.example/2\r\nContent-Length")
