"""Where all documents share much: time must not grow faster than their number, and the answer must stay the answer.

1. Work is counted in comparisons, not in seconds: per document, as many at 4n as at n.
2. Where no oracle is fast enough, the invariants are checked: every removed document has a kept witness as similar as
   it says, and of the kept ones no two that are looked at are similar.
"""

import random
from fractions import Fraction
from itertools import combinations

import pytest

import nearsame as ns
from bench.boilerplate import CORPORA
from tests.oracle.measures import jaccard
from tests.oracle.shingles import features

T = Fraction(4, 5)
LINEAR = ["template", "half", "just_under", "chain"]
LEFT = {"template": lambda n: 1, "chain": lambda n: n // 2, "half": lambda n: n, "just_under": lambda n: n}
FULL = {"template": 200_000, "half": 100_000, "just_under": 100_000, "chain": 10_000}


def check_invariants(texts: list[str], found: ns.Result, most: int = 60) -> None:
    """Of so many removed documents and so many kept ones."""
    chance = random.Random(0)
    removed = {line["row"]: (line["witness_row"], line["similarity"]) for line in found.removals.to_pylist()}
    for row in chance.sample(sorted(removed), min(most, len(removed))):
        witness, similarity = removed[row]
        assert witness not in removed
        exact = jaccard(features(texts[row]), features(texts[witness]))
        assert exact >= T
        assert float(exact) == similarity
    kept = [row for row in range(len(texts)) if row not in removed]
    sets = [features(texts[row]) for row in chance.sample(kept, min(most, len(kept)))]
    assert [] == [(a, b) for a, b in combinations(sets, 2) if jaccard(a, b) >= T]


@pytest.mark.parametrize("name", LINEAR)
def test_comparisons_grow_with_the_documents(name: str) -> None:
    """A document is compared with few others, however many share its boilerplate."""
    per_document = []
    for num in (500, 2000):
        texts = CORPORA[name](num)
        found = ns.dedup(texts)
        assert LEFT[name](num) == found.stats.kept
        check_invariants(texts, found)
        per_document.append(found.stats.compared / num)
    assert per_document[1] <= 1.1 * per_document[0]
    assert per_document[1] < 6


@pytest.mark.parametrize("name", ["half", "just_under"])
def test_what_all_share_brings_nobody_together(name: str) -> None:
    """Boilerplate of a half, and of 85 % at a similarity of .7: no bucket is left to compare in."""
    assert 0 == ns.dedup(CORPORA[name](1000)).stats.meeting


def test_rare_words_shared_by_keepers_are_what_is_quadratic() -> None:
    """As many comparisons as pairs that share a word: that is what the run foretells, and no cap hides."""
    compared = []
    for num in (300, 1200):
        texts = CORPORA["pools"](num)
        found = ns.dedup(texts, method=ns.Jaccard(shingle_size=1))
        compared.append(found.stats.compared)
    assert compared[1] > 8 * compared[0]


@pytest.mark.threaded
@pytest.mark.parametrize("name", ["template", "chain"])
def test_threads_and_batches_count_the_same_comparisons(name: str) -> None:
    """More blocks than one: the number of comparisons is part of the answer."""
    texts = CORPORA[name](3000)
    found = [ns.dedup(texts, threads=threads, batch_rows=rows) for threads, rows in [(1, 1000), (2, 7), (4, 333)]]
    assert 1 == len({result.stats.compared for result in found})
    assert found[0].removals == found[1].removals == found[2].removals


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", LINEAR)
def test_comparisons_grow_with_the_documents_at_full_size(name: str) -> None:
    """200,000 copies of a template, 100,000 documents of boilerplate, a chain of 10,000."""
    num = FULL[name]
    texts = CORPORA[name](num)
    found = ns.dedup(texts)
    assert LEFT[name](num) == found.stats.kept
    assert found.stats.compared < 6 * num
    check_invariants(texts, found, most=100)
