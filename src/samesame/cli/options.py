"""Every option, once: its spelling, its default in words, its purpose.

1. Nothing here imports what computes: `--help` has to answer at once. Choices are literals, and a test compares them
   with the recipes.
2. An option that is not given is None: the default is the recipe's own, and the text in brackets tells it.
"""

from collections.abc import Callable
from typing import Any

import click

__all__ = [
    "AS_JSON",
    "EXTRACTS",
    "MEASURES",
    "METHODS",
    "PAGES",
    "WHOLE",
    "Command",
    "Option",
    "auditing",
    "comparing",
    "deciding",
    "engine",
    "evaluating",
    "explaining",
    "hosts",
    "method",
    "output",
    "page_files",
    "page_settings",
    "pages",
    "planning",
    "room",
    "running",
    "running_plainly",
    "section",
    "sources",
    "spec",
    "text",
]

METHODS = ("jaccard", "containment", "minhash", "modp", "simhash", "hyperplane", "digest")
MEASURES = (
    "jaccard", "containment", "containment-a", "containment-b", "cosine", "cosine-sets", "simhash", "minhash", "indel",
    "levenshtein", "clusters",
)  # fmt: skip
EXTRACTS = ("main", "text", "none", "trafilatura")
_WEIGHTS = ("one", "tf", "tfidf")
_HASHES = ("xxh3", "md5", "sha1", "fnv1a", "murmur3")
_DIGESTS = ("sha256", "sha512", "sha3_256", "blake2b", "md5", "sha1", "ripemd160", "crc32", "bytesum", "xxh3_128")
_SECTIONS = (
    "Sources", "Listening", "Limits", "URLs", "Learning", "Mirrors", "Method", "Text", "Deciding", "Output",
    "Engine", "Running",
)  # fmt: skip

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Option(click.Option):
    """An option with its section of the help, its default in words, and whether it is a setting of the recipe."""

    def __init__(self, *names: Any, section: str, stands: str = "", setting: bool = False, **rest: Any) -> None:
        super().__init__(*names, **rest)
        self.section = section
        self.setting = setting
        if stands:
            self.help = f"{self.help} [{stands}]"


class Command(click.Command):
    """A command whose help groups the options by purpose."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, and --help with the last."""
        for section in _SECTIONS:
            found = [
                record
                for param in self.get_params(ctx)
                if isinstance(param, click.Option)
                and getattr(param, "section", _SECTIONS[-1]) == section
                and (record := param.get_help_record(ctx))
            ]
            if found:
                with formatter.section(section):
                    formatter.write_dl(found, col_max=28)


def _options(section: str, *specs: tuple[tuple[str, ...], dict[str, Any]]) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for names, settings in reversed(specs):
            function = click.option(*names, cls=Option, section=section, **settings)(function)
        return function

    return decorate


