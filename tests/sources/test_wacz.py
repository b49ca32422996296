"""WACZ files as sources, and as what stays of them; other files around archives."""

import gzip
import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import nearsame as ns
from nearsame.sources.archives import WARC, walk
from tests.sources.archive import PAGE, gzipped, html, http, record, response, wacz

pytest.importorskip("fastwarc")

TEXTS = [PAGE.format(number // 2) * 3 for number in range(6)]


def _link(number: int) -> str:
    return f"WARC-Concurrent-To: <urn:uuid:00000000-0000-0000-0000-{number:012d}>"


def _archives() -> dict[str, bytes]:
    """Two archives; every second page is a copy of the one before."""
    pages = [
        [
            record(b"GET / HTTP/1.1\r\n\r\n", kind="request", number=20 + number),
            response(number, text, _link(20 + number)),
        ]
        for number, text in enumerate(TEXTS)
    ]
    records = [each for pair in pages for each in pair]
    return {"b.warc.gz": gzipped(*records[:6]), "a.warc.gz": gzipped(*records[6:])}


def _written(home: Path, data: bytes, name: str = "crawl.wacz") -> str:
    (home / name).write_bytes(data)
    return str(home / name)


def _files(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as package:
        assert package.testzip() is None
        return {name: package.read(name) for name in package.namelist()}


def _index(files: Mapping[str, bytes]) -> list[tuple[str, dict[str, Any]]]:
    """The lines of an index; of a compressed one block by block, as its list says."""
    if "indexes/index.cdxj" in files:
        lines = files["indexes/index.cdxj"].splitlines()
    else:
        lines = []
        for block in files["indexes/index.idx"].splitlines()[1:]:
            key, _, told = block.partition(b" {")
            place = json.loads(b"{" + told)
            data = files["indexes/index.cdx.gz"][place["offset"] : place["offset"] + place["length"]]
            assert f"sha256:{hashlib.sha256(data).hexdigest()}" == place["digest"]
            some = gzip.decompress(data).splitlines()
            assert some[0].startswith(key + b" {")
            lines += some
    return [(line.partition(b" ")[0].decode(), json.loads(line[line.index(b"{") :])) for line in lines]


@pytest.mark.parametrize("packed", [False, True], ids=["stored", "deflated"])
@pytest.mark.parametrize("zipnum", [False, True], ids=["plain index", "compressed index"])
@pytest.mark.parametrize("annotate", [False, True])
def test_a_copy_of_a_wacz_is_a_wacz(tmp_path: Path, *, zipnum: bool, packed: bool, annotate: bool) -> None:
    """Index, pages and digests are those of what stays; `verify` holds."""
    path = _written(tmp_path, wacz(_archives(), zipnum=zipnum, more={"notes/a.txt": b"as it is"}, packed=packed))
    found = ns.dedup(path)
    assert (6, 3) == (found.stats.documents, found.stats.removed)
    found.write(tmp_path / "out", annotate=annotate)
    assert ns.verify(tmp_path / "out").holds
    copy = tmp_path / "out" / "kept" / "crawl.wacz"
    if annotate:
        assert Path(path).read_bytes() == copy.read_bytes()
        assert 12 == len((copy.parent / "crawl.wacz.annotations.jsonl").read_text("utf-8").splitlines())
        return
    before, files = _files(Path(path)), _files(copy)
    assert list(before) == list(files)
    stay = [f"http://a.example/{number}" for number in (0, 2, 4)]
    index = _index(files)
    assert (stay, [ns.surt(url) for url in stay]) == ([told["url"] for _, told in index], [key for key, _ in index])
    for _, told in index:
        at, length = int(told["offset"]), int(told["length"])
        plain = gzip.decompress(files[f"archive/{told['filename']}"][at : at + length])
        assert f"WARC-Target-URI: {told['url']}\r\n".encode() in plain
    assert stay == [json.loads(line)["url"] for line in files["pages/pages.jsonl"].splitlines()[1:]]
    resources = {each["path"]: each for each in json.loads(files["datapackage.json"])["resources"]}
    expected = {name: data for name, data in files.items() if not name.startswith("datapackage")}
    assert expected.keys() == resources.keys()
    for name, data in expected.items():
        told = (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
        assert told == (resources[name]["hash"], resources[name]["bytes"])
    digest = f"sha256:{hashlib.sha256(files['datapackage.json']).hexdigest()}"
    assert {"path": "datapackage.json", "hash": digest} == json.loads(files["datapackage-digest.json"])
    assert b"as it is" == files["notes/a.txt"]
    again = ns.dedup(str(copy))
    assert (3, 0) == (again.stats.documents, again.stats.removed)


def test_a_wacz_without_duplicates_is_copied_byte_for_byte(tmp_path: Path) -> None:
    """Its signature, too, still holds."""
    path = _written(
        tmp_path, wacz({"a.warc.gz": gzipped(response(1), response(2, "Of the sea and ships, at length."))})
    )
    ns.dedup(path).write(tmp_path / "out")
    assert Path(path).read_bytes() == (tmp_path / "out" / "kept" / "crawl.wacz").read_bytes()


def test_a_page_with_another_capture_stays_in_the_list(tmp_path: Path) -> None:
    """The URL can still be looked up."""
    again = response(1, "Something else at the same place, a month later, about the sea.")
    data = gzipped(response(0, TEXTS[0]), response(1, TEXTS[0]), again)
    path = _written(tmp_path, wacz({"a.warc.gz": data}))
    ns.dedup(path).write(tmp_path / "out")
    pages = _files(tmp_path / "out" / "kept" / "crawl.wacz")["pages/pages.jsonl"]
    assert ["http://a.example/0", "http://a.example/1", "http://a.example/1"] == [
        json.loads(line)["url"] for line in pages.splitlines()[1:]
    ]


def test_damage_inside_is_told_with_its_archive_and_stays(tmp_path: Path) -> None:
    """A record that breaks is one skip; it stands in the copy as it was."""
    archives = _archives()
    inside = archives["a.warc.gz"]
    at = inside.rindex(b"\x1f\x8b\x08")
    archives["a.warc.gz"] = broken = inside[: at + 20] + bytes(40) + inside[at + 60 :]
    whole = wacz(_archives())
    path = _written(tmp_path, whole.replace(inside, broken))
    found = ns.dedup(path)
    (skipped,) = found.skipped.to_pylist()
    assert skipped["reason"].endswith("(in archive/a.warc.gz)")
    found.write(tmp_path / "out")
    copy = tmp_path / "out" / "kept" / "crawl.wacz"
    with zipfile.ZipFile(copy) as package:
        assert package.read("archive/a.warc.gz").endswith(broken[at:])
    assert ns.verify(tmp_path / "out").holds


def _zip(files: Mapping[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as made:
        for path, data in files.items():
            made.writestr(path, data)
    return out.getvalue()


def _encrypted() -> bytes:
    """The flag alone: nobody gets as far as the password."""
    data = bytearray(wacz(_archives()))
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    return bytes(data)


def _elsewhere() -> bytes:
    """A directory that says another place."""
    data = bytearray(wacz(_archives()))
    at = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    data[at + 42 : at + 46] = struct.pack("<L", 7)
    return bytes(data)


_HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "not readable as WACZ: File is not a zip file"),
    "noise": (lambda: b"no zip at all" * 99, "File is not a zip file"),
    "cut": (lambda: wacz(_archives())[:-200], "not readable as WACZ"),
    "a name that leads out": (lambda: wacz(_archives(), more={"../x": b"x"}), "'../x' has a name that leads out of it"),
    "a name from the root": (lambda: wacz(_archives(), more={"/etc/x": b"x"}), "'/etc/x' has a name that leads out"),
    "encrypted": (_encrypted, "is encrypted"),
    "nested": (lambda: _zip({"archive/a.wacz": wacz(_archives())}), "but archive/a.wacz: unpack it"),
    "nothing in it": (lambda: _zip({"a.txt": b"x"}), "it holds no archive/"),
    "a bomb": (
        lambda: _zip({"archive/a.warc": bytes(200 << 20)}, zipfile.ZIP_DEFLATED), "would inflate from",
    ),
    "another method": (lambda: _zip({"archive/a.warc": b"x"}, zipfile.ZIP_BZIP2), "is compressed by method 12"),
    "elsewhere": (_elsewhere, "is not where its directory says"),
}  # fmt: skip


@pytest.mark.parametrize("name", _HOSTILE)
def test_a_hostile_wacz_is_an_error_alone_and_a_skip_in_a_folder(tmp_path: Path, name: str) -> None:
    """Nothing of it is read, and in a folder it is copied as it is."""
    make, reason = _HOSTILE[name]
    (tmp_path / "in").mkdir()
    path = _written(tmp_path / "in", make())
    with pytest.raises(ns.SourceError, match="WACZ") as error:
        ns.dedup(path)
    assert reason in str(error.value)
    _written(tmp_path / "in", response(1) + response(2, PAGE.format(1)), "a.warc")
    found = ns.dedup(str(tmp_path / "in"))
    assert (2, 1, 1) == (found.stats.documents, found.stats.removed, found.stats.skipped)
    found.write(tmp_path / "out")
    assert Path(path).read_bytes() == (tmp_path / "out" / "kept" / "crawl.wacz").read_bytes()
    assert ns.verify(tmp_path / "out").holds
    assert not (tmp_path / "x").exists()


def test_a_wacz_whose_index_cannot_be_kept_right_is_an_error(tmp_path: Path) -> None:
    """An index that is not CDXJ would lead to records that are not there; what it says of itself stays."""
    path = _written(tmp_path, wacz(_archives(), more={"indexes/other.cdxj": b'@meta {"a": 1}\n'}), "meta.wacz")
    ns.dedup(path).write(tmp_path / "meta")
    assert b"@meta" in _files(tmp_path / "meta" / "kept" / "meta.wacz")["indexes/other.cdxj"]
    path = _written(tmp_path, wacz(_archives(), more={"indexes/other.cdx": b"a b c d\n"}))
    found = ns.dedup(path)
    with pytest.raises(ns.SourceError, match=r"indexes/other\.cdx is not CDXJ"):
        found.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_archives_of_one_name_in_two_folders_are_told_apart(tmp_path: Path) -> None:
    """Every line of the index leads to its record, and what stays has its line."""
    archives = {"x/a.warc.gz": gzipped(*(response(n, TEXTS[n]) for n in range(3))),
                "y/a.warc.gz": gzipped(*(response(n, TEXTS[n]) for n in range(3, 6)))}  # fmt: skip
    (tmp_path / "a.wacz").write_bytes(wacz(archives, zipnum=False))
    ns.dedup(str(tmp_path / "a.wacz"), method="digest").write(tmp_path / "out")
    found = []
    with zipfile.ZipFile(tmp_path / "out" / "kept" / "a.wacz") as made:
        for line in made.read("indexes/index.cdxj").decode().splitlines():
            entry = json.loads(line[line.index("{") :])
            at, length = int(entry["offset"]), int(entry["length"])
            stored = made.read(f"archive/{entry['filename']}")[at : at + length]
            assert f"WARC-Target-URI: {entry['url']}\r\n".encode() in gzip.decompress(stored)
            found.append(entry["url"])
    assert [f"http://a.example/{number}" for number in (0, 2, 4)] == found


@pytest.mark.parametrize("stays", [0, 1])
@pytest.mark.parametrize("twice", [False, True], ids=["other URLs", "one URL twice"])
def test_an_index_leads_to_records_that_share_a_member(tmp_path: Path, stays: int, *, twice: bool) -> None:
    """The line of a removed record goes, and of the others each leads to all of its member, which is a shorter one."""
    url = "http://a.example/x" if twice else None
    texts = [" ".join(f"{word}{number // 2}" for word in PAGE.split() * 3) for number in range(5)]
    texts[stays] += " And more of it."
    shared = [
        record(http(html(text)), url=url or f"http://a.example/{number}", number=number)
        for number, text in enumerate(texts[:2])
    ]
    request = record(b"GET / HTTP/1.1\r\n\r\n", kind="request", url=url or "http://a.example/1", number=8)
    alone = [response(number, texts[number]) for number in (2, 4)]
    data = gzip.compress(b"".join([*shared, request])) + gzipped(*alone)
    members = [0, len(gzip.compress(b"".join([*shared, request])))]
    members += [members[1] + len(gzipped(alone[0])), len(data)]
    lines = []
    for member, number in [(0, 0), (0, 1), (1, 2), (1, 2), (2, 4)]:  # one record has two lines
        address = (url if member == 0 else None) or f"http://a.example/{number}"
        place = {"offset": str(members[member]), "length": members[member + 1] - members[member]}
        told = json.dumps({"url": address, "filename": "a.warc.gz", **place})
        lines.append(f"{ns.surt(address)} 20260102030405 {told}\n")
    package = wacz({"a.warc.gz": data}, zipnum=False, more={"indexes/more.cdxj": "".join(lines).encode()})
    with zipfile.ZipFile(io.BytesIO(package)) as read, zipfile.ZipFile(tmp_path / "a.wacz", "w") as made:
        for name in read.namelist():
            made.writestr(name, "".join(lines) if name == "indexes/index.cdxj" else read.read(name))
    found = ns.dedup(str(tmp_path / "a.wacz"), keep="longest", method=ns.Jaccard(threshold=0.5))
    assert 1 == found.stats.removed
    found.write(tmp_path / "out")
    files = _files(tmp_path / "out" / "kept" / "a.wacz")
    assert files["indexes/index.cdxj"] == files["indexes/more.cdxj"]
    told = _index(files)
    assert 4 == len(told)
    for number, (_, entry) in zip((stays, 2, 2, 4), told, strict=True):
        assert isinstance(entry["offset"], str)
        at, length = int(entry["offset"]), entry["length"]
        plain = gzip.decompress(files["archive/a.warc.gz"][at : at + length])
        assert f"WARC-Target-URI: {entry['url']}\r\n".encode() in plain
        assert texts[number].encode() in plain


def test_a_compressed_wacz_stays_one(tmp_path: Path) -> None:
    """Whatever it is good for."""
    path = _written(tmp_path, gzip.compress(wacz(_archives())), "crawl.wacz.gz")
    ns.dedup(path).write(tmp_path / "out")
    copy = tmp_path / "plain.wacz"
    copy.write_bytes(gzip.decompress((tmp_path / "out" / "kept" / "crawl.wacz.gz").read_bytes()))
    assert (3, 0) == (ns.dedup(str(copy)).stats.documents, ns.dedup(str(copy)).stats.removed)


def test_wat_files_are_passed_over_by_name(tmp_path: Path) -> None:
    """Their records are counted as what they are, and copied."""
    wat = gzipped(
        record(b"software: test\r\n", kind="warcinfo"),
        *(record(b'{"Envelope": {}}', "Content-Type: application/json", kind="metadata", number=n) for n in range(3)),
    )
    (tmp_path / "in").mkdir()
    path = _written(tmp_path / "in", wat, "a.warc.wat.gz")
    _written(tmp_path / "in", gzipped(response(1), response(2, PAGE.format(1))), "a.warc.gz")
    found = ns.dedup(str(tmp_path / "in"))
    found.write(tmp_path / "out")
    passed = found.stats.record()["pages"]["passed_over"]
    assert (3, 2) == (passed["record metadata (WAT)"], found.stats.documents)
    assert wat == (tmp_path / "out" / "kept" / "a.warc.wat.gz").read_bytes()
    assert 4 == len(list(walk(path, WARC, 1)))


def test_pages_of_a_wacz_come_with_what_is_known(tmp_path: Path) -> None:
    """As those of the archives in it."""
    data = wacz({"a.warc.gz": gzipped(record(http(html(PAGE)), "WARC-Payload-Digest: sha1:ABC", number=7))})
    (row,) = ns.dedup(_written(tmp_path, data)).kept().to_pylist()
    assert ("http://a.example/7", "sha1:ABC", "Roses") == (row["url"], row["payload_digest"], row["title"])
