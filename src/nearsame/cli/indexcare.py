"""`nearsame index list`, `check`, `export`, `backup`, `migrate`: an index is whole, and can be taken elsewhere."""

import sys
from collections.abc import Callable
from typing import Any

import click

from nearsame.cli import indexoptions, options
from nearsame.printable import printable, without_secrets
from nearsame.shares import counted

__all__ = ["backup", "check", "export", "list_ids", "migrate"]

_DONE, _NO, _UNREADABLE = 0, 1, 3


@click.command(cls=options.Command, short_help="Check a whole index for anything that is wrong.")
@indexoptions.WHERE
@options.output(options.AS_JSON)
@options.running_plainly
def check(where: str, *, as_json: bool) -> int:
    """Look through all of an index: whether each document is found by its keys, and each key has its documents.

    Exit code 0: all is as it must be; 1: it is not, and what is wrong is listed.
    """
    from nearsame.index.index import Index
    from nearsame.outputs import console
    from nearsame.outputs.report_page import ReportPage

    with Index.open(where, read_only=True) as opened_index:
        documents = opened_index.stats().documents
        problems = opened_index.check()
    if as_json:
        console.print_json({"documents": documents, "problems": problems})
        return _NO if problems else _DONE
    page = ReportPage(sys.stdout)
    for problem in problems:
        page.line(f"- {console.clean(problem)}")
    wrong = f"{len(problems):,} things are wrong." if len(problems) > 1 else "One thing is wrong."
    page.line(f"{documents:,} documents. {wrong if problems else 'Nothing is wrong.'}", style="bold")
    return _NO if problems else _DONE


@click.command("list", cls=options.Command, short_help="List the ids of documents.")
@indexoptions.WHERE
@options.section(
    "Deciding",
    options.spec("--after", metavar="ID", help="Only those after this document.", stands="from the first one"),
    options.spec("--limit", type=int, metavar="N", help="List at most N.", stands="all"),
)
@options.output(
    options.spec("--json", "as_json", is_flag=True, help="A line of JSON for each document.", stands="an id a line")
)
@options.running_plainly
def list_ids(where: str, *, after: str | None, limit: int | None, as_json: bool) -> None:
    """List the ids of an index, in the order in which documents were added.

    The last id of a list is the --after of the next. What cannot be shown in an id is escaped; --json has it as it is,
    also for remove --json --from.
    """
    import orjson

    from nearsame.index.index import Index

    with Index.open(where, read_only=True) as opened_index:
        for id_ in opened_index.ids(after=after, limit=limit):
            click.echo(orjson.dumps({"id": id_}) if as_json else printable(id_))


def _to_file(writes: str, condition: str) -> options.Decorator:
    """What a command has that writes an index, or what is in it, to a file."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in (
            options.running_plainly,
            options.section("Running", options.QUIET),
            options.output(options.overwriting("FILE", condition)),
            click.argument("path", cls=options.Argument, metavar="FILE", writes=writes),
            indexoptions.WHERE,
        ):
            function = decorator(function)
        return function

    return decorate


@click.command(cls=options.Command, short_help="Write all documents to a file.")
@_to_file(options.FILE, "if it exists.")
def export(where: str, path: str, *, overwrite: bool, quiet: bool) -> int:
    """Write the ids, URLs and digests of all documents, and their texts where these are stored, to a FILE.

    FILE ends in .jsonl or .parquet. Of a damaged index, what is whole is written, and what was left out is listed: exit
    code 3.
    """
    from nearsame.index.index import Index

    with Index.open(where, read_only=True) as opened_index:
        count, skipped = opened_index.export(path, overwrite=overwrite), opened_index.skipped
    if not quiet:
        click.echo(f"{counted(count, 'document')} written: {printable(str(path))}")
    for skip in skipped:
        click.echo(f"error: left out: {printable(skip.reason)}", err=True)
    return _UNREADABLE if skipped else _DONE


@click.command(cls=options.Command, short_help="Copy an index, even while it is in use.")
@_to_file(options.APART, "if it is an index.")
def backup(where: str, path: str, *, overwrite: bool, quiet: bool) -> None:
    """Copy an index in a file to another FILE, as it is at this moment, also while others read and write.

    FILE is an index like any other; it appears complete or not at all, and never in place of anything but an index. An
    index on a PostgreSQL server is copied by pg_dump: the command is shown.
    """
    from nearsame.index.index import Index

    with Index.open(where, read_only=True) as opened_index:
        opened_index.backup(path, overwrite=overwrite)
    if not quiet:
        click.echo(f"{printable(where)} is copied: {printable(str(path))}")


@click.command(cls=options.Command, short_help="Rebuild an index of another version from its stored texts.")
@indexoptions.WHERE
@options.section("Running", indexoptions.WAIT, options.QUIET)
@options.running_plainly
def migrate(where: str, *, wait: float, quiet: bool) -> None:
    """Rebuild in its place an index that another version of nearsame has made, from the texts that it stores.

    Its settings stay, and ids, URLs, texts and their order. The old one is replaced when the new one is complete;
    nobody else may use it meanwhile. One that stores no texts is refused, with what is needed to create it again.
    """
    from nearsame.index.index import Index
    from nearsame.outputs import console

    with console.watched(quiet=quiet) as progress:
        progress.begin("features")
        is_new = Index.migrate(where, timeout_seconds=wait, progress=progress)
    if not quiet:
        click.echo(f"{printable(without_secrets(where))} {'was rebuilt' if is_new else 'is of this version already'}.")
