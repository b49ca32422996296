"""Whatever is done to an index, it is a dict of texts that are compared one by one.

1. The recipe misses nothing: 128 bands of one value each, and the threshold is a half.
2. A crash is a copy of the files as they are while the index is open: what a power cut leaves.
"""

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import nearsame as ns
from tests.examples import share
from tests.oracle.measures import jaccard
from tests.oracle.shingles import features

THRESHOLD = Fraction(1, 2)
METHODS = [ns.MinHash(threshold="0.5", shingle_size=1, bands=128, rows=1), "digest"]
IDS = st.sampled_from([f"id{number}" for number in range(12)])
TEXTS = st.one_of(
    st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=1, max_size=6).map(" ".join),
    st.sampled_from(["", "...", "!!", "A b", "a  B!"]),
)
DOCUMENT = st.fixed_dictionaries({"id": IDS, "text": TEXTS}, optional={"lang": st.sampled_from(["de", "en"])})
DOCUMENTS = st.lists(DOCUMENT, min_size=1, max_size=4)
CONDITIONS: dict[Any, set[str | None]] = {
    None: {"de", "en", None},
    "lang=en": {"en"},
    "lang!=en": {"de", None},
    ("lang=en|de", "lang>=e"): {"en"},
    "lang=": {None},
}


