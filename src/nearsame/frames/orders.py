"""The type in which values that --keep goes by are compared, where the frames of a side have several."""

from collections.abc import Sequence
from itertools import combinations

from nearsame.engines.spark.mapping import quoted
from nearsame.errors import ConfigError
from nearsame.frames.inputs import FramePart
from nearsame.frames.types import NO_TYPE, NUMBERS, common_type, family
from nearsame.sources.jsonvalues import WIDE

__all__ = ["common_order"]


def common_order(parts: Sequence[FramePart], name: str) -> str:
    """The type in which the values of the order column are compared.

    Raises:
        ConfigError: They have no order, or none in common.
    """
    kinds = {part.orders.get(name, NO_TYPE): part.name for part in reversed(parts)}
    filled = {kind: source for kind, source in kinds.items() if kind != NO_TYPE}
    for kind in filled:
        if family(kind) is None:
            message = f"column {name!r} is of type {kind}, which has no order"
            raise ConfigError(message, hint="Name a column of numbers, dates or texts.")
    if {family(kind) for kind in filled} == {"string"}:
        return "string"
    for (one, first), (other, second) in combinations(filled.items(), 2):
        if common_type([one, other], is_order=True) == "string":
            raise _differing(name, one, first, other, second)
    common = common_type(list(filled), is_order=True) if filled else "bigint"
    if common == "double" and "bigint" in filled:
        number = next(kind for kind in filled if kind in NUMBERS)
        for part in parts:
            if part.orders.get(name) == "bigint" and not part.frame.filter(_beyond_doubles(name)).isEmpty():
                raise _differing(name, "bigint", part.name, number, filled[number])
    return common


def _differing(name: str, one: str, first: str, other: str, second: str) -> ConfigError:
    message = f"column {name!r} is {one} in {first} and {other} in {second}"
    hint = "Give the column one type in all sources."
    return ConfigError(f"{message}: no type holds the values of both exactly", hint=hint)


def _beyond_doubles(name: str) -> str:
    """Whether a whole number may be no double, in SQL."""
    value = f"try_cast({quoted(name)} as bigint)"
    return f"({value} > {WIDE}L or {value} < -{WIDE}L)"
