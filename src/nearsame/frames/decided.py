"""What people have decided, on a cluster: it is about few documents, so the driver asks the rules of one machine.

1. A document is looked for by its id, or by the name of its row where it has none: as answers call it.
2. Besides those that were named the driver knows who stands for them, and as many copies of the `against` side as
   could be keepers in their place.
3. Rows that are the same in all columns have one number. Where layers have passed on what is told of a document to one
   of them (passing.py), it is told of the first; those of the `against` side are told apart as long as that matters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import pyarrow as pa

from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.flow.corpus import State
from nearsame.flow.decisions import NO_COPY, UNCHOSEN, Answers, Before, Decisions, Located, Standings
from nearsame.frames.documents import GROUP
from nearsame.frames.scoring import scored
from nearsame.kernels.scores import Bound
from nearsame.named import NamedTuple
from nearsame.stages.clusters.apart import Apart, keepers_of
from nearsame.stages.clusters.policies import CHOSEN

__all__ = ["Named", "Told", "counted", "first_copies", "instead", "met_pairs", "sent", "split", "split_copies"]

_NOWHERE = -1


class Named(NamedTuple):
    """The documents that decisions name.

    Attributes:
        rows: what the frames call them.
        located: what was decided, by place in `rows`.
        copies: which of the copies of its row each is; None: the first.
        before: what became of it in layers before the method.
    """

    rows: Rows
    located: Located
    copies: Rows | None = None
    before: Before | None = None

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
        numbers: of these documents; they ascend, but for those that are not there.
        known: of them, by place.
        located: what was decided, by place.
        verbs: the engine's.
        rows: what frames call those that were named.
        before: what became of it in layers before the method, by place.
    """

    numbers: Rows
    known: Standings
    located: Located
    verbs: Any
    rows: Rows
    before: Before | None = None

    @classmethod
    def of(cls, named: Named, documents: Any, num_against: int, verbs: Any) -> Self:
        """What is known of documents that were named, once all are ranked and collapsed."""
        (located, before), columns = (named.located, named.before), ["row", "number", "best", "size"]
        columns += [GROUP] if GROUP in documents.columns else []
        pairs = [located.apart, located.chosen, *(() if before is None else (before.pairs, before.alike))]
        asked = np.unique(np.concatenate(pairs).ravel())
        found = documents.select(*columns).join(sent(verbs, row=np.unique(named.rows[asked])), "row").sort("row")
        table = found.toArrow() if asked.size else pa.table(dict.fromkeys(columns, pa.array([], pa.int64())))
        row, number, best, *values = (table.column(name).to_numpy() for name in columns)
        at, there = _found(row, named.rows[asked])
        copies = np.zeros(asked.size, np.int64) if named.copies is None else named.copies[asked]
        most = len(located.apart)
        spread = 2 + max(most, int(copies.max(initial=0)))  # a place in `units` for each copy of a number
        own = np.iinfo(np.int64).max - np.arange(asked.size)
        own[there] = spread * number[at] + copies[there]
        stands = own.copy()
        stands[there] = spread * best[at]
        place = np.zeros(named.rows.size, np.int64)
        place[asked] = np.arange(asked.size)
        both = stands[place[located.apart]]
        copied = np.unique(both[both[:, 0] == both[:, 1], 0]) // spread
        others = np.zeros((3, 0), np.int64)
        if num_against and copied.size:
            here = documents.selectExpr("number", "best", "copies", "side", "0 as place")
            others = first_copies(here, copied, most + 1, verbs, spread)
        units = np.unique(np.concatenate([own, stands, others[0], others[1]]))
        place[asked] = _at(units, own)
        leads = np.arange(units.size)
        for unit, leader in ((own, stands), others[:2]):
            leads[_at(units, unit)] = _at(units, leader)
        sizes, *groups = (np.zeros(units.size, np.int64) for _ in values)
        for out, value in zip((sizes, *groups), values, strict=True):
            out[_at(units, own[there])] = out[_at(units, stands[there])] = value[at]  # equal features: of one group
        first = int(np.searchsorted(units, spread * num_against))
        known = Standings(leads, np.arange(units.size), sizes, first, groups[0] if groups else None)
        numbers, rows = units // spread, np.full(units.size, _NOWHERE)
        numbers[_at(units, own[~there])] = _NOWHERE
        rows[place[asked]] = named.rows[asked]
        located = replace(located, apart=place[located.apart], chosen=place[located.chosen])
        before = before and before._replace(pairs=place[before.pairs], alike=place[before.alike])
        return cls(numbers, known, located, verbs, rows, before)

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
        few = sent(self.verbs, number=leaders, other=others)
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
        few = found.join(sent(self.verbs, a=np.unique(self.numbers)), "a").select("a", "b", "num", "den").toArrow()
        met = {row["a"]: (row["b"], row["num"], row["den"]) for row in few.to_pylist()}
        numbers, removed = self.numbers.tolist(), np.isin(self.numbers, [*met])
        firsts = self.located.stand_ins(self.known).items()
        others = {leader: met[numbers[row]] for leader, row in firsts if numbers[row] in met}
        keepers = self.located.among_copies(self.known, removed, within=within, others=others)
        told = {
            numbers[row]: others[int(best[row])] if keeper == NO_COPY else (numbers[keeper], 1, 1)
            for row, keeper in keepers.items()
        }
        return split_copies(gone, told, self.verbs)

    def counts(self, state: State[Any], gone: Any, whole: Any, bound: Bound, *, within: bool) -> dict[str, Any]:
        """What became of what people have decided, where the method removes `gone`, and with layers `whole` goes."""
        answers = Answers(partial(self._similar, state, bound), partial(self._staying, state.corpus.documents, gone))
        few = whole.filter("rest = 0").join(sent(self.verbs, row=np.unique(self.rows)), "row", "left_semi")
        went = np.isin(self.rows, few.select("row").toArrow().column("row").to_numpy())
        return self.located.counts(self.known, went, answers, self.before, within=within)

    def _similar(self, state: State[Any], bound: Bound, first: Rows, later: Rows) -> Mask:
        """Which documents have met, and are as similar as the bound asks."""
        if state.meeting is None or not first.size:
            return np.zeros(first.size, np.bool_)
        lists = state.meeting.lists.select("number", *state.step.compared)
        return met_pairs(self.numbers[np.stack([first, later])], lists, bound, self.verbs)

    def _staying(self, documents: Any, gone: Any, leaders: Rows) -> Rows:
        """How many of the documents that some stand for stay, of the `against` side and of the other one."""
        here = documents.select("number", "best", "side", "copies").join(
            sent(self.verbs, best=self.numbers[leaders]), "best"
        )
        went = self.verbs.aggregated(gone, ["number"], ["sum(times) as times"])
        left = here.join(went, "number", "left")
        sums = {"against": "if(side = 0, copies, 0)", "judged": "if(side = 0, 0, copies - coalesce(times, 0))"}
        asked = [f"sum({what}) as {name}" for name, what in sums.items()]
        told = self.verbs.aggregated(left, ["best"], asked).sort("best").toArrow()
        at, there = _found(told.column("best").to_numpy(), self.numbers[leaders])
        out = np.zeros((len(sums), leaders.size), np.int64)
        out[:, there] = [told.column(name).to_numpy()[at] for name in sums]
        return out


