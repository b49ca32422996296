"""What is remembered of documents: folds in any batches, put together by row."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow, schemas
from nearsame.stages.features.document_facts import About, CountEntries, CountRows, Describe

ROWS = st.lists(st.tuples(*[st.integers(-2, 2)] * 4, st.integers(0, 3)), max_size=8)


def _batch(rows):
    n = len(rows)
    bytes_, a, b, tokens = (pa.array([row[part] for row in rows], pa.int64()) for part in range(4))
    zeros = pa.array(np.zeros(n, np.int64))
    sizes = [row[4] for row in rows]
    items = arrow.items(np.zeros(sum(sizes), np.uint64), np.cumsum([0, *sizes]))
    columns = [pa.array(np.arange(n)), bytes_, a, b, tokens, zeros, zeros, items]
    return pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)


@given(ROWS, st.integers(0, 8), st.integers(1, 3))
def test_numbers_are_collected_row_by_row(rows, cut, parts):
    """In two batches, by any number of threads; two states merge into one."""
    batch = _batch(rows)
    batches = [batch.slice(0, cut), batch.slice(cut)]
    states = []
    for piece in batches:
        state = Describe().start()
        for part in range(parts):
            state = Describe().add(state, piece, part, parts)
        states.append(state)
    found = Describe.close(Describe().merge(*states))
    columns = (found.text_bytes, found.digest_a, found.digest_b, found.num_tokens, found.sizes)
    assert [tuple(row) for row in rows] == list(zip(*(column.tolist() for column in columns), strict=True))


def test_nothing_is_known_of_no_documents():
    """Columns without rows."""
    assert [0] * 5 == [getattr(Describe.close([]), name).size for name in About.__dataclass_fields__]


@given(ROWS, st.data())
def test_texts_are_the_same_when_both_halves_of_their_digests_are(rows, data):
    """One half is not enough."""
    about = Describe.close(Describe().add([], _batch(rows), 0, 1))
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, max(0, len(rows) - 1))] * 2), max_size=6)) if rows else []
    a, b = (np.array([pair[side] for pair in pairs], np.int64) for side in range(2))
    assert [rows[i][1:3] == rows[j][1:3] for i, j in pairs] == about.same_text(a, b).tolist()


@given(ROWS, st.integers(1, 3))
def test_rows_and_entries_are_counted_once(rows, parts):
    """Whoever counts."""
    batch = _batch(rows)
    for fold, expected in ((CountRows(), len(rows)), (CountEntries(), sum(row[4] for row in rows))):
        state = fold.start()
        for part in range(parts):
            state = fold.add(state, batch, part, parts)
        assert expected == sum(state) == sum(fold.merge(state, []))
