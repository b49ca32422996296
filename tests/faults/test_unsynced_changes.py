"""A change whose log does not reach the disk: whoever made it is not told that it was not stored, as it may be."""

import os
import subprocess
import sys

import pytest

import nearsame as ns

# One call fails, or a disk is full from it on, while a document is added; the process is killed afterwards.
_ADD = """if True:
    import ctypes, os, sys, nearsame as ns
    place, nth, mode, kinds = sys.argv[1], *map(int, sys.argv[2:])
    index, failing = ns.Index.open(place), ctypes.CDLL(None)
    failing.failing_prepare()
    failing.failing_arm(os.fsencode(os.path.dirname(place)), ctypes.c_long(nth), mode, kinds)
    try:
        said = index.add({"id": "x", "text": "a text of its own, of some words"})[0].status
    except ns.NearSameError as error:
        said = error.code
    print(said, failing.failing_calls(), flush=True)
    os._exit(9)"""
_FAIL, _FULL, _WRITE, _SYNC = 1, 2, 2, 4


@pytest.mark.parametrize(("mode", "kinds"), [(_FAIL, _SYNC), (_FAIL, _WRITE), (_FULL, _WRITE)])
def test_what_may_have_been_stored_is_in_doubt(library, tmp_path, mode, kinds):
    """Whichever call it is that fails: what is said to be stored is, and what is said not to be is not."""
    place, nth, told = tmp_path / "index" / "a.ns", 0, []
    place.parent.mkdir()
    while not told or told[-1] != "added":
        nth += 1
        ns.Index.create(place, overwrite=True).close()
        command = [sys.executable, "-c", _ADD, place, str(nth), str(mode), str(kinds)]
        environment = {**os.environ, "LD_PRELOAD": str(library)}
        said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False).stdout.split()
        with ns.Index.open(place) as index:
            there = list(index.ids())
            assert [] == index.check()
        assert there == {"added": ["x"], "interrupted": there}.get(said[0], []), f"call {nth}: {said}, and {there}"
        told.append(said[0] if int(said[1]) < nth else "")
    assert nth > 2
