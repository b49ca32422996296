"""Characters by the frozen Unicode tables, in plain Python: classes, case folding, normal forms.

1. The tables are data that kernels/unicode.py describes; the code that reads them here is its own.
2. A class becomes a piece of a regular expression, folding a table of `str.translate`.
"""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from nearsame.named import NamedTuple

__all__ = ["MARK", "OTHER", "SPACE", "WORD", "alone", "folded", "prepared", "shown", "span"]

_FOLDER = Path(__file__).parent.parent / "kernels"
OTHER, WORD, _ALONE, SPACE, MARK, _UNSEEN = range(6)
_LAST = 0x110000

_S, _L, _V, _T = 0xAC00, 0x1100, 0x1161, 0x11A7  # Hangul is arithmetic (The Unicode Standard, 3.12)
_V_COUNT, _T_COUNT = 21, 28
_S_COUNT = 19 * _V_COUNT * _T_COUNT


@cache
def _file() -> dict[str, Any]:
    with np.load(_FOLDER / "unicode.npz", allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


@cache
def _entries() -> Any:
    stages = np.load(_FOLDER / "unicode.npy", allow_pickle=False)
    blocks = _LAST >> 8
    return stages[blocks:].reshape(-1, 256)[stages[:blocks]].reshape(-1)


@cache
def span(kind: int) -> str:
    """The characters of a class, as what stands between the brackets of a regular expression."""
    points = np.flatnonzero(_entries() >> 24 == kind)
    edges = [0, *(np.flatnonzero(np.diff(points) > 1) + 1).tolist(), points.size]
    runs = ((int(points[a]), int(points[b - 1])) for a, b in pairwise(edges) if b > a)
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in runs)


def alone() -> str:
    """Likewise of the characters that are a token each."""
    return span(_ALONE)


def shown(text: str) -> str:
    """The text without what is never shown, and without marks that have no character before them."""
    return text if text.isascii() else _marks_in_front().sub("", _unseen().sub("", text))


@cache
def _unseen() -> re.Pattern[str]:
    return re.compile(f"[{span(_UNSEEN)}]+")


@cache
def _marks_in_front() -> re.Pattern[str]:
    return re.compile(f"\\A[{span(MARK)}]+")


@cache
def _folds() -> dict[int, int]:
    entries = _entries()
    changed = np.flatnonzero(entries & 0x1FFFFF)
    return {int(point): int(point ^ (entries[point] & 0x1FFFFF)) for point in changed}


def folded(text: str) -> str:
    """The text in simple case folding, a character for each."""
    return text.translate(_folds())


class _Normal(NamedTuple):
    classes: dict[int, int]  # combining classes above 0
    canonical: dict[int, str]
    compatible: dict[int, str]
    dropped: frozenset[int]  # nonspacing marks
    composites: dict[tuple[str, str], str]


@cache
def _normal() -> _Normal:
    tables = _file()
    entries = tables["normal_stage2"].reshape(-1, 256)[tables["normal_stage1"]].reshape(-1)
    pool, records = tables["pool"].tolist(), tables["records"].tolist()

    def decompositions(which: int) -> dict[int, str]:
        some: dict[int, str] = {}
        for point in np.flatnonzero(entries >> 16).tolist():
            place = records[entries[point] >> 16][which]
            if place:
                some[point] = "".join(map(chr, pool[place >> 5 : (place >> 5) + (place & 31)]))
        return some

    both = zip(tables["pairs"].tolist(), tables["composites"].tolist(), strict=True)
    return _Normal(
        {int(point): int(entries[point] & 255) for point in np.flatnonzero(entries & 255)},
        decompositions(0),
        decompositions(1),
        frozenset(np.flatnonzero(entries & (1 << 14)).tolist()),
        {(chr(pair >> 21), chr(pair & 0x1FFFFF)): chr(whole) for pair, whole in both},
    )


def prepared(text: str, *, nfkc: bool, strip_accents: bool) -> str:
    """The text as the tokeniser sees it: normalised as asked."""
    if text.isascii():
        return text
    if nfkc:
        text = _composed(_decomposed(text, _normal().compatible))
    if strip_accents:
        dropped = _normal().dropped
        bare = "".join(c for c in _decomposed(text, _normal().canonical) if ord(c) not in dropped)
        text = _composed(bare)
    return text


def _decomposed(text: str, table: dict[int, str]) -> str:
    pieces: list[str] = []
    for character in text:
        point = ord(character)
        if _S <= point < _S + _S_COUNT:
            pieces.extend(_syllable(point - _S))
        else:
            pieces.extend(table.get(point, character))
    return _ordered(pieces)


def _syllable(index: int) -> list[str]:
    lead, rest = divmod(index, _V_COUNT * _T_COUNT)
    vowel, tail = divmod(rest, _T_COUNT)
    return [chr(_L + lead), chr(_V + vowel), *([chr(_T + tail)] if tail else [])]


def _ordered(pieces: list[str]) -> str:
    """In canonical order: marks between two starters by their class, stably."""
    classes = _normal().classes
    at = 0
    while at < len(pieces):
        end = at
        while end < len(pieces) and ord(pieces[end]) in classes:
            end += 1
        pieces[at:end] = sorted(pieces[at:end], key=lambda mark: classes[ord(mark)])
        at = end + 1
    return "".join(pieces)


def _composed(text: str) -> str:
    classes = _normal().classes
    characters: list[str] = []
    starter, last = -1, 0  # the place of the last starter, and the class of what was kept behind it
    for character in text:
        kind = classes.get(ord(character), 0)
        whole = None
        if starter >= 0 and (last < kind or starter == len(characters) - 1):
            whole = _joined(characters[starter], character)
        if whole is not None:
            characters[starter] = whole
            continue
        characters.append(character)
        last = kind
        if kind == 0:
            starter = len(characters) - 1
    return "".join(characters)


def _joined(first: str, second: str) -> str | None:
    a, b = ord(first), ord(second)
    if _L <= a < _L + 19 and _V <= b < _V + _V_COUNT:
        return chr(_S + ((a - _L) * _V_COUNT + b - _V) * _T_COUNT)
    if _S <= a < _S + _S_COUNT and (a - _S) % _T_COUNT == 0 and _T < b < _T + _T_COUNT:
        return chr(a + b - _T)
    return _normal().composites.get((first, second))
