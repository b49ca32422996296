"""`dataclass`, whose methods are not written for each class: a start makes a hundred such classes, and uses some.

1. It is `dataclasses.dataclass` in what it makes: fields, methods, errors. Python writes the text of each method and
   compiles it, some .5 ms each; here methods go through the fields.
2. Python's `__init__` is quicker, once it is there: it takes its place in a class of which many are made, in one
   that is called wrongly (its words say what is wrong), and where somebody asks what it takes.
3. A class with slots, or with an order, is made by `dataclasses` itself.
"""

import dataclasses
from functools import cache, cached_property, partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

_FEW = 100  # made before a class gets an `__init__` that is written for it
_MISSING = dataclasses.MISSING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: Any = None, /, *, frozen: bool = False, eq: bool = True, **others: bool) -> Any:
        """Make a class one of data: its annotations are its fields."""
        if cls is None:
            return partial(dataclass, frozen=frozen, eq=eq, **others)
        if others:
            return dataclasses.dataclass(frozen=frozen, eq=eq, **others)(cls)
        has_hash = vars(cls).get("__hash__") is not None
        dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        methods = _methods(cls, frozen=frozen)
        for name in () if eq else ("__eq__", "__hash__"):
            del methods[name]
        for name, method in methods.items():
            if name not in vars(cls) or (name == "__hash__" and not has_hash):
                setattr(cls, name, method)
        return cls


def _methods(cls: Any, *, frozen: bool) -> dict[str, Any]:
    """What a class of data has, by name."""

    @recursive_repr()
    def in_words(self: Any) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in _names(cls, "repr"))
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def is_equal(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _values(self, _names(cls, "compare")) == _values(other, _names(cls, "compare"))

    def hashed(self: Any) -> int:
        return hash(_values(self, _names(cls, "hash")))

    methods = {"__init__": _Init(cls, frozen), "__repr__": in_words, "__eq__": is_equal}
    if not frozen:
        return {**methods, "__hash__": None}
    return {**methods, "__hash__": hashed, "__setattr__": _refuse_setting, "__delattr__": _refuse_deleting}


@cache
def _names(cls: Any, purpose: str) -> tuple[str, ...]:
    """The fields of a class that are meant for a purpose; of a hash, what is compared where nothing else is said."""
    wanted = ((each, getattr(each, purpose)) for each in dataclasses.fields(cls))
    return tuple(each.name for each, is_wanted in wanted if (each.compare if is_wanted is None else is_wanted))


def _values(made: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple([getattr(made, name) for name in names])


class _Init:
    """The `__init__` of a class: one that goes through its fields, until Python's takes its place."""

    def __init__(self, cls: type, frozen: bool) -> None:  # noqa: FBT001  (of two, by place)
        self._cls, self._put, self._made = cls, object.__setattr__ if frozen else setattr, 0

    @cached_property
    def _fields(self) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
        """The names of what is taken; the values, and the makers, of what is not given."""
        fields = dataclasses.fields(self._cls)
        return (
            [each.name for each in fields if each.init],
            {each.name: each.default for each in fields if each.init and each.default is not _MISSING},
            {each.name: each.default_factory for each in fields if each.default_factory is not _MISSING},
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        self._made += 1
        if self._made > _FEW or not isinstance(instance, self._cls):  # None, or the class: somebody asks what it takes
            return self._written().__get__(instance, owner)
        return partial(self._fill, instance)

    def _fill(self, made: Any, /, *args: Any, **named: Any) -> None:
        """Set each field: by what is given, else by its default."""
        taken, defaults, makers = self._fields
        given = {**dict(zip(taken, args, strict=False)), **named}
        values = defaults | {name: make() for name, make in makers.items() if name not in given} | given
        if len(args) + len(named) > len(given) or not given.keys() <= {*taken} <= values.keys():
            self._written()(made, *args, **named)
            return
        for each in dataclasses.fields(self._cls):
            if each.name in values:
                self._put(made, each.name, values[each.name])
        if hasattr(self._cls, "__post_init__"):
            made.__post_init__()

    def _written(self) -> Any:
        """Python's own, which stands in the class from now on."""
        cls = self._cls
        at_end = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
        twin = dataclasses.make_dataclass(
            cls.__name__,
            [(field.name, field.type, field) for field in dataclasses.fields(cls)],
            namespace={"__module__": cls.__module__, "__doc__": "", **at_end},
            repr=False,
            eq=False,
            frozen=self._put is not setattr,
        )
        written = vars(twin)["__init__"]
        written.__qualname__ = f"{cls.__qualname__}.__init__"
        setattr(cls, "__init__", written)  # noqa: B010  (mypy takes an assignment for one to an instance)
        return written


def _refuse_setting(self: Any, name: str, value: Any) -> None:
    del self, value
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:
    del self
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
