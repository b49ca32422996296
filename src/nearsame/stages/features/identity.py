"""What stands for the whole of a document: digests that decide whether two are the same, and nothing else does.

1. They are BLAKE2b, so nobody makes two documents of one digest, whether or not he knows the seed.
2. Lengths are digested first, so that no two lists run together to the same bytes.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels.blake2b import digest_texts, write_with_sizes
from nearsame.kernels.sets import digest_sets

__all__ = ["SetDigests", "digest_lists", "digest_numbers", "digest_runs", "told_apart"]


def digest_lists(texts: arrow.Strings, lists: arrow.Int64s, seed: int) -> arrow.Int64s:
    """128 bits of each row of ready items, in order: row i has the strings lists[i] to lists[i + 1]. int64[2, n]."""
    first, last = lists[0], lists[-1]
    spelt = np.empty(8 * (last - first) + texts.offsets[last] - texts.offsets[first], np.uint8)
    ends = np.empty(lists.size, np.int64)
    write_with_sizes(texts.data, texts.offsets, lists, spelt, ends)
    return digest_texts(arrow.frozen(spelt), arrow.frozen(ends), seed)


def digest_runs(values: npt.NDArray[np.generic], ends: arrow.Int64s) -> arrow.Int64s:
    """128 bits of each run values[ends[i]:ends[i + 1]] of numbers: int64[2, n]."""
    data = np.frombuffer(np.ascontiguousarray(values), np.uint8) if values.size else np.zeros(1, np.uint8)
    return digest_texts(arrow.frozen(data), arrow.frozen(ends * values.itemsize), 0)


def digest_numbers(values: arrow.UInt64s, ends: arrow.Int64s) -> arrow.Int64s:
    """Digests by which runs values[ends[i]:ends[i + 1]] meet, to be compared: int64[2, n]."""
    out = np.empty((2, ends.size - 1), np.int64)
    digest_sets(values, ends, out)
    return out


def told_apart(batch: pa.RecordBatch, digest: Callable[[arrow.UInt64s, arrow.Int64s], arrow.Int64s]) -> pa.RecordBatch:
    """FEATURES (or LETTERED) whose `set_a` and `set_b` are digests of all that is compared of a document.

    The items of a text without tokens stand for all of it, whatever its letters are.
    """
    halves, *others = (_digested(batch, name, digest) for name in schemas.COMPARED if name in batch.schema.names)
    for beside in others:
        both = np.ascontiguousarray(np.concatenate([halves, beside]).T).view(np.uint64).ravel()
        mixed = digest(arrow.frozen(both), np.arange(len(batch) + 1) * 4)
        halves = np.where(arrow.ints(batch.column("num_tokens")) > 0, mixed, halves)
    for name, half in zip(("set_a", "set_b"), halves, strict=True):
        at = batch.schema.get_field_index(name)
        batch = batch.set_column(at, batch.schema.field(at), pa.array(half))
    return batch


def _digested(batch: pa.RecordBatch, name: str, digest: Callable[..., arrow.Int64s]) -> arrow.Int64s:
    lists = arrow.lists(batch.column(name))
    ends = np.append(lists.starts, lists.ends[-1:]) if len(batch) else np.zeros(1, np.int64)
    return digest(lists.items, ends)


@dataclass(frozen=True)
class SetDigests:
    """The stage that puts digests of what is compared into `set_a` and `set_b`, where no engine compares it again."""

    lettered: bool = False

    @property
    def output(self) -> pa.Schema:
        """FEATURES, or LETTERED."""
        return schemas.LETTERED if self.lettered else schemas.FEATURES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES with other digests."""
        return told_apart(batch, digest_runs)
