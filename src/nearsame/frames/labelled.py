"""What is known of pages by URL, for questions that one machine answers: columns of all documents, on the driver.

1. Whose content is one, the cluster says: by a run that has just ended, and whose rows are read once more and checked
   (records.py), or by a column.
2. A frame has no order: rows come by their columns, the first one first, so that one source has one answer.
3. What is asked takes many times as much on the driver as it does in Arrow, so its size is known before it comes.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from nearsame.engines.spark.failures import plainly
from nearsame.engines.spark.fetching import LINE_BYTES, at_once
from nearsame.engines.spark.mapping import quoted
from nearsame.engines.spark.metering import described
from nearsame.errors import ColumnError, ConfigError
from nearsame.frames.documents import spelt_out
from nearsame.frames.request import Request
from nearsame.frames.runs import FrameReading
from nearsame.machine import free_memory
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Digest
from nearsame.sources import Columns

__all__ = ["Pages", "clustered", "columns_of_all", "named", "require_room"]

_ROW_BYTES = 12  # beside the letters of its columns
_TIMES = 16  # as much as the table takes what is made of it: 1,290 bytes a page for URLs of 68


class Pages(NamedTuple):
    """What is known of pages, in order; and how many URLs are not UTF-8, whose pages are left out."""

    table: pa.Table
    num_bad: int


def named(engine: Any, source: Any, names: Sequence[str], clock: Any, *, strict: bool) -> FrameReading:
    """A source that has columns of these names, the first one that of URLs.

    Raises:
        ColumnError: It has not.
    """
    columns = Columns(text=names[0], beside=tuple(names[1:]))
    read = Request(engine, Digest(), columns, clock, strict).reading(source)
    _spelt(read, names)
    return read


def columns_of_all(read: FrameReading, names: Sequence[str]) -> Pages:
    """Columns of all documents, as texts.

    Raises:
        ConfigError: All of it is too large for the driver.
    """
    try:
        return _fetched(read, read.sides[-1].frame.selectExpr(*_spelt(read, names)))
    finally:
        read.verbs.release()


def clustered(found: Any, names: Sequence[str]) -> Pages:
    """The same of a `dedup`; behind the first a number that near-duplicates share, or null.

    Raises:
        ConfigError: All of it is too large for the driver.
    """
    frame = found._removals.clustered(*_spelt(found.run.read, names))  # noqa: SLF001  (a frame of all that was judged)
    bad, first, *others, cluster = frame.columns
    return _fetched(found.run.read, frame.select(bad, first, cluster, *others))


def _spelt(read: FrameReading, names: Sequence[str]) -> list[str]:
    """Columns as texts, called by their numbers: names may differ in capitals alone, or be `cluster`.

    Before them whether the first one, of URLs, is none that can be read: not UTF-8, which Spark's CSV has as U+FFFD.
    """
    part = read.sides[-1].parts[0]  # of all the same columns
    for name in names:
        if name not in part.frame.columns:
            raise ColumnError(f"{part.name} has no column {name!r}", hint="Name a column of the source.")
    url = f"cast({quoted(names[0])} as string)"
    delimited = any(each.delimited for each in read.sides[-1].parts)
    mended = f" or contains({url}, '\N{REPLACEMENT CHARACTER}')" if delimited else ""
    bad = f"coalesce(not is_valid_utf8({url}){mended}, false) as bad"
    return [bad, *(f"{spelt_out(part, name)} as column{number}" for number, name in enumerate(names))]


def require_room(read: FrameReading, names: Sequence[str]) -> None:
    """See that the driver has room for columns of all documents; of archives that is seen when they come.

    Raises:
        ConfigError: It has not.
    """
    if read.of_archives:
        return
    frame = read.sides[-1].frame.selectExpr(*_spelt(read, names))
    with plainly(), described(read.verbs.session, "pages"):
        _require_fitting(*frame.selectExpr(*_sizes(frame)).first())


def _fetched(read: FrameReading, frame: Any) -> Pages:
    """A frame, sorted, on the driver: in as many jobs as Java's memory, and its largest result, ask for."""
    names = frame.columns
    with plainly(), described(read.verbs.session, "pages"):
        held, (size, number, unread) = read.verbs.told(frame, *_sizes(frame), "count_if(bad)")
        _require_fitting(size, number)
        jobs = 1 + int((size + number * LINE_BYTES) / at_once(read.verbs.session))
        share = f"pmod(xxhash64({', '.join(names)}), {jobs})"
        pieces = (held.filter(f"not bad and {share} = {job}").drop("bad") for job in range(jobs))
        table = pa.concat_tables([piece.toArrow() for piece in pieces])
    return Pages(table.sort_by([(name, "ascending") for name in table.column_names]), unread)


def _sizes(frame: Any) -> tuple[str, str]:
    """The bytes of all rows, in SQL, and how many these are."""
    bytes_of = (f"coalesce(octet_length(cast({name} as string)), 0)" for name in frame.columns)
    return f"coalesce(sum({' + '.join(bytes_of)} + {_ROW_BYTES}L), 0)", "count(1)"


def _require_fitting(size: int, number: int) -> None:
    if size > (most := free_memory() / 2 / _TIMES):
        message = f"{number:,} pages come to the driver, where they take about {size * _TIMES / 1e9:,.1f} GB"
        hint = f"Give it more memory (of what is free they may take {most * _TIMES / 1e9:,.1f} GB), or fewer pages."
        raise ConfigError(message, hint=hint)
