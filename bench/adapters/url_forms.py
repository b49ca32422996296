"""The forms that other libraries give URLs: lines in, a JSON list for each line out; nobody's own form stays null.

Each is asked as its documentation shows, with what it offers to make two URLs of one page the same.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import courlan
import ural
import url_normalize
import w3lib.url
import yarl

FORMS: tuple[Callable[[str], Any], ...] = (
    courlan.clean_url,
    ural.normalize_url,
    lambda url: url_normalize.url_normalize(url, filter_params=True),
    w3lib.url.canonicalize_url,
    lambda url: str(yarl.URL(url)),
)


def form(make: Callable[[str], Any], url: str) -> str | None:
    """The form; None where the library refuses the URL."""
    try:
        return make(url)
    except Exception:  # noqa: BLE001  (what each library raises is its own)
        return None


for line in sys.stdin:
    print(json.dumps([form(make, line.rstrip("\n")) for make in FORMS]))
