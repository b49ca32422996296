"""The shapes of joins.py: sets as large as they say, and pairs that are those found by hand."""

from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def joins(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script."""
    monkeypatch.syspath_prepend(str(HERE))
    return import_module("joins")


@pytest.mark.parametrize("name", ["AOL", "KOSARAK", "UNIFORM"])
def test_sets_are_as_large_as_the_shape_says(joins, name):
    """Of different items, no set twice, the same on every call."""
    sets = joins.made(joins.SHAPES[name], 400)
    again = joins.made(joins.SHAPES[name], 400)
    lists = sets.table().column("items").to_pylist()
    assert lists == again.table().column("items").to_pylist()
    assert all(items == sorted(set(items)) for items in lists)
    assert len(lists) == len(set(map(tuple, lists)))
    assert abs(sets.sizes.mean() - joins.SHAPES[name].mean) < 1


def test_pairs_are_those_found_by_hand(joins, tmp_path):
    """Of short sets there are some; and another answer would be told."""
    case = joins.Case("KOSARAK", 600, tmp_path)
    joins.measured(str(tmp_path / "sets"), "0.1", str(tmp_path / "pairs.npy"), "jaccard")
    found = case._pairs(np.load(tmp_path / "pairs.npy"))
    assert case.is_right(found, "0.1")
    assert not case.is_right(found[:0], "0.1")
    assert found.size > 100


@pytest.mark.parametrize("threshold", ["1/2", "3/5", "0.8", "1"])
def test_the_yardstick_finds_the_same_pairs(joins, tmp_path, threshold):
    """Where there is a compiler; without one it says so and is left out."""
    program = joins.compiled(tmp_path)
    if program is None:
        pytest.skip("no C++ compiler")
    case = joins.Case("BMS-POS", 500, tmp_path)
    joins.measured(str(tmp_path / "sets"), threshold, str(tmp_path / "pairs.npy"), "jaccard")
    _, found = case.compiled(program, threshold)
    assert case._pairs(np.load(tmp_path / "pairs.npy")).tolist() == found.tolist()


def test_without_a_compiler_the_yardstick_is_left_out(joins, tmp_path, monkeypatch, capsys):
    """With a word."""
    monkeypatch.setattr(joins.shutil, "which", lambda _: None)
    assert joins.compiled(tmp_path) is None
    assert "no C++ compiler was found" in capsys.readouterr().out


def test_pairs_by_hand_have_a_chosen_set_each(joins):
    """Whichever way round, each once."""
    sets = joins.Sets(np.array([0, 3, 7, 11]), np.array([1, 2, 3, 1, 2, 3, 4, 1, 2, 4, 5]))
    assert {(0, 1), (1, 2)} == joins.by_hand(sets, Fraction(3, 5))
