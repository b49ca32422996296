"""Options that are settings of a recipe: those of `dedup` and `pairs`, all of them, and what other commands share.

1. Choices are those of recipes/choices.py, as nothing here imports what computes.
2. What a value may be is the recipe's business, and whether the chosen method has it, recipe.py's.
"""

import os
from typing import get_args

import click

from nearsame.cli.options import SEED, Spec, section, setting, spec, switch, words
from nearsame.recipes.choices import (
    DIGESTS,
    HASHES,
    BandRows,
    ConfirmedBy,
    FeatureHash,
    MethodName,
    SearchKind,
    ShingleUnit,
    SketchKind,
    VerifiedBy,
    WhatGoes,
)

__all__ = [
    "BLOCKS",
    "CHOICE",
    "FEATURE_HASH",
    "FREQUENCIES",
    "HEADER",
    "METHODS",
    "NORMALISE",
    "NUM_PERM",
    "SETTINGS",
    "SKETCH",
    "TABLE",
    "ZERO_BIT",
    "K",
    "chosen",
    "digest",
    "method",
    "text",
    "threshold",
    "weights",
]

METHODS: tuple[MethodName, ...] = get_args(MethodName)

NUM_PERM = setting("--num-perm", type=int, metavar="N", help="minhash: values in a signature.", stands="128")
SKETCH = setting(
    "--sketch",
    type=words(SketchKind),
    help="minhash: fast, or N permutations.",
    stands="fast",
)
CHOICE = setting(
    "--choice",
    type=words(BandRows),
    help="minhash: values of a band.",
    stands="consecutive",
)
K = setting("--k", type=int, metavar="N", help="simhash, codes: bits in which codes may differ.", stands="3")
BLOCKS = setting("--blocks", type=int, metavar="N", help="simhash, codes: blocks of a code.", stands="the cheapest")
HEADER = setting("--header", type=int, metavar="N", help="simhash, codes: blocks of a header.", stands="the cheapest")
FEATURE_HASH = setting(
    "--feature-hash",
    type=words(FeatureHash),
    metavar="NAME",
    help=f"simhash: {', '.join(HASHES)}.",
    stands="xxh3",
)
ZERO_BIT = setting("--zero-bit", type=int, metavar="0|1", help="simhash: the bit of a sum of zero.", stands="0")
FREQUENCIES = setting(
    "--frequencies", metavar="FILE", reads=True, help="Of documents, from an earlier tfidf run.", stands="counted"
)
TABLE = setting(
    "--hashes", "table", metavar="FILE", reads=True, help="simhash: JSON, a hash for each feature.", stands="none"
)
NORMALISE = switch("--normalise", help="digest: compare tokens.", stands="raw text")


def threshold(stands: str) -> Spec:
    """From which similarity on two documents are near-duplicates."""
    return setting("--threshold", metavar="NUMBER", help="Least similarity, above 0 and at most 1.", stands=stands)


def weights(methods: str, *choices: str) -> Spec:
    """How features of some methods count, where a command can weigh by all of these."""
    return setting("--weights", type=click.Choice(choices), help=f"{methods}: what a feature counts.", stands="one")


def digest(*without: str) -> Spec:
    """The checksum, of all but these."""
    known = [name for name in DIGESTS if name not in without]
    return setting(
        "--digest",
        "algorithm",
        type=click.Choice(known),
        metavar="NAME",
        help=f"digest: {', '.join(known)}.",
        stands="sha256",
    )


def _stop_words(value: str | None) -> tuple[str, ...] | None:
    """Languages or words with commas between them; of a file, each of its words."""
    if value is None:
        return None
    if not {".", os.sep}.isdisjoint(value):  # as no word has
        from nearsame.sources.whole import read_text

        return tuple(f"={word}" for word in read_text(value).split())
    return tuple(word for word in value.replace(" ", "").split(",") if word)


