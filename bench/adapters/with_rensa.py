"""rensa: full RMinHash sketches and RMinHashDeduplicator, which checks candidates by the sketches' estimate."""

from _task import shingles, task, texts
from rensa import RMinHashDeduplicator

if __name__ == "__main__":
    given = task()
    index = RMinHashDeduplicator(
        threshold=given.threshold, num_perm=given.num_perm, use_lsh=True, num_bands=given.bands
    )
    pairs = ((str(number), shingles(text, given.size)) for number, text in enumerate(texts(given.file)))
    kept = index.add_pairs(pairs)
    given.answered([number for number, stays in enumerate(kept) if not stays])
