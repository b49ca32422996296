"""Small file systems in memory, to be filled."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["fill", "small_disk"]

_SMALL = 1 << 30  # bytes in all: a disk that has more is somebody's


@contextlib.contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A file system in memory that holds no more than so much; the test is skipped where none can be mounted."""
    place.mkdir()
    mount = shutil.which("mount")
    command = [str(mount), "-t", "tmpfs", "-o", f"size={size}", "none", str(place)]
    made = subprocess.run(command, capture_output=True, text=True, check=False) if mount else None
    if made is None or made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip() if made else 'there is no mount'}")
    try:
        if not _is_small(place):
            pytest.skip("what mount says that it has mounted is not there")
        yield place
    finally:
        subprocess.run([str(shutil.which("umount")), "-l", str(place)], check=False)


def fill(place: Path, leave: int = 0) -> None:
    """Take all room of a small disk but a little, by a file called ballast."""
    assert _is_small(place), f"{place} is no small disk: other programs need its room"
    with (place / "ballast").open("wb") as file:
        for _ in range(1000):  # a process that is being stopped may still take some room meanwhile
            free = os.statvfs(place)
            with contextlib.suppress(OSError):
                os.posix_fallocate(file.fileno(), 0, max(1, free.f_bavail * free.f_frsize - leave))
                return
    raise AssertionError(f"{place} could not be filled")


def _is_small(place: Path) -> bool:
    """Whether a file system is one of these."""
    found = os.statvfs(place)
    return found.f_blocks * found.f_frsize < _SMALL
