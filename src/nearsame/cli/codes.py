"""`nearsame codes`: documents in, what a method makes of each out."""

import sys
from typing import Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.cli.outcome import ended
from nearsame.cli.recipe import built

__all__ = ["codes"]

_METHODS = ("simhash", "minhash", "modp", "digest", "hyperplane")
_SETTINGS = {
    "num_perm", "sketch", "modulus", "floor", "bits", "weights", "frequencies", "feature_hash", "zero_bit", "table",
    "algorithm", "normalise", "seed",
}  # fmt: skip


def _is_about_one(option: options.Spec) -> bool:
    names = {name.lstrip("-").replace("-", "_") for name in option[0]}
    return not names.isdisjoint(_SETTINGS)


@click.command(cls=options.Command, short_help="Write the code or sketch of each document.")
@sourceoptions.SOURCES
@options.section(
    "Sources",
    sourceoptions.TEXT_COLUMN,
    sourceoptions.ID_COLUMN,
    sourceoptions.FEATURES_COLUMN,
    sourceoptions.VECTOR_COLUMN,
    *sourceoptions.PAGES,
    options.spec("--encoding", metavar="NAME", help="Of text files, as in latin-1, or auto.", stands="UTF-8"),
    options.spec("--max-record", metavar="SIZE", help="Longer records have no line.", stands="64MB"),
    sourceoptions.STRICT,
)
@options.section(
    "Method",
    options.spec(
        "--method",
        type=click.Choice(_METHODS),
        default="simhash",
        metavar="NAME",
        help="simhash: codes; minhash: signatures; modp: fingerprints; digest; hyperplane: codes of vectors.",
        stands="simhash",
    ),
    *filter(_is_about_one, recipeoptions.SETTINGS),
)
@recipeoptions.text
@options.output(
    options.spec("-o", "--output", metavar="FILE", writes=options.FILE, required=True, help="A .parquet file."),
    options.overwriting("FILE"),
    options.in_json("Counts"),
)
@options.section("Running", options.MEMORY)
@options.running
@click.pass_context
def codes(ctx: click.Context, /, **given: Any) -> int:
    """Write what a method makes of each document: its code, signature, fingerprint or digest.

    SOURCE is as in `nearsame dedup`. FILE has the columns id, source, row, and code (signature, fingerprint, digest);
    what has none is null. `nearsame pairs FILE --codes-column code` finds those that are near. Defaults stand in
    brackets.
    """
    recipe = built(ctx.command, given)
    from nearsame.outputs import console
    from nearsame.studies.codes import CodesOptions
    from nearsame.studies.codes import codes as write

    chosen = {name: value for name, value in options.given_options(given, CodesOptions).items() if value is not None}
    with console.watched(quiet=given["quiet"]) as progress:
        made = write(given["sources"], given["output"], method=recipe, progress=progress, **chosen)
    if given["as_json"]:
        counts = {"documents": made.documents, "codes": made.codes, "skipped": len(made.skipped)}
        console.print_json({**counts, "recipe": made.recipe})
    elif not given["quiet"]:
        report = console.Report(sys.stdout)
        several = "s" * (made.documents != 1)
        report.line(f"{made.documents:,} document{several}, {made.documents - made.codes:,} of them without one")
        for sentence in made.passed_over.sentences():
            report.line(sentence)
        report.skipped(made.skipped)
        report.written(given["output"])
    return ended(len(made.skipped), made.skipped, given, read=made.documents)
