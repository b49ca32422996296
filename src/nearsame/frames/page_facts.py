"""What documents say of themselves as pages, by the law of one machine (flow/evidence.py), batch by batch.

1. A batch knows its own documents. Where redirects lead on is known of all of them, and sent to every worker.
2. Two hosts are mirrors by all pairs of documents together: what is counted for that is handed to Spark.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.dataclass import dataclass
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import ConfigError
from nearsame.flow.evidence import PageFacts
from nearsame.recipes.choices import OwnLayer
from nearsame.sources import Columns
from nearsame.sources.columns import strings
from nearsame.sources.reading import Reading
from nearsame.stages.pairs.evidence import LEAST_MIRRORED, hosts, paths, same

__all__ = ["FrameFacts"]

_NAMES: Mapping[OwnLayer, Callable[[PageFacts], pa.Array]] = {
    "url": lambda facts: facts.urls(),
    "url-guess": lambda facts: facts.urls(degree="guess"),
    "redirect": lambda facts: facts.target("redirect"),
    "canonical": lambda facts: facts.target("canonical"),
    "revisit": lambda facts: facts.payloads(),
}
_HOLDS = ("bytes", "text", "near")  # what is known of pairs beside what pages say
_FOUND = "evidence array<string>, same_host boolean, one string, two string, path string"
Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class _Read:
    """What PageFacts asks of what has read the documents: here one batch of them."""

    columns: Columns
    table: pa.Table
    pages: bool = False

    @property
    def num_documents(self) -> int:
        """How many there are."""
        return len(self.table)

    def beside(self, name: str) -> pa.ChunkedArray:
        """What is known of each besides its text."""
        return self.table.column(name)


@dataclass(frozen=True)
class FrameFacts:
    """What is known of documents as pages.

    Attributes:
        facts: how it is read; its own reading is of no documents.
        beside: what frames call the columns that it is read from.
    """

    facts: PageFacts
    beside: Mapping[str, str]

    @classmethod
    def of(cls, recipe: Any, columns: Columns, beside: Mapping[str, str]) -> "FrameFacts":
        """Before anything is known of redirects."""
        nothing = cast("Reading", _Read(columns, pa.table({name: pa.array([], pa.string()) for name in beside})))
        return cls(PageFacts(nothing, recipe, required=True), beside)

    def here(self, *batches: Mapping[str, pa.Array]) -> PageFacts:
        """The facts of some documents: of each its columns, which may be no UTF-8."""
        known = {name: pa.chunked_array([strings(batch[name]) for batch in batches]) for name in self.beside}
        read = _Read(self.facts.reading.columns, pa.table(known))
        return replace(self.facts, reading=cast("Reading", read))

    def following(self, documents: Any, verbs: Verbs) -> "FrameFacts":
        """The same that knows where redirects lead to that others lead to.

        Raises:
            ConfigError: There are too many of them to be sent to every worker.
        """
        asked = documents.filter(f"{self.beside['redirect']} is not null").select(*self.beside.values())
        led = verbs.keep(Verbs.map_batches(asked, _Led(self), "url string, target string"))
        least = Verbs.aggregated(led.filter("url is not null and url <> target"), ["url"], ["min(target) as target"])
        inner = least.join(led.selectExpr("target as url").distinct(), "url", "left_semi")
        inner, (size,) = verbs.told(
            inner, f"coalesce(sum(octet_length(url) + octet_length(target) + {_PAIR_BYTES}), 0)"
        )
        if size > verbs.table_bytes:
            message = (
                f"redirects to pages that redirect take {size:,} bytes, more than broadcast_bytes={verbs.table_bytes:,}"
            )
            raise ConfigError(message, hint="Raise broadcast_bytes (--broadcast).")
        pairs = inner.toArrow()
        leads = dict(zip(*(pairs.column(name).to_pylist() for name in ("url", "target")), strict=True))
        return replace(self, facts=replace(self.facts, leads=leads))

    def names(self, documents: Any, layers: Mapping[OwnLayer, str]) -> Any:
        """Documents with what they must have in common to be the same to some layers, in columns of these names."""
        types = [*documents.dtypes, *((column, "string") for column in layers.values())]
        return Verbs.map_batches(documents, _Named(self, dict(layers)), _spelt(types))

    def evidence(self, pairs: Any, verbs: Verbs) -> Any:
        """Pairs with `evidence` and `same_host`.

        Args:
            pairs: of documents: what is known of one in columns that begin with `a_`, of its witness with `b_`; whether
                their bytes and texts are the same, and their texts similar, in `bytes`, `text` and `near`.
            verbs: of the engine.
        """
        both = {f"{side}_{name}" for side in "ab" for name in self.beside.values()} | {*_HOLDS}
        left = [(name, kind) for name, kind in pairs.dtypes if name not in both]
        found = Verbs.map_batches(pairs, _Speaking(self, tuple(name for name, _ in left)), f"{_spelt(left)}, {_FOUND}")
        found = verbs.keep(found)
        of_two = Verbs.aggregated(found.filter("path is not null"), ["one", "two"], ["count(distinct path) as num"])
        mirrors = of_two.filter(f"num >= {LEAST_MIRRORED}").selectExpr("one", "two", "true as mirrors")
        kinds = "if(mirrors and path is not null, array_append(evidence, 'mirror'), evidence) as evidence"
        names = [name for name, _ in left]
        return found.join(mirrors, ["one", "two"], "left").selectExpr(*names, kinds, "same_host")


_PAIR_BYTES = 200  # of two strings in a dictionary of Python, besides their letters


def _spelt(types: list[tuple[str, str]]) -> str:
    return ", ".join(f"`{name}` {kind}" for name, kind in types)


@dataclass(frozen=True)
class _Led:
    """Where each URL redirects to."""

    facts: FrameFacts

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            facts = self.facts.here({name: batch.column(own) for name, own in self.facts.beside.items()})
            yield pa.RecordBatch.from_arrays([facts.urls(), facts.said("redirect")], names=["url", "target"])


@dataclass(frozen=True)
class _Named:
    """Documents with what layers compare."""

    facts: FrameFacts
    layers: dict[OwnLayer, str]

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            facts = self.facts.here({name: batch.column(own) for name, own in self.facts.beside.items()})
            named = [_NAMES[layer](facts).cast(pa.large_string()) for layer in self.layers]
            names = [*batch.schema.names, *self.layers.values()]
            yield pa.RecordBatch.from_arrays([*batch.columns, *named], names=names)


@dataclass(frozen=True)
class _Speaking:
    """Pairs with what speaks for them, and with the hosts and the path by which they could be of mirrors."""

    facts: FrameFacts
    names: tuple[str, ...]

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            yield self._of(batch)

    def _of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        size = len(batch)
        both = ({name: batch.column(f"{side}_{own}") for name, own in self.facts.beside.items()} for side in "ab")
        facts = self.facts.here(*both)
        rows = np.arange(size)
        holds = {name: np.asarray(batch.column(name).to_numpy(zero_copy_only=False), np.bool_) for name in _HOLDS}
        found = facts.evidence(rows, rows + size, holds)
        kinds = [[kind for kind in kinds if kind != "mirror"] for kinds in found.kinds.to_pylist()]
        url, other = facts.urls(rows), facts.urls(rows + size)
        host, another, path = hosts(url), hosts(other), paths(url)
        may = same(path, paths(other)) & np.asarray(pc.not_equal(host, another).fill_null(False))
        ordered = pc.less(host, another)
        two = [pc.if_else(ordered, *pair) for pair in ((host, another), (another, host))]
        asked = [pc.if_else(pa.array(may), column, pa.scalar(None, column.type)) for column in (*two, path)]
        columns = [*map(batch.column, self.names), pa.array(kinds, pa.list_(pa.string())), found.same_host, *asked]
        names = [*self.names, "evidence", "same_host", "one", "two", "path"]
        return pa.RecordBatch.from_arrays(columns, names=names)
