"""`report`: a finished run as one page: what was found, how sure it is, and the pairs to be looked at.

1. Counts are of the whole run; pairs and texts are some of them, chosen evenly over the order of similarity.
2. The same run gives the same report: nothing in it is drawn, and no clock is looked at but the run's own.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.answers.reports import (
    Breakdown,
    ClusterGraph,
    Figure,
    FrequentPart,
    RunReport,
    SeenCluster,
    SeenDocument,
    SeenPair,
    SideBySide,
    StepCost,
)
from nearsame.arrow import Int64s
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, MissingExtraError, SourceError
from nearsame.flow.results import Pairs, Result
from nearsame.outputs.console import described
from nearsame.outputs.examples import spread
from nearsame.outputs.promises import (
    below,
    component,
    condition,
    content,
    guarantee,
    in_bytes,
    measured,
    near,
    percent,
    plural,
)
from nearsame.outputs.remarks import remarks
from nearsame.recipes.arguments import checked
from nearsame.recipes.methods import Method
from nearsame.studies.breakdowns import breakdowns, maps
from nearsame.studies.cluster_graphs import graph
from nearsame.studies.distributions import bins, cluster_table, curve, sampled_bins, sizes
from nearsame.studies.finished import Finished, finished
from nearsame.studies.frequent_parts import SharedPassages, frequent_parts
from nearsame.studies.run_changes import changes
from nearsame.studies.second_reading import Facts
from nearsame.studies.side_by_side import Sides
from nearsame.studies.thresholds import Thresholds

__all__ = ["report"]

_PAIRS = 2_000  # that the page lists
_BESIDE = 300  # of them with texts, at most
_BESIDE_BYTES = 1_500_000  # of these texts
_READ_CHARACTERS = 20_000_000  # compared for them
_CLUSTERS = 200
_GRAPHS, _MEMBERS = 12, 20  # clusters that are drawn, and how many of their members
_DRAWN = 3  # documents that a cluster has at least which is drawn: of two there is one line to see
_ID_BYTES = 400_000  # of ids and sources
_EXCERPT = 120
_COPIES = ("bytes", "words", "edits")  # of the whole


_NAMES = ["a_id", "a_source", "b_id", "b_source"]


@checked
def report(
    found: Result | Pairs | str | os.PathLike[str],
    *,
    texts: bool = True,
    against: Result | str | os.PathLike[str] | None = None,
) -> RunReport:
    """What a finished run says, for people: written as a page by `write_report`.

    Args:
        found: What `dedup` or `pairs` gave, or the folder that `dedup -o` or `Result.write` wrote.
        texts: Whether texts of documents stand in it; without, only their ids and sources do.
        against: An older run of `dedup`, or its folder: what it decided otherwise, and why, stands in the report, too.

    Raises:
        ConfigError: The run was on Spark, or `against` is given of `pairs`.
        SourceError: The folder is not an output of dedup.

    Example:
        >>> report(dedup(["a rose is a rose is a rose", "A rose is a rose is a rose."])).num_pairs
        1
    """
    run = finished(found)
    if against is None:
        return _Making(run, texts).report
    older = finished(against)
    if (run.of, older.of) != ("dedup", "dedup"):
        raise ConfigError(
            "pairs decides nothing that another run could decide otherwise", hint="Compare runs of dedup."
        )
    name = os.fspath(against) if isinstance(against, str | os.PathLike) else "the older run"
    made = _Making(run, texts).report
    return replace(made, changes=changes(run, older, name), inputs=made.inputs + older.inputs)


@dataclass
class _Making:
    """A report being made of a run."""

    run: Finished
    with_texts: bool
    unread: str = ""  # why sources cannot be read again

    @property
    def report(self) -> RunReport:
        """All of it."""
        run, stats = self.run, self.run.stats
        facts = self._facts
        beside, pairs, parts = self._beside_and_pairs
        lower = sampled_bins(stats.audit or {})
        return RunReport(
            of=run.of,
            title=", ".join(run.sources.names[:3]) + (" and more" if len(run.sources.names) > 3 else ""),
            measure=stats.measure,
            least=stats.least,
            figures=tuple(self._figures(facts)),
            promise=guarantee(stats) if run.of == "dedup" else "",
            measured=measured(stats.audit) if stats.audit else "",
            remarks=tuple(self._remarks()),
            bins=bins(self._similarity, self._thresholds.grid),
            below=lower,
            below_note=below(stats.audit or {}),
            curve=curve(self._sides.method, [*(one.least for one in lower), *map(float, self._thresholds.grid)]),
            thresholds=tuple(self._thresholds.decided()),
            unmoved=run.fixed,
            sizes=sizes(self._cluster_table[1]),
            breakdowns=() if facts is None else self._breakdowns(facts),
            maps=() if facts is None else maps(run.sources.names, facts, self._keys, self._thresholds.standing),
            steps=tuple(self._steps()),
            num_pairs=len(run.pairs),
            documents=self._documents,
            pairs=pairs,
            clusters=self._clusters,
            graphs=tuple(self._graphs()),
            beside=beside,
            parts=parts,
            untold=self._untold,
            recipe=dict(stats.recipe),
            versions=dict(stats.versions),
            inputs=run.inputs,
        )

    @cached_property
    def _facts(self) -> Facts | None:
        """What the sources say; nothing where they cannot be read."""
        self.unread = self.run.sources.missing
        if self.unread:
            return None
        try:
            return self.run.sources.facts()
        except (SourceError, MissingExtraError) as error:
            self.unread = error.message
            return None

    def _breakdowns(self, facts: Facts) -> tuple[Breakdown, ...]:
        touched = self._thresholds.touched(facts.keys, self._keys)
        return breakdowns(self.run.sources.names, facts, touched)

    def _figures(self, facts: Facts | None) -> Iterator[Figure]:
        stats = self.run.stats
        judged = max(stats.documents - stats.against, 1)
        yield Figure("documents", f"{stats.documents:,}", f"{in_bytes(stats.text_bytes)} of {content(stats)}")
        if self.run.of == "pairs":
            yield Figure("pairs", f"{len(self.run.pairs):,}", condition(stats))
            yield Figure("in a pair", f"{np.unique(np.concatenate(self._keys)).size:,}", "documents")
            return
        yield Figure("kept", f"{stats.kept:,}", percent(stats.kept / judged, 1))
        yield Figure("removed", f"{stats.removed:,}", percent(stats.removed / judged, 1))
        yield Figure("exact copies", f"{stats.exact_copies:,}", f"the same {content(stats)}")
        yield Figure("near copies", f"{stats.near_copies:,}", near(stats))
        if stats.known_copies:
            yield Figure("known", f"{stats.known_copies:,}", "to an index that was asked")
        if stats.other_copies > stats.known_copies:
            by_word = stats.other_copies - stats.known_copies
            yield Figure("not by text", f"{by_word:,}", "by URLs and what pages say")
        yield Figure("clusters", f"{stats.clusters:,}", "of two documents or more")
        if facts is not None:
            gone = int(facts.sizes[np.isin(facts.keys, self._keys[0])].sum())
            share = f"{percent(gone / max(int(facts.sizes[facts.judged].sum()), 1), 1)} of what was judged"
            yield Figure("saved", in_bytes(gone), share)

    def _remarks(self) -> Iterator[str]:
        run, stats = self.run, self.run.stats
        if not stats.documents:
            yield "No document was read."
        if stats.component:
            yield f"The {component(stats)}"
        if stats.chained:
            yield f"{stats.chained:,} {plural(stats.chained, 'document')} less similar to their witness: by a chain."
        yield from remarks(stats, run.passed_over)
        if stats.skipped:
            first = described(run.skipped.slice(0, 1).to_pylist()[0]) if len(run.skipped) else ""
            yield f"{stats.skipped:,} {plural(stats.skipped, 'record')} could not be read; the first: {first}."

    @cached_property
    def _keys(self) -> tuple[Int64s, Int64s]:
        """Of each pair its documents, by their keys in the sources."""
        pairs, keys = self.run.pairs, self.run.sources.keys
        of_pairs = self.run.of == "pairs"
        return (
            keys(pairs.column("a_source"), pairs.column("a_row"), judged=not (of_pairs and self.run.stats.against)),
            keys(pairs.column("b_source"), pairs.column("b_row"), judged=of_pairs),
        )

    @cached_property
    def _similarity(self) -> Any:
        return self.run.pairs.column("similarity").to_numpy()

    @cached_property
    def _thresholds(self) -> Thresholds:
        return Thresholds(self.run, self._sides.method)

    @cached_property
    def _cluster_table(self) -> tuple[Int64s, Int64s, Int64s, Any]:
        """Of clusters, largest first: number, documents, and a pair of it; the least similarity."""
        if self.run.of == "pairs":
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        return cluster_table(self.run.pairs.column("cluster").to_numpy(), self._similarity)

    def _steps(self) -> Iterator[StepCost]:
        volumes = self.run.stats.bytes
        for step, seconds in self.run.stats.seconds.items():
            known = volumes.get(step, {})
            yield StepCost(step, seconds, known.get("in"), known.get("out"), self.run.peaks.get(step))

    @cached_property
    def _chosen(self) -> Int64s:
        """The pairs of the page, the least similar first."""
        same = self._similarity >= 1
        chosen = spread(self._similarity, same, _PAIRS)
        named = self.run.pairs.select(_NAMES).take(pa.array(chosen))
        size = sum(pc.sum(pc.binary_length(column)).as_py() or 0 for column in named.columns)
        if size > _ID_BYTES:
            chosen = spread(self._similarity, same, max(1, chosen.size * _ID_BYTES // size))
        return chosen[np.argsort(self._similarity[chosen], kind="stable")]

    @cached_property
    def _numbers(self) -> dict[tuple[str, int], int]:
        """The documents of the page, by source and row."""
        return {(one.source, one.row): at for at, one in enumerate(self._documents)}

    @cached_property
    def _documents(self) -> tuple[SeenDocument, ...]:
        drawn = [pairs for _, pairs in self._drawn]
        some = self.run.pairs.take(pa.array(np.concatenate([self._chosen, self._cluster_table[2][:_CLUSTERS], *drawn])))
        sides = [
            zip(*(some.column(f"{side}_{name}").to_pylist() for name in ("id", "source", "row")), strict=True)
            for side in "ab"
        ]
        return tuple(SeenDocument(*one) for one in dict.fromkeys([*sides[0], *sides[1]]))

    @property
    def _clusters(self) -> tuple[SeenCluster, ...]:
        numbers, sizes, first, least = (column[:_CLUSTERS] for column in self._cluster_table)
        keepers = [
            self._numbers[one["b_source"], one["b_row"]]
            for one in self.run.pairs.select(["b_source", "b_row"]).take(pa.array(first)).to_pylist()
        ]
        columns = numbers.tolist(), keepers, sizes.tolist(), least.tolist(), self._thresholds.of_clusters(numbers)
        return tuple(SeenCluster(*one) for one in zip(*columns, strict=True))

    @cached_property
    def _drawn(self) -> list[tuple[int, Int64s]]:
        """The clusters that are drawn, each with some of its pairs, over the whole range of similarity."""
        drawn, (numbers, documents, *_) = [], self._cluster_table
        for number in numbers[documents >= _DRAWN][:_GRAPHS].tolist():
            pairs = np.flatnonzero(self.run.pairs.column("cluster").to_numpy() == number)
            few = spread(self._similarity[pairs], np.zeros(pairs.size, np.bool_), _MEMBERS - 1)
            drawn.append((number, pairs[few]))
        return drawn

    def _graphs(self) -> Iterator[ClusterGraph]:
        for number, pairs in self._drawn:
            rows = self.run.pairs.take(pa.array(pairs)).to_pylist()
            members = [self._numbers[row["a_source"], row["a_row"]] for row in rows]
            keeper = self._numbers[rows[0]["b_source"], rows[0]["b_row"]]
            keys = self._keys[0][pairs].tolist()
            texts = {member: self._read[key] for member, key in zip(members, keys, strict=True) if key in self._read}
            yield graph(number, [keeper, *members], self._similarity[pairs].tolist(), texts, self._method)

    @property
    def _method(self) -> Method | None:
        """The one of the run, where it goes by what can be counted here, and the texts can be read."""
        return self._sides.method if self._read and self._sides.method.measure == "jaccard" else None

    @cached_property
    def _sides(self) -> Sides:
        return Sides(self.run.stats.recipe, self.run.of, self.run.stats.least)

    @cached_property
    def _placed(self) -> Int64s:
        """The pairs that have their texts on the page, by their places there."""
        places = np.unique(np.linspace(0, self._chosen.size - 1, _BESIDE).round().astype(np.int64))
        return places if self._chosen.size else places[:0]

    @cached_property
    def _read(self) -> dict[int, str]:
        """All texts that the page needs, by the keys of their documents."""
        if self._untold:
            return {}
        drawn = [self._keys[0][pairs] for _, pairs in self._drawn]
        keys = np.unique(np.concatenate([*(side[self._chosen[self._placed]] for side in self._keys), *drawn]))
        return dict(zip(keys.tolist(), self.run.sources.texts(keys), strict=True))

    @cached_property
    def _beside_and_pairs(self) -> tuple[tuple[SideBySide, ...], tuple[SeenPair, ...], tuple[FrequentPart, ...]]:
        """The pairs, the texts of as many as there is room for, and what many of these share."""
        rows = self.run.pairs.take(pa.array(self._chosen)).to_pylist()
        texts = self._texts()
        beside: list[SideBySide] = []
        pairs, shared, left = [], [], _BESIDE_BYTES
        for at, (row, bits) in enumerate(zip(rows, self._thresholds.bits(self._chosen).tolist(), strict=True)):
            seen = SeenPair(
                self._numbers[row["a_source"], row["a_row"]],
                self._numbers[row["b_source"], row["b_row"]],
                row["similarity"],
                row["measure"],
                at=bits,
                cluster=row.get("cluster"),
                reasons=self._sides.without_texts(row),
            )
            if at in texts:
                both = self._sides.of_pair(texts[at], row)
                if both.kind not in _COPIES:
                    shared.append(SharedPassages(at, seen.a, seen.b, both.passages))
                excerpt = " ".join(texts[at][0][: 4 * _EXCERPT].split())[:_EXCERPT]
                seen = replace(seen, kind=both.kind, excerpt=excerpt, reasons=both.view.reasons)
                if both.size <= left:
                    left -= both.size
                    seen = replace(seen, beside=len(beside), reasons=())
                    beside.append(both.view)
            pairs.append(seen)
        return tuple(beside), tuple(pairs), frequent_parts(shared)

    def _texts(self) -> dict[int, tuple[str, str]]:
        """The texts of some of the pairs, by their places on the page."""
        known, left = {}, _READ_CHARACTERS
        for place in self._placed.tolist() if self._read else ():
            a, b = (self._read[int(side[self._chosen[place]])] for side in self._keys)
            left -= len(a) + len(b)
            if left >= 0:
                known[place] = a, b
        return known

    @property
    def _untold(self) -> str:
        if not self.with_texts:
            return "this report was made without texts"
        if self._facts is None:
            return f"the sources cannot be read again: {self.unread}"
        return "" if self.run.sources.are_texts else "documents are numbers"
