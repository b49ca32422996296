"""text-dedup: its MinHash command; what is not in the dataset that it writes, goes.

Its own words may be empty (two marks in a row make one), so it is given texts of words with a blank between them.
"""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from _task import Task, task, texts, words


def prepare(given: Task, target: Path) -> int:
    """Write the words of the texts, with the documents' numbers; how many there are."""
    prepared = [" ".join(words(text)) for text in texts(given.file)]
    pq.write_table(pa.table({"number": range(len(prepared)), "text": prepared}), target)
    return len(prepared)


def command(given: Task, folder: Path) -> list[str]:
    """As its documentation shows, with all processors."""
    bands = ["--b", str(given.bands), "--r", str(given.rows)] if given.bands else []
    return [
        *(sys.executable, "-m", "text_dedup.minhash"),
        *("--path", "parquet", "--data_files", str(folder / "words.parquet"), "--split", "train"),
        *("--cache_dir", str(folder / "cache"), "--output", str(folder / "kept")),
        *("--column", "text", "--batch_size", "10000", "--num_proc", str(given.processes)),
        *("--ngram", str(given.size), "--num_perm", str(given.num_perm), "--threshold", str(given.threshold)),
        *("--min_length", "0", *bands),
    ]


def kept(folder: Path) -> set[int]:
    """The numbers in the dataset that was written."""
    found: set[int] = set()
    for file in folder.glob("data-*.arrow"):
        with pa.ipc.open_stream(pa.memory_map(str(file))) as reader:
            for batch in reader:
                found.update(batch.column("number").to_pylist())
    return found


if __name__ == "__main__":
    given = task()
    folder = Path(given.folder)
    num_documents = prepare(given, folder / "words.parquet")
    subprocess.run(command(given, folder), check=True)
    given.answered(sorted(set(range(num_documents)) - kept(folder / "kept")))
