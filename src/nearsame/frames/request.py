"""What `dedup` and `pairs` do where the engine is Spark: arguments to frames, frames to answers."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import partial
from typing import Any

from nearsame.answers.stats import Audit
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.engines.base import Stage
from nearsame.engines.spark.failures import plainly
from nearsame.engines.spark.metering import described
from nearsame.engines.spark.places import place_at
from nearsame.engines.spark.reading import read
from nearsame.engines.spark.settings import Spark, documents_bytes, require_classic
from nearsame.engines.spark.stored import kept_identity
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import ConfigError, NearSameError, SourceError
from nearsame.files.inputs import several
from nearsame.flow import pipeline
from nearsame.flow.corpus import Question
from nearsame.flow.decisions import Decisions
from nearsame.flow.identities import identity_of, with_seed_of
from nearsame.flow.layer_names import GUESSED
from nearsame.flow.page_reading import refuse_idle
from nearsame.flow.results import Pairs, Result
from nearsame.frames.archives import part_of_archives
from nearsame.frames.auditing import audit_decision, audit_pairs
from nearsame.frames.corpus import Frames, require_readable
from nearsame.frames.documents import STAY, FrameSide
from nearsame.frames.few import FewRemovals, FewRun, called, few_of
from nearsame.frames.inputs import (
    FramePart,
    frames_of,
    part_of,
    require_one_choice,
    unread_files,
    unreadable,
    widened,
)
from nearsame.frames.layers import Asking, FrameLayers
from nearsame.frames.leaks import FrameDocuments
from nearsame.frames.listing import listed, require_few
from nearsame.frames.orders import common_order
from nearsame.frames.remembered import Remembered, about, remembered_in, require_like
from nearsame.frames.removals import SparkRemovals
from nearsame.frames.runs import FrameReading, ListedFrame, SparkRun
from nearsame.frames.torn import Torn
from nearsame.frames.workdir import require_files, stored_steps
from nearsame.recipes.choices import OwnLayer
from nearsame.recipes.counterparts import for_guesses
from nearsame.recipes.methods import Method
from nearsame.sources import Columns
from nearsame.stages.clusters.policies import Keep
from nearsame.stages.pairs.expand import fewer_pairs

__all__ = ["Request"]


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked of Spark, whatever it is.

    Attributes:
        engine: the session and its settings.
        method: the recipe.
        columns: which columns count.
        clock: who watches.
        strict: whether a record that cannot be read is an error.
        audited: whether recall, residual duplicates and precision are measured.
        here: the same question to one machine, about tables: their columns, who watches, and what rows are called.
        call: what was asked, so that it can be asked again.
        layers: what removes documents before the method, and by which rules of URLs; None: nothing.
        workdir: where finished steps stay.
        decisions: what people have decided.
    """

    engine: Spark
    method: Method
    columns: Columns
    clock: Clock
    strict: bool = False
    audited: bool = False
    here: Callable[..., Any] | None = None
    call: Mapping[str, Any] = field(default_factory=dict)
    layers: tuple[tuple[OwnLayer, ...], Any] | None = None
    workdir: str | os.PathLike[str] | None = None
    decisions: Decisions | None = None

    def dedup(self, source: Any, against: Any, keep: Keep, settings: dict[str, Any]) -> Result:
        """Near-duplicates, and which of them stay."""
        with self._verbs(source, against) as verbs:
            read = self._read(verbs, source, against, keep, settings.get("group_by"))
            sides = read.sides
            if read.remembered is not None:
                sides = self._with_documents(read, against, keep, settings.get("group_by"))
            found, read = self._by_one_machine(read, sides)
            if found is not None:
                return Result(FewRemovals.of(read, found), found.audit)
            run, threshold = self._run(read, keep, settings), self.method.least
            question = Question.of_run(self.method, settings)
            decision = pipeline.decide(run.state, question, run.clock)
            audit = self._audited(run, audit_decision, decision, threshold, within=question.within)
            return Result(SparkRemovals(run, run.state.method, decision), audit)

    def pairs(self, source: Any, against: Any, keep: Keep, settings: dict[str, Any], most: int) -> Pairs:
        """Every verified pair, at most so many; more than `most` is an error."""
        with self._verbs(source, against) as verbs:
            read = self._read(verbs, source, against, keep)
            found, read = self._by_one_machine(read, read.sides)
            if found is not None:
                return Pairs(FewRun.of(read, found.run), found.method, found._found, found.audit)  # noqa: SLF001  (told in frames)
            run = self._run(read, keep, settings, listing=True)
            star, question = settings["identical"] == "star", Question(self.method.least, "pairs")
            fewer = fewer_pairs(self.method, can_star=not star and against is None)
            with run.clock("joining"):
                require_few(run.state, question, most, star=star, fewer=fewer)
                decision = run.state.corpus.answer(run.state, question)
                pairs, number = listed(run.state, decision.found, most, star=star, fewer=fewer)
            audit = self._audited(run, audit_pairs, decision, self.method.least)
            return Pairs(run, run.state.method, ListedFrame(verbs.keep(pairs), number, decision.work), audit)

    def reading(self, source: Any) -> FrameReading:
        """The documents alone."""
        with self._verbs(source) as verbs:
            return self._read(verbs, source, None, Keep.parse("first", "content", None))

    def leaks(self, source: Any, search: Stage) -> FrameDocuments:
        """Documents, in which a stage looks for leaks."""
        with self._verbs(source) as verbs:
            (side,) = self._sides(verbs.session, [(1, source)], Keep.parse("first", "content", None))
            if side.parts[0].is_archive:
                message = f"{side.parts[0].name}: leaks are not looked for in archives on Spark"
                raise SourceError(message, hint="Leave the engine out, or take the texts out of the archives first.")
            return FrameDocuments(verbs, side, _paths(source), search)

    def _audited(self, run: SparkRun, law: Callable[..., Audit], *asked: Any, **settings: bool) -> Audit | None:
        """What the audit found; None where none is wanted, or there is no document."""
        if not self.audited or not run.state.corpus.counts["documents"]:
            return None
        with run.clock("audit"):
            return law(run.state, *asked, **settings)

    @contextmanager
    def _verbs(self, source: Any, against: Any = None) -> Iterator[Verbs]:
        """The verbs of one run: what they keep is given back if it fails, and what they shuffled is reported.

        Raises:
            SourceError: There is no source: no session is started for that.
            ConfigError: There is one of Spark Connect.
        """
        if source is None:
            raise SourceError("source=None is nothing to read", hint="Give a DataFrame or a path.")
        require_classic(*several(source), *several(against))  # before a session is started for one
        verbs = Verbs(self.engine, self.engine.connected())
        self.clock.around = partial(described, verbs.session)
        with plainly(), described(verbs.session, "reading"):
            verbs.tell_shuffled()
            try:
                yield verbs
            except BaseException:
                with suppress(Exception):  # its process may be what failed
                    verbs.release()
                raise
            verbs.tell_shuffled()

    def _read(self, verbs: Verbs, source: Any, against: Any, keep: Keep, group_by: str | None = None) -> FrameReading:
        """The documents of all sides, and what there is to say of them."""
        if self.method.get("search") == "adjacent":
            message = "search=adjacent sorts all codes, which only one machine can do"
            raise ConfigError(message, hint="Choose search=blocks, or leave engine out.")
        paths = _paths(source, against)
        remembered, against = self._remembered(verbs.session, against, keep, group_by)
        given = [(0, against), (1, source)] if against is not None else [(1, source)]
        sides = self._sides(verbs.session, given, keep, group_by)
        if remembered is not None:
            remembered.require_types(sides[-1].orders)
        parts = [part for side in sides for part in side.parts]
        unread = tuple(unread_file for part in parts for unread_file in unread_files(part))
        ignored = sum(part.ignored for part in parts)
        paths += () if self.decisions is None else self.decisions.files
        if self.workdir is not None:
            require_files(verbs.session, self.workdir, [one for one in (source, against) if one is not None])
            paths += (os.fspath(self.workdir),)
        return FrameReading(sides, verbs, paths, unread, ignored, tuple(_notes(parts)), self.call, remembered)

    def _remembered(
        self, session: Any, against: Any, keep: Keep, group_by: str | None
    ) -> tuple[Remembered | None, Any]:
        """(the features of outputs on the other side, what else there is on it, if there is)."""
        sources = [] if against is None else several(against)
        places, told = remembered_in(session, sources)
        if not places:
            return None, against
        if self.layers is not None:
            name = next(iter(told))
            message = f"{name} and use={','.join(self.layers[0])!r}: layers compare texts, and these are features"
            raise ConfigError(message, hint=f"Compare with its documents: {name}/kept.")
        method = with_seed_of(self.method, next(iter(told.values())))
        require_like(told, about(method, keep, self.columns, group_by))
        others = tuple(source for number, source in enumerate(sources) if number not in places)
        return Remembered(session, tuple(places.values()), method, told), others or None

    def _with_documents(
        self, read: FrameReading, against: Any, keep: Keep, group_by: str | None
    ) -> tuple[FrameSide, ...]:
        """All sides with documents in place of their features, where these could be few; else none.

        The answer is the same. Somebody may have changed the documents since; then it is the features that count.
        """
        before, columns, judged = read.remembered, self.columns, read.sides[-1]
        renamed = columns.against_text or columns.against_id
        if self.strict or renamed or before.method != self.method or len(before.places) < len(several(against)):
            return ()
        kept = before.documents(self._few_bytes(read))
        with suppress(NearSameError):
            for side in self._sides(read.verbs.session, [(0, kept)], keep, group_by) if kept else ():
                if (side.orders, side.content) == (judged.orders, judged.content):
                    return side, judged
        return ()

    def _by_one_machine(self, read: FrameReading, sides: tuple[FrameSide, ...]) -> tuple[Any, FrameReading]:
        """(what it finds of some sides, or None where there is too much; what there is to say of what was read)."""
        archives = any(part.is_archive for side in sides for part in side.parts)
        layered = archives and self.layers is not None  # these ask for more of pages than the texts in them
        by_cluster = self.here is None or layered or not sides
        few = None if by_cluster else few_of(sides, most=self._few_bytes(read))
        if self.here is None or few is None:
            return None, read
        if read.remembered is not None and len(few.tables[1]) != read.remembered.number:
            return None, read
        read = replace(read, sides=sides)
        notes = require_readable(read.sides, few.num_bad, strict=self.strict)
        if self.workdir is not None:
            notes += (f"{self.workdir}: documents so few came to the driver, and nothing is kept of them",)
        read = replace(read, notes=(*read.notes, *notes), few_pages=few.pages)
        return self.here(few.sides, few.columns, self.clock, called), read

    def _few_bytes(self, read: FrameReading) -> int:
        """What documents take at most that come to the driver; of pages, and where steps are to be kept, less."""
        engine = read.verbs.engine
        if self.workdir is not None or read.sides[-1].of_pages:  # one machine takes long to extract texts
            return engine.decided_bytes
        return documents_bytes(engine, read.verbs.session)

    def _run(self, read: FrameReading, keep: Keep, settings: dict[str, Any], *, listing: bool = False) -> SparkRun:
        before, method = read.remembered, self.method if read.remembered is None else read.remembered.method
        features = None if before is None else before.frame()
        corpus = Frames(read.sides, read.verbs, keep, self.strict, decisions=self.decisions, remembered=features)
        if self.workdir is not None:
            place = place_at(read.verbs.session, self.workdir)
            method = with_seed_of(method, kept_identity(place))
            known = {
                **identity_of(method, keep, self.columns),
                "group_by": settings.get("group_by"),
                "listing": listing,
                **({} if before is None else {"remembered": before.stamps}),
                **({} if self.layers is None else {name: settings[name] for name in ("use", "urls", "within")}),
                **({} if self.decisions is None else self.decisions.identity(layered=self.layers is not None)),
            }
            read.verbs.stored = stored = stored_steps(read, place, known)
            read = replace(read, notes=(*read.notes, *stored.notes))
        if self.layers is not None:
            return self._layered(read, corpus, method, settings)
        ready = self.columns.items is not None
        state = pipeline.prepare(corpus, method, self.clock, ready_items=ready, listing=listing)
        return SparkRun(read, self.clock, state, settings)

    def _layered(self, read: FrameReading, corpus: Frames, method: Method, settings: dict[str, Any]) -> SparkRun:
        """The same, once layers have removed what they know of."""
        use, urls = self.layers or ((), None)
        guesses = for_guesses(method, has_text="text" in use)
        settings |= {"guesses": guesses.record()} if GUESSED in use else {}
        layers = FrameLayers.of(corpus, Asking(use, urls, guesses, settings["within"]), self.clock)
        return SparkRun(read, self.clock, layers.prepared(method, self.clock), settings, layers)

    def _sides(
        self, session: Any, given: list[tuple[int, Any]], keep: Keep, group_by: str | None = None
    ) -> tuple[FrameSide, ...]:
        """The documents of each side, whose orders can be compared."""
        sides = [(number, self._parts(session, source, keep, number)) for number, source in given]
        every = [part for _, parts in sides for part in parts]
        orders = {name: common_order(every, name) for name in self.columns.order}
        of_pages = self.columns.html is not None or any(part.pages is not None for part in every)
        refuse_idle(self.columns, pages=of_pages)
        alike = {number: tuple(widened(parts, self.columns)) for number, parts in sides}
        return tuple(
            FrameSide(
                number,
                alike[number],
                self.columns,
                keep,
                orders,
                group_by,
                as_pages=self.layers is not None,
                of_pages=of_pages,
                of_archives=any(part.is_archive for part in every),
                of_numbers=all(part.is_of_numbers for parts in alike.values() for part in parts),
            )
            for number, _ in sides
        )

    def _parts(self, session: Any, source: Any, keep: Keep, number: int) -> list[FramePart]:
        """The frames that a side is made of."""
        sources = [*frames_of(session, source, strict=self.strict)]
        torn = Torn()
        while True:
            try:
                with plainly():
                    return self._looked_at(session, sources, keep, number, torn)
            except SourceError as error:
                more = torn.and_after(session, sources, error, strict=self.strict)
                if more is torn:
                    raise
                torn = more

    def _looked_at(self, session: Any, sources: list[Any], keep: Keep, number: int, torn: Torn) -> list[FramePart]:
        """The frames of some sources, of `torn` files what stands before the break."""
        own = self.columns.of_side(against=number == 0)
        key = None if own.no_text else own.html or own.text or "text"
        given = read(session, sources, strict=self.strict, text=key, salvaged=torn.salvaged(session, key))
        if not given:
            raise SourceError("source=() is nothing to read", hint="Give a DataFrame or a path.")
        dates = {policy.column for policy in keep.policies if policy.by_date}
        numbers = {name for name in self.columns.order if name not in dates}
        there = {name for loaded in given for name in loaded.frame.columns}
        lacking = [name for name in self.columns.order if number and name not in there]  # the other side all stays
        columns = replace(self.columns.of_side(against=number == 0), may_lack=not lacking)
        archives = sum(loaded.is_archive for loaded in given)
        if archives not in (0, len(given)):
            message = f"{given[0].name} and {given[-1].name}: archives and other files are not read together on Spark"
            raise SourceError(message, hint="Give one of them as the against side, or in a run of its own.")
        parts, as_they_came = list[FramePart](), self.layers is not None
        for loaded in given:
            if loaded.is_archive:
                first = sum(len(part.paths) for part in parts)
                parts.append(part_of_archives(loaded, columns, first, strict=self.strict, as_they_came=as_they_came))
            else:
                parts.append(part_of(loaded, columns, numbers=numbers, strict=self.strict))
        require_one_choice(parts)
        return parts


def _notes(parts: Sequence[FramePart]) -> list[str]:
    """What one must know of texts that could not be read."""
    return [f"{part.name}: {unreadable(part)}: {STAY}" for part in parts if part.mended]


def _paths(*sources: Any) -> tuple[str, ...]:
    paths = [path for source in sources for path in several(source)]
    return tuple(os.fspath(path) for path in paths if isinstance(path, (str, os.PathLike)))
