"""What judged pairs say of the setting to choose: frozen, JSON-able, plain data."""

from typing import Any

from nearsame.dataclass import dataclass
from nearsame.named import NamedTuple

__all__ = ["Advice", "Judgement", "Ranged", "Trade", "Tried"]


class Trade(NamedTuple):
    """What a threshold makes of the judged pairs."""

    threshold: float
    precision: float
    recall: float
    f1: float


class Ranged(NamedTuple):
    """A share, and the interval in which 95 of 100 resamples have it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Judgement:
    """How good a choice is on pairs that it was not made by."""

    precision: Ranged
    recall: Ranged
    f1: Ranged


@dataclass(frozen=True)
class Tried:
    """One setting, at the threshold that is best on all judged pairs.

    Attributes:
        label: the method with its settings but for the threshold, as `--methods` takes it.
        cut: the threshold, or k, in words.
        arguments: of `nearsame dedup`, with the threshold.
        recipe: the same as a record.
        threshold: of its similarity; of codes, the share of equal bits.
        precision: of the pairs at the threshold or above.
        recall: at the threshold.
        f1: at the threshold: the greatest that any threshold reaches.
        won: the share of resamples in which no other setting was better.
        curve: what each threshold makes of the judged pairs: a line for each similarity that one of them has.
        note: why it was not tried, if it was not.
    """

    label: str
    cut: str = ""
    arguments: tuple[str, ...] = ()
    recipe: dict[str, Any] | None = None
    threshold: float = 0.0
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    won: float = 0.0
    curve: tuple[Trade, ...] = ()
    note: str = ""

    def at(self, threshold: float) -> Trade:
        """What a threshold makes of the judged pairs, whether one of them has that similarity or not."""
        above = [line for line in self.curve if line.threshold >= threshold]
        return above[-1]._replace(threshold=threshold) if above else Trade(threshold, 1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Advice:
    """The setting that judged pairs speak for.

    Attributes:
        command: to run it.
        least: thresholds of this setting that were best in 95 of 100 resamples: the lowest
        most: and the highest.
        true: judged pairs that are true.
        false: and those that are not.
        held_out: how good the choice is: each fifth of the pairs was judged by a setting and a threshold that the other
            four were chosen by; None where there are too few to part.
        tried: all settings, the best first.
        resamples: how often the pairs were drawn again.
        drawn: what was drawn: pairs that share no document with others, together; or single pairs.
        weighed: whether pairs stand for others.
        notes: what one must know.
    """

    command: str
    least: float
    most: float
    true: int
    false: int
    held_out: Judgement | None
    tried: tuple[Tried, ...]
    resamples: int
    drawn: str
    weighed: bool = False
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Tried:
        """The setting that is advised."""
        return self.tried[0]

    @property
    def rivals(self) -> tuple[Tried, ...]:
        """Others that resamples do not tell from it: in at least one of twenty no other was better than each."""
        return tuple(one for one in self.tried[1:] if one.won >= 0.05)
