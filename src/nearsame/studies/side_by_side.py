"""Two texts of a pair beside each other: pieces to be printed, what they have in common, and why they are a pair.

1. What is the same is what `compare` says, by the method of the run where it can be asked about two texts alone.
2. What is left out for length is counted; nothing is decided here.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from nearsame.answers.comparisons import Comparison
from nearsame.answers.reports import KINDS, MatchKind, SideBySide
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.outputs.marking import MarkedPiece, of_a, of_b, pieces
from nearsame.recipes.methods import METHODS, Method
from nearsame.shares import cut_short, exactly, small_percent
from nearsame.studies.compare import compare

__all__ = ["LaidOut", "Sides", "laid_out"]

_FEW = 0.1  # of the characters of either text, that only one of them has
_WITHIN = 0.9  # of the shingles of the one, that the other has
_OF_TEXTS = {"bytes", "text", "near"}  # evidence that is told of anyway
_ESTIMATES = {"estimated": "an estimate", "hamming": "equal bits of two codes"}


@dataclass(frozen=True)
class LaidOut:
    """Two texts, compared.

    Attributes:
        view: to be printed.
        kind: what they have in common.
        passages: that both share.
    """

    view: SideBySide
    kind: MatchKind
    passages: tuple[str, ...]


@dataclass(frozen=True)
class Sides:
    """What views are made by: the recipe of a run, as its statistics have it."""

    recipe: Mapping[str, Any]
    of: str
    least: float

    def of_pair(self, texts: tuple[str, str], pair: Mapping[str, Any]) -> LaidOut:
        """One pair, with its row of the table of pairs."""
        compared = self._compared(*texts)
        kind = _kind(texts, compared)
        return laid_out(texts, compared, kind, tuple(self._reasons(texts, compared, kind, pair)))

    def without_texts(self, pair: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """What was asked of two of which no texts are at hand, as far as their row says it."""
        return (*_evidence(pair), *self._decided(pair))

    @cached_property
    def method(self) -> Method:
        """The method of the run; of vectors there are no texts."""
        kind = METHODS[self.recipe["method"]]
        return kind(**{name: value for name, value in self.recipe.items() if name in kind.model_fields})

    def _compared(self, a: str, b: str) -> Comparison:
        try:
            return compare(a, b, method=self.method, edits=False)
        except ConfigError:  # its weights, or what it drops, are about a corpus
            return compare(a, b, edits=False)

    def _reasons(
        self, texts: tuple[str, str], compared: Comparison, kind: MatchKind, pair: Mapping[str, Any]
    ) -> Iterator[tuple[str, str]]:
        """What was asked of the two, in this order, and what the answer was."""
        sizes = f"{len(texts[0]):,} and {len(texts[1]):,} characters"
        yield "The same bytes?", f"Yes: {sizes}." if kind == "bytes" else f"No: {sizes}."
        if kind != "bytes":
            a, b = (_alone(side.alone, side.characters) for side in (compared.a, compared.b))
            same = kind == "words"
            yield "The same words?", "Yes, in the same order." if same else f"No: {a} of a and {b} of b stand alone."
        yield from _evidence(pair)
        jaccard, of_a, of_b = (compared[name] for name in ("jaccard", "containment_a", "containment_b"))
        inside = f"{_cut(of_a.similarity)} of those of a, {_cut(of_b.similarity)} of those of b"
        yield "What is shared?", f"{_cut(jaccard.similarity)} of their {jaccard.of} together: {inside}."
        yield from self._decided(pair)

    def _decided(self, pair: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        yield "Over the line?", self._line(pair)
        if self.of == "dedup":
            yield "Which one stays?", f"b, the witness, by keep={self._keep}: a went."

    def _line(self, pair: Mapping[str, Any]) -> str:
        measure = pair["measure"]
        value = f"{measure} {_cut(pair['similarity'])}"
        if measure in ("component", "chain"):
            return f"Joined by a chain of similar pairs; the two themselves have {value}."
        what = _ESTIMATES.get(measure, "verified")
        return f"{value} ({what}); at least {exactly(self.least)} counts."

    @property
    def _keep(self) -> str:
        keep = self.recipe.get("keep", "first")
        return keep if isinstance(keep, str) else ", ".join(keep)


def _evidence(pair: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if pair.get("layer"):
        yield "Which layer?", f"{pair['layer']}."
    if beside := [evidence for evidence in pair.get("evidence") or () if evidence not in _OF_TEXTS]:
        yield "What else speaks for it?", f"{', '.join(beside)}."


def laid_out(
    texts: tuple[str, str], compared: Comparison, kind: MatchKind = "unread", reasons: tuple[tuple[str, str], ...] = ()
) -> LaidOut:
    """Two texts by a comparison of them, with what is to be told of it."""
    a = pieces(texts[0], of_a(compared.passages), compared.a.alone, everything=False)
    b = pieces(texts[1], of_b(compared.passages), compared.b.alone, everything=False)
    shares = [side.in_passages / max(side.tokens, 1) for side in (compared.a, compared.b)]
    return LaidOut(
        SideBySide(_plain(a), _plain(b), shares[0], shares[1], reasons),
        kind,
        tuple(one.a_text for one in compared.passages),
    )


def _kind(texts: tuple[str, str], compared: Comparison) -> MatchKind:
    """What two texts have in common, the strongest that holds."""
    sides = compared.a, compared.b
    shares = [_share(side.alone, side.characters) for side in sides]
    within = max(compared[f"containment_{side}"].similarity or 0 for side in "ab")
    holds: dict[MatchKind, bool] = {
        "bytes": texts[0] == texts[1],
        "words": max(shares) == 0 and bool(compared.a.tokens and compared.b.tokens),
        "edits": max(shares) <= _FEW,
        "contained": within >= _WITHIN,
        "passages": bool(compared.passages),
    }
    return next((kind for kind in KINDS if holds.get(kind)), "features")


def _share(alone: Sequence[tuple[int, int]], characters: int) -> float:
    return sum(end - start for start, end in alone) / max(characters, 1)


def _alone(alone: Sequence[tuple[int, int]], characters: int) -> str:
    return small_percent(_share(alone, characters))


def _cut(value: Any) -> str:
    return "nothing" if value is None else cut_short(float(value))


def _plain(marked: Sequence[MarkedPiece]) -> tuple[tuple[str, str, int, int], ...]:
    return tuple((piece.kind, piece.text, piece.passage if piece.first else -piece.passage, piece.left_out)
                 for piece in marked)  # fmt: skip
