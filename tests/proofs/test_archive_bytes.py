"""`verify` looks at every byte of a copied archive, and not at its documents alone."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

import nearsame as ns
from tests.sources.archive import gzipped, html, http, record, response

pytest.importorskip("fastwarc")

TEXT = "A rose is a rose is a rose, and a daisy is another flower that grows in the meadow behind the house."
OTHER = "Something else altogether, about the sea, and the ships that go there and do not come back again."


def _id(number: int) -> str:
    return f"<urn:uuid:00000000-0000-0000-0000-{number:012d}>"


def _request(number: int) -> bytes:
    return record(b"GET / HTTP/1.1\r\n\r\n", f"WARC-Concurrent-To: {_id(number)}", kind="request", number=20 + number)


RECORDS = [
    record(b"software: x\r\n", kind="warcinfo", number=90),
    *(each for number in range(4) for each in (_request(number), response(number, (TEXT, TEXT, OTHER, TEXT)[number]))),
    record(b"about: y\r\n", kind="metadata", number=91),
]


def _written(home: Path, data: bytes, name: str = "a.warc", **how: bool) -> Path:
    (home / name).write_bytes(data)
    ns.dedup(str(home / name)).write(home / "out", **how)
    verdict = ns.verify(home / "out")
    assert verdict.holds, verdict.problems
    return home / "out" / "kept" / name


@pytest.mark.parametrize("annotate", [False, True])
def test_no_byte_of_a_copied_archive_changes_unnoticed(tmp_path: Path, annotate: bool) -> None:
    """Of a header, of a record that is no document, or of markup that is not in the text."""
    copy = _written(tmp_path, b"".join(RECORDS), annotate=annotate)
    data = copy.read_bytes()
    for at in range(0, len(data), 131):
        copy.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert not ns.verify(tmp_path / "out").holds, data[max(0, at - 40) : at + 10]


@pytest.mark.parametrize("change", ["left out", "twice", "exchanged", "behind"])
def test_records_that_are_missing_or_out_of_order_are_noticed(tmp_path: Path, change: str) -> None:
    """Also of compressed members, and of records that are no documents."""
    copy = _written(tmp_path, gzipped(*RECORDS), "a.warc.gz")
    stays = [each for each in RECORDS if each in gzip.decompress(copy.read_bytes())]
    assert len(stays) == 6
    first, last = stays[0], stays[-1]
    changed = {
        "left out": stays[1:],
        "twice": [first, *stays],
        "exchanged": [*stays[1:-1], first, last],
        "behind": [*stays, first],
    }[change]
    copy.write_bytes(gzipped(*changed))
    assert not ns.verify(tmp_path / "out").holds
    copy.write_bytes(gzipped(*stays))
    assert ns.verify(tmp_path / "out").holds


@pytest.mark.parametrize(("name", "data"), [("a.warc.gz", b"".join(RECORDS)), ("a.warc", gzipped(*RECORDS))])
def test_an_archive_is_verified_whatever_its_name_says_of_its_compression(
    tmp_path: Path, name: str, data: bytes
) -> None:
    """It is read by its first bytes, and so is its copy."""
    copy = _written(tmp_path, data, name)
    stays = copy.read_bytes()
    changed = gzipped(RECORDS[0].replace(b"software", b"hardware")) if name == "a.warc" else b""
    copy.write_bytes(
        changed + stays[len(gzipped(RECORDS[0])) :] if changed else stays.replace(b"software", b"hardware")
    )
    assert not ns.verify(tmp_path / "out").holds


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "a.arc"])
def test_a_damaged_archive_of_which_nothing_went_is_the_same_to_the_last_byte(tmp_path: Path, name: str) -> None:
    """Where records cannot be told apart, too, as in damage and in ARC."""
    block = http(html(TEXT))
    arc = [b"http://a.example/%d 0.0.0.0 20260102030405 text/html %d\n%s\n" % (n, len(block), block) for n in (1,)]
    warc = [RECORDS[0], record(block, number=7, length=len(block) + 5), RECORDS[2]]
    data = {"a.warc": b"".join(warc), "a.warc.gz": gzipped(*warc), "a.arc": b"".join(arc)}[name]
    copy = _written(tmp_path, data, name)
    assert data == copy.read_bytes()
    for at in range(0, len(data), 61):
        copy.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert not ns.verify(tmp_path / "out").holds, at


def test_revisits_that_are_documents_stand_where_they_were_made(tmp_path: Path) -> None:
    """A layer of revisits reads those of the copy, too; what else stands there is found."""
    (tmp_path / "a.warc").write_bytes(b"".join(RECORDS))
    ns.dedup(str(tmp_path / "a.warc"), use="revisit,text").write(tmp_path / "out", revisits=True)
    copy = tmp_path / "out" / "kept" / "a.warc"
    found = ns.verify(tmp_path / "out")
    assert (True, 2) == (found.holds, found.checked["revisits"])
    copy.write_bytes(copy.read_bytes().replace(b"WARC-Type: revisit", b"WARC-Type: request", 1))
    assert not ns.verify(tmp_path / "out").holds


def test_the_type_of_a_record_may_have_any_capitals_where_it_is_a_revisit_now(tmp_path: Path) -> None:
    """What `dedup` makes a revisit, `verify` takes for one."""
    typed = [each.replace(b"WARC-Type: response", b"WARC-Type: Response") for each in RECORDS]
    _written(tmp_path, gzipped(*typed), "a.warc.gz", revisits=True)
    assert 2 == ns.verify(tmp_path / "out").checked["revisits"]


@pytest.mark.parametrize(("ending", "packed"), [("", bytes), (".xz", lzma.compress), (".bz2", bz2.compress)])
def test_a_copy_that_has_lost_all_its_records_holds(
    ending: str, packed: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """However it is packed as a whole, nothing is what it should be."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.warc").write_bytes(response(1, "one two three four"))
    (tmp_path / "in" / f"b.warc{ending}").write_bytes(packed(response(2, "one two three four")))
    ns.dedup(tmp_path / "in", method="digest").write(tmp_path / "out")
    assert ns.verify(tmp_path / "out").holds
