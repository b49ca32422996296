"""An index that a service offers, asked and changed by the methods of `Index`.

1. What can be done with an open index can be done here, by the same names, with the same answers and exceptions. What
   needs its file is done where that is: `ELSEWHERE` names each such method, and says what to do instead.
2. Documents are read, and web pages made to texts, here; what is similar is decided there.
3. A request is a transaction: a list of up to 500 documents, or as many of a source.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast, get_type_hints, overload

import orjson

from nearsame.answers.matches import Added, Entry, Group, IndexStats, Likeness, Match, Matches
from nearsame.errors import ConfigError, UnknownIdError
from nearsame.files.inputs import Inputs
from nearsame.flow.options import SourceOptions
from nearsame.index.adding import AddOptions, require_addable
from nearsame.index.columns import Where
from nearsame.index.documents import ColumnNames, Sourced, at_hand, input_of, is_one
from nearsame.index.facet import Input
from nearsame.outputs.folder import appearing, require_place
from nearsame.recipes.arguments import checked, require_number
from nearsame.recipes.given import Number
from nearsame.service import wishes
from nearsame.service.wire import Wire, dumped, in_query, loaded
from nearsame.sources import Skipped
from nearsame.sources.listed import require_texts

__all__ = ["ELSEWHERE", "Client"]

ELSEWHERE = {
    "backup": "Run `nearsame index backup` where its file is, even while it is served.",
    "check": "Run `nearsame index check` where its file is, even while it is served.",
    "create": "Run `nearsame index create` where its file is to be.",
    "migrate": "Run `nearsame index migrate` where its file is, while it is not served.",
    "open": "Write `with ns.Client(URL, TOKEN) as index:`.",
    "transaction": "A request is a transaction: give `add` up to 500 documents as one list.",
}  # what an index has and a client has not

_AT_ONCE = 500  # documents of a request
_BYTES = 4_000_000  # of what is sent
_IDS = 1000
_Kind = TypeVar("_Kind")


@checked
class Client:
    """The index of a service. Threads that share it use it in turn; `skipped` has what of a source could not be read.

    Args:
        url: Where the service is, as in http://127.0.0.1:8800.
        token: That may do what is asked for, where it wants one.
        timeout_seconds: How long to wait for an answer, and for a service that has too much to do.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout_seconds: float = 30.0) -> None:
        self._wire = Wire(url, token, timeout_seconds)
        self._columns: tuple[str, ...] | None = None
        self.skipped: list[Skipped] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up, when no other thread has its turn."""
        self._wire.end()

    def add(self, documents: Any, **options: Unpack[AddOptions]) -> list[Added]:
        """Add documents, and say what each resembles: see `Index.add`. Of a list, each 500 are one transaction."""
        is_text = isinstance(documents, str)
        return [added for batch in self._added([documents] if is_text else documents, options) for added in batch]

    def add_batches(self, source: Any, **options: Unpack[AddOptions]) -> Iterator[list[Added]]:
        """Like `add`, batch by batch: what is yielded is durable."""
        yield from self._added(source, options)

    def remove(self, ids: str | Iterable[str], *, missing_ok: bool = True) -> int:
        """Take documents out, by id, one by one; returns how many were there.

        Args:
            ids: One, or several.
            missing_ok: Whether ids that are not there are passed over; otherwise nothing is removed.

        Raises:
            UnknownIdError: An id is not there.
        """
        wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
        if not missing_ok:
            for id_ in wanted:
                self._wire.ask("GET", f"/by-id?{in_query({'id': id_})}")
        removed = 0
        for id_ in wanted:
            try:
                found = self._wire.ask("DELETE", f"/by-id?{in_query({'id': id_})}", again=False)
                with self._wire.understood():
                    removed += bool(found["removed"])
            except UnknownIdError:
                continue
        return removed

    @overload
    def query(
        self,
        documents: str | Mapping[str, Any],
        *,
        limit: int = 10,
        threshold: Number | None = None,
        where: Where | None = None,
    ) -> Matches: ...
    @overload
    def query(
        self, documents: Any, *, limit: int = 10, threshold: Number | None = None, where: Where | None = None
    ) -> list[Matches]: ...
    def query(
        self, documents: Any, *, limit: int = 10, threshold: Number | None = None, where: Where | None = None
    ) -> Matches | list[Matches]:
        """What documents resemble: see `Index.query`."""
        wanted = wishes.wanted(limit, threshold, where)
        if is_one(documents):
            return self._queried([input_of(documents)], wanted)[0]
        inputs = at_hand(documents)
        batches = Sourced(documents, _SOURCE, self._cleared()) if inputs is None else [inputs]
        return [matches for batch in batches for some in _cut(batch) for matches in self._queried(some, wanted)]

    def query_batches(
        self,
        source: Any,
        *,
        limit: int = 10,
        threshold: Number | None = None,
        where: Where | None = None,
        **options: Unpack[SourceOptions],
    ) -> Iterator[tuple[list[str], list[Matches]]]:
        """The documents of a source, batch by batch: their ids, and what each resembles."""
        wanted = wishes.wanted(limit, threshold, where)
        for batch in Sourced(source, options, self._cleared()):
            for some in _cut(batch):
                yield [document.id for document in some], self._queried(some, wanted)

    def compare(self, id_a: str, id_b: str) -> Likeness:
        """Two documents of the index, whatever they have in common."""
        found = self._wire.ask("POST", "/compare", {"a": id_a, "b": id_b, "texts": False})
        with self._wire.understood():
            return _made(Likeness, found, found_by=tuple(found["found_by"]))

    def get(self, id: str) -> Entry:
        """What the index has of a document."""
        found = self._wire.ask("GET", f"/by-id?{in_query({'id': id})}")
        with self._wire.understood():
            return _made(Entry, found, sketch=None if found["sketch"] is None else tuple(found["sketch"]))

    def text(self, id: str) -> str:
        """The text of a document, where texts are stored."""
        if (store := self.stats().store) != "text":
            raise ConfigError(f"{self._wire.url} stores {store}, not texts", hint="Create an index with store=text.")
        return self.get(id).text or ""

    def duplicates(self, id: str, *, limit: int = 10, where: Where | None = None) -> Matches:
        """What a document of the index resembles, itself left out; best first."""
        settings = [("id", id), ("limit", limit), *(("where", condition) for condition in wishes.in_url(where))]
        found = self._wire.ask("GET", f"/by-id/duplicates?{in_query(settings)}")
        with self._wire.understood():
            return _matches({**found, "matches": [] if wishes.is_never(where) else found["duplicates"]})

    def clusters(self, *, limit: int = 20, offset: int = 0, members: int = 10) -> list[Group]:
        """Documents that others were found to resemble, those with most first."""
        settings = in_query({"limit": limit, "offset": offset, "members": members})
        found = self._wire.ask("GET", f"/groups?{settings}")
        with self._wire.understood():
            return [_made(Group, group, members=tuple(group["members"])) for group in found["groups"]]

    def grouped(self) -> tuple[int, int]:
        """How many clusters there are, and how many documents in them."""
        found = self._wire.ask("GET", "/groups?limit=1&members=1")
        with self._wire.understood():
            return found["total_groups"], found["total_documents"]

    def ids(self, *, after: str | None = None, limit: int | None = None, containing: str = "") -> Iterator[str]:
        """Ids, in the order in which documents were added.

        Args:
            after: Only of those after the document of this id; default: from the first one.
            limit: At most this many; default: all.
            containing: Only of documents whose id or URL contains each of these words; A to Z are as a to z.
        """
        if limit is not None:
            require_number("limit", limit, 1)
        left, before = limit, [] if after is None else [after]
        while left is None or left > 0:
            most = _IDS if left is None else min(left, _IDS)
            ids = self._ids(before, most, containing)
            yield from ids
            if len(ids) < most:
                return
            before, left = ids, None if left is None else left - len(ids)

    def stats(self) -> IndexStats:
        """Counts that are kept, not counted."""
        found = self._wire.ask("GET", "/stats")
        with self._wire.understood():
            return _made(
                IndexStats, found, where=self._wire.url, **{name: tuple(found[name]) for name in ("methods", "columns")}
            )

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> int:
        """Write all documents to a file of JSON lines.

        Args:
            path: Where, `.jsonl`; the file appears when it is complete.
            overwrite: Whether it takes the place of one that is there.

        Returns:
            How many there are.
        """
        if Path(path).suffix != ".jsonl":
            raise ConfigError(f"{path} has another format than a service sends", hint="Name it .jsonl.")
        place, number = require_place(os.fspath(path), Inputs.of(None), folder=False, overwrite=overwrite), 0
        with appearing(place) as made, made.open("wb") as out, closing(self._wire.lines("/export")) as lines:
            for line in lines:
                out.write(line)
                number += 1
        return number

    def records(
        self, *, after: str | None = None, number: int = 0, limit: int = 1000
    ) -> list[tuple[int, dict[str, Any]]]:
        """Some documents as `export` writes them, each with its number, in the order in which they were added.

        Who goes on from the last number, again and again, gets all documents, each once: on a PostgreSQL server those
        wait that another writer, who is not done yet, may come before.

        Args:
            after: Only those behind the document of this id.
            number: Only those with a greater number.
            limit: At most this many.

        Raises:
            UnknownIdError: No document has the id `after`.
        """
        require_number("number", number, 0)
        require_number("limit", limit, 1)
        given = {"after": after} if after is not None else {"number": number}
        settings = in_query({**given, "limit": limit, "numbers": "true"})
        with self._wire.understood(), closing(self._wire.lines(f"/export?{settings}")) as lines:
            return [(one["number"], one["document"]) for one in map(loaded, lines)]

    if not TYPE_CHECKING:  # a type checker is to say that there is no such method

        def __getattr__(self, name: str) -> Any:
            """Say where what only an index has is done."""
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(f"{message}. {ELSEWHERE[name]}" if name in ELSEWHERE else message)

    def _added(self, documents: Any, options: AddOptions) -> Iterator[list[Added]]:
        require_addable(options)
        if isinstance(documents, list) and all(isinstance(document, str) for document in documents):
            require_texts(documents)
        skipped, kept = self._cleared(), self._kept()
        inputs = at_hand(documents, ColumnNames(options, kept))
        batches = Sourced(documents, options, skipped, kept) if inputs is None else [inputs]
        settings = {"if_new": options["if_new"], "replace": options["replace"], "limit": int(options["limit"])}
        for batch in batches:
            for some in _cut(batch):
                body = {"documents": [_body(document) for document in some], **settings}
                found = self._wire.ask("POST", "/documents", body, again=False)
                with self._wire.understood():
                    added = [_added(result, matches=options["matches"]) for result in found["results"]]
                yield added

    def _queried(self, inputs: Sequence[Input], wanted: dict[str, Any]) -> list[Matches]:
        bodies = [
            {name: value for name, value in _body(one).items() if name not in ("id", "columns")} for one in inputs
        ]
        found = self._wire.ask("POST", "/query", {"documents": bodies, **wanted})
        with self._wire.understood():
            return [_matches(one) for one in found["results"]]

    def _ids(self, before: Sequence[str], most: int, containing: str) -> list[str]:
        """The ids behind the last of those before that nobody has removed meanwhile."""
        settings = {"limit": most} | ({"containing": containing} if containing else {})
        for number, last in enumerate(reversed(before), 1):
            try:
                return self._listed(settings | {"after": last})
            except UnknownIdError:
                if number == len(before):
                    raise
        return self._listed(settings)

    def _listed(self, settings: Mapping[str, Any]) -> list[str]:
        found = self._wire.ask("GET", f"/documents?{in_query(settings)}")
        with self._wire.understood():
            return list(found["ids"])

    def _kept(self) -> tuple[str, ...]:
        if self._columns is None:
            self._columns = self.stats().columns
        return self._columns

    def _cleared(self) -> list[Skipped]:
        self.skipped.clear()
        return self.skipped


_SOURCE = SourceOptions(strict=False, progress=None)


def _cut(inputs: Sequence[Input]) -> Iterator[Sequence[Input]]:
    """In parts for a request each."""
    start, size = 0, 0
    for at, document in enumerate(inputs):
        length = len(dumped(_body(document)))
        if at > start and (at - start == _AT_ONCE or size + length > _BYTES):
            yield inputs[start:at]
            start, size = at, 0
        size += length
    if start < len(inputs):
        yield inputs[start:]


def _body(document: Input) -> dict[str, Any]:
    """A document as it is sent."""
    text = None if document.text is None else document.text.decode("utf-8", "surrogatepass")
    body = {
        "id": document.id,
        "url": document.url,
        "text": text,
        "features": None if document.features is None else [_number("features", item) for item in document.features],
        "sketch": None if document.sketch is None else [_number("sketch", item) for item in document.sketch],
        "columns": orjson.loads(document.columns) if document.columns else None,
    }
    return {name: value for name, value in body.items() if value is not None}


def _number(what: str, item: Any) -> int:
    try:
        return (int(item, 16) if what == "sketch" and isinstance(item, str) else int(item)) & (1 << 64) - 1
    except (TypeError, ValueError):
        raise ConfigError(f"{what} are sent to a service as numbers of 64 bits", hint="Give the text.") from None


def _matches(found: Mapping[str, Any]) -> Matches:
    matches = [_made(Match, match, found_by=tuple(match["found_by"])) for match in found["matches"]]
    return Matches(matches, complete=found["complete"], recall=found.get("recall"))


def _added(found: Mapping[str, Any], *, matches: bool) -> Added:
    return _made(Added, found, matches=tuple(_matches(found)) if matches else ())


def _made(kind: type[_Kind], found: Mapping[str, Any], **changed: Any) -> _Kind:
    """What an answer says of a kind; a newer service may say more."""
    known = _names(cast("Any", kind))
    return kind(**{name: value for name, value in {**found, **changed}.items() if name in known})


@cache
def _names(kind: Any) -> frozenset[str]:
    return frozenset(get_type_hints(kind))
