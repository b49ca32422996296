"""Bringing together what shares a key, in few pieces or many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame.demo import corpus_path
from nearsame.engines import meeting


@given(st.lists(st.integers(0, 3 * meeting._LEAST), min_size=1, max_size=20))
def test_pieces_are_neighbouring_parts(sizes):
    """Nothing is left out, and only the last may be small."""
    ends = np.cumsum([0, *sizes])
    pieces = meeting._in_pieces(ends)
    assert (0, ends[-1]) == (pieces[0], pieces[-1])
    assert set(pieces.tolist()) <= set(ends.tolist())
    assert all(size >= meeting._LEAST for size in np.diff(pieces)[:-1])


@pytest.mark.parametrize("least", [1, 100, 1 << 40])
def test_no_answer_depends_on_the_pieces(monkeypatch, least):
    """Pairs, in their order."""
    expected = ns.pairs(str(corpus_path()), method=ns.Jaccard(threshold="0.5"), audit=False).table
    monkeypatch.setattr(meeting, "_LEAST", least)
    assert expected == ns.pairs(str(corpus_path()), method=ns.Jaccard(threshold="0.5"), audit=False).table
