"""The normalisation kernel against unicodedataplus, code point by code point."""

from itertools import pairwise

import numpy as np
import pytest

from nearsame.arrow import frozen
from nearsame.kernels import unicode
from nearsame.kernels.normalise import BOTH, NFKC, STRIP_ACCENTS, normalise
from nearsame.recipes.methods import UNICODE_VERSION

plus = pytest.importorskip("unicodedataplus", reason="unicodedataplus is not installed")
if plus.unidata_version != UNICODE_VERSION:
    pytest.skip(f"unicodedataplus has Unicode {plus.unidata_version}", allow_module_level=True)

MODES = pytest.mark.parametrize("mode", [NFKC, STRIP_ACCENTS, BOTH], ids=["nfkc", "strip_accents", "both"])
CHARACTERS = [chr(i) for i in range(0x110000) if plus.category(chr(i)) not in ("Cs", "Cn", "Co")]


def expected_of(text: str, mode: int) -> str:
    """The obvious way: NFKC, then NFD, without Mn, NFC."""
    if mode != STRIP_ACCENTS:
        text = plus.normalize("NFKC", text)
    if mode == NFKC:
        return text
    return plus.normalize("NFC", "".join(c for c in plus.normalize("NFD", text) if plus.category(c) != "Mn"))


def run(texts: list[str | None], mode: int, *, room: int | None = None) -> list[str]:
    """The kernel over a column, with more room each time that it stops."""
    encoded = [(text or "").encode() for text in texts]
    data = frozen(np.frombuffer(b"".join(encoded), np.uint8))
    offsets = frozen(np.cumsum([0, *map(len, encoded)]))
    is_null = frozen(np.array([text is None for text in texts], np.bool_))
    out, ends = np.empty(room or 11 * data.size + 72, np.uint8), np.zeros(len(texts) + 1, np.int64)
    row = normalise(data, offsets, is_null, 0, mode, unicode.normalisation(), out, ends)
    while row < len(texts):
        out = np.concatenate([out, np.empty(17, np.uint8)])
        row = normalise(data, offsets, is_null, row, mode, unicode.normalisation(), out, ends)
    return [out[start:end].tobytes().decode() for start, end in pairwise(ends)]


def differences(texts: list[str], mode: int) -> list[tuple[str, str, str]]:
    """(text, expected, actual) where they differ."""
    triples = ((text, expected_of(text, mode), actual) for text, actual in zip(texts, run(texts, mode), strict=True))
    return [triple for triple in triples if triple[1] != triple[2]]


@MODES
def test_every_assigned_character_alone(mode: int) -> None:
    """Each of some 150,000 characters is normalised as unicodedataplus does."""
    assert [] == differences(CHARACTERS, mode)


@MODES
def test_every_assigned_character_between_others(mode: int) -> None:
    """Each character after a letter and before marks in the wrong order: it joins, moves or ends the segment."""
    assert [] == differences([f"xe{c}\u0301\u0323y" for c in CHARACTERS], mode)


@MODES
def test_every_assigned_character_in_a_row_of_all(mode: int) -> None:
    """The text of all characters in order, and backwards."""
    forth = "".join(CHARACTERS)
    assert [] == differences([forth, forth[::-1]], mode)


@MODES
def test_every_composing_second_after_every_starter_that_takes_one(mode: int) -> None:
    """All pairs of a first and a second of some composition, Hangul among them."""
    keys = unicode.normalisation().pairs.tolist()
    firsts = {chr(key >> 21) for key in keys} | {"\u1100", "\u1112", "가", "각", "힣", "a"}
    seconds = {chr(key & 0x1FFFFF) for key in keys} | set("\u1161\u1175\u1176\u11a7\u11a8\u11c2\u11c3")
    assert [] == differences([first + second for first in sorted(firsts) for second in sorted(seconds)], mode)


@MODES
@pytest.mark.parametrize("length", [1, 31, 32, 33, 34, 300, 5000])
def test_marks_in_any_number_are_put_in_order(mode: int, length: int) -> None:
    """Below and above the length where insertion sort gives way to counting sort, and beyond the scratch."""
    marks = "\u0301\u0323\u0345\u0328\u1dfa\u3099\u093c\u302e"
    text = "a" + "".join(marks[i * i % 8] for i in range(length)) + "b"
    assert [] == differences([text, text[1:]], mode)


@MODES
def test_a_row_that_does_not_fit_is_done_again_with_more_room(mode: int) -> None:
    """Growing the output by a few bytes at a time gives what ample room gives."""
    texts = ["plain text", "\ufdfa" * 3, "", "é" * 9, "각\u0301", "한" * 5 + "ﬁ"]
    assert run(texts, mode) == run(texts, mode, room=1)


@MODES
def test_the_documented_room_is_enough(mode: int) -> None:
    """No character takes more than 11 bytes for each of its own and 72 beyond."""
    for c in CHARACTERS:
        if len(expected_of(c, mode).encode()) > 3 * len(c.encode()):
            texts = [c * 50]
            out, ends = np.empty(11 * 50 * len(c.encode()) + 72, np.uint8), np.zeros(2, np.int64)
            data = frozen(np.frombuffer(texts[0].encode(), np.uint8))
            offsets = frozen(np.array([0, data.size]))
            assert 1 == normalise(
                data, offsets, frozen(np.zeros(1, np.bool_)), 0, mode, unicode.normalisation(), out, ends
            )


def test_a_null_row_becomes_an_empty_one() -> None:
    """Whatever lies below a null is not read."""
    assert ["a", "", "b"] == run(["a", None, "b"], NFKC)
