"""What is required of a run, and with which exit code it ends."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from nearsame.errors import ConfigError

if TYPE_CHECKING:
    from nearsame.flow.requirements import Requirements
    from nearsame.recipes.methods import Method

__all__ = ["asked", "ended", "outcome", "refused"]

_DONE, _UNREADABLE, _REQUIREMENT = 0, 3, 4
_OPTIONS = ("require_recall", "max_residual")


def asked(given: Mapping[str, Any], recipe: "Method | None") -> bool | None:
    """Whether the user wants an audit, as a report does of what has one; None leaves it to the method."""
    for name in _OPTIONS:
        if given["audit"] is False and given.get(name) is not None:
            option = f"--{name.replace('_', '-')} {given[name]:g}"
            raise ConfigError(f"--no-audit and {option}: nothing would be measured", hint="Leave one of them out.")
    wanted = _required(given).audit(given["audit"])
    is_shown = wanted is None and given["report"] is not None and recipe is not None and recipe.can_be_audited
    return True if is_shown else wanted


def outcome(run: Any, given: Mapping[str, Any]) -> int:
    """0; 4 if the answer is not as good as required; 3 if some input could not be read. With -q, too, it says why."""
    unmet = _required(given).unmet(run.audit)
    return refused(unmet) if unmet else ended(run.stats.skipped, run.skipped, given, read=run.stats.documents)


def refused(unmet: str) -> int:
    """4: what was required of an answer does not hold, for this reason."""
    click.echo(f"error: {unmet}", err=True)
    return _REQUIREMENT


def ended(number: int, skipped: Any, given: Mapping[str, Any], read: int | None = None) -> int:
    """0, or 3 if some records could not be read; a run that is quiet says why nonetheless.

    Args:
        number: of records that could not be read.
        skipped: they, as a table, or as a list of `Skipped`.
        given: the options.
        read: documents that could be read, where that is known.
    """
    if not number:
        return _DONE
    if given["quiet"]:
        from nearsame.outputs.console import described

        records = skipped[:1] if isinstance(skipped, list) else skipped.slice(0, 1).to_pylist()
        what = f"{number:,} {'record' if number == 1 else 'records'} could not be read"
        first = "".join(f"{': ' if number == 1 else '; the first: '}{described(record)}" for record in records)
        click.echo(f"error: {what}{', and no document was' if read == 0 else ''}{first}", err=True)
    return _UNREADABLE


def _required(given: Mapping[str, Any]) -> "Requirements":
    from nearsame.flow.requirements import Requirements

    return Requirements(**{name: given.get(name) for name in _OPTIONS})
