"""What a caller gives to documents with an id, a text or features, and an address.

1. A text, a dict, or a list of them is taken as it is; anything else goes through the sources, which skip and count
   what cannot be read.
2. A web page becomes its text as in a run: by the same stage, whether it comes alone or from a source.
3. A document without an id is called after its content, so the same text again is the same document again.
4. Ids and addresses are valid UTF-8 without NUL: no store takes anything else.
"""

import hashlib
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.engines.sharing import Sharing
from nearsame.errors import ColumnError, ConfigError, SourceError
from nearsame.files.inputs import several
from nearsame.flow.options import SourceOptions
from nearsame.flow.page_reading import refuse_idle, with_pages
from nearsame.index.columns import packed, text_of
from nearsame.index.facet import Input
from nearsame.outputs.steps import logged
from nearsame.recipes.arguments import require_type, shown
from nearsame.sources import Columns, Skipped, open_parts
from nearsame.sources.base import Aside, apart
from nearsame.sources.one_text import OneText
from nearsame.sources.page_records import as_pages
from nearsame.stages.texts.page_text import PageTexts, page_text

__all__ = ["BATCH_ROWS", "ColumnNames", "Sourced", "at_hand", "input_of", "is_storable"]

BATCH_ROWS = 2048  # as many texts as are compared with each other at once
_CONTENTS = ("text", "html", "features", "sketch")
_HINT = 'Give a text, a dict such as {"id": "a", "text": "…"}, a list of them, or a source.'


@dataclass(frozen=True)
class ColumnNames:
    """What the columns of a source are called, and how web pages are read, as a call was told."""

    options: SourceOptions
    kept: Sequence[str] = ()  # columns that the index keeps

    @cached_property
    def columns(self) -> Columns:
        """What to read.

        Raises:
            ConfigError: It contradicts itself.
        """
        options = self.options
        url, items = options.get("url_column") or "url", options.get("features_column")
        columns = Columns(
            options.get("text_column"),
            options.get("id_column"),
            items=items,
            beside=tuple(dict.fromkeys((url, *self.kept))),
        )
        return with_pages(columns, options)

    def called(self, name: str) -> str:
        """By which name one of the things is there that a document may have."""
        given: Mapping[str, Any] = dict(self.options)
        return given.get(f"{name}_column") or name

    def get(self, document: Mapping[str, Any], name: str) -> Any:
        """One of these things."""
        return document.get(self.called(name))


_USUAL = ColumnNames({})


def is_one(thing: Any) -> bool:
    """Whether it is a document, and not many; the splits of a data set are a dict, and none."""
    return isinstance(thing, (str, Mapping)) and type(thing).__module__.partition(".")[0] != "datasets"


def at_hand(documents: Any, names: ColumnNames = _USUAL, *, own_names: bool = True) -> list[Input] | None:
    """Documents that need no source: None for what does."""
    if isinstance(documents, (bytes, bytearray)):
        raise ConfigError("a document must be a string, got bytes", hint="Decode it first.")
    several = [documents] if isinstance(documents, Mapping) and is_one(documents) else documents
    if not isinstance(several, list) or not all(isinstance(document, (str, Mapping)) for document in several):
        return None
    if names.columns.asked_of_pages:
        pages = any(not isinstance(document, str) and names.get(document, "html") is not None for document in several)
        refuse_idle(names.columns, pages=pages)
    return [input_of(document, names, own_name=own_names) for document in several]


