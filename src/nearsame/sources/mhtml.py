"""MHTML: a page as browsers save it, a message whose first part of HTML is the page.

It is read by the library for mail, which takes as long to import as half of this package: only a page of this kind
imports this module.
"""

import email
import email.policy
from email.errors import CloseBoundaryNotFoundDefect
from email.message import EmailMessage

from nearsame.named import NamedTuple
from nearsame.sources import http
from nearsame.sources.markup import HTML

__all__ = ["SavedPage", "unpacked"]


class SavedPage(NamedTuple):
    """The page in a message, and what its headers say of it."""

    body: bytes
    charset: str | None
    url: str | None
    mime: str
    date: str | None


def unpacked(data: bytes) -> SavedPage:
    """The page in a message.

    Raises:
        ValueError: There is none, or the message is cut.
    """
    try:
        message = email.message_from_bytes(data, policy=email.policy.default)
        part = next((part for part in message.walk() if part.get_content_type() in HTML), None)
        body = part.get_payload(decode=True) if part is not None else None
        if part is None or not isinstance(body, bytes):
            raise ValueError("MHTML without an HTML part")
        defects = [defect for piece in message.walk() for defect in piece.defects]
        if any(isinstance(defect, CloseBoundaryNotFoundDefect) for defect in defects):
            raise ValueError("MHTML that breaks off before its last line")
        header = {name.lower(): str(value) for name, value in (*message.items(), *part.items())}
    except (LookupError, RecursionError, TypeError, AttributeError) as error:
        raise ValueError(f"not readable as MHTML: {type(error).__name__}") from error
    url = header.get("snapshot-content-location") or header.get("content-location")
    charset = http.charset_of(str(part.get("content-type", "")))
    return SavedPage(body, charset, url, part.get_content_type(), _date(message))


def _date(message: EmailMessage) -> str | None:
    moment = getattr(message.get("date"), "datetime", None)
    return moment.isoformat() if moment else None
