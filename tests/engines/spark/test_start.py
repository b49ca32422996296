"""A session is started quietly, and what is missing or wrong is one line."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nearsame.engines.spark import start
from nearsame.errors import ConfigError, MissingExtraError
from nearsame.installation import install_command
from tests import sparks

LINE = "apt-get install openjdk-17-jre-headless"


def java(folder: Path, said: str) -> None:
    """A program called java that says its version."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\n", "utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def run(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """What a process of its own says."""
    sparks.require_java()
    program = f"from nearsame.engines.spark.start import started\nfrom nearsame.errors import NearSameError\n{code}"
    settings = {**os.environ, **sparks.environment(), **environment}
    return subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True, check=False)


def test_no_java_says_how_to_install_it(tmp_path, monkeypatch):
    """The message names what is missing, the hint is the line."""
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtraError, match="needs Java 17 or 21, and JAVA_HOME=") as told:
        start.require_spark()
    assert LINE in told.value.hint
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtraError, match="needs Java 17 or 21, and there is none"):
        start.require_spark()


@pytest.mark.parametrize(
    ("said", "version"),
    [('openjdk version "17.0.15" 2025-04-15', 17), ('java version "1.8.0_392"', 8), ('openjdk version "21" 2023', 21)],
)
def test_the_version_of_java_is_read(said, version, tmp_path, monkeypatch):
    """Old ones begin with 1."""
    java(tmp_path, said)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert version == start.java_version()


def test_an_old_java_is_refused(tmp_path, monkeypatch):
    """Before it fails with a class file version."""
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    java(tmp_path, 'openjdk version "11.0.2" 2019-01-15')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtraError, match="needs Java 17 or 21, not Java 11"):
        start.require_spark()


def test_no_pyspark_says_how_to_install_it(monkeypatch):
    """The line that installs the extra."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError, match="needs pyspark") as told:
        start.require_spark()
    assert f"Run: {install_command('spark')}" == told.value.hint


def test_without_java_a_test_is_skipped_and_in_ci_it_fails(tmp_path, monkeypatch):
    """A suite that skips everything must not look like one that passes."""
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="needs Java 17 or 21"):
        sparks.require_java({})
    with pytest.raises(pytest.fail.Exception, match="in CI Spark has to run"):
        sparks.require_java({"CI": "true"})


@pytest.mark.parametrize("wrong", ["spark.executor.memory", "=4g", "executor.memory=4g"])
def test_a_setting_has_a_key_and_a_value(wrong):
    """Else it is refused before anything starts."""
    with pytest.raises(ConfigError, match=r"is not spark\.KEY=VALUE"):
        start.settings([wrong])


def test_a_value_may_have_equals_signs():
    """Only the first one divides."""
    assert {"spark.a": "-Dx=1 -Dy=2"} == start.settings(["spark.a=-Dx=1 -Dy=2"])


@pytest.mark.long
def test_a_session_says_nothing_and_leaves_nothing(tmp_path):
    """Not of its host name, nor of native libraries; and its log goes with it."""
    code = "with started('local[1]', ['spark.sql.shuffle.partitions=5']) as session:\n"
    code += "    print(session.range(7).count(), session.conf.get('spark.sql.shuffle.partitions'))"
    done = run(code, TMPDIR=str(tmp_path))
    assert ("7 5\n", "", 0) == (done.stdout, done.stderr, done.returncode)
    assert [] == list(tmp_path.glob("nearsame-spark-*"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("master", "conf", "reason"),
    [
        ("locl[2]", [], "Spark does not start: SparkException: Master must either be yarn or start with spark"),
        ("local[1]", ["spark.driver.memory=80"], "Spark does not start: Error occurred during initialization of VM"),
    ],
)
def test_what_spark_cannot_start_with_is_one_line(master, conf, reason, tmp_path):
    """It is the user's to change."""
    code = f"try:\n    with started({master!r}, {conf!r}): pass\nexcept NearSameError as error: print(error)"
    done = run(code, TMPDIR=str(tmp_path))
    assert reason in done.stdout
    assert [] == list(tmp_path.glob("nearsame-spark-*"))


@pytest.mark.long
def test_what_spark_gives_up_on_is_one_line_and_a_file(tmp_path):
    """The last line of the worker's traceback, and where the rest is."""
    code = """
def bad(batches):
    raise ValueError("bad 3")
    yield
try:
    with started("local[1]") as session:
        session.range(3).mapInArrow(bad, "id long").count()
except NearSameError as error:
    print(type(error).__name__, error, error.hint)"""
    done = run(code, TMPDIR=str(tmp_path))
    (log,) = tmp_path.glob("nearsame-spark-*.log")
    assert f"EngineError Spark gave up: ValueError: bad 3 See {log} for more.\n" == done.stdout


@pytest.mark.slow
def test_a_session_that_is_gone_is_said_whatever_is_asked(tmp_path):
    """Stopped, stopped with another one started, or its Java killed: one sentence, and no trace of Python or Java."""
    (tmp_path / "a.jsonl").write_text('{"text": "a rose is a rose is a rose"}\n' * 3, "utf-8")
    code = f"""
import os, signal
import nearsame as ns
from pyspark.sql import SparkSession
def session():
    conf = {sparks.CONF!r}
    return SparkSession.builder.master("local[1]").config(map=conf).getOrCreate()
def asked(*questions):
    for question in questions:
        try:
            question()
            print("fine")
        except NearSameError as error:
            print(type(error).__name__, error)
home = {str(tmp_path)!r}
for where in (dict(), dict(driver_bytes=0, task_bytes=0)):
    one = session()
    found = ns.dedup(home + "/a.jsonl", engine=ns.Spark(one, **where))
    frame = one.read.json(home + "/a.jsonl")
    questions = [lambda: found.write(home + "/out"), lambda: found.at(threshold=0.9), found.examples]
    questions += [found.kept, found.removed]
    leaks = ns.leaks(home + "/a.jsonl", {{"q": [{{"q": "a rose is a rose"}}]}}, engine=ns.Spark(one))
    leaks.stats
    questions += [leaks.kept, lambda: leaks.write(home + "/leaks")]
    one.stop()
    asked(*questions)
    found.release()
    another = session()
    asked(*questions[:5], lambda: ns.dedup(frame, engine=ns.Spark(another)))
found = ns.dedup(home + "/a.jsonl", engine=ns.Spark(another, driver_bytes=0))
os.kill(another.sparkContext._gateway.proc.pid, signal.SIGKILL)
asked(lambda: found.write(home + "/out"), lambda: ns.dedup(home + "/a.jsonl", engine=ns.Spark(another)))
"""
    done = run(code)
    assert 0 == done.returncode, done.stderr
    lines = done.stdout.splitlines()
    assert 28 == len(lines)
    assert {"EngineError the Spark session has been stopped"} == set(lines[:26])
    assert {"EngineError Spark gave up: its Java process has ended"} == set(lines[26:])
