"""Digests that a crawl remembers, and its job where it is stopped and goes on.

1. All are of one size, and stand in the file one behind the other as they came; the last one may be cut off by a kill.
2. What an earlier part of the job has left is known apart from what this one has added.
"""

from pathlib import Path

__all__ = ["KeptDigests"]


class KeptDigests:
    """A set of digests.

    Args:
        path: The file that keeps them; None: nothing outlasts the process.
        size: Bytes of each.

    Example:
        >>> some = KeptDigests(None, 2)
        >>> some.add(b"ab")
        >>> b"ab" in some, b"ab" in some.left, len(some)
        (True, False, 1)
    """

    def __init__(self, path: Path | None, size: int) -> None:
        self._file = None if path is None else path.open("a+b", buffering=0)
        self._digests: set[bytes] = set()
        if self._file is not None:
            self._file.seek(0)
            stored = self._file.read()
            whole = len(stored) - len(stored) % size
            self._file.truncate(whole)
            self._digests.update(stored[at : at + size] for at in range(0, whole, size))
        self.left = set(self._digests)  # by an earlier part of the job, and not added anew

    def __len__(self) -> int:
        return len(self._digests)

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._digests

    def add(self, digest: bytes) -> None:
        """Remember it, at once."""
        self.left.discard(digest)
        if digest not in self._digests:
            self._digests.add(digest)
            if self._file is not None:
                self._file.write(digest)

    def close(self) -> None:
        """Close the file, if there is one; what is in it stays."""
        if self._file is not None:
            self._file.close()
