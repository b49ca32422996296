"""The training data without what leaked: documents, or the passages that were found in them.

1. What is cut out is looked for in the documents themselves, read once more; so nothing of the texts is held.
2. A document of which no word is left goes as a whole.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearsame import schemas
from nearsame.answers.leaks import RemovedLeaks
from nearsame.engines.local import Local
from nearsame.flow.rereading import Left
from nearsame.outputs.annotations import Verdict
from nearsame.outputs.tables import RowNames
from nearsame.outputs.writing import copy_parts
from nearsame.passages import Span, merged
from nearsame.sources import TextFolder
from nearsame.sources.cutting import Cuts, require_cuttable
from nearsame.sources.targets import with_own_targets
from nearsame.stages.features.leak_cuts import CutStage
from nearsame.studies.leak_search import Searched

__all__ = ["found_cuts", "write_kept"]

_NONE = np.zeros(0, np.int64)


def found_cuts(searched: Searched) -> pa.Table:
    """CUTS of the documents in which something was found.

    Raises:
        ConfigError: Nothing can be cut out of a part.
        SourceError: A source is not what it was.
    """
    reading = searched.reading
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


def write_kept(searched: Searched, cuts: pa.Table | None, home: Path) -> RemovedLeaks:
    """Write the parts without the documents in which something was found, or without what is to be cut out of them."""
    reading = searched.reading
    parts, rows, changes = reading.all_parts, searched.documents, dict[int, Cuts]()
    spans = defaultdict[int, list[Span]](list)
    if cuts is not None:
        parts = with_own_targets([part.as_files() if isinstance(part, TextFolder) else part for part in parts])
        rows = np.unique(cuts.filter(~np.asarray(cuts.column("left"))).column("row").to_numpy())
        for row, *span in zip(*(cuts.column(name).to_pylist() for name in ("row", "start", "end")), strict=True):
            spans[row].append((span[0], span[1]))
        changes = _changes(searched, {row: merged(spans[row]) for row in set(spans).difference(rows.tolist())})
    names = RowNames(reading.origins, [part.name for part in parts])
    copy_parts(dict(enumerate(parts)), Verdict(names, rows, rows), home, changes=changes)
    united = [merged(own) for own in spans.values()]
    return RemovedLeaks(
        documents=int(rows.size),
        cut=len(united) - int(rows.size) if united else 0,
        passages=sum(map(len, united)),
        characters=sum(end - start for own in united for start, end in own),
    )


def _changes(searched: Searched, spans: dict[int, list[Span]]) -> dict[int, Cuts]:
    """What is cut out of each part that has something, by position."""
    origins = searched.reading.origins
    source, position = (origins.column(name).to_numpy() for name in ("source", "position"))
    found: dict[int, Cuts] = {}
    for row, own in spans.items():
        number = int(source[row])
        made = found.setdefault(number, Cuts(searched.reading.columns_of(number), {}))
        made.spans[int(position[row])] = own
    return found
