"""Where the big things of a run live: memory while it lasts, then files in a folder of the run's own.

1. `memory` bounds what the run holds in memory of its own; what is mapped from files can be given back at any time.
2. What is held is written down: shelves, arrays and numbers of documents take their bytes from one budget, and give
   them back when they are dropped. The choices that follow from it depend on the input and the recipe, not on time.
3. A shelf is a list of batches that moves to disk when the budget has no room for it: in files of about CHUNK_BYTES,
   each mapped only while its batches are in use.
4. The folder vanishes with the run: on success, on error and on interruption.
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
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.arrow import held_bytes
from nearsame.errors import ConfigError, NearSameError, OutputError
from nearsame.machine import free_memory

__all__ = [
    "ALONE_BYTES",
    "GROWTH",
    "TABLE_BYTES",
    "Shelf",
    "Space",
    "fitting_threads",
    "least_memory",
    "mishaps",
    "num_bytes",
    "read_batches",
    "working_memory",
    "write_batches",
]

CHUNK_BYTES = 128 << 20
GROWTH = 1.5  # bytes of features for each byte of text, where nobody says otherwise
TABLE_BYTES = 64 << 20  # that a table may take in any case: while it is there, no part is copied
_BASE_BYTES = 384 << 20  # the interpreter, Arrow, compiled kernels, a part that is copied
_COPY_BYTES = 192 << 20  # of these, the part that is copied: later than anything is prepared
_THREAD_BYTES = 96 << 20  # batches under way and scratch, for each thread
_BATCH_BYTES = 12 << 20  # of text, in the batch and a half that a thread has under way
ALONE_BYTES = _BATCH_BYTES  # of a batch: a larger one has all threads' memory
_DOCUMENT_BYTES = 192  # what is known of a document until the end: docs/scale.md lists it
_FREE_DOCUMENTS = 100_000  # that _BASE_BYTES has room for

_MOST_BYTES = 1 << 62
_SHOWN = 40  # characters of a number
_T = TypeVar("_T", bound=np.generic)


def num_bytes(text: int | str, name: str = "memory") -> int:
    """A number of bytes from `4GB`, `512 MiB`, `1.5g` or a plain number; K, M, G, T are powers of 1024.

    >>> num_bytes("1.5GB")
    1610612736
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(text), re.IGNORECASE)
    if not match:
        raise ConfigError(f"{name}={text!r} is not a number of bytes", hint="Write it as in 4GB.")
    size = float(match[1]) * 1024 ** "_KMGT".index(match[2].upper() or "_")  # of too many digits it is infinite
    if size > _MOST_BYTES:
        raise ConfigError(f"{name}={match[0][:_SHOWN]}: more bytes than any machine has", hint="Write it as in 4GB.")
    return int(size)


def working_memory(threads: int, growth: float = GROWTH) -> int:
    """Bytes that so many threads take for batches under way."""
    return threads * (_THREAD_BYTES + int(growth * _BATCH_BYTES))


def least_memory(threads: int, growth: float = GROWTH) -> int:
    """Bytes below which a run of so many threads cannot begin.

    >>> least_memory(1) >> 20
    498
    """
    return _BASE_BYTES + working_memory(threads, growth)


def fitting_threads(most: int, growth: float = GROWTH) -> int:
    """How many threads, up to so many, what is free has room for; one in any case."""
    fitting = (_part_of(free_memory()) - _BASE_BYTES) // working_memory(1, growth)
    return max(1, min(most, fitting))


