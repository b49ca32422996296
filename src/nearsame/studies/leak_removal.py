"""The training data without what leaked: documents, or the passages that were found in them.

1. What is cut out is looked for in the documents themselves, read once more; so nothing of the texts is held.
2. A document of which no word is left goes as a whole.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import schemas
from nearsame.answers.leaks import RemovedLeaks
from nearsame.arrow import Rows
from nearsame.engines.local import Local
from nearsame.flow.kept import Picked, as_table, chosen_of, records
from nearsame.flow.one_file import poured
from nearsame.flow.rereading import Left
from nearsame.outputs.annotations import Verdict
from nearsame.outputs.destinations import Destination
from nearsame.outputs.writing import copy_parts
from nearsame.passages import Span, merged
from nearsame.sources import Part, TextFolder
from nearsame.sources.cutting import Cuts, require_cuttable
from nearsame.sources.reading import Reading
from nearsame.sources.targets import with_own_targets
from nearsame.stages.clusters.keepers import NOBODY
from nearsame.stages.features.leak_cuts import CutStage
from nearsame.studies.leak_search import Searched

__all__ = [
    "found_cuts",
    "gone",
    "kept_documents",
    "kept_parts",
    "removed",
    "write_kept",
    "write_on_spark",
    "write_one_file",
]

_NONE = np.zeros(0, np.int64)


def found_cuts(searched: Searched) -> pa.Table:
    """CUTS of the documents in which something was found.

    Raises:
        ConfigError: Nothing can be cut out of a part.
        SourceError: A source is not what it was.
    """
    reading = searched.reading
    if not isinstance(reading, Reading):
        with searched.clock("cutting"):
            told: pa.Table = reading.cuts(CutStage(searched.sought))
        return told
    require_cuttable(reading.all_parts, reading.columns)
    reading.require_unchanged()
    apart = np.ones(reading.num_documents, np.bool_)
    apart[searched.documents] = False
    engine = Local(searched.threads or 0)
    try:
        with searched.clock("cutting", reading.size_bytes):
            again = engine.load(Left.of(reading, apart, _NONE))
            cuts = list(engine.read(engine.map(again, CutStage(searched.sought))))
    finally:
        engine.close()
    return pa.Table.from_batches(cuts, schema=schemas.CUTS)


def write_kept(searched: Searched, cuts: pa.Table | None, home: Path) -> None:
    """Write the parts without the documents in which something was found, or without what is to be cut out of them."""
    rows, parts = gone(searched, cuts), kept_parts(searched.reading, cuts)
    copy_parts(dict(enumerate(parts)), Verdict(searched.names, rows, rows), home, changes=_changes(searched, cuts))


def write_one_file(searched: Searched, cuts: pa.Table | None, place: Destination, *, overwrite: bool) -> None:
    """Write the documents that stay, of all parts, as one file or to standard output."""
    how = {"call": searched.call, "written": {"remove": "documents" if cuts is None else "spans"}}
    poured(searched, _picked(searched, cuts), place, how, overwrite=overwrite)


def kept_documents(searched: Searched, cuts: pa.Table | None) -> Any:
    """The documents that stay: as what they came as; an Arrow table, if something is cut out; on Spark a DataFrame."""
    rows = gone(searched, cuts)
    if not isinstance(searched.reading, Reading):
        return searched.reading.kept(rows, None if cuts is None else CutStage(searched.sought))
    if cuts is None:
        return records(searched, NOBODY._replace(rows=rows), stay=True)
    return as_table(searched, _picked(searched, cuts))


def _picked(searched: Searched, cuts: pa.Table | None) -> list[Picked]:
    """What stays of each part, with what is cut out of it."""
    changes, stay = _changes(searched, cuts), NOBODY._replace(rows=gone(searched, cuts))
    kept = chosen_of(searched, stay, stay=True)
    return [chosen._replace(cuts=changes.get(number)) for number, chosen in enumerate(kept)]


def kept_parts(reading: Reading, cuts: pa.Table | None) -> list[Part]:
    """The parts as they are written: of passages, files of their own."""
    if cuts is None:
        return reading.all_parts
    return with_own_targets([part.as_files() if isinstance(part, TextFolder) else part for part in reading.all_parts])


def write_on_spark(
    searched: Searched, cuts: pa.Table | None, place: Any, tables: Mapping[str, pa.Table], record: Mapping[str, Any]
) -> None:
    """Write tables and kept documents where executors can."""
    documents, frames, number = searched.reading, dict[str, Any](), None
    if record["remove"] != "none":
        frames["kept"] = kept_documents(searched, cuts)
        number = documents.num_documents - gone(searched, cuts).size
    documents.write(place, {**frames, **tables}, record, number)


def gone(searched: Searched, cuts: pa.Table | None) -> Rows:
    """The documents that go as a whole, ascending."""
    if cuts is None:
        return searched.documents
    return np.unique(cuts.filter(~np.asarray(cuts.column("left"))).column("row").to_numpy())


def removed(searched: Searched, cuts: pa.Table | None) -> RemovedLeaks:
    """What is left out of the training data."""
    away = int(gone(searched, cuts).size)
    spans = {} if cuts is None else _spans(cuts)
    return RemovedLeaks(
        documents=away,
        cut=max(len(spans) - away, 0),
        passages=sum(map(len, spans.values())),
        characters=sum(end - start for own in spans.values() for start, end in own),
    )


def _spans(cuts: pa.Table) -> dict[int, list[Span]]:
    """What is cut out of each document."""
    spans = defaultdict[int, list[Span]](list)
    for row, start, end in zip(*(cuts.column(name).to_pylist() for name in ("row", "start", "end")), strict=True):
        spans[row].append((start, end))
    return {row: merged(own) for row, own in spans.items()}


def _changes(searched: Searched, cuts: pa.Table | None) -> dict[int, Cuts]:
    """What is cut out of the documents that stay of each part that has something, by position."""
    if cuts is None:
        return {}
    spans, away = _spans(cuts), set(gone(searched, cuts).tolist())
    places = searched.names.places(np.fromiter(spans, np.int64, len(spans)))
    found = defaultdict[int, dict[int, list[Span]]](dict)
    for (row, own), source, position in zip(spans.items(), *(of.tolist() for of in places), strict=True):
        if row not in away:
            found[source][position] = own
    return {number: Cuts(searched.reading.columns_of(number), own) for number, own in found.items()}
