"""The methods: each is a recipe of its own settings, validated and frozen, and nothing that computes."""

from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from nearsame.errors import ConfigError
from nearsame.recipes.base import TOKENISER, UNICODE_VERSION, Recipe, Shingled, Shingling, TextRecipe
from nearsame.recipes.choices import (
    BandRows,
    ConfirmedBy,
    DigestName,
    FeatureHash,
    SearchKind,
    SketchKind,
    VerifiedBy,
    WeightKind,
    WhatGoes,
)
from nearsame.recipes.given import Confirming, Seed, Threshold, read

__all__ = [
    "METHODS",
    "UNICODE_VERSION",
    "Containment",
    "Digest",
    "Hyperplane",
    "Jaccard",
    "Method",
    "MinHash",
    "ModP",
    "Recipe",
    "Shingled",
    "Shingling",
    "SimHash",
    "TextRecipe",
    "by_name",
]


class Jaccard(Shingled):
    """Every pair with Jaccard ≥ threshold, none missed: the default."""

    name: ClassVar[str] = "jaccard"
    measure: ClassVar[str] = "jaccard"

    threshold: Threshold = read(Fraction(4, 5), "Least Jaccard similarity, above 0 and at most 1.")


class Containment(Shingled):
    """Every document of which a share ≥ threshold is in another, none missed; larger sets stay, then `keep` decides."""

    name: ClassVar[str] = "containment"
    measure: ClassVar[str] = "containment"

    threshold: Threshold = read(
        Fraction(4, 5), "Least share of a document's shingles in another, above 0 and at most 1."
    )
    jaccard_floor: Confirming = read(
        None,
        "Least Jaccard similarity as well, below the threshold: without one, a short text that quotes a"
        " template, or is nothing else, is contained in every page made from it. Default: any.",
    )
    remove: WhatGoes = Field(
        default="contained",
        description="What goes: what is contained in others, or (with `against` only) what contains a document of that"
        " side; then similarity is the share of the witness that is inside.",
    )

    @property
    def reports(self) -> str:
        """The share of a document in its witness, or the other way round."""
        return "container" if self.remove == "container" else self.measure

    @property
    def across_only(self) -> bool:
        """Whether only documents of different sides are compared, so that it takes two."""
        return self.remove == "container"

    @property
    def has_direction(self) -> bool:
        """What is in two others makes them no more alike."""
        return True

    @model_validator(mode="after")
    def _floor_is_below(self) -> "Containment":
        if self.jaccard_floor is not None and self.jaccard_floor >= self.threshold:
            floor, least = float(self.jaccard_floor), float(self.threshold)
            raise ValueError(f"jaccard_floor={floor} is not below threshold={least}: that is method jaccard")
        return self


class MinHash(Shingled):
    """Candidates from LSH bands over a MinHash signature, each one verified."""

    name: ClassVar[str] = "minhash"
    measure: ClassVar[str] = "jaccard"

    threshold: Threshold = read(Fraction(4, 5), "Least Jaccard similarity, above 0 and at most 1.")
    recall: float = Field(
        default=0.99, gt=0, lt=1, description="Least chance that a pair at the threshold becomes a candidate."
    )
    num_perm: int = Field(default=128, ge=1, le=4096, description="Values in a signature.")
    sketch: SketchKind = Field(default="fast", description="Fast similarity sketching, or k permutations.")
    bands: int | None = Field(default=None, ge=1, description="Bands; default: chosen from recall.")
    rows: int | None = Field(default=None, ge=1, description="Values in a band; default: chosen from recall.")
    choice: BandRows = Field(
        default="consecutive",
        description="Bands cut the signature, or each draws its rows at random (the textbook's way).",
    )
    verify: VerifiedBy = Field(default="exact", description="By the sets, or by the signatures alone.")

    @property
    def reports(self) -> str:
        """An estimate says that it is one."""
        return "estimated" if self.verify == "estimate" else self.measure

    @property
    def may_miss(self) -> bool:
        """Bands may have no bucket in common."""
        return True

    @model_validator(mode="before")
    @classmethod
    def _no_recall_is_none_given(cls, settings: Any) -> Any:
        return _without_none(settings, "recall")

    def record(self) -> dict[str, Any]:
        """Given bands go by no recall: then it is null."""
        return super().record() | ({} if self.bands is None else {"recall": None})

    @model_validator(mode="after")
    def _bands_fit(self) -> "MinHash":
        if (self.bands is None) != (self.rows is None):
            raise ValueError(f"bands={self.bands} and rows={self.rows} must be given together")
        _refuse_recall(self)
        if self.bands is None or self.rows is None:
            return self
        if self.rows > self.num_perm:
            raise ValueError(f"rows={self.rows} is above num_perm={self.num_perm}")
        if self.choice == "consecutive" and self.bands * self.rows > self.num_perm:
            raise ValueError(
                f"bands={self.bands} of rows={self.rows} need {self.bands * self.rows} values, num_perm={self.num_perm}"
            )
        return self


