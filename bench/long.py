"""What records that are very long cost in memory: the peak of a run over made files, as a table.

1. Each run is a process of its own, and the peak is what the system has seen of it (`ru_maxrss`).
2. Beside each peak stands what became of the run: how many documents were compared, or why it stopped.
"""

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

MB = 1 << 20
WORDS = "".join(f"word{number} " for number in range(200_000)).encode()


def text(size: int, seed: int) -> Iterator[bytes]:
    """So many bytes of words, another beginning for each seed."""
    at = seed * 7_919 % len(WORDS)
    while size > 0:
        piece = WORDS[at : at + min(size, 4 * MB)]
        size, at = size - len(piece), (at + len(piece)) % len(WORDS)
        yield piece


def lines(path: Path, sizes: list[int]) -> None:
    """JSON lines of texts of these sizes, compressed if the name says so."""
    with gzip.open(path, "wb", 6) if path.suffix == ".gz" else path.open("wb") as out:
        for seed, size in enumerate(sizes):
            out.write(b'{"text": "')
            out.writelines(text(size, seed))
            out.write(b'"}\n')


def blanks(path: Path, size: int) -> None:
    """Blank lines, and a record."""
    with path.open("wb") as out:
        for _ in range(size // MB):
            out.write(b"\n" * MB)
        out.write(b'{"text": "one two three"}\n')


def folder(path: Path, sizes: list[int]) -> None:
    """Text files of these sizes."""
    path.mkdir()
    for seed, size in enumerate(sizes):
        with (path / f"{seed}.txt").open("wb") as out:
            out.writelines(text(size, seed))


def run(source: Path, memory: str, *options: str) -> tuple[int, float, str]:
    """The peak in MB, processor seconds, and what became of it."""
    out = source.parent / "out"
    command = [sys.executable, "-m", "nearsame", "dedup", str(source), "-o", str(out), "--overwrite"]
    command += ["--threads", "2", "--memory", memory, "-q", *options]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        lines_said = said.read().decode().splitlines()
    outcome = {0: "compared", 3: "kept as it is"}.get(process.returncode, "")
    return (
        usage.ru_maxrss >> 10,
        usage.ru_utime + usage.ru_stime,
        outcome or f"refused: {lines_said[0].split(': ')[-1]}",
    )


def main() -> None:
    """Make the sources one after the other, and print a row for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of all sizes, to try it out")
    scale = parser.parse_args().scale

    def size(megabytes: int) -> int:
        return int(megabytes * scale) * MB

    with tempfile.TemporaryDirectory(prefix="nearsame-bench-") as home:
        warm = Path(home, "warm.jsonl")
        lines(warm, [MB])
        run(warm, "700MB")  # compiles what has to be
        print("| source | `--memory` | peak | processor | |\n|---|---|---|---|---|")
        for name, made, memory, options in (
            ("one record of 1 MB", lambda p: lines(p, [MB]), "700MB", ()),
            ("one line of 1,500 MB in a .gz", lambda p: lines(p, [size(1_500)]), "700MB", ()),
            ("1 GB of blank lines", lambda p: blanks(p, size(1_024)), "700MB", ()),
            ("two lines of 60 MB", lambda p: lines(p, [size(60)] * 2), "700MB", ()),
            ("two lines of 150 MB", lambda p: lines(p, [size(150)] * 2), "800MB", ()),
            ("two lines of 150 MB", lambda p: lines(p, [size(150)] * 2), "800MB", ("--max-record", "200MB")),
            ("two lines of 150 MB", lambda p: lines(p, [size(150)] * 2), "1500MB", ("--max-record", "200MB")),
            ("two text files of 150 MB", lambda p: folder(p, [size(150)] * 2), "1500MB", ("--max-record", "200MB")),
        ):
            ending = "" if "files" in name else ".jsonl.gz" if ".gz" in name else ".jsonl"
            source = Path(tempfile.mkdtemp(dir=home), f"source{ending}")
            made(source)
            peak, seconds, outcome = run(source, memory, *options)
            said = " ".join(options)
            print(f"| {name} | {memory} {said}| {peak:,} MB | {seconds:.0f} s | {outcome} |", flush=True)


if __name__ == "__main__":
    main()
