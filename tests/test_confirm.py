"""A second measure: pairs reach both, whatever the method; where it can mean nothing it is refused in words."""

from pathlib import Path
from typing import Any

import pytest

import nearsame as ns
from tests.cli.commands import documents, run, write_jsonl

NAMES = ["maria garcia lopez", "maria garcia lopes", "garcia lopez maria", "Maria  Garcia Lopez", "!!!", "!!!", None]
CHARS: dict[str, Any] = {"unit": "chars", "shingle_size": 3}


@pytest.mark.parametrize(
    "method",
    [
        ns.Jaccard(threshold=0.6, confirm="edit", **CHARS),
        ns.Cosine(threshold=0.7, confirm="edit", **CHARS),
        ns.Containment(threshold=0.7, confirm="edit", **CHARS),
        ns.MinHash(threshold=0.6, confirm="edit", **CHARS),
        ns.MinHash(threshold=0.5, confirm="edit", verify="estimate", **CHARS),
        ns.ModP(threshold=0.6, modulus=1, confirm="edit", **CHARS),
    ],
    ids=lambda method: f"{method.name} {method.reports}",
)
def test_names_in_another_order_are_not_the_same_letter_by_letter(method: Any) -> None:
    """Nor are other capitals, though the sets are equal; copies of a text without letters are copies."""
    plain = type(method)(**{name: value for name, value in method.settings.items() if name != "confirm"})
    loose, strict = (
        {(p["a_row"], p["b_row"]) for p in ns.pairs(NAMES, method=m).table.to_pylist()} for m in (plain, method)
    )
    assert {(0, 1), (0, 2), (1, 2), (0, 3), (2, 3), (1, 3), (4, 5)} == loose
    assert {(0, 1), (0, 3), (4, 5)} == strict
    assert [1, 3, 5] == sorted(ns.dedup(NAMES, method=method).removals.column("row").to_pylist())


@pytest.mark.parametrize(
    ("method", "settings", "said"),
    [
        (ns.Jaccard, {"confirm": "jaccard"}, "confirm=jaccard is what method jaccard compares by"),
        (ns.Cosine, {"confirm": "cosine"}, "confirm=cosine is what method cosine compares by"),
        (ns.MinHash, {"confirm": "jaccard"}, "confirm=jaccard is what method minhash compares by"),
        (ns.Jaccard, {"confirm_threshold": 0.9}, "confirm_threshold=0.9 does nothing without confirm"),
        (ns.Jaccard, {"confirm": "edit", "confirm_threshold": 2}, "confirm_threshold=2: 2 is not above 0"),
        (ns.Jaccard, {"confirm": "cosine", "confirm_threshold": "0.12345678901"}, "has a denominator above 10"),
        (ns.Jaccard, {"confirm": "edit", "drop_boilerplate": 9}, "confirm=edit compares whole texts"),
        (ns.Containment, {"confirm": "edit", "jaccard_floor": 0.1}, "jaccard_floor=0.1 and confirm=edit cannot be"),
        (ns.Digest, {"confirm": "edit"}, "confirm='edit': "),
        (ns.Hyperplane, {"confirm": "edit"}, "confirm='edit': "),
    ],
)
def test_what_can_mean_nothing_is_refused(method: Any, settings: dict[str, Any], said: str) -> None:
    """A measure twice, a threshold of nothing, letters of what has none."""
    with pytest.raises(ns.ConfigError) as caught:
        method(**settings)
    assert said in str(caught.value)


def test_where_there_are_no_pairs_or_no_letters_it_is_refused(tmp_path: Path) -> None:
    """Two texts alone, an index, ready features."""
    method = ns.MinHash(confirm="edit")
    for ask, said in (
        (lambda: ns.compare("a b c", "a b d", method=method), "does nothing to two texts"),
        (lambda: ns.Index.create(tmp_path / "a.ns", method=method), "does nothing to an index, which grows"),
        (lambda: ns.pairs({"items": [["a"]]}, method=method, features_column="items"), "confirm=edit does nothing to"),
    ):
        with pytest.raises(ns.ConfigError) as caught:
            ask()
        assert said in str(caught.value)


@pytest.mark.parametrize("name", ["jaccard", "cosine", "minhash", "modp"])
def test_evaluation_asks_the_same_question(name: str) -> None:
    """What does not reach the second measure is not missed."""
    methods = [f"{name}:threshold=0.5:confirm=edit:confirm_threshold=0.9:unit=chars:shingle_size=3"]
    [score] = ns.evaluate(
        [*map(str, NAMES[:4]), *(d["text"] for d in documents())], methods=methods, apart=False
    ).scores
    assert (score.pairs, score.recall) == (score.both, 1)


def test_an_output_says_and_keeps_what_was_asked(tmp_path: Path) -> None:
    """On the command line, proven, and told as the guarantee; a witness that is not confirmed would be found out."""
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(NAMES)])
    options = ["--unit", "chars", "--shingle-size", "3", "--threshold", "0.6", "--confirm", "edit"]
    done = run("dedup", path, "-o", tmp_path / "out", *options, "--confirm-threshold", "0.9")
    assert "no two kept documents have Jaccard >= 0.6 and edit >= 0.9" in " ".join(done.stdout.split())
    assert ns.verify(tmp_path / "out").holds
    done = run("dedup", path, "-o", tmp_path / "audited", *options, "--audit")
    assert "recall (Jaccard >= 0.6 and edit >= 0.8) 100 %" in " ".join(done.stdout.split())
    assert ns.verify(tmp_path / "audited").holds
    stats = tmp_path / "out" / "stats.json"
    stats.write_text(stats.read_text("utf-8").replace('"confirm_threshold": 0.9', '"confirm_threshold": 0.95'), "utf-8")
    problems = [problem.what for problem in ns.verify(tmp_path / "out").problems]
    assert any("their edit similarity is below confirm_threshold=0.95" in problem for problem in problems), problems


def test_equal_sets_that_letters_alone_join_make_a_component(tmp_path: Path) -> None:
    """They are no copies, so a component may have no similarity but 1."""
    texts = ["one two three four five six seven", "six seven one two three four five"]
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": text} for text in texts])
    method = ns.Jaccard(threshold=1, shingle_size=1, confirm="edit", confirm_threshold="0.1")
    found = ns.dedup(str(path), method=method, clusters="components")
    found.write(tmp_path / "out")
    assert found.stats.component is not None
    assert () == ns.verify(tmp_path / "out").problems
