"""Hypothesis strategies: small corpora that are full of near-duplicates, and recipes to find them with."""

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracle.decisions import Sets, pairs
from tests.oracle.tokens import is_old

__all__ = [
    "KEEPS",
    "THRESHOLDS",
    "corpora",
    "item_lists",
    "sets_of_numbers",
    "settings_of",
    "texts",
    "thresholds",
    "thresholds_for",
]

# Where floats go wrong (0.55, 0.8), where everything or only the equal match, and what lies between.
THRESHOLDS = (
    *("0.001", "1/7", "0.3", "1/3", "0.5", "0.55", "0.6"),
    *("2/3", "0.7", "0.75", "0.8", "0.85", "0.9", "0.99", "1"),
)

KEEPS = ("first", "last", "longest", "shortest", "newest:when", "oldest:when", "max:score", "min:score")

# Several scripts, folds of every kind (also one to two characters), marks, digits, scripts without spaces.
_WORDS = (
    *("a", "b", "c", "the", "The", "cat", "CAT", "x1", "_", "été", "ETE", "e\u0301te\u0301", "ß", "ẞ", "İ", "ı", "ſ"),
    *("Σίσυφος", "ΣΊΣΥΦΟΣ", "мир", "МИР", "שלום", "हिन्दी", "한국어", "ﬁn", "２", "Ⅷ", "K"),
    *("漢字", "かな", "カナー", "ไทย", "ລາວ", "ខ្មែរ", "မြန်မာ", "漢a字", "𝒳", "𠀀", "\U0001e900\U0001e922"),
)
_GAPS = (
    *(" ", " ", " ", "  ", "\n", "\t ", "\u00a0", "\u3000"),
    *(", ", ". ", " - ", "-", "'", "!?", "🙂", "\u200d", "\x00"),
)
_BARE = (None, "", " ", "\n\n", "***", "!!!", "—", "🙂🙂", "\u200b")


def thresholds(least: str = "0.001") -> st.SearchStrategy[str]:
    """Thresholds as a user types them; most often one of the tricky ones."""
    tricky = [text for text in THRESHOLDS if Fraction(text) >= Fraction(least)]
    others = st.fractions(min_value=max(Fraction(least), Fraction(1, 50)), max_value=1, max_denominator=50)
    return st.sampled_from(tricky) | others.map(str)


@st.composite
def thresholds_for(draw: st.DrawFn, sets: Sets) -> str:
    """A threshold that two of these sets meet exactly, where there are such; else any."""
    met = sorted({value for value in pairs(sets, Fraction(1, 10**9)).values() if value < 1})
    return draw(thresholds() if not met else thresholds() | st.sampled_from(met).map(str))


@st.composite
def settings_of(draw: st.DrawFn, **fixed: Any) -> dict[str, Any]:
    """The settings of a method over shingles, without those that say how it finds them."""
    settings = {
        "shingle_size": draw(st.integers(1, 5)),
        "unit": draw(st.sampled_from(["words", "words", "chars"])),
        "whitespace": draw(st.sampled_from([None, None, True, False])),
        "overlapping": draw(st.sampled_from([True, True, False])),
    }
    for name in ("repeats", "keep_case", "keep_punctuation", "nfkc", "strip_accents"):
        settings[name] = draw(st.sampled_from([False, False, True]))
    return settings | fixed


def texts() -> st.SearchStrategy[str]:
    """Any text that all our Unicode tables agree about."""
    return st.text(st.characters(exclude_categories=("Cs", "Cn")).filter(is_old), max_size=40)


@st.composite
def corpora(draw: st.DrawFn, max_size: int = 14) -> list[str | None]:
    """Texts and nulls: a few base texts, edited, cut, repeated, and the awkward ones in between."""
    alphabet = draw(st.sampled_from([("a", "b"), ("a", "b", "c", "The", "cat"), _WORDS]))
    lengths = draw(st.lists(st.integers(1, 24), min_size=1, max_size=2))
    bases = [draw(st.lists(st.sampled_from(alphabet), min_size=length, max_size=length)) for length in lengths]
    found: list[str | None] = []
    num_texts = draw(st.integers(0, max_size) | st.just(max_size))  # a list's own sizes lean to the small
    for kind in draw(st.lists(st.sampled_from("eeeeeeerrubt"), min_size=num_texts, max_size=num_texts)):
        if kind in "ru" and found:
            again = draw(st.sampled_from(found))
            found.append(again.upper() if kind == "u" and again else again)
        elif kind == "b":
            found.append(draw(st.sampled_from(_BARE)))
        elif kind == "t":
            found.append(draw(texts()))
        else:
            found.append(_spoken(draw, _edited(draw, draw(st.sampled_from(bases)), alphabet)))
    return found


def item_lists(max_size: int = 12) -> st.SearchStrategy[list[list[str]]]:
    """Documents as lists of ready items, repeats included."""
    return st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=10), max_size=max_size)


def sets_of_numbers(max_size: int = 9) -> st.SearchStrategy[list[frozenset[int]]]:
    """Sets alone, where texts would only be in the way."""
    return st.lists(st.frozensets(st.integers(0, 6)), max_size=max_size)


def _edited(draw: st.DrawFn, words: list[str], alphabet: tuple[str, ...]) -> list[str]:
    edited = list(words)
    for kind in draw(st.lists(st.sampled_from("iiddrrcx"), max_size=3)):
        place = draw(st.integers(0, len(edited)))
        if kind == "i":
            edited.insert(place, draw(st.sampled_from(alphabet)))
        elif kind == "d":
            del edited[place : place + 1]
        elif kind == "r":
            edited[place : place + 1] = [draw(st.sampled_from(alphabet))]
        elif kind == "c":
            edited = edited[place:] + edited[:place]
        else:
            edited += edited[:place]
    return edited


def _spoken(draw: st.DrawFn, words: list[str]) -> str:
    gap = draw(st.sampled_from(_GAPS))
    ends = draw(st.sampled_from([("", ""), (" ", ""), ("", "\n"), ("(", ").")]))
    return ends[0] + gap.join(words) + ends[1]
