"""What one must know to read an answer, in sentences: whoever prints a summary or a page has them from here."""

from collections.abc import Iterator, Mapping
from typing import Any

from nearsame.answers.stats import Stats
from nearsame.files.passed_over import PassedOver
from nearsame.outputs.promises import content, dropped, shuffled
from nearsame.printable import shortened
from nearsame.shares import counted

__all__ = ["remarks"]

_SHOWN = 8
_LONGEST = 100  # characters of an id


def remarks(stats: Stats, passed_over: PassedOver) -> Iterator[str]:
    """What became of documents that are not like others, of boilerplate, of pages, and what was not read."""
    of_records = any(layer["layer"] in {"redirect", "revisit"} for layer in stats.layers)
    empty = "these go only as redirects and revisits" if of_records else "these are never duplicates"
    for count, remark in (
        (stats.empty, f"without a {content(stats, 'direction')}: {empty}"),
        (stats.bare, "without a word: only exact copies among them go"),
        (stats.repeated_ids, "with the id of another: sources and rows tell them apart"),
    ):
        if count:
            yield f"{counted(count, 'document')} {remark}."
    if stats.decisions:
        yield from _decided(stats.decisions)
    if stats.dropped_shingles:
        yield dropped(stats)
    yield from filter(None, (shuffled(stats), *(f"Note: {note}." for note in stats.notes)))
    yield from _about_pages(stats.pages, stats.recipe)
    yield from passed_over.sentences()


def _decided(said: Mapping[str, Any]) -> Iterator[str]:
    """What became of decisions, and which no longer fit.

    >>> said = {"read": 3, "apart": 1, "chosen": 0, "confirmed": 0, "unsure": 1, "both_kept": 1}
    >>> list(_decided(said | {"not_similar": 0, "overruled": 0, "lost": 1, "lost_ids": ["x"]}))[1]
    '1 decision no longer fits: ids that no document has, or several have (x): 1.'
    """
    obeyed = {"apart": "kept apart", "chosen": "chosen to stay", "confirmed": "confirmed", "unsure": "unsure"}
    some = [f"{said['read']:,} read", *(f"{said[name]:,} {what}" for name, what in obeyed.items() if said[name])]
    yield f"Decisions: {', '.join(some)}."
    lost = (shortened(id, _LONGEST) for id in said["lost_ids"])
    why = {
        "lost": f"ids that no document has, or several have ({', '.join(lost)})",
        "not_similar": "no duplicates here",
        "overruled": "the chosen one goes, or both stay",
    }
    odd = [f"{what}: {said[name]:,}" for name, what in why.items() if said[name]]
    if odd:
        total = sum(said[name] for name in why)
        yield f"{counted(total, 'decision')} no longer {'fits' if total == 1 else 'fit'}: {'; '.join(odd)}."


def _about_pages(pages: Mapping[str, Any], recipe: Mapping[str, Any]) -> Iterator[str]:
    """Lines about what was passed over, cut, or has no main content.

    >>> list(_about_pages({"passed_over": {"status 404": 3}, "cut": 0, "without_main": 0}, {}))
    ['Passed over in archives, being no documents: 3 records (status 404: 3).']
    """
    passed = pages.get("passed_over", {})
    if passed:
        total, named = sum(passed.values()), list(passed.items())[:_SHOWN]
        shown = ", ".join(f"{what}: {count:,}" for what, count in named)
        rest = len(passed) - len(named)
        more = f", and {rest} kinds more in the statistics" if rest else ""
        noun = "record" if total == 1 else "records"
        yield f"Passed over in archives, being no documents: {total:,} {noun} ({shown}{more})."
    if pages.get("cut"):
        yield f"Cut: {counted(pages['cut'], 'page')} longer than {recipe['max_document']:,} bytes (--max-document)."
    if pages.get("bounded"):
        yield f"Parsed without some of their many tags or attributes: {counted(pages['bounded'], 'page')}."
    if pages.get("without_main"):
        without = counted(pages["without_main"], "page")
        yield f"Compared by visible text, as main content is little or none of it: {without}."
    if pages.get("elsewhere"):
        yield f"Text found in metadata or in noscript only: {counted(pages['elsewhere'], 'page')}."
    if pages.get("nowhere"):
        yield f"Kept, since they show menus at most and have no text to compare: {counted(pages['nowhere'], 'page')}."
