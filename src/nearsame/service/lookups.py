"""What is asked of the index, and its answers as JSON.

1. A look-up is a function of the index, so that a reader can run it in a thread of its own.
2. What would keep a reader for long, and is not about the index, is left for a worker (`Later`).
3. Nothing here decides what is similar: that is the index's.
"""

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from nearsame.answers.comparisons import Comparison
from nearsame.answers.matches import Entry, Group, Matches
from nearsame.index.columns import Where
from nearsame.index.index import Index
from nearsame.named import NamedTuple
from nearsame.printable import without_halves
from nearsame.recipes.methods import METHODS
from nearsame.service.problems import HttpProblem, late
from nearsame.studies import compare as study

__all__ = [
    "SMALL", "Ask", "Exported", "Later", "as_json", "compare", "compared", "documents", "duplicates", "exported",
    "extracted", "extracted_all", "get", "groups", "ids", "keeps_texts", "later", "query", "settings_of", "stats",
    "unknown", "warm_up",
]  # fmt: skip

SMALL = 20_000  # characters of pages or texts that cost less than sending them to a worker
_LISTS = ("text", "features", "sketch")
_AT_ONCE = 64  # documents of a question, between looks at the time
_MOST_PASSAGES = 1000

Ask = Callable[[Index], Any]


class Later(NamedTuple):
    """What a worker is to do, for the answer to a question."""

    task: Callable[..., Any]
    given: tuple[Any, ...]


def later(size: int, task: Callable[..., Any], *given: Any) -> Any:
    """What the task returns; where so many characters are large, the task itself, for a worker."""
    return task(*given) if size <= SMALL else Later(task, given)


def extracted(page: str | bytes, charset: str | None = None) -> str:
    """The main text of a page; of bytes in a charset, or in the one that the page itself or its bytes tell."""
    from nearsame.stages.texts.page_text import page_text  # noqa: PLC0415  (what it needs is optional)

    if isinstance(page, str):
        return page_text(page.encode("utf-8", "replace"), "utf-8")
    return page_text(page, charset)


def extracted_all(pages: Sequence[str]) -> list[str]:
    """The main text of each."""
    return [extracted(page) for page in pages]


class query:  # noqa: N801  (a look-up like the others, which can be asked together with its like)
    """What resembles each of these; it ends when the time is over."""

    def __init__(self, batch: Sequence[dict[str, Any]], *, seconds: float, **wanted: Any) -> None:
        self.batch, self.wanted = list(batch), wanted
        self._seconds, self._deadline = seconds, time.monotonic() + seconds
        is_small = len(self.batch) == 1 and all(len(self.batch[0].get(part, ())) <= SMALL for part in _LISTS)
        self.kind = repr(sorted(wanted.items())) if is_small else None

    def __call__(self, index: Index) -> list[Matches]:
        """The answer to it."""
        matches: list[Matches] = []
        for start in range(0, len(self.batch), _AT_ONCE):
            if time.monotonic() > self._deadline:
                raise late(self._seconds)
            matches += index.query(self.batch[start : start + _AT_ONCE], **self.wanted)
        return matches

    def together(self, index: Index, some: "Sequence[query]") -> list[list[Matches]]:
        """The answers to several of a kind, each about one document."""
        return [[matches] for matches in index.query([one.batch[0] for one in some], **self.wanted)]


def get(id: str) -> Ask:
    """A document of the index, by its id."""

    def ask(index: Index) -> Entry:
        return index.get(id)

    return ask


def ids(after: str | None, limit: int, containing: str) -> Ask:
    """A part of the list of ids."""

    def ask(index: Index) -> list[str]:
        return list(index.ids(after=after, limit=limit, containing=containing))

    return ask


class Exported(NamedTuple):
    """A part of all documents.

    Attributes:
        lines: of JSON, one for each.
        documents: how many.
        last: the number of the last one.
    """

    lines: bytes
    documents: int
    last: int


