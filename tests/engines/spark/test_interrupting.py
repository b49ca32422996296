"""Ctrl-C while Spark works ends its jobs and is a KeyboardInterrupt; the session is as good as before."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import nearsame as ns
from nearsame.engines.spark import interrupting
from nearsame.engines.spark.failures import plainly
from nearsame.engines.spark.interrupting import held, interruptible, is_interrupting, settled
from nearsame.errors import EngineError
from tests import sparks
from tests.patience import PATIENCE, eventually

ROWS = 4000  # at 20 ms each and two at a time: 40 s of which nobody waits for the end


def press() -> None:
    """Press Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def slow_texts(spark: Any, log: Path, rows: int = ROWS, seconds: float = 0.02) -> Any:
    """Texts that take their time, and leave a sign for each."""
    from pyspark.sql import functions as F  # noqa: N812  (what everybody calls it)

    @F.udf("string")  # type: ignore[untyped-decorator]
    def slow(number: int) -> str:
        with log.open("a", encoding="utf-8") as file:
            file.write("x")
        time.sleep(seconds)
        return f"text number {number} " * 3

    return spark.range(rows, numPartitions=2).select("id", slow("id").alias("text"))


def persisted(spark: Any) -> set[int]:
    """What is persisted in the session, by number."""
    return set(spark.sparkContext._jsc.getPersistentRDDs().keySet())


def awaited(log: Path, least: int = 10) -> None:
    """Wait until tasks are at work."""
    while not (log.exists() and log.stat().st_size > least):
        time.sleep(0.01)


def send_command(steps: list[str]) -> None:
    """As py4j waits for an answer: it comes when the jobs have been ended; see `awaiting`."""
    press()
    steps.append("waited")


def awaiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this module be one of py4j."""
    monkeypatch.setitem(globals(), "__name__", "py4j.made_up")


def test_jobs_end_and_the_session_goes_on(spark, tmp_path, capfd):
    """Nothing of the run is left, nothing is printed, and pyspark hears Ctrl-C again."""
    log, before, kept = tmp_path / "log", signal.getsignal(signal.SIGINT), persisted(spark)
    threading.Thread(target=lambda: (awaited(log), press()), daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        ns.dedup(slow_texts(spark, log), engine=ns.Spark(spark))
    assert 10 < log.stat().st_size < ROWS
    assert "Traceback" not in capfd.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
    assert set() == persisted(spark) - kept  # other tests keep theirs
    found = ns.dedup(spark.createDataFrame([("1", "a rose")] * 2, "id string, text string"), engine=ns.Spark(spark))
    assert 1 == found.stats.removed
    found.release()


def asked(steps: list[str], error: Exception | None = None) -> None:
    """A question of a run, within another, in whose midst Ctrl-C is pressed."""
    with plainly(), interruptible():
        send_command(steps)
        steps.append("interrupting" if is_interrupting() else "after")
        if error is not None:
            raise error


@pytest.mark.parametrize("error", [None, EngineError("Spark gave up: Job 3 cancelled"), ValueError("something else")])
def test_an_answer_that_is_awaited_is_awaited(error, monkeypatch):
    """To leave there would lose the connection; what comes of it, or nothing, is an interruption then."""
    awaiting(monkeypatch)
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        asked(steps, error)
    assert ["waited", "interrupting"] == steps
    assert not is_interrupting()


def test_who_presses_twice_does_not_wait(monkeypatch):
    """The answer may never come."""
    awaiting(monkeypatch)
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt), interruptible():
        [send_command(steps) for _ in range(3)]
    assert ["waited"] == steps


def test_what_is_computed_here_ends_at_once():
    """As anywhere in Python; afterwards nothing is interrupted any more."""
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        asked(steps)
    assert [] == steps
    assert not is_interrupting()


def test_a_handler_of_the_program_stays():
    """Ours takes the place of the usual ones only."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with interruptible():
            press()
    finally:
        signal.signal(signal.SIGINT, before)
    assert [signal.SIGINT] == heard


def test_other_threads_are_not_asked():
    """Only the main thread hears signals, and only it may say who does; elsewhere an error stays what it is."""
    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError):
        pool.submit(interruptible()(lambda: 1 / 0)).result()


