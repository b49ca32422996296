"""A Spark session where the user has none: what it needs is looked for first, and Spark is kept quiet.

1. pyspark or Java absent is one error with the line that installs it; nothing is started then.
2. What Spark's own process says goes to a file, which goes away with a session that ends well; else an error names it.
3. A local session is reached from this machine only. What the user sets has the last word.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearsame.engines.spark.failures import LOG, cause_of, plain
from nearsame.engines.spark.interrupting import held, interruptible
from nearsame.errors import ConfigError, EngineError, MissingExtraError
from nearsame.machine import num_processors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SUBMITTED", "java_version", "require_spark", "settings", "started"]

_LEAST_JAVA = 17
_HINT_JAVA = "Run: apt-get install openjdk-17-jre-headless (or set JAVA_HOME to a Java 17 or 21)."
_LOGGING = Path(__file__).with_name("log4j2.properties")
SUBMITTED = "PYSPARK_GATEWAY_PORT"  # set by spark-submit, which has chosen the master and started the process
_PARTITIONS = 4  # of a shuffle, for each core of this machine
_LOOPBACK = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
}


def java_version() -> int | None:
    """The version of the Java that Spark would use; None where there is none.

    Raises:
        MissingExtraError: It cannot be found out.
    """
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None or not shutil.which(program):
        return None
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603  (the user's own)
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    if match is None:
        raise MissingExtraError(f"{program} -version names no version: {said.strip()[:200]!r}", hint=_HINT_JAVA)
    return int(match[1])


def require_spark() -> None:
    """See that Spark can be started here.

    Raises:
        MissingExtraError: pyspark is not installed, or no Java that it runs on.
    """
    try:
        import pyspark  # noqa: F401  (optional)
    except ImportError:
        raise MissingExtraError.of("the Spark engine needs pyspark", "spark") from None
    if find_spec("pandas") is None:  # pyspark wants it for every Python function on Arrow
        raise MissingExtraError.of("the Spark engine needs pandas, as pyspark does", "spark")
    if SUBMITTED in os.environ:
        return
    version = java_version()
    if version is None:
        where = f"JAVA_HOME={os.environ['JAVA_HOME']} has none" if os.environ.get("JAVA_HOME") else "there is none"
        raise MissingExtraError(f"the Spark engine needs Java {_LEAST_JAVA} or 21, and {where}", hint=_HINT_JAVA)
    if version < _LEAST_JAVA:
        message = f"the Spark engine needs Java {_LEAST_JAVA} or 21, not Java {version}"
        raise MissingExtraError(message, hint=_HINT_JAVA)


def settings(conf: Sequence[str]) -> dict[str, str]:
    """Settings given as `key=value`.

    Raises:
        ConfigError: One is not so written.

    Example:
        >>> settings(["spark.driver.memory=4g"])
        {'spark.driver.memory': '4g'}
    """
    parsed = {}
    for setting in conf:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip().startswith("spark."):
            raise ConfigError(f"conf={setting!r} is not spark.KEY=VALUE", hint="Write it as in spark.driver.memory=4g.")
        parsed[key.strip()] = value.strip()
    return parsed


@contextmanager
def started(master: str | None = None, conf: Sequence[str] = ()) -> "Iterator[SparkSession]":
    """A session that lives as long as the block.

    Args:
        master: As Spark wants it: `local[4]`, `spark://host:7077`, `yarn`; default what spark-submit chose, else all
            processors of this machine.
        conf: Settings as `key=value`.

    Raises:
        MissingExtraError: pyspark or Java is absent.
        ConfigError: Spark does not start with these settings.
        EngineError: Spark gave up on the block.
    """
    given = settings(conf)
    require_spark()
    chosen = given.pop("spark.master", None) if master is None else master
    if SUBMITTED not in os.environ:
        chosen = chosen or "local[*]"
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    log = _new_log()
    try:
        session = _session(_all_settings(chosen, given), log)
        with interruptible():
            try:
                yield session
            finally:
                with suppress(Exception):  # its process may be what failed
                    session.stop()
    except (PySparkException, Py4JError) as error:
        hint = f"See {log} for more."
        raise EngineError(f"Spark gave up: {cause_of(error)}", hint=hint) from error
    except EngineError as error:
        if LOG not in error.hint:
            log.unlink(missing_ok=True)
        error.hint = error.hint.replace(LOG, f"{log}")
        raise
    except BaseException:
        log.unlink(missing_ok=True)
        raise
    log.unlink(missing_ok=True)


def _cores(master: str) -> int:
    """How many a local master has."""
    match = re.match(r"local\[(\d+)", master)
    if match:
        return int(match[1])
    return num_processors() if master.startswith("local[*") else 1


def _all_settings(master: str | None, given: dict[str, str]) -> dict[str, str]:
    conf = {"spark.app.name": "nearsame", "spark.ui.showConsoleProgress": "false"}
    if master is not None:
        conf["spark.master"] = master
        if master.startswith("local"):  # Spark's own 200 partitions are for clusters
            conf |= {**_LOOPBACK, "spark.sql.shuffle.partitions": str(_PARTITIONS * _cores(master))}
    conf |= given
    conf["spark.driver.extraJavaOptions"] = " ".join(
        filter(None, (f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}", given.get("spark.driver.extraJavaOptions")))
    )
    return conf


def _new_log() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="nearsame-spark-", suffix=".log")
    os.close(descriptor)
    return Path(name)


def _session(chosen: dict[str, str], log: Path) -> "SparkSession":
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if SparkContext._active_spark_context is not None:  # noqa: SLF001  (there is no public word for it)
        raise ConfigError("this process has a Spark session already", hint="Stop it, or give it to Spark(session).")
    launch: Any = launch_gateway  # it has no types
    wanted, java = SparkConf().setAll(list(chosen.items())), list[Any]()  # its process, where it is ours

    def end_java() -> None:
        for process in java:
            process.kill()

    try:
        with log.open("wb") as sink, held():
            gateway = launch(wanted, {"stdout": sink, "stderr": sink})
            java += [gateway.proc] * (gateway.proc is not None)
        with interruptible(end_java) as listening:
            context = SparkContext(conf=wanted, gateway=gateway)
            if listening is not None:
                listening.begin()  # the context has put its own handler there
            return SparkSession.builder.config(conf=context.getConf()).getOrCreate()
    except KeyboardInterrupt:
        end_java()
        raise
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise ConfigError(f"Spark does not start: {_reason(error, log)}", hint="Change --master or --conf.") from error


def _reason(error: Exception, log: Path) -> str:
    """Why Spark did not start: what the error says, or where it is only that the process has ended, its log."""
    if getattr(error, "java_exception", None) is not None and "stopped SparkContext" not in str(error):
        return cause_of(error)
    lines = [line.strip() for line in log.read_text("utf-8", errors="replace").splitlines() if line.strip()]
    while lines and not re.search(r"(Exception|Error|ERROR)\b", lines[0]):
        del lines[0]
    return ". ".join(plain(line) for line in lines[:2] if not line.startswith("at ")) or cause_of(error)
