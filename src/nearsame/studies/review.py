"""`review`: what a run has decided, the most doubtful first, and a file of what people decide about it.

1. Clusters with documents that a chain alone has joined come first, then those near the threshold, of these the large
   ones; within one the least similar first.
2. A decision is a line that is added to the file, and on disk before the next one is asked for: none is lost, none is
   changed. Taking one back is a line, too: the last one about a pair counts.
"""

import getpass
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np

from nearsame.answers.doubts import Doubt, Undecided
from nearsame.answers.reports import SeenDocument
from nearsame.arrow import Rows
from nearsame.errors import ConfigError, OutputError, SourceError
from nearsame.files.inputs import Inputs
from nearsame.outputs.folder import require_place
from nearsame.sources.judged import DECISION_COLUMNS, JudgedPair, read_judgements
from nearsame.studies.finished import Finished, finished
from nearsame.studies.side_by_side import LaidOut, Sides

__all__ = ["DecisionLog", "Review", "unfit"]

_AHEAD = 40  # pairs whose texts are read together
_DEGREES = 10  # between the threshold and 1
_LARGE = 10  # documents
_UNFIT = re.compile("[\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _who() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # a user without a name
        return ""


@dataclass
class DecisionLog:
    """A file of decisions that is only ever added to.

    Attributes:
        path: where it is.
        known: the last word on each pair.
        who: decides.
    """

    path: Path
    known: dict[tuple[str, str], JudgedPair] = field(default_factory=dict)
    who: str = field(default_factory=_who)
    _undo: list[tuple[JudgedPair, JudgedPair | None]] = field(default_factory=list)

    @classmethod
    def open(cls, path: str | os.PathLike[str], inputs: Inputs) -> "DecisionLog":
        """Begin a file, or go on with one.

        Raises:
            OutputError: It cannot be written, or is a file that the run has read.
            SourceError: It is a file of another form.
        """
        log = cls(Path(path))
        if not os.path.lexists(path):
            require_place(path, inputs, folder=False, overwrite=False)
            log._append("\t".join(DECISION_COLUMNS), os.O_CREAT | os.O_EXCL)
            _sync_folder(log.path)
            return log
        log._mend()
        log.known = {one.pair: one for one in read_judgements(os.fspath(path))}
        return log

    def decide(
        self, doubt: Undecided, label: str, *, keep: str = "", note: str | None = None, who: str | None = None
    ) -> None:
        """Write a decision, of `who` else decides; without a `note` of its own it has the one from before."""
        before = self.about(doubt)
        said = (before.note if before else "") if note is None else _UNFIT.sub(" ", note).strip()
        one = JudgedPair(0, doubt.goes.id, doubt.stays.id, label, None, keep, said, self.who if who is None else who)
        self._write(one)
        self._undo.append((one, before))

    def about(self, doubt: Undecided) -> JudgedPair | None:
        """What was decided about a pair, if anything was."""
        return self.known.get(JudgedPair(0, doubt.goes.id, doubt.stays.id).pair)

    def undo(self) -> tuple[str, str] | None:
        """Take back the last decision that was made here: the pair that it was about."""
        if not self._undo:
            return None
        one, before = self._undo.pop()
        self._write((before or one._replace(label="", keep="", note=""))._replace(who=self.who))
        return one.pair

    def _write(self, one: JudgedPair) -> None:
        one = one._replace(who=_UNFIT.sub(" ", one.who), when=_now())
        self._append("\t".join((one.a, one.b, one.label or "", *one[5:])))
        self.known[one.pair] = one
        if not (one.label or one.note):
            del self.known[one.pair]

    def _append(self, line: str, flags: int = 0) -> None:
        data = f"{line}\n".encode("utf-8", "replace")
        try:
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | flags, 0o666)
            try:
                if os.write(file, data) < len(data):
                    raise OSError("the disk is full")
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            message = f"{self.path}: the last decision could not be written: {error.strerror or error}"
            raise OutputError(message, hint="All before it are in the file; mend that, and go on.") from error

    def _mend(self) -> None:
        """Take away what a writer that was stopped has left of a line, and see that the rest is ours."""
        data = self.path.read_bytes()
        first = data.partition(b"\n")[0].decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r").split("\t")
        if data and tuple(first) != DECISION_COLUMNS:
            message = f"{self.path} has other columns than {', '.join(DECISION_COLUMNS)}"
            hint = "Name another file with --decisions; dedup takes several."
            raise SourceError(message, hint=hint)
        end = data.rfind(b"\n") + 1
        if end < len(data):
            os.truncate(self.path, end)
        if not end:
            self._append("\t".join(DECISION_COLUMNS))


def _sync_folder(path: Path) -> None:
    """See that the name of a new file is on disk, too."""
    folder = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@dataclass
