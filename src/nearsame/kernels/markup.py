"""Markup made harmless for parsers, whose time grows with the square of depth, attributes, options and strays.

1. Tags are found as HTML tokenisers do it: quoted values, comments and the contents of scripts hold none.
2. `survey` measures, `tame` copies without what is beyond a bound. Neither repairs anything else.
3. The depth is an estimate: elements that need no end tag (p, li, br and their like) do not count, and an end tag ends
   one open element of its name, unless a table, an object or the like began since: parsers ignore it then. It is at
   most a small factor below the true depth.
4. A stray is a tag with attributes beside which text is out of place: an end tag, a part of a table where none is open
   or behind text that is in no cell, another html or body. For each, one parser keeps a copy of the text before it.
5. A doubt is a script or the like in a drawing, a formula, a list of options or a frameset, with what looks like tags
   in it: parsers take them for tags there. Tamed, it has none.
6. Parsers open `b`, `font` and their like anew in each paragraph until they are closed, so these copies count as tags.
"""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.elements import (
    FACTOR,
    MASK,
    MATH,
    NUM_SLOTS,
    SELECT,
    SVG,
    TABLE,
    begin,
    draws,
    finish,
    hash_of,
    listed,
)

__all__ = ["survey", "tame"]

_MOST_FORMATS = 8  # open at once, in a tamed page


_FREE_NAMES = (
    b"area base br col embed hr img input link meta param source track wbr frame p li dt dd tr td th thead tbody tfoot"
    b" option optgroup colgroup html head body"
)
_PART_NAMES = b"caption col colgroup frame tbody td tfoot th thead tr"
_ONCE_NAMES = b"body frameset head html"  # a page has three of them
_RAW_NAMES = b"script style textarea title xmp iframe noembed noframes"
_FORMAT_NAMES = b"b big code em font i s small strike strong tt u"
_DRAWN_NAMES = (  # what a drawing or a formula keeps, where a page has no end tag for it
    b"area base col colgroup frame html input link optgroup option param source tbody td tfoot th thead tr track wbr"
)
_BREAK_NAMES = (  # what ends a drawing or a formula by beginning in it, or (p, br) by its end tag
    b"b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu"
    b" meta nobr ol p pre ruby s small span strike strong sub sup table tt u ul var"
)
_FREE = np.array(sorted(map(hash_of, _FREE_NAMES.split())), np.int64)
_RAW = np.array(sorted(map(hash_of, _RAW_NAMES.split())), np.int64)
_PARTS = np.array(sorted(map(hash_of, _PART_NAMES.split())), np.int64)
_CELLS = np.array(sorted(map(hash_of, (b"caption", b"td", b"th"))), np.int64)
_ONCE = np.array(sorted(map(hash_of, _ONCE_NAMES.split())), np.int64)
_BREAKS = np.array(sorted(map(hash_of, _BREAK_NAMES.split())), np.int64)
_DRAWN = np.array(sorted(map(hash_of, _DRAWN_NAMES.split())), np.int64)
_FORMATS = np.array(sorted(map(hash_of, _FORMAT_NAMES.split())), np.int64)
_FRAMESET, _NOFRAMES, _SCRIPT = hash_of(b"frameset"), hash_of(b"noframes"), hash_of(b"script")
_OPTION, _OPTGROUP = hash_of(b"option"), hash_of(b"optgroup")
_FREE.flags.writeable = False
_RAW.flags.writeable = False
_PARTS.flags.writeable = False
_CELLS.flags.writeable = False
_ONCE.flags.writeable = False
_BREAKS.flags.writeable = False
_DRAWN.flags.writeable = False
_FORMATS.flags.writeable = False


@jit
def _is_space(byte):
    return byte == 32 or (9 <= byte <= 13 and byte != 11)


@jit
def _is_letter(byte):
    return 97 <= (byte | 32) <= 122