def input_of(document: str | Mapping[str, Any], names: ColumnNames = _USUAL, *, own_name: bool = True) -> Input:
    """One document.

    Args:
        document: As a caller gives it.
        names: What its parts are called.
        own_name: Whether one without an id is called after its content; a question needs no name.

    Raises:
        ConfigError: It is not one.
    """
    if isinstance(document, str):
        document, names = {"text": document}, replace(_USUAL, kept=names.kept) if names.kept else _USUAL
    given = {name: names.get(document, name) for name in ("id", "url", *_CONTENTS)}
    contents = [name for name in _CONTENTS if given[name] is not None]
    if len(contents) > 1:
        raise ConfigError(f"a document has {contents[0]} and {contents[1]}", hint="Give one of the two.")
    if not contents and given["url"] is None and names.called("text") not in document:
        raise ConfigError(f"a document has {_listed(document)}, and no text", hint=_HINT)
    id_, url, text, features, sketch = (given[name] for name in ("id", "url", "text", "features", "sketch"))
    if given["html"] is not None:
        text = _text_of_page(given["html"], names)
    if text is not None and not isinstance(text, str):
        raise ConfigError(f"text must be a string, got {shown(text)}", hint=_HINT)
    parsed = Input(
        "" if id_ is None else _name("id", id_),
        None if url is None else _name("url", url),
        None if contents and contents[0] in ("features", "sketch") else (text or "").encode("utf-8", "surrogatepass"),
        None if features is None else _several("features", features),
        None if sketch is None else _several("sketch", sketch),
        packed(_columns(document, names.kept)),
    )
    return parsed if id_ is not None or not own_name else parsed._replace(id=_own_name(parsed))


def _columns(document: Mapping[str, Any], kept: Sequence[str]) -> dict[str, str | None]:
    """Those that are kept: by their names, or together as `columns`."""
    given = document.get("columns")
    together = given if isinstance(given, Mapping) and "columns" not in kept else {}
    for name in together:
        if name not in kept:
            hint = f"Choose from {', '.join(kept)}." if kept else "Create the index with --keep-columns (keep_columns)."
            raise ConfigError(f"columns: the index keeps no column {shown(name)}", hint=hint)
    return {name: text_of(name, together.get(name, document.get(name))) for name in kept}


def _text_of_page(page: Any, names: ColumnNames) -> str:
    if not isinstance(page, (str, bytes)):
        raise ConfigError(f"html={page!r} is not a page", hint="Give its markup, as a text or as bytes.")
    columns = names.columns
    is_text = isinstance(page, str)
    body = page.encode("utf-8", "replace") if isinstance(page, str) else page
    return page_text(body[: columns.max_document], "utf-8" if is_text else None, extract=columns.extract)


def _listed(given: Mapping[str, Any]) -> str:
    return ", ".join(map(str, given)) or "nothing"


