"""Kernels that were compiled ahead: the same numbers as Numba's, and Numba's where nothing was built for a call."""

import ast
import gc
import json
import os
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from nearsame.errors import ConfigError
from nearsame.kernels import _built, boilerplate, building, sets
from nearsame.kernels._built import Kernel, kind_of
from tests.kernels import made

ROOT = Path(__file__).resolve().parents[2]
SIGNATURES = """\
nearsame.kernels.boilerplate.num_frequent nearsame.kernels.boilerplate.Slots(u8,u8,i8,b1,u1:1),i8 r
nearsame.kernels.sets.digest_set u8:1,i8,i8 r
nearsame.kernels.sets.intersect_sorted u8:1,i8,i8,i8,i8,i8 r
nearsame.kernels.sets.mark_repeats u8:1,i8,u8:1 ww
tests.kernels.made.doubled u8:1 r
tests.kernels.made.halves f8,b1 -
tests.kernels.made.too_much i8 -
tests.kernels.made.upper u8:1,i8 r
"""


needs_linux = pytest.mark.skipif(not building.can_build(), reason="kernels are built ahead for Linux on x86-64")
pytestmark = needs_linux


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A library of a few kernels with its table of contents; Numba comes to each call that nothing was built for."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "signatures.txt").write_text(SIGNATURES)
    building.build([building.best_level()], folder, folder / "signatures.txt")
    return folder


@pytest.fixture
def built(folder):
    """The kernel of that library for one of ours, which cannot turn to Numba."""

    def kernel(ours):
        found = Kernel(ours.py_func, _built.library(folder))
        found.__dict__["compiled"] = None
        return found

    return kernel


def test_what_is_taken_and_returned_is_as_with_numba(built):
    """Arrays that are read and written, a tuple with names, numbers of each kind, and tuples."""
    values = np.array([1, 4, 5, 9, 2, 4, 9, 11], np.uint64)
    assert 2 == built(sets.intersect_sorted)(values, 0, 4, 4, 8, 1)
    assert sets.digest_set(values, 0, 4) == built(sets.digest_set)(values, 0, 4)
    marked, expected = (np.array([7, 3, 7, 7], np.uint64) for _ in range(2))
    sets.mark_repeats(expected, 4, np.zeros(4, np.uint64))
    built(sets.mark_repeats)(marked, 4, np.zeros(4, np.uint64))
    assert expected.tolist() == marked.tolist()
    slots = boilerplate.Slots(np.uint64(0), np.uint64(0), 4, False, np.array([9, 0, 3, 200], np.uint8))
    assert 2 == built(boilerplate.num_frequent)(slots, 4)
    assert [-1.25, 1.25] == [built(made.halves)(2.5, is_negative) for is_negative in (True, False)]


def test_an_array_that_a_kernel_makes_lives_as_long_as_a_view_of_it(built):
    """Its memory is its own: other calls do not write over it, and it is given back once."""
    doubled = built(made.doubled)
    views = [doubled(np.full(1_000, number, np.uint64))[10:20] for number in range(200)]
    gc.collect()
    assert [[2 * number] * 10 for number in range(200)] == [view.tolist() for view in views]
    assert [] == doubled(np.zeros(0, np.uint64)).tolist()


def test_an_array_that_was_given_is_returned_as_a_view_of_it(built):
    """Not as a copy, and not as memory of the kernel's."""
    values = np.arange(6, dtype=np.uint64)
    rest, size, is_nothing = built(made.upper)(values, 4)
    assert ([4, 5], 2, False) == (rest.tolist(), size, is_nothing)
    assert np.shares_memory(values, rest)


def test_without_memory_it_is_an_error(built):
    """As in Python; nothing ends the process."""
    with pytest.raises(MemoryError, match="no memory for what too_much works with"):
        built(made.too_much)(2**58)


@pytest.mark.parametrize(
    "values",
    [np.arange(4, dtype=np.int32), np.arange(8, dtype=np.uint64)[::2], np.zeros((2, 2), np.uint64)],
    ids=["type", "gaps", "dimensions"],
)
def test_what_nothing_was_built_for_is_compiled(values, folder):
    """Another type, an array with gaps, other dimensions."""
    kernel = Kernel(sets.sort_distinct.py_func, _built.library(folder))
    kernel.__dict__["compiled"] = lambda *_: "Numba's"
    doubled = Kernel(made.doubled.py_func, _built.library(folder))
    doubled.__dict__["compiled"] = lambda *_: "Numba's"
    assert ["Numba's"] * 2 == [kernel(values), doubled(values)]


def test_what_may_not_be_written_to_is_not(folder):
    """Numba refuses such an array where the kernel writes; the library would not notice."""
    kernel = Kernel(sets.mark_repeats.py_func, _built.library(folder))
    kernel.__dict__["compiled"] = lambda *_: "Numba's"
    values = np.array([7, 7], np.uint64)
    values.flags.writeable = False
    assert "Numba's" == kernel(values, 2, np.zeros(2, np.uint64))
    assert [7, 7] == values.tolist()


