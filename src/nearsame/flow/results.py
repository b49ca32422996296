"""Answers to be questioned: what a run found, as tables, texts, folders and counts.

1. An answer is immutable; asking for another threshold gives another one.
2. What is asked for twice is computed once; nothing is computed before it is asked for.
3. Tables come from the engine: what is called a table is Arrow's on one machine, and a DataFrame on Spark
   (frames/removals.py, frames/runs.py).
"""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.answers.stats import Audit, Stats
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.files.passed_over import PassedOver
from nearsame.flow.kept import Choices
from nearsame.flow.offers import Offers
from nearsame.outputs.destinations import meaning, require_folder
from nearsame.recipes.arguments import checked_methods, require_number
from nearsame.recipes.given import Number
from nearsame.recipes.methods import Method
from nearsame.shares import counted, exactly

__all__ = ["Pairs", "Result"]

_OPTIONS = {"copy_files": "copy"}


@checked_methods
@dataclass(frozen=True)
class Result(Offers):
    """Which documents stay, which go, and why."""

    _removals: Any  # Removals of the engine that decided
    audit: Audit | None = None
    notes: tuple[str, ...] = ()  # besides those of the run

    @property
    def run(self) -> Any:
        """What was read, and what is known of it."""
        return self._removals.run

    @property
    def method(self) -> Method:
        """By which was decided."""
        method: Method = self._removals.method
        return method

    def __repr__(self) -> str:
        stats = self.stats
        return f"Result({counted(stats.documents, 'document')}, {stats.kept:,} kept, {stats.removed:,} removed)"

    @cached_property
    def stats(self) -> Stats:
        """Counts at every arrow of the flow, seconds, the recipe."""
        known: Stats = self.run.stats
        counts: dict[str, Any] = self._removals.counts()
        return replace(
            known,
            **counts,
            kept=known.documents - known.against - counts["removed"],
            audit=None if self.audit is None else self.audit.record(),
            least=float(self.method.least),
            notes=(*known.notes, *self.notes),
            recipe={**known.recipe, **self.method.record()},
        )

    @property
    def removals(self) -> pa.Table:
        """The removed documents, each with its witness, similarity and cluster (the witness's number)."""
        return self._removals.table

    @property
    def clusters(self) -> pa.Table:
        """Keepers and the documents that they are the witness of, cluster by cluster."""
        return self._removals.clusters

    @property
    def groups(self) -> npt.NDArray[np.int64]:
        """By row the keeper of its cluster: near-duplicates have the same one, a document without any has its own.

        Raises:
            ConfigError: On Spark, where rows have no places.
        """
        groups: npt.NDArray[np.int64] = self._removals.groups
        return groups

    @property
    def pairs(self) -> pa.Table:
        """Each removed document with its witness, as a pair."""
        return self._removals.pairs

    @property
    def skipped(self) -> pa.Table:
        """The records that could not be read; on Spark the files of which some could not, and how many."""
        skipped: pa.Table = self.run.skipped
        return skipped

    @property
    def frequencies(self) -> pa.Table | None:
        """With `weights="tfidf"`: in how many documents each feature stands. Saved, it weighs those of a later run."""
        table: pa.Table | None = self.run.state.frequency_table
        return table

    @property
    def num_ignored(self) -> int:
        """How many files of folders and patterns are passed over."""
        number: int = self.run.num_ignored
        return number

    @property
    def passed_over(self) -> PassedOver:
        """Which files of folders and patterns are passed over, by their kinds."""
        passed_over: PassedOver = self.run.passed_over
        return passed_over

    def kept(self) -> Any:
        """The documents that stay, with all their columns.

        A frame or series of pandas or polars, and a Hugging Face `Dataset` or `DatasetDict`, come back as what they
        were. All else, and several sources together, comes as an Arrow table; on Spark, as a DataFrame.

        Raises:
            ConfigError: It takes more memory than there is: a folder is written without holding any of it as a whole.

        Example:
            >>> dedup({"id": ["a", "b"], "text": ["a rose", "a rose"]}).kept().to_pylist()
            [{'id': 'a', 'text': 'a rose'}]
        """
        return self._removals.records(stay=True)

    def removed(self) -> Any:
        """The documents that go, with all their columns, as what `kept` gives."""
        return self._removals.records(stay=False)

    def at(self, *, threshold: Number) -> "Result":
        """The result at a higher threshold, decided again on the stored keys and features.

        Raises:
            ConfigError: The threshold is lower than the run's, the method has none, or an index was asked.
        """
        if self.run.stats.recipe.get("indexes"):
            message = f"threshold={threshold}: an index was asked, which knows its answers of one threshold"
            raise ConfigError(message, hint="Run again with the higher threshold.")
        least, higher = self.run.state.method.least, self.method.raised(threshold)
        if higher.least < least:
            message = f"threshold={threshold} is below the run's own, {float(least)}: its keys may miss pairs"
            raise ConfigError(message, hint="Run again with the lower threshold.")
        unaudited = f"recall was not measured at threshold {exactly(higher.least)}: that takes a run of its own"
        return Result(self._removals.at(higher), notes=(unaudited,) if self.audit or self.notes else ())

    def write(  # noqa: PLR0913  (each is a choice of the caller's)
        self,
        place: str | Path,
        *,
        overwrite: bool = False,
        pairs: bool = False,
        annotate: bool = False,
        drop_unreadable: bool = False,
        copy_files: bool = False,
        revisits: bool = False,
        mask: bool = False,
        features: bool = False,
    ) -> Stats:
        """Write a folder, or one file of what stays, that appears complete or not at all; or JSON lines.

        A name that ends in .jsonl, .json, .ndjson, .csv, .tsv, .parquet, .orc, .arrow or .feather (also with .gz, .zst,
        .bz2 or .xz behind it) is one file of the documents that stay, `-` is standard output, any other name a folder.
        Only a folder says what went and why, and only that can `verify` prove.

        The folder holds `kept/` (what was read, without the removed records), `removed.parquet`, `clusters.parquet`,
        `sources.parquet` (what was read), `stats.json`, and `skipped.parquet` if there are records that could not be
        read. On Spark all but `stats.json` are folders of Parquet parts, in any file system that Spark can write to.

        Args:
            place: The folder or file; it must not exist.
            overwrite: Whether one that exists is replaced; on Spark, a folder of an earlier run.
            pairs: Whether to write `pairs.parquet`, each removed document with its witness, too.
            annotate: Whether all records go to `kept/`, with the columns `cluster`, `witness_id`, `num_duplicates`.
            drop_unreadable: Whether records that could not be read are left out of `kept/`.
            copy_files: Whether folders of text files are copied, where otherwise `kept.txt` lists the paths that stay.
            revisits: Whether all records of WARC files go to `kept/`, annotated; removed ones with the very payload of
                their witness as `revisit` records, which `restore` turns back.
            mask: Whether nothing is copied: `mask.parquet` has the part and the row of each removed record, by which
                `apply` makes the copies later.
            features: Whether, on Spark, `features/` is written, too: with `against=` this folder a later run with the
                same settings compares with the documents that stay, and does not read their texts.

        Returns:
            The statistics, with the seconds of writing.

        Raises:
            OutputError: It cannot be written, or would lie in a source or over one.
            SourceError: The source is not what it was: other documents stay than were decided about.
            ConfigError: For a file with what only a folder has (`pairs`, `annotate`, `copy_files`, `revisits`, `mask`);
                on Spark, for a file, and for `annotate`, `drop_unreadable`, `copy_files`, `revisits` and `mask`; for
                `revisits` of anything but WARC files, or with `drop_unreadable`; for a `mask` with others of these; for
                `features` on one machine, and of what all documents decide.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as home:
            ...     dedup(["a rose", "a rose"]).write(home + "/clean").kept
            1
        """
        choices = Choices(pairs, annotate, drop_unreadable, copy_files, revisits, mask, features)
        choices.require_possible()
        destination = meaning(place)
        for name in choices.of_folders:
            require_folder(place, f"{name} (--{_OPTIONS.get(name, name)})")
        written: Stats = self._removals.write(destination, self.stats, choices, overwrite=overwrite)
        return written

    def examples(self, count: int | None = 10) -> pa.Table:
        """Some of the removals, over the whole range of similarity, with the texts of both sides, read again.

        Args:
            count: How many at most; None: all of them, in the order of `removals`.

        Example:
            >>> dedup(["a rose", "a rose"]).examples().column("witness_text").to_pylist()
            ['a rose']
        """
        table: pa.Table = self._removals.examples(_most(count))
        return table

    def release(self) -> None:
        """Give back what Spark keeps for further questions; what is asked for later is computed again."""
        self.run.release()


