"""Regular expressions of the package: whatever text one is given, it ends soon."""

import ast
import importlib
import pkgutil
import re
import signal
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import nearsame as ns

HOME = Path(ns.__file__).parent
SINGLE = [" ", "\t", "\n", "0", "a", "_", ".", "/", "-", "<", "'", '"', ":", ","]
UNITS = [*SINGLE, *(f" {one}" for one in SINGLE[1:]), "0a", "0.", "0-", "a.", "a_"]
BEGINNINGS, ENDS = ["", "0", "a:"], ["\0", "\n\0"]
LENGTH = 600  # by the square of it a pattern takes some hundredths of a second, by the cube more than half a one
SECONDS = 0.25  # of this process, however busy the machine is


def modules() -> Iterator[Any]:
    """All of the package but the one that runs it."""
    for found in pkgutil.walk_packages(ns.__path__, "nearsame.", onerror=importlib.import_module):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def inside(value: Any) -> Iterator[re.Pattern[Any]]:
    """The patterns in a value: itself, or what a tuple, a list or a dict holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from inside(one)


def written(path: Path) -> Iterator[re.Pattern[Any]]:
    """The patterns that calls of `re` have as literals."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), name), [ast.Constant(str() | bytes() as pattern), *_]):
                if name != "escape":
                    yield re.compile(pattern)


def patterns() -> dict[re.Pattern[Any], str]:
    """All of them, and where each is first found."""
    found: dict[re.Pattern[Any], str] = {}
    for module in modules():
        for name, value in vars(module).items():
            for pattern in inside(value):
                found.setdefault(pattern, f"{module.__name__}.{name}")
    known = {pattern.pattern for pattern in found}
    for path in sorted(HOME.rglob("*.py")):
        for pattern in written(path):
            if pattern.pattern not in known:
                found.setdefault(pattern, str(path.relative_to(HOME)))
    return found


def hostile() -> Iterator[str]:
    """One or two letters over and over, behind what may begin a match and before what ends none."""
    for unit, beginning, end in product(UNITS, BEGINNINGS, ENDS):
        yield beginning + unit * (LENGTH // len(unit)) + end


def ends_soon(pattern: re.Pattern[Any], text: str) -> bool:
    """Whether both ways to look for it do."""
    given = text.encode() if isinstance(pattern.pattern, bytes) else text
    try:
        for look in (pattern.search, pattern.fullmatch):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            look(given)
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return True


@pytest.fixture
def alarmed() -> Iterator[None]:
    """The signal of the timer is an error."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    yield
    signal.signal(signal.SIGPROF, before)


@pytest.mark.usefixtures("alarmed")
def test_a_pattern_of_cubic_time_is_seen() -> None:
    """The one by which a request once stopped a service."""
    cubic = re.compile(r"\s*([^=!<>]+?)\s*(<=|>=|!=|=|<|>)(.*)")
    assert not ends_soon(cubic, "\t" * 8 * LENGTH + "\0")  # minutes, on whatever machine


@pytest.mark.usefixtures("alarmed")
def test_no_pattern_takes_more_than_the_square_of_a_text() -> None:
    """Of each that a module holds or writes, whatever it is for."""
    found, texts = patterns(), list(hostile())
    assert len(found) > 100
    slow = {where: text[:9] for pattern, where in found.items() for text in texts if not ends_soon(pattern, text)}
    assert {} == slow
