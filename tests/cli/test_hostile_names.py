"""Names with escape sequences: whatever a command prints of files, columns and ids commands no terminal."""

import json
import re
from pathlib import Path

import pytest

from nearsame.outputs import progress
from nearsame.printable import printable, printable_json
from nearsame.studies import evaluate

from .commands import run

NAME = "a\x1b[31m\x9b2J\u202eb\x07\u2066"
_OBEYED = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Documents whose file, columns and ids have such a name; one record is broken, one file is no Parquet."""
    home = tmp_path / NAME
    home.mkdir()
    records = [
        {"id": f"{NAME}{n}", "url": f"http://{NAME}.org/{n}", "text": f"a rose {NAME} is a rose", NAME: n}
        for n in range(3)
    ]
    lines = [json.dumps(each, ensure_ascii=n % 2 == 0) for n, each in enumerate(records)]
    (home / f"{NAME}.jsonl").write_text("\n".join([*lines, "{broken"]) + "\n", "utf-8")
    (home / f"{NAME}.parquet").write_bytes(b"PAR1 no such thing PAR1")
    (home / "a.txt").write_text(f"a rose {NAME} is a rose", "utf-8")
    return home


COMMANDS = [
    ["dedup", "{home}", "--dry-run"],
    ["dedup", "{home}", "--dry-run", "--json"],
    ["dedup", "{home}", "-o", "{out}"],
    ["dedup", "{home}", "--strict", "--dry-run"],
    ["dedup", "{home}", "--strict", "--dry-run", "--debug"],
    ["dedup", "{home}/none-{name}", "--dry-run"],
    ["dedup", "{home}/{name}.parquet", "--dry-run"],
    ["dedup", "{home}/{name}.jsonl", "--text-column", "none-{name}", "--dry-run"],
    ["dedup", "{home}/{name}.jsonl", "--text-column", "{name}", "--dry-run"],
    ["dedup", "{home}/{name}.jsonl", "--keep", "{name}", "--dry-run"],
    ["dedup", "{home}/{name}.jsonl", "--keep", "newest:{name}", "--dry-run"],
    ["dedup", "{home}/{name}.jsonl", "--method", "{name}", "--dry-run"],
    ["dedup", "{home}/{name}.jsonl", "--{name}"],
    ["dedup", "zip://{name}::{home}/a.txt", "--dry-run"],
    ["dedup", "no{name}://x", "--dry-run"],
    ["dedup", "{home}/{name}.jsonl", "--use", "url,text", "--dry-run"],
    ["{name}"],
    ["pairs", "{home}", "-o", "{out}.csv"],
    ["pairs", "{home}/{name}.jsonl", "--dry-run"],
    ["compare", "{home}/a.txt", "{home}/{name}.jsonl"],
    ["compare", "{home}/a.txt", "{home}/{name}.jsonl", "--json"],
    ["compare", "{home}/a.txt", "{home}/none-{name}"],
    ["explain", "{name} {name}"],
    ["explain", "{home}/a.txt", "--json"],
    ["evaluate", "{home}", "--sample", "3"],
    ["mirrors", "{home}/{name}.jsonl"],
    ["leaks", "{home}/{name}.jsonl", "--eval", "{home}/{name}.jsonl", "--least-bytes", "0"],
    ["leaks", "{home}", "--eval", "{home}/{name}.jsonl", "--eval-column", "{name}", "-o", "{out}", "--json"],
    ["index", "create", "{out}-{name}", "{home}/{name}.jsonl"],
    ["index", "stats", "{home}/{name}"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_that_is_printed_commands_the_terminal(
    folder: Path, tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard output as on standard error. Methods that are evaluated need no process of their own for that."""
    monkeypatch.setattr(evaluate, "run_apart", evaluate.run_here)
    filled = [each.format(home=folder, name=NAME, out=tmp_path / "out") for each in command]
    done = run(*filled)
    assert done.stdout + done.stderr
    assert [] == _OBEYED.findall(done.stdout + done.stderr)
    assert 70 != done.exit_code, done.stderr


def test_notes_of_progress_are_printable(capsys: pytest.CaptureFixture[str]) -> None:
    """They may name files."""
    progress.Lines().note(NAME)
    assert f"{printable(NAME)}\n" == capsys.readouterr().err


def test_what_is_no_command_stays_as_it_is() -> None:
    """Any script, joiners, marks and emoji; JSON has the same value."""
    plain = "Grüße, 漢字, می\u200cخواهم, 👩\u200d👧 e\u0301 \U0001f3f4 soft\u00adhyphen"
    assert plain == printable(plain)
    assert "a\\nb\\x1b" == printable("a\nb\x1b")
    assert "a\nb\\x1b" == printable("a\nb\x1b", lines=True)
    record = {NAME: [plain, NAME]}
    assert record == json.loads(printable_json(json.dumps(record, ensure_ascii=False)))
