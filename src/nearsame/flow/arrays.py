"""What is known of every document on one machine: arrays by row.

1. Rows are numbered in order of reading, the `against` side first.
2. What is found in a work directory is not computed again.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.engines.base import Machine
from nearsame.errors import ConfigError
from nearsame.flow.corpus import Met, Question, State
from nearsame.flow.decisions import NO_COPY, Answers, Before, Decisions, Located, Standings, met_similar, staying
from nearsame.flow.steps import OneSide, Steps, may_be_similar
from nearsame.kernels import tokens
from nearsame.kernels.buckets import Meeting
from nearsame.kernels.scores import Bound
from nearsame.outputs.tables import RowNames
from nearsame.recipes.methods import Method
from nearsame.sources.base import Columns, RecordRoom
from nearsame.sources.reading import Reading
from nearsame.sources.sizes import text_bytes
from nearsame.stages.clusters.apart import Apart, with_copies
from nearsame.stages.clusters.keepers import NOBODY, Decided, inherit
from nearsame.stages.clusters.policies import CHOSEN, Keep, Order, chosen_first, ranks, readable
from nearsame.stages.features.document_facts import About, CountEntries, CountRows, Describe
from nearsame.stages.pairs.evidence import hosts
from nearsame.stages.texts.page_text import PageTexts

if TYPE_CHECKING:
    from nearsame.stages.features.host_boilerplate import Hosts

__all__ = ["HOST", "Arrays", "groups_of", "names_of", "numbered", "placed", "require_host"]

HOST = "host"  # of the URL: no column need be called so

_NOTHING = Describe.close([])


def _no_rows() -> Rows:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class Arrays:
    """What is known of every document, by row.

    Attributes:
        reading: where they come from.
        engine: where flows run.
        keep: which of two similar documents stays.
        about: sizes and digests.
        ranks: the place in the order of priority.
        best: the best row with equal features.
        notes: what one must know of the priority.
        group_by: what two documents must have in common to be compared: a column that was read, or `host`.
        decisions: what people have decided, if they have.
        called: what they call documents, where that is not what sources call them: by row, in a table, an id, a number
            as `position`, and where it `stands`; these two decide where nothing else does.
        given: the same by row, where that is known.
    """

    reading: Reading
    engine: Machine
    keep: Keep
    about: About = _NOTHING
    ranks: Rows = field(default_factory=_no_rows)
    best: Rows = field(default_factory=_no_rows)
    notes: tuple[str, ...] = ()
    group_by: str | None = None
    decisions: Decisions | None = None
    called: Callable[[Reading], pa.Table] | None = None
    given: Located | None = None

    at_once = True

    @property
    def size_bytes(self) -> int | None:
        """What there is to read."""
        return self.reading.size_bytes

    @property
    def num_against(self) -> int:
        """Rows below it are the `against` side."""
        return self.reading.num_against

    @property
    def by_content(self) -> bool:
        """Whether ties are decided by content: then the first of a pair is the one of higher priority."""
        return self.keep.ties != "reading"

    @property
    def leads(self) -> npt.NDArray[np.bool_]:
        """Which rows stand for all that have equal features."""
        return np.asarray(self.best == np.arange(self.best.size))

    @cached_property
    def decided(self) -> Located | None:
        """What people have decided, by row."""
        if self.decisions is None:
            return self.given
        return self.decisions.located(names_of(self.reading, self.called))

    @cached_property
    def apart(self) -> Apart | None:
        """What was told apart of the documents that stand for all others, and of those that stand in for copies."""
        return None if self.decided is None else self.decided.between(self.known)

    @cached_property
    def stand_ins(self) -> dict[int, int]:
        """By document of the `against` side the first copy that was told apart from it."""
        return {} if self.decided is None else self.decided.stand_ins(self.known)

    def hosts_by(self, share: float) -> "Callable[[], Hosts]":
        """What gives the hosts of all documents once these have been read.

        Raises:
            ConfigError: URLs are not read; or, once they have been read, there is none.
        """
        asked = f"boilerplate_per_host={share:g} needs URLs"
        if not self.reading.columns.beside:
            raise ConfigError(f"{asked}, but only texts are read here", hint="Leave it out.")
        return lambda: self._hosts(asked)

    def _hosts(self, asked: str) -> "Hosts":
        from nearsame.stages.features.host_boilerplate import Hosts  # noqa: PLC0415  (few methods ask for hosts)

        column = self.reading.columns.beside[0]
        by_document = hosts(self.reading.beside(column).combine_chunks()).dictionary_encode()
        names: list[str] = by_document.dictionary.to_pylist()
        if not names and self.reading.num_documents:
            message = f"{asked}, and no document has one in the column {column!r}"
            raise ConfigError(message, hint="Name the column of URLs with url_column (--url-column).")
        return Hosts(names, np.asarray(by_document.indices.fill_null(-1)).astype(np.int64))

    def load(self, method: Method, step: Steps) -> Any:
        """A flow of the documents; of pages, of the texts that are in them."""
        reading = self.reading
        sides = ((reading.against, True), (reading.parts, False))
        size = sum(text_bytes(parts, reading.columns.of_side(against=against)) for parts, against in sides)
        self.engine.expect(int(method.stored_ratio * size))
        reading.columns = replace(reading.columns, room=_room(step, self.engine))
        flow = self.engine.load(reading)
        return self.engine.map(flow, PageTexts(reading.columns.extract)) if reading.pages else flow

    def countable(self, features: Any) -> Any:
        """The same features: the table of their frequencies is sent nowhere."""
        return features

    def kept(self, features: Any, step: str = "") -> Any:
        """Features that are computed once, however often they are looked at."""
        return self.engine.keep(features, step)

    def slots(self, features: Any) -> int:
        """As many as there are items."""
        return sum(self.engine.fold(features, CountEntries()))

    def described(self, features: Any) -> tuple[Any, "Arrays"]:
        """(features, a corpus that knows every document)."""
        about = Describe.close(self.engine.fold(features, Describe()))
        if self.group_by is not None:
            self.engine.groups = groups_of(self.reading, self.group_by)
        return features, replace(self, about=about)

    def ranked(self, order: Order) -> "Arrays":
        """A corpus that knows each document's place in an order."""
        chosen = None if self.decided is None else self.decided.places(self.about.sizes.size)
        places, notes = placed(order, self.keep, self.about, self.reading, chosen, last=self._own_order())
        return replace(self, ranks=places, notes=notes)

    def _own_order(self) -> dict[str, Rows]:
        """By row where a record stands, and what it is called: of rows that came in no order."""
        if self.called is None:
            return {}
        origins = self.called(self.reading)
        return {name: origins.column(name).to_numpy() for name in ("stands", "position")}

    def collapsed(self, features: Any) -> "Arrays":
        """A corpus that knows of each document the best one with equal features."""
        (best,) = self.engine.once("identical", lambda: (self.engine.collapse(features, self.ranks),))
        return replace(self, best=best)

    def leaders(self, features: Any) -> Any:
        """The features of the documents that stand for all others."""
        return self.engine.only(features, self.leads)

    def once(self, meet: Callable[[], Met]) -> Met:
        """What documents that met became, computed or, where an earlier run got so far, found."""
        room, num_keys, *meeting = self.engine.once("meeting", lambda: self._flat(meet()))
        self.engine.room |= json.loads(room.tobytes())
        return Met(int(num_keys[0]), Meeting.of(tuple(meeting)))

    def _flat(self, met: Met) -> tuple[npt.NDArray[Any], ...]:
        room = np.frombuffer(json.dumps(self.engine.room).encode(), np.uint8)
        return room, np.array([met.num_keys]), *met.meeting.flat()

    def counted(
        self,
        made: Any,
        method: Method,  # noqa: ARG002  (a cluster looks)
        step: Steps,
        note: Callable[[str], None],  # noqa: ARG002  (likewise)
    ) -> tuple[Any, Any, tuple[str, ...]]:
        """What keys are made of, and what they must know of all of it."""
        sizes = self.about.sizes
        may_be = may_be_similar(made, step.sieve, sizes, self.engine) if step.sieve else None
        if may_be is not None:
            made, sizes = self.engine.only(made, may_be), sizes[may_be]
        return *step.counted(made, int(sizes.sum()), self.engine), ()

    def offered(self, keys: Any) -> tuple[Any, int]:
        """Keys, computed once, and how many there are."""
        kept = self.engine.keep(keys)
        return kept, sum(self.engine.fold(kept, CountRows()))

    def meet(self, keys: Any, lists: Any, columns: Sequence[str]) -> Meeting:
        """Documents that share a key, grouped by it."""
        meeting: Meeting = self.engine.meet(keys, lists, self.ranks, columns)
        return meeting

    def rule(self, step: Steps, question: Question, one_side: OneSide = None) -> Any:
        """The rule that answers a question."""
        weights = np.bincount(self.best, minlength=self.best.size)
        weights[[*self.stand_ins]] -= 1
        weights[[*self.stand_ins.values()]] = 1
        return question.rule(step, self.num_against, weights, one_side, self.apart)

    def answer(self, state: State["Arrays"], question: Question) -> Decided:
        """Who of the leaders goes, and by whose witness."""
        if not state.meeting:
            return NOBODY
        meeting = with_copies(state.meeting, self.stand_ins, self.ranks) if self.stand_ins else state.meeting
        decided: Decided = self.engine.decide(meeting, self.rule(state.step, question))
        return decided

    def inherit(self, decision: Decided, *, within: bool) -> Decided:
        """The same of all documents."""
        whole = inherit(decision, self.best, self.num_against, within=within)
        if self.decided is None:
            return whole
        gone, met = whole.gone(self.best.size), decision.of(self.stand_ins.values())
        others = {leader: met[row] for leader, row in self.stand_ins.items() if row in met}
        keepers = self.decided.among_copies(self.known, gone, within=within, others=others)
        return whole.instead({
            row: others[int(self.best[row])] if keeper == NO_COPY else (keeper, 1, 1)
            for row, keeper in keepers.items()
        })  # fmt: skip

    @property
    def known(self) -> Standings:
        """What decisions ask of documents."""
        return Standings(self.best, self.ranks, self.about.sizes, self.num_against, self.engine.groups)

    def obeyed(
        self, meeting: Any, bound: Bound, decision: Decided, before: Before | None, *, within: bool
    ) -> dict[str, Any]:
        """What became of what people have decided; `before` is what did in layers before the method."""
        if self.decided is None:
            return {}
        gone = decision.gone(self.best.size)
        found = Answers(
            partial(met_similar, meeting, bound),
            partial(staying, best=self.best, gone=gone, num_against=self.num_against),
        )
        return self.decided.counts(self.known, gone, found, before, within=within)