def test_a_handler_within_the_handler_is_the_same_interruption():
    """As two signals at once are; the thread that ends jobs is gone with the block, and ends none afterwards."""
    ended: list[str] = []
    threads = threading.active_count()

    def pressed_within() -> None:
        with interruptible(lambda: ended.append("")) as listening:
            assert listening is not None
            try:
                listening(signal.SIGINT, None)
            finally:
                listening(signal.SIGINT, None)

    for _ in range(20):
        with pytest.raises(KeyboardInterrupt):
            pressed_within()
    number = len(ended)
    assert threads == threading.active_count()
    time.sleep(0.5)
    assert number == len(ended)


def test_a_press_that_comes_late_is_heard():
    """When the block is being left, nothing is raised in the midst of that."""
    before = signal.getsignal(signal.SIGINT)
    listening = interrupting.Listening(lambda: None)
    listening.begin()
    listening.end(before)
    listening(signal.SIGINT, None)
    assert 1 == listening.presses
    assert before is signal.getsignal(signal.SIGINT)


def test_what_must_not_be_left_halfway_is_left_at_its_end():
    """As the start of a process is."""
    steps: list[str] = []

    def started() -> None:
        with held():
            press()
            press()
            steps.append("started")
        steps.append("went on")

    with pytest.raises(KeyboardInterrupt):
        started()
    assert ["started"] == steps


def test_an_error_waits_for_tasks_and_what_went_well_does_not(monkeypatch):
    """Two are at work, then one, then none."""
    running = [2, 1, 0, 7]
    monkeypatch.setattr(interrupting, "_num_running", lambda _: running.pop(0))
    with settled(None):
        pass
    assert [2, 1, 0, 7] == running
    with pytest.raises(ValueError, match="as it was"), settled(None):
        raise ValueError("as it was")
    assert [7] == running


def test_nothing_appears_beside_an_output_whose_writing_ends(spark, tmp_path, monkeypatch):
    """Tasks go on for a moment when their job has ended, and make the folders again that they write to."""
    monkeypatch.setattr(interrupting, "_TASKS_PATIENCE", PATIENCE)  # a busy machine takes longer to end them
    log, out = tmp_path / "log", tmp_path / "outputs" / "clean"
    out.parent.mkdir()
    found = ns.dedup(slow_texts(spark, log, rows=16, seconds=0.25), engine=ns.Spark(spark))
    found.write(out)
    for _ in range(3):
        log.unlink()
        threading.Thread(target=lambda: (awaited(log, 2), press()), daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            found.write(out, overwrite=True)
        time.sleep(3)
        assert [out] == list(out.parent.iterdir())
        assert (out / "stats.json").exists()
    found.release()


def children(pid: int, name: str) -> list[int]:
    """Processes that one has started, and that have this in their command."""
    listed = [task.read_text("utf-8") for task in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for line in listed for child in line.split() if name in command_of(child)]


def command_of(pid: str | int) -> str:
    """How a process was started; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8")
    except OSError:
        return ""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["java is launched", "the session is made", "it works"])
def test_a_command_that_is_interrupted_ends_in_silence_and_so_does_java(moment, tmp_path):
    """Whenever that is: while nobody knows its process yet, or while it makes the session, too."""
    sparks.require_java()
    (tmp_path / "a.jsonl").write_text('{"text": "a rose is a rose is a rose"}\n' * 40_000, "utf-8")
    asked = ["dedup", "a.jsonl", "-o", "out", "--engine", "spark", "--on-driver", "0"]
    command = [sys.executable, "-m", "nearsame", *asked]
    settings = {**os.environ, **sparks.environment(), "TMPDIR": str(tmp_path)}
    program = subprocess.Popen(
        command, cwd=tmp_path, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    (java,) = eventually(lambda: children(program.pid, "pyspark-shell"))  # what is forked, has our own command at first
    if moment != "java is launched":
        eventually(lambda: any(log.stat().st_size for log in tmp_path.glob("nearsame-spark-*.log")))
    if moment == "it works":
        eventually(lambda: children(java, "pyspark"))  # its workers
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=PATIENCE)
    assert 130 == program.returncode
    assert [] == [line for line in errors.splitlines() if "Traceback" in line or "ERROR" in line]
    eventually(lambda: not command_of(java))
    assert not (tmp_path / "out").exists()
