"""What all recipes have in common: validation with our own errors, a record, and how a text is cut.

1. A recipe that validates can be run; what cannot be is a ConfigError here, naming the values.
2. `recipe.record()` is what stored things carry; two recipes are the same when their records are.
"""

import os
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal, Self

from nearsame.errors import ConfigError
from nearsame.recipes.choices import COMPARED, ConfirmedBy, ReportedMeasure, ShingleUnit
from nearsame.recipes.fields import Declared, Field, rule
from nearsame.recipes.given import Codes, Confirming, Number, Seed, read, require_places
from nearsame.shares import exactly

__all__ = [
    "TOKENISER",
    "UNICODE_VERSION",
    "Recipe",
    "Shingled",
    "Shingling",
    "TextRecipe",
    "random_seed",
]

UNICODE_VERSION: Final = "16.0.0"  # of the frozen tables in kernels/unicode.npy and .npz: part of every text recipe

TOKENISER: Final = 2  # how texts are cut and hashed: raised when stored hashes mean something else


_SEED_BYTES = 16


def random_seed() -> int:
    """A seed that nobody can guess."""
    return int.from_bytes(os.urandom(_SEED_BYTES))


class Recipe(Declared):
    """What every method has: a name, validation with our own errors, and a record."""

    name: ClassVar[str]
    measure: ClassVar[ReportedMeasure]

    # What a method is, for all who would otherwise ask which one it is: a method says where it differs.
    of_vectors: ClassVar[bool] = False  # documents are vectors of numbers, not texts
    of_codes: ClassVar[bool] = False  # documents are codes of bits, not texts
    of_tokens: ClassVar[bool] = False  # texts are cut into tokens
    takes_items: ClassVar[bool] = False  # documents may come as ready features
    tells_texts: ClassVar[bool] = False  # documents of equal features are the same text to it
    by_equality: ClassVar[bool] = False  # documents of equal features are all it finds: there are no keys
    counts_items: ClassVar[bool] = False  # keys are what is rare of all, so all is counted before
    keys_of_sketches: ClassVar[bool] = False  # keys are made of sketches, not of the features themselves
    by_sketches: ClassVar[bool] = False  # what is compared, or met by, is a summary: similar texts can be lost

    def __init__(self, **settings: Any) -> None:
        is_drawn = "seed" in type(self).model_fields and settings.get("seed") == "random"
        if is_drawn:
            settings["seed"] = random_seed()
        try:
            super().__init__(**settings)
        except ValueError as error:
            message = f"{type(self).__name__}: {error}"
            raise ConfigError(message, hint="See docs/methods.md for each setting.") from None
        vars(self)["_is_drawn"] = is_drawn

    @property
    def is_drawn(self) -> bool:
        """Whether the seed was drawn for this recipe."""
        return bool(vars(self)["_is_drawn"])

    @property
    def raw_bytes(self) -> bool:
        """Whether only equal bytes matter."""
        return False

    @property
    def is_textless(self) -> bool:
        """Whether documents are something else than texts, or what is made of them."""
        return self.of_vectors or self.of_codes

    @property
    def stored_ratio(self) -> float:
        """Bytes to store for each byte of text, about: for the estimate of the disk that a run needs."""
        return 0.1

    @property
    def least(self) -> Fraction:
        """The least similarity that counts: its threshold, where a method has one."""
        return Fraction(getattr(self, "threshold", 1))

    @property
    def reports(self) -> ReportedMeasure:
        """What its similarities are called in every row."""
        return self.measure

    @property
    def condition(self) -> str:
        """What two documents are found for, in words."""
        return f"{self.measure} >= {exactly(self.least)}"

    @property
    def stricter(self) -> str | None:
        """What to do for fewer pairs, as an imperative; None where nothing can be done."""
        return "raise the threshold" if "threshold" in type(self).model_fields else None

    @property
    def similarity_parts(self) -> int | None:
        """In how many equal parts an estimate of it is counted; None where it makes none, or of any value."""
        return None

    @property
    def needs_frequencies(self) -> bool:
        """Whether features weigh by how many documents have them."""
        return False

    @property
    def weighs_items(self) -> bool:
        """Whether sets are compared by weights of their items."""
        return False

    @property
    def drops_boilerplate(self) -> bool:
        """Whether what is left without some is compared."""
        return any(getattr(self, name, None) is not None for name in ("drop_boilerplate", "boilerplate_per_host"))

    @property
    def for_texts(self) -> list[str]:
        """The settings that were made and do nothing to ready items."""
        return []

    def get(self, setting: str) -> Any:
        """The value of a setting; None where the method has none of this name.

        Raises:
            ConfigError: The name is not a string.
        """
        if not isinstance(setting, str):
            raise ConfigError(f"setting must be a string, got {setting!r}", hint="Name a setting of the method.")
        return getattr(self, setting) if setting in type(self).model_fields else None

    def require_alone(self, what: str) -> None:
        """Refuse settings that are about a whole corpus, where there is none; `what` there is stands in the message."""

    def raised(self, threshold: Number) -> Self:
        """The same recipe with another threshold."""
        if "threshold" not in type(self).model_fields:
            raise ConfigError(f"method={self.name} has no threshold", hint="Run again with another method.")
        return type(self)(**{**self.settings, "threshold": threshold})

    @property
    def settings(self) -> dict[str, Any]:
        """What was given, not left to its default: two recipes made from it are the same."""
        return self.model_dump(exclude_unset=True)

    @property
    def may_miss(self) -> bool:
        """Whether similar pairs may go unnoticed, so that recall has to be measured."""
        return False

    @property
    def can_be_audited(self) -> bool:
        """Whether it is about Jaccard or the cosine of vectors, which is what an audit computes."""
        return self.of_vectors or self.measure == "jaccard"

    @property
    def second(self) -> tuple[ConfirmedBy, Fraction] | None:
        """The measure by which pairs must be similar as well, and the least value of it."""
        return None

    @property
    def across_only(self) -> bool:
        """Whether only documents of different sides are compared, so that it takes two."""
        return False

    @property
    def has_direction(self) -> bool:
        """Whether a document may resemble another, and not the other way round."""
        return False

    def record(self) -> dict[str, Any]:
        """Everything that decides the answer, JSON-able."""
        return {"method": self.name, **self.model_dump()}


