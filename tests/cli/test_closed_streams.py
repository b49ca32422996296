"""Standard streams that were closed, as some schedulers and supervisors do: no command minds."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import documents, write_jsonl

NEARSAME = Path(sys.executable).with_name("nearsame")


def _run(home: Path, line: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a line of shell."""
    command = ["sh", "-c", line.replace("nearsame", str(NEARSAME), 1)]
    ended = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    "line", ["nearsame dedup in.jsonl -o out", "nearsame plan in.jsonl", "nearsame dedup in.jsonl --json"]
)
def test_a_command_works_without_standard_streams(tmp_path: Path, line: str, closed: str) -> None:
    """What it would have said is lost, and nothing else."""
    write_jsonl(tmp_path / "in.jsonl", documents())
    status, out, err = _run(tmp_path, f"{line} {closed}")
    assert 0 == status
    assert "unexpected" not in out + err
    assert ("out" in line) == (tmp_path / "out" / "kept" / "in.jsonl").exists()


@pytest.mark.parametrize("command", ["dedup", "pairs"])
def test_records_are_not_printed_to_a_closed_output(tmp_path: Path, command: str) -> None:
    """It says so, in one line and a hint."""
    write_jsonl(tmp_path / "in.jsonl", documents())
    status, _, err = _run(tmp_path, f"nearsame {command} in.jsonl -o - >&-")
    assert (2, "error: - is standard output, which is closed") == (status, err.splitlines()[0])
    assert 2 == len(err.splitlines())


@pytest.mark.parametrize(
    "line",
    [
        "dedup - -o out",
        "dedup - --dry-run",
        "pairs - -o out.csv",
        "index add a.ns -",
        "index remove a.ns --from -",
        "urls -",
    ],
)
def test_a_closed_input_is_not_an_empty_source(tmp_path: Path, line: str) -> None:
    """A scheduler that forgot to give what was to be read would else have an empty answer."""
    write_jsonl(tmp_path / "in.jsonl", documents())
    assert 0 == _run(tmp_path, "nearsame index create a.ns --from in.jsonl")[0]
    status, _, err = _run(tmp_path, f"nearsame {line} <&-")
    assert (3, "error: - is standard input, which is closed") == (status, err.splitlines()[0])
    assert 2 == len(err.splitlines())
    assert not (tmp_path / "out").exists()


def test_an_error_on_a_closed_stream_keeps_its_exit_code(tmp_path: Path) -> None:
    """Who runs the command can see what became of it."""
    assert (3, "", "") == _run(tmp_path, "nearsame dedup not-there.jsonl -o out 2>&-")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_an_exit_code_says_how_the_run_ended_and_not_how_its_log_did(tmp_path: Path) -> None:
    """Standard error on a full disk: 1 would say that a good output is wrong, or an error that texts differ."""
    write_jsonl(tmp_path / "in.jsonl", documents())
    assert 0 == _run(tmp_path, "nearsame dedup in.jsonl -o out --debug 2>/dev/full")[0]
    for expected, line in (
        (0, "nearsame verify out"),
        (0, "nearsame index create a.ns --from in.jsonl"),
        (2, "nearsame compare in.jsonl in.jsonl"),
        (2, "nearsame index check not-there.ns"),
        (3, "nearsame dedup not-there.jsonl -o other"),
        (2, "nearsame --no-such-option"),
    ):
        assert (expected, line) == (_run(tmp_path, f"{line} 2>/dev/full")[0], line)
    assert 0 == _run(tmp_path, "nearsame index check a.ns")[0]


def test_standard_output_may_be_thrown_away(tmp_path: Path) -> None:
    """It is open, so records go there."""
    write_jsonl(tmp_path / "in.jsonl", documents())
    assert 0 == _run(tmp_path, "nearsame dedup in.jsonl -o - >/dev/null")[0]
