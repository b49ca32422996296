"""An index as its users know it: what goes in, what it resembles, and what may not be."""

import json
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.engines.space import least_memory
from nearsame.index import asking, gathering
from nearsame.index import documents as sourced
from nearsame.index.facets import DigestFacet
from nearsame.stores import sqlite_rows
from tests.oracle.measures import jaccard
from tests.oracle.shingles import features

ROSE = "a rose is a rose is a rose is a rose by any other name would smell as sweet as this one rose in my garden"
EDITED = ROSE + " today"
OTHER = (
    "nothing here has anything to do with flowers at all, it is about an old engine and the people who kept it going"
)
ALL = ["minhash", "simhash", "digest", "url"]


@pytest.fixture
def where(place):
    """A place for an index, in a file or in PostgreSQL."""
    return place


def test_a_match_names_the_document_and_its_exact_similarity(where):
    """By the slow twin's count of shingles; what does not resemble it is no match."""
    with ns.Index.create(where) as index:
        index.add([{"id": "rose", "text": ROSE}, {"id": "engine", "text": OTHER}])
        found = index.query(EDITED)
    expected = jaccard(features(ROSE, size=5), features(EDITED, size=5))
    assert [("rose", float(expected), "jaccard", ("minhash",))] == [
        (match.id, match.similarity, match.measure, match.found_by) for match in found
    ]


def test_adding_says_what_a_document_resembles_and_adds_it_all_the_same(where):
    """Unless only new ones are wanted."""
    with ns.Index.create(where) as index:
        first = index.add({"id": "a", "text": ROSE})
        second = index.add({"id": "b", "text": EDITED})
        third = index.add({"id": "c", "text": EDITED}, if_new=True)
        assert [("a", True, "added", [])] == [(x.id, x.added, x.status, [m.id for m in x.matches]) for x in first]
        assert [("b", True, "added", ["a"])] == [(x.id, x.added, x.status, [m.id for m in x.matches]) for x in second]
        assert [("c", False, "resembles", ["b", "a"])] == [
            (x.id, x.added, x.status, [m.id for m in x.matches]) for x in third
        ]
        assert 2 == index.stats().documents


def test_documents_of_one_call_are_held_against_each_other_in_order(where):
    """With `if_new` the first of those that resemble each other goes in, and one that was left out keeps nobody out."""
    texts = [f"{ROSE} {' '.join(f'word{n}' for n in range(k))}" for k in range(0, 9, 3)]
    assert jaccard(features(texts[0], size=5), features(texts[2], size=5)) < Fraction(4, 5)
    with ns.Index.create(where) as index:
        found = index.add([{"id": str(n), "text": text} for n, text in enumerate(texts)], if_new=True)
        assert [True, False, True] == [each.added for each in found]
        assert ["0"] == [match.id for match in found[1].matches]
        assert [] == index.check()


def test_evidence_is_told_apart(where):
    """The same bytes, the same words, the same address, a near text, a near code."""
    with ns.Index.create(where, method=ALL) as index:
        index.add({"id": "a", "text": ROSE, "url": "http://Example.org/rose?utm_source=feed"})
        kinds = {
            ("minhash", "simhash", "bytes", "text"): {"text": ROSE},
            ("minhash", "simhash", "text"): {"text": ROSE.upper() + "!"},
            ("url",): {"text": OTHER, "url": "https://example.org/rose"},
            ("minhash", "simhash", "bytes", "text", "url"): {"text": ROSE, "url": "https://example.org/rose#top"},
        }
        for expected, document in kinds.items():
            [match] = index.query(document)
            assert ("a", expected) == (match.id, match.found_by)
        assert match.same_bytes
        assert match.same_text
        assert match.same_url


@pytest.mark.parametrize("method", [["simhash"], ["digest"], ["url"], ["minhash"], ALL])
def test_each_method_works_alone_and_all_together(where, method):
    """Copies are found by whatever there is; nothing by what there is not."""
    document = {"id": "a", "text": ROSE, "url": "https://example.org/"}
    with ns.Index.create(where, method=method) as index:
        index.add(document)
        [match] = index.query({"text": ROSE, "url": "https://example.org/"})
        assert "a" == match.id
        assert [] == index.query({"text": OTHER, "url": "https://example.org/other"})
        assert [] == index.check()
        assert 1 == index.remove("a")
        assert [] == index.query(document)
        assert [] == index.check()


def test_texts_without_tokens_are_similar_to_their_copies_only_and_empty_ones_to_nothing(where):
    """Whatever the method, also one that confirms codes."""
    with ns.Index.create(where, method=[ns.MinHash(), ns.SimHash(confirm="edit")]) as index:
        index.add([{"id": "dots", "text": "..."}, {"id": "none", "text": ""}, {"id": "one", "text": "word"}])
        assert ["dots"] == [match.id for match in index.query("...")]
        assert [] == index.query("!!!")
        assert [] == index.query("")
        assert [] == index.check()