class ModP(Shingled):
    """Every pair of fingerprints with Jaccard ≥ threshold: an estimate, from the hashes that p divides (Broder)."""

    name: ClassVar[str] = "modp"
    measure: ClassVar[str] = "jaccard"

    threshold: Threshold = read(Fraction(4, 5), "Least Jaccard similarity of two fingerprints, above 0 and at most 1.")
    modulus: int = Field(
        default=25, ge=1, lt=2**63, description="p: one hash in so many is kept. More is smaller, and less exact."
    )
    floor: int = Field(
        default=32,
        ge=0,
        le=2**20,
        description="Fewest hashes of a fingerprint, where a document has so many: the rest are its smallest others."
        " Without it 44 % of texts of 20 shingles would have none. Of the pairs found among 39,081 licence texts at"
        " 0.8, 31 % really are as similar with 8, 72 % with 16, 82 % with 32, 92 % with 64.",
    )

    @property
    def reports(self) -> str:
        """The fingerprints are compared, not the documents."""
        return "estimated"

    @property
    def may_miss(self) -> bool:
        """Fingerprints may be less alike than what they stand for."""
        return True


class Digest(TextRecipe):
    """Whole documents, by a checksum; one that can collide is confirmed by comparing the texts."""

    name: ClassVar[str] = "digest"
    measure: ClassVar[str] = "digest"

    algorithm: DigestName = Field(
        default="sha256", description="The checksum; crc32 and bytesum can collide, and are confirmed."
    )
    normalise: bool = Field(
        default=False, description="Digest the tokens (joined by single spaces) in the place of the raw text."
    )
    threshold: ClassVar[Fraction] = Fraction(1)

    @property
    def raw_bytes(self) -> bool:
        """Whether only equal bytes matter."""
        return not self.normalise

    @model_validator(mode="after")
    def _options_count(self) -> "Digest":
        given = [
            name for name in TextRecipe.model_fields if name not in ("unicode", "tokeniser") and getattr(self, name)
        ]
        if given and not self.normalise:
            raise ValueError(f"{given[0]} does nothing to raw text: it needs normalise=True")
        return self


