"""What is cut out of documents is what was found, and nothing is left to be found."""

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.passages import merged, without
from nearsame.recipes.leaks import LeakRule
from nearsame.stages.features import leak_cuts
from nearsame.stages.features.leak_cuts import CutStage
from nearsame.stages.features.sought import SoughtTexts
from tests.oracle import leaks as oracle
from tests.studies.leak_cases import small_cases

NESTED = "a b c d " * 40 + "e f g h " * 40  # with each cut the rest comes together to be the next


@given(small_cases(), st.integers(1, 3), st.sampled_from(["0.4", "0.8", "1"]), st.sampled_from(["1", "2"]))
@example(([(0, ("a b c Dd é f",))], ["a b c Dd é f, x a b c Dd é f"]), 2, "0.8", "2")
@example(([(0, ("a b", "c f"))], ["xa b-c f漢漢", "漢a b c f漢"]), 1, "1", "2")
@example(([(0, ("a b c Dd",))], ["a b a b c Dd c Dd f"]), 1, "1", "1")
def test_cuts_leave_nothing_to_be_found(case: Any, size: int, threshold: str, window: str) -> None:
    """Each passage has enough of its text, no other document is touched, and nothing is found in what is left."""
    texts, documents = case
    rule = LeakRule(Fraction(threshold), size, Fraction(window), 9, 0)
    settings = {"size": size, "threshold": rule.threshold, "window": rule.window}
    asked = oracle.texts_of(texts, size=size, most=9, least_bytes=0)
    cuts = _cuts(documents, texts, rule)
    for row, document in enumerate(documents):
        own = [line for line in cuts if line["row"] == row]
        leaked = {number for number, text in enumerate(asked) if oracle.leaks(text, document or "", **settings)}
        assert bool(leaked) == bool(own)
        for line in own:
            best = oracle.leaks(asked[line["text"]], line["passage"], **settings)
            assert best is not None
            assert line["shared"] <= best.shared
        left = without(document or "", merged((line["start"], line["end"]) for line in own)).text
        assert [] == [text for text in asked if oracle.leaks(text, left, **settings) is not None]
        assert all(line["left"] == bool(oracle.words(left)) for line in own)


def _cuts(documents: list[str | None], texts: Any, rule: LeakRule) -> list[dict[str, Any]]:
    """CUTS, in which a text is called by its place in the list."""
    sought = SoughtTexts.made([text for _, text in texts], [number for number, _ in texts], rule)
    rows = pa.array(range(len(documents)), pa.int64())
    batch = pa.RecordBatch.from_arrays([rows, pa.array(documents, pa.large_string())], ["row", "text"])
    of = sought.of.tolist()
    return [{**line, "text": of.index(line["text"])} for line in CutStage(sought)(batch).to_pylist()]


def test_the_first_turn_cuts_all_places_of_a_text() -> None:
    """However often it stands there, and of two that overlap the better one."""
    lines = _cuts(["so: A b c d! a b c d; b c d e, a b c"], [(0, ("a b c d",)), (0, ("b c d e",))], _rule(1))
    assert [("A b c d", 0), ("a b c d", 0), ("b c d e", 1)] == sorted((line["passage"], line["text"]) for line in lines)
    assert [(4, 11), (13, 20), (22, 29)] == sorted((line["start"], line["end"]) for line in lines)


def test_words_that_come_together_are_cut_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """In another turn, by their place in the whole document; where that does not end, the document goes."""
    texts = [(0, ("a b c d e f g h",))]
    (first, *others) = _cuts([f"x {NESTED}y"], texts, _rule(8))
    assert (39, [True] * 39) == (len(others), [line["left"] for line in others])
    assert all(line["start"] < first["start"] and first["end"] < line["end"] for line in others)
    monkeypatch.setattr(leak_cuts, "_TURNS", 39)
    assert {False} == {line["left"] for line in _cuts([f"x {NESTED}y"], texts, _rule(8))}


def _rule(size: int) -> LeakRule:
    return LeakRule(Fraction(1), size, Fraction(1), 9, 0)