def test_of_many_copies_as_many_are_told_as_were_asked_for(where):
    """The oldest first; and only the first of them fills buckets."""
    with ns.Index.create(where, method="minhash") as index:
        index.add([{"id": f"{n:03}", "text": ROSE} for n in range(100)])
        size = index.stats().bytes
        index.add([{"id": f"{n:03}", "text": EDITED} for n in range(100, 103)])
        assert [f"{n:03}" for n in range(5)] == [match.id for match in index.query(ROSE, limit=5)]
        assert [f"{n:03}" for n in range(100, 103)] == [match.id for match in index.query(EDITED, limit=3)]
        found = index.query(EDITED, limit=1000)
        assert 103 == len(found)
        assert sorted((-match.similarity, match.id) for match in found) == [(-m.similarity, m.id) for m in found]
        assert size is not None
        assert [] == index.check()


def test_whoever_stays_takes_over_from_the_first_of_the_copies(where):
    """Near texts find the second when the first has gone, and are grouped with it."""
    with ns.Index.create(where) as index:
        index.add([{"id": name, "text": ROSE} for name in "abc"] + [{"id": "near", "text": EDITED}])
        assert [("a", 4)] == [(group.id, group.size) for group in index.clusters()]
        assert 1 == index.remove("a")
        assert ["b", "c"] == [match.id for match in index.duplicates("near")]
        assert [("b", 3, ("b", "c", "near"))] == [(group.id, group.size, group.members) for group in index.clusters()]
        assert [] == index.check()
        assert 3 == index.remove(["b", "c", "near", "never"])
        assert [] == index.clusters()
        assert [] == index.check()


def test_an_id_that_is_there_is_present_conflicting_or_replaced(where):
    """The same document again changes nothing; another one with its id stays out unless it is to replace it."""
    with ns.Index.create(where) as index:
        index.add({"id": "a", "text": ROSE})
        assert ["present"] == [each.status for each in index.add({"id": "a", "text": ROSE})]
        assert ["conflict"] == [each.status for each in index.add({"id": "a", "text": OTHER})]
        assert ["a"] == [match.id for match in index.query(ROSE)]
        assert ["replaced"] == [each.status for each in index.add({"id": "a", "text": OTHER}, replace=True)]
        assert [] == index.query(ROSE)
        assert ["a"] == [match.id for match in index.query(OTHER)]
        twice = [{"id": "b", "text": ROSE}, {"id": "b", "text": EDITED}]
        assert ["added", "conflict"] == [each.status for each in index.add(twice)]
        assert ["present", "replaced"] == [each.status for each in index.add(twice, replace=True)]
        assert 2 == index.stats().documents
        assert [] == index.check()


def test_a_document_without_an_id_is_called_after_its_text(where):
    """So the same text again is the same document again."""
    with ns.Index.create(where) as index:
        [first], [second] = index.add(ROSE), index.add(ROSE)
        assert first.id == second.id
        assert first.id.startswith("sha256:")
        assert ("added", "present") == (first.status, second.status)


def test_all_that_was_added_is_there_after_reopening(where):
    """The recipe comes from the file."""
    with ns.Index.create(where, method=[ns.MinHash(threshold=0.5, shingle_size=3), "url"]) as index:
        index.add([{"id": "a", "text": ROSE}, {"id": "b", "text": OTHER}])
    with ns.Index.open(where) as index:
        assert ["a", "b"] == list(index.ids())
        assert ["a"] == [match.id for match in index.query(EDITED)]
        assert [0.5, None] == [method.get("threshold") for method in index.stats().methods]


def test_an_index_of_another_recipe_is_refused_with_what_differs(where):
    """Each setting with both values; a method that is not there; the right one is taken."""
    recipe = ns.MinHash(threshold=0.7)
    ns.Index.create(where, method=[recipe]).close()
    with pytest.raises(
        ns.IndexMismatchError, match=r"minhash seed=0, expected 1; minhash threshold=0\.7, expected 0\.8"
    ):
        ns.Index.open(where, expect=[ns.MinHash(seed=1)])
    with pytest.raises(ns.IndexMismatchError, match="url: expected, not in the index"):
        ns.Index.open(where, expect=[recipe, "url"])
    ns.Index.open(where, expect=recipe).close()


def test_a_transaction_is_one_and_an_exception_undoes_it(where):
    """It sees its own writes; nothing of it stays when it is left by an exception."""
    with ns.Index.create(where) as index:
        with index.transaction():
            index.add({"id": "a", "text": ROSE})
            assert ["a"] == [match.id for match in index.query(ROSE)]
            index.remove("a")
            index.add({"id": "b", "text": ROSE})
        with pytest.raises(ns.UnknownIdError), index.transaction():  # noqa: PT012  (what is undone stands before what raises)
            index.add({"id": "c", "text": OTHER})
            index.remove("never", missing_ok=False)
        assert ["b"] == list(index.ids())
        assert [] == index.check()


def test_a_source_is_added_in_batches_and_its_columns_are_found(where, tmp_path):
    """From a table and from a file; what cannot be read is counted."""
    table = pa.table({"id": ["a", "b"], "text": [ROSE, OTHER], "url": ["https://example.org/a", None]})
    file = tmp_path / "more.jsonl"
    file.write_text('{"id": "c", "text": "' + EDITED + '"}\nnot json\n')
    with ns.Index.create(where, method=ALL) as index:
        assert ["a", "b"] == [each.id for each in index.add(table)]
        [batch] = index.add_batches(str(file))
        assert [("c", ["a"])] == [(each.id, [match.id for match in each.matches]) for each in batch]
        assert 1 == len(index.skipped)
        assert "https://example.org/a" == index.get("a").url
        [(ids, found)] = index.query_batches(table)
        assert ["a", "b"] == ids
        assert [["a", "c"], ["b"]] == [[match.id for match in matches] for matches in found]


