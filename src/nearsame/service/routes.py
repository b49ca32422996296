"""The addresses that programs talk to.

1. A route reads its request, asks or changes the index, and translates; what is similar is decided elsewhere.
2. A body is parsed by `receiving`, so it is put into the OpenAPI document by `description`, from the same models.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import FastAPI, Path, Request
from fastapi import Query as Setting
from fastapi.responses import Response
from pydantic import Discriminator, Tag, TypeAdapter

from nearsame.answers.matches import Added, Matches
from nearsame.service import bodies, description, lookups, metrics, streaming
from nearsame.service.changes import Adding
from nearsame.service.limits import NDJSON, seconds_left
from nearsame.service.problems import HttpProblem
from nearsame.service.receiving import is_stream, refuse_settings, require_known, settings_of
from nearsame.service.service import Service
from nearsame.service.streaming import LineStream, Work

__all__ = ["BODIES", "Routes"]


def _shape(given: Any) -> str:
    """Whether a body is a batch: so that a message is about one of the two."""
    has = "documents" in given if isinstance(given, dict) else hasattr(given, "documents")
    return "batch" if has else "one"


_Adding = Annotated[Annotated[bodies.Add, Tag("one")] | Annotated[bodies.AddBatch, Tag("batch")], Discriminator(_shape)]
_Asking = Annotated[
    Annotated[bodies.Query, Tag("one")] | Annotated[bodies.QueryBatch, Tag("batch")], Discriminator(_shape)
]
_ADD: TypeAdapter[bodies.Add | bodies.AddBatch] = TypeAdapter(_Adding)
_ASK: TypeAdapter[bodies.Query | bodies.QueryBatch] = TypeAdapter(_Asking)
_COMPARE: TypeAdapter[bodies.Compare] = TypeAdapter(bodies.Compare)
_DOCUMENT: TypeAdapter[bodies.Document] = TypeAdapter(bodies.Document)  # of a line
_CONTENT: TypeAdapter[bodies.Content] = TypeAdapter(bodies.Content)
BODIES = (_ADD, _ASK, _COMPARE)

_ALL = (1 << 63) - 1
_FIRST_EXPORTED, _MOST_EXPORTED, _EXPORTED_BYTES = 16, 500, 1 << 20  # documents, and bytes, that are sent at once
_TEXT = "The quick brown fox jumps over the lazy dog near the river bank."
_EXAMPLES: dict[str, dict[str, Any]] = {
    "add": {
        "one": {"id": "page-1", "text": _TEXT, "url": "https://example.org/a"},
        "batch": {"if_new": True, "documents": [{"id": "page-2", "text": f"{_TEXT} Twice."}]},
        "page": {"id": "page-3", "html": f"<html><body><main><p>{_TEXT}</p></main></body></html>"},
    },
    "query": {
        "one": {"text": _TEXT, "limit": 5},
        "batch": {"documents": [{"text": _TEXT}, {"text": "Something else altogether, seen nowhere."}]},
    },
    "compare": {
        "texts": {"a": {"text": _TEXT}, "b": {"text": f"{_TEXT} Twice."}},
    },
}

Conditions = Annotated[list[str] | None, Setting(description="As in lang=en; all must hold.", max_length=100)]
Shown = Annotated[int, Setting(ge=1, le=1000)]
IdAsked = Annotated[str, Setting(description="The id, percent-encoded.")]
DocumentId = Annotated[str, Path(min_length=1, description="The id, percent-encoded: a / in it is %2F.")]


class Routes:
    """The routes of a service."""

    def __init__(self, service: Service, app: FastAPI) -> None:
        self._service = service
        self._add = app.add_api_route  # straight to the application: what a router adds, each request pays for
        self._questions()
        self._documents()
        self._health()

    def _documents(self) -> None:
        add = partial(self._add, tags=["documents"])
        add(
            "/documents",
            self.add,
            methods=["POST"],
            status_code=200,
            response_model=bodies.Added | bodies.AddedBatch,
            responses=description.answers(409, 415, 422, 501, 507) | _LINES,
            openapi_extra=description.body(_ADD, _EXAMPLES["add"], raw=True) | description.settings(bodies.AddSettings),
        )
        add(
            "/documents",
            self.list_ids,
            methods=["GET"],
            response_model=bodies.Listed,
            responses=description.answers(404, 422, 507),
        )
        answers = description.answers(404, 422, 507)
        for path, get, remove in (("/documents/{id}", self.get, self.remove), ("/by-id", self.get_by, self.remove_by)):
            add(path, get, methods=["GET"], response_model=bodies.Stored, responses=answers)
            add(path, remove, methods=["DELETE"], response_model=bodies.Removed, responses=answers)

    def _questions(self) -> None:
        add = partial(self._add, tags=["questions"])
        add(
            "/query",
            self.query,
            methods=["POST"],
            response_model=bodies.Found | bodies.FoundBatch,
            responses=description.answers(409, 415, 422, 501, 507) | _LINES,
            openapi_extra=description.body(_ASK, _EXAMPLES["query"], raw=True)
            | description.settings(bodies.QuerySettings),
        )
        add(
            "/compare",
            self.compare,
            methods=["POST"],
            response_model=bodies.Compared,
            responses=description.answers(404, 409, 415, 422, 501, 507),
            openapi_extra=description.body(_COMPARE, _EXAMPLES["compare"]),
        )
        answers = description.answers(404, 409, 422, 507)
        for path, route in (("/documents/{id}/duplicates", self.duplicates), ("/by-id/duplicates", self.duplicates_by)):
            add(path, route, methods=["GET"], response_model=bodies.Duplicates, responses=answers)

    def _health(self) -> None:
        add = partial(self._add, tags=["service"], methods=["GET"])
        add("/export", self.export, responses=description.answers(404, 422, 507) | _LINES, response_class=Response)
        add("/groups", self.groups, response_model=bodies.Groups, responses=description.answers(422, 507))
        add("/stats", self.stats, response_model=bodies.StatsBody, responses=description.answers(507))
        add("/healthz", self.healthz, response_model=bodies.Health, responses=description.answers(507))
        add("/readyz", self.readyz, response_model=bodies.Health, responses=description.answers(507))
        add("/metrics", self.metrics, responses=description.answers(507) | {200: _METRICS})

    async def add(self, request: Request) -> Response:
        """Add documents; each answer names what the document resembles."""
        self._service.access.require(request, "write")
        self._service.require_writer()
        settings = dict(settings_of(request, bodies.AddSettings))
        quiet = settings.pop("quiet")
        if is_stream(request):
            refuse_settings(id=settings["id"], url=settings["url"])
            lines_change = {name: bool(settings[name]) for name in ("if_new", "replace")}
            if all(lines_change.values()):
                raise HttpProblem(409, "config", "if_new and replace exclude each other", hint="Give one of the two.")
            work = partial(self._added_lines, request, lines_change)
            return self._streamed(request, "write", _DOCUMENT, work, quiet=bool(quiet))
        refuse_settings(quiet=quiet)
        given = await self._service.receiver.received(request, _ADD, settings)
        batch = given.documents if isinstance(given, bodies.AddBatch) else [given]
        change: dict[str, Any] = {"if_new": given.if_new, "replace": given.replace, "limit": given.limit}
        results = await self._added(request, change, batch)
        if isinstance(given, bodies.AddBatch):
            return _json({"results": results, "added": sum(document.added for document in results)})
        if results[0].status == "conflict":
            detail = "the id is in the index with another text or other columns: nothing was changed"
            raise HttpProblem(409, "conflict", detail, hint="Set replace, or take another id.", id=results[0].id)
        return _json(results[0])

    async def query(self, request: Request) -> Response:
        """Find what resembles a text, or each of several; nothing is added."""
        self._service.access.require(request, "read")
        settings = dict(settings_of(request, bodies.QuerySettings))
        if is_stream(request):
            refuse_settings(url=settings.pop("url"))
            wanted: dict[str, Any] = {**settings, "limit": 10 if settings["limit"] is None else settings["limit"]}
            return self._streamed(request, "read", _CONTENT, partial(self._found, request, wanted))
        given = await self._service.receiver.received(request, _ASK, settings)
        batch: Sequence[Any] = given.documents if isinstance(given, bodies.QueryBatch) else [given]
        wanted = {"limit": given.limit, "threshold": given.threshold, "where": given.where}
        results = await self._found(request, wanted, batch)
        return _json({"results": results} if isinstance(given, bodies.QueryBatch) else results[0])

    async def compare(self, request: Request) -> Response:
        """Compare two documents, each of the index or a text: if texts are at hand, with every measure and passage."""
        self._service.access.require(request, "read")
        require_known(request)
        given = await self._service.receiver.received(request, _COMPARE, {})
        sides = [await self._side(request, side) for side in (given.a, given.b)]
        return _json(await self._service.ask(request, lookups.compare(*sides, by_texts=given.texts)))

    async def list_ids(
        self,
        request: Request,
        after: Annotated[bodies.Id | None, Setting(description="Only ids behind this one.")] = None,
        limit: Annotated[int, Setting(ge=1, le=1000)] = 100,
        containing: Annotated[
            str, Setting(max_length=1000, description="Only ids of documents whose id or URL has each of these words.")
        ] = "",
    ) -> Response:
        """Ids, in the order in which documents were added; the last one is the `after` of the next request."""
        self._service.access.require(request, "read")
        require_known(request)
        return _json({"ids": await self._service.ask(request, lookups.ids(after, limit, containing))})

    async def get(self, request: Request, id: DocumentId) -> Response:
        """A document of the index, as far as it is stored."""
        return await self.get_by(request, _decoded(id))

    async def get_by(self, request: Request, id: IdAsked) -> Response:
        """The same, the id in the query, which proxies leave as it is."""
        self._service.access.require(request, "read")
        require_known(request)
        return _json(await self._service.ask(request, lookups.get(id)))

    async def remove(self, request: Request, id: DocumentId) -> Response:
        """Remove a document from the index."""
        return await self.remove_by(request, _decoded(id))

    async def remove_by(self, request: Request, id: IdAsked) -> Response:
        """The same, the id in the query, which proxies leave as it is."""
        self._service.access.require(request, "write")
        require_known(request)
        await self._service.remove(request, id)
        return _json({"id": id, "removed": True})

    async def duplicates(
        self, request: Request, id: DocumentId, limit: Shown = 10, where: Conditions = None
    ) -> Response:
        """What in the index resembles a document of it."""
        return await self.duplicates_by(request, _decoded(id), limit, where)

    async def duplicates_by(
        self, request: Request, id: IdAsked, limit: Shown = 10, where: Conditions = None
    ) -> Response:
        """The same, the id in the query, which proxies leave as it is."""
        self._service.access.require(request, "read")
        require_known(request)
        matches = await self._service.ask(request, lookups.duplicates(id, limit, where))
        return _json({"id": id, "duplicates": matches, "complete": matches.complete})

    async def stats(self, request: Request) -> Response:
        """What the index holds, and how it was made."""
        self._service.access.require(request, "read")
        require_known(request)
        return _json(await self._service.ask(request, lookups.stats))

    async def export(
        self,
        request: Request,
        after: Annotated[bodies.Id | None, Setting(description="Only documents behind this one.")] = None,
        number: Annotated[int, Setting(ge=0, le=_ALL, description="Without `after`: only greater numbers.")] = 0,
        limit: Annotated[int, Setting(ge=1, le=_ALL, description="Documents, at most.")] = _ALL,
        numbers: Annotated[  # noqa: FBT002  (a setting in the URL)
            bool, Setting(description='Each as `{"number": …, "document": …}`; the number is where to go on.')
        ] = False,
    ) -> Response:
        """All documents, a line of JSON each, in the order in which they were added."""
        self._service.access.require(request, "read")
        require_known(request)
        return LineStream(self._records(request, after, number, limit, partial(lookups.exported, numbered=numbers)))

    async def groups(
        self,
        request: Request,
        limit: Annotated[int, Setting(ge=1, le=1000)] = 20,
        offset: Annotated[int, Setting(ge=0, le=1 << 53)] = 0,
        members: Annotated[int, Setting(ge=1, le=1000, description="Ids of each, at most.")] = 10,
    ) -> Response:
        """Documents that others were found to resemble, those with most first."""
        self._service.access.require(request, "read")
        require_known(request)
        found, totals = await self._service.ask(request, lookups.groups(limit, offset, members))
        return _json({"groups": found, "total_groups": totals[0], "total_documents": totals[1]})

    async def healthz(self) -> Response:
        """Whether the process answers; needs no token."""
        return _json({"status": "ok"})

    async def readyz(self, request: Request) -> Response:
        """Whether the index can be read and, unless read-only, changes are taken; needs no token."""
        service = self._service
        if service.writer is not None and not service.writer.works:
            raise HttpProblem(503, "stopping", "changes are not taken")
        await service.health.ask(lookups.documents, seconds_left(request.scope))
        return _json({"status": "ready"})

    async def metrics(self, request: Request) -> Response:
        """The counters, as Prometheus reads them."""
        self._service.access.require(request, "read")
        counters = self._service.metrics
        counters.indexed.set(await self._service.ask(request, lookups.documents))
        return Response(counters.page(), media_type=metrics.MEDIA_TYPE)

    def _streamed(
        self, request: Request, scope: str, model: TypeAdapter[Any], work: Work, *, quiet: bool = False
    ) -> Response:
        """The answer to lines, line by line."""
        settings, still = self._service.settings, partial(self._service.require_going_on, request, scope)
        most_lines = min(settings.max_batch, settings.group)
        lines = streaming.groups(request, settings.max_body, most_lines, settings.timeout, still)
        parsed = partial(self._service.receiver.line, model)
        return LineStream(streaming.answered(lines, parsed, work, request, quiet=quiet))

    async def _added(self, request: Request, settings: dict[str, Any], batch: Sequence[Any]) -> list[Added]:
        documents = await self._service.receiver.prepared(batch, seconds_left(request.scope))
        writer: Any = self._service.writer
        results: list[Added] = await writer.submit(Adding(documents, **settings), seconds_left(request.scope))
        added = sum(document.added for document in results)
        self._count("added", added)
        self._count("known", len(results) - added)
        return results

    async def _records(
        self, request: Request, after: str | None, number: int, left: int, part: Callable[..., lookups.Ask]
    ) -> AsyncIterator[bytes]:
        """A part after the other, each as it is at its moment; whoever breaks off is not told more."""
        most = _FIRST_EXPORTED
        while left:
            asked = min(most, left)
            page: lookups.Exported | None = await self._service.ask(request, part(after, number, asked))
            if page is None:
                return
            yield page.lines
            self._service.access.require(request, "read")
            streaming.renew(request, self._service.settings.timeout)
            most = max(1, min(_MOST_EXPORTED, asked * _EXPORTED_BYTES // len(page.lines)))
            after, number, left = None, page.last, left - page.documents

    async def _added_lines(self, request: Request, settings: dict[str, Any], batch: Any) -> list[dict[str, Any]]:
        added = await self._added(request, settings, batch)
        return [{field.name: getattr(one, field.name) for field in fields(Added)} for one in added]

    async def _found(self, request: Request, wanted: dict[str, Any], batch: Sequence[Any]) -> list[dict[str, Any]]:
        documents = await self._service.receiver.prepared(batch, seconds_left(request.scope))
        ask = lookups.query(documents, **wanted, seconds=seconds_left(request.scope))
        answers: list[Matches] = await self._service.ask(request, ask)
        self._count("queried", len(batch))
        return [found(matches) for matches in answers]

    async def _side(self, request: Request, given: str | bodies.Other) -> tuple[str | None, str]:
        """One side of a comparison: an id, or a text."""
        if isinstance(given, str):
            return given, ""
        if given.html is not None:
            return None, await self._service.receiver.extracted(given.html, None, seconds_left(request.scope))
        return given.id, given.text or ""

    def _count(self, what: str, number: int) -> None:
        self._service.metrics.documents.labels(what).inc(number)


_LINES: dict[int | str, Any] = {
    200: {"description": "Done, or begun.", "content": {NDJSON: {"schema": {"type": "string"}}}}
}
_METRICS: dict[str, Any] = {
    "description": "Prometheus' text format.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


def found(matches: Matches) -> dict[str, Any]:
    """What resembles a text, as it is sent."""
    told = {} if matches.recall is None else {"recall": matches.recall}
    return {"matches": matches, "complete": matches.complete, **told}


def _json(content: Any) -> Response:
    return Response(lookups.as_json(content), media_type="application/json")


def _decoded(id: str) -> str:
    try:
        return unquote(id, errors="strict")
    except UnicodeDecodeError:
        raise HttpProblem(
            422, "invalid", "the id in the URL is not UTF-8", hint="Percent-encode its UTF-8 bytes."
        ) from None
