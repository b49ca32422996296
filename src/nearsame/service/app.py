"""The service: its parts put together around one index.

1. Here is the only place that knows all parts; a part knows its neighbours.
2. Whoever runs the application starts the service before, and closes it when the last request has been answered.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from nearsame._version import __version__
from nearsame.errors import NearSameError
from nearsame.service import description, problems, receiving
from nearsame.service.access import Access
from nearsame.service.guard import Guard
from nearsame.service.limits import Limits, seconds_left
from nearsame.service.logs import Log
from nearsame.service.lookups import Later
from nearsame.service.metrics import Metrics
from nearsame.service.pages import Pages
from nearsame.service.problems import Problem
from nearsame.service.readers import Readers
from nearsame.service.receiving import Receiver
from nearsame.service.routes import BODIES, Routes
from nearsame.service.settings import Settings
from nearsame.service.watch import Watch
from nearsame.service.workers import Workers
from nearsame.service.writer import Writer

__all__ = ["Service", "create"]

_OPEN = {"/healthz", "/readyz"}  # to everybody
_GONE = 499  # for the log: nobody reads an answer


@dataclass(frozen=True)
class Service:
    """What requests are answered with.

    Attributes:
        name: of the index, for people.
        settings: the bounds.
        access: who may.
        log: where events go.
        metrics: what is counted.
        readers: who answers questions.
        health: the same for nothing but whether the index can be read, so that it waits for no question.
        workers: who does what takes long by itself.
        receiver: who reads bodies.
        writer: who makes changes; None: nobody may.
    """

    name: str
    settings: Settings
    access: Access
    log: Log
    metrics: Metrics
    readers: Readers
    health: Readers
    workers: Workers
    receiver: Receiver
    writer: Writer | None

    @classmethod
    def around(cls, name: str, opener: Callable[..., Any], settings: Settings, access: Access, log: Log) -> "Service":
        """The parts; `opener(read_only=...)` opens the index."""
        metrics = Metrics()
        reading, waiting = partial(opener, read_only=True), settings.queue
        readers = Readers(reading, metrics, threads=settings.readers, most_waiting=waiting)
        health = Readers(reading, metrics, threads=1, most_waiting=waiting, kind="health")
        writer = None
        if not settings.read_only:
            writer = Writer(lambda: opener(read_only=False), metrics, most_waiting=settings.queue, group=settings.group)
        workers = Workers(settings.readers, settings.queue, metrics)
        receiver = Receiver(settings, workers)
        return cls(name, settings, access, log, metrics, readers, health, workers, receiver, writer)

    def start(self) -> None:
        """Open the index."""
        if self.writer is not None:
            self.writer.start()
        self.readers.start()
        self.health.start()

    async def ask(self, request: Request, question: Callable[[Any], Any]) -> Any:
        """The answer to a question about the index; what a reader leaves for a worker is done by one."""
        found = await self.readers.ask(question, seconds_left(request.scope))
        if isinstance(found, Later):
            return await self.workers.run(seconds_left(request.scope), found.task, *found.given)
        return found

    def close(self, seconds: float) -> bool:
        """Write and answer what was accepted, and let go of the index, within this time; whether all of it was done."""
        deadline = time.monotonic() + seconds
        self.workers.close()
        is_written = self.writer is None or self.writer.close(seconds)
        closed = [each.close(max(0.0, deadline - time.monotonic())) for each in (self.readers, self.health)]
        return is_written and all(closed)


def create(service: Service) -> ASGIApp:
    """The application."""
    root = service.settings.root_path
    app = FastAPI(
        title="nearsame",
        version=__version__,
        description=description.ABOUT,
        openapi_tags=description.TAGS,
        servers=[{"url": root}] if root else None,
        root_path_in_servers=False,  # said above: older versions forget it once the document is made
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    pages = Pages(service)
    routers = Routes(service).router, pages.router
    for router in routers:
        app.include_router(router)
    routes = [*app.routes, *(route for router in routers for route in router.routes)]
    _translate(app, pages, service.log, [route for route in routes if isinstance(route, Route)])
    _describe(app, asks=service.access.asks)
    inner = Limits(_Paths(app), service.settings, service.metrics)
    hosts = None if service.access.asks or service.settings.insecure else frozenset(service.settings.allowed_hosts)
    guarded = Guard(inner, hosts=hosts)
    return Watch(guarded, service.log, service.metrics, pages.answer)


def _describe(app: FastAPI, *, asks: bool) -> None:
    """Complete the OpenAPI document by what routes read themselves."""
    made = app.openapi()
    components = made.setdefault("components", {})
    components["schemas"] = components.get("schemas", {}) | description.schemas(*BODIES)
    if asks:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, methods in made["paths"].items():
            for operation in methods.values():
                operation["security"] = [] if path in _OPEN else [{"token": []}]


def _translate(app: FastAPI, pages: Pages, log: Log, routes: Sequence[Route]) -> None:
    """Every exception into our own shape."""

    def answer(request: Request, problem: Problem) -> Response:
        request.scope["state"]["problem"] = problem.code
        return pages.answer(request.scope, problem, request.scope["state"]["request_id"])

    async def of_problem(request: Request, error: Exception) -> Response:
        return answer(request, error if isinstance(error, Problem) else problems.unexpected())

    async def of_library(request: Request, error: Exception) -> Response:
        if not isinstance(error, NearSameError):
            return answer(request, problems.unexpected())
        problem = problems.of_error(error)
        if problem.status in {500, 503, 507}:
            log.failure("index", error, message=error.message, request_id=request.scope["state"]["request_id"])
        return answer(request, problem)

    async def of_http(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            return answer(request, problems.unexpected())
        code = {404: "not-found", 405: "method"}.get(error.status_code, "http")
        said = {404: "there is nothing at this address", 405: "this address has no such method"}
        detail = said.get(error.status_code, error.detail)
        allowed = {"Allow": ", ".join(sorted(_methods(routes, request.scope)))} if code == "method" else {}
        headers = {**(error.headers or {}), **allowed}
        return answer(request, Problem(error.status_code, code, detail, headers=headers))

    async def of_settings(request: Request, error: Exception) -> Response:
        found = error.errors() if isinstance(error, RequestValidationError) else []
        return answer(request, receiving.invalid(found))

    async def of_nobody(request: Request, error: Exception) -> Response:
        del error  # it goes on to Watch, which logs it
        return answer(request, problems.unexpected())

    app.add_exception_handler(Exception, of_nobody)
    app.add_exception_handler(ClientDisconnect, _of_gone)
    app.add_exception_handler(Problem, of_problem)
    app.add_exception_handler(NearSameError, of_library)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_settings)


async def _of_gone(request: Request, error: Exception) -> Response:
    del request, error
    return Response(status_code=_GONE)


def _methods(routes: Sequence[Route], scope: Scope) -> set[str]:
    """All that an address has, of whatever routes."""
    found = [route.methods or () for route in routes if route.matches(scope)[0] is not Match.NONE]
    return {method for methods in found for method in methods}


class _Paths:
    """Let an id have slashes: below /documents/ the path is taken as it was sent, one segment for the whole id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (raw := scope.get("raw_path")):
            sent = raw.partition(b"?")[0].decode("latin-1")
            if sent.startswith(f"{scope.get('root_path', '')}/documents/"):
                scope["path"] = sent
        await self._app(scope, receive, send)
