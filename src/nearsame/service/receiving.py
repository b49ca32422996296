"""A request's body as documents: JSON by its model, or one raw text or page with its settings in the URL.

1. What a body may hold is counted before its model looks at it, and a model stops at the first mistake in a list: a
   message about each of a million mistakes would take a thousand times the bytes of the body.
2. A large body is parsed in a thread, one at a time: other requests go on, and memory is that of one.
3. A message names the place of a mistake, never the value: values are documents.
"""

import asyncio
import codecs
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import orjson
from fastapi import Request
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.datastructures import FormData

from nearsame.service import lookups
from nearsame.service.limits import NDJSON, seconds_left
from nearsame.service.problems import HttpProblem
from nearsame.service.settings import Settings
from nearsame.service.workers import WorkerProcesses

__all__ = [
    "Receiver",
    "content_type",
    "form_of",
    "invalid",
    "is_stream",
    "refuse_settings",
    "require_known",
    "settings_of",
]

_RAW = {"text/plain", "text/html"}
_LARGE = 100_000  # bytes; some milliseconds
_SEVERAL = "where"  # the one setting in a URL that may stand there several times
_MOST_NAMES = 20  # in an object; no model has as many
_TYPE = re.compile(r"constrained-str|(list|dict|function-after)\[.*\]")  # pydantic's names in the place of a mistake
_NO_CHARSETS = {
    "idna",
    "punycode",
    "raw-unicode-escape",
    "undefined",
    "unicode-escape",
    "utf-7",
}  # what Python has besides

S = TypeVar("S", bound=BaseModel)
T = TypeVar("T")


class Receiver:
    """How the bodies of a service are read."""

    def __init__(self, settings: Settings, workers: WorkerProcesses) -> None:
        self._settings = settings
        self._workers = workers
        self._parsing = asyncio.Lock()

    async def received(self, request: Request, model: TypeAdapter[T], settings: dict[str, Any]) -> T:
        """What a request holds; `settings` stand in the URL of a raw text.

        Raises:
            Problem: It is of another type, not as described, or more than it may be.
        """
        kind, charset = content_type(request)
        if kind not in {"application/json", *_RAW}:
            named = f"not {kind}" if kind else "nothing that Content-Type names"
            detail = f"a body is JSON, plain text or HTML, {named}"
            hint = "Send Content-Type: application/json, text/plain or text/html."
            raise HttpProblem(415, "media-type", detail, hint=hint)
        body = await request.body()
        given = {name: value for name, value in settings.items() if value is not None}
        if kind == "application/json":
            refuse_settings(**given)
            return await self._of_json(model, body)
        if kind == "text/html":
            text = await self.extracted(body, charset, seconds_left(request.scope))
        else:
            text = _decoded(body, charset)
        self._require_length(len(text))
        return _validated(model, {**given, "text": text})

    async def extracted(self, page: str | bytes, charset: str | None, seconds: float) -> str:
        """The main text of a page, which may have as many characters as a text; raw, as many bytes.

        Raises:
            Problem: It is too long, or takes too long.
        """
        self._require_length(len(page))
        if len(page) <= lookups.SMALL:
            return lookups.extracted(page, charset)
        return await self._workers.run(seconds, lookups.extracted, page, charset)

    async def prepared(self, batch: Sequence[Any], seconds: float) -> list[dict[str, Any]]:
        """Documents as the index takes them: pages as their text, what is not given left out."""
        pages = [given.html for given in batch if given.html is not None]
        if sum(map(len, pages)) <= lookups.SMALL:
            texts = iter(lookups.extracted_all(pages))
        else:
            texts = iter(await self._workers.run(seconds, lookups.extracted_all, pages))
        documents = []
        for given in batch:
            document = {
                name: getattr(given, name, None) for name in ("id", "url", "text", "features", "sketch", "columns")
            }
            if given.html is not None:
                document["text"] = next(texts)
            documents.append({name: value for name, value in document.items() if value is not None})
        return documents

    def _require_batch(self, number: int) -> None:
        """Refuse so many documents if these are too many."""
        if number > self._settings.max_batch:
            detail = f"{number:,} documents, more than {self._settings.max_batch:,}"
            raise HttpProblem(413, "too-large", detail, hint="Send them in several requests.")

    def line(self, model: TypeAdapter[T], text: bytes) -> T:
        """A line of a stream of JSON.

        Raises:
            Problem: It is not as described, or has too long a text.
        """
        return self._parsed(model, text)

    async def _of_json(self, model: TypeAdapter[T], body: bytes) -> T:
        if len(body) <= _LARGE:
            return self._parsed(model, body)
        async with self._parsing:
            return await asyncio.to_thread(self._parsed, model, body)

    def _parsed(self, model: TypeAdapter[T], body: bytes) -> T:
        """JSON, as the model that describes it."""
        try:
            given = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise invalid([{"loc": (), "msg": f"the body is not JSON: {place}"}]) from None
        for document in self._documents(given):
            if len(document) > _MOST_NAMES:
                raise invalid(
                    [{"loc": (), "msg": f"an object has {len(document):,} names, far more than there are fields"}]
                )
            self._require_length(max((len(value) for value in document.values() if isinstance(value, str)), default=0))
        return _validated(model, given)

    def _documents(self, given: Any) -> list[dict[str, Any]]:
        """All objects of a body that hold a text; of those in a list no more than there may be."""
        if not isinstance(given, dict):
            return []
        several = given.get("documents")
        if isinstance(several, list):
            self._require_batch(len(several))
        inner = several if isinstance(several, list) else (given.get("a"), given.get("b"))
        return [given, *(document for document in inner if isinstance(document, dict))]

    def _require_length(self, length: int) -> None:
        if length > self._settings.max_text:
            detail = f"a text of {length:,} characters, more than {self._settings.max_text:,}"
            raise HttpProblem(413, "too-large", detail, hint="Cut it, or start the service with a larger --max-text.")


