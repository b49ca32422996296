"""Runs inside the tests say nothing of their progress: how often they would depends on the machine."""

import pytest

from samesame.outputs import progress


@pytest.fixture(autouse=True)
def _no_progress(monkeypatch):
    """Not even where a kernel is compiled first."""
    monkeypatch.setattr(progress, "_EVERY_SECONDS", float("inf"))
