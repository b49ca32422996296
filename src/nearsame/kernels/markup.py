"""Markup made harmless for parsers, whose time grows with the square of depth, attributes, options and strays.

1. Tags are found as HTML tokenisers do it: quoted values, comments and the contents of scripts hold none.
2. `survey` measures, `tame` copies without what is beyond a bound. Neither repairs anything else.
3. The depth is an estimate: elements that need no end tag (p, li, br and their like) do not count, and an end tag ends
   one open element of its name. It is at most a small factor below the true depth.
4. A stray is a tag with attributes beside which text is out of place: an end tag, a part of a table where none is open
   or behind text that is in no cell, another html or body. For each, one parser keeps a copy of the text before it.
"""

import numpy as np

from nearsame.kernels._jit import jit

__all__ = ["survey", "tame"]

_NAMES = 4096  # buckets of open elements by name


def _hash(name: bytes) -> int:
    value = 0
    for byte in name:
        value = (value * 31 + byte) & 0xFFFFFFFF
    return value


_FREE_NAMES = (
    b"area base br col embed hr img input link meta param source track wbr frame p li dt dd tr td th thead tbody tfoot"
    b" option optgroup colgroup html head body"
)
_PART_NAMES = b"caption col colgroup frame tbody td tfoot th thead tr"
_ONCE_NAMES = b"body frameset head html"  # a page has three of them
_RAW_NAMES = b"script style textarea title xmp iframe noembed noframes"
_FREE = np.array(sorted(map(_hash, _FREE_NAMES.split())), np.int64)
_RAW = np.array(sorted(map(_hash, _RAW_NAMES.split())), np.int64)
_PARTS = np.array(sorted(map(_hash, _PART_NAMES.split())), np.int64)
_CELLS = np.array(sorted(map(_hash, (b"caption", b"td", b"th"))), np.int64)
_ONCE = np.array(sorted(map(_hash, _ONCE_NAMES.split())), np.int64)
_TABLE = _hash(b"table") % _NAMES
_OPTION, _OPTGROUP = _hash(b"option"), _hash(b"optgroup")
_FREE.flags.writeable = False
_RAW.flags.writeable = False
_PARTS.flags.writeable = False
_CELLS.flags.writeable = False
_ONCE.flags.writeable = False


@jit
def _is_space(byte):
    return byte == 32 or (9 <= byte <= 13 and byte != 11)


@jit
def _is_letter(byte):
    return 97 <= (byte | 32) <= 122


@jit
def _listed(names, value):
    at = np.searchsorted(names, value)
    return at < names.size and names[at] == value


@jit
def _name(data, i, end):
    """(hash of the name, lower case; the byte behind it)."""
    value = np.int64(0)
    while i < end and not (_is_space(data[i]) or data[i] == 47 or data[i] == 62):
        byte = np.int64(data[i])
        if 65 <= byte <= 90:
            byte += 32
        value = (value * 31 + byte) & 0xFFFFFFFF
        i += 1
    return value, i


@jit
def _attribute(data, i, end):
    """The byte behind the attribute that begins at i: its name, and its value if it has one."""
    i += 1
    while i < end and not (_is_space(data[i]) or data[i] == 47 or data[i] == 62 or data[i] == 61):
        i += 1
    behind = i
    while i < end and _is_space(data[i]):
        i += 1
    if i >= end or data[i] != 61:
        return behind
    i += 1
    while i < end and _is_space(data[i]):
        i += 1
    if i < end and (data[i] == 34 or data[i] == 39):
        quote = data[i]
        i += 1
        while i < end and data[i] != quote:
            i += 1
        return min(i + 1, end)
    while i < end and not (_is_space(data[i]) or data[i] == 62):
        i += 1
    return i


@jit
def _tag_end(data, i, end, most):
    """(the byte behind the tag, how many attributes it has, the byte behind the last that may stay)."""
    count, kept = 0, i
    while i < end and data[i] != 62:
        if _is_space(data[i]) or data[i] == 47:
            i += 1
            continue
        i = _attribute(data, i, end)
        count += 1
        if count <= most:
            kept = i
    return min(i + 1, end), count, kept


@jit
def _behind_comment(data, i, end):
    """The byte behind a comment, whose text begins at i."""
    while i + 2 < end and not (data[i] == 45 and data[i + 1] == 45 and data[i + 2] == 62):
        i += 1
    return min(i + 3, end)


@jit
def _raw_end(data, i, end, name):
    """The byte at which the end tag of an element with raw text begins."""
    while i + 1 < end:
        if data[i] == 60 and data[i + 1] == 47 and _name(data, i + 2, end)[0] == name:
            return i
        i += 1
    return end


