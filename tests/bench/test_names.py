"""The names of names.py: as long as it says, and pairs that brute force finds as well."""

from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HERE = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script."""
    monkeypatch.syspath_prepend(str(HERE))
    return import_module("names")


def test_names_are_as_long_as_they_say(names):
    """The same on every call."""
    made = names.made(300)
    assert made == names.made(300)
    assert all(10 <= len(name) <= 60 for name in made)


@pytest.mark.parametrize("label", ["jaccard, confirmed", "cosine, confirmed"])
def test_confirmed_pairs_are_those_of_brute_force(names, label, tmp_path):
    """Both thresholds are reached, and no such pair is missing; of some names those that stand in a pair."""
    made, source, target = names.made(400), tmp_path / "names.parquet", tmp_path / "pairs.npy"
    pq.write_table(pa.table({"id": [str(row) for row in range(400)], "text": made}), source)
    names.measured(label, "0.6", str(source), str(target))
    found = {(min(pair), max(pair)) for pair in np.load(target).tolist()}
    expected = names.expected(names.recipe(label, Fraction("0.6")), made, names.alike(made, 400))
    assert expected == found
    assert len(expected) > 50
    some = names.alike(made, 100)
    assert {pair for pair in some.pairs if pair in found} == {pair for pair in found if {*pair} & {*some.rows.tolist()}}