@checked_methods
@dataclass(frozen=True)
class Pairs(Offers):
    """All similar pairs of one side, or across two, as `pairs` finds them."""

    run: Any
    method: Method
    _found: Any  # as the engine lists them
    audit: Audit | None = None

    def __repr__(self) -> str:
        pairs = counted(self.num_pairs, "pair")
        return f"Pairs({pairs}, method={self.method.name}, threshold={exactly(self.method.least)})"

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
        number: int = self._found.num_pairs
        return number

    def examples(self, count: int | None = 10) -> pa.Table:
        """Some of the pairs, over the whole range of similarity, with both texts, read again: `a_text` and `b_text`.

        Args:
            count: How many at most; None: all of them, in the order of the table.

        Raises:
            ConfigError: On Spark, where one joins the table with the texts.

        Example:
            >>> from nearsame import pairs
            >>> pairs(["a rose", "a rose"]).examples().column("b_text").to_pylist()
            ['a rose']
        """
        table: pa.Table = self.run.pairs_with_texts(self._found, self.table, _most(count))
        return table

    def write(self, path: str | Path, *, overwrite: bool = False, spreadsheet: bool = False) -> None:
        """Write the table in the format of its name, complete or not at all; on Spark .parquet, .jsonl or .csv parts.

        Args:
            path: The file.
            overwrite: Whether a file that is there is replaced.
            spreadsheet: Whether in .csv a text that a spreadsheet would take for a formula gets a ' before it.

        Raises:
            OutputError: The file cannot be written, or would lie in a source or over one.
            ConfigError: On Spark, for `spreadsheet`.
        """
        self.run.write_table(self.table, path, overwrite=overwrite, spreadsheet=spreadsheet)

    @property
    def stats(self) -> Stats:
        """Counts at every arrow of the flow, seconds, the recipe."""
        measured = None if self.audit is None else self.audit.record()
        known: Stats = self.run.stats
        return replace(known, audit=measured, **self.run.pairs_counts(self._found))

    @property
    def skipped(self) -> pa.Table:
        """The records that could not be read; on Spark the files of which some could not, and how many."""
        skipped: pa.Table = self.run.skipped
        return skipped

    @property
    def num_ignored(self) -> int:
        """How many files of folders and patterns are passed over."""
        number: int = self.run.num_ignored
        return number

    @property
    def passed_over(self) -> PassedOver:
        """Which files of folders and patterns are passed over, by their kinds."""
        passed_over: PassedOver = self.run.passed_over
        return passed_over

    def release(self) -> None:
        """Give back what Spark keeps for further questions; what is asked for later is computed again."""
        self.run.release()


def _most(count: int | None) -> int | None:
    if count is not None:
        require_number("count", count, 0)
    return count
