"""Worker processes: there at once, gone when they are not needed, and nobody else's business."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from nearsame.engines.processes import Ended, Process, Workers
from nearsame.errors import SourceError
from nearsame.installation import versions
from nearsame.stages.texts.one_page import NUM_BOUNDS, page_content
from tests.patience import eventually

PAGE = (b"<p>a rose is a rose", None, "text/html", "text", [0] * NUM_BOUNDS)
MANY_PAGES = """
    import os, signal, sys
    import pyarrow as pa
    import nearsame as ns
    from nearsame.engines import processes, sharing
    sharing.STARTING_BYTES = 0
    table = pa.table({"html": [f"<p>{number} a rose is a rose" for number in range(600)]})
"""


@pytest.fixture
def process() -> Iterator[Process]:
    """A worker of a test's own."""
    process = Process()
    yield process
    process.close()


def _is_there(pid: int) -> bool:
    try:
        with Path(f"/proc/{pid}/stat").open(encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _program(source: str, folder: Path, **options: object) -> "subprocess.Popen[str]":
    """A program that runs in a session of its own."""
    call = [sys.executable, "-c", textwrap.dedent(MANY_PAGES) + textwrap.dedent(source)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.PIPE}
    return subprocess.Popen(call, cwd=folder, text=True, start_new_session=True, **pipes, **options)  # type: ignore[call-overload,no-any-return]


def test_a_worker_that_reads_pages_loads_neither_numpy_nor_arrow(process: Process) -> None:
    """They would take ten times as long as all that it needs."""
    assert (b"a rose is a rose", 0, False) == process(page_content, *PAGE)
    loaded = process(eval, "{name.partition('.')[0] for name in __import__('sys').modules}")
    assert {"resiliparse"} == loaded & {"resiliparse", "numpy", "pyarrow", "pydantic", "click", "subprocess"}


def test_an_error_of_the_work_comes_with_all_that_it_says(process: Process) -> None:
    """Its class, message and hint; an OSError is not taken for the end of the process."""
    with pytest.raises(SourceError, match="cut") as caught:
        process(_fail, "cut")
    assert "Save it again." == caught.value.hint
    assert 3 == process(sum, (1, 2))


def _fail(message: str) -> None:
    raise SourceError(message, hint="Save it again.")


def test_an_error_that_cannot_be_sent_is_named(process: Process) -> None:
    """With its message."""
    with pytest.raises(RuntimeError, match="_Local in a worker: not for others"):
        process(_fail_locally)
    assert 3 == process(sum, (1, 2))


def _fail_locally() -> None:
    class _Local(Exception):  # noqa: N818  (of this test)
        pass

    raise _Local("not for others")


def test_what_work_prints_does_not_stand_among_answers(process: Process) -> None:
    """It goes where errors go."""
    process(os.write, 1, b"")
    process(print, "a library says something")
    assert 3 == process(sum, (1, 2))


@pytest.mark.parametrize("end", [lambda process: os.kill(process.pid, signal.SIGKILL), Process.kill, Process.close])
def test_who_asks_a_process_that_has_ended_is_told(process: Process, end: object) -> None:
    """Not once, but always."""
    assert 3 == process(sum, (1, 2))
    end(process)  # type: ignore[operator]
    for _ in range(2):
        with pytest.raises(Ended):
            process(sum, (1, 2))
    assert process.has_ended


def test_a_worker_ends_when_nothing_has_come_for_a_while() -> None:
    """By itself; who needs one then gets another."""
    process = Process(idle_seconds=0.01)
    eventually(lambda: process.has_ended)
    workers = Workers()
    workers._free.append(process)
    other = workers.take()
    assert other is not None
    assert 3 == other(sum, (1, 2))
    other.close()


def test_what_stands_in_the_folder_where_a_run_starts_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is called like a module of Python's."""
    for name in ("pickle", "json", "select", "nearsame"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('loaded from here')\n")
    monkeypatch.chdir(tmp_path)
    process = Process()
    assert (b"a rose is a rose", 0, False) == process(page_content, *PAGE)
    process.close()


def test_a_path_among_the_strings_of_sys_path_is_passed_over_as_imports_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notebooks add one with `sys.path.append(Path(...))`."""
    monkeypatch.setattr(sys, "path", [*sys.path, tmp_path, b"bytes"])
    process = Workers().take()
    assert process is not None
    assert 3 == process(sum, (1, 2))
    process.close()
    assert {"numpy"} == versions(["numpy"]).keys()


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false", None])
def test_where_no_worker_can_be_had_none_is_asked_for_without_end(
    program: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a few that end at once, or where a program that holds Python in itself has no name of one."""
    monkeypatch.setattr(sys, "executable", program)
    workers, started = Workers(), 0
    for _ in range(10):
        if (process := workers.take()) is not None:
            started += 1
            with pytest.raises(Ended):
                process(sum, (1, 2))
            workers.put_back(process)
    assert started <= 3


def test_a_worker_that_was_killed_on_purpose_is_no_failure() -> None:
    """Runs that are given up before a first answer do not leave later ones without workers."""
    workers = Workers()
    for _ in range(9):
        process = workers.take()
        assert process is not None
        process.kill()
        with pytest.raises(Ended):
            process(sum, (1, 2))
        workers.put_back(process)


@pytest.mark.slow
def test_workers_end_with_the_process(tmp_path: Path) -> None:
    """Whose answer is the same as without them."""
    source = """
    kept = [len(ns.dedup(table, html_column="html", threads=threads).kept()) for threads in (1, 2, 2)]
    print(len(set(kept)), *(process.pid for process in processes._LIVING))
    """
    program = _program(source, tmp_path)
    out, errors = program.communicate()
    number, *workers = map(int, out.split())
    assert (0, "", 1, 2) == (program.returncode, errors, number, len(workers))
    assert not any(map(_is_there, workers))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_when_the_process_is_ended(number: signal.Signals, tmp_path: Path) -> None:
    """However that happens; of Ctrl-C, which the whole terminal gets, workers say nothing."""
    source = """
    ns.dedup(table, html_column="html", threads=2)
    print(*(process.pid for process in processes._LIVING), flush=True)
    while True:
        ns.dedup(table, html_column="html", threads=2)
    """
    program = _program(source, tmp_path)
    assert program.stdout is not None
    workers = [int(pid) for pid in program.stdout.readline().split()]
    assert 2 == len(workers)
    os.killpg(program.pid, number) if number == signal.SIGINT else program.send_signal(number)
    _, errors = program.communicate()
    assert program.returncode != 0
    assert "engines/worker" not in errors
    assert (number == signal.SIGINT) == ("KeyboardInterrupt" in errors)
    eventually(lambda: not any(map(_is_there, workers)))


def test_ctrl_c_while_a_worker_is_starting_is_not_its_own() -> None:
    """It is held back until the worker ignores it."""
    for _ in range(3):
        process = Process()
        os.kill(process.pid, signal.SIGINT)
        assert 3 == process(sum, (1, 2))
        process.close()


@pytest.mark.slow
def test_a_copy_of_a_process_has_workers_of_its_own(tmp_path: Path) -> None:
    """And leaves the original's alone, with which that goes on."""
    source = """
    def kept():
        return len(ns.dedup(table, html_column="html", threads=2).kept())
    first, mine = kept(), {process.pid for process in processes._LIVING}
    copy = os.fork()
    if not copy:
        same = kept() == first
        others = {process.pid for process in processes._LIVING}
        processes._end_all()
        os._exit(0 if same and others and not others & mine else 1)
    code = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
    print(code, kept() == first, mine == {process.pid for process in processes._LIVING})
    """
    out, errors = _program(source, tmp_path).communicate()
    assert ("0 True True\n", False) == (out, "Traceback" in errors)


def test_a_copy_of_a_process_does_not_keep_workers_alive(tmp_path: Path) -> None:
    """They end when the original does, though the copy has had the same pipes."""
    source = """
    ns.dedup(table, html_column="html", threads=2)
    print(*(process.pid for process in processes._LIVING), flush=True)
    if not os.fork():
        sys.stdin.read()
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)
    """
    program = _program(source, tmp_path)
    assert program.stdout is not None
    workers = [int(pid) for pid in program.stdout.readline().split()]
    eventually(lambda: not any(map(_is_there, workers)))
    program.communicate()
    assert 2 == len(workers)
