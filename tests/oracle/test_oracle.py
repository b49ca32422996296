"""The twins themselves: what is easy to see about them, and where two readings of the rules part."""

from fractions import Fraction
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.corpora import THRESHOLDS, sets_of_numbers, texts
from tests.oracle.decisions import decide, greedy, pairs
from tests.oracle.measures import containment, cosine_squared, jaccard, least_overlap, prefix_length
from tests.oracle.priority import order
from tests.oracle.shingles import Raw, features, shingles
from tests.oracle.tokens import is_space, is_word, tokens

FRACTIONS = st.sampled_from([Fraction(text) for text in THRESHOLDS])


def test_words_are_runs_of_word_characters_and_unspaced_characters_stand_alone() -> None:
    """Letters, marks, digits and underscores join; Han, kana and Thai do not; case is folded one to one."""
    expected = ["the", "x_1", "straße", "漢", "字", "abc", "デ", "ー", "ไ", "ท", "ย", "é", "σίσυφοσ"]
    assert expected == tokens("The x_1 (STRAßE) 漢字abcデー; ไทย\n\u00c9 Σίσυφος")


def test_white_space_is_one_token_a_run_where_it_counts() -> None:
    """For words a run needs white space in it; for characters any dropped run is a space; at the ends none is."""
    text = " a--b,  c!"
    assert ["a", "b", " ", "c"] == tokens(text, whitespace=True)
    assert ["a", "-", "-", "b", ",", " ", "c", "!"] == tokens(text, whitespace=True, keep_punctuation=True)
    assert ["a", " ", "b", " ", "c"] == tokens(text, unit="chars")
    assert ["a", "b", "c"] == tokens(text, unit="chars", whitespace=False)
    assert [] == tokens(" *** ", unit="chars") == tokens("  ", whitespace=True, keep_punctuation=True)


def test_stop_words_go_before_shingles_are_made() -> None:
    """A stop word leaves no gap behind."""
    assert ["tropical", "fish", "sea"] == tokens("Tropical fish in THE sea", stop=frozenset({"in", "the"}))


def test_a_text_without_tokens_has_itself_as_its_only_item() -> None:
    """So only its exact copies resemble it; empty and null texts resemble nothing."""
    assert [frozenset({Raw("***", 0), Raw("***", 1)}), frozenset(), frozenset()] == [
        features("***"),
        features(""),
        features(None),
    ]


def test_a_short_text_is_one_shingle_and_a_remainder_is_one_too() -> None:
    """Nothing of a text is left out."""
    assert {("a", "b")} == shingles(["a", "b"], 5)
    assert {("a", "b"), ("c", "a"), ("b",)} == shingles(["a", "b", "c", "a", "b"], 2, overlapping=False)
    assert {(("a",), 0), (("a",), 1), (("b",), 0)} == shingles(["a", "b", "a"], 1, repeats=True)


@given(texts())
def test_tokens_of_words_hold_every_word_character_in_order(text: str) -> None:
    """Nothing is lost and nothing invented, apart from case."""
    assert [character for character in text if is_word(character)] == list("".join(tokens(text, keep_case=True)))
    assert not any(is_word(character) for character in text if is_space(character))


@given(sets_of_numbers())
def test_measures_are_between_0_and_1_and_1_for_equals(sets: list[frozenset[int]]) -> None:
    """Jaccard ≤ cosine ≤ the larger containment, and all are 1 for a set and itself."""
    full = [items for items in sets if items]
    for a in full:
        assert jaccard(a, a) == containment(a, a) == cosine_squared(a, a) == 1
        for b in full:
            larger = max(containment(a, b), containment(b, a))
            assert 0 <= jaccard(a, b) ** 2 <= cosine_squared(a, b) <= larger**2 <= 1


