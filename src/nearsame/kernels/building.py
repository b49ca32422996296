"""Kernels compiled ahead: `python -m nearsame.kernels.building` makes a library of those that runs were seen to call.

1. Which kernels for which types stands in signatures.txt, written by `scripts/make-signatures` from runs of the tests.
2. Numba compiles each as it would at a first call, for a level of processors rather than for this one. Around it stands
   a function that takes its arguments from words and writes what is returned over them (see _wrapping.py, _built.py).
3. _linking.py makes one file of it that ctypes loads. Neither a C compiler nor a linker has a part in it.
4. A library has a name of its own and appears whole; the table of contents that names it comes last, and in one step.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nearsame.errors import ConfigError
from nearsame.kernels import _built
from nearsame.kernels._linking import link
from nearsame.machine import num_processors

__all__ = ["LEVELS", "SIGNATURES", "best_level", "build", "can_build", "main"]

SIGNATURES = Path(__file__).with_name("signatures.txt")
LEVELS = {  # what a processor must be able to do, in the words of /proc/cpuinfo; the best one first
    "x86-64-v3": ("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "popcnt", "sse4_2"),
    "x86-64-v2": ("cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"),
}
_MAY_BE_OPEN = frozenset({"calloc", "free", "log10", "malloc", "memcpy", "memmove", "memset", "realloc"})
_LOG = "building.log"


def can_build() -> bool:
    """Whether libraries can be made here, and be used."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def best_level() -> str | None:
    """The highest level that this processor has."""
    flags = _built.flags_of_processor()
    return next((level for level, needed in LEVELS.items() if set(needed) <= flags), None)


def build(levels: Sequence[str], folder: Path, signatures: Path = SIGNATURES, processes: int | None = None) -> None:
    """Make the libraries and their table of contents, and say what was made.

    Raises:
        ConfigError: A kernel cannot be compiled, or not be linked; what was in the folder before is there still.
    """
    sources, lines = _built.digest_of_sources(), signatures.read_text("ascii").splitlines()
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, dict[str, Any]] = {}
    kernels: list[dict[str, Any]] = []
    for level in sorted(levels, key=list(LEVELS).index):
        start = time.monotonic()
        other = signatures == SIGNATURES and folder.resolve() != _built.FOLDER.resolve()
        known = _known(level, sources) if other else None
        code, entries = known or _compiled(level, lines, processes or num_processors())
        file = f"{level}-{_built.digest(code)[:8]}.so"
        _write(folder / file, code)
        kernels.append(entries)
        made[level] = {"file": file, "needs": LEVELS[level]}
        seconds = time.monotonic() - start
        sys.stdout.write(f"{file}: {len(lines)} kernels, {len(code):,} bytes, in {seconds:.0f} s\n")
    if any(each != kernels[0] for each in kernels):
        raise ConfigError("levels of processors differ in what was built", hint="Build one level alone.")
    if sources != _built.digest_of_sources():
        raise ConfigError("kernels were changed while they were compiled", hint="Build them again.")
    contents = {"sources": sources, "levels": made, "kernels": kernels[0]}
    _write(folder / _built.CONTENTS, json.dumps(contents).encode("ascii"))
    _remove_others(folder, {each["file"] for each in made.values()})


def _known(level: str, sources: str) -> tuple[bytes, dict[str, Any]] | None:
    """The library of this level that the checkout has, if it was built from these sources."""
    try:
        contents = json.loads((_built.FOLDER / _built.CONTENTS).read_bytes())
        file = contents["levels"][level]["file"]
        code = (_built.FOLDER / file).read_bytes()
    except (OSError, ValueError, LookupError, TypeError):
        return None
    whole = contents.get("sources") == sources and file == f"{level}-{_built.digest(code)[:8]}.so"
    return (code, contents["kernels"]) if whole else None


def _compiled(level: str, lines: Iterable[str], processes: int) -> tuple[bytes, dict[str, Any]]:
    """The library for a level and what is in it; each module of kernels is compiled by one process."""
    numbered = enumerate(sorted(lines))
    parts = [list(part) for _, part in groupby(numbered, lambda line: line[1].partition(" ")[0].rpartition(".")[0])]
    with TemporaryDirectory() as scratch:
        wanted = {"NEARSAME_KERNELS": "jit", "NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
        asked = wanted | {"NUMBA_CACHE_DIR": scratch}
        with ProcessPoolExecutor(processes, get_context("spawn"), _set, (asked,)) as pool:
            found = _in_turn(pool, level, sorted(parts, key=lambda part: -sum(len(line) for _, line in part)))
    entries: dict[str, dict[str, Any]] = {}
    for _, inside in found:
        entries |= inside
    return link([code for code, _ in found], "nearsame_", _MAY_BE_OPEN), dict(sorted(entries.items()))


def _set(variables: dict[str, str]) -> None:
    """What Numba reads as it is imported."""
    os.environ.update(variables)


def _in_turn(pool: Executor, level: str, parts: list[Any]) -> list[tuple[bytes, dict[str, Any]]]:
    try:
        return list(pool.map(_compile, [level] * len(parts), parts))
    except BrokenProcessPool as error:
        message = "kernels were not built: a process that compiled them was ended"
        raise ConfigError(message, hint="Read what it wrote above; memory may have run out.") from error


def _compile(level: str, lines: list[tuple[int, str]]) -> tuple[bytes, dict[str, Any]]:
    """An object file and what is in it, in a process of its own."""
    from nearsame.kernels._wrapping import compile_all  # noqa: PLC0415  (the compiler, for the level that was asked for)

    return compile_all(level, lines)


def _write(path: Path, data: bytes) -> None:
    """Write it aside, then give it its name."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    beside.write_bytes(data)
    beside.replace(path)


def _remove_others(folder: Path, files: set[str]) -> None:
    """Libraries that no table of contents names any more; who has loaded one keeps it."""
    for path in folder.glob("*.so"):
        if path.name not in files:
            path.unlink(missing_ok=True)


def _build_behind(levels: list[str], folder: Path) -> None:
    """Build in a process that goes on after this one, at the lowest priority."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = ["--missing", "--folder", str(folder), "--levels", *levels]
    command = ["nice", "-n", "19", sys.executable, "-m", "nearsame.kernels.building", *asked]
    with (folder / _LOG).open("wb") as log:
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)  # noqa: S603  (this interpreter)
    sys.stdout.write(
        "Kernels are compiled in the background for a minute or two; runs after that start without the compiler.\n"
    )


def main() -> int:
    """What `python -m nearsame.kernels.building` runs; its exit code."""
    parser = argparse.ArgumentParser(description="Compile the kernels ahead of time.")
    parser.add_argument("--levels", nargs="*", choices=list(LEVELS), help="of processors; this one's by default")
    parser.add_argument("--folder", type=Path, default=_built.FOLDER, help="where the library goes")
    parser.add_argument("--missing", action="store_true", help="only where none were built from these sources")
    parser.add_argument("--background", action="store_true", help="likewise, and return at once")
    asked = parser.parse_args()
    best = best_level()
    levels = asked.levels or ([best] if best else [])
    if not levels or not can_build():
        sys.stderr.write(
            "Kernels are compiled at their first call: they are built ahead only for Linux on x86-64-v2 or later.\n"
        )
        return 0
    if (asked.missing or asked.background) and _built.library(asked.folder) is not None:
        return 0
    try:
        _build_behind(levels, asked.folder) if asked.background else build(levels, asked.folder)
    except ConfigError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
