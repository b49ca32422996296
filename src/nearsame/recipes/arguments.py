"""Arguments of calls, checked before anything is read: what cannot be is refused by name and value.

1. A signature is the table of what its function takes: `checked` holds every argument to its annotation, and fills in
   the options that it shares with others (signatures.py).
2. A message says what was given; nothing is made of a value of another type, not even a number of a text.
3. What a type cannot say (the least number, a word and a column in one) is refused by the function itself.
"""

import functools
import inspect
import math
import operator
import os
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from nearsame.errors import ConfigError
from nearsame.files.inputs import no_path
from nearsame.recipes.signatures import shared_options, whole_doc, whole_signature

__all__ = [
    "checked", "checked_methods", "not_on_spark", "plain_number", "refuse_on_spark", "require_number", "require_type",
    "shown",
]  # fmt: skip

_Checked = TypeVar("_Checked", bound=Callable[..., Any])
_Kind = TypeVar("_Kind", bound=type)

_PLAIN = (str, bool)
_CALL_BITS = 63  # of a number that a call is given: SQLite, Arrow and NumPy take no larger one
_SETTING_BITS = 128  # of a setting of a recipe: a seed may be so large
_MOST_SHOWN = 200  # characters of a value
_PATHS = ("PathLike", "Path")
_WORDS = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    os.PathLike: "a path",
    Fraction: "a number",
    Decimal: "a number",
}
_PLURALS = {str: "strings", int: "whole numbers", float: "numbers", os.PathLike: "paths"}


def checked(function: _Checked) -> _Checked:
    """The same function, or class with its public methods, which refuses arguments that its annotations exclude.

    Raises:
        ConfigError: An argument is of another type. What is missing or unknown stays Python's TypeError.

    Example:
        >>> @checked
        ... def twice(text: str, *, times: int = 2) -> str:
        ...     return text * times
        >>> twice("a", times="3")
        Traceback (most recent call last):
        nearsame.errors.ConfigError: times must be a whole number, got '3'
    """
    if isinstance(function, type):
        getattr(function, "__init__")  # noqa: B009  (that of a class of data is written now, at its first use)
        if inspect.isfunction(own := vars(function).get("__init__")):
            setattr(function, "__init__", checked(own))  # noqa: B010  (mypy takes an assignment for one to an instance)
        return checked_methods(function)
    return _checked_call(function)


def checked_methods(kind: _Kind) -> _Kind:
    """The same class, whose public methods refuse such arguments: one that only we make instances of."""
    for name, member in list(vars(kind).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod):
            setattr(kind, name, classmethod(checked(member.__func__)))
        elif inspect.isfunction(member):
            setattr(kind, name, checked(member))
    return kind


def _checked_call(function: _Checked) -> _Checked:
    shared = shared_options(function)
    signature = whole_signature(function, shared)
    several = inspect.Parameter.VAR_KEYWORD
    by_place = [each.name for each in signature.parameters.values() if each.kind is each.POSITIONAL_OR_KEYWORD]

    @functools.cache
    def kinds() -> dict[str, Any]:
        hints = get_type_hints(function) | {name: option.kind for name, option in shared.items() if option.meaning}
        return {name: hints.get(name, Any) for name, each in signature.parameters.items() if each.kind is not several}

    @functools.wraps(function)
    def asked(*args: Any, **given: Any) -> Any:
        if shared:
            _refuse_unknown(function, given, signature)
        named = dict(zip(by_place, args, strict=False))
        if len(named) < len(args) or named.keys() & given.keys() or given.keys() - signature.parameters.keys():
            return function(*args, **given)  # whose own words are better
        for name, value in (named | given).items():
            kind = kinds().get(name, Any)
            if type(value) is kind and (kind in _PLAIN or (kind is int and value.bit_length() <= _CALL_BITS)):
                continue  # nothing to look into
            if kind is not Any or isinstance(value, Integral):
                held = _held(value, kind)
                require_type(name, held, kind)
                (named if name in named else given)[name] = _plain_number(held, kind)
        for name, option in shared.items():
            given.setdefault(name, option.default)
        return function(*named.values(), **given)

    if shared:
        asked.__signature__ = signature  # type: ignore[attr-defined]  # what `help` and notebooks show
        asked.__doc__ = whole_doc(function.__doc__, shared)
    return asked  # type: ignore[return-value]  # the same but for what it refuses


