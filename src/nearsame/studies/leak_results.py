"""Which items of benchmarks stand in training data: the answer of `leaks`, as tables and as files.

1. Everything here follows from what was found; nothing is looked for.
2. An item is leaked if one of its texts is. A text that several items share is a line for each.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.answers.leaks import BenchmarkCounts, LeakStats
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.files.passed_over import PassedOver
from nearsame.flow.calls import with_call
from nearsame.outputs import folder, lists
from nearsame.outputs.destinations import Destination, by_ending, meaning, require_folder
from nearsame.outputs.leaks import leaks_markdown, leaks_page
from nearsame.outputs.tables import skipped_table
from nearsame.recipes.arguments import checked
from nearsame.recipes.choices import LeakedPart, LeakRemoval
from nearsame.shares import counted
from nearsame.sources.manifest import manifest
from nearsame.sources.reading import Reading
from nearsame.studies.leak_removal import (
    found_cuts,
    kept_documents,
    kept_parts,
    removed,
    write_kept,
    write_on_spark,
    write_one_file,
)
from nearsame.studies.leak_search import Searched
from nearsame.studies.leak_sides import beside_each_other

__all__ = ["Leaks"]

_TABLES = ("items", "spans", "matrix", "unsought", "boilerplate")
_WHERE = [("benchmark", pa.string()), ("item", pa.string()), ("column", pa.string())]
_SPANS = pa.schema(
    [
        *_WHERE, ("id", pa.string()), ("source", pa.string()), ("row", pa.int64()), ("score", pa.float64()),
        ("shared", pa.int64()), ("shingles", pa.int64()), ("start", pa.int64()), ("end", pa.int64()),
        ("passage", pa.large_string()), ("item_start", pa.int64()), ("item_end", pa.int64()),
        ("item_passage", pa.large_string()),
    ]
)  # fmt: skip
_ITEMS = pa.schema(
    [*_WHERE[:2], ("score", pa.float64()), ("columns", pa.list_(pa.string())), ("documents", pa.int64())]
)
_MATRIX = pa.schema(
    [("benchmark", pa.string()), ("source", pa.string()), ("items", pa.int64()), ("documents", pa.int64())]
)
_UNSOUGHT = pa.schema([*_WHERE, ("reason", pa.string())])
_BOILERPLATE = pa.schema([("benchmark", pa.string()), ("shingle", pa.string()), ("texts", pa.int64())])


@checked
@dataclass(frozen=True)
class Leaks:
    """Items of benchmarks that stand in training data."""

    _searched: Searched

    def __repr__(self) -> str:
        stats = self.stats
        items = f"{stats.leaked:,} of {counted(stats.items, 'item')}"
        return f"Leaks({items}, in {counted(stats.leaked_documents, 'document')})"

    def _repr_html_(self) -> str:
        html: str = import_module("nearsame.studies.notebooks").leaks(self)._repr_html_()
        return html

    @cached_property
    def stats(self) -> LeakStats:
        """Counts, of all and of each benchmark."""
        searched, counts = self._searched, tuple(map(self._counts, range(len(self._searched.benchmarks))))
        reading = searched.reading
        return LeakStats(
            documents=reading.num_documents,
            text_bytes=searched.text_bytes,
            skipped=len(reading.skipped) + len(searched.skipped),
            ignored=self.passed_over.total,
            items=sum(one.items for one in counts),
            sought=sum(one.sought for one in counts),
            leaked=sum(one.leaked for one in counts),
            leaked_documents=int(self._searched.documents.size),
            benchmarks=counts,
            seconds=searched.seconds,
            notes=(*reading.notes, *searched.notes),
        )

    @cached_property
    def items(self) -> pa.Table:
        """The leaked items, the largest score first: which of their columns were found, and in how many documents."""
        found, about = self._searched.hits, self._searched.places
        owners, which = np.unique(about[found["text"], 1], return_inverse=True)
        best = np.zeros(owners.size)
        np.maximum.at(best, which, found["score"])
        rows: list[tuple[Any, ...]] = []
        pairs = np.unique(np.stack([which, found["row"]]), axis=1)
        documents = np.bincount(pairs[0], minlength=owners.size)
        columns: list[dict[str, None]] = [{} for _ in owners]
        names = self._searched.columns
        for item, text in np.unique(np.stack([which, found["text"]]), axis=1).T.tolist():
            columns[item].setdefault(names[text])
        for at in np.lexsort((owners, -best)).tolist():
            name, item = self._searched.item(int(owners[at]))
            rows.append((name, item, float(best[at]), list(columns[at]), int(documents[at])))
        return _table(rows, _ITEMS)

    @cached_property
    def spans(self) -> pa.Table:
        """A line for each leaked text and document: the share that it has, and both passages, by their characters.

        Texts in several pieces (the choices of a question) are counted with an end of line between them.
        """
        found = self._searched.hits
        return _placed(self._searched, np.lexsort((found["row"], found["text"], -found["score"])))

    @cached_property
    def matrix(self) -> pa.Table:
        """For each benchmark and source how many items leaked there, and into how many documents; where some did."""
        found, about = self._searched.hits, self._searched.places
        sources = self._searched.names.places(found["row"])[0].astype(np.int64)
        owners, numbers = about[found["text"], 1], about[found["text"], 0]
        items, documents = (
            Counter(map(tuple, np.unique(np.stack([numbers, sources, of]), axis=1)[:2].T.tolist()))
            for of in (owners, found["row"])
        )
        names = [part.name for part in self._searched.reading.all_parts]
        rows = [
            (self._searched.benchmarks[benchmark].name, names[source], count, documents[benchmark, source])
            for (benchmark, source), count in sorted(items.items())
        ]
        return _table(rows, _MATRIX)

    @cached_property
    def unsought(self) -> pa.Table:
        """The texts that were not looked for, with the reason: `short`, `plain`, `boilerplate` or `empty`."""
        reasons = self._searched.reasons
        rows = [
            (*self._searched.item(int(self._searched.places[text, 1])), self._searched.columns[text], reasons[text])
            for text in range(len(reasons))
            if reasons[text]
        ]
        return _table(rows, _UNSOUGHT)

    @cached_property
    def boilerplate(self) -> pa.Table:
        """The shingles that count for nothing, since too many texts of a benchmark have them."""
        rows = [
            (self._searched.benchmarks[one.benchmark].name, b" ".join(one.words).decode(), one.texts)
            for one in self._searched.sought.boilerplate
        ]
        return _table(rows, _BOILERPLATE)

    @property
    def skipped(self) -> pa.Table:
        """The records that could not be read, of both sides."""
        return skipped_table([*self._searched.skipped, *self._searched.reading.skipped])

    @property
    def passed_over(self) -> PassedOver:
        """The files of folders and patterns that were not read, by their kinds."""
        read: PassedOver = self._searched.reading.passed_over
        return self._searched.passed_over + read

    def record(self) -> dict[str, Any]:
        """Counts, settings, matrix, leaked items and boilerplate, JSON-able."""
        return {
            "stats": self.stats.record(),
            "settings": dict(self._searched.settings),
            "matrix": self.matrix.to_pylist(),
            "items": self.items.to_pylist(),
            "boilerplate": self.boilerplate.to_pylist(),
        }

    def markdown(self) -> str:
        """A summary for a model card."""
        return leaks_markdown(self.record())

    def kept(self, *, remove: LeakedPart = "documents") -> Any:
        """The training documents that stay, with all their columns.

        Args:
            remove: `documents`: without those in which an item was found, as what `Result.kept` gives: a frame of
                pandas or polars, or a Hugging Face `Dataset`, as what it was. `spans`: without the passages in which
                one was found; an Arrow table, since texts have changed.

        Raises:
            ConfigError: Nothing can be cut out of what was read.

        Example:
            >>> question = "which wise old wallaby waltzes with Wendy on Wednesdays in Woking"
            >>> found = leaks([f"Well, {question}?", "a daisy"], [{"question": question}])
            >>> found.kept().to_pylist(), found.kept(remove="spans").to_pylist()
            ([{'text': 'a daisy'}], [{'text': 'Well, ?'}, {'text': 'a daisy'}])
        """
        return kept_documents(self._searched, found_cuts(self._searched) if remove == "spans" else None)

    def write(
        self, directory: str | os.PathLike[str], *, remove: LeakRemoval = "none", overwrite: bool = False
    ) -> LeakStats:
        """Write a folder that appears complete or not at all: the tables as Parquet, and `stats.json`.

        Args:
            directory: The folder. Or by its ending one file, or `-` for JSON lines on standard output: of `spans`; with
                `remove`, of the training data that stay.
            remove: `documents`: the training data, too (in `kept/`), without the documents in which an item was found;
                `spans`: without the passages in which one was found, listed in `cuts`.
            overwrite: Whether a folder that exists is replaced.

        Returns:
            The counts, with those of what was removed.

        Raises:
            OutputError: It cannot be written.
            ConfigError: Nothing can be cut out of what was read.
        """
        searched, here = self._searched, isinstance(self._searched.reading, Reading)
        if not meaning(directory).is_folder:
            return self._one_file(meaning(directory), remove, overwrite=overwrite)
        place = folder.require_place(directory, searched.inputs, overwrite=overwrite) if here else None
        if not here:
            searched.reading.require(directory, overwrite=overwrite)
        cuts = found_cuts(searched) if remove == "spans" else None
        away = None if remove == "none" else removed(searched, cuts)
        stats = replace(self.stats, removed=away, seconds=searched.seconds)
        tables = {name: getattr(self, name) for name in _TABLES}
        tables |= {"skipped": self.skipped} if len(self.skipped) else {}
        tables |= {} if cuts is None else {"cuts": self._cuts(cuts)}
        record = {**self.record(), "stats": stats.record(), "remove": remove}
        with searched.clock("writing"):
            if place is None:
                record |= {"call": searched.call, "written": {"remove": remove}}
                write_on_spark(searched, cuts, directory, tables, record)
            else:
                self._write(place, cuts, tables, record)
        return stats

    def _one_file(self, place: Destination, remove: LeakRemoval, *, overwrite: bool) -> LeakStats:
        """Write the spans as a file, or the documents that stay."""
        searched, away = self._searched, None
        if remove != "none":
            if not isinstance(searched.reading, Reading):
                require_folder(place.typed, f"remove={remove} on Spark")
            cuts = found_cuts(searched) if remove == "spans" else None
            away = removed(searched, cuts)
            write_one_file(searched, cuts, place, overwrite=overwrite)
        elif place.is_stream:
            lists.json_lines(self.spans, sys.stdout.buffer)
        else:
            with searched.clock("writing"):
                told = lambda: with_call(self.spans, {"call": searched.call})  # noqa: E731  (made when it is needed)
                lists.write_file(place.typed, told, searched.inputs, overwrite=overwrite, spreadsheet=False)
        return replace(self.stats, removed=away, seconds=searched.seconds)

    def _write(
        self, place: folder.Place, cuts: pa.Table | None, tables: Mapping[str, pa.Table], record: Mapping[str, Any]
    ) -> None:
        with folder.appearing(place) as home:
            home.mkdir()
            for name, table in tables.items():
                folder.write_table(table, home / f"{name}.parquet")
            if record["remove"] != "none":
                write_kept(self._searched, cuts, home / "kept")
            searched, parts = self._searched, kept_parts(self._searched.reading, cuts)
            how = {"remove": record["remove"]}
            read = manifest(parts, 0, searched.reading.columns, how, self.stats.ignored, searched.call)
            folder.write_table(read, home / "sources.parquet")
            folder.write_json(record, home / "stats.json")

    def _cuts(self, cuts: pa.Table) -> pa.Table:
        """What is cut out, as spans are told, and whether a word of the document is left."""
        searched = replace(self._searched, found=cuts.drop_columns("left"))
        left = dict(zip(cuts.column("row").to_pylist(), cuts.column("left").to_pylist(), strict=True))
        hits = searched.hits
        order = np.lexsort((hits["start"], hits["text"], hits["row"]))
        table = _placed(searched, order)
        return table.append_column("left", pa.array([left[row] for row in hits["row"][order].tolist()], pa.bool_()))

    def write_markdown(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the summary for a model card; the file appears complete or not at all.

        Args:
            path: The file.
            overwrite: Whether a file that exists is replaced.

        Raises:
            OutputError: The file cannot be written.
        """
        self._write_file(path, self.markdown, overwrite=overwrite)

    def write_report(self, path: str | os.PathLike[str], *, texts: bool = True, overwrite: bool = False) -> None:
        """Write a page of what was found: counts, where, and items with both passages beside each other.

        Args:
            path: A .html file.
            texts: Whether texts stand in it; without, only ids and counts do.
            overwrite: Whether a file that exists is replaced.

        Raises:
            OutputError: The name is another, or the file cannot be written.
            MissingExtraError: HTML needs the extra `report`.
        """
        by_ending(os.fspath(path), {".html": None})
        size = self._searched.sought.rule.shingle_size

        def page() -> str:
            return leaks_page(self.record(), beside_each_other(self.items, self.spans, size, texts=texts))

        self._write_file(path, page, overwrite=overwrite)

    def _write_file(self, path: str | os.PathLike[str], made: Callable[[], str], *, overwrite: bool) -> None:
        place = folder.require_place(path, self._searched.inputs, folder=False, overwrite=overwrite)
        text = made()
        with folder.appearing(place) as file:
            file.write_text(text, "utf-8")

    def _counts(self, number: int) -> BenchmarkCounts:
        items, own = self._searched.benchmarks[number], self._searched.places[:, 0] == number
        reasons = np.array(self._searched.reasons, np.str_)[own]
        here = own[self._searched.hits["text"]]
        return BenchmarkCounts(
            name=items.name,
            items=len(items.ids),
            sought=int(np.unique(self._searched.places[own, 1][reasons == ""]).size),
            leaked=int(np.unique(self._searched.places[self._searched.hits["text"], 1][here]).size),
            documents=int(np.unique(self._searched.hits["row"][here]).size),
            texts=int(own.sum()),
            unsought={reason: count for reason, count in sorted(Counter(reasons.tolist()).items()) if reason},
            boilerplate=sum(one.benchmark == number for one in self._searched.sought.boilerplate),
        )


