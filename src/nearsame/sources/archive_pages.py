"""Which record of an archive is a page, and what it and its HTTP header say; what is none, by what it is."""

from nearsame.page_encodings import resiliparse
from nearsame.sources import archives, http
from nearsame.sources.base import Columns
from nearsame.sources.markup import HTML, about_page, absolute, link_canonical
from nearsame.sources.page_records import PageRecord

__all__ = ["page_of"]

_TEXTS = frozenset({"application/xhtml+xml", "application/xml"})
_NO_TEXTS = frozenset({"text/css", "text/javascript", "text/ecmascript", "text/x-javascript"})


def page_of(record: archives.Archived, columns: Columns, wanted: set[str]) -> PageRecord | str:
    """The document of a record; of what is none, what it is."""
    if "warc-segment-number" in record.headers and record.kind != "continuation":
        return "record cut into segments"  # of which this is the first: two that begin alike may end otherwise
    if record.kind == "response":
        response = http.response(record.block, columns.max_document)
        return _plain(record, columns, wanted) if response is None else _responded(record, response, columns, wanted)
    if record.kind in {"resource", "conversion"}:
        return _plain(record, columns, wanted)
    if record.kind == "revisit" and columns.bare:
        return PageRecord(None, None, None, _values(record, wanted) | _revisited(record))
    is_wat = record.kind == "metadata" and http.media_type(record.headers.get("content-type", "")) == "application/json"
    return f"record {record.kind}{' (WAT)' if is_wat else ''}"


def _responded(
    record: archives.Archived, response: http.Response, columns: Columns, wanted: set[str]
) -> PageRecord | str:
    status, headers = response.status or 0, response.headers
    if status != 200:
        if columns.bare and 300 <= status < 400:
            target = absolute(headers.get("location"), record.headers.get("warc-target-uri"))
            return PageRecord(None, None, None, _values(record, wanted) | {"redirect": target, "status": str(status)})
        return f"status {status}"
    kind = headers.get("content-type", "")
    mime = http.media_type(kind) or record.headers.get("warc-identified-payload-type", "").lower()
    mime = mime or _sniffed(response.body.data)
    if not _is_text(mime):
        return f"type {mime}"
    charset = http.charset_of(kind)
    cut = response.body.cut or len(record.block) < record.length
    values = _values(record, wanted) | {"status": str(status), "mime": mime}
    if not {"title", "canonical"}.isdisjoint(wanted) and mime in HTML:
        title, canonical = about_page(response.body.data, charset, values["url"], title="title" in wanted)
        values |= {"title": title, "canonical": canonical or link_canonical(headers.get("link", ""), values["url"])}
    return PageRecord(response.body.data, charset, mime, values, cut)


def _plain(record: archives.Archived, columns: Columns, wanted: set[str]) -> PageRecord | str:
    """A record whose block is the document itself."""
    kind = record.headers.get("content-type", "")
    body = record.block[: columns.max_document]
    mime = http.media_type(kind) or _sniffed(body)
    scheme = record.headers.get("warc-target-uri", "").partition(":")[0]
    if scheme in {"dns", "metadata", "filedesc"}:
        return f"record {scheme}"
    if not _is_text(mime):
        return f"type {mime}"
    charset = http.charset_of(kind) or ("utf-8" if record.kind == "conversion" else None)
    values = _values(record, wanted) | {"mime": mime}
    if not {"title", "canonical"}.isdisjoint(wanted) and mime in HTML:
        values["title"], values["canonical"] = about_page(body, charset, values["url"], title="title" in wanted)
    return PageRecord(body, charset, mime, values, record.length > len(body))


def _values(record: archives.Archived, wanted: set[str]) -> dict[str, str | None]:
    headers = record.headers
    return {
        "url": _unbracketed(headers.get("warc-target-uri")),
        **({"date": headers.get("warc-date")} if "date" in wanted else {}),
        **({"record_id": headers.get("warc-record-id")} if "record_id" in wanted else {}),
        **({"payload_digest": headers.get("warc-payload-digest")} if "payload_digest" in wanted else {}),
        **({"record_type": record.kind} if "record_type" in wanted else {}),
    }


def _revisited(record: archives.Archived) -> dict[str, str | None]:
    headers = record.headers
    origin = headers.get("warc-refers-to-target-uri") or headers.get("warc-refers-to")
    return {"revisit_of": _unbracketed(origin), "revisit_date": headers.get("warc-refers-to-date")}


def _unbracketed(url: str | None) -> str | None:
    """A URL without the angle brackets that some writers put around it."""
    return url[1:-1] if url and url.startswith("<") and url.endswith(">") and not url.startswith("<urn:") else url


def _is_text(mime: str) -> bool:
    return mime in _TEXTS or (mime.startswith("text/") and mime not in _NO_TEXTS)


def _sniffed(body: bytes) -> str:
    """The type of what says none."""
    return str(resiliparse("parse.encoding").detect_mime(body[:4096])) if body else "application/octet-stream"
