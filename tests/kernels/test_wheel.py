"""A wheel answers where nothing can be compiled: without Numba, a home, or a folder that it may write to."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from nearsame.kernels import _built, building
from tests.cli.commands import documents, write_jsonl

ROOT = Path(__file__).resolve().parents[2]
NOT_THERE = {"llvmlite", "numba"}

pytestmark = [
    pytest.mark.slow,  # it builds all kernels for two levels of processors, which takes some minutes
    pytest.mark.skipif(not building.can_build(), reason="kernels are built ahead for Linux on x86-64"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that `make wheel` makes, or the one that NEARSAME_WHEEL names."""
    if os.environ.get("NEARSAME_WHEEL"):
        return Path(os.environ["NEARSAME_WHEEL"])
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, "-w", folder, ROOT], check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """What `pip install` of the wheel makes of an empty environment, but for Numba; nobody may write there."""
    site = tmp_path_factory.mktemp("installed", numbered=False)
    todo, seen = ["nearsame"], set(NOT_THERE)
    while todo:
        name = todo.pop()
        for needed in map(Requirement, distribution(name).requires or ()):
            if needed.name not in seen and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
                seen.add(needed.name)
                todo.append(needed.name)
                for top in {path.parts[0] for path in distribution(needed.name).files} - {"..", "__pycache__"}:
                    if not (site / top).exists():
                        (site / top).symlink_to(Path(sysconfig.get_path("purelib"), top))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for path in (site / "nearsame").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return site


def run(site, folder, *arguments, **variables):
    """A command of the wheel without a home, and without a place for temporary files; root could write anywhere."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "HOME": "/nowhere", "TMPDIR": "/nowhere"}
    command, before = [sys._base_executable, "-B", "-s", *arguments], set(site.rglob("*"))
    done = subprocess.run(command, cwd=folder, env=environment | variables, capture_output=True, text=True, check=False)
    assert (before, False) == (set(site.rglob("*")), Path("/nowhere").exists())
    return done


def test_a_wheel_is_for_the_platform_that_its_libraries_are_for(wheel):
    """Both levels are in it, and nothing of the checkout's own."""
    assert wheel.name.endswith("-py3-none-manylinux_2_17_x86_64.whl")
    with zipfile.ZipFile(wheel) as archive:
        built = "nearsame/kernels/built/"
        contents = json.loads(archive.read(built + _built.CONTENTS))
        inside = {name.removeprefix(built) for name in archive.namelist() if name.startswith(built)}
    assert ["x86-64-v3", "x86-64-v2"] == list(contents["levels"])
    assert {_built.CONTENTS, *(each["file"] for each in contents["levels"].values())} == inside


@pytest.mark.parametrize("method", ["jaccard", "minhash", "simhash"])
def test_the_first_run_compiles_nothing_and_the_second_says_the_same(method, site, tmp_path):
    """Numba is not even there, and nothing is written but the answer."""
    write_jsonl(tmp_path / "texts.jsonl", documents())
    assert "No module named 'numba'" in run(site, tmp_path, "-c", "import numba").stderr
    told = []
    for out in ("first", "second"):
        done = run(site, tmp_path, "-m", "nearsame", "dedup", "texts.jsonl", "-o", out, "--method", method)
        assert (0, "") == (done.returncode, done.stderr.partition("error")[2])
        told.append((tmp_path / out / "removed.parquet").read_bytes())
    assert told[0] == told[1]
    assert {"texts.jsonl", "first", "second"} == {path.name for path in tmp_path.iterdir()}


def test_both_levels_and_numba_answer_the_same(site, tmp_path):
    """Whole runs of several methods, byte for byte."""
    code = """if True:
        import hashlib, os, pathlib, sys, nearsame as ns
        from nearsame.kernels import _built
        if level := os.environ.get("LEVEL"):
            contents = _built.json.loads((_built.FOLDER / _built.CONTENTS).read_bytes())
            folder = pathlib.Path(level).resolve()
            folder.mkdir()
            (folder / contents["levels"][level]["file"]).symlink_to(_built.FOLDER / contents["levels"][level]["file"])
            only = {level: contents["levels"][level]}
            (folder / _built.CONTENTS).write_text(_built.json.dumps(contents | {"levels": only}))
            found = _built.library(folder)
            assert level in found.code._name
            _built.library = lambda: found
        words = [f"w{number * number % 97}" for number in range(400)]
        texts = [" ".join(words[start : start + 60 + start % 7]) for start in range(0, 300, 3)] * 2
        texts += ["", "é ß Ǆ", "中文字"]
        answer = hashlib.blake2b()
        for method in (ns.Jaccard(seed=7), ns.Containment(), ns.MinHash(seed=7), ns.SimHash(), ns.ModP(), ns.Digest()):
            for table in (ns.dedup(texts, method=method).removed(), ns.pairs(texts, method=method).table):
                answer.update(repr(table.to_pylist()).encode())
        print(answer.hexdigest())"""
    told = set()
    for level in ("x86-64-v3", "x86-64-v2"):
        if set(building.LEVELS[level]) <= _built.flags_of_processor():
            done = run(site, tmp_path, "-c", code, LEVEL=level)
            assert 0 == done.returncode, done.stderr
            told.add(done.stdout)
    jit = {**os.environ, "NEARSAME_KERNELS": "jit"}
    told.add(subprocess.run([sys.executable, "-c", code], env=jit, capture_output=True, text=True, check=True).stdout)
    assert 1 == len(told)
