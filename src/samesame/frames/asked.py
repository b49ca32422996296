"""What `dedup` and `pairs` do where the engine is Spark: arguments to frames, frames to answers."""

import os
from dataclasses import dataclass
from typing import Any

from samesame.engines.spark.reading import frame_of
from samesame.engines.spark.session import Spark
from samesame.engines.spark.verbs import Verbs
from samesame.errors import SourceError
from samesame.frames.answers import SparkPairs, SparkResult, SparkRun, all_pairs, decided
from samesame.frames.documents import Side
from samesame.frames.flow import prepare
from samesame.methods import Method
from samesame.results import Clock
from samesame.sources import Columns
from samesame.stages.clusters.policies import Keep
from samesame.stages.pairs.expand import fewer_pairs

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
        run = self._run(source, against, keep, settings)
        with run.clock("deciding"):
            found = decided(run, self.method)
        return found.audited() if self.audited else found

    def pairs(self, source: Any, against: Any, keep: Keep, settings: dict[str, Any], most: int) -> SparkPairs:
        """Every verified pair."""
        run = self._run(source, against, keep, settings, listing=True)
        star = settings["identical"] == "star"
        fewer = fewer_pairs(self.method, can_star=not star and against is None)
        with run.clock("joining"):
            found = all_pairs(run, self.method, most, star=star, fewer=fewer)
        return found.audited() if self.audited else found

    def _run(
        self, source: Any, against: Any, keep: Keep, settings: dict[str, Any], *, listing: bool = False
    ) -> SparkRun:
        if source is None:
            raise SourceError("source=None is nothing to read", hint="Give a DataFrame or a path.")
        session = self.engine.connected()
        given = [(0, against), (1, source)] if against is not None else [(1, source)]
        sides = tuple(Side(number, self._frame(session, each), self.columns) for number, each in given)
        verbs = Verbs(self.engine, session)
        before = verbs.shuffled_bytes()
        frames = prepare(sides, self.method, keep, verbs, self.clock, listing=listing)
        verbs.room["shuffle"]["written_bytes"] = verbs.shuffled_bytes() - before
        return SparkRun(frames, self.clock, settings, _paths(source, against))

    def _frame(self, session: Any, source: Any) -> Any:
        """One frame of all that a side is made of."""
        several = source if isinstance(source, tuple) else (source,)
        first, *others = (frame_of(session, each, strict=self.strict) for each in several)
        for other in others:
            first = first.unionByName(other, allowMissingColumns=True)
        return first


def _paths(*sources: Any) -> tuple[str, ...]:
    several = [each for source in sources for each in (source if isinstance(source, tuple) else (source,))]
    return tuple(os.fspath(each) for each in several if isinstance(each, (str, os.PathLike)))