def _half_of_what_is_free(least: int, at_least: int) -> int:
    """What a run may hold where nobody says it: more than half where that is little, and never less than `at_least`."""
    free = free_memory()
    return max(free // 2, min(_part_of(free), 2 * least), at_least)


def _part_of(free: int) -> int:
    return free * 3 // 4


class Space:
    """The room of one run.

    Args:
        memory: Bytes; half of what is free if None. Where that is little, three quarters, up to twice what a run cannot
            begin without; and at least what one thread needs.
        threads: How many share it.
        folder: Where spilled files go: a folder that is made in it, and removed with the run.
        growth: Bytes of features for each byte of text.
    """

    def __init__(self, memory: int | None, threads: int, folder: Path | None = None, growth: float = GROWTH) -> None:
        self.working_bytes = working_memory(threads, growth)
        least = least_memory(threads, growth)
        self.memory = _half_of_what_is_free(least, least_memory(1, growth)) if memory is None else memory
        if self.memory < least:
            needs, fewer = (f"{threads} threads need", ", or use fewer threads") if threads > 1 else ("it needs", "")
            message = f"memory={self.memory:,} bytes is below the {least:,} that {needs}"
            raise ConfigError(message, hint=f"Allow more memory{fewer}.")
        self.budget = self.memory - least
        self.held_bytes = 0
        self.spilled_bytes = 0
        self._parent = folder
        self._folder: Path | None = None
        self._lock = threading.RLock()  # giving back happens in whatever a thread is doing when it drops something
        self._count = 0
        self._num_documents = 0

    @property
    def record_bytes(self) -> int:
        """What one record may take while it is read and prepared, alone: shelves may have half of the budget then."""
        return self.working_bytes + _COPY_BYTES + self.budget // 2

    @property
    def free_bytes(self) -> int:
        """What of the budget is not taken."""
        return max(0, self.budget - self.held_bytes)

    def take(self, size: int, most: int | None = None) -> bool:
        """Take so many bytes of the budget, if there is room and they are at most `most`."""
        with self._lock:
            if size > (self.free_bytes if most is None else min(most, self.free_bytes)):
                return False
            self.held_bytes += size
            return True

    def give(self, size: int) -> None:
        """Give back what was taken."""
        with self._lock:
            self.held_bytes -= size

    def hold(self, thing: "npt.NDArray[Any]") -> None:
        """Count an array that is there anyhow, until it is dropped."""
        with self._lock:
            self.held_bytes += thing.nbytes
        weakref.finalize(thing, self.give, thing.nbytes).atexit = False

    def number(self, documents: int) -> None:
        """Count what is known of so many more documents until the end: they cannot go to files."""
        self._num_documents += documents
        charged = max(0, min(documents, self._num_documents - _FREE_DOCUMENTS))
        if not self.take(charged * _DOCUMENT_BYTES):
            fitting, base = self._num_documents - documents, self.memory - self.budget
            others = self.held_bytes - max(0, fitting - _FREE_DOCUMENTS) * _DOCUMENT_BYTES
            message = (
                f"memory={self.memory:,} bytes is too little for more than {fitting:,} documents: "
                f"each takes {_DOCUMENT_BYTES} on top of {base:,}"
                + (f", and their features hold {others:,}" if others > 0 else "")
            )
            raise ConfigError(message, hint="Allow more memory, or split the source and use --against.")

    def require_disk(self, num_bytes: int) -> None:
        """An error if so much does not fit where spilled files go."""
        home = self._parent or Path(tempfile.gettempdir())
        free = shutil.disk_usage(home).free
        if num_bytes > free:
            message = f"about {num_bytes:,} bytes will have to be stored in {home}, where {free:,} are free"
            raise OutputError(message, hint="Free some space, or name a folder on another disk with --workdir.")

    def array(self, size: int, dtype: type[_T]) -> "npt.NDArray[_T]":
        """An uninitialised array: in memory if it takes at most a quarter of what is free there, else in a file."""
        num_bytes = size * np.dtype(dtype).itemsize
        if not self.take(num_bytes, self.free_bytes // 4):
            return self._mapped(size, np.dtype(dtype)) if size else np.empty(size, dtype)
        made = np.empty(size, dtype)
        weakref.finalize(made, self.give, num_bytes).atexit = False
        return made

    def _mapped(self, size: int, dtype: "np.dtype[_T]") -> "npt.NDArray[_T]":
        """An array in a file whose blocks are taken at once: a full disk is an error here, not a signal later.

        The file has no name any more when this returns: its blocks are given back with the array.
        """
        path = self.path("array")
        with mishaps(path):
            try:
                with path.open("wb") as file:
                    os.posix_fallocate(file.fileno(), 0, size * dtype.itemsize)
                made = np.memmap(path, dtype, "r+", shape=size)
            finally:
                path.unlink(missing_ok=True)
        self.spilled_bytes += size * dtype.itemsize
        return np.asarray(made)

    def shelf(self) -> "Shelf":
        """An empty shelf, that may take half of what is free in memory."""
        return Shelf(self, self.free_bytes // 2)

    def path(self, kind: str) -> Path:
        """A new file's path in the run's folder."""
        with self._lock:
            if self._folder is None:
                with mishaps(self._parent or Path(tempfile.gettempdir())):
                    self._folder = Path(tempfile.mkdtemp(prefix=".nearsame-", dir=self._parent))
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            self._count += 1
            return self._folder / f"{self._count:06d}.{kind}"


class Shelf(Iterable[pa.RecordBatch]):
    """Batches in the order in which they were put, in memory or in files."""

    def __init__(self, space: Space, most: int) -> None:
        self._space = space
        self._most = most
        self._batches: list[pa.RecordBatch] = []
        self._files: list[Path] = []
        self._holding = _Holding()
        self._writer: _Writer | None = None
        self.on_disk = False
        weakref.finalize(self, _drop, space, self._holding, self._files).atexit = False

    def put(self, batch: pa.RecordBatch) -> None:
        """Add a batch: in memory while there is room, then in a file with all before it."""
        if not self.on_disk:
            size = held_bytes(batch)
            if self._space.take(size, self._most - self._holding.num_bytes):
                self._batches.append(batch)
                self._holding.num_bytes += size
                return
            self._move()
        self._write(batch)

    def _move(self) -> None:
        """What was put so far goes to files."""
        self.on_disk = True
        waiting = self._batches[::-1]
        self._batches = []
        while waiting:
            self._write(waiting.pop())
        self._space.give(self._holding.num_bytes)
        self._holding.num_bytes = 0

    def _write(self, batch: pa.RecordBatch) -> None:
        if self._writer is None:
            path = self._space.path("arrow")
            self._files.append(path)
            self._writer = _Writer(path, batch.schema)
        self._space.spilled_bytes += held_bytes(batch)
        if self._writer.put(batch) >= CHUNK_BYTES:
            self._writer.close()
            self._writer = None

    def close(self) -> "Shelf":
        """Nothing more is put."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        return self

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for path in self._files:
            yield from read_batches(path)
        yield from self._batches


class _Holding:
    """How much of the budget a shelf has; apart from it, so that it can be given back when the shelf is gone."""

    num_bytes = 0


def _drop(space: Space, holding: _Holding, files: list[Path]) -> None:
    space.give(holding.num_bytes)
    for path in files:
        path.unlink(missing_ok=True)


class _Writer:
    """An Arrow file that is being written."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._num_bytes = 0
        with mishaps(path):
            self._sink = pa.OSFile(os.fsencode(path), "wb")
            self._writer = pa.ipc.new_file(self._sink, schema)

    def put(self, batch: pa.RecordBatch) -> int:
        """Write a batch; the bytes so far."""
        with mishaps(self._path):
            self._write(batch)
        self._num_bytes += held_bytes(batch)
        return self._num_bytes

    def _write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write the footer, without which nothing in the file can be read."""
        with mishaps(self._path):
            self._writer.close()
            self._sink.close()


def write_batches(path: Path, batches: list[pa.RecordBatch]) -> None:
    """An Arrow file of some batches."""
    writer = _Writer(path, batches[0].schema)
    for batch in batches:
        writer.put(batch)
    writer.close()


def read_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The batches of an Arrow file, mapped; the map lives as long as they do."""
    with pa.memory_map(os.fsencode(path)) as mapped:
        reader = pa.ipc.open_file(mapped)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)


@contextmanager
def mishaps(path: Path) -> Iterator[None]:
    """Say what kept a file from being written."""
    try:
        yield
    except NearSameError:
        raise
    except OSError as error:
        hint = "Free some space, or name another folder with --workdir."
        raise OutputError.at(path.parent, error, hint=hint) from error