def met_pairs(pairs: Rows, lists: Any, bound: Bound, verbs: Any) -> Mask:
    """Which pairs of documents, by number, have met, and are as similar as the bound asks."""
    met = lists.join(sent(verbs, number=np.unique(pairs)), "number", "left_semi").select("number").toArrow()
    there = np.isin(pairs, met.column("number").to_numpy()).all(axis=0)  # or a score would be that of another pair
    asked = verbs.frame(pa.table(dict(zip("ab", np.unique(pairs[:, there], axis=1), strict=True))))
    scores, _ = scored(verbs, asked, lists, bound)
    similar = {(row["a"], row["b"]) for row in scores.select("a", "b").toArrow().to_pylist()}
    return np.array([pair in similar for pair in zip(*pairs.tolist(), strict=True)], np.bool_)


def first_copies(documents: Any, copied: Rows, most: int, verbs: Any, spread: int) -> Rows:
    """The first copies on the `against` side of each of some documents, that one, and `place`: all but this by unit.

    Args:
        documents: number, best, copies, side, and `place`, their order.
        copied: those for which others stand, by number.
        most: how many copies of each are asked for.
        verbs: the engine's.
        spread: a unit is so many times a number, and which of the copies of that row it is.
    """
    before = "sum(copies) over (partition by best order by place, number) - copies as before"
    here = documents.filter("side = 0").join(sent(verbs, best=copied), "best")
    told = here.selectExpr("number", "best", "place", "copies", before).filter(f"before < {most}").toArrow()
    number, best, place, copies, earlier = (column.to_numpy() for column in told.columns)
    taken = np.minimum(copies, most - earlier)
    units = spread * np.repeat(number, taken) + counted(taken)
    return np.stack([units, spread * np.repeat(best, taken), np.repeat(place, taken)]).astype(np.int64)


