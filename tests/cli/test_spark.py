"""`--engine spark`: options of the other engine are refused, what is missing is one line, and the folder is whole."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.cli import engine
from nearsame.installation import install_command
from tests import sparks

from .commands import documents, run, write_jsonl

SPARK = ("--engine", "spark")
# What makes a small run short: no Java is compiled for each query, none of it twice, and no partitions that are empty.
SHORT = [
    *("--partitions", 2),
    *(
        each
        for name, value in sparks.CONF.items()
        if "sql" in name or "Java" in name
        for each in ("--conf", f"{name}={value}")
    ),
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Four documents, of which one is a copy and one is edited."""
    return write_jsonl(tmp_path / "documents.jsonl", documents())


def command(*arguments: object, folder: Path) -> "subprocess.CompletedProcess[str]":
    """`nearsame ARGUMENTS` in a process of its own: a session ends with the command."""
    sparks.require_java()
    environment = {**os.environ, **sparks.environment(), "TMPDIR": str(folder), "COLUMNS": "80"}
    program = [sys.executable, "-m", "nearsame", *map(str, arguments)]
    return subprocess.run(program, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--threads", 2], "--threads"),
        (["--threads", 0], "--threads"),
        (["--memory", "1GB"], "--memory"),
        (["--annotate"], "--annotate"),
        (["--copy"], "--copy"),
        (["--drop-unreadable"], "--drop-unreadable"),
    ],
)
def test_what_is_for_one_machine_is_refused(options, named, source):
    """Not ignored."""
    done = run("dedup", source, "-o", "out", *SPARK, *options)
    assert 2 == done.exit_code
    assert done.stderr.startswith(f"error: {named} does nothing with --engine spark\nhint: ")


@pytest.mark.parametrize("options", [["--url-rules", "rules.json"], ["--up-to", "usual"]])
def test_what_is_of_layers_wants_them(options, source):
    """With --use they work here, too."""
    done = run("dedup", source, "-o", "out", *SPARK, *options)
    assert (2, f"error: {options[0]} does nothing on Spark without --use") == (
        done.exit_code,
        done.stderr.splitlines()[0],
    )


def test_the_page_of_spark_names_all_that_is_of_one_machine(root):
    """In one place."""
    page = (root / "docs" / "spark.md").read_text("utf-8")
    about = page.partition("### What is of one machine\n")[2].partition("\n## ")[0]
    assert [] == [option for option in engine._ONE_MACHINE.values() if f"`{option}`" not in about]


