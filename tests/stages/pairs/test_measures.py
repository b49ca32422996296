"""What a bound is made of: a measure that there is, and a threshold that kernels can take."""

from fractions import Fraction

import pytest

from nearsame.kernels.scores import KINDS, OF_SETS
from nearsame.stages.pairs import measures


@pytest.mark.parametrize("measure", [-1, max(KINDS) + 1, 0xFF, 0xFF | 64 << 8])
def test_what_is_no_measure_is_refused(measure: int) -> None:
    """It is not taken for the last one in a list."""
    with pytest.raises(ValueError, match="is not a measure"):
        measures.bound(measure, Fraction(4, 5))


def test_only_measures_of_sets_say_what_share_of_a_set_is_in_a_similar_one() -> None:
    """A measure without a row is refused: by the shares of another one pairs would be missed."""
    of_sets = OF_SETS
    assert all(measures.shares(measures.bound(measure, Fraction(4, 5))) for measure in of_sets)
    for measure in KINDS - of_sets:
        with pytest.raises(ValueError, match="does not say what share"):
            measures.shares(measures.bound(measure, Fraction(4, 5)))


def test_every_measure_has_a_bound() -> None:
    """Those of codes with their bits and their distance, too."""
    made = {measures.bound(kind, Fraction(1)).measure for kind in KINDS}
    assert KINDS == made
    assert measures.codes("cosine", 64, 3) == measures.bound(measures.codes("cosine", 64, 3), Fraction(1)).measure
