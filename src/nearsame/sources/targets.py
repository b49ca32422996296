"""What parts are called, and where they go below kept/: each by its relative path.

1. Where two would meet, they go by their paths from the folder they have in common.
2. Where that does not help, a number stands before the name.
3. Text files of several patterns lie in one folder: it is called `d`, `d/`, `d//`, so that a record is of one of them.
"""

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, cast

from nearsame.files.systems import is_url
from nearsame.sources.base import Part
from nearsame.sources.folder import TextFolder
from nearsame.sources.memory import Memory
from nearsame.sources.parts import FilePart

__all__ = ["named_apart", "with_own_names", "with_own_targets"]


def with_own_names(parts: Iterable[Part], others: Iterable[Part] = ()) -> list[Part]:
    """The same parts, no folder of texts with the name of another one, or of one among `others`."""
    taken, named = {part.name for part in others if isinstance(part, TextFolder)}, list[Part]()
    for part in parts:
        if isinstance(part, TextFolder):
            name = next(name for number in itertools.count() if (name := f"{part.name}{'/' * number}") not in taken)
            taken.add(name)
            named.append(replace(part, name=name))
        else:
            named.append(part)
    return named


def named_apart(parts: Iterable[Part], others: Iterable[Part]) -> list[Part]:
    """The parts of the against side, none with the name of one of the other: tables have names of their own."""
    names = ("against" if number == 1 else f"against-{number}" for number in itertools.count(1))
    tables = (replace(part, name=next(names)) if isinstance(part, Memory) else part for part in parts)
    return with_own_names(tables, others)


def with_own_targets(parts: Sequence[Part]) -> list[Part]:
    """The same parts, no two with the same target."""
    targets = [part.target for part in parts]
    for clash in _clashes(targets):
        longer = _from_common_folder([parts[index] for index in clash])
        others = {target for index, target in enumerate(targets) if index not in clash}
        if longer and not others.intersection(longer):
            for index, target in zip(clash, longer, strict=True):
                targets[index] = target
    for clash in _clashes(targets):
        for index in clash:
            targets[index] = _numbered(targets[index], set(targets))
    return [_moved(part, target) for part, target in zip(parts, targets, strict=True)]


def _clashes(targets: Sequence[str]) -> list[list[int]]:
    counts = Counter(targets)
    shared = [target for target, count in counts.items() if count > 1]
    return [[index for index, other in enumerate(targets) if other == target] for target in shared]


def _from_common_folder(parts: Sequence[Part]) -> list[str] | None:
    places = [_place(part) for part in parts]
    if not all(places):
        return None
    levels = zip(*(place[:-1] for place in places), strict=False)
    common = len(list(itertools.takewhile(lambda level: len(set(level)) == 1, levels)))
    targets = ["/".join(place[common:]) for place in places]
    return targets if len(set(targets)) == len(targets) and all(len(place) > common for place in places) else None


def _place(part: Part) -> tuple[str, ...]:
    """The absolute path of a part, in pieces; nothing for what has none."""
    match part:
        case TextFolder():
            return (*_pieces(part.root), *PurePosixPath(part.target).parts)
        case FilePart() if part.spool is None:
            return _pieces(part.file.url)
        case _:
            return ()


def _pieces(path: str) -> tuple[str, ...]:
    if "::" in path and is_url(path):
        return ()  # of a package: the names in it begin anew
    full = path.split("://")[1] if is_url(path) else os.path.realpath(path)
    return tuple(piece for piece in full.split("/") if piece)


def _numbered(target: str, taken: set[str]) -> str:
    path, number = PurePosixPath(target), 1
    while (name := str(path.with_name(f"{number}-{path.name}") if path.name else PurePosixPath(str(number)))) in taken:
        number += 1
    return name


def _moved(part: Any, target: str) -> Part:
    return part if part.target == target else cast("Part", replace(part, target=target))
