"""True partners of audited documents, against comparing each with every other in fractions."""

from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.auditing import (
    Audited,
    Lent,
    Others,
    Partners,
    bottom_items,
    compare_vectors,
    lookup_documents,
    mark_filter,
)
from nearsame.kernels.scores import APART, CONTAINMENT, COSINE, EDIT, JACCARD, Bound
from tests.oracle import mixing, vectors
from tests.oracle.corpora import thresholds
from tests.oracle.measures import containment, cosine_squared, jaccard

LAST = 2**64 - 1
WORDS = st.integers(0, LAST) | st.sampled_from([0, 1, 2**63 - 1, 2**63, LAST])
ITEMS = st.one_of(*[st.integers(0, 5)] * 4, WORDS)
SETS = st.lists(st.sets(ITEMS, max_size=9).map(sorted), max_size=6)
THRESHOLDS = thresholds().map(Fraction)
ALL = 2**62
CANARY = 0x5A5A5A5A5A5A5A5A
NO_ROOM = -1


def _int64s(values):
    return frozen(np.array(values, np.int64))


def _uint64s(values):
    return frozen(np.array(values, np.uint64))


def _offsets(rows):
    return _int64s(np.cumsum([0, *map(len, rows)]))


def _flat(rows):
    return [value for row in rows for value in row]


@given(SETS, st.integers(0, 10), WORDS)
@example([], 3, 0)
@example([[], [7], []], 1, LAST)
def test_each_set_lends_its_least_items_under_another_hash(rows, most, seed):
    """So many at most, the least first, each with its owner; there is room for no more."""
    least = [sorted(row, key=lambda item: mixing.finish(item ^ seed))[:most] for row in rows]
    total = len(_flat(least))
    out, owners = np.full(total + 2, CANARY, np.uint64), np.full(total + 2, CANARY, np.int64)
    room = out[:total], owners[:total]
    assert total == bottom_items(_uint64s(_flat(rows)), _offsets(rows), most, np.uint64(seed), *room)
    assert [*_flat(least), CANARY, CANARY] == out.tolist()
    assert [*(owner for owner, row in enumerate(least) for _ in row), CANARY, CANARY] == owners.tolist()


@given(st.lists(WORDS, max_size=12), st.integers(6, 10), st.lists(WORDS, max_size=2))
@example([], 6, [])
@example([0, LAST, LAST], 6, [1 << 58])
def test_each_item_sets_one_bit(items, bits, before):
    """The one that its highest bits number, of 64 or more; what was set before stays."""
    marked = np.full((1 << bits - 6) + 1, CANARY, np.uint64)
    marked[:-1] = 0
    for some in (before, items):
        mark_filter(_uint64s(some), np.uint64(64 - bits), marked[:-1])
    table = sum(1 << slot for slot in {item >> 64 - bits for item in before + items})
    assert [*(table >> 64 * word & LAST for word in range(1 << bits - 6)), CANARY] == marked.tolist()


class Audit(NamedTuple):
    """Documents, of which some are audited."""

    rows: list[list[int]]
    owners: list[int]  # the rows of the audited ones
    lent: list[list[int]]
    least: list[int]  # hits that make a candidate
    places: list[int]  # of all rows; -1: not to ask about
    stays: list[bool]  # of the audited ones
    most: int

    def place_of(self, at):
        """The place of an audited one."""
        return max(self.places[self.owners[at]], 0)

    def kind(self, row, at):
        """Which kind of partner a row is of an audited one: 1 if it outranks it, 0 if not; None: not asked about."""
        if self.places[row] < 0 or row == self.owners[at]:
            return None
        kind = int(self.places[row] < self.place_of(at))
        return kind if kind or self.stays[at] else None

    def audited(self, lists):
        """The audited ones as kernels take them, of all lists that they are compared by."""
        chosen = [of_all[owner] for of_all in lists for owner in self.owners]
        places = _int64s([self.place_of(at) for at in range(len(self.owners))])
        stays = frozen(np.array(self.stays, np.bool_))
        return Audited(_int64s(self.owners), _uint64s(_flat(chosen)), _offsets(chosen), places, stays)

    def others(self, items, letters):
        """All documents likewise."""
        offsets, ends = _offsets(items), _offsets(letters)
        first = _uint64s(_flat(items)), offsets[:-1], offsets[1:], _int64s(range(len(items))), _int64s(self.places)
        return Others(*first, _uint64s(_flat(letters)), ends[:-1], ends[1:])


def _ranks(draw, num_rows, num_owners):
    """Places of all rows, and which of the audited ones stay."""
    places = draw(st.lists(st.integers(-1, 4), min_size=num_rows, max_size=num_rows))
    return places, draw(st.lists(st.booleans(), min_size=num_owners, max_size=num_owners))


def _partners(size):
    """Room for so many, and what stands behind it."""
    whole = [np.full(size + 2, CANARY, np.int64) for _ in range(4)]
    return Partners(*(column[:size] for column in whole)), [column[size:] for column in whole]


def _reaches(kind, a, b, threshold):
    """Whether two sets reach a threshold of a measure of the same sets."""
    if kind == COSINE:
        return cosine_squared(a, b) >= threshold**2
    return (containment if kind == CONTAINMENT else jaccard)(a, b) >= threshold


