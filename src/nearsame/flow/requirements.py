"""What is required of a run's answer: the least recall, the most residual duplicates.

1. Both are judged by what the audit measured, never by what a method promises.
2. Where there was nothing to find, every requirement is met.
"""

from typing import Any, Protocol, TypeVar

from nearsame.answers.stats import Audit
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, RequirementError

__all__ = ["Requirements"]


class _Audited(Protocol):
    @property
    def audit(self) -> Audit | None: ...


Answer = TypeVar("Answer", bound=_Audited)


@dataclass(frozen=True)
class Requirements:
    """What is required, as shares from 0 to 1; None requires nothing."""

    require_recall: float | None = None
    max_residual: float | None = None

    def __post_init__(self) -> None:
        for name, value in self._given.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
                raise ConfigError(f"{name}={value!r} is not a number from 0 to 1", hint="Give a share, as in 0.98.")

    @property
    def _given(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}

    def audit(self, wanted: bool | None) -> bool | None:  # noqa: FBT001  (it is what `audit=` was given)
        """Whether the run is to be audited, given what was asked for.

        Raises:
            ConfigError: No audit was wanted, and something is required.
        """
        if wanted is False and self._given:
            name, value = next(iter(self._given.items()))
            raise ConfigError(f"audit=False and {name}={value:g}: nothing would be measured", hint="Leave one out.")
        return True if self._given else wanted

    def unmet(self, audit: Audit | None) -> str:
        """What was not reached, in words; nothing if all was."""
        recall, residual = (audit.recall, audit.residual) if audit else (None, None)
        if recall and self.require_recall is not None and recall.value < self.require_recall:
            return f"recall {100 * recall.value:.4g} % is below the required {100 * self.require_recall:.4g} %"
        if residual and self.max_residual is not None and residual.value > self.max_residual:
            return f"residual duplicates {100 * residual.value:.4g} % are above {100 * self.max_residual:.4g} %"
        return ""

    def met_by(self, answer: Answer) -> Answer:
        """The answer itself, if it is what was required.

        Raises:
            RequirementError: It is not; the answer is its `found`.
        """
        unmet = self.unmet(answer.audit)
        if unmet:
            error = RequirementError(unmet, hint="Ask for a higher recall, or choose the exact method jaccard.")
            error.found = answer
            raise error
        return answer
