"""The shapes of joins.py: sets as large as they say, and pairs that are those found by hand."""

from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def joins(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script."""
    monkeypatch.syspath_prepend(str(HERE))
    return import_module("joins")


@pytest.mark.parametrize("name", ["AOL", "KOSARAK", "UNIFORM"])
def test_sets_are_as_large_as_the_shape_says(joins, name):
    """Of different items, the same on every call."""
    sets = joins.made(joins.SHAPES[name], 400)
    assert sets == joins.made(joins.SHAPES[name], 400)
    assert all(len(items) == len(set(items)) for items in sets)
    assert abs(sum(map(len, sets)) / 400 - joins.SHAPES[name].mean) < 1


def test_pairs_are_those_found_by_hand(joins):
    """Of short sets there are some; and another answer would be told."""
    result = joins.measured("AOL", 600, "0.5", check=True)
    assert result["same"]
    assert result["pairs"] > 100


def test_pairs_by_hand_have_a_chosen_set_each(joins):
    """Whichever way round, each once."""
    assert {(0, 1), (1, 2)} == joins.by_hand([[1, 2, 3], [1, 2, 3, 4], [1, 2, 4, 5]], Fraction(3, 5))
