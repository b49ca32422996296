"""What all tests of the command line need."""

import math

import pytest

from nearsame.outputs import steps


@pytest.fixture(autouse=True)
def no_progress_lines(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a loaded machine a run takes seconds, and tells of it: not where a test reads standard error to the letter."""
    if "progress" not in request.path.name:
        monkeypatch.setattr(steps, "_EVERY_SECONDS", math.inf)