class Review:
    """A finished run, to be looked at pair by pair."""

    run: Finished
    _texts: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, directory: str | os.PathLike[str]) -> "Review":
        """What `dedup -o` has written.

        Raises:
            ConfigError: Nothing was removed.
            SourceError: It is no output of dedup, or its texts are not there any more.
        """
        run = finished(directory)
        if not run.pairs.num_rows:
            raise ConfigError(f"{os.fspath(directory)}: nothing was removed, so there is nothing to decide", hint="")
        if run.sources.missing:
            raise SourceError(f"its texts cannot be shown: {run.sources.missing}", hint="Put the sources back.")
        if not run.sources.are_texts:
            raise ConfigError(f"{os.fspath(directory)} is not about texts", hint="Compare numbers by other means.")
        return cls(run)

    def __len__(self) -> int:
        return int(self.run.pairs.num_rows)

    @cached_property
    def _order(self) -> tuple[Rows, Rows, Rows]:
        """The rows of the pairs in the order of doubt; of each the place of its cluster, and how large that is."""
        pairs = self.run.pairs
        names, place, sizes = np.unique(pairs.column("cluster").to_numpy(), return_inverse=True, return_counts=True)
        similarity = pairs.column("similarity").to_numpy()
        least = np.full(names.size, np.inf)
        np.minimum.at(least, place, similarity)
        threshold = self.run.stats.least
        degree = np.floor(_DEGREES * (least - threshold) / max(1 - threshold, 1e-9)).clip(-1, _DEGREES)
        by_doubt = np.lexsort((names, least, -sizes, degree))
        number = np.empty(names.size, np.int64)
        number[by_doubt] = np.arange(names.size)
        rows = np.lexsort((np.arange(similarity.size), similarity, number[place]))
        return rows, number[place], sizes[place] + 1

    @cached_property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """The ids of each pair, in the order of doubt, whichever is named first."""
        rows = self._order[0]
        both = (self.run.pairs.column(name).take(rows).to_pylist() for name in ("a_id", "b_id"))
        return [JudgedPair(0, a, b).pair for a, b in zip(*both, strict=True)]

    @cached_property
    def numbers(self) -> dict[tuple[str, str], int]:
        """The place of each pair in that order."""
        return {pair: number for number, pair in enumerate(self.pairs)}

    def doubt(self, number: int) -> Doubt:
        """One pair, in the order of doubt."""
        rows, clusters, documents = self._order
        row = int(rows[number])
        said = self.run.pairs.slice(row, 1).to_pylist()[0]
        goes, stays = (SeenDocument(*(said[f"{side}_{name}"] for name in ("id", "source", "row"))) for side in "ab")
        least, size = self.run.stats.least, int(documents[row])
        return Doubt(
            goes, stays, said["similarity"], said["measure"], least, int(clusters[row]), int(clusters.max()) + 1,
            size, _why(said["similarity"], least, size),
        )  # fmt: skip

    def laid_out(self, number: int) -> LaidOut:
        """The texts of a pair beside each other, and what they have in common."""
        row = int(self._order[0][number])
        if row not in self._seen:
            self._read(number)
        pair = self.run.pairs.slice(row, 1).to_pylist()[0]
        a, b = (int(side[row]) for side in self._keys)
        sides = Sides(self.run.stats.recipe, "dedup", self.run.stats.least)
        return sides.of_pair((self._texts[a], self._texts[b]), pair)

    @cached_property
    def _seen(self) -> set[int]:
        return set()

    @cached_property
    def _keys(self) -> tuple[Rows, Rows]:
        pairs, sources = self.run.pairs, self.run.sources
        a, b = ((pairs.column(f"{side}_source"), pairs.column(f"{side}_row")) for side in "ab")
        return sources.keys(*a, judged=True), sources.keys(*b, judged=False)

    def _read(self, number: int) -> None:
        """The texts of this pair and of those that come next: sources are read once for all of them."""
        rows = self._order[0][number : number + _AHEAD]
        keys = np.unique(np.concatenate([side[rows] for side in self._keys]))
        self._texts = dict(zip(keys.tolist(), self.run.sources.texts(keys), strict=True))
        self._seen.clear()
        self._seen.update(rows.tolist())


def _why(similarity: float, least: float, documents: int) -> str:
    """What is doubtful about a pair, in words."""
    holds: list[tuple[bool, str]] = [
        (similarity < least, "joined by a chain alone"),
        (least <= similarity < least + (1 - least) / 4, "near the threshold"),
        (documents >= _LARGE, f"one of {documents:,} documents"),
    ]
    return ", ".join(what for is_so, what in holds if is_so)


def unfit(doubt: Undecided) -> str:
    """Why a decision about a pair could not be read again; nothing where it can."""
    for name in (doubt.goes.id, doubt.stays.id):
        if not name or name != name.strip() or _UNFIT.search(name):
            return "an id with a tab, a line break or a blank at an end cannot stand in a file of decisions"
    if doubt.goes.id == doubt.stays.id:
        return "both have the same id, so nobody could tell which is meant"
    return ""
