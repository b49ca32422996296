"""What tests of the command line share: a run in this process, and made-up documents."""

import json
import random
from pathlib import Path

import click
from click.testing import CliRunner, Result

from nearsame.cli.main import commands


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    """The outcome of `nearsame ARGUMENTS`: exit code, standard output, standard error."""
    return CliRunner().invoke(commands, [str(argument) for argument in arguments], input=stdin, prog_name="nearsame")


def words(number: int, seed: int = 0) -> list[str]:
    """So many made-up words."""
    chance = random.Random(seed)
    return ["".join(chance.choices("abcdefghij", k=6)) for _ in range(number)]


def documents() -> list[dict[str, str]]:
    """Two texts of 60 words; of the first a copy and an edited version (Jaccard 51/61), of the second nothing."""
    first, second = words(60, 1), words(60, 2)
    edited = [*first[:30], "another", *first[31:]]
    return [
        {"id": "a", "text": " ".join(first)},
        {"id": "b", "text": " ".join(second)},
        {"id": "a-copy", "text": " ".join(first)},
        {"id": "a-edited", "text": " ".join(edited)},
    ]


def write_jsonl(path: Path, records: list[dict[str, str]]) -> Path:
    """The records as JSON lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def leftovers(folder: Path) -> list[str]:
    """What a run must not leave behind."""
    return sorted(path.name for path in folder.iterdir() if path.name.endswith((".partial", ".old")))


def every_command(group=commands, above=()):
    """The words of each command, those of a group's below it, and the command."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield (*above, name), command
        if isinstance(command, click.Group):
            yield from every_command(command, (*above, name))
