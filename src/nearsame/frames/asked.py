"""What `dedup` and `pairs` do where the engine is Spark: arguments to frames, frames to answers."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from nearsame.engines.spark.failures import plainly
from nearsame.engines.spark.reading import read
from nearsame.engines.spark.session import Spark
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import SourceError
from nearsame.frames.answers import SparkResult, SparkRun, decided
from nearsame.frames.documents import STAY, Side
from nearsame.frames.flow import prepare
from nearsame.frames.pairing import SparkPairs, all_pairs
from nearsame.frames.parts import Part, common_order, part_of, require_one_choice, unreadable, widened
from nearsame.methods import Method
from nearsame.results import Clock
from nearsame.sources import Columns
from nearsame.stages.clusters.policies import Keep
from nearsame.stages.pairs.expand import fewer_pairs

__all__ = ["Asked"]


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of Spark, whatever it is.

    Attributes:
        engine: the session and its settings.
        method: the recipe.
        columns: which columns count.
        clock: who watches.
        strict: whether a record that cannot be read is an error.
        audited: whether recall, residual duplicates and precision are measured.
    """

    engine: Spark
    method: Method
    columns: Columns
    clock: Clock
    strict: bool = False
    audited: bool = False

    def dedup(self, source: Any, against: Any, keep: Keep, settings: dict[str, Any]) -> SparkResult:
        """Near-duplicates, and which of them stay."""
        with self._verbs(source) as verbs:
            run = self._run(verbs, source, against, keep, settings)
            with run.clock("deciding"):
                found = decided(run, self.method)
            return found.audited() if self.audited else found

    def pairs(self, source: Any, against: Any, keep: Keep, settings: dict[str, Any], most: int) -> SparkPairs:
        """Every verified pair."""
        with self._verbs(source) as verbs:
            run = self._run(verbs, source, against, keep, settings, listing=True)
            star = settings["identical"] == "star"
            fewer = fewer_pairs(self.method, can_star=not star and against is None)
            with run.clock("joining"):
                found = all_pairs(run, self.method, most, star=star, fewer=fewer)
            return found.audited() if self.audited else found

    @contextmanager
    def _verbs(self, source: Any) -> Iterator[Verbs]:
        """The verbs of one run: what they keep is given back if it fails, and what they shuffled is told.

        Raises:
            SourceError: There is no source: no session is started for that.
        """
        if source is None:
            raise SourceError("source=None is nothing to read", hint="Give a DataFrame or a path.")
        verbs = Verbs(self.engine, self.engine.connected())
        with plainly():
            verbs.tell_shuffled()
            try:
                yield verbs
            except BaseException:
                with suppress(Exception):  # its process may be what failed
                    verbs.release()
                raise
            verbs.tell_shuffled()

    def _run(  # noqa: PLR0913  (by whom, what, against what, who stays, what is recorded)
        self, verbs: Verbs, source: Any, against: Any, keep: Keep, settings: dict[str, Any], *, listing: bool = False
    ) -> SparkRun:
        given = [(0, against), (1, source)] if against is not None else [(1, source)]
        sides = self._sides(verbs.session, given, keep)
        frames = prepare(sides, self.method, keep, verbs, self.clock, strict=self.strict, listing=listing)
        parts = [part for side in sides for part in side.parts]
        frames = replace(frames, notes=(*frames.notes, *_notes(parts)))
        unread = tuple(each for part in parts for each in _unread(part))
        ignored = sum(part.ignored for part in parts)
        return SparkRun(frames, self.clock, settings, _paths(source, against), unread, ignored)

    def _sides(self, session: Any, given: list[tuple[int, Any]], keep: Keep) -> tuple[Side, ...]:
        """The documents of each side, whose orders can be compared."""
        found = [(number, self._parts(session, source, keep, number)) for number, source in given]
        name = self.columns.order
        order = None if name is None else common_order([part for _, parts in found for part in parts], name)
        return tuple(Side(number, tuple(widened(parts, self.columns)), self.columns, order) for number, parts in found)

    def _parts(self, session: Any, source: Any, keep: Keep, number: int) -> list[Part]:
        """The frames that a side is made of."""
        given = read(session, source if isinstance(source, tuple) else (source,), strict=self.strict)
        if not given:
            raise SourceError("source=() is nothing to read", hint="Give a DataFrame or a path.")
        numbers, parts = keep.policy not in ("newest", "oldest"), []
        for each in given:
            without = number == 0 and self.columns.order not in each.frame.columns  # they all stay
            columns = replace(self.columns, order=None) if without else self.columns
            parts.append(part_of(each, columns, numbers=numbers, strict=self.strict))
        require_one_choice(parts)
        return parts


def _notes(parts: Sequence[Part]) -> list[str]:
    """What one must know of texts that could not be read."""
    return [f"{part.name}: {unreadable(part)}: {STAY}" for part in parts if part.mended]


def _unread(part: Part) -> Iterator[tuple[str, int, str]]:
    """Files of which something was left out: how many records, and why; a file that cannot be read at all is one."""
    for name, number in part.unread:
        yield name, number, f"{number:,} {'record is' if number == 1 else 'records are'} not readable"
    for name, reason in part.broken:
        yield name, 1, reason


def _paths(*sources: Any) -> tuple[str, ...]:
    several = [each for source in sources for each in (source if isinstance(source, tuple) else (source,))]
    return tuple(os.fspath(each) for each in several if isinstance(each, (str, os.PathLike)))