@given(FRACTIONS, st.integers(1, 60), st.integers(1, 60))
def test_the_least_overlap_is_the_closed_form_of_integers(threshold: Fraction, a: int, b: int) -> None:
    """ceil(p(a + b) / (p + q)), or out of reach when it is above the smaller size."""
    p, q = threshold.numerator, threshold.denominator
    assert min(-(-p * (a + b) // (p + q)), min(a, b) + 1) == least_overlap(threshold, a, b)


@given(FRACTIONS, sets_of_numbers())
def test_similar_sets_share_an_item_of_their_prefixes(threshold: Fraction, sets: list[frozenset[int]]) -> None:
    """What the exact join rests on: any total order, here that of numbers."""
    for a, b in pairs(sets, threshold):
        heads = [set(sorted(items)[: prefix_length(threshold, len(items))]) for items in (sets[a], sets[b])]
        assert heads[0] & heads[1]


@given(FRACTIONS, sets_of_numbers(), st.integers(0, 4), st.booleans(), st.randoms(use_true_random=False))
def test_collapsing_equal_sets_first_keeps_the_same_documents(
    threshold: Fraction, sets: list[frozenset[int]], num_against: int, within: bool, random: Random
) -> None:
    """Greedy by priority, with and without collapse; the witnesses differ only for equals of a removed one."""
    num_against = min(num_against, len(sets))
    rows = list(range(len(sets)))
    random.shuffle(rows)
    ranked = [row for row in rows if row < num_against] + [row for row in rows if row >= num_against]
    plain = greedy(sets, threshold, ranked, num_against=num_against, within=within)
    collapsed = decide(sets, threshold, ranked, num_against=num_against, within=within)
    assert plain.keys() == collapsed.keys()
    for row, (witness, similarity) in collapsed.items():
        best = next(other for other in ranked if sets[other] == sets[row])
        assert witness not in collapsed
        assert threshold <= similarity == jaccard(sets[row], sets[witness])
        if row == best:
            assert plain[row] == collapsed[row]
        else:
            assert plain[row][1] >= similarity


def test_an_inherited_witness_may_be_the_less_similar_one() -> None:
    """A keeper between two equals resembles the later one more, but that one inherits the earlier one's witness."""
    narrow, twin, wide = frozenset(range(6)), frozenset(range(8)), frozenset(range(9))
    sets, threshold = [narrow, twin, wide, twin], Fraction(7, 10)
    assert {1: (0, Fraction(3, 4)), 3: (2, Fraction(8, 9))} == greedy(sets, threshold, [0, 1, 2, 3])
    assert {1: (0, Fraction(3, 4)), 3: (0, Fraction(3, 4))} == decide(sets, threshold, [0, 1, 2, 3])


@given(FRACTIONS, sets_of_numbers())
def test_no_two_kept_are_similar_and_clusters_are_tight(threshold: Fraction, sets: list[frozenset[int]]) -> None:
    """Members of a cluster are pairwise at least 2t - 1 similar: Jaccard distance is a metric."""
    removed = decide(sets, threshold, range(len(sets)))
    kept = {row for row in range(len(sets)) if row not in removed}
    similar = pairs(sets, threshold)
    assert not any(a in kept and b in kept for a, b in similar)
    for a, (a_witness, _) in removed.items():
        for b, (b_witness, _) in removed.items():
            assert a_witness != b_witness or jaccard(sets[a], sets[b]) >= 2 * threshold - 1


def test_priority_puts_the_against_side_first_and_nulls_last() -> None:
    """Bytes count, not characters; ties go by the order of reading, or backwards for `last`."""
    texts = ["aa", "bbb", None, "é", "ccc"]
    assert [1, 4, 0, 3, 2] == order(5, "longest", texts)
    assert [0, 3, 1, 4, 2] == order(5, "shortest", texts)
    assert [1, 0, 4, 3, 2] == order(5, "longest", texts, num_against=2)
    assert [1, 0, 4, 3, 2] == order(5, "last", num_against=2)
    assert [2, 0, 1] == order(3, "newest:when", [5, None, 7])
    assert [0, 2, 1] == order(3, "min:when", [5, None, 7])
