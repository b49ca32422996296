"""What the product hands a proof that has no reader of its own for it: archives, web pages, Arrow files."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import pyarrow as pa

from nearsame.engines.sharing import Sharing
from nearsame.errors import SourceError
from nearsame.proofs.files import Part, Record
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.stages.texts.page_text import PageTexts
from nearsame.studies.second_reading import opened

__all__ = ["Product"]


class Product:
    """The product's readers, for the formats that the proof does not know."""

    def __init__(
        self, columns: Mapping[str, Any], skipped: Mapping[str, AbstractSet[int]], tables: Mapping[str, pa.Table]
    ) -> None:
        self._skipped, self._tables = skipped, tables
        lists = {name: tuple(columns[name]) for name in ("beside", "asked_of_pages", "order")}
        self.columns = Columns(**{**columns, **lists}, may_lack=True)

    def documents(self, part: Part, copy: str | None) -> Iterator[Record]:
        """The documents of a source, or of its copy at another place."""
        given = copy or self._tables.get(part.name, part.path)
        columns = self.columns.of_side(against=part.against)
        wanted = opened(part, given, self.columns)
        reading = Reading([replace(wanted, lenient=True) if hasattr(wanted, "lenient") else wanted], columns)
        extract = PageTexts(columns.extract) if reading.pages else None
        start = 0
        with Sharing() as share:
            for batch in reading:
                texts = batch if extract is None else share(extract, batch)
                places = reading.origins.slice(start, len(batch))
                yield from _records(texts, places, reading, start)
                start += len(batch)
        if copy is not None and len(reading.skipped) > len(self._skipped.get(part.name, ())):
            last = reading.skipped[-1]
            raise SourceError(
                f"it has a record that {part.name} does not have: {last.reason}", hint="Write the output again."
            )

    def labels(self, part: Part, copy: str | None) -> Sequence[tuple[str, str]]:
        """Id and URL of each record of an archive, or of its copy at another place."""
        wanted: Any = next(iter(open_parts([copy or part.path], columns=self.columns)))
        labels: Sequence[tuple[str, str]] = wanted.labels()
        return labels


def _records(texts: pa.RecordBatch, places: pa.Table, reading: Reading, start: int) -> Iterator[Record]:
    names = reading.columns.beside
    columns = [reading.beside(name).slice(start, len(places)).to_pylist() for name in names]
    contents = texts.column(1).to_pylist()
    known = zip(*columns, strict=True) if columns else [()] * len(places)
    orders = {name: values.slice(start, len(places)).to_pylist() for name, values in reading.orders.items()}
    for at, (position, name, content, others) in enumerate(
        zip(places.column("position").to_pylist(), places.column("id").to_pylist(), contents, known, strict=True)
    ):
        order = {column: values[at] for column, values in orders.items()}
        yield Record(position, name, content, order, dict(zip(names, others, strict=True)))
