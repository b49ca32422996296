"""Whether to audit, and with which exit code a finished run ends."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nearsame.errors import ConfigError

if TYPE_CHECKING:
    from nearsame.results import Stats

__all__ = ["asked", "outcome"]

_DONE, _UNREADABLE, _RECALL = 0, 3, 4


def asked(given: Mapping[str, Any]) -> bool | None:
    """Whether the user wants an audit; None leaves it to the method."""
    if given["require_recall"] is None:
        return given["audit"]  # type: ignore[no-any-return]
    if given["audit"] is False:
        message = f"--no-audit and --require-recall {given['require_recall']}: nothing would be measured"
        raise ConfigError(message, hint="Leave one of them out.")
    return True


def outcome(stats: "Stats", required: float | None) -> int:
    """0; 4 if the measured recall is below the required one; 3 if some records could not be read."""
    recall = stats.audit and stats.audit["key_recall"]
    if required is not None and recall and recall["value"] < required:
        return _RECALL
    return _UNREADABLE if stats.skipped else _DONE
