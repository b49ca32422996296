"""What a run holds, measured on processes of their own: the most that the system has seen of each."""

import gzip
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from nearsame.engines.local import Local
from nearsame.engines.space import ALONE_BYTES

MB = 1 << 20
# A small process starts what is measured: until it runs, a process counts its parent's memory as its own.
MEASURED = (
    "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:], stdout=sys.stderr).returncode; "
    "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
WORDS = "".join(f"word{number} " for number in range(120_000)).encode()


def text(size: int) -> bytes:
    return (WORDS * (size // len(WORDS) + 1))[:size].rsplit(b" ", 1)[0]


def write_lines(path: Path, sizes: list[int]) -> None:
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb") as out:
        for size in sizes:
            out.write(b'{"text": "')
            for start in range(0, size, 4 * MB):
                out.write(text(min(size - start, 4 * MB)))
            out.write(b'"}\n')


def dedup(source: Path, *options: str) -> tuple[int, int, str]:
    """(exit code, the most memory in MB, what was said) of a run."""
    command = [sys.executable, "-m", "nearsame", "dedup", str(source), "-q", "--threads", "2", *options]
    done = subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True)
    code, most = map(int, done.stdout.split())
    return code, most >> 10, done.stderr


def anonymous(source: Path, *options: str) -> tuple[int, int]:
    """(exit code, the most MB of memory that is not a file's, looked up all the time) of a run."""
    command = [sys.executable, "-m", "nearsame", "dedup", str(source), "-q", "--threads", "2", *options]
    most, running = 0, subprocess.Popen(command)
    while running.poll() is None:
        status = Path(f"/proc/{running.pid}/status").read_text("utf-8")
        most = max([most, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon"))])
        time.sleep(0.01)
    return running.returncode, most >> 10


@pytest.mark.long
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "texts"])
def test_a_record_that_is_too_long_takes_no_memory_and_stays(name, tmp_path):
    """Neither reading nor writing back holds its 300 MB; the others are compared."""
    size = 300 * MB
    source, kept = tmp_path / name, tmp_path / "out" / "kept" / name
    if name == "texts":
        source.mkdir()
        for number, each in enumerate((50, size, 50)):
            (source / f"{number}.txt").write_bytes(
                b"".join(text(min(each, 4 * MB)) for _ in range(-(-each // (4 * MB))))
            )
        kept = tmp_path / "out" / "kept" / "kept.txt"
    elif name == "a.csv":
        with source.open("wb") as out:
            out.write(b'text\none two three four five six\n"')
            for _ in range(size // (4 * MB)):
                out.write(text(4 * MB))
            out.write(b'"\none two three four five six\n')
    else:
        write_lines(source, [50, size, 50])
    code, most, said = dedup(source, "--memory", "700MB", "-o", str(tmp_path / "out"))
    assert (3, True) == (code, most < 700), (most, said)
    if name == "texts":
        assert "0.txt\n1.txt\n" == kept.read_text()
    else:
        opened = gzip.open if name.endswith(".gz") else open
        with opened(source, "rb") as before, opened(kept, "rb") as after:
            while piece := after.read(4 * MB):
                assert before.read(len(piece)) == piece
            assert 1 == len(before.read().splitlines())


@pytest.mark.long
def test_the_cap_holds_for_long_texts_or_the_run_says_what_does_not_fit(tmp_path):
    """Two of 60 MB fit in 700 MB, two of 150 MB do not."""
    write_lines(tmp_path / "a.jsonl", [60 * MB, 60 * MB])
    code, most, said = dedup(tmp_path / "a.jsonl", "--memory", "700MB", "--dry-run")
    assert (0, True) == (code, most < 1.3 * 700), (most, said)
    write_lines(tmp_path / "b.jsonl", [150 * MB, 150 * MB])
    code, most, said = dedup(tmp_path / "b.jsonl", "--memory", "700MB", "--max-record", "200MB", "--dry-run")
    assert (2, True) == (code, most < 1.3 * 700), (most, said)
    assert "b.jsonl, record 0: a record of" in said or "b.jsonl, line 1: a record of" in said


@pytest.mark.long
def test_blank_lines_are_nothing_but_bytes(tmp_path):
    """200 MB of them take no more memory than 200 MB of anything else that is not looked at."""
    with (tmp_path / "a.jsonl").open("wb") as out:
        for _ in range(200):
            out.write(b"\n" * MB)
        out.write(b'{"text": "one two three"}\n')
    code, most, said = dedup(tmp_path / "a.jsonl", "--memory", "700MB", "--dry-run")
    assert (0, True) == (code, most < 600), (most, said)


@pytest.mark.long
def test_a_row_group_of_two_million_texts_is_within_the_cap(tmp_path):
    """Read and written back."""
    words = WORDS.decode().split()
    texts = pa.array([" ".join(words[12 * number : 12 * number + 12]) for number in range(1_000)])
    rows = pa.array(range(2_000_000))
    ids, texts = pc.cast(rows, pa.string()), texts.take(pc.bit_wise_and(rows, 511))
    texts = pc.binary_join_element_wise(ids, texts, ids, " ")
    pq.write_table(pa.table({"id": ids, "text": texts}), tmp_path / "a.parquet", row_group_size=len(rows))
    code, most = anonymous(tmp_path / "a.parquet", "--memory", "1200MB", "-o", str(tmp_path / "out"))
    assert (0, True) == (code, most < 1.3 * 1200), most
    kept = pq.ParquetFile(tmp_path / "out" / "kept" / "a.parquet").metadata.num_rows
    assert len(rows) == kept


def test_a_large_batch_is_worked_on_alone():
    """Whatever was begun before it is done, and nothing begins beside it; the order stays."""
    engine = Local(threads=4)
    large = pa.array(["x" * (ALONE_BYTES + 1)])
    batches = [pa.record_batch([pa.array(["small"]) if number % 3 else large], ["text"]) for number in range(9)]
    under_way, seen = [], []

    def work(batch: pa.RecordBatch) -> int:
        under_way.append(batch.nbytes)
        seen.append(list(under_way))
        under_way.remove(batch.nbytes)
        return int(batch.nbytes)

    try:
        found = list(engine.each(iter(batches), work, alone=lambda batch: batch.nbytes > ALONE_BYTES))
    finally:
        engine.close()
    assert [batch.nbytes for batch in batches] == found
    assert all(len(sizes) == 1 for sizes in seen if max(sizes) > ALONE_BYTES)
