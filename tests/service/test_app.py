"""How requests get to what answers them."""

import asyncio
from typing import Any

import fastapi.routing
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from starlette.routing import Route

from nearsame.service import app as service_app


def test_what_takes_a_request_alone_is_called_with_it_and_nothing_is_looked_for(monkeypatch):
    """FastAPI looks for parameters of the others, and of those only."""
    looked_for: list[str] = []
    solve = fastapi.routing.solve_dependencies

    async def solving(*args: Any, **named: Any) -> Any:
        looked_for.append(named["request"].url.path)
        return await solve(*args, **named)

    async def alone(request: Request) -> Response:
        return PlainTextResponse(request.url.path)

    async def named(request: Request, number: int = 3) -> Response:
        return PlainTextResponse(f"{request.url.path} {number}")

    app = FastAPI()
    app.add_api_route("/alone", alone)
    app.add_api_route("/named", named)
    service_app._straighten([route for route in app.routes if isinstance(route, Route)])
    monkeypatch.setattr(fastapi.routing, "solve_dependencies", solving)
    assert [b"/alone", b"/named 3"] == [asyncio.run(_body(app, path)) for path in ("/alone", "/named")]
    assert ["/named"] == looked_for


async def _body(app: FastAPI, path: str) -> bytes:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [], "server": ("a", 80)}
    await app({**scope, "scheme": "http", "root_path": "", "http_version": "1.1"}, receive, send)
    return b"".join(message.get("body", b"") for message in sent)
