"""What is looked for in training data, and what counts as found: the settings of `leaks`, each with its reason."""

from dataclasses import asdict
from fractions import Fraction
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.recipes.given import in_unit_interval

__all__ = ["LeakRule"]

_MOST_SHINGLE, _MOST_WINDOW = 1_000, 1_000


@dataclass(frozen=True)
class LeakRule:
    """When a text of an item stands in a document.

    Attributes:
        threshold: the share of the text's shingles that one window must have. At 0.8 a text of 40 words is found with
            one word changed, and half of a text is not.
        shingle_size: words in a row that are compared. Five are rare by themselves; with more, each changed word takes
            more of a text along.
        window: tokens of a window, in lengths of the text. In two there is room for what was put in between; pieces
            that are further apart were not copied together.
        boilerplate: texts of one benchmark that a shingle may stand in; what stands in more is part of a prompt.
        least_bytes: bytes of UTF-8 that the different words of a text must have together: fewer are a phrase or a row
            of numbers, and stand in documents that never saw the benchmark.
    """

    threshold: Fraction = Fraction(4, 5)
    shingle_size: int = 5
    window: Fraction = Fraction(2)
    boilerplate: int = 10
    least_bytes: int = 32

    @classmethod
    def of(cls, threshold: float, shingle_size: int, window: float, boilerplate: int, least_bytes: int) -> "LeakRule":
        """The rule of some numbers, fractions as they are written: 0.8 is four fifths.

        Raises:
            ConfigError: One cannot be.
        """
        try:
            share = in_unit_interval(threshold)
        except ValueError as error:
            raise ConfigError(f"threshold={error}", hint="Give a share, as in 0.8.") from error
        if not 1 <= window <= _MOST_WINDOW:
            message = f"window={window} is not from 1 to {_MOST_WINDOW:,}"
            raise ConfigError(message, hint="Give how many times as long as a text it is, as in 2.")
        for name, number, least_number in (
            ("shingle_size", shingle_size, 1), ("boilerplate", boilerplate, 1), ("least_bytes", least_bytes, 0)
        ):  # fmt: skip
            if number < least_number:
                message = f"{name}={number} is below {least_number}"
                raise ConfigError(message, hint=f"Give a number of at least {least_number}.")
        if shingle_size > _MOST_SHINGLE:
            message = f"shingle_size={shingle_size} is above {_MOST_SHINGLE:,}"
            raise ConfigError(message, hint="Give a number of words such as 5.")
        return cls(share, shingle_size, Fraction(str(window)), boilerplate, least_bytes)

    def least(self, num_shingles: int) -> int:
        """How many of so many shingles are enough.

        >>> LeakRule().least(10), LeakRule().least(11)
        (8, 9)
        """
        return -((-self.threshold * num_shingles) // 1)

    def width(self, num_tokens: int) -> int:
        """Tokens of the window of a text.

        >>> LeakRule().width(20)
        40
        """
        return int(self.window * num_tokens // 1)

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return {**asdict(self), "threshold": float(self.threshold), "window": float(self.window)}
