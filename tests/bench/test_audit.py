"""The benchmark of the audit: its truth is what an audit of all documents prints, and what it counts."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from nearsame.flow import audits

HERE = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Benchmarks are scripts that import each other from their own folder; a run says how many documents to sample."""
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setattr(audits, "_NUM_AUDITED", 0)  # and after the test as it was
    return import_module("audit")


@pytest.fixture
def corpus(audit: Any) -> Any:
    """Groups of many versions."""
    return audit.made([60, 60, 30])


@pytest.mark.parametrize("way", range(7))
def test_where_all_documents_are_audited_the_truth_is_printed(
    audit: Any, corpus: Any, way: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two computations of one share, by the benchmark and by the audit, agree to the digits that are sure."""
    monkeypatch.setattr(audit, "SAMPLED", 1)
    assert 7 == len(audit.WAYS)
    for one in audit.run(corpus, audit.WAYS[way], seed=5).values():
        assert one["printed"][0] == pytest.approx(one["truth"], rel=1e-3)


def test_one_in_five_documents_is_audited(audit: Any, corpus: Any) -> None:
    """Then the printed share is an estimate, and not the same for every seed."""
    runs = [audit.run(corpus, audit.WAYS[0], seed)["recall"] for seed in range(4)]
    assert len({one["printed"][0] - one["truth"] for one in runs}) > 1
    assert len(corpus.texts) // 5 == audits._NUM_AUDITED


def _one(truth: float | None, *printed: float) -> dict[str, Any]:
    return {"truth": truth, "printed": list(printed) or None}


def test_what_is_counted_are_the_runs_that_printed_an_interval(audit: Any) -> None:
    """And too few of them are set in bold."""
    done = [_one(0.9, 0.91, 0.85, 0.95)] * 9 + [_one(0.9, 0.8, 0.7, 0.89), _one(0.9), _one(None, 1.0, 0.9, 1.0)]
    assert [True] * 9 + [False, None, None] == [audit.holds(one) for one in done]
    assert "9 of 10 (90, 11)" == audit.cell(done)
    assert audit.cell(done[1:]).startswith("**8 of 9**")
    assert "-" == audit.cell(done[10:])
