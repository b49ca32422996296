"""Peers: nearsame and the tools that people use, on the same documents and shingles, with what each finds and misses.

1. Each tool runs as a whole process from raw text in a Parquet file to an answer, its own environment installed from
   PyPI (peers.txt), driven by an adapter of ours (adapters/) as its documentation shows, on all processors if it can.
   nearsame is driven in the same way; one row more writes the Parquet file of what stays, which no peer is asked for.
2. The answer is which documents go. `recall` is the share of the pairs at or above the threshold of which one at least
   goes; `precision` the share of removed documents that have a kept one at or above the threshold. Both are taken
   against the exact answer (corpora.py).
3. Ratios are between documents a second on the same documents in the same run; where a slow tool is given the
   beginning of a corpus, nearsame is run on that, too. What is run more than once counts with its median.
4. A tool that cannot be installed, fails, or takes too long has a row that says so.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import chart
import corpora
import corpus
import environments
import limit
import processes
import report
import truth

PAGE, FRONT = report.ROOT / "docs" / "performance.md", report.ROOT / "README.md"
ADAPTERS = report.ROOT / "bench" / "adapters"
THRESHOLD, NUM_PERM = "0.8", 128
SLOW_DOCUMENTS, LIMIT_MINUTES = 25_000, 20
REPEATS, REPEATED_SECONDS = 3, 30  # what takes longer is run once
WARM_BYTES = 6_000_000
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
EXACT, SKETCHES, WRITING = "nearsame jaccard", "nearsame minhash", "nearsame jaccard, writing what stays"
HEADER = (
    *("tool", "setting", "documents", "seconds", "documents/s", "MB/s", "peak MB", "removed", "recall", "precision"),
    "nearsame is … times as fast",
)
SHORT = ("", "setting", "documents/s", "MB/s", "recall", "precision", "nearsame is … times as fast")
AIMS = {"datasketch": 50, "text-dedup": 10, "datatrove": 10, "rensa": 1, "gaoya": 1}
EXACT_AIMS = {corpora.MADE: 1.3, "debian-installguide": 1.5, "msdocs-en": 1.5}


@dataclass(frozen=True)
class Tool:
    """One row: a tool and how it is set."""

    name: str
    setting: str
    options: dict[str, Any] = field(default_factory=dict)
    slow: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is nearsame."""
        return self.name in (EXACT, SKETCHES, WRITING)


@dataclass(frozen=True)
class Outcome:
    """What a tool did with a corpus."""

    tool: Tool
    documents: int
    text_bytes: int
    seconds: float = 0
    peak_bytes: int = 0
    removed: int = 0
    recall: float = 0
    precision: float = 0
    reason: str = ""  # why there is nothing to measure

    @property
    def speed(self) -> float:
        """Documents a second."""
        return self.documents / self.seconds if self.seconds else 0


def tools(threads: Sequence[int]) -> list[Tool]:
    """All rows: ours with each number of threads, each peer with its own bands, and with those of our MinHash."""
    ours = [Tool(name, f"threads: {count}", {"threads": count}) for name in (EXACT, SKETCHES) for count in threads]
    wide = {"bands": 16, "rows": 6}  # `nearsame plan --threshold 0.8`
    return [
        *ours,
        Tool(WRITING, ours[-1].setting, ours[-1].options),
        Tool("rensa", "RMinHash, its own 8 × 16"),
        Tool("rensa", "RMinHash, 32 × 4", {"bands": 32, "rows": 4}),  # it takes divisors of 128 only
        Tool("gaoya", "its own bands"),
        Tool("gaoya", "16 × 6", wide),
        Tool("gaoya", "16 × 6, its own words", {**wide, "own_words": True}),
        Tool("datasketch", "its own 9 × 13", slow=True),
        Tool("datasketch", "16 × 6", wide, slow=True),
        Tool("text-dedup", "its own 9 × 13", slow=True),
        Tool("text-dedup", "16 × 6", wide, slow=True),
        Tool("datatrove", "its own 14 × 8", slow=True),
        Tool("datatrove", "16 × 6", wide, slow=True),
        Tool("semhash", "its own model", slow=True),
    ]