@pytest.mark.parametrize("store", ["shingles", "sketch", "text"])
def test_an_index_built_from_a_source_is_the_one_that_adding_makes(tmp_path, store, monkeypatch):
    """The same documents, keys, groups and answers; of the same id the first. However little memory there is."""
    for name, value in {"_LEAST_RUN": 300, "_LEAST_READ": 20}.items():
        monkeypatch.setattr(gathering, name, value)
    monkeypatch.setattr(sourced, "BATCH_ROWS", 16)
    rng = np.random.default_rng(1)
    words = [f"w{n}" for n in range(50)]
    texts = []
    for _ in range(120):
        base = (
            texts[rng.integers(len(texts))].split() if texts and rng.random() < 0.6 else rng.choice(words, 60).tolist()
        )
        for _ in range(rng.integers(0, 3)):
            base[rng.integers(len(base))] = str(rng.choice(words))
        texts.append(" ".join(base))
    documents = [{"id": str(n), "text": text} for n, text in enumerate(texts)]
    built = ns.Index.create(tmp_path / "built", source=[*documents, documents[0]], store=store, memory=least_memory(1))
    added = ns.Index.create(tmp_path / "added", store=store)
    for document in documents:
        added.add(document)
    with built, added:
        assert [] == built.check()
        assert [] == added.check()
        assert 1 == len(built.skipped)
        assert added.clusters(limit=100) == built.clusters(limit=100)
        assert len(added.clusters(limit=100)) > 10
        assert [index.query(texts, limit=50) for index in (added, added)] == [
            index.query(texts, limit=50) for index in (built, added)
        ]


def test_estimates_say_so_and_agree_with_dedup(where):
    """With only a sketch stored, similarity is the share of equal values."""
    recipe = ns.MinHash(verify="estimate")
    with ns.Index.create(where, method="minhash", store="sketch") as index:
        index.add({"id": "a", "text": ROSE})
        [match] = index.query(EDITED)
        entry = index.get("a")
    [pair] = ns.pairs([ROSE, EDITED], method=recipe).table.to_pylist()
    assert ("estimated", pair["similarity"]) == (match.measure, match.similarity)
    assert 128 == len(entry.sketch)
    assert entry.num_features is None


def test_a_precomputed_sketch_or_features_find_what_the_text_does(where, tmp_path):
    """A signature is looked up on any index, and added to one of sketches; features take the place of shingles."""
    exact = ns.Index.create(where, method="minhash")
    items = ns.explain(ROSE, method=ns.MinHash()).answer["signature"]
    with exact, ns.Index.create(tmp_path / "sketches", method="minhash", store="sketch") as sketches:
        exact.add([{"id": "text", "text": ROSE}, {"id": "list", "features": ["red", "green", "blue"]}])
        assert [("text", 1.0, "estimated")] == [
            (match.id, match.similarity, match.measure) for match in exact.query({"sketch": items})
        ]
        assert ["list"] == [match.id for match in exact.query({"features": ["blue", "green", "red"]})]
        sketches.add({"id": "sketch", "sketch": items})
        assert ["sketch"] == [match.id for match in sketches.query(ROSE)]
        with pytest.raises(ns.ConfigError, match="is a sketch, and an index with store=shingles compares exactly"):
            exact.add({"id": "x", "sketch": items})
        with pytest.raises(ns.ConfigError, match="a sketch of 3 values, where the recipe has num_perm=128"):
            exact.query({"sketch": [1, 2, 3]})


