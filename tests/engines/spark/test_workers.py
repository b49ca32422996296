"""What a worker is spared: objects that stay are set aside, archives are read again only when they are others."""

import gc
import importlib
import os
import sys
from importlib.machinery import ModuleSpec
from zipfile import ZipFile

import pytest

from nearsame.engines.spark import workers


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch):
    monkeypatch.setattr(workers, "_num_modules", [0])
    monkeypatch.setattr(sys, "path_importer_cache", dict(sys.path_importer_cache))
    yield
    gc.unfreeze()


def _pack(path, name, value, when):
    with ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", f"VALUE = {value!r}\n")
    os.utime(path, (when, when))


def _importer(path):
    return sys.path_importer_cache[str(path)]


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """On the path, and looked into."""
    path = tmp_path / "packed.zip"
    _pack(path, "first_packed", 1, 1_000_000)
    monkeypatch.syspath_prepend(str(path))
    assert importlib.import_module("first_packed").VALUE == 1
    yield path
    for name in ("first_packed", "second_packed"):
        sys.modules.pop(name, None)


def _counted(monkeypatch):
    found = []
    read = workers.zipimporter.invalidate_caches
    monkeypatch.setattr(workers.zipimporter, "invalidate_caches", lambda self: (found.append(self), read(self)))
    return found


def test_objects_are_set_aside_once_for_the_modules_that_there_are(monkeypatch):
    workers.settle()
    frozen = gc.get_freeze_count()
    assert frozen > 1000
    new = [[number] for number in range(1000)]
    workers.settle()
    assert gc.get_freeze_count() <= frozen
    monkeypatch.setitem(sys.modules, "a_module_that_came", sys)
    workers.settle()
    assert gc.get_freeze_count() >= frozen + len(new) // 2


def test_an_archive_that_has_not_changed_is_not_read_again(archive, monkeypatch):
    read = _counted(monkeypatch)
    importlib.invalidate_caches()
    assert any(each.archive == str(archive) for each in read)
    workers.settle()
    importlib.invalidate_caches()  # may have been another when its directory was read
    read.clear()
    importlib.invalidate_caches()
    assert not any(each.archive == str(archive) for each in read)
    assert importlib.import_module("first_packed").VALUE == 1


def test_an_archive_that_has_changed_is_read_again(archive):
    workers.settle()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("second_packed")
    _pack(archive, "second_packed", 2, 2_000_000)
    importlib.invalidate_caches()
    assert importlib.import_module("second_packed").VALUE == 2


def test_an_archive_that_was_gone_before_is_no_error(archive):
    archive.unlink()
    workers.settle()
    assert type(_importer(archive)) is workers.zipimporter


def test_an_archive_that_is_gone_is_no_error(archive):
    workers.settle()
    archive.unlink()
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("second_packed")
    assert _importer(archive).archive == str(archive)


@pytest.mark.parametrize(("main", "frozen"), [("pyspark.worker", False), ("pyspark.daemon", True)])
def test_a_worker_of_one_task_sets_nothing_aside(monkeypatch, main, frozen):
    """What it says last is written by a finalizer, which what is set aside never gets."""
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", ModuleSpec(main, None))
    before = gc.get_freeze_count()
    workers.settle()
    assert frozen == (gc.get_freeze_count() > before)
