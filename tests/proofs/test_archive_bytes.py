"""`verify` looks at every byte of a copied archive, and not at its documents alone."""

import gzip
from pathlib import Path

import pytest

import nearsame as ns
from tests.sources.archive import gzipped, record, response

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
