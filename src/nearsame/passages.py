"""Texts without some of their passages: what is left, and where it stood.

1. Passages are spans of characters, ascending and apart. Nothing else is taken out.
2. A space stands where two letters, digits or `_` would run into each other.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from nearsame.named import NamedTuple

__all__ = ["Remainder", "Span", "merged", "without"]

Span = tuple[int, int]  # from a character to behind the last


class Remainder(NamedTuple):
    """What is left of a text: its parts begin at `starts` there, and at `origins` in the whole text."""

    text: str
    starts: Sequence[int]
    origins: Sequence[int]

    def origin(self, at: int) -> int:
        """Where a character of the whole text is that stands at `at` in what is left."""
        part = bisect_right(self.starts, at) - 1
        return self.origins[part] + at - self.starts[part]


def without(text: str, spans: Iterable[Span]) -> Remainder:
    """A text without some spans.

    >>> without("do re(mi) fa", [(6, 8)]).text, without("one漢two", [(3, 4)]).text
    ('do re() fa', 'one two')
    """
    pieces, starts, origins, size, at = list[str](), list[int](), list[int](), 0, 0
    for start, end in (*spans, (len(text), len(text))):
        piece = text[at:start]
        if piece:
            if pieces and all(edge.isalnum() or edge == "_" for edge in (pieces[-1][-1], piece[0])):
                pieces.append(" ")
                size += 1
            pieces.append(piece)
            starts.append(size)
            origins.append(at)
            size += len(piece)
        at = end
    return Remainder("".join(pieces), starts, origins)


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same characters as spans that are ascending and apart.

    >>> merged([(5, 7), (0, 2), (1, 3), (3, 4)])
    [(0, 4), (5, 7)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
