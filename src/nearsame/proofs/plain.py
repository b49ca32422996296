"""Texts as `leaks` reads their words: without the marks of HTML and Markdown. Regular expressions over their bytes."""

import re
from html.entities import name2codepoint

__all__ = ["plain"]

_LONGEST = 2048
_INLINE = frozenset(
    b"a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q ruby s samp small span strike strong"
    b" sub sup time tt u var wbr".split()
)
_BLOCK = frozenset(
    b"address applet area article aside audio base basefont blink blockquote body br button canvas caption center col"
    b" colgroup datalist dd details dialog dir div dl dt embed fieldset figcaption figure footer form frame frameset"
    b" h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img input label legend li link main map marquee menu meta"
    b" meter nav nobr noframes noscript object ol optgroup option output p param picture pre progress rp rt script"
    b" search section select slot source style summary svg table tbody td template textarea tfoot th thead title tr"
    b" track ul video".split()
)
_CODE, _ADDRESSES = (
    frozenset(names.split())
    for names in (b"class d points sizes srcset style transform viewbox", b"action cite href src")
)
_TEXT, _WORDS = 32, 5  # bytes of a value that may be a text, and words without one that may
_ATTRIBUTE = rb"""\s++([^\s"'<>/=]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'<>=`]++))?"""
_TAG = re.compile(rb"<(/?)([A-Za-z][A-Za-z0-9]*+)((?:%s)*+)\s*+/?>" % _ATTRIBUTE)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_ADDRESS = re.compile(rb"""\]\(((?:[^\s()<>\[\]]++|\([^\s()<>\[\]]*+\))*+)(?:\s++("[^"]*+"|'[^']*+'))?\s*+\)""")
_REFERENCE = re.compile(rb"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,7})|([A-Za-z][A-Za-z0-9]{0,9}));")
_MARKS = re.compile(rb"[&<\]]")


def plain(text: str) -> str:
    """The text without its marks.

    >>> plain("<b>fi</b>ve &lt; [fifty](http://x.org/y)<br>snake_case")
    'five < [fifty] snake_case'
    """
    data, read, at = text.encode("utf-8", "surrogatepass"), list[bytes](), 0
    while found := _MARKS.search(data, at):
        behind, stands_for = _read(data, found.start())
        read += data[at : found.start()], stands_for
        at = behind
    return b"".join([*read, data[at:]]).decode("utf-8", "surrogatepass")


def _read(data: bytes, at: int) -> tuple[int, bytes]:
    """What begins here: behind it, and what it stands for."""
    mark = data[at : at + 1]
    if mark == b"<" and (tag := _TAG.match(data, at, at + _LONGEST)):
        name, attributes = tag[2].lower(), _ATTRIBUTES.findall(tag[3])
        bare = sum(not value for _, value in attributes)
        is_tag = not tag[3] if tag[1] else bare < min(_WORDS, len(attributes) or 1)
        if is_tag and not any(_is_text(*one) for one in attributes) and name in _INLINE | _BLOCK:
            return tag.end(), b"" if name in _INLINE else b" "
    if mark == b"&" and (reference := _REFERENCE.match(data, at)) and (point := _point(reference)):
        return reference.end(), chr(point).encode()
    link = _ADDRESS.match(data, at, at + 1 + _LONGEST) if mark == b"]" else None
    if link and re.search(rb"[#./:]", link[1]) and len(link[2] or b"") - 2 < _TEXT:
        return link.end(), b"]"
    return at + 1, mark


def _is_text(name: bytes, value: bytes) -> bool:
    said = value[1:-1] if value[:1] in (b'"', b"'") else value
    if len(said) < _TEXT or name.lower() in _CODE:
        return False
    return bool(re.search(rb"\s", said)) or (not said.isascii() and name.lower() not in _ADDRESSES)


def _point(reference: re.Match[bytes]) -> int:
    """The code point of a character reference; 0: it is none."""
    decimal, hexadecimal, name = reference.groups()
    if name:
        return 0x27 if name == b"apos" else name2codepoint.get(name.decode(), 0)
    point = int(decimal) if decimal else int(hexadecimal, 16)
    if 0x80 <= point < 0xA0:
        said = bytes([point]).decode("cp1252", "replace")
        return point if said == "\ufffd" else ord(said)
    return point if point <= 0x10FFFF and not 0xD800 <= point < 0xE000 else 0
