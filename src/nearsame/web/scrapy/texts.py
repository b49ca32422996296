"""The text of a response, as it is compared."""

import numpy as np
from scrapy.http import HtmlResponse, Response, TextResponse

from nearsame.recipes.choices import Extract
from nearsame.stages.features.token_spans import place
from nearsame.stages.texts.page_text import page_text

__all__ = ["markup_text", "num_words", "response_text"]

_PLAIN = ("text/plain",)


def response_text(response: Response, extract: Extract) -> str | None:
    """What is compared of a response; None for what is not a page: images, feeds, JSON."""
    if isinstance(response, HtmlResponse):
        return page_text(response.body, response.encoding, _mime(response) or "text/html", extract)
    if isinstance(response, TextResponse) and _mime(response) in _PLAIN:
        return response.text
    return None


def markup_text(markup: str | bytes, extract: Extract) -> str:
    """What is compared of the markup in an item."""
    body = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    return page_text(body, "utf-8" if isinstance(markup, str) else None, "text/html", extract)


def num_words(text: str) -> int:
    """How many words a text has; a letter of a script without spaces is one, as where texts are compared."""
    return place(np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8), 0, 0).starts.size


def _mime(response: Response) -> str:
    header = response.headers.get("Content-Type") or b""
    return header.decode("latin-1").partition(";")[0].strip().lower()
