"""Options of the commands about an index, once: its methods, what it stores, where documents come from."""

from typing import TYPE_CHECKING, Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.cli.options import SEED, setting, spec
from nearsame.cli.recipe import built
from nearsame.errors import ConfigError
from nearsame.recipes.choices import IndexMethodName, StoreKind

if TYPE_CHECKING:
    from nearsame.recipes.methods import Method

__all__ = ["COLUMNS", "MATCHES", "NEW", "WAIT", "WHERE", "columns", "given_columns", "method", "methods_of"]

WHERE = click.argument("where", cls=options.Argument, metavar="INDEX", reads=True)
NEW = click.argument("where", cls=options.Argument, metavar="INDEX", writes=options.APART)
WAIT = spec(
    "--wait", type=float, default=30.0, metavar="SECONDS", help="Wait this long for another writer.", stands="30"
)
MATCHES = spec("--limit", type=int, default=10, metavar="N", help="Matches of a document, at most.", stands="10")
COLUMNS = (
    "text_column", "id_column", "url_column", "features_column", "html_column", "extract", "max_document", "strict",
)  # fmt: skip

columns = options.section(
    "Sources",
    sourceoptions.TEXT_COLUMN,
    sourceoptions.ID_COLUMN,
    sourceoptions.url_column("Column of URLs."),
    sourceoptions.FEATURES_COLUMN,
    *sourceoptions.PAGES,
    sourceoptions.STRICT,
)
_PLAIN: "dict[str, IndexMethodName]" = {"digest": "digest", "url": "url"}

method = options.section(
    "Method",
    spec(
        "--method",
        type=click.Choice(("minhash", "simhash", "digest")),
        default="minhash",
        metavar="NAME",
        help="minhash: similar sets of shingles; simhash: codes within k bits; digest: equal texts.",
        stands="minhash",
    ),
    spec(
        "--also",
        default="digest",
        metavar="LIST",
        help="Further methods with settings, as in simhash:k=6,digest,url; digest: raw and normalised texts; url:"
        " canonical URLs; none.",
        stands="digest",
    ),
    spec(
        "--store",
        type=options.words(StoreKind),
        default="shingles",
        help="What is kept of a text: shingles, to verify exactly; sketch, to estimate in a quarter of the space;"
        " text, to show passages, too.",
        stands="shingles",
    ),
    recipeoptions.threshold("0.8"),
    setting("--recall", type=float, metavar="NUMBER", help="minhash: chance of finding such a pair.", stands="0.99"),
    recipeoptions.NUM_PERM,
    recipeoptions.SKETCH,
    setting("--bands", type=int, metavar="N", help="minhash: how many bands.", stands="from recall"),
    setting("--rows", type=int, metavar="N", help="minhash: values in a band.", stands="from recall"),
    recipeoptions.CHOICE,
    recipeoptions.K,
    setting("--bits", type=int, metavar="N", help="simhash: bits of a code: 32, 64, 128.", stands="64"),
    recipeoptions.weights("simhash", "one", "tf"),
    setting(
        "--confirm",
        type=click.Choice(("jaccard", "cosine")),
        help="simhash: a measure that confirms, at --threshold.",
        stands="none",
    ),
    recipeoptions.BLOCKS,
    recipeoptions.HEADER,
    recipeoptions.FEATURE_HASH,
    recipeoptions.ZERO_BIT,
    recipeoptions.digest("crc32", "bytesum"),
    recipeoptions.NORMALISE,
    setting("--seed", type=SEED, metavar="N|random", help="Of the feature hash.", stands="0"),
)


def given_columns(given: dict[str, Any]) -> dict[str, Any]:
    """What says where the parts of a document stand."""
    return {name: given[name] for name in COLUMNS}


def methods_of(command: click.Command, given: dict[str, Any]) -> "list[Method | IndexMethodName]":
    """The methods that an index is to have."""
    names = [name.strip() for name in given["also"].split(",") if name.strip()]
    if "none" in names and len(names) > 1:
        raise ConfigError(
            f"--also {given['also']}: none cannot be combined with others", hint="Leave none out, or the others."
        )
    main = built(command, given)
    also = [_further(name) for name in names if name != "none"]
    if main.name == "digest":  # given as the method, it is not given again by default
        also = [other for other in also if other != "digest"]
    return [main, *also]


def _further(text: str) -> "Method | IndexMethodName":
    if text in _PLAIN:
        return _PLAIN[text]
    from nearsame.studies.contenders import contenders

    name = text.split(":", 1)[0]
    recipe = contenders([text], {})[0].recipe if name in ("minhash", "simhash", "digest") else None
    if recipe is None:
        raise ConfigError(f"--also {text}: an index has no such method", hint="Choose minhash, simhash, digest or url.")
    return recipe
