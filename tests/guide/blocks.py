"""The blocks of a page that are run, and what each came to beside what the page shows.

1. ```console: lines after `$ ` are commands, the lines below each its output. No output shown: none is compared.
2. ```python: run as it stands, in one namespace for the page; a ```text block right below it is what it printed.
   ```python title="NAME": written to that file, for a command to run.
3. ```sh: one command a line, without `$`; comments are dropped, and nothing is compared.
4. ```text: nothing.
5. In what is shown, `...` stands for the rest of a word or of a line, and a line of it alone for any lines.
6. `nearsame ...` runs in this process, anything that needs a shell in one. A command that fails fails the page, unless
   `; echo $?` shows its exit code.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from nearsame.cli.main import commands

__all__ = ["Block", "agrees", "blocks_of", "commands_of", "run_command", "run_python"]

_FENCE = re.compile(r"^```(\w*)(?: title=\"([\w.]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = "; echo $?"
_SHELL = re.compile(r"[|<>;&$`]")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and where this begins; of Python what it is to print, or its file."""

    kind: str
    text: str
    start: int
    shown: "Block | None" = None
    file: str | None = None


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page, each text block that belongs to Python with it."""
    matches = list(_FENCE.finditer(page))
    broken = re.search(r"^`(?:``)?(?!`*[^`\n]+`).*", _FENCE.sub("", page), re.MULTILINE)
    assert not broken, f"a block without a beginning or an end: {broken[0]}"
    found = []
    for match, after in zip_longest(matches, matches[1:]):
        below = after is not None and after[1] == "text" and not page[match.end() : after.start()].strip()
        shown = (
            Block("text", after[3], after.start(3)) if match[1] == "python" and after is not None and below else None
        )
        found.append(Block(match[1], match[3], match.start(3), shown, match[2]))
    return found


def commands_of(block: Block) -> list[tuple[str, str]]:
    """The commands of a block, each with the output that is shown below it."""
    if block.kind == "sh":
        return [(line, "") for full in block.text.splitlines() if (line := re.sub(r"\s+# .*", "", full).strip())]
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def run_command(command: str) -> tuple[str, int]:
    """What a command printed, and its exit code, which is 0 where the command itself shows it."""
    plain = command.removesuffix(_CODE)
    if plain.startswith("nearsame ") and not _SHELL.search(re.sub(r"'[^']*'|\"[^\"$`]*\"", "", plain)):
        done = CliRunner().invoke(commands, shlex.split(plain)[1:], prog_name="nearsame")
        output, status = done.output, done.exit_code
    else:
        run = subprocess.run(["bash", "-c", plain], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)  # noqa: S607
        output, status = run.stdout.decode(), run.returncode
    return (f"{output}{status}\n", 0) if command.endswith(_CODE) else (output, status)


def run_python(block: Block, names: dict[str, Any], page: Path) -> str:
    """What the block printed; names that it makes are there for the next one."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.text, f"{page.name}: {block.text.splitlines()[0]}", "exec"), names)  # noqa: S102
    return out.getvalue()


def agrees(shown: str, output: str) -> bool:
    """Whether an output is what a page shows."""
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    pattern = ""
    for line in shown.strip("\n").splitlines():
        is_gap = line.strip() == "..."
        pattern += r"(?:.*\n)*" if is_gap else ".*".join(map(re.escape, line.rstrip().split("..."))) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def surroundings() -> dict[str, str]:
    """The environment in which a page was written: a terminal of 80 columns without colours, and our programs first."""
    return {"COLUMNS": "80", "NO_COLOR": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
