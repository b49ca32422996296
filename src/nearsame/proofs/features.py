"""Documents to what they are compared by: tokens, tuples of tokens, sets of these.

1. A text without tokens is one item, itself, which no shingle equals; an empty one has none.
2. What a recipe says is read from its record, as stats.json has it.
"""

import re
from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from nearsame.proofs.characters import MARK, OTHER, SPACE, WORD, alone, folded, prepared, shown, span
from nearsame.proofs.sites import host_of

__all__ = ["Cut", "Features", "Raw"]

_CACHED, _CACHED_TEXTS = 20_000, 256  # characters of a text, and how many texts

Features = AbstractSet[Any]


@dataclass(frozen=True)
class Raw:
    """The one item of a text without tokens."""

    text: str


@dataclass(frozen=True)
class Cut:
    """How a recipe cuts documents up.

    Attributes:
        recipe: its record.
        dropped: items that stand in too many documents, by the host that contents tell (None: they tell none).
    """

    recipe: Mapping[str, Any]
    dropped: Mapping[str | None, frozenset[Any]] = field(default_factory=dict, repr=False)
    _cache: dict[tuple[str | None, str], Features] = field(
        default_factory=dict, repr=False
    )  # of short texts: witnesses come again

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, in order."""
        recipe = self.recipe
        tokens = _pattern(self._chars, bool(recipe.get("keep_punctuation")), self._space).findall(
            shown(self.prepared(text))
        )
        if self._space:
            tokens = [" " if gap else token for token, gap in tokens if token or self._is_space(gap)]
            tokens = tokens[bool(tokens) and tokens[0] == " " :]
            tokens = tokens[: len(tokens) - (bool(tokens) and tokens[-1] == " ")]
        if not recipe.get("keep_case"):
            tokens = [folded(token) for token in tokens]
        stop = self._stop_words
        return [token for token in tokens if token not in stop] if stop else tokens

    def prepared(self, text: str) -> str:
        """The text normalised as asked."""
        recipe = self.recipe
        return prepared(text, nfkc=bool(recipe.get("nfkc")), strip_accents=bool(recipe.get("strip_accents")))

    def shingles(self, content: Any) -> list[Any]:
        """The items of a document in order, repeats included: of a text shingles, or what is in a list as it stands."""
        if not isinstance(content, str):
            return [str(item) for item in content or [] if item is not None]
        words = self.tokens(content)
        size = self.recipe.get("shingle_size", 5)
        if not self.recipe.get("overlapping", True):
            return [tuple(words[start : start + size]) for start in range(0, len(words), size)]
        return list(zip(*(words[start:] for start in range(min(size, len(words)))), strict=False)) if words else []

    def features(self, content: Any) -> Features:
        """What a document is compared by."""
        if not isinstance(content, str) or len(content) > _CACHED:
            return self._features(content)
        key = host_of(content), content
        if key not in self._cache:
            self._cache[key] = self._features(content)
            if len(self._cache) > _CACHED_TEXTS:
                del self._cache[next(iter(self._cache))]
        return self._cache[key]

    def _features(self, content: Any) -> Features:
        items, dropped = self.bare(content), self.dropped.get(host_of(content))
        return (items - dropped or _raw(content)) if dropped and items else items

    def bare(self, content: Any) -> Features:
        """The same with what stands in too many documents."""
        items = self.shingles(content)
        if self.recipe.get("repeats"):
            seen = Counter(items)
            features = frozenset((item, number) for item, times in seen.items() for number in range(times))
        else:
            features = frozenset(items)
        return features or (_raw(content) if content else frozenset())

    def words(self, text: str) -> str:
        """The tokens with single spaces between; of a text without any, the text."""
        return " ".join(self.tokens(text)) or text

    @property
    def _chars(self) -> bool:
        return bool(self.recipe.get("unit") == "chars")

    @property
    def _space(self) -> bool:
        asked = self.recipe.get("whitespace")
        return self._chars if asked is None else bool(asked)

    def _is_space(self, gap: str) -> bool:
        return (self._chars and not self.recipe.get("keep_punctuation")) or _has_space(gap)

    @cached_property
    def _stop_words(self) -> frozenset[str]:
        entries = self.recipe.get("stop_words") or ()
        if not entries:
            return frozenset()
        import stopwordsiso  # noqa: PLC0415  (it reads half a megabyte when imported)

        keep_case, plain = self.recipe.get("keep_case"), Cut({**self.recipe, "stop_words": (), "unit": "words"})
        languages = {*entries} & set(stopwordsiso.langs())
        own = {entry.removeprefix("=") for entry in entries if entry not in languages}
        listed = set(map(plain.prepared, own.union(*map(stopwordsiso.stopwords, languages))))
        words = {word if keep_case else folded(word) for word in listed}
        return frozenset(word for word in words if plain.tokens(word) == [word])


def _raw(content: Any) -> Features:
    return frozenset({Raw(content if isinstance(content, str) else repr(content))})


def _has_space(gap: str) -> bool:
    return _spaces().search(gap) is not None


@cache
def _spaces() -> re.Pattern[str]:
    return re.compile(f"[{span(SPACE)}]")


@cache
def _pattern(chars: bool, punctuation: bool, space: bool) -> re.Pattern[str]:  # noqa: FBT001  (a key of the cache)
    """What finds tokens; with `space`, as (token, gap), of which one is empty."""
    single, words, spaces, others, marks = alone(), span(WORD), span(SPACE), span(OTHER), span(MARK)
    own = f"[{marks}]*"  # of the character before them, whatever that is
    token = f"[{single}{words}]{own}" if chars else f"[{single}]{own}|[{words}][{words}{marks}]*"
    if punctuation:
        token, gap = f"{token}|[{others}]{own}", f"[{spaces}][{spaces}{marks}]*"
    else:
        gap = f"[{spaces}{others}][{spaces}{others}{marks}]*"
    return re.compile(f"({token})|({gap})" if space else token)
