"""Contents of chosen documents, kept for a second look: in memory up to a bound, then in a file."""

import json
import tempfile
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Store"]


class Store:
    """The contents of documents whose keys are known beforehand."""

    def __init__(self, keys: npt.NDArray[np.int64], memory: int) -> None:
        self.keys = np.unique(keys[keys >= 0])
        self.places = np.full((2, self.keys.size), -1, np.int64)  # where each begins, and its bytes
        self._file = tempfile.SpooledTemporaryFile(max_size=memory)  # noqa: SIM115  (closed by __exit__)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def add(self, key: int, record: dict[str, Any]) -> None:
        """Keep what is known of a document, if somebody will ask for it."""
        at = self._at(key)
        if at is not None:
            data = json.dumps(record, default=str).encode()
            self._file.seek(0, 2)
            self.places[:, at] = self._file.tell(), len(data)
            self._file.write(data)

    def get(self, key: int) -> dict[str, Any] | None:
        """What was kept; None: there was no such document."""
        at = self._at(key)
        if at is None or self.places[0, at] < 0:
            return None
        self._file.seek(int(self.places[0, at]))
        document: dict[str, Any] = json.loads(self._file.read(int(self.places[1, at])))
        return document

    def _at(self, key: int) -> int | None:
        at = int(np.searchsorted(self.keys, key))
        return at if at < self.keys.size and self.keys[at] == key else None
