"""The tables that people get: rows by number become ids, sources and positions.

1. Every table names source and row beside the id, on both sides: ids may repeat.
2. A document without an id is called `source:row`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import computing, schemas
from nearsame.arrow import Rows, distinct, numbers
from nearsame.named import NamedTuple

__all__ = [
    "CLUSTERS",
    "MASK",
    "PAIRS",
    "REMOVED",
    "WHO",
    "RowNames",
    "Stretches",
    "clusters_table",
    "extended",
    "mask_table",
    "pairs_table",
    "removed_table",
    "repeated_ids",
    "same",
    "skipped_table",
    "widened",
]

WHO = [("id", pa.string()), ("source", pa.string()), ("row", pa.int64())]
REMOVED = pa.schema(
    [
        *WHO,
        *((f"witness_{name}", kind) for name, kind in WHO),
        ("similarity", pa.float64()),
        ("measure", pa.string()),
        ("cluster", pa.int64()),
    ]
)
CLUSTERS = pa.schema([*WHO, ("cluster", pa.int64()), ("role", pa.string()), ("similarity", pa.float64())])
MASK = pa.schema(  # what goes, ascending: the part of sources.parquet, and the record's number in it
    [pa.field("part", pa.int32(), nullable=False), pa.field("row", pa.int64(), nullable=False)]
)
PAIRS = pa.schema(
    [
        *((f"a_{name}", kind) for name, kind in WHO),
        *((f"b_{name}", kind) for name, kind in WHO),
        ("similarity", pa.float64()),
        ("measure", pa.string()),
    ]
)


class Stretches:
    """Where every row is, in as little memory as there are gaps: rows whose positions follow on each other are one."""

    def __init__(self) -> None:
        self._firsts: list[tuple[int, int, int]] = []  # of each stretch its first row, its part, and its position there
        self._rows, self._next = 0, (-1, -1)

    def __len__(self) -> int:
        return len(self._firsts)

    def add(self, origins: pa.Table) -> None:
        """The next rows."""
        source, position = (origins.column(name).to_numpy().astype(np.int64) for name in ("source", "position"))
        if not source.size:
            return
        before = np.concatenate([[self._next[0]], source[:-1]]), np.concatenate([[self._next[1]], position[:-1] + 1])
        at = np.flatnonzero((source != before[0]) | (position != before[1]))
        self._firsts += zip((at + self._rows).tolist(), source[at].tolist(), position[at].tolist(), strict=True)
        self._rows += source.size
        self._next = int(source[-1]), int(position[-1]) + 1

    def places(self) -> tuple[Rows, Rows]:
        """Of every row the part, and the position in it."""
        firsts = np.array(self._firsts, np.int64).reshape(-1, 3)
        sizes = np.diff(firsts[:, 0], append=self._rows)
        within = np.arange(self._rows) - np.repeat(firsts[:, 0], sizes)
        return np.repeat(firsts[:, 1], sizes), np.repeat(firsts[:, 2], sizes) + within


class RowNames(NamedTuple):
    """What rows are called."""

    origins: pa.Table  # ORIGINS, by row
    sources: Sequence[str]  # the names of the parts
    stretches: Stretches | None = None  # of all rows, where only some are in `origins`, ascending

    def places(self, rows: Rows) -> tuple[Rows, Rows]:
        """Of given rows the part, and the position in it."""
        origins = self._of(rows)
        return origins.column("source").to_numpy(), origins.column("position").to_numpy()

    def all_places(self) -> tuple[Rows, Rows]:
        """Of every row the part, and the position in it."""
        if self.stretches is not None:
            return self.stretches.places()
        return self.origins.column("source").to_numpy(), self.origins.column("position").to_numpy()

    def _of(self, rows: Rows) -> pa.Table:
        if self.stretches is not None:
            rows = np.searchsorted(self.origins.column("row").to_numpy(), rows)
        return computing.take(self.origins, numbers(rows)).combine_chunks()

    def of(self, rows: Rows) -> list[pa.Array]:
        """[id, source, row] columns of the given rows."""
        origins = self._of(rows)
        positions = _whole(origins.column("position"))
        names = pa.array(list(self.sources), pa.string())
        sources = computing.take(names, _whole(origins.column("source"))) if len(names) else pa.nulls(0, pa.string())
        ids = _whole(origins.column("id"))
        default = computing.binary_join_element_wise(
            sources, computing.cast(positions, pa.string()), pa.scalar(":", pa.string())
        )
        return [computing.coalesce(ids, default), sources, positions]


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def repeated_ids(origins: pa.Table) -> int:
    """How many documents have an id that a document before them has."""
    ids = computing.drop_null(origins.column("id"))
    return len(ids) - int(computing.count_distinct(ids).as_py())


def removed_table(
    names: RowNames, rows: Rows, witnesses: Rows, similarity: npt.NDArray[np.float64], measures: pa.Array
) -> pa.Table:
    """The removed documents, each with its witness; a cluster is numbered by its keeper's row."""
    columns = [
        *names.of(rows),
        *names.of(witnesses),
        numbers(similarity),
        measures,
        numbers(witnesses),
    ]
    return pa.Table.from_arrays(columns, schema=REMOVED)