def _placed(searched: Searched, order: Rows) -> pa.Table:
    """Some of what was found, in this order, with passages and names."""
    found = searched.hits
    ids = searched.names.of(found["row"][order])
    chosen = {name: values[order] for name, values in found.items()}
    texts = chosen["text"].tolist()
    places = [searched.item(owner) for owner in searched.places[chosen["text"], 1].tolist()]
    known: dict[tuple[int, int, int], tuple[int, int, str]] = {}
    own = [
        known.get(key) or known.setdefault(key, searched.passage(*key))
        for key in zip(texts, chosen["text_start"].tolist(), chosen["text_end"].tolist(), strict=True)
    ]
    of_items = list(zip(*own, strict=True)) or [(), (), ()]
    where = list(zip(*places, strict=True)) or [(), ()]
    lines = pa.array(chosen["line"])
    columns = [
        *where, [searched.columns[text] for text in texts], *ids,
        *(chosen[name] for name in ("score", "shared", "shingles", "start", "end")),
        searched.found.column("passage").take(lines).combine_chunks(), *of_items,
    ]  # fmt: skip
    return _from_columns(columns, _SPANS)


def _table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    return _from_columns(list(zip(*rows, strict=True)) or [()] * len(schema), schema)


def _from_columns(columns: Sequence[Any], schema: pa.Schema) -> pa.Table:
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
