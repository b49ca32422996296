"""How benchmarks run whole processes: wall time, processor time and peak memory of a command and all that it starts.

1. `peak_bytes` is the sum of each process's own high-water mark, so never too low. It is read from /proc (Linux) while
   the processes live: a child's `ru_maxrss` would count what its parent had at the fork.
2. `moment_bytes` is the most that all of them had at one moment, pages that they share counted once, as far as looking
   many times a second can tell, and never below a single process's high-water mark.
3. `anonymous_bytes` is the most of it that was not a file's: files that are mapped can be let go of, this cannot.
4. Looking takes little: the more there is to look at, the less often.
5. A command that fails ends the benchmark with what it said, unless that is caught; one that takes too long is ended.
"""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.02
WATCHED_SHARE = 0.02  # of one processor, at most, for looking: the hundreds of threads of a JVM take long to read
SHARED_SECONDS = 0.2  # between looks at what several processes share, which is slow to tell
ERROR_LINE = re.compile(r"^(?:\w+\.)*(?:\w*(?:Error|Exception|Interrupt|Exit)|ERROR)\b.*", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """One process, from its start to its end."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    moment_bytes: int
    anonymous_bytes: int
    output: str


class Failed(SystemExit):
    """A command that did not end well: all that it said, and the one line that tells why."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def run(command: Sequence[str], environment: Mapping[str, str], limit_seconds: float | None = None) -> Run:
    """Run a command and measure it.

    Raises:
        Failed: Its exit code is not 0, or it took longer than the limit and was ended.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        # a session of its own, so that all that it starts can be ended with it
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, env={**os.environ, **environment}, start_new_session=True
        )
        watch, alarm = _Watch(process.pid), _Alarm(process.pid, limit_seconds)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            end(process.pid)
            raise
        finally:
            alarm.cancel()
            watch.stop()
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = [_content(file) for file in (output, errors)]
    if alarm.rang:
        raise Failed(f"ended after {limit_seconds:.0f} s: {' '.join(command)}", f"ended after {limit_seconds:.0f} s")
    if process.returncode != 0:
        message = f"exit code {process.returncode}: {' '.join(command)}\n{texts[0]}{texts[1]}"
        raise Failed(message, _reason(texts[1], process.returncode))
    memory = (watch.peak_bytes, watch.moment_bytes, watch.anonymous_bytes)
    return Run(seconds, usage.ru_utime + usage.ru_stime, *memory, texts[0])


def end(session: int) -> None:
    """End a session's processes, if there are any left."""
    try:
        os.killpg(session, signal.SIGKILL)
    except ProcessLookupError:
        return


def _reason(errors: str, code: int) -> str:
    found = ERROR_LINE.findall(errors)
    lines = errors.split("\n")
    return (found or [line for line in lines if line.strip()] or [f"exit code {code}"])[-1].strip()


def _content(file: "tempfile._TemporaryFileWrapper[bytes]") -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


class _Alarm:
    """Ends a session when its time is over."""

    def __init__(self, session: int, seconds: float | None) -> None:
        self.rang = False
        self._session = session
        self._timer = threading.Timer(seconds or 0, self._ring)
        self._timer.daemon = True
        if seconds is not None:
            self._timer.start()

    def cancel(self) -> None:
        """Let it run on."""
        self._timer.cancel()

    def _ring(self) -> None:
        self.rang = True
        end(self._session)


class _Watch:
    """Follows a process and its descendants until told to stop."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peaks: dict[int, int] = {}
        self._looked = 0.0
        self._together = 0
        self.anonymous_bytes = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No more is looked at."""
        self._done.set()
        self._thread.join()

    @property
    def peak_bytes(self) -> int:
        """The sum of the peaks."""
        return sum(self._peaks.values())

    @property
    def moment_bytes(self) -> int:
        """The most at one moment."""
        return max(self._together, *self._peaks.values(), 0)

    def _follow(self) -> None:
        pause = POLL_SECONDS
        while not self._done.wait(pause):
            began = time.thread_time()
            pids = _tree(self._pid)
            statuses = {pid: _read(Path(f"/proc/{pid}/status")) for pid in pids}
            for pid, status in statuses.items():
                self._peaks[pid] = max(self._peaks.get(pid, 0), _bytes("VmHWM", status))
            self.anonymous_bytes = max(
                self.anonymous_bytes, sum(_bytes("RssAnon", status) for status in statuses.values())
            )
            if len(pids) > 1 and time.monotonic() - self._looked > SHARED_SECONDS:
                self._together = max(self._together, sum(_proportional_bytes(pid) for pid in pids))
                self._looked = time.monotonic()
            pause = max(POLL_SECONDS, (time.thread_time() - began) / WATCHED_SHARE)


def _tree(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        with contextlib.suppress(FileNotFoundError):  # it has just ended
            for task in Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, _read(task).split())
    return found


def _proportional_bytes(pid: int) -> int:
    return _bytes("Pss", _read(Path(f"/proc/{pid}/smaps_rollup")))


def _bytes(name: str, text: str) -> int:
    found = re.search(rf"^{name}:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError:  # the process has just ended, or is being started
        return ""