class Model:
    """The obvious index: every document compared with every other."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}  # in the order of adding
        self.langs: dict[str, str | None] = {}
        self.leaders: dict[str, str | None] = {}

    def similar(self, text: str) -> list[tuple[Fraction, str]]:
        """What resembles a text, best first, the oldest first among equals."""
        own = features(text, size=1)
        found = []
        for number, (name, other) in enumerate(self.texts.items()):
            theirs = features(other, size=1)
            if own and theirs and (value := jaccard(own, theirs)) >= THRESHOLD:
                found.append((-value, number, name))
        return [(-value, name) for value, _, name in sorted(found)]

    def follow(self, name: str, text: str, pending: set[str]) -> None:
        """Let a document follow the most similar one that follows nobody."""
        able = [each for _, each in self.similar(text) if each != name and each not in pending]
        self.leaders[name] = next((each for each in able if self.leaders[each] is None), None)

    def add(self, document: dict[str, str], *, if_new: bool, replace: bool) -> str:
        """What becomes of a document."""
        name, text = document["id"], document["text"]
        status = "added"
        if name in self.texts:
            same = (self.texts[name], self.langs[name]) == (text, document.get("lang"))
            if same or not replace:
                return "present" if same else "conflict"
            self.remove([name])
            status = "replaced"
        elif if_new and self.similar(text):
            return "resembles"
        self.follow(name, text, set())
        self.texts[name], self.langs[name] = text, document.get("lang")
        return status

    def remove(self, names: list[str]) -> int:
        """Take documents out; whoever followed them follows another."""
        gone = {name for name in names if self.texts.pop(name, None) is not None}
        orphans = [name for name in self.texts if self.leaders[name] in gone]
        for name in gone:
            del self.leaders[name]
        pending = set(orphans)
        for name in orphans:
            self.follow(name, self.texts[name], pending)
            pending.remove(name)
        return len(gone)

    def groups(self) -> set[tuple[str, frozenset[str]]]:
        """Leaders with those who follow them."""
        leaders = {leader for leader in self.leaders.values() if leader is not None}
        return {
            (each, frozenset(n for n, leader in self.leaders.items() if leader == each) | {each}) for each in leaders
        }


class Machine(RuleBasedStateMachine):
    """An index and its model."""

    store = "shingles"

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.number = 0
        self.model = Model()
        self.index = ns.Index.create(self.place, method=METHODS, store=self.store, keep_columns=["lang"])

    @property
    def place(self) -> Any:
        """Where the index is now."""
        return self.folder / f"{self.number}.ns"

    @property
    def beside(self) -> Any:
        """Where another one may be."""
        return self.folder / "built.ns"

    def teardown(self) -> None:
        """Leave nothing."""
        self.index.close()
        shutil.rmtree(self.folder)

    @rule(documents=DOCUMENTS, if_new=st.booleans())
    def add(self, documents: list[dict[str, str]], if_new: bool) -> None:
        """Each with the right status and the right matches, in order."""
        for document, found in zip(documents, self.index.add(documents, if_new=if_new, limit=50), strict=True):
            similar = [(float(value), name) for value, name in self.model.similar(document["text"])]
            status = self.model.add(document, if_new=if_new, replace=False)
            if status in ("present", "conflict"):
                similar = [each for each in similar if each[1] != document["id"]]
            assert (document["id"], status) == (found.id, found.status)
            assert similar == [(match.similarity, match.id) for match in found.matches]
            assert found.added == (status == "added")

    @rule(document=DOCUMENT)
    def replace(self, document: dict[str, str]) -> None:
        """The old one makes way."""
        [found] = self.index.add(document, replace=True)
        assert self.model.add(document, if_new=False, replace=True) == found.status

    @rule(names=st.lists(IDS, min_size=1, max_size=3, unique=True))
    def remove(self, names: list[str]) -> None:
        """As many as were there."""
        assert self.model.remove(names) == self.index.remove(names)

    @rule(text=TEXTS, limit=st.integers(1, 20), where=st.sampled_from([*CONDITIONS]))
    def query(self, text: str, limit: int, where: Any) -> None:
        """The best of those that are similar and fulfil a condition, with the evidence that holds."""
        similar = [(float(value), name) for value, name in self.model.similar(text)]
        expected = [each for each in similar if self.model.langs[each[1]] in CONDITIONS[where]][:limit]
        found = self.index.query(text, limit=limit, where=where)
        assert expected == [(match.similarity, match.id) for match in found]
        for match in found:
            assert self.model.langs[match.id] == match.columns.get("lang")
            assert (self.model.texts[match.id] == text) == match.same_bytes

    @rule(name=IDS)
    def duplicates(self, name: str) -> None:
        """What a document resembles, without itself."""
        if name in self.model.texts:
            expected = [each for _, each in self.model.similar(self.model.texts[name]) if each != name]
            assert expected == [match.id for match in self.index.duplicates(name, limit=50)]

    @rule(documents=DOCUMENTS, names=st.lists(IDS, max_size=2, unique=True))
    def undone(self, documents: list[dict[str, str]], names: list[str]) -> None:
        """Nothing of a transaction that fails stays."""
        try:
            with self.index.transaction():
                self.index.add(documents)
                self.index.remove(names)
                self.index.remove("never", missing_ok=False)
        except ns.UnknownIdError:
            pass

    @rule()
    def reopen(self) -> None:
        """Closed, and opened again."""
        self.index.close()
        self.index = ns.Index.open(self.place)

    @rule()
    def crash(self) -> None:
        """The files as they are, without closing; the index goes on from there."""
        before = self.place
        self.number += 1
        for ending in ("", "-wal"):
            if Path(f"{before}{ending}").exists():
                shutil.copy(f"{before}{ending}", f"{self.place}{ending}")
        self.index.close()
        self.index = ns.Index.open(self.place)

    @precondition(lambda self: self.model.texts)
    @rule()
    def rebuild(self) -> None:
        """Built in one go from its documents: the same answers."""
        langs = self.model.langs
        source = [{"id": name, "text": text, "lang": langs[name]} for name, text in self.model.texts.items()]
        source.append({"id": "last", "text": "something else", "lang": "en"})
        made = {"method": METHODS, "store": self.store, "keep_columns": "lang"}
        with ns.Index.create(self.beside, **made, source=source, overwrite=True) as built:
            built.remove("last")
            assert [] == built.check()
            texts = list(self.model.texts.values())
            for where in CONDITIONS:
                assert self.index.query(texts, limit=50, where=where) == built.query(texts, limit=50, where=where)

    @invariant()
    def is_whole(self) -> None:
        """Every invariant holds, the same documents are there, grouped alike."""
        assert [] == self.index.check()
        assert list(self.model.texts) == list(self.index.ids())
        assert len(self.model.texts) == self.index.stats().documents
        groups = {(group.id, frozenset(group.members)) for group in self.index.clusters(limit=50, members=50)}
        assert self.model.groups() == groups


class MachineWithTexts(Machine):
    """The same where texts are stored."""

    store = "text"


class MachineAtLength(Machine):
    """The same for longer."""


Machine.TestCase.settings = settings(max_examples=share(15), stateful_step_count=15, deadline=None)
MachineWithTexts.TestCase.settings = settings(max_examples=share(8), stateful_step_count=10, deadline=None)
TestIndex = Machine.TestCase
MachineAtLength.TestCase.settings = settings(max_examples=share(150), stateful_step_count=40, deadline=None)
TestIndexWithTexts = MachineWithTexts.TestCase
TestIndexAtLength = pytest.mark.slow(MachineAtLength.TestCase)
