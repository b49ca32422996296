"""The peers' environments: each has its own, made when it is first needed, of what its line in peers.txt asks for."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import processes
import report

LINES = report.ROOT / "bench" / "peers.txt"
HOME = report.ROOT / "bench" / ".venv-peers"
INSTALL_SECONDS = 1200


def requirements() -> dict[str, list[str]]:
    """What each peer needs, the peer's own package first."""
    lines = (line.split() for line in LINES.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return {needed[0].partition("==")[0].partition("[")[0]: needed for needed in lines}


def python(peer: str, home: Path) -> Path:
    """A peer's own Python, installed if it is not yet there.

    Raises:
        processes.Failed: It cannot be installed.
    """
    return installed(requirements()[peer], home / peer)


def installed(needed: list[str], folder: Path) -> Path:
    """The Python of an environment that has what is needed, made if it is not yet there.

    Raises:
        processes.Failed: It cannot be installed.
    """
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text("utf-8").split() != needed:
        print(f"installing {needed[0]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        processes.run([*pip, *needed], {}, INSTALL_SECONDS)
        stamp.write_text("\n".join(needed), "utf-8")
    return folder / "bin" / "python"


def variables(folder: Path) -> Mapping[str, str]:
    """An environment in which a peer's caches stay with the benchmark, and our package is not in its way."""
    return {"HF_HOME": str(folder / "hub"), "PYTHONPATH": "", "TMPDIR": str(folder), "NO_COLOR": "1"}


def versions() -> str:
    """Name and version of each peer."""
    return ", ".join(" ".join(needed[0].split("==")) for needed in requirements().values())