def _refuse_unknown(function: Callable[..., Any], given: Mapping[str, Any], signature: inspect.Signature) -> None:
    """Python's own error, where Python would pass the name on."""
    for name in given:
        if name not in signature.parameters:
            import difflib  # noqa: PLC0415  (only this error needs it)

            close = difflib.get_close_matches(name, signature.parameters, 1)
            meant = f". Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {name!r}{meant}")


def require_type(name: str, value: Any, kind: Any) -> None:
    """Refuse a value that an annotation excludes, a number of more than 63 bits, and what no path can have.

    Example:
        >>> require_type("k", None, int | None)
    """
    kinds = _kinds(kind)
    if isinstance(value, str | os.PathLike) and os.PathLike in map(_plain, kinds):
        _require_path(name, str(value))
    if not {int, float}.isdisjoint(map(_plain, kinds)) and _is_vast(value, _CALL_BITS):
        raise ConfigError(f"{name}={shown(value)} is too large a number", hint="Give one below 2**63.")
    if any(_fits(value, member) for member in kinds):
        _require_word(name, value, [member for member in kinds if member is not types.NoneType])
        return
    # a path may be a text
    members = [member for member in kinds if member is not str or os.PathLike not in map(_plain, kinds)]
    what = _in_words(members, _WORDS)
    or_nothing = ", or leave it out" if types.NoneType in kinds else ""
    raise ConfigError(f"{name} must be {what}, got {shown(value)}", hint=f"Give {what}{or_nothing}.")


def _require_word(name: str, value: Any, kinds: Sequence[Any]) -> None:
    """Refuse a word that an annotation does not name, where nothing else is taken."""
    words = get_args(kinds[0]) if len(kinds) == 1 and get_origin(kinds[0]) is Literal else (value,)
    if value is None or value in words:
        return
    if len(words) == 2:
        message = f"{name}={shown(value)} is not {words[0]!r} or {words[1]!r}"
        raise ConfigError(message, hint="Choose one of the two.")
    raise ConfigError(f"{name}={shown(value)} is not one of {', '.join(words)}", hint="Choose one of these.")


def refuse_on_spark(**given: Any) -> None:
    """An error for what only one machine can do, or has."""
    for name, value in given.items():
        if value is not None:
            raise not_on_spark(name, value)


def not_on_spark(name: str, value: Any) -> ConfigError:
    """The error for one of them."""
    return ConfigError(f"{name}={value!r} is about one machine, but the engine is Spark", hint="Leave it out.")


def _require_path(name: str, path: str) -> None:
    if wrong := no_path(path):
        message = f"{name}={shown(path)} has {wrong}, which no path can have"
        raise ConfigError(message, hint="Give the path of a file or folder.")


