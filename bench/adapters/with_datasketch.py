"""datasketch: MinHash and MinHashLSH; a document goes if the index has a candidate for it, else it joins the index."""

from _task import shingles, task, texts
from datasketch import MinHash, MinHashLSH

if __name__ == "__main__":
    given = task()
    params = (given.bands, given.rows) if given.bands and given.rows else None
    index = MinHashLSH(threshold=given.threshold, num_perm=given.num_perm, params=params)
    sets = ([shingle.encode() for shingle in shingles(text, given.size)] for text in texts(given.file))
    removed = []
    for number, sketch in enumerate(MinHash.generator(sets, num_perm=given.num_perm)):
        if index.query(sketch):
            removed.append(number)
        else:
            index.insert(number, sketch)
    given.answered(removed)
