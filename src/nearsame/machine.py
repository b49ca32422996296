"""What this process may use of the machine, which systems do not all tell, and what libraries change in a process.

1. A container's bounds are those of its control groups (of Linux, both versions), and of all groups around them; what
   they say of memory is that beside what the system has free. Where nothing is told, nothing is bounded.
2. Pages of files that a group holds count as free: the system takes them back when something else wants the room.
"""

import math
import os
import re
import signal
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

__all__ = ["free_memory", "hear_interrupts", "num_processors"]

_SYSTEM = Path("/")  # below which the system tells of itself
_UNTOLD = 4 << 30
_NO_BOUND = 1 << 62  # the first version of control groups has no word for it
_FREEABLE = ("inactive_file", "active_file")


def num_processors() -> int:
    """Those that this process may use, where the system says it (Linux); else those that there are."""
    allowed = getattr(os, "sched_getaffinity", None)
    there = len(allowed(0)) if allowed else os.cpu_count() or 1
    return max(1, min((there, *map(math.ceil, _shares()))))


def free_memory() -> int:
    """Bytes of memory that are free or can be freed, as the system and the control groups say; 4 GiB where none do."""
    free = min(
        (kilobytes << 10 for kilobytes in _numbers(_SYSTEM / "proc/meminfo", "MemAvailable:")), default=_NO_BOUND
    )
    for folder, version in _groups("memory"):
        most, used, prefix = _MEMORY[version]
        bound = min((told for name in most if (told := _number(folder / name)) is not None), default=_NO_BOUND)
        taken = _number(folder / used) if bound < _NO_BOUND else None
        if taken is not None and bound - taken < free:
            freeable = _numbers(folder / "memory.stat", *(prefix + name for name in _FREEABLE))
            free = min(free, bound - max(0, taken - sum(freeable)))
    return max(0, free) if free < _NO_BOUND else _UNTOLD


def _shares() -> Iterator[float]:
    """How many processors' time each control group may have."""
    for folder, version in _groups("cpu"):
        if version == 2:
            quota, _, period = _text(folder / "cpu.max").partition(" ")
        else:
            quota, period = (_text(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        if quota.isdecimal() and period.isdecimal() and int(period):  # else it is `max`, -1, or not told
            yield int(quota) / int(period)


_MEMORY = {  # by the version of control groups: bounds, what is used, and what names of what is freeable begin with
    1: (("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_"),
    2: (("memory.max", "memory.high"), "memory.current", ""),
}


def _groups(controller: str) -> tuple[tuple[Path, int], ...]:
    """The folders of this process's control groups and of those around them, and the version of each."""
    return _folders(controller, _text(_SYSTEM / "proc/self/cgroup"), _SYSTEM / "sys/fs/cgroup")


@lru_cache
def _folders(controller: str, groups: str, home: Path) -> tuple[tuple[Path, int], ...]:
    """The same, of what the system says of the groups.

    In a container a group's own name may be the host's, of which there is no folder: its root is the container's.
    """
    found = []
    for line in groups.splitlines():
        _, _, told = line.partition(":")
        controllers, _, name = told.partition(":")
        version = 1 if controllers else 2
        if version == 1 and controller not in controllers.split(","):
            continue
        inner = [part for part in name.split("/") if part not in ("", "..")]
        for root in dict.fromkeys((controllers, controller) if version == 1 else ("unified", "")):
            found += [((home / root).joinpath(*inner[:depth]), version) for depth in range(len(inner), -1, -1)]
    return tuple(dict.fromkeys(found))


def _text(path: Path) -> str:
    """What a file of the system says; nothing where it cannot be read."""
    try:
        return os.fsdecode(path.read_bytes()).strip()  # names of groups are paths
    except (OSError, ValueError):
        return ""


def _number(path: Path) -> int | None:
    said = _text(path)
    return int(said) if said.isdecimal() else None


def _numbers(path: Path, *names: str) -> list[int]:
    """What stands behind some of the names that begin the lines of a file."""
    return [int(number) for number in re.findall(rf"(?m)^(?:{'|'.join(names)})[ \t]+(\d+)\b", _text(path))]


def hear_interrupts() -> None:
    """Have Ctrl-C end the wait for a thread or an answer, as it does in Python.

    Polars, once it is imported, has the system go on waiting; then Ctrl-C is heard when the wait is over.
    """
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
