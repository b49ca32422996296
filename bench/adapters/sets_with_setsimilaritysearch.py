"""SetSimilaritySearch's exact join, in its own environment: sets threshold pairs.npy; prints CPU seconds."""

import sys
from itertools import pairwise
from time import process_time

import numpy as np
from SetSimilaritySearch import all_pairs

given = np.fromfile(sys.argv[1], np.int64).tolist()
offsets, items = given[1 : given[0] + 2], given[given[0] + 2 :]
sets = [items[start:end] for start, end in pairwise(offsets)]
began = process_time()
found = [pair[:2] for pair in all_pairs(sets, "jaccard", float(sys.argv[2]))]
seconds = process_time() - began
np.save(sys.argv[3], np.array(found, np.int64).reshape(-1, 2))
print(seconds)