@jit
def _name(data, i, end):
    """(hash of the name, lower case; the byte behind it)."""
    value = np.int64(0)
    while i < end and not (_is_space(data[i]) or data[i] == 47 or data[i] == 62):
        byte = np.int64(data[i])
        if 65 <= byte <= 90:
            byte += 32
        value = (value * FACTOR + byte) & MASK
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
    """The byte behind a comment that begins at i: `-->` ends it, also at once, as in `<!-->`, and `--!>`."""
    first, i = i + 4, i + 2
    while i + 2 < end:
        if data[i] == 45 and data[i + 1] == 45:
            if data[i + 2] == 62:
                return i + 3
            if i >= first and data[i + 2] == 33 and i + 3 < end and data[i + 3] == 62:
                return i + 4
        i += 1
    return end


@jit
def _behind_declaration(data, i, end):
    """The byte behind the next `>`: what begins with `<!`, `<?` or `</` and is neither comment nor tag ends there."""
    while i < end and data[i] != 62:
        i += 1
    return min(i + 1, end)


@jit
def _raw_end(data, i, end, name):
    """The byte at which the end tag of an element with raw text begins.

    In a script, `<!-- <script>` hides the next end tag, up to `-->`.
    """
    escaped, twice = False, False
    while i + 1 < end:
        if name == _SCRIPT and i + 2 < end and data[i] == 45 and data[i + 1] == 45 and data[i + 2] == 62:
            escaped, twice = False, False
        elif data[i] == 60 and data[i + 1] == 47:
            if _name(data, i + 2, end)[0] == name:
                if not twice:
                    return i
                twice = False
        elif name == _SCRIPT and data[i] == 60:
            if i + 3 < end and data[i + 1] == 33 and data[i + 2] == 45 and data[i + 3] == 45:
                escaped = True
                i += 1  # the dashes may be those of the end
            elif escaped and _name(data, i + 1, min(i + 8, end))[0] == name:
                twice = True
        i += 1
    return end


@jit
def _has_less(data, start, end):
    while start < end and data[start] != 60:
        start += 1
    return start < end


@jit
def _has_words(data, start, end):
    while start < end and _is_space(data[start]):
        start += 1
    return start < end


