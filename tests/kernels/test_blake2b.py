"""Digests of texts in eight lanes against hashlib's, whatever lengths come together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.blake2b import digest_texts, digest_values
from tests.oracle import mixing as twin

LENGTHS = st.integers(0, 300) | st.sampled_from([0, 1, 7, 8, 127, 128, 129, 255, 256, 257, 1000, 5000])
SEEDS = st.integers(0, 2**128 - 1)


def _digests(texts, before, after, seed):
    data = frozen(np.frombuffer(before + b"".join(texts) + after, np.uint8))
    offsets = frozen(np.cumsum([len(before), *map(len, texts)]).astype(np.int64))
    return digest_texts(data, offsets, seed)


@given(st.lists(LENGTHS, max_size=30), st.binary(min_size=1, max_size=9), st.binary(max_size=9), SEEDS, st.randoms())
def test_digests_are_the_librarys(lengths, before, after, seed, random):
    """Of texts of all lengths in one buffer, more and fewer than lanes, up to its very end."""
    texts = [random.randbytes(length) for length in lengths]
    found = _digests(texts, before, after, seed)
    assert [list(twin.text_digest(text, seed)) for text in texts] == found.T.tolist()
    assert [digest_values(text, seed) for text in texts] == [column.tobytes() for column in found.T]


@pytest.mark.parametrize("change", range(130))
def test_every_byte_counts(change):
    """One bit anywhere in two blocks."""
    text = bytes(130)
    other = text[:change] + b"\x01" + text[change + 1 :]
    assert digest_values(text, 0) != digest_values(other, 0)
    one, two = _digests([text, other], b"", b"", 0).T.tolist()
    assert one != two
