"""Bytes of a page to UTF-8.

1. The encoding is that of the byte order mark, else of the header, else of the page's meta element, else detected.
2. What was declared counts only if the bytes can be read by it. A page whose markup has zeros between its letters is
   UTF-16 or UTF-32, one of ASCII with the escapes of ISO-2022-JP is that, and one that is UTF-8 is none of these.
3. No bytes raise: what cannot be decoded is left out.
"""

import codecs
import re
from contextlib import suppress
from typing import Any

from nearsame.errors import MissingExtraError

__all__ = [
    "by_mark",
    "decoded",
    "detected",
    "elements",
    "encoded",
    "encoding",
    "is_wide",
    "looks_like",
    "resiliparse",
    "to_utf8",
]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as that of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPES = (b"\x1b$B", b"\x1b$@")  # Japanese begins here in ISO-2022-JP
_WIDE_START = rb"[\0\t\n\r ]*<\0[!/?a-zA-Z]\0"
_TAG, _WIDE_TAG = rb"<[!/?a-zA-Z]", rb"<\0[!/?a-zA-Z]"
_PYTHONS = {  # names that Python knows otherwise, or has a superset for
    **dict.fromkeys(("cp949", "euc-kr", "euc_kr", "ks_c_5601-1987", "ms949", "uhc", "windows-949"), "cp949"),
    **dict.fromkeys(("x-mac-cyrillic", "x-mac-ukrainian"), "mac-cyrillic"),
}
_ASCII = bytes(range(128))
_SEEN = 4096  # bytes that are looked at for zeros
_LEAST_WIDE = 32  # characters: of fewer a zero says nothing
_ZEROS = 0.1  # of every other byte of UTF-16 markup at least, in any language
_MISFITS = 0.1  # of the bytes beyond ASCII at most: a stray letter or a cut one does not change the encoding


def encoding(raw: bytes, charset: str | None, *, markup: bool) -> tuple[str, bytes]:
    """The encoding of a page, and its bytes behind a byte order mark.

    Args:
        raw: The page.
        charset: What the header says.
        markup: Whether a meta element may say it.
    """
    for bom, name in _BOMS:
        if raw.startswith(bom):
            return name, raw[len(bom) :]
    if markup and (wide := _wide(raw)):
        return wide, raw
    if any(escape in raw for escape in _ESCAPES) and raw.isascii():
        return "iso2022_jp", raw
    named = _possible(_known(charset), raw, markup=markup)
    if named and _decodes(raw, named):
        return named, raw
    detect = resiliparse("parse.encoding").detect_encoding
    meant = _possible(_known(detect(raw, from_html_meta=markup)), raw, markup=markup)
    meant = meant or _known(detect(raw)) or "utf-8"
    if _decodes(raw, meant):
        return meant, raw
    guess = _known(detect(raw, html5_compatible=False))
    return (guess if guess and _decodes(raw, guess) else named or meant), raw


def by_mark(raw: bytes) -> str | None:
    """The encoding that a byte order mark says."""
    return next((name for bom, name in _BOMS if raw.startswith(bom)), None)


def detected(raw: bytes) -> str:
    """The encoding of a text file, or of its beginning, as it looks."""
    return "utf-8" if _is_plain(raw) else encoding(raw, None, markup=b"\0" in raw)[0]


def looks_like(raw: bytes) -> str:
    """The encoding, other than UTF-8, that the whole of a file can be read by; nothing where that cannot be told."""
    try:
        name = detected(raw)
        raw.decode(name)
    except (MissingExtraError, UnicodeError):
        return ""
    return "" if name == "utf-8" else name


def is_wide(raw: bytes) -> bool:
    """Whether a text without a byte order mark is one of UTF-16 or UTF-32, which are UTF-8 with zeros, too."""
    return b"\0" in raw and _wide(raw) is not None


def decoded(raw: bytes, asked: str | None) -> tuple[bytes, str]:
    """A text file in UTF-8, and the encoding that it has.

    Args:
        raw: The file.
        asked: Its encoding; `auto`: as it is detected; None: as its byte order mark says, else UTF-8, unseen.

    Raises:
        UnicodeDecodeError: It cannot be read by that encoding.
    """
    marked = by_mark(raw)
    if asked is None and marked in (None, "utf-8"):
        return raw, "utf-8"
    name = asked
    if asked is None or asked == "auto":
        if marked is None and _is_plain(raw):
            return raw, "utf-8"
        name, raw = encoding(raw, None, markup=b"\0" in raw)
    name = str(name)
    return raw.decode(name).encode("utf-8", "surrogatepass"), codecs.lookup(name).name


