"""Signatures are those of the recipe's seed, for all time; an empty set has an empty one."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow, schemas
from nearsame.recipes.methods import MinHash
from nearsame.stages.sketches.minhash import Signatures
from tests.oracle import minhash as twin


def _features(rows):
    n = len(rows)
    items = np.array([item for row in rows for item in row], np.uint64)
    about = [pa.array(np.zeros(n, np.int64)) for _ in range(6)]
    columns = [pa.array(np.arange(n) * 3), *about, arrow.items(items, np.cumsum([0, *map(len, rows)]))]
    return pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)


FAST = [188690184400099, 218811688201352, 30935029945337, 357692871309436]
CLASSIC = [1167129910009811265, 696467471397297237, 1967082864678646403, 1927621317054601802]


@pytest.mark.parametrize("kind", ["fast", "classic"])
@given(st.lists(st.sets(st.integers(0, 2**64 - 1), max_size=9).map(sorted), max_size=5), st.integers(0, 2**63 - 1))
def test_each_set_has_the_twins_signature(kind, rows, seed):
    """In the place of its items, beside its row."""
    stage = Signatures(MinHash(num_perm=20, sketch=kind, seed=seed, bands=1, rows=1))
    made = stage(_features(rows))
    seeds = [part.tolist() for part in stage.seeds]
    sketch = twin.fast_sketch if kind == "fast" else twin.classic_sketch
    expected = [sketch(row, *seeds) if row else [] for row in rows]
    assert expected == [arrow.unsigned(row.values.to_numpy()).tolist() for row in made["items"]]
    assert [3 * row for row in range(len(rows))] == made["row"].to_pylist()


def test_the_seeds_are_those_of_pcg64():
    """Another stream of numbers would change every stored signature."""
    assert [11749869230777074271, 4976686463289251617, 755828109848996024] == Signatures(MinHash()).seeds[0][
        :3
    ].tolist()
    multipliers, increments = Signatures(MinHash(sketch="classic", num_perm=4000, bands=1, rows=1)).seeds
    assert 0 < int(multipliers.min()) <= int(multipliers.max()) < 2**61 - 1
    assert int(increments.max()) < 2**61 - 1


def test_signatures_are_what_they_were():
    """Values of one small set, written down: a stored index depends on them."""
    fast, classic = (
        Signatures(MinHash(num_perm=4, sketch=kind, bands=1, rows=1))(_features([[1, 2, 3]]))["items"].to_pylist()[0]
        for kind in ("fast", "classic")
    )
    assert FAST == fast
    assert CLASSIC == classic
