"""The frozen Unicode tables, read from unicode.npz once, when first asked for.

1. They are data of the package: no answer depends on the Unicode of the Python that runs it.
   scripts/make-unicode-tables makes the file; its version is part of every text recipe.
2. An entry is `fold | class << 24`: the simple case folding of the code point (itself where it has none), and what it is
   to the tokeniser. Look one up as `stage2[(stage1[c >> 8] << 8) | (c & 255)]`.
3. Folds are absolute, so that a kernel needs no second addition, and therefore no two blocks in memory are equal: stage2
   takes 4.4 MB, of which a text touches the blocks of its scripts. In the file a fold of 0 says "itself", and 140 blocks do.
"""

import functools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from samesame.arrow import frozen

__all__ = ["ALONE", "CLASS_SHIFT", "FOLD_MASK", "OTHER", "SPACE", "VERSION", "WORD", "Tables", "fold", "tables"]

VERSION = "16.0.0"

OTHER = 0  # punctuation, symbols, controls, and what is not assigned
WORD = 1  # letters, marks, numbers and the underscore
ALONE = 2  # a WORD character of a script without spaces: Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar
SPACE = 3  # the property White_Space

CLASS_SHIFT = 24
FOLD_MASK = (1 << 21) - 1

_FILE = Path(__file__).with_name("unicode.npz")
_NUM_CODE_POINTS = 0x110000


class Tables(NamedTuple):
    """Fold and class of every code point, in two stages; read-only."""

    stage1: npt.NDArray[np.uint16]  # [0x1100]: the block of the code point
    stage2: npt.NDArray[np.uint32]  # [num_blocks * 256]: the entry


@functools.cache
def tables() -> Tables:
    """The tables, the same objects on every call.

    >>> stage1, stage2 = tables()
    >>> entry = int(stage2[(int(stage1[ord("É") >> 8]) << 8) | (ord("É") & 255)])
    >>> chr(entry & FOLD_MASK), entry >> CLASS_SHIFT == WORD
    ('é', True)
    """
    with np.load(_FILE, allow_pickle=False) as file:
        entries = file["stage2"].reshape(-1, 256)[file["stage1"]].reshape(-1)
    code_points = np.arange(_NUM_CODE_POINTS, dtype=np.uint32)
    entries += np.where(entries & FOLD_MASK == 0, code_points, np.uint32(0))
    return Tables(frozen(np.arange(_NUM_CODE_POINTS >> 8, dtype=np.uint16)), frozen(entries))


def fold(text: str) -> str:
    """Simple case folding of a text: what the tokeniser does to each character.

    >>> fold("STRAẞE")
    'straße'
    """
    stage1, stage2 = tables()
    code_points = np.fromiter(map(ord, text), np.uint32, len(text))
    block = stage1[code_points >> 8].astype(np.uint32)
    folded = stage2[(block << 8) | (code_points & 255)] & FOLD_MASK
    return "".join(map(chr, folded.tolist()))
