"""Hamming search against Python integers: every form finds every pair within k bits, once, however skewed the codes."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.errors import ConfigError
from nearsame.kernels import hamming_search
from nearsame.kernels.hamming_blocks import block_masks, collision_ratio, cut, hash_multipliers, weigh_bits, windows
from nearsame.kernels.hamming_rotations import adjacent, rotate, rotated_order, runs
from nearsame.kernels.hamming_search import brute_force, distances, distinct, query, self_join
from tests.examples import share

WIDTHS = [8, 16, 32, 64, 70, 128, 256, 512]


def packed(values, bits):
    """Python integers as codes."""
    num_words = -(-bits // 64)
    words = [[value >> 64 * word & (2**64 - 1) for word in range(num_words)] for value in values]
    return np.array(words, np.uint64).reshape(-1, num_words)


def near_pairs(values, k):
    """Every (a, b, distance) within k bits, a < b: the slow, obvious way."""
    return [
        (a, b, (values[a] ^ values[b]).bit_count())
        for a in range(len(values))
        for b in range(a + 1, len(values))
        if (values[a] ^ values[b]).bit_count() <= k
    ]


def near_matches(queries, base, k):
    """Every (query, base, distance) within k bits."""
    return [
        (q, b, (query ^ code).bit_count())
        for q, query in enumerate(queries)
        for b, code in enumerate(base)
        if (query ^ code).bit_count() <= k
    ]


def triples(pairs):
    """Pairs as a list of (a, b, distance)."""
    return list(zip(*(part.tolist() for part in pairs), strict=True))


def tables(bits, k, num_blocks=None):
    """The headers of one block of k + 1."""
    return block_masks(np.ones(bits), num_blocks or k + 1, -(-bits // 64))


@st.composite
def searches(draw, max_size=60):
    """(values, bits, k): a few centres, and codes that differ from them in few bits, so that many pairs are near."""
    bits = draw(st.sampled_from(WIDTHS))
    k = draw(st.integers(0, min(16, bits - 1)))
    centres = draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=4))
    code = st.builds(
        lambda centre, flips: centre ^ sum({1 << bit for bit in flips}),
        st.sampled_from(centres),
        st.lists(st.integers(0, bits - 1), max_size=k + 2),
    )
    return draw(st.lists(code, max_size=max_size)), bits, k


@pytest.fixture(params=["usual", "tiny"])
def sizes(request, monkeypatch):
    """The search as it is, and with its sizes so small that every path is taken on few codes."""
    if request.param == "tiny":
        small = {"_RANGE": 7, "_PART": 2, "_BUFFER": 1, "_TILE": 5, "_HOT_WORK": 3, "_DEAL_WORK": 0}
        for name, value in small.items():
            monkeypatch.setattr(hamming_search, name, value)
    return request.param


@pytest.mark.parametrize("few", [False, True])
def test_the_tables_find_every_pair_once(sizes, few):
    """Self-join by k + 1 blocks equals brute force over Python integers."""

    @given(searches(6 if few else 60))
    @settings(max_examples=share(60))
    def holds(search):
        values, bits, k = search
        assert near_pairs(values, k) == triples(self_join(packed(values, bits), k, tables(bits, k)))

    holds()


def test_more_blocks_and_longer_headers_find_the_same_pairs(sizes):
    """Two of k + 2 blocks, overlapping headers: still each pair once."""

    @given(searches(40))
    @settings(max_examples=share(40))
    def holds(search):
        values, bits, k = search
        if k + 2 > bits or k > 6:
            return
        blocks = tables(bits, k, k + 2)
        headers = np.stack([blocks[i] | blocks[j] for j in range(k + 2) for i in range(j)])
        assert near_pairs(values, k) == triples(self_join(packed(values, bits), k, headers))

    holds()


def test_brute_force_finds_every_pair_once(sizes):
    """Comparing everything, in tiles, equals brute force over Python integers."""

    @given(searches())
    @settings(max_examples=share(40))
    def holds(search):
        values, bits, k = search
        assert near_pairs(values, k) == triples(brute_force(packed(values, bits), k))

    holds()


def test_a_query_finds_every_match_once(sizes):
    """Queries against a base: all matches, sorted by query, equal codes on both sides included."""

    @given(searches(), st.integers(0, 60))
    @settings(max_examples=share(60))
    def holds(search, num_queries):
        values, bits, k = search
        queries, base = values[:num_queries], values[num_queries:]
        expected = near_matches(queries, base, k)
        codes = packed(queries, bits), packed(base, bits)
        assert expected == triples(query(*codes, k, tables(bits, k)))
        assert expected == triples(query(*codes, k, np.zeros((1, codes[0].shape[1]), np.uint64)))

    holds()


def test_whole_runs_of_all_rotations_find_every_pair_once(sizes):
    """The exact form of rotate and sort equals brute force over Python integers."""

    @given(searches(40))
    @settings(max_examples=share(30))
    def holds(search):
        values, bits, k = search
        assert near_pairs(values, k) == triples(runs(packed(values, bits), bits, k))

    holds()


@given(searches())
def test_neighbours_after_rotations_are_near_pairs(search):
    """The lossy form finds only true pairs, each once, and exactly those that are neighbours in some sorted order."""
    values, bits, k = search
    mask = 2**bits - 1
    expected = set()
    for by in range(bits):
        order = sorted(range(len(values)), key=lambda row: (values[row] << by & mask | values[row] >> bits - by, row))
        expected |= {(min(pair), max(pair)) for pair in pairwise(order)}
    found = triples(adjacent(packed(values, bits), bits, k))
    assert [pair for pair in near_pairs(values, k) if pair[:2] in expected] == found


@given(searches(), st.integers(-600, 600))
def test_rotation_turns_left_around_all_bits(search, by):
    """Bit i goes to bit (i + by) mod bits, for codes of any number of words."""
    values, bits, _ = search
    turn = by % bits
    turned = [(value << turn | value >> bits - turn) & 2**bits - 1 for value in values]
    assert packed(turned, bits).tolist() == rotate(packed(values, bits), bits, by).tolist()


@given(searches())
def test_distances_count_differing_bits(search):
    """distances() equals the bit count of the xor."""
    values, bits, _ = search
    codes = packed(values, bits)
    expected = [(a ^ b).bit_count() for a, b in zip(values, values[::-1], strict=True)]
    assert expected == distances(codes, codes[::-1]).tolist()


@given(searches())
def test_distinct_groups_equal_codes_in_ascending_order(search):
    """Groups ascend by code, rows ascend within a group."""
    values, bits, _ = search
    order, starts = distinct(packed(values, bits))
    groups = [order[a:b].tolist() for a, b in pairwise(starts)]
    expected = [[row for row, value in enumerate(values) if value == code] for code in sorted(set(values))]
    assert expected == groups


@pytest.mark.parametrize("num_codes", [0, 1])
def test_no_code_and_one_code_have_no_pairs(num_codes):
    """Nothing to compare is an empty answer, in every form."""
    codes = packed([5] * num_codes, 64)
    assert [] == triples(self_join(codes, 3, tables(64, 3)))
    assert [] == triples(brute_force(codes, 3))
    assert [] == triples(runs(codes, 64, 3))
    assert [] == triples(adjacent(codes, 64, 3))
    assert [] == triples(query(codes[:0], codes, 3, tables(64, 3)))
    assert [num_codes, num_codes] == [len(distinct(codes)[0]), len(distinct(codes)[1]) - 1]


def skewed(num_codes, seed):
    """64-bit codes most of whose upper half never changes, with planted neighbours and equal codes."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 2**20, num_codes, np.uint64) | np.uint64(0xABCDEF0000000000)
    odd = random.integers(0, num_codes, num_codes // 20)
    codes[odd] ^= np.uint64(1) << random.integers(40, 64, len(odd)).astype(np.uint64)
    return codes[:, None]


def test_skewed_codes_cost_time_but_no_pair(monkeypatch):
    """Buckets that nearly all codes share are cut anew by what varies in them, and nothing is lost or doubled."""
    monkeypatch.setattr(hamming_search, "_HOT_WORK", 1 << 12)
    monkeypatch.setattr(hamming_search, "_DEAL_WORK", 1)
    codes = skewed(6000, 1)
    expected = brute_force(codes, 3)
    assert len(expected.a) > 1000
    assert triples(expected) == triples(self_join(codes, 3, tables(64, 3)))
    half = len(codes) // 2
    bases = query(codes[half:], codes[:half], 3, tables(64, 3))
    assert {(b, a + half) for a, b, _ in triples(bases)} == {(a, b) for a, b, _ in triples(expected) if a < half <= b}


def test_a_hot_bucket_is_cut_only_where_that_saves_work():
    """Codes that all differ in few places share blocks whatever the cut: such a cut is seen to save nothing."""
    few = np.arange(64, dtype=np.uint64)[:, None]
    assert collision_ratio(few, tables(64, 3)) > 1
    weighed = block_masks(weigh_bits(few, 64), 4, 1)
    assert collision_ratio(few, weighed) < collision_ratio(few, tables(64, 3))


def test_equal_codes_en_masse_are_all_pairs():
    """3,000 equal codes are 4,498,500 pairs: buffers fill and are taken up again, none is capped."""
    pairs = self_join(np.full((3000, 1), 7, np.uint64), 3, tables(64, 3))
    assert 3000 * 2999 // 2 == len(pairs.a)
    assert 0 == pairs.distance.max()


def test_threads_and_order_of_work_do_not_change_the_answer(monkeypatch):
    """A thread pool's map and the plain one give the same arrays."""
    monkeypatch.setattr(hamming_search, "_RANGE", 500)
    codes = skewed(5000, 2)
    expected = self_join(codes, 3, tables(64, 3))
    with ThreadPoolExecutor(4) as pool:
        found = self_join(codes, 3, tables(64, 3), run=pool.map)
    assert triples(expected) == triples(found)


def test_too_many_codes_are_an_error():
    """A row is 32 bits of a pair: more codes are refused, not wrapped."""
    huge = np.broadcast_to(np.uint64(0), (2**32, 1))
    with pytest.raises(ConfigError, match="4,294,967,296 codes are too many: at most 4,294,967,295"):
        self_join(huge, 3, tables(64, 3))


@pytest.mark.parametrize(("bits", "k", "width"), [(64, 3, 21), (64, 1, 63), (64, 0, 64), (32, 16, 1), (128, 5, 25)])
def test_windows_are_the_leading_bits_that_some_rotation_makes_equal(bits, k, width):
    """ceil((bits - k) / k) bits around the circle, one window for each rotation."""
    masks = windows(bits, k)
    assert {width} == set(np.bitwise_count(masks).sum(axis=1).tolist())
    assert (1 if k == 0 else bits) == len(np.unique(masks, axis=0))


@given(st.sampled_from(WIDTHS), st.data())
def test_blocks_cover_every_bit_and_share_none(bits, data):
    """Whatever the weights, blocks are runs of at least one bit, in order."""
    num_blocks = data.draw(st.integers(1, min(bits, 20)))
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.1, 1.0]), min_size=bits, max_size=bits)))
    blocks = cut(weights, num_blocks)
    assert list(range(bits)) == [bit for start, stop in blocks for bit in range(start, stop)]
    assert all(start < stop for start, stop in blocks)
    assert num_blocks == len(blocks)


