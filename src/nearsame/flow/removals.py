"""The removed documents of one answer: whose word removed them, with what similarity, on what evidence.

1. Everything here follows from what was decided; nothing is decided here, except again at a higher threshold.
2. Columns that not every run has (`layer`, `via_…`, `evidence`, `same_host`) stand behind those that every run has.
"""

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import computing
from nearsame.answers.stats import NUM_LARGEST, Stats, compared_by
from nearsame.arrow import Mask, Rows, distinct
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.flow import kept, pipeline
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import Question, State
from nearsame.flow.evidence import PageEvidence, PageFacts
from nearsame.flow.kept import Choices
from nearsame.flow.layer_names import GUESSED
from nearsame.flow.one_file import write_one
from nearsame.flow.runs import Run
from nearsame.outputs import tables
from nearsame.outputs.destinations import Destination
from nearsame.outputs.examples import some
from nearsame.outputs.folder import require_place
from nearsame.recipes.methods import Method
from nearsame.stages.clusters.keepers import Decided
from nearsame.stages.pairs.evidence import LISTS
from nearsame.stages.pairs.expand import Listed, by_priority
from nearsame.stages.pairs.join import JoinedPairs
from nearsame.stages.pairs.measures import LARGEST, fraction_at_least

if TYPE_CHECKING:
    from nearsame.flow.layers import Layers, Settled

__all__ = ["Removals"]


