"""The names of names.py: as long as it says, and pairs that brute force finds as well."""

from importlib import import_module
from pathlib import Path
from typing import Any

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
def test_confirmed_pairs_are_those_of_brute_force(names, label):
    """Both thresholds are reached, and no such pair is missing."""
    made = names.made(400)
    expected = names.expected(label, made, names.alike(made))
    assert expected == {(a, b) for a, b in names.measured(label, 400)["pairs"]}
    assert len(expected) > 50
