"""The plain tokeniser of `verify` cuts texts as the oracle of the tests does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.proofs.features import Cut

oracle = pytest.importorskip("tests.oracle.tokens", reason="unicodedataplus is not installed")

ODD = "aB ß_é.,1\u0301\u0345\u00a0漢字ฉัน-ﬁ１\U0001d400\t가\ufe0f\u200d✔☺\u00ad\u200b\u3164ကျ\u20e3#"
TEXTS = st.text(st.sampled_from(ODD), max_size=40) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    text=TEXTS,
    unit=st.sampled_from(["words", "chars"]),
    whitespace=st.sampled_from([None, False, True]),
    flags=st.fixed_dictionaries(
        {name: st.booleans() for name in ("keep_case", "keep_punctuation", "nfkc", "strip_accents")}
    ),
)
def test_tokens_are_those_of_the_oracle(text, unit, whitespace, flags):
    """Every setting, on scripts with and without spaces, marks, and what is never shown."""
    if any(not oracle.is_old(c) for c in text):
        return  # the oracle folds by Python's tables
    expected = oracle.tokens(text, unit=unit, whitespace=whitespace, **flags)
    assert expected == Cut({"unit": unit, "whitespace": whitespace, **flags}).tokens(text)
