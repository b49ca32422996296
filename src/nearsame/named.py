"""`NamedTuple`, made in a quarter of the time: a start makes seventy such classes.

1. It is `typing.NamedTuple` in what it makes: a tuple with names, defaults, `_replace`, a signature, errors.
   Python writes and compiles a `__new__` for each class, .1 ms; here it goes through the fields.
2. Python's `__new__` is quicker, once it is there: it takes its place in a class of which many are made, and in one
   that is called wrongly (its words say what is wrong).
"""

import collections
import inspect
import sys
from typing import TYPE_CHECKING, Any

__all__ = ["NamedTuple"]

_FEW = 100  # made before a class gets a `__new__` that is written for it

if TYPE_CHECKING or sys.version_info >= (3, 14):  # there, what a class names its types by is asked later
    from typing import NamedTuple
else:
    try:
        from _collections import _tuplegetter as _getter
    except ImportError:
        from operator import itemgetter

        def _getter(place: int, doc: str) -> property:
            return property(itemgetter(place), doc=doc)

    def _origin(kind: Any) -> Any:
        """The class that names the fields, of one that may be derived from it."""
        return next(each for each in kind.__mro__ if "_fields" in vars(each))

    class _Signature:
        """What a class of tuples takes."""

        def __get__(self, instance: Any, owner: Any) -> inspect.Signature | None:
            if not hasattr(owner, "_fields"):
                return None
            kinds, defaults = _origin(owner).__annotations__, owner._field_defaults
            several = inspect.Parameter.POSITIONAL_OR_KEYWORD
            return inspect.Signature(
                [
                    inspect.Parameter(
                        each, several, default=defaults.get(each, inspect.Parameter.empty), annotation=kinds[each]
                    )
                    for each in owner._fields
                ]
            )

    class _Named(tuple):
        """What all of them have."""

        __slots__ = ()
        __signature__ = _Signature()

        @classmethod
        def _make(cls, values: Any) -> Any:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes: Any) -> Any:
            values = [changes.pop(name, value) for name, value in zip(self._fields, self, strict=True)]
            if changes:
                error = TypeError if sys.version_info >= (3, 13) else ValueError
                raise error(f"Got unexpected field names: {[*changes]!r}")
            return tuple.__new__(type(self), values)

        __replace__ = _replace

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            inner = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({inner})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    def _new(name: str, fields: tuple[str, ...], defaults: dict[str, Any]) -> Any:
        """A `__new__` of so many values."""
        size, made = len(fields), 0

        def __new__(cls: Any, /, *args: Any, **named: Any) -> Any:  # noqa: N807  (as it is called in its class)
            nonlocal made
            made += 1
            if len(args) == size and not named and made <= _FEW:
                return tuple.__new__(cls, args)
            values = defaults | dict(zip(fields, args, strict=False)) | named
            is_wrong = (
                len(args) > size or values.keys() != {*fields} or any(each in named for each in fields[: len(args)])
            )
            if is_wrong or made > _FEW:
                written = collections.namedtuple(name, fields, defaults=[*defaults.values()]).__new__  # noqa: PYI024  (as `typing` does it)
                _origin(cls).__new__ = staticmethod(written)
                return written(cls, *args, **named)
            return tuple.__new__(cls, [values[each] for each in fields])

        __new__.__qualname__ = f"{name}.__new__"
        return __new__

    class _Maker(type):
        """Makes a class of tuples of what would be one of its own."""

        def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
            if not bases:
                return super().__new__(cls, name, bases, space)
            fields = tuple(space.get("__annotations__", ()))
            defaults = {each: space.pop(each) for each in fields if each in space}
            space |= {each: _getter(place, f"Alias for field number {place}") for place, each in enumerate(fields)}
            space |= {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return type(name, (_Named,), {**space, "__new__": _new(name, fields, defaults)})

    class NamedTuple(metaclass=_Maker):
        """A tuple with names."""
