"""What all answers of one run share: what was read, what is known of it, and what it is called.

1. Nothing here is decided, and nothing is written.
2. What is asked for twice is computed once.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nearsame import computing, schemas
from nearsame._version import __version__
from nearsame.answers.stats import NUM_HOSTS, Stats, compared_by
from nearsame.arrow import Rows
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.files.inputs import Files, Inputs, names_of
from nearsame.files.passed_over import PassedOver
from nearsame.flow.arrays import Arrays
from nearsame.flow.calls import with_call
from nearsame.flow.corpus import State
from nearsame.flow.evidence import PageFacts, sides
from nearsame.flow.page_reading import reading_settings
from nearsame.installation import versions
from nearsame.outputs import lists, tables
from nearsame.outputs.apart import require_apart
from nearsame.outputs.examples import some
from nearsame.recipes.choices import ReportedMeasure
from nearsame.recipes.methods import Method
from nearsame.sources import Part
from nearsame.sources.folder_keys import folder_names, folder_values
from nearsame.sources.reading import Reading
from nearsame.sources.select import texts
from nearsame.stages.pairs.expand import Listed
from nearsame.stages.texts.page_text import TALLIES, PageTexts

if TYPE_CHECKING:
    from nearsame.flow.layers import Layers

__all__ = ["Run", "inputs_of"]

_KEY_BYTES = sum(field.type.bit_width for field in schemas.KEYS) // 8
_PACKAGES = ("numba", "numpy", "pyarrow", "xxhash")


@dataclass(frozen=True)
class Run:
    """What all results of one run share."""

    reading: Reading
    state: State[Arrays]
    clock: Clock
    settings: dict[str, Any]
    inputs: Inputs  # every file that was read
    pages: PageFacts | None = None  # what is known of documents as pages
    layers: "Layers | None" = None  # what ran before the method
    call: Mapping[str, Any] = field(default_factory=dict)  # what was asked, so that it can be asked again
    notes: tuple[str, ...] = ()  # what was found on the way that one must know
    called: pa.Table | None = None  # ORIGINS, where documents are not called by their places

    def without_features(self) -> "Run":
        """The same once all has been decided: what only deciding needed is given back."""
        if self.state.step.columns is not None and self.state.step.columns.exact:
            return self  # pairs of estimates tell the exact values, too
        return replace(self, state=replace(self.state, leaders=None))

    @cached_property
    def names(self) -> tables.RowNames:
        """What rows are called."""
        origins = self.reading.origins if self.called is None else self.called
        return tables.RowNames(origins, [part.name for part in self.reading.all_parts])

    @property
    def seconds(self) -> dict[str, float]:
        """Of each step so far."""
        return {step: round(seconds, 4) for step, seconds in self.clock.seconds.items()}

    @property
    def skipped(self) -> pa.Table:
        """The records that could not be read."""
        return tables.skipped_table(self.reading.skipped)

    def ending(self) -> AbstractContextManager[None]:
        """What ends the block early ends the threads, too."""
        return self.state.corpus.engine.ending()

    def release(self) -> None:
        """Nothing to give back: memory goes with the last answer, and files with the process."""

    @property
    def num_ignored(self) -> int:
        """How many files of folders and patterns are passed over."""
        return self.passed_over.total

    @property
    def passed_over(self) -> PassedOver:
        """Which these are, by their kinds."""
        return self.reading.passed_over

    @cached_property
    def said_by_folders(self) -> dict[str, list[pa.Array | None]]:
        """What names of folders say of the judged side, by part."""
        parts = self.reading.parts
        return {name: folder_values(name, parts) for name in folder_names(parts)}

    def texts(self, rows: Rows) -> list[str]:
        """The texts of some rows, read again."""
        source, position = (self.reading.origins.column(name).to_numpy()[rows] for name in ("source", "position"))
        by_part = {
            number: texts(part, position[source == number], self.reading.columns_of(number), self.extract)
            for number, part in enumerate(self.reading.all_parts)
            if (source == number).any()
        }
        return [by_part[number][at] for number, at in zip(source.tolist(), position.tolist(), strict=True)]

    @property
    def extract(self) -> PageTexts | None:
        """What takes the text out of pages, where there are some."""
        return PageTexts(self.reading.columns.extract) if self.reading.pages else None

    @property
    def have_urls(self) -> bool:
        """Whether any document has a URL."""
        return self.pages is not None and self.pages.have_urls

    @property
    def _page_notes(self) -> tuple[str, ...]:
        return () if self.pages is None else self.pages.notes

    @cached_property
    def measure(self) -> ReportedMeasure:
        """What similarities are, as the column `measure` says it: jaccard, cosine and so on."""
        return self.state.method.reports

    def pairs_table(self, pairs: Listed, measures: pa.Array | None = None) -> pa.Table:
        """Pairs as a table, with the columns that the method alone has."""
        if measures is None:
            measures = tables.same(self.measure, pairs.a.size)
        table = tables.pairs_table(self.names, pairs.a, pairs.b, pairs.similarity, measures)
        return tables.widened(table, dict(zip(self.state.step.column_names, pairs.columns, strict=True)))

    def pairs_with_texts(self, pairs: Listed, table: pa.Table, count: int | None) -> pa.Table:
        """Some rows of a table of pairs, or all, with their texts."""
        chosen = some(pairs.similarity, pairs.similarity >= 1, count)
        table = computing.take(table, pa.array(chosen))
        for name, rows in (("a_text", pairs.a), ("b_text", pairs.b)):
            table = table.append_column(name, pa.array(self.texts(rows[chosen]), pa.large_string()))
        return table

    def pairs_counts(self, pairs: Listed) -> dict[str, Any]:
        """What statistics say of pairs besides what is known."""
        work = compared_by(pairs.work.record())
        if self.pages is None or not self.have_urls:
            return work
        same, cross = sides(self.pages.same_host(pairs.a, pairs.b))
        return {**work, "same_host": same, "cross_host": cross}

    def write_table(self, table: pa.Table, path: str | Path, *, overwrite: bool, spreadsheet: bool) -> None:
        """Write a table as a file.

        Raises:
            OutputError: It cannot be written, or would lie in a source or over one.
        """
        how = {"call": self.call, "recipe": self.recipe, "written": {"spreadsheet": spreadsheet}}
        told = lambda: with_call(table, how)  # noqa: E731  (made when it is needed)
        lists.write_file(path, told, self.inputs, overwrite=overwrite, spreadsheet=spreadsheet)

    @property
    def page_counts(self) -> dict[str, Any]:
        """Of web pages, what happened on the way to their texts; nothing where there are none."""
        if not self.reading.pages:
            return {}
        aside = dict(self.reading.aside)
        cut = aside.pop("cut", 0)
        passed = dict(sorted(aside.items(), key=lambda pair: (-pair[1], pair[0])))
        return {"passed_over": passed, "cut": cut, **dict.fromkeys(TALLIES, 0), **self.state.corpus.engine.tallies}

    @property
    def recipe(self) -> dict[str, Any]:
        """What decided the answer."""
        how = reading_settings(self.reading.columns, pages=self.reading.pages)
        return {**self.state.method.record(), **self.settings, **how}

    @property
    def _volumes(self) -> dict[str, dict[str, int]]:
        """Of each step the documents, and the bytes that go in and come out, where they are known."""
        about, leads, met = self.state.corpus.about, self.state.corpus.leads, self.state.met
        made, distinct = 8 * int(about.sizes.sum()), 8 * int(about.sizes[leads].sum())
        size = int(leads.sum())
        volumes = {
            "features": {"documents": leads.size, "in": int(about.text_bytes.sum()), "out": made},
            "identical": {"documents": leads.size, "in": made, "out": distinct},
        }
        if met.meeting is not None:
            keys = _KEY_BYTES * met.num_keys
            sketched = self.state.step.sketches is not None  # how many bytes these are is not counted
            volumes["keys"] = {"documents": size, **({} if sketched else {"in": distinct}), "out": keys}
            out = {"documents": met.meeting.entries.rows.size, "in": keys, "out": 8 * met.meeting.items.size}
            volumes["meeting"] = out
        return volumes

    @cached_property
    def stats(self) -> Stats:
        """What is known before anything is decided."""
        about, best, met = self.state.corpus.about, self.state.corpus.best, self.state.met
        gone = 0 if self.layers is None else int(self.layers.gone.sum())  # to the method they are empty
        whole = about if self.layers is None else self.layers.about
        entries = met.meeting.entries if met.meeting else None
        return Stats(
            documents=about.sizes.size + self.reading.num_unread,
            unread=self.reading.num_unread,
            against=self.reading.num_against + self.reading.num_unread_against,
            text_bytes=int(whole.text_bytes.sum()),
            skipped=len(self.reading.skipped),
            ignored=self.num_ignored,
            pages=self.page_counts,
            empty=int((whole.sizes == 0).sum()) if self.layers is None else self.layers.num_empty,
            bare=about.num_bare - self.state.dropped.documents,
            dropped_shingles=self.state.dropped.shingles,
            dropped_occurrences=self.state.dropped.occurrences,
            dropped_hosts=len(self.state.dropped.hosts),
            dropped_by_host=tuple(host._asdict() for host in self.state.dropped.hosts[:NUM_HOSTS]),
            emptied=self.state.dropped.documents,
            repeated_ids=tables.repeated_ids(self.reading.origins),
            distinct=int((best == np.arange(best.size)).sum()) - gone,
            features=int(about.sizes[best == np.arange(best.size)].sum()),
            keys=met.num_keys,
            meeting=0 if entries is None else entries.rows.size,
            measure=self.measure,
            least=float(self.state.method.least),
            notes=(
                *self.state.step.notes,
                *self.state.corpus.notes,
                *met.notes,
                *self.notes,
                *self._page_notes,
                *self.reading.notes,
            ),
            seconds=self.seconds,
            bytes=self._volumes,
            thread_seconds={step: round(seconds, 4) for step, seconds in self.state.corpus.engine.seconds.items()},
            bytes_read=self.reading.size_bytes,
            room=self.state.corpus.engine.room,
            recipe=self.recipe,
            versions={"nearsame": __version__, **versions(_PACKAGES)},
        )


def inputs_of(sides: tuple[Any, Any], parts: Sequence[Sequence[Part]], recipe: Method, workdir: Any) -> Inputs:
    """Every file that a run reads; the folder of its finished steps, too, must not be replaced.

    Args:
        sides: What is judged, and what it is compared with, as they were given.
        parts: What was found, of each.
        recipe: The method, which may name a file.
        workdir: The folder of finished steps, or None.

    Raises:
        OutputError: That folder is in a source, or holds one.
    """
    inputs = Inputs(names_of(sides[0]), names_of(sides[1]), tuple(part.files for side in parts for part in side))
    inputs += Inputs.of(getattr(recipe, "frequencies", None))
    if workdir is None:
        return inputs
    require_apart(os.fspath(workdir), Path(os.path.realpath(workdir)), inputs, folder=False)
    return inputs + Inputs(names_of(workdir), (), (Files(os.fspath(workdir), ("run.json",)),))