def chosen(default: MethodName) -> Spec:
    """Which method it is."""
    return spec(
        "--method",
        type=words(MethodName),
        default=default,
        metavar="NAME",
        help="jaccard: all pairs of similar sets of shingles; cosine: the same by cosine; containment: one in another;"
        " minhash: similar ones, by sketches; modp: the same by one hash in 25; simhash: codes within k bits;"
        " codes: given ones within k bits; hyperplane: similar vectors; digest: identical documents.",
        stands=default,
    )


SETTINGS: tuple[Spec, ...] = (
    threshold("0.8; hyperplane 0.9"),
    setting(
        "--recall",
        type=float,
        metavar="NUMBER",
        help="minhash, hyperplane: chance of finding a pair.",
        stands="0.99",
    ),
    setting("--jaccard-floor", metavar="NUMBER", help="containment: least Jaccard as well.", stands="any"),
    setting(
        "--remove",
        type=words(WhatGoes),
        help="containment: what goes; container only with --against.",
        stands="contained",
    ),
    NUM_PERM,
    SKETCH,
    setting("--bands", type=int, metavar="N", help="minhash, hyperplane: how many bands.", stands="from recall"),
    setting("--rows", type=int, metavar="N", help="And values (or bits) in a band.", stands="from recall"),
    CHOICE,
    setting(
        "--verify",
        type=words(VerifiedBy),
        help="minhash: by sets, or signatures alone.",
        stands="exact",
    ),
    setting("--modulus", type=int, metavar="N", help="modp: keep one hash in N.", stands="25"),
    setting("--floor", type=int, metavar="N", help="modp: fewest hashes of a document.", stands="32"),
    K,
    setting(
        "--bits",
        type=int,
        metavar="N",
        help="Of a code: simhash 32, 64, 128; codes up to 512; hyperplane 64 to 512.",
        stands="64; hyperplane 512",
    ),
    switch("--decimal", help="codes: texts of digits are decimal.", stands="hexadecimal"),
    weights("simhash, cosine", "one", "tf", "tfidf"),
    FREQUENCIES,
    setting(
        "--confirm",
        type=words(ConfirmedBy),
        help="What similar pairs must be similar by as well; edit: letter by letter.",
        stands="none",
    ),
    setting(
        "--confirm-threshold",
        metavar="NUMBER",
        help="Least similarity by that; for simhash --threshold says it.",
        stands="0.8",
    ),
    setting(
        "--search",
        type=words(SearchKind),
        metavar="NAME",
        help="simhash, codes: blocks, rotations, adjacent (loses pairs) or brute.",
        stands="blocks",
    ),
    BLOCKS,
    HEADER,
    FEATURE_HASH,
    ZERO_BIT,
    TABLE,
    digest(),
    NORMALISE,
    setting("--drop-boilerplate", type=int, metavar="N", help="Drop what is in more than N documents.", stands="none"),
    setting(
        "--boilerplate-per-host", metavar="SHARE", help="Drop what is in this share of a host's pages.", stands="none"
    ),
    setting("--seed", type=SEED, metavar="N|random", help="Of the feature hash, or the hyperplanes.", stands="0"),
)
method = section("Method", chosen("jaccard"), *SETTINGS)

text = section(
    "Text",
    setting("--shingle-size", type=int, metavar="N", help="Words (or characters) in a shingle.", stands="5; simhash 1"),
    setting("--unit", type=words(ShingleUnit), help="What a shingle counts.", stands="words"),
    switch("--keep-case", help="Tell capitals from small letters.", stands="do not"),
    switch("--keep-punctuation", help="Marks are tokens, too.", stands="are dropped"),
    setting(
        "--stop-words",
        metavar="WORDS",
        help="Drop these words (in,the), a file's (a.txt), or those of languages (en,de).",
        stands="none",
        callback=lambda *a: _stop_words(a[2]),
    ),
    switch("--nfkc", help="Unicode NFKC first.", stands="as it is"),
    switch("--strip-accents", help="Drop combining marks: é becomes e.", stands="keep"),
    setting("--whitespace/--no-whitespace", help="White space counts.", stands="for chars yes, words no"),
    switch("--no-overlap", "overlapping", value=False, help="Shingles do not overlap.", stands="they do"),
    switch("--repeats", help="The n-th copy of a shingle is another.", stands="sets"),
)