@jit
def _walk(data, start, end, bounds, out):
    """(most attributes, greatest depth, options, tags, strays, doubts, bytes in `out`, not written if empty)."""
    writing = out.size > 0
    most_attributes, most_depth, most_options, most_tags, most_strays, _ = bounds
    opened, formats, open_now = np.zeros(NUM_SLOTS, np.int32), np.zeros(_FORMATS.size, np.int64), np.zeros(3, np.int64)
    stack = np.empty(((end - start) // 3 + 1, 3), np.int64)
    widest, deepest, options, tags, strays, doubts, size, seen, formatting = 0, 0, 0, 0, 0, 0, 0, 0, 0
    drawing, endless = False, np.zeros(_RAW.size, np.bool_)
    in_cell, loose, framed = True, False, False  # of a table; whether there is text in it that is in no cell
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
        loose = loose or (not in_cell and opened[TABLE] > 0 and _has_words(data, at, i))
        at = i
        closing = i + 1 < end and data[i + 1] == 47
        first = i + 2 if closing else i + 1
        kept, tail, drop = at, at, False
        elsewhere = framed or opened[SVG] > 0 or opened[MATH] > 0 or opened[SELECT] > 0
        if first < end and _is_letter(data[first]):
            name, behind = _name(data, first, end)
            i, count, kept = _tag_end(data, behind, end, most_attributes)
            tail = i - 1 if count > most_attributes else kept
            widest = max(widest, count)
            raw = listed(_RAW, name)
            tags += 1
            once, part = listed(_ONCE, name), listed(_PARTS, name)
            of_table = part or name % NUM_SLOTS == TABLE
            if count and (closing or (once and seen >= _ONCE.size - 1) or (part and (loose or opened[TABLE] == 0))):
                strays += 1
                if strays > most_strays:
                    kept, tail = behind, i - 1
            seen += once and not closing
            begins_drawing = not closing and name % NUM_SLOTS in (SVG, MATH)
            drawing = begins_drawing or (drawing and not listed(_BREAKS, name) and draws(opened, open_now))
            framed = framed or name == _FRAMESET
            if of_table:
                is_nested = (  # it ended in a cell of another one
                    name % NUM_SLOTS == TABLE and opened[TABLE] > 0 and stack[opened[TABLE] - 1, 1] > 0
                )
                in_cell = is_nested if closing else listed(_CELLS, name)
                loose = loose and not in_cell
            of_list = name in (_OPTION, _OPTGROUP)
            options += of_list
            if listed(_FORMATS, name):
                which = np.searchsorted(_FORMATS, name)
                hides = writing and formatting >= _MOST_FORMATS + closing
                change = (-1 if formats[which] > 0 else 0) if closing else 1
                formats[which] += change
                formatting += change
                if hides:
                    continue  # without a space: a word may go on behind it
            if not writing and formatting > _MOST_FORMATS:
                tags += formatting - _MOST_FORMATS
            if closing:
                if open_now[1] > 0:
                    deep = open_now[1] > most_depth
                    drop = finish(opened, stack, open_now, name) and deep and not raw
            elif drawing and data[i - 1] == 62 and data[i - 2] == 47:
                drop = open_now[1] >= most_depth
            elif not raw and (not listed(_FREE, name) or (listed(_DRAWN, name) and draws(opened, open_now))):
                begin(opened, stack, open_now, name)
                deepest = max(deepest, open_now[1])
                drop = open_now[1] > most_depth
            elif raw:
                which = np.searchsorted(_RAW, name)
                i_raw = end if endless[which] else _raw_end(data, i, end, name)
                endless[which] = i_raw == end
                doubtful = elsewhere and name != _NOFRAMES and (i_raw == end or _has_less(data, i, i_raw))
                doubts += doubtful
                if doubtful and i_raw == end:  # what follows would be text for the one, tags for the other
                    if writing:
                        out[size] = 32
                        size += 1
                    continue
                if writing:
                    out[size : size + kept - at] = data[at:kept]
                    size += kept - at
                    out[size : size + i_raw - tail] = data[tail:i_raw]
                    size += i_raw - tail
                    if doubtful:
                        for place in range(size - (i_raw - i), size):
                            out[place] = 32 if out[place] == 60 else out[place]
                i = i_raw
                continue
            drop = drop or (not raw and (tags > most_tags or (of_list and options > most_options)))
        elif i + 3 < end and data[i + 1] == 33 and data[i + 2] == 45 and data[i + 3] == 45:
            i = _behind_comment(data, i, end)
        elif elsewhere and i + 8 < end and data[i + 1] == 33 and data[i + 2] == 91 and data[i + 8] == 91:
            doubts += 1  # CDATA, whose end is elsewhere in a page
            i += 9
            drop = True
        elif i + 1 < end and (data[i + 1] == 33 or data[i + 1] == 63 or closing):
            i = _behind_declaration(data, i + 2, end)
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
    return widest, deepest, options, tags, strays, doubts, size


@jit
def survey(data, offsets, out):
    """Measure pages.

    Args:
        data: uint8, read-only: markup in an encoding that holds ASCII.
        offsets: int64, where pages begin, and the end of the last.
        out: int64[pages, 6], filled: the most attributes of one tag, the estimated depth, and how many tags are of
            options, of anything, strays, and doubts.
    """
    nothing, bounds = np.empty(0, np.uint8), (0, 0, 0, 0, 0, 0)
    for row in range(offsets.size - 1):
        found = _walk(data, offsets[row], offsets[row + 1], bounds, nothing)
        out[row, 0] = found[0]
        out[row, 1] = found[1]
        out[row, 2] = found[2]
        out[row, 3] = found[3]
        out[row, 4] = found[4]
        out[row, 5] = found[5]


@jit
def tame(data, bounds, out):
    """Copy one page without what is beyond its bounds; returns the size.

    Args:
        data: uint8, read-only: the page.
        bounds: int64[6]: how many attributes of a tag stay, how deep tags may lie, how many tags of options there
            may be, how many tags at all, how many strays, and doubts. A tag beyond them becomes a space, a stray loses
            its attributes, a doubt its tags, whatever the bound; text stays.
        out: uint8[data.size + 1], filled from the start.
    """
    given = (bounds[0], bounds[1], bounds[2], bounds[3], bounds[4], bounds[5])
    return _walk(data, 0, data.size, given, out)[6]
