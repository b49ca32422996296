"""`pairs` of texts by the nearsame that is on the path: texts.parquet number method settings; prints seconds, pairs."""

import json
import sys
from time import process_time

import pyarrow.parquet as pq

import nearsame as ns

path, number, method, settings = sys.argv[1:]
table = pq.read_table(path).slice(0, int(number)).combine_chunks()
recipe = {"jaccard": ns.Jaccard, "minhash": ns.MinHash}[method](**json.loads(settings))
ns.pairs(table.slice(0, 200), method=recipe, threads=1, audit=False)
began = process_time()
found = ns.pairs(table, method=recipe, threads=1, audit=False).pairs
print(json.dumps({"seconds": process_time() - began, "pairs": found.num_rows}))