def spec(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """An option, for `output`."""
    return names, settings


def section(name: str, *specs: tuple[tuple[str, ...], dict[str, Any]]) -> Decorator:
    """Options of one section of the help, made by `spec`."""
    return _options(name, *specs)


def _setting(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    return names, {"setting": True, "default": None, **settings}


def _switch(*names: str, value: bool = True, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    return _setting(*names, is_flag=True, flag_value=value, type=bool, **settings)


_EXTRACT = spec(
    "--extract",
    type=click.Choice(EXTRACTS),
    metavar="KIND",
    help="Of web pages: main content, all visible text, none (the markup), or trafilatura's main content.",
    stands="main",
)
PAGES = (
    spec("--html-column", metavar="NAME", help="Column of web pages as markup, in place of text.", stands="none"),
    _EXTRACT,
    spec("--max-document", metavar="SIZE", help="Read so much of a web page; cut the rest.", stands="10MB"),
)

page_settings = _options("Sources", *PAGES)
page_files = _options("Sources", _EXTRACT)


def sources(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is read."""
    function = _options(
        "Sources",
        spec(
            "--against",
            multiple=True,
            metavar="SOURCE",
            help="Compare with these documents, too: all of them stay. Repeatable.",
            stands="none",
        ),
        spec("--text-column", metavar="NAME", help="Column of texts.", stands="text, content, or the only one"),
        spec("--id-column", metavar="NAME", help="Column of ids.", stands="id, or else file:row"),
        spec("--features-column", metavar="NAME", help="List column of ready items, in place of text.", stands="none"),
        spec("--vector-column", metavar="NAME", help="hyperplane: list column of numbers.", stands="vector"),
        *PAGES,
        spec("--strict", is_flag=True, help="Stop at the first unreadable record.", stands="skip it"),
    )(function)
    return click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")(function)


hosts = _options(
    "Sources",
    spec(
        "--url-column",
        metavar="NAME",
        help="Column of URLs: pairs of one host and of two are counted.",
        stands="url, if there is one",
    ),
)

pages = _options(
    "Sources",
    spec(
        "--url-column",
        metavar="NAME",
        help="Column of URLs: each removed document then says on what evidence, and of which host.",
        stands="url, if there is one",
    ),
    spec("--url-rules", metavar="FILE", help="Which URLs are one: rules that `urls --save` wrote.", stands="canonical"),
)

method = _options(
    "Method",
    spec(
        "--method",
        type=click.Choice(METHODS),
        default="jaccard",
        metavar="NAME",
        help="jaccard: all pairs of similar sets of shingles; containment: one in another; minhash: similar ones, by"
        " sketches; modp: the same by one hash in 25; simhash: codes within k bits; hyperplane: similar vectors;"
        " digest: identical documents.",
        stands="jaccard",
    ),
    _setting(
        "--threshold",
        metavar="NUMBER",
        help="Least similarity, above 0 and at most 1.",
        stands="0.8; hyperplane 0.9",
    ),
    _setting(
        "--recall",
        type=float,
        metavar="NUMBER",
        help="minhash, hyperplane: chance to find such a pair.",
        stands="0.99",
    ),
    _setting("--jaccard-floor", metavar="NUMBER", help="containment: least Jaccard as well.", stands="any"),
    _setting(
        "--remove",
        type=click.Choice(("contained", "container")),
        help="containment: what goes; container only with --against.",
        stands="contained",
    ),
    _setting("--num-perm", type=int, metavar="N", help="minhash: values in a signature.", stands="128"),
    _setting(
        "--sketch",
        type=click.Choice(("fast", "classic")),
        help="minhash: fast, or N permutations.",
        stands="fast",
    ),
    _setting("--bands", type=int, metavar="N", help="minhash, hyperplane: how many bands.", stands="from recall"),
    _setting("--rows", type=int, metavar="N", help="And values (or bits) in a band.", stands="from recall"),
    _setting(
        "--choice",
        type=click.Choice(("consecutive", "random")),
        help="minhash: values of a band.",
        stands="consecutive",
    ),
    _setting(
        "--verify",
        type=click.Choice(("exact", "estimate")),
        help="minhash: by sets, or signatures alone.",
        stands="exact",
    ),
    _setting("--modulus", type=int, metavar="N", help="modp: one hash in so many is kept.", stands="25"),
    _setting("--floor", type=int, metavar="N", help="modp: fewest hashes of a document.", stands="32"),
    _setting("--k", type=int, metavar="N", help="simhash: bits in which codes may differ.", stands="3"),
    _setting(
        "--bits",
        type=int,
        metavar="N",
        help="Of a code: simhash 32, 64, 128; hyperplane 64 to 512.",
        stands="64; hyperplane 512",
    ),
    _setting("--weights", type=click.Choice(_WEIGHTS), help="simhash: what a feature counts.", stands="one"),
    _setting(
        "--frequencies",
        metavar="FILE",
        help="simhash: of documents, from an earlier tfidf run.",
        stands="counted",
    ),
    _setting(
        "--confirm",
        type=click.Choice(("jaccard", "cosine", "edit")),
        help="simhash: a measure that confirms pairs, at --threshold.",
        stands="none",
    ),
    _setting(
        "--search",
        type=click.Choice(("blocks", "rotations", "adjacent", "brute")),
        metavar="NAME",
        help="simhash: blocks, rotations, adjacent (loses pairs) or brute.",
        stands="blocks",
    ),
    _setting("--blocks", type=int, metavar="N", help="simhash: blocks of a code.", stands="the cheapest"),
    _setting("--header", type=int, metavar="N", help="simhash: blocks of a header.", stands="the cheapest"),
    _setting(
        "--feature-hash",
        type=click.Choice(_HASHES),
        metavar="NAME",
        help=f"simhash: {', '.join(_HASHES)}.",
        stands="xxh3",
    ),
    _setting("--zero-bit", type=int, metavar="0|1", help="simhash: the bit of a sum of zero.", stands="0"),
    _setting("--hashes", "table", metavar="FILE", help="simhash: JSON, a hash for each feature.", stands="none"),
    _setting(
        "--digest",
        "algorithm",
        type=click.Choice(_DIGESTS),
        metavar="NAME",
        help=f"digest: {', '.join(_DIGESTS)}.",
        stands="sha256",
    ),
    _switch("--normalise", help="digest: compare tokens.", stands="raw text"),
    _setting("--drop-boilerplate", type=int, metavar="N", help="Drop what is in more than N documents.", stands="none"),
    _setting("--seed", type=int, metavar="N", help="Of the feature hash, or the hyperplanes.", stands="0"),
)

text = _options(
    "Text",
    _setting(
        "--shingle-size", type=int, metavar="N", help="Words (or characters) in a shingle.", stands="5; simhash 1"
    ),
    _setting("--unit", type=click.Choice(("words", "chars")), help="What a shingle counts.", stands="words"),
    _switch("--keep-case", help="Tell capitals from small letters.", stands="do not"),
    _switch("--keep-punctuation", help="Marks are tokens, too.", stands="are dropped"),
    _setting(
        "--stop-words",
        metavar="LANGS",
        help="Drop stop words, as in en,de.",
        stands="none",
        callback=lambda *a: _languages(a[2]),
    ),
    _switch("--nfkc", help="Unicode NFKC first.", stands="as it is"),
    _switch("--strip-accents", help="Drop combining marks: é becomes e.", stands="keep"),
    _setting("--whitespace/--no-whitespace", help="White space counts.", stands="for chars yes, words no"),
    _switch("--no-overlap", "overlapping", value=False, help="Shingles do not overlap.", stands="they do"),
    _switch("--repeats", help="The n-th copy of a shingle is another.", stands="sets"),
)

deciding = _options(
    "Deciding",
    spec(
        "--keep",
        default="first",
        metavar="POLICY",
        help="Which of two stays: first, last, longest, shortest, or newest|oldest|max|min:COLUMN.",
        stands="first",
    ),
    spec(
        "--use",
        metavar="LAYERS",
        help="Run these, cheapest first; each removes before the next looks: url, redirect, canonical, revisit,"
        " digest, text (the method). As in url,digest,text.",
        stands="text",
    ),
    spec("--no-within", is_flag=True, help="Compare with --against only.", stands="within, too"),
    spec(
        "--clusters",
        type=click.Choice(("greedy", "components")),
        default="greedy",
        metavar="KIND",
        help="components: keep one of all that chains of similar pairs join.",
        stands="greedy: what is like a kept one goes",
    ),
    spec(
        "--order-column",
        metavar="NAME",
        help="Of two that --keep leaves equal the one with the lesser value stays.",
        stands="order of reading; on Spark id, then text",
    ),
)

auditing = _options(
    "Deciding",
    spec(
        "--audit/--no-audit",
        default=None,
        help="Measure recall on a sample of the run itself.",
        stands="if the method may miss pairs",
    ),
    spec(
        "--require-recall",
        type=click.FloatRange(0, 1),
        metavar="NUMBER",
        help="Exit with 4 if the measured recall is below.",
        stands="none",
    ),
)

planning = _options(
    "Method",
    _setting("--threshold", metavar="NUMBER", help="Similarity from which on pairs are wanted.", stands="0.8"),
    _setting("--recall", type=float, metavar="NUMBER", help="Chance to find a pair at the threshold.", stands="0.99"),
    _setting("--num-perm", type=int, metavar="N", help="Values in a MinHash signature.", stands="128"),
    _setting("--bands", type=int, metavar="N", help="Bands; needs --rows.", stands="from recall"),
    _setting("--rows", type=int, metavar="N", help="Values in a band; needs --bands.", stands="from recall"),
    spec("--simhash", is_flag=True, help="Show the curve of SimHash, in the place of MinHash's.", stands="MinHash"),
    _setting("--bits", type=int, metavar="N", help="simhash: bits of a code.", stands="64"),
    _setting("--k", type=int, metavar="N", help="simhash: bits in which two codes may differ.", stands="3"),
    spec("--text-column", metavar="NAME", help="Column of texts.", stands="text, content, or the only one"),
    spec("--sample", type=int, default=10_000, metavar="N", help="Documents to look at.", stands="10000"),
)

room = _options(
    "Running",
    spec("--memory", metavar="SIZE", help="As in 4GB; what does not fit goes to files.", stands="half of what is free"),
    spec("--workdir", metavar="DIR", help="Keep finished steps there; the same command continues.", stands="none"),
)

engine = _options(
    "Engine",
    spec(
        "--engine",
        type=click.Choice(("local", "spark")),
        default="local",
        metavar="NAME",
        help="local: this machine; spark: Apache Spark, which reads SOURCE itself.",
        stands="local",
    ),
    spec("--master", metavar="URL", help="spark: where, as in local[4] or spark://host:7077.", stands="local[*]"),
    spec("--conf", multiple=True, metavar="KEY=VALUE", help="spark: a setting of its own. Repeatable.", stands="none"),
    spec(
        "--partitions", type=int, metavar="N", help="spark: parts that the documents are dealt into.", stands="as read"
    ),
    spec(
        "--broadcast",
        "broadcast_bytes",
        metavar="SIZE",
        help="spark: the most that a table takes which every worker holds.",
        stands="256MB",
    ),
    spec(
        "--on-driver",
        "driver_bytes",
        metavar="SIZE",
        help="spark: who stays is decided on the driver while keys and features take less; 0 never.",
        stands="64MB",
    ),
)

comparing = _options(
    "Method",
    spec(
        "--measure",
        type=click.Choice(MEASURES),
        default="jaccard",
        metavar="NAME",
        help=f"What decides: {', '.join(MEASURES)}.",
        stands="jaccard",
    ),
    spec("--threshold", metavar="NUMBER", help="Least similarity of near-duplicates.", stands="0.8"),
    spec(
        "--passage",
        type=int,
        metavar="N",
        help="Find every shared run of N words (or characters).",
        stands="8 words, 40 characters",
    ),
    spec(
        "--clusters",
        metavar="FILE",
        help="JSON: lists of words that count as one, for the measure clusters.",
        stands="none",
    ),
    spec(
        "--edits/--no-edits",
        default=None,
        help="Count edits, which takes long for long texts.",
        stands="up to some 158,000 characters each",
    ),
    _setting("--num-perm", type=int, metavar="N", help="Values in a MinHash signature.", stands="128"),
    _setting("--sketch", type=click.Choice(("fast", "classic")), help="The signature's kind.", stands="fast"),
    _setting("--seed", type=int, metavar="N", help="Of the feature hash.", stands="0"),
)

explaining = _options(
    "Method",
    spec(
        "--method",
        type=click.Choice(("simhash", "minhash")),
        default="simhash",
        help="What to walk through.",
        stands="simhash",
    ),
    _setting("--bits", type=int, metavar="N", help="simhash: bits of a code: 32, 64, 128.", stands="64"),
    _setting("--weights", type=click.Choice(("one", "tf")), help="simhash: what a feature counts.", stands="one"),
    _setting(
        "--feature-hash",
        type=click.Choice(("xxh3", "md5", "sha1", "fnv1a", "murmur3")),
        metavar="NAME",
        help="simhash: xxh3, md5, sha1, fnv1a or murmur3.",
        stands="xxh3",
    ),
    _setting(
        "--hashes",
        "table",
        metavar="FILE",
        help="simhash: JSON, a hash for each feature; then any number of bits will do.",
        stands="none",
    ),
    _setting("--k", type=int, metavar="N", help="simhash: bits in which similar texts may differ.", stands="3"),
    _setting("--zero-bit", type=int, metavar="0|1", help="simhash: the bit of a sum of zero.", stands="0"),
    _setting("--num-perm", type=int, metavar="N", help="minhash: values in a signature.", stands="128"),
    _setting(
        "--sketch", type=click.Choice(("fast", "classic")), help="minhash: fast, or N permutations.", stands="fast"
    ),
    _setting("--threshold", metavar="NUMBER", help="minhash: similarity that bands are for.", stands="0.8"),
    _setting("--recall", type=float, metavar="NUMBER", help="minhash: chance to find a pair at it.", stands="0.99"),
    _setting("--bands", type=int, metavar="N", help="minhash: bands; needs --rows.", stands="from recall"),
    _setting("--rows", type=int, metavar="N", help="minhash: values in a band; needs --bands.", stands="from recall"),
    _setting(
        "--choice",
        type=click.Choice(("consecutive", "random")),
        help="minhash: values that make a band.",
        stands="consecutive",
    ),
    _setting("--seed", type=int, metavar="N", help="minhash: of hashes and permutations.", stands="0"),
    spec(
        "--orders",
        metavar="FILE",
        help="minhash: JSON, lists of shingles, each from the least on, in the place of permutations.",
        stands="none",
    ),
)

WHOLE = spec("--all", "everything", is_flag=True, help="Cut nothing short.", stands="long ones are cut")
AS_JSON = spec("--json", "as_json", is_flag=True, help="All of it as JSON.", stands="for people")

_DEBUG = spec("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.", stands="one line")

evaluating = _options(
    "Method",
    spec(
        "--methods",
        default="jaccard,minhash,simhash,exact",
        metavar="LIST",
        help="Methods with settings, as in jaccard,minhash:threshold=0.7:num_perm=64; exact: five ways to equal texts.",
        stands="jaccard,minhash,simhash,exact",
    ),
    spec(
        "--truth", metavar="FILE", help="Lines of id1, id2 and perhaps a label, with tabs.", stands="the exact answer"
    ),
    spec("--least-label", type=float, default=1.0, metavar="N", help="Least label of a true pair.", stands="1"),
    spec("--near", default="0.9", metavar="NUMBER", help="Least similarity in the closing table.", stands="0.9"),
    spec("--sample", type=int, metavar="N", help="At most so many documents, always the same.", stands="all"),
    spec("--text-column", metavar="NAME", help="Column of texts.", stands="text, content, or the only one"),
    spec("--id-column", metavar="NAME", help="Column of ids.", stands="id, or else file:row"),
)

running = _options(
    "Running",
    spec("--threads", type=int, metavar="N", help="How many; the answer is the same.", stands="all processors"),
    spec("-q", "--quiet", is_flag=True, help="Say nothing but errors.", stands="progress and summary"),
    _DEBUG,
)

running_plainly = _options("Running", _DEBUG)


def output(*specs: tuple[tuple[str, ...], dict[str, Any]]) -> Decorator:
    """What is written: each command has its own, made by `spec`."""
    return _options("Output", *specs)


def _languages(value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(code for code in value.replace(" ", "").split(",") if code)
