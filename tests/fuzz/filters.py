"""The filters of the exact join, each of which may be left out of a run: the answer is the same without it."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

from nearsame.flow import steps
from nearsame.kernels import buckets
from nearsame.stages.keys import chains, prefix

__all__ = ["FILTERS", "without"]

_BATCH = prefix.KeyRoom.batch


def _unplaced(room: prefix.KeyRoom, filled: int) -> pa.RecordBatch:
    """Keys that do not say where they stand in their set, so that nobody is refused by it."""
    keys = _BATCH(room, filled)
    return keys.set_column(2, keys.schema.field(2), pa.array(np.full(len(keys), -1, np.int32)))


_PATCHES: dict[str, tuple[Any, str, Any]] = {
    "order": (prefix.CountFrequent, "of", staticmethod(lambda *_: None)),  # beyond a byte; and so no chains
    "chains": (chains, "plan_splitting", lambda *_: None),
    "prefix": (steps, "keys_of_sets", partial(prefix.PrefixKeys, everything=True)),
    "places": (prefix.KeyRoom, "batch", _unplaced),
    "bits": (buckets, "_words", lambda _: 0),
}
FILTERS = tuple(_PATCHES)


@contextlib.contextmanager
def without(names: Sequence[str]) -> Iterator[None]:
    """Some of them are off."""
    with contextlib.ExitStack() as stack:
        for name in names:
            owner, attribute, instead = _PATCHES[name]
            stack.enter_context(mock.patch.object(owner, attribute, instead))
        yield
