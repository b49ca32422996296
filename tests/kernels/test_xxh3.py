"""XXH3 equals its library, byte for byte."""

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.xxh3 import xxh3_texts


def _hashes(texts: list[bytes]) -> list[int]:
    offsets = np.cumsum([0, *map(len, texts)])
    data = np.frombuffer(b"".join(texts), np.uint8)
    out = np.empty(len(texts), np.uint64)
    xxh3_texts(frozen(data), frozen(offsets), out)
    return out.tolist()


def test_every_length_to_two_blocks_and_more() -> None:
    """Each of the six ways to hash by length, their edges, and several blocks of the last one."""
    data = np.random.default_rng(0).bytes(10_000)
    texts = [data[:size] for size in [*range(1100), 2047, 2048, 2049, 4096, 9999]]
    assert [xxhash.xxh3_64_intdigest(text) for text in texts] == _hashes(texts)


@given(st.lists(st.binary(max_size=300), max_size=8))
def test_any_bytes(texts: list[bytes]) -> None:
    """Wherever they stand in the buffer."""
    assert [xxhash.xxh3_64_intdigest(text) for text in texts] == _hashes(texts)


@pytest.mark.parametrize("word", ["a", "the", "café", "漢", "internationalisation", "x" * 241])
def test_words(word: str) -> None:
    """As anybody would hash them."""
    assert [xxhash.xxh3_64_intdigest(word.encode())] == _hashes([word.encode()])
