"""What reads damaged files in a process of its own: paths come in by lines, and a line of JSON says how each went.

A line goes out before a file is touched, so that whoever started this knows which file ended it.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import nearsame

_MOST_BYTES = 12 << 30  # of addresses: damage that asks for more is out of memory, not the machine's end


def _outcome(path: str) -> dict[str, Any]:
    """What a run over the file, its output and its tables come to."""
    settings = {} if ".warc" in path else {"order_column": "n"}
    try:
        found = nearsame.dedup(path, threads=1, **settings)
        with tempfile.TemporaryDirectory() as home:
            found.write(f"{home}/out")
        kept = found.kept().num_rows
    except nearsame.NearSameError as error:
        return {"error": error.message}
    except MemoryError:
        return {"error": "out of memory"}
    placed = found.skipped.num_rows - found.skipped.column("position").null_count
    return {
        "documents": found.stats.documents,
        "aside": sum(found.stats.pages.get("passed_over", {}).values()),
        "placed": placed,
        "skipped": found.skipped.num_rows,
        "kept": kept,
        "removed": found.stats.removed,
    }


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Read until there are no more."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        path = line.rstrip("\n")
        _say({"begins": path})
        try:
            said = _outcome(path)
        except Exception as error:  # noqa: BLE001  (whatever it is: it should not be)
            said = {"raw": f"{type(error).__name__}: {error}"}
        _say(said)
        Path(path).unlink()


if __name__ == "__main__":
    main()
