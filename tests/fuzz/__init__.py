"""Fuzzing against brute force: whole runs over random tiny corpora, held to the slow twins in tests/oracle.

1. A case is made from one number, its seed, and nothing else: the same seed is the same case, today and next year's.
2. What a case asks for is drawn from all options of all methods; how it is run (threads, batches, memory, files) must
   change nothing.
3. Exact methods answer as brute force does, to the last bit. MinHash finds nothing wrong, and over all cases misses no
   more than it promises. Estimates keep what they say of their own measure.
"""
