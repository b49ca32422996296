"""datatrove: its decontamination by n-grams; the documents that its filter drops, and the seconds of the first few.

It is given the words of truth.py by a tokenizer of its own kind, which is faster than what it would load for English;
its normalisation and everything else stay as they are. Its index is made as `NGramsDecontIndexer.run` makes one, but
without `lighteval`, which that function loads for benchmarks from the network.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from _datatrove_words import Words
from _task import texts
from datatrove.data import Document
from datatrove.pipeline.decont import NGramsDecontConfig, NGramsDecontFilter, NGramsDecontIndexer


def main(evals: str, documents: str, home: str, answer: str, *, queries: bool, timed: int) -> None:  # noqa: PLR0913  (what the command line says)
    """Make the index, and filter."""
    config = NGramsDecontConfig(find_query_ngrams=queries)
    NGramsDecontIndexer._requires_dependencies = []  # noqa: SLF001  (only benchmarks from the network need it)
    indexer = NGramsDecontIndexer(home, config=config, language=Words())
    hashes = set()
    for item in pq.read_table(evals).to_pylist():
        hashes.update(indexer.compute_hashes(item["label"], item["query"]))
    np.array(list(hashes), config.hash_config.np_descr).tofile(Path(home) / "made.index.hashes")
    keep = NGramsDecontFilter(home, config=config, language=Words())
    keep.load_index_hashes()
    dropped, seconds = [], 0.0
    for number, text in enumerate(texts(documents)):
        document, began = Document(text=text, id=str(number)), time.thread_time()
        if keep.filter(document) is not True:
            dropped.append(number)
        seconds += time.thread_time() - began if number < timed else 0
    Path(answer).write_text(json.dumps({"dropped": dropped, "seconds": seconds}), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:5], queries=sys.argv[5] == "queries", timed=int(sys.argv[6]))
