"""Settings that may be given in another form than they are kept in: 0.8 as 4/5, `en,de` as two codes.

1. A threshold is a Fraction read from its decimal text: 0.8 is 4/5, never 0.8000000000000000444.
2. A type checker sees of each what it is kept as, and by `__set__`, what it may be given as.
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, Self, TypeVar, overload

from nearsame.recipes.arguments import shown
from nearsame.recipes.fields import Field

__all__ = ["Codes", "Confirming", "Number", "Seed", "Threshold", "in_unit_interval", "read", "require_places"]

Number = float | str | Fraction | Decimal  # as which a share may be given
_FEW, _PERCENT = 10, 100  # from where on a number is taken for one of per cent
_MOST_PARTS = 10**9  # of a threshold of cosines


def in_unit_interval(value: Any) -> Fraction:
    """A threshold as a fraction; ValueError for anything else."""
    text = str(value)
    try:
        number = 1 if "/" in text else float(text)  # a fraction of 1e9999999999 would take all memory
        fraction = Fraction(text if 0 < number <= 1 else number)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise ValueError(f"{shown(value)} is not a number") from error
    if not 0 < fraction <= 1:
        meant = f"; did you mean {float(fraction) / 100:g}?" if _FEW <= fraction <= _PERCENT else ""
        raise ValueError(f"{shown(value).strip(chr(39))} is not above 0 and at most 1{meant}")
    return fraction


def require_places(name: str, threshold: Fraction) -> None:
    """Refuse a threshold of cosines that kernels would round: a root can be that near to it.

    Raises:
        ValueError: Its denominator is too large.
    """
    if threshold.denominator > _MOST_PARTS:
        given = f"{name}={float(threshold)}"
        raise ValueError(f"{given} has a denominator above 10**9: round it to nine decimal places")


def _codes(value: Any) -> Any:
    """Several codes as people write them: `en,de`."""
    return tuple(filter(None, (code.strip() for code in value.split(",")))) if isinstance(value, str) else value


if TYPE_CHECKING:
    Kept_co = TypeVar("Kept_co", covariant=True)

    class _Kept(Generic[Kept_co]):
        @overload
        def __get__(self, recipe: None, kind: Any) -> Self: ...
        @overload
        def __get__(self, recipe: object, kind: Any) -> Kept_co: ...
        def __get__(self, recipe: object, kind: Any) -> Any: ...

    class Threshold(_Kept[Fraction]):
        """A share above 0 and at most 1."""

        def __set__(self, recipe: object, value: Number) -> None: ...

    class Confirming(_Kept[Fraction | None]):
        """The same, or none."""

        def __set__(self, recipe: object, value: Number | None) -> None: ...

    class Seed(_Kept[int]):
        """A number, or a word for one that is drawn."""

        def __set__(self, recipe: object, value: int | Literal["random"]) -> None: ...

    class Codes(_Kept[tuple[str, ...]]):
        """Several codes, also in one string."""

        def __set__(self, recipe: object, value: str | Iterable[str]) -> None: ...
else:
    Threshold = Annotated[Fraction, in_unit_interval]
    Confirming = Threshold | None
    Seed = int  # below 2**128, as every setting (see arguments.py)
    Codes = Annotated[tuple[str, ...], _codes]


def read(default: Any, description: str, **limits: float) -> Any:
    """A setting that may be given in another form than it is kept in."""
    return Field(default, description, **limits)
