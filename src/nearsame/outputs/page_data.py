"""Data on a page: as JSON inside a script element or as text, and how many bytes of the page it takes."""

import html
import json
from collections.abc import Mapping
from typing import Any

from nearsame.printable import shortened

__all__ = ["as_text_bytes", "brief", "for_a_script", "printed_bytes"]

_IN_SCRIPTS = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}  # what could end a script


def for_a_script(data: Any) -> str:
    """JSON in which nothing ends a script.

    >>> "<" in for_a_script(["</script>"])
    False
    """
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_IN_SCRIPTS)


def printed_bytes(data: Any) -> int:
    """How many bytes that takes; as text of a page itself it takes about as many, at most.

    >>> printed_bytes("ab"), printed_bytes("<")
    (4, 8)
    """
    return len(for_a_script(data).encode("utf-8", "surrogatepass"))


def as_text_bytes(text: str) -> int:
    """How many bytes a text takes in the page itself, at most.

    >>> as_text_bytes("ab"), as_text_bytes("<")
    (2, 4)
    """
    return len(html.escape(text).encode("utf-8", "surrogatepass"))


def brief(settings: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Settings as they are, but those that are longer than a page can use: how they begin.

    >>> brief({"k": 3, "words": ["a", "b"]}, 6)
    {'k': 3, 'words': '["a", … [4 characters more]'}
    """
    written = {name: json.dumps(value, ensure_ascii=False, default=str) for name, value in settings.items()}
    return {
        name: value if len(written[name]) <= most else shortened(written[name], most)
        for name, value in settings.items()
    }
