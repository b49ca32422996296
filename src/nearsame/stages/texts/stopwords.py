"""Stop words as the tokeniser meets them: by language, from the lists of the package stopwordsiso, or one's own.

1. A stop word is one token, prepared as the texts are: normalised if they are, and case-folded unless case is kept.
2. An entry of several tokens ("d'un", "por qué", and every longer word of a script without spaces) is left out: its
   pieces are words of their own, which nobody listed. So Japanese and Chinese keep single characters only.
3. A language that keeps none (Thai) cannot be chosen: dropping nothing in silence would look like dropping.
4. The lists are data of another package, so its version belongs in the record of a run.
5. What is not the code of a language is a word of one's own, and so is what stands behind a `=`, as in `=it`.
"""

import functools
import re

import pyarrow as pa

from nearsame.errors import ConfigError
from nearsame.forms.normalise import normalise
from nearsame.installation import versions
from nearsame.kernels import unicode

__all__ = ["known_languages", "stop_words", "taken_as_words", "version"]

_CODE = "[a-z]{2}"


def known_languages() -> tuple[str, ...]:
    """The codes of the languages with a listed word that is one token, sorted.

    >>> known_languages()[:3]
    ('af', 'ar', 'bg')
    """
    return tuple(sorted(code for code, words in _lists().items() if any(map(_is_token, words))))


@functools.lru_cache(maxsize=8)
def stop_words(
    entries: tuple[str, ...], *, keep_case: bool = False, nfkc: bool = False, strip_accents: bool = False
) -> frozenset[str]:
    """The tokens to drop for these languages, and these words themselves.

    Args:
        entries: ISO 639-1 codes, or words; none gives no words.
        keep_case: The texts keep their case, and so do the words: as listed, "the" is dropped and "The" is not.
        nfkc: The texts are normalised to NFKC, and so are the words.
        strip_accents: The texts lose their accents, and so do the words.

    Raises:
        ConfigError: No word of a language's list is one token, or a word of one's own is not.

    >>> {"the", "und"} <= stop_words(("en", "de")), sorted(stop_words(("the", "=it")))
    (True, ['it', 'the'])
    """
    if not entries:
        return frozenset()

    def prepared(words: list[str]) -> list[str]:
        normal = normalise(pa.array(words, pa.large_string()), nfkc=nfkc, strip_accents=strip_accents).to_pylist()
        return normal if keep_case else [word.lower() if word.isascii() else unicode.fold(word) for word in normal]

    lists = _lists()
    own = [entry for entry in entries if entry not in lists]
    words = dict(zip(own, prepared([entry.removeprefix("=") for entry in own]), strict=True))
    dropped: set[str] = set()
    for entry in entries:
        kept = {*filter(_is_token, prepared(sorted(lists[entry])) if entry in lists else [words[entry]])}
        if not kept and entry in lists:
            raise ConfigError(
                f"stop_words={entry!r} would drop nothing: none of its {len(lists[entry])} words is a single token",
                hint="Leave this language out.",
            )
        if not kept:
            known = ", ".join(known_languages())
            message = f"stop_words={entry!r} is neither a single word nor a language"
            raise ConfigError(message, hint=f"Write words one by one, or choose of {known}.")
        dropped |= kept
    return frozenset(dropped)


@functools.lru_cache(maxsize=8)
def taken_as_words(entries: tuple[str, ...]) -> tuple[str, ...]:
    """What one must know of entries that look like the code of a language, of which there is no list.

    >>> taken_as_words(("en", "xx", "=yy", "the"))
    ("stop word 'xx' is taken as a word, since no language of that code is listed (=xx says so)",)
    """
    codes = [entry for entry in entries if re.fullmatch(_CODE, entry)]
    lists = _lists() if codes else {}
    line = "stop word {0!r} is taken as a word, since no language of that code is listed (={0} says so)"
    return tuple(line.format(code) for code in codes if code not in lists)


def version() -> str:
    """The version of the lists, for the record of a run."""
    return versions(["stopwordsiso"])["stopwordsiso"]


def _lists() -> dict[str, set[str]]:
    import stopwordsiso  # noqa: PLC0415  (it reads half a megabyte of JSON when imported)

    return {code: stopwordsiso.stopwords(code) for code in stopwordsiso.langs()}


def _is_token(word: str) -> bool:
    if word.isascii() and word.isalnum():
        return True  # as the table below says, which takes longer
    kinds = [kind for kind in unicode.classes(word) if kind != unicode.UNSEEN]
    return kinds == [unicode.ALONE] or (kinds[:1] == [unicode.WORD] and {*kinds} <= {unicode.WORD, unicode.MARK})
