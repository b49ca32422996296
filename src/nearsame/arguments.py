"""Arguments of calls, checked before anything is read: what cannot be is refused by name and value.

1. A message says what was given; nothing is made of a value of another type, not even a number of a text.
"""

import operator
import os
from typing import Any

from nearsame.errors import ConfigError

__all__ = ["require_document", "require_number", "require_path", "require_text", "require_yes_or_no"]


def require_number(name: str, value: Any, least: int) -> None:
    """Refuse what is no whole number, or one below the least.

    >>> require_number("threads", 2, 1)
    """
    hint = f"Give a whole number, {least} or more."
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise ConfigError(f"{name}={value!r} is not a whole number", hint=hint)
    if number < least:
        raise ConfigError(f"{name}={value!r} is not at least {least}", hint=hint)


def require_text(name: str, value: Any) -> None:
    """Refuse what is neither text nor None."""
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{name}={value!r} is not a text", hint="Give a name, or leave it out.")


def require_document(name: str, value: Any) -> None:
    """Refuse what is no text at all, None included."""
    if not isinstance(value, str):
        raise ConfigError(f"{name}={value!r} is not a text", hint="Give the text itself.")


def require_path(name: str, value: Any) -> None:
    """Refuse what is neither a path nor None."""
    if value is not None and not isinstance(value, (str, os.PathLike)):
        raise ConfigError(f"{name}={value!r} is not a path", hint="Give the path of a folder, or leave it out.")


def require_yes_or_no(name: str, value: Any, *, default: bool = False) -> None:
    """Refuse what is neither True nor False; with `default`, None is left to the method."""
    if not isinstance(value, bool) and not (default and value is None):
        raise ConfigError(f"{name}={value!r} is not True or False", hint="Give one of the two.")
