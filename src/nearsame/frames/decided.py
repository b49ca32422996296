"""What people have decided, on a cluster: it is about few documents, so the driver asks the rules of one machine.

1. A document is looked for by its id, or by the name of its row where it has none: as answers call it.
2. Besides those that were named the driver knows who stands for them, and as many copies of the `against` side as
   could be keepers in their place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.flow.corpus import State
from nearsame.flow.decisions import NO_COPY, UNCHOSEN, Answers, Decisions, Located, Standings
from nearsame.frames.documents import GROUP
from nearsame.frames.scoring import scored
from nearsame.kernels.scores import Bound
from nearsame.stages.clusters.apart import Apart, keepers_of
from nearsame.stages.clusters.policies import CHOSEN

__all__ = ["Named", "Told", "instead", "split"]


class Named(NamedTuple):
    """The documents that decisions name: `located` has their places in `rows`, what the frames call them."""

    rows: Rows
    located: Located

    @classmethod
    def among(cls, documents: Any, decisions: Decisions, verbs: Any) -> Self:
        """Those that are there; one that several are called stands there twice."""
        names = verbs.frame(pa.table({"name": decisions.names})).hint("broadcast")
        called = documents.selectExpr("coalesce(id, cast(row as string)) as name", "row", "copies").join(names, "name")
        told = verbs.aggregated(called, ["name"], ["min(row) as row", "sum(copies) as num"]).toArrow()
        rows, nums = (told.column(name).to_numpy() for name in ("row", "num"))
        each = np.repeat(np.arange(rows.size), np.minimum(nums, 2))
        return cls(rows[each], decisions.located(told.column("name").take(pa.array(each)).combine_chunks()))

    def ranked(self, documents: Any, verbs: Any) -> Any:
        """Documents with the place of those that were chosen, and of all others the last."""
        places = self.located.places(self.rows.size)
        chosen = places < UNCHOSEN
        few = verbs.frame(pa.table({"row": self.rows[chosen], "place": places[chosen]})).hint("broadcast")
        joined = documents.join(few, "row", "left").withColumn(
            CHOSEN, verbs.expression(f"coalesce(place, {UNCHOSEN}L)")
        )
        return joined.drop("place")


@dataclass(frozen=True, eq=False)
class Told:
    """What was decided, and about whom: of the few documents that matter, in the order of priority.

    Attributes:
        numbers: of these documents; they ascend.
        known: of them, by place.
        located: what was decided, by place.
        verbs: the engine's.
    """

    numbers: Rows
    known: Standings
    located: Located
    verbs: Any

    @classmethod
    def of(cls, named: Named, documents: Any, num_against: int, verbs: Any) -> Self:
        """What is known of documents that were named, once all are ranked and collapsed."""
        located, columns = named.located, ["row", "number", "best", "size"]
        columns += [GROUP] if GROUP in documents.columns else []
        rows = np.unique(named.rows[np.concatenate([located.apart, located.chosen]).ravel()])
        found = documents.select(*columns).join(_few(verbs, row=rows), "row").sort("row")
        table = found.toArrow() if rows.size else pa.table(dict.fromkeys(columns, pa.array([], pa.int64())))
        row, number, best, *values = (table.column(name).to_numpy() for name in columns)
        apart, chosen = (np.searchsorted(row, named.rows[pairs]) for pairs in (located.apart, located.chosen))
        copies = np.unique(best[apart], axis=0)
        copies = copies[copies[:, 0] == copies[:, 1], 0]
        others = _protected(documents, copies, len(apart), verbs) if num_against else np.zeros((2, 0), np.int64)
        numbers = np.unique(np.concatenate([number, best, others[0]]))
        number, best, own, their = (_at(numbers, those) for those in (number, best, *others))
        stands = np.arange(numbers.size)
        stands[number], stands[own] = best, their
        sizes, *groups = (np.zeros(numbers.size, np.int64) for _ in values)
        for out, value in zip((sizes, *groups), values, strict=True):
            out[number] = out[best] = value  # who has equal features has as many, and is of one group
        first = int(np.searchsorted(numbers, num_against))
        known = Standings(stands, np.arange(numbers.size), sizes, first, groups[0] if groups else None)
        return cls(numbers, known, replace(located, apart=number[apart], chosen=number[chosen]), verbs)

    @property
    def apart(self) -> Apart | None:
        """What was told apart of the documents that stand for all others, by number."""
        pairs = self.located.between(self.known)
        return None if pairs is None else Apart(self.numbers[pairs.a], self.numbers[pairs.b])

    def with_copies(self, meeting: Any) -> Any:
        """A meeting that copies come to as well which were told apart from one of the `against` side."""
        firsts = self.located.stand_ins(self.known)
        if not firsts:
            return meeting
        leaders, others = (self.numbers[rows] for rows in ([*firsts], [*firsts.values()]))
        few = _few(self.verbs, number=leaders, other=others)
        known = {"number": "other as number", "one_side": "false as one_side", "stands_for": "1L as stands_for"}
        one_less = f"stands_for - if(number in ({', '.join(map(str, leaders))}), 1L, 0L)"

        def added(frame: Any) -> Any:
            copies = frame.join(few, "number").selectExpr(*(known.get(name, name) for name in frame.columns))
            return frame.withColumn("stands_for", self.verbs.expression(one_less)).union(copies)

        return meeting._replace(entries=added(meeting.entries), lists=added(meeting.lists))

    def inherit(self, gone: Any, found: Any, *, within: bool) -> Any:
        """What goes, in which copies that are apart do not go for each other; `found` is about who stands for them."""
        best, pairs = self.known.best, self.located.apart
        if not (best[pairs[:, 0]] == best[pairs[:, 1]]).any():
            return gone
        few = found.join(_few(self.verbs, a=self.numbers), "a").select("a", "b", "num", "den").toArrow()
        met = {row["a"]: (row["b"], row["num"], row["den"]) for row in few.to_pylist()}
        numbers, removed = self.numbers.tolist(), np.isin(self.numbers, [*met])
        firsts = self.located.stand_ins(self.known).items()
        others = {leader: met[numbers[row]] for leader, row in firsts if numbers[row] in met}
        keepers = self.located.among_copies(self.known, removed, within=within, others=others)
        told = {
            numbers[row]: others[int(best[row])] if keeper == NO_COPY else (numbers[keeper], 1, 1)
            for row, keeper in keepers.items()
        }
        return instead(gone, ("number", "witness", "num", "den"), told, self.verbs)

    def counts(self, state: State[Any], gone: Any, bound: Bound, *, within: bool) -> dict[str, Any]:
        """What became of what people have decided, where these documents went."""
        answers = Answers(partial(self._similar, state, bound), partial(self._staying, state.corpus.documents, gone))
        return self.located.counts(self.known, self._here(gone), answers, within=within)

    def _here(self, frame: Any) -> Mask:
        """Which documents are in a frame."""
        few = frame.select("number").join(_few(self.verbs, number=self.numbers), "number", "left_semi")
        return np.isin(self.numbers, few.toArrow().column("number").to_numpy())

    def _similar(self, state: State[Any], bound: Bound, first: Rows, later: Rows) -> Mask:
        """Which documents have met, and are as similar as the bound asks."""
        if state.meeting is None or not first.size:
            return np.zeros(first.size, np.bool_)
        pairs = self.numbers[np.stack([first, later])]
        asked = self.verbs.frame(pa.table(dict(zip("ab", np.unique(pairs, axis=1), strict=True))))
        scores, _ = scored(self.verbs, asked, state.meeting.lists.select("number", *state.step.compared), bound)
        similar = {(row["a"], row["b"]) for row in scores.select("a", "b").toArrow().to_pylist()}
        return np.array([pair in similar for pair in zip(*pairs.tolist(), strict=True)])

    def _staying(self, documents: Any, gone: Any, leaders: Rows) -> Rows:
        """How many of the documents that some stand for stay, of the `against` side and of the other one."""
        here = documents.select("number", "best", "side", "copies").join(
            _few(self.verbs, best=self.numbers[leaders]), "best"
        )
        left = here.join(gone.select("number", "times"), "number", "left")
        sums = {"against": "if(side = 0, copies, 0)", "judged": "if(side = 0, 0, copies - coalesce(times, 0))"}
        asked = [f"sum({what}) as {name}" for name, what in sums.items()]
        told = self.verbs.aggregated(left, ["best"], asked).sort("best").toArrow()
        return np.stack([told.column(name).to_numpy() for name in sums])


def _protected(documents: Any, copied: Rows, most: int, verbs: Any) -> Rows:
    """Of each of some documents the first copies on the `against` side, one more than may be apart from another one."""
    here = documents.filter("side = 0").select("number", "best").join(_few(verbs, best=copied), "best")
    nth = here.selectExpr("number", "best", "row_number() over (partition by best order by number) as nth")
    told = nth.filter(f"nth <= {most + 1}").toArrow()
    return np.stack([told.column(name).to_numpy() for name in ("number", "best")])


def split(roots: Any, apart: Apart, num_against: int, verbs: Any, *, within: bool) -> dict[int, tuple[int]]:
    """Documents that are apart from the keeper of their component, each with the one it has; who stays is its own.

    Args:
        roots: node, least: of each document of a component but the least, by number.
        apart: who was told apart from whom.
        num_against: documents with a number below it are the `against` side.
        verbs: the engine's.
        within: whether the others can be keepers of each other.
    """
    named = np.unique(np.concatenate([apart.a, apart.b]))
    told = roots.join(_few(verbs, node=named), "node").toArrow()
    root = {**dict(zip(named.tolist(), named.tolist(), strict=True)), **_pairs(told)}
    before: dict[int, set[int]] = {}
    for a, b in zip(apart.a.tolist(), apart.b.tolist(), strict=True):
        if root[a] == root[b]:
            before.setdefault(max(a, b), set()).add(min(a, b))
    members = {least: {least} for least in {root[node] for node in before}}
    if num_against and members:
        few = roots.filter(f"node < {num_against}").join(_few(verbs, least=np.array([*members])), "least")
        nth = few.selectExpr("node", "least", "row_number() over (partition by least order by node) as nth")
        for node, least in _pairs(nth.filter(f"nth <= {named.size}").drop("nth").toArrow()).items():
            members[least].add(node)
    for node in before:
        members[root[node]].add(node)
    keepers: dict[int, int] = {}
    for nodes in members.values():
        keepers |= keepers_of(sorted(nodes), before, num_against, within=within)
    return {node: (keepers[node],) for node in before if node >= num_against}


def instead(frame: Any, names: Sequence[str], keepers: Mapping[int, tuple[int, ...]], verbs: Any) -> Any:
    """A frame of removed documents in which some have another witness, and who is its own is left out.

    `names` are the columns of a document, of its witness, and of what else is told of the two.
    """
    name, witness, *_ = names
    columns = [f"coalesce(_{column}, {column}) as {column}" if column in names[1:] else column
               for column in frame.columns]  # fmt: skip
    told = np.array([(row, *values) for row, values in keepers.items()], np.int64).reshape(-1, len(names))
    few = _few(verbs, **dict(zip((name, *(f"_{column}" for column in names[1:])), told.T, strict=True)))
    return frame.join(few, name, "left").filter(f"_{witness} is null or _{witness} <> {name}").selectExpr(*columns)


def _at(numbers: Rows, those: Rows) -> Rows:
    """The places of some of the numbers, which ascend."""
    return np.searchsorted(numbers, those).astype(np.int64)


def _pairs(table: pa.Table) -> dict[int, int]:
    return dict(zip(*(table.column(name).to_pylist() for name in ("node", "least")), strict=True))


def _few(verbs: Any, **columns: Rows) -> Any:
    return verbs.frame(pa.table({name: pa.array(rows, pa.int64()) for name, rows in columns.items()})).hint("broadcast")
