"""What this process may use of the machine, which systems do not all tell, and what libraries change in a process.

1. A container's bounds are those of its control groups (of Linux, both versions), and of all groups around them; what
   they say of memory is that beside what the system has free. Where nothing is told, nothing is bounded.
2. Pages of files that a group holds count as free: the system takes them back when something else wants the room.
"""

import math
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["free_memory", "hear_interrupts", "num_processors"]

_SYSTEM = Path("/")  # below which the system tells of itself
_UNTOLD = 4 << 30
_FREEABLE = ("inactive_file", "active_file")


def num_processors() -> int:
    """Those that this process may use, where the system says it (Linux); else those that there are."""
    allowed = getattr(os, "sched_getaffinity", None)
    there = len(allowed(0)) if allowed else os.cpu_count() or 1
    return max(1, min((there, *map(math.ceil, _shares()))))


def free_memory() -> int:
    """Bytes of memory that are free or can be freed, as the system and the control groups say; 4 GiB where none do."""
    told = _numbers(_SYSTEM / "proc/meminfo", unit=1 << 10)
    here = [told["MemAvailable:"]] if "MemAvailable:" in told else []
    return max(0, min([*here, *_left()], default=_UNTOLD))


def _left() -> Iterator[int]:
    """What each control group leaves of its memory."""
    for folder, version in _groups("memory"):
        most, used, prefix = _MEMORY[version]
        bounds = [bound for name in most if (bound := _number(folder / name)) is not None]
        taken = _number(folder / used)
        if bounds and taken is not None:
            stat = _numbers(folder / "memory.stat")
            yield min(bounds) - max(0, taken - sum(stat.get(f"{prefix}{name}", 0) for name in _FREEABLE))


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


def _groups(controller: str) -> Iterator[tuple[Path, int]]:
    """The folders of this process's control groups and of those around them, and the version of each.

    In a container a group's own name may be the host's, of which there is no folder: its root is the container's.
    """
    for line in _text(_SYSTEM / "proc/self/cgroup").splitlines():
        _, _, told = line.partition(":")
        controllers, _, name = told.partition(":")
        version = 1 if controllers else 2
        if version == 1 and controller not in controllers.split(","):
            continue
        inner = [part for part in name.split("/") if part not in ("", "..")]
        for root in dict.fromkeys((controllers, controller) if version == 1 else ("unified", "")):
            folder = _SYSTEM / "sys/fs/cgroup" / root
            for depth in range(len(inner), -1, -1):
                yield folder.joinpath(*inner[:depth]), version


def _text(path: Path) -> str:
    """What a file of the system says; nothing where it cannot be read."""
    try:
        return os.fsdecode(path.read_bytes()).strip()  # names of groups are paths
    except (OSError, ValueError):
        return ""


def _number(path: Path) -> int | None:
    said = _text(path)
    return int(said) if said.isdecimal() else None


def _numbers(path: Path, unit: int = 1) -> dict[str, int]:
    """Lines of a name and a number."""
    found = {}
    for line in _text(path).splitlines():
        with suppress(ValueError, IndexError):
            name, number = line.split()[:2]
            found[name] = int(number) * unit
    return found


def hear_interrupts() -> None:
    """Have Ctrl-C end the wait for a thread or an answer, as it does in Python.

    Polars, once it is imported, has the system go on waiting; then Ctrl-C is heard when the wait is over.
    """
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
