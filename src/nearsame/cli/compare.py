"""`nearsame compare`: two texts in, every measure and the shared passages out."""

import sys
from typing import TYPE_CHECKING, Any, get_args

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.cli.places import names_a_file
from nearsame.cli.recipe import built, hashes
from nearsame.errors import ConfigError
from nearsame.recipes.choices import MeasureName, SketchKind

if TYPE_CHECKING:
    from nearsame.recipes.methods import Method, SimHash

__all__ = ["compare"]

MEASURES = tuple(name.replace("_", "-") for name in get_args(MeasureName))

_DIFFERENT = 1
_COMPARING = options.section(
    "Method",
    options.spec(
        "--measure",
        type=click.Choice(MEASURES),
        default="jaccard",
        metavar="NAME",
        help=f"What decides: {', '.join(MEASURES)}.",
        stands="jaccard",
    ),
    options.spec("--threshold", metavar="NUMBER", help="Least similarity of near-duplicates.", stands="0.8"),
    options.spec(
        "--passage",
        type=int,
        metavar="N",
        help="Find every shared run of N words (or characters).",
        stands="8 words, 40 characters",
    ),
    options.spec(
        "--clusters",
        metavar="FILE",
        reads=True,
        help="JSON: lists of words that count as one, for the measure clusters.",
        stands="none",
    ),
    options.spec(
        "--edits/--no-edits",
        default=None,
        help="Count all edits, however many: slow for long texts.",
        stands="as many as can be counted fast",
    ),
    options.setting("--num-perm", type=int, metavar="N", help="Values in a MinHash signature.", stands="128"),
    options.setting("--sketch", type=options.words(SketchKind), help="The signature's kind.", stands="fast"),
    options.setting("--seed", type=options.SEED, metavar="N|random", help="Of the feature hash.", stands="0"),
    options.setting("--bits", type=int, metavar="N", help="simhash: bits of a code, 32, 64 or 128.", stands="64"),
    options.setting("--k", type=int, metavar="N", help="simhash, if it decides: bits that differ.", stands="threshold"),
    options.spec("--code-shingle-size", type=int, metavar="N", help="simhash: words in a feature.", stands="1"),
    recipeoptions.weights("simhash", "one", "tf", "tfidf"),
    recipeoptions.FREQUENCIES,
    recipeoptions.FEATURE_HASH,
    recipeoptions.ZERO_BIT,
    recipeoptions.TABLE,
)
_OF_CODES = (
    "bits", "k", "code_shingle_size", "weights", "frequencies", "feature_hash", "zero_bit", "table",
)  # fmt: skip
_FOUND = (  # where the text of a page was, by the numbers of stages/texts/page_content.py
    "",
    "No main content was found: all its visible text is compared.",
    "No text was visible: one in its metadata, or for browsers without scripts, is compared.",
    "No text was found on the page.",
)


@click.command(cls=options.Command, short_help="Compare two texts by every measure; show what they share.")
@click.argument("a", cls=options.Argument, metavar="A", reads=True)
@click.argument("b", cls=options.Argument, metavar="B", reads=True)
@sourceoptions.page_files
@_COMPARING
@recipeoptions.text
@options.output(options.WHOLE, options.AS_JSON)
@options.running_plainly
@click.pass_context
def compare(ctx: click.Context, /, a: str, b: str, **given: Any) -> int:
    """Compare two texts by every measure, and show the passages that they share.

    A and B are files or URLs of UTF-8 text, each one text as a whole (.gz, .zst, .bz2 and .xz are unpacked), or web
    pages (.html, .xhtml, .mhtml), whose text is taken out first; one of them may be - for standard input. Exit code
    0: near-duplicates at the threshold, 1: not. Defaults stand in brackets.
    """
    from nearsame.flow.whole_texts import contents_of
    from nearsame.outputs import comparison, console
    from nearsame.outputs.report_page import ReportPage
    from nearsame.sources.whole import read_json, require_different
    from nearsame.studies import compare as study

    _require_names(a, b)
    require_different(a, b)
    recipe = built(ctx.command, {**given, **dict.fromkeys(_OF_CODES), "method": "minhash"})
    codes = _codes(recipe, given)
    contents = contents_of((a, b), given["extract"])
    texts = [content.text for content in contents]
    remarks = [_FOUND[content.found] for content in contents]
    clusters = read_json(given["clusters"], "a list of lists of words") if given["clusters"] else None
    settings = {name: given[name] for name in ("threshold", "passage", "edits")}
    measure = given["measure"].replace("-", "_")
    likeness = study.compare(*texts, method=recipe, codes=codes, measure=measure, clusters=clusters, **settings)
    if given["as_json"]:
        console.print_json({"a_name": a, "b_name": b, **likeness.record(), "remarks": remarks})
    else:
        sources = comparison.Sources(_called(a), _called(b), texts[0], texts[1], remarks)
        comparison.report(ReportPage(sys.stdout), likeness, sources, everything=given["everything"])
    return 0 if likeness.similar else _DIFFERENT


def _require_names(*names: str) -> None:
    """Refuse what looks like a text, where the names of files are wanted."""
    for name in names:
        if " " in name.strip() and "://" not in name and not names_a_file(name):
            hint = "Write the texts to files; one of them may be - for standard input. In Python: compare(a, b)."
            raise ConfigError(f"{name!r} is not a file; compare takes files", hint=hint)


def _called(path: str) -> str:
    return "standard input" if path == "-" else path


def _codes(recipe: "Method", given: dict[str, Any]) -> "SimHash | None":
    """How codes are made, if anything was said of it; the text is cut as it is for sets."""
    from nearsame.recipes.counterparts import as_codes
    from nearsame.recipes.methods import SimHash

    own = {name: given[name] for name in _OF_CODES if given[name] is not None}
    if not own:
        return None
    if "table" in own:
        own["table"] = hashes(own["table"])
    size = own.pop("code_shingle_size", None)
    return SimHash(**{**as_codes(recipe).settings, **own, **({} if size is None else {"shingle_size": size})})
