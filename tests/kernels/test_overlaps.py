"""What chosen documents share, against Python's sets; equal texts, against a list of those before."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.overlaps import compare_characters, count_shared

WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1])
SETS = st.lists(st.sets(st.integers(0, 12) | WORDS, max_size=14), min_size=1, max_size=6)
TEXTS = st.lists(st.text("ab", max_size=3).map(str.encode) | st.binary(max_size=2), max_size=12)
CANARY = 0x5A5A5A5A5A5A5A5A


def _shared(rows, pairs):
    offsets = frozen(np.cumsum([0, *map(len, rows)]))
    items = frozen(np.array([item for row in rows for item in sorted(row)], np.uint64))
    a, b = (frozen(np.array([pair[side] for pair in pairs], np.int64)) for side in (0, 1))
    out = np.full(len(pairs) + 2, CANARY, np.int64)
    count_shared(items, offsets, a, b, out[: len(pairs)])
    assert [CANARY] * 2 == out[len(pairs) :].tolist()
    return out[: len(pairs)].tolist()


def _leaders(texts, before=b""):
    """What the kernel says of texts in one buffer behind some bytes: (leaders, comparisons)."""
    data = frozen(np.frombuffer(before + b"".join(texts), np.uint8))
    offsets = frozen(np.cumsum([len(before), *map(len, texts)]))
    leaders = np.full(len(texts) + 2, CANARY, np.int64)
    compared = compare_characters(data, offsets, leaders[: len(texts)])
    assert [CANARY] * 2 == leaders[len(texts) :].tolist()
    return leaders[: len(texts)].tolist(), compared


@given(SETS, st.data())
def test_documents_share_what_their_sets_have_in_common(rows, data):
    """Of any two, in any order, also of one with itself."""
    row = st.integers(0, len(rows) - 1)
    pairs = data.draw(st.lists(st.tuples(row, row), max_size=12))
    assert [len(rows[a] & rows[b]) for a, b in pairs] == _shared(rows, pairs)


def test_no_pair_and_empty_documents_share_nothing():
    """An empty set has nothing in common with any, not even with itself."""
    assert [] == _shared([{1, 2}], [])
    assert [0, 0, 0, 2] == _shared([set(), {1, 2}], [(0, 0), (0, 1), (1, 0), (1, 1)])


@given(TEXTS, st.binary(max_size=3))
@example([], b"")
@example([b"", b"", b"a"], b"a")
@example([b"ab", b"a", b"abc", b"ab"], b"")
def test_a_text_gets_the_first_that_equals_it(texts, before):
    """Every different text before it is compared, up to the equal one; empty texts take no part."""
    expected, compared, different = [], 0, []
    for row, text in enumerate(texts):
        equal = [place for place, other in enumerate(different) if texts[other] == text]
        compared += 0 if not text else equal[0] + 1 if equal else len(different)
        expected.append(different[equal[0]] if equal else row)
        if text and not equal:
            different.append(row)
    assert (expected, compared) == _leaders(texts, before)


@pytest.mark.parametrize("place", [0, 1, 98, 99])
def test_one_byte_anywhere_makes_another_text(place):
    """The first, the last, and what lies between; so does one byte more."""
    text = bytes(range(100))
    other = text[:place] + bytes([255]) + text[place + 1 :]
    assert ([0, 1, 0, 1], 1 + 1 + 2) == _leaders([text, other, text, other])
    assert ([0, 1], 1) == _leaders([text, text + b"\0"])
    assert ([0, 1], 1) == _leaders([text, text[:-1]])
