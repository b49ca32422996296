"""The counts of the house: what they count, by a small one."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parents[2] / "bench"
COMMON = """    total = 0
    for number in range(limit):
        if number % 3 == 0 and number % 5 != 0:
            total += number * number - 1
    print(total, limit, sep=" of ", end=";")
    return total
"""
OFF = "no" + "qa"
ASKING = "def ask(a, b, c, d, e, f, g):\n    return isinstance(a, Jaccard)\n"


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Benchmarks are scripts that import each other from their own folder."""
    monkeypatch.syspath_prepend(HERE)
    return import_module("house")


def test_rooms_arrows_questions_and_copies_are_counted(house: Any, tmp_path: Path) -> None:
    """Two folders and a loose module, one of which imports another; a question for a method, and one at its place."""
    for name, text in {
        "__init__.py": '"""A house."""\n',
        "loose.py": "from small.one import first\n",
        "one/__init__.py": "",
        "one/first.py": f"def count(limit):\n{COMMON}\n\n{ASKING}",
        "two/__init__.py": "",
        "two/second.py": f"def again(limit):\n    'Likewise.'\n{COMMON}",
        "flow/steps.py": f"def steps(method):\n    return isinstance(method, MinHash)  # {OFF}: X1\n",
        "flow/__init__.py": "",
    }.items():
        path = tmp_path / "src" / "small" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / ".importlinter").write_text(
        "layers =\n    loose\n    one | two\n    flow\nexhaustive = True\n", "utf-8"
    )
    counts = house.counts(tmp_path)
    assert (4, 1, 3, 1) == tuple(counts[name] for name in ("rooms", "loose modules", "layers", "arrows between rooms"))
    assert 1 == counts["tests on the method outside its place"]
    assert 1 == counts["functions much the same in two modules"]
    assert (1, 1) == (counts["functions of more than six arguments"], counts["rules switched off"])
