"""A request's body as documents: JSON by its model, or one raw text or page with its settings in the URL.

1. JSON is parsed once, by the model that describes it; a large body in a thread, so that other requests go on.
2. A message names the place of a mistake, never the value: values are documents.
"""

import asyncio
import codecs
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from fastapi import Request
from pydantic import TypeAdapter, ValidationError

from nearsame.service.lookups import extracted
from nearsame.service.problems import Problem

__all__ = ["content_type", "invalid", "received", "validated"]

_RAW = {"text/plain", "text/html"}
_LARGE = 100_000  # bytes; some milliseconds
_NO_CHARSETS = {"idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7"}  # what Python has besides

T = TypeVar("T")


async def received(request: Request, model: TypeAdapter[T], settings: dict[str, Any]) -> T:
    """What a request holds; `settings` stand in the URL of a raw text.

    Raises:
        Problem: It is of another type, or not as described.
    """
    kind, charset = content_type(request)
    if kind not in {"application/json", *_RAW}:
        named = f"not {kind}" if kind else "nothing that Content-Type names"
        detail = f"a body is JSON, plain text or HTML, {named}"
        raise Problem(415, "media-type", detail, hint="Send Content-Type: application/json, text/plain or text/html.")
    body = await request.body()
    given = {name: value for name, value in settings.items() if value is not None}
    if kind == "application/json":
        if given:
            detail = f"{', '.join(given)}: in the URL, beside JSON"
            raise Problem(422, "invalid", detail, hint="Write it into the JSON.")
        return await asyncio.to_thread(validated, model, body) if len(body) > _LARGE else validated(model, body)
    text = await asyncio.to_thread(extracted, body, charset) if kind == "text/html" else _decoded(body, charset)
    return _validated({**given, "text": text}, model.validate_python)


def content_type(request: Request) -> tuple[str, str | None]:
    """The media type of a request, and its charset, if it names one."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = None
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"').lower()
    return kind.strip().lower(), charset


def validated(model: TypeAdapter[T], body: bytes) -> T:
    """JSON, as the model that describes it."""
    return _validated(body, model.validate_json)


def _validated(given: Any, validate: Callable[[Any], T]) -> T:
    try:
        return validate(given)
    except ValidationError as error:
        raise invalid(error.errors(include_url=False, include_input=False, include_context=False)) from None


def invalid(errors: Iterable[Any]) -> Problem:
    """A body that is not as described: where, and what was expected."""
    found = [{"place": _place(each["loc"]), "message": _message(each)} for each in errors][:20]
    first = found[0] if found else {"place": "", "message": "not as described"}
    detail = f"{first['place']}: {first['message']}" if first["place"] else first["message"]
    return Problem(422, "invalid", detail, hint="GET /openapi.json describes every request.", errors=found)


def _place(location: Iterable[str | int]) -> str:
    """Where in the JSON; the name of an unknown field is the client's own text, so it is cut."""
    names = [str(part)[:60] for part in location if part not in ("one", "batch", "id-of", "other")]
    return ".".join(names)


def _message(error: Any) -> str:
    """What is wrong; a parser's words on a broken JSON hold its place, not its text."""
    return str(error["msg"]).removeprefix("Value error, ")[:300]


def _decoded(body: bytes, charset: str | None) -> str:
    charset = charset or "utf-8"
    try:
        known = codecs.lookup(charset).name not in _NO_CHARSETS
    except LookupError:
        known = False
    if not known:
        raise Problem(415, "media-type", "the charset is not known", hint="Send UTF-8.")
    try:
        return body.decode(charset)
    except (LookupError, UnicodeError):
        detail = "the body is not of its charset"
        raise Problem(422, "invalid", detail, hint="Send UTF-8, or name the charset in Content-Type.") from None
