"""Texts without the marks of HTML and Markdown, for those who look for words.

1. Three things are read as what they stand for, wherever they are, so that a part of a text reads as it does in the
   whole: a tag of HTML (nothing within a line, else a space), a character reference (its character), and the address of
   a Markdown link (nothing).
2. What could be meant otherwise stays: names that HTML does not know, `<` and `&` in formulas, calls like `a[i](x)`,
   and a tag in which a text could stand: a value of 32 bytes and more with white space or other letters than ASCII
   (but for classes, styles and drawings), or five words that are no values.
3. What is read is never longer than what was given. Linear: nothing that is looked for is longer than 2,048 bytes.
"""

from html.entities import name2codepoint

import numpy as np

from nearsame.kernels._jit import jit, load64, store64
from nearsame.kernels.elements import FACTOR, MASK, hash_of, listed
from nearsame.kernels.normalise import encode

__all__ = ["INLINE", "NAMES", "REFERENCES", "end_words", "plain"]

INLINE = (  # what stands in it goes on with the word before it
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q ruby s samp small span strike strong"
    " sub sup time tt u var wbr"
)
NAMES = (  # all others of HTML's
    "address applet area article aside audio base basefont blink blockquote body br button canvas caption center col"
    " colgroup datalist dd details dialog dir div dl dt embed fieldset figcaption figure footer form frame frameset h1"
    " h2 h3 h4 h5 h6 head header hgroup hr html iframe img input label legend li link main map marquee menu meta meter"
    " nav nobr noframes noscript object ol optgroup option output p param picture pre progress rp rt script search"
    " section select slot source style summary svg table tbody td template textarea tfoot th thead title tr track ul"
    " video"
)
_CODE = "class d points sizes srcset style transform viewbox"  # attributes that hold no text, whatever their length
_ADDRESSES = "action cite href src"  # those that hold none without white space


def _hashes(names):
    found = np.array(sorted(hash_of(name.encode()) for name in names), np.int64)
    found.flags.writeable = False
    return found


def _references():
    """[2, n]: hashes of the names that HTML 4 gave to characters, sorted, and their code points."""
    rows = sorted((hash_of(name.encode()), point) for name, point in {**name2codepoint, "apos": 0x27}.items())
    found = np.array(rows, np.int64).T.copy()
    found.flags.writeable = False
    return found


_INLINE, _BLOCK = _hashes(INLINE.split()), _hashes(NAMES.split())
_CODES, _PLACES = _hashes(_CODE.split()), _hashes(_ADDRESSES.split())
REFERENCES = _references()
_NAME_HASHES, _NAME_POINTS = REFERENCES[0].copy(), REFERENCES[1].copy()
_NAME_HASHES.flags.writeable = _NAME_POINTS.flags.writeable = False
# numbers from 128 to 159 mean what they mean in Windows-1252, as HTML says
_WINDOWS = np.array([ord(bytes([at]).decode("cp1252", "replace")) for at in range(0x80, 0xA0)], np.int64)
_WINDOWS[_WINDOWS == 0xFFFD] = np.arange(0x80, 0xA0)[_WINDOWS == 0xFFFD]
_WINDOWS.flags.writeable = False

_ONES, _TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_AMPERSANDS, _ANGLES, _BRACKETS = (np.uint64(byte * 0x0101010101010101) for byte in (0x26, 0x3C, 0x5D))
_ZERO = np.uint64(0)
_LOW_LINE, _SPACE = np.uint8(0x5F), np.uint8(0x20)
_LONGEST = 2048
_TEXT, _WORDS = 32, 5  # what may be a text: bytes of a value, words without one
_NONE, _LINE, _BREAK = 0, 1, 2  # what a tag is


@jit
def _is_space(byte):
    return byte == 32 or 9 <= byte <= 13


@jit
def _is_letter(byte):
    return 97 <= (byte | 32) <= 122


