"""Vectors rounded, cut by hyperplanes, sliced and compared, against whole numbers one at a time."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.hyperplanes import LARGEST, angle, angle_across, codes, round_vectors, slice_keys
from tests.oracle import mixing, vectors
from tests.oracle.corpora import thresholds

LARGE, TINY = 1.7976931348623157e308, 5e-324
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, -1.0, LARGE, -LARGE, TINY])
VECTORS = st.lists(st.lists(FLOATS | st.integers(-3, 3).map(float), max_size=9), max_size=5)
SHORTS = st.integers(-LARGEST, LARGEST) | st.sampled_from([-LARGEST, LARGEST, 0, 1, -1])
WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1])
CANARY = 0x5A5A5A5A5A5A5A5A


def _laid_out(vector):
    """A rounded vector as words: the sum of its squares, then four numbers a word, zeros behind the last."""
    fours = [vector[at : at + 4] for at in range(0, len(vector), 4)]
    words = [sum((number & 0xFFFF) << 16 * place for place, number in enumerate(four)) for four in fours]
    return [sum(number * number for number in vector), *words]


def _words(rows, gap=0):
    """Rows of words one behind the other, with strangers between: (words, starts, ends)."""
    words, starts, ends = [], [], []
    for row in rows:
        words += [CANARY] * gap
        starts.append(len(words))
        words += row
        ends.append(len(words))
    return frozen(np.array(words, np.uint64)), frozen(np.array(starts, np.int64)), frozen(np.array(ends, np.int64))


@given(VECTORS, st.integers(0, 2))
@example([], 0)
@example([[], [0.0], [-0.0, 0.0], [1.0]], 1)
@example([[LARGE, -LARGE, 1.0], [TINY, -TINY], [-TINY] * 5], 1)
@example([[1.0, 1 / 65534, 3 / 65534, 5 / 65534, -1 / 65534]], 0)
def test_vectors_are_rounded_number_by_number(rows, gap):
    """To 15 bits, ties to even; wherever they stand, and zeros and empty vectors have no words."""
    values, starts, ends = [], [], []
    for row in rows:
        values += [3.0] * gap
        starts.append(len(values))
        values += row
        ends.append(len(values))
    rounded = [vectors.rounded(row) for row in rows]
    expected = [_laid_out(vector) if vector else [] for vector in rounded]
    out_starts = np.cumsum([0, *map(len, expected)])
    total = int(out_starts[-1])
    out = np.full(total + 2, CANARY, np.uint64)
    out[:total] = 0
    places = (frozen(np.array(each, np.int64)) for each in (starts, ends, out_starts[:-1]))
    round_vectors(frozen(np.array(values, np.float64)), *places, out[:total])
    assert [*(word for words in expected for word in words), CANARY, CANARY] == out.tolist()


@given(st.sampled_from([64, 128]), st.integers(0, 9), st.integers(0, 4), st.integers(0, 2), st.data())
def test_bits_are_the_signs_of_products(bits, size, num_vectors, gap, data):
    """The first plane's is the lowest; what lies on a plane is on its lower side; zeros behind a vector add nothing."""
    vector = st.lists(SHORTS | st.integers(-1, 1), min_size=size, max_size=size)
    given_vectors = data.draw(st.lists(vector, min_size=num_vectors, max_size=num_vectors))
    padded = -(-size // 4) * 4
    some = data.draw(st.lists(vector.map(tuple), min_size=1, max_size=5))
    rest = tuple(data.draw(st.lists(SHORTS, min_size=padded - size, max_size=padded - size)))
    planes = [(*some[place % len(some)], *rest) for place in range(bits)]
    items, starts, _ = _words([_laid_out(each) for each in given_vectors], gap)
    out = np.full((num_vectors + 1, bits // 64), CANARY, np.uint64)
    codes(items, starts, frozen(np.array(planes, np.int16).reshape(bits, padded)), out[:-1])
    found = [sum(word << 64 * place for place, word in enumerate(row)) for row in out[:-1].tolist()]
    assert [vectors.code(each, planes) for each in given_vectors] == found
    assert {CANARY} == set(out[-1].tolist())


def test_products_of_the_largest_numbers_do_not_wrap():
    """A thousand coordinates as large as they get, against planes that are: above zero, below, and just above."""
    vector = [LARGEST] * 1000
    above, below = [2**15 - 1] * 1000, [-(2**15)] * 1000
    even = [2**15 - 1, -(2**15 - 1)] * 500
    planes = [above, below, even, [*even[:-1], even[-1] + 1]] * 16
    out = np.zeros((1, 1), np.uint64)
    codes(*_words([_laid_out(vector)])[:2], frozen(np.array(planes, np.int16)), out)
    assert [[0x9999999999999999]] == out.tolist()


def _key(number, value):
    """The key of a slice."""
    salt = mixing.mix((number + 1) * mixing.K1 & mixing.MASK, mixing.K2)
    return mixing.finish(mixing.mix(value ^ mixing.K2, salt))


@given(st.integers(1, 4), st.integers(1, 64), st.data())
def test_keys_are_those_of_disjoint_runs_of_bits(num_words, width, data):
    """From the lowest bit on, also across words; the number of the run is in its key."""
    num_slices = data.draw(st.integers(0, 64 * num_words // width))
    row = st.lists(WORDS, min_size=num_words, max_size=num_words)
    given_codes = data.draw(st.lists(row, max_size=4))
    rows = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=len(given_codes), max_size=len(given_codes)))
    total = len(given_codes) * num_slices
    keys, key_rows = np.full(total + 1, CANARY, np.uint64), np.full(total + 1, CANARY, np.int64)
    words = frozen(np.array(given_codes, np.uint64).reshape(-1, num_words))
    slice_keys(words, frozen(np.array(rows, np.int64)), num_slices, width, keys[:total], key_rows[:total])
    numbers = [sum(word << 64 * place for place, word in enumerate(each)) for each in given_codes]
    expected = [_key(*each) for number in numbers for each in vectors.slices(number, num_slices, width)]
    assert [*expected, CANARY] == keys.tolist()
    assert [*(each for each in rows for _ in range(num_slices)), CANARY] == key_rows.tolist()


@pytest.mark.parametrize("width", [1, 3, 13, 21, 33, 63, 64])
def test_each_bit_of_a_code_moves_one_key(width):
    """That of its slice; bits behind the last slice move none."""
    num_slices = 128 // width
    before, after = np.zeros(num_slices, np.uint64), np.zeros(num_slices, np.uint64)
    rows, scratch = frozen(np.zeros(1, np.int64)), np.zeros(num_slices, np.int64)
    slice_keys(frozen(np.zeros((1, 2), np.uint64)), rows, num_slices, width, before, scratch)
    assert num_slices == len(set(before.tolist()))
    for bit in range(128):
        code = np.zeros((1, 2), np.uint64)
        code[0, bit // 64] = 1 << bit % 64
        slice_keys(frozen(code), rows, num_slices, width, after, scratch)
        assert ([bit // width] if bit // width < num_slices else []) == np.flatnonzero(before != after).tolist()


def _told(found):
    num, den = found
    return Fraction(num, den) if num >= 0 else None


def _both(one, other, threshold, gap):
    """The cosine of two laid out vectors, of one array and of two; they are the same."""
    both, starts, ends = _words([one, other], gap)
    first, others = _words([one], gap), _words([other], 2 * gap)
    p, q = threshold.numerator, threshold.denominator
    (a, b), (a_end, b_end) = starts.tolist(), ends.tolist()
    found = _told(angle(both, a, a_end, b, b_end, p, q))
    (x, x_end), (y, y_end) = ((int(each[1][0]), int(each[2][0])) for each in (first, others))
    assert found == _told(angle_across(first[0], x, x_end, others[0], y, y_end, p, q))
    return found


@given(st.integers(1, 9), thresholds().map(Fraction), st.integers(0, 2), st.data())
def test_a_cosine_is_decided_in_whole_numbers(size, threshold, gap, data):
    """As fractions say, also of the largest vectors; not at all above zero is similar to nothing."""
    numbers = st.lists(SHORTS | st.integers(-2, 2), min_size=size, max_size=size).filter(any)
    one = data.draw(numbers)
    other = data.draw(numbers | st.just(one) | st.just(list(reversed(one))))
    expected = vectors.cosine(tuple(one), tuple(other), threshold)
    assert expected == _both(_laid_out(one), _laid_out(other), threshold, gap)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 40))
def test_a_cosine_at_the_threshold_is_told_as_that(a, b, c):
    """And one that is higher by a billionth at most is not reached."""
    one, other = [a, b, c], [b, a, c]
    product, squares = 2 * a * b + c * c, a * a + b * b + c * c
    threshold = Fraction(product, squares)
    assert threshold == _both(_laid_out(one), _laid_out(other), threshold, 0)
    if threshold < 1:
        higher = Fraction(floor(threshold * 10**9) + 1, 10**9)
        assert _both(_laid_out(one), _laid_out(other), higher, 0) is None


def test_vectors_of_other_lengths_are_not_compared():
    """But for zeros behind the last number, which no word shows."""
    one = [5, 0, 0, 0]
    assert _both(_laid_out(one), _laid_out([5]), Fraction(1), 0) == 1
    assert _both(_laid_out(one), _laid_out([*one, 5]), Fraction(1, 1000), 0) is None
    assert _both(_laid_out([*one, 5]), _laid_out(one), Fraction(1, 1000), 1) is None


def test_opposite_and_orthogonal_vectors_are_never_similar():
    """However low the threshold is; and the longest are as similar to themselves as any."""
    least = Fraction(1, 10**9)
    assert _both(_laid_out([1]), _laid_out([-1]), least, 0) is None
    assert _both(_laid_out([1, 0]), _laid_out([0, 1]), least, 0) is None
    longest = _laid_out([LARGEST, -LARGEST] * 500)
    assert _both(longest, longest, Fraction(1), 0) == 1
