"""What rows are called: 63 bits of a digest of their content; where two rows got one name, both get others.

1. Beside the name stand 64 more bits of the digest, so a clash is seen: rows are the same if all 127 are.
2. Rows of one name are renamed by all their bits, always alike; no other row is, and nothing is read again.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from nearsame.errors import ConfigError
from nearsame.named import NamedTuple

__all__ = ["Renamed", "renamed", "renamings"]

_MOST = 10_000  # as many clashes as some 400 billion rows have
_TURNS = 8


class Renamed(NamedTuple):
    """A row that shared its name with another one."""

    row: int
    fp: int
    name: int


def renamings(features: Any, about: Any) -> tuple[Renamed, ...]:
    """New names for all rows that share theirs.

    Args:
        features: row, fp, of every document.
        about: row, fp, other_fp: the least and the greatest of each name.

    Raises:
        ConfigError: There are too many, or new names are taken, too.
    """
    shared = about.filter("fp <> other_fp").select("row")
    rows = features.select("row", "fp").join(shared.hint("broadcast"), "row").distinct().limit(_MOST + 1).collect()
    for turn in range(_TURNS):
        names = [Renamed(row, fp, _name(turn, row, fp)) for row, fp in sorted(rows)]
        different = len({renaming.name for renaming in names}) == len(names) <= _MOST
        if different and about.filter(about["row"].isin([renaming.name for renaming in names])).isEmpty():
            return tuple(names)
    raise ConfigError(f"{len(rows):,} documents share a name", hint="Report this as a fault.")


def _name(turn: int, row: int, fp: int) -> int:
    digest = blake2b(f"{turn} {row} {fp}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def renamed(names: Sequence[Renamed], row: str = "row", fp: str = "fp") -> str:
    """The name of a row in SQL, from its bits in two columns."""
    cases = (
        f"when {row} = {renaming.row}L and {fp} = cast('{renaming.fp}' as bigint) then {renaming.name}L"
        for renaming in names
    )
    return f"case {' '.join(cases)} else {row} end" if names else row