def test_a_short_block_is_its_own_bucket():
    """A block within one word is shifted to the top; what is longer or scattered is hashed by odd numbers."""
    assert [1 << 32] == hash_multipliers(np.array([0xFFFF0000], np.uint64), 16).tolist()
    assert [0, 1 << 56] == hash_multipliers(np.array([0, 0xFF], np.uint64), 8).tolist()
    assert {1} == {int(word) & 1 for word in hash_multipliers(np.array([0xF0F0, 1], np.uint64), 16)}
    assert {1} == {int(word) & 1 for word in hash_multipliers(np.array([0xFFFF0000], np.uint64), 8)}


# EXAMPLES: sorting and rotating. Documents are numbered from 1 there, rows from 0 here.
SIXTEEN = [37586, 50086, 2648, 934, 40957, 2650, 64475, 40955]


def neighbours(by):
    """The documents in sorted order after turning left, and the distances of neighbours."""
    codes = packed(SIXTEEN, 16)
    order = rotated_order(codes, 16, by)
    return (order + 1).tolist(), distances(codes[order[:-1]], codes[order[1:]]).tolist()


def test_sixteen_bit_codes_in_order_of_document():
    """The distances to the document before."""
    codes = packed(SIXTEEN, 16)
    assert [7, 11, 9, 9, 9, 7, 4] == distances(codes[:-1], codes[1:]).tolist()