def _several(name: str, values: Any) -> tuple[Any, ...]:
    """Texts, or whole numbers of 64 bits, with a sign or without."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ConfigError(f"{name} must be a list, got {shown(values)}", hint=f"Give {name} as a list.")
    items = tuple(values)
    kinds = set(map(type, items))
    if kinds <= {str}:
        return items
    numbers = items if kinds == {int} else tuple(_number(name, value) for value in items)
    for value in (min(numbers), max(numbers)):
        if not -1 << 63 <= value < 1 << 64:
            raise ConfigError(f"{name}={shown(value)} has more than 64 bits", hint="Give hashes of 64 bits.")
    return numbers


def _number(name: str, value: Any) -> int:
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    message = f"{name} of an index are texts or whole numbers, all of one kind, and {shown(value)} is not"
    raise ConfigError(message, hint=f"Fix the {name}.")


def is_storable(name: str) -> bool:
    """Whether a store can keep an id or an address."""
    return "\0" not in name and (name.isprintable() or not _is_broken(name))


def _name(what: str, value: Any) -> str:
    """An id or an address."""
    require_type(what, value, int | object)
    if isinstance(value, bool) or not isinstance(value, (str, int, np.integer)):
        raise ConfigError(f"{what} must be a string, got {shown(value)}", hint=f"Give each {what} as a string.")
    text = str(value)
    if not is_storable(text):
        raise ConfigError(
            f"{what}={value!r} holds what no store can keep", hint=f"Leave NUL and surrogates out of each {what}."
        )
    return text


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _own_name(given: Input) -> str:
    if given.text is None:
        content = repr((given.features, given.sketch)).encode()
    else:
        content = given.text or (given.url or "").encode()
    return f"sha256:{hashlib.sha256(content).hexdigest()[:32]}"


@dataclass
class Sourced:
    """The documents of a source, in batches; iterated once.

    Attributes:
        source: whatever `dedup` takes.
        options: how it is read.
        skipped: what could not be read, filled on the way.
    kept: columns that are kept of each document.
    """

    source: Any
    options: SourceOptions
    skipped: list[Skipped]
    kept: Sequence[str] = ()
    _part: str = field(default="", init=False)  # the one that is being read

    def __post_init__(self) -> None:
        self._names, self._strict = ColumnNames(self.options, self.kept), self.options["strict"]
        self._lacking = set(self.kept)
        self.progress = logged(self.options["progress"])

    def __iter__(self) -> Iterator[list[Input]]:
        columns = self._names.columns
        parts = open_parts(several(self.source), columns=columns, strict=self._strict)
        refuse_idle(columns, pages=columns.html is not None or any(getattr(part, "pages", False) for part in parts))
        one_text = OneText()
        with Sharing() as self._share:
            for part in parts:
                self._part = part.name
                for batch in part.read(columns, self._skip):
                    one_text.require(batch, part.name)
                    for start in range(0, len(batch), BATCH_ROWS):
                        inputs = list(self._inputs(part.name, batch.slice(start, BATCH_ROWS)))
                        self.progress.add(len(inputs), sum(len(document.text or b"") for document in inputs))
                        yield inputs

    def _inputs(self, source: str, batch: pa.RecordBatch) -> Iterator[Input]:
        batch, _, beside = apart(batch)
        ids, positions = batch.column("id").to_pylist(), batch.column("position").to_pylist()
        name = self._names.called("url")
        urls = beside[name].to_pylist() if name in beside else [None] * len(batch)
        is_text = self._names.columns.items is None
        contents = (self._texts(batch) if is_text else batch.column("items")).to_pylist()
        kept = self._kept(beside, len(batch))
        for id_, position, url, content, columns in zip(ids, positions, urls, contents, kept, strict=True):
            named = f"{source}:{position}" if id_ is None else id_
            if "\0" in named or (url is not None and "\0" in url):
                self._skip(Skipped(source, position, None, f"its {'id' if chr(0) in named else 'url'} holds NUL"))
            elif is_text:
                yield Input(named, url, (content or "").encode(), columns=columns)
            else:
                yield Input(named, url, None, tuple(content or ()), columns=columns)

    def _kept(self, beside: Mapping[str, pa.Array], rows: int) -> list[bytes]:
        """The columns of each row that are kept, packed."""
        there = {name: beside[name] for name in self.kept if name in beside}
        self._lacking -= {name for name, values in there.items() if values.null_count < rows}
        values = zip(*(column.to_pylist() for column in there.values()), strict=True)
        return [packed(dict(zip(there, row, strict=True))) for row in values] if there else [b""] * rows

    def require_kept(self) -> None:
        """Refuse a column to keep of which no document had a value, if there were any.

        Raises:
            ColumnError: There is one: its name may be misspelt, or it has lists or records.
        """
        if self._lacking and self._part:
            name = next(name for name in self.kept if name in self._lacking)
            message = f"no document has a column {name!r} with a text or a number to keep"
            raise ColumnError(message, hint="Check the name, or leave it out: lists and records are not kept.")

    def _texts(self, batch: pa.RecordBatch) -> pa.Array:
        columns = self._names.columns
        if columns.html is None and "body" not in batch.schema.names:
            return batch.column("text")
        pages = as_pages(pa.array(range(len(batch)), pa.int64()), batch, columns)
        return self._share(PageTexts(columns.extract), pages).column("text")

    def skip_repeated(self, id_: str) -> None:
        """A document with the id of one before it."""
        self._skip(Skipped(self._part, None, None, f"the id {id_!r} is already in the index"))

    def _skip(self, skipped: Skipped | Aside) -> None:
        if isinstance(skipped, Aside):
            return  # it is not a document
        if self._strict:
            place = f"{skipped.source}, record {skipped.position}"
            raise SourceError(f"{place}: {skipped.reason}", hint="Fix the record, or leave out --strict to skip it.")
        self.skipped.append(skipped)
