"""Hash functions against Python's integers; they read what they are about and nothing else."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.oracle import mixing as twin

from nearsame.arrow import frozen
from nearsame.kernels.mixing import finish, hash_bytes, hash_text, hash_texts, mix

WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1, twin.K0, twin.K1])
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


@given(st.binary(max_size=80), GUARDS, GUARDS, WORDS)
def test_hash_bytes_is_its_twin_whatever_stands_beside(data, one, two, seed):
    """The up to seven bytes that it reads behind the end do not count."""
    for before, after in (one, two):
        assert twin.hash_bytes(data, seed) == hash_bytes(*_between(before, data, after), np.uint64(seed))


@given(st.binary(max_size=100), GUARDS, WORDS)
def test_hash_text_is_its_twin_whatever_stands_beside(data, guards, seed):
    """Also at the very end of a buffer, where there is nothing to read."""
    for before, after in (guards, (guards[0], b"")):
        assert twin.hash_text(data, seed) == hash_text(*_between(before, data, after), np.uint64(seed))


@pytest.mark.parametrize("length", range(70))
def test_every_length_has_its_own_hash_of_zeros(length):
    """Zero bytes count: what differs only in their number is told apart, at every step of eight and sixteen."""
    data = bytes(length)
    assert twin.hash_bytes(data) == hash_bytes(*_between(b"x", data, bytes(8)), np.uint64(0))
    assert twin.hash_text(data) == hash_text(*_between(b"x", data, b""), np.uint64(0))
    assert twin.hash_bytes(data) != twin.hash_bytes(data + b"\0")
    assert twin.hash_text(data) != twin.hash_text(data + b"\0")


@given(st.lists(st.binary(max_size=40), max_size=8), GUARDS, WORDS)
@example([], (b"", bytes(8)), 0)
@example([b"", b""], (b"", bytes(8)), 0)
def test_hash_texts_hashes_each_from_its_offset(texts, guards, seed):
    """Texts that lie one behind the other in one buffer, which may begin and end with others."""
    offsets = np.cumsum([len(guards[0]), *map(len, texts)]).astype(np.int64)
    data = frozen(np.frombuffer(guards[0] + b"".join(texts) + guards[1], np.uint8))
    out = np.zeros((len(texts), 2), np.uint64)
    hash_texts(data, frozen(offsets), np.uint64(seed), out)
    assert [list(twin.hash_text(text, seed)) for text in texts] == out.tolist()


def test_a_hundred_thousand_short_texts_have_as_many_hashes():
    """Numbers in decimal: a hash that loses digits would show."""
    texts = [str(number).encode() for number in range(100_000)]
    data = frozen(np.frombuffer(b"".join(texts), np.uint8))
    out = np.zeros((len(texts), 2), np.uint64)
    hash_texts(data, frozen(np.cumsum([0, *map(len, texts)])), np.uint64(0), out)
    assert [100_000, 100_000] == [np.unique(out[:, half]).size for half in range(2)]
