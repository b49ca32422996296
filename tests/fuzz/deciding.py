"""Runs with decisions, held to what the rule says document by document: no classes of equals, no layers, no blocks.

1. A case is its seed: one of `cases`, with pairs that are told apart, pairs with a choice, and at times groups.
2. Looked at are who goes and for whom, at a higher threshold too, what is counted, and that the output is proved.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import nearsame as ns
from nearsame.errors import ConfigError
from tests.fuzz.cases import METHODS, Case, made
from tests.fuzz.holding import is_free, row_of, settings_of, sources_of, tightly
from tests.fuzz.truths import Truth, truth
from tests.oracle.apart import chosen_first, is_apart
from tests.oracle.components import components
from tests.oracle.measures import containment, jaccard

__all__ = ["Decided", "decided", "wrong_with"]

Pair = tuple[int, int]
_FEW = (0, 1, 2, 5, 50)


@dataclass(frozen=True)
class Decided:
    """A case, and what was decided of its documents, by row.

    Attributes:
        case: what is asked.
        apart: pairs that were told apart.
        chosen: pairs of which the first is to stay.
        others: pairs of which something was said that changes nothing.
    """

    case: Case
    apart: Sequence[Pair]
    chosen: Sequence[Pair]
    others: Sequence[Pair]

    def records(self) -> list[dict[str, str]]:
        """The same as it is given to a run."""
        ids = self.case.ids
        told = [({"label": "no"}, self.apart), ({"label": "yes"}, self.others)]
        records = [{"id1": ids[a], "id2": ids[b], **said} for said, pairs in told for a, b in pairs]
        return records + [{"id1": ids[b], "id2": ids[a], "keep": ids[a]} for a, b in self.chosen]

    def is_a_circle(self) -> bool:
        """Whether each of several was chosen over another of them."""
        left = set(self.chosen)
        while free := {pair for pair in left if all(winner != pair[1] for winner, _ in left)}:
            left -= free
        return bool(left)


def decided(seed: int) -> Decided:
    """The case of a seed."""
    random = Random(f"decided {seed}")
    case = made(seed, (random.choice(METHODS),))
    asked = {name: value for name, value in case.asked.items() if name != "use"}
    if case.question != "dedup":
        asked = {"keep": random.choice(["first", "last"])}
        if case.num_against is not None and random.random() < 0.4:
            asked["within"] = False
        if case.name in ("jaccard", "cosine") and random.random() < 0.4:
            asked["clusters"] = "components"
    recipe = {name: value for name, value in case.recipe.items() if case.question == "dedup" or name != "remove"}
    columns, num = dict(case.columns), len(case.documents)
    if case.name != "simhash" and "clusters" not in asked and random.random() < 0.3:
        columns["group"], asked["group_by"] = [random.choice((0, 0, 1)) for _ in range(num)], "group"
    ids = [f"d{row}" for row in range(num)]
    case = replace(case, question="dedup", asked=asked, recipe=recipe, columns=columns, ids=ids)
    return Decided(case, *_pairs(case, random) if num > 1 else ([], [], []))


def _pairs(case: Case, random: Random) -> Iterator[list[Pair]]:
    """What was decided: of some that are similar, and of any."""
    similar = [*truth(case).similar]
    rows = range(len(case.documents))
    some = [tuple(random.sample(rows, 2)) for _ in range(random.choice(_FEW[:3]))]
    some += random.sample(similar, min(len(similar), random.choice(_FEW)))
    pairs: list[Any] = [*dict.fromkeys((min(pair), max(pair)) for pair in some)]
    random.shuffle(pairs)
    kinds = [random.choices(("apart", "chosen", "other"), (55, 35, 10))[0] for _ in pairs]
    for wanted in ("apart", "chosen", "other"):
        mine = [pair for pair, kind in zip(pairs, kinds, strict=True) if kind == wanted]
        yield [pair[:: random.choice((1, -1))] for pair in mine]


def wrong_with(given: Decided) -> str:
    """Run it, and say what is wrong."""
    case = given.case
    with tempfile.TemporaryDirectory() as home, tightly(case):
        sources = sources_of(case, Path(home))
        try:
            found = ns.dedup(
                **sources, method=case.method, audit=False, **case.asked, **settings_of(case),
                decisions=given.records() or None,
            )  # fmt: skip
        except ConfigError as error:
            return "" if given.is_a_circle() and "each is kept in place of another" in error.message else str(error)
        if given.is_a_circle():
            return "a circle of choices is obeyed"
        wrong = _Rule(given).wrong(found)
        if wrong:
            return wrong
        found.write(Path(home) / "out", pairs=True)
        given_again = {side: sources[side] for side in ("source", "against") if side in sources}
        problems = ns.verify(Path(home) / "out", **given_again).problems
        floor, higher = case.recipe.get("jaccard_floor"), case.higher
        if problems or higher is None or (floor is not None and Fraction(floor) >= Fraction(higher)):
            return "; ".join(problem.what for problem in problems)
        above = replace(given, case=replace(case, recipe={**case.recipe, "threshold": higher}))
        wrong = _Rule(above).wrong(found.at(threshold=higher))
        return wrong and f"at({higher}): {wrong}"


@dataclass(frozen=True)
class _Rule:
    """Who stays, and what is counted, by the definitions."""

    given: Decided

    @cached_property
    def truth(self) -> Truth:
        return truth(self.given.case)

    @cached_property
    def groups(self) -> Sequence[Any]:
        case = self.given.case
        return case.columns["group"] if "group_by" in case.asked else [0] * len(case.documents)

    @cached_property
    def keys(self) -> Sequence[Any]:
        """What makes two documents one; nothing is what no other is like."""
        return [key if key is None else (key, group) for key, group in zip(self.truth.keys, self.groups, strict=True)]

    @cached_property
    def order(self) -> Sequence[int]:
        case = self.given.case
        ranked = chosen_first(self.truth.ranked, self.given.chosen, case.first)
        if case.name != "containment":
            return ranked
        return sorted(ranked, key=lambda row: (row >= case.first, -len(self.truth.sets[row])))

    def is_apart(self, a: int, b: int) -> bool:
        return is_apart(a, b, self.keys, self.given.apart)

    def similar(self, keeper: int, row: int) -> bool:
        """Whether one that comes first is as similar as was asked to another, whoever told them apart."""
        case, truth = self.given.case, self.truth
        if self.groups[keeper] != self.groups[row] or None in (truth.keys[keeper], truth.keys[row]):
            return False
        if truth.keys[keeper] == truth.keys[row]:
            return True
        if case.name != "containment":
            return (min(keeper, row), max(keeper, row)) in truth.similar
        one, two = truth.sets[keeper], truth.sets[row]
        floor = Fraction(case.recipe.get("jaccard_floor") or 0)
        share = containment(one, two) if case.recipe.get("remove") == "container" else containment(two, one)
        return share >= Fraction(case.recipe["threshold"]) and jaccard(one, two) >= floor and truth.also(row, keeper)

    def compared(self, keeper: int, row: int) -> bool:
        """Whether two are compared at all."""
        first = self.given.case.first
        return row >= first and (keeper < first or self.truth.within)

    def gone(self) -> set[int]:
        case, order = self.given.case, self.order

        def alike(keeper: int, row: int) -> bool:
            return self.compared(keeper, row) and self.similar(keeper, row) and not self.is_apart(keeper, row)

        linked, cluster = case.asked.get("clusters") == "components", {}
        if linked:
            edges = [(a, b) for at, a in enumerate(order) for b in order[at + 1 :] if alike(a, b)]
            cluster = components(order, edges)
        keepers: list[int] = []
        gone: set[int] = set()
        for row in order:
            if linked:
                told = [one for one in keepers if cluster[one] == cluster[row] and not self.is_apart(one, row)]
            else:
                told = [one for one in keepers if alike(one, row)]
            if told and row >= case.first:
                gone.add(row)
            elif self.truth.within or row < case.first:
                keepers.append(row)
        return gone

    def counts(self, gone: set[int]) -> dict[str, int]:
        """What is counted, but for what depends on which pairs a method may miss."""
        given, order = self.given, self.order
        kept = [(a, b) for at, a in enumerate(order) for b in order[at + 1 :] if not gone & {a, b}]
        both = (self.compared(*pair) and self.is_apart(*pair) and self.similar(*pair) for pair in kept)
        apart = (self.similar(*sorted(pair, key=order.index)) for pair in given.apart)
        won = [b in gone and a not in gone for a, b in given.chosen]
        fits = [self.compared(*pair) and self.similar(*pair)
                for pair in (sorted(pair, key=order.index) for pair in given.chosen)]  # fmt: skip
        over = sum(is_similar and not is_won for is_similar, is_won in zip(fits, won, strict=True))
        num_apart = sum(apart)
        left = len(given.apart) + len(won) - num_apart - sum(won) - over
        counts = {"both_kept": sum(both), "apart": num_apart, "chosen": sum(won), "overruled": over}
        return counts | {"not_similar": left, "confirmed": len(given.others) + len(won)}

    def wrong(self, found: Any) -> str:
        """What contradicts it."""
        case, told = self.given.case, {}
        for line in found.removals.to_pylist():
            row, witness = (row_of(case, line[f"{who}source"], line[f"{who}row"]) for who in ("", "witness_"))
            told[row] = witness
        for row, witness in told.items():
            if witness in told or self.is_apart(row, witness) or not self.compared(witness, row):
                return f"{row} is removed for {witness}"
            if self.groups[row] != self.groups[witness]:
                return f"{row} is removed for {witness}, of another group"
        if is_free(case, self.truth):
            return ""
        gone = self.gone()
        if gone != set(told):
            return f"{sorted(told)} go, not {sorted(gone)}"
        if not self.given.records():
            return ""
        wanted, counts = self.counts(gone), found.stats.decisions
        wrong = [f"{name} is {counts[name]}, not {value}" for name, value in wanted.items() if counts[name] != value]
        return "; ".join(wrong)
