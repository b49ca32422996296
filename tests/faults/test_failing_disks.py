"""The Nth call to the file system fails, or the process is killed in it, for every N: nothing lost, nothing half there.

The default suite takes a sample of the calls; `scripts/test -m slow tests/faults` takes them all.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns

HERE = Path(__file__).parent
CHANGES = ["write", "sync", "move", "make", "remove"]
TEXTS = [" ".join(f"word{(number * 7 + at) % 50}" for at in range(30)) for number in (0, 1, 2, 3)]
RECORDS = [
    {"id": f"d{number}{host}", "url": f"http://{host}.example/{number}?utm_id={number}", "text": text}
    for number, text in enumerate([*TEXTS, TEXTS[0], TEXTS[1] + " more"])
    for host in ("a", "b")
]


@dataclass(frozen=True)
class Case:
    """A command with an output: what is typed, and what is to appear; {home} is the folder that holds all."""

    name: str
    arguments: tuple[str, ...]
    out: str = "out"

    def typed(self, home):
        """What is typed."""
        return [each.format(home=home) for each in self.arguments]


def dedup(kind, *more):
    return Case(f"dedup {kind}", ("dedup", f"{{home}}/in/{kind}", "-o", "{home}/out", "--overwrite", "-q", *more))


# not `plan --plot`: what draws pictures has threads of its own, and does not work in a fork
CASES = [
    dedup("a.jsonl"),
    dedup("a.csv"),
    dedup("a.parquet", "--annotate", "--pairs"),
    dedup("a.jsonl.gz"),
    dedup("texts", "--copy"),
    Case("pairs", ("pairs", "{home}/in/a.jsonl", "-o", "{home}/out.csv", "--overwrite", "-q"), "out.csv"),
    Case(
        "pairs parquet", ("pairs", "{home}/in/a.jsonl", "-o", "{home}/out.parquet", "--overwrite", "-q"), "out.parquet"
    ),
    Case("urls", ("urls", "{home}/in/a.jsonl", "-o", "{home}/out.jsonl", "--overwrite", "-q"), "out.jsonl"),
    Case("mirrors", ("mirrors", "{home}/in/a.jsonl", "-o", "{home}/out", "--overwrite", "-q")),
    Case(
        "evaluate",
        ("evaluate", "{home}/in/a.jsonl", "--methods", "jaccard", "-o", "{home}/out.md", "--overwrite", "-q"),
        "out.md",
    ),
    Case(
        "index create",
        ("index", "create", "{home}/out.ns", "--from", "{home}/in/a.jsonl", "--overwrite", "-q"),
        "out.ns",
    ),
    Case(
        "index export", ("index", "export", "{home}/in/seen.ns", "{home}/out.jsonl", "--overwrite", "-q"), "out.jsonl"
    ),
    Case("index add", ("index", "add", "{home}/out.ns", "{home}/in/a.jsonl", "-q"), "out.ns"),
]


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """The server of forks with failures, compiled and warm."""
    compiler = shutil.which("cc")
    if compiler is None:
        if os.environ.get("CI"):
            pytest.fail("there is no C compiler, and CI must test with it: install Debian's gcc")
        pytest.skip("there is no C compiler: install Debian's gcc")
    home = tmp_path_factory.mktemp("failing")
    library = home / "failing.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, HERE / "failing.c", "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, HERE / "failing.py", home / "said"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def ask(**what):
            server.stdin.write(json.dumps(what) + "\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())

        yield ask
        server.stdin.close()


def fill(home):
    """Sources of several formats, and an index of them."""
    (home / "in" / "texts").mkdir(parents=True)
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    (home / "in" / "a.jsonl").write_text(lines, "utf-8")
    (home / "in" / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
    table = pa.Table.from_pylist(RECORDS)
    pq.write_table(table, home / "in" / "a.parquet")
    with (home / "in" / "a.csv").open("w", encoding="utf-8") as out:
        out.write("id,text\n")
        out.writelines(f"{record['id']},{record['text']}\n" for record in RECORDS)
    for record in RECORDS[::2]:
        (home / "in" / "texts" / f"{record['id']}.txt").write_text(record["text"], "utf-8")
    ns.Index.create(home / "in" / "seen.ns", source=f"{home}/in/a.jsonl").close()


def tree(path):
    """All bytes below a path, but for what tells the time."""
    if path.suffix == ".ns":
        with ns.Index.open(path, read_only=True) as index:
            assert [] == index.check()
            return sorted(index.ids())
    if path.suffix == ".md" and path.exists():  # times and memory are in it
        return [re.sub(r"[^#|a-z]", "", line)[:12] for line in path.read_text("utf-8").splitlines()]
    if not path.is_dir():
        return path.read_bytes() if path.exists() else None
    return {
        str(each.relative_to(path)): json.loads(each.read_bytes())["kept"]
        if each.name == "stats.json" and (path / "kept").exists()
        else each.read_bytes()
        for each in sorted(path.rglob("*"))
        if each.is_file() and not each.name.endswith("-shm")  # SQLite's readers use it
    }


def hidden(home):
    return [path.name for path in home.iterdir() if path.name.startswith(".")]


@dataclass
class Bench:
    """A case with its old output, and what the new one is to be."""

    ask: object
    case: Case
    home: Path
    old: Path

    def reset(self):
        """The old output again, and nothing else."""
        for path in self.home.iterdir():
            if path.name != "in":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if self.old.is_dir():
            shutil.copytree(self.old, self.home / self.case.out)
        else:
            shutil.copy(self.old, self.home / self.case.out)

    def run(self, mode, nth, kinds=CHANGES):
        """The command, with a failure."""
        arguments = self.case.typed(self.home)
        return self.ask(arguments=arguments, folder=str(self.home), mode=mode, nth=nth, kinds=kinds)

    def found(self):
        """What is at the place."""
        return tree(self.home / self.case.out)


QUICK = ("dedup a.jsonl", "pairs", "mirrors", "index create")


@pytest.fixture(params=[pytest.param(case, id=case.name) for case in CASES])
def bench(request, failing, tmp_path):
    """Each command with an output, over an output that is there."""
    case, home = request.param, tmp_path / "home"
    fill(home)
    old = tmp_path / case.out
    if case.out.endswith(".ns"):
        ns.Index.create(old, source=[{"id": "earlier", "text": "a text that was there before"}]).close()
    elif case.out == "out":
        ns.dedup(["earlier", "earlier", "other"]).write(old)
    else:
        old.write_text("earlier", "utf-8")
    made = Bench(failing, case, home, old)
    made.reset()
    warm = failing(warm=True, arguments=case.typed(home))
    assert 0 == warm["status"]
    return made


def some(calls):
    """The first calls, the last ones, and some between."""
    return sorted({1, 2, *range(3, calls, max(1, calls // 6)), calls - 1, calls})


def judge(bench, answer, states, where):
    """What must be so after a call has failed."""
    (old, new, sources), found = states, bench.found()
    assert sources == tree(bench.home / "in"), f"{where}: a source was touched"
    assert answer["status"] in (0, 2, 3), f"{where}: {answer}"
    assert "Traceback" not in answer["said"], f"{where}: {answer['said']}"
    assert "unexpected" not in answer["said"], f"{where}: {answer['said']}"
    if answer["status"] == 0:
        assert new == found, f"{where}: done, and the output is not there"
    else:
        assert answer["said"].startswith("error: "), f"{where}: {answer['said']}"
        assert found in (old, new), f"{where}: neither the old output nor the new one: {answer['said']}"
    assert [] == hidden(bench.home), f"{where}: something was left behind"


def each_failure(bench, mode, chosen):
    """Fail, and judge, call after call."""
    bench.reset()
    old = bench.found()
    sources = tree(bench.home / "in")
    counted = bench.run("count", 0)
    assert 0 == counted["status"], counted
    new = bench.found()
    assert old != new
    assert counted["calls"] > 3
    for nth in chosen(counted["calls"]):
        bench.reset()
        answer = bench.run(mode, nth)
        if mode == "kill":
            judge_kill(bench, answer, (old, new, sources), f"kill at call {nth} of {counted['calls']}")
        else:
            judge(bench, answer, (old, new, sources), f"{mode} from call {nth} of {counted['calls']}")


def judge_kill(bench, answer, states, where):
    """What must be so after a kill, and after the next run."""
    old, new, sources = states
    assert answer["status"] in (-9, 0), f"{where}: {answer}"
    assert bench.found() in (old, new), f"{where}: neither the old output nor the new one"
    again = bench.run("count", 0)
    assert 0 == again["status"], f"{where}: {again}"
    assert new == bench.found(), f"{where}: the next run does not give the output"
    assert [] == hidden(bench.home), f"{where}: the next run leaves something behind"
    assert sources == tree(bench.home / "in")


@pytest.mark.parametrize("mode", ["fail", "full", "kill"])
@pytest.mark.parametrize(
    "bench", [case for case in CASES if case.name in QUICK], indirect=True, ids=lambda case: case.name
)
def test_some_calls(bench, mode):
    """One call fails; the disk is full from a call on; the process is killed in a call."""
    each_failure(bench, mode, some)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mode", ["fail", "full", "kill"])
def test_every_call(bench, mode):
    """The same for every command with an output, and all calls."""
    each_failure(bench, mode, lambda calls: range(1, calls + 1))
