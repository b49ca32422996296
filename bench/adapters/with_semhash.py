"""semhash: documents whose embeddings are close; it knows no shingles, and its model comes from a hub."""

from _task import task, texts
from semhash import SemHash

if __name__ == "__main__":
    given = task()
    records = [{"number": number, "text": text} for number, text in enumerate(texts(given.file))]
    found = SemHash.from_records(records, columns=["text"]).self_deduplicate()  # its own threshold, of cosine
    kept = {record["number"] for record in found.selected}
    given.answered([number for number in range(len(records)) if number not in kept])
