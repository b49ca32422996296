"""Places for an index: the same tests hold for a file and for PostgreSQL."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An address where no index is yet."""
    if request.param == "sqlite":
        return str(tmp_path / "index.ss")
    url: str = request.getfixturevalue("postgres_url")
    return url
