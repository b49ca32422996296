"""What is known of every document on a cluster: a DataFrame with a row for each.

1. What must be compared is shuffled by key, and by nothing else.
2. Only counts come to the driver, tables of a stated size that all workers share, and what may be decided there.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from nearsame import schemas
from nearsame.dataclass import dataclass
from nearsame.engines.spark.ordering import numbered, placed
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import ConfigError, SourceError
from nearsame.flow.arrays import HOST, require_host
from nearsame.flow.corpus import Met, Question, State
from nearsame.flow.decisions import Decisions
from nearsame.flow.steps import Steps
from nearsame.frames.decided import Named, Told
from nearsame.frames.deciding import Decision, answered, inherited
from nearsame.frames.documents import CARRIED, GROUP, STANDS, STAY, FrameSide, require_one_length
from nearsame.frames.left import PLACE, LeftFrame, loaded
from nearsame.frames.naming import Renamed, renamed, renamings
from nearsame.frames.pages import FOUND, page_sums
from nearsame.frames.priority import prioritised, unread_dates, with_numbers
from nearsame.frames.scoring import lengths
from nearsame.frames.shuffling import ITEM_BYTES, past_the_table, planned, predicted
from nearsame.named import NamedTuple
from nearsame.recipes.arguments import not_on_spark
from nearsame.recipes.counterparts import exact_join
from nearsame.recipes.methods import Method
from nearsame.stages.clusters.apart import Apart
from nearsame.stages.clusters.policies import Keep, Order, chosen_first
from nearsame.stages.features.distinct import DistinctItems
from nearsame.stages.features.frequent import CountOften
from nearsame.stages.features.host_boilerplate import Hosts
from nearsame.stages.features.identity import SetDigests
from nearsame.stages.keys.frequent import FrequentItems

__all__ = ["FEW_ROWS", "Frames", "Meeting", "few", "require_readable"]

_FREQUENCY_BYTES = 16  # of a feature and its number of documents
FEW_ROWS = 1_000_000  # of some numbers each: in Java they take some 100 bytes, and the driver builds the table
_MET = ("entries", "lists")  # steps of a work directory: the frames of a Meeting
_GROUP = ["set_a", "set_b", "size"]  # BLAKE2b, see SetDigests
_SUMS = {
    "documents": "copies",
    "different": "1",
    "against": "if(side = 0, copies, 0)",
    "different_against": "if(side = 0, 1, 0)",
    "text_bytes": "text_bytes * copies",
    "empty": "if(size = 0, copies, 0)",
    "bare": "if(num_tokens = 0 and size > 0, copies, 0)",
    "distinct": "if(number = best, if(size = 0, copies, 1), 0)",
    "features": "if(number = best, size, 0)",
    "all_features": "size * copies",
    "sets": "if(number = best and size > 0, 1, 0)",
    "filled": "if(size > 0, 1, 0)",
    "ids": "if(id is null, 0, copies)",
    "unreadable": "if(bad, copies, 0)",
}
_KNOWN = ["row", "number", "copies", "side", "id", "text_bytes", "digest_a", "digest_b", "num_tokens", "size", "bad"]


class Meeting(NamedTuple):
    """Documents that share a key.

    Attributes:
        entries: which leaders stand in which bucket: key, number, place, size, bucket (how many are there), one_side,
            stands_for.
        lists: what they are compared by: number, items (and confirming), stands_for.
        num_entries: of all documents.
        num_documents: that share a key.
        num_items: in their lists.
    """

    entries: Any
    lists: Any
    num_entries: int
    num_documents: int
    num_items: int


@dataclass(frozen=True, eq=False)
class Frames:
    """What is known of every document.

    Attributes:
        sides: the `against` side, if there is one, and that of which documents may go.
        engine: where flows run.
        keep: which of two similar documents stays.
        strict: whether a text that cannot be read is an error.
        names: of rows that share theirs with others.
        features: of all documents.
        documents: one row for each different document: row, number (its place in the order of priority), best (the
            number of the first with equal features), copies, side, id, digests, sizes.
        counts: what is counted of them.
        notes: what one must know of them.
        decisions: what people have decided, if they have.
        named: the documents that these name.
        left: what layers before the method have left, where there are some.
        remembered: features of documents of the `against` side that an earlier run has made, where there are some.
    """

    sides: tuple[FrameSide, ...]
    engine: Verbs
    keep: Keep
    strict: bool = False
    names: tuple[Renamed, ...] = ()
    features: Any = None
    documents: Any = None
    counts: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    decisions: Decisions | None = None
    named: Named | None = None
    left: LeftFrame | None = None
    remembered: Any = None

    at_once = False
    size_bytes = None

    @cached_property
    def judged(self) -> FrameSide:
        """The side of which documents may go."""
        return self.sides[-1]

    @property
    def is_grouped(self) -> bool:
        """Whether documents are compared only with those of their group."""
        return self.judged.group_by is not None

    @property
    def of_pages(self) -> bool:
        """Whether documents are web pages."""
        return self.judged.of_pages

    @property
    def _extras(self) -> tuple[str, ...]:
        """What else is known of each document."""
        own = self.judged.extras if self.left is None else (PLACE,)
        return (*([GROUP] if self.is_grouped else []), *(FOUND if self.of_pages else ()), *own)

    def hosts_by(self, share: float) -> Callable[[], Hosts]:
        """Nothing: URLs are not read here.

        Raises:
            ConfigError: Always.
        """
        raise not_on_spark("boilerplate_per_host", share)

    def load(self, method: Method, step: Steps) -> Any:  # noqa: ARG002  (any stage reads the same)
        """A flow of the documents of all sides."""
        verbs = self.engine
        verbs.carried = (*CARRIED, *self.keep.values, *self._extras)
        verbs.room.setdefault("shuffle", {})
        first = loaded(self.sides, self.names, self.left)
        if verbs.engine.partitions is not None:
            first = first.repartition(verbs.engine.partitions)
        if method.of_vectors:
            require_one_length(first)
        return with_numbers(first, self.keep, verbs, of_hosts=self.judged.group_by == HOST)

    def countable(self, features: Any) -> Any:
        """Features whose table of frequencies may be sent to every worker, computed once.

        Raises:
            ConfigError: It is too large for that.
        """
        verbs, features = self.engine, self.engine.keep(features)
        distinct = DistinctItems.close(verbs.fold(features, DistinctItems()))
        if distinct * _FREQUENCY_BYTES <= verbs.table_bytes:
            return features
        message = f"the frequencies of about {distinct:,} features take more than broadcast_bytes={verbs.table_bytes:,}"
        hint = "Raise broadcast_bytes, or give the frequencies of a sample (frequencies=FILE)."
        raise ConfigError(message, hint=hint)

    def kept(self, features: Any, step: str = "") -> Any:
        """Features, computed once, with digests that stand for them."""
        lettered = set(schemas.COMPARED) <= set(features.columns)
        made = self.engine.kept_beside(DistinctItems(), features, SetDigests(lettered), step=step)
        return made if self.remembered is None else made.unionByName(self.remembered, allowMissingColumns=True)

    def slots(self, features: Any) -> int:
        """As many as there are different items: a copy needs no other."""
        return max(1, DistinctItems.close(self.engine.fold(features, DistinctItems())))

    def described(self, features: Any) -> tuple[Any, "Frames"]:
        """(features by the names that rows have, a corpus that knows every document)."""
        clashes = "coalesce(max(fp <> other_fp), false)"
        about = _about(features)
        if self.left is not None:
            about = about.join(self.left.places, "row")  # it went by
        documents, (clash,) = self.engine.told(about, clashes, step="documents")
        if not clash:
            return features, replace(self, features=features, documents=documents)
        names = renamings(features, documents)
        features = features.withColumn("row", self.engine.expression(renamed(names)))
        these = _about(features.filter(features["row"].isin([renaming.name for renaming in names])))
        documents = documents.filter("fp = other_fp").union(these)
        return features, replace(self, names=names, features=features, documents=documents)

    def ranked(self, order: Order) -> "Frames":
        """A corpus that knows each document's place in an order, as its number."""
        notes, documents, named = unread_dates(self.sides, self.documents, self.keep), self.documents, self.named
        if self.decisions is not None:
            named = Named.among(documents, self.decisions, self.engine)
            documents, order = named.ranked(documents, self.engine), chosen_first(order)
        marked, columns = prioritised(documents, order)
        ordered = self.engine.once("ordered", lambda: placed(marked, columns))
        documents = numbered(ordered, "number")
        return replace(self, documents=documents, named=named, notes=(*self.notes, *notes))

    @cached_property
    def told(self) -> Told | None:
        """What people have decided, by number."""
        if self.named is None:
            return None
        return Told.of(self.named, self.documents, self.counts["different_against"], self.engine)

    @cached_property
    def apart(self) -> Apart | None:
        """What was told apart of the documents that stand for all others."""
        return None if self.told is None else self.told.apart

    def collapsed(self, features: Any) -> "Frames":  # noqa: ARG002  (their digests are known)
        """A corpus that knows of each document the best one with equal features, and that has counted them."""
        return self._counted(self._grouped())

    def each_alone(self) -> "Frames":
        """The same where none is held for another one, as layers take them."""
        nobody = ("null as best", "null as stands_for", "null as last_side")
        return self._counted(self.documents.selectExpr("*", *nobody), *_GROUP[:2])

    def _grouped(self) -> Any:
        """Documents, and of those with equal features who is the best of them, and how many there are."""
        several = ["min(number) as best", "count(1) as num", "sum(copies) as stands_for", "max(side) as last_side"]
        groups = Verbs.aggregated(self.documents.filter("size > 0"), _GROUP, several).filter("num > 1")
        return self.documents.join(groups, _GROUP, "left")

    def _counted(self, joined: Any, *more: str) -> "Frames":
        joined = joined.selectExpr(
            *_KNOWN,
            *self._extras,
            *more,
            "coalesce(best, number) as best",
            "coalesce(stands_for, copies) as stands_for",
            "coalesce(last_side, side) = 0 as one_side",  # stands for documents of the against side only
        )
        sums = _SUMS | (page_sums() if self.of_pages else {})
        sums |= {f"num_{name}": f"if({name} <> '', 1, 0)" for name in self._extras if name.startswith("beside")}
        asked = (f"coalesce(sum({what}), 0) as `{name}`" for name, what in sums.items())
        documents, told = self.engine.told(
            joined, *asked, "count(distinct id) as different_ids", step="known", shuffles=True
        )
        counts = {name: int(value) for name, value in told.asDict().items()}
        if self.judged.group_by == HOST and documents.filter(f"{GROUP} <> 0").isEmpty():
            require_host(self.judged.columns, counts["documents"], 0)
        notes = (*self.notes, *require_readable(self.sides, counts["unreadable"], strict=self.strict))
        return replace(self, documents=documents, counts=counts, notes=notes)

    def leaders(self, features: Any) -> Any:
        """The features of the documents that stand for all others; many others are left among them, see `is_clean`."""
        copies = self._num_copies
        if copies == 0 or copies > FEW_ROWS:
            return features
        rows = self.documents.filter("number <> best").select("row")
        return features.join(rows.hint("broadcast"), "row", "left_anti")

    @property
    def _num_copies(self) -> int:
        return self.counts["filled"] - self.counts["sets"]

    @property
    def is_clean(self) -> bool:
        """Whether `leaders` leaves each of them once, and nobody else."""
        return self._num_copies <= FEW_ROWS and self.counts["documents"] == self.counts["different"]

    def once(self, meet: Callable[[], Met]) -> Met:
        """What documents that met became: computed, or where an earlier run got so far, found."""
        stored = self.engine.stored
        if stored is None:
            return meet()
        noted, frames = stored.noted("met"), [stored.found(step) for step in _MET]
        if noted is not None and (noted["meeting"] is None or all(frame is not None for frame in frames)):
            self.engine.room |= noted["room"]
            meeting = None if noted["meeting"] is None else Meeting(*frames, *noted["meeting"])
            return Met(noted["keys"], meeting, tuple(noted["notes"]))
        met = meet()
        numbers = None if met.meeting is None else [int(number) for number in met.meeting[len(_MET) :]]
        room = self.engine.room
        stored.note("met", {"keys": met.num_keys, "meeting": numbers, "notes": met.notes, "room": room})
        return met

    def counted(
        self, made: Any, method: Method, step: Steps, note: Callable[[str], None]
    ) -> tuple[Any, Any, tuple[str, ...]]:
        """What keys are made of, and what they must know of all of it: counts, or which items are frequent."""
        verbs, exact = self.engine, exact_join(method)
        if not method.counts_items and exact is None:
            return *step.counted(made, 1, verbs), ()
        # What copies have, leaders have: the items of all documents are theirs.
        looked_at = made if step.sketches and method.counts_items else self.features
        distinct = DistinctItems.close(verbs.folded(looked_at, DistinctItems(), self.counts["documents"]))
        table, foreseen = planned(distinct, self.counts["features"], verbs), None
        if exact is not None:
            known = self.counts["sets"], self.counts["features"], distinct
            foreseen = verbs.room["shuffle"]["predicted"] = predicted(*known, method.least, table)
        if table.fits or not method.counts_items:
            return *step.counted(made, max(1, distinct), verbs), ()
        notes = (past_the_table(distinct, verbs.table_bytes, foreseen),)
        note(*notes)
        often = verbs.fold(made, CountOften(max(1, verbs.table_bytes // ITEM_BYTES)))
        verbs.room["shuffle"]["frequent"] = often.counts[0].size
        return made, FrequentItems.of(*often.counts), notes

    def offered(self, keys: Any) -> tuple[Any, int]:
        """Keys of leaders, computed once, and how many there are."""
        if not self.is_clean:
            keys = keys.dropDuplicates(["key", "row"]).join(self._leading.select("row"), "row", "left_semi")
        if self.is_grouped:
            grouped = keys.join(self.documents.select("row", GROUP), "row")
            keys = grouped.withColumn("key", self.engine.expression(f"key ^ {GROUP}")).drop(GROUP)
        keys, (number,) = self.engine.told(keys, "count(1)")
        self.engine.room["shuffle"]["keys"] = number
        return keys, number

    @property
    def _leading(self) -> Any:
        """The documents that stand for all others, and have features."""
        return self.documents.filter("number = best and size > 0")

    def meet(self, keys: Any, lists: Any, columns: Sequence[str]) -> Meeting:
        """Documents that share a key, grouped by it."""
        verbs, over = self.engine, "over (partition by key)"
        before = verbs.shuffled_bytes()
        met = keys.selectExpr("*", f"count(1) {over} as bucket", f"max(probes) {over} as begins")
        met = verbs.computed(met.filter("bucket > 1 and begins > 0").select("key", "row", "place", "bucket"))
        verbs.room["shuffle"]["keys_bytes"] = verbs.shuffled_bytes() - before
        entries = met.join(self._leading.select("row", "number", "size", "one_side", "stands_for"), "row")
        entries, (num_entries,) = verbs.told(entries, "count(1)", step=_MET[0])
        here = verbs.aggregated(entries, ["row"], ["min(number) as number", "min(stands_for) as stands_for"])
        here = few(*verbs.told(here, "count(1) as num"))  # so that the features of all others do not travel
        source = lists.select("row", *columns).join(here, "row")
        source = (source if self.is_clean else source.dropDuplicates(["number"])).drop("row")
        sizes = f"coalesce(sum({lengths(columns)}), 0)"
        known, (documents, items) = verbs.told(source, "count(1)", sizes, step=_MET[1])
        return Meeting(entries, known, num_entries, documents, items)

    def answer(self, state: State["Frames"], question: Question) -> Decision:
        """Who of the leaders goes, and by whose witness; or which of them are similar."""
        return answered(state, question)

    def inherit(self, decision: Decision, *, within: bool) -> Decision:
        """The same of all documents."""
        gone = inherited(self.documents, decision.found, within=within)
        if self.told is not None:
            gone = self.told.inherit(gone, decision.found, within=within)
        witnesses = self.documents.selectExpr("number as witness", "digest_a as other_a", "digest_b as other_b")
        same = "digest_a = other_a and digest_b = other_b as same"
        names = ["row", "number", "times", "witness", "num", "den", "rest"]
        gone, (num,) = self.engine.told(gone.join(witnesses, "witness").selectExpr(*names, same), "count(1)")
        return replace(decision, gone=gone, num_gone=num)


def require_readable(sides: Sequence[FrameSide], number: int, *, strict: bool) -> tuple[str, ...]:
    """What to say of texts that are too long, or no UTF-8 and not counted when their files were looked at.

    Raises:
        SourceError: With `strict`, there are some.
    """
    if not number:
        return ()
    names = " and ".join(dict.fromkeys(part.name for side in sides for part in side.parts))
    most, texts = sides[0].columns.max_record, "text is" if number == 1 else "texts are"
    message = f"{names}: {number:,} {texts} not UTF-8, or of more than {most:,} bytes"
    if strict:
        raise SourceError(message, hint="Fix them, leave out strict, or raise max_record.")
    return (f"{message}: {STAY}",)


def _about(features: Any) -> Any:
    """One row for each different document."""
    own = (GROUP, STANDS, *FOUND)
    values = [name for name in features.columns if name.startswith(("value", "beside")) or name in own]
    same = ["side", "bad", "id", "text_bytes", "digest_a", "digest_b", "num_tokens", "set_a", "set_b", "size"]
    narrow = features.selectExpr(
        "row", "fp", *[name for name in same if name != "size"], "cast(size(items) as bigint) as size",
        *values,
    )  # fmt: skip
    if GROUP in values:
        narrow = narrow.withColumn("set_a", Verbs.expression(f"set_a ^ {GROUP}"))
    minima = [f"min({name}) as {name}" for name in ["fp", *same, *values]]
    return Verbs.aggregated(narrow, ["row"], ["max(fp) as other_fp", "count(1) as copies", *minima])


def few(rows: Any, counted: Any = None) -> Any:
    """Rows of numbers, sent to every worker if they are few: then what they are joined with is not shuffled.

    `counted` has their number, `num`, where it is known.
    """
    number = rows.count() if counted is None else counted["num"]
    return rows.hint("broadcast") if number <= FEW_ROWS else rows