def clusters_table(
    names: RowNames,
    rows: Rows,
    witnesses: Rows,
    similarity: npt.NDArray[np.float64],
    more: Mapping[str, pa.Array] | None = None,
) -> pa.Table:
    """Keepers and the documents that they witness, cluster by cluster, the keeper first; `more` is about the others."""
    keepers = distinct(witnesses)
    members = np.concatenate([keepers, rows])
    clusters = np.concatenate([keepers, witnesses])
    likeness = np.concatenate([np.ones(keepers.size), similarity])
    order = np.lexsort((members, members != clusters, clusters))
    is_removed = (members != clusters)[order].astype(np.int8)
    columns = [
        *names.of(members[order]),
        numbers(clusters[order]),
        computing.take(pa.array(["keeper", "removed"], pa.string()), numbers(is_removed)),
        numbers(likeness[order]),
    ]
    table = pa.Table.from_arrays(columns, schema=CLUSTERS)
    if not more:
        return table
    place = pa.array(order - keepers.size, mask=order < keepers.size)  # null: a keeper, of which there is no more
    return extended(table, {name: computing.take(values, place) for name, values in more.items()})


def extended(table: pa.Table, columns: Mapping[str, pa.Array]) -> pa.Table:
    """A table with further columns."""
    for name, values in columns.items():
        table = table.append_column(name, values)
    return table


def pairs_table(names: RowNames, a: Rows, b: Rows, similarity: npt.NDArray[np.float64], measures: pa.Array) -> pa.Table:
    """PAIRS of rows, each named by its id, its source and its position."""
    columns = [*names.of(a), *names.of(b), numbers(similarity), measures]
    return pa.Table.from_arrays(columns, schema=PAIRS)


def mask_table(gone: Mapping[int, Rows]) -> pa.Table:
    """MASK of what goes, by part."""
    parts = np.repeat(np.fromiter(gone, np.int32), [rows.size for rows in gone.values()])
    rows = np.concatenate([np.zeros(0, np.int64), *gone.values()])
    return pa.Table.from_arrays([pa.array(parts), numbers(rows)], schema=MASK)


def widened(table: pa.Table, columns: Mapping[str, npt.NDArray[np.float64]]) -> pa.Table:
    """Pairs, and the columns that their method alone has (containment: a_in_b, b_in_a)."""
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return table


def skipped_table(skipped: Sequence[tuple[str, int | None, int | None, str]]) -> pa.Table:
    """SKIPPED: the records that could not be read."""
    columns = list(zip(*skipped, strict=True)) or [()] * len(schemas.SKIPPED)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schemas.SKIPPED, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schemas.SKIPPED)


def same(text: str, times: int) -> pa.Array:
    """A column of one text."""
    return pa.repeat(pa.scalar(text, pa.string()), times)
