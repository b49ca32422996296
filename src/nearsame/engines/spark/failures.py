"""What Spark says when it fails, as one sentence: of Java's 230 lines the one that says why.

1. A file that cannot be read is a SourceError with its name, a place that cannot be written to is an OutputError;
   everything else is an EngineError. Only where a source is looked at does what nobody knows speak against the source
   (reading.py).
2. The trace is not lost: it is the `__context__` of the error, and `--debug` shows it.
"""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from nearsame.engines.spark.interrupting import interruptible, is_interrupting
from nearsame.errors import EngineError, NearSameError, OutputError, SourceError

__all__ = [
    "CHANGED",
    "LOG",
    "NO_ROOT",
    "NO_ROOT_HINT",
    "STEADY",
    "CutOffError",
    "cause_of",
    "first_line",
    "has_no_root",
    "hint_about",
    "innermost",
    "is_running",
    "plain",
    "plainly",
    "require_running",
    "unread_file",
    "verdict",
]

CHANGED = "the source changed: it has rows that were not there when the documents were compared"
NO_ROOT = "is no whole address: behind its scheme comes a path from the root"
NO_ROOT_HINT = "Write it as in file:///data/clean, or leave the scheme out."
LOG = "Spark's log"  # in hints; a command puts its name there
STEADY = "Give a source that stays the same: persist it, or write it to files first."
_ABSENT = "ModuleNotFoundError: No module named"  # said in a worker: here it is an error of its own
_RESULTS = "spark.driver.maxResultSize"
_PASSED_ON = (  # whose own cause says why
    "Exception thrown in awaitResult",  # by one thread for another
    "[TASK_WRITE_FAILED]",
)
_HINTS = (  # by what is said somewhere
    (
        ("OutOfMemoryError", "TaskResultLost"),  # the second, too: what was fetched had no room
        "Give Java more memory (spark.driver.memory, spark.executor.memory), or lower broadcast_bytes (--broadcast).",
    ),
    (
        ("Python worker exited unexpectedly",),
        "It may have been ended for its memory: raise spark.executor.memoryOverhead, or give executors fewer cores.",
    ),
    (
        ("No space left on device", "Disk quota exceeded"),
        "Give spark.local.dir a disk with room, four bytes for each byte of text; or what is written, if that is full.",
    ),
    (
        ("RuntimeError: workers have nearsame ",),
        "Install the driver's version there; PYSPARK_PYTHON, where the session starts, says which Python workers run.",
    ),
    (
        (".zip/nearsame/",),
        "It cannot run from a zip (--py-files): install it on all nodes, or send an environment with --archives.",
    ),
    (
        ("READ_ANCIENT_DATETIME",),
        "A date is before 1582, or a time before 1900: set spark.sql.parquet.datetimeRebaseModeInRead to CORRECTED.",
    ),
    (
        ("WRITE_ANCIENT_DATETIME",),
        "A date is before 1582, or a time before 1900: set spark.sql.parquet.datetimeRebaseModeInWrite to CORRECTED.",
    ),
    (
        ("even though it's read-locked",),
        "What Spark kept on its disks is gone: call release() of the result, and ask again.",
    ),
)
_NO_SYSTEM = ("FileSystem not found", "No FileSystem for scheme")
_NO_ROOT = re.compile(r"(?:file|hdfs|viewfs|s3a?|s3n|gs|abfss?|wasbs?):(?!/)")
_SECONDS = 2  # until a process that has just been ended is known to have
_STOPPED = "the Spark session has been stopped"
_ASKED_LATE = "Ask and write while it runs: rows are read, and answers are written, by it."
_FILE = re.compile(r"FAILED_READ_FILE[.\w]*\] Encountered error while reading file (\S.*?)\.\s+(?:SQLSTATE|[A-Z])")
_COLON = re.compile(r"URISyntaxException: Relative path in absolute URI: (?:\.(.+)\.crc|(.+))$", re.MULTILINE)
_UNMADE = re.compile(r"Mkdirs failed to create (\S*?)/\.")  # beside a place that is written to
_RAISED = re.compile(r"^(?:[a-z_]\w*\.)*\w*(?:Error|Exception|Interrupt)\b: .+", re.MULTILINE)


