"""Who is removed, and which pairs are similar: on the driver, or by the cluster, with one answer.

1. Few candidates are decided on the driver by the kernels of one machine; how few is a setting.
2. A copy of a removed document goes with it, a copy of a kept one has that as its witness.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nearsame.engines.space import num_bytes
from nearsame.frames.few import DECISIONS, Question, component_of, here
from nearsame.frames.flow import Frames
from nearsame.frames.rounds import ENTRY_BYTES, Cluster
from nearsame.results import Component

__all__ = ["Decision", "decide", "inherited", "similar"]


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided of the representatives, or which of them are similar.

    Attributes:
        found: a, b, num, den by number; a goes and b is its witness, or they are a pair.
        num_compared: pairs of documents, on the way.
        component: what there is to say of the largest.
    """

    found: Any
    num_compared: int = 0
    component: Component | None = None


def decide(frames: Frames, threshold: Fraction, *, within: bool, clusters: str) -> Decision:
    """Who is removed, of the representatives."""
    against = frames.counts["different_against"]
    return _answered(frames, Question(frames.method, threshold, clusters, against, within))


def similar(frames: Frames, threshold: Fraction) -> Decision:
    """All similar pairs of representatives."""
    return _answered(frames, Question(frames.method, threshold, "pairs"))


def _answered(frames: Frames, question: Question) -> Decision:
    verbs = frames.verbs
    if frames.entries is None or not frames.counts["meeting"]:
        return Decision(verbs.frame(DECISIONS.empty_table()).drop("note"))
    size = ENTRY_BYTES * frames.counts["entries"] + 8 * frames.counts["met_items"]
    if size <= num_bytes(verbs.engine.driver_bytes):
        verbs.room["deciding"] = "driver"
        lists, entries = frames.met.sort("number"), frames.entries.select("key", "number", "place")
        table = here(question, verbs.tables(lists), verbs.tables(entries))
        return _told(verbs.frame(table), verbs)
    verbs.room["deciding"] = "cluster"
    cluster, component = Cluster(frames, question), None
    if question.kind == "pairs":
        found = cluster.pairs()
    elif question.kind == "greedy":
        found = cluster.greedy()
    else:
        found, component = cluster.components()
    found = verbs.once(found)
    return Decision(found, cluster.compared, component)


def _told(answers: Any, verbs: Any) -> Decision:
    kept = verbs.once(answers)
    last = kept.filter("a < 0").first()
    return Decision(kept.filter("a >= 0").drop("note"), int(last["b"]), component_of(last["note"]))


def inherited(frames: Frames, decision: Decision, *, within: bool) -> Any:
    """Removed documents of all kinds: row, number, times, witness, num, den.

    `times` is how many of the copies of a row go: all of them, or all but the one that stays.
    """
    decided = decision.found.toDF("leader", "witness", "num", "den")
    known = frames.documents.filter("size > 0").select("row", "number", "best", "side", "copies")
    leaders = frames.documents.select("number", "side").toDF("best", "best_side")
    joined = known.join(decided, known["best"] == decided["leader"], "left")
    if not within:
        joined = joined.join(leaders, "best")
    stands = "true" if within else "best_side = 0"
    follows = joined.filter("side = 1 and witness is not null")
    copies = joined.filter(f"side = 1 and witness is null and (number <> best or copies > 1) and ({stands})")
    own = "if(number = best, copies - 1, copies)"
    return follows.selectExpr("row", "number", "copies as times", "witness", "num", "den").union(
        copies.selectExpr("row", "number", f"{own} as times", "best", "1L", "1L")
    )