async def form_of(request: Request, **bounds: int) -> FormData:
    """The form that a request sends, in a charset that raw bodies may have.

    Raises:
        Problem: It is in none.
    """
    from python_multipart.multipart import parse_options_header  # noqa: PLC0415  (as its own parser will read it)

    _, options = parse_options_header(request.headers.get("content-type", ""))
    _require_charset(options.get(b"charset", b"utf-8").decode("latin-1"))
    return await request.form(**bounds)


def settings_of(request: Request, model: type[S]) -> S:
    """What stands in the URL; most requests have nothing there, and pay nothing for it.

    Raises:
        Problem: Something is not as described.
    """
    if not request.scope["query_string"]:
        return model()
    given = request.query_params
    require_known(request, model.model_fields)
    named = {
        name: given.getlist(name) if name == _SEVERAL else given[name] for name in model.model_fields if name in given
    }
    return _validated(TypeAdapter(model), named, "query")


def require_known(request: Request, names: Iterable[str] | None = None) -> None:
    """Refuse a setting in the URL that is none of these, or of those of the route: a misspelt one would do nothing.

    Likewise one that is given several times and can be only one: the others would do nothing.

    Raises:
        Problem: There is one.
    """
    if not request.scope["query_string"]:
        return
    known = list(names or (parameter.alias for parameter in request.scope["route"].dependant.query_params))
    for name in request.query_params:
        if name != _SEVERAL and len(request.query_params.getlist(name)) > 1:
            raise invalid([{"loc": ("query", name), "msg": "given more than once"}])
        if name not in known:
            message = f"not known here; there are {', '.join(known)}" if known else "not known here"
            raise invalid([{"loc": ("query", name), "msg": message}])


def is_stream(request: Request) -> bool:
    """Whether a request sends lines of JSON."""
    return content_type(request)[0] == NDJSON


def refuse_settings(**given: Any) -> None:
    """Refuse what stands in the URL, and belongs into the JSON.

    Raises:
        Problem: There is something.
    """
    named = [name for name, value in given.items() if value is not None]
    if named:
        detail = f"{', '.join(named)}: given in the URL, although the body has no use for it there"
        raise HttpProblem(409, "settings", detail, hint="Write it into the JSON, or leave it out.")


def content_type(request: Request) -> tuple[str, str | None]:
    """The media type of a request, and its charset, if it names one."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = None
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"').lower()
    return kind.strip().lower(), charset


def _validated(model: TypeAdapter[T], given: Any, *where: str) -> T:
    try:
        return model.validate_python(given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        raise invalid([{**fault, "loc": (*where, *fault["loc"])} for fault in faults]) from None


def invalid(errors: Iterable[Any]) -> HttpProblem:
    """A body that is not as described: where, and what was expected."""
    errors = list(errors) or [{"loc": (), "msg": "not as described"}]
    first = _most_telling(errors)
    faults = [{"place": _place(error["loc"]), "message": _message(error)} for error in errors][:20]
    place = _place(first["loc"])
    detail = f"{place}: {_message(first)}" if place else _message(first)
    return HttpProblem(422, "invalid", detail, hint="GET /openapi.json describes every request.", errors=faults)


def _most_telling(errors: Sequence[Any]) -> Any:
    """The first; of what may be one of several types, what is wrong with the type that comes closest."""
    first = errors[0]
    until = next((at for at, part in enumerate(first["loc"]) if _TYPE.fullmatch(str(part))), None)
    if until is None:
        return first
    like = [error for error in errors if error["loc"][:until] == first["loc"][:until]]
    return min(like, key=lambda error: (error["type"].endswith("_type"), -len(error["loc"])))


def _place(location: Iterable[str | int]) -> str:
    """Where in the JSON; the name of an unknown field is the client's own text, so it is cut."""
    names = [str(part) for part in location if part not in ("one", "batch", "id-of", "other")]
    return ".".join(name[:60] for name in names if not _TYPE.fullmatch(name))


def _message(error: Any) -> str:
    """What is wrong; a parser's words on a broken JSON hold its place, not its text."""
    return str(error["msg"]).removeprefix("Value error, ")[:300]


def _decoded(body: bytes, charset: str | None) -> str:
    charset = charset or "utf-8"
    _require_charset(charset)
    try:
        return body.decode(charset)
    except (LookupError, UnicodeError):
        detail = "the body is not of its charset"
        raise HttpProblem(422, "invalid", detail, hint="Send UTF-8, or name the charset in Content-Type.") from None


def _require_charset(charset: str) -> None:
    try:
        known = codecs.lookup(charset).name not in _NO_CHARSETS
    except LookupError:
        known = False
    if not known:
        raise HttpProblem(415, "media-type", "the charset is not known", hint="Send UTF-8.")
