"""Stop words as the tokeniser meets them."""

import re
import sys
from subprocess import run

import pytest

from nearsame.errors import ConfigError
from nearsame.kernels import unicode
from nearsame.stages.texts.stopwords import known_languages, stop_words, version


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("ar", {"في", "من"}),
        ("cs", {"jsem", "který"}),
        ("de", {"und", "für", "daß"}),
        ("el", {"και"}),
        ("en", {"the", "and", "of", "i"}),
        ("es", {"el", "también"}),
        ("fi", {"ja", "että"}),
        ("fr", {"le", "été", "où"}),
        ("hi", {"और"}),
        ("it", {"che", "più"}),
        ("ja", {"の", "は"}),
        ("ko", {"그리고"}),
        ("nl", {"het", "een"}),
        ("pl", {"się", "nie"}),
        ("pt", {"não", "uma"}),
        ("ru", {"и", "не"}),
        ("sv", {"och", "är"}),
        ("tr", {"ve", "için"}),
        ("zh", {"的", "了"}),
    ],
)
def test_the_common_words_of_a_language_are_in_its_list(language: str, words: set[str]) -> None:
    """Nineteen languages, spaced and unspaced, in several scripts."""
    assert set() == words - stop_words((language,))


def test_every_entry_is_one_token() -> None:
    """A run of word characters with their marks, or one character of a script without spaces."""
    for word in stop_words(known_languages()):
        kinds = unicode.classes(word)
        assert kinds == [unicode.ALONE] or (
            unicode.WORD == kinds[0] and {unicode.WORD, unicode.MARK, unicode.UNSEEN} >= {*kinds}
        )


def test_an_entry_of_several_tokens_is_left_out_with_its_pieces() -> None:
    """The listed "chut'" and "ted'" do not make "chut" and "ted" stop words."""
    assert set() == stop_words(("cs",)) & {"chut'", "ted'", "chut", "ted"}
    assert "これ" not in stop_words(("ja",))


def test_the_lists_of_several_languages_are_joined() -> None:
    """In any order, once each."""
    assert stop_words(("en",)) | stop_words(("de",)) == stop_words(("de", "en", "de"))


def test_no_language_gives_no_words() -> None:
    """Nothing is dropped by default."""
    assert frozenset() == stop_words(())


def test_words_are_folded_unless_case_is_kept() -> None:
    """Folded with the tokeniser's own table."""
    languages = known_languages()
    kept = stop_words(languages, keep_case=True)
    assert stop_words(languages) == {unicode.fold(word) for word in kept}


def test_ascii_is_to_python_what_it_is_to_the_tokeniser() -> None:
    """So words of one's own, of which there may be very many, need no look into the tables."""
    signs = list(map(chr, range(128)))
    assert [sign.lower() for sign in signs] == [unicode.fold(sign) for sign in signs]
    assert all(unicode.classes(sign) == [unicode.WORD] for sign in signs if sign.isalnum())


def test_words_are_prepared_as_the_texts_are() -> None:
    """Where texts lose their accents, so do stop words."""
    assert {"ete", "ou"} <= stop_words(("fr",), strip_accents=True)
    assert not {"été", "où"} & stop_words(("fr",), strip_accents=True)
    assert {"été", "où"} <= stop_words(("fr",), nfkc=True)


def test_words_of_ones_own_are_dropped_as_they_are_prepared() -> None:
    """Beside those of languages, folded unless case is kept, without accents where texts have none."""
    assert {"in", "the"} == stop_words(("In", "the"))
    assert {"In"} == stop_words(("In",), keep_case=True)
    assert {"ete"} == stop_words(("été",), strip_accents=True)
    assert {"und", "rose"} <= stop_words(("de", "rose"))


def test_an_equals_sign_makes_a_word_of_a_language() -> None:
    """Of Italian, the word "it" is not one."""
    assert {"it"} == stop_words(("=it",))
    assert "it" not in stop_words(("it",))


@pytest.mark.parametrize("entry", ["d'un", "two words", "--", "=", ""])
def test_what_is_no_single_word_is_an_error_that_lists_the_languages(entry: str) -> None:
    """The message names the value, and every code that would do."""
    with pytest.raises(ConfigError, match="is neither a single word nor a language") as caught:
        stop_words(("en", entry))
    assert re.search(r"choose of af, ar, bg, .*, zh, zu", caught.value.hint or "")


def test_a_language_whose_list_ends_up_empty_is_an_error_that_says_so() -> None:
    """Every Thai entry is several characters, each a token: nothing would be dropped, whatever else is chosen."""
    with pytest.raises(ConfigError, match=r"stop_words='th' would drop nothing: none of its \d+ words") as caught:
        stop_words(("en", "th"))
    assert "Leave this language out." == caught.value.hint


def test_every_known_language_has_words_to_drop() -> None:
    """So no code that an error message offers is refused in its turn."""
    assert "th" not in known_languages()
    assert [] == [code for code in known_languages() if not stop_words((code,))]


def test_the_version_of_the_lists_is_known() -> None:
    """A dotted number, for the record of a run."""
    assert version().replace(".", "").isdigit()


def test_the_lists_are_loaded_when_first_asked_for() -> None:
    """Importing the module does not read them."""
    code = "import sys, nearsame.stages.texts.stopwords; sys.exit('stopwordsiso' in sys.modules)"
    assert 0 == run([sys.executable, "-c", code], check=False).returncode
