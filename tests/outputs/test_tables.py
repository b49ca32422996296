"""Where rows are, told by the gaps between them."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from nearsame.outputs.tables import Stretches
from nearsame.schemas import ORIGINS


@given(st.lists(st.sets(st.integers(0, 12))), st.integers(1, 5))
def test_stretches_are_the_places_themselves(parts: list[set[int]], size: int) -> None:
    """Whatever positions of a part are left out, and wherever a batch ends; one for each gap."""
    places = [(number, position) for number, part in enumerate(parts) for position in sorted(part)]
    stretches, whole = Stretches(), np.array(places, np.int64).reshape(-1, 2)
    for at in range(0, len(places), size):
        part = whole[at : at + size]
        arrays = [pa.array(np.arange(at, at + len(part))), pa.array(part[:, 0], pa.int32()), pa.array(part[:, 1])]
        stretches.add(pa.Table.from_arrays([*arrays, pa.nulls(len(part), pa.string())], schema=ORIGINS))
    source, position = stretches.places()
    assert places == list(zip(source.tolist(), position.tolist(), strict=True))
    assert len(stretches) == sum((number, position - 1) not in places for number, position in places)