class SimHash(Shingling):
    """Every pair of SimHash codes within k bits, then optionally confirmed by a measure of the documents themselves."""

    name: ClassVar[str] = "simhash"
    measure: ClassVar[str] = "hamming"

    shingle_size: int = Field(
        default=1, ge=1, le=1000, description="Consecutive tokens (or characters) in a feature; 1: words as they are."
    )
    bits: int = Field(default=64, ge=1, le=128, description="Length of a code: 32, 64 or 128; any with a table.")
    weights: WeightKind = Field(
        default="one",
        description="What a feature adds to the sums: 1 (so that common words do not drown the others), its frequency"
        " in the text, or that times ln((1 + N) / (1 + documents that have it)) + 1.",
    )
    frequencies: str | None = Field(
        default=None,
        description="A frequencies.parquet of an earlier tfidf run; default: counted over the documents at hand.",
    )
    feature_hash: FeatureHash = Field(
        default="xxh3",
        description="Hash of a feature's UTF-8 bytes; its low bits are used. xxh3 is by far the fastest.",
    )
    zero_bit: Literal[0, 1] = Field(default=0, description="The bit of a sum of exactly zero: the sources disagree.")
    table: dict[str, int] | None = Field(
        default=None, description="Hashes of all features by their text, in the place of a hash function."
    )
    k: int = Field(
        default=3,
        ge=0,
        le=16,
        description="Most bits in which two codes differ. 3 of 64 finds near-identical texts only; see `plan`.",
    )
    search: SearchKind = Field(
        default="blocks",
        description="Block-permuted tables; sorted rotations, whole runs of them, or only neighbours (which loses"
        " pairs, and runs on one machine only); or every code with every other. All but adjacent give one answer.",
    )
    blocks: int | None = Field(default=None, ge=1, description="Blocks a code is cut into; default: the cheapest.")
    header: int | None = Field(
        default=None, ge=1, description="Blocks in a table's header, at most blocks - k; default: the cheapest."
    )
    confirm: ConfirmedBy | None = Field(
        default=None,
        description="What a pair within k bits must also be similar by: its sets of features, its weighted features, or"
        " its texts, edited by insertions and deletions.",
    )
    threshold: Confirming = read(None, "Least similarity to confirm a pair; default 0.8.")

    @property
    def least(self) -> Fraction:
        """Of Hamming similarity 1 - d/f, or of the measure that confirms."""
        if self.confirm is None:
            return Fraction(self.bits - self.k, self.bits)
        return Fraction(4, 5) if self.threshold is None else self.threshold

    @property
    def reports(self) -> str:
        """The measure that confirms, if there is one."""
        return self.confirm or self.measure

    @property
    def for_texts(self) -> list[str]:
        """Edits are of texts."""
        return [*super().for_texts, *(["confirm=edit"] if self.confirm == "edit" else [])]

    def raised(self, threshold: Any) -> Self:
        """Unconfirmed, a threshold of Hamming similarity is another k."""
        if self.confirm is not None:
            return super().raised(threshold)
        k = (1 - Jaccard(threshold=threshold).threshold) * self.bits
        return type(self)(**{**self.settings, "k": k.numerator // k.denominator})

    @model_validator(mode="after")
    def _settings_fit(self) -> "SimHash":
        if self.table is None and self.bits not in (32, 64, 128):
            raise ValueError(f"bits={self.bits} is not 32, 64 or 128, which it must be without a table of hashes")
        if self.table is not None:
            self._check_table(self.table)
        if self.k >= self.bits:
            raise ValueError(f"k={self.k} is not below bits={self.bits}")
        if self.frequencies is not None and self.weights != "tfidf":
            raise ValueError(f"frequencies={self.frequencies} does nothing with weights={self.weights}")
        if self.threshold is not None and self.confirm is None:
            raise ValueError(f"threshold={float(self.threshold)} does nothing without confirm: k={self.k} decides")
        self._check_blocks()
        return self

    def _check_table(self, table: dict[str, int]) -> None:
        if self.feature_hash != "xxh3":
            raise ValueError(f"feature_hash={self.feature_hash} does nothing with a table of hashes")
        for word, value in table.items():
            if not 0 <= value < 1 << self.bits:
                raise ValueError(f"the table's hash of {word!r}, {value}, does not fit bits={self.bits}")

    def _check_blocks(self) -> None:
        given = [name for name in ("blocks", "header") if getattr(self, name) is not None]
        if given and self.search != "blocks":
            raise ValueError(f"{given[0]}={getattr(self, given[0])} does nothing with search={self.search}")
        if self.blocks is not None and not self.k < self.blocks <= self.bits:
            raise ValueError(f"blocks={self.blocks} is not above k={self.k} and at most bits={self.bits}")
        most = (self.bits if self.blocks is None else self.blocks) - self.k
        if self.header is not None and self.header > most:
            cut = f"bits={self.bits}" if self.blocks is None else f"blocks={self.blocks}"
            raise ValueError(f"header={self.header} is above {most}, which is {cut} less k={self.k}")


class Hyperplane(Recipe):
    """Vectors with cosine ≥ threshold: candidates from sign codes of random hyperplanes, each one verified."""

    name: ClassVar[str] = "hyperplane"
    measure: ClassVar[str] = "cosine"

    threshold: Threshold = read(
        Fraction(9, 10),
        "Least cosine of two vectors (rounded to 15 bits), above 0 and at most 1.",
    )
    recall: float = Field(
        default=0.99, gt=0, lt=1, description="Least chance that a pair at the threshold becomes a candidate."
    )
    bits: int = Field(
        default=512,
        ge=64,
        le=512,
        description="Hyperplanes, a bit each: a multiple of 64. More bits make wider bands and fewer false candidates:"
        " at 0.9, one pair of unrelated vectors in 18 with 128 bits, in 89 with 256, in 248 with 512.",
    )
    bands: int | None = Field(default=None, ge=1, description="Bands a code is cut into; default: chosen from recall.")
    rows: int | None = Field(default=None, ge=1, le=64, description="Bits in a band; default: chosen from recall.")
    seed: Seed = read(0, "Of the hyperplanes, below 2**128; `random` draws a secret one.")
    tokeniser: Literal[2] = Field(default=TOKENISER, description="Version of how texts are cut, and all is hashed.")

    @property
    def may_miss(self) -> bool:
        """Bands may have no bucket in common."""
        return True

    @property
    def stored_ratio(self) -> float:
        """Two bytes a number, and 21 for each of some 33 keys."""
        return 2

    @property
    def of_vectors(self) -> bool:
        """Whether documents are vectors of numbers, not texts."""
        return True

    @model_validator(mode="before")
    @classmethod
    def _no_recall_is_none_given(cls, settings: Any) -> Any:
        return _without_none(settings, "recall")

    def record(self) -> dict[str, Any]:
        """Given bands go by no recall: then it is null."""
        return super().record() | ({} if self.bands is None else {"recall": None})

    @model_validator(mode="after")
    def _bands_fit(self) -> "Hyperplane":
        if self.bits % 64:
            raise ValueError(f"bits={self.bits} is not a multiple of 64")
        if (self.bands is None) != (self.rows is None):
            raise ValueError(f"bands={self.bands} and rows={self.rows} must be given together")
        _refuse_recall(self)
        if self.bands is not None and self.rows is not None and self.bands * self.rows > self.bits:
            needed = self.bands * self.rows
            raise ValueError(f"bands={self.bands} of rows={self.rows} need {needed} bits, bits={self.bits}")
        return self


def _without_none(settings: Any, name: str) -> Any:
    """What was given, less a setting that is None."""
    if not isinstance(settings, dict):
        return settings
    return {key: value for key, value in settings.items() if key != name or value is not None}


def _refuse_recall(recipe: MinHash | Hyperplane) -> None:
    """What bands are chosen by does nothing where they are given."""
    if recipe.bands is not None and "recall" in recipe.model_fields_set:
        raise ValueError(f"recall={recipe.recall} does nothing with bands={recipe.bands} and rows={recipe.rows}")


Method = Jaccard | Containment | MinHash | ModP | Digest | SimHash | Hyperplane

METHODS: dict[str, type[Method]] = {
    "containment": Containment,
    "digest": Digest,
    "hyperplane": Hyperplane,
    "jaccard": Jaccard,
    "minhash": MinHash,
    "modp": ModP,
    "simhash": SimHash,
}


def by_name(name: str, **settings: Any) -> Method:
    """The recipe called `name`; settings that it does not have are an error."""
    if name not in METHODS:
        raise ConfigError(
            f"method={name!r} is not one of {', '.join(sorted(METHODS))}", hint="Choose a method by its name."
        )
    return METHODS[name](**settings)