class TextRecipe(Recipe):
    """How a text becomes tokens."""

    of_vectors: ClassVar[bool] = False  # documents are vectors of numbers, not texts
    of_tokens: ClassVar[bool] = True

    keep_case: bool = Field(default=False, description="Tell capitals from small letters.")
    keep_punctuation: bool = Field(default=False, description="Each punctuation mark or symbol is a token of its own.")
    stop_words: Codes = read(
        (),
        "Language codes (ISO 639-1) whose stop words are dropped, or words themselves: `en`, or `in,the`. A word"
        " that is also a code has an equals sign in front: `=it`.",
    )
    nfkc: bool = Field(
        default=False, description="Unicode NFKC first: ligatures, full-width forms and the like become plain."
    )
    strip_accents: bool = Field(default=False, description="Drop combining marks after decomposition: é becomes e.")
    unicode: Literal["16.0.0"] = Field(default=UNICODE_VERSION, description="Version of the frozen Unicode tables.")
    tokeniser: Literal[2] = Field(default=TOKENISER, description="Version of how texts are cut and hashed.")


class Shingling(TextRecipe):
    """How tokens are cut into shingles."""

    takes_items: ClassVar[bool] = True

    shingle_size: int = Field(default=5, ge=1, le=1000, description="Consecutive tokens (or characters) in a shingle.")
    unit: ShingleUnit = Field(default="words", description="What a shingle counts.")
    whitespace: bool | None = Field(
        default=None,
        description="Whether a run of white space is a token (one space). Default: for chars yes, for words no.",
    )
    overlapping: bool = Field(
        default=True, description="Each token starts a shingle; otherwise only every size-th does."
    )

    TEXT_ONLY: ClassVar[tuple[str, ...]] = (
        "keep_case", "keep_punctuation", "stop_words", "nfkc", "strip_accents",
        "shingle_size", "unit", "whitespace", "overlapping",
    )  # fmt: skip

    @property
    def for_texts(self) -> list[str]:
        """The settings that were made and do nothing to ready items."""
        return [name for name in self.TEXT_ONLY if name in self.model_fields_set]

    @property
    def features(self) -> dict[str, Any]:
        """Of the record, what features are made by."""
        return {name: value for name, value in self.record().items() if name in Shingling.model_fields}

    @property
    def space_is_token(self) -> bool:
        """Whether white space counts, the default resolved."""
        return self.unit == "chars" if self.whitespace is None else self.whitespace


