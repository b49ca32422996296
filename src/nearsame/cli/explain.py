"""`nearsame explain`: one text in, or two, a method step by step out."""

import sys
from collections.abc import Callable
from typing import Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.cli.places import names_a_file
from nearsame.cli.recipe import built
from nearsame.errors import ConfigError

__all__ = ["explain"]

_EXPLAINING = options.section(
    "Method",
    recipeoptions.chosen("simhash"),
    *recipeoptions.SETTINGS,
    options.spec(
        "--orders",
        metavar="FILE",
        reads=True,
        help="minhash: JSON, lists of shingles in ascending order, instead of permutations.",
        stands="none",
    ),
    options.spec(
        "--numbers",
        is_flag=True,
        help="The text lists numbers: a vector, or hashes that are taken as they are.",
        stands="hyperplane yes, else no",
    ),
)


@click.command(cls=options.Command, short_help="Walk through a method with one text or two, step by step.")
@click.argument("text", cls=options.Argument, metavar="FILE|TEXT", reads=True)
@click.argument("other", cls=options.Argument, required=False, metavar="[FILE|TEXT]", reads=True)
@sourceoptions.page_files
@_EXPLAINING
@recipeoptions.text
@options.output(options.WHOLE, options.AS_JSON)
@options.running_plainly
@click.pass_context
def explain(ctx: click.Context, /, text: str, other: str | None, **given: Any) -> None:
    """Walk through a method with one text, step by step, as textbooks do; with two, side by side, and compare them.

    FILE is read as a text as a whole (of a web page, what is extracted), if it exists or is a URL; anything else is
    the TEXT itself; - is standard input. Defaults stand in brackets.
    """
    from nearsame.flow.page_reading import texts_of
    from nearsame.outputs import console, explanation
    from nearsame.outputs.report_page import ReportPage
    from nearsame.sources.whole import read_json
    from nearsame.studies import explain as study

    orders = read_json(given["orders"], "a list of lists of texts") if given["orders"] else None
    recipe = built(ctx.command, given)
    sides: list[Any] = _read([text] if other is None else [text, other], given["extract"], texts_of)
    if given["numbers"] or recipe.of_vectors:
        sides = list(map(_numbers, sides))
    walk = study.explain(*sides, method=recipe, orders=orders)
    if given["as_json"]:
        console.print_json(walk.record())
    else:
        explanation.report(ReportPage(sys.stdout), walk, everything=given["everything"])


def _read(texts: list[str], extract: str | None, texts_of: Callable[..., list[str]]) -> list[str]:
    """What files hold, or the texts themselves."""
    if texts.count("-") > 1:
        raise ConfigError("- is given twice, and standard input can be read once", hint="Name a file for one of them.")
    files = [text for text in texts if _is_file(text)]
    if extract is not None and not files:
        raise ConfigError(f"--extract {extract} does nothing to a text", hint="Name a web page, or leave it out.")
    contents = dict(zip(files, texts_of(files, extract), strict=True)) if files else {}
    return [contents.get(text, text) for text in texts]


def _is_file(text: str) -> bool:
    if text == "-" or ("://" in text and " " not in text):
        return True
    return names_a_file(text)


def _numbers(text: str) -> list[float]:
    """Numbers with spaces or commas between them, in brackets or not."""
    numbers = []
    for word in text.strip().strip("[]").replace(",", " ").split():
        try:
            numbers.append(int(word) if word.lstrip("+-").isdecimal() else float(word))
        except ValueError:
            raise ConfigError(f"{word!r} is not a number", hint="Write numbers with spaces between them.") from None
    return numbers
