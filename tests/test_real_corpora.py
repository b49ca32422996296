r"""Real corpora, with lists of all similar pairs that others' code made: no hashing, no prefixes, no Unicode tables.

1. The lists' tokens are Python's `\w+` of the lower-cased text, in shingles of three. Ours differ on purpose: a
   combining mark is part of its word, a character of a script without spaces is a word, folding is one to one.
2. So pairs of texts of which both make the same tokens agree, all of them, to the last digit of the list; a pair that
   differs has a text with such characters in it, and then ours is what the slow twin says of it.
3. The corpora are not part of the project: without their folder these tests are skipped.
"""

import functools
import io
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import nearsame as ns
from tests.oracle.measures import cosine, jaccard
from tests.oracle.shingles import features
from tests.oracle.tokens import fold, is_mark, is_unseen, is_word, stands_alone

Pairs = dict[tuple[str, str], str]  # similarities with six decimals, as the lists have them

QUICK = [
    ("mccormick-articles-1000", 50),
    ("mccormick-articles-1000", 80),
    ("webis-copycat", 50),
    ("webis-copycat", 80),
    ("irplag-java", 50),
    ("irplag-java", 80),
    ("redis-valkey-docs", 50),
    ("redis-valkey-docs", 80),
    ("react-native-docs", 80),
    ("eips-ercs", 80),
]
MOST_CHECKED = 200  # of the pairs that differ, against the twin, which is slow
SLOW = [
    ("react-native-docs", 50),
    ("eips-ercs", 50),
    ("udhr", 50),
    ("udhr", 80),
    ("apache-manual", 50),
    ("apache-manual", 80),
    ("debian-handbook", 50),
    ("debian-handbook", 80),
    ("tldr-pages", 80),
    ("docs-l10n", 50),
    ("docs-l10n", 80),
    ("debian-installguide", 50),
    ("debian-installguide", 80),
    ("scancode-licences", 80),
    ("msdocs-en", 80),
]


def _lines(path: Path) -> Iterator[str]:
    codec = "gzip" if path.suffix == ".gz" else "zstd"
    with pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, codec) as stream:
        yield from io.TextIOWrapper(stream, encoding="utf-8", newline="\n")


def _documents(data_dir: Path, name: str) -> dict[str, str]:
    path = next((data_dir / "docs").glob(f"{name}.docs.jsonl.*"))
    documents = map(json.loads, _lines(path))
    return {document["id"]: document["text"] for document in documents}


def _listed(data_dir: Path, name: str, percent: int) -> Pairs:
    rows = (line.split() for line in _lines(data_dir / "exact" / f"{name}.pairs{percent}.tsv.gz"))
    return {_pair(a, b): similarity for a, b, similarity in rows if similarity != "jaccard"}


def _table(texts: dict[str, str]) -> pa.Table:
    return pa.table({"id": pa.array(texts, pa.string()), "text": pa.array(texts.values(), pa.large_string())})


def _method(percent: int) -> ns.Jaccard:
    return ns.Jaccard(threshold=f"0.{percent}", shingle_size=3)


def _found(texts: dict[str, str], percent: int) -> Pairs:
    pairs = ns.pairs(_table(texts), method=_method(percent)).table
    columns = [pairs.column(name).to_pylist() for name in ("a_id", "b_id", "similarity")]
    return {_pair(a, b): f"{similarity:.6f}" for a, b, similarity in zip(*columns, strict=True)}


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


@functools.cache
def _is_plain(character: str) -> bool:
    # Whether the lists' definition makes of it what ours does; \u03a3 is small in two ways, by what follows it.
    is_theirs = re.match(r"\w", character) is not None
    folds_alike = fold(character) == character.lower() and character != "\u03a3"
    joins = is_unseen(character) or is_mark(character)  # and parts words in the lists
    return is_theirs == is_word(character) and folds_alike and not stands_alone(character) and not joins


