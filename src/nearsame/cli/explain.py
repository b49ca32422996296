"""`nearsame explain`: one text in, a method step by step out."""

import sys
from collections.abc import Callable
from typing import Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.cli.places import names_a_file
from nearsame.cli.recipe import built
from nearsame.errors import ConfigError
from nearsame.recipes.choices import WalkedName

__all__ = ["explain"]

_EXPLAINING = options.section(
    "Method",
    options.spec(
        "--method",
        type=options.words(WalkedName),
        default="simhash",
        help="What to walk through.",
        stands="simhash",
    ),
    options.setting("--bits", type=int, metavar="N", help="simhash: bits of a code: 32, 64, 128.", stands="64"),
    recipeoptions.weights("one", "tf"),
    recipeoptions.FEATURE_HASH,
    options.setting(
        "--hashes",
        "table",
        metavar="FILE",
        reads=True,
        help="simhash: JSON, a hash for each feature; then any number of bits is allowed.",
        stands="none",
    ),
    recipeoptions.K,
    recipeoptions.ZERO_BIT,
    recipeoptions.NUM_PERM,
    recipeoptions.SKETCH,
    options.setting(
        "--threshold", metavar="NUMBER", help="minhash: similarity that the bands are chosen for.", stands="0.8"
    ),
    options.setting(
        "--recall", type=float, metavar="NUMBER", help="minhash: chance of finding a pair at it.", stands="0.99"
    ),
    options.setting("--bands", type=int, metavar="N", help="minhash: bands; needs --rows.", stands="from recall"),
    options.setting(
        "--rows", type=int, metavar="N", help="minhash: values in a band; needs --bands.", stands="from recall"
    ),
    recipeoptions.CHOICE,
    options.setting(
        "--seed", type=options.SEED, metavar="N|random", help="minhash: of hashes and permutations.", stands="0"
    ),
    options.spec(
        "--orders",
        metavar="FILE",
        reads=True,
        help="minhash: JSON, lists of shingles in ascending order, instead of permutations.",
        stands="none",
    ),
)


@click.command(cls=options.Command, short_help="Walk through a method with one text, step by step.")
@click.argument("text", cls=options.Argument, metavar="FILE|TEXT", reads=True)
@sourceoptions.page_files
@_EXPLAINING
@recipeoptions.text
@options.output(options.WHOLE, options.AS_JSON)
@options.running_plainly
@click.pass_context
def explain(ctx: click.Context, /, text: str, **given: Any) -> None:
    """Walk through a method with one text, step by step, as textbooks do.

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
    walk = study.explain(_read(text, given["extract"], texts_of), method=recipe, orders=orders)
    if given["as_json"]:
        console.print_json(walk.record())
    else:
        explanation.report(ReportPage(sys.stdout), walk, everything=given["everything"])


def _read(text: str, extract: str | None, texts_of: Callable[..., list[str]]) -> str:
    """What a file holds, or the text itself."""
    if _is_file(text):
        (content,) = texts_of([text], extract)
        return content
    if extract is not None:
        raise ConfigError(f"--extract {extract} does nothing to a text", hint="Name a web page, or leave it out.")
    return text


def _is_file(text: str) -> bool:
    if text == "-" or ("://" in text and " " not in text):
        return True
    return names_a_file(text)
