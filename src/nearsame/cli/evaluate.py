"""`nearsame evaluate`: several methods on one corpus, against the exact answer or a truth file."""

import sys
from typing import Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.cli.outcome import ended
from nearsame.errors import ConfigError
from nearsame.printable import lacks_bars, printable
from nearsame.recipes.choices import JudgedBy
from nearsame.shares import counted

__all__ = ["evaluate"]

_OF_METHODS = (  # and not of pairs to be judged
    "methods", "truth", "least_label", "near", "measure", "vector_column", "as_json", "report",
)  # fmt: skip
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
        help="Judged pairs: lines of id1, id2 and an optional label, separated by tabs.",
        stands="the exact answer",
    ),
    options.spec("--least-label", type=float, default=1.0, metavar="N", help="Least label of a true pair.", stands="1"),
    options.spec(
        "--near", default="0.9", metavar="NUMBER", help="Least similarity in the closing table.", stands="0.9"
    ),
    options.spec(
        "--measure",
        type=options.words(JudgedBy),
        help="Measure of that similarity; if given, simhash (or hyperplane, by cosine) is held against it, too.",
        stands="jaccard",
    ),
    options.spec(
        "--sample",
        type=int,
        metavar="N",
        help="Compare a sample of at most N documents, always the same one.",
        stands="all",
    ),
    options.spec(
        "--to-label",
        type=int,
        metavar="N",
        help="Evaluate nothing, but draw N pairs for you to judge; -o is the .tsv file that --truth then reads.",
        stands="none",
    ),
    sourceoptions.TEXT_COLUMN,
    sourceoptions.ID_COLUMN,
    sourceoptions.url_column("Column of URLs, for boilerplate of hosts."),
    sourceoptions.VECTOR_COLUMN,
)


@click.command(cls=options.Command, short_help="Run several methods on a corpus; show what each finds, and costs.")
@sourceoptions.SOURCES
@sourceoptions.page_settings
@_EVALUATING
@recipeoptions.text
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="FILE",
        writes=options.FILE,
        help="A .md, .json or .html file; .tsv of pairs to label.",
        stands="none",
    ),
    options.spec(
        "--report",
        metavar="FILE",
        writes=options.FILE,
        help="A page with curves and tables, .html; or .json.",
        stands="none",
    ),
    options.overwriting("FILE"),
    options.in_json("All of it", "tables"),
)
@options.running
@click.pass_context
def evaluate(ctx: click.Context, /, **given: Any) -> int:
    """Run several methods on one corpus, and hold their answers against the right one.

    SOURCE is as in `nearsame dedup`. Shown are pairs, precision, recall, F1, the adjusted Rand index of the clusters,
    seconds, memory, candidates; pairwise comparison against the methods that lose pairs, and why they lose them.
    With --truth also the setting that the judged pairs speak for, how sure one may be of it, and the command to run.
    With -q one line: that command, or without --truth the F1 of each method. Defaults stand in brackets.
    """
    from nearsame.outputs import console, evaluations, reports
    from nearsame.studies import evaluate as study

    if given["to_label"] is not None:
        return _draw(ctx, given)
    paths = [given[name] for name in ("output", "report") if given[name] is not None]
    for path in paths:
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
    for path in paths:
        reports.write_evaluation(evaluation, path, overwrite=given["overwrite"])
    if given["as_json"]:
        console.print_json(evaluation.record())
    elif not given["quiet"]:
        report = console.Report(sys.stdout)
        text = evaluations.text(evaluation, ascii_only=lacks_bars(sys.stdout.encoding))
        click.echo(printable(text, lines=True), nl=False)
        for path in paths:
            report.written(path)
    else:
        click.echo(printable(evaluations.result_line(evaluation)))
    return ended(evaluation.unread, [], given, read=evaluation.of_documents)


def _draw(ctx: click.Context, given: dict[str, Any]) -> int:
    """Pairs for somebody to judge, and what to do with them."""
    from nearsame.outputs import console, reports
    from nearsame.studies import labelling

    path, number = given["output"], given["to_label"]
    for param in options.typed(ctx):
        if param.name in _OF_METHODS:
            raise ConfigError(f"{param.opts[0]} does nothing with --to-label", hint="Leave one of them out.")
    if path is None or not path.endswith(".tsv"):
        raise ConfigError("--to-label needs a .tsv file to write", hint="Name it with -o, as in -o pairs.tsv.")
    with console.watched(quiet=given["quiet"]) as progress:
        found = labelling.to_label(
            given["sources"], number=number, sample_size=given["sample"], progress=progress,
            **options.given_options(given, labelling.ToLabelOptions),
        )  # fmt: skip
    reports.write_to_label(found, path, overwrite=given["overwrite"])
    if not given["quiet"]:
        report, several = console.Report(sys.stdout), "s" * (found.pairs != 1)
        drawn = f"{len(found.table):,} of {found.pairs:,} pair{several} with a Jaccard similarity of {found.floor:g}"
        report.line(f"Drawn: {drawn} or more, as many of each degree as there are.")
        report.written(path)
        report.line("Label them with nearsame review and this file, or write 1 (the same) or 0 into the column label.")
        if found.unread:
            report.line(f"{counted(found.unread, 'record')} could not be read.")
        report.line("Then give it to evaluate as --truth.")
    return ended(found.unread, [], given)
