"""Stop words by language, as the tokeniser meets them, from the lists of the package stopwordsiso.

1. A stop word is one token, prepared as the texts are: normalised if they are, and case-folded unless case is kept.
2. An entry of several tokens ("d'un", "por qué", and every longer word of a script without spaces) is left out: its
   pieces are words of their own, which nobody listed. So Japanese and Chinese keep single characters only.
3. A language that keeps none (Thai) cannot be chosen: dropping nothing in silence would look like dropping.
4. The lists are data of another package, so its version belongs in the record of a run.
"""

import pyarrow as pa

from nearsame.errors import ConfigError
from nearsame.installation import versions
from nearsame.kernels import unicode
from nearsame.stages.texts.normalise import normalise

__all__ = ["known_languages", "stop_words", "version"]


def known_languages() -> tuple[str, ...]:
    """The codes of the languages with a listed word that is one token, sorted.

    >>> known_languages()[:3]
    ('af', 'ar', 'bg')
    """
    return tuple(sorted(code for code, words in _lists().items() if any(map(_is_token, words))))


def stop_words(
    languages: tuple[str, ...], *, keep_case: bool = False, nfkc: bool = False, strip_accents: bool = False
) -> frozenset[str]:
    """The tokens to drop for these languages.

    Args:
        languages: ISO 639-1 codes; none gives no words.
        keep_case: The texts keep their case, and so do the words: as listed, "the" is dropped and "The" is not.
        nfkc: The texts are normalised to NFKC, and so are the words.
        strip_accents: The texts lose their accents, and so do the words.

    Raises:
        ConfigError: A language has no list, or no word in it is one token.

    >>> {"the", "und"} <= stop_words(("en", "de"))
    True
    """
    if not languages:
        return frozenset()
    lists = _lists()
    dropped: set[str] = set()
    for code in languages:
        if code not in lists:
            known = ", ".join(known_languages())
            raise ConfigError(f"stop_words={code!r} is not one of {known}", hint="Choose languages by these codes.")
        words = pa.array(sorted(lists[code]), pa.large_string())
        prepared = normalise(words, nfkc=nfkc, strip_accents=strip_accents).to_pylist()
        kept = set(filter(_is_token, prepared if keep_case else map(unicode.fold, prepared)))
        if not kept:
            raise ConfigError(
                f"stop_words={code!r} would drop nothing: none of its {len(lists[code])} words is a single token",
                hint="Leave this language out.",
            )
        dropped |= kept
    return frozenset(dropped)


def version() -> str:
    """The version of the lists, for the record of a run."""
    return versions(["stopwordsiso"])["stopwordsiso"]


def _lists() -> dict[str, set[str]]:
    import stopwordsiso  # noqa: PLC0415  (it reads half a megabyte of JSON when imported)

    return {code: stopwordsiso.stopwords(code) for code in stopwordsiso.langs()}


def _is_token(word: str) -> bool:
    kinds = [kind for kind in unicode.classes(word) if kind != unicode.UNSEEN]
    return kinds == [unicode.ALONE] or (kinds[:1] == [unicode.WORD] and {*kinds} <= {unicode.WORD, unicode.MARK})
