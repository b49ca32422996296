r"""Items of made-up benchmarks, the ways in which they get into training data, and who must be found by the definition.

All words are made up and ASCII, so that plain Python can cut them up fast: `\w+` of the text in lower case.
"""

import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from nearsame.proofs.plain import plain
from tests.oracle import leaks as oracle

__all__ = ["WAYS", "Item", "documents", "expected", "items", "small_cases"]

_LETTERS = "etaoinshrdlcumwfgypbvk"
_COMMON = tuple("the of and to in a is that it was for on are as with his they at be this have from".split())  # noqa: SIM905  (words)


class Item(NamedTuple):
    """A question with choices and an answer."""

    question: str
    choices: tuple[str, ...]
    answer: str

    @property
    def texts(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each text with its column."""
        return [("question", (self.question,)), ("choices", self.choices), ("answer", (self.answer,))]

    def written(self, choices: Sequence[str] | None = None) -> str:
        """As it stands on a page."""
        listed = " ".join(
            f"({letter}) {choice}" for letter, choice in zip("ABCD", choices or self.choices, strict=True)
        )
        return f"{self.question} {listed} Answer: {self.answer}"


def _words(chance: random.Random, number: int) -> str:
    return " ".join(
        chance.choice(_COMMON) if chance.random() < 0.4 else "".join(chance.choices(_LETTERS, k=chance.randint(2, 9)))
        for _ in range(number)
    )


def items(number: int, seed: int = 0) -> list[Item]:
    """So many, some of a few words only."""
    chance = random.Random(seed)
    return [
        Item(
            f"{_words(chance, chance.randint(4, 60)).capitalize()}?",
            tuple(_words(chance, chance.randint(1, 14)) for _ in range(4)),
            _words(chance, chance.randint(0, 40)),
        )
        for _ in range(number)
    ]


def _rewrapped(item: Item, _: random.Random) -> str:
    words = item.written().split()
    return "\n".join(" ".join(words[at : at + 8]) for at in range(0, len(words), 8))


def _inside(item: Item, chance: random.Random) -> str:
    words = _words(chance, 9_000)
    return f"{words}\n\n{item.written()}\n\n{words[::-1]}"


def _half(item: Item, _: random.Random) -> str:
    words = item.question.split()
    return " ".join(words[: len(words) // 2])


def _shuffled(item: Item, chance: random.Random) -> str:
    return item.written(chance.sample(item.choices, 4))


def _marked(item: Item, chance: random.Random) -> str:
    marks = ("{}", "**{}**", "`{}`", "[{}]", "{},", "“{}”", "*{}*")
    words = [chance.choice(marks).format(word.upper() if chance.random() < 0.3 else word)
             for word in item.written().split()]  # fmt: skip
    return "# " + " ".join(words)


def _tagged(item: Item, chance: random.Random) -> str:
    """Each word in a tag or a link, between references, or written with one."""
    ways = (
        "<b>{0}</b> ", "<td>{0}</td>", "<br/>{0} ", '<a href="https://example.org/{0}?a=b&c" title="see {0}">{0}</a> ',
        "[{0}](https://example.org/a_(b) 'see') ", "&nbsp;{0}&amp; ", "_{0}_ ", "<I>{1}</I>{2} ", "&#{3};{2} ",
    )  # fmt: skip
    return "".join(chance.choice(ways).format(word, word[0], word[1:], ord(word[0])) for word in item.written().split())


def _wide(item: Item, _: random.Random) -> str:
    """In full-width letters."""
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in item.written())


def _noisy(item: Item, chance: random.Random) -> str:
    return "".join(
        chance.choice(_LETTERS) if char.isalpha() and chance.random() < 0.02 else char for char in item.written()
    )


# Those by which every text that is looked for must be found, and the others, of which the definition says which are.
WAYS: dict[str, tuple[Callable[[Item, random.Random], str], bool]] = {
    "verbatim": (lambda item, _: item.written(), True),
    "wrapped at 8 words": (_rewrapped, True),
    "inside 100 kB": (_inside, True),
    "choices shuffled": (_shuffled, True),
    "case and markup changed": (_marked, True),
    "tags, links and entities": (_tagged, True),
    "full-width letters": (_wide, True),
    "cut to half": (_half, False),
    "2 % of letters changed": (_noisy, False),
}


def documents(made: Sequence[Item], way: str, seed: int = 0) -> list[str]:
    """A document for each item, which holds it in this way."""
    chance = random.Random(f"{way}{seed}")
    return [WAYS[way][0](item, chance) for item in made]


def _cut(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", plain(text)).lower()))


def _places(words: tuple[str, ...], size: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    return ((at, words[at : at + size]) for at in range(len(words) - size + 1))


def expected(made: Sequence[Item], texts: Sequence[str]) -> dict[tuple[int, str, int], tuple[int, int]]:
    """By item, column and document the shared shingles of the best window, and all: what settings by default must find.

    Only windows that begin with a shingle of the text are tried: any other has no more than the next of these.
    """
    given = [(0, text) for item in made for _, text in item.texts]
    names = [(number, column) for number, item in enumerate(made) for column, _ in item.texts]
    asked = oracle.texts_of(given, size=5, most=10, least_bytes=32, cut=_cut)
    owners = defaultdict(set)
    for number, text in enumerate(asked):
        for shingle in () if text.reason else text.asked:
            owners[shingle].add(number)
    found = {}
    for row, document in enumerate(texts):
        words = _cut(document)
        hits = defaultdict(list)
        for at, shingle in _places(words, 5):
            for number in owners.get(shingle, ()):
                hits[number].append((at, shingle))
        for number, places in hits.items():
            shared = _most(asked[number], places, words)
            if shared * 5 >= len(asked[number].asked) * 4:
                found[(*names[number], row)] = shared, len(asked[number].asked)
    return found


def _most(text: oracle.Text, places: Sequence[tuple[int, tuple[str, ...]]], words: tuple[str, ...]) -> int:
    whole = tuple(word for piece in text.pieces for word in piece)
    if len(text.asked) < 5:
        return len(text.asked) * any(words[at : at + len(whole)] == whole for at in range(len(words)))
    width = 2 * len(whole)
    return max(
        len({shingle for at, shingle in places if first <= at <= first + width - 5})
        for first in Counter(at for at, _ in places)
    )


_WORDS = st.sampled_from(["a", "b", "c", "Dd", "é", "漢", "f", "<i>f</i>", "e\u0301", "&eacute;", "ｆ", "c＿"])
_SEPARATORS = st.sampled_from([" ", "\n", ", ", " **", "  ", "-", "_", "<br>", "</b> ", "](x.y) ", "&nbsp;"])


@st.composite
def _passages(draw: Any, most: int) -> str:
    words = draw(st.lists(_WORDS, max_size=most))
    return "".join(word + draw(_SEPARATORS) for word in words)


@st.composite
def small_cases(draw: Any) -> tuple[list[tuple[int, tuple[str, ...]]], list[str | None]]:
    """Texts of two benchmarks, and documents that hold some of them among other words."""
    texts = draw(
        st.lists(st.tuples(st.integers(0, 1), st.lists(_passages(9), min_size=1, max_size=3).map(tuple)), max_size=6)
    )
    parts = [piece for _, pieces in texts for piece in pieces] or ["a"]
    inside = st.lists(_passages(6) | st.sampled_from(parts), max_size=4).map(" ".join)
    return texts, draw(st.lists(inside | st.none(), max_size=4))
