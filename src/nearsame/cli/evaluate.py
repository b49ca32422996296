"""`nearsame evaluate`: several methods on one corpus, against the exact answer or a truth file."""

import sys
from typing import Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.printable import printable
from nearsame.recipes.choices import JudgedBy

__all__ = ["evaluate"]
_EVALUATING = options.section(
    "Method",
    options.spec(
        "--methods",
        default="jaccard,minhash,simhash,exact",
        metavar="LIST",
        help="Methods with settings, as in jaccard,minhash:threshold=0.7:num_perm=64; exact: five ways to equal texts.",
        stands="jaccard,minhash,simhash,exact",
    ),
    options.spec(
        "--truth",
        metavar="FILE",
        reads=True,
        help="Lines of id1, id2 and an optional label, separated by tabs.",
        stands="the exact answer",
    ),
    options.spec("--least-label", type=float, default=1.0, metavar="N", help="Least label of a true pair.", stands="1"),
    options.spec(
        "--near", default="0.9", metavar="NUMBER", help="Least similarity in the closing table.", stands="0.9"
    ),
    options.spec(
        "--measure",
        type=options.words(JudgedBy),
        default="jaccard",
        help="Measure of that similarity; simhash is held against it, too.",
        stands="jaccard",
    ),
    options.spec(
        "--sample",
        type=int,
        metavar="N",
        help="Compare a sample of at most N documents, always the same one.",
        stands="all",
    ),
    sourceoptions.TEXT_COLUMN,
    sourceoptions.ID_COLUMN,
)


@click.command(cls=options.Command, short_help="Run several methods on a corpus; show what each finds, and costs.")
@sourceoptions.SOURCES
@sourceoptions.page_settings
@_EVALUATING
@recipeoptions.text
@options.output(
    options.spec(
        "-o", "--output", metavar="FILE", writes=options.FILE, help="A .md, .json or .html file.", stands="none"
    ),
    options.overwriting("FILE"),
    options.in_json("All of it", "tables"),
)
@options.running
def evaluate(**given: Any) -> None:
    """Run several methods on one corpus, and hold their answers against the right one.

    SOURCE is as in `nearsame dedup`. Shown are pairs, precision, recall, F1, the adjusted Rand index of the clusters,
    seconds, memory, candidates; pairwise comparison against the methods that lose pairs, and why they lose them;
    and with --truth your own curve of precision and recall. Defaults stand in brackets.
    """
    from nearsame.outputs import console, evaluations, reports
    from nearsame.studies import evaluate as study

    path = given["output"]
    if path is not None:
        reports.require_format(path)
    with console.watched(quiet=given["quiet"]) as progress:
        evaluation = study.evaluate(
            given["sources"],
            methods=[name.strip() for name in given["methods"].split(",") if name.strip()],
            truth=given["truth"],
            sample_size=given["sample"],
            progress=progress,
            **options.given_options(given, study.EvaluateOptions),
        )
    if path is not None:
        reports.write_evaluation(evaluation, path, overwrite=given["overwrite"])
    if given["as_json"]:
        console.print_json(evaluation.record())
    elif not given["quiet"]:
        report = console.Report(sys.stdout)
        click.echo(printable(evaluations.text(evaluation), lines=True), nl=False)
        if path is not None:
            report.written(path)
