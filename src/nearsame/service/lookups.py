"""What is asked of the index, and its answers as JSON.

1. A look-up is a function of the index, so that a reader can run it in a thread of its own.
2. Nothing here decides what is similar: that is the index's.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from nearsame import questions
from nearsame.index.index import Index
from nearsame.matches import Entry, Match
from nearsame.methods import METHODS, Method
from nearsame.results import Comparison
from nearsame.service.problems import Problem

__all__ = [
    "compare", "compared", "documents", "duplicates", "extracted", "get", "keeps_texts", "prepared", "query", "side",
    "stats", "unknown", "warm_up",
]  # fmt: skip

_LARGE = 50_000  # characters of HTML: some milliseconds

Ask = Callable[[Index], Any]


async def prepared(batch: Sequence[Any]) -> list[dict[str, Any]]:
    """Documents as the index takes them: pages as their text, what is not given left out."""
    pages = sum(len(given.html or "") for given in batch)
    if pages > _LARGE:
        return await asyncio.to_thread(_prepared, batch)
    return _prepared(batch)


def _prepared(batch: Sequence[Any]) -> list[dict[str, Any]]:
    return [_document(given) for given in batch]


def _document(given: Any) -> dict[str, Any]:
    found = {name: getattr(given, name, None) for name in ("id", "url", "text", "features", "sketch")}
    if given.html is not None:
        found["text"] = extracted(given.html)
    return {name: value for name, value in found.items() if value is not None}


def extracted(page: str | bytes, charset: str | None = None) -> str:
    """The main text of a page; of bytes in a charset, or in the one that the page itself or its bytes tell."""
    from nearsame.stages.texts.pages import page_text  # noqa: PLC0415  (what it needs is optional)

    if isinstance(page, str):
        return page_text(page.encode("utf-8", "replace"), "utf-8")
    return page_text(page, charset)


def query(batch: Sequence[dict[str, Any]], *, limit: int, threshold: float | None) -> Ask:
    """What resembles each of these."""

    def ask(index: Index) -> list[list[Match]]:
        found: list[list[Match]] = index.query(list(batch), limit=limit, threshold=threshold)
        return found

    return ask


def get(id: str) -> Ask:
    """A document."""

    def ask(index: Index) -> Entry:
        return index.get(id)

    return ask


def duplicates(id: str, limit: int) -> Ask:
    """What resembles a document of the index."""

    def ask(index: Index) -> list[Match]:
        return index.duplicates(id, limit=limit)

    return ask


def stats(index: Index) -> dict[str, Any]:
    """What the index holds; not where."""
    return {name: value for name, value in index.stats().record().items() if name != "where"}


def documents(index: Index) -> int:
    """How many documents it holds."""
    return index.stats().documents


async def side(given: Any) -> tuple[str | None, str]:
    """One side of a comparison: an id, or a text."""
    if given.html is not None:
        return None, await asyncio.to_thread(extracted, given.html)
    return given.id, given.text or ""


def compare(a: tuple[str | None, str], b: tuple[str | None, str]) -> Ask:
    """Two documents: with their texts by every measure and with passages, else by what is stored."""

    def ask(index: Index) -> dict[str, Any]:
        (a_id, a_text), (b_id, b_text) = a, b
        if a_id is not None and b_id is not None and not keeps_texts(index):
            return index.compare(a_id, b_id).record()
        texts = [text if id is None else index.text(id) for id, text in (a, b)]
        return compared(index, texts[0] or a_text, texts[1] or b_text).record()

    return ask


def compared(index: Index, a: str, b: str) -> Comparison:
    """Two texts, by the settings of the index's first method that compares contents."""
    recipe: Method | None = None
    for method in reversed(index.stats().methods):
        if method["method"] in {"minhash", "simhash"}:
            settings = {key: value for key, value in method.items() if key != "method" and value is not None}
            recipe = METHODS[method["method"]](**settings)
    return questions.compare(a, b, method=recipe)


def warm_up(index: Index) -> None:
    """Ask once what loads and compiles everything, so that no client waits for that."""
    text = "a text of some words that nobody has sent, and nobody will"
    index.query([text])
    compared(index, text, f"{text} again")


def keeps_texts(index: Index) -> bool:
    """Whether the index stores texts."""
    return index.stats().store == "text"


def unknown() -> Problem:
    """There is no such document."""
    return Problem(404, "unknown-id", "there is no document of this id in the index")
