"""Where lines begin and end; blank ones are counted and cost nothing more."""

import numpy as np

from nearsame.arrow import Bytes, Int64s
from nearsame.kernels._jit import jit

__all__ = ["split_lines"]

_LF, _CR, _TAB, _SPACE = 10, 13, 9, 32
_NONE = np.zeros(0, np.int64)


def split_lines(data: Bytes, *, final: bool) -> tuple[Int64s, Int64s, Int64s, int, int, bool]:
    """The lines of `data`, which begins at the start of one, that are not blank.

    Args:
        data: uint8; the bytes.
        final: Whether the data ends here, so that its last line needs no line end.

    Returns:
        starts, ends (after the line end), the number of each line from 0, the number of all lines that end here, the
        bytes up to the end of the last of them, and whether what is behind it is blank.
    """
    totals = np.zeros(4, np.int64)
    _split(data, final, _NONE, _NONE, _NONE, totals)
    starts, ends, lines = np.empty((3, totals[0]), np.int64)
    _split(data, final, starts, ends, lines, totals)
    return starts, ends, lines, int(totals[1]), int(totals[2]), bool(totals[3])


@jit
def _split(data, final, starts, ends, lines, totals):
    """Fill the three arrays as far as they go; totals becomes (lines that are not blank, lines, bytes, blank rest).

    One pass, O(bytes).
    """
    count = 0
    line = 0
    start = 0
    blank = True
    size = len(data)
    for at in range(size + 1):
        if at < size and data[at] != _LF:
            byte = data[at]
            if byte not in (_SPACE, _CR, _TAB):
                blank = False
            continue
        end = at + 1 if at < size else size
        if at == size and (not final or start == size):
            break
        if not blank:
            if count < len(starts):
                starts[count] = start
                ends[count] = end
                lines[count] = line
            count += 1
        line += 1
        start = end
        blank = True
    totals[0] = count
    totals[1] = line
    totals[2] = start
    totals[3] = blank
