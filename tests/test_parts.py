"""Parts of the slow tests: each test is in one of them, and CI takes one by the commit."""

import os
import subprocess
import sys

import pytest

from tests.parts import asked, in_part

NAMES = [f"tests/test_{module}.py::test_{number}[case-{number}]" for module in range(40) for number in range(25)]


@pytest.mark.parametrize("parts", [1, 2, 4, 7])
def test_each_test_is_in_one_part(parts):
    """And parts are of about one size."""
    found = [in_part(NAMES, part, parts) for part in range(1, parts + 1)]
    assert {1} == {sum(of_name) for of_name in zip(*found, strict=True)}
    assert all(abs(sum(of_part) - len(NAMES) / parts) < 0.3 * len(NAMES) / parts for of_part in found)


def test_a_part_is_asked_for_by_the_environment():
    """All tests without a word; what is no part is told."""
    assert asked({}) == (1, 1)
    assert asked({"NEARSAME_PART": "3/4"}) == (3, 4)
    for wrong in ("0/4", "5/4", "2", "x/y"):
        with pytest.raises(ValueError, match=r"NEARSAME_PART|invalid literal"):
            asked({"NEARSAME_PART": wrong})


def test_only_slow_tests_are_in_parts(root, tmp_path):
    """The others of a module run with every part."""
    (tmp_path / "test_some.py").write_text(
        "import pytest\n"
        "@pytest.mark.slow\n"
        "@pytest.mark.parametrize('n', range(30))\n"
        "def test_slow(n): pass\n"
        "@pytest.mark.parametrize('n', range(30))\n"
        "def test_quick(n): pass\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n  usual\n  long\n  few\n  threaded\n  unverified\n")
    slow = 0
    for part in ("1/3", "2/3", "3/3"):
        names = _collected(root, tmp_path, part)
        assert sum("test_quick" in name for name in names) == 30
        slow += sum("test_slow" in name for name in names)
    assert slow == 30


def _collected(root, folder, part):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "tests.conftest", str(folder)]
    environment = {**os.environ, "NEARSAME_PART": part, "PYTHONPATH": os.pathsep.join((str(root / "src"), str(root)))}
    return subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=folder, env=environment
    ).stdout.splitlines()


def test_ci_takes_one_part(root):
    """Another one for another commit, and the first where none is known."""
    script = (root / ".ci" / "run").read_text()
    line = next(line for line in script.splitlines() if line.startswith("part="))
    for name, expected in (("89abcd4", "1/4"), ("0000001", "2/4"), ("89abcde", "3/4"), ("fffffff", "4/4"), ("", "1/4")):
        stub = f"git() {{ printf '%s' '{name}'; }}; {line}; printf '%s' \"$part\""
        part = subprocess.run(["bash", "-euc", stub], capture_output=True, text=True, check=True).stdout  # noqa: S607  (bash, and a line of ours)
        assert expected == part
    assert '\nNEARSAME_PART="$part" scripts/test -m slow' in script
