"""How many documents have each of some items, against Python's sets; the rest of the module by tests of its stages."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame import schemas
from nearsame.stages.features.boilerplate import CountThese, FirstWith

ITEMS = st.integers(0, 9) | st.integers(0, 2**64 - 1) | st.sampled_from([2**63 - 1, 2**63, 2**64 - 1])
DOCUMENTS = st.lists(st.tuples(st.sets(ITEMS, max_size=12), st.integers(0, 9)), max_size=8)


def _batch(sets, make):
    """A batch of FEATURES, of which the fold reads rows and items."""
    values = pa.array(np.array([item for one in sets for item in sorted(one)], np.uint64).view(np.int64))
    sizes = np.array([len(one) for one in sets], np.int64)
    columns = {name: pa.array(np.zeros(len(sets), np.int64)) for name in schemas.FEATURES.names}
    columns["row"] = pa.array(np.arange(len(sets)))
    return pa.RecordBatch.from_pydict({**columns, "items": make(values, sizes)})


def _lists(values, sizes):
    return pa.LargeListArray.from_arrays(pa.array(np.cumsum([0, *sizes])), values)


def _views(values, sizes):
    return pa.LargeListViewArray.from_arrays(pa.array(np.cumsum(sizes) - sizes), pa.array(sizes), values)


@pytest.mark.parametrize("make", [_lists, _views])
@given(DOCUMENTS, st.sets(ITEMS, max_size=40), st.integers(1, 5), st.integers(0, 8))
@example([({3, 5, 2**63 + 9}, 2), ({5}, 1), (set(), 7), ({1, 5, 2**64 - 1}, 3)], {3, 5, 7, 2**64 - 1}, 2, 1)
@example([({0, 2**64 - 1}, 1)], set(), 3, 0)
def test_each_item_is_counted_as_one_would(make, documents, wanted, parts, cut):
    """Each document by its weight, whatever stands in which batch, and whoever counts which part of the items."""
    ordered = sorted(wanted)
    fold = CountThese(np.array(ordered, np.uint64), np.array([weight for _, weight in documents], np.int64))
    sets = [one for one, _ in documents]
    batch = _batch(sets, make)
    states = [fold.start(), fold.start()]
    for state, some in zip(states, (batch.slice(0, cut), batch.slice(min(cut, len(sets)))), strict=True):
        for part in reversed(range(parts)):
            fold.add(state, some, part, parts)
    expected = [sum(weight for one, weight in documents if item in one) for item in ordered]
    assert expected == fold.merge(*states).tolist()


@pytest.mark.parametrize("make", [_lists, _views])
@given(DOCUMENTS, st.data(), st.integers(0, 8), st.booleans())
def test_the_first_document_with_an_item_is_found_in_whatever_order(make, documents, draw, cut, backwards):
    """Of batches that come one after the other, or the later one first; none where nobody has it."""
    sets = [one for one, _ in documents]
    item = draw.draw(ITEMS | st.sampled_from(sorted(set().union(*sets)) or [7]))
    fold, batch = FirstWith(np.uint64(item)), _batch(sets, make)
    state, halves = fold.start(), [batch.slice(0, cut), batch.slice(min(cut, len(sets)))]
    for some in halves[::-1] if backwards else halves:
        for part in range(2):
            state = fold.add(state, some, part, 2)
    nobody = np.iinfo(np.int64).max
    assert min((row for row, one in enumerate(sets) if item in one), default=nobody) == state[0]
    assert fold.merge(state, fold.start()).tolist() == state.tolist()


def test_items_that_begin_alike_are_looked_up_among_themselves():
    """Thousands in one slot: a number of ours is spread evenly, one that came from outside need not be."""
    wanted = np.arange(2**40, 2**40 + 5000, dtype=np.uint64)
    fold = CountThese(wanted, np.array([1, 2], np.int64))
    sets = [set(range(2**40, 2**40 + 9000, 3)), {2**40 - 1, 2**40 + 4999, 2**40 + 5000}]
    for parts in (1, 3):
        counts = fold.start()
        for part in range(parts):
            fold.add(counts, _batch(sets, _lists), part, parts)
        assert [(at % 3 == 0) + 2 * (at == 4999) for at in range(5000)] == counts.tolist()
