"""The frozen Unicode tables, read from unicode.npy and unicode.npz once, when first asked for.

1. They are data of the package: no answer depends on the Unicode of the Python that runs it.
   scripts/make-unicode-tables makes the files; their version is part of every text recipe.
2. `tables`, for tokens: an entry is `(c ^ fold) | class << 24`, the simple case folding of the code point c (itself
   where it has none) and what it is to the tokeniser. Look one up as `stage2[(stage1[c >> 8] << 8) | (c & 255)]`;
   the fold is then `c ^ (entry & FOLD_MASK)`.
3. Folds are relative so that equal blocks are stored once, in memory as in the file: 140 blocks of 1 KB, not 4,352,
   which stay in a core's second-level cache.
4. `normalisation`, for NFKC and for dropping accents: an entry, looked up likewise, has these bits.

        0-7     canonical combining class
        8-10    inert in mode NFKC, STRIP_ACCENTS, BOTH: alone it stays as it is, and it is a boundary
        11-13   a boundary in that mode: what it decomposes into neither moves before nor joins with what precedes it
        14      General_Category is Mn: what STRIP_ACCENTS drops
        15      may be the second character of a composition
        16-31   its record: where its decompositions stand
"""

import functools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.arrow import frozen

__all__ = [
    "ALONE",
    "BACKWARD",
    "BOUNDARY_SHIFT",
    "CLASS_SHIFT",
    "DROPPED",
    "FOLD_MASK",
    "INERT_SHIFT",
    "MARK",
    "OTHER",
    "RECORD_SHIFT",
    "SPACE",
    "UNSEEN",
    "VERSION",
    "WORD",
    "Normalisation",
    "Tables",
    "classes",
    "fold",
    "normalisation",
    "tables",
]

VERSION = "16.0.0"

OTHER = 0  # punctuation, symbols, controls, and what is not assigned
WORD = 1  # letters, numbers and the underscore
ALONE = 2  # a WORD character of a script without spaces: Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar
SPACE = 3  # the property White_Space
MARK = 4  # combining marks: of the character before them, whatever that is
UNSEEN = 5  # what is not shown: variation selectors, joiners, soft hyphens, marks of direction

CLASS_SHIFT = 24
FOLD_MASK = (1 << 21) - 1

INERT_SHIFT = 8
BOUNDARY_SHIFT = 11
DROPPED = 1 << 14
BACKWARD = 1 << 15
RECORD_SHIFT = 16

_CLASSES, _FORMS = (Path(__file__).with_name(f"unicode.{end}") for end in ("npy", "npz"))
_NUM_BLOCKS = 0x1100  # of 256 code points each


class Tables(NamedTuple):
    """Fold and class of every code point, in two stages; read-only."""

    stage1: npt.NDArray[np.uint16]  # [0x1100]: the block of the code point
    stage2: npt.NDArray[np.uint32]  # [num_blocks * 256]: the entry, whose fold is relative


class Normalisation(NamedTuple):
    """Decompositions and compositions, Hangul left to arithmetic; read-only."""

    stage1: npt.NDArray[np.uint16]  # [0x1100]
    stage2: npt.NDArray[np.uint32]  # [num_blocks * 256]: the entry
    records: npt.NDArray[np.uint32]  # [n, 2]: canonical, compatible: start in pool << 5 | length; 0 for "itself"
    pool: npt.NDArray[np.uint32]  # the code points of full decompositions, in canonical order
    pairs: npt.NDArray[np.int64]  # sorted: first << 21 | second
    composites: npt.NDArray[np.uint32]  # what each pair composes to


@functools.cache
def tables() -> Tables:
    """The tables, the same objects on every call.

    >>> stage1, stage2 = tables()
    >>> entry = int(stage2[(int(stage1[ord("É") >> 8]) << 8) | (ord("É") & 255)])
    >>> chr(ord("É") ^ (entry & FOLD_MASK)), entry >> CLASS_SHIFT == WORD
    ('é', True)
    """
    stages = np.load(_CLASSES, allow_pickle=False)
    return Tables(frozen(stages[:_NUM_BLOCKS].astype(np.uint16)), frozen(stages[_NUM_BLOCKS:]))


@functools.cache
def normalisation() -> Normalisation:
    """What normalisation reads, the same objects on every call."""
    names = ("normal_stage1", "normal_stage2", "records", "pool", "pairs", "composites")
    with np.load(_FORMS, allow_pickle=False) as file:
        return Normalisation(*(frozen(file[name]) for name in names))


def fold(text: str) -> str:
    """Simple case folding of a text: what the tokeniser does to each character.

    >>> fold("STRAẞE")
    'straße'
    """
    code_points = _code_points(text)
    return "".join(map(chr, (code_points ^ (_entries(code_points) & FOLD_MASK)).tolist()))


def classes(text: str) -> list[int]:
    """What each character of a text is to the tokeniser: OTHER, WORD, ALONE, SPACE, MARK or UNSEEN.

    >>> classes("a 漢!")
    [1, 3, 2, 0]
    """
    return list(map(int, _entries(_code_points(text)) >> CLASS_SHIFT))


def _code_points(text: str) -> npt.NDArray[np.uint32]:
    return np.fromiter(map(ord, text), np.uint32, len(text))


def _entries(code_points: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    stage1, stage2 = tables()
    found: npt.NDArray[np.uint32] = stage2[(stage1[code_points >> 8].astype(np.uint32) << 8) | (code_points & 255)]
    return found
