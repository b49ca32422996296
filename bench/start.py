"""Start: what a small job costs from the first run on, and what is installed for it; beside peers and bare imports.

1. CPU seconds of whole processes (medians): they are what a start costs on a machine that does other work, too. All
   take turns, so that what else the machine does falls on each; what a command takes over the imports is for the first
   size, in milliseconds.
2. `built` are kernels compiled ahead, `numba` those that Numba keeps in its cache; the first run with an empty cache
   stands below the table. Bytecode of Python was written before.
3. Peers do the same job on the same file, each in an environment of its own (peers.py). Both sizes are made texts.
4. A wheel is made, installed by pip into an environment of its own, and asked at once, without HOME: what its first two
   runs take stands below the table, in seconds of the clock. In a folder that is read-only, a test asks one.
5. Sizes are those of the files that pip lists, for nearsame and all that it depends on, and for each peer.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import corpora
import corpus
import environments
import limit
import processes
import report
from packaging.requirements import Requirement

PAGE = report.ROOT / "docs" / "performance.md"
ADAPTERS = report.ROOT / "bench" / "adapters"
SIZES = {"10 documents": 20_000, "1,000 documents": 2_000_000}
PEERS = ("rensa", "gaoya", "datasketch")
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
BARE = "import click, numpy, pyarrow, pydantic, rich.console"
KERNELS = {"built": "built", "jit": "numba"}
LIMIT_SECONDS, BUILD_SECONDS = 300, 1200
HEADER = ("CPU seconds", *SIZES, "ms over the imports")
BARE_ROW = "importing NumPy, pyarrow, click, rich and pydantic"
ALONE_ROW = f"{BARE_ROW}, NumPy without threads"
NO_THREADS = {"OPENBLAS_NUM_THREADS": "1"}  # as in a process of the command line


class Job(NamedTuple):
    """What is run, and in which environment."""

    command: list[str]
    environment: dict[str, str]


def commands(file: Path, folder: Path) -> dict[str, list[str]]:
    """What is run on a file, by what stands in the table."""
    out = ["-o", str(folder / "out"), "--overwrite"]
    asked = {
        "dedup": [str(file), *out],
        "dedup --method minhash": [str(file), "--method", "minhash", *out],
        "pairs": [str(file), "-o", str(folder / "pairs.parquet"), "--overwrite"],
        "compare": [str(folder / "one.txt"), str(folder / "other.txt")],
        "explain": ["a rose is a rose is a rose"],
        "plan": ["--threshold", "0.7"],
        "index query": ["query", str(index_of(file)), "a rose is a rose is a rose"],
    }
    return {name: [*corpora.nearsame(name.split()[0]), *given] for name, given in asked.items()}


def index_of(file: Path) -> Path:
    """Where the index of a file's documents is."""
    return file.with_suffix(".ns")


def environment_of(folder: Path, kernels: str) -> dict[str, str]:
    """In which kernels of one kind are used, and bytecode is kept."""
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    return {**corpora.kernels(folder), **kept, "NEARSAME_KERNELS": kernels}


def ours(files: Sequence[Path], folder: Path, kernels: str) -> dict[str, list[Job]]:
    """What is run for the row of each command: a job for each file."""
    environment = environment_of(folder, kernels)
    return {
        f"nearsame {name}, {KERNELS[kernels]}": [Job(commands(file, folder)[name], environment) for file in files]
        for name in commands(files[0], folder)
    }


def theirs(peer: str, files: Sequence[Path], folder: Path) -> list[Job]:
    """The same for a peer's row."""
    python, found = environments.python(peer, environments.HOME), []
    environment = {**environments.variables(folder), "PYTHONDONTWRITEBYTECODE": ""}
    for file in files:
        given = {"file": str(file), "folder": str(folder), "answer": str(folder / "answer.json"), "threshold": 0.8}
        task = json.dumps({**given, "num_perm": 128, "size": 5, "processes": os.cpu_count()})
        found.append(Job([str(python), str(ADAPTERS / f"with_{peer}.py"), task], environment))
    return found


def medians(jobs: Mapping[str, Sequence[Job]], turns: int) -> dict[str, list[float]]:
    """The CPU seconds of each job, all that it starts included: all in turn, and a first turn that does not count."""
    seen = {name: [list[float]() for _ in each] for name, each in jobs.items()}
    for turn in range(turns + 1):
        print(f"turn {turn} of {turns}", flush=True)
        for name, each in jobs.items():
            for times, job in zip(seen[name], each, strict=True):
                times.append(processes.run(job.command, job.environment, LIMIT_SECONDS).cpu_seconds)
    return {name: [statistics.median(times[1:]) for times in each] for name, each in seen.items()}


