"""The data flow over DataFrames: the arrows of pipeline.py, where no array holds a number for every document.

    documents → texts → features → (sketches) → keys → pairs or clusters

1. Stages, folds and rules are those of pipeline.py (steps.py chooses them), and so is every answer.
2. What is known of each document is a row of a table; what must be compared is shuffled by key, and by nothing else.
3. Only counts come to the driver, tables of a stated size that all workers share, and what may be decided there.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from nearsame.engines.spark.ordering import numbered
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import ConfigError, SourceError
from nearsame.frames.documents import CARRIED, STAY, Side, require_one_length
from nearsame.frames.naming import Renamed, renamed, renamings
from nearsame.frames.priority import prioritised, unread_dates, with_moments
from nearsame.frames.shuffling import advice, predicted
from nearsame.methods import Containment, Jaccard, Method, MinHash, ModP, Shingled
from nearsame.pipeline import NOTHING_DROPPED, Dropped, boilerplate
from nearsame.results import Clock
from nearsame.stages.clusters.policies import Keep, order_of
from nearsame.stages.features.boilerplate import WithoutBoilerplate
from nearsame.stages.features.distinct import DistinctItems
from nearsame.stages.features.frequencies import FrequencyTable
from nearsame.stages.features.identity import SetDigests
from nearsame.stages.keys.prefix import plan_counting
from nearsame.steps import Steps, steps

__all__ = ["FEW_ROWS", "Frames", "few", "prepare"]

_FREQUENCY_BYTES = 16  # of a feature and its number of documents
FEW_ROWS = 1_000_000  # of some numbers each: in Java they take some 100 bytes, and the driver builds the table
_GROUP = ["set_a", "set_b", "size"]  # BLAKE2b, see SetDigests


@dataclass(frozen=True, eq=False)
class Frames:
    """What a run knows once all documents that could be similar have met; each table is a DataFrame.

    Attributes:
        documents: one row for each different document: row, number (its place in the order of priority), best (the
            number of the first with equal features), copies, side, id, digests, sizes.
        entries: which representatives stand in which bucket: key, number, place, size, bucket (how many are there).
        met: their features (or sketches): number, items.
    """

    method: Method
    verbs: Verbs
    step: Steps
    sides: tuple[Side, ...]
    names: tuple[Renamed, ...]  # of rows that share theirs with others
    documents: Any
    features: Any
    entries: Any = None
    met: Any = None
    frequencies: FrequencyTable | None = None
    counts: dict[str, Any] = field(default_factory=dict)
    dropped: Dropped = NOTHING_DROPPED
    notes: tuple[str, ...] = ()

    @cached_property
    def judged(self) -> Side:
        """The side of which documents may go."""
        return self.sides[-1]


def prepare(  # noqa: PLR0913  (who reads, by what recipe, who stays, where, watched by whom)
    sides: tuple[Side, ...],
    method: Method,
    keep: Keep,
    verbs: Verbs,
    clock: Clock,
    *,
    strict: bool = False,
    listing: bool = False,
) -> Frames:
    """Read all documents, and bring together those that share a key."""
    ready = sides[-1].columns.items is not None
    step = steps(method, ready_items=ready, listing=False)
    if getattr(method, "search", None) == "adjacent":
        message = "search=adjacent sorts all codes, which only one machine can do"
        raise ConfigError(message, hint="Choose search=blocks, or leave engine out.")
    verbs.carried = CARRIED
    verbs.room.setdefault("shuffle", {})
    with clock("features"):
        names, features, frequencies, dropped, about = _read(sides, method, step, keep, verbs)
        notes = unread_dates(sides, about, keep)
    with clock("identical"):
        documents, counts = _ranked(about, keep, step, verbs, listing=listing)
        notes += _unreadable(sides, counts["unreadable"], strict=strict)
        frames = Frames(method, verbs, step, sides, names, documents, features, frequencies=frequencies)
        frames = replace(frames, counts=counts, dropped=dropped, notes=notes)
    return frames if step.keys is None else _meet(frames, clock)


def _read(
    sides: tuple[Side, ...], method: Method, step: Steps, keep: Keep, verbs: Verbs
) -> tuple[tuple[Renamed, ...], Any, FrequencyTable | None, Dropped, Any]:
    """Features, and what is known of each document: (names, features, frequencies, dropped, about)."""
    first, *others = (side.documents() for side in sides)
    for other in others:
        first = first.unionByName(other)
    if verbs.engine.partitions is not None:
        first = first.repartition(verbs.engine.partitions)
    if method.of_vectors:
        require_one_length(first)
    flow = verbs.map(with_moments(first, keep, verbs), step.features)
    flow, frequencies = _weighed(flow, method, step, verbs) if step.weigh else (flow, None)
    flow, dropped = _without_boilerplate(verbs.keep(verbs.map(flow, SetDigests())), method, verbs)
    about, (clash,) = verbs.told(_about(flow), "coalesce(max(fp <> other_fp), false)")
    if not clash:
        return (), flow, frequencies, dropped, about
    names = renamings(flow, about)
    flow = flow.withColumn("row", verbs.expression(renamed(names)))
    these = _about(flow.filter(flow["row"].isin([each.name for each in names])))
    return names, flow, frequencies, dropped, about.filter("fp = other_fp").union(these)


def _weighed(features: Any, method: Method, step: Steps, verbs: Verbs) -> tuple[Any, FrequencyTable | None]:
    """Codes by weights that must know of all documents: the table of frequencies goes to every worker.

    Raises:
        ConfigError: The table would be larger than what may.
    """
    if getattr(method, "frequencies", None) is None:
        features = verbs.keep(features)
        distinct = DistinctItems.close(verbs.fold(features, DistinctItems()))
        if distinct * _FREQUENCY_BYTES > verbs.table_bytes:
            message = (
                f"the frequencies of about {distinct:,} features take more than broadcast_bytes={verbs.table_bytes:,}"
            )
            hint = "Raise broadcast_bytes, or give the frequencies of a sample (frequencies=FILE)."
            raise ConfigError(message, hint=hint)
    weighed: tuple[Any, FrequencyTable | None] = cast("Any", step.weigh)(features, verbs)
    return weighed


def _without_boilerplate(features: Any, method: Method, verbs: Verbs) -> tuple[Any, Dropped]:
    """The features without what too many documents have, where that is asked for."""
    most = method.drop_boilerplate if isinstance(method, Shingled) else None
    if most is None:
        return features, NOTHING_DROPPED
    distinct = DistinctItems.close(verbs.fold(features, DistinctItems()))  # a slot for each; a copy needs no other
    found = boilerplate(features, max(1, distinct), most, cast("Any", verbs))
    left = verbs.keep(verbs.map(verbs.map(features, WithoutBoilerplate.of(found)), SetDigests()))
    bare = [each.filter("num_tokens = 0 and size(items) > 0").count() for each in (left, features)]
    return left, Dropped(found.items.size, int(found.counts.sum()), bare[0] - bare[1])


def _unreadable(sides: tuple[Side, ...], number: int, *, strict: bool) -> tuple[str, ...]:
    """What to say of texts that are too long, or no UTF-8 and not counted when their files were looked at.

    Raises:
        SourceError: With `strict`, there are some.
    """
    if not number:
        return ()
    names = " and ".join(dict.fromkeys(part.name for side in sides for part in side.parts))
    most = sides[0].columns.max_record
    told = f"{names}: {number:,} {'text is' if number == 1 else 'texts are'} no UTF-8, or of more than {most:,} bytes"
    if strict:
        raise SourceError(told, hint="Mend them, leave out strict, or raise max_record.")
    return (f"{told}: {STAY}",)


def _about(features: Any) -> Any:
    """One row for each different document."""
    order = ["min(value) as value"] if "value" in features.columns else []
    same = ["side", "bad", "id", "text_bytes", "digest_a", "digest_b", "num_tokens", "set_a", "set_b", "size"]
    narrow = features.selectExpr(
        "row", "fp", *[name for name in same if name != "size"], "cast(size(items) as bigint) as size",
        *(["value"] if order else []),
    )  # fmt: skip
    found = [f"min({name}) as {name}" for name in ["fp", *same]]
    return Verbs.aggregated(narrow, ["row"], ["max(fp) as other_fp", "count(1) as copies", *found, *order])


def _ranked(about: Any, keep: Keep, step: Steps, verbs: Verbs, *, listing: bool) -> tuple[Any, dict[str, int]]:
    """The documents in the order of priority, each with the best that has equal features; and their counts."""
    either = listing and step.larger_first  # one side may contain the other, or be contained
    priority = order_of(keep, larger_first=step.larger_first, by_side=not either)
    ordered, order = prioritised(about, priority)
    ranked = verbs.keep(numbered(verbs, ordered, order, "number"))
    several = ["min(number) as best", "count(1) as num", "sum(copies) as stands_for", "max(side) as last_side"]
    groups = Verbs.aggregated(ranked.filter("size > 0"), _GROUP, several).filter("num > 1")
    joined = ranked.join(groups, _GROUP, "left")
    plain = ["row", "number", "copies", "side", "id", "text_bytes", "digest_a", "digest_b", "num_tokens", "size", "bad"]
    joined = joined.selectExpr(
        *plain,
        "coalesce(best, number) as best",
        "coalesce(stands_for, copies) as stands_for",
        "coalesce(last_side, side) = 0 as one_side",  # stands for documents of the against side only
    )
    sums = {
        "documents": "copies",
        "different": "1",
        "against": "if(side = 0, copies, 0)",
        "different_against": "if(side = 0, 1, 0)",
        "text_bytes": "text_bytes * copies",
        "empty": "if(size = 0, copies, 0)",
        "bare": "if(num_tokens = 0 and size > 0, copies, 0)",
        "distinct": "if(number = best, if(size = 0, copies, 1), 0)",
        "features": "if(number = best, size, 0)",
        "sets": "if(number = best and size > 0, 1, 0)",
        "filled": "if(size > 0, 1, 0)",
        "ids": "if(id is null, 0, copies)",
        "unreadable": "if(bad, copies, 0)",
    }
    asked = (f"coalesce(sum({what}), 0) as `{name}`" for name, what in sums.items())
    documents, told = verbs.told(joined, *asked, "count(distinct id) as different_ids")
    return documents, {name: int(value) for name, value in told.asDict().items()}


def _meet(frames: Frames, clock: Clock) -> Frames:
    """Make keys, and bring together what shares one."""
    step, verbs, documents = frames.step, frames.verbs, frames.documents
    distinct, clean = _representatives(frames)
    made = verbs.map(distinct, step.sketches) if step.sketches else distinct
    if step.by_sketch:
        made = verbs.keep(made)
    with clock("counts"):
        made, counts, told = _with_counts(frames, made)
        if told:
            clock.progress.note(told)
            frames = replace(frames, notes=(*frames.notes, told))
    with clock("keys"):
        keys = verbs.map(made, step.keys(counts) if step.keys else None)
        leaders = documents.filter("number = best and size > 0")
        if not clean:
            keys = keys.dropDuplicates(["key", "row"]).join(leaders.select("row"), "row", "left_semi")
        keys, (num_keys,) = verbs.told(keys, "count(1)")
        before = verbs.shuffled_bytes()
    with clock("meeting"):
        over = "over (partition by key)"
        met = keys.selectExpr("*", f"count(1) {over} as bucket", f"max(probes) {over} as begins")
        met = verbs.once(met.filter("bucket > 1 and begins > 0").select("key", "row", "place", "bucket"))
        verbs.room["shuffle"] |= {"keys": num_keys, "keys_bytes": verbs.shuffled_bytes() - before}
        found = met.join(leaders.select("row", "number", "size", "one_side", "stands_for"), "row")
        entries, (num_entries,) = verbs.told(found, "count(1)")
        here = entries.groupBy("row").agg({"number": "min", "stands_for": "min"}).toDF("row", "number", "stands_for")
        here = few(*verbs.told(here, "count(1) as num"))  # so that the features of all others do not travel
        source = (made if step.by_sketch else distinct).select("row", "items").join(here, "row")
        source = (source if clean else source.dropDuplicates(["number"])).drop("row")
        lists, (meeting, items) = verbs.told(source, "count(1)", "coalesce(sum(size(items)), 0)")
    counted = {"keys": num_keys, "entries": num_entries, "meeting": meeting, "met_items": items}
    return replace(frames, entries=entries, met=lists, counts={**frames.counts, **counted})


def few(rows: Any, told: Any = None) -> Any:
    """Rows of numbers, sent to every worker if they are few: then what they are joined with is not shuffled.

    `told` has their number, `num`, where it is known.
    """
    number = rows.count() if told is None else told["num"]
    return rows.hint("broadcast") if number <= FEW_ROWS else rows


def _representatives(frames: Frames) -> tuple[Any, bool]:
    """The features of documents that stand for all equal ones, and whether no other is left among them."""
    counts = frames.counts
    copies = counts["filled"] - counts["sets"]
    repeated = counts["documents"] > counts["different"]
    if copies == 0 or copies > FEW_ROWS:
        return frames.features, copies == 0 and not repeated
    rows = frames.documents.filter("number <> best").select("row")
    return frames.features.join(rows.hint("broadcast"), "row", "left_anti"), not repeated


def _with_counts(frames: Frames, made: Any) -> tuple[Any, Any, str | None]:
    """What keys must know of all that they are made of, and what to say of what they will cost."""
    step, verbs, method = frames.step, frames.verbs, frames.method
    distinct = None
    if isinstance(method, Jaccard | MinHash | Containment | ModP):
        source = frames.features if isinstance(method, MinHash) else made
        distinct = DistinctItems.close(verbs.fold(source, DistinctItems()))
    planned = _in_one_pass(distinct or 0, verbs)
    made, counts = step.counts(made, planned, cast("Any", verbs)) if step.counts else (made, None)
    told = None
    if isinstance(method, Jaccard | MinHash):
        plan = plan_counting(planned, verbs.table_bytes)
        known = frames.counts["sets"], frames.counts["features"], distinct or 0
        foreseen = predicted(*known, plan.passes << plan.bits, method.least, plan.table_bytes * verbs.num_copies())
        verbs.room["shuffle"]["predicted"] = foreseen
        told = advice(foreseen) if isinstance(method, Jaccard) else None
    return made, counts, told


def _in_one_pass(distinct: int, verbs: Verbs) -> int:
    """The number of items that a table is planned for: what is more than it can count in one pass only adds keys."""
    return max(1, min(distinct, 4 * (1 << (verbs.table_bytes.bit_length() - 1))))
