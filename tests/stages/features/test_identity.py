"""Digests of ready items: those of the library, over sizes and what the items hold."""

import hashlib

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.stages.features.identity import digest_lists

LISTS = st.lists(st.lists(st.text(max_size=300), max_size=5), max_size=20)


@given(LISTS, st.integers(0, 3), st.integers(0, 2**64 - 1))
def test_a_list_is_digested_as_its_sizes_and_then_its_texts(lists, skipped, seed):
    """Wherever the lists begin in their columns."""
    column = pa.array([["before"], *lists], pa.large_list(pa.large_string())).slice(1)
    column = column.slice(min(skipped, len(lists)))
    kept = lists[min(skipped, len(lists)) :]
    texts, offsets = arrow.strings(column.values), np.asarray(column.offsets)
    found = digest_lists(texts, arrow.frozen(offsets), seed)
    for each, digest in zip(kept, found.T, strict=True):
        items = [item.encode() for item in each]
        spelt = b"".join(len(item).to_bytes(8, "little") for item in items) + b"".join(items)
        key = seed.to_bytes(16, "little")
        assert hashlib.blake2b(spelt, digest_size=16, key=key, person=b"nearsame texts").digest() == digest.tobytes()
