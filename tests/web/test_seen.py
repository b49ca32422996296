"""Documents one by one: each resembles what a search through all before it says."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.measures import jaccard
from tests.oracle.shingles import features

import samesame as ss
from samesame.methods import Method
from samesame.web.seen import InMemory

_TEXTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join), max_size=12)


@settings(deadline=None)
@given(_TEXTS, st.sampled_from(["0.3", "0.5", "0.8", "1"]))
def test_every_document_resembles_what_the_slow_search_finds(texts: list[str], threshold: str) -> None:
    """The most similar of those that were added, the first of equals; what resembles one is not added."""
    seen = InMemory(ss.Jaccard(threshold=threshold, shingle_size=1))
    added: dict[str, frozenset[object]] = {}
    for number, text in enumerate(texts):
        items = features(text, size=1)
        found = [(jaccard(items, other), -int(name)) for name, other in added.items() if items]
        best = max((pair for pair in found if pair[0] >= Fraction(threshold)), default=None)
        answer = seen.add_if_new(str(number), None, text)
        assert (None if best is None else (str(-best[1]), float(best[0]))) == (
            answer and (answer.id, answer.similarity)
        )
        if answer is None and items:
            added[str(number)] = items
    assert len(added) == len(seen)


@settings(deadline=None)
@given(_TEXTS)
def test_equal_texts_are_found_by_digest(texts: list[str]) -> None:
    """The first one with the same bytes; an empty text is like no other."""
    seen, first = InMemory(ss.Digest()), {}
    for number, text in enumerate(texts):
        answer = seen.add_if_new(str(number), "u", text)
        assert (first.get(text) if text else None) == (answer and answer.id)
        first.setdefault(text, str(number))


def test_minhash_verifies_what_its_bands_bring_together() -> None:
    """The similarity is exact."""
    seen = InMemory(ss.MinHash())
    words = [f"w{n}" for n in range(100)]
    assert seen.add_if_new("a", "http://a/", " ".join(words)) is None
    found = seen.add_if_new("b", "http://b/", " ".join([*words, "more"]))
    assert ("a", "http://a/", 96 / 97, "jaccard") == found


def test_a_document_does_not_resemble_itself() -> None:
    """The same id again is the same document, whatever it says now; what it said before is forgotten."""
    seen = InMemory(ss.Jaccard(shingle_size=1))
    for text in ("one two three", "one two three", "four five six"):
        assert seen.add_if_new("a", None, text) is None
    assert seen.add_if_new("b", None, "one two three") is None
    assert 2 == len(seen)


@pytest.mark.parametrize("method", [ss.SimHash(), ss.MinHash(verify="estimate"), ss.Digest(algorithm="crc32")])
def test_what_cannot_be_kept_in_memory_says_so(method: Method) -> None:
    """And what to do instead."""
    with pytest.raises(ss.ConfigError, match="keeps nothing in memory"):
        InMemory(method)
