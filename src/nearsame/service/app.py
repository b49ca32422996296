"""The service: its parts put together around one index.

1. Here is the only place that knows all parts; a part knows its neighbours.
2. Whoever runs the application starts the service before, and closes it when the last request has been answered.
"""

import inspect
from collections.abc import Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route, request_response
from starlette.types import ASGIApp, Receive, Scope, Send

from nearsame._version import __version__
from nearsame.errors import NearSameError
from nearsame.service import description, problems, receiving
from nearsame.service.guard import Guard
from nearsame.service.limits import Limits
from nearsame.service.logs import Log
from nearsame.service.pages import HtmlPages
from nearsame.service.problems import HttpProblem
from nearsame.service.routes import BODIES, Routes
from nearsame.service.service import Service
from nearsame.service.watch import RequestWatch

__all__ = ["create"]

_OPEN = {"/healthz", "/readyz"}  # to everybody
_GONE = 499  # for the log: nobody reads an answer


def create(service: Service) -> ASGIApp:
    """The application: routes and pages, inside the layers that bound, refuse and log requests."""
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
    Routes(service, app)
    pages = HtmlPages(service, app)
    routes = [route for route in app.routes if isinstance(route, Route)]
    _straighten(routes)
    _translate(app, pages, service.log, routes)
    _describe(app, asks=service.access.asks)
    inner = Limits(_Paths(app), service.settings, service.metrics)
    hosts = None if service.access.asks or service.settings.insecure else frozenset(service.settings.allowed_hosts)
    guarded = Guard(inner, hosts=hosts)
    return RequestWatch(guarded, service.log, service.metrics, pages.answer)


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


def _straighten(routes: Sequence[Route]) -> None:
    """Call what takes a request with that alone: FastAPI would look for more, for each request anew."""
    for route in routes:
        if list(inspect.signature(route.endpoint).parameters) == ["request"]:
            route.app = request_response(route.endpoint)


def _translate(app: FastAPI, pages: HtmlPages, log: Log, routes: Sequence[Route]) -> None:
    """Every exception into our own shape."""

    def answer(request: Request, problem: HttpProblem) -> Response:
        request.scope["state"]["problem"] = problem.code
        return pages.answer(request.scope, problem, request.scope["state"]["request_id"])

    async def of_problem(request: Request, error: Exception) -> Response:
        return answer(request, error if isinstance(error, HttpProblem) else problems.unexpected())

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
        said = {404: "there is nothing at this address", 405: "this address does not accept this method"}
        detail = said.get(error.status_code, error.detail)
        allowed = {"Allow": ", ".join(sorted(_methods(routes, request.scope)))} if code == "method" else {}
        headers = {**(error.headers or {}), **allowed}
        return answer(request, HttpProblem(error.status_code, code, detail, headers=headers))

    async def of_settings(request: Request, error: Exception) -> Response:
        errors = error.errors() if isinstance(error, RequestValidationError) else []
        return answer(request, receiving.invalid(errors))

    async def of_nobody(request: Request, error: Exception) -> Response:
        del error  # it goes on to Watch, which logs it
        return answer(request, problems.unexpected())

    app.add_exception_handler(Exception, of_nobody)
    app.add_exception_handler(ClientDisconnect, _of_gone)
    app.add_exception_handler(HttpProblem, of_problem)
    app.add_exception_handler(NearSameError, of_library)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_settings)


async def _of_gone(request: Request, error: Exception) -> Response:
    del request, error
    return Response(status_code=_GONE)


def _methods(routes: Sequence[Route], scope: Scope) -> set[str]:
    """All that an address has, of whatever routes."""
    allowed = [route.methods or () for route in routes if route.matches(scope)[0] is not Match.NONE]
    return {method for methods in allowed for method in methods}


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
