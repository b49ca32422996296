"""Every exception that nearsame raises on purpose.

    NearSameError
    ├── ConfigError          (ValueError)    an impossible recipe or argument
    │   └── TooManyPairsError                the predicted number of pairs is above --max-pairs
    ├── RequirementError     (ValueError)    the answer is not as good as the caller required
    ├── SourceError          (OSError)       a source that cannot be read at all
    │   └── ColumnError      (LookupError)   a source without the column that was asked for
    ├── OutputError          (OSError)       the place to write to cannot be used
    ├── WorkdirError         (OSError)       a work directory of another run, or in use
    ├── EngineError          (RuntimeError)  what runs the stages has given up
    ├── StoreError           (OSError)       what holds an index cannot be used
    │   ├── StoreBusyError   (TimeoutError)  another process has been writing to it for too long
    │   ├── InterruptedChangeError           whether a change was stored is not known
    │   └── StoreDamagedError                what is stored is not what was written
    ├── IndexMismatchError   (ValueError)    an index was made with another recipe
    ├── UnknownIdError       (LookupError)   no document of an index has this id
    └── MissingExtraError    (ImportError)   an optional dependency is not installed

1. A message names the values: ``num_bands=3 does not divide num_perm=128``.
2. A hint is one imperative sentence: what to do about it.
3. A code is an anchor in docs/errors.md, one for each class.
4. A bad *document* is never an exception: it is counted and listed (see sources).
"""

from errno import EDQUOT, ENOSPC
from os import PathLike, fspath
from pathlib import Path
from shutil import disk_usage
from typing import Any, Self

from nearsame.installation import install_command
from nearsame.printable import without_secrets

__all__ = [
    "ColumnError",
    "ConfigError",
    "EngineError",
    "IndexMismatchError",
    "InterruptedChangeError",
    "MissingExtraError",
    "NearSameError",
    "OutputError",
    "RequirementError",
    "SourceError",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreError",
    "TooManyPairsError",
    "UnknownIdError",
    "WorkdirError",
]


_MENDING = (
    "Restore a copy; or save what is whole with `nearsame index export`, and create the index again."
    " `nearsame index check` lists what is wrong."
)


class NearSameError(Exception):
    """The root: a message, a hint and a code that docs/errors.md explains."""

    code = "nearsame"

    def __init__(self, message: str, *, hint: str = "") -> None:
        message = without_secrets(message)  # whoever wrote it: an address is named in many places
        super().__init__(message)
        self.message = message
        self.hint = without_secrets(hint)

    def __str__(self) -> str:
        return self.message


class ConfigError(NearSameError, ValueError):
    """An impossible recipe or argument."""

    code = "config"


class TooManyPairsError(ConfigError):
    """The predicted number of pairs is above the limit."""

    code = "too-many-pairs"


class RequirementError(NearSameError, ValueError):
    """The answer is not as good as the caller required; `found` is the answer."""

    code = "requirement"
    found: Any = None


class SourceError(NearSameError, OSError):
    """A source that cannot be read at all."""

    code = "source"


class ColumnError(SourceError, LookupError):
    """A source without the column that was asked for."""

    code = "column"


class OutputError(NearSameError, OSError):
    """The place to write to cannot be used."""

    code = "output"

    @classmethod
    def at(cls, place: str | PathLike[str], error: OSError, *, hint: str = "") -> Self:
        """What the system said when something was written, with the bytes that are free where a disk is full."""
        free = ""
        if error.errno in {ENOSPC, EDQUOT, None}:  # NumPy gives no number
            home = next(folder for folder in (Path(place), *Path(place).absolute().parents) if folder.is_dir())
            free = f" ({disk_usage(home).free:,} bytes free)"
        hint = hint or "Check that there is room and permission to write."
        return cls(f"{fspath(place)}: {error.strerror or error}{free}", hint=hint)


class WorkdirError(NearSameError, OSError):
    """A work directory of another run, or in use."""

    code = "workdir"


class EngineError(NearSameError, RuntimeError):
    """What runs the stages has given up: Spark, after all that it tried again."""

    code = "engine"


class StoreError(NearSameError, OSError):
    """What holds an index cannot be used."""

    code = "store"


class StoreBusyError(StoreError, TimeoutError):
    """Another process has been writing to an index, or to a file of decisions, for too long."""

    code = "store-busy"


class InterruptedChangeError(StoreError):
    """Whether a change of an index was stored is not known: it is there whole, or not at all."""

    code = "interrupted"


class StoreDamagedError(StoreError):
    """What an index has stored is not what was written; `why` is the message without the index."""

    code = "store-damaged"
    why: str = ""

    @classmethod
    def of(cls, name: str, why: str) -> Self:
        """The error of an index.

        Example:
            >>> str(StoreDamagedError.of("seen.ns", "document 3 is missing"))
            'seen.ns is damaged: document 3 is missing'
        """
        error = cls(f"{name} is damaged: {why}", hint=_MENDING)
        error.why = why
        return error


class IndexMismatchError(NearSameError, ValueError):
    """An index was made with another recipe, or in another format."""

    code = "index-mismatch"


class UnknownIdError(NearSameError, LookupError):
    """No document of an index has this id."""

    code = "unknown-id"


class MissingExtraError(NearSameError, ImportError):
    """An optional dependency is not installed."""

    code = "missing-extra"

    @classmethod
    def of(cls, message: str, extra: str) -> Self:
        """What is missing, with the command that installs the extra which brings it."""
        return cls(message, hint=f"Run: {install_command(extra)}")
