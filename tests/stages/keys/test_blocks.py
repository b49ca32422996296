"""The plan: errors that name the values, a cost model that chooses as the literature does, any choice exact."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.errors import ConfigError
from nearsame.kernels.hamming_search import brute_force, self_join
from nearsame.stages.keys.blocks import CodeCounts, choices, plan, tables, weigh_bits
from tests.examples import share


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(k=64), "k=64 is not at least 0 and below bits=64"),
        (dict(k=-1), "k=-1 is not at least 0 and below bits=64"),
        (dict(k=3, num_blocks=3), "num_blocks=3 is not above k=3 and at most bits=64"),
        (dict(k=3, num_blocks=65), "num_blocks=65 is not above k=3 and at most bits=64"),
        (
            dict(k=3, num_blocks=8, header_blocks=6),
            "header_blocks=6 is not from 1 to 5, which is num_blocks=8 less k=3",
        ),
        (dict(k=3, header_blocks=0), "header_blocks=0 is not from 1 to 61, which is bits=64 less k=3"),
    ],
)
def test_what_cannot_find_every_pair_is_an_error_that_names_the_values(settings, message):
    """A k of all bits or more, too few blocks, too long a header."""
    with pytest.raises(ConfigError, match=f"^{message}$") as caught:
        plan(CodeCounts(1000, 64), **settings)
    assert caught.value.hint


def test_codes_without_bits_are_an_error():
    """A code has at least one bit."""
    with pytest.raises(ConfigError, match="bits=0 is below 1"):
        plan(CodeCounts(1000, 0), 0)


def test_a_header_of_three_of_eight_blocks_comes_in_56_ways():
    """EXAMPLES: 64 bits, k = 3, G = 8 blocks of 8 bits, g = 3 of the 5 that must agree."""
    eight = plan(CodeCounts(1000, 64), 3, num_blocks=8, header_blocks=3)
    assert [(8 * i, 8 * i + 8) for i in range(8)] == list(eight.blocks)
    assert math.comb(8, 3) == eight.num_tables == len(tables(eight))
    assert {24} == set(np.bitwise_count(tables(eight)[:, 0]).tolist())


@pytest.mark.parametrize(("num_codes", "blocks"), [(1000, 1), (10**6, 4), (10**7, 4), (10**9, 5), (10**11, 6)])
def test_larger_collections_get_longer_headers(num_codes, blocks):
    """64 bits, k = 3: everything is compared, then 4, 10 and 20 tables."""
    assert blocks == plan(CodeCounts(num_codes, 64), 3).num_blocks


def test_few_queries_are_compared_with_everything():
    """Dealing ten million codes for ten queries is not worth it; for a million it is."""
    assert 1 == plan(CodeCounts(10**7, 64, num_queries=10), 3).num_blocks
    assert 4 == plan(CodeCounts(10**7, 64, num_queries=10**6), 3).num_blocks


def test_bits_that_never_change_do_not_make_a_header():
    """Codes whose upper half is constant are cut by their lower half, and need longer headers."""
    codes = np.random.default_rng(0).integers(0, 2**32, (5000, 1), np.uint64)
    weights = weigh_bits(codes, 64)
    skewed = plan(CodeCounts(10**8, 64, weights=weights), 3, num_blocks=4)
    assert [8, 16, 24] == [stop for _, stop in skewed.blocks[:3]]
    assert plan(CodeCounts(10**8, 64, weights=weights), 3).num_tables > plan(CodeCounts(10**8, 64), 3).num_tables


def test_equal_codes_are_one_table_for_any_number_of_blocks_at_distance_0():
    """A k of 0 needs no choice: the header is the whole code."""
    assert [(1, 0), (1, 1)] == [(offer.num_blocks, offer.header_blocks) for offer in choices(CodeCounts(10**6, 64), 0)]
    assert [2**64 - 1] == tables(plan(CodeCounts(10**6, 64), 0))[0].tolist()


@given(st.sampled_from([16, 32, 64, 100, 128]), st.integers(0, 6), st.data())
@settings(max_examples=share(60))
def test_any_plan_finds_every_pair_once(bits, k, data):
    """Every number of blocks and every length of header gives the answer of comparing everything."""
    num_blocks = data.draw(st.integers(k + 1, min(bits, k + 4)))
    header_blocks = data.draw(st.integers(1, num_blocks - k))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    num_words = -(-bits // 64)
    codes = np.zeros((80, num_words), np.uint64)
    for row in range(1, 80):
        codes[row] = codes[random.integers(0, row)]
        for bit in random.integers(0, bits, random.integers(0, k + 3)):
            codes[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    weights = weigh_bits(codes, bits) if data.draw(st.booleans()) else None
    chosen = plan(CodeCounts(len(codes), bits, weights=weights), k, num_blocks=num_blocks, header_blocks=header_blocks)
    expected, found = brute_force(codes, k), self_join(codes, k, tables(chosen))
    assert [part.tolist() for part in expected] == [part.tolist() for part in found]
