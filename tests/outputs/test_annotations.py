"""Positions and annotations of a part are those of its rows, whatever other parts there are."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import given

from samesame.outputs.annotations import Verdict
from samesame.outputs.tables import Names
from samesame.schemas import ORIGINS


@st.composite
def verdicts(draw):
    """Two parts with unreadable records between the others, and witnesses that are kept."""
    places = [
        (source, position) for source in range(2) for position in sorted(draw(st.sets(st.integers(0, 12), max_size=8)))
    ]
    rows = range(len(places))
    witness = {row: draw(st.integers(0, row - 1)) for row in rows if row and draw(st.booleans())}
    witness = {row: keeper for row, keeper in witness.items() if keeper not in witness}
    columns = [list(rows), [s for s, _ in places], [p for _, p in places], [f"id-{row}" for row in rows]]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, ORIGINS, strict=True)]
    names = Names(pa.Table.from_arrays(arrays, schema=ORIGINS), ["one", "two"])
    removed = [np.array(list(side), np.int64) for side in (witness.keys(), witness.values())]
    return places, witness, Verdict(names, *removed, unreadable={"two": [13, 1]})


@given(verdicts())
def test_each_position_has_what_became_of_its_row(found):
    """A slow reading of the same definitions."""
    places, witness, verdict = found
    for part, name in enumerate(["one", "two"]):
        unreadable = {13, 1} if name == "two" else set()
        gone = {places[row][1] for row in witness if places[row][0] == part}
        assert sorted(gone | unreadable) == verdict.positions(part, name).tolist()
        assert sorted(unreadable) == verdict.positions(part, name, removed=False).tolist()
        size = max((position + 1 for source, position in places if source == part), default=0)
        row_at = {position: row for row, (source, position) in enumerate(places) if source == part}
        expected = [(None, None, None)] * size
        for position, row in row_at.items():
            count = list(witness.values()).count(row)
            cluster = row if count else witness.get(row)
            expected[position] = (cluster, f"id-{witness[row]}" if row in witness else None, count)
        assert expected == list(zip(*(column.to_pylist() for column in verdict.columns(part)), strict=True))
