"""`nearsame evaluate`: several methods on one corpus, against the exact answer or a truth file."""

import sys
from typing import Any

import click

from nearsame.cli import options, recipeoptions
from nearsame.printable import printable

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
        help="Lines of id1, id2 and perhaps a label, with tabs.",
        stands="the exact answer",
    ),
    options.spec("--least-label", type=float, default=1.0, metavar="N", help="Least label of a true pair.", stands="1"),
    options.spec(
        "--near", default="0.9", metavar="NUMBER", help="Least similarity in the closing table.", stands="0.9"
    ),
    options.spec("--sample", type=int, metavar="N", help="At most so many documents, always the same.", stands="all"),
    options.spec("--text-column", metavar="NAME", help="Column of texts.", stands="text, content, or the only one"),
    options.spec("--id-column", metavar="NAME", help="Column of ids.", stands="id, or else file:row"),
)


@click.command(cls=options.Command, short_help="Run several methods on a corpus; show what each finds, and costs.")
@options.SOURCES
@options.page_settings
@_EVALUATING
@recipeoptions.text
@options.output(
    options.spec(
        "-o", "--output", metavar="FILE", writes=options.FILE, help="A .md, .json or .html file.", stands="none"
    ),
    options.spec("--overwrite", is_flag=True, help="Replace FILE if it exists.", stands="refuse"),
    options.spec("--json", "as_json", is_flag=True, help="All of it as JSON on standard output.", stands="tables"),
)
@options.running
@click.pass_context
def evaluate(ctx: click.Context, /, **given: Any) -> None:
    """Run several methods on one corpus, and hold their answers against the right one.

    SOURCE is as in `nearsame dedup`. Shown are pairs, precision, recall, F1, the adjusted Rand index of the clusters,
    seconds, memory, candidates; pairwise comparison against the methods that lose pairs, and why they lose them;
    and with --truth your own curve of precision and recall. Defaults stand in brackets.
    """
    from nearsame.outputs import console, evaluations, reports
    from nearsame.studies import evaluate as study

    path, shingles = given["output"], _shingles(ctx.command, given)
    if path is not None:
        reports.require_format(path)
    with console.watched(quiet=given["quiet"]) as progress:
        found = study.evaluate(
            given["sources"],
            methods=[name.strip() for name in given["methods"].split(",") if name.strip()],
            truth=given["truth"],
            sample_size=given["sample"],
            progress=progress,
            **{name: given[name] for name in ("near", "least_label", "text_column", "id_column", "threads")},
            **{name: given[name] for name in ("html_column", "extract", "max_document")},
            **shingles,
        )
    if path is not None:
        reports.write_evaluation(found, path, overwrite=given["overwrite"])
    if given["as_json"]:
        console.print_json(found.record())
    elif not given["quiet"]:
        report = console.Report(sys.stdout)
        click.echo(printable(evaluations.text(found), lines=True), nl=False)
        if path is not None:
            report.written(path)


def _shingles(command: click.Command, given: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given of how texts become shingles."""
    names = [str(option.name) for option in command.params if isinstance(option, options.Option) and option.setting]
    return {name: value for name in names if (value := given[name]) is not None}
