"""The numbers of a seed are NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.stages.sketches.pcg64 import PCG64


@given(st.integers(0, 2**200) | st.integers(0, 2**32 + 5), st.lists(st.integers(0, 40), max_size=4))
def test_every_seed_gives_the_numbers_of_numpy(seed, sizes):
    """Drawn at once or one after the other, of small seeds and of those that have more words than the pool."""
    ours, theirs = PCG64(seed), np.random.PCG64(seed)
    for size in sizes:
        assert ours.random_raw(size).tolist() == theirs.random_raw(size).tolist()


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 2**64, 2**128 - 1, 2**128, 2**160])
def test_where_words_begin(seed):
    """A thousand numbers of each."""
    drawn = PCG64(seed).random_raw(1000)
    assert np.uint64 == drawn.dtype
    assert (drawn == np.random.PCG64(seed).random_raw(1000)).all()
