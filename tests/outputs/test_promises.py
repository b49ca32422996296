"""Similarities are shown by one rule."""

from fractions import Fraction

from nearsame.outputs.promises import cut


def test_a_number_with_a_point_is_cut_like_the_share_that_it_stands_for() -> None:
    """.57 * 10,000 is less than 5,700 in binary: what is at a threshold must not look as if it were below it."""
    shares = [Fraction(part, whole) for whole in range(1, 201) for part in range(whole + 1)]
    for digits in (3, 4):
        exact = [cut(share, digits) for share in shares]
        assert [cut(float(share), digits) for share in shares] == exact
        assert all(
            Fraction(shown) <= share < Fraction(shown) + Fraction(1, 10**digits)
            for shown, share in zip(exact, shares, strict=True)
        )
