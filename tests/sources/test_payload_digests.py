"""Payload digests: whatever they are written as, equal payloads are equal, in a run and in its proof."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame.proofs.indexes import one_spelling
from nearsame.sources.payload_digests import comparable
from tests.sources.archive import response

NAMES = ("md5", "sha1", "sha256", "sha384", "sha512")
PAYLOAD = b""
SHA1 = [
    "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "sha1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
    "SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
]
UNKNOWN = [
    "sha1:ABC", "blake3:" + "ab" * 32, "sha256:" + SHA1[0], "md5:" + SHA1[2], "sha1:" + SHA1[0][:-1],
    SHA1[0][:-1] + "j", SHA1[2] + "=", "sha1: " + SHA1[0], SHA1[0][:-1] + "1", "sha256:" + "A" * 51 + "B",
    "sha1:" + SHA1[0] + "\n", "sha1:" + "é" * 32, "０" * 40,
]  # fmt: skip

NOTHING = [
    "",
    "-",
    ":",
    "sha1:",
    "sha1:-",
    "sha1:unknown",
    "NULL",
    "md5: n/a",
    "0" * 40,
    "sha1:" + "A" * 32,
    "sha1:" + "0" * 40,
]

by_both = pytest.mark.parametrize("normalised", [comparable, one_spelling])


def _spellings(name: str, payload: bytes) -> list[str]:
    raw = hashlib.new(name, payload, usedforsecurity=False).digest()
    base32 = base64.b32encode(raw).decode()
    values = [raw.hex(), raw.hex().upper(), base32, base32.lower(), base32.rstrip("=")]
    prefixes = [f"{name}:", f"{name.upper()}:", f"{name[:-3]}-{name[-3:]}:" if "sha" in name and name != "sha1" else ""]
    return [prefix + value for value in values for prefix in ("", *prefixes)]


@by_both
@given(st.binary(), st.sampled_from(NAMES))
def test_one_digest_is_one_however_it_is_written(normalised: Callable[[str], str], payload: bytes, name: str) -> None:
    """With its algorithm or without, in base32 or in hexadecimal digits, in capitals or not."""
    assert 1 == len(set(map(normalised, _spellings(name, payload))))


@by_both
@pytest.mark.parametrize("digest", NOTHING)
def test_a_word_for_none_is_none(normalised: Callable[[str], str | None], digest: str) -> None:
    """Different payloads would be copies by it."""
    assert normalised(digest) is None


@by_both
@given(st.lists(st.sampled_from([*SHA1, *UNKNOWN, *NOTHING]) | st.text("sha1:ABCab237=-", max_size=40), max_size=4))
def test_what_is_normal_stays(normalised: Callable[[str], str], digests: list[str]) -> None:
    """A second time changes nothing, and both codes agree."""
    for digest in digests:
        found = normalised(digest)
        assert comparable(digest) == found
        assert found is None or found == normalised(found)


@by_both
def test_one_payload_has_five_spellings(normalised: Callable[[str], str]) -> None:
    """As indexes and archives have them."""
    assert {"sha1:" + SHA1[2]} == set(map(normalised, SHA1))


@by_both
@pytest.mark.parametrize("digest", UNKNOWN)
def test_an_unknown_spelling_stays_as_it_is(normalised: Callable[[str], str], digest: str) -> None:
    """Nobody knows what it says."""
    assert digest == normalised(digest)


def _index(path: Path, digests: list[str]) -> Path:
    known = [{"url": f"http://a.example/{number}", "digest": digest} for number, digest in enumerate(digests)]
    path.write_text("".join(f"org,example)/ 2020010203040{at} {json.dumps(line)}\n" for at, line in enumerate(known)))
    return path


def test_lines_of_an_index_are_copies_however_their_digests_are_written(tmp_path: Path) -> None:
    """What stays is as it was, and so is the column of what went; the proof agrees."""
    found = ns.dedup(str(_index(tmp_path / "a.cdxj", [*SHA1, "sha1:ABC"])), method="digest")
    assert (6, 4) == (found.stats.documents, found.stats.removed)
    assert SHA1[1:] == found.removed()["digest"].to_pylist()
    found.write(tmp_path / "out")
    assert f'"{SHA1[0]}"' in (tmp_path / "out" / "kept" / "a.cdxj").read_text()
    assert ns.verify(tmp_path / "out").holds


def test_the_layer_of_revisits_goes_by_one_spelling(tmp_path: Path) -> None:
    """Of an index beside archives, too."""
    pytest.importorskip("fastwarc")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.warc").write_bytes(response(1, "a rose", f"WARC-Payload-Digest: {SHA1[1]}"))
    _index(tmp_path / "in" / "b.cdxj", [SHA1[2], "sha1:ABC"])
    found = ns.dedup(str(tmp_path / "in"), use="revisit")
    assert (3, 1) == (found.stats.documents, found.stats.removed)
    found.write(tmp_path / "out")
    assert ns.verify(tmp_path / "out").holds


def test_two_spellings_of_one_digest_do_not_contradict_a_revisit(tmp_path: Path) -> None:
    """Of two records with the same bytes."""
    pytest.importorskip("fastwarc")
    records = [response(number, "a rose", f"WARC-Payload-Digest: {SHA1[number]}") for number in (1, 2)]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    found = ns.dedup(str(tmp_path / "a.warc"))
    assert "bytes" in found.removals["evidence"][0].as_py()
    stats = found.write(tmp_path / "out", revisits=True)
    assert any("1 of 1 removed documents are revisits" in note for note in stats.notes)
    assert ns.verify(tmp_path / "out").holds
