"""`nearsame demo`: the sample corpus de-duplicated, and every decision explained by what is known of it.

1. The corpus says of each text how it came about; the run does not know.
2. Everything about similarity comes from the library: here are only words and the choice of examples.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from nearsame.cli import options
from nearsame.errors import ConfigError

if TYPE_CHECKING:
    from nearsame.outputs.console import Report

__all__ = ["KINDS", "demo"]

KINDS = {
    "original": "the first text of its kind",
    "copy": "the same text elsewhere",
    "reformatted": "other spacing, capitals, punctuation",
    "edited": "a few words changed",
    "revised": "rewritten in large part",
    "rewrite": "a wire story, cut and reworded",
    "chain": "each changes the one before a little",
    "twin": "one template, other facts: no copies",
    "short": "a few words, marks, or nothing at all",
}
_REMOVED = {"copy": "en", "reformatted": "fr", "edited": "de", "rewrite": "en", "chain": "en"}  # with their languages
_KEPT = {
    "twin": "They share a template, not their news.",
    "revised": "Too much was rewritten.",
    "chain": "Both are like the one between them, and not like each other.",
}
_PAGE = "nearsame-demo.html"
_LOWER = 0.5  # where to look for what was rightly kept

Record = dict[str, Any]


@click.command(cls=options.Command, short_help="De-duplicate a bundled sample corpus, and explain it.")
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="DIR",
        writes=options.FOLDER,
        help="A folder to write the result to.",
        stands="nothing is written",
    ),
    options.spec(
        "--corpus",
        metavar="FILE",
        writes=options.FILE,
        help="Write the corpus itself, as JSON lines, and end.",
        stands="de-duplicate it",
    ),
    options.spec(
        "--report",
        metavar="[FILE]",
        is_flag=False,
        flag_value=_PAGE,
        writes=options.FILE,
        help=f"A page of what was found, .html; or .json. Without a name: {_PAGE}.",
        stands="none",
    ),
    options.overwriting("DIR or FILE"),
)
@options.running
def demo(
    output: str | None, corpus: str | None, report: str | None, *, overwrite: bool, threads: int | None, quiet: bool
) -> None:
    """De-duplicate a bundled sample corpus, and say what was kept, what was removed, and why.

    The corpus is a few hundred made-up articles, pages and notices in fifteen languages, with exact copies, edited
    versions, rewrites, and texts that look alike and are not duplicates.
    """
    from nearsame import api
    from nearsame.demo import corpus_path
    from nearsame.outputs import console
    from nearsame.outputs.reports import require_report
    from nearsame.recipes.methods import Jaccard

    if corpus is not None:
        if output is not None or report is not None:
            message = f"--corpus writes the corpus and no {'result' if output is not None else 'report'}"
            raise ConfigError(message, hint="Leave the other one out, or run it afterwards.")
        _copy(corpus, overwrite=overwrite, quiet=quiet)
        return
    if report is not None:
        require_report(report)
    path = str(corpus_path())
    with console.watched(quiet=quiet) as progress:
        run = api.dedup(path, keep="oldest:date", audit=report is not None, threads=threads, progress=progress)
        alike = api.pairs(path, method=Jaccard(threshold=_LOWER), threads=threads, progress=progress)
        if output is not None:
            run.write(output, overwrite=overwrite, pairs=True)
        if report is not None:
            run.report(report, overwrite=overwrite)
    if quiet:
        return
    with corpus_path().open(encoding="utf-8") as lines:
        documents = {record["id"]: record for record in map(json.loads, lines)}
    said = console.Report(sys.stdout)
    _introduce(said, documents)
    said.summary(run.stats, run.skipped, run.passed_over)
    _explain(said, documents, run.removals.to_pylist(), alike.table.to_pylist())
    if output is not None:
        said.written(output, folder=True)
    if report is not None:
        said.written(report)
    else:
        said.line()
        said.line("A page to look at: nearsame demo --report")


def _copy(corpus: str, *, overwrite: bool, quiet: bool) -> None:
    """Write the corpus as it is bundled."""
    from nearsame.demo import corpus_path
    from nearsame.outputs import console
    from nearsame.outputs.folder import appearing, require_place

    with appearing(require_place(corpus, folder=False, overwrite=overwrite)) as made:
        made.write_bytes(corpus_path().read_bytes())
    if not quiet:
        console.Report(sys.stdout).written(corpus, folder=False)


def _introduce(report: "Report", documents: dict[str, Record]) -> None:
    sites, languages = (len({record[name] for record in documents.values()}) for name in ("site", "lang"))
    report.line(
        f"{len(documents)} made-up articles, pages and notices of {sites} sites in {languages} languages. Of several"
        " that are alike, the oldest stays: nearsame dedup corpus.jsonl --keep oldest:date"
    )
    report.line()


def _explain(report: "Report", documents: dict[str, Record], removals: list[Record], alike: list[Record]) -> None:
    removed = {removal["id"] for removal in removals}
    _table(report, documents, removed, title="kind", field="kind", remarks=KINDS)
    report.heading("Removed (-), and the witness that stays (+), where they first differ")
    for kind, language in _REMOVED.items():
        chosen = _removed_example(kind, language, documents, removals)
        if chosen is not None:
            report.line()
            report.pair(_named(chosen, documents), title=KINDS[kind])
    report.heading("Rightly kept, both of them")
    for kind, why in _KEPT.items():
        chosen = _kept_example(kind, documents, removed, alike)
        if chosen is not None:
            report.line()
            report.pair(_named(chosen, documents), title=why, signs="++")
    _table(report, documents, removed, title="language", field="lang", remarks={})


def _table(
    report: "Report",
    documents: dict[str, Record],
    removed: set[str],
    *,
    title: str,
    field: str,
    remarks: Mapping[str, str],
) -> None:
    """Documents, removed and kept, by the values of a field."""
    total = Counter(record[field] for record in documents.values())
    gone = Counter(documents[name][field] for name in removed)
    report.heading(f"{title:<12}{'documents':>10}{'removed':>9}{'kept':>7}")
    for value in remarks or [value for value, _ in total.most_common()]:
        counts = f"{total[value]:>10}{gone[value]:>9}{total[value] - gone[value]:>7}"
        report.line(f"{value:<12}{counts}   {remarks.get(value, '')}".rstrip())


def _removed_example(kind: str, language: str, documents: dict[str, Record], removals: list[Record]) -> Record | None:
    examples = [
        {**removal, "text": documents[removal["id"]]["text"], "witness_text": documents[removal["witness_id"]]["text"]}
        for removal in removals
        if (documents[removal["id"]]["kind"], documents[removal["id"]]["lang"]) == (kind, language)
    ]
    return min(examples, key=lambda removal: removal["similarity"], default=None)


def _kept_example(kind: str, documents: dict[str, Record], removed: set[str], alike: list[Record]) -> Record | None:
    """The most similar pair of which neither was removed, one of them of this kind."""
    examples = []
    for pair in alike:
        a, b = documents[pair["a_id"]], documents[pair["b_id"]]
        if not removed.intersection((a["id"], b["id"])) and b["lang"] == "en" and kind in (a["kind"], b["kind"]):
            texts = {"text": a["text"], "witness_text": b["text"]}
            examples.append({**pair, "id": a["id"], "witness_id": b["id"], **texts})
    return max(examples, key=lambda pair: pair["similarity"], default=None)


def _named(pair: Record, documents: dict[str, Record]) -> Record:
    """The pair, with the date and the site beside the ids."""
    names = {}
    for name in ("id", "witness_id"):
        record = documents[pair[name]]
        names[name] = f"{record['id']}  ({record['site']}, {record['date']})"
    return {**pair, **names}
