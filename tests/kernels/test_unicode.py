"""The frozen tables of kernels/unicode.npy and unicode.npz: what they say, and that the script still makes them."""

import itertools
import runpy
from pathlib import Path

import numpy as np
import pytest

from nearsame.kernels import tokens, unicode
from nearsame.recipes.methods import UNICODE_VERSION

SCRIPT = Path(__file__).parents[2] / "scripts" / "make-unicode-tables"
FILES = [Path(unicode.__file__).with_name(f"unicode.{end}") for end in ("npy", "npz")]


def entries() -> tuple[np.ndarray, np.ndarray]:
    """(fold, class) of every code point, by the documented look-up."""
    stage1, stage2 = unicode.tables()
    code_points = np.arange(0x110000)
    found = stage2[(stage1[code_points >> 8].astype(np.int64) << 8) | (code_points & 255)].astype(np.int64)
    return code_points ^ (found & unicode.FOLD_MASK), found >> unicode.CLASS_SHIFT


def characters_of(kind: int) -> set[str]:
    """Every character of one class."""
    return set(map(chr, np.flatnonzero(entries()[1] == kind).tolist()))


def test_the_version_is_the_one_that_recipes_record() -> None:
    """The file, the module and the recipes agree on the Unicode version."""
    with np.load(FILES[1]) as file:
        written = ".".join(map(str, file["version"]))
    assert (UNICODE_VERSION, UNICODE_VERSION) == (unicode.VERSION, written)


@pytest.mark.slow
def test_the_script_makes_the_committed_files_byte_for_byte() -> None:
    """Regenerating from unicodedataplus 16.0 changes nothing."""
    plus = pytest.importorskip("unicodedataplus", reason="unicodedataplus is not installed")
    if plus.unidata_version != UNICODE_VERSION:
        pytest.skip(f"unicodedataplus has Unicode {plus.unidata_version}, not {UNICODE_VERSION}")
    script = runpy.run_path(str(SCRIPT))
    assert script["files"]() == {file.name: file.read_bytes() for file in FILES}


def test_the_files_are_below_400_kilobytes() -> None:
    """The tables stay a small part of the package."""
    assert sum(file.stat().st_size for file in FILES) < 400_000


def test_tables_are_read_once_and_cannot_be_written() -> None:
    """Every caller gets the same read-only, contiguous arrays."""
    assert unicode.tables() is unicode.tables()
    assert unicode.normalisation() is unicode.normalisation()
    arrays = [*unicode.tables(), *unicode.normalisation()]
    assert [(False, True)] * 8 == [(array.flags.writeable, array.flags.c_contiguous) for array in arrays]


def test_the_tables_have_the_types_that_kernels_are_compiled_for() -> None:
    """stage1 counts blocks in 16 bits, stage2 holds entries of 32."""
    stage1, stage2 = unicode.tables()
    assert ("uint16", (0x1100,), "uint32", 1) == (stage1.dtype, stage1.shape, stage2.dtype, stage2.ndim)


def test_equal_blocks_are_stored_once() -> None:
    """The table is a few hundred kilobytes at most, so that it stays near the core."""
    stage1, stage2 = unicode.tables()
    blocks = stage2.reshape(-1, 256)
    assert len(blocks) == len(np.unique(blocks, axis=0)) == len(np.unique(stage1))
    assert stage1.nbytes + stage2.nbytes < 256_000


