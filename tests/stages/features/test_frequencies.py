"""Document frequencies are counted exactly, in any number of shares; their weights are the formula's."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.errors import ConfigError
from nearsame.stages.features.frequencies import UNIT, CountDocuments, FrequencyTable, idf

HASHES = st.integers(0, 2**64 - 1) | st.sampled_from([0, 2**32, 2**63, 2**64 - 1])


def _batch(sets: list[set[int]]) -> pa.RecordBatch:
    offsets = np.cumsum([0, *map(len, sets)])
    values = np.array([item for items in sets for item in sorted(items)], np.uint64)
    return _features(arrow.items(values, offsets), [len(items) for items in sets])


def _features(items: pa.Array, tokens: list[int]) -> pa.RecordBatch:
    return pa.record_batch([items, pa.array(tokens, pa.int64())], names=["items", "num_tokens"])


def test_what_stands_for_a_text_without_tokens_is_no_feature() -> None:
    """Its two items are halves of the digest of its bytes."""
    fold, items = CountDocuments(), arrow.items(np.array([7, 8, 7, 9], np.uint64), np.array([0, 2, 4]))
    found = fold.close(fold.add(fold.start(), _features(items, [0, 2]), 0, 1), {})
    assert ([7, 9], [1, 1], 1) == (found.items.tolist(), found.documents.tolist(), found.num_documents)


@given(st.lists(st.lists(st.sets(HASHES, max_size=5), max_size=5), max_size=4), st.integers(1, 5))
def test_each_feature_is_counted_once_a_document(batches: list[list[set[int]]], parts: int) -> None:
    """Whatever the batches and the workers."""
    fold = CountDocuments()
    state = fold.start()
    for batch in map(_batch, batches):
        for part in range(parts):
            state = fold.add(state, batch, part, parts)
    found = fold.close(state, {})
    expected = Counter(item for batch in batches for items in batch for item in items)
    assert sorted(expected.items()) == list(zip(found.items.tolist(), found.documents.tolist(), strict=True))
    assert sum(bool(items) for batch in batches for items in batch) == found.num_documents


@given(st.lists(st.lists(st.sets(HASHES, max_size=5), max_size=5), max_size=4), st.integers(1, 5))
def test_counts_of_several_workers_add_up(batches: list[list[set[int]]], parts: int) -> None:
    """Merged whole, or cut by the features, joined piece by piece, and then all together."""
    fold = CountDocuments()
    states = [fold.add(fold.start(), _batch(batch), 0, 1) for batch in batches]
    pieces: dict[int, list[Any]] = {}
    for state in states:
        for number, piece in fold.cut(state, parts):
            pieces.setdefault(number, []).append(piece)
    assert set(pieces) <= set(range(parts))
    merged = fold.start()
    for state in states:
        merged = fold.merge(merged, state)
    expected = Counter(item for batch in batches for items in batch for item in items)
    for state in (merged, fold.joined([fold.joined(each) for each in pieces.values()])):
        found = fold.close(state, {})
        assert sorted(expected.items()) == list(zip(found.items.tolist(), found.documents.tolist(), strict=True))
        assert sum(bool(items) for batch in batches for items in batch) == found.num_documents


@given(st.integers(0, 2**31), st.data())
def test_weights_are_logarithms(num_documents: int, data: st.DataObject) -> None:
    """To four decimals, from integers alone; a feature of all documents weighs 1."""
    documents = data.draw(st.integers(0, num_documents))
    found = idf(num_documents, np.array([documents, num_documents]))
    assert UNIT == found[1]
    assert math.log((1 + num_documents) / (1 + documents)) + 1 == pytest.approx(found[0] / UNIT, abs=5e-5)


@given(st.dictionaries(HASHES, st.integers(1, 50), max_size=30), st.lists(HASHES, max_size=10))
def test_features_are_looked_up(known: dict[int, int], others: list[int]) -> None:
    """Those of the table weigh by their documents, others as if no document had them."""
    items = sorted(known)
    table = FrequencyTable(
        arrow.frozen(np.array(items, np.uint64)), arrow.frozen(np.array([known[i] for i in items], np.int64)), 50, {}
    )
    asked = items + others
    ends = np.array([0, len(asked)])
    times = np.arange(1, len(asked) + 1, dtype=np.uint64)
    lists = [arrow.lists(arrow.items(values, ends)) for values in (np.array(asked, np.uint64), times)]
    expected = [int(time * idf(50, np.array([known.get(item, 0)]))[0]) for item, time in zip(asked, times, strict=True)]
    assert expected == table.weigh(*lists).tolist()


def test_a_table_carries_the_settings_of_its_features() -> None:
    """Opened with others, it names what differs."""
    table = FrequencyTable(arrow.NO_HASHES, arrow.frozen(np.zeros(0, np.int64)), 7, {"unit": "words", "size": 1})
    assert 7 == FrequencyTable.of(table.table(), "t", {"unit": "words", "size": 1}).num_documents
    with pytest.raises(ConfigError, match="t has frequencies of other features: unit='words' there, 'chars' here"):
        FrequencyTable.of(table.table(), "t", {"unit": "chars", "size": 1})
    with pytest.raises(ConfigError, match="t is not a table of document frequencies"):
        FrequencyTable.of(pa.table({"a": [1]}), "t", {})


def test_metadata_that_nest_too_deep_are_damage():
    """As any that cannot be read."""
    table = pa.table({"item": pa.array([1]), "documents": pa.array([1])})
    with pytest.raises(ConfigError, match="t is damaged: what it says of itself cannot be read"):
        FrequencyTable.of(table.replace_schema_metadata({b"nearsame": b"[" * 100_000}), "t", {})
