"""The features that nearsame makes are the twins' sets, under other names: equal where those are equal."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow, schemas
from nearsame.flow.pipeline import steps
from nearsame.recipes.methods import Jaccard
from tests.oracle.corpora import corpora, settings_of
from tests.oracle.shingles import features
from tests.oracle.tokens import tokens


def _made(texts: list[str | None], settings: dict[str, Any], stop: frozenset[str]) -> pa.RecordBatch:
    *before, last = steps(Jaccard(**settings)).features
    columns = [pa.array(range(len(texts)), pa.int64()), pa.array(texts, pa.large_string())]
    batch = pa.RecordBatch.from_arrays(columns, schema=schemas.DOCUMENTS)
    for stage in (*before, replace(last, stop_words=stop)):
        batch = stage(batch)
    return batch


def _same(left: list[Any], right: list[Any]) -> bool:
    # Equal in the one exactly where equal in the other.
    return [left.index(value) for value in left] == [right.index(value) for value in right]


@given(
    corpora(),
    settings_of(),
    st.frozensets(st.sampled_from(["a", "b", "the", "été", "カ"])),
)
def test_features_are_the_twins_sets(texts: list[str | None], settings: dict[str, Any], stop: frozenset[str]) -> None:
    """As large, as alike, with as many tokens; digests tell texts apart, and sets."""
    batch = _made(texts, settings, stop)
    made = [arrow.unsigned(row.values.to_numpy()).tolist() for row in batch.column("items")]
    recipe = {name: value for name, value in settings.items() if name not in {"shingle_size", "overlapping", "repeats"}}
    shingling = {name: settings[name] for name in ("overlapping", "repeats")}
    sets = [features(text, size=settings["shingle_size"], stop=stop, **shingling, **recipe) for text in texts]
    assert [len(tokens(text or "", stop=stop, **recipe)) for text in texts] == batch["num_tokens"].to_pylist()
    assert made == [sorted(set(values)) for values in made]
    assert [[len(a & b) for a in sets] for b in sets] == [[len(set(a) & set(b)) for a in made] for b in made]
    for of, columns in ((texts, ("digest_a", "digest_b")), (sets, ("set_a", "set_b"))):
        for column in columns:
            assert _same([value or None for value in of], batch[column].to_pylist())
