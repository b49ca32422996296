"""Settings of recipes as keywords of calls that make a recipe of them: `plan`, `evaluate`, `simhash`.

1. What a setting means, and what it may be, its recipe says: here are only names and types, for type checkers and
   editors. A test holds them to the recipes.
2. One that is left out, or None, is left to the recipe.
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypedDict

from nearsame.recipes.base import random_seed
from nearsame.recipes.choices import BandRows, FeatureHash, ShingleUnit, SketchKind, VerifiedBy, WeightKind

__all__ = [
    "CodeSettings", "MinHashSettings", "SetSettings", "ShingleSettings", "SignatureSettings", "SketchSettings",
    "given_settings", "lasting",
]  # fmt: skip


class CutSettings(TypedDict, total=False):
    """Settings of `Shingling`: how texts are cut."""

    keep_case: bool
    keep_punctuation: bool
    stop_words: str | Iterable[str]
    nfkc: bool
    strip_accents: bool
    shingle_size: int
    unit: ShingleUnit
    whitespace: bool | None
    overlapping: bool


class CodeSettings(CutSettings, total=False):
    """Settings of `SimHash` that are about one text: its code."""

    bits: int
    weights: WeightKind
    frequencies: str | None
    feature_hash: FeatureHash
    zero_bit: Literal[0, 1]
    table: dict[str, int] | None


class SetSettings(CutSettings, total=False):
    """Settings of `Shingled` that are about one text: its set of shingles."""

    repeats: bool
    seed: int | Literal["random"]


class SignatureSettings(SetSettings, total=False):
    """Settings of `MinHash` that are about one text: its signature."""

    num_perm: int
    sketch: SketchKind


class SketchSettings(CodeSettings, SignatureSettings, total=False):
    """Settings of all plain functions together."""

    hashed: bool


class ShingleSettings(SetSettings, total=False):
    """Settings of `Shingled`: how texts become sets of shingles."""

    drop_boilerplate: int | None
    boilerplate_per_host: float | str | Fraction | Decimal | None


class MinHashSettings(ShingleSettings, SignatureSettings, total=False):
    """Settings of `MinHash`: also the threshold, the bands, and what verifies candidates."""

    threshold: float | str | Fraction | Decimal
    recall: float
    bands: int | None
    rows: int | None
    choice: BandRows
    verify: VerifiedBy


def lasting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that mean the same at every call: a seed is drawn once, and words are kept that come but once.

    Example:
        >>> lasting({"seed": 3, "stop_words": iter(["in", "the"])})
        {'seed': 3, 'stop_words': ['in', 'the']}
    """
    kept = {name: list(value) if isinstance(value, Iterator) else value for name, value in settings.items()}
    return {**kept, "seed": random_seed()} if kept.get("seed") == "random" else kept


def given_settings(options: Mapping[str, object], settings: type[CutSettings]) -> dict[str, Any]:
    """The settings among the options of a call, without those that were left out.

    Example:
        >>> given_settings({"unit": "chars", "repeats": None, "text_column": "body"}, ShingleSettings)
        {'unit': 'chars'}
    """
    return {name: options[name] for name in settings.__annotations__ if options.get(name) is not None}
