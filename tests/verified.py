"""Every output that a test writes, through Python or the command line in this process, is verified at once.

1. Outputs of more than `MOST` documents or `MOST_BYTES` of text are left out, since plain Python takes a second for
   some hundred pages; with NEARSAME_VERIFY=all they are not.
2. What other processes write is not seen here.
"""

import os
from typing import Any

import pytest

import nearsame as ns
from nearsame.flow.results import Result
from nearsame.flow.runs import Run
from nearsame.outputs.destinations import meaning
from nearsame.sources.memory import Memory
from nearsame.studies.leak_results import Leaks

__all__ = ["MOST", "MOST_BYTES", "watch"]

MOST, MOST_BYTES = 1_000, 4_000_000


def watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verify what `Result.write` and `Leaks.write` write on one machine, until the test is over."""
    write = Result.write

    def written(result: Result, directory: Any, **how: Any) -> Any:
        stats = write(result, directory, **how)
        if not isinstance(result.run, Run) or not meaning(directory).is_folder:  # a file tells of nothing to prove
            return stats
        is_small = stats.documents <= MOST and stats.text_bytes <= MOST_BYTES
        if is_small or os.environ.get("NEARSAME_VERIFY") == "all":
            _require_proof(result, directory)
        return stats

    monkeypatch.setattr(Result, "write", written)
    write_leaks = Leaks.write

    def written_leaks(found: Leaks, directory: Any, **how: Any) -> Any:
        stats = write_leaks(found, directory, **how)
        names = [part.name for part in getattr(found._searched.reading, "all_parts", [])]
        evals = found._searched.call["evals"].values()
        is_small = stats.documents <= MOST and stats.text_bytes <= MOST_BYTES and stats.items <= MOST
        is_small = is_small and meaning(directory).is_folder and "engine" not in found._searched.call
        if is_small and names and not {"-", "memory"} & {*names} and not any({None, "-"} & {*one} for one in evals):
            _require_holding(ns.verify(directory))
        return stats

    monkeypatch.setattr(Leaks, "write", written_leaks)


def _require_proof(result: Result, directory: Any) -> None:
    reading = result.run.reading
    if any(part.name == "-" for part in reading.all_parts):
        return  # standard input cannot be read again
    sides = {
        side: tuple(part.table for part in parts if isinstance(part, Memory))
        for side, parts in (("source", reading.parts), ("against", reading.against))
    }
    _require_holding(ns.verify(directory, **{side: tables or None for side, tables in sides.items()}))


def _require_holding(found: Any) -> None:
    assert found.holds, "\n".join(f"{problem.place}: {problem.what}" for problem in found.problems[:20])
