"""`nearsame apply`: the copies that a mask of `dedup --mask` stands for."""

import sys

import click

from nearsame.cli import options

__all__ = ["apply"]


@click.command(cls=options.Command, short_help="Make the copies that dedup --mask has left out.")
@click.argument("mask", cls=options.Argument, metavar="MASK", reads=True)
@click.argument("sources", cls=options.Argument, nargs=-1, metavar="[SOURCE...]", reads=True)
@options.output(
    options.spec("-o", "--output", metavar="DIR", required=True, writes=options.FOLDER, help="The folder to write."),
    options.overwriting("DIR"),
    options.spec(
        "--copy", "copy_files", is_flag=True, help="Copy the text files of a folder.", stands="list them in kept.txt"
    ),
    options.spec("--drop-unreadable", is_flag=True, help="Leave unreadable records out of kept/.", stands="keep"),
    options.in_json("Statistics"),
)
@options.section("Running", options.spec("-q", "--quiet", is_flag=True, help="Print nothing.", stands="summary"))
@options.running_plainly
def apply(  # noqa: PLR0917  (click passes options by name)
    mask: str,
    sources: tuple[str, ...],
    output: str,
    overwrite: bool,
    copy_files: bool,
    drop_unreadable: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Write what stays of a run of `nearsame dedup --mask`: the folder that it would have written without --mask.

    MASK is what that run wrote, or a run on Spark about web archives. SOURCE is where its files are now, in the same
    order, if they are somewhere else. Nothing is compared or decided again. All files must have the sizes and times
    that they had (cp -p and rsync -t keep these), or nothing is written. Defaults stand in brackets.
    """
    from nearsame.outputs import console
    from nearsame.studies.apply import apply as write

    with console.watched(quiet=quiet, writes=True) as progress:
        stats = write(
            mask,
            output,
            sources or None,
            overwrite=overwrite,
            copy_files=copy_files,
            drop_unreadable=drop_unreadable,
            progress=progress,
        )
    if as_json:
        console.print_json(stats.record())
    elif not quiet:
        report = console.Report(sys.stdout)
        report.line(f"{stats.kept:,} documents stay, and {stats.removed:,} are left out.")
        report.written(output, folder=True)
    return 0