@pytest.mark.parametrize("name", ["dedup", "pairs", "mirrors", "urls"])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--master", "local[2]"),
        ("--conf", "spark.a=b"),
        ("--partitions", 3),
        ("--partitions", 0),
        ("--broadcast", "1GB"),
        ("--on-driver", "0"),
    ],
)
def test_what_is_for_spark_needs_it(option, value, name, source):
    """Likewise."""
    done = run(name, source, "-o", "out.parquet", option, value)
    expected = f"error: {option} does nothing without --engine spark\nhint: Add --engine spark.\n"
    assert (2, expected) == (done.exit_code, done.stderr)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dedup", "-", "-o", "out"], "Spark cannot read standard input"),
        (["urls", "-"], "Spark cannot read standard input"),
        (["mirrors", "SOURCE", "--threads", "2"], "--threads does nothing with --engine spark"),
        (["urls", "SOURCE", "--memory", "1GB"], "--memory does nothing"),
        (["urls", "SOURCE", "--on-driver", "0"], "--on-driver does nothing without --learn"),
        (
            ["mirrors", "SOURCE", "--cluster-column", "n", "--partitions", "2"],
            "--partitions does nothing",
        ),
        (["pairs", "SOURCE", "-o", "-"], "-o - and --engine spark: pairs are written by its executors"),
        (["dedup", "SOURCE", "-o", "out", "--conf", "memory"], "conf='memory' is not spark.KEY=VALUE"),
        (["dedup", "SOURCE", "-o", "out", "--broadcast", "much"], "much"),
        (["dedup", "SOURCE", "-o", "out", "--partitions", "0"], "partitions must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_is_said_before_anything_starts(arguments, said, source):
    """In a line, and with exit code 2."""
    done = run(*(str(source) if each == "SOURCE" else each for each in arguments), *SPARK)
    assert 2 == done.exit_code
    assert said in done.stderr


def test_without_java_there_is_one_line(source, tmp_path, monkeypatch):
    """It installs one."""
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    done = run("dedup", source, "-o", tmp_path / "out", *SPARK)
    said = f"error: the Spark engine needs Java 17 or 21, and JAVA_HOME={tmp_path} has none\n"
    line = "hint: Run: apt-get install openjdk-17-jre-headless (or set JAVA_HOME to a Java 17 or 21).\n"
    assert (2, said + line) == (done.exit_code, done.stderr)


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_what_spark_said_is_shown_where_it_is_asked_for(debug, source, tmp_path, monkeypatch):
    """Else there is one sentence."""

    def failing(*_, **__):
        try:
            json.loads("230 lines")
        except ValueError:
            raise ns.EngineError("Spark gave up: no", hint="Read its log.") from None

    monkeypatch.setattr("nearsame.api.dedup", failing)
    done = run("dedup", source, "-o", tmp_path / "out", *debug)
    assert (2, bool(debug)) == (done.exit_code, "JSONDecodeError" in done.stderr)
    assert done.stderr.endswith("error: Spark gave up: no\nhint: Read its log.\n")


@pytest.mark.parametrize(("missing", "said"), [("pyspark", "pyspark"), ("pandas", "pandas, as pyspark does")])
def test_without_its_packages_there_is_one_line(missing, said, source, tmp_path, monkeypatch):
    """Likewise."""
    monkeypatch.setitem(sys.modules, missing, None)
    done = run("dedup", source, "-o", tmp_path / "out", *SPARK)
    expected = f"error: the Spark engine needs {said}\nhint: Run: {install_command('spark')}\n"
    assert (2, expected) == (done.exit_code, done.stderr)


def test_the_extra_brings_what_pyspark_needs_for_arrow():
    """Its own extra for tables has pandas and Arrow; pandas has a line of its own: pyspark knows no upper bound."""
    needed = [line for line in metadata.requires("nearsame") if "extra == 'spark'" in line.replace('"', "'")]
    assert ["pandas", "pyspark[sql]"] == sorted(line.partition("<")[0].partition(">")[0] for line in needed)


@pytest.mark.slow
def test_a_run_writes_a_folder_and_the_summary(source, tmp_path):
    """kept/, removed/, clusters/, pairs/ of Spark's parts, and the statistics: those of one machine."""
    target = tmp_path / "out"
    done = command("dedup", source, "-o", target, *SPARK, "--master", "local[2]", "--pairs", folder=tmp_path)
    assert (0, []) == (done.returncode, [line for line in done.stderr.splitlines() if "WARN" in line])
    assert "kept                     2   50.0%\n" in done.stdout
    assert {"kept", "removed", "clusters", "pairs", "stats.json"} == {path.name for path in target.iterdir()}
    kept = pyarrow.dataset.dataset(target / "kept").to_table()
    expected = ns.dedup(source, ties="content", audit=False)
    assert sorted(expected.kept().column("id").to_pylist()) == sorted(kept.column("id").to_pylist())
    said, known = json.loads((target / "stats.json").read_bytes()), expected.stats.record()
    for name in ("documents", "removed", "kept", "exact_copies", "near_copies", "clusters", "text_bytes", "distinct"):
        assert known[name] == said[name], name
    target.rename(tmp_path / ".out.0123abcd.old")  # as a run that was killed while it replaced it leaves it
    again = command("dedup", source, "-o", target, *SPARK, folder=tmp_path)
    assert 2 == again.returncode
    assert "is back in its place: a run that was killed had moved it aside" in " ".join(again.stderr.split())
    assert "--overwrite" in again.stderr


@pytest.mark.long
def test_a_recall_that_is_too_low_is_an_exit_code(tmp_path):
    """Half of the pairs have no band in common; the folder is written, and the summary tells.

    Of each of the thirty pairs one document has to go.
    """
    words = [[f"w{number}x{place}" for place in range(40)] for number in range(30)]
    texts = [" ".join([*each, *other]) for each in words for other in ([], ["new1", "new2", "new3", "new4", "new5"])]
    source = write_jsonl(tmp_path / "texts.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(texts)])
    asked = ("--method", "minhash", "--bands", 2, "--rows", 8, "--require-recall", 0.97)
    done = command(
        "dedup", source, "-o", tmp_path / "out", *SPARK, *SHORT, *asked, "--master", "local[2]", folder=tmp_path
    )
    assert 4 == done.returncode, done.stderr
    assert "residual duplicates" in done.stdout
    assert json.loads((tmp_path / "out" / "stats.json").read_bytes())["audit"]["with_partner"] == 30


@pytest.mark.slow
def test_pairs_are_written_by_spark(source, tmp_path):
    """A folder of parts in the format that its name ends with."""
    target = tmp_path / "pairs.parquet"
    done = command("pairs", source, "-o", target, *SPARK, *SHORT, "--master", "local[2]", folder=tmp_path)
    assert 0 == done.returncode, done.stderr
    found = pyarrow.dataset.dataset(target).to_table()
    expected = ns.pairs(source, audit=False).table
    assert sorted(expected.column("similarity").to_pylist()) == sorted(found.column("similarity").to_pylist())
    assert f"pairs                    {expected.num_rows}" in done.stdout


@pytest.mark.slow
def test_a_source_that_is_not_there_is_one_line(tmp_path):
    """As on one machine."""
    done = command("dedup", tmp_path / "none.jsonl", "-o", tmp_path / "out", *SPARK, *SHORT, folder=tmp_path)
    assert 3 == done.returncode
    assert ["error", "hint"] == [line.split(":")[0] for line in done.stderr.splitlines()]


@pytest.mark.parametrize(
    "debug", [pytest.param((), marks=pytest.mark.slow), pytest.param(("--debug",), marks=pytest.mark.long)]
)
def test_results_that_are_too_large_are_one_line(debug, source, tmp_path):
    """With the setting to raise; what Java says of it is shown where it is asked for."""
    limit = ("--conf", "spark.driver.maxResultSize=1k")
    done = command("dedup", source, "-o", tmp_path / "out", *SPARK, *SHORT, *limit, *debug, folder=tmp_path)
    assert 2 == done.returncode, done.stderr
    *trace, error, hint = done.stderr.splitlines()
    assert error.startswith("error: Spark gave up: the results of its tasks are larger than spark.driver.maxResultSize")
    assert "hint: Raise it, as in --conf spark.driver.maxResultSize=2g." == hint
    assert bool(debug) == bool([line for line in trace if "Traceback" in line])


@pytest.mark.slow
def test_a_file_that_is_cut_is_left_out(tmp_path):
    """As on one machine: counted, told, exit code 3."""
    folder = tmp_path / "in"
    folder.mkdir()
    table = pa.table({"text": [each["text"] for each in documents()]})
    pq.write_table(table, folder / "a.parquet")
    (folder / "b.parquet").write_bytes((folder / "a.parquet").read_bytes()[:-9])
    done = command("dedup", folder, "-o", tmp_path / "out", *SPARK, *SHORT, folder=tmp_path)
    assert (3, 1) == (done.returncode, json.loads((tmp_path / "out" / "stats.json").read_bytes())["skipped"])
    assert "not readable             1   counted nowhere else" in done.stdout
    (record,) = pyarrow.dataset.dataset(tmp_path / "out" / "skipped").to_table().to_pylist()
    said = f"{record['source']}: {record['reason']}"
    assert "".join(said.split()) in "".join(done.stdout.split())  # it is wrapped
    assert record["source"].endswith("b.parquet")


@pytest.mark.long
def test_a_file_that_is_cut_is_one_line_where_that_is_strict(tmp_path):
    """With its name."""
    pq.write_table(pa.table({"text": [each["text"] for each in documents()]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-9])
    done = command("dedup", tmp_path / "*.parquet", "-o", tmp_path / "out", *SPARK, *SHORT, "--strict", folder=tmp_path)
    assert 3 == done.returncode
    assert ["error", "hint"] == [line.split(":")[0] for line in done.stderr.splitlines()]
    assert "b.parquet cannot be read: " in done.stderr


@pytest.mark.slow
def test_the_job_of_the_examples_runs_by_spark_submit(source, tmp_path, root):
    """From an environment with nothing in it but what finds Java and Python."""
    sparks.require_java()
    submit = Path(sys.executable).with_name("spark-submit")
    settings = [f"--conf={name}={value}" for name, value in sparks.CONF.items()]
    job = [root / "examples" / "spark_job.py", source, tmp_path / "out"]
    kept = {name: os.environ[name] for name in ("PATH", "JAVA_HOME", "HOME") if name in os.environ}
    environment = {**kept, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_DIRS": str(tmp_path)}
    command = [submit, "--master=local[2]", *settings, *job]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    stats = json.loads((tmp_path / "out" / "stats.json").read_bytes())
    numbers = tuple(f"{stats[name]:,}" for name in ("documents", "removed", "kept"))
    assert "{} documents, {} removed, {} kept".format(*numbers) == done.stdout.strip()


@pytest.mark.slow
def test_urls_and_mirrors(tmp_path):
    """What is read and compared on Spark is written here."""
    pages = [
        {"id": url, "url": url, "text": f"page {number} " * 9}
        for host in ("http://a.example/docs", "http://b.example/manual/en")
        for number in range(9)
        for url in (f"{host}/{number}?ref=x", f"{host}/{number}?ref=y")
    ]
    source = write_jsonl(tmp_path / "pages.jsonl", sorted(pages, key=lambda page: page["url"]))
    asked = ("urls", source, "--learn", "--up-to", "usual", "--spreadsheet", "--quiet")
    for name, where in (("here.csv", ()), ("there.csv", (*SPARK, *SHORT))):
        done = command(*asked, "-o", tmp_path / name, "--save", tmp_path / f"{name}.json", *where, folder=tmp_path)
        assert 0 == done.returncode, done.stderr
    assert "drop ref" not in done.stdout
    assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()
    here, there = (json.loads((tmp_path / f"{name}.csv.json").read_text())["rules"] for name in ("here", "there"))
    assert here == there != []
    done = command("mirrors", source, "-o", tmp_path / "m", "--json", *SPARK, *SHORT, folder=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert ns.mirrors(source).record()["mirrors"] == json.loads(done.stdout)["mirrors"]
    again = ns.rerun(tmp_path / "m")
    assert again.table.equals(ns.mirrors(source).table)
    assert "spark" == json.loads((tmp_path / "m" / "stats.json").read_text())["call"]["engine"]
