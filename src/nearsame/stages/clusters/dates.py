"""Dates and times as people and machines write them, as numbers that can be ordered.

1. Read are ISO 8601 (also with slashes), bare years and months, days first with dots, names of months in English, what
   mail and web servers write, and the 14 digits of web archives. A year or a month is its beginning.
2. What comes in two orders, as 1/2/2024 does, is no date: nobody could tell which day it is.
3. In UTC where no zone is named.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache

__all__ = ["moments"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_TIME = r"(?:[ T,]+(?P<time>\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?) ?(?P<zone>Z|GMT|UTC|[+-]\d\d:?\d\d)?)?"
_NTH = r"(?P<day>\d\d?)(?:st|nd|rd|th)?"
_NAME = r"(?P<month>[A-Za-z]{3,9})\.?"
_FORMS = (
    rf"(?P<year>\d{{4}})(?:[-/](?P<month>\d\d?)(?:[-/](?P<day>\d\d?){_TIME})?)?",
    rf"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{{4}}){_TIME}",
    rf"(?:[A-Z][a-z]{{2,8}},? )?(?:{_NTH}[ -])?{_NAME},?[ -](?P<year>\d{{4}}){_TIME}",
    rf"{_NAME} {_NTH},? (?P<year>\d{{4}}){_TIME}",
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?P<hms>\d{6})",
)


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(form, re.ASCII) for form in _FORMS)


def moments(texts: Iterable[bytes | str | None]) -> list[int | None]:
    """Microseconds since 1970 of dates and times; None for what is none.

    Example:
        >>> moments(["1970", "1.1.1970", "Thu, 01 Jan 1970 00:00:00 GMT", "19700101000000", "1/2/1970"])
        [0, 0, 0, 0, None]
    """
    return [_moment(_said(text).strip()) for text in texts]


def _said(text: bytes | str | None) -> str:
    """What is written there; in place of what is no UTF-8, something that stands in no date."""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""


def _moment(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        spelt = next((_iso(found.groupdict()) for form in _forms() if (found := form.fullmatch(text))), "")
        try:
            moment = datetime.fromisoformat(spelt)
        except ValueError:
            return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)  # a float of seconds has no room for them after 2038


def _iso(found: dict[str, str | None]) -> str:
    """The date in ISO 8601; of what is no month, something that is no date."""
    name = (found.get("month") or "1").lower()
    month = name if name.isdecimal() else next((at for at, full in enumerate(_MONTHS, 1) if _names(name, full)), 0)
    hms = found.get("hms") or "000000"
    time = found.get("time") or f"{hms[:2]}:{hms[2:4]}:{hms[4:]}"
    zone = {"GMT": "Z", "UTC": "Z"}.get(found.get("zone") or "", found.get("zone") or "")
    return f"{found['year']}-{int(month):02}-{int(found.get('day') or 1):02}T{time}{zone}"


def _names(name: str, month: str) -> bool:
    return name == month or name == month[:3] or (name == "sept" and month == "september")
