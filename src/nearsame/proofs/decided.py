"""What people have decided about pairs, as the recipe records it: whether the output obeys it, and counts it rightly.

1. What is told of two documents is told of all of their group that are compared by the same; of two that are, of these
   alone.
2. A chosen document comes before all others, one that another was chosen over behind that one.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nearsame.named import NamedTuple
from nearsame.proofs.measures import Judge, rounded

__all__ = ["Decided", "decision_problems"]

_FIELDS = {"id1", "id2", "label", "keep", "note"}
_LABELS = ("yes", "no", "unknown")
_COUNTED = ("jaccard", "cosine", "digest")  # methods that find all pairs, and whose pairs have no direction
_SHOWN = 5


def decision_problems(recorded: Any) -> bool:
    """Whether decisions are not as a run records them."""
    return not isinstance(recorded, list) or not all(map(_is_decision, recorded))


def _is_decision(one: Any) -> bool:
    if not isinstance(one, dict) or not {"id1", "id2", "label"} <= one.keys() <= _FIELDS:
        return False
    is_text = all(isinstance(value, str) for value in one.values())
    return is_text and one["label"] in _LABELS and one["id1"] != one["id2"] and one.get("keep", one["id1"]) in (
        one["id1"], one["id2"]
    )  # fmt: skip


class _Document(NamedTuple):
    key: int
    content: Any
    against: bool
    group: Any


Pairs = list[tuple[_Document, _Document]]


@dataclass
class Decided:
    """The decisions of a run, and the documents that they are about."""

    recipe: Mapping[str, Any]
    judge: Judge
    _found: dict[str, list[_Document]] = field(default_factory=dict)
    _kept: dict[Hashable, list[_Document]] = field(default_factory=dict)

    @cached_property
    def are_there(self) -> bool:
        """Whether there are any."""
        return bool(self._all)

    @property
    def _knows_like(self) -> bool:
        """Whether it is known here who is like two documents: with layers they are in one, and codes are not made."""
        return "use" not in self.recipe and self.recipe["method"] != "simhash"

    @property
    def _has_groups(self) -> bool:
        return self.recipe.get("group_by") is not None

    @property
    def _all(self) -> list[dict[str, str]]:
        return list(self.recipe.get("decisions", []))

    @cached_property
    def _named(self) -> set[str]:
        return {one[name] for one in self._all for name in ("id1", "id2")}

    def see(self, name: str, key: int, content: Any, *, against: bool, group: Any) -> None:
        """A document, and what it is called: all come before anything is asked."""
        if name in self._named:
            self._found.setdefault(name, []).append(_Document(key, content, against, group))

    def settle(self, settled: Callable[[Any], Any]) -> None:
        """What groups are, once all have been read."""
        for several in self._found.values():
            several[:] = [one._replace(group=settled(one.group)) for one in several]

    def see_kept(self, key: int, content: Any, *, against: bool, group: Any) -> None:
        """A document that stays."""
        if self.are_there and (token := self._token(content, group)) in self._tokens:
            self._kept.setdefault(token, []).append(_Document(key, content, against, group))

    def apart(self, key: int, content: Any, other: int, other_content: Any, group: Any) -> bool:
        """Whether two documents of one group were told apart."""
        if not self._apart:
            return False
        if frozenset((key, other)) in self._told_of_two:
            return True
        if not self._knows_like or (group is None and self._has_groups):  # groups may not be read here
            return False
        one, two = self._token(content, group), self._token(other_content, group)
        return one != two and frozenset((one, two)) in self._told_of_all

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each document that was chosen, by its key."""
        winners = {winner.key for winner, _ in self._chosen}
        over = [(winner.key, loser.key) for winner, loser in self._chosen if loser.key in winners]
        places = dict.fromkeys(winners, 0)
        for _ in winners:
            for winner, loser in over:
                places[loser] = max(places[loser], places[winner] + 1)
        return places

    def counts(self, goes: Callable[[int], bool]) -> dict[str, Any]:
        """What statistics must say of them, as far as it can be known here; `goes`: whether a key is removed."""
        labels = [one["label"] for one in self._all]
        lost = [one for one in self._all if _matters(one) and not all(self._one(one[n]) for n in ("id1", "id2"))]
        ordered = sorted(lost, key=lambda one: one["label"] != "no")
        names = [sorted((one["id1"], one["id2"])) if one["label"] == "no" else _by_choice(one) for one in ordered]
        missing = list(dict.fromkeys(name for both in names for name in both if self._one(name) is None))
        counted: dict[str, Any] = {
            "read": len(labels),
            "confirmed": labels.count("yes"),
            "unsure": labels.count("unknown"),
        }
        counted |= {"lost": len(lost), "lost_ids": missing[:_SHOWN]}
        won = [not goes(winner.key) and goes(loser.key) for winner, loser in self._chosen]
        counted["chosen"] = sum(won)
        if self.recipe["method"] not in _COUNTED or self.recipe.get("frequencies") is not None or "use" in self.recipe:
            return counted
        if self._has_groups and any(one.group is None for several in self._found.values() for one in several):
            return counted
        similar = [self._meet(*pair) and self._similar(*pair) for pair in self._chosen]
        apart = [pair for pair in self._apart if self._similar(*pair)]
        over = sum(is_similar and not is_won for is_similar, is_won in zip(similar, won, strict=True))
        return counted | {
            "apart": len(apart),
            "not_similar": len(self._apart) - len(apart) + len(won) - sum(won) - over,
            "overruled": over,
            "both_kept": len(set(self._exceptions(apart, goes))),
        }

    @cached_property
    def _apart(self) -> Pairs:
        return self._pairs((one["id1"], one["id2"]) for one in self._all if one["label"] == "no")

    @cached_property
    def _chosen(self) -> Pairs:
        return self._pairs(map(_by_choice, (one for one in self._all if one.get("keep") and one["label"] != "no")))

    def _pairs(self, names: Iterator[tuple[str, str]]) -> Pairs:
        both = ((self._one(a), self._one(b)) for a, b in names)
        return [(a, b) for a, b in both if a is not None and b is not None]

    def _one(self, name: str) -> _Document | None:
        """The document of an id, where there is one and no other."""
        found = self._found.get(name, [])
        return found[0] if len(found) == 1 else None

    @cached_property
    def _told_of_two(self) -> set[frozenset[int]]:
        return {frozenset((a.key, b.key)) for a, b in self._apart}

    @cached_property
    def _told_of_all(self) -> set[frozenset[Hashable]]:
        return {frozenset(self._token(one.content, one.group) for one in pair) for pair in self._apart}

    @cached_property
    def _tokens(self) -> set[Hashable]:
        return {self._token(document.content, document.group) for pair in self._apart for document in pair}

    def _token(self, content: Any, group: Any) -> Hashable:
        """What documents are compared by, those of one group."""
        of = None if group is None else tuple(group)
        if not isinstance(content, str) and self.recipe["method"] in ("codes", "hyperplane"):
            return of, tuple(rounded(content) if self.recipe["method"] == "hyperplane" else content or ())
        return of, frozenset(self.judge.items(content)) if content else frozenset(), self.judge.letters(content or "")

    def _similar(self, a: _Document, b: _Document) -> bool:
        """Whether two are as similar as the recipe asks."""
        if not a.content or not b.content or a.group != b.group:
            return False
        value = self.judge.similarity(self.recipe["method"], a.content, b.content)
        return value is not None and value >= self.judge.least and not self.judge.unconfirmed(a.content, b.content)

    def _meet(self, a: _Document, b: _Document) -> bool:
        across = a.against != b.against
        return a.group == b.group and (across or (not a.against and bool(self.recipe["within"])))

    def _exceptions(self, apart: Pairs, goes: Callable[[int], bool]) -> Iterator[frozenset[int]]:
        """Similar documents that both stay."""
        for a, b in apart:
            one, two = (self._token(document.content, document.group) for document in (a, b))
            sides = ([a], [b]) if one == two else (self._kept.get(one, []), self._kept.get(two, []))
            yield from (frozenset((x.key, y.key)) for x in sides[0] for y in sides[1]
                        if self._meet(x, y) and not goes(x.key) and not goes(y.key))  # fmt: skip


def _matters(one: Mapping[str, str]) -> bool:
    return one["label"] == "no" or bool(one.get("keep"))


def _by_choice(one: Mapping[str, str]) -> tuple[str, str]:
    return one["keep"], one["id1"] if one["keep"] == one["id2"] else one["id2"]
