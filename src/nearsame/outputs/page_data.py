"""Data on a page: as JSON inside a script element, and how many bytes of the page it takes."""

import json
from typing import Any

__all__ = ["for_a_script", "printed_bytes", "shortened"]

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


def shortened(text: str, most: int) -> str:
    """A text as it is, or how it begins, and how much of it is left out.

    >>> shortened("abcdef", 4)
    'abcd… [2 characters more]'
    """
    return text if len(text) <= most else f"{text[:most]}… [{len(text) - most:,} characters more]"
