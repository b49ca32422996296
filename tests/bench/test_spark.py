"""The benchmark of Spark: what its tables say of what was seen."""

from fractions import Fraction
from pathlib import Path

import pytest

KNOWN = (Fraction(4, 5), {(0, 1): Fraction(1), (2, 3): Fraction(9, 10)}, frozenset({1, 3}))
TEXTS = ["a b c d e f", "a b c d e f", "g h i j k l", "g h i j k l"]


@pytest.fixture
def script(monkeypatch):
    """Benchmarks are scripts that import each other from their own folder."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "bench")
    import spark

    return spark


def seen(script, seconds, answer, **more):
    """One run."""
    run = {
        "seconds": seconds,
        "task_seconds": 3.6,
        "shuffle_bytes": 4000,
        "answer": answer,
        "said": {},
        "jobs": 3,
        "tasks": 1200,
        **more,
    }
    return script.Seen([run])


def test_recall_and_precision_are_of_pairs(script):
    """Whichever way round a pair is told; others are compared with ours as it comes, by the cluster, and of sets."""
    found = {
        "nearsame jaccard": seen(script, 2.0, [[0, 1], [3, 2]]),
        script.ALONE: seen(script, 5.0, [[0, 1], [3, 2]]),
        script.READY: seen(script, 1.0, [[0, 1], [3, 2]]),
        "MLlib, 2 tables": seen(script, 30.0, [[0, 1], [0, 2]]),
    }
    ours, *_, theirs = script.peer_rows(found, len(TEXTS), frozenset(KNOWN[1]))
    assert ("nearsame jaccard", "2.00", "2", "0.0", "2", "100.00%", "100.00%", "", "", "") == ours
    assert ("MLlib, 2 tables", "30.00", "0", "0.0", "2", "50.00%", "50.00%", "15.0", "6.0", "30.0") == theirs


def test_a_ratio_is_to_one_machine(script):
    """Of the same method, in the same run; a prediction stands where the run made one."""
    foretold = {"predicted": {"minhash": {"bytes": 5_000_000}}}
    room = {"said": {"room": {"shuffle": foretold}, "recipe": {"method": "minhash"}}}
    found = {}
    for method in script.METHODS:
        found[f"{method}, one machine"] = seen(script, 2.0, [[1, 0], [3, 2]])
        found[f"{method}, Spark"] = seen(script, 9.0, [[1, 0], [3, 2]], **room)
        found[f"{method}, {script.BY_CLUSTER}"] = seen(script, 12.0, [[1, 0], [3, 2]], **room)
        found[f"{method}, {script.AT_SCALE}"] = seen(script, 20.0, [[1, 0], [3, 2]], **room)
    one, other, whole, scaled, *_ = script.overhead_rows(found, TEXTS, script.truth.Truth(*KNOWN))
    assert ("minhash, one machine", "2.00", "1.0", "", "", "", "", "", "", "2", "100.00%", "100.00%") == one
    assert ("minhash, Spark, by the cluster", "12.00", "6.0") == whole[:3]
    assert ("minhash, Spark, as at scale", "20.00", "10.0") == scaled[:3]
    work, quality = ("3", "1,200", "3.6", "0.0", "5.0", "1,000"), ("2", "100.00%", "100.00%")
    assert ("minhash, Spark", "9.00", "4.5", *work, *quality) == other


def test_the_other_way_to_count_is_held_against_the_join(script):
    """Bytes a document, and how many times those of the whole join."""
    joined = f"jaccard, {script.BY_CLUSTER}"
    found = {joined: seen(script, 2.0, []), script.COUNTS: seen(script, 5.0, [], shuffle_bytes=10_000)}
    said = script.counts_text(found, 10)
    assert "1,000 bytes a document" in said
    assert "2.5 times what the whole exact join" in said
