"""`report`: a finished run as one page: what was found, how sure it is, and the pairs to be looked at.

1. Counts are of the whole run; pairs and texts are some of them, chosen evenly over the order of similarity.
2. The same run gives the same report: nothing in it is drawn, and no clock is looked at but the run's own.
"""

import dataclasses
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.answers.changes import RunChanges
from nearsame.answers.reports import (
    Breakdown,
    ClusterGraph,
    RunReport,
    SeenCluster,
    SeenDocument,
    SeenPair,
    StepCost,
)
from nearsame.arrow import Int64s
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, MissingExtraError, SourceError
from nearsame.files.inputs import name_as_text
from nearsame.flow.results import Pairs, Result
from nearsame.outputs.examples import spread
from nearsame.outputs.page_data import brief, printed_bytes
from nearsame.outputs.promises import below, guarantee, measured
from nearsame.printable import shortened
from nearsame.recipes.arguments import checked
from nearsame.recipes.methods import Method
from nearsame.studies.breakdowns import breakdowns, maps
from nearsame.studies.cluster_graphs import graph
from nearsame.studies.distributions import bins, cluster_table, curve, sampled_bins, sizes
from nearsame.studies.finished import Finished, finished
from nearsame.studies.frequent_parts import SharedPassages, frequent_parts
from nearsame.studies.headlines import figures, told
from nearsame.studies.report_room import DATA_BYTES, costs, evenly, fitting, seen_document, spread_within
from nearsame.studies.run_changes import changes
from nearsame.studies.second_reading import Facts
from nearsame.studies.side_by_side import LaidOut, Sides
from nearsame.studies.thresholds import Thresholds

__all__ = ["report"]

_PAIRS = 2_000  # that the page lists
_BESIDE = 300  # of them with texts, at most
_BESIDE_BYTES = 1_500_000  # of these texts
_READ_CHARACTERS = 20_000_000  # compared for them
_CLUSTERS = 200
_GRAPHS, _MEMBERS = 12, 20  # clusters that are drawn, and how many of their members
_DRAWN = 3  # documents that a cluster has at least which is drawn: of two there is one line to see
_ID_BYTES, _CLUSTER_BYTES, _GRAPH_BYTES = 300_000, 100_000, 100_000  # of ids and sources
_SENTENCE, _SETTING, _VALUE = 2_000, 2_000, 200  # characters of a remark, of a setting, and of a name in a heading
_EXCERPT = 120
_COPIES = ("bytes", "words", "edits")  # of the whole


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
    name = name_as_text(os.fsdecode(against)) if isinstance(against, str | os.PathLike) else "the older run"
    made = _Making(run, texts, changes(run, older, name)).report
    return replace(made, inputs=made.inputs + older.inputs)


