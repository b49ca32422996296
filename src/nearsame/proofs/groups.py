"""The groups within which documents are compared: of a column, or of hosts.

1. Where all groups of a run are numbers, 5 and 05 and 5.0 are one. That is known when all have been read.
2. Cells of files without types are numbers where all fit into 64 bits, or none has more digits than a double tells
   apart.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from nearsame.proofs.files import Record
from nearsame.proofs.sites import host_in

__all__ = ["Groups"]

Group = tuple[str | None] | None
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NONE = re.compile(r"([-+]?)(?:(inf)(?:inity)?|nan)", re.IGNORECASE)
_DIGITS, _LEAST = 15, 2.3e-308  # of what a double tells apart
_SIGNED, _UNSIGNED = range(-(2**63), 2**63), range(2**64)


@dataclass
class Groups:
    """The groups of a run.

    Attributes:
        by: the column, or `host`; None: there are no groups.
        url: the column of URLs.
        are_numbers: whether all were numbers that were read so far.
        signed: whether all cells were whole numbers of 64 bits.
        unsigned: likewise without a sign.
        short: whether all were numbers that a double tells apart.
    """

    by: str | None
    url: str
    are_numbers: bool = True
    signed: bool = True
    unsigned: bool = True
    short: bool = True

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
        if text is not None:
            self._see(value, text)
        return (text,)

    def settled(self, group: Sequence[str | None] | None) -> Group:
        """What is equal of groups that are one, once all have been read."""
        if group is None or group[0] is None:
            return None if group is None else (None,)
        are_numbers = self.are_numbers and (self.signed or self.unsigned or self.short)
        return (_spelt(group[0]) if are_numbers else group[0],)

    def _see(self, value: Any, text: str) -> None:
        is_cell = isinstance(value, bytes)
        may_be = is_cell or (isinstance(value, int | float | Decimal) and not isinstance(value, bool))
        self.are_numbers &= may_be and (_NUMBER.fullmatch(text) or _NONE.fullmatch(text)) is not None
        whole = int(text) if re.fullmatch(r"-?[0-9]{1,40}", text) else None
        self.signed &= whole is not None and whole in _SIGNED
        self.unsigned &= whole is not None and whole in _UNSIGNED and not text.startswith("-")
        self.short &= not is_cell or _is_short(text)


def _is_short(text: str) -> bool:
    digits = re.sub(r"[^0-9]", "", re.sub("[eE].*", "", text, flags=re.DOTALL)).lstrip("0").rstrip("0")
    try:
        return not digits or (len(digits) <= _DIGITS and _LEAST <= abs(float(text)) < float("inf"))
    except ValueError:
        return False


def _spelt(text: str) -> str:
    """A number in one spelling, without zeros that say nothing."""
    if found := _NONE.fullmatch(text):
        return f"{'-' * (found[1] == '-')}inf" if found[2] else "nan"
    sign, digits, exponent = Decimal(text).as_tuple()
    spelt = "".join(map(str, digits)).lstrip("0")
    said = spelt.rstrip("0")
    return f"{'-' * sign}{said}e{int(exponent) + len(spelt) - len(said)}" if said else "0"