def judge(pairs: Iterable[truth.Pair], removed: Collection[int]) -> tuple[float, float]:
    """Recall and precision of an answer."""
    gone, total, missed = set(removed), 0, 0
    witnessed = set()
    for a, b in pairs:
        total += 1
        missed += a not in gone and b not in gone
        if (a in gone) != (b in gone):
            witnessed.add(a if a in gone else b)
    return 1 - missed / total if total else 1.0, len(witnessed) / len(gone) if gone else 1.0


@dataclass(frozen=True)
class Bench:
    """Where runs have what they need, and put what they make."""

    folder: Path
    home: Path  # of the peers' environments
    limit_seconds: float
    broken: dict[str, str] = field(default_factory=dict)  # tools that failed in the beginning, and why

    def measure(self, tool: Tool, given: corpora.Corpus, repeats: int) -> Outcome:
        """A tool's row."""
        if tool.name in self.broken:
            return Outcome(tool, given.num_documents, given.text_bytes, reason=self.broken[tool.name])
        runs: list[processes.Run] = []
        try:
            while len(runs) < (1 if runs and runs[0].seconds > REPEATED_SECONDS else repeats):
                run, removed = self.run(tool, given.file)
                runs.append(run)
        except processes.Failed as error:
            return Outcome(tool, given.num_documents, given.text_bytes, reason=error.reason)
        recall, precision = judge(given.pairs, removed)
        return Outcome(
            tool,
            given.num_documents,
            given.text_bytes,
            statistics.median(run.seconds for run in runs),
            max(run.moment_bytes for run in runs),
            len(removed),
            recall,
            precision,
        )

    def run(self, tool: Tool, file: Path) -> tuple[processes.Run, list[int]]:
        """One process, and the documents that go."""
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            return (self._ours if tool.is_ours else self._peer)(tool, file, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _ours(self, tool: Tool, file: Path, work: Path) -> tuple[processes.Run, list[int]]:
        if tool.name == WRITING:
            return self._writing(tool, file, work)
        common = {"file": str(file), "answer": str(work / "answer.json"), "threshold": THRESHOLD}
        task = json.dumps({**common, "method": tool.name.split()[1], **tool.options})
        command = [sys.executable, str(ADAPTERS / "itself.py"), task]
        run = processes.run(command, corpora.kernels(self.folder), self.limit_seconds)
        return run, json.loads((work / "answer.json").read_bytes())

    def _writing(self, tool: Tool, file: Path, work: Path) -> tuple[processes.Run, list[int]]:
        settings = ["--threshold", THRESHOLD, "--no-audit", "--quiet"]
        threads = ["--threads", str(tool.options["threads"])]
        command = [*corpora.nearsame("dedup"), str(file), "-o", str(work / "out"), *settings, *threads]
        run = processes.run(command, corpora.kernels(self.folder), self.limit_seconds)
        return run, [number for number, _ in truth.removals(work / "out" / "removed.parquet")]

    def _peer(self, tool: Tool, file: Path, work: Path) -> tuple[processes.Run, list[int]]:
        python = environments.python(tool.name, self.home)
        common = {"file": file, "folder": work, "answer": work / "answer.json"}
        numbers = {"threshold": float(THRESHOLD), "num_perm": NUM_PERM, "size": truth.SIZE, "processes": os.cpu_count()}
        task = json.dumps({**common, **numbers, **tool.options}, default=str)
        script = ADAPTERS / f"with_{tool.name.replace('-', '_')}.py"
        run = processes.run([str(python), str(script), task], environments.variables(work), self.limit_seconds)
        return run, json.loads((work / "answer.json").read_bytes())


def compare(bench: Bench, given: corpora.Corpus, rows: Sequence[Tool], settings: argparse.Namespace) -> list[Outcome]:
    """Every row on one corpus, ours on the beginning as well if a peer was given no more."""
    part = given.beginning(settings.slow_documents or given.num_documents, bench.folder)
    found = []
    for tool in rows:
        both = [given] if part is given else [given, part]
        for one in both if tool.is_ours else [part if tool.slow else given]:
            print(f"{given.name}: {tool.name}, {tool.setting}, {one.num_documents:,} documents", flush=True)
            found.append(bench.measure(tool, one, settings.repeats))
    return found


def fastest_exact(outcomes: Iterable[Outcome]) -> dict[int, Outcome]:
    """Of each number of documents our exact join with the most threads."""
    exact = [outcome for outcome in outcomes if outcome.tool.name == EXACT and outcome.seconds]
    exact.sort(key=lambda outcome: outcome.tool.options["threads"])
    return {outcome.documents: outcome for outcome in exact}


def table(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """A line for each."""
    ours = fastest_exact(outcomes)
    return [_row(outcome, ours) for outcome in outcomes]


def _row(outcome: Outcome, ours: dict[int, Outcome]) -> tuple[str, ...]:
    first = (outcome.tool.name, outcome.tool.setting, f"{outcome.documents:,}")
    if outcome.reason:
        return (*first, "did not run", *[""] * (len(HEADER) - 4))
    best = ours.get(outcome.documents)
    return (
        *first,
        f"{outcome.seconds:.2f}",
        f"{outcome.speed:,.0f}",
        f"{outcome.text_bytes / 1e6 / outcome.seconds:.1f}",
        f"{outcome.peak_bytes / 1e6:,.0f}",
        f"{outcome.removed:,}",
        f"{outcome.recall:.2%}",
        f"{outcome.precision:.2%}",
        f"{best.speed / outcome.speed:.1f}" if best else "",
    )


def failures(outcomes: Iterable[Outcome]) -> str:
    """Why rows are empty, for each tool once."""
    reasons = {outcome.tool.name: outcome.reason for outcome in outcomes if outcome.reason}
    return " ".join(f"{name} did not run: `{_public(reason)}`." for name, reason in reasons.items())


def _public(reason: str) -> str:
    """A reason without what would break a page, or tell of the machine."""
    return re.sub(r"(?:\w+:/)?/[\w./~-]+", "…", reason).replace("`", "'")[:160]


def verdicts(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    """What was aimed at, and what came out."""
    ours, times = fastest_exact(outcomes), defaultdict(list)
    for outcome in outcomes:
        if outcome.tool.name in AIMS and outcome.seconds and outcome.documents in ours:
            times[outcome.tool.name].append(ours[outcome.documents].speed / outcome.speed)
    lines = [f"{peer}: {min(found):.1f} times (aim {AIMS[peer]})" for peer, found in times.items()]
    by_setting = {
        (each.tool.name, each.tool.setting, each.documents): each.seconds for each in outcomes if each.seconds
    }
    for (tool, setting, documents), seconds in by_setting.items():
        sketched = by_setting.get((SKETCHES, setting, documents))
        if tool == EXACT and sketched:
            ratio = f"{seconds / sketched:.2f} (aim at most {EXACT_AIMS[name]})"
            lines.append(f"time of the exact join over our MinHash, {setting}, {documents:,} documents: {ratio}")
    return lines


def _about(given: corpora.Corpus) -> str:
    return (
        f"{given.num_documents:,} documents, {given.text_bytes / 1e6:,.0f} MB, {len(given.pairs):,} pairs with a "
        f"Jaccard similarity of {THRESHOLD} or more of {truth.SIZE}-word shingles: {given.about}."
    )


def page(given: corpora.Corpus, outcomes: Sequence[Outcome], load: float, made_by: str, picture: Path | None) -> str:
    """The text for the page."""
    about = f"{_about(given)}{limit.others(load)}"
    shown = f"![Documents a second and recall on {given.name}]({picture.relative_to(PAGE.parent)})" if picture else ""
    speeds = "The exact join with all threads, against the fastest setting of each peer: "
    aims = f"{speeds}{'; '.join(verdicts(given.name, outcomes))}."
    parts = (about, report.markdown(HEADER, table(outcomes)), failures(outcomes), shown, aims, made_by)
    return "\n\n".join(filter(None, parts))


def summary(given: corpora.Corpus, outcomes: Sequence[Outcome], made_by: str) -> str:
    """The text for the front page: ours with all threads, and the fastest setting of each peer on the whole corpus."""
    fastest: dict[str, Outcome] = {}
    for each in outcomes:
        if each.seconds and each.documents == given.num_documents and each.tool.name != WRITING:
            fastest[each.tool.name] = max(fastest.get(each.tool.name, each), each, key=lambda one: one.speed)
    rows = [_row(each, fastest_exact(outcomes)) for each in fastest.values()]
    columns = [HEADER.index(name) for name in SHORT[1:]]
    lines = [(row[0], *(row[column] for column in columns)) for row in rows]
    return f"{_about(given)}\n\n{report.markdown(SHORT, lines)}\n\n{made_by}"


def draw(given: corpora.Corpus, outcomes: Sequence[Outcome]) -> Path:
    """The plot of a corpus, in the pages: each row, of ours those on the whole corpus."""
    points = [
        chart.Point(each.tool.name, each.tool.setting, each.speed, each.recall)
        for each in outcomes
        if each.seconds and (each.documents == given.num_documents or not each.tool.is_ours)
    ]
    target = PAGE.parent / "performance" / f"peers-{given.name}.svg"
    chart.write(points, f"{given.name}: documents a second and recall", target)
    return target


def warm(bench: Bench, rows: Sequence[Tool]) -> dict[str, str]:
    """Run each tool on a few documents, for compiled kernels and bytecode; those that fail, and why."""
    file = bench.folder / "warm.parquet"
    corpus.write(file, WARM_BYTES)
    broken: dict[str, str] = {}
    for tool in rows:
        if tool.name not in broken:
            print(f"warming up: {tool.name}, {tool.setting}", flush=True)
            try:
                bench.run(tool, file)
            except processes.Failed as error:
                broken[tool.name] = error.reason
                print(f"  {error.reason}", flush=True)
    return broken


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench peers", description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", nargs="+", default=[corpora.MADE, *corpora.REAL], metavar="NAME")
    parser.add_argument("--tools", nargs="+", metavar="NAME", help="peers to run (default: all); ours always are")
    parser.add_argument("--size", default="200MB", help=f"bytes of text of {corpora.MADE} (default 200MB)")
    slow = f"documents for slow tools, 0 for all (default {SLOW_DOCUMENTS:,})"
    parser.add_argument("--slow-documents", type=int, default=SLOW_DOCUMENTS, metavar="N", help=slow)
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"of what takes under {REPEATED_SECONDS} s")
    parser.add_argument("--limit-minutes", type=float, default=LIMIT_MINUTES, help="for one run; then it is ended")
    parser.add_argument("--folder", type=Path, help="where corpora are made and found again; default: a temporary one")
    parser.add_argument("--home", type=Path, default=environments.HOME, help="where the peers are installed")
    parser.add_argument("--no-write", action="store_true", help="only print")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Measure as the command line says, print, and write the pages."""
    settings = arguments(given)
    rows = tools(sorted({1, len(os.sched_getaffinity(0))}))
    rows = [tool for tool in rows if tool.is_ours or not settings.tools or tool.name in settings.tools]
    with limit.working_folder(settings.folder) as folder:
        bench = Bench(folder, settings.home.resolve(), settings.limit_minutes * 60)
        bench.broken.update(warm(bench, rows))
        for name in settings.corpora:
            load = os.getloadavg()[0]
            try:
                loaded = corpora.load(name, folder, settings.size, Fraction(THRESHOLD))
            except corpora.Absent as reason:
                print(f"left out: {reason}")
                continue
            outcomes = compare(bench, loaded, rows, settings)
            print(report.markdown(HEADER, table(outcomes)))
            print("\n".join([*verdicts(name, outcomes), failures(outcomes)]), flush=True)
            write(loaded, outcomes, load, settings)
    return 0


def write(given: corpora.Corpus, outcomes: Sequence[Outcome], load: float, settings: argparse.Namespace) -> None:
    """Results as JSON beside the corpus; the page and its picture, if there is a place for them."""
    results = [asdict(outcome) for outcome in outcomes]
    given.file.with_suffix(".results.json").write_text(json.dumps(results, indent=1), "utf-8")
    name = f"peers {given.name}"
    if settings.no_write or not report.has_place(PAGE, name):
        return
    script = f"peers --size {settings.size} --slow-documents {settings.slow_documents}"
    made_by = f"{report.made_by(script, PACKAGES)} Peers: {environments.versions()}."
    report.write_between(PAGE, name, page(given, outcomes, load, made_by, draw(given, outcomes)))
    if report.has_place(FRONT, name):
        report.write_between(FRONT, name, summary(given, outcomes, made_by))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
