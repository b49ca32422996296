"""What every test may ask for: the Hypothesis profile, the checkout, the real corpora, Spark and PostgreSQL."""

import gc
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import parts, sparks, verified
from tests.examples import share
from tests.postgres import Server, programs

ROOT = Path(__file__).resolve().parent.parent

# No deadline: the first example pays for compilation, and machines are shared (the same holds for slow draws).
settings.register_profile("here", deadline=None, max_examples=share(100), suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(autouse=True)
def every_output_is_verified(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever `dedup` writes in a test is proved again as soon as it is there; see tests/verified.py."""
    if "unverified" not in request.keywords:
        verified.watch(monkeypatch)


@pytest.fixture(autouse=True)
def _threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little is done by the thread that asks for it, but in tests about threads (`threaded`)."""
    if "threaded" in request.keywords:
        monkeypatch.setattr("nearsame.engines.local._LITTLE_BYTES", 0)


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it for what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real corpora, which is not part of the project; the test is skipped where it is absent."""
    folder = Path(os.environ.get("NEARSAME_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real corpora in {folder}: set NEARSAME_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session; the test is skipped where there is no Java, but in CI it fails."""
    sparks.require_java()
    session = sparks.session()
    yield session
    session.stop()


@pytest.fixture
def setting(spark: Any) -> Iterator[Callable[[str, str], None]]:
    """Changes a setting of the Spark session, which gets its value back."""
    before: dict[str, Any] = {}

    def given(name: str, value: str) -> None:
        before.setdefault(name, spark.conf.get(name, None))
        spark.conf.set(name, value)

    yield given
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)


@pytest.fixture(autouse=True)
def _cluster(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few documents are for the cluster, too, but in tests about that (`few`)."""
    if "spark" in request.fixturenames and request.node.get_closest_marker("few") is None:
        monkeypatch.setattr("nearsame.frames.request.few_of", lambda *_, **__: None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server of this process's own; the test is skipped where PostgreSQL is not installed."""
    yield from _server(durable=False)


@pytest.fixture(scope="session")
def durable_postgres() -> Iterator[Server]:
    """Another that forces what it commits to the disk."""
    yield from _server(durable=True)


@pytest.fixture
def postgres_url(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A place for an index that no other test uses; outputs do not keep its password, by which they are verified."""
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    return postgres.url(f"t{uuid.uuid4().hex[:12]}")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An address where no index is yet: the same tests hold for a file and for PostgreSQL."""
    if request.param == "sqlite":
        return str(tmp_path / "index.ns")
    url: str = request.getfixturevalue("postgres_url")
    return url


def _server(*, durable: bool) -> Iterator[Server]:
    if programs() is None:
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is not installed, and CI must test with it: install Debian's postgresql")
        pytest.skip("PostgreSQL is not installed: install Debian's postgresql")
    server = Server(durable=durable)
    yield server
    server.close()


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test on Spark is slow unless it says `usual` or `long`; and what pyspark leaves open is not ours to close.

    Modules on Spark come first: a run of several processes must not end with one of them.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
            if not any(item.iter_markers("usual")) and not any(item.iter_markers("long")):
                item.add_marker(pytest.mark.slow)
    first = {item.path for item in items if "spark" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path not in first)
    own = zip(items, parts.in_part((item.nodeid for item in items), *parts.asked()), strict=True)
    left_out = {item for item, is_in_part in own if not is_in_part and any(item.iter_markers("slow"))}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """What is there before the first test stays to the end: collecting garbage need not look at it each time."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """And it goes before a test that would be blamed for it."""
    if "spark" in getattr(item, "fixturenames", ()):
        gc.collect()