def exported(after: str | None, number: int, limit: int, *, numbered: bool = False) -> Ask:
    """The next documents behind the one of an id, or of a number; None: there are no more.

    Args:
        after: The id.
        number: The number, if there is no id.
        limit: At most this many.
        numbered: Whether each comes with its number, and with the columns that are empty, too; and only those that no
            other can come before any more.
    """

    def ask(index: Index) -> Exported | None:
        page = index._records(after, number, limit, settled=numbered)  # noqa: SLF001  (all that is there, or what stays so)
        if not page:
            return None
        if numbered:
            given = [{"number": number, "document": record} for number, record in page]
        else:
            given = [{name: value for name, value in record.items() if value is not None} for _, record in page]
        return Exported(b"".join(as_json(record) + b"\n" for record in given), len(page), page[-1][0])

    return ask


def as_json(content: Any) -> bytes:
    """Whatever is answered, as JSON; half a surrogate pair is an escape."""
    try:
        return orjson.dumps(content)
    except TypeError:  # a text has one
        return json.dumps(content, default=dataclasses.asdict).encode()


def groups(limit: int, offset: int, members: int) -> Ask:
    """Documents with those that resemble them."""

    def ask(index: Index) -> tuple[list[Group], tuple[int, int]]:
        return index.clusters(limit=limit, offset=offset, members=members), index.grouped()

    return ask


def duplicates(id: str, limit: int, where: Where | None) -> Ask:
    """What resembles a document of the index."""

    def ask(index: Index) -> Matches:
        return index.duplicates(id, limit=limit, where=where)

    return ask


def stats(index: Index) -> dict[str, Any]:
    """What the index holds; not where."""
    return {name: value for name, value in index.stats().record().items() if name != "where"}


def documents(index: Index) -> int:
    """How many documents it holds."""
    return index.stats().documents


def compare(a: tuple[str | None, str], b: tuple[str | None, str], *, by_texts: bool) -> Ask:
    """Two documents, each an id or a text: with texts by every measure and with passages, else by what is stored."""

    def ask(index: Index) -> Any:
        (a_id, a_text), (b_id, b_text) = a, b
        if a_id is not None and b_id is not None and not (by_texts and keeps_texts(index)):
            return index.compare(a_id, b_id).record()
        texts = [text if id is None else index.text(id) for id, text in (a, b)]
        one, other = texts[0] or a_text, texts[1] or b_text
        return later(len(one) + len(other), _record, settings_of(index), one, other)

    return ask


def _record(settings: dict[str, Any] | None, a: str, b: str) -> dict[str, Any]:
    comparison, left_out = compared(settings, a, b)
    return {**comparison.record(), "complete": not (left_out or comparison.left_out), "passages_left_out": left_out}


def settings_of(index: Index) -> dict[str, Any] | None:
    """How texts are compared: those of the index's first method that compares contents."""
    for method in index.stats().methods:
        if method["method"] in METHODS and not METHODS[method["method"]].by_equality:
            return {key: value for key, value in method.items() if value is not None}
    return None


def compared(settings: dict[str, Any] | None, a: str, b: str) -> tuple[Comparison, int]:
    """Two texts with their longest passages, and how many others there are.

    What is stored need not be Unicode; this compares as the index does, to which a half of a surrogate pair is no word.
    """
    given = dict(settings or {})
    recipe = METHODS[given.pop("method")](**given) if settings else None
    comparison = study.compare(without_halves(a), without_halves(b), method=recipe)
    left_out = max(0, len(comparison.passages) - _MOST_PASSAGES)
    if left_out:
        longest = sorted(comparison.passages, key=lambda passage: (-passage.tokens, passage.a_start, passage.b_start))
        kept = tuple(sorted(longest[:_MOST_PASSAGES], key=lambda passage: (passage.a_start, passage.b_start)))
        comparison = dataclasses.replace(comparison, passages=kept)
    return comparison, left_out


def warm_up(index: Index) -> None:
    """Ask once what loads and compiles everything, so that no client waits for that."""
    text = "a text of some words that nobody has sent, and nobody will"
    index.query([text])
    compared(settings_of(index), text, f"{text} again")


def keeps_texts(index: Index) -> bool:
    """Whether the index stores texts."""
    return index.stats().store == "text"


def unknown() -> HttpProblem:
    """There is no such document."""
    return HttpProblem(404, "unknown-id", "there is no document of this id in the index")
