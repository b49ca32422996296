"""The examples of docstrings, which docs/api.md shows, too: each gives what it says.

1. The public names are known in each, as the reference has them; and what its own module knows.
2. What needs a running Spark, or files that are not there, says `+SKIP`.
"""

import doctest
import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import nearsame as ns

_KNOWN = {name: getattr(ns, name) for name in ns.__all__} | {"ns": ns, "np": np, "pa": pa, "Path": Path}
_FLAGS = doctest.ELLIPSIS


def _modules():
    """All that can be imported without being run."""
    found = pkgutil.walk_packages(ns.__path__, "nearsame.", onerror=importlib.import_module)  # which says why
    return [module.name for module in found if not module.name.endswith(("__main__", ".kernels._numba"))]


@pytest.mark.parametrize("name", _modules())
def test_examples_of_docstrings_give_what_they_say(name, tmp_path, monkeypatch):
    """As the reader would type them, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    globs = {**_KNOWN, **vars(module)}
    finder, runner = doctest.DocTestFinder(exclude_empty=True), doctest.DocTestRunner(optionflags=_FLAGS, verbose=False)
    said = []
    for case in finder.find(module, globs=globs):
        runner.run(case, out=said.append)
    assert (0, "") == (runner.failures, "".join(said))