def encoded(text: str, encoding: str, like: bytes, name: str | None) -> bytes:
    r"""A text in an encoding, with the byte order mark of a file like it; in UTF-8 where `name` would not read it so.

    >>> encoded("né", "latin-1", b"n\xe9e", "latin-1"), encoded("a", "utf-16-le", b"\xff\xfea\0b\0", "auto")
    (b'n\xe9', b'\xff\xfea\x00')
    """
    plain = text.encode()
    if name is None and encoding == "utf-8":
        return plain
    own = text.encode(encoding, "ignore")
    bom = next((mark for mark, _ in _BOMS if like.startswith(mark)), b"")
    for data in (own, bom + own):
        with suppress(UnicodeDecodeError):
            if data.startswith(bom) and decoded(data, name)[0] == plain:
                return data
    return plain


def _is_plain(raw: bytes) -> bool:
    """Whether it is UTF-8 and nothing else; a character that is cut off at the end is none of another encoding."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        return False
    return b"\0" not in raw and not raw.startswith(codecs.BOM_UTF8)


def to_utf8(raw: bytes, name: str) -> bytes:
    """The same text in UTF-8; what is none is left out."""
    text = resiliparse("parse.encoding").bytes_to_str(raw, name, "ignore", ("utf-8", "cp1252"))
    return str(text).encode("utf-8", "ignore")


def _wide(raw: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark: markup has zeros where these have the higher bytes of ASCII."""
    if start := re.match(_WIDE_START, raw):
        return "utf-16-be" if raw.index(b"<", 0, start.end()) % 2 else "utf-16-le"
    seen = raw[: min(_SEEN, len(raw) // 4 * 4)]
    length = len(seen) // 2
    if length < _LEAST_WIDE:
        return None
    if len(re.findall(_TAG, seen)) > len(re.findall(_WIDE_TAG, seen)):
        return None  # whatever the zeros are, its markup has none
    zeros = [seen[place::4].count(0) for place in range(4)]
    if max(zeros[0], zeros[3]) == len(seen) // 4 > 2 * min(zeros[0], zeros[3]) and min(zeros[1], zeros[2]) > 0:
        return "utf-32-le" if zeros[3] > zeros[0] else "utf-32-be"
    first, second = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if max(first, second) < _ZEROS * length or 4 * min(first, second) > max(first, second):
        return None
    return "utf-16-le" if second > first else "utf-16-be"


def _possible(name: str | None, raw: bytes, *, markup: bool) -> str | None:
    """Neither of these of bytes that are UTF-8 or, without a zero, markup: any bytes can be read as UTF-16."""
    if name is None or not name.startswith(("utf-16", "utf-32")) or b"\0" in raw:
        return name
    if markup:
        return None
    return "utf-8" if _decodes(raw, "utf-8") else name


def _known(charset: str | None) -> str | None:
    if not charset:
        return None
    name = charset.strip(" \"'").lower()
    label = _PYTHONS.get(name) or resiliparse("parse.encoding").map_encoding_to_html5(name, fallback_utf8=False)
    try:
        return codecs.lookup(_PYTHONS.get(label, label)).name if label else None
    except LookupError:
        return None


def _decodes(raw: bytes, name: str) -> bool:
    """Whether bytes can be read by an encoding, but for a few."""
    try:
        raw.decode(name)
    except UnicodeError:
        beyond = len(raw.translate(None, _ASCII))
        return raw.decode(name, "replace").count("\ufffd") <= _MISFITS * beyond
    return True


def elements(document: Any, selector: str) -> Any:
    """The elements of a parsed page that a selector is about; going through the parser's own list is quadratic."""
    found = document.query_selector_all(selector)
    return found[:] if len(found) else ()


def resiliparse(module: str) -> Any:
    """A module of the package that parses pages.

    Raises:
        MissingExtraError: It is not installed.
    """
    from importlib import import_module  # noqa: PLC0415  (beside its only use)

    try:
        return import_module(f"resiliparse.{module}")
    except ImportError as error:
        raise MissingExtraError.of("resiliparse is not installed", "web") from error