class Shingled(Shingling):
    """How shingles become a set."""

    tells_texts: ClassVar[bool] = True

    repeats: bool = Field(
        default=False, description="Count repeats: the n-th copy of a shingle is a feature of its own."
    )
    seed: Seed = read(
        0,
        "Of all hashes, below 2**128: 'exact' means over these 64-bit hashes. `random` draws a secret one,"
        " for texts by people who may try to deceive; see docs/trust.md.",
        ge=0,
    )
    drop_boilerplate: int | None = Field(
        default=None,
        ge=1,
        description="Drop the shingles that are in more than this many documents (copies and the `against` side count)"
        " before anything else: similarity is of what is left, and what has nothing left is like identical texts only."
        " A text with more copies than that loses everything: edited versions of it stay. Default: none.",
    )
    boilerplate_per_host: Confirming = read(
        None,
        "Drop from the documents of each host the shingles that stand in this share of them, and in 20 at least: menus,"
        " headers and footers of a site. Documents without a URL, and hosts of fewer than 20 documents, lose nothing."
        " A host of which such a share is copies of one text loses that text: edited versions of it stay. Default:"
        " none.",
    )
    confirm: ConfirmedBy | None = Field(
        default=None,
        description="What a similar pair must be similar by as well: its sets of shingles by another measure, or its"
        " texts, edited by insertions and deletions.",
    )
    confirm_threshold: Confirming = read(
        None, "Least similarity by that measure, above 0 and at most 1 (of a cosine nine decimal places). Default: 0.8."
    )

    @property
    def second(self) -> tuple[ConfirmedBy, Fraction] | None:
        """The measure by which pairs must be similar as well, and the least value of it."""
        return None if self.confirm is None else (self.confirm, self.confirm_threshold or Fraction(4, 5))

    @property
    def compares_letters(self) -> bool:
        """Whether texts are compared letter by letter, and not only their sets."""
        return self.confirm is not None and COMPARED[self.confirm] == "letters"

    @property
    def condition(self) -> str:
        """What two documents are found for, in words: by both measures."""
        measure, least = self.second or ("", Fraction(0))
        return f"{super().condition}, {measure} >= {exactly(least)}" if self.confirm else super().condition

    @property
    def for_texts(self) -> list[str]:
        """What compares letters does so."""
        return [*super().for_texts, *([f"confirm={self.confirm}"] if self.compares_letters else [])]

    @rule
    def _second_measure_fits(self) -> None:
        if self.confirm is None:
            if self.confirm_threshold is not None:
                raise ValueError(f"confirm_threshold={float(self.confirm_threshold)} does nothing without confirm")
            return
        if self.confirm == self.reports:
            raise ValueError(f"confirm={self.confirm} is what method {self.name} compares by: raise its threshold")
        if self.compares_letters and (self.drop_boilerplate or self.boilerplate_per_host):
            raise ValueError("confirm=edit compares whole texts, of which boilerplate is not dropped: leave one out")
        if self.confirm == "cosine" and self.confirm_threshold is not None:
            require_places("confirm_threshold", self.confirm_threshold)

    @rule
    def _boilerplate_is_of_one_kind(self) -> None:
        if self.drop_boilerplate is not None and self.boilerplate_per_host is not None:
            both = f"drop_boilerplate={self.drop_boilerplate} and boilerplate_per_host={self._share}"
            raise ValueError(f"{both} cannot be combined: choose one of them")

    @property
    def _share(self) -> str:
        return f"{float(self.boilerplate_per_host or 0):g}"

    def record(self) -> dict[str, Any]:
        """A setting that is newer than most records stands there only where it was made."""
        record = super().record()
        if self.boilerplate_per_host is None:
            del record["boilerplate_per_host"]
        if self.confirm is None:
            del record["confirm"], record["confirm_threshold"]
        return record

    def require_alone(self, what: str) -> None:
        """Refuse settings that are about a whole corpus, or the pairs of a run, where there is none."""
        if self.confirm is not None:
            message = f"confirm={self.confirm} is about the pairs of a run, and does nothing to {what}"
            raise ConfigError(message, hint="Leave it out.")
        drops = {"drop_boilerplate": self.drop_boilerplate, "boilerplate_per_host": self.boilerplate_per_host}
        for name, value in drops.items():
            if value is not None:
                shown_value = value if isinstance(value, int) else self._share
                message = f"{name}={shown_value} is about a corpus, and does nothing to {what}"
                raise ConfigError(message, hint="Leave it out.")

    @property
    def stored_ratio(self) -> float:
        """Eight bytes for each word of about six, or for each character, and some keys."""
        return 9 if self.unit == "chars" else 1.5
