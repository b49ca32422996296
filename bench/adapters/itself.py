"""nearsame, driven as the peers are: from raw text in a Parquet file to the numbers of the documents to remove."""

import json
import sys
from pathlib import Path

import nearsame as ns

METHODS = {"jaccard": ns.Jaccard, "minhash": ns.MinHash}

if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    method = METHODS[given["method"]](threshold=given["threshold"])
    found = ns.dedup(given["file"], method=method, threads=given["threads"], audit=False)
    removed = [int(number) for number in found.removals.column("id").to_pylist()]
    Path(given["answer"]).write_text(json.dumps(removed), "utf-8")