def rows(found: Mapping[str, Sequence[float]]) -> list[tuple[str, ...]]:
    """The table: of the imports alone there is one size."""
    ((_, (bare, *_)), *_), shown = found.items(), []
    for name, seconds in found.items():
        each = [*seconds] * (len(SIZES) // len(seconds))
        over = "" if name == BARE_ROW else f"{1000 * (each[0] - bare):+.0f}"
        shown.append((name, *(f"{one:.2f}" for one in each), over))
    return shown


def prepare(folder: Path) -> tuple[list[Path], float]:
    """The texts, an index of each, and what the very first run costs where Numba compiles."""
    files = [folder / f"{number}.parquet" for number in range(len(SIZES))]
    for file, size in zip(files, SIZES.values(), strict=True):
        corpus.write(file, size)
    (folder / "one.txt").write_text("a rose is a rose is a rose", "utf-8")
    (folder / "other.txt").write_text("A rose is a rose; is a rose.", "utf-8")
    environment = environment_of(folder, "jit")
    first = processes.run(commands(files[0], folder)["dedup"], environment, LIMIT_SECONDS).cpu_seconds
    for file in files:
        for given in (["create", str(index_of(file))], ["add", str(index_of(file)), str(file)]):
            processes.run([*corpora.nearsame("index"), *given], environment, LIMIT_SECONDS)
    return files, first


def installed() -> str:
    """The sizes of what nearsame brings with it, the largest first, and those of the peers' environments."""
    sizes: dict[str, int] = {}
    todo = ["nearsame"]
    while todo:
        name = todo.pop()
        if name not in sizes:
            found = distribution(name)
            sizes[name] = sum(
                path.stat().st_size for file in found.files or () if (path := Path(file.locate())).is_file()
            )
            needed = (Requirement(line) for line in found.requires or ())
            todo += [each.name for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
    largest = sorted(sizes.items(), key=lambda each: -each[1])[:6]
    shown = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in largest)
    peers = ", ".join(f"{peer} {_folder_bytes(environments.HOME / peer / 'lib') / 1e6:.0f}" for peer in PEERS)
    return f"Installed, MB: nearsame with all that it needs {sum(sizes.values()) / 1e6:.0f} ({shown}); {peers}."


def _folder_bytes(folder: Path) -> int:
    return sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not {"pip", "setuptools"} & set(path.parts)
    )


def built(folder: Path) -> str:
    """What it takes to compile the kernels ahead, and what the library weighs."""
    command = [sys.executable, "-m", "nearsame.kernels.building", "--folder", str(folder / "built")]
    run = processes.run(command, {}, BUILD_SECONDS)
    return f"Compiled ahead, by one process for each processor: {run.output.strip()}, {run.cpu_seconds:.0f} CPU s."


def of_a_wheel(file: Path, folder: Path) -> str:
    """What the first runs after `pip install` of a wheel take; that of the checkout's kernels, for this processor."""
    home, pip = folder / "installed", ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = [*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", str(folder / "wheel"), str(report.ROOT)]
    processes.run([sys.executable, *wheel], {"NEARSAME_WHEEL_KERNELS": "checkout"}, BUILD_SECONDS)
    processes.run([sys.executable, "-m", "venv", str(home)], {}, LIMIT_SECONDS)
    constraints, (made,) = str(report.ROOT / "constraints.txt"), (folder / "wheel").glob("*.whl")
    unset = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": ""}
    command = [str(home / "bin" / "python"), *pip, "install", "-c", constraints, str(made)]
    installing = processes.run(command, unset, BUILD_SECONDS)
    asked = ["env", "-u", "HOME", str(home / "bin" / "nearsame"), *commands(file, folder)["dedup"][1:]]
    first, second = (processes.run(asked, unset | {"NEARSAME_KERNELS": "built"}, LIMIT_SECONDS) for _ in range(2))
    return (
        f"A wheel: pip installs it with all that it needs in {installing.seconds:.0f} s; then the first dedup of ten "
        f"documents takes {first.seconds:.2f} s ({first.cpu_seconds:.2f} CPU s), the next {second.seconds:.2f} "
        f"({second.cpu_seconds:.2f}), without HOME, and nothing was compiled."
    )


def main(given: Sequence[str]) -> int:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench start", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-build", action="store_true", help="do not measure the compiling of kernels ahead")
    parser.add_argument("--no-write", action="store_true", help="only print")
    settings = parser.parse_args(given)
    load = os.getloadavg()[0]
    with limit.working_folder(None) as folder:
        files, first = prepare(folder)
        bare = Job([sys.executable, "-c", BARE], environment_of(folder, "built"))
        jobs = {BARE_ROW: [bare], ALONE_ROW: [bare._replace(environment=bare.environment | NO_THREADS)]}
        for kernels in KERNELS:
            jobs |= ours(files, folder, kernels)
        jobs |= {peer: theirs(peer, files, folder) for peer in PEERS}
        table = rows(medians(jobs, settings.repeats))
        remarks = [f"The first dedup of all where Numba compiles, with an empty cache: {first:.1f} CPU s.", installed()]
        remarks += [] if settings.no_build else [built(folder)]
        remarks.append(of_a_wheel(files[0], folder))
    report.show("start", HEADER, table)
    text = f"{limit.others(load).strip()}\n\n{report.markdown(HEADER, table)}\n\n{' '.join(remarks)}".strip()
    print("\n".join(remarks))
    if not settings.no_write and report.has_place(PAGE, "start"):
        peers = ", ".join(" ".join(environments.requirements()[peer][0].split("==")) for peer in PEERS)
        report.write_between(
            PAGE, "start", f"{text}\n\n{report.made_by(' '.join(['start', *given]), PACKAGES)} Peers: {peers}."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
