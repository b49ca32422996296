"""ns.explain_example: each worked example ends in the numbers of its source, and names what it printed wrongly."""

import json
from typing import Any, get_args

import pytest

import nearsame as ns
from nearsame.recipes.choices import ExampleName
from nearsame.studies.walks.examples import EXAMPLES


def last(walk: ns.Explanation) -> list[tuple[Any, ...]]:
    """The rows of the last step."""
    return [*walk.steps[-1].rows]


def test_every_example_can_be_asked_for():
    """By its word, and all of it is JSON."""
    assert [*get_args(ExampleName)] == [*EXAMPLES]
    for name in EXAMPLES:
        walk = ns.explain_example(name)
        assert walk.steps
        json.dumps(walk.record())


def test_there_is_no_other():
    """The error lists those that there are."""
    with pytest.raises(ns.ConfigError, match="name='wolf' is not one of fox, tropical-fish"):
        ns.explain_example("wolf")  # type: ignore[arg-type]


def test_the_fox_has_codes_1101_and_1111_at_distance_1():
    """The source printed a last sum of 2, other sums of the second, hence 0111 and a distance of 2."""
    walk = ns.explain_example("fox")
    a, b, together = (walk.answer[name] for name in ("a", "b", "together"))
    assert ([5, 3, -1, 3], "1101") == (a["sums"], a["binary"])
    assert ([1, 3, 1, 5], "1111") == (b["sums"], b["binary"])
    assert 1 == together["distance"]
    assert [
        ("sums of a", "+5 +3 -1 +3", "+5 +3 -1 +2"),
        ("sums of b", "+1 +3 +1 +5", "0 +3 +1 +4"),
        ("code of b", "1111", "0111"),
        ("distance", "1", "2"),
    ] == last(walk)


def test_tropical_fish_has_16_shingles_13_words_and_a_code_of_8_bits():
    """4 of the shingles' numbers are multiples of 4; tropical and fish count twice."""
    walk = ns.explain_example("tropical-fish")
    assert (16, [664, 492, 236, 908]) == (walk.answer["shingles"], walk.answer["fingerprint"])
    assert ("tropical fish include", 938) == walk.steps[0].rows[0][1:]
    weights = {row[1]: row[3] for row in walk.steps[2].rows}
    assert (13, {"tropical", "fish"}) == (len(weights), {word for word, weight in weights.items() if weight == 2})
    assert ([1, -5, 9, -9, 3, 1, 3, 3], "10101111") == (walk.answer["sums"], walk.answer["binary"])


def test_of_the_eight_numbers_one_pair_is_missed_until_they_are_turned():
    """(4, 2) at distance 2."""
    answer = ns.explain_example("eight-numbers").answer
    assert ([[3, 6, 1], [5, 8, 2]], [[2, 4, 2]]) == (answer["sorted"]["found"], answer["sorted"]["missed"])
    assert ([[2, 4, 2], [3, 6, 1], [5, 8, 2]], []) == (answer["rotated"]["found"], answer["rotated"]["missed"])


def test_zero_mod_4_keeps_four_of_sixteen():
    """In their order."""
    assert {"fingerprint": [664, 492, 236, 908]} == ns.explain_example("zero-mod-p").answer


def test_the_rose_is_a_bag_of_5_and_a_set_of_3():
    """(a rose is a), (rose is a rose), (is a rose is); the first two twice."""
    walk = ns.explain_example("rose")
    assert {"set": 3, "bag": 5} == walk.answer
    shown = [(row[1], row[2]) for row in walk.steps[0].rows]
    assert [("a rose is a", 2), ("rose is a rose", 2), ("is a rose is", 1)] == shown


def test_the_cat_has_16_shingles_and_the_codes_distances_4_16_12():
    """Two characters each, spaces among them."""
    walk = ns.explain_example("cat-sat")
    assert (16, [[1, 2, 4], [1, 3, 16], [2, 3, 12]]) == (walk.answer["shingles"], walk.answer["distances"])
    first = {row[1] for row in walk.steps[0].rows if row[3] != ""}
    text = "the cat sat on a mat"
    assert {text[i : i + 2] for i in range(len(text) - 1)} == first


def test_the_orders_of_banana_give_dog_and_cat_then_mouse_twice():
    """Bands of values 1, 3, 4 and 2, 3, 4 have no common bucket."""
    answer = ns.explain_example("banana-orders").answer
    assert (["dog", "mouse"], ["cat", "mouse"]) == (answer["a"]["minima"], answer["b"]["minima"])
    assert [["horse-ant-dog", "mouse-ant-dog"], ["cat-ice-shoe", "mouse-ice-shoe"]] == answer["buckets"]
    assert 0 == answer["common"]


def test_twenty_bands_of_five_have_the_books_curve():
    """.006, .047, .186, .470, .802, .975, .9996; at .8 one band agrees with .328, and one pair in 3,000 is lost."""
    walk = ns.explain_example("bands-20x5")
    assert [0.0064, 0.0475, 0.186, 0.4701, 0.8019, 0.9748, 0.9996] == [round(x, 4) for x in walk.answer["chances"]]
    assert ["0.328", "0.00036", "1 in 3,000"] == [row[1] for row in last(walk)]
    assert all(float(row[3]) <= float(row[4]) for row in walk.steps[0].rows)  # 15 bands find fewer than 20


def test_two_clusters_are_touched_and_make_three_eighths_a_half():
    """A touches C1 and C3, B all four: 5/10."""
    walk = ns.explain_example("two-clusters")
    assert ("3/8", 0.5) == (walk.answer["together"]["exact"], walk.answer["clusters"])
    assert ["C1", "C3"] == [row[0] for row in last(walk) if row[2] == "yes"]
    assert 4 == [row[3] for row in last(walk)].count("yes")
    assert "5/10" in walk.steps[-1].note
