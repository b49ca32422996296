"""Who is removed, and which pairs are similar: on the driver, in one task, or side by side, with one answer.

1. Few candidates are decided on the driver by the kernels of one machine, more of them by the same in one task; how few
   and how many are settings. Only pairs of more than the driver may hold are listed side by side: few may have many.
2. A copy of a removed document goes with it, a copy of a kept one has that as its witness.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from nearsame.answers.stats import Component
from nearsame.dataclass import dataclass
from nearsame.engines.space import num_bytes
from nearsame.flow.corpus import Question, State
from nearsame.frames.one_task import DECISIONS, NumberedQuestion, here, in_one_task, told
from nearsame.frames.rounds import ENTRY_BYTES, Cluster

__all__ = ["Decision", "answered", "inherited"]


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided of the leaders, or which of them are similar; and what follows from it for all documents.

    Attributes:
        found: a, b, num, den by number; a goes and b is its witness, or they are a pair.
        work: on the way, as far as it is counted.
        component: what there is to say of the largest.
        gone: what goes, see `inherited`; and whether each is the `same` text as its witness.
        num_gone: how many rows that are.
    """

    found: Any
    work: Mapping[str, int] = field(default_factory=dict)
    component: Component | None = None
    gone: Any = None
    num_gone: int = 0


def answered(state: State[Any], question: Question) -> Decision:
    """What is asked of the leaders."""
    corpus, meeting, verbs = state.corpus, state.meeting, state.corpus.engine
    if meeting is None or not meeting.num_documents:
        return Decision(verbs.frame(DECISIONS.empty_table()).drop("note"))
    if corpus.told is not None:
        meeting = corpus.told.with_copies(meeting)
        state = replace(state, met=replace(state.met, meeting=meeting))
    asked = NumberedQuestion(question, state.method, corpus.counts["different_against"], corpus.apart)
    size = ENTRY_BYTES * meeting.num_entries + 8 * meeting.num_items
    if size <= verbs.engine.decided_bytes:
        verbs.room["deciding"] = "driver"
        lists, entries = meeting.lists.sort("number"), meeting.entries.select("key", "number", "place")
        return _told(verbs.frame(here(asked, verbs.tables(lists), verbs.tables(entries))), verbs)
    if size <= num_bytes(verbs.engine.task_bytes) and question.kind != "pairs":
        verbs.room["deciding"] = "one task"
        return _told(in_one_task(asked, meeting.lists, meeting.entries, verbs), verbs)
    verbs.room["deciding"] = "cluster"
    cluster, component = Cluster(state, asked), None
    match question.kind:
        case "pairs":
            answers = cluster.pairs()
        case "greedy":
            answers = cluster.greedy()
        case "components":
            answers, component = cluster.components()
    answers = verbs.computed(answers)
    work = cluster.work.record()
    del work["met"]  # Spark's joins bring together what they do not count
    return Decision(answers, work, component)


def _told(answers: Any, verbs: Any) -> Decision:
    kept, (note,) = verbs.told(answers, "max(note)")  # one row has it, the one that is no answer
    work, component = told(note)
    return Decision(kept.filter("a >= 0").drop("note"), work.record(), component)


def inherited(documents: Any, answers: Any, *, within: bool) -> Any:
    """Removed documents of all kinds: row, number, digest_a, digest_b, times, witness, num, den, rest.

    `times` is how many of the copies of a row go: all of them, or (`rest` is 1) all but the first, which stays.
    """
    decided = answers.toDF("leader", "witness", "num", "den")
    known = documents.filter("size > 0").select("row", "number", "best", "side", "copies", "digest_a", "digest_b")
    leaders = documents.select("number", "side").toDF("best", "best_side")
    joined = known.join(decided, known["best"] == decided["leader"], "left")
    if not within:
        joined = joined.join(leaders, "best")
    stands = "true" if within else "best_side = 0"
    follows = joined.filter("side = 1 and witness is not null")
    copies = joined.filter(f"side = 1 and witness is null and (number <> best or copies > 1) and ({stands})")
    own = "if(number = best, copies - 1, copies)"
    names = ["row", "number", "digest_a", "digest_b"]
    return follows.selectExpr(*names, "copies as times", "witness", "num", "den", "0L as rest").union(
        copies.selectExpr(*names, f"{own} as times", "best", "1L", "1L", "cast(number = best as bigint)")
    )
