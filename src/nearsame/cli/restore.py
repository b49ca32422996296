"""`nearsame restore`: the responses back that `dedup --revisits` has made revisits of."""

import sys

import click

from nearsame.cli import options, sourceoptions

__all__ = ["restore"]


@click.command(cls=options.Command, short_help="Turn the revisits of dedup --revisits back into responses.")
@sourceoptions.SOURCES
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="DIR",
        required=True,
        writes=options.FOLDER,
        help="The folder to write; it appears complete or not at all.",
    ),
    options.in_json("Counts"),
)
@options.section("Running", options.spec("-q", "--quiet", is_flag=True, help="Print nothing.", stands="summary"))
@options.running_plainly
def restore(sources: tuple[str, ...], output: str, as_json: bool, quiet: bool) -> int:
    """Turn the revisits that `nearsame dedup --revisits` wrote back into the responses that were there before.

    SOURCE is the folder kept/ of that output, or the WARC files in it: all that were written together, since a revisit
    takes its payload from the record that it leads to. DIR gets these archives with the records that were read,
    byte for byte; each is held to its digest, and if one cannot be given back, nothing is written.
    """
    from nearsame.outputs import console
    from nearsame.studies.restore import restore as give_back

    counts = give_back(sources, output)
    if as_json:
        console.print_json(counts._asdict())
    elif not quiet:
        console.Report(sys.stdout).written(output, folder=True)
        said = f"{counts.restored:,} of {counts.records:,} records in {counts.archives:,} archives were revisits."
        sys.stdout.write(f"{said}\n")
    return 0
