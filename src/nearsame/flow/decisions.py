"""What people have decided about pairs of documents, and how a run obeys it.

1. Two that are kept apart are never removed for each other (stages/clusters/apart.py says what follows for copies).
2. One that was chosen to be kept comes first, behind the `against` side and, for containment, larger sets: so it stays,
   unless one of these or another chosen one removes it. Of chosen ones that beat each other, the winner comes first.
3. What is unsure, or said to be right, changes nothing; what no longer fits is counted, and named.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import groupby
from typing import Any, Self

import numpy as np
import pyarrow as pa

from nearsame import arrow, computing
from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.files.inputs import no_path
from nearsame.kernels import deciding
from nearsame.kernels.scores import Bound
from nearsame.named import NamedTuple
from nearsame.sources.judged import FIELDS, JudgedPair, judgement_of, read_judgements
from nearsame.stages.clusters.apart import Apart, keepers_of

__all__ = [
    "NO_COPY",
    "UNCHOSEN",
    "Answers",
    "Before",
    "Decisions",
    "Given",
    "Located",
    "Standings",
    "by_rank",
    "meets",
    "met_similar",
    "staying",
]

Given = str | os.PathLike[str] | Sequence[str | os.PathLike[str] | Mapping[str, Any]]

NO_COPY = -1
UNCHOSEN = np.iinfo(np.int64).max
_SHOWN = 5


@dataclass(frozen=True)
class Decisions:
    """The last word on each pair.

    Attributes:
        given: what was said.
        files: that it was read from.
    """

    given: tuple[JudgedPair, ...]
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Given) -> Self:
        """Read them, of several files the later one counts; records that follow each other are as one file.

        Raises:
            ConfigError: They contradict themselves.
            SourceError: A file cannot be read.
        """
        several = [given] if isinstance(given, str | os.PathLike) else list(given)
        last: dict[tuple[str, str], JudgedPair] = {}
        files: list[str] = []
        for _, alike in groupby(enumerate(several, start=1), lambda one: isinstance(one[1], Mapping)):
            some = [*alike]  # records, or files
            records = [judgement_of(one, number) for number, one in some if isinstance(one, Mapping)]
            last |= _consistent("decisions, number", records)
            for path in (os.fspath(one) for _, one in some if not isinstance(one, Mapping)):
                last |= _consistent(f"{path}, line", _read(path))
                files.append(path)
        decisions = cls(tuple(last.values()), tuple(files))
        _depths(decisions.chosen)
        return decisions

    @cached_property
    def apart(self) -> list[tuple[str, str]]:
        """The pairs that are kept apart."""
        return [one.pair for one in self.given if one.verdict() is False]

    @cached_property
    def chosen(self) -> list[tuple[str, str]]:
        """Pairs of which the first is to stay, and not the other."""
        named = [one for one in self.given if one.keep and one.verdict() is not False]
        return [(one.keep, one.a if one.keep == one.b else one.b) for one in named]

    def record(self) -> list[dict[str, str]]:
        """All of them, JSON-able, as `of` reads them again."""
        rows = [zip(FIELDS, (one.a, one.b, _label(one), one.keep, one.note), strict=True) for one in self.given]
        return [{name: value for name, value in row if value} for row in rows]

    @property
    def names(self) -> pa.Array:
        """The ids that they are about."""
        return pa.array(sorted({name for one in self.given for name in one.pair}), pa.string())

    def identity(self, *, layered: bool) -> dict[str, str]:
        """What finished steps of a run depend on: who was chosen, and where layers are `layered` before, all."""
        told = {"decisions": [self.chosen, self.apart]} if layered else {"chosen": self.chosen} if self.chosen else {}
        return {name: blake2b(json.dumps(one).encode(), digest_size=8).hexdigest() for name, one in told.items()}

    def located(self, ids: pa.Array) -> "Located":
        """The rows that they are about; `ids` is what documents are called, by row."""
        here = np.flatnonzero(computing.is_in(ids, self.names.cast(ids.type)).to_numpy(zero_copy_only=False))
        rows: dict[str, list[int]] = {}
        for row, name in zip(here.tolist(), ids.take(pa.array(here)).to_pylist(), strict=True):
            rows.setdefault(name, []).append(row)
        one = {name: found[0] for name, found in rows.items() if len(found) == 1}
        lost = tuple(pair for pair in (*self.apart, *self.chosen) if not one.keys() >= set(pair))
        names = dict.fromkeys(name for pair in lost for name in pair if name not in one)
        labels = [given.verdict() for given in self.given]
        return Located(
            _rows(self.apart, one), _rows(self.chosen, one), len(lost), tuple(names),
            {"read": len(labels), "confirmed": labels.count(True), "unsure": labels.count(None)},
        )  # fmt: skip


class Standings(NamedTuple):
    """What is known of documents, by row: of all, or (on a cluster) of the few that decisions are about."""

    best: Rows  # of those with equal features
    ranks: Rows  # the places in the order of priority
    sizes: Rows  # how many features each has
    num_against: int  # rows below it are the `against` side
    groups: Rows | None = None  # only documents of one group are compared


class Answers(NamedTuple):
    """What a run can tell of documents that stand for others."""

    similar: Callable[[Rows, Rows], Mask]  # which pairs are, the one of higher priority first
    staying: Callable[[Rows], Rows]  # how many of those that each stands for stay, of both sides


class Before(NamedTuple):
    """What became of decisions in layers before the method: of pairs that are kept apart, then of those with a choice.

    Attributes:
        pairs: who stands for the documents of each.
        fits: which were about documents that are the same to a layer.
        alike: pairs that are the same to a layer, and kept apart.
    """

    pairs: Rows
    fits: Mask
    alike: Rows


@dataclass(frozen=True, eq=False)
class Located:
    """The same by row.

    Attributes:
        apart: pairs that are kept apart, int64[n, 2].
        chosen: pairs of which the first is to stay.
        num_lost: decisions about documents that are not there, or that share their id.
        names: these ids.
        read: how many decisions there are, and what those say that change nothing.
    """

    apart: Rows
    chosen: Rows
    num_lost: int
    names: tuple[str, ...]
    read: Mapping[str, int]

    def places(self, num_rows: int) -> Rows:
        """By row the place of those that were chosen, the best first; of all others the last."""
        places = np.full(num_rows, UNCHOSEN)
        depths = _depths([(winner, loser) for winner, loser in self.chosen.tolist()])
        places[list(depths)] = list(depths.values())
        return places

    def between(self, known: Standings) -> Apart | None:
        """What is apart of the documents that stand for all with equal features, and of `stand_ins`."""
        a, b = (known.best[side] for side in self.apart.T)
        told = Apart(a[a != b], b[a != b]).also_of(self.stand_ins(known))
        return told if told.a.size else None

    def stand_ins(self, known: Standings) -> dict[int, int]:
        """By document of the `against` side the first copy that was told apart from it and from its like."""
        nobody, firsts = np.zeros(known.best.size, np.bool_), dict[int, int]()
        for row, keeper in self.among_copies(known, nobody, within=False).items():
            if row == keeper and known.best[row] < known.num_against:
                firsts.setdefault(int(known.best[row]), row)
        return firsts

    def among_copies(
        self, known: Standings, removed: Mask, *, within: bool, others: Collection[int] = ()
    ) -> dict[int, int]:
        """Who was told apart from a better copy that stays, each with its keeper; who stays is its own.

        Args:
            known: of each document, at least of these: who stands for it, and those of the `against` side that do, too.
            removed: Which go; who shares a witness with the one that stands for it has that.
            within: Whether documents that are not on the `against` side are compared with each other.
            others: Those whose `stand_ins` go for somebody else, who is called NO_COPY.
        """
        copies = self.apart[known.best[self.apart[:, 0]] == known.best[self.apart[:, 1]]]
        leaders = np.setdiff1d(known.best[copies[:, 0]], np.flatnonzero(removed))
        before, keepers = _before(copies, known.ranks), dict[int, int]()
        for members in _classes(known.best, leaders, known.ranks):
            other = NO_COPY if members[0] in others else None
            among = keepers_of(members, before, known.num_against, within=within, other=other)
            keepers |= {row: keeper for row, keeper in among.items() if row in before and row >= known.num_against}
        return keepers

    def counts(
        self, known: Standings, gone: Mask, found: Answers, before: Before | None = None, *, within: bool
    ) -> dict[str, Any]:
        """What became of them: how many were obeyed, and which no longer fit.

        Args:
            known: of documents.
            gone: Which go.
            found: what a run can tell of them.
            before: What became of them in layers before the method.
            within: Whether documents that are not on the `against` side are compared with each other.
        """
        if before is None:
            pairs = np.concatenate([self.apart, self.chosen])
            before = Before(pairs, np.zeros(len(pairs), np.bool_), self.apart[:0])
        num = len(before.pairs) - len(self.chosen)
        similar = _similar(before.pairs, known, found.similar)
        similar[num:] &= meets(before.pairs[num:], known.num_against, within=within)  # of those apart copies may meet
        apart, chosen = np.split(similar | before.fits, [num])
        won = ~gone[self.chosen[:, 0]] & gone[self.chosen[:, 1]]
        alike = before.alike[~_similar(before.alike, known, found.similar)]
        both = _both_kept(_different(before.pairs[:num]), known, gone, found, within=within)
        return {
            **self.read,
            "apart": int(apart.sum()),
            "chosen": int(won.sum()),
            "both_kept": both + int((~gone[_different(alike)].any(axis=1)).sum()),
            "not_similar": int((~apart).sum() + (~chosen & ~won).sum()),
            "overruled": int((chosen & ~won).sum()),
            "lost": self.num_lost,
            "lost_ids": list(self.names[:_SHOWN]),
        }


def _different(pairs: Rows) -> Rows:
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _both_kept(pairs: Rows, known: Standings, gone: Mask, found: Answers, *, within: bool) -> int:
    """How many pairs of documents both stay, though they are similar, and like these pairs."""
    of_copies = known.best[pairs[:, 0]] == known.best[pairs[:, 1]]
    copies = pairs[of_copies & (pairs[:, 0] != pairs[:, 1]) & (known.sizes[pairs[:, 0]] > 0)]
    both = int((meets(copies, known.num_against, within=within) & ~gone[copies].any(axis=1)).sum())
    leaders = _different(known.best[pairs[~of_copies]])
    smaller = known.sizes[leaders[:, 0]] < known.sizes[leaders[:, 1]]
    leaders[smaller] = leaders[smaller, ::-1]  # of one side, the larger set comes first where a measure has a direction
    against, judged = found.staying(np.unique(leaders))[:, np.searchsorted(np.unique(leaders), leaders)]
    directed = np.concatenate([leaders, leaders[:, ::-1]])
    forth, back = np.split(_compared(directed, known, found.similar), 2)
    across = forth * against[:, 0] * judged[:, 1] + back * against[:, 1] * judged[:, 0]
    return both + int(across.sum() + within * (forth * judged[:, 0] * judged[:, 1]).sum())


def staying(leaders: Rows, best: Rows, gone: Mask, num_against: int) -> Rows:
    """How many of the documents that some stand for stay, of the `against` side and of the other one."""
    rows = np.flatnonzero(np.isin(best, leaders) & ~gone)
    at, judged = np.searchsorted(leaders, best[rows]), rows >= num_against
    return np.stack([np.bincount(at[side], minlength=leaders.size) for side in (~judged, judged)])


def meets(pairs: Rows, num_against: int, *, within: bool) -> Mask:
    """Which pairs are compared: those of two sides, and within the judged one if that is asked for."""
    judged = (pairs >= num_against).sum(axis=1)
    return np.asarray((judged == 1) | ((judged == 2) & within))


def _similar(pairs: Rows, known: Standings, compared: Callable[[Rows, Rows], Mask]) -> Mask:
    """Which pairs are as similar as was asked, in whatever order they are given."""
    return _compared(np.stack(by_rank(pairs, known.ranks), axis=1), known, compared)


def _compared(pairs: Rows, known: Standings, compared: Callable[[Rows, Rows], Mask]) -> Mask:
    """The same of pairs whose first one comes first in the order of priority."""
    first, later = pairs.T
    a, b = known.best[first], known.best[later]
    similar = (a == b) & (first != later) & (known.sizes[first] > 0)
    similar[a != b] = compared(a[a != b], b[a != b])
    return np.asarray(similar if known.groups is None else similar & (known.groups[first] == known.groups[later]))


def met_similar(meeting: Any, bound: Bound, first: Rows, later: Rows) -> Mask:
    """Which documents have met, and are as similar as the bound asks; the first of each comes first in priority."""
    if not meeting:
        return np.zeros(first.size, np.bool_)
    rows = meeting.entries.rows
    wanted = np.isin(rows, np.concatenate([first, later]))
    number = dict(zip(rows[wanted].tolist(), np.flatnonzero(wanted).tolist(), strict=True))
    a, b = (np.array([number.get(row, -1) for row in side.tolist()], np.int64) for side in (later, first))
    met = (a >= 0) & (b >= 0)
    nums, dens = np.full(int(met.sum()), -1), np.empty(int(met.sum()), np.int64)
    deciding.verify_pairs(arrow.frozen(a[met]), arrow.frozen(b[met]), *meeting[1:], bound, nums, dens)
    met[met] = nums >= 0
    return np.asarray(met)


def by_rank(pairs: Rows, ranks: Rows) -> tuple[Rows, Rows]:
    """The documents of pairs, those of higher priority first."""
    swap = ranks[pairs[:, 0]] > ranks[pairs[:, 1]]
    return np.where(swap, pairs[:, 1], pairs[:, 0]), np.where(swap, pairs[:, 0], pairs[:, 1])


def _before(pairs: Rows, ranks: Rows) -> dict[int, set[int]]:
    before: dict[int, set[int]] = {}
    for first, later in zip(*(side.tolist() for side in by_rank(pairs, ranks)), strict=True):
        before.setdefault(later, set()).add(first)
    return before


def _classes(best: Rows, leaders: Rows, ranks: Rows) -> Iterator[list[int]]:
    """For each of some documents those that it stands for, in the order of priority: itself first."""
    rows = np.flatnonzero(np.isin(best, leaders))
    rows = rows[np.lexsort((ranks[rows], best[rows]))]
    ends = (np.searchsorted(best[rows], leaders, side) for side in ("left", "right"))
    for low, high in zip(*ends, strict=True):
        yield rows[low:high].tolist()


def _rows(pairs: list[tuple[str, str]], rows: Mapping[str, int]) -> Rows:
    return np.array([(rows[a], rows[b]) for a, b in pairs if a in rows and b in rows], np.int64).reshape(-1, 2)


def _label(one: JudgedPair) -> str:
    verdict = one.verdict()
    return "unknown" if verdict is None else "yes" if verdict else "no"


def _read(path: str) -> list[JudgedPair]:
    if wrong := no_path(path):
        message = f"decisions={path!r} has {wrong}, which no path can have"
        raise ConfigError(message, hint="Give the path of a file.")
    return read_judgements(path)


def _consistent(name: str, read: Sequence[JudgedPair]) -> dict[tuple[str, str], JudgedPair]:
    """Decisions by their pairs; `name`: what lines are of.

    Raises:
        ConfigError: Two are about one pair, and differ; or one keeps a third document.
    """
    known: dict[tuple[str, str], JudgedPair] = {}
    for one in read:
        where = f"{name} {one.line}"
        if one.keep not in ("", one.a, one.b):
            message = f"{where}: keep is {one.keep!r}, which is neither {one.a!r} nor {one.b!r}"
            raise ConfigError(message, hint="Name one of the two, or nothing.")
        before = known.setdefault(one.pair, one)
        if (before.verdict(), before.keep) != (one.verdict(), one.keep):
            message = f"{where}: {one.a!r} and {one.b!r} are decided twice, differently"
            raise ConfigError(message, hint="Leave one of the two out.")
    return known


def _depths(chosen: Sequence[tuple[Any, Any]]) -> dict[Any, int]:
    """Of those that were chosen how many others, one after the other, were chosen over them.

    Raises:
        ConfigError: Each of several was chosen over another of them.
    """
    winners = {winner for winner, _ in chosen}
    beaten_by: dict[Any, list[Any]] = {winner: [] for winner in winners}
    for winner, loser in chosen:
        if loser in winners:
            beaten_by[loser].append(winner)
    left, over = {one: len(by) for one, by in beaten_by.items()}, defaultdict[Any, list[Any]](list)
    for one, by in beaten_by.items():
        for winner in by:
            over[winner].append(one)
    depths = dict.fromkeys((one for one, several in left.items() if not several), 0)
    ready = [*depths]
    for one in ready:  # each comes behind all that were chosen over it
        for beaten in over[one]:
            left[beaten] -= 1
            depths[beaten] = max(depths.get(beaten, 0), depths[one] + 1)
            if not left[beaten]:
                ready.append(beaten)
    if len(ready) < len(winners):
        names = ", ".join(repr(one) for one in sorted(winners - {*ready})[:_SHOWN])
        message = f"decisions: of {names} each is kept in place of another of them"
        raise ConfigError(message, hint="Leave one of these decisions out.")
    return depths
