"""How web pages (and records that are very long) are read: the settings, checked, and the text of a single record.

1. A setting that nothing is done with is refused, never ignored.
2. One page becomes the same text here as among many: by the same stage.
"""

import codecs
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from nearsame import computing
from nearsame.engines.sharing import Sharing
from nearsame.engines.space import num_bytes
from nearsame.errors import ConfigError, SourceError
from nearsame.flow.options import TextOptions
from nearsame.sources import MAX_DOCUMENT, MAX_RECORD, Columns, Skipped, open_parts
from nearsame.sources.base import Part, apart, into
from nearsame.sources.page_records import as_pages
from nearsame.sources.reading import Reading
from nearsame.sources.sampling import DocumentSample, sample
from nearsame.stages.texts.page_text import PageTexts

__all__ = [
    "reading_settings",
    "refuse_idle",
    "require_pages",
    "sampled",
    "text_of_record",
    "with_encoding",
    "with_max_record",
    "with_pages",
]

_ENCODED = ("text", "pages", "jsonl", "csv", "tsv", "stdin")
_NO_ENCODINGS = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")  # which Python has as such
_OTHERS = {"text": "text_column", "items": "features_column", "vectors": "vector_column", "codes": "codes_column"}


def with_pages(columns: Columns, options: TextOptions) -> Columns:
    """The columns, and how web pages are read.

    Raises:
        ConfigError: It is impossible, or contradicts itself.
    """
    html, extract, max_document = options.get("html_column"), options.get("extract"), options.get("max_document")
    other = next((name for name in _OTHERS if getattr(columns, name) is not None), None)
    if html is not None and other is not None:
        message = f"html_column={html!r} and {_OTHERS[other]}={getattr(columns, other)!r}: they exclude each other"
        raise ConfigError(message, hint="Leave one of them out.")
    most = MAX_DOCUMENT if max_document is None else num_bytes(max_document, "max_document")
    if most < 1:
        raise ConfigError(f"max_document={max_document!r} leaves nothing to read", hint="Write it as in 10MB.")
    given = tuple(name for name, value in (("extract", extract), ("max_document", max_document)) if value is not None)
    kind = PageTexts(extract or "main").extract
    return replace(columns, html=html, extract=kind, max_document=most, asked_of_pages=given)


def with_encoding(columns: Columns, encoding: str | None) -> Columns:
    """The columns, and the encoding of files of text.

    Raises:
        ConfigError: There is no such encoding.
    """
    if encoding is None or encoding == "auto":
        return replace(columns, encoding=encoding)
    try:
        "".encode(encoding)
        is_known = codecs.lookup(encoding).name not in _NO_ENCODINGS
    except (LookupError, UnicodeError, ValueError):
        is_known = False
    if not is_known:
        message = f"encoding={encoding!r} is not an encoding of texts"
        raise ConfigError(message, hint="Write it as in latin-1, utf-16 or shift_jis, or auto.")
    return replace(columns, encoding=encoding)


def with_max_record(columns: Columns, max_record: int | str | None) -> Columns:
    """The columns, and how long a record that is compared may be.

    Raises:
        ConfigError: Nothing would be left.
    """
    if max_record is None:
        return columns
    most = num_bytes(max_record, "max_record")
    if most < 1:
        raise ConfigError(f"max_record={max_record!r} leaves nothing to compare", hint="Write it as in 64MB.")
    return replace(columns, max_record=most)


def require_pages(reading: Reading, others: Sequence[Part] = ()) -> None:
    """Refuse settings of web pages where there are none, and an encoding where no file has one, of `others` neither.

    Raises:
        ConfigError: There is such a setting.
    """
    refuse_idle(reading.columns, pages=reading.pages)
    encoding = reading.columns.encoding
    if encoding is not None and not any(part.format in _ENCODED for part in (*reading.all_parts, *others)):
        message = f"encoding={encoding!r} is about files of texts, JSON lines and CSV, and no source is one"
        raise ConfigError(message, hint="Leave it out.")


def refuse_idle(columns: Columns, *, pages: bool) -> None:
    """The same, of sources that are read by somebody else.

    Raises:
        ConfigError: There is such a setting.
    """
    given = columns.asked_of_pages
    if given and not pages:
        message = f"{given[0]} does nothing: no source holds web pages"
        raise ConfigError(message, hint="Name .html or .warc files, or the column of markup with html_column.")


def reading_settings(columns: Columns, *, pages: bool | None = None) -> dict[str, Any]:
    """What is recorded of how documents were read; `pages`: whether some are, where no column of markup says so."""
    settings = {"extract": columns.extract, "max_document": columns.max_document, "html_column": columns.html}
    asked = {} if columns.max_record == MAX_RECORD else {"max_record": columns.max_record}
    return {**(settings if pages or columns.html is not None else {}), **asked}


def sampled(reading: Reading, most: int | None) -> DocumentSample:
    """At most so many documents, with the texts of what is a web page."""
    require_pages(reading)
    with Sharing() as share:
        extract = partial(share, PageTexts(reading.columns.extract)) if reading.pages else None
        return sample(reading, most, extract=extract)


def text_of_record(source: str, wanted: str, columns: Columns) -> str:
    """The text of the first record that has this id; one that has none of its own is called `file:position`.

    Raises:
        SourceError: There is no such record, or the source cannot be read.
    """
    skipped: list[Skipped] = []
    known: str | None = None
    for part in open_parts([source], columns=columns):
        pages = getattr(part, "pages", False) or columns.html is not None
        refuse_idle(columns, pages=pages)
        for batch in part.read(columns, into(skipped)):
            own, *_ = apart(batch)
            positions = own.column("position").cast(pa.string())
            names = computing.coalesce(own.column("id"), computing.binary_join_element_wise(part.name, positions, ":"))
            known = known or names[0].as_py()
            place = names.index(wanted).as_py()
            if place < 0:
                continue
            record = own.slice(place, 1)
            if pages:
                record = PageTexts(columns.extract)(as_pages(record.column("position"), record, columns))
            return str(record.column("text")[0].as_py() or "")
    unread = f"; {len(skipped):,} records cannot be read" if skipped else ""
    hint = f"Give an id as its records have them: the first is {known!r}." if known else "There is no record in it."
    raise SourceError(f"{source} has no record with the id {wanted!r}{unread}", hint=hint)
