"""One page: its bytes to its text, as a process of its own does it for many pages.

1. Nothing here loads NumPy or Arrow before a rare page needs a kernel: a process that takes the text out of pages is
   there in a few hundredths of a second.
2. No bytes raise: what cannot be decoded is left out, and markup of any shape has some text.
3. Parsers take time by the square of a tag's attributes, of the depth and of a list's options, and memory by the
   number of tags: a page beyond the bounds here loses those attributes and tags (never text) before it is parsed.
"""

from collections.abc import Callable, Sequence
from typing import Any

from nearsame.errors import MissingExtraError
from nearsame.named import NamedTuple
from nearsame.page_encodings import encoding, resiliparse, to_utf8
from nearsame.recipes.choices import Extract
from nearsame.stages.texts.page_content import MAIN, PageContent, main_or_visible, visible

__all__ = ["NUM_BOUNDS", "page_content"]

_MARKUP = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})


class _Bounds(NamedTuple):
    """What a page may have before it is parsed."""

    attributes: int = 1_000  # of one tag
    depth: int = 256
    options: int = 2_000  # tags of options and their groups: parsers look at all others of a list for each
    tags: int = 500_000  # some 3 µs and 700 bytes each
    strays: int = 16  # for each the parser keeps a copy of the text so far
    doubts: int = 0  # tags for the parser, none for the survey


_BOUNDS = _Bounds()
NUM_BOUNDS = len(_BOUNDS)
_MOST_INDENTED = 1 << 26  # depth times bytes: about as many characters of indentation may come of it

Shape = Sequence[int]  # what a page has of each bound: see kernels/markup.py
Extractor = Callable[..., PageContent]  # of UTF-8 and `formatted`


def page_content(raw: bytes, charset: str | None, mime: str, extract: Extract, shape: Shape) -> tuple[bytes, int, bool]:
    """The text of a page in UTF-8, where it was found, and whether the page was beyond the bounds.

    Args:
        raw: As it came, decompressed.
        charset: What the header says; None if it says nothing.
        mime: The media type.
        extract: main, text, none or trafilatura.
        shape: What a survey of these bytes found.
    """
    extractor = _EXTRACTORS[extract] if mime in _MARKUP else None
    name, raw = encoding(raw, charset, markup=mime in _MARKUP)
    if name != "utf-8" or extractor is None:
        raw = to_utf8(raw, name)
    if extractor is None:
        return raw, MAIN, False
    if name.startswith(("utf-16", "utf-32", "iso2022")):  # markup was not ASCII
        shape = _survey(raw)
    is_bounded = any(value > most for value, most in zip(shape, _BOUNDS, strict=True))
    if is_bounded:
        raw = _tamed(raw)
    content = extractor(raw, formatted=min(shape[1], _BOUNDS.depth) * len(raw) <= _MOST_INDENTED)
    return content.text.encode("utf-8", "replace"), content.found, is_bounded


def _survey(raw: bytes) -> Shape:
    import numpy as np  # noqa: PLC0415  (few pages need it: see rule 1)

    from nearsame.kernels import markup  # noqa: PLC0415  (likewise)

    shape = np.zeros((1, NUM_BOUNDS), np.int64)
    markup.survey(np.frombuffer(raw, np.uint8), np.array([0, len(raw)], np.int64), shape)
    return [int(value) for value in shape[0]]


def _tamed(raw: bytes) -> bytes:
    """A page that parsers can take."""
    import numpy as np  # noqa: PLC0415  (few pages need it: see rule 1)

    from nearsame.kernels import markup  # noqa: PLC0415  (likewise)

    out = np.empty(len(raw) + 1, np.uint8)
    size = markup.tame(np.frombuffer(raw, np.uint8), np.array(_BOUNDS, np.int64), out)
    return out[:size].tobytes()


def _parsed(raw: bytes) -> Any:
    return resiliparse("parse.html").HTMLTree.parse_from_bytes(raw, "utf-8")


def _visible(raw: bytes, *, formatted: bool) -> PageContent:
    return visible(_parsed(raw), formatted=formatted)


def _main(raw: bytes, *, formatted: bool) -> PageContent:
    return main_or_visible(_parsed(raw), raw, formatted=formatted)


def _by_trafilatura(raw: bytes, *, formatted: bool) -> PageContent:
    try:
        import trafilatura  # noqa: PLC0415  (optional, and slow to load)
    except ImportError as error:
        raise MissingExtraError.of("trafilatura is not installed", "trafilatura") from error
    try:
        text = trafilatura.extract(raw.decode("utf-8", "ignore"), include_comments=False)
    except Exception:  # noqa: BLE001  (a library of many parsers: whatever it raises, the page still has its visible text)
        text = None
    return main_or_visible(_parsed(raw), raw, formatted=formatted, main=text or "")


_EXTRACTORS: dict[Extract, Extractor | None] = {
    "main": _main,
    "text": _visible,
    "trafilatura": _by_trafilatura,
    "none": None,
}
