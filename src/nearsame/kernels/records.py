"""Where the records of delimited text end: quotes are honoured, nothing is unescaped.

1. The rules are those of pyarrow's CSV reader: a quote opens only at the start of a field, a doubled quote
   inside stands for itself, and after the closing quote the field goes on unquoted to the next delimiter.
2. LF, CR and CR LF end a record outside quotes; an empty line is no record.
"""

import numpy as np

from nearsame.arrow import Bytes, Int64s
from nearsame.kernels._jit import jit

__all__ = ["ENDED", "UNCLOSED", "pass_record", "split_records"]

_LF, _CR, _QUOTE = 10, 13, 34

# Where a record that comes in pieces stands between two of them.
_FIELD, UNCLOSED, _QUOTE_SEEN, _PLAIN, _CR_SEEN, ENDED = range(6)


def split_records(data: Bytes, delimiter: int, *, final: bool) -> tuple[Int64s, Int64s, Int64s, Int64s, int, int]:
    """The records of `data`, which begins at the start of one.

    Args:
        data: uint8; the bytes.
        delimiter: The byte between fields.
        final: Whether the data ends here, so that its last record needs no line end.

    Returns:
        starts, ends (after the line end), the line of each start from 0, the number of fields of each (-1 where a
        quote never closes), the number of bytes consumed, and the number of lines in them.
    """
    most = int(np.count_nonzero(data == _LF)) + int(np.count_nonzero(data == _CR)) + 1
    starts, ends, lines, fields = (np.empty(most, np.int64) for _ in range(4))
    special = np.zeros(256, np.bool_)
    special[[delimiter, _LF, _CR]] = True
    settings = np.array([delimiter, final], np.int64)
    totals = np.zeros(3, np.int64)
    _split(data, special, settings, starts, ends, lines, fields, totals)
    count, consumed, num_lines = totals.tolist()
    return starts[:count], ends[:count], lines[:count], fields[:count], consumed, num_lines


@jit
def _split(data, special, settings, starts, ends, lines, fields, totals):
    """Fill the four arrays; totals becomes (records, bytes consumed, lines in them).

    `special` (bool[256]) marks delimiter, LF and CR; `settings` is (delimiter, whether the data is final).
    One pass, O(bytes).
    """
    delimiter, final = settings[0], settings[1]
    size = len(data)
    count = 0
    line = 0
    at = 0
    while at < size:
        start, first = at, line
        number = 1
        whole = False
        unclosed = False
        while True:
            if at < size and data[at] == _QUOTE:
                at += 1
                closed = False
                while at < size:
                    byte = data[at]
                    at += 1
                    if byte == _LF:
                        line += 1
                    elif byte == _QUOTE:
                        if at < size and data[at] == _QUOTE:
                            at += 1
                        else:
                            closed = at < size or final == 1
                            break
                if not closed:
                    unclosed = True
                    break
            while at < size and not special[data[at]]:
                at += 1
            if at < size and data[at] == delimiter:
                at += 1
                number += 1
                continue
            if at == size:
                whole = final == 1
            elif data[at] == _LF:
                at += 1
                whole = True
                line += 1
            elif at + 1 < size or final == 1:  # CR, perhaps of CR LF: the next byte must be known
                at += 2 if at + 1 < size and data[at + 1] == _LF else 1
                whole = True
                line += 1
            break
        if unclosed and final == 1:
            at = size
            number = -1
            whole = True
        if not whole:
            at, line = start, first
            break
        if number != 1 or not (data[start] == _LF or data[start] == _CR):
            starts[count] = start
            ends[count] = at
            lines[count] = first
            fields[count] = number
            count += 1
    totals[0] = count
    totals[1] = at
    totals[2] = line


@jit
def pass_record(data, delimiter, state):
    """How many bytes of a piece belong to the record that began in an earlier one, by the rules of `split_records`.

    Args:
        data: uint8; the piece.
        delimiter: the byte between fields.
        state: int64[2], zeros before the first piece: where the record stands (UNCLOSED: within quotes), which is
            ENDED once its end is found, and how many lines ended in it.
    """
    where, lines = state[0], state[1]
    at = 0
    while at < len(data) and where != ENDED:
        byte = data[at]
        if where == _CR_SEEN:
            where = ENDED
            at += byte == _LF
            break
        at += 1
        if where == UNCLOSED:
            lines += byte == _LF
            where = _QUOTE_SEEN if byte == _QUOTE else UNCLOSED
        elif byte == _QUOTE and where in (_FIELD, _QUOTE_SEEN):
            where = UNCLOSED
        elif byte == _LF:
            lines += 1
            where = ENDED
        elif byte == _CR:
            lines += 1
            where = _CR_SEEN
        else:
            where = _FIELD if byte == delimiter else _PLAIN
    state[0], state[1] = where, lines
    return at
