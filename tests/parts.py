"""Which slow tests a run has: all, or with NEARSAME_PART=2/4 those of the second of four parts.

CI runs one part, another one for another commit, as all would take most of an hour on a slow machine. A test's part
goes by its name, so it stays where it is when others are added.
"""

import os
from collections.abc import Iterable, Mapping
from zlib import crc32

__all__ = ["asked", "in_part"]


def asked(environment: Mapping[str, str] = os.environ) -> tuple[int, int]:
    """The number of the part, from 1 on, and of how many.

    Raises:
        ValueError: It is no part.
    """
    number, _, of = environment.get("NEARSAME_PART", "1/1").partition("/")
    part, parts = int(number), int(of)
    if not 1 <= part <= parts:
        raise ValueError(f"NEARSAME_PART={number}/{of} is no part: from 1/{of} to {of}/{of}")
    return part, parts


def in_part(names: Iterable[str], part: int, parts: int) -> list[bool]:
    """Whether each of some tests is in a part."""
    return [crc32(name.encode()) % parts == part - 1 for name in names]
