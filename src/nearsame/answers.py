"""Answers to be questioned: what a run found, as tables, texts, folders and counts.

1. An answer is immutable; asking for another threshold gives another one.
2. What is asked for twice is computed once; nothing is computed before it is asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import pipeline, schemas
from nearsame.arguments import checked, require_number
from nearsame.errors import ConfigError
from nearsame.evidence import sides
from nearsame.methods import Method
from nearsame.outputs import folder, lists, tables
from nearsame.outputs.annotations import Verdict
from nearsame.outputs.examples import spread
from nearsame.outputs.writing import copy_parts, num_bytes
from nearsame.removals import Removals
from nearsame.results import Audit, Clock, Stats
from nearsame.runs import Run
from nearsame.sources import Annotations, TextFolder
from nearsame.sources.manifest import manifest
from nearsame.sources.taking import take, together
from nearsame.sources.targets import with_own_targets
from nearsame.stages.clusters.keepers import Decided
from nearsame.stages.pairs.expand import Listed, by_priority
from nearsame.stages.pairs.join import Found
from nearsame.stages.texts.pages import PageTexts

__all__ = ["Pairs", "Result"]

Rows = npt.NDArray[np.int64]

_NUM_LARGEST = 5
_NONE = np.zeros(0, np.int64)


@checked
@dataclass(frozen=True)
class Result:
    """Which documents stay, which go, and why."""

    run: Run
    method: Method
    _text: Decided  # by the method
    audit: Audit | None = None
    notes: tuple[str, ...] = ()  # beside those of the run

    @cached_property
    def _removals(self) -> Removals:
        run = self.run
        return Removals(run.state, run.names, self._text, run.measure, self.method.least, run.layers, run.pages)

    @property
    def _decided(self) -> Decided:
        """By all layers together."""
        return self._removals.decided

    def __repr__(self) -> str:
        stats = self.stats
        return f"Result({stats.documents:,} documents, {stats.kept:,} kept, {stats.removed:,} removed)"

    @cached_property
    def stats(self) -> Stats:
        """Counts at every arrow of the flow, seconds, the recipe."""
        known, decided = self.run.stats, self._decided
        keepers, sizes = np.unique(decided.witnesses, return_counts=True)
        largest = np.lexsort((keepers, -sizes))[:_NUM_LARGEST]
        ids = self.run.names.of(keepers[largest])[0].to_pylist()
        return replace(
            known,
            compared=decided.num_compared,
            **self._removals.counts(),
            kept=known.documents - known.against - decided.rows.size,
            clusters=keepers.size,
            largest=tuple(zip(ids, (sizes[largest] + 1).tolist(), strict=True)),
            component=decided.component,
            audit=None if self.audit is None else self.audit.record(),
            least=float(self.method.least),
            notes=(*known.notes, *self.notes),
            recipe={**known.recipe, **self.method.record()},
        )

    @cached_property
    def removals(self) -> pa.Table:
        """The removed documents, each with its witness, similarity and cluster (the witness's number)."""
        return self._removals.table

    @cached_property
    def clusters(self) -> pa.Table:
        """Keepers and the documents that they are the witness of, cluster by cluster."""
        return self._removals.clusters

    @cached_property
    def groups(self) -> Rows:
        """By row the keeper of its cluster: near-duplicates have the same one, a document without any has its own."""
        found = np.arange(len(self.run.names.origins))
        found[self._decided.rows] = self._decided.witnesses
        return found

    @cached_property
    def pairs(self) -> pa.Table:
        """Each removed document with its witness, as a pair."""
        rows, witnesses, nums, dens = self._decided[:4]
        a, b = np.minimum(rows, witnesses), np.maximum(rows, witnesses)
        order = np.lexsort((b, a))
        found = Found(a[order], b[order], nums[order], dens[order])
        columns = self._removals.beside(found, order)
        listed = Listed(found.a, found.b, self._removals.similarity[order], columns)
        if self.run.settings["ties"] == "content":  # as on Spark, where rows have no order
            places = np.ones(len(self.run.names.origins), np.int64)
            places[witnesses] = 0
            listed = by_priority(listed, places, self.run.state.step.mirror)
        return self.run.pairs_table(listed, self._removals.measures.take(pa.array(order)))

    @property
    def skipped(self) -> pa.Table:
        """The records that could not be read."""
        return tables.skipped_table(self.run.reading.skipped)

    @property
    def frequencies(self) -> pa.Table | None:
        """With `weights="tfidf"`: in how many documents each feature stands. Saved, it weighs those of a later run."""
        return self.run.frequencies

    @property
    def num_ignored(self) -> int:
        """How many files of folders and patterns are of no known format."""
        return self.run.num_ignored

    def kept(self) -> pa.Table:
        """The documents that stay, with all their columns."""
        return self._documents(stay=True)

    def removed(self) -> pa.Table:
        """The documents that go, with all their columns."""
        return self._documents(stay=False)

    def at(self, *, threshold: Any) -> "Result":
        """The result at a higher threshold, decided anew on the stored keys and features.

        Raises:
            ConfigError: The threshold is lower than the run's, or the method has none.
        """
        least, higher = self.run.state.method.least, self.method.raised(threshold)
        if higher.least < least:
            message = f"threshold={threshold} is below the run's own, {float(least)}: its keys may miss pairs"
            raise ConfigError(message, hint="Run again with the lower threshold.")
        settings = {name: self.run.settings[name] for name in ("within", "clusters")}
        rule = pipeline.deciding(self.run.state, higher.least, **settings)
        decided = pipeline.decide(self.run.state, rule, Clock(), within=settings["within"])
        unaudited = f"recall was not measured at threshold {float(higher.least):g}: that takes a run of its own"
        return Result(self.run, higher, decided, notes=(unaudited,) if self.audit or self.notes else ())

    def write(  # noqa: PLR0913  (each is a choice of the caller's)
        self,
        directory: str | Path,
        *,
        overwrite: bool = False,
        pairs: bool = False,
        annotate: bool = False,
        drop_unreadable: bool = False,
        copy_files: bool = False,
    ) -> Stats:
        """Write a folder that appears complete or not at all.

        It holds `kept/` (what was read, without the removed records), `removed.parquet`, `clusters.parquet`,
        `sources.parquet` (what was read), `stats.json`, and `skipped.parquet` if there are records that could not be
        read.

        Args:
            directory: The folder; it must not exist.
            overwrite: Whether a folder that exists is replaced.
            pairs: Whether to write `pairs.parquet`, each removed document with its witness, too.
            annotate: Whether all records go to `kept/`, with the columns `cluster`, `witness_id`, `num_duplicates`.
            drop_unreadable: Whether records that could not be read are left out of `kept/`.
            copy_files: Whether folders of text files are copied, where otherwise `kept.txt` lists the paths that stay.

        Returns:
            The statistics, with the seconds of writing.

        Raises:
            OutputError: The folder cannot be written, or would lie in a source or over one.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as home:
            ...     dedup(["a rose", "a rose"]).write(home + "/clean").kept
            1
        """
        run, reading, stats = self.run, self.run.reading, self.stats
        place = folder.require_place(directory, run.inputs, overwrite=overwrite)
        unreadable = reading.unreadable if drop_unreadable else {}
        verdict = Verdict(run.names, self._decided.rows, self._decided.witnesses, unreadable, reading.unread)
        parts = with_own_targets([_as_files(part) for part in reading.parts]) if copy_files else reading.parts
        with folder.appearing(place) as home:
            with run.clock("writing"):
                annotations = Annotations if annotate else None
                room = run.state.engine.free_bytes
                copy_parts(
                    parts,
                    len(reading.against),
                    verdict,
                    home / "kept",
                    annotate=annotations,
                    memory=room,
                    drop_unread=drop_unreadable,
                )
                how = {
                    "annotate": annotate,
                    "drop_unreadable": drop_unreadable,
                    "copy_files": copy_files,
                    "pairs": pairs,
                }
                read = manifest([*reading.against, *parts], len(reading.against), reading.columns, how, run.num_ignored)
                for name, table in {**self._tables(pairs=pairs), "sources": read}.items():
                    folder.write_table(table, home / f"{name}.parquet")
            seconds = {step: round(spent, 4) for step, spent in run.clock.seconds.items()}
            written = {"documents": stats.documents if annotate else stats.kept, "out": num_bytes(home)}
            notes = (*stats.notes, *_led_out(parts)) if copy_files else stats.notes
            stats = replace(stats, seconds=seconds, bytes={**stats.bytes, "writing": written}, notes=notes)
            folder.write_json(stats.record(), home / "stats.json")
        return stats

    def examples(self, count: int = 10) -> pa.Table:
        """Some of the removals, over the whole range of similarity, with the texts of both sides, read again.

        Example:
            >>> dedup(["a rose", "a rose"]).examples().column("witness_text").to_pylist()
            ['a rose']
        """
        require_number("count", count, 0)
        decided = self._decided
        chosen = spread(self._removals.similarity, self._removals.same_text, count)
        found = self.removals.take(pa.array(chosen))
        for name, rows in (("text", decided.rows), ("witness_text", decided.witnesses)):
            found = found.append_column(name, pa.array(self.run.texts(rows[chosen]), pa.large_string()))
        return found

    def _tables(self, *, pairs: bool) -> dict[str, pa.Table]:
        found = {"removed": self.removals, "clusters": self.clusters}
        if pairs:
            found["pairs"] = self.pairs
        if self.run.frequencies is not None:
            found["frequencies"] = self.run.frequencies
        if self.run.reading.skipped:
            found["skipped"] = self.skipped
        return found

    def _documents(self, *, stay: bool) -> pa.Table:
        """The records of the judged side that stay or go; one that could not be read is in neither."""
        reading, origins = self.run.reading, self.run.names.origins
        gone = np.zeros(len(origins), np.bool_)
        gone[self._decided.rows] = True
        source, position = (origins.column(name).to_numpy() for name in ("source", "position"))
        found = []
        for number, part in enumerate(reading.parts, start=len(reading.against)):
            here = source == number
            removed, kept = position[here & gone], position[here & ~gone]
            kept = np.union1d(kept, reading.unread.get(number, _NONE))  # files that equal no other have no row
            unreadable = np.array(reading.unreadable.get(number, []), np.int64)
            wanted, others = (kept, removed) if stay else (removed, kept)
            table = take(part, wanted, np.union1d(others, unreadable), reading.columns)
            found.append(_with_texts(table, self.run.extract) if getattr(part, "pages", False) else table)
        return together(found, [part.name for part in reading.parts])


@checked
@dataclass(frozen=True)
class Pairs:
    """All similar pairs."""

    run: Run
    method: Method
    _found: Listed
    audit: Audit | None = None

    def __repr__(self) -> str:
        size = self._found.a.size
        pairs = f"{size:,} pair{'' if size == 1 else 's'}"
        return f"Pairs({pairs}, method={self.method.name}, threshold={float(self.method.least):g})"

    @cached_property
    def table(self) -> pa.Table:
        """Rows a < b: their ids, sources and rows, the similarity and the measure."""
        return self.run.pairs_table(self._found)

    @property
    def pairs(self) -> pa.Table:
        """The same as `table`."""
        return self.table

    @property
    def num_pairs(self) -> int:
        """How many there are."""
        return self._found.a.size

    def write(self, path: str | Path, *, overwrite: bool = False, spreadsheet: bool = False) -> None:
        """Write the table as .parquet, .jsonl or .csv; the file appears complete or not at all.

        Args:
            path: The file.
            overwrite: Whether a file that is there is replaced.
            spreadsheet: Whether in .csv a text that a spreadsheet would take for a formula gets a ' before it.

        Raises:
            OutputError: The file cannot be written, or would lie in a source or over one.
        """
        write = lists.writer(path, spreadsheet=spreadsheet)
        place = folder.require_place(path, self.run.inputs, folder=False, overwrite=overwrite)
        with folder.appearing(place) as made:
            write(self.table, made)

    @property
    def stats(self) -> Stats:
        """Counts at every arrow of the flow, seconds, the recipe."""
        known = replace(self.run.stats, audit=None if self.audit is None else self.audit.record())
        if self.run.pages is None or not self.run.have_urls:
            return known
        same, cross = sides(self.run.pages.same_host(self._found.a, self._found.b))
        return replace(known, same_host=same, cross_host=cross)

    @property
    def skipped(self) -> pa.Table:
        """The records that could not be read."""
        return tables.skipped_table(self.run.reading.skipped)

    @property
    def num_ignored(self) -> int:
        """How many files of folders and patterns are of no known format."""
        return self.run.num_ignored


def _with_texts(table: pa.Table, extract: PageTexts | None) -> pa.Table:
    """Records of pages with the text in the place of the body."""
    if extract is None or "body" not in table.column_names:
        return table
    texts = []
    for batch in table.to_batches():
        rows = pa.array(np.arange(len(batch)))
        pages = pa.RecordBatch.from_arrays([rows, *map(batch.column, schemas.PAGES.names[1:])], schema=schemas.PAGES)
        texts.append(extract(pages).column("text"))
    at = table.column_names.index("body")
    found = table.set_column(at, "text", pa.chunked_array(texts, pa.large_string()))
    return found.drop_columns(["charset"])


def _led_out(parts: Sequence[Any]) -> Iterator[str]:
    """What one must know of copies of links that lead out of their folder."""
    for part in parts:
        links = part.leading_out() if isinstance(part, TextFolder) else []
        if links:
            others = f" and {len(links) - 1:,} more" if len(links) > 1 else ""
            yield f"{links[0]}{others} in {part.name} led out of the folder, and was copied as what it led to"


def _as_files(part: Any) -> Any:
    return replace(part, copy_files=True, target=".") if isinstance(part, TextFolder) else part
