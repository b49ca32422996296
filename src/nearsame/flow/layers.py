"""Layers: what is cheap to know removes documents first, and the method compares those that are left.

1. Layers run in the order of `LAYERS`, cheapest first, however they are asked for; what one removes enters no later
   one. Where `url` is asked for, `url-guess` follows it: what only a guess about URLs brings together is compared.
   Before all of them, indexes that store no texts are asked (asked.py): what they know is a witness to the end.
2. Every other layer is the flow of `Digest` over one string of each document: its canonical URL, the URL that it says
   it really is, the digest of its payload, or its text (of a page, what the method compares). Equal strings are
   compared, not only hashed.
3. All layers go by one priority, that of --keep.
4. Every removed document has a witness that stays to the end. Where a later layer removes a witness, what it stood for
   inherits its keeper, and says through which document (`via`). Equal bytes inherit the similarity, too; of anything
   else the two were never compared, and the measure says `chain`.
5. A document without a text is not a witness: whoever has something to say is not removed for a page that came back
   empty. Nor is it removed, but as a redirect or a WARC revisit, which are records without a text. What has a text is
   seen before the first layer: of pages, the texts are taken out of all (for `digest` and `text`, which need them), or
   of those that have a URL, a link or a payload in common with another one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import computing, schemas
from nearsame.arrow import Mask, Rows
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.engines.base import Machine
from nearsame.errors import ConfigError
from nearsame.flow.arrays import Arrays, groups_of, names_of, numbered, placed
from nearsame.flow.asked import MEASURES, Known, asked
from nearsame.flow.contents import Contents, digested, first_of_one_text
from nearsame.flow.corpus import State
from nearsame.flow.decisions import Decisions, Located, Standings
from nearsame.flow.evidence import PageFacts
from nearsame.flow.guesses import Ranked, confirmed, shared
from nearsame.flow.layer_names import GUESSED, INDEX, TEXTLESS
from nearsame.flow.passing_on import Passed
from nearsame.flow.pipeline import prepare
from nearsame.flow.rereading import Left, changed
from nearsame.flow.steps import steps
from nearsame.named import NamedTuple
from nearsame.recipes.choices import OwnLayer, ReportedMeasure
from nearsame.recipes.methods import Method
from nearsame.sources.base import RecordRoom
from nearsame.sources.reading import Reading
from nearsame.stages.clusters.keepers import NOBODY, Decided, inherit
from nearsame.stages.clusters.policies import Keep, Policy, order_of
from nearsame.stages.features.document_facts import About, Describe

__all__ = ["Layer", "Layering", "Layers", "Left", "Settled", "first"]

_PRIORITY = Keep((Policy("min", "priority"),))  # of what is left: the order that the first layer went by

_BATCH = 1 << 16
_NONE = -1


class Layer(NamedTuple):
    """What one layer did."""

    name: OwnLayer
    num_entered: int  # documents that it looked at
    decided: Decided
    measure: OwnLayer | ReportedMeasure  # what its similarities are
    measures: Rows | None = None  # where they are not all the same: the number in MEASURES of each


class Settled(NamedTuple):
    """Who is removed by all layers together; besides `decided`, a value for each of its rows."""

    decided: Decided
    layer: Rows  # number in `use`
    measure: Rows  # number in `Layers.measures` of what its similarity is
    via: Rows  # the witness in the own layer, where a later one removed it; else -1
    chained: Mask  # never compared with the witness: only with `via`


@dataclass(frozen=True)
class Layers:
    """What the layers before the method did.

    Attributes:
        use: the layers that were asked for, in order.
        done: all of them but `text`.
        about: every document, as it was read; of pages the bytes.
        priority: of every document its place in the order of --keep.
        contents: their texts, as far as they were looked at.
        empty: which documents have no text; of pages that nobody looked at, no bytes.
        notes: what one must know of the priority, and of indexes.
        num_asked: documents of indexes, which have no texts here.
        told: what people have decided, and became of it here.
    """

    use: tuple[OwnLayer, ...]
    done: tuple[Layer, ...]
    about: About
    priority: Rows
    contents: Contents
    empty: Mask
    notes: tuple[str, ...] = ()
    num_asked: int = 0
    told: Passed | None = None

    @property
    def measures(self) -> list[str | None]:
        """What similarities are: of each layer in turn (None: as the method has it), then what an index may say."""
        own = {layer.name: layer.measure for layer in self.done}
        return [*map(own.get, self.use), *MEASURES]

    @property
    def gone(self) -> Mask:
        """Which rows are removed."""
        gone = np.zeros(self.priority.size, np.bool_)
        for layer in self.done:
            gone[layer.decided.rows] = True
        return gone

    @property
    def num_empty(self) -> int:
        """How many documents have no text."""
        return int(self.empty.sum()) - self.num_asked

    def left(self, reading: Reading) -> Left:
        """The same documents, to be read again without those that are removed."""
        return Left.out_of(reading, self.contents.texts, self.gone, self.priority)

    def same_bytes(self, rows: Rows, witnesses: Rows) -> Mask:
        """Which of some removed documents are as their witnesses are, byte for byte."""
        return self.about.same_text(rows, witnesses)

    def same_text(self, rows: Rows, witnesses: Rows) -> Mask:
        """Which of them have the same text: of pages, what was taken out of them."""
        return self.contents.about.same_text(rows, witnesses)

    def require_unchanged(self, about: About) -> None:
        """Refuse what was decided about other texts than were read the second time.

        Raises:
            SourceError: A source changed in between.
        """
        here = ~self.gone
        same = about.digest_a.size == here.size and all(
            np.array_equal(now[here], then[here])
            for now, then in ((about.digest_a, self.about.digest_a), (about.digest_b, self.about.digest_b))
        )
        if not same:
            raise changed()

    def then(self, reading: Reading, recipe: Method, engine: Machine, clock: Clock) -> State[Arrays]:
        """What the method knows of the documents that are left; without the layer `text`, nothing.

        Raises:
            SourceError: A source changed in between.
        """
        if "text" not in self.use:
            rows = np.arange(self.priority.size)
            known = Arrays(reading, engine, _PRIORITY, self.about, self.priority, rows, self.notes)
            return State(recipe, steps(recipe), replace(known, given=self._given))
        known = Arrays(self.left(reading), engine, _PRIORITY, given=self._given)
        state = prepare(known, recipe, clock)
        if not reading.pages:  # of pages, texts were digested before what is not text was taken out
            self.require_unchanged(state.corpus.about)
        reading.require_unchanged()
        known = replace(state.corpus, notes=(*self.notes, *state.corpus.notes))
        return replace(state, corpus=known)

    @property
    def _given(self) -> Located | None:
        return None if self.told is None else self.told.left

    def settled(self, text: Decided) -> Settled:
        """All layers together: `text` is what the method decided about those that were left."""
        size = self.priority.size
        witness, layer, measure, via = (np.full(size, _NONE) for _ in range(4))
        num, den, chained = np.ones(size, np.int64), np.ones(size, np.int64), np.zeros(size, np.bool_)
        last = len(self.use) - 1
        witness[text.rows], num[text.rows], den[text.rows] = text.witnesses, text.nums, text.dens
        layer[text.rows] = measure[text.rows] = last
        for number, done in reversed(list(enumerate(self.done))):
            rows, own = done.decided.rows, done.decided.witnesses
            later = witness[own] != _NONE
            witness[rows] = np.where(later, witness[own], own)
            num[rows] = np.where(later, num[own], done.decided.nums)
            den[rows] = np.where(later, den[own], done.decided.dens)
            said = number if done.measures is None else len(self.use) + done.measures
            measure[rows] = np.where(later, measure[own], said)
            chained[rows] = later & (chained[own] | (done.name != "digest"))
            via[rows] = np.where(later, own, _NONE)
            layer[rows] = number
        rows = np.flatnonzero(witness != _NONE)
        decided = text._replace(rows=rows, witnesses=witness[rows], nums=num[rows], dens=den[rows])
        return Settled(decided, layer[rows], measure[rows], via[rows], chained[rows])


@dataclass(frozen=True)
class Layering:
    """What is asked of the layers.

    Attributes:
        use: which of them run.
        keep: which of several documents stays.
        within: whether documents of the judged side are compared with each other.
        guesses: which texts are near enough where URLs are one by a guess.
        group_by: what two documents must have in common.
        indexes: what is asked before.
        decisions: what people have decided, if they have.
        called: what they call documents, as `Arrays.called` says.
    """

    use: tuple[OwnLayer, ...]
    keep: Keep
    within: bool
    guesses: Method
    group_by: str | None = None
    indexes: Sequence[Known] = ()
    decisions: Decisions | None = None
    called: Callable[[Reading], pa.Table] | None = None


def first(pages: PageFacts, asking: Layering, engines: tuple[Machine, Machine], clock: Clock) -> Layers:
    """Read all documents, and run every layer but `text`.

    Args:
        pages: What is known of the documents.
        asking: Which layers, and how they decide.
        engines: Where layers run, and where texts are taken out of pages: a work directory keeps these.
        clock: Counts seconds.
    """
    use, within, guesses, reading, engine = asking.use, asking.within, asking.guesses, pages.reading, engines[0]
    reading.columns = replace(reading.columns, room=RecordRoom(engine.record_bytes))
    seed = getattr(guesses, "seed", 0)
    headers = _Headers()
    with clock("features", reading.size_bytes):
        texts = digested(_as_they_are(reading, headers), engine, seed)
        about = Describe.close(engine.fold(texts, Describe()))
    if asking.group_by is not None:
        engines[0].groups = engines[1].groups = groups_of(reading, asking.group_by)
    told = None if asking.decisions is None else Passed.of(asking.decisions.located(names_of(reading, asking.called)))
    chosen = None if told is None else told.given.places(about.sizes.size)
    priority, notes = placed(order_of(asking.keep), asking.keep, about, reading, chosen)
    contents, empty, done = Contents(about, flow=texts), about.sizes == 0, list[Layer]()
    left, num_asked = np.ones(priority.size, np.bool_), sum(len(known.part.table) for known in asking.indexes)
    names = cache(partial(_names, pages))  # a URL takes long to spell
    if reading.pages and (wanted := _looked_at(names, use, about.sizes.size)).any():
        groups = [about.digest_a, about.digest_b, *headers.numbers, *([] if engine.groups is None else [engine.groups])]
        firsts = _firsts(names, asking, groups, priority, reading.num_against)
        contents = Contents.of_pages(reading, wanted, firsts, priority, engines[1], seed)
        empty = np.where(wanted, contents.about.sizes == 0, empty)
    for name in use:
        if name == "text":
            break
        with clock(f"layer {name}"):
            entering, measures = left if name in TEXTLESS else left & ~empty, None
            if name == INDEX:
                decided, measures, notes = _known(asking, reading, contents.texts, entering, notes)
            elif name == GUESSED:
                ranked = Ranked(about, priority, within, contents.texts)
                decided, told = confirmed(reading, names(name), entering, guesses, ranked, engine, told)
            else:
                flow = contents.flow if name == "digest" else digested(_documents(names(name)), engine, seed)
                same, ranks = engine.only(flow, entering), priority + empty * priority.size
                decided, told = _same(same, ranks, told, reading.num_against, engine, within=within)
                decided = _with_text(decided, empty)
            measure = guesses.reports if name == GUESSED else name
            entered = int(entering.sum()) - (num_asked if name in TEXTLESS else 0)
            done.append(Layer(name, entered, decided, measure, measures))
            left[decided.rows] = False
            told = told and told.behind(decided)
    return Layers(use, tuple(done), about, priority, contents, empty, notes, num_asked, told)


def _same(  # noqa: PLR0913  (what is the same, who comes first, what people say of it, and where)
    flow: Any, ranks: Rows, told: Passed | None, num_against: int, engine: Machine, *, within: bool
) -> tuple[Decided, Passed | None]:
    """Who goes for what has the same string; and what was decided, with what of it fits here."""
    best = engine.collapse(flow, ranks)
    decided = inherit(NOBODY, best, num_against, within=within)
    if told is None:
        return decided, None
    return told.obeyed(decided, Standings(best, ranks, np.ones_like(best), num_against), within=within)


def _known(
    asking: Layering, reading: Reading, texts: Any, entering: Mask, notes: tuple[str, ...]
) -> tuple[Decided, Rows, tuple[str, ...]]:
    """What indexes say: who goes, by which measures, and what one must know of it besides."""
    again = Left.out_of(reading, texts, ~entering, np.arange(entering.size))
    decided, measures, crowded = asked(asking.indexes, reading, again, entering)
    if again.num_documents != entering.size:
        raise changed()
    reading.require_unchanged()
    if crowded:
        documents = "1 document has" if crowded == 1 else f"{crowded:,} documents have"
        told = (
            f"{documents} much in common with very many of an index; not all of these were compared, and none is near"
        )
        notes = (*notes, told)
    return decided, measures, notes


def _looked_at(names: Callable[[OwnLayer], pa.Array], use: Sequence[OwnLayer], num_documents: int) -> Mask:
    """The pages whose texts layers ask for: all, or those that the layers can bring together with another one."""
    every = np.ones(num_documents, np.bool_)
    if {INDEX, "digest", "text"} & {*use}:
        return every
    looked_at = ~every
    for name in use:
        looked_at |= shared(names(name), every) >= 0
    return looked_at


def _with_text(decided: Decided, empty: Mask) -> Decided:
    """Only what has a witness with a text."""
    good = ~empty[decided.witnesses]
    rows, witnesses, nums, dens = (column[good] for column in decided[:4])
    return Decided(rows, witnesses, nums, dens)


class _Headers:
    """What decides besides its bytes what a page says: by row, numbers of charset and type, and whether it is there."""

    def __init__(self) -> None:
        self._columns: tuple[list[pa.Array], list[pa.Array]] = [], []
        self._there: list[pa.Array] = []

    def note(self, batch: pa.RecordBatch) -> None:
        """Remember those of a batch of PAGES."""
        for column, name in zip(self._columns, ("charset", "mime"), strict=True):
            column.append(batch.column(name))
        self._there.append(batch.column("body").is_valid())

    @property
    def numbers(self) -> list[Rows]:
        """The columns."""
        said = [numbered(pa.chunked_array(column, pa.string()).combine_chunks()) for column in self._columns]
        return [*said, np.asarray(pa.chunked_array(self._there, pa.bool_())).astype(np.int64)]


def _firsts(
    names: Callable[[OwnLayer], pa.Array], asking: Layering, groups: Sequence[Rows], priority: Rows, num_against: int
) -> Rows:
    """By row the page that has the same text, and stays rather than this one in the first layer; most are their own.

    Pages that are one in all `groups` have the same text.
    """
    name, own = asking.use[0], np.arange(priority.size)
    if name in (INDEX, "digest", "text") or asking.decisions is not None:
        return own
    common = shared(names(name), np.ones(priority.size, np.bool_))
    firsts = first_of_one_text([common, *groups], priority, common >= 0)
    may = (own >= num_against) & (asking.within | (firsts < num_against))  # or it stays whatever the layer says
    return np.where(may, firsts, own)


def _as_they_are(reading: Reading, headers: _Headers) -> Iterator[pa.RecordBatch]:
    """DOCUMENTS: of pages the bytes, whatever stands in them."""
    for batch in reading:
        if reading.pages:
            headers.note(batch)
            yield pa.RecordBatch.from_arrays(
                [batch.column("row"), batch.column("body").view(pa.large_string())], schema=schemas.DOCUMENTS
            )
        else:
            yield batch


def _documents(strings: pa.Array) -> Iterator[pa.RecordBatch]:
    """DOCUMENTS batches of strings, by row."""
    for start in range(0, len(strings), _BATCH):
        batch = strings.slice(start, _BATCH)
        rows = np.arange(start, start + len(batch))
        yield pa.RecordBatch.from_arrays([pa.array(rows), batch], schema=schemas.DOCUMENTS)


def _names(pages: PageFacts, layer: OwnLayer) -> pa.Array:
    """By row, what documents must have in common to be the same to a layer.

    Raises:
        ConfigError: No document has what the layer needs, nor is there a web page, which might.
    """
    of_urls = layer in ("url", GUESSED)
    needed = pages.url_column if of_urls else {"revisit": "payload_digest"}.get(layer, layer)
    # A small archive without redirects is nobody's mistake; what a column of markup says of itself is not read.
    may_lack = not of_urls and pages.reading.pages and not pages.reading.columns.html
    if pages.reading.num_documents and not pages.has(needed) and not may_lack:
        message = f"use={layer}: no document has anything in the column {needed!r}"
        raise ConfigError(message, hint=f"Leave {layer} out, or give sources that have it.")
    if of_urls:
        return pages.urls(degree="guess" if layer == GUESSED else "usual")
    if layer == "revisit":
        return pages.payloads()
    targets, urls = pages.target(layer), pages.urls()
    # two visits that nobody names are not of this layer
    named = computing.is_in(urls, value_set=targets.drop_null())
    return computing.coalesce(targets, computing.if_else(named, urls, pa.scalar(None, urls.type)))