def counted(most: Rows) -> Rows:
    """Counts from 0 up to several numbers, one after the other.

    >>> counted(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(most.sum()) - np.repeat(np.cumsum(most) - most, most)


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
    told = roots.join(sent(verbs, node=named), "node").toArrow()
    root = {**dict(zip(named.tolist(), named.tolist(), strict=True)), **_pairs(told)}
    before: dict[int, set[int]] = {}
    for a, b in zip(apart.a.tolist(), apart.b.tolist(), strict=True):
        if root[a] == root[b]:
            before.setdefault(max(a, b), set()).add(min(a, b))
    members = {least: {least} for least in {root[node] for node in before}}
    if num_against and members:
        few = roots.filter(f"node < {num_against}").join(sent(verbs, least=np.array([*members])), "least")
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
    few = sent(verbs, **dict(zip((name, *(f"_{column}" for column in names[1:])), told.T, strict=True)))
    return frame.join(few, name, "left").filter(f"_{witness} is null or _{witness} <> {name}").selectExpr(*columns)


def split_copies(gone: Any, told: Mapping[int, tuple[int, int, int]], verbs: Any) -> Any:
    """Removed documents in which the first copy of some has another witness, as similar as is said, or stays.

    Args:
        gone: number, times, witness, num, den, `rest` (whether it is not about the first copy), and what else is known.
        told: by number the witness and the similarity; who is its own stays.
        verbs: the engine's.
    """
    if not told:
        return gone
    values = np.array([(number, *keeper) for number, keeper in told.items()], np.int64)
    few = sent(verbs, **dict(zip(("number", "_witness", "_num", "_den"), values.T, strict=True)))
    whole = "struct(times, witness, num, den, rest)"
    rest = "struct(times - 1L as times, witness, num, den, 1L as rest)"
    first = "struct(1L as times, _witness as witness, _num as num, _den as den, 0L as rest)"
    lines = f"explode(if(_witness is null, array({whole}), array({rest}, {first}))) as line"
    names = ("times", "witness", "num", "den", "rest")
    others = [name for name in gone.columns if name not in names]
    each = gone.join(few, "number", "left").selectExpr(*others, lines).selectExpr(*others, "line.*")
    return each.filter("times > 0 and (rest = 1 or witness <> number)").select(*gone.columns)


def _found(values: Rows, asked: Rows) -> tuple[Rows, Mask]:
    """Where those of some values stand that are asked for, and which of these are there; values ascend."""
    at = np.searchsorted(values, asked)
    there = at < values.size
    there[there] = values[at[there]] == asked[there]
    return at[there], there


def _at(numbers: Rows, those: Rows) -> Rows:
    """The places of some of the numbers, which ascend."""
    return np.searchsorted(numbers, those).astype(np.int64)


def _pairs(table: pa.Table) -> dict[int, int]:
    return dict(zip(*(table.column(name).to_pylist() for name in ("node", "least")), strict=True))


def sent(verbs: Any, **columns: Rows) -> Any:
    """A few rows of numbers, sent to every worker."""
    return verbs.frame(pa.table({name: pa.array(rows, pa.int64()) for name, rows in columns.items()})).hint("broadcast")
