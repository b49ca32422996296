"""Normalise a column of texts: NFKC, accents dropped, or both, by the frozen Unicode tables.

1. Nulls stay null, an empty text stays empty, and a normalised text stays as it is.
2. Accents are what General_Category Mn says, after canonical decomposition; the rest is composed again (NFC).
"""

import numpy as np
import pyarrow as pa

from nearsame.arrow import Bytes, Int64s, Strings, strings
from nearsame.kernels import normalise as kernels
from nearsame.kernels import unicode

__all__ = ["normalise", "normalised"]


def normalise(column: pa.LargeStringArray, *, nfkc: bool, strip_accents: bool) -> pa.LargeStringArray:
    """The texts normalised; with neither asked for, the column itself.

    Args:
        column: Texts; nulls stay.
        nfkc: Unicode NFKC: ligatures, full-width forms and the like become plain.
        strip_accents: Drop nonspacing marks after decomposition: é becomes e.

    >>> texts = pa.array(["ﬁn de siècle", None], pa.large_string())
    >>> normalise(texts, nfkc=True, strip_accents=True).to_pylist()
    ['fin de siecle', None]
    """
    if not (nfkc or strip_accents):
        return column
    mode = kernels.BOTH if nfkc and strip_accents else kernels.NFKC if nfkc else kernels.STRIP_ACCENTS
    texts = strings(column)
    data, offsets = normalised(texts, mode)
    validity = pa.array(~texts.is_null).buffers()[1] if column.null_count else None
    return pa.LargeStringArray.from_buffers(len(column), pa.py_buffer(offsets), pa.py_buffer(data), validity)


def normalised(texts: Strings, mode: int) -> tuple[Bytes, Int64s]:
    """(data, offsets) of some texts in one of the kernel's modes, in a buffer of their own."""
    num_rows = texts.offsets.size - 1
    size = int(texts.offsets[-1] - texts.offsets[0])
    out = np.empty(size + size // 16 + 64, np.uint8)
    offsets = np.zeros(num_rows + 1, np.int64)
    table = unicode.normalisation()
    row = kernels.normalise(texts.data, texts.offsets, texts.is_null, 0, mode, table, out, offsets)
    while row < num_rows:
        used, row_size = int(offsets[row]), int(texts.offsets[row + 1] - texts.offsets[row])
        larger = np.empty(max(2 * out.size, used + 11 * row_size + 72), np.uint8)
        larger[:used] = out[:used]
        out = larger
        row = kernels.normalise(texts.data, texts.offsets, texts.is_null, row, mode, table, out, offsets)
    return out[: offsets[-1]], offsets
