"""A sample of the documents that stay, each compared with all others that stay.

1. The sample is drawn by a keyed hash of places: repeatable, and nobody can write an output for it without the key.
2. An index from items to sampled documents makes one pass over the rest enough.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappush, heappushpop
from typing import Any

from nearsame.proofs.claims import key_of
from nearsame.proofs.decided import Decided
from nearsame.proofs.files import Part
from nearsame.proofs.measures import Judge, cosine_of_sets
from nearsame.proofs.verdict import Findings, Residual

__all__ = ["Sample", "is_asked"]

_BY_SETS = ("jaccard", "cosine", "containment", "minhash")


def is_asked(recipe: Mapping[str, Any]) -> bool:
    """Whether a recipe says something of two documents that both stay that can be seen from these alone."""
    if "use" in recipe and recipe.get("decisions"):
        return False  # what was decided of a document is, in later layers, about the one that it went for
    if "use" in recipe and "text" not in recipe["use"]:
        return "digest" in recipe["use"]
    if recipe["method"] == "minhash":
        return bool(recipe["verify"] == "exact")
    return recipe["method"] in (*_BY_SETS, "digest") and recipe.get("frequencies") is None


@dataclass
class Sample:
    """The sample, and what its documents were compared with.

    Attributes:
        size: how many are drawn, at most.
        seed: of the draw.
        judge: of two documents.
        within: whether two documents of the judged side count.
        decided: what people have decided.
        layers: whether equal texts are all that counts.
    """

    size: int
    seed: int
    judge: Judge
    within: bool
    decided: Decided
    _drawn: list[tuple[int, int, Any]] = field(default_factory=list)  # a heap: least first of negated hashes
    _index: dict[Any, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    _places: list[tuple[int, str, int]] = field(default_factory=list)
    _names: dict[int, tuple[str, int]] = field(default_factory=dict)
    _contents: list[Any] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _similar: set[int] = field(default_factory=set)
    _told: set[tuple[int, int]] = field(default_factory=set)
    compared: int = 0

    def offer(self, part: Part, position: int, content: Any, group: Any = None) -> None:
        """A document that stays, of the judged side, and its group."""
        if not content or not self.size:
            return
        key = key_of(part.number, position)
        hashed = hashlib.blake2b(f"{self.seed}:{key}".encode(), digest_size=8).digest()
        entry = (-int.from_bytes(hashed, "big"), key, (content, group))
        if len(self._drawn) < self.size:
            heappush(self._drawn, entry)
        elif entry > self._drawn[0]:
            key = heappushpop(self._drawn, entry)[1]
            self._names.pop(key, None)
            key = entry[1]
        else:
            return
        self._names[key] = part.name, position

    def draw(self, settled: Callable[[Any], Any]) -> None:
        """Index what was drawn, once all was offered, and it is known what its groups are."""
        for number, (_, key, document) in enumerate(sorted(self._drawn, key=lambda entry: entry[1])):
            items = self._items(document[0], settled(document[1]))
            self._places.append((key, *self._names[key]))
            self._contents.append(document[0])
            self._sizes.append(_squares(items))
            for item, weight in items.items():
                self._index[item].append((number, weight))

    def compare(
        self, part: Part, position: int, document: tuple[Any, Any], findings: Findings, *, may_miss: bool
    ) -> None:
        """Compare the sampled documents with one that stays: its content, and its group."""
        items = self._items(*document) if document[0] else {}
        self.compared += 1
        shared: Counter[int] = Counter()  # how many, or of weights their products
        for item in items.keys() & self._index.keys():
            for number, weight in self._index[item]:
                shared[number] += weight * items[item]
        key = key_of(part.number, position)
        for number, common in shared.items():
            own, name, row = self._places[number]
            if own == key or not (part.against or self.within):
                continue
            value = self._similar_by(common, self._sizes[number], _squares(items), against=part.against)
            if value is None or self.judge.unconfirmed(self._contents[number], document[0]):
                continue
            if self.decided.apart(own, self._contents[number], key, *document):
                continue
            pair = (min(own, key), max(own, key))
            if pair not in self._told and not may_miss:
                first, second = sorted([(own, f"{name}, record {row}"), (key, f"{part.name}, record {position}")])
                what = f"{first[1]}, and {second[1]}, both stay, and are {float(value):g} similar"
                findings.wrong("kept/", what)
                self._told.add(pair)
            self._similar.add(number)

    def residual(self, *, may_miss: bool) -> Residual:
        """What came of it."""
        return Residual(len(self._places), self.compared, len(self._similar), may_miss)

    def _items(self, content: Any, group: Any) -> Mapping[Any, int]:
        """What two documents have in common if they are similar, and what it weighs; of two groups, nothing."""
        recipe = self.judge.recipe
        if recipe["method"] in _BY_SETS and "text" in recipe.get("use", ("text",)):
            items = self.judge.weighed(content)
        else:
            plain = recipe["method"] == "digest" and recipe.get("normalise")
            items = {self.judge.cut.words(content) if plain else content: 1}
        return items if group is None else {(group, item): weight for item, weight in items.items()}

    def _similar_by(self, common: int, own: int, other: int, *, against: bool) -> Fraction | None:
        """The similarity that should have removed one of two; None: it is too low."""
        recipe, whole = self.judge.recipe, Fraction(common, own + other - common)
        by_text = "text" in recipe.get("use", ("text",))
        if recipe["method"] == "cosine" and by_text:
            whole = cosine_of_sets(common, own, other, self.judge.least)
        if recipe["method"] != "containment" or not by_text:
            return whole if whole >= (self.judge.least if recipe["method"] in _BY_SETS else 1) else None
        inside = Fraction(common, own if against else min(own, other))
        if recipe["remove"] == "container":
            inside = Fraction(common, other) if against else Fraction(0)
        return inside if inside >= self.judge.least else None


def _squares(items: Mapping[Any, int]) -> int:
    """What the squares of weights come to: of a plain set its size."""
    return sum(weight * weight for weight in items.values())
