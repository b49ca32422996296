"""Settings of recipes as keywords of calls that make a recipe of them: `plan`, `evaluate`.

1. What a setting means, and what it may be, its recipe says: here are only names and types, for type checkers and
   editors. A test holds them to the recipes.
2. One that is left out, or None, is left to the recipe.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypedDict

from nearsame.recipes.choices import BandRows, ShingleUnit, SketchKind, VerifiedBy

__all__ = ["MinHashSettings", "ShingleSettings", "given_settings"]


class ShingleSettings(TypedDict, total=False):
    """Settings of `Shingled`: how texts become sets of shingles."""

    keep_case: bool
    keep_punctuation: bool
    stop_words: str | Iterable[str]
    nfkc: bool
    strip_accents: bool
    shingle_size: int
    unit: ShingleUnit
    whitespace: bool | None
    overlapping: bool
    repeats: bool
    seed: int | Literal["random"]
    drop_boilerplate: int | None
    boilerplate_per_host: float | str | Fraction | Decimal | None


class MinHashSettings(ShingleSettings, total=False):
    """Settings of `MinHash`: also the threshold, the sketch, its bands, and what verifies candidates."""

    threshold: float | str | Fraction | Decimal
    recall: float
    num_perm: int
    sketch: SketchKind
    bands: int | None
    rows: int | None
    choice: BandRows
    verify: VerifiedBy


def given_settings(options: Mapping[str, object], settings: type[ShingleSettings]) -> dict[str, Any]:
    """The settings among the options of a call, without those that were left out.

    Example:
        >>> given_settings({"unit": "chars", "repeats": None, "text_column": "body"}, ShingleSettings)
        {'unit': 'chars'}
    """
    return {name: options[name] for name in settings.__annotations__ if options.get(name) is not None}
