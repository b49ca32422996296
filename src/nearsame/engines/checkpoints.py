"""Finished steps in a folder, so that the same command continues where it was stopped.

1. A step is there whole or not at all: written beside, brought to the disk, renamed. What does not open as what it was
   written as, or is of another size, counts as not there.
2. The folder names what it is about (run.json); another recipe, version or input is an error that names the fields.
3. One process at a time: a lock that dies with its owner.
4. What was counted of a batch stands in its file: a run that was stopped counts like one that was not.
5. Arrays come back mapped from their files; batches come back one file at a time.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.engines.space import mishaps, read_batches, write_batches
from nearsame.errors import WorkdirError
from nearsame.files.placing import sync

__all__ = ["Batches", "Checkpoints", "require_same", "tallies_of", "with_tallies"]

Arrays = tuple[npt.NDArray[Any], ...]

_OURS = ("lock", "run.json", "run.tmp")
_TALLIES = b"tallies"
_VERSIONS = ("version", "tokeniser", "unicode")
_ANEW = "Delete the folder to start over, or name another."


@dataclass(frozen=True)
class Batches:
    """Batches in numbered files, each mapped while it is in use."""

    paths: tuple[Path, ...]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for path in self.paths:
            yield from read_batches(path)


class Checkpoints:
    """The finished steps of one run."""

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.folder = folder
        with mishaps(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder / "lock")
            try:
                self._check(identity)
                for left in (*folder.glob("*.tmp"), *folder.glob("*/*.tmp"), *folder.glob(".nearsame-*")):
                    _remove(left)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Let another process have the folder."""
        self._lock.close()

    def num_bytes(self) -> int:
        """Bytes of all files in the folder."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def once(self, step: str, compute: Callable[[], Arrays]) -> Arrays:
        """The arrays of a step: computed and put away, or found."""
        home = self.folder / step
        with mishaps(home):
            arrays = _arrays(home)
            if arrays is None:
                _remove(home)
                self._put(home, compute())
                arrays = _arrays(home)
        if arrays is None:
            raise WorkdirError(f"{home} cannot be read back", hint="Name a folder on another disk with --workdir.")
        return arrays

    def batch(self, step: str, number: int, asked: pa.RecordBatch, compute: Callable[[], pa.RecordBatch]) -> Path:
        """The file of one batch of a step: computed and put away, or found.

        Args:
            step: Its name.
            number: Of the batch.
            asked: What the batch is made of; one of other rows that is found is an error.
            compute: Makes it.
        """
        path = self.folder / step / f"{number:08d}.arrow"
        with mishaps(path):
            rows = _rows(path)
            if rows is None:
                _write_synced(path, compute())
            elif rows != (wanted := _first_and_number(asked)):
                self._refuse(f"batch {number} of {step}", "{1:,} documents from {0:,} on", rows, wanted)
        return path

    def complete(self, step: str, **counts: int) -> None:
        """Note that all batches of a step are there, and how much it was; another number than before is an error."""
        path = self.folder / step / "complete.json"
        with mishaps(path):
            stored = _json(path)
            if stored is None:
                path.parent.mkdir(exist_ok=True)
                _write_json(path, counts)
            elif stored != counts:
                fields = ", ".join(f"{{{name}:,}} {name}" for name in counts)
                self._refuse(step, fields, stored, counts)

    def _refuse(self, what: str, fields: str, stored: Any, now: Any) -> None:
        """The input is another although it looked the same."""
        was, is_now = (
            fields.format(*counts) if isinstance(counts, tuple) else fields.format(**counts) for counts in (stored, now)
        )
        message = f"{self.folder} belongs to another input: {what} was {was}, and is {is_now}"
        raise WorkdirError(message, hint=_ANEW)

    def _put(self, home: Path, arrays: Arrays) -> None:
        """Write the arrays, and last their sizes."""
        unfinished = home.with_name(f"{home.name}.tmp")
        try:
            unfinished.mkdir()
            for number, array in enumerate(arrays):
                path = unfinished / f"{number:02d}.npy"
                np.save(path, array)
                sync(path)
            _write_json(
                unfinished / "sizes.json", {path.name: path.stat().st_size for path in unfinished.glob("*.npy")}
            )
            unfinished.rename(home)
            sync(self.folder)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)  # of what does not fit, nothing may stay in the way
            raise

    def _check(self, identity: dict[str, Any]) -> None:
        path = self.folder / "run.json"
        wanted = json.loads(json.dumps(identity))
        stored = _json(path)
        if not isinstance(stored, dict):
            others = [entry.name for entry in self.folder.iterdir() if entry.name not in _OURS]
            if others:
                message = f"{self.folder} is not a work directory: it holds {', '.join(sorted(others)[:3])}"
                raise WorkdirError(message, hint="Name an empty or a new folder.")
            _write_json(path, wanted)
            return
        require_same(self.folder, stored, wanted)


def require_same(folder: Path | str, stored: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse to go on with a run that is about something else.

    Raises:
        WorkdirError: It is; the error names the fields that differ.
    """
    differing = sorted(name for name in {*stored, *wanted} if stored.get(name) != wanted.get(name))
    if differing:
        what = "; ".join(_difference(name, stored.get(name), wanted.get(name)) for name in differing)
        raise WorkdirError(f"{folder} belongs to {_begun_by(stored, wanted)}: {what}", hint=_ANEW)


