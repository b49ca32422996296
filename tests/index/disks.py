"""Small file systems in memory, to be filled."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


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
        yield place
    finally:
        subprocess.run([str(shutil.which("umount")), "-l", str(place)], check=False)


def fill(place: Path, leave: int = 0) -> None:
    """Take all room of a disk but a little, by a file called ballast."""
    with (place / "ballast").open("wb") as file:
        free = os.statvfs(place)
        os.posix_fallocate(file.fileno(), 0, max(1, free.f_bavail * free.f_frsize - leave))
