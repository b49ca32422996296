"""Plans: the choice, what it misses, and what a corpus makes of it, against real runs."""

import json
from itertools import combinations

import pytest

import nearsame as ns
from nearsame.demo import corpus_path
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.sources.sampling import sample
from nearsame.stages.keys.bands import collision_probability
from nearsame.studies import planned_corpus
from nearsame.studies.contenders import listed
from tests.oracle.measures import jaccard
from tests.oracle.shingles import features

DEMO = str(corpus_path())
WORDS = tuple("abcdefghijklmnop")


def corpus(num: int = 12) -> list[str]:
    """Texts of sixteen words that differ in some."""
    return [" ".join(WORDS[: -1 - i % 5]) + f" own{i % 7}" + (" end" if i % 2 else "") for i in range(num)]


def test_the_plan_is_what_minhash_would_use():
    """The shape is the recipe's own choice, given or chosen."""
    assert (16, 6) == (ns.plan().shape.bands, ns.plan().shape.rows)
    assert (9, 13) == (ns.plan(bands=9, rows=13).shape.bands, ns.plan(bands=9, rows=13).shape.rows)


def test_a_plan_says_why_and_what_else_there_was():
    """Given bands are told whether they reach the recall; what popular tools choose stands beside the choice."""
    given = ns.plan(bands=9, rows=13)
    assert "given; they do not reach the recall of 0.99" == given.reason
    assert "given; they reach the recall of 0.99" == ns.plan(bands=20, rows=6).reason
    others = {(shape.bands, shape.rows): shape for shape in ns.plan().others}
    assert 0.399 == round(others[9, 13].at_threshold, 3)
    assert "misses the recall" == others[18, 7].note
    assert (16, 6) not in others


def test_what_is_missed_is_one_less_the_curve():
    """At the threshold, .05 and .1 above it; never above 1."""
    plan = ns.plan(bands=20, rows=5, threshold=0.8)
    assert [0.8, 0.85, 0.9] == [place for place, _ in plan.misses]
    assert 0.00036 == round(plan.misses[0][1], 5)
    assert [0.95, 1.0] == [place for place, _ in ns.plan(threshold="0.95").misses]


def test_the_curve_goes_from_nothing_to_certainty():
    """A hundred and one points, rising."""
    curve = ns.plan().curve
    assert [0.0, 1.0] == [curve[0].found, curve[-1].found]
    assert sorted(curve) == list(curve)
    assert 101 == len(curve)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(threshold=1.5), "MinHash: threshold=1.5: 1.5 is not above 0 and at most 1"),
        (dict(recall=0.999, num_perm=2), "recall=0.999 at threshold=0.8 cannot be reached with num_perm=2"),
        (dict(bands=30, rows=5), "MinHash: bands=30 of rows=5 need 150 values, num_perm=128"),
        (dict(corpus=["a"], sample_size=1), "sample_size=1 is below 2"),
    ],
)
def test_a_plan_that_cannot_be_is_an_error_that_names_the_values(settings, message):
    """The recipe's own errors, and those of the sample."""
    with pytest.raises(ns.ConfigError, match=f"^{message}$") as caught:
        ns.plan(**settings)
    assert caught.value.hint


def test_of_a_small_corpus_all_pairs_are_looked_at():
    """The histogram and the expected numbers are those of brute force."""
    texts = corpus()
    sets = list(dict.fromkeys(features(text, size=2) for text in texts))
    similarities = [float(jaccard(a, b)) for a, b in combinations(sets, 2)]
    expected = ns.plan(corpus=texts, threshold=0.6, shingle_size=2, bands=10, rows=4).expected
    chances = collision_probability(similarities, 10, 4)
    assert expected is not None
    assert (len(texts), len(texts), 0, 0.0) == (
        expected.documents, expected.sampled, expected.drawn, expected.listed_from,
    )  # fmt: skip
    assert sum(chances) == pytest.approx(expected.candidates)
    assert sum(s >= 0.6 for s in similarities) == expected.similar
    missed = [1 - chance for chance, s in zip(chances, similarities, strict=True) if s >= 0.6]
    assert sum(missed) == pytest.approx(expected.missed)
    assert sum(s > 0 for s in similarities) == sum(count for *_, count in expected.histogram)


def test_drawn_pairs_estimate_what_looking_at_all_of_them_gives(monkeypatch):
    """Half listed by the join, half from random pairs: near what all pairs give, within the error that it states."""
    path = str(corpus_path())
    settings = dict(corpus=path, threshold=0.7, shingle_size=3, bands=20, rows=2)
    whole = ns.plan(**settings).expected
    monkeypatch.setattr(planned_corpus, "_DRAWN", 20_000)
    drawn = ns.plan(**settings).expected
    assert (0, 20_000) == (whole.drawn, drawn.drawn)
    assert whole.similar == drawn.similar
    assert whole.missed == pytest.approx(drawn.missed)
    assert 0 < drawn.candidates_error < whole.candidates / 10
    assert whole.candidates == pytest.approx(drawn.candidates, abs=4 * drawn.candidates_error)
    assert whole.histogram[10:] == drawn.histogram[10:]


@pytest.mark.parametrize("settings", [dict(threshold=0.6), dict(threshold=0.8), dict(bands=20, rows=3)])
def test_expected_candidates_are_about_what_a_run_verifies(settings):
    """Signatures are random, once: a run is within a fifth of the expectation."""
    table = sample(Reading(open_parts([DEMO], columns=Columns()), Columns()), None).table
    verified = listed(ns.MinHash(shingle_size=3, **settings), table).candidates
    assert verified == pytest.approx(ns.plan(corpus=DEMO, shingle_size=3, **settings).expected.candidates, rel=0.2)