def _room(step: Steps, engine: Machine) -> RecordRoom:
    """What one record may take of the memory, and what the stages that prepare it take."""
    token_bytes = max(getattr(stage, "token_bytes", 0) for stage in step.features)
    of_chars = any(getattr(stage, "flags", 0) & tokens.CHARS for stage in step.features)
    return RecordRoom(engine.record_bytes, token_bytes, of_chars)


def names_of(reading: Reading, called: Callable[[Reading], pa.Table] | None = None) -> pa.Array:
    """By row what decisions call a document: what answers do, or what `called` says."""
    origins = reading.origins if called is None else called(reading)
    names = RowNames(origins, [part.name for part in reading.all_parts])
    return names.of(np.arange(len(origins)))[0]


def groups_of(reading: Reading, group_by: str) -> Rows:
    """By row the number of its group; documents without a value are one, too.

    Raises:
        ConfigError: It is about hosts, and no document has one.
    """
    if group_by != HOST:
        column = reading.orders[group_by].combine_chunks()
    else:
        column = hosts(reading.beside(reading.columns.beside[0]).combine_chunks())
        require_host(reading.columns, reading.num_documents, len(column) - column.null_count)
    return numbered(column)


def numbered(values: pa.Array) -> Rows:
    """By row a number that equal values share; -1 of null."""
    if pa.types.is_floating(values.type):
        values = computing.add(values, pa.scalar(0.0, values.type))  # -0.0 is 0.0
    return np.asarray(values.dictionary_encode().indices.fill_null(-1)).astype(np.int64)


