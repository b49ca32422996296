"""Numbers as they are shown, by one rule: no similarity or share looks as if it reached what it does not."""

from collections.abc import Sized
from fractions import Fraction
from math import floor

__all__ = ["counted", "cut", "cut_short", "exactly", "percent", "plural", "small_percent"]

_OF_A_FLOAT = 1e-7  # what a product with a float may lack of a whole number
_PARTS = 1000  # of which a threshold may be so many: a number of the machine that is that near is taken for it
_TINY = 0.1  # percent: of less one digit behind the point says nothing


def cut(value: float | Fraction, digits: int = 4) -> str:
    """A similarity, cut and not rounded: nothing below a threshold looks as if it reached it.

    >>> cut(0.79999), cut(0.57), cut(Fraction(2, 3))  # .57 * 10,000 is a little less than 5,700
    ('0.7999', '0.5700', '0.6666')
    """
    return f"{floor(value * 10**digits + _OF_A_FLOAT) / 10**digits:.{digits}f}"


def cut_short(value: float | Fraction) -> str:
    """The same without zeros at its end.

    >>> cut_short(0.57), cut_short(1), cut_short(Fraction(2, 3))
    ('0.57', '1', '0.6666')
    """
    return cut(value).rstrip("0").rstrip(".")


def exactly(threshold: float | Fraction | str) -> str:
    """A threshold in full: what is said of all that reach it is then so. Six digits would call 2/3 more than it is.

    >>> [exactly(one) for one in (0.8, Fraction(2, 3), 2 / 3, "0.7500000001", 0.9999999, 1)]
    ['0.8', '2/3', '2/3', '0.7500000001', '0.9999999', '1']
    """
    if isinstance(threshold, float):
        near = Fraction(threshold).limit_denominator(_PARTS)
        exact = near if float(near) == threshold else Fraction(str(float(threshold)))
    else:
        exact = Fraction(threshold)
    number = float(exact)
    return str(number).removesuffix(".0") if Fraction(str(number)) == exact else str(exact)


def percent(share: float, digits: int = 0) -> str:
    """A share in percent, rounded, but 100 only of what is all.

    >>> [percent(share) for share in (0.634, 1999 / 2000, 1)]
    ['63%', '99%', '100%']
    """
    rounded = f"{share:.{digits}%}"
    return f"{1 - 10 ** -(digits + 2):.{digits}%}" if share < 1 and rounded.startswith("100") else rounded


def small_percent(share: float) -> str:
    """A share in percent, with as many digits as say something; 100 only of what is all.

    >>> [small_percent(share) for share in (0, 0.00012, 0.5, 0.9996, 1)]
    ['0 %', '0.012 %', '50.0 %', '99.9 %', '100 %']
    """
    if share in {0, 1}:
        return f"{100 * share:.0f} %"
    return f"{percent(share, 1)[:-1]} %" if 100 * share >= _TINY else f"{100 * share:.2g} %"


def plural(number: int, noun: str) -> str:
    """The noun for one, or for several.

    >>> plural(2, "pair"), plural(1, "match"), plural(0, "match")
    ('pairs', 'match', 'matches')
    """
    if number == 1:
        return noun
    return f"{noun}es" if noun.endswith(("s", "ch")) else f"{noun}s"


def counted(number: int | Sized, noun: str) -> str:
    """A number of things.

    >>> counted(1, "document"), counted(1000, "bit"), counted([], "match")
    ('1 document', '1,000 bits', '0 matches')
    """
    many = number if isinstance(number, int) else len(number)
    return f"{many:,} {plural(many, noun)}"
