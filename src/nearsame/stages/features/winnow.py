"""Winnowing: a few of a text's shingles, so chosen that two texts choose one of the same in each long run they share.

Runs of at least `window + size - 1` tokens are found for certain, and 2 of window + 1 shingles are kept
(Schleimer, Wilkerson, Aiken: Winnowing, SIGMOD 2003).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nearsame import arrow
from nearsame.errors import ConfigError
from nearsame.kernels import winnow as kernel
from nearsame.stages.features.places import runs

__all__ = ["Fingerprints", "Winnow"]

_SIZE = 5  # tokens in a shingle, where the guarantee leaves room for a window


class Fingerprints(NamedTuple):
    """The chosen shingles of a text, ascending by place."""

    hashes: arrow.UInt64s
    places: arrow.Int64s  # the number of the shingle, which is that of its first token


@dataclass(frozen=True)
class Winnow:
    """How shingles are chosen.

    Attributes:
        size: tokens in a shingle: shorter runs are never seen.
        window: shingles of which one at least is chosen.
    """

    size: int
    window: int

    def __post_init__(self) -> None:
        """Both are at least 1."""
        if self.size < 1 or self.window < 1:
            raise ConfigError(f"size={self.size}, window={self.window}: both must be at least 1", hint="Raise them.")

    @classmethod
    def finding(cls, least: int) -> "Winnow":
        """What finds every run of at least so many tokens.

        >>> Winnow.finding(8)
        Winnow(size=5, window=4)
        """
        if least < 1:
            raise ConfigError(f"passage={least} is not at least 1 token", hint="Choose a length such as 8.")
        size = min(_SIZE, least)
        return cls(size, least - size + 1)

    @property
    def least(self) -> int:
        """The shortest run that is found for certain."""
        return self.size + self.window - 1

    def __call__(self, tokens: arrow.UInt64s) -> Fingerprints:
        """The fingerprints of a text's tokens; fewer tokens than a shingle have none."""
        if tokens.size < self.size:
            return Fingerprints(arrow.NO_HASHES, arrow.frozen(np.zeros(0, np.int64)))
        hashes = runs(tokens, self.size)
        chosen = np.empty(hashes.size, np.int64)
        chosen = chosen[: kernel.winnow(hashes, self.window, chosen)]
        return Fingerprints(arrow.frozen(hashes[chosen]), arrow.frozen(chosen))
