"""The part of a recipe that says how many bands and rows there are."""

from typing import TYPE_CHECKING, Any

from nearsame.recipes.base import Recipe
from nearsame.recipes.fields import rule

__all__ = ["Banded"]


class Banded(Recipe):
    """What methods of bands have in common: bands and rows are given, or chosen from the recall that is asked for."""

    if TYPE_CHECKING:  # each method says what they are, and how many there may be
        recall: float
        bands: int | None
        rows: int | None

    @property
    def may_miss(self) -> bool:
        """Bands may have no bucket in common."""
        return True

    @property
    def given_shape(self) -> tuple[int, int] | None:
        """(bands, rows) where they were given; else they are chosen."""
        return None if self.bands is None or self.rows is None else (self.bands, self.rows)

    @classmethod
    def _given(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """No recall is none given."""
        return {name: value for name, value in settings.items() if name != "recall" or value is not None}

    def record(self) -> dict[str, Any]:
        """Given bands go by no recall: then it is null."""
        return super().record() | ({} if self.bands is None else {"recall": None})

    @rule
    def _bands_are_whole(self) -> None:
        if (self.bands is None) != (self.rows is None):
            raise ValueError(f"bands={self.bands} and rows={self.rows} must be given together")
        if self.bands is not None and "recall" in self.model_fields_set:
            raise ValueError(f"recall={self.recall} does nothing with bands={self.bands} and rows={self.rows}")
