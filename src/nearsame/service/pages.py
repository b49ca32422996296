"""The pages on which people look at an index: plain HTML, without a script.

1. A template only prints; every value is escaped, in text and in attributes, and no address begins with what a document
   says.
2. Whoever looks may read. What changes something, a decision or a document that goes, is a form of our own pages, and
   of somebody who may write.
3. A browser gets its errors as a page, too, and is led to sign in where tokens are asked for.
"""

from functools import partial
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlsplit

from fastapi import FastAPI, Request
from fastapi import Query as Setting
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.requests import Request as Plain
from starlette.types import Scope

from nearsame._version import __version__
from nearsame.service import lookups, problems, views
from nearsame.service.access import COOKIE, LIFETIME
from nearsame.service.decisions import PageDecisions
from nearsame.service.limits import seconds_left
from nearsame.service.problems import HttpProblem
from nearsame.service.receiving import form_of
from nearsame.service.rendering import Templates
from nearsame.service.service import Service

__all__ = ["HtmlPages"]

_CLUSTERS = 25
_HITS = 50  # of a search
_DECISIONS = 100
_NOTE, _LONGEST_NAME = 1000, 100  # characters
_NAME = "nearsame_who"  # a cookie: who decides in this browser, where no token says so
_MATCHES = 10
_COMPARED = 5  # of the matches, those that are shown side by side at once
_SHOWN = 20_000  # characters of a document

