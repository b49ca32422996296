"""`nearsame pairs`: flags in, a table of pairs out."""

import sys
from typing import Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.cli.engine import check, running_on
from nearsame.cli.outcome import asked, outcome
from nearsame.cli.recipe import built
from nearsame.cli.report import reported, require_reportable
from nearsame.errors import ConfigError
from nearsame.recipes.choices import Identical

__all__ = ["pairs"]


@click.command(cls=options.Command, short_help="List every pair of similar documents.")
@sourceoptions.sources
@sourceoptions.hosts
@recipeoptions.method
@recipeoptions.text
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="FILE",
        writes=options.FILE,
        help="A file, as in a.parquet, a.csv.gz; - for JSON lines.",
    ),
    options.overwriting("FILE"),
    options.SPREADSHEET,
    options.spec(
        "--max-pairs", type=int, default=100_000_000, metavar="N", help="Refuse if there are more.", stands="100000000"
    ),
    options.spec(
        "--identical",
        type=options.words(Identical),
        default="all",
        help="Identical documents: all their pairs, or each with the first of them.",
        stands="all",
    ),
    *options.REPORTING,
    options.in_json("Statistics"),
)
@options.ordering
@options.auditing
@options.room
@options.running
@options.engine
@click.pass_context
def pairs(ctx: click.Context, /, **given: Any) -> int:
    """List every pair of similar documents, with the similarity of each.

    SOURCE is as in `nearsame dedup`. With --against, only pairs of one document of each side are listed. FILE has
    the columns a_id, a_source, a_row, b_id, b_source, b_row, similarity and measure; with --method containment also
    the shares a_in_b and b_in_a; with modp, where these are estimates, also exact, exact_a_in_b and exact_b_in_a.
    Defaults stand in brackets.
    """
    path = given["output"]
    _check(given)
    check(given)
    from nearsame.api import pairs as find
    from nearsame.flow.options import RunOptions
    from nearsame.outputs import console, lists

    if path not in (None, "-") and given["engine"] == "local":
        lists.writer(path, spreadsheet=given["spreadsheet"])
    recipe = built(ctx.command, given)
    with running_on(given, listing=True) as engine, console.watched(quiet=given["quiet"]) as progress:
        similar_pairs = find(
            given["sources"],
            method=recipe,
            against=given["against"] or None,
            identical=given["identical"],
            max_pairs=given["max_pairs"],
            progress=progress,
            **{**options.given_options(given, RunOptions), "audit": asked(given, recipe), **engine},
        )
        if path not in (None, "-"):
            chosen = {"spreadsheet": True} if given["spreadsheet"] else {}
            similar_pairs.write(path, overwrite=given["overwrite"], **chosen)
        reports = reported(similar_pairs, given)
        stats, count = similar_pairs.stats, similar_pairs.num_pairs
    if path == "-":
        lists.json_lines(similar_pairs.table, sys.stdout.buffer)
    if given["as_json"]:
        console.print_json({**stats.record(), "pairs": count})
    elif not given["quiet"]:
        report = console.Report(sys.stderr if path == "-" else sys.stdout)
        report.pairs(stats, count, similar_pairs.skipped, similar_pairs.passed_over)
        for written in (path, *reports):
            if written not in (None, "-"):
                report.written(written)
    return outcome(similar_pairs, given)


def _check(given: dict[str, Any]) -> None:
    require_reportable(given)
    if given["output"] is None and not (given["as_json"] or given["report"]):
        raise ConfigError("no output was named", hint="Add -o pairs.parquet, or -o - to see them.")
    if given["output"] == "-" and given["as_json"]:
        raise ConfigError("--json and -o -: both want standard output", hint="Leave one out.")
    if given["output"] == "-" and given["engine"] == "spark":
        raise ConfigError("-o - and --engine spark: pairs are written by its executors", hint="Name a place for them.")
    for name in ("overwrite", "spreadsheet"):
        if given["output"] in (None, "-") and given[name] and not (name == "overwrite" and given["report"]):
            raise ConfigError(f"--{name} does nothing without -o FILE", hint="Leave it out.")