def _edit(one, other):
    """Twice the longest common subsequence over both lengths."""
    best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, x in enumerate(one):
        for j, y in enumerate(other):
            best[i + 1][j + 1] = best[i][j] + 1 if x == y else max(best[i][j + 1], best[i + 1][j])
    return Fraction(2 * best[-1][-1], len(one) + len(other))


def _letters(text):
    """A text as the number of its letters and three of them to a word; nothing for an empty one."""
    threes = [text[at : at + 3] for at in range(0, len(text), 3)]
    return [len(text), *(sum(ord(x) << 21 * at for at, x in enumerate(three)) for three in threes)] if text else []


def _looked_up(audit, bound, room, texts=None):
    """What the kernel finds of all rows among the audited ones: (partners, how many, comparisons)."""
    size, letters = len(audit.owners), [_letters(text) for text in texts or [""] * len(audit.rows)]
    probes = sorted((item, owner) for owner, items in enumerate(audit.lent) for item in items)
    items, bits = _uint64s([item for item, _ in probes]), np.zeros(2, np.uint64)
    mark_filter(items, np.uint64(57), bits)
    lent = Lent(np.uint64(57), frozen(bits), items, _int64s([owner for _, owner in probes]), _int64s(audit.least))
    found, hits, touched = np.zeros((size, 2), np.int64), np.zeros(size + 1, np.int64), np.full(size + 1, CANARY)
    hits[-1] = CANARY
    out, behind = _partners(room)
    documents, audited = audit.others(audit.rows, letters), audit.audited([audit.rows, letters])
    filled, compared = lookup_documents(
        documents, lent, audited, bound, audit.most, found, hits[:-1], touched[:-1], out
    )  # fmt: skip
    assert {CANARY} == {int(each) for array in (hits[-1:], touched[-1:], *behind) for each in array}
    assert not hits[:-1].any()
    if filled < 0:
        return [], filled, compared
    partners = list(zip(*(column[:filled].tolist() for column in out), strict=True))
    kinds = Counter((at, audit.kind(row, at)) for at, row, *_ in partners)
    assert [[kinds[at, 0], kinds[at, 1]] for at in range(size)] == found.tolist()
    return sorted((row, at, num, den) for at, row, num, den in partners), filled, compared


def _expected(audit, reaches):
    """Every row in turn against every audited one: (partners, how many, comparisons of sets)."""
    found, counts, compared = [], Counter(), 0
    for row, items in enumerate(audit.rows):
        for at, owner in enumerate(audit.owners):
            kind, hits = audit.kind(row, at), len(set(audit.lent[at]).intersection(items))
            if kind is None or hits == 0 or hits < audit.least[at] or counts[at, kind] >= audit.most:
                continue
            compared += 1
            if reaches(row, owner):
                a, b = set(items), set(audit.rows[owner])
                found.append((row, at, len(a & b), len(a | b)))
                counts[at, kind] += 1
    return found, len(found), compared


@st.composite
def _audits(draw):
    """Documents, equal ones among them, some of which are audited and lend most of their items."""
    rows = draw(SETS.filter(bool))
    rows += [rows[at] for at in draw(st.lists(st.integers(0, len(rows) - 1), max_size=3))]
    owners = sorted(draw(st.sets(st.integers(0, len(rows) - 1), max_size=4)))
    lent = [[item for item in rows[owner] if draw(st.booleans()) or item % 2] for owner in owners]
    least = [draw(st.integers(1, max(1, len(items)))) for items in lent]
    ranks = _ranks(draw, len(rows), len(owners))
    return Audit(rows, owners, lent, least, *ranks, draw(st.sampled_from([0, 1, 2, ALL, ALL])))


@given(_audits(), THRESHOLDS, st.sampled_from([None, CONTAINMENT, COSINE]), THRESHOLDS)
def test_partners_are_those_that_share_enough_and_reach_the_bound(audit, threshold, second, other):
    """Of those asked about, up to so many of a kind; a second measure of the same sets is reached as well."""

    def reaches(row, owner):
        a, b = set(audit.rows[row]), set(audit.rows[owner])
        return jaccard(a, b) >= threshold and (second is None or _reaches(second, a, b, other))

    bound = Bound(JACCARD, threshold.numerator, threshold.denominator)
    if second is not None:
        bound = Bound(*bound[:3], second, other.numerator, other.denominator)
    expected = _expected(audit, reaches)
    assert expected == _looked_up(audit, bound, expected[1])
    if expected[1]:
        assert ([], NO_ROOM) == _looked_up(audit, bound, expected[1] - 1)[:2]


