"""Which machine code a kernel runs as: what was built beforehand, or what Numba makes at its first call.

1. A library that was built from these very sources, for a processor like this one, is taken; otherwise Numba compiles.
   NEARSAME_KERNELS=jit asks for the latter, NEARSAME_KERNELS=built for nothing else, and NEARSAME_SIGNATURES=FOLDER for
   Numba with the types of all calls written down.
2. With a library nothing of Numba is imported. A call of types that were not built ahead is compiled by Numba, as one
   without a library is: the answer is the same, and only the first call waits.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nearsame.kernels._built import Kernel, Word, WrittenDown, library

__all__ = [
    "blake2b_rounds", "is_built", "is_cold", "jit", "load32", "load64", "mulhi", "popcount", "store64",
    "trailing_zeros",
]  # fmt: skip

_WANTED, _SIGNATURES = os.environ.get("NEARSAME_KERNELS"), os.environ.get("NEARSAME_SIGNATURES")
_LIBRARY = None if _WANTED == "jit" or _SIGNATURES else library()
if _WANTED == "built" and _LIBRARY is None:
    raise ImportError("NEARSAME_KERNELS=built, and no kernels were built from these sources for this processor")


def is_built() -> bool:
    """Whether kernels were compiled ahead of this run."""
    return _LIBRARY is not None


def is_cold() -> bool:
    """Whether nothing has been compiled yet: the first run takes some ten seconds more."""
    return _LIBRARY is None and _numba.is_cold()


def jit(function: Callable[..., Any]) -> Any:
    """The kernel of this function: the one that was built, or one that is compiled on first use."""
    if _LIBRARY is not None:
        return Kernel(function, _LIBRARY)
    return WrittenDown(function, Path(_SIGNATURES)) if _SIGNATURES else _numba.jit(function)


if _LIBRARY is None:
    from nearsame.kernels import _numba
    from nearsame.kernels._numba import blake2b_rounds, load32, load64, mulhi, popcount, store64, trailing_zeros
else:
    blake2b_rounds, load32, load64, mulhi, popcount, store64, trailing_zeros = (
        Word(name) for name in ("blake2b_rounds", "load32", "load64", "mulhi", "popcount", "store64", "trailing_zeros")
    )
