"""Options of the commands about URLs, once: their recipe, and where the content of pages comes from."""

from typing import TYPE_CHECKING, Any

import click

from nearsame.cli import options
from nearsame.cli.options import Option, spec
from nearsame.errors import ConfigError
from nearsame.recipes.choices import Degree, Extract, IdnForm

if TYPE_CHECKING:
    from nearsame.recipes.urls import CanonicalUrl

__all__ = ["DEDUP", "canonical", "canonical_paths", "content", "for_comparing", "given_names", "recipe_of", "refuse"]


def _rule(name: str, description: str, stands: str = "on") -> tuple[tuple[str, ...], dict[str, Any]]:
    dashed = name.replace("_", "-")
    return spec(f"--{dashed}/--no-{dashed}", name, default=None, help=description, stands=stands)


_HOSTS = (
    _rule("scheme", "http is https, at the default port."),
    _rule("www", "www.a.b is a.b: merges two hosts.", stands="off"),
)
_PATHS = (
    _rule("root_dot", "Drop the dot after a host."),
    _rule("ports", "Drop default ports."),
    spec("--idn", type=options.words(IdnForm), help="How other hosts are written.", stands="ascii"),
    _rule("percent", "Decode what needs no encoding."),
    _rule("entities", "&amp; in a query is &."),
    _rule("slashes", "Several slashes are one."),
    _rule("documents", "Drop index.html and the like."),
    _rule("trailing_slash", "Drop the last slash."),
    _rule("fragments", "Drop #place."),
    _rule("states", "Drop #page=2 and the like, but not #!... and #/..."),
    _rule("sessions", "Drop session ids."),
    _rule("tracking", "Drop utm_*, gclid and the like."),
    spec("--drop", metavar="NAMES", help="Drop these parameters, too, as in ref,from*.", stands="none"),
    spec("--keep-parameters", "keep", metavar="NAMES", help="Never drop these parameters.", stands="none"),
    _rule("empty_query", "Drop ? with nothing behind it."),
    _rule("query_order", "Sort parameters by name."),
    spec("--up-to", type=options.words(Degree), help="Apply only rules that are at least this sure.", stands="guess"),
)
canonical = options.section("URLs", *_HOSTS, *_PATHS)
canonical_paths = options.section("URLs", *_PATHS)  # where http and https, with and without www., are told apart
_RECIPE = (
    "scheme", "www", "root_dot", "ports", "idn", "percent", "entities", "slashes", "documents", "trailing_slash",
    "fragments", "states", "sessions", "tracking", "drop", "keep", "empty_query", "query_order", "up_to",
)  # fmt: skip

content = options.section(
    "Sources",
    spec("--url-column", default="url", metavar="NAME", help="Column of URLs.", stands="url"),
    spec(
        "--clusters",
        metavar="DIR",
        reads=True,
        help="Near-duplicates are those that dedup wrote to DIR.",
        stands="found now",
    ),
    spec("--cluster-column", metavar="NAME", help="Or a column that is equal for them.", stands="none"),
    spec("--text-column", metavar="NAME", help="Column of texts.", stands="text, content, or the only one"),
    spec("--html-column", metavar="NAME", help="Column of web pages, in place of text.", stands="none"),
    spec(
        "--extract",
        type=options.words(Extract),
        metavar="KIND",
        help="Of web pages, as in dedup.",
        stands="main",
    ),
    spec("--max-document", metavar="SIZE", help="Read this much of a web page.", stands="10MB"),
)
DEDUP = ("text_column", "html_column", "extract", "max_document", "threads", "memory", "workdir")
_COMPARING = (
    "--text-column", "--html-column", "--extract", "--max-document", "--memory", "--workdir", "--threads",
    "--partitions", "--broadcast", "--on-driver",
)  # fmt: skip


def recipe_of(given: dict[str, Any]) -> "CanonicalUrl | None":
    """The recipe that was asked for; None where nothing was."""
    from nearsame.recipes.urls import CanonicalUrl

    asked = {name: given[name] for name in _RECIPE if given.get(name) is not None}
    return CanonicalUrl(**asked) if asked else None


def given_names(ctx: click.Context, section: str) -> list[str]:
    """The options of a section that were typed, as they are spelt."""
    typed = (param for param in options.typed(ctx) if isinstance(param, Option))
    return [param.opts[0] for param in typed if param.section == section]


def for_comparing(ctx: click.Context) -> list[str]:
    """The options that were typed and are about comparing texts."""
    places = [
        name for section in ("Sources", "Running", "Engine") for name in given_names(ctx, section) if name in _COMPARING
    ]
    return [*places, *given_names(ctx, "Method"), *given_names(ctx, "Text")]


def refuse(names: list[str], why: str, hint: str) -> None:
    """Raise a ConfigError where options were typed that do nothing."""
    if names:
        raise ConfigError(f"{names[0]} {why}", hint=hint)