@jit
def _lower(byte):
    return np.int64(byte | 32) if 65 <= byte <= 90 else np.int64(byte)


@jit
def _spaces(data, i, end):
    while i < end and _is_space(data[i]):
        i += 1
    return i


@jit
def _value(data, i, end):
    """Behind the value of an attribute that begins at i; -1 where there is none."""
    if i < end and (data[i] == 34 or data[i] == 39):
        quote, i = data[i], i + 1
        while i < end and data[i] != quote:
            i += 1
        return i + 1 if i < end else -1
    start = i
    while i < end and not (_is_space(data[i]) or data[i] in (34, 39, 60, 61, 62, 96)):  # " ' < = > `
        i += 1
    return i if i > start else -1


@jit
def _is_text(data, start, behind, name):
    """Whether a value could be a text that somebody looks for."""
    if behind - start < _TEXT or listed(_CODES, name):
        return False
    spaces = others = False
    for at in range(start, behind):
        spaces = spaces or _is_space(data[at])
        others = others or data[at] >= 0x80
    return spaces or (others and not listed(_PLACES, name))


@jit
def _attributes(data, i, end):
    """Behind the attributes of a tag, with the white space before them, and whether it may be one."""
    bare, values, texts = 0, False, False
    while True:
        at = _spaces(data, i, end)
        start, name = at, np.int64(0)
        while at < end and not (_is_space(data[at]) or data[at] in (34, 39, 47, 60, 61, 62)):  # " ' / < = >
            name = (name * FACTOR + _lower(data[at])) & MASK
            at += 1
        if start in (i, at):
            return i, (values or bare == 0) and bare < _WORDS and not texts
        i = at
        at = _spaces(data, at, end)
        if at < end and data[at] == 61:
            start = _spaces(data, at + 1, end)
            at = _value(data, start, end)
            if at >= 0:
                quote = data[start] == 34 or data[start] == 39
                texts = texts or _is_text(data, start + quote, at - quote, name)
                values, i = True, at
                continue
        bare += 1


@jit
def _tag(data, i, end):
    """Behind the tag that begins at i, and what it is."""
    end = min(end, i + _LONGEST)
    at = i + 1
    closes = at < end and data[at] == 47
    at += closes
    start, name = at, np.int64(0)
    while at < end and (_is_letter(data[at]) or (at > start and 48 <= data[at] <= 57)):
        name = (name * FACTOR + _lower(data[at])) & MASK
        at += 1
    if at == start:
        return i, _NONE
    kind = _LINE if listed(_INLINE, name) else _BREAK if listed(_BLOCK, name) else _NONE
    if kind == _NONE:
        return i, _NONE
    if not closes:
        at, is_tag = _attributes(data, at, end)
        if not is_tag:
            return i, _NONE
    at = _spaces(data, at, end)
    at += at < end and data[at] == 47
    return (at + 1, kind) if at < end and data[at] == 62 else (i, _NONE)


@jit
def _address(data, i, end):
    """Behind the `(address "title")` that begins at i; i where there is none."""
    end = min(end, i + _LONGEST)
    at, deep, marks = i + 1, 0, 0
    while at < end and not (_is_space(data[at]) or data[at] in (60, 62, 91, 93)):  # < > [ ]
        if data[at] == 40:
            deep += 1
        elif data[at] == 41:
            deep -= 1
        if not 0 <= deep <= 1:
            break
        marks += data[at] in (35, 46, 47, 58)  # # . / :
        at += 1
    if deep > 0 or marks == 0:
        return i
    start = _spaces(data, at, end)
    if start > at and start < end and (data[start] == 34 or data[start] == 39):
        behind = _value(data, start, end)
        if behind < 0 or behind - start - 2 >= _TEXT:
            return i
        start = _spaces(data, behind, end)
    return start + 1 if start < end and data[start] == 41 else i


