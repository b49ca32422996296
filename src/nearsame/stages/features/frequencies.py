"""In how many documents each feature stands, and what its rarity weighs: the IDF of TF-IDF.

1. idf = ln((1 + N) / (1 + n)) + 1, in units of 2⁻¹⁶, by integer arithmetic alone: the same on every machine.
2. N counts the documents that have features. A feature that a table does not know stands in none.
3. A table is frozen: what was counted once weighs the documents of a later stream, too.
"""

import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.kernels import simhash as kernel
from nearsame.stages.features.tallies import NO_COUNTS, dealt, summed

__all__ = ["UNIT", "CountDocuments", "FrequencyTable", "idf"]

UNIT = 1 << 16
_LN2 = 2977044472  # ln 2 in units of 2⁻³²
_FRACTION = 24  # bits of a logarithm behind the point
_PENDING = 1 << 22
_KEY = b"nearsame"
_MOST = 1 << 32  # documents, of which a logarithm is taken
_VERSIONS = ("tokeniser", "unicode")
_HINT = "Give one that a tfidf run wrote."


def _log2(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The binary logarithm of numbers from 1 to 2**32, in units of 2⁻²⁴, bit by bit."""
    whole = np.frexp(numbers.astype(np.float64))[1].astype(np.int64) - 1
    mantissa = numbers.astype(np.uint64) << (31 - whole).astype(np.uint64)
    logarithms = whole << _FRACTION
    for bit in range(_FRACTION - 1, -1, -1):
        mantissa = (mantissa * mantissa) >> np.uint64(31)
        above = mantissa >> np.uint64(32)
        logarithms += above.astype(np.int64) << bit
        mantissa >>= above
    return logarithms


def idf(num_documents: int, documents: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The weight of features by the number of documents that have them, in units of 2⁻¹⁶.

    >>> (idf(999, np.array([0, 9, 999])) / UNIT).round(3).tolist()
    [7.908, 5.605, 1.0]
    """
    everything = _log2(np.array([1 + num_documents]))
    return UNIT + ((everything - _log2(1 + documents)) * _LN2 >> (_FRACTION + 16))


@dataclass(frozen=True, eq=False)
class FrequencyTable:
    """Features, ascending, and in how many of `num_documents` each stands."""

    items: arrow.UInt64s
    documents: arrow.Int64s
    num_documents: int
    record: Mapping[str, Any]  # how its features are made

    @cached_property
    def _index(self) -> tuple[np.uint64, arrow.Int64s]:
        """(shift, where the features with each value of item >> shift begin): about one feature for each value."""
        bits = max(1, min(30, int(self.items.size).bit_length()))
        edges = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
        starts = np.append(np.searchsorted(self.items, edges), self.items.size)
        return np.uint64(64 - bits), arrow.frozen(starts.astype(np.int64))

    @cached_property
    def _idf(self) -> tuple[arrow.UInt64s, np.uint64]:
        """(the idf of each feature, that of one that is not here)."""
        known = idf(self.num_documents, self.documents)
        return arrow.frozen(known.view(np.uint64)), np.uint64(idf(self.num_documents, np.zeros(1, np.int64))[0])

    def weigh(self, items: arrow.Lists, times: arrow.Lists) -> npt.NDArray[np.uint64]:
        """Frequency times idf of each feature, in the order of `times`."""
        out = np.empty(times.items.size, np.uint64)
        kernel.weigh(items.items, times.items, self.items, *self._index, *self._idf, out)
        return out

    def table(self) -> pa.Table:
        """As Arrow, with the record of the features."""
        columns = [pa.array(arrow.signed(self.items)), pa.array(self.documents)]
        about = json.dumps({"num_documents": self.num_documents, "recipe": dict(self.record)})
        return pa.table(columns, names=["item", "documents"]).replace_schema_metadata({_KEY: about})

    @classmethod
    def of(cls, table: pa.Table, name: str, record: Mapping[str, Any]) -> "FrequencyTable":
        """The inverse of `table`; one of other features, or of another version, is an error."""
        if _KEY not in (table.schema.metadata or {}):
            raise ConfigError(f"{name} is not a table of document frequencies", hint=_HINT)
        try:
            about = json.loads(table.schema.metadata[_KEY])
            theirs, num_documents = dict(about["recipe"]), operator.index(about["num_documents"])
        except (KeyError, RecursionError, TypeError, ValueError) as error:
            raise ConfigError(f"{name} is damaged: what it says of itself cannot be read", hint=_HINT) from error
        ours = json.loads(json.dumps(dict(record)))
        different = [field for field in sorted({*theirs, *ours}) if theirs.get(field) != ours.get(field)]
        versions = [f"{field} {theirs.get(field)}" for field in _VERSIONS if field in different]
        if versions:
            message = f"{name} was made by another version of nearsame, with {' and '.join(versions)}"
            this = " and ".join(f"{field} {ours.get(field)}" for field in _VERSIONS if field in different)
            raise ConfigError(f"{message}; this one has {this}", hint="Count the frequencies again with this version.")
        if different:
            values = ", ".join(f"{field}={theirs.get(field)!r} there, {ours.get(field)!r} here" for field in different)
            raise ConfigError(
                f"{name} has frequencies of other features: {values}", hint="Use the settings of its run."
            )
        frequencies = cls(*_columns(table, name), num_documents, record)
        low, high = (int(edge(frequencies.documents, initial=1)) for edge in (np.min, np.max))
        if (
            low < 1
            or not high <= max(num_documents, 1) < _MOST
            or (frequencies.items[1:] <= frequencies.items[:-1]).any()
        ):
            raise ConfigError(f"{name} is damaged: its features or counts are impossible", hint=_HINT)
        return frequencies


def _columns(table: pa.Table, name: str) -> tuple[arrow.UInt64s, arrow.Int64s]:
    """The features, and the documents of each."""
    for column in ("item", "documents"):
        if table.schema.get_all_field_indices(column) == [] or table.column(column).type != pa.int64():
            raise ConfigError(f"{name} has no column {column!r} of 64-bit integers", hint=_HINT)
        if table.column(column).null_count:
            raise ConfigError(f"{name} has nulls in its column {column!r}", hint=_HINT)
    items, documents = (arrow.ints(table.column(column).combine_chunks()) for column in ("item", "documents"))
    return arrow.unsigned(items), documents


@dataclass(frozen=True)
class CountDocuments:
    """The fold that counts the documents of each feature; each worker has a range of the hashes."""

    def start(self) -> dict[int, list[Any]]:
        """Nothing yet; by part: [documents, counted, what is yet to be counted, its size]."""
        return {}

    def add(self, state: dict[int, list[Any]], batch: pa.RecordBatch, part: int, parts: int) -> Any:
        """Count the features of one share of the hashes; a document has each of its features once."""
        lists = _of_tokens(batch)
        own = state.setdefault(part, [0, NO_COUNTS, [], 0])
        low, high = (np.uint64(min((1 << 64) * edge // parts, (1 << 64) - 1)) for edge in (part, part + 1))
        items = lists.items
        chosen = items[(items >= low) & ((items < high) | (part + 1 == parts))]
        own[0] += int((lists.sizes > 0).sum()) if part == 0 else 0
        own[2].append(chosen)
        own[3] += chosen.size
        if own[3] > _PENDING + own[1][0].size:
            _settle(own)
        return state

    def merge(self, a: dict[int, list[Any]], b: dict[int, list[Any]]) -> dict[int, list[Any]]:
        """Both, in one part."""
        return self.joined([a, b])

    @staticmethod
    def cut(state: dict[int, list[Any]], parts: int) -> Iterator[tuple[int, dict[int, list[Any]]]]:
        """The state in pieces, each with a share of the features and its number; the documents are in the first."""
        num_documents, counts, *_ = CountDocuments.joined([state])[0]
        pieces = dict(dealt(counts, parts))
        if num_documents:
            pieces.setdefault(0, NO_COUNTS)
        return ((number, {0: [0 if number else num_documents, piece, [], 0]}) for number, piece in pieces.items())

    @staticmethod
    def joined(pieces: Sequence[dict[int, list[Any]]]) -> dict[int, list[Any]]:
        """What several count together, in one part."""
        several = [own for piece in pieces for own in piece.values()]
        for own in several:
            _settle(own)
        return {0: [sum(own[0] for own in several), summed([own[1] for own in several]), [], 0]}

    @staticmethod
    def close(state: dict[int, list[Any]], record: Mapping[str, Any]) -> FrequencyTable:
        """The table of what was counted, for the features that `record` describes."""
        num_documents, (items, documents), *_ = CountDocuments.joined([state])[0]
        return FrequencyTable(items, documents, num_documents, record)


def _of_tokens(batch: pa.RecordBatch) -> arrow.Lists:
    """The features of the documents that have tokens: what stands for all of a text without any is none."""
    lists = arrow.lists(batch.column("items"))
    starts = arrow.frozen(np.where(arrow.ints(batch.column("num_tokens")) > 0, lists.starts, lists.ends))
    chosen = lists._replace(starts=starts)
    items, sizes = np.empty(int(chosen.sizes.sum()), np.uint64), chosen.sizes
    kernel.append_lists(*chosen, np.cumsum(sizes) - sizes, items)
    return arrow.Lists(arrow.frozen(items), arrow.frozen(np.cumsum(sizes) - sizes), arrow.frozen(np.cumsum(sizes)))


def _settle(own: list[Any]) -> None:
    pending, times = np.unique(np.concatenate([arrow.NO_HASHES, *own[2]]), return_counts=True)
    own[1:] = [summed([own[1], (pending, times)]) if pending.size else own[1], [], 0]