@dataclass
class _Making:
    """A report being made of a run."""

    run: Finished
    with_texts: bool
    changes: RunChanges | None = None
    unread: str = ""  # why sources cannot be read again

    @property
    def report(self) -> RunReport:
        """All of it."""
        run, stats, names = self.run, self.run.stats, self.run.sources.names
        facts = self._facts
        lower = sampled_bins(stats.audit or {})
        found = RunReport(
            of=run.of,
            title=", ".join(shortened(name, _VALUE) for name in names[:3]) + (" and more" if len(names) > 3 else ""),
            measure=stats.measure,
            least=stats.least,
            figures=tuple(figures(run, self._keys, facts)),
            promise=guarantee(stats) if run.of == "dedup" else "",
            measured=measured(stats.audit) if stats.audit else "",
            remarks=tuple(shortened(one, _SENTENCE) for one in told(run)),
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
            pairs=tuple(seen for seen, _ in self._seen),
            clusters=self._clusters,
            graphs=tuple(self._graphs()),
            parts=frequent_parts(self._shared),
            untold=self._untold,
            recipe=_told_settings(stats.recipe),
            versions=dict(stats.versions),
            changes=self.changes,
            data=run.data,
            inputs=run.inputs,
            table=run.pairs,
        )
        return self._with_views(found)

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
        return spread_within(self._similarity, _PAIRS, partial(costs, self.run.pairs), _ID_BYTES)

    @property
    def _documents(self) -> tuple[SeenDocument, ...]:
        """Those of the page."""
        return tuple(self._named[1])

    @property
    def _numbers(self) -> dict[tuple[str, int], int]:
        """Of each its place on the page, by source and row."""
        return self._named[0]

    @cached_property
    def _named(self) -> tuple[dict[tuple[str, int], int], list[SeenDocument]]:
        drawn = [pairs for _, pairs in self._drawn]
        some = self.run.pairs.take(pa.array(np.concatenate([self._chosen, self._first_of_clusters, *drawn])))
        rows, numbers, documents = some.to_pylist(), dict[tuple[str, int], int](), list[SeenDocument]()
        for side, row in ((side, row) for side in "ab" for row in rows):
            place = row[f"{side}_source"], row[f"{side}_row"]
            if place not in numbers:
                numbers[place] = len(documents)
                documents.append(seen_document(row, side))
        return numbers, documents

    @cached_property
    def _first_of_clusters(self) -> Int64s:
        """A pair of each cluster that is listed."""
        first = self._cluster_table[2][:_CLUSTERS]
        return first[: fitting(costs(self.run.pairs, first), _CLUSTER_BYTES)]

    @property
    def _clusters(self) -> tuple[SeenCluster, ...]:
        listed = self._first_of_clusters.size
        numbers, sizes, first, least = (column[:listed] for column in self._cluster_table)
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
        sizes = [int(costs(self.run.pairs, pairs).sum()) for _, pairs in drawn]
        return drawn[: fitting(sizes, _GRAPH_BYTES)]

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
        """The one of the run, where it goes by nothing but what can be counted here, and the texts can be read."""
        method = self._sides.method
        is_counted = method.measure == "jaccard" and method.second is None and not method.drops_boilerplate
        return method if self._read and is_counted else None

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
    def _seen(self) -> list[tuple[SeenPair, LaidOut | None]]:
        """The pairs, and what was found of those whose texts were compared."""
        rows = self.run.pairs.take(pa.array(self._chosen)).to_pylist()
        texts, seen = self._texts(), list[tuple[SeenPair, LaidOut | None]]()
        for at, (row, bits) in enumerate(zip(rows, self._thresholds.bits(self._chosen).tolist(), strict=True)):
            pair = SeenPair(
                self._numbers[row["a_source"], row["a_row"]],
                self._numbers[row["b_source"], row["b_row"]],
                row["similarity"],
                row["measure"],
                at=bits,
                cluster=row.get("cluster"),
                reasons=self._sides.without_texts(row),
            )
            both = self._sides.of_pair(texts[at], row) if at in texts else None
            if both is not None:
                excerpt = " ".join(texts[at][0][: 4 * _EXCERPT].split())[:_EXCERPT]
                pair = replace(pair, kind=both.kind, excerpt=excerpt, reasons=both.view.reasons)
            seen.append((pair, both))
        return seen

    @property
    def _shared(self) -> list[SharedPassages]:
        """What pairs share that are no copies of the whole."""
        return [
            SharedPassages(at, pair.a, pair.b, both.passages)
            for at, (pair, both) in enumerate(self._seen)
            if both is not None and both.kind not in _COPIES
        ]

    def _with_views(self, found: RunReport) -> RunReport:
        """The report with the texts of as many pairs as there is room for, over the whole range of similarity."""
        left = min(_BESIDE_BYTES, DATA_BYTES - printed_bytes(found.record()))
        views = {at: both.view for at, (_, both) in enumerate(self._seen) if both is not None}
        known, chosen = list(views), set[int]()
        for at in (known[number] for number in evenly(len(known))):
            size = printed_bytes(dataclasses.asdict(views[at]))
            if size <= left:
                left -= size
                chosen.add(at)
        numbers = {at: number for number, at in enumerate(sorted(chosen))}
        pairs = tuple(
            replace(pair, beside=numbers[at], reasons=()) if at in numbers else pair
            for at, pair in enumerate(found.pairs)
        )
        return replace(found, pairs=pairs, beside=tuple(views[at] for at in numbers))

    def _texts(self) -> dict[int, tuple[str, str]]:
        """The texts of some of the pairs, by their places on the page."""
        known, left = {}, _READ_CHARACTERS
        for place in (self._placed[at] for at in evenly(self._placed.size)) if self._read else ():
            a, b = (self._read[int(side[self._chosen[place]])] for side in self._keys)
            if len(a) + len(b) <= left:
                left -= len(a) + len(b)
                known[int(place)] = a, b
        return known

    @property
    def _untold(self) -> str:
        if not self.with_texts:
            return "this report was made without texts"
        if self._facts is None:
            return f"the sources cannot be read again: {self.unread}"
        return "" if self.run.sources.are_texts else "documents are numbers"


def _told_settings(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a page has room for: of decisions their number."""
    decisions = {"decisions": len(recipe["decisions"])} if recipe.get("decisions") else {}
    return brief({**recipe, **decisions}, _SETTING)
