"""`nearsame mirrors`: pages in; which sites mirror which, what to keep, and where each URL leads, out."""

import sys
from typing import Any

import click

from nearsame.cli import engine, options, recipeoptions, sourceoptions, weboptions
from nearsame.cli.outcome import ended
from nearsame.cli.recipe import built
from nearsame.errors import ConfigError
from nearsame.recipes.choices import TableFormat

__all__ = ["mirrors"]


_MIRRORS = options.section(
    "Mirrors",
    options.spec(
        "--prefer",
        default="most-complete",
        metavar="POLICY",
        help="What to keep: most-complete, fastest:COLUMN, freshest:COLUMN or named:HOST,HOST.",
        stands="most-complete",
    ),
    options.spec(
        "--min-common", type=int, metavar="N", help="Least number of paths that two must agree on.", stands="5"
    ),
    options.spec("--min-agreement", type=float, metavar="SHARE", help="Least share of the common paths.", stands="0.8"),
    options.spec(
        "--min-share", type=float, metavar="SHARE", help="Least share of the pages of one of them.", stands="0.5"
    ),
    options.spec("--most", type=int, metavar="N", help="Compare all pages of a bucket of up to N.", stands="50"),
    options.spec(
        "--alternatives", type=int, default=10, metavar="N", help="List at most N URLs to try of a page.", stands="10"
    ),
)
_THRESHOLDS = ("min_common", "min_agreement", "min_share", "most")


@click.command(cls=options.Command, short_help="Find sites that serve the same pages, and what to keep of them.")
@sourceoptions.SOURCES
@weboptions.content
@weboptions.canonical_paths
@_MIRRORS
@recipeoptions.method
@recipeoptions.text
@options.output(
    options.spec("-o", "--output", metavar="DIR", writes=options.FOLDER, help="The folder to write.", stands="none"),
    options.spec(
        "--report", metavar="FILE", writes=options.FILE, help="A page of the mirrors, .html; or .json.", stands="none"
    ),
    options.overwriting("DIR"),
    options.spec(
        "--tables",
        type=options.words(TableFormat),
        default="parquet",
        help="Format of the tables in DIR.",
        stands="parquet",
    ),
    options.spec("--json", "as_json", is_flag=True, help="Counts and mirrors as JSON.", stands="a table"),
)
@options.room
@options.engine
@options.running
@click.pass_context
def mirrors(ctx: click.Context, /, **given: Any) -> int:
    """Find sites, and parts of sites, that serve the same paths with the same or nearly the same content.

    SOURCE is as in `nearsame dedup`, with a column of URLs. Texts are compared as `nearsame dedup` does (the options
    under Method and Text), or --clusters or --cluster-column say which pages are alike. Found are prefixes such as
    a.example/docs and b.example/manual/en, how many paths they have in common, and how far they agree each way.

    DIR gets mirrors, map (url, canonical_url and reason: for jobs on links), alternatives (which URLs to try if one
    fails) and stats.json. Defaults stand in brackets.
    """
    _check(ctx, given)
    from nearsame.outputs import console
    from nearsame.outputs.mirrors import show_mirrors
    from nearsame.web.mirrors import mirrors as find
    from nearsame.web.prefixes import MirrorThresholds

    directory = given["output"]
    thresholds = MirrorThresholds(**{name: given[name] for name in _THRESHOLDS if given[name] is not None})
    settings: dict[str, Any] = {}
    if given["clusters"] is None and given["cluster_column"] is None:
        settings = {name: given[name] for name in weboptions.DEDUP}
        settings["method"] = built(ctx.command, dict(given))
    with engine.running_on({**given, "output": None}) as place, console.watched(quiet=given["quiet"]) as progress:
        if settings:
            settings["progress"] = progress
        mirrored_sites = find(
            given["sources"],
            thresholds=thresholds,
            recipe=weboptions.recipe_of(given),
            engine=place.get("engine"),
            **{name: given[name] for name in ("prefer", "alternatives", "url_column", "cluster_column", "clusters")},
            **settings,
        )
        if directory is not None:
            mirrored_sites.write(directory, tables=given["tables"], overwrite=given["overwrite"])
    if given["report"] is not None:
        mirrored_sites.report(given["report"], overwrite=given["overwrite"])
    if given["as_json"]:
        console.print_json(mirrored_sites.record())
    elif not given["quiet"]:
        report = console.Report(sys.stdout)
        show_mirrors(report, mirrored_sites.record(), mirrored_sites.skipped)
        if directory is not None:
            report.written(directory, folder=True)
    return ended(mirrored_sites.stats.unread, mirrored_sites.skipped, given)


def _check(ctx: click.Context, given: dict[str, Any]) -> None:
    engine.check(given, anywhere=("up_to",))
    if given["report"] is not None:
        from nearsame.outputs.reports import require_report

        require_report(given["report"])
    if given["output"] is None:
        typed = {*weboptions.given_names(ctx, "Output"), *weboptions.given_names(ctx, "Mirrors")}
        for name in ("--overwrite", "--tables", "--alternatives"):
            if name in typed and not (name == "--overwrite" and given["report"]):
                raise ConfigError(f"{name} does nothing without -o", hint="Add -o DIR, or leave it out.")
    if given["clusters"] is not None or given["cluster_column"] is not None:
        hint = "Leave it out, or the clusters."
        weboptions.refuse(weboptions.for_comparing(ctx), "does nothing where clusters are given", hint)