def _is_tokenised_alike(text: str) -> bool:
    characters = set(text)
    return all(map(_is_plain, characters)) and any(map(is_word, characters))


def _check(data_dir: Path, name: str, percent: int) -> None:
    texts = _documents(data_dir, name)
    listed, found = _listed(data_dir, name, percent), _found(texts, percent)
    assert found
    differing = sorted(pair for pair in listed.keys() | found.keys() if listed.get(pair) != found.get(pair))
    alike = {one for one in {one for pair in differing for one in pair} if _is_tokenised_alike(texts[one])}
    assert [] == [(pair, listed.get(pair), found.get(pair)) for pair in differing if alike.issuperset(pair)]
    for pair in differing[:: len(differing) // MOST_CHECKED + 1]:
        similarity = jaccard(*(features(texts[one], size=3) for one in pair))
        expected = f"{float(similarity):.6f}" if similarity >= Fraction(percent, 100) else None
        assert expected == found.get(pair), pair


@pytest.mark.parametrize(("name", "percent"), QUICK)
def test_all_pairs_of_a_real_corpus_are_found(data_dir: Path, name: str, percent: int) -> None:
    """The listed pairs with the listed similarities, and no others."""
    _check(data_dir, name, percent)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "percent"), SLOW)
def test_all_pairs_of_a_large_or_many_scripted_corpus_are_found(data_dir: Path, name: str, percent: int) -> None:
    """The same for the large ones, and those of many languages."""
    _check(data_dir, name, percent)


@pytest.mark.parametrize("name", ["webis-copycat", "irplag-java", "redis-valkey-docs"])
def test_all_pairs_of_a_real_corpus_are_found_by_cosine(data_dir: Path, name: str) -> None:
    """A cosine of c is a Jaccard similarity of c² or more, so a list from .5 on has them all: by sets, one by one."""
    texts = _documents(data_dir, name)
    listed = [pair for pair in _listed(data_dir, name, 50) if all(_is_tokenised_alike(texts[one]) for one in pair)]
    sets = {one: _shingles(texts[one]) for pair in listed for one in pair}
    assert listed
    for threshold in map(Fraction, ("0.75", "0.8", "8/9", "0.95")):
        found = ns.pairs(_table(texts), method=ns.Cosine(threshold=threshold, shingle_size=3)).table
        columns = [found.column(column).to_pylist() for column in ("a_id", "b_id", "similarity")]
        answers = {_pair(a, b): similarity for a, b, similarity in zip(*columns, strict=True)}
        cosines = {(a, b): cosine(sets[a], sets[b], threshold) for a, b in listed}
        expected = {pair: float(value) for pair, value in cosines.items() if value >= threshold}
        known = {one for pair in answers for one in pair if _is_tokenised_alike(texts[one])}
        assert expected == {pair: similarity for pair, similarity in answers.items() if known.issuperset(pair)}


def _shingles(text: str) -> set[tuple[str, ...]]:
    tokens = re.findall(r"\w+", text.lower())
    return {tuple(tokens[at : at + 3]) for at in range(max(1, len(tokens) - 2))}


@pytest.mark.parametrize(("name", "percent"), [("redis-valkey-docs", 50), ("irplag-java", 50), ("irplag-java", 80)])
def test_deduplicating_a_real_corpus_is_greedy_over_its_pairs(data_dir: Path, name: str, percent: int) -> None:
    """A document like a kept one of before goes, by the list of pairs alone; the sets are all of Latin script."""
    texts, listed = _documents(data_dir, name), _listed(data_dir, name, percent)
    kept: list[str] = []
    for one in texts:
        if not any(_pair(one, other) in listed for other in kept):
            kept.append(one)
    found = ns.dedup(_table(texts), method=_method(percent))
    assert kept == found.kept().column("id").to_pylist()
    for line in found.removals.to_pylist():
        assert listed[_pair(line["id"], line["witness_id"])] == f"{line['similarity']:.6f}"
