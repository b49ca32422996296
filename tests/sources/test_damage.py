"""Damaged files of every format: no crash, no error of somebody else's, no record that goes without a word.

`python -m tests.sources.test_damage FROM TO FOLDER` runs more of them: some thousands take ten minutes.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from .damaging import NAMES, damaged, records_of, whole

_ROOT = Path(__file__).parents[2]
_OF_A_PROCESS = 60  # files: allocators keep what damage asked for
_IN_THE_SUITE = 6  # damaged files of each kind


def outcomes(folder: Path, files: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """How each file went, read in processes that are replaced when one ends them."""
    todo = list(files)
    while todo:
        paths = []
        for name, number in todo[:_OF_A_PROCESS]:
            path = folder / f"{number}-{name}"
            path.write_bytes(damaged(name, number) if number else whole(name))
            paths.append(str(path))
        command = [sys.executable, "-m", f"{__package__}.reading_damaged"]
        done = subprocess.run(command, input="\n".join(paths), capture_output=True, text=True, cwd=_ROOT, check=False)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        ended = [{"crash": f"{done.returncode}: {done.stderr[-300:]}"}] if len(said) < 2 * len(paths) else []
        results = [*said[1::2], *ended]
        for (name, number), result in zip(todo, results, strict=False):
            yield name, number, result
        todo = todo[len(results) :]


def complaint(name: str, number: int, result: dict[str, Any]) -> str:
    """What is wrong with how a file went; empty if nothing is."""
    for kind in ("crash", "raw"):
        if kind in result:
            return f"{kind} {result[kind]}"
    if "error" in result:
        return "" if number else f"a sound file: {result['error']}"
    due = records_of(name, damaged(name, number) if number else whole(name))
    have = result["documents"] + result["aside"] + result["placed"]
    told = result["skipped"] if ".warc" in name else result["skipped"] > result["placed"]  # damage may cover several
    if have < due and not told:
        return f"silently {have} of {due}: {result}"
    if result["kept"] + result["removed"] != result["documents"]:
        return f"kept and removed are not all: {result}"
    return "" if number or not result["skipped"] else f"a sound file: {result}"


@pytest.mark.slow
def test_damage_is_told_and_ends_nothing(tmp_path: Path) -> None:
    """A clean error, or counted skips: never a signal, never fewer records and not a word."""
    files = [(name, number) for name in NAMES for number in range(_IN_THE_SUITE + 1)]
    found = [(name, number, complaint(name, number, result)) for name, number, result in outcomes(tmp_path, files)]
    assert [] == [each for each in found if each[2]]
    assert files == [each[:2] for each in found]


def test_damage_that_was_once_not_told(tmp_path: Path) -> None:
    """Each of these ended in silence, or in an error of somebody else's: lengths of zero, names of odd bytes."""
    files = [
        *[("plain-stream.arrow", number) for number in (66, 69, 87, 99, 132, 145, 199, 200)],
        *[("wide-stream.arrow", 166), ("plain.parquet", 223), ("quoted.tsv", 331)],
        *[("plain.jsonl", number) for number in (236, 265, 270, 313, 336, 350, 353)],
    ]
    found = [(name, number, complaint(name, number, result)) for name, number, result in outcomes(tmp_path, files)]
    assert [(*each, "") for each in files] == found


def main() -> None:
    """Run many, and list those that go wrong."""
    first, last = map(int, sys.argv[1:3])
    folder = Path(sys.argv[3])
    counts: Counter[str] = Counter()
    names = sys.argv[4:] or NAMES
    for name, number, result in outcomes(folder, [(name, number) for name in names for number in range(first, last)]):
        wrong = complaint(name, number, result)
        counts["wrong" if wrong else "error" if "error" in result else "read"] += 1
        if wrong:
            sys.stdout.write(f"{name} {number}: {wrong}\n")
    sys.stdout.write(f"{dict(counts)}\n")


if __name__ == "__main__":
    main()
