"""Texts to tokens: what a word, a character and a space are.

1. The character database is unicodedataplus' (Unicode 16.0), never Python's own; case folding is
   Python's, so a test that compares folds keeps to characters that both know (`is_old`).
2. A word character is a letter, a number or an underscore. What is never shown does not count, and a mark belongs to
   the character before it, whatever that is; at the beginning it is nothing.
3. A word character of a script written without spaces between words is a token by itself, unless other scripts
   use it too (Bopomofo does not count: it stands beside Han).
4. A space stands between two tokens, never at an end: texts without any other token have none at all.
"""

from functools import cache

import unicodedataplus

__all__ = ["fold", "is_old", "is_space", "is_word", "prepare", "stands_alone", "tokens"]

# The White_Space property of PropList.txt, in full.
WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

# Default_Ignorable_Code_Point of DerivedCoreProperties.txt without the zero width space, which parts words.
UNSEEN = (
    "\xad\xad", "\u034f\u034f", "\u061c\u061c", "\u115f\u1160", "\u17b4\u17b5", "\u180b\u180f", "\u200c\u200f",
    "\u202a\u202e", "\u2060\u206f", "\u3164\u3164", "\ufe00\ufe0f", "\ufeff\ufeff", "\uffa0\uffa0",
    "\ufff0\ufff8", "\U0001bca0\U0001bca3", "\U0001d173\U0001d17a", "\U000e0000\U000e0fff",
)  # fmt: skip

# Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar, as `script` and as `script_extensions` call them.
UNSPACED = frozenset({"Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"})
UNSPACED_CODES = frozenset({"Hani", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr"})

# CaseFolding.txt has had a simple folding (status S) for these three since 15.1; Python has only the full one.
SIMPLE_FOLDS = {"\u1fd3": "\u0390", "\u1fe3": "\u03b0", "\ufb05": "\ufb06"}


def tokens(
    text: str,
    *,
    unit: str = "words",
    keep_case: bool = False,
    keep_punctuation: bool = False,
    whitespace: bool | None = None,
    stop: frozenset[str] = frozenset(),
    nfkc: bool = False,
    strip_accents: bool = False,
) -> list[str]:
    """The tokens of a text, in order."""
    space = (unit == "chars") if whitespace is None else whitespace
    found: list[str] = []
    for is_words, stretch in _stretches(clusters(prepare(text, nfkc=nfkc, strip_accents=strip_accents))):
        if is_words:
            folded = stretch if keep_case else ["".join(fold(character) for character in one) for one in stretch]
            found += folded if unit == "chars" else _words(folded)
        elif keep_punctuation:
            found += _marks(stretch, space=space)
        elif space and (unit == "chars" or any(is_space(one[0]) for one in stretch)):
            found.append(" ")
    if found and found[0] == " ":
        del found[0]
    if found and found[-1] == " ":
        del found[-1]
    return [token for token in found if token not in stop]


def prepare(text: str, *, nfkc: bool = False, strip_accents: bool = False) -> str:
    """The text as the tokeniser sees it."""
    if nfkc:
        text = unicodedataplus.normalize("NFKC", text)
    if strip_accents:
        apart = unicodedataplus.normalize("NFD", text)
        bare = "".join(character for character in apart if unicodedataplus.category(character) != "Mn")
        text = unicodedataplus.normalize("NFC", bare)
    return text


@cache
def is_unseen(character: str) -> bool:
    """Whether this is never shown, and parts no words."""
    return any(ord(first) <= ord(character) <= ord(last) for first, last in UNSEEN)


@cache
def is_mark(character: str) -> bool:
    """Whether this belongs to the character before it."""
    return unicodedataplus.category(character)[0] == "M" and not is_unseen(character)


def clusters(text: str) -> list[str]:
    """Each character with its marks."""
    found: list[str] = []
    for character in text:
        if is_unseen(character):
            continue
        if not is_mark(character):
            found.append(character)
        elif found:
            found[-1] += character
    return found


@cache
def fold(character: str) -> str:
    """Simple case folding: one character in, one character out."""
    if is_mark(character):
        return character
    for folded in (SIMPLE_FOLDS.get(character, ""), character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character


@cache
def is_word(character: str) -> bool:
    """Whether this is a letter, a number or an underscore."""
    return character == "_" or (unicodedataplus.category(character)[0] in "LN" and not is_unseen(character))


@cache
def stands_alone(character: str) -> bool:
    """Whether this word character is a token by itself."""
    if not is_word(character):
        return False
    if unicodedataplus.script(character) in UNSPACED:
        return True
    codes = unicodedataplus.script_extensions(character)
    only_unspaced = all(code in UNSPACED_CODES or code == "Bopo" for code in codes)
    return only_unspaced and any(code in UNSPACED_CODES for code in codes)


def is_space(character: str) -> bool:
    """Whether this is white space."""
    return character in WHITE_SPACE


def is_old(character: str) -> bool:
    """Whether every Python that can run this knows the character as Unicode 16.0 does."""
    age = unicodedataplus.age(character)
    return age != "Unassigned" and float(age) <= 14.0


def _stretches(text: list[str]) -> list[tuple[bool, list[str]]]:
    # Maximal runs of word characters (True) and of all others (False), in turn, each with its marks.
    found: list[tuple[bool, list[str]]] = []
    for one in text:
        if found and found[-1][0] == is_word(one[0]):
            found[-1][1].append(one)
        else:
            found.append((is_word(one[0]), [one]))
    return found


def _words(stretch: list[str]) -> list[str]:
    found: list[str] = []
    is_open = False  # whether the last token may grow
    for one in stretch:
        alone = stands_alone(one[0])
        if is_open and not alone:
            found[-1] += one
        else:
            found.append(one)
        is_open = not alone
    return found


def _marks(stretch: list[str], *, space: bool) -> list[str]:
    found: list[str] = []
    before = ""
    for one in stretch:
        if not is_space(one[0]):
            found.append(one)
        elif space and not (before and is_space(before[0])):
            found.append(" ")
        before = one
    return found