def test_a_library_of_other_sources_or_for_other_machines_is_passed_over(folder, tmp_path):
    """A kernel that was changed is never the one from before."""
    contents = json.loads((folder / _built.CONTENTS).read_bytes())
    needs = {level: each | {"needs": ["no-processor-has-this"]} for level, each in contents["levels"].items()}
    away = {level: each | {"file": "away.so"} for level, each in contents["levels"].items()}
    for change in ({"sources": "0" * 32}, {"levels": needs}, {"levels": away}):
        (tmp_path / _built.CONTENTS).write_text(json.dumps(contents | change))
        assert _built.library(tmp_path) is None
    for text in ("{", "[]", "{}"):
        (tmp_path / _built.CONTENTS).write_text(text)
        assert _built.library(tmp_path) is None
    assert _built.library(tmp_path / "nothing") is None


@pytest.mark.slow
def test_a_build_takes_the_place_of_the_one_before_at_once(folder, tmp_path):
    """What was there is there until the new table of contents is, and then what nothing names is gone."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "x86-64-v3-00000000.so").write_bytes(b"of another build")
    before = (tmp_path / _built.CONTENTS).read_bytes()
    (tmp_path / "bad.txt").write_text("nearsame.kernels.sets.none_such u8:1 r\n")
    with pytest.raises(ConfigError, match="none_such cannot be compiled for u8:1"):
        building.build([building.best_level()], tmp_path, tmp_path / "bad.txt")
    assert before == (tmp_path / _built.CONTENTS).read_bytes()
    assert _built.library(tmp_path) is not None
    (tmp_path / "one.txt").write_text("tests.kernels.made.doubled u8:1 r\n")
    building.build([building.best_level()], tmp_path, tmp_path / "one.txt")
    named = json.loads((tmp_path / _built.CONTENTS).read_bytes())["levels"][building.best_level()]["file"]
    assert [named] == [path.name for path in tmp_path.glob("*.so")]
    assert ["tests.kernels.made.doubled"] == list(_built.library(tmp_path).entries)


def test_what_cannot_be_built_is_a_line_and_a_hint(tmp_path, monkeypatch, capsys):
    """Not a traceback: for a signature that no kernel has, and for a processor that is not known."""
    monkeypatch.setattr("sys.argv", ["building", "--folder", str(tmp_path)])
    monkeypatch.setattr(building, "build", lambda *_: (_ for _ in ()).throw(ConfigError("what", hint="do")))
    assert 2 == building.main()
    monkeypatch.setattr(building, "best_level", lambda: None)
    assert 0 == building.main()
    assert ["what", "do", "Kernels are compiled at their first call"] == [
        line.partition(":")[0] for line in capsys.readouterr().err.splitlines()
    ]


def test_a_build_in_the_background_is_started_where_one_is_missing(folder, tmp_path, monkeypatch, capsys):
    """For the folder and the level that were asked for; where it is built already, nothing is said or done."""
    started = []
    monkeypatch.setattr(building.subprocess, "Popen", lambda command, **_: started.append(command[4:]))
    for place in (folder, tmp_path / "new"):
        monkeypatch.setattr("sys.argv", ["building", "--background", "--folder", str(place), "--levels", "x86-64-v2"])
        assert 0 == building.main()
    asked = ["--missing", "--folder", str(tmp_path / "new"), "--levels", "x86-64-v2"]
    assert [["-m", "nearsame.kernels.building", *asked]] == started
    assert 1 == len(capsys.readouterr().out.splitlines())


def test_signatures_are_of_kernels_that_there_are(monkeypatch):
    """scripts/make-signatures keeps each line as it is, adds the marks of others, and leaves out what is gone.

    An array that a kernel only reads may be read-only, though no call of the tests gave one that was.
    """
    monkeypatch.syspath_prepend(ROOT / "scripts")
    script = SourceFileLoader("make_signatures", str(ROOT / "scripts" / "make-signatures"))
    module = ModuleType(script.name)
    module.__file__ = script.path
    script.exec_module(module)
    lines = building.SIGNATURES.read_text("ascii").splitlines()
    assert lines == module.merged(set(lines))
    ours = "nearsame.kernels.sets.mark_repeats u8:1,i8,u8:1"
    gone = {
        "nearsame.kernels.sets.none_such i8 -",
        "nearsame.kernels.none.such i8 -",
        "tests.kernels.made.halves f8,b1 -",
    }
    assert [f"{ours} rw"] == module.merged({f"{ours} ww", f"{ours} rw", *gone})
    of_lists = "nearsame.kernels.sets.digest_sets u8:1,i8:1,i8:2"
    assert [f"{of_lists} rrw"] == module.merged({f"{of_lists} www"})
    numbers = "nearsame.kernels.hashing.mix u8,u8 -"  # no array, as calls are written down
    assert [numbers] == module.merged({numbers})
    inside = "nearsame.kernels.components.roots i4:2,i8:1"  # by what it calls
    assert [f"{inside} rw"] == module.merged({f"{inside} ww"})


def test_a_kind_is_a_type_a_width_and_dimensions():
    """Whole numbers are signed until they are too large for that, as Numba has it."""
    values = (7, 2**63, True, 2.5, np.uint64(7), np.zeros((2, 2), np.int32), (1, np.zeros(1, np.uint8)), "text")
    assert ["i8", "u8", "b1", "f8", "u8", "i4:2", "(i8,u1:1)", "?"] == [kind_of(value) for value in values]


@pytest.mark.long  # it builds all kernels: a minute or two
def test_a_run_with_built_kernels_finds_the_same_without_the_compiler(tmp_path):
    """All of them, in a package of its own: the same answers, and neither Numba nor what it imports is there."""
    source = Path(_built.__file__).parent.parent
    package = tmp_path / "nearsame"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__", "built"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NEARSAME_KERNELS": "jit"}
    subprocess.run([sys.executable, "-m", "nearsame.kernels.building"], env=environment, cwd=tmp_path, check=True)
    code = """if True:
        import sys, nearsame as ns
        from nearsame.kernels._jit import is_built
        texts = [f"a b c d e f g h {n // 2}" for n in range(40)] + ["", "!?", "!?"]
        for method in (ns.Jaccard(seed=7), ns.MinHash(seed=7), ns.SimHash()):
            print(ns.dedup(texts, method=method).removed().to_pylist())
            print(ns.pairs(texts, method=method).table.to_pylist())
        assert (is_built(), "numba" in sys.modules) in {(True, False), (False, True)}, is_built()
    """
    told = set()
    for wanted in ("jit", "built"):
        asked = environment | {"NEARSAME_KERNELS": wanted}
        done = subprocess.run([sys.executable, "-c", code], env=asked, capture_output=True, text=True, check=True)
        told.add(done.stdout)
    assert 1 == len(told)


def test_built_kernels_that_are_not_there_are_an_error_with_a_hint(tmp_path):
    """Of what was set, and what to do; the command ends with 2, and nothing is called a defect."""
    source = Path(_built.__file__).parent.parent
    shutil.copytree(source, tmp_path / "nearsame", ignore=shutil.ignore_patterns("__pycache__", "built"))
    (tmp_path / "a.txt").write_text("a rose")
    asked = {**os.environ, "PYTHONPATH": str(tmp_path), "NEARSAME_KERNELS": "built"}
    command = [sys.executable, "-m", "nearsame", "dedup", "a.txt", "--dry-run"]
    done = subprocess.run(command, env=asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (2, True, True) == (done.returncode, "error: NEARSAME_KERNELS=built" in done.stderr, "hint:" in done.stderr)


def test_addresses_are_told_quickly_only_where_that_is_right():
    """On another Python an array may lie elsewhere: then NumPy is asked."""
    arrays = [np.arange(9)[2:], np.zeros((3, 4), np.int8)[1:], np.zeros(0), np.frombuffer(b"abcdefgh", np.uint64)]
    assert [array.ctypes.data for array in arrays] == [_built._address(array) for array in arrays]
    told = _built._told_by(lambda _: 4096, _built._address_by_ctypes)
    assert [array.ctypes.data for array in arrays] == [told(array) for array in arrays]


def test_each_kernel_that_others_call_is_compiled_ahead():
    """By the imports: one that no test was seen to call would be compiled while somebody waits for it."""
    seen = {line.split()[0] for line in building.SIGNATURES.read_text("ascii").splitlines()}
    package = ROOT / "src" / "nearsame"
    kernels = {
        f"nearsame.kernels.{path.stem}.{node.name}"
        for path in (package / "kernels").glob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.dump(each) for each in node.decorator_list)
    }
    outside = [path for path in package.rglob("*.py") if path.parent.name != "kernels"]
    called = {name for path in outside for name in _kernel_names(ast.parse(path.read_text("utf-8")))} & kernels
    assert len(called) > 80
    assert set() == called - seen


def _kernel_names(module):
    """What it takes from modules of kernels: `from nearsame.kernels.x import y`, and x.y of `from … import x`."""
    modules = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nearsame.kernels"):
            for each in node.names:
                modules[each.asname or each.name] = f"{node.module}.{each.name}"
                yield f"{node.module}.{each.name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield f"{modules[node.value.id]}.{node.attr}"


def test_what_the_checkout_has_built_is_built_once(folder, tmp_path, monkeypatch):
    """Into a wheel goes the library that is there, if it is whole and of these sources."""
    level, compiled = building.best_level(), []
    monkeypatch.setattr(_built, "FOLDER", folder)
    monkeypatch.setattr(building, "SIGNATURES", tmp_path / "signatures.txt")
    shutil.copy(folder / "signatures.txt", tmp_path / "signatures.txt")
    monkeypatch.setattr(building, "_compiled", lambda *_: compiled.append(1) or (b"code", {}))
    building.build([level], tmp_path / "wheel", building.SIGNATURES)
    contents = json.loads((tmp_path / "wheel" / _built.CONTENTS).read_bytes())
    assert json.loads((folder / _built.CONTENTS).read_bytes()) == contents
    assert [] == compiled
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    (damaged / contents["levels"][level]["file"]).write_bytes(b"other")
    monkeypatch.setattr(_built, "FOLDER", damaged)
    building.build([level], tmp_path / "wheel", building.SIGNATURES)
    assert [1] == compiled
