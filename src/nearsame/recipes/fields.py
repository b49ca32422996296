"""What a class declares of its settings: each with its default, limits and meaning; and how a value becomes one.

1. A setting is an annotation and a `Field`. What it may be is what its annotation says: True or False, a number, a
   text, one of some words, several texts, a table of numbers; or one of these behind a function that reads it.
2. A text may say a number, or yes or no, as `minhash:num_perm=64` does. Nothing else is made of another type.
3. Nothing is compiled when a class or the first of its kind is made, which is why no library does this: pydantic took
   a tenth of a second of every start (docs/decisions/kernels-ahead.md). Names of what one asks are pydantic's.
"""

import inspect
import json
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self, TypeVar, Union, dataclass_transform, get_args, get_origin

from nearsame.files.inputs import no_path
from nearsame.named import NamedTuple
from nearsame.recipes.arguments import plain_number, shown

__all__ = ["Declared", "Field", "Setting", "rule"]

_Rule = TypeVar("_Rule", bound=Callable[..., None])

_YES, _NO = ("true", "yes", "on", "1", "t", "y"), ("false", "no", "off", "0", "f", "n")


class Setting(NamedTuple):
    """What a class says of one setting: numbers are at least `ge`, above `gt`, at most `le`, and below `lt`."""

    default: Any
    description: str
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    annotation: Any = None

    def read(self, value: Any) -> Any:
        """The value as it is kept.

        Raises:
            ValueError: It cannot be one.
        """
        for text in value if isinstance(value, list | tuple | set | frozenset) else (value,):
            if isinstance(text, str) and not text.isprintable() and (wrong := no_path(text)):  # there may be very many
                raise ValueError(f"{shown(text)} has {wrong}")
        if not isinstance(value, str):
            value = plain_number(value, self.annotation)
        value = _as(self.annotation, value)
        if value is not None:
            self._require_within(value)
        return value

    def _require_within(self, value: Any) -> None:
        if self.ge is not None and not value >= self.ge:
            raise ValueError(f"{value} is below {self.ge}")
        if self.gt is not None and not value > self.gt:
            raise ValueError(f"{value} is not above {self.gt}")
        if self.le is not None and not value <= self.le:
            raise ValueError(f"{value} is above {self.le}")
        if self.lt is not None and not value < self.lt:
            raise ValueError(f"{value} is not below {self.lt}")


def Field(default: Any, description: str, **limits: float) -> Any:  # noqa: N802  (it stands for what it makes)
    """A setting of a class."""
    return Setting(default, description, **limits)


def rule(method: _Rule) -> _Rule:
    """A method that refuses, by a ValueError, settings that do not go together; those of a base come first."""
    method.is_rule = True  # type: ignore[attr-defined]
    return method


