"""When a learnt rule holds: thresholds, and what may be chance.

1. Pages change between two visits, so right rules have evidence against them, too: as much as one URL has that was
   read twice. A rule fails where the evidence against it is more than that, beyond chance.
2. Few URLs prove little: the evidence must be likelier by far if the rule is right than if it often fails.
"""

import math
from dataclasses import replace

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.recipes.arguments import checked
from nearsame.web.rules import RuleEvidence

__all__ = ["LACKING", "Learning"]

LACKING = ("too little support", "nothing on the part held out")  # reasons that more pages could do away with
_NOISE, _NOISE_PAGES = 0.1, 50  # what is supposed before any URL was read twice, and how many pages that counts as
_OBJECTING = 3  # URLs of a folder
_LEAST_SHARE = 1e-9
_DEVIATIONS = 1.645  # one in twenty right rules has more evidence against it by chance
_LEAST_ODDS = math.log(20)  # of a right rule over one that fails more often than not


@checked
@dataclass(frozen=True)
class Learning:
    """When a rule holds.

    Attributes:
        min_support: URLs that it must bring together, on the part that is learnt from.
        max_error: the largest share of evidence against it, there and on the part held out, beyond `noise`.
        min_hosts: hosts that must agree before it holds for all.
        held_out: the share of the groups that is held out.
        most: pages of a cluster and host that propose pairs of URLs; of a larger one, neighbours in order do.
        noise: the share of pages that have another content at a second visit; default as counted at URLs that were read
            twice, of which 5 of 50 are supposed to have changed before anything is counted.
    """

    min_support: int = 5
    max_error: float = 0.05
    min_hosts: int = 3
    held_out: float = 0.3
    most: int = 20
    noise: float | None = None

    def __post_init__(self) -> None:
        for name in ("min_support", "min_hosts", "most"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} is below 1", hint="Give a number of at least 1.")
        for name in ("max_error", "held_out", "noise"):
            if not 0 <= (getattr(self, name) or 0) < 1:
                message = f"{name}={getattr(self, name)} is not at least 0 and below 1"
                raise ConfigError(message, hint="Give a share, as in 0.05.")

    def verdict(self, evidence: RuleEvidence) -> str:
        """Why a rule does not hold; nothing, where it does."""
        if self._fails(evidence.support, evidence.against):
            return "evidence against it"
        if evidence.support < self.min_support or self._odds(evidence) < _LEAST_ODDS:
            return LACKING[0]
        if self._fails(evidence.held_support, evidence.held_against):
            return "evidence against it on the part held out"
        return LACKING[1] if self.held_out and not evidence.held_support else ""

    def objects(self, evidence: RuleEvidence) -> bool:
        """Whether the evidence of a part, learnt from and held out, speaks against what holds of the whole."""
        against = evidence.against + evidence.held_against
        return against >= _OBJECTING and self._fails(evidence.support + evidence.held_support, against)

    def knowing(self, again: int, changed: int) -> "Learning":
        """The same, knowing how many pages of `again` that were read twice have changed."""
        if self.noise is not None:
            return self
        return replace(self, noise=(changed + _NOISE * _NOISE_PAGES) / (again + _NOISE_PAGES))

    @property
    def _allowed(self) -> float:
        """The share of evidence against a right rule."""
        noise = _NOISE if self.noise is None else self.noise
        return min(noise + self.max_error, 0.99)

    def _fails(self, support: int, against: int) -> bool:
        """Whether the share of evidence against is larger than it may be, by Wilson's bound."""
        number, squared = support + against, _DEVIATIONS**2
        if not against:
            return False
        share = against / number
        spread = _DEVIATIONS * math.sqrt(share * (1 - share) / number + squared / (4 * number**2))
        low = (share + squared / (2 * number) - spread) / (1 + squared / number)
        return low > self._allowed

    def _odds(self, evidence: RuleEvidence) -> float:
        """How much likelier the evidence is if the rule is right than halfway to a rule that is always wrong (log)."""
        right, wrong = max(self._allowed, _LEAST_SHARE), (1 + self._allowed) / 2
        return evidence.support * math.log((1 - right) / (1 - wrong)) + evidence.against * math.log(right / wrong)
