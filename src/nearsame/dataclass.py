"""`dataclass`, whose methods are written at their first use: a start makes a hundred such classes, and uses some.

1. It is `dataclasses.dataclass` in what it makes: fields, methods, errors. Python writes the text of each method and
   compiles it, some .4 ms a class; here each stands behind a descriptor, which puts the method in its own place.
2. A class with slots, or with an order, is made by `dataclasses` itself.
"""

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

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
        methods = {name: _Later(cls, name, frozen) for name in ("__init__", "__repr__", *(("__eq__",) if eq else ()))}
        if eq and not has_hash:
            methods["__hash__"] = _Later(cls, "__hash__", frozen) if frozen else None
        if frozen:
            methods |= {"__setattr__": _refuse_setting, "__delattr__": _refuse_deleting}
        for name, method in methods.items():
            if name not in vars(cls) or name == "__hash__":
                setattr(cls, name, method)
        return cls


class _Later:
    """A method of a class, until it is first asked for."""

    def __init__(self, cls: type, name: str, frozen: bool) -> None:  # noqa: FBT001  (of three, by place)
        self._cls, self._name, self._frozen = cls, name, frozen

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        method = _written(self._cls, self._name, frozen=self._frozen)
        setattr(self._cls, self._name, method)
        return method.__get__(instance, owner)


def _written(cls: Any, name: str, *, frozen: bool) -> Any:
    """A method as `dataclasses` writes it for a class of the same fields."""
    at_end = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    twin = dataclasses.make_dataclass(
        cls.__name__,
        [(field.name, field.type, field) for field in dataclasses.fields(cls)],
        namespace={"__module__": cls.__module__, "__doc__": name, **at_end},
        init=name == "__init__",
        repr=name == "__repr__",
        eq=name in ("__eq__", "__hash__"),
        frozen=frozen,
    )
    method = vars(twin)[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def _refuse_setting(self: Any, name: str, value: Any) -> None:
    del self, value
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:
    del self
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
