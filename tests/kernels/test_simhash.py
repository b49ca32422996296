"""Codes are the signs of the sums, however they are counted."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.simhash import majority, weighted_majority

WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1])


def _expected(hashes: list[tuple[int, ...]], weights: list[int], zero_is_one: bool, width: int) -> list[int]:
    found = []
    for word in range(width):
        code = 0
        for bit in range(64):
            total = sum(w if h[word] >> bit & 1 else -w for h, w in zip(hashes, weights, strict=True))
            code |= (total > 0 or (zero_is_one and total == 0)) << bit
        found.append(code)
    return found


def _flat(rows: list[list[tuple[int, ...]]], width: int) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *(len(row) for row in rows)])
    return np.array([word for row in rows for h in row for word in h], np.uint64), offsets * width


@given(st.integers(1, 2), st.booleans(), st.data())
def test_counting_upright_is_summing(width: int, zero_is_one: bool, data: st.DataObject) -> None:
    """Any number of hashes, of one word and of two, with sums of zero among them."""
    row = st.lists(st.tuples(*[WORDS] * width), max_size=40)
    rows = data.draw(st.lists(row, min_size=1, max_size=4))
    hashes, offsets = _flat(rows, width)
    mask = frozen(np.full(width, 2**64 - 1, np.uint64))
    out = np.empty((len(rows), width), np.uint64)
    majority(frozen(hashes), frozen(offsets[:-1]), frozen(offsets[1:]), zero_is_one, mask, out)
    assert [_expected(row, [1] * len(row), zero_is_one, width) for row in rows] == out.tolist()


def test_a_hundred_thousand_hashes_are_counted() -> None:
    """Counters have planes enough; half of the hashes set each bit, and one more sets the lowest."""
    hashes = np.resize(np.array([0, 2**64 - 1], np.uint64), 100_000)
    for extra, zero_is_one, expected in [(None, False, 0), (None, True, 2**64 - 1), (1, False, 1), (1, True, 1)]:
        these = hashes if extra is None else np.append(hashes, np.uint64(extra))
        out = np.empty((1, 1), np.uint64)
        ends = frozen(np.array([these.size]))
        majority(frozen(these), frozen(np.array([0])), ends, zero_is_one, frozen(np.full(1, 2**64 - 1, np.uint64)), out)
        assert [[expected]] == out.tolist()


@given(st.integers(1, 2), st.booleans(), st.data())
def test_weights_are_summed(width: int, zero_is_one: bool, data: st.DataObject) -> None:
    """Weights from zero to two to the power of thirty-one."""
    weight = st.integers(0, 3) | st.integers(0, 2**31)
    row = st.lists(st.tuples(st.tuples(*[WORDS] * width), weight), max_size=20)
    rows = data.draw(st.lists(row, min_size=1, max_size=4))
    hashes, offsets = _flat([[h for h, _ in row] for row in rows], width)
    weights = np.array([w for row in rows for _, w in row], np.uint64)
    mask = frozen(np.full(width, 2**64 - 1, np.uint64))
    out = np.empty((len(rows), width), np.uint64)
    firsts = frozen(offsets[:-1] // width)
    weighted_majority(
        frozen(hashes), frozen(offsets[:-1]), frozen(offsets[1:]), frozen(weights), firsts, zero_is_one, mask, out
    )
    expected = [_expected([h for h, _ in row], [w for _, w in row], zero_is_one, width) for row in rows]
    assert expected == out.tolist()