@jit
def _digit(byte, base):
    """The digit that a byte is, or -1."""
    if 48 <= byte <= 57:
        return np.int64(byte) - 48
    return np.int64(byte | 32) - 87 if base == 16 and 97 <= (byte | 32) <= 102 else -1


@jit
def _reference(data, i, end):
    """Behind the character reference that begins at i, and its code point; (i, 0) where there is none."""
    end = min(end, i + 11)
    at, point, name = i + 1, 0, 0
    if at < end and data[at] == 35:
        at += 1
        base = 16 if at < end and (data[at] | 32) == 120 else 10
        at += base == 16
        start = at
        while at < end and at < start + 7 and _digit(data[at], base) >= 0:
            point = point * base + _digit(data[at], base)
            at += 1
        if 0x80 <= point < 0xA0:
            point = _WINDOWS[point - 0x80]
        if point > 0x10FFFF or 0xD800 <= point < 0xE000:
            point = 0
    else:
        start = at
        while at < end and (_is_letter(data[at]) or (at > start and 48 <= data[at] <= 57)):
            name = (name * FACTOR + data[at]) & MASK
            at += 1
        place = np.searchsorted(_NAME_HASHES, name)
        if place < _NAME_HASHES.size and _NAME_HASHES[place] == name:
            point = _NAME_POINTS[place]
    return (at + 1, point) if at < end and data[at] == 59 and point > 0 else (i, 0)


@jit
def _edit(data, i, end, out, o):
    """What begins at i: behind it, and behind what is written for it; (i, o) where nothing is to be read otherwise."""
    if data[i] == 60:  # <
        behind, kind = _tag(data, i, end)
        if kind == _BREAK:
            out[o] = 32
            o += 1
        return behind, o
    if data[i] == 38:  # &
        behind, point = _reference(data, i, end)
        return (behind, encode(point, out, o)) if point > 0 else (i, o)
    behind = _address(data, i + 1, end) if i + 1 < end and data[i + 1] == 40 else i + 1  # ](
    if behind == i + 1:
        return i, o
    out[o] = 93
    return behind, o + 1


@jit
def _has_mark(word):
    """Whether one of eight bytes is & < or ]; may be wrong where none is."""
    ampersands, angles, brackets = word ^ _AMPERSANDS, word ^ _ANGLES, word ^ _BRACKETS
    found = (ampersands - _ONES) & ~ampersands | (angles - _ONES) & ~angles | (brackets - _ONES) & ~brackets
    return found & _TOPS != _ZERO


@jit
def plain(data, offsets, out, ends, edits):
    """Read some texts as what their marks stand for; how many there are.

    Args:
        data: uint8, the texts' UTF-8, read-only.
        offsets: int64[n + 1].
        out: uint8, room for as many bytes; filled.
        ends: int64[n + 1], filled: text i is out[ends[i]:ends[i + 1]].
        edits: int64[any, 4], filled as far as there is room: from where to where in the texts, and in `out`.
    """
    o, changes = np.int64(0), 0
    for text in range(offsets.size - 1):
        i, end = offsets[text], offsets[text + 1]
        ends[text] = o
        while i < end:
            while i + 8 <= end:
                word = load64(data, i)
                if _has_mark(word):
                    break
                store64(out, o, word)
                i += 8
                o += 8
            if i == end:
                break
            byte = data[i]
            if byte in (38, 60, 93):  # & < ]
                behind, after = _edit(data, i, end, out, o)
                if behind > i:
                    if changes < edits.shape[0]:
                        edits[changes, 0], edits[changes, 1], edits[changes, 2], edits[changes, 3] = i, behind, o, after
                    changes += 1
                    i, o = behind, after
                    continue
            out[o] = byte
            i += 1
            o += 1
    ends[offsets.size - 1] = o
    return changes


@jit
def end_words(data):
    """A space in place of each `_`, which ends a word here as other marks of Markdown do."""
    for i in range(data.size):
        byte = data[i]
        data[i] = _SPACE if byte == _LOW_LINE else byte
