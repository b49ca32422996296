"""Words by their hashes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.kernels import spans, tokens, unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.stages.features.words import hash_words

WORDS = st.frozensets(st.text(st.sampled_from("abXßé_.,'\u0301\u00ad\u00a0漢字ฉัน-ﬁ１\n"), max_size=5), max_size=12)


def one_by_one(words: frozenset[str], flags: int, seed: int) -> list[int]:
    """The tokens of the texts that are one, each as the hot kernels see it."""
    found = set()
    for word in words:
        data = arrow.frozen(np.frombuffer(word.encode(), np.uint8))
        scratch, out = np.zeros((2, 2 * data.size + 128), np.uint8), np.zeros(data.size + 66, np.uint64)
        size = tokens.fold(data, 0, data.size, flags & tokens.KEEP_CASE, *unicode.tables(), *scratch)
        if tokens.hash_tokens(*scratch, size, hash_keys(seed), arrow.NO_HASHES, out) == 1:
            found.add(int(out[0]))
    return sorted(found)


@pytest.mark.parametrize("flags", [0, tokens.KEEP_CASE, tokens.PUNCTUATION | tokens.SPACE, tokens.CHARS])
@given(words=WORDS, seed=st.integers(0, 3))
def test_all_at_once_are_as_one_by_one(flags, words, seed):
    """Whatever stands beside them; what is no token, or several, is none of them."""
    assert one_by_one(words, flags, seed) == hash_words(words, flags, seed).tolist()


def test_many_words_are_hashed_by_one_call_and_once(monkeypatch):
    """300,000 took nine seconds, for each pair of a report anew."""
    called, inner = [], spans.token_spans
    monkeypatch.setattr(spans, "token_spans", lambda *given: called.append(1) or inner(*given))
    words = frozenset(f"word{number}" for number in range(1000))
    assert 1000 == hash_words(words, 0, 7).size
    assert hash_words(words, 0, 7) is hash_words(frozenset(words), 0, 7)
    assert [1] == called
