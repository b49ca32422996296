"""Documents one by one: each resembles what a search through all before it says."""

import importlib
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.installation import install_command
from nearsame.recipes.methods import Method
from nearsame.web.seen import Indexed, InMemory
from tests.oracle.measures import jaccard
from tests.oracle.shingles import features

_TEXTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join), max_size=12)


@settings(deadline=None)
@given(_TEXTS, st.sampled_from(["0.3", "0.5", "0.8", "1"]))
def test_every_document_resembles_what_the_slow_search_finds(texts: list[str], threshold: str) -> None:
    """The most similar of those that were added, the first of equals; what resembles one is not added."""
    seen = InMemory(ns.Jaccard(threshold=threshold, shingle_size=1))
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
    seen, first = InMemory(ns.Digest()), {}
    for number, text in enumerate(texts):
        answer = seen.add_if_new(str(number), "u", text)
        assert (first.get(text) if text else None) == (answer and answer.id)
        first.setdefault(text, str(number))


def test_minhash_verifies_what_its_bands_bring_together() -> None:
    """The similarity is exact."""
    seen = InMemory(ns.MinHash())
    words = [f"w{n}" for n in range(100)]
    assert seen.add_if_new("a", "http://a/", " ".join(words)) is None
    found = seen.add_if_new("b", "http://b/", " ".join([*words, "more"]))
    assert ("a", "http://a/", 96 / 97, "jaccard", False) == found


@pytest.mark.parametrize("kind", ["memory", "index"])
def test_a_document_does_not_resemble_itself(tmp_path: Path, kind: str) -> None:
    """The same id again is the same document, whatever it says now; what it said before is forgotten."""
    seen = InMemory(ns.MinHash()) if kind == "memory" else Indexed(str(tmp_path / "seen.ns"), ns.MinHash())
    for text in ("one two three", "one two three", "four five six"):
        assert seen.add_if_new("a", "http://a/", text) is None
    assert seen.add_if_new("b", "http://b/", "one two three") is None
    assert ("b", "http://b/", 1.0, "jaccard", False) == seen.add_if_new("c", None, "One two three!")
    assert ("b", "http://b/", 1.0, "jaccard", False) == seen.add_if_new("a", "http://a/", "one two three")
    seen.close()


def test_half_an_emoji_keeps_nobody_out() -> None:
    """JSON may cut one in two; memory takes such a text as an index does."""
    seen, text = InMemory(ns.MinHash()), "words \ud83d of a text cut in an emoji here, and some more of them"
    assert seen.add_if_new("a", None, text) is None
    resembled = seen.add_if_new("b", None, text)
    assert resembled is not None
    assert "a" == resembled.id


def test_an_index_keeps_what_it_has_seen(tmp_path: Path) -> None:
    """Whoever opens it again, by its own recipe, goes on with it."""
    where = str(tmp_path / "seen.ns")
    for text, expected in (("one two three", None), ("one two three", "a"), ("four five six", None)):
        seen = Indexed(where, None)
        found = seen.add_if_new("a" if expected is None and "one" in text else text, None, text)
        assert expected == (found and found.id)
        seen.close()


def test_the_next_crawl_knows_what_is_unchanged(tmp_path: Path) -> None:
    """What an earlier crawl stored under the URL; what says something else is new, and is stored in its place."""
    where, words = str(tmp_path / "seen.ns"), " ".join(f"w{n}" for n in range(100))
    for text, expected in ((words, None), (f"{words} more", True), ("four five six", None), ("four five six", True)):
        seen = Indexed(where, None)
        found = seen.add_if_new("http://a/", "http://a/", text)
        assert expected == (found and found.unchanged)
        again = seen.add_if_new("http://a/#2", "http://a/", text)
        assert (expected or False) == (again is not None and again.unchanged)
        other = seen.add_if_new("http://b/", "http://b/", text)
        assert ("http://a/", False) == (other and (other.id, other.unchanged))
        seen.close()


