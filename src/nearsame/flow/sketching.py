"""What a method leaves of each document, as a column of plain values: codes, signatures, fingerprints, digests.

1. The stages are those of a run (steps.py); here is only what their answers are in a table that others read.
2. A number of at most 64 bits is one (uint32, uint64); a longer one is its bytes, the highest first, so that their hex
   digits are those of the number. Signatures and fingerprints are lists of uint64.
3. What has none is null: an empty text, and of SimHash one without tokens.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.engines.base import Stage
from nearsame.errors import ConfigError
from nearsame.flow.steps import steps
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Cosine, Digest, Hyperplane, Jaccard, Method, MinHash, ModP, SimHash
from nearsame.stages.features.digests import digest_bytes
from nearsame.stages.features.frequencies import FrequencyTable
from nearsame.stages.sketches.simhash import SimHashCodes

__all__ = ["Sketching", "frequencies_of", "sets_of", "sketching"]

_UINT32 = 32
_SUMS = {"crc32": pa.uint32(), "bytesum": pa.uint64()}

# Settings about pairs of documents, which do nothing to one.
_IDLE = (
    "k", "search", "blocks", "header", "threshold", "recall", "bands", "rows", "choice", "verify", "confirm",
    "confirm_threshold", "drop_boilerplate", "boilerplate_per_host",
)  # fmt: skip


class Sketching(NamedTuple):
    """What is done to DOCUMENTS (or ITEMS, or VECTORS), and what comes of it.

    Attributes:
        stages: One after the other.
        kind: The type of the column.
        column: The last stage's answer, as that.
    """

    stages: tuple[Stage, ...]
    kind: pa.DataType
    column: Callable[[pa.RecordBatch], pa.Array]

    def __call__(self, batch: pa.RecordBatch) -> pa.Array:
        """The column of a batch."""
        for stage in self.stages:
            batch = stage(batch)
        return self.column(batch)


def _require_about_documents(recipe: Method) -> None:
    """Refuse settings about pairs, which do nothing to one document.

    Raises:
        ConfigError: There is one.
    """
    idle = [name for name in _IDLE if name in recipe.model_fields_set]
    if idle:
        message = f"{idle[0]}={recipe.get(idle[0])} is about pairs of documents, and does nothing to one"
        raise ConfigError(message, hint="Leave it out.")


def sketching(recipe: Method, *, ready_items: bool = False) -> Sketching:
    """How documents become what the method compares them by.

    Raises:
        ConfigError: It compares them by nothing smaller than themselves, or needs to know all of them first.
    """
    _require_about_documents(recipe)
    step = steps(recipe, ready_items=ready_items)
    match recipe:
        case SimHash():
            table = frequencies_of(recipe, ready_items=ready_items)
            weighed = () if table is None else (SimHashCodes(recipe, table),)
            kind = _code_type(recipe.bits)
            return Sketching((*step.features, *weighed), kind, lambda batch: _codes(batch, recipe.bits, kind))
        case Hyperplane():
            kind = _code_type(recipe.bits)
            return Sketching(
                (*step.features, *filter(None, (step.sketches,))), kind, lambda batch: _codes(batch, recipe.bits, kind)
            )
        case MinHash() | ModP():
            return Sketching((*step.features, *filter(None, (step.sketches,))), pa.large_list(pa.uint64()), _lists)
        case Digest():
            return _digests(recipe, step.features)
        case _:
            message = f"method={recipe.name} compares whole documents: they have no codes"
            raise ConfigError(message, hint="Choose simhash, minhash, modp, digest or hyperplane.")


def sets_of(recipe: Jaccard, *, ready_items: bool = False) -> Sketching:
    """How documents become the sets that methods of sets compare: the hashes of their shingles, ascending."""
    _require_about_documents(recipe)
    return Sketching(steps(recipe, ready_items=ready_items).features, pa.large_list(pa.uint64()), _lists)


def frequencies_of(recipe: Cosine | SimHash, *, ready_items: bool = False) -> FrequencyTable | None:
    """What weighs features, where a corpus must say how rare they are; None where nothing has to.

    Raises:
        ConfigError: No file says it.
    """
    if not recipe.needs_frequencies:
        return None
    if recipe.frequencies is None:
        message = "weights=tfidf needs a corpus: how rare a feature is cannot be told from one text"
        raise ConfigError(message, hint="Give the frequencies.parquet that a run with --weights tfidf wrote.")
    from nearsame.sources.frequencies import read_frequencies  # noqa: PLC0415  (few have such a table, and it is Parquet)

    record = {**recipe.features, "ready_items": ready_items}
    return FrequencyTable.of(read_frequencies(recipe.frequencies), recipe.frequencies, record)


def _code_type(bits: int) -> pa.DataType:
    if bits > 64:
        return pa.binary(-(-bits // 8))
    return pa.uint32() if bits <= _UINT32 else pa.uint64()


def _codes(batch: pa.RecordBatch, bits: int, kind: pa.DataType) -> pa.Array:
    """The words at the head of each document's items, as one value."""
    lists = arrow.lists(batch.column("items"))
    names = batch.schema.names
    present = arrow.ints(batch.column("num_tokens")) > 0 if "num_tokens" in names else lists.sizes > 0
    words = np.zeros((len(batch), -(-bits // 64)), np.uint64)
    words[present] = lists.items[lists.starts[present, None] + np.arange(words.shape[1])]
    if bits <= 64:
        return pa.array(words[:, 0], mask=~present).cast(kind)
    return _fixed(np.ascontiguousarray(words[:, ::-1].astype(">u8")).view(np.uint8), present, kind)


def _fixed(data: npt.NDArray[np.uint8], present: npt.NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """The last bytes of each row as a fixed-size binary."""
    own = np.ascontiguousarray(data[:, data.shape[1] - kind.byte_width :])
    known = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(kind, len(data), [known, pa.py_buffer(own)])


def _lists(batch: pa.RecordBatch) -> pa.Array:
    lists = arrow.lists(batch.column("items"))
    column = batch.column("items")
    values = pa.array(np.asarray(lists.items))
    offsets = pa.array(arrow.list_offsets(column), mask=np.append(lists.sizes == 0, [False]))
    return pa.LargeListArray.from_arrays(offsets, values)


def _digests(recipe: Digest, features: tuple[Stage, ...]) -> Sketching:
    if recipe.can_collide:
        kind = _SUMS[recipe.algorithm]

        def sums(batch: pa.RecordBatch) -> pa.Array:
            empty = arrow.lists(batch.column("items")).sizes == 0
            return pa.array(arrow.ints(batch.column("set_a")).view(np.uint64), mask=empty).cast(kind)

        return Sketching(features, kind, sums)
    size = digest_bytes(recipe.algorithm)
    kind = pa.binary(size)

    def digests(batch: pa.RecordBatch) -> pa.Array:
        lists = arrow.lists(batch.column("items"))
        present = lists.sizes > 0
        words = np.zeros((len(batch), -(-size // 8)), np.uint64)
        words[present] = lists.items[lists.starts[present, None] + 1 + np.arange(words.shape[1])]
        return _fixed(np.ascontiguousarray(words.view(np.uint8)[:, :size]), present, kind)

    return Sketching(features, kind, digests)
