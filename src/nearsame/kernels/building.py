"""Kernels compiled ahead: `python -m nearsame.kernels.building` makes a library of those that runs were seen to call.

1. Which kernels for which types stands in signatures.txt, written by `scripts/make-signatures` from runs of the tests.
2. Numba compiles each as it would at a first call, for a level of processors rather than for this one. Around it stands
   a function that takes its arguments from words and writes what is returned over them (see _wrapping.py, _built.py).
3. A linker makes one file of it that ctypes loads: the C compiler's, `ld`, or that of the package ziglang. Without one
   nothing is built, and kernels are compiled at their first call.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from nearsame.errors import ConfigError
from nearsame.kernels import _built

__all__ = ["LEVELS", "SIGNATURES", "best_level", "build", "linker"]

SIGNATURES = Path(__file__).with_name("signatures.txt")
LEVELS = {  # what a processor must be able to do, in the words of /proc/cpuinfo; the best one first
    "x86-64-v3": ("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"),
    "x86-64-v2": ("cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"),
}


def linker() -> list[str] | None:
    """A command that makes a shared library, without its last arguments."""
    for name in (os.environ.get("CC") or "cc", "gcc", "clang", "ld"):
        if shutil.which(name):
            return [name, "-shared"]
    return [sys.executable, "-m", "ziglang", "cc", "-shared"] if find_spec("ziglang") else None


def best_level() -> str | None:
    """The highest level that this processor has."""
    flags = _built.flags_of_processor()
    return next((level for level, needed in LEVELS.items() if set(needed) <= flags), None)


def build(levels: list[str], folder: Path, signatures: Path, link: list[str]) -> None:
    """Make the libraries and their table of contents, each level in a process of its own.

    Raises:
        ConfigError: A kernel cannot be compiled, or not be linked; the folder has no table of contents then.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _built.CONTENTS).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        running = [_compiling(level, Path(scratch), signatures) for level in levels]
        if any([process.wait() for process in running]):  # noqa: C419  (each is waited for)
            raise ConfigError("kernels were not built", hint="Read what the compiler wrote above.")
        entries = [json.loads(Path(scratch, f"{level}.json").read_bytes()) for level in levels]
        for level in levels:
            made = folder / f"{level}.so.new"
            subprocess.run([*link, "-o", made, Path(scratch, f"{level}.o")], check=True)  # noqa: S603  (a linker)
            made.replace(folder / f"{level}.so")
    if any(each != entries[0] for each in entries):
        raise ConfigError("levels of processors differ in what was built", hint="Build one level alone.")
    levels_made = {level: needed for level, needed in LEVELS.items() if level in levels}
    contents = {"sources": _built.digest_of_sources(), "platform": sys.platform, "levels": levels_made}
    contents["kernels"] = entries[0]
    (folder / _built.CONTENTS).write_text(json.dumps(contents))


def _compiling(level: str, scratch: Path, signatures: Path) -> subprocess.Popen[bytes]:
    """A process that compiles for a level."""
    environment = {
        **os.environ,
        "NEARSAME_KERNELS": "jit",
        "NUMBA_CPU_NAME": level,
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(scratch / f"{level}.cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-m", "nearsame.kernels._wrapping", level, str(scratch), str(signatures)]
    return subprocess.Popen(command, env=environment)  # noqa: S603  (this interpreter)


def _main() -> None:
    parser = argparse.ArgumentParser(description="Compile the kernels ahead of time.")
    parser.add_argument("--levels", nargs="*", choices=list(LEVELS), help="of processors; this one's by default")
    asked = parser.parse_args()
    link, best = linker(), best_level()
    if link is None or best is None or sys.platform != "linux":
        sys.stderr.write("kernels are compiled at their first call: there is no linker, or no known processor\n")
        return
    build(asked.levels or [best], _built.FOLDER, SIGNATURES, link)


if __name__ == "__main__":
    _main()
