"""SetSimilaritySearch's exact join, in its own environment: sets.npz threshold pairs.npy; prints CPU seconds."""

import sys
from itertools import pairwise
from time import process_time

import numpy as np
from SetSimilaritySearch import all_pairs

given = np.load(sys.argv[1])
items, offsets = given["items"].tolist(), given["offsets"].tolist()
sets = [items[start:end] for start, end in pairwise(offsets)]
began = process_time()
found = [pair[:2] for pair in all_pairs(sets, "jaccard", float(sys.argv[2]))]
seconds = process_time() - began
np.save(sys.argv[3], np.array(found, np.int64).reshape(-1, 2))
print(seconds)