def test_a_sample_is_scaled_to_the_corpus():
    """Pairs of a sample stand for the pairs of all documents."""
    whole = ns.plan(corpus=str(corpus_path()), threshold=0.7).expected
    part = ns.plan(corpus=str(corpus_path()), threshold=0.7, sample_size=250).expected
    assert (whole.documents, 250) == (part.documents, part.sampled)
    assert whole.pairs == part.pairs
    assert whole.similar / 3 < part.similar < 3 * whole.similar


def test_a_corpus_without_pairs_expects_nothing():
    """No document, one document, or only copies."""
    for texts in ([], ["a b c"], ["a b c", "a b c"]):
        expected = ns.plan(corpus=texts).expected
        assert (0.0, 0.0, 0.0) == (expected.candidates, expected.similar, expected.missed)
        assert len(texts) * (len(texts) - 1) // 2 == expected.pairs


@pytest.mark.parametrize("plan", [ns.plan(corpus=corpus()), ns.plan_simhash()], ids=["bands", "simhash"])
def test_a_plan_is_json(plan):
    """All of it, and nothing is lost on the way but tuples."""
    assert json.loads(json.dumps(plan.record())) == json.loads(json.dumps(plan.record(), sort_keys=True))


def test_k_3_is_not_80_percent_similar():
    """.9 % at .8: half of the pairs only from .97 on; a recall of .99 at .8 takes k = 17."""
    plan = ns.plan_simhash(bits=64, k=3)
    assert 0.9 == round(100 * plan.at_threshold, 1)
    assert 0.96 < plan.half < 0.97
    assert 17 == plan.least_k
    assert 0.99 <= ns.plan_simhash(k=17).at_threshold
    assert 0.99 > ns.plan_simhash(k=16).at_threshold
    rows = dict(plan.by_k)
    assert [9.0, 31.2, 67.1, 85.2] == [round(100 * chance, 1) for chance in rows[3][3:]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(k=64), "k=64 is not at least 0 and below bits=64"),
        (dict(bits=0), "bits=0 is not from 1 to 4,096"),
        (dict(bits=2**31), "bits=2147483648 is not from 1 to 4,096"),
        (dict(threshold=0), "threshold=0 is not above 0 and at most 1"),
        (dict(recall=1), "recall=1 is not between 0 and 1"),
    ],
)
def test_a_simhash_that_cannot_be_is_an_error_that_names_the_values(settings, message):
    """A k from 0 to below the bits, a threshold, a recall."""
    with pytest.raises(ns.ConfigError, match=f"^{message}$") as caught:
        ns.plan_simhash(**settings)
    assert caught.value.hint


def test_one_side_of_a_shape_is_completed():
    """The fewest bands, or the most rows, that reach the recall; where none do, it is said."""
    for given, chosen in (({"rows": 5}, (12, 5)), ({"bands": 20}, (20, 6))):
        made = ns.plan(**given)
        bands, rows = made.shape.bands, made.shape.rows
        assert chosen == (bands, rows)
        assert made.shape.at_threshold >= 0.99
        less = (bands - 1, rows) if "rows" in given else (bands, rows + 1)
        assert collision_probability(0.8, *less) < 0.99 or less[0] * less[1] > 128
    assert "as many bands as fit, 6, do not reach a recall of 0.99 at 0.8" in ns.plan(rows=20).reason
    with pytest.raises(ns.ConfigError, match="rows=129 is above num_perm=128"):
        ns.plan(rows=129)


@pytest.mark.parametrize(("bands", "rows"), [(1, 8), (2, 8), (20, 1)])
def test_drawn_bands_have_at_most_all_values_and_at_least_one(bands, rows):
    """However few they are, and however many."""
    shape = ns.plan(bands=bands, num_perm=8, choice="random", threshold=1).shape
    assert (bands, rows) == (shape.bands, shape.rows)


def test_other_settings_have_curves_of_their_own():
    """Each as if it were planned for itself."""
    made = ns.plan(bands=20, rows=5, also=[(15, 5)])
    assert [("15 x 5", ns.plan(bands=15, rows=5).curve)] == [tuple(curve) for curve in made.also]
    assert "asked for" == next(shape.note for shape in made.others if (shape.bands, shape.rows) == (15, 5))
    assert [("k=6", ns.plan_simhash(k=6).curve)] == [tuple(curve) for curve in ns.plan_simhash(also=[6]).also]
    with pytest.raises(ns.ConfigError, match=r"\(1, 2, 3\) in also is not"):
        ns.plan(also=[(1, 2, 3)])
    with pytest.raises(ns.ConfigError, match="6 other settings are more than 5"):
        ns.plan_simhash(also=range(6))


def test_simhash_is_planned_by_cosine_too():
    """Two sets of one size with a Jaccard J have a cosine of 2J/(1 + J): the same chance at both."""
    by_jaccard = ns.plan_simhash(threshold=0.8)
    by_cosine = ns.plan_simhash(threshold=1.6 / 1.8, measure="cosine")
    assert pytest.approx(by_jaccard.at_threshold) == by_cosine.at_threshold
    assert by_jaccard.least_k == by_cosine.least_k


def test_a_plan_of_codes_says_what_searching_takes():
    """The ways that a run chooses from, the cheapest apart."""
    made = ns.plan_simhash(k=3, codes=1_000_000)
    assert (4, 1, 4) == made.search[:3]
    assert (1, 0, 1, 1_000_000 * 999_999 / 2) == made.searches[0][:4]
    assert made.search.seconds <= min(way.seconds for way in made.searches)
    with pytest.raises(ns.ConfigError, match="codes=1 is below 2"):
        ns.plan_simhash(codes=1)
