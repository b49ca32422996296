"""Positions and annotations of a part are those of its rows, whatever other parts there are."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import given

from nearsame.outputs.annotations import Verdict
from nearsame.outputs.tables import RowNames
from nearsame.schemas import ORIGINS


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
    names = RowNames(pa.Table.from_arrays(arrays, schema=ORIGINS), ["one", "two"])
    removed = [np.array(list(side), np.int64) for side in (witness.keys(), witness.values())]
    return places, witness, Verdict(names, *removed, unreadable={1: [13, 1]})


@given(verdicts())
def test_each_position_has_what_became_of_its_row(found):
    """A slow reading of the same definitions."""
    places, witness, verdict = found
    for part in range(2):
        unreadable = {13, 1} if part == 1 else set()
        gone = {places[row][1] for row in witness if places[row][0] == part}
        assert sorted(gone | unreadable) == verdict.positions(part).tolist()
        assert sorted(unreadable) == verdict.positions(part, removed=False).tolist()
        size = max((position + 1 for source, position in places if source == part), default=0)
        row_at = {position: row for row, (source, position) in enumerate(places) if source == part}
        expected = [(None, None, None)] * size
        for position, row in row_at.items():
            count = list(witness.values()).count(row)
            cluster = row if count else witness.get(row)
            expected[position] = (cluster, f"id-{witness[row]}" if row in witness else None, count)
        assert expected == list(zip(*(column.to_pylist() for column in verdict.columns(part)), strict=True))


def test_what_was_not_read_for_it_equals_no_other_is_the_witness_of_none():
    """0 documents, not null, also behind the last that was read."""
    places = pa.Table.from_arrays(
        [pa.array([0]), pa.array([0], pa.int32()), pa.array([1]), pa.array(["a"])], schema=ORIGINS
    )
    nobody = np.zeros(0, np.int64)
    verdict = Verdict(RowNames(places, ["one"]), nobody, nobody, unread={0: np.array([0, 3])})
    assert [0, 0, None, 0] == verdict.columns(0)[2].to_pylist()
    assert [None] * 4 == verdict.columns(0)[0].to_pylist() == verdict.columns(0)[1].to_pylist()
