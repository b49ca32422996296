"""What a caller gives to documents with an id, a text or features, and an address.

1. A text, a dict, or a list of them is taken as it is; anything else goes through the sources, which skip and count
   what cannot be read.
2. A document without an id is called after its content, so the same text again is the same document again.
3. Ids and addresses are valid UTF-8 without NUL: no store takes anything else.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from samesame.errors import ConfigError, SourceError
from samesame.index.facet import Input
from samesame.results import Progress, Silent
from samesame.sources import Columns, Skipped, open_parts
from samesame.sources.base import Aside

__all__ = ["BATCH_ROWS", "Names", "Sourced", "at_hand", "input_of"]

BATCH_ROWS = 2048  # as many texts as are compared with each other at once
_KEYS = ("id", "text", "url", "features", "sketch")
_HINT = 'Give a text, a dict such as {"id": "a", "text": "…"}, a list of them, or a source.'


@dataclass(frozen=True)
class Names:
    """What the columns of a source are called; None: their usual names."""

    text: str | None = None
    id: str | None = None
    url: str | None = None
    features: str | None = None

    def columns(self) -> Columns:
        """What to read."""
        return Columns(self.text, self.id, items=self.features, beside=(self.url or "url",))


def at_hand(documents: Any) -> list[Input] | None:
    """Documents that need no source: None for what does."""
    if isinstance(documents, (bytes, bytearray)):
        raise ConfigError("a document of bytes is no text", hint="Decode it first.")
    if isinstance(documents, Mapping):
        return [input_of(documents)]
    if isinstance(documents, list) and all(isinstance(each, (str, Mapping)) for each in documents):
        return [input_of(each) for each in documents]
    return None


def input_of(document: str | Mapping[str, Any]) -> Input:
    """One document.

    Raises:
        ConfigError: It is none.
    """
    given = {"text": document} if isinstance(document, str) else document
    id_, text, url, features, sketch = (given.get(name) for name in _KEYS)
    contents = [name for name in ("text", "features", "sketch") if given.get(name) is not None]
    if len(contents) > 1:
        raise ConfigError(f"a document has {contents[0]} and {contents[1]}", hint="Give one of the two.")
    if not contents and not any(name in given for name in ("text", "url")):
        raise ConfigError(f"a document has {_listed(given)}, and no text", hint=_HINT)
    if text is not None and not isinstance(text, str):
        raise ConfigError(f"text={text!r} is not a text", hint=_HINT)
    found = Input(
        "" if id_ is None else _name("id", id_),
        None if url is None else _name("url", url),
        None if contents and contents[0] != "text" else (text or "").encode("utf-8", "surrogatepass"),
        None if features is None else _several("features", features),
        None if sketch is None else _several("sketch", sketch),
    )
    return found if id_ is not None else found._replace(id=_own_name(found))


def _listed(given: Mapping[str, Any]) -> str:
    return ", ".join(map(str, given)) or "nothing"


def _several(name: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ConfigError(f"{name}={values!r} is not a list", hint=f"Give {name} as a list.")
    return tuple(values)


def _name(what: str, value: Any) -> str:
    """An id or an address."""
    if isinstance(value, bool) or not isinstance(value, (str, int, np.integer)):
        raise ConfigError(f"{what}={value!r} is not a text", hint=f"Give each {what} as a text.")
    text = str(value)
    if "\0" in text or (not text.isprintable() and _is_broken(text)):
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
        names: of its columns.
        strict: whether what cannot be read is an error.
        progress: who watches.
        skipped: what could not be read, filled on the way.
    """

    source: Any
    names: Names
    strict: bool = False
    progress: Progress = field(default_factory=Silent)
    skipped: list[Skipped] = field(default_factory=list)

    def __iter__(self) -> Iterator[list[Input]]:
        sources = self.source if isinstance(self.source, tuple) else (self.source,)
        columns = self.names.columns()
        for part in open_parts(sources, columns=columns, strict=self.strict):
            for batch in part.read(columns, self._skip):
                for start in range(0, len(batch), BATCH_ROWS):
                    inputs = list(self._inputs(part.name, batch.slice(start, BATCH_ROWS)))
                    self.progress.add(len(inputs), sum(len(each.text or b"") for each in inputs))
                    yield inputs

    def _inputs(self, source: str, batch: pa.RecordBatch) -> Iterator[Input]:
        ids, positions = batch.column("id").to_pylist(), batch.column("position").to_pylist()
        name = self.names.url or "url"
        urls = batch.column(name).to_pylist() if name in batch.schema.names else [None] * len(batch)
        is_text = self.names.features is None
        contents = batch.column("text" if is_text else "items").to_pylist()
        for id_, position, url, content in zip(ids, positions, urls, contents, strict=True):
            named = f"{source}:{position}" if id_ is None else id_
            if "\0" in named or (url is not None and "\0" in url):
                self._skip(Skipped(source, position, None, f"its {'id' if chr(0) in named else 'url'} holds NUL"))
            elif is_text:
                yield Input(named, url, (content or "").encode())
            else:
                yield Input(named, url, None, tuple(content or ()))

    def skip_repeated(self, id_: str) -> None:
        """A document with the id of one before it."""
        name = self.source if isinstance(self.source, str) else "memory"
        self._skip(Skipped(str(name), None, None, f"the id {id_!r} is there already"))

    def _skip(self, skipped: Skipped | Aside) -> None:
        if isinstance(skipped, Aside):
            return  # it is no document
        if self.strict:
            place = f"{skipped.source}, record {skipped.position}"
            raise SourceError(f"{place}: {skipped.reason}", hint="Mend the record, or leave out --strict to skip it.")
        self.skipped.append(skipped)
