"""Commands with an output, over an output that is there, and what is at their place afterwards."""

import gzip
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import nearsame as ns

__all__ = ["CASES", "QUICK", "RECORDS", "Bench", "Case", "dedup", "fill", "hidden", "set_up", "some", "tree"]

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
        "leaks",
        (
            "leaks",
            "{home}/in/a.jsonl",
            "--eval",
            "{home}/in/a.csv",
            "-o",
            "{home}/out",
            "--remove",
            "documents",
            "--overwrite",
            "-q",
        ),
    ),
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
        str(each.relative_to(path)): _counted(each)
        if each.name == "stats.json" and (path / "kept").exists()
        else each.read_bytes()
        for each in sorted(path.rglob("*"))
        if each.is_file() and not each.name.endswith("-shm")  # SQLite's readers use it
    }


def _counted(path):
    """What a run has counted, or which items leaked."""
    record = json.loads(path.read_bytes())
    return record.get("kept", record.get("items"))


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

    def run(self, mode, nth, kinds=CHANGES, below=""):
        """The command, with a failure somewhere below the folder."""
        arguments, folder = self.case.typed(self.home), str(self.home / below)
        return self.ask(arguments=arguments, folder=folder, mode=mode, nth=nth, kinds=kinds)

    def found(self):
        """What is at the place."""
        return tree(self.home / self.case.out)


QUICK = ("dedup a.jsonl", "pairs", "mirrors", "index create")


def set_up(case, failing, tmp_path):
    """A command with an output, over an output that is there."""
    home = tmp_path / "home"
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