def _begun_by(stored: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Whose a work directory is: what another version has made is not mended by going back to its settings."""
    other = [name for name in _VERSIONS if stored.get(name) != wanted.get(name)]
    return "a run of another version of nearsame" if other else "another run"


def with_tallies(batch: pa.RecordBatch, tallies: Mapping[str, int]) -> pa.RecordBatch:
    """A batch that carries what was counted of it."""
    return batch.replace_schema_metadata({_TALLIES: json.dumps(tallies)}) if tallies else batch


def tallies_of(path: Path) -> dict[str, int]:
    """What the batch in a file carries."""
    with mishaps(path):
        (batch,) = read_batches(path)
    tallies: dict[str, int] = json.loads((batch.schema.metadata or {}).get(_TALLIES, b"{}"))
    return tallies


def _arrays(home: Path) -> Arrays | None:
    """The arrays of a finished step, mapped; None where it is not finished, or no longer what was written."""
    sizes = _json(home / "sizes.json")
    paths = sorted(home.glob("*.npy"))
    if sizes is None or sizes != {path.name: path.stat().st_size for path in paths}:
        return None
    with suppress(ValueError, EOFError):
        return tuple(np.load(path, mmap_mode="r") for path in paths)
    return None


def _rows(path: Path) -> tuple[int, int] | None:
    """The first row and the number of rows of a batch; None where it is not finished, or damaged."""
    if not path.exists():
        return None
    try:
        (batch,) = read_batches(path)
        batch.validate()
        return _first_and_number(batch)
    except (pa.ArrowException, OSError, ValueError):
        return None


def _first_and_number(batch: pa.RecordBatch) -> tuple[int, int]:
    return (batch.column("row")[0].as_py() if len(batch) else 0), len(batch)


def _write_synced(path: Path, batch: pa.RecordBatch) -> None:
    unfinished = path.with_suffix(".tmp")
    path.parent.mkdir(exist_ok=True)
    try:
        write_batches(unfinished, [batch])
        sync(unfinished)
        unfinished.rename(path)
        sync(path.parent)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _json(path: Path) -> Any:
    """What a file holds; None where it is not there, or is not whole JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, RecursionError, ValueError):
        return None


def _write_json(path: Path, content: Any) -> None:
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(content, indent=1), encoding="utf-8")
    sync(unfinished)
    unfinished.rename(path)
    sync(path.parent)


_SETTING = re.compile(r"\b(\w+)=('[^']*'|\"[^\"]*\"|\([^)]*\)|[^,()]+)")


def _difference(name: str, stored: Any, wanted: Any) -> str:
    if name == "inputs" and isinstance(stored, list) and isinstance(wanted, list):
        return _changed_inputs({row[0]: row for row in stored}, {row[0]: row for row in wanted})
    if name == "columns":  # with everything that says how they are read
        was, now = (dict(_SETTING.findall(str(one))) for one in (stored, wanted))
        changed = [f"{key} was {was.get(key)} and is {now[key]}" for key in now if was.get(key) != now[key]]
        return ", ".join(changed) or "columns differ"
    return f"{name} was {stored!r} and is {wanted!r}"


def _changed_inputs(stored: dict[str, list[Any]], wanted: dict[str, list[Any]]) -> str:
    """Which inputs are new, gone or changed; the first of them with what it was and is."""
    differing = [name for name in {**stored, **wanted} if stored.get(name) != wanted.get(name)]
    if not differing:
        return "the inputs come in another order"
    was, is_now = stored.get(differing[0]), wanted.get(differing[0])
    if was is None or is_now is None:
        first = f"{differing[0]} is {'new' if was is None else 'gone'}"
    else:
        first = f"{differing[0]} was {_told(was)} and is {_told(is_now)}"
    others = f" ({len(differing) - 1:,} more changed)" if len(differing) > 1 else ""
    return f"{first}{others}"


def _told(row: list[Any]) -> str:
    """An input's size and times, as in run.json: [name, bytes, time, digest of all that tells it from others]."""
    size = "of unknown size" if row[1] is None else f"{row[1]:,} bytes"
    return f"{size}, {row[2]}"


def _locked(path: Path) -> IO[bytes]:
    lock = path.open("a+b")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        owner = lock.read(32).decode("ascii", "replace").strip()
        lock.close()
        message = f"{path.parent} is in use by {f'process {owner}' if owner else 'another process'}"
        raise WorkdirError(message, hint="Wait for it, or name another folder.") from None
    except OSError as error:
        lock.close()
        raise WorkdirError(
            f"{path} cannot be locked: {error.strerror}", hint="Name a folder on another disk."
        ) from error
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n".encode())
    lock.flush()
    return lock


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
