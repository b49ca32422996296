"""The copies in an output folder: each part by its own name, without what is to go.

1. Parts copy themselves; here they only learn which positions to leave out, and what to add to the others.
2. Several parts are copied at once; a single one by the thread that asks for it. An interruption ends all at once.
3. Parts that give files names which are free (`copied_last`) come when all others have theirs.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Rows
from nearsame.files.ending import until
from nearsame.machine import hear_interrupts

__all__ = ["Copyable", "Leaving", "copy_parts", "num_bytes"]

_MOST_AT_ONCE = 4
_PART_BYTES = 320 << 20  # that the copy of one part may take: several times a row group


class Copyable(Protocol):
    """A part, as far as it is known here."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def target(self) -> str:
        """Its path below kept/."""

    def copy(
        self, target: Path, removed: npt.NDArray[np.int64], annotations: Any = None, *, drop_unread: bool = False
    ) -> None:
        """Write it without some positions, or with annotations."""


class Leaving(Protocol):
    """Who knows which records go."""

    def positions(self, part: int, *, removed: bool = True) -> Rows:
        """The positions that go from a part, ascending; without `removed` only the unreadable."""


def num_bytes(home: Path) -> int:
    """What the files of a folder take."""
    return sum(path.stat().st_size for path in home.rglob("*") if path.is_file())


def copy_parts(  # noqa: PLR0913  (what is copied, of what, whereto, how)
    parts: Mapping[int, Copyable],
    leaving: Leaving,
    home: Path,
    *,
    annotate: Callable[[int], Any] | None = None,
    changes: Mapping[int, Any] = MappingProxyType({}),
    memory: int | None = None,
    drop_unread: bool = False,
) -> None:
    """Copy parts below `home`.

    Args:
        parts: What to copy, by the number of each among all parts.
        leaving: What is removed.
        home: The folder.
        annotate: What a part takes as annotations, by its number; then nothing is removed but the unreadable.
        changes: Of some parts, in place of that, what is changed in texts.
        memory: Bytes that all copies together may take, where there is a bound.
        drop_unread: Whether what could not be read, and has no position, is left out.
    """
    hear_interrupts()
    home.mkdir(parents=True, exist_ok=True)
    early: list[Callable[[], None]] = []
    late: list[Callable[[], None]] = []
    for number, part in parts.items():
        added = changes.get(number) if annotate is None else annotate(number)
        gone = leaving.positions(number, removed=annotate is None)
        calls = late if getattr(part, "copied_last", False) else early
        calls.append(partial(part.copy, home / part.target, gone, added, drop_unread=drop_unread))
    if len(early) + len(late) == 1:
        (early or late)[0]()
        return
    fitting = _MOST_AT_ONCE if memory is None else max(1, memory // _PART_BYTES)
    ended = Event()
    with ThreadPoolExecutor(min(_MOST_AT_ONCE, fitting, os.cpu_count() or 1)) as pool:
        try:
            # annotations take names that are free, one part behind the other, so that all have names, and the same ones
            for calls in (early, *([call] for call in late)) if annotate else (early, late):
                for done in [pool.submit(until, ended, call) for call in calls]:
                    done.result()
        except BaseException:
            ended.set()
            pool.shutdown(cancel_futures=True)
            raise