def test_ready_items_and_sketches_are_numbers_of_64_bits(where):
    """With a sign or without; a list of anything else is refused, not rounded or cut."""
    signature = [int(value, 16) for value in ns.explain(ROSE, method=ns.MinHash()).answer["signature"]]
    most = [1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    with ns.Index.create(where, method="minhash") as index:
        index.add([{"id": "text", "text": ROSE}, {"id": "list", "features": most}])
        for values in (signature, np.array(signature, np.uint64), np.array(signature, np.uint64).view(np.int64)):
            assert ["text"] == [match.id for match in index.query({"sketch": values})]
        for values in (most, most[::-1] + most, np.array(most, np.uint64), [1, (1 << 63) - 1, -1 << 63, -1]):
            assert [("list", 1.0)] == [(match.id, match.similarity) for match in index.query({"features": values})]
        for wrong in ([1 << 64], [(-1 << 63) - 1], [1.0], [1, "2"], [True], [None], [b"a"], [np.float64(1)]):
            with pytest.raises(ns.ConfigError, match=r"more than 64 bits|all of one kind"):
                index.query({"features": wrong})
        for sketch in (["zz"] * 128, ["-1"] * 128, ["f" * 17] * 128):
            with pytest.raises(ns.ConfigError, match="is not a number of 64 bits in hexadecimal"):
                index.query({"sketch": sketch})


def test_another_threshold_may_be_asked_for_and_what_a_lower_one_misses_is_told(where):
    """By the formula of the bands; what the keys say nothing about is refused."""
    with ns.Index.create(where, method=ns.MinHash(bands=16, rows=6)) as index:
        index.add({"id": "a", "text": ROSE})
        assert ["a"] == [match.id for match in index.query(EDITED, threshold=0.9)]
        assert [] == index.query(EDITED, threshold=0.99)
        assert index.query(EDITED, threshold=0.9).recall is None
        lower = index.query(f"{EDITED} and tomorrow", threshold=0.5)
        assert (["a"], pytest.approx(1 - (1 - 0.5**6) ** 16)) == ([match.id for match in lower], lower.recall)
    method = ns.SimHash(confirm="jaccard")
    with (
        ns.Index.create(where, method=method, overwrite=True) as index,
        pytest.raises(ns.ConfigError, match=r"threshold=0\.5 is below 0\.8"),
    ):
        index.query(EDITED, threshold=0.5)


def test_of_codes_beyond_the_index_as_many_are_found_as_it_says(tmp_path):
    """The chance that bits anywhere leave a header untouched, counted over all ways to choose them."""
    recipe = ns.SimHash(bits=32, k=2, blocks=4, header=2)
    with ns.Index.create(tmp_path / "codes.ns", method=recipe) as index:
        recall = index.query("any", threshold=29 / 32).recall
    blocks = [bit // 8 for bit in range(32)]
    ways = list(combinations(blocks, 3))
    assert pytest.approx(sum(len(set(way)) <= 2 for way in ways) / len(ways)) == recall


def test_columns_are_kept_and_choose_what_is_found(where):
    """Of a source and of documents at hand; numbers go by value, what is missing is empty."""
    source = [
        {"id": "a", "text": ROSE, "lang": "en", "year": 9},
        {"id": "b", "text": EDITED, "lang": "de", "year": 10},
        {"id": "c", "text": ROSE, "lang": None, "year": None},
    ]
    with ns.Index.create(where, keep_columns="lang, year", source=source) as index:
        index.add({"id": "d", "text": ROSE, "columns": {"lang": "en|x", "year": 10.5}})
        for condition, ids in [
            ("lang=en", ["a"]),
            ("lang=en|de", ["a", "b"]),
            ("lang!=en", ["c", "d", "b"]),
            ("year >= 10", ["d", "b"]),
            (["year<10.5", "lang!=de"], ["a"]),
            ({"lang": ["en|x", "fr"]}, ["d"]),
            ({"year": 9}, ["a"]),
            ("lang=", ["c"]),
        ]:
            assert ids == [match.id for match in index.query(ROSE, where=condition)]
        assert ["b"] == [match.id for match in index.duplicates("a", where="lang=de")]
        assert {"lang": "en|x", "year": "10.5"} == index.get("d").columns
        assert ["present", "conflict", "replaced"] == [
            index.add({"id": "b", "text": EDITED, "lang": lang, "year": 10}, replace=replace)[0].status
            for lang, replace in [("de", False), ("en", False), ("en", True)]
        ]
        assert (("lang", "year"), []) == (index.stats().columns, index.check())


def test_what_cannot_be_kept_or_asked_of_columns_is_refused(where, tmp_path):
    """With its name; no index is made of a source that lacks a column."""
    for wrong, message in [
        ("url", "keep_columns=url: an index has a place of its own"),
        ("a,a", "keep_columns=a is given twice"),
        ("a<b", "keep_columns='a<b' is no name"),
        ("lnag", "no document has a column 'lnag' with a text"),
    ]:
        with pytest.raises(ns.NearSameError, match=message):
            ns.Index.create(where, keep_columns=wrong, source=[{"id": "a", "text": ROSE, "lang": "en"}])
    with ns.Index.create(where, keep_columns="lang") as index:
        for call, message in [
            (lambda: index.query(ROSE, where="lnag=en"), "keeps no column 'lnag'"),
            (lambda: index.query(ROSE, where="lang"), "where='lang' is no condition"),
            (lambda: index.query(ROSE, where=" " * 100_000), "where='  .*… is no condition"),
            (lambda: index.query(ROSE, where=" =en"), "where=' =en' is no condition"),
            (lambda: index.query(ROSE, where=3), "where must be"),
            (lambda: index.query(ROSE, where={"lang": [[3]]}), "lang must be a text or a number"),
            (lambda: index.add({"text": ROSE, "columns": {"lnag": "en"}}), "keeps no column 'lnag'"),
            (lambda: index.add({"text": ROSE, "lang": ["en"]}), "lang must be a text or a number"),
            (lambda: index.add({"text": ROSE, "lang": "\ud800"}), "no store can keep"),
        ]:
            with pytest.raises(ns.ConfigError, match=message):
                call()


def test_columns_leave_with_their_documents_and_come_back(tmp_path):
    """An export is a source that has them; a copy for another version keeps them."""
    source = [{"id": "a", "text": ROSE, "lang": "en"}, {"id": "b", "text": OTHER}]
    made = {"keep_columns": "lang", "store": "text"}
    with ns.Index.create(tmp_path / "a.ns", **made, source=source) as index:
        for ending in ("jsonl", "parquet"):
            index.export(tmp_path / f"out.{ending}")
            copied = str(tmp_path / f"out.{ending}")
            with ns.Index.create(tmp_path / "b.ns", **made, source=copied, overwrite=True) as copy:
                assert [index.get(id_) for id_ in "ab"] == [copy.get(id_) for id_ in "ab"]


def test_what_cannot_be_is_refused_by_name(where, tmp_path):
    """Each with its value."""
    for wrong, message in [
        ({"method": "jaccard"}, "method='jaccard' is not one of minhash, simhash, digest, url"),
        ({"method": ["url", "url"]}, "method=url is given twice"),
        ({"method": []}, "an index needs a method"),
        ({"store": "all"}, "store='all' is not one of shingles, sketch, text"),
        ({"method": ns.SimHash(weights="tfidf")}, "weights=tfidf needs all documents at once"),
        ({"method": ns.MinHash(drop_boilerplate=3)}, "drop_boilerplate=3 is about a corpus"),
        ({"method": ns.Digest(algorithm="crc32")}, "algorithm=crc32 can collide"),
    ]:
        with pytest.raises(ns.ConfigError, match=message):
            ns.Index.create(where, **wrong)
    assert [] == list(tmp_path.iterdir())
    with ns.Index.create(where) as index:
        for document in ({"id": "a"}, 3, {"id": True, "text": "a"}, {"id": "a\0", "text": "a"}, {"text": 3}, b"a"):
            with pytest.raises((ns.ConfigError, ns.SourceError)):
                index.add(document)
        with pytest.raises(ns.UnknownIdError, match="has no document 'nobody'"):
            index.get("nobody")
        with pytest.raises(ns.UnknownIdError, match=r"has no document 'x' and 1 other$"):
            index.remove(["x", "y"], missing_ok=False)
        with pytest.raises(ns.ConfigError, match="if_new and replace exclude each other"):
            index.add("a", if_new=True, replace=True)
        with pytest.raises(ns.ConfigError, match="stores shingles, not texts"):
            index.text("a")
        assert 0 == index.stats().documents


def test_what_is_no_index_is_said(tmp_path):
    """No file, another kind of file, an index that is there already, one that may only be read."""
    where = tmp_path / "seen.ns"
    with pytest.raises(ns.StoreError, match=r"seen\.ns does not exist"):
        ns.Index.open(where)
    where.write_text("nothing of the kind, and longer than a header")
    with pytest.raises(ns.StoreError, match="file is not a database"):
        ns.Index.open(where)
    with pytest.raises(ns.StoreError, match=r"seen\.ns exists, and is not an index"):
        ns.Index.create(where)
    where.unlink()
    with ns.Index.create(where) as index:
        index.add({"id": "a", "text": ROSE})
    with ns.Index.open(where, read_only=True) as index:
        assert ["a"] == [match.id for match in index.query(ROSE)]
        with pytest.raises(ns.ConfigError, match="was opened read-only"):
            index.add("b")
    with pytest.raises(ns.StoreError, match="No such file"):
        ns.Index.create(tmp_path / "nowhere" / "x.ns")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_everything_is_exported_and_goes_into_another_index(tmp_path, ending):
    """Texts where they are stored; the copy answers as the original does."""
    with ns.Index.create(tmp_path / "a.ns", method=ALL, store="text") as index:
        index.add([{"id": "a", "text": ROSE, "url": "https://example.org/"}, {"id": "b", "text": OTHER}])
        assert 2 == index.export(tmp_path / f"out.{ending}")
        with pytest.raises(ns.OutputError):
            index.export(tmp_path / f"out.{ending}")
        with ns.Index.create(
            tmp_path / "b.ns", method=ALL, store="text", source=str(tmp_path / f"out.{ending}")
        ) as copy:
            assert list(index.ids()) == list(copy.ids())
            assert index.query(EDITED) == copy.query(EDITED)
            assert ROSE == copy.text("a")


@pytest.mark.parametrize("first", ["", "...", ROSE])
def test_an_export_has_all_columns_whatever_its_first_document_has(tmp_path, first):
    """Digests stood in none where the first document, by id, had nothing to be digested."""
    with ns.Index.create(tmp_path / "a.ns", method=ALL, keep_columns="lang") as index:
        index.add([{"id": "a", "text": first}, {"id": "b", "text": OTHER, "lang": "en"}])
        index.export(tmp_path / "out.parquet")
        index.export(tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    table = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert lines == [{name: value for name, value in row.items() if value is not None} for row in table]
    assert [name for name in table[1] if "_of_" in name]
    for name in table[0]:
        with pytest.raises(ns.ConfigError, match="a place of its own" if name != "lang" else "lang is given twice"):
            ns.Index.create(tmp_path / "b.ns", method=ALL, keep_columns=["lang", name])


def test_halves_of_pairs_are_exported_as_escapes_and_by_no_table(tmp_path):
    """What stands in a file of lines is UTF-8; Parquet has no such texts, and says so."""
    text = f"{ROSE} \ud800"
    with ns.Index.create(tmp_path / "a.ns", store="text") as index:
        index.add([{"id": "a", "text": text}, {"id": "b", "text": "\xe4"}])
        index.export(tmp_path / "out.jsonl")
        assert [text, "\xe4"] == [
            json.loads(line)["text"] for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
        ]
        with pytest.raises(ns.ConfigError, match=r"half of a pair of surrogates .*ud800.*, which Parquet"):
            index.export(tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_an_index_may_be_asked_and_changed_while_its_ids_are_read(where):
    """Nothing is held open between two of them."""
    with ns.Index.create(where) as index:
        index.add([{"id": "a", "text": ROSE}, {"id": "b", "text": EDITED}])
        assert [["b"], ["a"]] == [[match.id for match in index.duplicates(each)] for each in index.ids()]
        for each in index.ids():
            index.remove(each)
        assert [] == list(index.ids())


@pytest.mark.slow
def test_an_index_of_a_real_corpus_has_the_pairs_that_a_run_lists(where, data_dir):
    """The same bands, the same similarities: every pair, and no other."""
    source = str(next((data_dir / "docs").glob("redis-valkey-docs.docs.jsonl.*")))
    listed = ns.pairs(source, method=ns.MinHash()).table.select(["a_id", "b_id", "similarity"]).to_pylist()
    expected = {(frozenset([each["a_id"], each["b_id"]]), each["similarity"]) for each in listed}
    with ns.Index.create(where, method="minhash", source=source) as index:
        pairs = ((one, match) for one in index.ids() for match in index.duplicates(one, limit=100))
        assert expected == {(frozenset([one, match.id]), match.similarity) for one, match in pairs}
    assert expected


REPLACED = [
    (None, {}, {"url": "https://example.org/new"}),
    ("minhash", {}, {"text": "A Rose Is a rose is a rose is a rose"}),
    ("minhash", {"store": "text"}, {"text": "A Rose Is a rose is a rose is a rose"}),
    (None, {}, {"text": "A Rose Is a rose is a rose is a rose"}),
    ("simhash", {}, {"text": "rose rose rose rose is is is a a a a"}),
    ("minhash", {"store": "sketch"}, {"url": None}),
]


@pytest.mark.parametrize(("method", "settings", "change"), REPLACED)
def test_replacing_drops_no_change(tmp_path, method, settings, change):
    """What the methods compare by may be equal: another address or text is another document."""
    old = {"id": "x", "text": "a rose is a rose is a rose is a rose", "url": "https://example.org/old"}
    new = {**old, **change}
    with ns.Index.create(tmp_path / "x.ns", method=method, **settings) as index:
        index.add(old)
        assert "replaced" == index.add(new, replace=True)[0].status
        assert new["url"] == index.get("x").url
        if settings.get("store") == "text":
            assert new["text"] == index.text("x")
        if "url" in change or method is None or settings.get("store") == "text":
            assert "conflict" == index.add(old)[0].status
        assert "present" == index.add(new)[0].status
        assert [] == index.check()


def test_replacing_by_the_same_changes_nothing(tmp_path):
    """Where the text or a digest of its bytes is stored, that is known."""
    document = {"id": "x", "text": "a rose is a rose", "url": "https://example.org/"}
    for method, store in ((None, "shingles"), ("minhash", "text")):
        with ns.Index.create(tmp_path / f"{store}.ns", method=method, store=store) as index:
            index.add(document)
            assert "present" == index.add(document, replace=True)[0].status


def versions(number: int) -> list[dict[str, str]]:
    """Documents of one address that resemble the last one more and more."""
    words = [f"w{n}" for n in range(60)]
    url = "https://example.org/page"
    return [
        {"id": f"v{n}", "url": url, "text": " ".join([*words[: 4 * n], *(f"v{n}w{k}" for k in range(60 - 4 * n))])}
        for n in range(number)
    ]


@pytest.mark.parametrize("store", ["shingles", "sketch"])
def test_the_best_of_one_address_are_the_best(tmp_path, store):
    """Not the oldest: ranked before they are cut, in a query and of a batch that is added."""
    method = [ns.MinHash(shingle_size=1), "url"]
    with ns.Index.create(tmp_path / "x.ns", method=method, store=store) as index:
        given = versions(14)
        asked = {"text": " ".join(f"w{n}" for n in range(60)), "url": given[0]["url"]}
        together = index.add([*given, {"id": "last", **asked}], limit=3)[-1].matches
        index.remove("last")
        every = index.query(asked, limit=100)
        assert 14 == len(every)
        assert [match.id for match in every[:3]] == [match.id for match in index.query(asked, limit=3)]
        assert [match.id for match in every[:3]] == [match.id for match in together]
        assert [match.id for match in every[:3]] == [
            match.id for match in index.add({"id": "y", **asked}, limit=3)[0].matches
        ]
        assert ["v13", "v12", "v11"] == [match.id for match in every[:3]]


def test_the_best_of_one_code_are_the_best(tmp_path):
    """Documents of the same words in another order have one SimHash code, and are ranked by their shingles."""
    words = [f"w{n}" for n in range(40)]
    texts = [" ".join(words[n:] + words[:n][::-1]) for n in (39, 30, 20, 10, 5, 2)]
    method = [ns.MinHash(shingle_size=3, threshold=0.9), ns.SimHash()]
    with ns.Index.create(tmp_path / "x.ns", method=method) as index:
        index.add([{"id": f"d{n}", "text": text} for n, text in enumerate(texts)])
        every = index.query(" ".join(words), limit=100)
        assert 6 == len(every)
        assert [(match.id, match.similarity) for match in every[:2]] == [
            (match.id, match.similarity) for match in index.query(" ".join(words), limit=2)
        ]
        assert "d5" == every[0].id


def test_equal_texts_are_read_as_often_as_they_are_asked_for(tmp_path, monkeypatch):
    """Of many copies no more than the limit: equal words have equal shingles, so the oldest are the best."""
    with ns.Index.create(tmp_path / "x.ns") as index:
        index.add([{"id": f"c{n}", "text": "one error page and nothing else on it"} for n in range(500)], matches=False)
        reading, read = index._store.reading, []

        @contextmanager
        def counted():
            with reading() as reader:
                rows = reader.rows
                monkeypatch.setattr(
                    reader, "rows", lambda numbers, **more: read.append(list(numbers)) or rows(read[-1], **more)
                )
                yield reader

        monkeypatch.setattr(index._store, "reading", counted)
        assert 5 == len(index.query("one error page and nothing else on it", limit=5))
    assert sum(map(len, read)) <= 15


@pytest.mark.parametrize("id_", ["\ud800", "a\udcff", "a\0"])
def test_an_id_that_no_store_can_keep_is_unknown(id_, tmp_path):
    """And asking for it is answered as for any other that is not there."""
    with ns.Index.create(tmp_path / "seen.ns", store="text") as index:
        index.add({"id": "a", "text": ROSE})
        for ask in (
            *(index.get, index.text, index.duplicates, lambda id_: index.compare("a", id_)),
            lambda id_: index.remove(id_, missing_ok=False),
        ):
            with pytest.raises(ns.UnknownIdError, match="has no document"):
                ask(id_)
        assert 1 == index.remove([id_, "a"])


def test_an_index_goes_by_no_guess_about_a_url(where):
    """What it calls one page by the URL alone is kept out with `if_new`, and would be lost."""
    pages = [
        {"id": "a", "text": ROSE, "url": "https://example.org/index.php"},
        {"id": "b", "text": OTHER, "url": "https://example.org/"},
        {"id": "c", "text": EDITED, "url": "http://example.org/#top"},
    ]
    with ns.Index.create(where, method=ns.CanonicalUrl()) as index:
        assert ["added", "added", "resembles"] == [each.status for each in index.add(pages, if_new=True)]
    with ns.Index.open(where, expect=ns.CanonicalUrl()) as index:
        assert ["b"] == [match.id for match in index.query({"url": "https://example.org/?utm_id=1"})]


def test_ids_are_listed_from_where_the_last_list_ended(where):
    """In the order in which documents were added; what came meanwhile stands at the end, and what went is left out."""
    with ns.Index.create(where) as index:
        index.add([{"id": f"id-{n}", "text": f"text {n}"} for n in range(300)])
        assert [f"id-{n}" for n in range(300)] == list(index.ids())
        first = list(index.ids(limit=7))
        assert [f"id-{n}" for n in range(7)] == first
        index.remove("id-8")
        index.add({"id": "a", "text": "one more"})
        rest = list(index.ids(after=first[-1]))
        assert ["id-7", *(f"id-{n}" for n in range(9, 300)), "a"] == rest
        assert ["id-299", "a"] == list(index.ids(after="id-298", limit=5))
        assert [] == list(index.ids(after="a"))
        with pytest.raises(ns.UnknownIdError, match="id-8"):
            index.ids(after="id-8")
        for none in (
            "a\0",
            "\ud800",
            " ".join(f"w{n}" for n in range(500)),
        ):  # no document can have those, none has these
            assert [] == list(index.ids(containing=none))
        with pytest.raises(ns.ConfigError, match="501 words"):
            index.ids(containing=" ".join(f"w{n}" for n in range(501)))
        with pytest.raises(ns.ConfigError, match="limit"):
            index.ids(limit=0)


def test_an_index_is_not_made_of_a_path(tmp_path):
    """Who tries it is told what opens one."""
    with pytest.raises(ns.ConfigError, match=r"is opened by Index\.open") as refused:
        ns.Index(tmp_path / "seen.ns")
    assert "Index.open(PATH)" in str(refused.value.hint)


def test_a_text_without_tokens_is_stored_the_same_alone_and_in_company(where):
    """One text is digested only if it has no tokens, several are at once: what they are compared by does not tell."""
    marks = ["…!", "—", "…!?", ""]
    with ns.Index.create(where) as index:
        index.add([{"id": f"together-{at}", "text": text} for at, text in enumerate([ROSE, *marks])])
        for at, text in enumerate([ROSE, *marks]):
            index.add({"id": f"alone-{at}", "text": text})
            both = [] if not text else [f"together-{at}", f"alone-{at}"]
            assert both == [match.id for match in index.query(text)]
        assert [] == index.check()


@pytest.mark.parametrize(
    "method",
    [
        ["minhash", "digest", "url"],
        ["digest", "simhash"],
        ["digest", "url"],
        [ns.MinHash(unit="chars"), ns.Digest(), ns.Digest(normalise=True)],
        [ns.SimHash(confirm="jaccard"), ns.MinHash(), ns.Digest(normalise=True)],
    ],
)
def test_what_one_method_finds_by_another_is_found_and_told_all_the_same(tmp_path, method, monkeypatch):
    """Copies by each method, texts without tokens, an edit, addresses; few of many, all together and one by one."""
    texts = [ROSE, ROSE.upper(), f"{ROSE}!", EDITED, "?!", "?!", "...", "", ROSE, f"{ROSE} and {EDITED}", "else"]
    stored = [{"id": f"{at}", "text": text, "url": f"https://e.org/{at % 3}"} for at, text in enumerate(texts * 2)]
    asked = [*stored, {"text": "new to all of them"}, {"url": "https://e.org/1"}]
    with ns.Index.create(tmp_path / "a.ns", method=method, source=stored) as index:

        def found() -> list[object]:
            single = [index.query(document, limit=limit) for document in asked for limit in (1, 3, 50)]
            each = [*single, *index.query(asked, limit=5), *(index.duplicates(one["id"], limit=4) for one in stored)]
            return [(list(matches), matches.complete, matches.recall) for matches in each]

        by_few = found()
        monkeypatch.setattr(asking.Wanting, "searched", property(lambda wanted: range(len(wanted.facets))))
        assert by_few == found()
        assert any(matches for matches, _, _ in by_few)


def test_a_question_looks_up_no_key_of_a_digest_where_sets_have_one(tmp_path, monkeypatch):
    """Equal texts have equal sets: of each document the key of its set and the bands; a copy is told by all methods."""
    sizes = []
    postings = sqlite_rows.Transaction.postings
    monkeypatch.setattr(
        sqlite_rows.Transaction,
        "postings",
        lambda self, keys, most: sizes.append(keys.size) or postings(self, keys, most),
    )
    with ns.Index.create(tmp_path / "a.ns", method=[ns.MinHash(bands=16, rows=6), "digest"]) as index:
        index.add({"id": "a", "text": ROSE})
        sizes.clear()
        assert [] == index.query("nothing that is there has anything in common with this")
        assert [1 + 16] == sizes
        assert ("minhash", "bytes", "text") == index.query(ROSE)[0].found_by


def test_a_question_digests_a_text_only_where_something_is_equal_to_it(tmp_path, monkeypatch):
    """What is not equal as a set is not equal as a text."""
    digested = []
    items = DigestFacet.items
    monkeypatch.setattr(DigestFacet, "items", lambda self, inputs: digested.append(self) or items(self, inputs))
    with ns.Index.create(tmp_path / "a.ns", method=[ns.MinHash(threshold=0.3), "digest"]) as index:
        index.add({"id": "a", "text": ROSE})
        digested.clear()
        assert [] == index.query("nothing that is there has anything in common with this")
        assert ["a"] == [match.id for match in index.query(EDITED)]
        assert not digested
        assert ("minhash", "bytes", "text") == index.query(ROSE)[0].found_by
        assert len(digested) == 2


def test_whole_numbers_of_columns_are_compared_with_all_their_digits(tmp_path):
    """As nanoseconds and ids of 64 bits have them; what is no number is a text."""
    numbers = {"a": 1_700_000_000_000_000_001, "b": 1_700_000_000_000_000_000, "c": 0.1, "d": "nan", "e": "1_0"}
    given = {**numbers, "f": "1e999999999"}
    source = [{"id": name, "text": ROSE, "n": str(value)} for name, value in given.items()]
    with ns.Index.create(tmp_path / "a.ns", source=source, keep_columns="n") as index:
        for condition, expected in {
            "n>1700000000000000000": {"a"},
            "n<1700000000000000001": {"b", "c"},
            "n<=1700000000000000000": {"b", "c"},
            "n>= 1.700000000000000001e18 ": {"a"},
            "n<0.09999999999999999": set(),
            "n<=0.1": {"c"},
            "n<5": {"c"},
        }.items():
            found = {match.id for match in index.query(ROSE, where=condition)} & {"a", "b", "c"}
            assert (condition, expected) == (condition, found)


@pytest.mark.parametrize("store", ["shingles", "sketch"])
def test_a_method_that_can_make_no_keys_makes_no_index(tmp_path, store):
    """It is refused before anything is there, or what was there is replaced."""
    place = tmp_path / "low.ns"
    with pytest.raises(ns.ConfigError, match="cannot be reached"):
        ns.Index.create(place, method=ns.MinHash(threshold=0.01), store=store)
    assert [] == list(tmp_path.iterdir())
    ns.Index.create(place).close()
    with pytest.raises(ns.ConfigError, match="cannot be reached"):
        ns.Index.create(place, method=["digest", ns.MinHash(threshold=0.01)], store=store, overwrite=True)
    assert 0.8 == ns.Index.open(place).stats().methods[0]["threshold"]


@pytest.mark.parametrize("store", ["shingles", "text", "sketch"])
def test_a_url_beside_a_sketch_is_not_passed_over(where, store):
    """Where a sketch is asked about by itself, both are refused; where it is not, either finds."""
    items = ns.explain(ROSE, method=ns.MinHash()).answer["signature"]
    with ns.Index.create(where, method=["minhash", "url"], store=store) as index:
        index.add([{"id": "rose", "text": ROSE}, {"id": "other", "text": OTHER, "url": "http://a.example/"}])
        both = {"sketch": items, "url": "http://a.example/"}
        if store == "sketch":
            assert {"rose", "other"} == {match.id for match in index.query(both)}
        else:
            for asked in (both, [ROSE, both]):
                with pytest.raises(ns.ConfigError, match="a sketch and a url are asked about apart"):
                    index.query(asked)
            assert [["rose"], ["other"]] == [
                [match.id for match in index.query({name: both[name]})] for name in ("sketch", "url")
            ]
    with ns.Index.create(where, method="minhash", store=store, overwrite=True) as index:
        index.add({"id": "rose", "text": ROSE})
        assert ["rose"] == [match.id for match in index.query(both)]
