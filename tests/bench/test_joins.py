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
    """Of different items, the same on every call."""
    sets = joins.made(joins.SHAPES[name], 400)
    assert sets == joins.made(joins.SHAPES[name], 400)
    assert all(len(items) == len(set(items)) for items in sets)
    assert abs(sum(map(len, sets)) / 400 - joins.SHAPES[name].mean) < 1


def test_pairs_are_those_found_by_hand(joins, tmp_path):
    """Of short sets there are some; and another answer would be told."""
    joins.measured("AOL", 600, "0.5", str(tmp_path / "pairs.npy"))
    found = {(a, b) for a, b in np.load(tmp_path / "pairs.npy").tolist()}
    case = joins.Case("AOL", 600, "0.5", tmp_path, 1)
    assert case.is_right(found)
    assert not case.is_right(set())
    assert len(found) > 100


@pytest.mark.parametrize("threshold", ["1/2", "3/5", "0.8", "1"])
def test_the_yardstick_finds_the_same_pairs(joins, tmp_path, threshold):
    """Where there is a compiler; without one it says so and is left out."""
    program = joins.compiled(tmp_path)
    if program is None:
        pytest.skip("no C++ compiler")
    joins.measured("BMS-POS", 500, threshold, str(tmp_path / "pairs.npy"))
    _, found = joins.Case("BMS-POS", 500, threshold, tmp_path, 1).compiled(program)
    assert {(min(pair), max(pair)) for pair in np.load(tmp_path / "pairs.npy").tolist()} == found


def test_without_a_compiler_the_yardstick_is_left_out(joins, tmp_path, monkeypatch, capsys):
    """With a word."""
    monkeypatch.setattr(joins.shutil, "which", lambda _: None)
    assert joins.compiled(tmp_path) is None
    assert "no C++ compiler was found" in capsys.readouterr().out


def test_pairs_by_hand_have_a_chosen_set_each(joins):
    """Whichever way round, each once."""
    assert {(0, 1), (1, 2)} == joins.by_hand([[1, 2, 3], [1, 2, 3, 4], [1, 2, 4, 5]], Fraction(3, 5))
