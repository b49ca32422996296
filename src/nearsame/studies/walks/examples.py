"""The worked examples of the literature, walked through: each ends in the numbers of its source.

1. What goes in is the source's; what comes out is computed, by the walks and so by the stages of a run.
2. Where a source printed something else, a step of its own says what, beside what is right.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from nearsame.answers.comparisons import Explanation, Step
from nearsame.recipes.choices import ExampleName
from nearsame.recipes.methods import Codes, Jaccard, MinHash, ModP, SimHash
from nearsame.stages.keys.bands import collision_probability
from nearsame.stages.pairs import likeness
from nearsame.studies.walks import exact_sets, minhash, modp, searches, simhash
from nearsame.studies.walks.shingled import named_sets
from nearsame.studies.walks.sides import shown_fraction

__all__ = ["EXAMPLES"]

_FOX_HASHES = {
    "the": 0b1101, "quick": 0b1010, "brown": 0b1001, "fox": 0b1111, "jumps": 0b0110, "over": 0b1011,
    "lazy": 0b1100, "dog": 0b0101, "fast": 0b0011, "a": 0b0111,
}  # fmt: skip
_FISH = (
    "Tropical fish include fish found in tropical environments around the world,"
    " including both freshwater and salt water species"
)
_FISH_NUMBERS = [938, 664, 463, 822, 492, 798, 78, 969, 143, 236, 913, 908, 694, 553, 870, 779]
_FISH_HASHES = {
    "tropical": 0b01100001, "fish": 0b10101011, "include": 0b11100110, "found": 0b00011110,
    "environments": 0b00101101, "around": 0b10001011, "world": 0b00101010, "including": 0b11000000,
    "both": 0b10101110, "freshwater": 0b00111111, "salt": 0b10110101, "water": 0b00100101, "species": 0b11101110,
}  # fmt: skip
_EIGHT = [37586, 50086, 2648, 934, 40957, 2650, 64475, 40955]
_CATS = [851459198, 847263864, 984968088]


def _fox() -> Explanation:
    """SimHash with four bits of the quick and the fast brown fox."""
    recipe = SimHash(bits=4, table=_FOX_HASHES, weights="tf", k=1)
    texts = "The quick brown fox jumps over the lazy dog", "The fast brown fox jumps over a lazy dog"
    walk = simhash.walk(texts, recipe)
    a, b, together = (walk.answer[name] for name in ("a", "b", "together"))
    slips = (
        ("sums of a", _spaced(a["sums"]), "+5 +3 -1 +2"),
        ("sums of b", _spaced(b["sums"]), "0 +3 +1 +4"),
        ("code of b", b["binary"], "0111"),
        ("distance", str(together["distance"]), "2"),
    )
    return _with(walk, _slipped(slips))


def _tropical_fish() -> Explanation:
    """Sixteen shingles of three words, those whose number 4 divides, and a SimHash code of eight bits."""
    sets = named_sets([_FISH], Jaccard(shingle_size=3))
    rows = tuple((i, s.text, n) for i, (s, n) in enumerate(zip(sets.shingles[0], _FISH_NUMBERS, strict=True), 1))
    shingles = Step("Shingles of three words, with the numbers of the source", ("#", "shingle", "number"), rows)
    kept = modp.walk([_FISH_NUMBERS], ModP(modulus=4, floor=0))
    recipe = SimHash(bits=8, table=_FISH_HASHES, weights="tf", stop_words="in,the,and", k=1)
    coded = simhash.walk([_FISH], recipe)
    answer = {"shingles": len(rows), **kept.answer, "sums": coded.answer["sums"], "binary": coded.answer["binary"]}
    return Explanation(coded.method, (shingles, kept.steps[-1], *coded.steps), answer, coded.recipe)


def _eight_numbers() -> Explanation:
    """Sort and compare neighbours; then turn left by two, and sort again."""
    recipe = Codes(bits=16, k=2, search="adjacent")
    once, twice = (searches.walk(_EIGHT, recipe, turns) for turns in ([0], [0, 2]))
    steps = (*once.steps[:2], once.steps[-1], twice.steps[2], twice.steps[-1])
    return Explanation(once.method, steps, {"sorted": once.answer, "rotated": twice.answer}, once.recipe)


def _zero_mod_p() -> Explanation:
    """Of sixteen numbers those that 4 divides."""
    return modp.walk([_FISH_NUMBERS], ModP(modulus=4, floor=0))


def _rose() -> Explanation:
    """Shingles of four words as a set, and as a bag."""
    text = "a rose is a rose is a rose"
    walk = exact_sets.walk_jaccard([text], Jaccard(shingle_size=4))
    bag = named_sets([text], Jaccard(shingle_size=4, repeats=True))
    counted = Step("Counting repeats, they are a bag", *_table(bag.step))
    answer = {"set": walk.answer["shingles"], "bag": len(bag.shingles[0])}
    return Explanation(walk.method, (walk.steps[0], counted), answer, walk.recipe)


def _cat_sat() -> Explanation:
    """Shingles of two characters; and codes of 32 bits of two cat sentences and one about ice cream."""
    texts = "the cat sat on a mat", "the cat sat on the mat"
    walk = exact_sets.walk_jaccard(texts, Jaccard(unit="chars", shingle_size=2))
    codes = searches.walk(_CATS, Codes(bits=32, k=16, search="brute"), None)
    title = "The source's codes: two sentences about cats, the third about ice cream"
    steps = (*walk.steps, Step(title, *_table(codes.steps[0])), codes.steps[-1])
    answer = {"shingles": walk.answer["a"]["shingles"], "distances": codes.answer["found"], **walk.answer["together"]}
    return Explanation(walk.method, steps, answer, walk.recipe)


def _banana_orders() -> Explanation:
    """Minima under two orders of four words; and bands of chosen values of two signatures."""
    orders = [["cat", "dog", "mouse", "banana"], ["banana", "mouse", "cat", "dog"]]
    walk = minhash.walk_orders(["mouse dog", "cat mouse"], MinHash(shingle_size=1), orders)
    minima = [["horse", "mouse", "ant", "dog"], ["cat", "mouse", "ice", "shoe"]]
    step, buckets = minhash.chosen_bands(minima, np.array([[0, 2, 3], [1, 2, 3]]))
    title = "Of minima horse mouse ant dog and cat mouse ice shoe, bands of chosen values"
    return _with(walk, Step(title, *_table(step)), buckets=buckets, common=sum(row[-1] == "yes" for row in step.rows))


def _bands_20x5() -> Explanation:
    """How likely two documents meet in 20 bands of 5 values, by their similarity."""
    recipe = MinHash(num_perm=100, bands=20, rows=5)
    similarities = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    chances = {bands: [float(collision_probability(s, bands, 5)) for s in similarities] for bands in (1, 10, 15, 20)}
    rows = tuple(
        (f"{s:g}", *(f"{of[i]:.4f}" for of in chances.values()), f"{1 - chances[20][i]:.5f}")
        for i, s in enumerate(similarities)
    )
    note = (
        "A band of 5 values agrees with s^5, one of b bands at least with 1 - (1 - s^5)^b. Fewer bands find fewer pairs"
        " that are less similar (false positives), and lose more that are (false negatives)."
    )
    columns = ("similarity", "one band", "10 bands", "15 bands", "20 bands", "all 20 differ")
    curve = Step("The chance to meet, by similarity", columns, rows, note)
    lost = 1 - chances[20][-1]
    last = Step(
        "At a similarity of 0.8",
        ("what", "value", "how"),
        (
            ("one band agrees", f"{chances[1][-1]:.3f}", "0.8^5"),
            ("all 20 disagree", f"{lost:.5f}", "(1 - 0.8^5)^20"),
            ("pairs lost", f"1 in {round(1 / lost, -3):,.0f}", "about"),
        ),
    )
    answer: dict[str, Any] = {"similarities": list(similarities), "one_band": chances[1], "chances": chances[20]}
    return Explanation(recipe.name, (curve, last), answer, recipe.record())


def _two_clusters() -> Explanation:
    """Two sets of items, and the same by clusters of items: A touches two of four."""
    a, b = frozenset({0, 1, 2, 5, 6}), frozenset({0, 2, 3, 5, 7, 9})
    clusters = [frozenset({0, 1, 2}), frozenset({3, 4}), frozenset({5, 6}), frozenset({7, 8, 9})]
    walk = exact_sets.walk_jaccard([sorted(a), sorted(b)], Jaccard())
    value: Fraction = likeness.cluster_jaccard(a, b, clusters)
    rows = tuple(
        (f"C{i}", " ".join(map(str, sorted(of))), "yes" if a & of else "", "yes" if b & of else "")
        for i, of in enumerate(clusters, 1)
    )
    shared = sum(len(of) for of in clusters if a & of and b & of)
    touched = sum(len(of) for of in clusters if (a | b) & of)
    note = f"Items of shared clusters over items of touched ones: {shared}/{touched}, so {shown_fraction(value)}."
    step = Step("Items count as their clusters", ("cluster", "items", "a touches it", "b touches it"), rows, note)
    return _with(walk, step, clusters=float(value))


EXAMPLES: dict[ExampleName, Callable[[], Explanation]] = {
    "fox": _fox,
    "tropical-fish": _tropical_fish,
    "eight-numbers": _eight_numbers,
    "zero-mod-p": _zero_mod_p,
    "rose": _rose,
    "cat-sat": _cat_sat,
    "banana-orders": _banana_orders,
    "bands-20x5": _bands_20x5,
    "two-clusters": _two_clusters,
}


def _with(walk: Explanation, step: Step, **answer: Any) -> Explanation:
    return Explanation(walk.method, (*walk.steps, step), {**walk.answer, **answer}, walk.recipe)


def _table(step: Step) -> tuple[tuple[str, ...], tuple[tuple[str | int, ...], ...], str]:
    """A step without its title."""
    return step.columns, step.rows, step.note


def _slipped(rows: tuple[tuple[str, str, str], ...]) -> Step:
    note = "These numbers are wrong in the source; all others are as it has them."
    return Step("Where the source slipped", ("what", "right", "printed"), rows, note)


def _spaced(numbers: list[int]) -> str:
    return " ".join(f"{number:+d}" if number else "0" for number in numbers)
