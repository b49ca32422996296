"""The benchmark's corpus is repeatable, looks like text, and has the near-duplicates that it promises."""

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import corpus, truth

SIZE = 2_000_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """A small corpus in batches of 100 documents, so that even the first tenth has planted ones."""
    return pa.Table.from_batches(corpus.documents(SIZE, batch_rows=100))


@pytest.fixture(scope="module")
def texts(table) -> list[str]:
    """Its texts."""
    return table.column("text").to_pylist()


@pytest.fixture(scope="module")
def origins(table) -> list[int | None]:
    """Of each planted document the one that it was made from."""
    return table.column("origin").to_pylist()


def test_the_same_seed_gives_the_same_corpus(table) -> None:
    """Byte for byte; another seed gives another."""
    again = pa.Table.from_batches(corpus.documents(SIZE, batch_rows=100))
    other = pa.Table.from_batches(corpus.documents(SIZE, batch_rows=100, seed=2))
    assert table.equals(again)
    assert not table.equals(other)


def test_a_shorter_corpus_is_the_beginning_of_a_longer_one(table) -> None:
    """Documents come in a stream; the size only says where it stops."""
    short = pa.Table.from_batches(corpus.documents(SIZE // 3, batch_rows=100))
    assert table[: len(short)].equals(short)


def test_the_size_is_met_by_the_last_document(texts) -> None:
    """The texts have the bytes that were asked for, and would not without the last."""
    sizes = [len(text.encode()) for text in texts]
    assert sum(sizes[:-1]) < SIZE <= sum(sizes)


def test_ids_are_the_numbers_of_the_documents(table) -> None:
    """Which is what `origin` refers to."""
    assert [str(number) for number in range(len(table))] == table.column("id").to_pylist()


def test_an_origin_comes_before_what_is_made_of_it(origins) -> None:
    """And is no planted document itself."""
    made = {number: origin for number, origin in enumerate(origins) if origin is not None}
    assert made
    assert [] == [number for number, origin in made.items() if origin >= number or origin in made]


def test_words_follow_zipf(texts) -> None:
    """The commonest word has some 3 % of all, the tenth some 0.8 %; the hundred commonest less than half."""
    words = re.findall(r"\w+", " ".join(texts).lower())
    counts = np.sort(np.unique(words, return_counts=True)[1])[::-1] / len(words)
    assert 0.02 < counts[0] < 0.04
    assert 0.006 < counts[9] < 0.01
    assert counts[:100].sum() < 0.5


def test_documents_have_about_two_kilobytes(texts) -> None:
    """On average; half of them have less than 1.6."""
    sizes = np.array([len(text.encode()) for text in texts])
    assert 1600 < sizes.mean() < 2400
    assert np.median(sizes) < 1600


def test_texts_are_sentences(texts) -> None:
    """Each begins with a capital and ends with a full stop; paragraphs, commas and letters outside of ASCII occur."""
    short = [text for text in texts if len(text) < 3000]
    assert [] == [text for text in short if not (text[0].isupper() or "." in text.split()[0] or "?" in text.split()[0])]
    assert [] == [text for text in short if not text.endswith(".")]
    assert all(mark in "".join(short) for mark in ("\n\n", ", ", "? ", "é"))


def test_documents_drawn_apart_share_almost_nothing(texts, origins) -> None:
    """Among 400 documents that stand alone no two have a similarity above .05, and few share anything."""
    known = {number for family in truth.families(origins) for number in family}
    alone = [truth.shingles(texts[number]) for number in range(len(texts)) if number not in known][:400]
    shared = [float(truth.jaccard(a, b)) for a, b in combinations(alone, 2)]
    assert max(shared) < 0.05
    assert np.mean(np.array(shared) > 0) < 0.001


def test_planted_documents_cover_the_range(texts, origins) -> None:
    """Similarities to the origin spread from .5 to 1; copies and reworked texts are among them."""
    made = [(number, origin) for number, origin in enumerate(origins) if origin is not None]
    found = np.array([float(truth.jaccard(*map(truth.shingles, (texts[a], texts[b])))) for a, b in made])
    assert 0.9 < np.mean(found >= 0.48)
    assert np.all(np.histogram(found, [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1])[0] > 0)
    assert any(texts[a] == texts[b] for a, b in made)
    assert any(texts[a] != texts[b] for (a, b), similarity in zip(made, found, strict=True) if similarity == 1)


def test_about_one_in_twenty_goes(texts, origins) -> None:
    """At .8, by the slow method."""
    known = truth.truth(texts, origins, Fraction(4, 5))
    assert 0.03 < len(known.expected) / len(texts) < 0.07


@given(num_words=st.integers(20, 5000), similarity=st.floats(0.5, 1), seed=st.integers(0, 100))
def test_an_edit_loses_about_the_shingles_that_it_should(num_words: int, similarity: float, seed: int) -> None:
    """Counted in shingles, the similarity is what was asked for, but for what rounding and a single word are worth."""
    replaced = corpus.edit(np.random.default_rng(seed), num_words, similarity)
    touched = np.convolve(replaced, np.ones(truth.SIZE))[truth.SIZE - 1 : num_words] > 0
    reached = (touched.size - touched.sum()) / (touched.size + touched.sum())
    assert abs(reached - similarity) < 0.08 + 2 * truth.SIZE / touched.size


def test_both_formats_hold_the_same(tmp_path: Path) -> None:
    """Parquet and JSON lines of one seed have the same records."""
    corpus.write(tmp_path / "a.parquet", 50_000, batch_rows=20)
    corpus.write(tmp_path / "a.jsonl", 50_000, batch_rows=20)
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines()
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == [orjson.loads(line) for line in lines]


@pytest.mark.parametrize(("text", "num_bytes"), [("200MB", 200_000_000), ("2gb", 2 * 10**9), ("1.5k", 1500), ("7", 7)])
def test_a_size_is_read(text: str, num_bytes: int) -> None:
    """Decimal units, with or without the B."""
    assert num_bytes == corpus.parse_size(text)


def test_a_perfect_answer_is_judged_perfect(texts, origins) -> None:
    """The slow method's own answer has recall and precision 1."""
    known = truth.truth(texts, origins, Fraction(4, 5))
    witnesses = [(b, next(a for a, c in known.pairs if c == b and a not in known.expected)) for b in known.expected]
    found = truth.judge(texts, known, witnesses)
    assert (1.0, 1.0, 0) == (found.recall, found.precision, found.differing)


def test_misses_and_wrong_removals_count(texts, origins) -> None:
    """A planted pair that stays whole costs recall; a witness that is not similar, or not kept, costs precision."""
    known = truth.truth(texts, origins, Fraction(4, 5))
    alone = [number for number in range(len(texts)) if origins[number] is None and number not in known.expected]
    found = truth.judge(texts, known, [(alone[-1], alone[-2]), (alone[-2], alone[-1])])
    assert (2, 0.0) == (found.wrong, found.precision)
    assert len(known.pairs) == found.pairs
    assert found.recall < 0.1
