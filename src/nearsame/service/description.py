"""What the OpenAPI description says besides the models: words, examples, raw bodies and problems.

1. Every example is a request that the service answers: the tests send them.
"""

from typing import Any

from pydantic import BaseModel, TypeAdapter

from nearsame.service import problems
from nearsame.service.bodies import ProblemBody
from nearsame.service.limits import NDJSON

__all__ = ["ABOUT", "TAGS", "answers", "body", "schemas", "settings"]

ABOUT = """Find near-duplicates in a persistent index, and add to it.

Bodies are JSON, or one raw text (`text/plain`) or page (`text/html`) with its settings in the URL, or
lines of JSON (`application/x-ndjson`), a document each, that are answered line by line. Where the
service was started with tokens, send `Authorization: Bearer TOKEN`. All errors have one shape of JSON
(RFC 9457)."""

TAGS = [
    {"name": "documents", "description": "What is in the index."},
    {"name": "questions", "description": "What resembles what."},
    {"name": "service", "description": "How the service is."},
]

_DETAILS = {
    400: "The request cannot be read.",
    401: "A token is needed, or this one is not valid.",
    403: "The token may not do this, the service is read-only, or a page of another site sent it.",
    404: "There is no such document.",
    408: "The request did not arrive in time.",
    409: "What is stored does not allow it, or the URL has settings although the body is JSON.",
    413: "The request, a text or a batch is too large.",
    415: "The body is neither JSON nor plain text nor HTML.",
    421: "The Host header names another machine.",
    422: "The request is not as described.",
    429: "Too much at once: come back after Retry-After seconds.",
    501: "What extracts pages is not installed.",
    503: "No answer in time, or the service is stopping; a change was then not written.",
    507: "The disk is full, or the index is damaged: nothing was written.",
}
_ALWAYS = (401, 403, 408, 413, 421, 429, 503)


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems of a route: those that every one may have, and these."""
    content = {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}}
    responses: dict[int | str, dict[str, Any]] = {}
    for status in sorted({*_ALWAYS, *statuses}):
        responses[status] = {"description": _DETAILS[status], "content": content}
        if status == 429:
            responses[status]["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "Seconds."}}
    return responses


def body(model: TypeAdapter[Any], examples: dict[str, Any], *, raw: bool = False) -> dict[str, Any]:
    """A body that is read by `receiving`: JSON as the model says, perhaps also a raw text."""
    schema = model.json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    named = {name: {"value": value} for name, value in examples.items()}
    content: dict[str, Any] = {"application/json": {"schema": schema, "examples": named}}
    if raw:
        for kind in ("text/plain", "text/html", NDJSON):
            content[kind] = {"schema": {"type": "string"}}
    return {"requestBody": {"required": True, "content": content}}


def settings(model: type[BaseModel]) -> dict[str, Any]:
    """Settings in the URL that are read by `receiving`."""
    named = model.model_json_schema()["properties"].items()
    return {
        "parameters": [
            {"name": name, "in": "query", "required": False, "description": schema["description"], "schema": schema}
            for name, schema in named
        ]
    }


def schemas(*models: TypeAdapter[Any]) -> dict[str, Any]:
    """The components that those bodies refer to, and the problem."""
    components: dict[str, Any] = {}
    for model in (*models, TypeAdapter(ProblemBody)):
        schema = model.json_schema(ref_template="#/components/schemas/{model}")
        components |= schema.pop("$defs", {})
        if schema.get("title"):
            components[schema["title"]] = schema
    return components
