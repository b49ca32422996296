"""Who is told that a kernel is being compiled, for which a call waits: once in a process.

Whoever shows something to people asks to be told; where nobody does, the log of the package has it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["tell", "telling"]

_SAID = "compiling for this processor takes up to half a minute more; the result is kept"
_LISTENING: list[Callable[[str], None]] = []
_TOLD: list[str] = []


@contextmanager
def telling(listener: Callable[[str], None]) -> Iterator[None]:
    """Tell a listener, in the block, and nobody who listens around it."""
    _LISTENING.append(listener)
    try:
        yield
    finally:
        _LISTENING.remove(listener)


def tell() -> None:
    """Say that something is being compiled, if nobody has said it yet."""
    if _TOLD:
        return
    _TOLD.append(_SAID)
    if _LISTENING:
        _LISTENING[-1](f"first run: {_SAID}")
        return
    import logging  # noqa: PLC0415  (a run that nobody watches)

    logging.getLogger("nearsame").info("first run: %s", _SAID)
