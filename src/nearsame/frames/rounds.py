"""Deciding side by side: the greedy answer in rounds, the transitive one by stars, and all pairs.

1. A document is kept once it is known that nothing better and undecided resembles it; what it resembles is removed.
   So the kept are the lexicographically first maximal independent set: the greedy answer, whatever the order of tasks.
2. In a bucket the undecided are compared with its best few undecided only, in each round with more of them: the first
   round compares with the best one, and most of a template is gone by then.
3. What is left after the rounds, or is small enough, is decided in order by one task.
4. Witnesses are found when all keepers are known.
"""

from dataclasses import field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.answers.stats import Component
from nearsame.dataclass import dataclass
from nearsame.engines.space import num_bytes
from nearsame.engines.spark.stars import least_of_component
from nearsame.engines.spark.verbs import Verbs
from nearsame.flow.corpus import State
from nearsame.frames.candidates import BLOCK, meeting_pairs, split_by_main
from nearsame.frames.decided import instead, split
from nearsame.frames.one_task import NumberedQuestion, in_one_task, told
from nearsame.frames.scoring import lengths, scored
from nearsame.kernels.deciding import Work
from nearsame.kernels.scores import Bound, alone, unbounded

__all__ = ["ENTRY_BYTES", "Cluster"]

ENTRY_BYTES = 24
_MOST_HEADS = 64
_SUMS = ["coalesce(sum(entries), 0) as entries", "coalesce(sum(items), 0) as items", "count(1) as documents"]


