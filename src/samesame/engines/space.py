"""Where the big things of a run live: memory while it lasts, then files in a folder of the run's own.

1. `memory` bounds what the run holds in memory of its own; what is mapped from files can be given back at any time.
2. A shelf is a list of batches that moves to disk when it grows: in files of at most CHUNK_BYTES, each mapped only
   while its batches are in use.
3. The folder vanishes with the run: on success, on error and on interruption.
"""

import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame.errors import ConfigError, OutputError, SameSameError

__all__ = ["Shelf", "Space", "free_memory", "num_bytes"]

CHUNK_BYTES = 128 << 20
_BASE_BYTES = 320 << 20  # the interpreter, Arrow, compiled kernels
_THREAD_BYTES = 128 << 20  # batches under way and scratch, for each thread

_T = TypeVar("_T", bound=np.generic)


def free_memory() -> int:
    """Bytes of memory that are free or can be freed, as the system tells; 4 GiB where it does not."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = {name: int(rest.split()[0]) << 10 for name, rest in (line.split(":", 1) for line in lines)}
        return found["MemAvailable"]
    except (OSError, KeyError, ValueError):
        return 4 << 30


def num_bytes(text: int | str) -> int:
    """A number of bytes from `4GB`, `512 MiB`, `1.5g` or a plain number; K, M, G, T are powers of 1024.

    >>> num_bytes("1.5GB")
    1610612736
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(text), re.IGNORECASE)
    if not found:
        raise ConfigError(f"memory={text!r} is not a number of bytes", hint="Write it as in 4GB.")
    return int(float(found[1]) * 1024 ** "_KMGT".index(found[2].upper() or "_"))


class Space:
    """The room of one run.

    Args:
        memory: Bytes; half of what is free if None.
        threads: How many share it.
        folder: Where spilled files go: a folder that is made in it, and removed with the run.
    """

    def __init__(self, memory: int | None, threads: int, folder: Path | None = None) -> None:
        self.memory = free_memory() // 2 if memory is None else memory
        least = _BASE_BYTES + threads * _THREAD_BYTES
        if self.memory < least:
            message = f"memory={self.memory:,} bytes is below the {least:,} that {threads} threads need"
            raise ConfigError(message, hint="Allow more memory, or use fewer threads.")
        self.budget = self.memory - least
        self._parent = folder
        self._folder: Path | None = None
        self._lock = threading.Lock()
        self._count = 0
        self.spilled_bytes = 0

    def array(self, size: int, dtype: type[_T]) -> "npt.NDArray[_T]":
        """An uninitialised array: in memory if it is at most an eighth of the budget, else in a file."""
        if size * np.dtype(dtype).itemsize <= self.budget // 8:
            return np.empty(size, dtype)
        return self._mapped(size, np.dtype(dtype))

    def _mapped(self, size: int, dtype: "np.dtype[_T]") -> "npt.NDArray[_T]":
        """An array in a file whose blocks are taken at once: a full disk is an error here, not a signal later."""
        path = self.path("array")
        with path.open("wb") as file, mishaps(path):
            os.posix_fallocate(file.fileno(), 0, size * dtype.itemsize)
        self.spilled_bytes += size * dtype.itemsize
        return np.memmap(path, dtype, "r+", shape=size)

    def shelf(self) -> "Shelf":
        """An empty shelf that may hold half of the budget in memory."""
        return Shelf(self, self.budget // 2)

    def path(self, kind: str) -> Path:
        """A new file's path in the run's folder."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix=".samesame-", dir=self._parent))
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            self._count += 1
            return self._folder / f"{self._count:06d}.{kind}"


class Shelf(Iterable[pa.RecordBatch]):
    """Batches in the order in which they were put, in memory or in files."""

    def __init__(self, space: Space, most: int) -> None:
        self._space = space
        self._most = most
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = 0
        self._files: list[Path] = []
        self.on_disk = False

    def put(self, batch: pa.RecordBatch) -> None:
        """Add a batch."""
        self._held.append(batch)
        self._held_bytes += batch.nbytes
        if self._held_bytes > (CHUNK_BYTES if self.on_disk else self._most):
            self._spill()

    def _spill(self) -> None:
        """Move what is held to files."""
        self.on_disk = True
        waiting, self._held, self._held_bytes = self._held, [], 0
        while waiting:
            size, number = 0, 0
            while number < len(waiting) and size <= CHUNK_BYTES:
                size += waiting[number].nbytes
                number += 1
            path = self._space.path("arrow")
            _write(path, waiting[:number])
            self._space.spilled_bytes += size
            self._files.append(path)
            del waiting[:number]

    def close(self) -> "Shelf":
        """Nothing more is put: of a shelf on disk all is on disk."""
        if self.on_disk and self._held:
            self._spill()
        return self

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for path in self._files:
            with pa.memory_map(str(path)) as mapped:
                reader = pa.ipc.open_file(mapped)
                for number in range(reader.num_record_batches):
                    yield reader.get_batch(number)
        yield from self._held


def _write(path: Path, batches: list[pa.RecordBatch]) -> None:
    with mishaps(path), pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


@contextmanager
def mishaps(path: Path) -> Iterator[None]:
    """Say what kept a file from being written."""
    try:
        yield
    except SameSameError:
        raise
    except OSError as error:
        free = shutil.disk_usage(path.parent).free
        message = f"cannot spill to {path.parent}: {error.strerror or error} ({free:,} bytes free)"
        raise OutputError(message, hint="Free some space, or name another folder with --workdir.") from error
