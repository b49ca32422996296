"""PAGES to DOCUMENTS: what a browser got becomes the text that a reader sees.

1. No bytes raise: what cannot be decoded is left out, and markup of any shape has some text.
2. Bytes become UTF-8 as encodings.py says.
3. `main` is what stands for a page (page_content.py): its main content, or more where that is too little. `text` is all
   visible text. `none` is the markup itself. Where the text was found is told, so that it can be counted.
4. A row without a media type is text already (UTF-8) and passes as it is; what is neither HTML nor XML is only decoded.
5. Parsers take time by the square of a tag's attributes, of the depth and of a list's options, and memory by the
   number of tags: a page beyond the bounds here loses those attributes and tags (never text) before it is parsed, and
   is counted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearsame import arrow, schemas
from nearsame.errors import ConfigError, MissingExtraError
from nearsame.kernels import markup
from nearsame.recipes.choices import EXTRACTS, Extract
from nearsame.stages.texts.encodings import encoding, to_utf8
from nearsame.stages.texts.page_content import (
    ELSEWHERE,
    MAIN,
    NOWHERE,
    VISIBLE,
    PageContent,
    main_or_visible,
    resiliparse,
    visible,
)  # fmt: skip

__all__ = ["MARKUP", "TALLIES", "PageTexts", "page_text"]

TALLIES = ("without_main", "elsewhere", "nowhere", "bounded")  # what is counted of pages
MARKUP = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})


class _Bounds(NamedTuple):
    """What a page may have before it is parsed."""

    attributes: int = 1_000  # of one tag
    depth: int = 256
    options: int = 2_000  # tags of options and their groups: parsers look at all others of a list for each
    tags: int = 500_000  # some 3 µs and 700 bytes each


_BOUNDS = _Bounds()
_MOST_INDENTED = 1 << 26  # depth times bytes: about as many characters of indentation may come of it


@dataclass(frozen=True)
class PageTexts:
    """The stage that takes the text out of pages."""

    extract: Extract = "main"

    output = schemas.EXTRACTED
    holds_lock = True  # the parser keeps Python's lock: only another process runs beside it

    def __post_init__(self) -> None:
        if self.extract not in EXTRACTS:
            known = ", ".join(EXTRACTS)
            raise ConfigError(f"extract={self.extract!r} is not one of {known}", hint="Choose one of these.")

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """EXTRACTED of a batch of PAGES."""
        body, mimes = batch.column("body"), batch.column("mime")
        if mimes.null_count == len(batch):
            texts = body.view(pa.large_string())
            places, bounded = np.zeros(len(batch), np.int8), np.zeros(len(batch), np.bool_)
        else:
            texts, places, bounded = self._texts(body, mimes.to_pylist(), batch.column("charset").to_pylist())
        columns = [batch.column("row"), texts, pa.array(places), pa.array(bounded)]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.EXTRACTED)

    @staticmethod
    def tally(batch: pa.RecordBatch) -> dict[str, int]:
        """What is to be counted of a batch of EXTRACTED."""
        counts = np.bincount(batch.column("found").to_numpy(), minlength=NOWHERE + 1)
        bounded = pc.sum(batch.column("bounded")).as_py() or 0
        values = (int(counts[VISIBLE]), int(counts[ELSEWHERE]), int(counts[NOWHERE]), int(bounded))
        return dict(zip(TALLIES, values, strict=True))

    def _texts(self, body: pa.Array, mimes: list[str | None], charsets: list[str | None]) -> tuple[Any, ...]:
        extract = _extractor(self.extract)
        seen = arrow.strings(body)
        shapes = np.zeros((len(mimes), len(_BOUNDS)), np.int64)
        if self.extract != "none":
            markup.survey(seen.data, seen.offsets, shapes)
        places = np.zeros(len(mimes), np.int8)
        texts: list[bytes | None] = []
        for row, (mime, charset) in enumerate(zip(mimes, charsets, strict=True)):
            if seen.is_null[row]:
                texts.append(None)
                continue
            raw = bytes(seen.data[seen.offsets[row] : seen.offsets[row + 1]])
            text, places[row] = _read(raw, charset, mime, extract, shapes[row])
            texts.append(text)
        return pa.array(texts, pa.large_binary()).view(pa.large_string()), places, (shapes > _BOUNDS).any(axis=1)


def page_text(
    body: bytes, charset: str | None = None, mime: str | None = "text/html", extract: Extract = "main"
) -> str:
    r"""The text of one page.

    Args:
        body: As it came, decompressed.
        charset: What the header says; None if it says nothing.
        mime: The media type; None for UTF-8 text.
        extract: main, text, none or trafilatura.

    >>> page_text(b"<nav><a href=/>Home</a></nav><script>x</script><p>a rose", extract="text")
    'Home\n\na rose'
    """
    columns = ([0], pa.array([body], pa.large_binary()), [charset], [mime])
    batch = pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schemas.PAGES, strict=True)],
                                       schema=schemas.PAGES)  # fmt: skip
    return str(PageTexts(extract)(batch).column("text")[0].as_py())


Extractor = Callable[..., PageContent]  # of UTF-8 and `formatted`


def _read(
    raw: bytes, charset: str | None, mime: str | None, extract: Extractor | None, shape: Any
) -> tuple[bytes, int]:
    if mime is None:
        return raw, MAIN
    name, raw = encoding(raw, charset, markup=mime in MARKUP)
    wide = name.startswith("utf-16")
    if name != "utf-8" or extract is None or mime not in MARKUP:
        raw = to_utf8(raw, name)
    if extract is None or mime not in MARKUP:
        return raw, MAIN
    if wide:
        shape = _survey(raw)
    raw, depth = _tamed(raw, shape), min(int(shape[1]), _BOUNDS.depth)
    content = extract(raw, formatted=depth * len(raw) <= _MOST_INDENTED)
    return content.text.encode("utf-8", "replace"), content.found


def _survey(raw: bytes) -> Any:
    shape = np.zeros((1, len(_BOUNDS)), np.int64)
    markup.survey(np.frombuffer(raw, np.uint8), np.array([0, len(raw)], np.int64), shape)
    return shape[0]


def _tamed(raw: bytes, shape: Any) -> bytes:
    """A page that parsers can take."""
    if (shape <= _BOUNDS).all():
        return raw
    out = np.empty(len(raw) + 1, np.uint8)
    size = markup.tame(np.frombuffer(raw, np.uint8), np.array(_BOUNDS, np.int64), out)
    return out[:size].tobytes()


def _extractor(name: str) -> Extractor | None:
    match name:
        case "none":
            return None
        case "trafilatura":
            return _by_trafilatura
        case "text":
            return _visible
        case _:
            return _main


def _parsed(raw: bytes) -> Any:
    return resiliparse("parse.html").HTMLTree.parse_from_bytes(raw, "utf-8")


def _visible(raw: bytes, *, formatted: bool) -> PageContent:
    return visible(_parsed(raw), formatted=formatted)


def _main(raw: bytes, *, formatted: bool) -> PageContent:
    return main_or_visible(_parsed(raw), formatted=formatted)


def _by_trafilatura(raw: bytes, *, formatted: bool) -> PageContent:
    try:
        import trafilatura  # noqa: PLC0415  (optional, and slow to load)
    except ImportError as error:
        raise MissingExtraError.of("trafilatura is not installed", "trafilatura") from error
    try:
        text = trafilatura.extract(raw.decode("utf-8", "ignore"), include_comments=False)
    except Exception:  # noqa: BLE001  (a library of many parsers: whatever it raises, the page still has its visible text)
        text = None
    return main_or_visible(_parsed(raw), formatted=formatted, main=text or "")