@contextmanager
def plainly() -> Iterator[None]:
    """Errors of Spark in the block are raised as ours.

    Raises:
        SourceError: A file cannot be read, or the source has changed.
        OutputError: A place cannot be written to.
        EngineError: Spark gave up for another reason.
        KeyboardInterrupt: Somebody interrupted.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with interruptible():
            yield
    except NearSameError:
        raise
    except (PySparkException, Py4JError, ConnectionError, AssertionError, AttributeError) as error:
        if is_interrupting():
            raise KeyboardInterrupt from None
        if (gone := _gone(error)) is not None:
            raise gone from None
        if not isinstance(error, PySparkException | Py4JError):
            raise
        cause = cause_of(error)
        gave_up = EngineError(f"Spark gave up: {cause}", hint=hint_about(cause, f"See {LOG} for more."))
        raise verdict(error, gave_up) from None


def has_no_root(address: str) -> bool:
    """Whether an address has a scheme, and a path that begins nowhere."""
    return _NO_ROOT.match(address) is not None


def hint_about(said: str, otherwise: str) -> str:
    """What to do about an address that Java says something of."""
    if any(sign in said for sign in _NO_SYSTEM):
        return (
            "Give the session the package of that file system (spark.jars.packages), as org.apache.hadoop:hadoop-aws"
            " for s3a://, of the version of Spark's own Hadoop; or check the address."
        )
    return "Check the name of the host in the address." if "UnknownHost" in said else otherwise


def require_running(session: Any) -> None:
    """Refuse a session that was stopped after an answer came of it.

    Raises:
        EngineError: It was.
    """
    if not is_running(session):
        raise EngineError(_STOPPED, hint=_ASKED_LATE)


def is_running(session: Any) -> bool:
    """Whether a session has not been stopped."""
    return session.sparkContext._jsc is not None  # noqa: SLF001  (there is no public word for it)


def _gone(error: Exception) -> EngineError | None:
    """Why nobody answers, if that is what an error comes of: the session was stopped, or Java has ended."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context  # noqa: SLF001  (there is no public word for it)
    if context is None:
        is_of_that = isinstance(error, AssertionError | AttributeError) or "SESSION_OR_CONTEXT_NOT_EXISTS" in str(error)
        return EngineError(_STOPPED, hint=_ASKED_LATE) if is_of_that else None
    no_answer = isinstance(error, ConnectionError | Py4JError) and not isinstance(error, Py4JJavaError)
    if no_answer and _has_ended(context._gateway):  # noqa: SLF001  (likewise)
        hint = f"It may have been ended for its memory: start another session (spark.driver.memory). See {LOG}."
        return EngineError("Spark gave up: its Java process has ended", hint=hint)
    return None


