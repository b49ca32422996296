"""The methods: each is a recipe of its own settings, validated and frozen, and nothing that computes."""

from fractions import Fraction
from typing import Any, ClassVar

from nearsame.errors import ConfigError
from nearsame.recipes.banded import Banded
from nearsame.recipes.base import UNICODE_VERSION, Recipe, Shingled, Shingling, TextRecipe
from nearsame.recipes.choices import (
    BandRows,
    ConfirmedBy,
    DigestName,
    ReportedMeasure,
    SketchKind,
    VerifiedBy,
    WeightKind,
    WhatGoes,
)
from nearsame.recipes.codes import Coded, Codes, Hyperplane, SimHash
from nearsame.recipes.fields import Field, rule
from nearsame.recipes.given import Confirming, Threshold, read, require_places

__all__ = [
    "METHODS",
    "UNICODE_VERSION",
    "Coded",
    "Codes",
    "Containment",
    "Cosine",
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
    "as_recipe",
    "by_name",
]


class Jaccard(Shingled):
    """Every pair with Jaccard ≥ threshold, none missed: the default."""

    name: ClassVar[str] = "jaccard"
    measure: ClassVar[ReportedMeasure] = "jaccard"
    counts_items: ClassVar[bool] = True

    threshold: Threshold = read(Fraction(4, 5), "Least Jaccard similarity, above 0 and at most 1.")


class Cosine(Shingled):
    """Every pair with cosine ≥ threshold, none missed: of sets of shingles, or of shingles with weights.

    Of sets it is what they share over the root of both sizes' product. Weights are integers, and thresholds are decided
    in integers.
    """

    name: ClassVar[str] = "cosine"
    measure: ClassVar[ReportedMeasure] = "cosine"
    counts_items: ClassVar[bool] = True

    threshold: Threshold = read(
        Fraction(4, 5),
        "Least cosine of two sets, above 0 and at most 1, with a denominator of at most 10⁹ (nine decimal places). Of"
        " sets of one size a cosine of c is a Jaccard similarity of c / (2 - c): 0.8 is 0.67, and 0.89 is 0.8.",
    )
    weights: WeightKind = Field(
        default="one",
        description="What a shingle weighs: 1, so that sets are compared; how often it stands in the text (an item in"
        " its list); or that times ln((1 + N) / (1 + documents that have it)) + 1, in units of 2⁻¹⁶, of the N documents"
        " of both sides that have shingles. Words as they are: `shingle_size=1`.",
    )
    frequencies: str | None = Field(
        default=None,
        description="A frequencies.parquet of an earlier tfidf run by this method; default: counted over the documents"
        " at hand.",
    )

    @property
    def weighs_items(self) -> bool:
        """Whether they weigh more than 1."""
        return self.weights != "one"

    @property
    def needs_frequencies(self) -> bool:
        """Whether features weigh by how many documents have them."""
        return self.weights == "tfidf"

    @property
    def features(self) -> dict[str, Any]:
        """Of the record, what features are made by: the seed, too, where frequencies are of hashes."""
        return super().features | {"seed": self.seed}

    @property
    def condition(self) -> str:
        """What two documents are found for, in words: by which weights, too."""
        by = f"cosine of {self.weights} weights" if self.weighs_items else "cosine"
        return super().condition.replace("cosine", by, 1)

    def record(self) -> dict[str, Any]:
        """Weights are newer than most records."""
        record = super().record()
        for name in () if self.weighs_items else ("weights", "frequencies"):
            del record[name]
        return record

    @rule
    def _weights_fit(self) -> None:
        if self.frequencies is not None and not self.needs_frequencies:
            raise ValueError(f"frequencies={self.frequencies} does nothing with weights={self.weights}")
        if self.repeats and self.weighs_items:
            raise ValueError(f"repeats=True counts what weights={self.weights} weighs: leave one of them out")

    @rule
    def _threshold_is_compared_as_it_is(self) -> None:
        require_places("threshold", self.threshold)


class Containment(Shingled):
    """Every document of which a share ≥ threshold is in another, none missed; larger sets stay, then `keep` decides."""

    name: ClassVar[str] = "containment"
    measure: ClassVar[ReportedMeasure] = "containment"
    counts_items: ClassVar[bool] = True

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
    def reports(self) -> ReportedMeasure:
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

    @property
    def second(self) -> tuple[ConfirmedBy, Fraction] | None:
        """The floor is one."""
        return super().second if self.jaccard_floor is None else ("jaccard", self.jaccard_floor)

    @rule
    def _floor_is_below(self) -> None:
        if self.jaccard_floor is not None and self.confirm is not None:
            both = f"jaccard_floor={float(self.jaccard_floor)} and confirm={self.confirm}"
            raise ValueError(f"{both} cannot be combined: choose one of them")
        if self.jaccard_floor is not None and self.jaccard_floor >= self.threshold:
            floor, least = float(self.jaccard_floor), float(self.threshold)
            raise ValueError(f"jaccard_floor={floor} is not below threshold={least}: that is method jaccard")


