"""Options that say what is read of a source, once for all commands."""

from collections.abc import Callable
from typing import Any

import click

from nearsame.cli.options import Argument, Spec, section, spec, words
from nearsame.recipes.choices import FILE_KINDS, Degree, Extract

__all__ = [
    "FEATURES_COLUMN",
    "FILES",
    "ID_COLUMN",
    "MAX_RECORD",
    "PAGES",
    "SOURCES",
    "STRICT",
    "TEXT_COLUMN",
    "hosts",
    "page_files",
    "page_settings",
    "pages",
    "sources",
    "url_column",
]

TEXT_COLUMN = spec("--text-column", metavar="NAME", help="Column of texts.", stands="text, content, or the only one")
ID_COLUMN = spec("--id-column", metavar="NAME", help="Column of ids.", stands="id, or else file:row")
VECTOR_COLUMN = spec("--vector-column", metavar="NAME", help="hyperplane: list column of numbers.", stands="vector")
FEATURES_COLUMN = spec(
    "--features-column", metavar="NAME", help="List column of ready items, in place of text.", stands="none"
)
STRICT = spec("--strict", is_flag=True, help="Stop at the first unreadable record.", stands="skip it")
FILES = (
    spec(
        "--include",
        multiple=True,
        metavar="GLOB",
        help="Of a folder, only such files: *.java. Repeatable.",
        stands="all",
    ),
    spec("--exclude", multiple=True, metavar="GLOB", help="And not these: tests/**. Repeatable.", stands="none"),
    spec(
        "--as",
        "read_as",
        multiple=True,
        metavar="KIND=GLOB",
        help=f"Read such files as {', '.join(FILE_KINDS)}, as in text=*.log. Repeatable.",
        stands="what their names say",
    ),
    spec(
        "--encoding",
        metavar="NAME",
        help="Of texts, JSON lines and CSV, as in latin-1; auto: as each looks.",
        stands="by the byte order mark, else UTF-8",
    ),
)
MAX_RECORD = spec(
    "--max-record",
    metavar="SIZE",
    help="Keep longer records as they are; compare only the others.",
    stands="64MB",
)
_EXTRACT = spec(
    "--extract",
    type=words(Extract),
    metavar="KIND",
    help="Of web pages: main content, all visible text, none (the markup), or trafilatura's main content.",
    stands="main",
)
PAGES = (
    spec("--html-column", metavar="NAME", help="Column of web pages as markup, in place of text.", stands="none"),
    _EXTRACT,
    spec("--max-document", metavar="SIZE", help="Read this much of a page; cut the rest.", stands="10MB"),
)

page_settings = section("Sources", *PAGES)
page_files = section("Sources", _EXTRACT)


def url_column(purpose: str) -> Spec:
    """Where the URLs are, and what for."""
    return spec("--url-column", metavar="NAME", help=purpose, stands="url, if there is one")


SOURCES = click.argument("sources", cls=Argument, nargs=-1, required=True, metavar="SOURCE...", reads=True)


def sources(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare SOURCE, and the options that say what is read of it and which columns hold what."""
    function = section(
        "Sources",
        spec(
            "--against",
            multiple=True,
            metavar="SOURCE",
            reads=True,
            help="Compare with these documents, too, or those of an index, seen.ns: all of them stay. Repeatable.",
            stands="none",
        ),
        *FILES,
        TEXT_COLUMN,
        ID_COLUMN,
        spec("--against-text-column", metavar="NAME", help="Of --against, if it is another.", stands="the same"),
        spec("--against-id-column", metavar="NAME", help="Of --against, if it is another.", stands="the same"),
        FEATURES_COLUMN,
        VECTOR_COLUMN,
        spec(
            "--codes-column",
            metavar="NAME",
            help="Column of codes, with --method codes, which it stands for.",
            stands="code, or the only one",
        ),
        *PAGES,
        MAX_RECORD,
        STRICT,
    )(function)
    return SOURCES(function)


hosts = section("Sources", url_column("Column of URLs: pairs of one host and of two are counted."))

pages = section(
    "Sources",
    url_column("Column of URLs: each removed document then says on what evidence, and of which host."),
    spec(
        "--url-rules",
        metavar="FILE",
        reads=True,
        help="Rules of `urls --save` that say which URLs are one.",
        stands="canonical",
    ),
    spec(
        "--up-to",
        type=words(Degree),
        help="How sure a rule must be to make URLs one.",
        stands="guess",
    ),
)