def test_sixteen_bit_codes_sorted():
    """(3,6) and (8,5) are neighbours; (4,2), at distance 2, is missed."""
    assert ([4, 3, 6, 1, 8, 5, 2, 7], [9, 1, 5, 6, 2, 9, 9]) == neighbours(0)
    assert [(2, 5, 1), (4, 7, 2)] == triples(adjacent(packed(SIXTEEN, 16), 16, 2, [0]))


def test_sixteen_bit_codes_rotated_by_two():
    """(4,2) is found too."""
    turned = sorted(rotate(packed(SIXTEEN, 16), 16, 2)[:, 0].tolist())
    assert [3736, 3739, 10592, 10600, 19274, 32750, 32758, 61295] == turned
    assert ([4, 2, 3, 6, 1, 8, 5, 7], [2, 11, 1, 5, 6, 2, 6]) == neighbours(2)
    expected = [(1, 3, 2), (2, 5, 1), (4, 7, 2)]
    assert expected == triples(adjacent(packed(SIXTEEN, 16), 16, 2, [2]))
    assert expected == triples(runs(packed(SIXTEEN, 16), 16, 2))


def test_neighbours_only_is_lossy_where_runs_are_not():
    """Of three codes within one bit of each other's neighbour, one pair is never adjacent in the plain order."""
    codes = packed([0b000, 0b001, 0b010], 16)
    assert 1 == len(adjacent(codes, 16, 1, [0]).a)
    assert 2 == len(runs(codes, 16, 1).a)


def test_thirty_two_bit_codes_of_three_sentences():
    """Two cat sentences and an ice-cream one: 4, 16 and 12 bits apart."""
    found = brute_force(packed([851459198, 847263864, 984968088], 32), 31)
    assert [(0, 1, 4), (0, 2, 16), (1, 2, 12)] == triples(found)