@jit
def _has_words(data, start, end):
    while start < end and _is_space(data[start]):
        start += 1
    return start < end


@jit
def _walk(data, start, end, bounds, opened, out):
    """(most attributes of a tag, greatest depth, options, tags, strays, bytes in `out`, not written if empty)."""
    writing = out.size > 0
    most_attributes, most_depth, most_options, most_tags, most_strays = bounds
    widest, depth, deepest, options, tags, strays, size, seen = 0, 0, 0, 0, 0, 0, 0, 0
    in_cell, loose = True, False  # of a table; whether there is text in it that is in no cell
    i = start
    while i < end:
        at = i
        while i < end and data[i] != 60:
            i += 1
        if writing:
            out[size : size + i - at] = data[at:i]
            size += i - at
        if i >= end:
            break
        loose = loose or (not in_cell and opened[_TABLE] > 0 and _has_words(data, at, i))
        at = i
        closing = i + 1 < end and data[i + 1] == 47
        first = i + 2 if closing else i + 1
        kept, tail, drop = at, at, False
        if first < end and _is_letter(data[first]):
            name, behind = _name(data, first, end)
            i, count, kept = _tag_end(data, behind, end, most_attributes)
            tail = i - 1 if count > most_attributes else kept
            widest = max(widest, count)
            raw = _listed(_RAW, name)
            tags += 1
            once, part = _listed(_ONCE, name), _listed(_PARTS, name)
            of_table = part or name % _NAMES == _TABLE
            if count and (closing or (once and seen >= _ONCE.size - 1) or (part and (loose or opened[_TABLE] == 0))):
                strays += 1
                if strays > most_strays:
                    kept, tail = behind, i - 1
            seen += once and not closing
            if of_table:
                is_nested = name % _NAMES == _TABLE and opened[_TABLE] > 1  # it ended in a cell of another one
                in_cell = is_nested if closing else _listed(_CELLS, name)
                loose = loose and not in_cell
            of_list = name in (_OPTION, _OPTGROUP)
            options += of_list
            slot = name % _NAMES
            if closing:
                if opened[slot] > 0:
                    drop = depth > most_depth and not raw
                    opened[slot] -= 1
                    depth -= 1
            elif not _listed(_FREE, name) and not raw:
                opened[slot] += 1
                depth += 1
                deepest = max(deepest, depth)
                drop = depth > most_depth
            elif raw:
                i_raw = _raw_end(data, i, end, name)
                if writing:
                    out[size : size + kept - at] = data[at:kept]
                    size += kept - at
                    out[size : size + i_raw - tail] = data[tail:i_raw]
                    size += i_raw - tail
                i = i_raw
                continue
            drop = drop or (not raw and (tags > most_tags or (of_list and options > most_options)))
        elif i + 3 < end and data[i + 1] == 33 and data[i + 2] == 45 and data[i + 3] == 45:
            i = _behind_comment(data, i + 4, end)
        else:
            i += 1
        if writing and drop:
            out[size] = 32
            size += 1
        elif writing:
            out[size : size + kept - at] = data[at:kept]
            size += kept - at
            out[size : size + i - tail] = data[tail:i]
            size += i - tail
    return widest, deepest, options, tags, strays, size


@jit
def survey(data, offsets, out):
    """Measure pages.

    Args:
        data: uint8, read-only: markup in an encoding that holds ASCII.
        offsets: int64, where pages begin, and the end of the last.
        out: int64[pages, 5], filled: the most attributes of one tag, the estimated depth, and how many tags are of
            options, of anything, and strays.
    """
    nothing, bounds = np.empty(0, np.uint8), (0, 0, 0, 0, 0)
    for row in range(offsets.size - 1):
        opened = np.zeros(_NAMES, np.int32)
        widest, deepest, options, tags, strays, _ = _walk(data, offsets[row], offsets[row + 1], bounds, opened, nothing)
        out[row, 0] = widest
        out[row, 1] = deepest
        out[row, 2] = options
        out[row, 3] = tags
        out[row, 4] = strays


@jit
def tame(data, bounds, out):
    """Copy one page without what is beyond its bounds; returns the size.

    Args:
        data: uint8, read-only: the page.
        bounds: int64[5]: how many attributes of a tag stay, how deep tags may lie, how many tags of options there
            may be, how many tags at all, and how many strays. A tag beyond them becomes a space, a stray loses its
            attributes; text stays.
        out: uint8[data.size + 1], filled from the start.
    """
    given = (bounds[0], bounds[1], bounds[2], bounds[3], bounds[4])
    return _walk(data, 0, data.size, given, np.zeros(_NAMES, np.int32), out)[5]