@dataclass(eq=False)
class Cluster:
    """Deciding over the entries and features of a run.

    Attributes:
        state: the run.
        asked: what is asked.
        work: on the way; how many met is not counted.
    """

    state: State[Any]
    asked: NumberedQuestion
    work: Work = field(default_factory=Work)

    def __post_init__(self) -> None:
        self.question = self.asked.question
        self.verbs = self.state.corpus.engine
        self.bound: Bound = self.state.step.bound(self.question.threshold)
        self.entries = self.state.meeting.entries
        self.lists = self.state.meeting.lists.select("number", *self.state.step.compared)
        most = self.entries.selectExpr("coalesce(max(bucket), 0) as most").first()["most"]
        self.hot = most > BLOCK

    def pairs(self) -> Any:
        """The pairs of documents that share a key and reach the threshold: a, b, num, den."""
        return self._similar(self._candidates(self.entries, self.entries))

    def greedy(self) -> Any:
        """Removed documents, each with its witness."""
        removed = self._against()
        if self.question.within:
            removed = self._rounds(removed)
        removed = self.verbs.computed(removed)
        kept = self.entries.join(removed, "number", "left_anti")
        if not self.question.within:
            kept = kept.filter(f"number < {self.asked.num_against}")
        gone = self.entries.join(removed, "number", "left_semi")
        pairs = self._similar(self._candidates(kept, gone))
        best = ["max_by(struct(a, num, den), struct(num / den, -a)) as best"]
        return self.verbs.aggregated(pairs, ["b"], best).selectExpr(
            "b as a", "best.a as b", "best.num as num", "best.den as den"
        )

    def _against(self) -> Any:
        """The numbers of documents that resemble one of the against side."""
        num = self.asked.num_against
        firsts, others = self.entries.filter(f"number < {num}"), self.entries.filter(f"number >= {num}")
        if num == 0 or firsts.isEmpty():
            return self.verbs.frame_of_numbers()
        return self._similar(self._candidates(firsts, others)).selectExpr("b as number").distinct()

    def _rounds(self, removed: Any) -> Any:
        """The numbers of all removed documents."""
        engine, verbs = self.verbs.engine, self.verbs
        open_entries = self.entries.filter(f"number >= {self.asked.num_against}")
        open_entries, (num,) = verbs.told(open_entries.join(removed, "number", "left_anti"), "count(1)")
        heads, done = 1, 0
        while done < engine.rounds and num and self._size(open_entries) > num_bytes(engine.task_bytes):
            keepers, gone = self._round(open_entries, heads)
            removed, _ = verbs.afresh(removed.union(gone), "count(1)")
            left = open_entries.join(keepers.union(gone), "number", "left_anti")
            open_entries, (num,) = verbs.afresh(left, "count(1)")
            heads, done = min(2 * heads, _MOST_HEADS), done + 1
        verbs.room["rounds"] = done
        if not num:
            return removed
        lists = self.state.meeting.lists.join(open_entries.select("number").distinct(), "number", "left_semi")
        answers = verbs.computed(in_one_task(replace(self.asked, num_against=0), lists, open_entries, verbs))
        self._add(told(answers.filter("a < 0").first()["note"])[0])
        return removed.union(answers.filter("a >= 0").selectExpr("a as number"))

    def _size(self, entries: Any) -> int:
        """Bytes that deciding the documents of some entries in one task takes."""
        counted = Verbs.aggregated(entries, ["number"], ["count(1) as entries"])
        sizes = self.lists.selectExpr("number", f"{lengths(self.state.step.compared)} as items").join(counted, "number")
        sums = sizes.selectExpr(*_SUMS).first()
        return int(ENTRY_BYTES * sums["entries"] + 8 * sums["items"])

    def _round(self, entries: Any, heads: int) -> tuple[Any, Any]:
        """(who is kept, who is removed), by number."""
        nth = "row_number() over (partition by key order by number)"
        best = entries.selectExpr("*", f"{nth} as nth").filter(f"nth <= {heads}").drop("nth")
        similar = self._similar(self._candidates(best, entries))
        places = Verbs.aggregated(entries, ["number"], ["count(1) as everywhere"])
        first = Verbs.aggregated(best, ["number"], ["count(1) as here"]).join(places, "number")
        first = first.filter("here = everywhere").select("number")
        keepers = first.join(similar.selectExpr("b as number"), "number", "left_anti")
        keepers = self.verbs.computed(keepers)
        gone = similar.join(keepers.toDF("a"), "a", "left_semi").selectExpr("b as number").distinct()
        return keepers, self.verbs.computed(gone)

    def components(self) -> tuple[Any, Component | None]:
        """(removed documents with the best of their component, what there is to say of the largest)."""
        verbs, num = self.verbs, self.asked.num_against
        nth = "row_number() over (partition by key order by number)"
        best = self.entries.selectExpr("*", f"{nth} as nth").filter("nth = 1").drop("nth")
        links = self._similar(self._counting(self._candidates(best, self.entries)))
        roots = least_of_component(verbs, links.toDF("u", "v", "num", "den"))
        rest = self._counting(self._apart(roots))
        links = links.union(self._similar(rest))
        roots = least_of_component(verbs, links.toDF("u", "v", "num", "den"))
        joined, within = roots, self.question.within
        if self.asked.apart is not None:
            others = split(roots, self.asked.apart, num, verbs, within=within)
            joined = verbs.computed(instead(roots, ("node", "least"), others, verbs))
        removed = joined.filter(f"node >= {num}").selectExpr("least as a", "node as b")
        pairs, work = scored(verbs, removed, self.lists, alone(self.bound), below=unbounded(self.bound), hot=self.hot)
        self._add(work)
        return pairs.selectExpr("b as a", "a as b", "num", "den"), self._largest(roots, joined)

    def _counting(self, pairs: Any) -> Any:
        """The pairs whose similarity counts: across the sides, and within the other one if that is asked for."""
        num = self.asked.num_against
        if num == 0:
            return pairs
        return pairs.filter(f"b >= {num}" + ("" if self.question.within else f" and a < {num}"))

    def _apart(self, roots: Any) -> Any:
        """The pairs of two components that meet.

        Only what nothing has joined yet is compared: of a template, whose members its best one has joined, no two.
        """
        entries = self.entries.join(roots.toDF("number", "root"), "number", "left")
        sides = split_by_main(self.verbs, entries.withColumn("root", self.verbs.expression("coalesce(root, number)")))
        return self._meeting(sides, apart=True)

    def _largest(self, roots: Any, joined: Any) -> Component | None:
        """What one task says of the component of most documents; of equals, the one of the best keeper.

        `roots` are those of components, `joined` the keepers of what is left of them where pairs are apart.
        """
        verbs = self.verbs
        nodes = joined.union(joined.selectExpr("least", "least").distinct()).distinct()
        weights = self.state.meeting.lists.selectExpr("number as node", "stands_for")
        sizes = verbs.aggregated(nodes.join(weights, "node"), ["least"], ["sum(stands_for) as documents"])
        number, first = sizes.count(), sizes.sort("documents", "least", ascending=[False, True]).first()
        if first is None:
            return None
        keeper = first["least"]
        own = roots.filter(f"node = {keeper}").first()
        root = keeper if own is None else own["least"]
        those = roots.union(roots.selectExpr("least", "least").distinct()).filter(f"least = {root}")
        those = those.selectExpr("node as number")
        lists, entries = (rows.join(those, "number", "left_semi") for rows in (self.state.meeting.lists, self.entries))
        answers = in_one_task(self.asked, lists, entries, verbs)
        _, component = told(answers.filter("a < 0").first()["note"])
        return None if component is None else replace(component, number=number)

    def _candidates(self, firsts: Any, others: Any) -> Any:
        return self._meeting([(firsts, others)])

    def _meeting(self, sides: list[tuple[Any, Any]], *, apart: bool = False) -> Any:
        placed = not self.state.step.by_sketch
        return meeting_pairs(self.verbs, sides, self.bound, hot=self.hot, placed=placed, apart=apart)

    def _similar(self, candidates: Any) -> Any:
        if (apart := self.asked.apart) is not None:
            both = {"a": np.minimum(apart.a, apart.b), "b": np.maximum(apart.a, apart.b)}
            candidates = candidates.join(self.verbs.frame(pa.table(both)).hint("broadcast"), ["a", "b"], "left_anti")
        pairs, work = scored(self.verbs, candidates, self.lists, self.bound, hot=self.hot)
        self._add(work)
        return pairs

    def _add(self, work: Work) -> None:
        self.work = Work.total([self.work, work])
