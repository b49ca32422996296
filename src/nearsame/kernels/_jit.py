"""Which machine code a kernel runs as: what was built beforehand, or what Numba makes at its first call.

1. A library that was built from these very sources, for a processor like this one, is taken; otherwise Numba compiles.
   NEARSAME_KERNELS=jit asks for the latter, NEARSAME_KERNELS=built for nothing else, and NEARSAME_SIGNATURES=FOLDER for
   Numba with the types of all calls written down.
2. NUMBA_DISABLE_JIT=1 interprets all kernels: a debugger steps through them. They take some hundred times as long.
3. With a library nothing of Numba is imported. A call of types that were not built ahead is compiled by Numba, as one
   without a library is: the answer is the same, and only the first call waits.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nearsame.errors import ConfigError
from nearsame.kernels._built import Kernel, Word, WrittenDown, library

__all__ = [
    "blake2b_rounds", "fold64", "is_built", "jit", "load32", "load64", "marked64", "mulhi", "popcount", "store64",
    "trailing_zeros",
]  # fmt: skip

_WANTED, _SIGNATURES = os.environ.get("NEARSAME_KERNELS"), os.environ.get("NEARSAME_SIGNATURES")
_IS_INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}  # as Numba reads it
_LIBRARY = None if _WANTED == "jit" or _SIGNATURES or _IS_INTERPRETED else library()
if _WANTED == "built" and _LIBRARY is None:
    raise ConfigError(
        "NEARSAME_KERNELS=built, and no kernels were built from these sources for this processor",
        hint="Leave it out: then they are compiled where they are used. In a checkout, make kernels builds them.",
    )


def is_built() -> bool:
    """Whether kernels were compiled ahead of this run."""
    return _LIBRARY is not None


def jit(function: Callable[..., Any]) -> Any:
    """The kernel of this function: the one that was built, or one that is compiled on first use."""
    if _LIBRARY is not None:
        return Kernel(function, _LIBRARY)
    if _IS_INTERPRETED:
        return _interpreted.interpreted(function)
    return WrittenDown(function, Path(_SIGNATURES)) if _SIGNATURES else _numba.jit(function)


_WORDS = (
    "blake2b_rounds", "fold64", "load32", "load64", "marked64", "mulhi", "popcount", "store64", "trailing_zeros",
)  # fmt: skip
if _IS_INTERPRETED:
    from nearsame.kernels import _interpreted

    blake2b_rounds, fold64, load32, load64, marked64, mulhi, popcount, store64, trailing_zeros = (
        getattr(_interpreted, name) for name in _WORDS
    )
elif _LIBRARY is None:
    from nearsame.kernels import _numba
    from nearsame.kernels._numba import (
        blake2b_rounds,
        fold64,
        load32,
        load64,
        marked64,
        mulhi,
        popcount,
        store64,
        trailing_zeros,
    )
else:
    blake2b_rounds, fold64, load32, load64, marked64, mulhi, popcount, store64, trailing_zeros = map(Word, _WORDS)
