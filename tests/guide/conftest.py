"""Where the blocks of a page are run."""

import math

import pytest

from nearsame.outputs import steps

from .blocks import surroundings


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that is the current one, in a terminal as the pages have it, however busy the machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(steps, "_EVERY_SECONDS", math.inf)
    for name, value in surroundings().items():
        monkeypatch.setenv(name, value)
    return tmp_path