_STATIC = {"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}
_KEPT = {"Cache-Control": "public, max-age=86400"}

Id = Annotated[str, Setting(min_length=1, max_length=10_000)]


class HtmlPages:
    """The pages of a service."""

    def __init__(self, service: Service, app: FastAPI) -> None:
        self._service = service
        self._templates = Templates()
        add = partial(app.add_api_route, include_in_schema=False)
        add("/", self.find, methods=["GET", "HEAD"])
        add("/", self.found, methods=["POST"])
        add("/clusters", self.clusters, methods=["GET", "HEAD"])
        add("/search", self.search, methods=["GET", "HEAD"])
        add("/document", self.document, methods=["GET", "HEAD"])
        add("/document", self.remove, methods=["POST"])
        add("/side-by-side", self.beside, methods=["GET", "HEAD"])
        add("/side-by-side", self.decide, methods=["POST"])
        add("/decisions", self.decisions, methods=["GET", "HEAD"])
        add("/decisions.tsv", self.exported, methods=["GET", "HEAD"])
        add("/about", self.about, methods=["GET", "HEAD"])
        add("/sign-in", self.sign_in, methods=["GET", "HEAD"])
        add("/sign-in", self.signed_in, methods=["POST"])
        add("/sign-out", self.sign_out, methods=["POST"])
        add("/static/{name}", self.static, methods=["GET", "HEAD"])

    async def find(self, request: Request) -> Response:
        """The first page: a field for a text to look up."""
        self._require(request)
        documents = await self._ask(request, lookups.documents)
        return self._page(request, "find.html", text="", results=None, documents=documents, **self._bounds())

    async def found(self, request: Request) -> Response:
        """What resembles a text that was pasted or uploaded."""
        self._require(request)
        form = await form_of(request, max_files=1, max_fields=10, max_part_size=self._service.settings.max_body)
        try:
            self._service.access.require_form_key(request, _field(form, "form_key"))
            extracted = partial(self._extracted, request)
            text, name = await views.text_of(form, self._service.settings.max_text, extracted)
        finally:
            await form.close()
        shown = "" if name else text
        if not text.strip():
            said = {"heading": "Nothing to look for", "notes": ["Paste a text, or choose a file that has one."]}
            return self._page(request, "find.html", text="", results=[], comparisons=[], **said, **self._bounds())
        view = await self._ask(request, views.find(text, name or "your text", _MATCHES, _COMPARED))
        return self._page(request, "find.html", text=shown, **view, **self._bounds())

    async def clusters(self, request: Request, start: Annotated[int, Setting(ge=0, le=1 << 53)] = 0) -> Response:
        """Clusters, the largest first."""
        self._require(request)
        view = await self._ask(request, views.clusters(start, _CLUSTERS))
        return self._page(request, "clusters.html", **view)

    async def search(
        self,
        request: Request,
        q: Annotated[str, Setting(max_length=1000)] = "",
        after: Annotated[str | None, Setting(max_length=10_000)] = None,
    ) -> Response:
        """Documents by what stands in their ids and URLs."""
        self._require(request)
        if not q.strip():
            return self._redirect(request, "/")
        view = await self._ask(request, views.search(q, after, _HITS))
        return self._page(request, "search.html", q=q, **view)

    async def document(
        self,
        request: Request,
        id: Id,
        limit: Annotated[int, Setting(ge=1, le=1000)] = 50,
        *,
        all: bool = False,  # noqa: A002  (likewise)
    ) -> Response:
        """A document and what resembles it."""
        self._require(request)
        view = await self._ask(request, views.document(id, limit, None if all else _SHOWN))
        return self._page(request, "document.html", **view)

    async def remove(self, request: Request) -> Response:
        """Take a document out of the index, if that was confirmed."""
        form = await self._changed(request)
        id = _field(form, "id")
        if _field(form, "sure") != "yes":
            raise HttpProblem(422, "invalid", "nothing was deleted: the box was not ticked")
        await self._service.remove(request, id)
        return self._page(request, "deleted.html", id=id)

    async def decide(self, request: Request) -> Response:
        """Write down what somebody has decided about a pair, and show it again."""
        form = await self._changed(request)
        decisions = self._service.decisions
        if decisions is None:
            raise HttpProblem(403, "read-only", "nothing can be decided here", hint=_WHY)
        a, b, note = _field(form, "a"), _field(form, "b"), _field(form, "note")
        if len(note) > _NOTE:
            raise HttpProblem(422, "invalid", f"the note has {len(note):,} characters, more than {_NOTE:,}")
        for id in (a, b):
            await self._ask(request, lookups.get(id))  # whoever is not there cannot be decided about
        who = self._who(request, form)
        await decisions.decide((a, b), _field(form, "choice"), note, who, seconds_left(request.scope))
        answer = self._redirect(request, f"/side-by-side?a={quote(a, safe='')}&b={quote(b, safe='')}#decide")
        if not self._service.access.asks:
            path = f"{_root(request.scope)}/"
            answer.set_cookie(_NAME, quote(who), LIFETIME, path=path, httponly=True, samesite="strict")
        return answer

    async def decisions(self, request: Request, start: Annotated[int, Setting(ge=0, le=1 << 53)] = 0) -> Response:
        """What was decided, the latest first."""
        self._require(request)
        decisions = await self._decisions(request)
        view = views.decided(decisions, start, _DECISIONS) if decisions else {"decided": None, "why": _WHY}
        return self._page(request, "decisions.html", **view)

    async def exported(self, request: Request) -> Response:
        """The file of decisions."""
        self._require(request)
        if self._service.decisions is None:
            raise HttpProblem(404, "not-found", "nothing is decided here", hint=_WHY)
        headers = {"Content-Disposition": 'attachment; filename="decisions.tsv"'}
        content = await self._service.decisions.exported(seconds_left(request.scope))
        return Response(content, media_type="text/tab-separated-values; charset=utf-8", headers=headers)

    async def beside(
        self,
        request: Request,
        a: Annotated[str, Setting(max_length=10_000)] = "",
        b: Annotated[str, Setting(max_length=10_000)] = "",
        *,
        all: bool = False,  # noqa: A002  (likewise)
    ) -> Response:
        """Two documents side by side."""
        self._require(request)
        compared = await self._ask(request, views.beside(a, b, everything=all)) if a and b else None
        decision = views.decision(await self._decisions(request), a, b) if compared else None
        who = None if self._service.access.asks else unquote(request.cookies.get(_NAME, ""))[:_LONGEST_NAME]
        return self._page(request, "beside.html", a=a, b=b, compared=compared, decision=decision, why=_WHY, who=who)

    async def about(self, request: Request) -> Response:
        """What the index holds, and how programs talk to the service."""
        self._require(request)
        return self._page(request, "about.html", **await self._ask(request, views.about))

    async def sign_in(self, request: Request, next: str = "/") -> Response:  # noqa: A002  (the parameter's name)
        """Where a token is asked for."""
        if not self._service.access.asks:
            return self._redirect(request, "/")
        return self._page(request, "sign_in.html", next=_local(next), wrong=False)

    async def signed_in(self, request: Request) -> Response:
        """A token was given: a cookie for it."""
        if not self._service.access.asks:
            return self._redirect(request, "/")
        form = await form_of(request, max_files=0, max_fields=10)
        target = _local(_field(form, "next"))
        cookie = self._service.access.sign_in(_field(form, "token").strip())
        if cookie is None:
            page = self._page(request, "sign_in.html", next=target, wrong=True)
            page.status_code = 401
            return page
        answer = self._redirect(request, target)
        answer.set_cookie(
            COOKIE,
            cookie,
            max_age=LIFETIME,
            path=f"{_root(request.scope)}/",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    async def sign_out(self, request: Request) -> Response:
        """Have the browser forget the cookie, and show the page to sign in."""
        form = await form_of(request, max_files=0, max_fields=10)
        self._service.access.require_form_key(request, _field(form, "form_key"))
        answer = self._redirect(request, "/sign-in")
        answer.delete_cookie(COOKIE, path=f"{_root(request.scope)}/", httponly=True, samesite="strict")
        return answer

    async def static(self, name: str) -> Response:
        """The style and the picture; the same for everybody."""
        if name not in _STATIC:
            raise HttpProblem(404, "not-found", "there is nothing at this address")
        content = files(__package__).joinpath("static", name).read_bytes()
        return Response(content, media_type=_STATIC[name], headers=_KEPT)

    def answer(self, scope: Scope, problem: HttpProblem, request_id: str) -> Response:
        """A problem, as whoever asked reads it: a page for browsers, JSON for programs."""
        if "text/html" not in Headers(scope=scope).get("accept", ""):
            return problems.response(problem, request_id)
        request = Plain(scope)
        if problem.status == 401 and scope["method"] in {"GET", "HEAD"}:
            path = scope["path"].removeprefix(_root(scope))
            target = f"{path}?{request.url.query}" if request.url.query else path
            return self._redirect(request, f"/sign-in?next={quote(target, safe='')}")
        fields = {"detail": _sentence(problem.detail), "hint": problem.hint, "request_id": request_id}
        page = self._page(request, "problem.html", title=_TITLES.get(problem.status, "This did not work"), **fields)
        page.status_code = problem.status
        page.headers.update(problem.headers)
        return page

    def _require(self, request: Request) -> None:
        self._service.access.require(request, "read", pages=True)

    async def _changed(self, request: Request) -> FormData:
        """The form of somebody who may change something, from a page of ours."""
        self._service.access.require(request, "write", pages=True)
        self._service.require_writer()
        form = await form_of(request, max_files=0, max_fields=10)
        self._service.access.require_form_key(request, _field(form, "form_key"))
        return form

    async def _decisions(self, request: Request) -> PageDecisions | None:
        """What was decided by now, by others, too."""
        decisions = self._service.decisions
        if decisions is not None:
            await decisions.look(seconds_left(request.scope))
        return decisions

    def _who(self, request: Request, form: FormData) -> str:
        """Who decides: the name of the token; where none is asked for, the name that was typed."""
        holder = self._service.access.require(request, "write", pages=True)
        return holder.name if holder else _field(form, "who").strip()[:_LONGEST_NAME]

    async def _ask(self, request: Request, question: Any) -> Any:
        return await self._service.ask(request, question)

    async def _extracted(self, request: Request, page: bytes) -> str:
        return await self._service.receiver.extracted(page, None, seconds_left(request.scope))

    def _bounds(self) -> dict[str, int]:
        return {"max_text": self._service.settings.max_text}

    def _page(self, request: Plain, template: str, **data: Any) -> Response:
        access = self._service.access
        holder = access.of_cookie(request.cookies.get(COOKIE, "")) if access.asks else None
        page = {
            "root": _root(request.scope),
            "path": request.scope["path"].removeprefix(_root(request.scope)),
            "version": __version__,
            "name": self._service.name,
            "holder": holder,
            "may_read": holder is not None or not access.asks,
            "may_write": self._service.writer is not None and (not access.asks or bool(holder and holder.may_write)),
            "decides": self._service.decisions is not None,
            "form_key": access.form_key(request) if holder else "",
        }
        return HTMLResponse(self._templates.render(template, page=page, **data))

    def _redirect(self, request: Plain, path: str) -> RedirectResponse:
        return RedirectResponse(f"{_root(request.scope)}{path}", 303)


_WHY = "Start nearsame serve without --read-only, and with --decisions FILE where the index is on a server."
_TITLES = {
    403: "Not allowed",
    404: "Not found",
    413: "Too large",
    422: "This is not possible",
    429: "Too much at once",
    503: "No answer in time",
}


def _field(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return "" if isinstance(value, UploadFile) else value


def _local(path: str) -> str:
    """An address of ours to go on to; one of another site becomes the first page."""
    try:
        parts = urlsplit(path.replace("\\", "/")) if path.isprintable() else None
    except ValueError:  # as [ makes it
        parts = None
    if parts is None or parts.scheme or parts.netloc or not path.startswith("/") or path.startswith("//"):
        return "/"
    return quote(path, safe="/?=&%+-._~:@!$'()*,;")


def _root(scope: Scope) -> str:
    return str(scope.get("root_path", ""))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")
