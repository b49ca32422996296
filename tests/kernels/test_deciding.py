"""Deciding and joining against brute force over the same documents: all measures, any priority, any sharing.

Documents are numbered by priority. Where nothing is known of places (-1), or where places are those of a true
prefix, the answer is the same: filters cost a pair nothing.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels import deciding, scores
from nearsame.kernels.buckets import Members, turn_bits
from nearsame.stages.pairs.measures import bound
from tests.oracle.corpora import thresholds
from tests.oracle.measures import containment, cosine, jaccard

ROOM = 4
PLACES = st.sampled_from([9, 2**31 - 1]).flatmap(
    lambda most: st.integers(1, most).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))
)


@st.composite
def documents(draw):
    """Sets that differ in a few items, by priority, some of them equal."""
    base = draw(st.sets(st.integers(0, 25), min_size=1, max_size=18))
    found = []
    for _ in range(draw(st.integers(0, 10))):
        gone, new = (draw(st.sets(st.integers(0, 25), max_size=5)) for _ in range(2))
        found.append(frozenset(base - gone | new) or frozenset({1}))
    return found


def _entries(docs, listed):
    """Arrays of the entries: listed[d] is [(key, place), …] by ascending place."""
    keys = sorted({key for entries in listed for key, _ in entries})
    flat = [(keys.index(key), place) for entries in listed for key, place in entries]
    doc_starts = np.cumsum([0, *map(len, listed)])
    bucket_starts = np.cumsum([0, *(sum(bucket == b for b, _ in flat) for bucket in range(len(keys)))])
    items = np.array([item for doc in docs for item in sorted(doc)], np.uint64)
    offsets = np.cumsum([0, *map(len, docs)])
    arrays = (
        doc_starts,
        np.array([bucket for bucket, _ in flat], np.int64),
        np.array([place for _, place in flat], np.int32),
        bucket_starts,
    )
    for array in (*arrays, items, offsets):
        array.flags.writeable = False
    return arrays, items, offsets


def _fresh(entries, items, offsets, words=0):
    """Nobody yet; with so many words of bits for each document."""
    fill, three = np.zeros(entries[3].size - 1, np.int64), np.zeros((3, entries[1].size), np.int32)
    bits = np.full((offsets.size - 1, words), 77, np.uint64)
    turn_bits(items, offsets, bits)
    return Members(*entries, fill, *three, bits)


def _words(data, measure):
    """Bits are for sets of items; those of "equal" are sets too, and have none in a run."""
    return 0 if measure == "equal" else data.draw(st.sampled_from([0, 1, 2]))


def _everything(docs):
    """Every item is a key, without a place."""
    return [[(item, -1) for item in sorted(doc)] for doc in docs]


def _prefixes(docs, threshold):
    """The prefix of each, in the order of (how many have it, its number); what only one has is left out."""
    counts = {item: sum(item in doc for doc in docs) for doc in docs for item in doc}
    listed = []
    for doc in docs:
        ordered = sorted(doc, key=lambda item: (counts[item], item))
        length = len(doc) + 1 + (-threshold * len(doc)).__floor__()
        listed.append([(item, place) for place, item in enumerate(ordered[:length]) if counts[item] > 1])
    return listed


def _places(docs):
    """Every item with its place in that order: what containment offers."""
    return _prefixes(docs, Fraction(0))


MEASURES = {
    "jaccard": (scores.JACCARD, lambda a, b, _: jaccard(a, b), _prefixes),
    "jaccard by any key": (scores.JACCARD, lambda a, b, _: jaccard(a, b), lambda docs, _: _everything(docs)),
    "cosine": (scores.COSINE, cosine, lambda docs, threshold: _prefixes(docs, threshold**2)),
    "cosine by any key": (scores.COSINE, cosine, lambda docs, _: _everything(docs)),
    "containment": (scores.CONTAINMENT, lambda a, b, _: containment(a, b), lambda docs, _: _places(docs)),
    "container": (scores.CONTAINER, lambda a, b, _: containment(b, a), lambda docs, _: _places(docs)),
    "equal": (scores.EQUAL, lambda a, b, _: Fraction(a == b), lambda docs, _: _everything(docs)),
}


def _share(measure, docs, d, c, threshold):
    """The similarity of d with c, an earlier one, where a threshold is asked for."""
    return MEASURES[measure][1](docs[d], docs[c], threshold)


def _greedy(measure, docs, threshold, num_against, within):
    keepers, removed = [], {}
    for d in range(len(docs)):
        known = [(_share(measure, docs, d, c, threshold), c) for c in keepers]
        alike = [(value, c) for value, c in known if value >= threshold]
        if d < num_against:
            keepers.append(d)
        elif alike:
            removed[d] = max(alike, key=lambda pair: (pair[0], -pair[1]))
        elif within:
            keepers.append(d)
    return removed


def _by_size(measure, docs):
    """As priority has it: for containment the larger come first."""
    return docs if measure[:7] != "contain" else sorted(docs, key=lambda doc: -len(doc))


@pytest.mark.parametrize("measure", MEASURES)
@given(docs=documents(), threshold=thresholds(), num_against=st.integers(0, 4), within=st.booleans(), data=st.data())
def test_greedy_is_brute_force(*, measure, docs, threshold, num_against, within, data):
    """Block by block, of any size, probed in any pieces: who goes, for whom, and how similar they are."""
    exact = Fraction(threshold) if measure != "equal" else Fraction(1)
    num_against = min(num_against, len(docs))
    docs = [*_by_size(measure, docs[:num_against]), *_by_size(measure, docs[num_against:])]
    if measure == "container":  # within one side a container is never asked for
        within = False
    kind, _, listing = MEASURES[measure]
    entries, items, offsets = _entries(docs, listing(docs, exact))
    shared = (_fresh(entries, items, offsets, _words(data, measure)), items, offsets, bound(kind, exact))
    n, work = len(docs), deciding.Work.room()
    removed, stamps = np.zeros(n, np.bool_), np.zeros(n, np.int32)
    deciding.settle(0, num_against, num_against, within, *shared, stamps, removed, work)
    low = num_against
    while low < n:
        high = data.draw(st.integers(low + 1, n))
        middle = data.draw(st.integers(low, high))
        probing = np.zeros(n, np.int32)
        deciding.probe(middle, high, *shared, np.zeros(n, np.int32), removed, work)
        deciding.probe(low, middle, *shared, probing, removed, work)
        deciding.settle(low, high, num_against, within, *shared, stamps, removed, work)
        low = high
    best, nums, dens = (np.empty(n, np.int64) for _ in range(3))
    middle = data.draw(st.integers(0, n))
    for part in ((middle, n), (0, middle)):
        deciding.witness(*part, *shared, np.zeros(n, np.int32), removed, deciding.Best(best, nums, dens), work)
    found = {d: (Fraction(int(nums[d]), int(dens[d])), int(best[d])) for d in range(n) if removed[d]}
    assert _greedy(measure, docs, exact, num_against, within) == found
    assert [-1] * (n - len(found)) == [int(best[d]) for d in range(n) if not removed[d]]


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "container"])
@given(docs=documents(), threshold=thresholds(), data=st.data())
def test_all_pairs_are_those_of_brute_force(measure, docs, threshold, data):
    """Each once, however small the output is; what does not fit begins anew with its document."""
    exact = Fraction(threshold) if measure != "equal" else Fraction(1)
    docs = _by_size(measure, docs)
    kind, _, listing = MEASURES[measure]
    entries, items, offsets = _entries(docs, listing(docs, exact))
    members = _fresh(entries, items, offsets, _words(data, measure))
    shared = (members, items, offsets, bound(kind, exact))
    deciding.fill_members(members, offsets, shared[-1])
    stamps = np.zeros(len(docs), np.int32)
    low, room, found, work = 0, data.draw(st.integers(1, ROOM)), [], deciding.Work.room()
    while low < len(docs):
        out = deciding.PairRoom(*(np.empty(room, np.int64) for _ in range(4)))
        start, (low, filled) = low, deciding.all_pairs(low, len(docs), *shared, stamps, out, work)
        found += zip(*(column[:filled].tolist() for column in out), strict=True)
        room += 3 * (low == start)
    every = {(c, d): _share(measure, docs, d, c, exact) for d in range(len(docs)) for c in range(d)}
    expected = {pair: value for pair, value in every.items() if value >= exact}
    assert expected == {(a, b): Fraction(num, den) for a, b, num, den in found}
    met, near, merged, items = deciding.Work.of(work)
    assert len(expected) == len(found) <= merged <= near <= met
    assert items <= merged * 2 * max(map(len, docs), default=0)


@given(st.lists(st.lists(st.integers(0, 2), min_size=6, max_size=6), max_size=8), st.integers(1, 6))
def test_signatures_are_joined_by_their_agreement(signatures, least):
    """Places in a signature are no order: bands have no place."""
    listed = [[((band, row[band]), -1) for band in range(6)] for row in signatures]
    entries, items, offsets = _entries([frozenset()] * len(signatures), listed)
    items, offsets = np.array(signatures, np.uint64).ravel(), 6 * np.arange(len(signatures) + 1)
    items.flags.writeable = offsets.flags.writeable = False
    members = _fresh(entries, items, offsets)
    agreement = bound(scores.AGREEMENT, Fraction(least, 6))
    deciding.fill_members(members, offsets, agreement)
    out = deciding.PairRoom(*(np.empty(100, np.int64) for _ in range(4)))
    stamps = np.zeros(len(signatures), np.int32)
    work = deciding.Work.room()
    _, filled = deciding.all_pairs(0, len(signatures), members, items, offsets, agreement, stamps, out, work)
    equal = {
        (a, b): sum(x == y for x, y in zip(signatures[a], signatures[b], strict=True))
        for b in range(len(signatures))
        for a in range(b)
    }
    expected = {(*pair, number, 6) for pair, number in equal.items() if number >= least}
    assert expected == set(zip(*(column[:filled].tolist() for column in out), strict=True))


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=6), max_size=6))
def test_members_of_a_bucket_ascend(documents):
    """Every document stands in its buckets, with its place, behind those before it."""
    flat = [entry for doc in documents for entry in doc]
    doc_starts = np.cumsum([0, *map(len, documents)])
    doc_buckets = np.array([bucket for bucket, _ in flat], np.int64)
    doc_places = np.array([place for _, place in flat], np.int32)
    bucket_starts = np.cumsum([0, *(sum(b == bucket for b, _ in flat) for bucket in range(5))])
    fill = np.zeros(5, np.int64)
    member_docs, member_places, member_sizes = np.zeros((3, len(flat)), np.int32)
    offsets = np.cumsum([0, *(3 * doc + 1 for doc in range(len(documents)))])
    entries = map(frozen, (doc_starts, doc_buckets, doc_places, bucket_starts))
    members = Members(*entries, fill, member_docs, member_places, member_sizes, np.zeros((0, 0), np.uint64))
    deciding.fill_members(members, frozen(offsets), bound(scores.EQUAL, Fraction(1)))
    expected = [
        (doc, place) for bucket in range(5) for doc, row in enumerate(documents) for b, place in row if b == bucket
    ]
    assert expected == list(zip(member_docs.tolist(), member_places.tolist(), strict=True))
    assert [3 * doc + 1 for doc, _ in expected] == member_sizes.tolist()
    assert np.diff(bucket_starts).tolist() == fill.tolist()


@given(st.tuples(PLACES, PLACES), thresholds() | st.sampled_from(["1/1000000000", "999999999/1000000000", "1"]))
def test_places_refuse_whom_the_rest_cannot_make_similar(pair, threshold):
    """Sets of any size: if all that stands from the first common item on were shared, they might be similar, or not."""
    exact = Fraction(threshold)
    least = bound(scores.JACCARD, exact)
    stands = [deciding.standing(least, size, place) for size, place in pair]
    rest = min(size - place for size, place in pair)
    reaches = rest >= exact * (sum(size for size, _ in pair) - rest)
    assert reaches == deciding.may_reach(least, pair[0][0], stands[0], pair[1][0], stands[1])
    without = [deciding.standing(least, size, -1) for size, _ in pair]
    assert deciding.may_reach(least, pair[0][0], without[0], pair[1][0], without[1])


@given(
    st.lists(st.sets(st.integers(0, 400), max_size=200), max_size=6), thresholds(), st.sampled_from([1, 2, 4, 8, 16])
)
def test_bits_refuse_none_that_reaches_the_bound(sets, threshold, words):
    """Of small and large sets; and sets without a common item are refused where bits are many for them."""
    _, items, offsets = _entries(sets, [[] for _ in sets])
    bits = np.zeros((len(sets), words), np.uint64)
    turn_bits(items, offsets, bits)
    for kind, measure in ((scores.JACCARD, jaccard), (scores.CONTAINMENT, containment)):
        least = bound(kind, Fraction(threshold))
        for a, one in enumerate(sets):
            for b, two in enumerate(sets):
                may = deciding.may_overlap(least, bits, a, len(one), b, len(two))
                assert may or not (one and two) or measure(one, two) < Fraction(threshold)


def test_bits_refuse_sets_that_are_far_apart():
    """Ten items each, none in common, in 64 bits: none of a hundred pairs is left to be compared."""
    sets = [frozenset(range(10 * i, 10 * i + 10)) for i in range(11)]
    _, items, offsets = _entries(sets, [[] for _ in sets])
    bits = np.zeros((len(sets), 1), np.uint64)
    turn_bits(items, offsets, bits)
    least = bound(scores.JACCARD, Fraction(4, 5))
    assert not any(deciding.may_overlap(least, bits, a, 10, b, 10) for a in range(11) for b in range(a))


@given(documents(), thresholds())
def test_chosen_pairs_are_verified(docs, threshold):
    """Whichever way round."""
    n = len(docs)
    _, items, offsets = _entries(docs, [[] for _ in docs])
    a, b = (np.ascontiguousarray(part.ravel()) for part in np.mgrid[0:n, 0:n])
    nums, dens = np.zeros(n * n, np.int64), np.zeros(n * n, np.int64)
    deciding.verify_pairs(a, b, items, offsets, bound(scores.JACCARD, Fraction(threshold)), nums, dens)
    expected = [jaccard(one, two) for one in docs for two in docs]
    found = [Fraction(num, den) if num >= 0 else None for num, den in zip(nums.tolist(), dens.tolist(), strict=True)]
    assert [value if value >= Fraction(threshold) else None for value in expected] == found


def test_a_chain_of_ten_thousand_links_is_cut_in_order():
    """Each document resembles only its neighbours: every other one stays, whatever the blocks."""
    n = 10_000
    docs = [frozenset(range(8 * i, 8 * i + 16)) for i in range(n)]  # neighbours share 8 of 24
    listed = [[(8 * i, 0), (8 * i + 8, 8)] for i in range(n)]
    keys = [entry for entries in listed for entry in entries]
    items = np.array([item for doc in docs for item in sorted(doc)], np.uint64)
    arrays = (
        np.arange(0, 2 * n + 1, 2),
        np.array([key // 8 for key, _ in keys], np.int64),
        np.full(2 * n, -1, np.int32),
        np.array([0, 1, *range(3, 2 * n, 2), 2 * n]),
    )
    offsets = np.arange(0, 16 * n + 1, 16)
    for array in (*arrays, items, offsets):
        array.flags.writeable = False
    shared = (_fresh(arrays, items, offsets, 1), items, offsets, bound(scores.JACCARD, Fraction(1, 3)))
    removed, stamps, work = np.zeros(n, np.bool_), np.zeros(n, np.int32), deciding.Work.room()
    for low in range(0, n, 777):
        high = min(low + 777, n)
        deciding.probe(low, high, *shared, np.zeros(n, np.int32), removed, work)
        deciding.settle(low, high, 0, True, *shared, stamps, removed, work)
    assert [bool(i % 2) for i in range(n)] == removed.tolist()
