"""What people have decided, from layer to layer on a cluster: the rules of one machine about the few documents named.

1. The driver knows whom decisions are about, who stands for these to a layer, and the first copies of the `against`
   side; the rules are those of flow/passing_on.py. What follows is sent to all workers, by number.
2. Rows that are the same in all columns have one number; here each of their copies that may matter is a document of its
   own, a unit: `spread` times the number, and which of the copies it is.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.flow.decisions import Standings
from nearsame.flow.passing_on import Passed
from nearsame.frames.decided import Named, counted, first_copies, met_pairs, sent
from nearsame.kernels.scores import Bound
from nearsame.named import NamedTuple
from nearsame.stages.clusters.apart import Apart
from nearsame.stages.clusters.keepers import NOBODY, Decided

__all__ = ["Instead", "Numbered", "PassedOn"]

Instead = Mapping[int, tuple[int, int, int]]  # by number the witness of its first copy (or itself), and the similarity


class Numbered(NamedTuple):
    """What deciding asks of a corpus, where documents are called by units."""

    engine: Any
    counts: Mapping[str, int]
    apart: Apart | None = None
    told: None = None


@dataclass(frozen=True, eq=False)
class PassedOn:
    """Decisions on their way.

    Attributes:
        units: of the documents that they are about, and of those that these went for; they ascend.
        passed: what was decided, and became of it, by place in `units`.
        spread: how many copies of a row are told apart.
        num_against: documents with a number below it are the `against` side.
        verbs: the engine's.
    """

    units: Rows
    passed: Passed
    spread: int
    num_against: int
    verbs: Any

    @classmethod
    def of(cls, named: Named, documents: Any, num_against: int, verbs: Any) -> Self:
        """Before any layer."""
        located = named.located
        pairs = [named.rows[those] for those in (located.apart, located.chosen)]
        rows = np.unique(np.concatenate(pairs).ravel())
        number = _told(documents.select("row", "number"), verbs, row=rows).sort_by("row").column("number").to_numpy()
        numbers, spread = np.sort(number), 2 + len(located.apart)
        apart, chosen = (np.searchsorted(numbers, number[np.searchsorted(rows, those)]) for those in pairs)
        passed = Passed.of(replace(located, apart=apart, chosen=chosen))
        return cls(spread * numbers, passed, spread, num_against, verbs)

    @property
    def numbers(self) -> Rows:
        """The documents that decisions are about by now."""
        return np.unique(self.units[self.passed.before.pairs] // self.spread)

    @property
    def apart(self) -> Apart | None:
        """Who is apart of them, by unit."""
        pairs = self.passed.between
        return None if pairs is None else Apart(self.units[pairs.a], self.units[pairs.b])

    def named(self, documents: Any) -> Named:
        """The same for the method, which numbers documents anew."""
        numbers = self.units // self.spread
        told = _told(documents.select("row", "number"), self.verbs, number=np.unique(numbers)).sort_by("number")
        rows = told.column("row").to_numpy()[np.searchsorted(np.unique(numbers), numbers)]
        return Named(rows, self.passed.left, self.units % self.spread, self.passed.before)

    def obeyed(self, known: Any, *, within: bool) -> tuple[Instead, Self]:
        """What a layer does with them for which documents are the same.

        Args:
            known: of each document number, side, here, empty, `times` (how many copies go), its `witness`, and whether
                that is `bare` of any text.
            within: whether documents that are not on the `against` side are compared with each other.

        Returns:
            Whose first copies have another witness, or stay; and the same decisions behind that layer.
        """
        columns = ("number", "witness", "empty", "bare", "here", "times")
        asked = _told(known.select(*columns), self.verbs, number=self.numbers)
        number, witness, empty, bare, here, times = (asked.column(name).to_numpy() for name in columns)
        own, best = self.spread * number, self.spread * witness
        firsts = self._first_copies(known, number, witness)
        told = self.knowing(np.concatenate([own, best, *firsts[:2]]))
        stands, lacking = np.arange(told.units.size), np.zeros(told.units.size, np.int64)
        for units, leaders, lack in ((own, best, empty), (best, best, bare), firsts):
            stands[told.at(units)], lacking[told.at(units)] = told.at(leaders), lack
        copies = np.flatnonzero(told.units % self.spread)  # each is to the layer what the first one is
        like = told.at(told.units[copies] // self.spread * self.spread)
        stands[copies], lacking[copies] = stands[like], lacking[like]
        ranks = np.argsort(np.lexsort((told.units, lacking)))
        goes = np.flatnonzero((times == here) & (times > 0))
        goes = goes[np.argsort(number[goes])]
        one = np.ones_like(goes)
        plain = Decided(told.at(own[goes]), told.at(best[goes]), one, one)
        standings = Standings(stands, ranks, np.ones_like(ranks), told.protected)
        decided, passed = told.passed.obeyed(plain, standings, within=within)
        good = lacking[decided.witnesses] == 0
        decided = Decided(*(column[good] for column in decided[:4]))
        return told.changes(plain, decided), replace(told, passed=passed.behind(decided))

    def split(self, entries: Any, documents: Any) -> Any:
        """Documents by unit: those that decisions are about in several copies, where they have some.

        Args:
            entries: number, `here` (how many copies are left), and what else is known.
            documents: of all that may be among them number, side, here.
        """
        told = _told(documents.select("number", "side", "here"), self.verbs, number=self.numbers)
        number, side, here = (column.to_numpy() for column in told.columns)
        most = np.minimum(np.where(side == 0, self.spread, 2), here)
        nth, several = counted(most), np.repeat(number, most)
        takes = np.where(nth == np.repeat(most, most) - 1, np.repeat(here - most, most) + 1, 1)
        few = {"number": several, "unit": self.spread * several + nth, "takes": takes}
        own = {"number": f"coalesce(unit, {self.spread}L * number) as number", "here": "coalesce(takes, here) as here"}
        joined = entries.join(sent(self.verbs, **few), "number", "left")
        return joined.selectExpr(*(own.get(name, name) for name in entries.columns))

    def compared(self, found: Any, entries: Any, lists: Any, bound: Bound, *, within: bool) -> Self:
        """The same behind a layer that compares texts.

        Args:
            found: a, b by unit: who goes, and its witness.
            entries: key, number, by unit: only those of one key meet.
            lists: number, and what is compared.
            bound: how similar two must be.
            within: whether documents that are not on the `against` side are compared with each other.
        """
        here = _told(
            entries.select("key", "number"), self.verbs, number=np.unique(self.units[self.passed.before.pairs])
        )
        keys = dict(zip(*(here.column(name).to_pylist() for name in ("number", "key")), strict=True))

        def similar(first: Rows, later: Rows) -> Mask:
            units = self.units[np.stack([first, later])]
            one, other = ([keys.get(unit) for unit in side] for side in units.tolist())
            met = np.array([a is not None and a == b for a, b in zip(one, other, strict=True)], np.bool_)
            if met.any():
                met[met] = met_pairs(units[:, met], lists.drop("stands_for"), bound, self.verbs)
            return met

        rows = np.arange(self.units.size)
        known = Standings(rows, rows, np.ones_like(rows), self.protected)
        gone = _told(found.select("a", "b"), self.verbs, a=self.spread * self.numbers).sort_by("a")
        units, witnesses = (gone.column(name).to_numpy() for name in "ab")
        told = replace(self, passed=self.passed.fitting(similar, known, within=within)).knowing(witnesses)
        behind = NOBODY._replace(rows=told.at(units), witnesses=told.at(witnesses))
        return replace(told, passed=told.passed.behind(behind))

    @property
    def protected(self) -> int:
        """Places below it are of the `against` side."""
        return int(np.searchsorted(self.units, self.spread * self.num_against))

    def at(self, units: Rows) -> Rows:
        """The places of some documents."""
        return np.searchsorted(self.units, units).astype(np.int64)

    def knowing(self, units: Rows) -> Self:
        """The same that knows of more documents, and of the first copy of each."""
        every = np.unique(np.concatenate([self.units, units, units // self.spread * self.spread]))
        return replace(self, units=every, passed=self.passed.renumbered(np.searchsorted(every, self.units)))

    def _first_copies(self, known: Any, number: Rows, witness: Rows) -> Rows:
        """Copies on the `against` side of those that stand for two that are apart: who, for whom, and if it is bare."""
        leads = dict(zip(number.tolist(), witness.tolist(), strict=True))
        apart = self.units[self.passed.left.apart] // self.spread
        copied = np.array(sorted({leads[a] for a, b in apart.tolist() if leads[a] == leads[b]}), np.int64)
        if not (self.num_against and copied.size):
            return np.zeros((3, 0), np.int64)
        columns = ("number", "witness as best", "here as copies", "side", "cast(empty as int) as place")
        here = known.filter("here > 0").selectExpr(*columns)
        return first_copies(here, copied, self.spread, self.verbs, self.spread)

    def changes(self, plain: Decided, decided: Decided) -> Instead:
        """Who goes by a layer for somebody else than it had first, or stays."""
        now = dict(zip(decided.rows.tolist(), decided.witnesses.tolist(), strict=True))
        both = zip(plain.rows.tolist(), plain.witnesses.tolist(), strict=True)
        other = {row: now.get(row, row) for row, witness in both if now.get(row, row) != witness}
        numbers = (self.units // self.spread).tolist()
        return {numbers[row]: (numbers[witness], 1, 1) for row, witness in other.items()}


def _told(frame: Any, verbs: Any, **few: Rows) -> Any:
    """The rows of a few documents, as one table."""
    (name,) = few
    return frame.join(sent(verbs, **few), name).toArrow()
