"""What stands where a URL should, and is none: words for nothing, templates that nobody filled in, other schemes.

Documents that have nothing in common but such a word would be one page. Whatever else stands there is taken for what it
is called: a name without a scheme or a host may name a page, too. The patterns are for Arrow's functions as well.
"""

import re

__all__ = ["NO_REFERENCE", "NO_URL", "WORDS", "is_no_url"]

_BLANK = r"[ \t\n\f\r]"
_NULLS = ("null", "none", "undefined", "nan")
WORDS = frozenset({*_NULLS, "na", "n/a", "nil", "unknown", "missing"})  # for nothing, whatever should stand there
_NULL, _WORDS = "|".join(_NULLS), "|".join(sorted(WORDS))
_SCHEMES = r"(?:about|blob|data|javascript|mailto|tel):.*|[a-z][a-z0-9+.-]*:/*"
_HOSTS = rf"(?:https?|ftp)://(?:[/?#].*|(?:{_NULL})(?:[:/?#].*)?)"
_TEMPLATES = r"\{\{|\}\}|\$\{|<\?|<%|%%[a-z_.]+%%|\[object"
_SENTENCE = rf"^{_BLANK}*[^ \t\n\f\r:/?#]+{_BLANK}+[^ \t\n\f\r]"  # of several words, of which the first is no address

NO_REFERENCE = rf"(?is)^{_BLANK}*(?:{_WORDS}|-+|{_SCHEMES}|{_HOSTS}){_BLANK}*$|{_TEMPLATES}|{_SENTENCE}"
NO_URL = rf"{NO_REFERENCE}|^{_BLANK}*[-_?.*/#\\]*{_BLANK}*$"


def is_no_url(text: str) -> bool:
    """Whether this is a word for nothing, where a URL should stand.

    Example:
        >>> [is_no_url(text) for text in ("-", "about:blank", "http://{{host}}/", "not a url", "example.org", "/x")]
        [True, True, True, True, False, False]
    """
    return re.search(NO_URL, text) is not None