@given(_audits(), THRESHOLDS, THRESHOLDS, st.data())
def test_letters_have_to_agree_where_the_second_measure_is_about_them(audit, threshold, other, data):
    """By insertions and deletions; a document without letters is no partner."""
    text = st.text("ab漢\U0010ffff", max_size=7) | st.sampled_from(["", "abab", "abba", "ababab"])
    texts = data.draw(st.lists(text, min_size=len(audit.rows), max_size=len(audit.rows)))

    def reaches(row, owner):
        a, b = set(audit.rows[row]), set(audit.rows[owner])
        if jaccard(a, b) < threshold or not texts[row] or not texts[owner]:
            return False
        return _edit(texts[row], texts[owner]) >= other

    first = Bound(JACCARD, threshold.numerator, threshold.denominator)
    bound = Bound(*first[:3], APART | EDIT, other.numerator, other.denominator)
    expected = _expected(audit, reaches)
    assert expected == _looked_up(audit, bound, expected[1], texts)


@pytest.mark.parametrize(("length", "work"), [(181, 0), (182, 1), (1000, 30)])
def test_letters_count_as_comparisons_of_sets(length, work):
    """One for each 32,768 of the product of two lengths."""
    audit = Audit([[1, 2, 3]] * 2, [0], [[1, 2]], [2], [0, 0], [True], ALL)
    bound = Bound(JACCARD, 1, 1, APART | EDIT, 1, 1)
    assert ([(1, 0, 3, 3)], 1, 1 + work) == _looked_up(audit, bound, 4, ["a" * length] * 2)


@pytest.mark.parametrize("rows", [[], [[]], [[1, 2]]])
def test_nothing_is_found_where_there_is_no_other(rows):
    """No documents, one without items, and one that is the audited one itself."""
    number = len(rows)
    audit = Audit(rows, list(range(number)), rows, [1] * number, [0] * number, [True] * number, ALL)
    assert ([], 0, 0) == _looked_up(audit, Bound(JACCARD, 1, 2), 0)


def test_those_that_outrank_and_the_others_are_counted_apart():
    """The first of either kind, where one of each is asked for; of one that does not stay only the former."""
    places = [2, 0, 1, 3, 2, -1]
    for stays, expected in ((True, [1, 3]), (False, [1])):
        audit = Audit([[1, 2]] * 6, [0], [[1]], [1], places, [stays], 1)
        found = _looked_up(audit, Bound(JACCARD, 1, 1), 4)
        assert ([(row, 0, 2, 2) for row in expected], len(expected), len(expected)) == found


def test_the_letters_of_a_neighbour_are_not_taken_for_those_of_an_empty_text():
    """Neither of the documents nor of the audited ones, whatever stands behind them."""
    bound = Bound(JACCARD, 1, 1, APART | EDIT, 1, 1)
    audit = Audit([[1]] * 4, [1, 3], [[1], [1]], [1, 1], [0] * 4, [True, True], ALL)
    assert ([(0, 1, 1, 1)], 1, 6) == _looked_up(audit, bound, 4, ["ab", "", "", "ab"])
    assert ([(2, 1, 1, 1)], 1, 6) == _looked_up(audit, bound, 4, ["", "", "ab", "ab"])


def _laid_out(vector):
    """A rounded vector as words; nothing for one of zeros."""
    fours = [vector[at : at + 4] for at in range(0, len(vector), 4)]
    words = [sum((number & 0xFFFF) << 16 * place for place, number in enumerate(four)) for four in fours]
    return [sum(number * number for number in vector), *words] if any(vector) else []


SHORTS = st.integers(-2, 2) | st.sampled_from([-32767, 32767])


@given(st.integers(1, 5), thresholds().map(Fraction), st.sampled_from([0, 1, 2, ALL, ALL]), st.data())
def test_every_vector_is_compared_with_every_audited_one(size, threshold, most, data):
    """In order, up to so many of a kind; zeros are similar to nothing; without room for all there is no answer."""
    vector = st.lists(SHORTS, min_size=size, max_size=size).map(tuple)
    given_vectors = data.draw(st.lists(vector, max_size=7))
    rows = [_laid_out(each) for each in given_vectors]
    owners = sorted(data.draw(st.sets(st.sampled_from(range(len(rows))), max_size=4))) if rows else []
    audit = Audit(rows, owners, [], [], *_ranks(data.draw, len(rows), len(owners)), most)
    expected, counts = [], Counter()
    for row in range(len(rows)):
        for at, owner in enumerate(owners):
            kind = audit.kind(row, at)
            if kind is None or counts[at, kind] >= most or not rows[row] or not rows[owner]:
                continue
            similar = vectors.cosine(given_vectors[row], given_vectors[owner], threshold)
            if similar is not None:
                expected.append((at, row, similar))
                counts[at, kind] += 1
    sides, p, q = (audit.others(rows, []), audit.audited([rows])), threshold.numerator, threshold.denominator
    for room in {len(expected), max(len(expected) - 1, 0)}:
        (out, behind), found = _partners(room), np.zeros((len(owners), 2), np.int64)
        filled = compare_vectors(*sides, p, q, most, found, out)
        assert {CANARY} == {int(each) for column in behind for each in column}
        assert (len(expected) if room == len(expected) else NO_ROOM) == filled
        if filled >= 0:
            told = zip(*(column.tolist() for column in out), strict=True)
            assert expected == [(at, row, Fraction(num, den)) for at, row, num, den in told]
            assert [[counts[at, 0], counts[at, 1]] for at in range(len(owners))] == found.tolist()
