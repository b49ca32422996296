"""The methods that compare codes of bits: SimHash of texts, codes of any origin, hyperplanes of vectors."""

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from nearsame.errors import ConfigError
from nearsame.recipes.banded import Banded
from nearsame.recipes.base import TOKENISER, Recipe, Shingling
from nearsame.recipes.choices import (
    COMPARED,
    Compared,
    ConfirmedBy,
    FeatureHash,
    ReportedMeasure,
    SearchKind,
    WeightKind,
)
from nearsame.recipes.fields import Field, rule
from nearsame.recipes.given import Confirming, Number, Seed, Threshold, in_unit_interval, read

__all__ = ["Coded", "Codes", "Hyperplane", "SimHash"]


class Coded(Recipe):
    """What methods that compare codes of bits have in common: every pair within k bits, however it is found."""

    measure: ClassVar[ReportedMeasure] = "hamming"

    if TYPE_CHECKING:  # each method says how long its codes may be
        bits: int

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

    @property
    def least(self) -> Fraction:
        """Of Hamming similarity 1 - d/f."""
        return Fraction(self.bits - self.k, self.bits)

    @property
    def stricter(self) -> str | None:
        """They have a distance in place of a threshold."""
        return "lower k"

    @property
    def similarity_parts(self) -> int | None:
        """An estimate is a share of the bits."""
        return self.bits

    def raised(self, threshold: Number) -> Self:
        """A threshold of Hamming similarity is another k."""
        try:
            k = (1 - in_unit_interval(threshold)) * self.bits
        except ValueError as error:
            message = f"{type(self).__name__}: threshold={error}"
            raise ConfigError(message, hint="See docs/methods.md for each setting.") from None
        return type(self)(**{**self.settings, "k": k.numerator // k.denominator})

    @rule
    def _distance_and_blocks_fit(self) -> None:
        if self.k >= self.bits:
            raise ValueError(f"k={self.k} is not below bits={self.bits}")
        self._check_blocks()

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


class Codes(Coded):
    """Every pair of given codes within k bits: of images, of sound, of any tool, and of any origin.

    A column has numbers (negative ones in two's complement), bytes, or texts: hexadecimal digits, all of them, or as
    many digits 0 and 1 as there are bits; behind 0x or 0b fewer. What is none of these is skipped, and counted.
    """

    name: ClassVar[str] = "codes"
    of_codes: ClassVar[bool] = True

    bits: int = Field(default=64, ge=1, le=512, description="Length of a code.")
    decimal: bool = Field(
        default=False, description="Texts of digits alone are decimal numbers, as a CSV has them; else hexadecimal."
    )
    tokeniser: Literal[2] = Field(default=TOKENISER, description="Version of how texts are cut, and all is hashed.")


class SimHash(Coded, Shingling):
    """Every pair of SimHash codes within k bits, then optionally confirmed by a measure of the documents themselves."""

    name: ClassVar[str] = "simhash"
    by_sketches: ClassVar[bool] = True

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
        default=None, description="Hashes of all features by their text, in place of a hash function."
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
            return super().least
        return Fraction(4, 5) if self.threshold is None else self.threshold

    @property
    def reports(self) -> ReportedMeasure:
        """The measure that confirms, if there is one."""
        return self.confirm or self.measure

    @property
    def compares(self) -> Compared | None:
        """What of two documents the measure that confirms compares, if there is one."""
        return None if self.confirm is None else COMPARED[self.confirm]

    @property
    def stricter(self) -> str | None:
        """Unconfirmed, it has a distance in place of a threshold."""
        return "raise the threshold" if self.confirm else super().stricter

    @property
    def needs_frequencies(self) -> bool:
        """Whether features weigh by how many documents have them."""
        return self.weights == "tfidf"

    @property
    def for_texts(self) -> list[str]:
        """What compares letters does so."""
        return [*super().for_texts, *([f"confirm={self.confirm}"] if self.compares == "letters" else [])]

    def require_alone(self, what: str) -> None:
        """What confirms is about the pairs of a run."""
        if self.confirm is not None:
            message = f"confirm={self.confirm} is about the pairs of a run, and does nothing to {what}"
            raise ConfigError(message, hint="Leave it out.")

    def raised(self, threshold: Number) -> Self:
        """Unconfirmed, a threshold of Hamming similarity is another k."""
        if self.confirm is None:
            return super().raised(threshold)
        return type(self)(**{**self.settings, "threshold": threshold})

    @rule
    def _settings_fit(self) -> None:
        if self.table is None and self.bits not in (32, 64, 128):
            raise ValueError(f"bits={self.bits} is not 32, 64 or 128, which it must be without a table of hashes")
        if self.table is not None:
            self._check_table(self.table)
        if self.frequencies is not None and self.weights != "tfidf":
            raise ValueError(f"frequencies={self.frequencies} does nothing with weights={self.weights}")
        if self.threshold is not None and self.confirm is None:
            raise ValueError(f"threshold={float(self.threshold)} does nothing without confirm: k={self.k} decides")

    def _check_table(self, table: dict[str, int]) -> None:
        if self.feature_hash != "xxh3":
            raise ValueError(f"feature_hash={self.feature_hash} does nothing with a table of hashes")
        for word, value in table.items():
            if not 0 <= value < 1 << self.bits:
                raise ValueError(f"the table's hash of {word!r}, {value}, does not fit bits={self.bits}")


class Hyperplane(Banded):
    """Vectors with cosine ≥ threshold: candidates from sign codes of random hyperplanes, each one verified."""

    name: ClassVar[str] = "hyperplane"
    measure: ClassVar[ReportedMeasure] = "cosine"
    of_vectors: ClassVar[bool] = True
    keys_of_sketches: ClassVar[bool] = True
    by_sketches: ClassVar[bool] = True

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
    seed: Seed = read(0, "Of the hyperplanes, below 2**128; `random` draws a secret one.", ge=0)
    tokeniser: Literal[2] = Field(default=TOKENISER, description="Version of how texts are cut, and all is hashed.")

    @property
    def stored_ratio(self) -> float:
        """Two bytes a number, and 21 for each of some 33 keys."""
        return 2

    @rule
    def _bands_fit(self) -> None:
        if self.bits % 64:
            raise ValueError(f"bits={self.bits} is not a multiple of 64")
        if self.bands is not None and self.rows is not None and self.bands * self.rows > self.bits:
            needed = self.bands * self.rows
            raise ValueError(f"bands={self.bands} of rows={self.rows} need {needed} bits, bits={self.bits}")
