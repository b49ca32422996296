"""Stages through mapInArrow: what goes to a worker, and what comes back.

1. A stage is pickled once a map; one with a large table goes by broadcast, so that tasks stay small. A worker process
   unpickles it once, and holds it once, for all its tasks: stages keep nothing of what they see.
2. Spark's Arrow has short offsets: texts and lists are widened before a stage and narrowed behind it.
3. Columns that a stage does not know can be carried beside it, where it gives a row for each row.
4. Of those one is told here: whether a text is `bad`, where nobody has asked whether it is UTF-8 (frames/documents.py).
"""

import pickle  # what our own driver wrote
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
import pyarrow as pa

from nearsame import arrow, computing
from nearsame._version import __version__
from nearsame.dataclass import dataclass
from nearsame.engines.spark.workers import settle

__all__ = ["ddl", "map_batches", "map_stages", "quoted", "widened"]

_LARGE = 1 << 18  # pickled bytes that a task may carry
_TYPES = {
    pa.int64(): "bigint",
    pa.int32(): "int",
    pa.uint8(): "smallint",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.bool_(): "boolean",
}
_NARROW = {pa.uint8(): pa.int16(), pa.large_string(): pa.string()}
Batches = Iterator[pa.RecordBatch]


def ddl(schema: pa.Schema) -> str:
    """A schema as Spark writes it.

    >>> ddl(pa.schema([("row", pa.int64()), ("items", pa.large_list(pa.int64()))]))
    'row bigint, items array<bigint>'
    """
    return ", ".join(
        f"`{field.name}` {_spelt(field.type)}" if " " in field.name else f"{field.name} {_spelt(field.type)}"
        for field in schema
    )


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def _spelt(kind: pa.DataType) -> str:
    if pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return f"array<{_spelt(kind.value_type)}>"
    return _TYPES[kind]


def widened(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with long offsets, as stages want it."""
    columns = [_wide(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _wide(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_string(kind):
        return column.cast(pa.large_string())
    if pa.types.is_list(kind):
        value = pa.large_string() if pa.types.is_string(kind.value_type) else kind.value_type
        return column.cast(pa.large_list(pa.field("item", value, nullable=column.values.null_count > 0)))
    return column


def narrowed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with short offsets, as Spark wants it."""
    return pa.RecordBatch.from_arrays([_short(column) for column in batch.columns], names=batch.schema.names)


def _short(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_large_list(kind):
        value = _NARROW.get(kind.value_type, kind.value_type)
        return column.cast(pa.list_(pa.field("item", value)))
    return column.cast(_NARROW[kind]) if kind in _NARROW else column


def map_batches(frame: Any, work: Callable[[Batches], Batches], schema: pa.Schema | str) -> Any:
    """A frame whose partitions are the work's output over the batches of this one's, with long offsets both ways."""
    run = _shipped(frame.sparkSession.sparkContext, work)
    return frame.mapInArrow(run, schema if isinstance(schema, str) else ddl(schema))


def _shipped(context: Any, work: Callable[[Batches], Batches]) -> Callable[[Batches], Batches]:
    """The work as a task carries it: it names what is to be found there, which must be of the same version."""
    carried, ours = _carried(context, work), __version__

    def run(batches: Batches) -> Batches:
        from nearsame import _version

        if _version.__version__ != ours:
            message = f"workers have nearsame {_version.__version__} ({_version.__file__}), and the driver {ours}"
            raise RuntimeError(message)
        yield from map(narrowed, carried.value(map(widened, batches)))
        settle()

    return run


def _carried(context: Any, work: Any) -> Any:
    """What gives the work as its `value`."""
    from pyspark import cloudpickle

    pickled = cloudpickle.dumps(work)  # type: ignore[no-untyped-call]
    if len(pickled) <= _LARGE:
        return _Carried(pickled)
    if _is_plain(work):
        return context.broadcast(work)
    return _Opened(context.broadcast(pickled))


def _is_plain(work: Any) -> bool:
    """Whether it can be pickled without cloudpickle, which is all that a broadcast knows."""
    try:
        pickle.Pickler(cast("Any", _Nowhere()), pickle.HIGHEST_PROTOCOL).dump(work)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, data: Any) -> int:
        """Say how many bytes came, as a file does, and drop them."""
        return memoryview(data).nbytes


def map_stages(frame: Any, stages: tuple[Any, ...], carried: tuple[str, ...] = ()) -> Any:
    """A frame through stages; `carried` columns stay beside rows that correspond one to one."""
    schema = pa.schema(stages[-1].output)
    types = dict(frame.dtypes)
    carried_ddl = "".join(f", `{name}` {types[name]}" for name in carried)
    return map_batches(frame, _Through(stages, carried), ddl(schema) + carried_ddl)


@dataclass(frozen=True)
class _Carried:
    """What a task carries itself, read as a broadcast is."""

    pickled: bytes

    @property
    def value(self) -> Any:
        """The work, unpickled anew each time that it is asked for."""
        return pickle.loads(self.pickled)  # noqa: S301  (what the driver just wrote)


@dataclass(frozen=True)
class _Opened:
    """The broadcast of what only cloudpickle can pickle: the bytes stay beside what each task makes of them."""

    broadcast: Any

    @property
    def value(self) -> Any:
        """The work, unpickled anew each time that it is asked for."""
        return pickle.loads(self.broadcast.value)  # noqa: S301  (likewise)


def _told(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, of whose texts it is known whether they are `bad`; where it was not, what is no UTF-8 is null."""
    if not {"text", "bad"} <= set(batch.schema.names) or not batch.column("bad").null_count:
        return batch
    text, bad = batch.column("text"), batch.column("bad")
    wrong = np.zeros(len(batch), np.bool_)
    wrong[list(arrow.not_utf8(text))] = True
    wrong &= bad.is_null().to_numpy(zero_copy_only=False)
    changed = {"bad": computing.coalesce(bad, pa.array(wrong))}
    if wrong.any():
        changed["text"] = computing.if_else(pa.array(wrong), pa.scalar(None, text.type), text)
    return pa.RecordBatch.from_pydict({name: changed.get(name, batch.column(name)) for name in batch.schema.names})


class _Through:
    """Stages one after the other over the batches of a partition."""

    def __init__(self, stages: tuple[Any, ...], carried: tuple[str, ...]) -> None:
        self.stages = stages
        self.carried = carried

    def __call__(self, batches: Batches) -> Batches:
        for batch in map(_told, batches):
            made = batch.select([name for name in batch.schema.names if name not in self.carried])
            for stage in self.stages:
                made = stage(made)
            columns = [*made.columns, *(batch.column(name) for name in self.carried)]
            yield pa.RecordBatch.from_arrays(columns, names=[*made.schema.names, *self.carried])
