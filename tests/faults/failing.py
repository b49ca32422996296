"""A process that runs commands in forks in which the file system fails: `LD_PRELOAD=failing.so python failing.py`.

1. Each line that comes in is a JSON object: `arguments` of nearsame, the `folder` whose files count, and the `nth`
   call of those `kinds` that fails in this `mode`. A line goes out: the exit status, what was said, and the number of
   calls that counted.
2. Everything is loaded and compiled by a first run that nothing happens to, so that a fork costs a tenth of a second.
"""

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

MODES = {"count": 0, "fail": 1, "full": 2, "kill": 3}
KINDS = {"read": 1, "write": 2, "sync": 4, "move": 8, "make": 16, "remove": 32}


def run(arguments: list[str]) -> int:
    """The exit code of a command in this process."""
    from nearsame.cli.main import commands

    try:
        commands.main(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0


def child(failing: ctypes.CDLL, asked: dict[str, Any], said: Path) -> None:
    """Run a command with a failure to come, and end."""
    out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    kinds = sum(KINDS[kind] for kind in asked["kinds"])
    failing.failing_arm(os.fsencode(asked["folder"]), ctypes.c_long(asked["nth"]), MODES[asked["mode"]], kinds)
    status = run(asked["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    """Serve."""
    failing = ctypes.CDLL(None)
    failing.failing_calls.restype = ctypes.c_long
    failing.failing_prepare()
    answers = os.fdopen(os.dup(1), "w")
    said = Path(sys.argv[1])
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("warm"):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            answer = {"status": run(asked["arguments"]), "said": "", "calls": 0}
        else:
            forked = os.fork()
            if not forked:
                child(failing, asked, said)
            status = os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])
            answer = {"status": status, "said": said.read_text("utf-8"), "calls": failing.failing_calls()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