def test_white_space_is_the_property_with_its_25_characters() -> None:
    """Unlike str.isspace, the information separators are not white space and U+0085 is."""
    expected = set("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | set(map(chr, range(0x2000, 0x200B)))
    assert expected == characters_of(unicode.SPACE)


@pytest.mark.parametrize(
    ("kind", "characters"),
    [
        (unicode.WORD, "aZ_09éßλЖאعह한ⅷ²½𝔘𐵐ªㄅㆠ"),
        (unicode.ALONE, "漢𠀀々〆〇ひカｶー〱〼ﾞกำ๕ລຂក១က၁ꧠ㈠"),
        (unicode.OTHER, ".,-'’!$+^©€™😀\u200b\x00\x1f\ufffd。、・…၊។\ue000\u0378\U0010ffff"),
        (unicode.SPACE, " \t\n\u00a0\u3000"),
        (unicode.MARK, "\u0301\u05b0\u093e\u3099\u302a\u0e34\u17c6\u103b\u20e3"),
        (unicode.UNSEEN, "\ufe0f\ufe0e\u200d\u200c\u00ad\u200e\u2066\u2060\ufeff\u115f\u3164\U000e0067\U000e0100"),
    ],
)
def test_each_character_has_its_class(kind: int, characters: str) -> None:
    """Letters, numbers and '_' are word characters; those of scripts without spaces stand alone."""
    _, classes = entries()
    assert [kind] * len(characters) == [int(classes[ord(c)]) for c in characters]


@pytest.mark.parametrize("c", "\u02bc\u0303\u0305\u0323\u0331")
def test_what_scripts_with_spaces_use_as_well_does_not_stand_alone(c: str) -> None:
    """Thai or Katakana is one of the script extensions of these, and Latin too: they do not cut its words."""
    assert unicode.ALONE not in unicode.classes(f"a{c}b")


@pytest.mark.slow
def test_every_character_is_what_the_oracle_says() -> None:
    """Classes for all of Unicode 16.0; folds for what Python knows as well."""
    plus = pytest.importorskip("unicodedataplus", reason="unicodedataplus is not installed")
    if plus.unidata_version != UNICODE_VERSION:
        pytest.skip(f"unicodedataplus has Unicode {plus.unidata_version}, not {UNICODE_VERSION}")
    from tests.oracle import tokens as oracle  # it needs unicodedataplus

    folds, classes = entries()
    # What is far from all that is assigned is looked at here and there.
    far = range(0x32000, 0xE0000, 101), range(0xE0200, 0x110000, 101)
    for c in map(chr, itertools.chain(range(0x32000), far[0], range(0xE0000, 0xE0200), far[1], [0x10FFFF])):
        kinds = (
            (unicode.UNSEEN, oracle.is_unseen(c)),
            (unicode.MARK, oracle.is_mark(c)),
            (unicode.SPACE, oracle.is_space(c)),
            (unicode.ALONE, oracle.stands_alone(c)),
            (unicode.WORD, oracle.is_word(c)),
            (unicode.OTHER, True),
        )
        assert (c, next(kind for kind, holds in kinds if holds)) == (c, classes[ord(c)])
        assert not oracle.is_old(c) or (c, ord(oracle.fold(c))) == (c, folds[ord(c)])


@pytest.mark.parametrize("flags", [0, tokens.PUNCTUATION, tokens.CHARS, tokens.KEEP_CASE])
def test_the_tokeniser_folds_as_the_table_says(flags: int) -> None:
    """Every word character, by both ways through the kernel."""
    stage1, stage2 = unicode.tables()
    text = "".join(sorted(characters_of(unicode.WORD) | characters_of(unicode.ALONE)))
    data = np.frombuffer(text.encode(), np.uint8)
    folded, marks = np.zeros((2, 2 * data.size + 128), np.uint8)
    size = tokens.fold(data, 0, data.size, flags, stage1, stage2, folded, marks)
    expected = text if flags & tokens.KEEP_CASE else unicode.fold(text)
    assert expected == folded[:size][marks[:size] != 0].tobytes().decode()


def test_surrogates_and_unassigned_code_points_are_other_and_fold_to_themselves() -> None:
    """What is no character is not part of a word."""
    folds, classes = entries()
    places = np.r_[0xD800:0xE000, 0x40000:0xE0000]
    assert (set(), True) == (set(classes[places]) - {unicode.OTHER}, bool((folds[places] == places).all()))


def test_folding_twice_is_folding_once() -> None:
    """No fold has a fold."""
    folds, _ = entries()
    assert bool((folds[folds] == folds).all())


def test_a_fold_never_changes_the_class() -> None:
    """So the tokeniser may fold before or after it cuts."""
    folds, classes = entries()
    assert bool((classes[folds] == classes).all())


def test_folding_is_simple() -> None:
    """One character for one: ß stays, the capital ẞ joins it, final sigma joins sigma, dotted İ stays."""
    assert "straße ß σσσ i İ ı ⅷ ⓐ s k å ᾳ" == unicode.fold("STRAẞE ß ΣσΣ I İ ı Ⅷ Ⓐ ſ K Å ᾼ")


def test_the_simple_foldings_that_came_with_unicode_15_1_are_there() -> None:
    """Three letters with two code points each, equal in full case folding only until then."""
    assert "\u0390 \u03b0 \ufb06" == unicode.fold("\u1fd3 \u1fe3 \ufb05")


def test_capitals_newer_than_unicode_14_fold_as_well() -> None:
    """Python 3.11 does not know them; the tables do."""
    assert "\u1c8a\u0264\ua7cd\ua7db\u019b\U00010d70\U00010d85" == unicode.fold(
        "\u1c89\ua7cb\ua7cc\ua7da\ua7dc\U00010d50\U00010d65"
    )


def test_the_empty_text_folds_to_itself() -> None:
    """Nothing in, nothing out."""
    assert "" == unicode.fold("")
    assert [] == unicode.classes("")


def test_classes_are_those_of_the_table() -> None:
    """Text in, one class for each character out."""
    assert [unicode.WORD, unicode.SPACE, unicode.ALONE, unicode.OTHER] == unicode.classes("é\u3000ก!")