def _has_ended(gateway: Any) -> bool:
    """Whether the process of Java has, where it was started by this one."""
    process = getattr(gateway, "proc", None)
    if process is None:
        return False
    try:
        process.wait(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def verdict(error: Exception, otherwise: NearSameError) -> NearSameError:
    """Our error for one of Spark's: by what it says, and `otherwise` where that is nothing known."""
    whole = _whole(error)
    if CHANGED in whole:
        return SourceError(CHANGED, hint=STEADY)
    about = _about_a_file(error, whole)
    if about is not None:
        return about
    if _RESULTS in whole or ("TaskResultLost" in whole and _takes_no_results()):
        limit = re.search(rf"{re.escape(_RESULTS)} \(([^)]+)\)", whole)
        size = f"={limit[1]}" if limit else ""
        message = f"Spark gave up: the results of its tasks are larger than {_RESULTS}{size}"
        return EngineError(message, hint=f"Raise it, as in --conf {_RESULTS}=2g.")
    if _ABSENT in whole:
        hint = (
            "Spark's workers run another Python: let PYSPARK_PYTHON name one with nearsame before the session starts."
        )
        return EngineError(f"Spark gave up: {cause_of(error)}", hint=hint)
    for signs, hint in _HINTS:
        if any(sign in whole for sign in signs):
            return EngineError(f"Spark gave up: {cause_of(error)}", hint=hint)
    return otherwise


def _takes_no_results() -> bool:
    """Whether the limit on results is so low that a task which shuffles, whose result is not counted, loses its own."""
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context  # noqa: SLF001  (there is no public word for it)
    if context is None:
        return False
    utils = context._jvm.org.apache.spark.util.Utils  # noqa: SLF001  (there is no public word for it)
    return 0 < int(utils.byteStringAsBytes(context.getConf().get(_RESULTS, "1g"))) < 1 << 20


def _about_a_file(error: Exception, whole: str) -> NearSameError | None:
    """Our error, where a file or a place is what is wrong."""
    file = _unreadable_file(whole)
    if file is not None:
        return SourceError(f"{file} cannot be read: {innermost(error)}", hint="Repair the file, or leave it out.")
    if (colon := _COLON.search(whole)) and _NO_ROOT.match(colon[2] or ""):
        return SourceError(f"{colon[2]} {NO_ROOT}", hint=NO_ROOT_HINT)
    if colon:
        message = f"{colon[1] or colon[2]}: Hadoop reads no file with a colon in its name, and no pattern beside one"
        return SourceError(message, hint="Rename it.")
    if unmade := _UNMADE.search(whole):
        hint = "Check that they have the right to write there, and that they see the same disk."
        return OutputError(f"{unmade[1]}: Spark's workers cannot make a folder there", hint=hint)
    return None


class CutOffError(SourceError):
    """A file lacks its end, which Spark would not miss."""

    def __init__(self, address: str) -> None:
        super().__init__(f"{address} cannot be read: it lacks its end", hint="Repair the file, or leave it out.")
        self.address = address


def unread_file(error: SourceError) -> str | None:
    """The address of the file that Spark could not read, or would not wholly, where an error says so."""
    if isinstance(error, CutOffError):
        return error.address
    said = error.__context__
    return _unreadable_file(_whole(said)) if isinstance(said, Exception) else None


def _unreadable_file(whole: str) -> str | None:
    """The file that Spark could not read, if that is what failed."""
    match = _FILE.search(whole)
    return unquote(match[1]) if match else None


def _whole(error: Exception) -> str:
    """All that an error and its causes say."""
    return "\n".join([str(error), *(str(cause.toString()) for cause in _causes(error))])


def _causes(error: Exception) -> Iterator[Any]:
    """The exceptions of Java behind an error, the innermost last."""
    java = getattr(error, "java_exception", None)
    if java is None:
        java = getattr(error, "_origin", None)
    while java is not None:
        yield java
        java = java.getCause()


def innermost(error: Exception) -> str:
    """What the first cause says, in one line."""
    *_, last = [None, *_causes(error)]
    said = str(error) if last is None else str(last.getMessage() or last.toString())
    return first_line(said) or type(error).__name__


def first_line(text: str) -> str:
    """The first line that says something, without packages of Java and the code of a state.

    >>> first_line("java.lang.RuntimeException: it is cut. SQLSTATE: KD001")
    'RuntimeException: it is cut.'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and lines[0].endswith(":"):
        lines[0] = " ".join(lines[:2])
    return re.sub(r"\s*SQLSTATE: \w+$", "", plain(lines[0])) if lines else ""


def cause_of(error: Exception) -> str:
    """The line that says why: of an exception in a worker its last one, of Spark's own the innermost cause."""
    java = getattr(error, "java_exception", None)
    said = [str(error)] if java is None else []
    said += [str(cause.getMessage() or cause.toString()) for cause in _causes(error)]
    text = next((each for each in said if not each.startswith(_PASSED_ON)), said[0])
    raised = _RAISED.findall(text)
    return plain(raised[-1]) if raised else first_line(text) or type(error).__name__


def plain(line: str) -> str:
    """A line of Java's without the names of threads and packages."""
    return re.sub(r'^Exception in thread "[^"]*" |(?<!\S)(?:[a-z_]\w*\.)+(?=\w*(?:Exception|Error)\b)', "", line)
