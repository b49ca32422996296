"""The groups within which documents are compared: of a column, or of hosts.

1. Where all groups of a run are numbers, 5 and 05 and 5.0 are one. That is known when all have been read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from nearsame.proofs.files import Record
from nearsame.proofs.sites import host_in

__all__ = ["Groups"]

Group = tuple[str | None] | None


@dataclass
class Groups:
    """The groups of a run.

    Attributes:
        by: the column, or `host`; None: there are no groups.
        url: the column of URLs.
        are_numbers: whether all were numbers that were read so far.
    """

    by: str | None
    url: str
    are_numbers: bool = True

    def of(self, record: Record) -> Group:
        """The group of a document, as a text; None where there are no groups, or it is not read here."""
        if self.by == "host":
            self.are_numbers = False
            return (host_in(record.beside.get(self.url)),)
        if self.by is None or self.by not in record.order:
            return None
        value = record.order[self.by]
        text = value.decode("utf-8", "backslashreplace") or None if isinstance(value, bytes) else value
        text = None if text is None else str(text)
        self.are_numbers &= text is None or (_may_be_number(value) and _number(text) is not None)
        return (text,)

    def settled(self, group: Sequence[str | None] | None) -> Group:
        """What is equal of groups that are one, once all have been read."""
        if group is None:
            return None
        number = _number(group[0]) if self.are_numbers and group[0] is not None else None
        return (group[0] if number is None else number,)


def _may_be_number(value: Any) -> bool:
    """Whether digits are one: as the cell of a file without types, or as a number; not as a string."""
    return isinstance(value, bytes | int | float | Decimal) and not isinstance(value, bool)


def _number(text: str) -> str | None:
    """A number in one spelling, without zeros that say nothing."""
    try:
        sign, digits, exponent = Decimal(text.strip()).as_tuple()
    except InvalidOperation:
        return None
    if not isinstance(exponent, int):  # infinite, or none
        return None
    spelt = "".join(map(str, digits)).lstrip("0")
    said = spelt.rstrip("0")
    return f"{'-' * sign}{said}e{exponent + len(spelt) - len(said)}" if said else "0"
