"""What a page shows, as plain data: questions to the index, and their answers in words.

1. A view is a function of the index, run by a reader; it renders nothing.
2. It asks several questions, and others remove documents meanwhile: what has gone since is left out.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from starlette.datastructures import FormData, UploadFile

from nearsame.answers.comparisons import Comparison, Measured
from nearsame.answers.matches import IN_A_CROWD, Entry, Group, Likeness, Match, Matches
from nearsame.errors import UnknownIdError
from nearsame.index.index import Index
from nearsame.outputs import marking
from nearsame.outputs.comparison import NAMES, shown_distance, verdict
from nearsame.service import lookups
from nearsame.service.decisions import CHOICES, PageDecisions, said, undecidable
from nearsame.service.problems import HttpProblem
from nearsame.shares import counted, cut, exactly, percent
from nearsame.sources.judged import JudgedPair

__all__ = ["about", "beside", "clusters", "decided", "decision", "document", "find", "search", "text_of"]

_NO_TEXT = (
    "This index keeps no texts, so excerpts and passages cannot be shown. To have them, make it again from its sources"
    " and serve that one: nearsame index create NEW.ns --from SOURCE --store text."
)
_MEMBERS = 5
_EXCERPT = 160  # characters
_PAGES = (".html", ".htm", ".xhtml")

T = TypeVar("T")
View = Callable[[Index], Any]  # the data of a page, or what a worker makes it by


async def text_of(form: FormData, most: int, extracted: Callable[[bytes], Awaitable[str]]) -> tuple[str, str]:
    """The text of a form, and the name of its file if it came as one; `extracted` takes it out of a page.

    Raises:
        Problem: It is too long, or a file that is not a text.
    """
    pasted, file = form.get("text", ""), form.get("file")
    name = ""
    text = pasted if isinstance(pasted, str) else ""
    if isinstance(file, UploadFile) and file.filename:
        name = file.filename
        content = await file.read()
        text = await extracted(content) if name.lower().endswith(_PAGES) else _read(content)
    if len(text) > most:
        raise HttpProblem(413, "too-large", f"the text has {len(text):,} characters, more than {most:,}")
    return text, name


def _read(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        detail = "the file is not a text in UTF-8"
        raise HttpProblem(422, "invalid", detail, hint="Choose a file of text or HTML.") from None


def find(text: str, name: str, limit: int, compared: int) -> View:
    """What resembles a text, the first few side by side with it."""

    def view(index: Index) -> Any:
        matches: Matches = index.query([text], limit=limit)[0]
        stats = index.stats()
        count = f"{len(matches):,} {'match' if len(matches) == 1 else 'matches'}" if matches else "No match"
        notes = [f"Compared with {stats.documents:,} documents."]
        others: list[tuple[str, str]] = []
        if matches and not lookups.keeps_texts(index):
            notes.append(_NO_TEXT)
        elif matches:
            first = [match.id for match in matches[:compared]]
            others = [(id, other) for id in first if (other := _still(index.text, id)) is not None]
        if not matches.complete:
            notes.append(IN_A_CROWD)
        elif len(matches) == limit:
            notes.append(f"There may be more than the {limit} most similar ones.")
        results = [_match(match) for match in matches]
        shown = {"heading": f"{count} for {name}", "notes": notes, "results": results}
        size = sum(len(text) + len(other) for _, other in others)
        return lookups.later(size, _with_texts, shown, lookups.settings_of(index), (name, text), others)

    return view


def _with_texts(
    shown: dict[str, Any], settings: dict[str, Any] | None, own: tuple[str, str], others: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    comparisons = [_compared(settings, own, other, everything=False) for other in others]
    return {**shown, "comparisons": comparisons}


def clusters(start: int, number: int) -> View:
    """A page of clusters."""

    def view(index: Index) -> dict[str, Any]:
        groups = index.clusters(limit=number + 1, offset=start, members=_MEMBERS + 1)
        shown = groups[:number]
        (total, documents), every = index.grouped(), index.stats().documents
        return {
            "about": "A cluster is a document and those that came later and resemble it most.",
            "total": f"{documents:,} of {every:,} documents are in {counted(total, 'cluster')}.",
            "no_text": "" if lookups.keeps_texts(index) else _NO_TEXT,
            "caption": f"Clusters {start + 1:,} to {start + len(shown):,} of {total:,}",
            "clusters": [cluster for group in shown if (cluster := _cluster(index, group)) is not None],
            "before": max(start - number, 0) if start else None,
            "after": start + number if len(groups) > number else None,
        }

    return view


def _cluster(index: Index, group: Group) -> dict[str, Any] | None:
    others = [id for id in group.members if id != group.id][:_MEMBERS]
    leader, members = _still(index.get, group.id), [_still(_member, index, group.id, id) for id in others]
    if leader is None:
        return None
    left_out = group.size - 1 - len(others)
    shown = [member for member in members if member is not None]
    return {
        "id": group.id,
        "excerpt": _excerpt(leader.text),
        "size": group.size,
        "members": shown,
        "more": left_out,
    }


def _member(index: Index, leader: str, id: str) -> dict[str, Any]:
    similarity = index.compare(leader, id).similarity
    return {"id": id, "similarity": similarity, "excerpt": _excerpt(index.get(id).text)}


def _still(ask: Callable[..., T], *given: Any) -> T | None:
    """The answer about documents that were there; None if they are no more."""
    try:
        return ask(*given)
    except UnknownIdError:
        return None


def _excerpt(text: str | None) -> str:
    words = " ".join((text or "")[: 2 * _EXCERPT].split())
    return words if len(words) <= _EXCERPT else f"{words[:_EXCERPT].rstrip()} …"


def search(words: str, after: str | None, limit: int) -> View:
    """Documents whose ids or URLs contain some words, and the one of this very id first."""

    def view(index: Index) -> dict[str, Any]:
        ids = lookups.ids(after, limit + 1, words)(index)
        last = ids[limit - 1] if len(ids) > limit else None
        ids, exact = ids[:limit], words.strip()
        ids = [exact, *(id for id in ids if id != exact)] if after is None else ids
        entries = [_still(index.get, id) for id in ids]
        hits = [{"id": entry.id, "url": entry.url, "excerpt": _excerpt(entry.text)} for entry in entries if entry]
        no_text = "" if lookups.keeps_texts(index) else _NO_TEXT
        return {"hits": hits, "after": last, "is_first": after is None, "no_text": no_text}

    return view


def document(id: str, limit: int, most: int | None) -> View:
    """A document, what resembles it, and its text if that is stored."""

    def view(index: Index) -> dict[str, Any]:
        entry = index.get(id)
        duplicates = index.duplicates(id, limit=limit)
        text = entry.text
        cut = text is not None and most is not None and len(text) > most
        return {
            "document": entry,
            "facts": _facts(entry),
            "duplicates": [_match(match) for match in duplicates],
            "more": min(limit * 4, 1000) if len(duplicates) == limit < 1000 else 0,
            "text": text[:most] if text is not None else None,
            "cut": len(text) if cut and text is not None else 0,
            "no_text": _NO_TEXT,
        }

    return view


def _facts(entry: Entry) -> list[tuple[str, str]]:
    facts = [("URL", entry.url)] if entry.url else []
    if entry.num_features is not None:
        facts.append(("Features", f"{entry.num_features:,}"))
    if entry.code:
        facts.append(("SimHash code", entry.code))
    return [*facts, *((f"Digest, {name}", digest) for name, digest in entry.digests.items())]


def _match(match: Match) -> dict[str, Any]:
    same = {"bytes": match.same_bytes, "text": match.same_text, "URL": match.same_url}
    return {
        "id": match.id,
        "url": match.url,
        "similarity": match.similarity,
        "measure": NAMES.get(match.measure, match.measure),
        "distance": match.distance,
        "same": [name for name, holds in same.items() if holds],
    }


def beside(a: str, b: str, *, everything: bool) -> View:
    """Two documents side by side."""

    def view(index: Index) -> Any:
        if lookups.keeps_texts(index):
            sides = (a, index.text(a)), (b, index.text(b))
            size = sum(len(text) for _, text in sides)
            return lookups.later(size, _shown, lookups.settings_of(index), *sides, everything)
        return _likeness(index.compare(a, b))

    return view


def decision(decisions: PageDecisions | None, a: str, b: str) -> dict[str, Any] | None:
    """What was, and can be, decided about two documents; None: nothing can."""
    if decisions is None:
        return None
    known = decisions.about(a, b)
    return {
        "known": _decided(known) if known else None,
        "problem": undecidable(a, b),
        "choices": [(value, name) for value, (name, *_) in CHOICES.items()],
    }


def decided(decisions: PageDecisions, start: int, number: int) -> dict[str, Any]:
    """A page of decisions."""
    some = decisions.latest(start, number + 1)
    return {
        "decided": [_decided(one) for one in some[:number]],
        "file": decisions.name,
        "before": max(start - number, 0) if start else None,
        "after": start + number if len(some) > number else None,
    }


def _decided(one: JudgedPair) -> dict[str, str]:
    return {"a": one.a, "b": one.b, "said": said(one), "note": one.note, "who": one.who, "when": one.when}


def _shown(settings: dict[str, Any] | None, a: tuple[str, str], b: tuple[str, str], everything: bool) -> dict[str, Any]:  # noqa: FBT001  (a worker is given values)
    return _compared(settings, a, b, everything=everything)


def _compared(
    settings: dict[str, Any] | None, a: tuple[str, str], b: tuple[str, str], *, everything: bool
) -> dict[str, Any]:
    """Two documents, each with its name, side by side."""
    comparison, left_out = lookups.compared(settings, a[1], b[1])
    a_pieces = marking.pieces(a[1], marking.of_a(comparison.passages), comparison.a.alone, everything=everything)
    b_pieces = marking.pieces(b[1], marking.of_b(comparison.passages), comparison.b.alone, everything=everything)
    return {
        "verdict": verdict(comparison),
        "summary": _summary(comparison, left_out),
        "measures": [_measured(measured) for measured in comparison.measures],
        "a_name": a[0],
        "b_name": b[0],
        "a_pieces": a_pieces,
        "b_pieces": b_pieces,
        "left_out": any(piece.kind == "gap" for piece in (*a_pieces, *b_pieces)),
    }


def _measured(measured: Measured) -> dict[str, Any]:
    shown = "" if measured.similarity is None else cut(measured.similarity)
    return {
        "name": NAMES[measured.name],
        "similarity": None if measured.similarity is None else float(measured.similarity),
        "shown": shown,
        "distance": shown_distance(measured, shown),
        "of": f"{measured.of}; {measured.note}" if measured.note else measured.of,
    }


def _summary(comparison: Comparison, left_out: int) -> str:
    unit = "characters" if comparison.recipe.get("unit") == "chars" else "words"
    promise = f"Every shared run of {comparison.passage_tokens} or more {unit} is marked."
    if left_out:
        promise = f"The longest are marked, and {left_out:,} more are not."
    if not comparison.passages:
        return f"No shared passage. {promise}"
    a, b = (percent(side.in_passages / max(side.tokens, 1), 1) for side in (comparison.a, comparison.b))
    return f"{counted(comparison.passages, 'shared passage')}: {a} of a and {b} of b. {promise}"


def _likeness(likeness: Likeness) -> dict[str, Any]:
    similar = "Near-duplicates" if likeness.similar else "Not near-duplicates"
    least = "" if likeness.threshold is None else f": the threshold is {exactly(likeness.threshold)}"
    name = NAMES.get(likeness.measure, likeness.measure)
    measure = {"name": name, "similarity": likeness.similarity, "distance": "", "of": "what is stored"}
    measure["shown"] = "" if likeness.similarity is None else cut(likeness.similarity)
    return {
        "verdict": f"{similar}{least}.",
        "summary": _NO_TEXT,
        "measures": [measure],
        "a_name": likeness.a,
        "b_name": likeness.b,
        "a_pieces": None,
        "b_pieces": None,
        "left_out": False,
    }


_REQUESTS = [
    ("POST /query", "what resembles a text, a page, or each of several"),
    ("POST /documents", "add one or several, with if_new only what is new; what each resembles"),
    ("GET /documents/{id}", "a document, as far as it is stored"),
    ("DELETE /documents/{id}", "remove it"),
    ("GET /documents/{id}/duplicates", "what resembles it"),
    ("POST /compare", "two documents by every measure"),
    ("GET /stats", "what the index holds, and how it was made"),
    ("GET /metrics, /healthz, /readyz", "for those who keep the service running"),
]


def about(index: Index) -> dict[str, Any]:
    """What the index holds, and what can be asked."""
    stats = index.stats()
    facts = [("Documents", f"{stats.documents:,}"), ("Stored", stats.store)]
    if stats.bytes:
        facts.append(("Size", f"{stats.bytes / 1e6:,.1f} MB"))
    for method in stats.methods:
        name = method.get("method", method.get("name", "method"))
        chosen = (
            "threshold",
            "recall",
            "shingle_size",
            "unit",
            "num_perm",
            "bands",
            "rows",
            "bits",
            "k",
            "distance",
            "algorithm",
        )
        said = ", ".join(f"{key} {method[key]}" for key in chosen if method.get(key) is not None)
        facts.append((f"Method {name}", said or "as it is"))
    return {"facts": facts, "requests": _REQUESTS}
