"""gaoya: MinHashStringIndex on all processors; of the documents that its queries name as similar the first stays.

Its own words are what stands between white space. To have the same words as the others it is given texts of words with
a blank between them; with `own_words`, the raw texts.
"""

from _task import task, texts, words
from gaoya.minhash import MinHashStringIndex

BATCH = 10_000

if __name__ == "__main__":
    given = task()
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=given.threshold,
        num_bands=given.bands,
        band_size=given.rows,
        num_hashes=given.num_perm,
        analyzer="word",
        lowercase=given.own_words,
        ngram_range=(given.size, given.size),
    )
    documents = [text if given.own_words else " ".join(words(text)) for text in texts(given.file)]
    index.par_bulk_insert_docs(list(range(len(documents))), documents)
    removed: set[int] = set()
    for start in range(0, len(documents), BATCH):
        for number, similar in enumerate(index.par_bulk_query(documents[start : start + BATCH]), start):
            if any(other < number and other not in removed for other in similar):
                removed.add(number)
    given.answered(sorted(removed))
