"""Hash functions against Python's integers; they read what they are about and nothing else."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.hashing import finish, hash_bytes, hash_keys, hash_text, join, join_last, mix
from tests.oracle import mixing as twin

WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1, twin.K0, twin.K1])
SEEDS = st.integers(0, 2**128 - 1) | st.sampled_from([0, 1, 2**64, 2**128 - 1])
GUARDS = st.tuples(st.binary(max_size=9), st.binary(min_size=8, max_size=16))


def _between(before, data, after):
    """The data with other bytes on both sides: (array, start, end)."""
    return frozen(np.frombuffer(before + data + after, np.uint8)), len(before), len(before) + len(data)


@given(WORDS, WORDS)
def test_mix_folds_the_product(a, b):
    """Both halves of all 128 bits."""
    assert twin.mix(a, b) == mix(np.uint64(a), np.uint64(b))


@given(WORDS)
def test_finish_is_the_finaliser_of_murmurhash3(h):
    """As its author wrote it."""
    assert twin.finish(h) == finish(np.uint64(h))


@given(WORDS)
def test_finish_can_be_undone(h):
    """So it is a bijection: no two words have one result."""
    undone = finish(np.uint64(h))
    for multiplier in (0xC4CEB9FE1A85EC53, 0xFF51AFD7ED558CCD):
        undone = (undone ^ undone >> 33) * pow(multiplier, -1, 2**64) & twin.MASK
    assert h == undone ^ undone >> 33


def test_every_input_bit_moves_every_output_bit():
    """Of a hundred words, each with each bit flipped, each output bit changes in 30 to 70."""
    words = np.random.default_rng(0).integers(0, 2**64, 100, np.uint64).tolist()
    for bit in range(64):
        changes = [finish(np.uint64(word)) ^ finish(np.uint64(word ^ 1 << bit)) for word in words]
        moved = [sum(change >> place & 1 for change in changes) for place in range(64)]
        assert 27 <= min(moved)
        assert 73 >= max(moved)


@given(WORDS, WORDS, SEEDS)
def test_two_words_are_joined_under_the_keys_of_a_seed(a, b, seed):
    """Inside a shingle, and at its end under others."""
    keys = twin.keys_of(seed)
    assert keys == hash_keys(seed).tolist()
    assert twin.join(a, b, keys[6], keys[7]) == join(np.uint64(a), np.uint64(b), hash_keys(seed))
    last = twin.join(a, b, (keys[8] + 5) & twin.MASK, keys[9])
    assert last == join_last(np.uint64(a), np.uint64(b), np.uint64(5), hash_keys(seed))


@given(WORDS, WORDS, SEEDS)
def test_no_factor_of_zero_hides_the_other(a, b, seed):
    """Whoever makes one factor zero, by its key, changes the result with the other one all the same."""
    keys = hash_keys(seed)
    assert (a == b) == (join(keys[6], np.uint64(a), keys) == join(keys[6], np.uint64(b), keys))
    assert (a == b) == (join(np.uint64(a), keys[7], keys) == join(np.uint64(b), keys[7], keys))


@given(SEEDS)
def test_the_lone_factor_is_odd(seed):
    """Then no word makes a product zero but zero."""
    assert 1 == hash_keys(seed)[1] % 2


def test_seeds_have_keys_of_their_own():
    """Each of them, whichever bit of a seed changes."""
    keys = np.stack([hash_keys(seed) for seed in (0, *(1 << bit for bit in range(128)))])
    assert [129] * 16 == [np.unique(column).size for column in keys.T]


@given(st.binary(max_size=80), GUARDS, GUARDS, SEEDS)
def test_hash_bytes_is_its_twin_whatever_stands_beside(data, one, two, seed):
    """The up to seven bytes that it reads behind the end do not count."""
    for before, after in (one, two):
        assert twin.hash_bytes(data, seed) == hash_bytes(*_between(before, data, after), hash_keys(seed))


@given(st.binary(max_size=100), GUARDS, SEEDS)
def test_hash_text_is_its_twin_at_the_very_end_of_a_buffer(data, guards, seed):
    """Where there is nothing to read."""
    for before, after in (guards, (guards[0], b"")):
        assert twin.hash_bytes(data, seed) == hash_text(*_between(before, data, after), hash_keys(seed))


@pytest.mark.parametrize("length", range(70))
def test_every_length_has_its_own_hash_of_zeros(length):
    """Zero bytes count: what differs only in their number is told apart, at every step of eight."""
    data = bytes(length)
    assert twin.hash_bytes(data) == hash_bytes(*_between(b"x", data, bytes(8)), hash_keys(0))
    assert twin.hash_bytes(data) != twin.hash_bytes(data + b"\0")


def test_a_hundred_thousand_short_texts_have_as_many_hashes():
    """Numbers in decimal: a hash that loses digits would show, in either half."""
    texts = [str(number).encode() for number in range(100_000)]
    data, ends = frozen(np.frombuffer(b"".join(texts), np.uint8)), np.cumsum([0, *map(len, texts)])
    found = np.array([hash_text(data, *span, hash_keys(0)) for span in itertools.pairwise(ends.tolist())], np.uint64)
    assert 100_000 == np.unique(found).size
    for half in (found >> np.uint64(32), found & np.uint64(0xFFFFFFFF)):
        assert np.unique(half).size > 99_990


def test_blocks_of_a_word_cannot_be_made_up_for_by_the_next():
    """Where blocks are only multiplied, the second block ^ both states gave any word a twin, under a known seed."""
    seed, word = 0, b"internationality"
    keys = twin.keys_of(seed)
    first = b"abcdefgh"
    states = [twin.join(keys[0], int.from_bytes(part, "little"), keys[4], keys[5]) for part in (word[:8], first)]
    second = (int.from_bytes(word[8:], "little") ^ states[0] ^ states[1]).to_bytes(8, "little")
    assert twin.hash_bytes(word, seed) != twin.hash_bytes(first + second, seed)
