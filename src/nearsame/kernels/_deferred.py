"""A kernel that Numba compiles once it is needed: what `_numba` knows of those that were built ahead."""

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["Deferred"]


class Deferred:
    """A kernel that is Numba's only when something asks for `compiled`."""

    compiled: Any

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.full_name = f"{function.__module__}.{function.__qualname__}"

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run it."""
        return self.compiled(*args, **named)