@dataclass(frozen=True)
class Removals:
    """Removed documents and their witnesses, and what follows for all others.

    Attributes:
        run: what was read, and what is known of it.
        method: by which was decided: that of the run, or one of a higher threshold.
        text: what the method decided.
    """

    run: Run
    method: Method
    text: Decided

    @property
    def state(self) -> State[Arrays]:
        """What the method knew."""
        return self.run.state

    @property
    def names(self) -> tables.RowNames:
        """What rows are called."""
        return self.run.names

    @property
    def layers(self) -> "Layers | None":
        """What ran before the method, if anything did."""
        return self.run.layers

    @property
    def pages(self) -> PageFacts | None:
        """What is known of documents as pages, if anything is."""
        return self.run.pages

    @cached_property
    def settled(self) -> "Settled | None":
        """All layers together, where there are several."""
        return None if self.layers is None else self.layers.settled(self.text)

    @property
    def decided(self) -> Decided:
        """Who is removed, and by which witness."""
        return self.text if self.settled is None else self.settled.decided

    @cached_property
    def similarity(self) -> npt.NDArray[np.float64]:
        """Of each with its witness, or where they were never compared, with `via`."""
        return self.decided.nums / self.decided.dens

    @cached_property
    def by_method(self) -> Mask:
        """Which of them the method itself removed."""
        if self.settled is None or self.layers is None:
            return np.ones(self.decided.rows.size, np.bool_)
        return np.array([name == "text" for name in self.layers.use])[self.settled.layer]

    @cached_property
    def measured(self) -> Mask:
        """Of which of them the similarity is the method's, their own or that of a copy with the same bytes."""
        if self.settled is None or self.layers is None:
            return ~self.chained
        names = np.array([name in ("text", GUESSED) for name in self.layers.use])
        by_layer = names[np.minimum(self.settled.measure, names.size - 1)] & (self.settled.measure < names.size)
        return np.asarray(by_layer & ~self.settled.chained & ~self.chained)

    @cached_property
    def same_text(self) -> Mask:
        """Which of them have the same text as their witness, before anything is dropped from it."""
        knows: Any = self.state.corpus.about if self.layers is None else self.layers
        is_same: Mask = knows.same_text(self.decided.rows, self.decided.witnesses)
        return is_same

    @cached_property
    def chained(self) -> Mask:
        """Which of them are not similar to their witness, but joined with it by a chain of similar pairs."""
        least = fraction_at_least(self.method.least, LARGEST)  # else the products would overflow
        below = self.decided.nums * least.denominator < self.decided.dens * least.numerator
        return np.asarray(below & (self.decided.component is not None))

    @cached_property
    def measures(self) -> pa.Array:
        """What each similarity is; of those that are below the threshold, that they are."""
        measures = tables.same(self.run.measure, self.decided.rows.size)
        if self.chained.any():
            measures = computing.if_else(pa.array(self.chained), "component", measures)
        if self.settled is None or self.layers is None:
            return measures
        layers = pa.array(self.layers.measures, pa.string())
        measures = computing.coalesce(computing.take(layers, pa.array(self.settled.measure)), measures)
        return computing.if_else(pa.array(self.settled.chained), "chain", measures)

    @cached_property
    def evidence(self) -> PageEvidence | None:
        """What else speaks for it, where documents have URLs."""
        if self.pages is None or not self.pages.have_urls:
            return None
        text = self.same_text | (self.by_method & self._same_features)
        same_bytes = self.same_text
        if self.pages.reading.pages:  # what was digested is what was taken out of them
            knows = self.pages.same_payload if self.layers is None else self.layers.same_bytes
            same_bytes = knows(self.decided.rows, self.decided.witnesses)
        holds = {"bytes": same_bytes, "text": text, "near": self.measured & ~text}
        return self.pages.evidence(self.decided.rows, self.decided.witnesses, holds)

    @property
    def _same_features(self) -> Mask:
        """Which of them are to the method the same text as their witness."""
        best = self.state.corpus.best
        if not self.state.method.tells_texts:
            return np.zeros(self.decided.rows.size, np.bool_)  # codes and vectors may be the same for different texts
        return np.asarray(best[self.decided.rows] == best[self.decided.witnesses])

    @cached_property
    def table(self) -> pa.Table:
        """The removed documents, each with its witness, similarity and cluster (the witness's number)."""
        decided = self.decided
        plain = tables.removed_table(self.names, decided.rows, decided.witnesses, self.similarity, self.measures)
        return tables.extended(plain, {**self._layer_columns(), **self._evidence_columns()})

    @cached_property
    def clusters(self) -> pa.Table:
        """Keepers and the documents that they are the witness of, cluster by cluster."""
        decided = self.decided
        return tables.clusters_table(
            self.names, decided.rows, decided.witnesses, self.similarity, self._evidence_columns()
        )

    @cached_property
    def groups(self) -> Rows:
        """By row the keeper of its cluster; a document without any has its own."""
        keepers = np.arange(len(self.names.origins))
        keepers[self.decided.rows] = self.decided.witnesses
        return keepers

    @cached_property
    def pairs(self) -> pa.Table:
        """Each removed document with its witness, as a pair."""
        rows, witnesses, nums, dens = self.decided[:4]
        a, b = np.minimum(rows, witnesses), np.maximum(rows, witnesses)
        order = np.lexsort((b, a))
        pairs = JoinedPairs(a[order], b[order], nums[order], dens[order])
        listed = Listed(pairs.a, pairs.b, self.similarity[order], self._beside(pairs, order))
        if self.run.settings["ties"] == "content":  # as on Spark, where rows have no order
            places = np.ones(len(self.names.origins), np.int64)
            places[witnesses] = 0
            listed = by_priority(listed, places, self.state.step.mirror)
        return self.run.pairs_table(listed, computing.take(self.measures, pa.array(order)))

    def _beside(self, pairs: JoinedPairs, order: Rows) -> npt.NDArray[np.float64]:
        """What the method says of pairs besides their similarity; of others than its own nothing, NaN."""
        own = self.by_method[order]
        if own.all():
            return pipeline.beside(self.state, pairs)
        some = pipeline.beside(self.state, JoinedPairs(pairs.a[own], pairs.b[own], pairs.nums[own], pairs.dens[own]))
        out = np.full((some.shape[0], own.size), np.nan)
        out[:, own] = some
        return out

    def counts(self) -> dict[str, Any]:
        """What statistics say of them."""
        exact, own = int(self.same_text.sum()), self.measured | self.by_method
        keepers = distinct(self.decided.witnesses)
        sizes = np.bincount(np.searchsorted(keepers, self.decided.witnesses))
        first = np.lexsort((keepers, -sizes))[:NUM_LARGEST]
        ids = self.names.of(keepers[first])[0].to_pylist()
        counts: dict[str, Any] = {
            **compared_by(self.decided.work.record()),
            "component": self.decided.component,
            "clusters": keepers.size,
            "largest": tuple(zip(ids, (sizes[first] + 1).tolist(), strict=True)),
            "exact_copies": exact,
            "near_copies": int((own & ~self.same_text).sum()),
            "other_copies": int((~own & ~self.same_text).sum()),
            "removed": self.decided.rows.size,
            "chained": int(self.chained.sum()),
            "layers": self._layer_counts(),
            "decisions": self._decided(),
        }
        if self.evidence is not None:
            counts["evidence"] = self.evidence.counts()
            counts["same_host"], counts["cross_host"] = self.evidence.sides()
        return counts

    def at(self, method: Method) -> "Removals":
        """The same at a higher threshold, decided again on the stored keys and features."""
        question = Question.of_run(method, self.run.settings)
        return Removals(self.run, method, pipeline.decide(self.state, question, Clock()))

    def records(self, *, stay: bool) -> Any:
        """The documents that stay or go, with all their columns, as what they came as."""
        return kept.records(self.run, self.decided, stay=stay)

    def examples(self, count: int | None) -> pa.Table:
        """Some of the removals, or all, with the texts of both sides."""
        chosen = some(self.similarity, self.same_text, count)
        table = computing.take(self.table, pa.array(chosen))
        for name, rows in (("text", self.decided.rows), ("witness_text", self.decided.witnesses)):
            table = table.append_column(name, pa.array(self.run.texts(rows[chosen]), pa.large_string()))
        return table

    def write(self, place: Destination, stats: Stats, choices: Choices, *, overwrite: bool) -> Stats:
        """Write an output folder with the copies and tables that `choices` ask for, or one file."""
        if choices.features:
            raise ConfigError(
                "features are kept on Spark only", hint="Leave it out; here, `nearsame index` keeps them."
            )
        if not place.is_folder:
            drop = choices.drop_unreadable
            return write_one(self.run, self.decided, stats, place, overwrite=overwrite, drop_unreadable=drop)
        made = partial(self._tables, pairs=choices.pairs)
        there = require_place(place.typed, self.run.inputs, overwrite=overwrite)
        return kept.write(self.run, self.decided, stats, made, there, choices)

    def _tables(self, *, pairs: bool) -> dict[str, pa.Table]:
        by_name = {"removed": self.table, "clusters": self.clusters}
        if pairs:
            by_name["pairs"] = self.pairs
        if self.state.frequency_table is not None:
            by_name["frequencies"] = self.state.frequency_table
        if self.run.reading.skipped:
            by_name["skipped"] = self.run.skipped
        return by_name

    def _decided(self) -> dict[str, Any]:
        """What became of what people have decided."""
        state, within = self.state, self.run.settings["within"]
        bound, before = state.step.bound(self.method.least), None
        if self.layers is not None and self.layers.told is not None:
            before = self.layers.told.before
        return state.corpus.obeyed(state.meeting, bound, self.decided, before, within=within)

    def _layer_counts(self) -> tuple[dict[str, Any], ...]:
        if self.layers is None or self.settled is None:
            return ()
        entered = {layer.name: layer.num_entered for layer in self.layers.done}
        left = int((~self.layers.gone).sum()) - self.layers.num_asked
        via, witnesses = self.settled.via, self.decided.witnesses
        rows, sizes = self.decided.rows, self.layers.contents.about.sizes
        other = ~self.layers.same_text(rows, np.where(via < 0, witnesses, via)) & (sizes[rows] > 0)
        layers = []
        for number, name in enumerate(self.layers.use):
            mine = self.settled.layer == number
            counts = {
                "documents": entered.get(name, left),
                "removed": int(mine.sum()),
                "other_text": int((mine & other).sum()),
                "inherited": int((mine & (via >= 0)).sum()),
            }
            layers.append({"layer": name, **counts})
        return tuple(layers)

    def _layer_columns(self) -> dict[str, pa.Array]:
        """Which layer removed each document, and through which witness of its own, if another one stands now."""
        if self.layers is None or self.settled is None:
            return {}
        via, unknown = self.settled.via, pa.array(self.settled.via < 0)
        columns = self.names.of(np.maximum(via, 0)) if via.size else self.names.of(via)
        nothing = [computing.if_else(unknown, pa.scalar(None, column.type), column) for column in columns]
        layer = computing.take(pa.array(self.layers.use, pa.string()), pa.array(self.settled.layer))
        return {"layer": layer, **dict(zip(("via_id", "via_source", "via_row"), nothing, strict=True))}

    def _evidence_columns(self) -> dict[str, pa.Array]:
        if self.evidence is None:
            return {}
        kinds = self.evidence.kinds
        return {"evidence": kinds if len(kinds) else pa.array([], LISTS), "same_host": self.evidence.same_host}
