"""Keys of very many documents: in their order, in little memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.engines.space import Space, least_memory
from nearsame.errors import ConfigError
from nearsame.index import gathering
from nearsame.index.building import room_for
from nearsame.index.gathering import Firsts, KeyRuns

LEAST = least_memory(1)
KEYS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3)


@given(st.lists(st.lists(KEYS, max_size=40), max_size=8), st.integers(1, 60), st.integers(1, 9))
def test_keys_come_in_their_order_wherever_they_were_held(batches, in_a_run, at_once):
    """By key and then by number, each once, as often as they are read; and the first of equal ones are known."""
    expected = sorted(
        (key, 1000 * batch + at) for batch, keys in enumerate(batches) for at, key in enumerate(sorted(keys))
    )
    with pytest.MonkeyPatch.context() as patched:
        for name, value in {"_LEAST_RUN": in_a_run, "_LEAST_READ": at_once, "_READ": at_once}.items():
            patched.setattr(gathering, name, value)
        runs = KeyRuns(Space(LEAST, 1))
        for batch, keys in enumerate(batches):
            runs.add(batch % 3, np.array(sorted(keys), np.int64), 1000 * batch + np.arange(len(keys)))
        runs.close()
        for _ in range(2):
            firsts = Firsts()
            blocks = [(block, firsts(block["key"])) for block in runs]
            found = [(pair, first) for block, is_first in blocks for *pair, first in _listed(block, is_first)]
            assert expected == [tuple(pair) for pair, _ in found]
            assert len({key for key, _ in expected}) == sum(first for _, first in found)


def _listed(block, is_first):
    return zip(block["key"].tolist(), block["number"].tolist(), is_first.tolist(), strict=True)


def test_what_is_held_of_keys_does_not_grow_with_them():
    """Bytes of memory at most, of a hundred thousand keys and of sixteen times as many, half of them all the same."""
    budget = 16 << 20
    peaks = []
    for num_keys in (100_000, 1_600_000):
        space, chance = Space(LEAST + budget, 1), np.random.default_rng(1)
        runs = KeyRuns(space)
        tracemalloc.start()
        for start in range(0, num_keys, 20_000):
            numbers = np.arange(start, start + 20_000)
            runs.add(0, np.where(numbers % 2, 7, chance.integers(-(2**63), 2**63 - 1, 20_000)), numbers)
        assert num_keys == sum(block.size for block in runs.close())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert space.spilled_bytes == gathering.KEYED.itemsize * num_keys
    assert max(peaks) < budget


def test_too_little_memory_for_any_index_is_refused():
    """With what it needs; without a bound it is whatever there is, and enough to begin."""
    with pytest.raises(ConfigError, match="memory=1,000 bytes is below"):
        room_for(1000)
    assert room_for(None).memory >= LEAST
