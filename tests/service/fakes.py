"""An index of a few lines, for what is about the service and not about similarity: slow, failing or just obliging."""

import threading
from contextlib import contextmanager

from nearsame.answers.matches import Added, Entry, Group, IndexStats, Likeness, Match, Matches
from nearsame.errors import UnknownIdError
from nearsame.index.columns import conditions, passes
from nearsame.recipes.methods import MinHash


class Shelf:
    """What several connections to one fake index share."""

    def __init__(self, *, store="text"):
        self.documents: dict[str, dict] = {}
        self.store = store
        self.lock = threading.RLock()
        self.transactions: list[int] = []
        self.questions: list[int] = []  # how many were asked together
        self.gate = threading.Event()
        self.gate.set()
        self.arrived = 0  # how many calls have come to the gate
        self.closed = 0

    def open(self, *, read_only):
        """A connection."""
        return FakeIndex(self)

    def pass_gate(self):
        """Wait until it is open."""
        with self.lock:
            self.arrived += 1
        self.gate.wait()


class FakeIndex:
    """Similarity is that of sets of words, at 0.5."""

    def __init__(self, shelf):
        self.shelf = shelf

    @contextmanager
    def transaction(self):
        """Nothing fails here."""
        yield

    def add(self, documents, *, if_new=False, replace=False, limit=10):
        """All or nothing: a text of `fail` fails."""
        self.shelf.pass_gate()
        if any("fail" in each.get("text", "").split() for each in documents):
            raise ValueError(documents[0]["text"])
        with self.shelf.lock:
            self.shelf.transactions.append(len(documents))
            return [self._add(each, if_new, replace, limit) for each in documents]

    def _add(self, document, if_new, replace, limit):
        id = document.get("id", f"sha256:{abs(hash(document.get('text'))):032x}")
        matches = tuple(self._matches(document.get("text", ""), limit))
        old = self.shelf.documents.get(id)
        if old is not None and not replace:
            return Added(id, False, "present" if old.get("text") == document.get("text") else "conflict", matches)
        if if_new and matches:
            return Added(id, False, "resembles", matches)
        self.shelf.documents[id] = dict(document, id=id)
        return Added(id, True, "replaced" if old else "added", matches)

    def _matches(self, text, limit, but=None, where=None):
        chosen = conditions(where, ["lang"])
        words = set(text.split())
        found = []
        for id, other in list(self.shelf.documents.items()):
            others = set(other.get("text", "").split())
            union = words | others
            share = len(words & others) / len(union) if union else 0
            columns = other.get("columns", {})
            if id != but and share >= 0.5 and passes(chosen, columns):
                found.append(Match(id, share, "jaccard", ("minhash",), url=other.get("url"), columns=columns))
        return Matches(sorted(found, key=lambda match: -match.similarity)[:limit])

    def query(self, documents, *, limit=10, threshold=None, where=None):
        """The best first."""
        self.shelf.pass_gate()
        texts = [each if isinstance(each, str) else each.get("text", "") for each in documents]
        if "fail" in texts:
            raise ValueError(texts)
        self.shelf.questions.append(len(texts))
        return [self._matches(text, limit, where=where) for text in texts]

    def remove(self, ids):
        """How many were there."""
        return int(self.shelf.documents.pop(ids, None) is not None)

    def get(self, id):
        """A document."""
        if id not in self.shelf.documents:
            raise UnknownIdError(f"{id}: no such document")
        found = self.shelf.documents[id]
        return Entry(id, found.get("url"), text=found.get("text") if self.shelf.store == "text" else None)

    def text(self, id):
        """Its text."""
        return self.get(id).text

    def ids(self, *, after=None, limit=None, containing=""):
        """In the order in which they were added."""
        every = list(self.shelf.documents)
        first = 0 if after is None else every.index(self.get(after).id) + 1
        return iter([id for id in every[first:] if containing in id][:limit])

    def _records(self, after, number, limit, *, settled):
        return self.records(after=after, number=number, limit=limit)

    def records(self, *, after=None, number=0, limit=1000):
        """As they are stored."""
        every = list(enumerate(self.shelf.documents.values(), 1))
        start = number if after is None else list(self.shelf.documents).index(self.get(after).id) + 1
        return every[start:][:limit]

    def duplicates(self, id, *, limit=10, where=None):
        """What resembles it."""
        return self._matches(self.shelf.documents[self.get(id).id].get("text", ""), limit, id, where)

    def compare(self, a, b):
        """Without texts."""
        self.get(a), self.get(b)
        return Likeness(a, b, 0.5, "jaccard", 0.5, ("minhash",), None, True)

    def clusters(self, *, limit=20, offset=0, members=10):
        """Each document with those that resemble it."""
        found = [(id, [m.id for m in self.duplicates(id)]) for id in list(self.shelf.documents)]
        groups = [Group(id, 1 + len(others), (id, *others)) for id, others in found if others]
        return sorted(groups, key=lambda group: -group.size)[offset:][:limit]

    def grouped(self):
        """Counted."""
        groups = self.clusters(limit=None)
        return len(groups), sum(group.size for group in groups)

    def stats(self):
        """Counted."""
        return IndexStats("/x", len(self.shelf.documents), 4096, 1.0, self.shelf.store, (MinHash().record(),), 19, "1")

    def close(self):
        """Counted, too."""
        self.shelf.closed += 1
