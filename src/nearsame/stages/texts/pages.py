"""PAGES to DOCUMENTS: what a browser got becomes the text that a reader sees.

1. No bytes raise: what cannot be decoded is left out, and markup of any shape has some text.
2. The encoding is that of the byte order mark, else of the header, else of the page's meta element, else detected.
3. `main` is the main content without navigation, advertisements and scripts; where a page has none, its visible text,
   with `fallback` true, so that it can be counted. `text` is all visible text. `none` is the markup itself.
4. A row without a media type is text already (UTF-8) and passes as it is; what is neither HTML nor XML is only decoded.
5. Parsers take time by the square of a tag's attributes and of the depth, and indent by the depth: a page beyond the
   bounds here loses those attributes and tags (never text) before it is parsed.
"""

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.errors import ConfigError, MissingExtraError
from nearsame.kernels import markup

__all__ = ["EXTRACTS", "MARKUP", "PageTexts", "page_text"]

EXTRACTS = ("main", "text", "none", "trafilatura")
MARKUP = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})

_MOST_ATTRIBUTES = 1_000
_MOST_DEPTH = 256
_MOST_INDENTED = 1 << 26  # depth times bytes: about as many characters of indentation may come of it
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class PageTexts:
    """The stage that takes the text out of pages."""

    extract: str = "main"

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
            texts, fallback = body.view(pa.large_string()), np.zeros(len(batch), np.bool_)
        else:
            texts, fallback = self._texts(body, mimes.to_pylist(), batch.column("charset").to_pylist())
        return pa.RecordBatch.from_arrays([batch.column("row"), texts, pa.array(fallback)], schema=schemas.EXTRACTED)

    @staticmethod
    def tally(batch: pa.RecordBatch) -> dict[str, int]:
        """What is to be counted of a batch of EXTRACTED."""
        return {"without_main": int(batch.column("fallback").to_numpy(zero_copy_only=False).sum())}

    def _texts(self, body: pa.Array, mimes: list[str | None], charsets: list[str | None]) -> tuple[pa.Array, Any]:
        extract = _extractor(self.extract)
        seen = arrow.strings(body)
        shapes = np.zeros((len(mimes), 2), np.int64)
        if self.extract != "none":
            markup.survey(seen.data, seen.offsets, shapes)
        fallback = np.zeros(len(mimes), np.bool_)
        texts: list[bytes | None] = []
        for row, (mime, charset) in enumerate(zip(mimes, charsets, strict=True)):
            if seen.is_null[row]:
                texts.append(None)
                continue
            raw = bytes(seen.data[seen.offsets[row] : seen.offsets[row + 1]])
            text, fallback[row] = _read(raw, charset, mime, extract, shapes[row])
            texts.append(text)
        return pa.array(texts, pa.large_binary()).view(pa.large_string()), fallback


def page_text(body: bytes, charset: str | None = None, mime: str | None = "text/html", extract: str = "main") -> str:
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


Extractor = Callable[..., tuple[str, bool]]  # of UTF-8 and `formatted`: the text, and whether there is no main content


def _read(
    raw: bytes, charset: str | None, mime: str | None, extract: Extractor | None, shape: Any
) -> tuple[bytes, bool]:
    if mime is None:
        return raw, False
    encoding, raw = _encoding(raw, charset, mime)
    wide = encoding.startswith("utf-16")
    if encoding != "utf-8" or extract is None or mime not in MARKUP:
        raw = _decoded(raw, encoding)
    if extract is None or mime not in MARKUP:
        return raw, False
    if wide:
        shape = _survey(raw)
    raw, depth = _tamed(raw, int(shape[0]), int(shape[1]))
    text, fallback = extract(raw, formatted=depth * len(raw) <= _MOST_INDENTED)
    return text.encode("utf-8", "replace"), fallback


def _survey(raw: bytes) -> Any:
    shape = np.zeros((1, 2), np.int64)
    markup.survey(np.frombuffer(raw, np.uint8), np.array([0, len(raw)], np.int64), shape)
    return shape[0]


def _tamed(raw: bytes, attributes: int, depth: int) -> tuple[bytes, int]:
    """A page that parsers can take, and its depth."""
    if attributes <= _MOST_ATTRIBUTES and depth <= _MOST_DEPTH:
        return raw, depth
    out = np.empty(len(raw) + 1, np.uint8)
    size = markup.tame(np.frombuffer(raw, np.uint8), _MOST_ATTRIBUTES, _MOST_DEPTH, out)
    return out[:size].tobytes(), min(depth, _MOST_DEPTH)


def _encoding(raw: bytes, charset: str | None, mime: str) -> tuple[str, bytes]:
    """The encoding, and the bytes behind a byte order mark."""
    for bom, name in _BOMS:
        if raw.startswith(bom):
            return name, raw[len(bom) :]
    found = _known(charset) or _resiliparse("parse.encoding").detect_encoding(raw, from_html_meta=mime in MARKUP)
    return (found or "utf-8").lower(), raw


def _known(charset: str | None) -> str | None:
    if not charset:
        return None
    found = _resiliparse("parse.encoding").map_encoding_to_html5(charset.strip(" \"'"), fallback_utf8=False)
    try:
        return codecs.lookup(found).name if found else None
    except LookupError:
        return None


def _decoded(raw: bytes, encoding: str) -> bytes:
    """The same text in UTF-8; what is none is left out."""
    text = _resiliparse("parse.encoding").bytes_to_str(raw, encoding, "ignore", ("utf-8", "cp1252"))
    return str(text).encode("utf-8", "ignore")


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


def _visible(raw: bytes, *, formatted: bool) -> tuple[str, bool]:
    tree = _resiliparse("parse.html").HTMLTree.parse_from_bytes(raw, "utf-8")
    return _plain(tree, formatted=formatted), False


def _main(raw: bytes, *, formatted: bool) -> tuple[str, bool]:
    tree = _resiliparse("parse.html").HTMLTree.parse_from_bytes(raw, "utf-8")
    text = _plain(tree, formatted=formatted, main_content=True)
    return (text, False) if text.strip() else (_plain(tree, formatted=formatted), True)


def _by_trafilatura(raw: bytes, *, formatted: bool) -> tuple[str, bool]:
    trafilatura = _needed("trafilatura", "trafilatura")
    try:
        text = trafilatura.extract(raw.decode("utf-8", "ignore"), include_comments=False)
    except Exception:  # noqa: BLE001  (a library of many parsers: whatever it raises, the page still has its visible text)
        text = None
    return (text, False) if text else (_visible(raw, formatted=formatted)[0], True)


def _plain(tree: Any, *, formatted: bool, main_content: bool = False) -> str:
    extract = _resiliparse("extract.html2text").extract_plain_text
    return str(extract(tree, preserve_formatting=formatted, main_content=main_content))


def _resiliparse(module: str) -> Any:
    return _needed(f"resiliparse.{module}", "web")


def _needed(name: str, extra: str) -> Any:
    from importlib import import_module  # noqa: PLC0415  (beside its only use)

    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingExtraError.of(f"{package} is not installed", extra) from error
