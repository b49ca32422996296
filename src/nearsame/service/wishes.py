"""What a client wants of an index, as it is sent: values are the texts that the index would make of them."""

from collections.abc import Mapping
from typing import Any

from nearsame.errors import ConfigError
from nearsame.index.columns import Where, exact_values
from nearsame.recipes.arguments import require_number
from nearsame.recipes.given import Number, in_unit_interval

__all__ = ["in_url", "is_never", "wanted"]


def wanted(limit: int, threshold: Number | None, where: Where | None) -> dict[str, Any]:
    """The settings of a question."""
    require_number("limit", limit, 1)
    try:
        least = None if threshold is None else float(in_unit_interval(threshold))
    except ValueError as error:
        raise ConfigError(f"threshold={error}", hint="Give a number above 0 and at most 1.") from None
    given = {"limit": int(limit), "threshold": least, "where": None if where is None else _read(where)}
    return {name: value for name, value in given.items() if value is not None}


def _read(where: Where | None) -> list[str] | dict[str, list[str]]:
    """Conditions as an index reads them, whose values are texts."""
    if isinstance(where, Mapping):
        return {name: list(exact_values(name, values)) for name, values in where.items()}
    return [where] if isinstance(where, str) else list(where or ())


def in_url(where: Where | None) -> list[str]:
    """Conditions as they stand in a URL."""
    exact = _read(where)
    if isinstance(exact, list):
        return exact
    if any("|" in value for values in exact.values() for value in values):
        raise ConfigError(f"where={where} holds a |, which separates values", hint="Ask by query, with the text.")
    return [f"{name}={'|'.join(values)}" for name, values in exact.items()]


def is_never(where: Where | None) -> bool:
    """Whether a column is to have one of no values, which no URL can say."""
    exact = _read(where)
    return isinstance(exact, dict) and not all(exact.values())
