"""Near copies of one text in great numbers: the work for a document does not grow with them; what is cut is told."""

import random
from collections import Counter
from contextlib import contextmanager

import pytest

import nearsame as ns
from nearsame.index import adding, asking, candidates, search
from nearsame.index.columns import conditions, passes
from tests.oracle.measures import jaccard
from tests.oracle.shingles import features

CHANCE = random.Random(5)
WORDS = [f"w{number}" for number in range(120)]
RECIPE = ns.MinHash(threshold=0.5, recall=0.99)


def near_copies(number, words=WORDS):
    """Texts that differ from one in a word or two."""
    return [
        " ".join(f"x{seed}-{at}" if at in changed else word for at, word in enumerate(words))
        for seed in range(number)
        for changed in [set(CHANCE.sample(range(len(words)), CHANCE.randint(1, 2)))]
    ]


def filled(place, texts, **settings):
    """An index of texts, d0 and so on."""
    return ns.Index.create(place, source=[{"id": f"d{at}", "text": text} for at, text in enumerate(texts)], **settings)


@contextmanager
def counted(index):
    """How many rows and postings an index reads, and pairs it compares."""
    counts = Counter()
    reading = index._store.reading

    class Counting:
        def __init__(self, reader):
            self.reader = reader

        def __getattr__(self, name):
            return getattr(self.reader, name)

        def rows(self, numbers, **how):
            found = self.reader.rows(numbers, **how)
            counts["rows"] += len(found)
            return found

        def postings(self, keys, most):
            found = self.reader.postings(keys, most)
            counts["postings"] += found.numbers.size
            return found

    @contextmanager
    def watched():
        with reading() as reader:
            yield Counting(reader)

    index._store.reading = watched
    yield counts
    index._store.reading = reading


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Near copies of one text, and a few that are like nothing."""
    others = [" ".join(f"other{number}-{at}" for at in range(50)) for number in range(5)]
    texts = near_copies(1_200)
    with filled(tmp_path_factory.mktemp("crowd") / "crowd.ns", texts + others, method=[RECIPE, "digest"]) as index:
        yield index, texts, others


def test_the_work_of_a_question_is_bounded(crowd):
    """Whatever the number of near copies: rows by what is compared, postings by that for each key."""
    index, texts, _ = crowd
    with counted(index) as counts:
        found = index.query(" ".join(WORDS))
    num_keys = index.stats().keys_per_document
    assert 10 == len(found)
    assert not found.complete
    assert counts["rows"] <= 2 * 256
    assert counts["postings"] <= (num_keys + 256) * 257
    with counted(index) as counts:
        index.query(texts[7])
    assert counts["rows"] <= 2 * 256


def test_the_best_of_those_compared_come_first_and_a_copy_is_never_missed(crowd):
    """A copy has a key of its own, which no crowd stands before."""
    index, texts, others = crowd
    for at in (0, 600, 1_199):
        found = index.query(texts[at], limit=3)
        assert (f"d{at}", 1.0) == (found[0].id, found[0].similarity)
        values = [match.similarity for match in found]
        assert values == sorted(values, reverse=True)
    assert index.query(others[0]).complete
    assert index.query("a text that is like nothing that is there").complete


@pytest.mark.slow
def test_as_many_copies_as_were_asked_for_are_the_best_there_are(tmp_path):
    """Then nothing that was left out is better."""
    texts = near_copies(600)
    with filled(tmp_path / "copies.ns", [texts[0]] * 20 + texts[1:], method=RECIPE) as index:
        assert index.query(texts[0], limit=10).complete
        assert not index.query(texts[0], limit=21).complete


def test_a_crowd_has_few_leaders(crowd):
    """The oldest of it are among those that are compared, so its members find the one that others follow."""
    index, texts, _ = crowd
    groups = index.clusters(limit=1_000)
    assert groups[0].size > 0.9 * len(texts)
    assert sum(group.size for group in groups) > 0.95 * len(texts)


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [600, 100])
def test_the_work_of_a_batch_grows_with_the_batch(tmp_path, monkeypatch, at_once):
    """Not with its square: of near copies in one batch each is compared with a bounded number of them."""
    compared = []
    run = search._run
    monkeypatch.setattr(search, "_run", lambda bound, items, a, b: compared.append(a.size) or run(bound, items, a, b))
    texts = near_copies(600)
    with ns.Index.create(tmp_path / "batch.ns", method=RECIPE) as index:
        for start in range(0, len(texts), at_once):
            documents = [
                {"id": str(start + at), "text": text} for at, text in enumerate(texts[start : start + at_once])
            ]
            added = index.add(documents)
        assert not added[-1].complete
        assert 10 == len(added[-1].matches)
    # each with 64 of its batch and 256 of the store, twice: once to know, once for the evidence
    assert sum(compared) <= 600 * 3 * (64 + 256)


@pytest.mark.parametrize("seed", range(3))
def test_a_crowd_hides_nobody_whom_a_condition_asks_for(tmp_path, monkeypatch, seed):
    """Neither its leader nor its copies: of a rare value all are found, of others what is complete is the best."""
    monkeypatch.setattr(asking, "_CHOSEN_FROM", 16)
    monkeypatch.setattr(candidates, "_LEAST", 16)
    chance = random.Random(seed)
    texts = chance.choices(near_copies(60), k=250)
    langs = ["de", *chance.choices(["de", "fr", "en"], [20, 3, 1], k=249)]
    source = [{"id": str(at), "text": text, "lang": langs[at]} for at, text in enumerate(texts)]
    with ns.Index.create(tmp_path / "crowd.ns", method=RECIPE, keep_columns="lang", source=source) as index:
        sets = [features(text, size=5) for text in texts]
        for where in ("lang=en", "lang=fr", "lang=de", "lang!=de"):
            text = chance.choice(texts)
            able = [at for at, lang in enumerate(langs) if passes(conditions(where, ["lang"]), {"lang": lang})]
            best = sorted(able, key=lambda at: (-jaccard(features(text, size=5), sets[at]), at))
            found = index.query(text, limit=5, where=where)
            assert found.complete or len(able) > 16
            if found.complete:
                assert [str(at) for at in best[:5]] == [match.id for match in found]
            assert {match.columns["lang"] for match in found} <= {langs[at] for at in able}
        assert [] == index.check()


@pytest.mark.parametrize("method", [RECIPE, "simhash", "digest"])
def test_a_crowd_of_copies_hides_nobody_whom_a_condition_asks_for(tmp_path, monkeypatch, method):
    """Of documents with the same items those that fulfil a condition may be the last."""
    monkeypatch.setattr(asking, "_CHOSEN_FROM", 16)
    monkeypatch.setattr(candidates, "_LEAST", 16)
    langs = [*["en"] * 60, "de", *["fr"] * 20]
    source = [{"id": str(at), "text": " ".join(WORDS), "lang": lang} for at, lang in enumerate(langs)]
    with ns.Index.create(tmp_path / "crowd.ns", method=method, keep_columns="lang", source=source) as index:
        for found in (index.query(" ".join(WORDS), where="lang=de"), index.duplicates("7", where="lang=de")):
            assert (["60"], True) == ([match.id for match in found], found.complete)
        for where in ("lang=fr", "lang!=en"):
            found = index.query(" ".join(WORDS), where=where)
            assert not found.complete or len(found) == 10


def test_a_copy_in_a_crowded_batch_is_found(tmp_path):
    """Documents of a batch that are equal are one."""
    texts = near_copies(300)
    with ns.Index.create(tmp_path / "batch.ns", method=RECIPE) as index:
        added = index.add([{"id": str(at), "text": text} for at, text in enumerate([*texts, texts[250]])])
    assert ("250", 1.0) == (added[-1].matches[0].id, added[-1].matches[0].similarity)


def test_small_groups_are_whole(tmp_path):
    """What is not a crowd is compared with all of it."""
    texts = near_copies(adding._MOST_MET)
    with ns.Index.create(tmp_path / "small.ns", method=ns.MinHash(threshold=0.5, bands=128, rows=1)) as index:
        added = index.add([{"id": str(at), "text": text} for at, text in enumerate(texts)], limit=100)
        assert all(each.complete for each in added)
        assert list(range(len(texts))) == [len(each.matches) for each in added]
        found = index.query(texts[0], limit=100)
        assert (True, len(texts)) == (found.complete, len(found))


def test_very_many_versions_of_one_address_are_bounded_too(tmp_path):
    """An address is not what similarity is measured by, so all its versions would have to be looked at."""
    texts = [" ".join(f"v{number}-{at}" for at in range(20)) for number in range(700)]
    documents = [{"id": str(at), "text": text, "url": "http://a.example/"} for at, text in enumerate(texts)]
    with ns.Index.create(tmp_path / "urls.ns", source=documents, method=[RECIPE, "url"]) as index:
        asked = {"text": "nothing like it", "url": "http://a.example/"}
        with counted(index) as counts:
            found = index.query([asked], limit=3)[0]
        assert (3, False) == (len(found), found.complete)
        assert counts["rows"] <= 2 * 256
