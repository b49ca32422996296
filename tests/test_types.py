"""What a type checker says to somebody who uses the package: the examples of README and docs are right to it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # a checker reads the whole package

_PAGES = ("README.md", "docs/indexes.md", "docs/spark.md", "docs/web.md")
_GIVEN = """from decimal import Decimal
from fractions import Fraction
from typing import Any

import nearsame as ns

documents: Any = None
page: Any = None
records: Any = None
response: Any = None
index: ns.Index
"""
_FORMS = """
for threshold in (0.8, "0.8", "4/5", Decimal("0.8"), Fraction(4, 5), 1):
    ns.Jaccard(threshold=threshold, seed="random", stop_words="en,de")
    ns.Cosine(threshold=threshold)
    ns.Containment(threshold=threshold, jaccard_floor=threshold)
    ns.MinHash(threshold=threshold, seed=7)
    ns.SimHash(confirm="jaccard", threshold=threshold)
    ns.Hyperplane(threshold=threshold)
    ns.ModP(threshold=threshold, stop_words=["en"])
least: Fraction = ns.Jaccard(threshold=0.8).threshold
seed: int = ns.Jaccard(seed="random").seed
removed: int = ns.dedup(["a rose"]).stats.removed
ns.dedup("a.jsonl", method="minhash", keep="newest:date", clusters="components", use=["url", "text"], threads=2)
ns.pairs("a.jsonl", identical="star", ties="content", memory="1GB", strict=True, extract=None)
ns.evaluate("a.jsonl", methods=["minhash"], shingle_size=3, unit="chars", apart=False)
ns.plan(threshold=Fraction(3, 4), num_perm=64, html_column="page", extract="text")
with ns.Index.create("seen.ns", method=["minhash", ns.CanonicalUrl()], store="text", text_column="body") as made:
    made.add([{"body": "a rose"}], if_new=True, text_column="body")
    list(made.add_batches("a.jsonl", limit=3, strict=True))
    list(made.query_batches("a.jsonl", id_column="key"))
"""
_WRONG = """ns.Jaccard(threshold=[0.8])
ns.Jaccard(treshold=0.8)
ns.dedup("a", treads=2)
ns.dedup("a", threads="2")
ns.dedup("a", method="jacard")
ns.dedup("a", clusters="all")
ns.dedup("a", extract="body")
ns.dedup("a", use=["links"])
ns.pairs("a", identical="none")
ns.pairs("a", max_residual=0.1)
ns.evaluate("a", shingle_sise=3)
ns.plan(num_perm="64")
ns.Index.create("a", store="all")
ns.Index.create("a", method=["jaccard"])
index.add("a", if_knew=True)
ns.compare("a", "b", measure="euclid")
ns.explain("a", method="jacard")
"""


@pytest.fixture
def user(root: Path, tmp_path: Path) -> Path:
    """A project of somebody who has typed the examples in."""
    for name in _PAGES:
        found = re.findall(r"^```python\n(.*?)^```", (root / name).read_text("utf-8"), re.DOTALL | re.MULTILINE)
        assert found
        (tmp_path / f"{Path(name).stem.lower()}_page.py").write_text(_GIVEN + "\n".join(found), "utf-8")
    (tmp_path / "forms.py").write_text(_GIVEN + _FORMS, "utf-8")
    (tmp_path / "wrong.py").write_text(_GIVEN + _WRONG, "utf-8")
    return tmp_path


def _says(folder: Path, *command: str) -> list[str]:
    """The lines in which a checker finds an error."""
    found = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)
    assert not found.stderr, found.stderr
    return [line.strip() for line in found.stdout.splitlines() if re.search(r"\berror:", line)]


def _mypy(folder: Path, *files: str) -> list[str]:
    return _says(folder, "mypy", "--strict", "--config-file", "", "--ignore-missing-imports", *files)


def _pyright(folder: Path, *files: str) -> list[str]:
    return _says(folder, "basedpyright", "--level", "error", "--pythonpath", sys.executable, *files)


@pytest.mark.parametrize("checker", [_mypy, _pyright], ids=["mypy", "pyright"])
def test_examples_and_every_form_of_a_setting_are_right_to_a_type_checker(user: Path, checker) -> None:  # type: ignore[no-untyped-def]
    """A threshold as a number, a text, a fraction; read, it is a fraction."""
    names = [path.name for path in sorted(user.glob("*.py")) if path.name != "wrong.py"]
    assert [] == checker(user, *names)


@pytest.mark.parametrize("checker", [_mypy, _pyright], ids=["mypy", "pyright"])
def test_what_no_setting_can_be_is_an_error_to_a_type_checker(user: Path, checker) -> None:  # type: ignore[no-untyped-def]
    """A list, a name with a slip, a word that is none of those that there are."""
    lines = {int(re.search(r"wrong\.py:(\d+)", line)[1]) for line in checker(user, "wrong.py")}  # type: ignore[index]
    first = _GIVEN.count("\n") + 1
    assert {*range(first, first + _WRONG.count("\n"))} == lines