def test_a_job_that_goes_on_knows_its_own_documents(tmp_path: Path) -> None:
    """By a file in its folder, also one that was cut off in the middle of an entry."""
    where, job = str(tmp_path / "seen.ns"), tmp_path / "own"
    for _ in range(3):
        seen = Indexed(where, None, job)
        assert seen.add_if_new("http://a/", "http://a/", "one two three") is None
        seen.close()
        with job.open("ab") as file:
            file.write(b"cut")
    elsewhere = Indexed(where, None, tmp_path / "other")
    found = elsewhere.add_if_new("http://a/", "http://a/", "one two three")
    assert found is not None
    assert found.unchanged
    elsewhere.close()


def test_a_page_that_came_twice_does_not_resemble_itself_when_its_job_goes_on(tmp_path: Path) -> None:
    """The first time it asked to wait; the second, under a name of its own, is what the same page gives at once now."""
    where, job, url = str(tmp_path / "seen.ns"), tmp_path / "own", "http://a/"
    wait, text = "please wait a little", "one two three four"
    seen = Indexed(where, None, job)
    assert seen.add_if_new(url, url, wait) is None
    assert seen.add_if_new(f"{url}#2", url, text) is None
    seen.close()
    seen = Indexed(where, None, job)
    assert seen.add_if_new(url, url, text) is None
    copy = seen.add_if_new("http://b/", "http://b/", text)
    assert (url, False) == (copy and (copy.id, copy.unchanged))
    again = seen.add_if_new(f"{url}#2", url, text)  # twice in one part of the job is twice there
    assert url == (again and again.id)
    seen.close()


def test_items_of_a_page_that_come_in_another_order_are_the_same_items(tmp_path: Path) -> None:
    """After a stop; none goes for itself, and each is there once."""
    where, job, url = str(tmp_path / "seen.ns"), tmp_path / "own", "http://a/"
    texts = ["one two three four", "five six seven eight", "nine ten eleven twelve"]
    for part in (texts, texts[::-1], texts):
        seen = Indexed(where, None, job)
        names = (url, f"{url}#2", f"{url}#3")
        assert [None] * 3 == [seen.add_if_new(name, url, text) for name, text in zip(names, part, strict=True)]
        seen.close()
    with ns.Index.open(where, read_only=True) as index:
        assert 3 == len(list(index.ids()))


def test_a_missing_scrapy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs it."""
    for name in [name for name in sys.modules if name.startswith("nearsame.web.scrapy")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scrapy", None)
    with pytest.raises(ns.MissingExtraError) as error:
        importlib.import_module("nearsame.web.scrapy")
    assert f"Run: {install_command('scrapy')}" == error.value.hint


@pytest.mark.parametrize("method", [ns.SimHash(), ns.MinHash(verify="estimate"), ns.Digest(algorithm="crc32")])
def test_what_cannot_be_kept_in_memory_says_so(method: Method) -> None:
    """And what to do instead."""
    with pytest.raises(ns.ConfigError, match="keeps nothing in memory"):
        InMemory(method)


def test_an_unchanged_page_is_its_own_whatever_else_is_closer(tmp_path: Path) -> None:
    """Another page of the earlier crawl resembles it even more; in the crawl itself the closest is told."""
    where, a = str(tmp_path / "seen.ns"), [f"w{number}" for number in range(100)]
    b = [f"B{number}" if number in {10, 30, 50} else word for number, word in enumerate(a)]
    now = [f"B{number}" if number in {10, 30} else word for number, word in enumerate(a)]
    seen = Indexed(where, None)
    for name, text in (("a", a), ("b", b)):
        assert seen.add_if_new(f"http://{name}/", f"http://{name}/", " ".join(text)) is None
    closest = seen.add_if_new("http://c/", "http://c/", " ".join(now))
    assert ("http://b/", False) == (closest and (closest.id, closest.unchanged))
    seen.close()
    for name in ("http://a/", "another id"):
        seen = Indexed(where, None)
        found = seen.add_if_new(name, "http://a/", " ".join(now))
        assert ("http://a/", True) == (found and (found.id, found.unchanged))
        seen.close()
