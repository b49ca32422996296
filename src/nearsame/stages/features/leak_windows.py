"""Windows of a document, by its words, that have enough of a text: the best one, or all of which none lies in another.

1. Of two windows the one with more distinct shingles of the text is the better, of equals the shorter, then the first.
2. What a text stands in word for word has all of its shingles.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nearsame.named import NamedTuple
from nearsame.stages.features.sought import WHOLE, SoughtTexts, Words

__all__ = ["Window", "best_window", "runs_of", "windows"]

_Hits = Sequence[tuple[int, Words]]  # the shingles of a text in a document, each with its place


class Window(NamedTuple):
    """A part of a document, or of a text, by its tokens, and how many of the text's distinct shingles it has."""

    shared: int
    first: int
    behind: int


def runs_of(words: Words, sought: SoughtTexts) -> list[Words]:
    """The shingles of some words, one after the other."""
    size = sought.rule.shingle_size
    return [words[at : at + size] for at in range(len(words) - size + 1)]


def best_window(document: Sequence[bytes], text: int, sought: SoughtTexts) -> Window | None:
    """Where a document has the most of a text, by its words alone; None where that is not enough."""
    row = tuple(document)
    found = _enough(row, _hits(row, [text], sought).get(text, ()), text, sought)
    return min(found, key=_rank, default=None)


def windows(document: Words, texts: Iterable[int], sought: SoughtTexts) -> Iterator[tuple[int, Window]]:
    """Of each text the windows that have enough of it: the best, the best of those apart from it, and so on."""
    for text, hits in _hits(document, texts, sought).items():
        taken: set[int] = set()
        for window in sorted(_enough(document, hits, text, sought), key=_rank):
            own = range(window.first, window.behind)
            if taken.isdisjoint(own):
                taken.update(own)
                yield text, window


def _rank(window: Window) -> tuple[int, int, int]:
    return -window.shared, window.behind - window.first, window.first


def _hits(document: Words, texts: Iterable[int], sought: SoughtTexts) -> Mapping[int, _Hits]:
    """What a document has of some texts, in one pass."""
    owners, found = defaultdict[Words, list[int]](list), defaultdict[int, list[tuple[int, Words]]](list)
    for text in texts:
        for shingle in sought.asked(text):
            owners[shingle].append(text)
    for at, shingle in enumerate(runs_of(document, sought)):
        for text in owners.get(shingle, ()):
            found[text].append((at, shingle))
    return found


def _enough(document: Words, hits: _Hits, text: int, sought: SoughtTexts) -> Iterator[Window]:
    """For each hit the best window that ends with it, where that has enough of the text."""
    size, width = sought.rule.shingle_size, int(sought.table.widths[text])
    least = int(sought.table.least[text])
    if sought.kinds[text] == WHOLE:
        words, anchor = sought.words(text), int(sought.table.anchors[text])
        starts = sorted({at - anchor for at, _ in hits if at >= anchor})
        yield from (Window(least, at, at + len(words)) for at in starts if document[at : at + len(words)] == words)
        return
    inside, low, distinct = Counter[Words](), 0, 0
    for at, shingle in hits:
        inside[shingle] += 1
        distinct += inside[shingle] == 1
        while at + size - hits[low][0] > width or inside[hits[low][1]] > 1:
            inside[hits[low][1]] -= 1
            distinct -= not inside[hits[low][1]]
            low += 1
        if distinct >= least:
            yield Window(distinct, hits[low][0], at + size)
