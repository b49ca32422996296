"""What stands at the head of a report: its figures, and what one must know to read them."""

from collections.abc import Iterator

import numpy as np

from nearsame.answers.reports import Figure
from nearsame.arrow import Int64s
from nearsame.outputs.console import described
from nearsame.outputs.promises import component, condition, content, in_bytes, near
from nearsame.outputs.remarks import remarks
from nearsame.shares import counted, percent
from nearsame.studies.finished import Finished
from nearsame.studies.second_reading import Facts

__all__ = ["figures", "told"]


def figures(run: Finished, keys: tuple[Int64s, Int64s], facts: Facts | None) -> Iterator[Figure]:
    """The numbers.

    Args:
        run: What is told of.
        keys: Of each pair its documents, by their keys in the sources.
        facts: What these say, where they can be read.
    """
    stats = run.stats
    judged = max(stats.documents - stats.against, 1)
    yield Figure("documents", f"{stats.documents:,}", f"{in_bytes(stats.text_bytes)} of {content(stats)}")
    if run.of == "pairs":
        yield Figure("pairs", f"{len(run.pairs):,}", condition(stats))
        yield Figure("in a pair", f"{np.unique(np.concatenate(keys)).size:,}", "documents")
        return
    yield Figure("kept", f"{stats.kept:,}", percent(stats.kept / judged, 1))
    yield Figure("removed", f"{stats.removed:,}", percent(stats.removed / judged, 1))
    yield Figure("exact copies", f"{stats.exact_copies:,}", f"the same {content(stats)}")
    yield Figure("near copies", f"{stats.near_copies:,}", near(stats))
    if stats.known_copies:
        yield Figure("known", f"{stats.known_copies:,}", "to an index that was asked")
    if stats.other_copies > stats.known_copies:
        by_word = stats.other_copies - stats.known_copies
        yield Figure("not by text", f"{by_word:,}", "by URLs and what pages say")
    yield Figure("clusters", f"{stats.clusters:,}", "of two documents or more")
    if facts is not None:
        gone = int(facts.sizes[np.isin(facts.keys, keys[0])].sum())
        share = f"{percent(gone / max(int(facts.sizes[facts.judged].sum()), 1), 1)} of what was judged"
        yield Figure("saved", in_bytes(gone), share)


def told(run: Finished) -> Iterator[str]:
    """The sentences."""
    stats = run.stats
    if not stats.documents:
        yield "No document was read."
    if stats.component:
        yield f"The {component(stats)}"
    if stats.chained:
        yield f"{counted(stats.chained, 'document')} less similar to their witness: by a chain."
    yield from remarks(stats, run.passed_over)
    if stats.skipped:
        first = described(run.skipped.slice(0, 1).to_pylist()[0]) if len(run.skipped) else ""
        yield f"{counted(stats.skipped, 'record')} could not be read; the first: {first}."
