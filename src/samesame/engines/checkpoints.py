"""Finished steps in a folder, so that the same command continues where it was stopped.

1. A step is there whole or not at all: written beside, synced, renamed.
2. The folder names what it is about (run.json); another recipe, version or input is an error that names the fields.
3. One process at a time: a lock that dies with its owner.
4. Arrays come back mapped from their files; batches come back one file at a time.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame.engines.space import mishaps
from samesame.errors import WorkdirError

__all__ = ["Batches", "Checkpoints"]

Arrays = tuple[npt.NDArray[Any], ...]


@dataclass(frozen=True)
class Batches:
    """Batches in numbered files, each mapped while it is in use."""

    paths: tuple[Path, ...]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return map(read_batch, self.paths)


class Checkpoints:
    """The finished steps of one run."""

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.folder = folder
        self.resumed: list[str] = []
        with mishaps(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder / "lock")
            self._check(identity)
            for left in (*folder.glob("*.tmp"), *folder.glob("*/*.tmp"), *folder.glob(".samesame-*")):
                shutil.rmtree(left) if left.is_dir() else left.unlink()

    def close(self) -> None:
        """Let another process have the folder."""
        self._lock.close()

    def once(self, step: str, compute: Callable[[], Arrays]) -> Arrays:
        """The arrays of a step: computed and put away, or found."""
        home = self.folder / step
        if not home.exists():
            self._put(home, compute())
        else:
            self.resumed.append(step)
        return tuple(np.load(path, mmap_mode="r") for path in sorted(home.glob("*.npy")))

    def batch(self, step: str, number: int, compute: Callable[[], pa.RecordBatch]) -> Path:
        """The file of one batch of a step: computed and put away, or found."""
        path = self.folder / step / f"{number:08d}.arrow"
        if not path.exists():
            batch = compute()
            beside = path.with_suffix(".tmp")
            with mishaps(path.parent):
                path.parent.mkdir(exist_ok=True)
                with pa.OSFile(str(beside), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
                    writer.write_batch(batch)
                _sync(beside)
                beside.rename(path)
        return path

    def finished(self, step: str, number: int) -> bool:
        """Whether a batch is there."""
        return (self.folder / step / f"{number:08d}.arrow").exists()

    def _put(self, home: Path, arrays: Arrays) -> None:
        beside = home.with_name(f"{home.name}.tmp")
        with mishaps(self.folder):
            beside.mkdir()
            for number, array in enumerate(arrays):
                np.save(beside / f"{number:02d}.npy", array)
                _sync(beside / f"{number:02d}.npy")
            beside.rename(home)
            _sync(self.folder)

    def _check(self, identity: dict[str, Any]) -> None:
        path = self.folder / "run.json"
        wanted = json.loads(json.dumps(identity))
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            differing = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
            if differing:
                what = "; ".join(_difference(name, found.get(name), wanted.get(name)) for name in differing)
                raise WorkdirError(
                    f"{self.folder} belongs to another run: {what}",
                    hint="Name another folder, or delete this one to begin anew.",
                )
            return
        others = [entry.name for entry in self.folder.iterdir() if entry.name != "lock"]
        if others:
            message = f"{self.folder} is no work directory: it holds {', '.join(sorted(others)[:3])}"
            raise WorkdirError(message, hint="Name an empty or a new folder.")
        beside = path.with_suffix(".tmp")
        beside.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
        _sync(beside)
        beside.rename(path)


def read_batch(path: Path) -> pa.RecordBatch:
    """The batch of a file, mapped; the map lives as long as the batch."""
    with pa.memory_map(str(path)) as mapped:
        return pa.ipc.open_file(mapped).get_batch(0)


def _difference(name: str, found: Any, wanted: Any) -> str:
    if isinstance(found, list) and isinstance(wanted, list):
        changed = [new or old for old, new in _aligned(found, wanted) if old != new]
        return f"{name} changed ({changed[0]}{' and others' if len(changed) > 1 else ''})"
    return f"{name} was {found!r} and is {wanted!r}"


def _aligned(a: list[Any], b: list[Any]) -> Iterator[tuple[Any, Any]]:
    for number in range(max(len(a), len(b))):
        yield (a[number] if number < len(a) else None), (b[number] if number < len(b) else None)


def _locked(path: Path) -> IO[bytes]:
    lock = path.open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        message = f"{path.parent} is in use by another process"
        raise WorkdirError(message, hint="Wait for it, or name another folder.") from None
    return lock


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
