"""The comparison of engines notices what an engine could do wrong: each fault, planted in one of two equal engines."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import nearsame as ns
from nearsame.engines.local import Local
from nearsame.stages.keys.prefix import PrefixKeys
from tests.parity import corpora
from tests.parity.answers import deduplicated, difference, listed, local

METHOD = ns.Jaccard(threshold=0.6, shingle_size=2)
CORPUS = corpora.mixed(3, families=6, hot=10, links=10)


def less(found, place):
    """Without one removal."""
    without = (np.delete(column, place) for column in (found.rows, found.witnesses, found.nums, found.dens))
    return found._replace(**dict(zip(("rows", "witnesses", "nums", "dens"), without, strict=True)))


def other_witness(found):
    """One removed document has the witness of another."""
    witnesses = found.witnesses.copy()
    witnesses[0] = witnesses[witnesses != witnesses[0]][0]
    return found._replace(witnesses=witnesses)


def nearly_as_similar(found):
    """One similarity is the next float."""
    nums, dens = found.nums * (1 << 20), found.dens * (1 << 20)
    nums[-1] -= 1
    return found._replace(nums=nums, dens=dens)


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (lambda found: less(found, 0), {"pairs", "removals", "clusters", "kept", "removed"}),
        (lambda found: less(found, -1), {"pairs", "removals", "clusters", "kept", "removed"}),
        (other_witness, {"pairs", "removals", "clusters"}),
        (nearly_as_similar, {"pairs", "removals", "clusters"}),
    ],
    ids=["a first one stays", "a last one stays", "another witness", "another similarity"],
)
def test_a_wrong_decision_is_noticed(fault, shown, monkeypatch):
    """Whatever is wrong with one document shows in the tables that tell of it."""
    right = deduplicated(local, CORPUS, method=METHOD)
    decide = Local.decide
    monkeypatch.setattr(Local, "decide", lambda *given: fault(decide(*given)))
    assert shown <= set(difference(right, deduplicated(local, CORPUS, method=METHOD)))


def test_a_lost_key_is_noticed(monkeypatch):
    """A document that offers no keys is in no pair."""
    right = listed(local, CORPUS, method=METHOD)
    make = PrefixKeys.__call__

    def without_one(self, batch):
        keys = make(self, batch)
        rows = np.array(keys.column("row"))
        return keys.filter(pa.array(rows != rows[0]))

    monkeypatch.setattr(PrefixKeys, "__call__", without_one)
    assert {"pairs"} == set(difference(right, listed(local, CORPUS, method=METHOD)))


def test_equal_answers_have_no_difference():
    """And the order of lines, and who is a and who is b, are none."""
    assert {} == difference(*(deduplicated(local, CORPUS, method=METHOD) for _ in "ab"))
    turned = CORPUS.take(pa.array(range(CORPUS.num_rows)[::-1]))
    method = ns.Containment(threshold=0.6, shingle_size=2)
    found, again = (listed(local, each, method=method) for each in (CORPUS, turned))
    assert {} == difference(found, again)
    assert len(found) > 100


def test_a_line_that_stands_twice_is_noticed():
    """Bags, not sets."""
    assert {"pairs"} == set(difference(Counter("aab"), Counter("ab")))


def test_the_corpora_have_what_they_promise():
    """Ties, copies, empty texts, repeated ids, a hot bucket, a chain."""
    corpus = corpora.mixed()
    found = ns.dedup(corpus, method=METHOD, audit=False)
    similar = ns.pairs(corpus, method=METHOD, audit=False).table.column("similarity").to_pylist()
    assert found.stats.empty >= 2
    assert found.stats.bare >= 4
    assert found.stats.repeated_ids >= 20
    assert found.stats.exact_copies >= 5
    assert Counter(similar).most_common(1)[0][1] >= 500
    assert 1 < len(set(similar)) < len(similar)
    assert corpora.mixed().equals(corpus)
    assert not corpora.mixed(1).equals(corpus)
