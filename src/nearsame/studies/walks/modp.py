"""Broder's 0 mod p walked through: hashes or given numbers, those that p divides, and of two documents the overlap."""

from collections.abc import Sequence
from typing import Any

from nearsame.answers.comparisons import Explanation, Step
from nearsame.flow.steps import steps
from nearsame.recipes.methods import ModP
from nearsame.shares import exactly
from nearsame.stages.pairs import likeness
from nearsame.stages.sketches.modp import Fingerprints
from nearsame.studies.walks.shingled import NamedSets, named_sets
from nearsame.studies.walks.sides import Given, beside, explained, hexed, shown_fraction, verified

__all__ = ["walk"]


def walk(given: Sequence[Given], recipe: ModP) -> Explanation:
    """The hashes of a document, their remainders, and the fingerprint that these make."""
    sets = named_sets(given, recipe)
    sketches = Fingerprints(recipe.modulus, recipe.floor)(sets.batch)
    kept = [frozenset(row.values.to_numpy().view("uint64").tolist()) for row in sketches.column("items")]
    hashes = all(isinstance(side, str) for side in given)
    tables = [_chosen(recipe, sets, row, kept[row], hashes=hashes) for row in range(len(given))]
    answers: list[dict[str, Any]] = [
        {"fingerprint": [hexed(s.item) if hashes else s.item for s in side if s.item in own]}
        for side, own in zip(sets.shingles, kept, strict=True)
    ]
    walked = [sets.step, beside(tables, ["#", tables[0].columns[1], f"mod {recipe.modulus}"])]
    if len(given) == 1:
        return explained(recipe, walked, answers)
    estimate, jaccard = likeness.jaccard(*kept), likeness.jaccard(*sets.items)
    same = bool(sets.items[0]) and sets.items[0] == sets.items[1]  # a run takes them for one before it compares
    similar = same or verified(sketches, steps(recipe).bound(recipe.threshold))
    rows = (
        ("fingerprints", f"{len(kept[0])} and {len(kept[1])}", "hashes kept of a and of b"),
        ("shared", str(len(kept[0] & kept[1])), "hashes in both fingerprints"),
        ("estimate", shown_fraction(estimate), "Jaccard of the fingerprints: this decides"),
        ("Jaccard", shown_fraction(jaccard), "the true value, of the whole sets"),
        ("near-duplicates", "yes" if similar else "no", f"an estimate of {exactly(recipe.threshold)} is asked for"),
    )
    last = Step("Estimate and true value", ("what", "value", "how"), rows)
    together = {"estimate": float(estimate), "jaccard": float(jaccard), "similar": similar}
    return explained(recipe, [*walked, last], answers, together)


def _chosen(recipe: ModP, sets: NamedSets, row: int, kept: frozenset[int], *, hashes: bool) -> Step:
    """Each hash with its remainder, and whether the stage keeps it."""
    rows = []
    for shingle in sets.shingles[row]:
        remainder = shingle.item % recipe.modulus
        why = ("yes" if remainder == 0 else "yes: to fill up") if shingle.item in kept else ""
        shown = hexed(shingle.item) if hashes else str(shingle.item)
        rows.append((sets.numbers[shingle.item], shown, remainder, why))
    fill = f" A document with fewer than {recipe.floor} is filled up with its smallest others." if recipe.floor else ""
    note = f"{len(kept)} of {len(rows)} are kept: those that {recipe.modulus} divides.{fill}"
    columns = ("#", "hash" if hashes else "number", f"mod {recipe.modulus}", "kept")
    return Step("The hashes that p divides are the fingerprint", columns, tuple(rows), note)
