"""Ctrl-C while Spark works ends its jobs and is a KeyboardInterrupt; the session is as good as before."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import nearsame as ns
from nearsame.engines.spark.failures import plainly
from nearsame.engines.spark.interrupting import interruptible, is_interrupting
from nearsame.errors import EngineError

ROWS = 4000  # at 20 ms each and two at a time: 40 s of which nobody waits for the end


def press() -> None:
    """Press Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def slow_texts(spark: Any, log: Path) -> Any:
    """Texts that take their time, and leave a sign for each."""
    from pyspark.sql import functions as F  # noqa: N812  (what everybody calls it)

    @F.udf("string")  # type: ignore[untyped-decorator]
    def slow(number: int) -> str:
        with log.open("a", encoding="utf-8") as file:
            file.write("x")
        time.sleep(0.02)
        return f"text number {number} " * 3

    return spark.range(ROWS, numPartitions=2).select("id", slow("id").alias("text"))


def awaited(log: Path) -> None:
    """Wait until tasks are at work."""
    while not (log.exists() and log.stat().st_size > 10):
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
    log, before = tmp_path / "log", signal.getsignal(signal.SIGINT)
    threading.Thread(target=lambda: (awaited(log), press()), daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        ns.dedup(slow_texts(spark, log), engine=ns.Spark(spark))
    assert 10 < log.stat().st_size < ROWS
    assert "Traceback" not in capfd.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
    assert 0 == spark.sparkContext._jsc.getPersistentRDDs().size()
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