def require_host(columns: Columns, num_documents: int, num_hosts: int) -> None:
    """Refuse groups of hosts where no document has one.

    Raises:
        ConfigError: So it is.
    """
    if num_documents and not num_hosts:
        message = f"group_by={HOST}: no document has one in the column {columns.beside[0]!r}"
        raise ConfigError(message, hint="Name the column of URLs with url_column (--url-column).")


def placed(  # noqa: PLR0913  (what is known of documents stands in several places)
    order: Order,
    keep: Keep,
    about: About,
    reading: Reading,
    chosen: Rows | None = None,
    *,
    last: Mapping[str, Rows] | None = None,
) -> tuple[Rows, tuple[str, ...]]:
    """By row its place in an order, and what one must know of the values that decide it.

    Args:
        order: the columns that decide, what counts most first.
        keep: the policies that name some of them.
        about: what is known of documents.
        reading: where they come from.
        chosen: by row a place that comes before all that `keep` says.
        last: what decides before the place at which a row was read.
    """
    size, values = about.sizes.size, reading.orders
    columns: dict[str, Any] = {
        "side": (np.arange(size) >= reading.num_against).astype(np.int64),
        "size": about.sizes,
        "text_bytes": about.text_bytes,
        "digest_a": about.digest_a,
        "digest_b": about.digest_b,
    }
    notes: tuple[str, ...] = ()
    for name, policy in keep.values.items():
        columns[name], told = readable(policy, values[str(policy.column)])
        notes += told
    if any(name == "id" for name, _ in order):
        columns["id"] = reading.origins.column("id")
    if last:
        columns, order = {**columns, **last}, (*order[:-1], *((name, True) for name in last), *order[-1:])
    if chosen is not None:
        columns[CHOSEN], order = chosen, chosen_first(order)
    return ranks(order, columns, size), notes
