"""Everything that goes wrong, as a client sees it: one shape of JSON (RFC 9457), one table of statuses.

1. A message never repeats the text of a document.
2. What was not foreseen is a 500 without details; the log has its type and place, again without text.
"""

from http import HTTPStatus
from typing import Any

import orjson
from fastapi.responses import Response

from nearsame import errors
from nearsame.errors import NearSameError

__all__ = ["MEDIA_TYPE", "HttpProblem", "busy", "interrupted", "late", "of_error", "response", "unexpected"]

MEDIA_TYPE = "application/problem+json"

# The first that fits, so leaves stand before their parents. An error of the library that is not here is a 500.
_STATUSES: tuple[tuple[type[NearSameError], int], ...] = (
    (errors.UnknownIdError, 404),
    (errors.StoreBusyError, 503),
    (errors.StoreError, 507),
    (errors.IndexMismatchError, 409),
    (errors.MissingExtraError, 501),
    (errors.ConfigError, 409),  # the request is as described, and the index is not made for it
    (errors.SourceError, 422),
    (errors.OutputError, 507),
)
# Where the library's message names a place on the server, clients get this one; the log has the other.
_SAID = {
    404: "there is no document of this id in the index",
    503: "another process is writing to the index: nothing was written",
    507: "the index cannot be written or read: the disk is full, its store cannot be reached or may only be read, or it"
    " is damaged",
}


class HttpProblem(Exception):  # noqa: N818  (the RFC's word)
    """An answer that is not a success."""

    def __init__(
        self, status: int, code: str, detail: str, *, hint: str = "", headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.hint = hint
        self.headers = headers or {}
        self.more = more


def busy(detail: str, *, seconds: int = 1) -> HttpProblem:
    """Too much at once: the client is to come back."""
    hint = f"Send it again after {seconds} s."
    return HttpProblem(429, "busy", detail, hint=hint, headers={"Retry-After": str(seconds)})


def late(seconds: float) -> HttpProblem:
    """The time for an answer is over."""
    detail = f"no answer within {seconds:.1f} s"
    return HttpProblem(503, "timeout", detail, hint="Ask for less at once.", headers={"Retry-After": "1"})


def of_error(error: NearSameError) -> HttpProblem:
    """What an exception of the library is to a client."""
    if isinstance(error, errors.InterruptedChangeError):
        return interrupted("the way to the index was lost while the change was being written")
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            detail = _SAID.get(status, error.message)
            headers = {"Retry-After": "1"} if status == 503 else None
            return HttpProblem(status, error.code, detail, hint="" if status in _SAID else error.hint, headers=headers)
    return unexpected()


def interrupted(detail: str) -> HttpProblem:
    """A change that may have been made; it is not to be sent again unseen."""
    return HttpProblem(503, errors.InterruptedChangeError.code, detail, hint="See whether it is there.")


def unexpected() -> HttpProblem:
    """The answer to an exception that nothing else handles; its details are only in the log."""
    hint = "Report the request_id to whoever runs the service: the log has more."
    return HttpProblem(500, "internal", "something unexpected went wrong", hint=hint)


def response(problem: HttpProblem, request_id: str) -> Response:
    """A problem as the answer to a request."""
    content = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        **({"hint": problem.hint} if problem.hint else {}),
        **problem.more,
        "request_id": request_id,
    }
    return Response(orjson.dumps(content), problem.status, problem.headers, MEDIA_TYPE)