class MinHash(Banded, Shingled):
    """Candidates from LSH bands over a MinHash signature, each one verified."""

    name: ClassVar[str] = "minhash"
    measure: ClassVar[ReportedMeasure] = "jaccard"
    keys_of_sketches: ClassVar[bool] = True
    by_sketches: ClassVar[bool] = True

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
    def similarity_parts(self) -> int | None:
        """An estimate is a share of the signature."""
        return self.num_perm

    @property
    def reports(self) -> ReportedMeasure:
        """An estimate says that it is one."""
        return "estimated" if self.verify == "estimate" else self.measure

    @rule
    def _bands_fit(self) -> None:
        if self.bands is None or self.rows is None:
            return
        if self.rows > self.num_perm:
            raise ValueError(f"rows={self.rows} is above num_perm={self.num_perm}")
        if self.choice == "consecutive" and self.bands * self.rows > self.num_perm:
            raise ValueError(
                f"bands={self.bands} of rows={self.rows} need {self.bands * self.rows} values, num_perm={self.num_perm}"
            )


class ModP(Shingled):
    """Every pair of fingerprints with Jaccard ≥ threshold: an estimate, from the hashes that p divides (Broder)."""

    name: ClassVar[str] = "modp"
    measure: ClassVar[ReportedMeasure] = "jaccard"
    counts_items: ClassVar[bool] = True
    keys_of_sketches: ClassVar[bool] = True
    by_sketches: ClassVar[bool] = True

    threshold: Threshold = read(Fraction(4, 5), "Least Jaccard similarity of two fingerprints, above 0 and at most 1.")
    modulus: int = Field(
        default=25,
        ge=1,
        lt=2**63,
        description="p: one hash in p is kept. With a larger p, fingerprints are smaller and less exact.",
    )
    floor: int = Field(
        default=32,
        ge=0,
        le=2**20,
        description="Fewest hashes of a fingerprint, if a document has that many: it is filled up with the document's"
        " smallest others. Without it 44 % of texts of 20 shingles would have none. Of the pairs found among 39,081"
        " licence texts at 0.8, 31 % really are as similar with 8, 72 % with 16, 82 % with 32, 92 % with 64.",
    )

    @property
    def reports(self) -> ReportedMeasure:
        """The fingerprints are compared, not the documents."""
        return "estimated"

    @property
    def may_miss(self) -> bool:
        """Fingerprints may be less alike than what they stand for."""
        return True


class Digest(TextRecipe):
    """Whole documents, by a checksum; one that can collide is confirmed by comparing the texts."""

    name: ClassVar[str] = "digest"
    measure: ClassVar[ReportedMeasure] = "digest"
    by_equality: ClassVar[bool] = True
    tells_texts: ClassVar[bool] = True

    algorithm: DigestName = Field(
        default="sha256", description="The checksum; crc32 and bytesum can collide, and are confirmed."
    )
    normalise: bool = Field(
        default=False, description="Digest the tokens (joined by single spaces) in place of the raw text."
    )
    threshold: ClassVar[Fraction] = Fraction(1)

    @property
    def raw_bytes(self) -> bool:
        """Whether only equal bytes matter."""
        return not self.normalise

    @property
    def can_collide(self) -> bool:
        """Whether it is a checksum that is confirmed by comparing the texts themselves."""
        return self.algorithm in ("crc32", "bytesum")

    @property
    def condition(self) -> str:
        """Equal is what it asks for."""
        return "equal normalised texts" if self.normalise else "equal texts"

    @rule
    def _options_count(self) -> None:
        given = [
            name for name in TextRecipe.model_fields if name not in ("unicode", "tokeniser") and getattr(self, name)
        ]
        if given and not self.normalise:
            raise ValueError(f"{given[0]} does nothing to raw text: it needs normalise=True")


Method = Jaccard | Cosine | Containment | MinHash | ModP | Digest | SimHash | Codes | Hyperplane

METHODS: dict[str, type[Method]] = {
    "codes": Codes,
    "containment": Containment,
    "cosine": Cosine,
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


def as_recipe(method: Method | str) -> Method:
    """A method as it may be given: the recipe itself, or by its name with the usual settings."""
    return by_name(method) if isinstance(method, str) else method