@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class Declared:
    """A frozen set of settings, equal to another one of its class with the same values.

    Example:
        >>> class Brush(Declared):
        ...     size: int = Field(default=3, ge=1, description="In millimetres.")
        >>> Brush(size="4"), Brush(size=5).model_dump(exclude_defaults=True)
        (Brush(size=4), {'size': 5})
        >>> Brush(size=0)
        Traceback (most recent call last):
        ValueError: size=0: 0 is below 1
    """

    model_fields: dict[str, Setting] = {}  # noqa: RUF012  (of each class its own)
    _rules: tuple[str, ...] = ()

    def __init_subclass__(cls, **extra: Any) -> None:
        super().__init_subclass__(**extra)
        bases = cls.__mro__[::-1]
        declared = {name: kind for base in bases for name, kind in inspect.get_annotations(base).items()}
        cls.model_fields = {}
        for name, kind in declared.items():
            setting = getattr(cls, name, None)
            if isinstance(setting, Setting):
                cls.model_fields[name] = setting._replace(annotation=kind)
        cls._rules = tuple(
            dict.fromkeys(
                name for base in bases for name, member in vars(base).items() if getattr(member, "is_rule", False)
            )
        )

    def __init__(self, **settings: Any) -> None:
        given = self._given(settings)
        kept = vars(self)
        for name, setting in self.model_fields.items():
            try:
                kept[name] = setting.read(given[name]) if name in given else setting.default
            except ValueError as error:
                raise ValueError(f"{name}={shown(given[name])}: {error}") from None
        for name, value in given.items():
            if name not in self.model_fields:
                raise ValueError(f"{name}={shown(value)}: there is no such setting")
        kept["_set"] = frozenset(given)
        for name in self._rules:
            getattr(self, name)()

    @classmethod
    def _given(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """What of the settings is to be taken for given."""
        return settings

    @property
    def model_fields_set(self) -> Collection[str]:
        """The settings that were given, not left to their defaults."""
        return frozenset(vars(self)["_set"])

    def model_dump(self, *, exclude_unset: bool = False, exclude_defaults: bool = False) -> dict[str, Any]:
        """The settings by name, each as it can be given again, JSON-able."""
        return {
            name: _written(getattr(self, name))
            for name, setting in self.model_fields.items()
            if not (exclude_unset and name not in self.model_fields_set)
            and not (exclude_defaults and getattr(self, name) == setting.default)
        }

    def model_dump_json(self) -> str:
        """All of them as a text."""
        return json.dumps(self.model_dump(), ensure_ascii=False, separators=(",", ":"))

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.model_fields)

    def __eq__(self, other: object) -> bool:
        """Whether their settings are equal, given or left to their defaults."""
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), *self._values()))

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """The settings with their values, as for `dict`."""
        return zip(self.model_fields, self._values(), strict=True)

    def __repr__(self) -> str:
        """Those settings that differ from their defaults, as they can be given again."""
        settings = ", ".join(f"{name}={value!r}" for name, value in self.model_dump(exclude_defaults=True).items())
        return f"{type(self).__name__}({settings})"

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} is a setting of what cannot be changed: make another {type(self).__name__}")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def _written(value: Any) -> Any:
    """A fraction as the number whose decimal text it is; one that has none, such as 1/3, as p/q."""
    if isinstance(value, Fraction):
        number = float(value)
        return number if Fraction(str(number)) == value else str(value)
    return list(value) if isinstance(value, tuple) else value


def _as(kind: Any, value: Any) -> Any:
    """A value as a setting of a type keeps it."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        wanted = next(member for member in inside if member is not types.NoneType)
        return None if value is None and types.NoneType in inside else _as(wanted, value)
    if origin is Annotated:
        return _as(inside[0], inside[1](value))
    if origin is Literal:
        return _word(value, inside)
    return _READERS[origin or kind](value)


def _word(value: Any, words: tuple[Any, ...]) -> Any:
    read = _whole(value) if isinstance(words[0], int) else value
    if isinstance(read, str | int) and read in words:
        return read
    raise ValueError(f"{shown(value)} is not {' or '.join(', '.join(map(repr, words)).rsplit(', ', 1))}")


def _yes_or_no(value: Any) -> bool:
    word = value.lower() if isinstance(value, str) else value
    if word in (True, *_YES):
        return True
    if word in (False, *_NO):
        return False
    raise ValueError(f"{shown(value)} is not True or False")


def _whole(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return int(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError(f"{shown(value)} is not a whole number") from None


def _number(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"{shown(value)} is not a number") from None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"{shown(value)} is not a string")


def _texts(values: Any) -> tuple[str, ...]:
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping):
        return tuple(map(_text, values))
    raise ValueError(f"{shown(values)} is not a list of strings")


def _table(values: Any) -> dict[str, int]:
    if isinstance(values, Mapping):
        return {_text(name): _whole(value) for name, value in values.items()}
    raise ValueError(f"{shown(values)} is not a table of whole numbers by text")


def _same(value: Any) -> Any:
    return value


_READERS: dict[Any, Callable[[Any], Any]] = {
    bool: _yes_or_no,
    int: _whole,
    float: _number,
    str: _text,
    tuple: _texts,
    dict: _table,
    Fraction: _same,  # the function before it has made one
}