def require_number(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number, or one below the least.

    >>> require_number("threads", 2, 1)
    """
    hint = f"Give a whole number, {least} or more."
    if not _is_whole(value):
        raise ConfigError(f"{name} must be a whole number, got {shown(value)}", hint=hint)
    if operator.index(value) < least:
        raise ConfigError(f"{name} must be at least {least}, got {value!r}", hint=hint)


def plain_number(value: Any, kind: Any) -> Any:
    """What a setting has that takes numbers, or True and False, and nothing else; of another setting, anything.

    Raises:
        ValueError: It is of another type.

    Example:
        >>> plain_number(3, int | None), plain_number("3", int | str)
        (3, '3')
    """
    if _is_vast(value, _SETTING_BITS):
        raise ValueError(f"{shown(value)} is not below 2**{_SETTING_BITS}")
    kinds = _kinds(kind)
    if not {types.NoneType, *_NUMBERS} >= {*kinds} or any(_fits(value, member) for member in kinds):
        return _plain_number(value, kind)
    raise ValueError(f"{shown(value)} is not {_in_words(kinds, _WORDS)}")


def _kinds(kind: Any) -> tuple[Any, ...]:
    """The members of a union, or the type alone."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _plain(kind: Any) -> Any:
    """A type without its parameters; a path is whatever has one, and a choice of words is a word."""
    plain = get_origin(kind) or kind
    if plain is Literal:
        return type(get_args(kind)[0])
    return os.PathLike if getattr(plain, "__name__", "") in _PATHS else plain


def _fits(value: Any, kind: Any) -> bool:
    plain = _plain(kind)
    if plain in _NUMBERS:
        return _NUMBERS[plain](value)
    if plain in (Any, object) or not isinstance(plain, type) or _is_unchecked(plain):
        return True
    if isinstance(value, str | bytes) and issubclass(plain, Iterable) and plain not in (str, bytes):
        return False  # a text is not a list of texts
    return isinstance(value, plain) and _all_fit(value, kind)


def _is_unchecked(kind: type) -> bool:
    """Whether it is a protocol that says nothing of what it has while a program runs."""
    return getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", True)


def _held(value: Any, kind: Any) -> Any:
    """Where any iterable is taken, a tuple for one that can be read only once, which can then be looked into."""
    inside = [get_args(member)[0] for member in _kinds(kind) if get_origin(member) is Iterable]
    if not inside or not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        return value
    return tuple(_held(element, inside[0]) for element in value)


def _all_fit(values: Any, kind: Any) -> bool:
    """Whether what is in a list is what it should be."""
    inside = _inside(kind)
    if len(inside) != 1 or not isinstance(values, Collection):
        return True
    return all(any(_fits(value, member) for member in _kinds(inside[0])) for value in values)


def _is_whole(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def _plain_number(value: Any, kind: Any) -> Any:
    """Python's own number for a whole one of another library, which lacks methods; anything else as it is."""
    is_wanted = isinstance(value, Integral) or int in _kinds(kind)
    return operator.index(value) if is_wanted and _is_whole(value) else value


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and not math.isnan(value)


def _is_vast(value: Any, bits: int) -> bool:
    """Whether it is a finite number of more bits."""
    if _is_whole(value):
        return abs(operator.index(value)) >= 1 << bits
    return isinstance(value, Fraction) and bool(abs(value) >= 1 << bits)


_NUMBERS: dict[Any, Callable[[Any], bool]] = {
    bool: lambda value: isinstance(value, bool),
    int: _is_whole,
    float: _is_number,
}


def _in_words(kinds: Iterable[Any], words: dict[Any, str], a_list: str = "a list of") -> str:
    """What a value must be: "a string", "a list of lists of strings"."""
    phrases = dict.fromkeys(
        f"{a_list} {_in_words(_kinds(get_args(member)[0]), _PLURALS, 'lists of')}"
        if _is_list(member)
        else words.get(_plain(member), str(_plain(member).__name__))
        for member in kinds
        if member is not types.NoneType
    )
    *others, last = phrases
    return f"{', '.join(others)} or {last}" if others else last


def _is_list(kind: Any) -> bool:
    return len(_inside(kind)) == 1 and isinstance(_plain(kind), type) and issubclass(_plain(kind), Iterable)


def _inside(kind: Any) -> tuple[Any, ...]:
    """The types of what is in a list; a word, also one that is chosen from several, holds nothing."""
    return () if get_origin(kind) is Literal else get_args(kind)


def shown(value: Any) -> str:
    """A value as a message has it: not too long.

    >>> shown("a" * 1000)[-5:]
    'aaaa…'
    """
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4300 digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
