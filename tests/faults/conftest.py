"""Commands whose file system fails."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .disks import CASES, set_up

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """What makes calls to the file system fail, compiled."""
    compiler = shutil.which("cc")
    if compiler is None:
        if os.environ.get("CI"):
            pytest.fail("there is no C compiler, and CI must test with it: install Debian's gcc")
        pytest.skip("there is no C compiler: install Debian's gcc")
    home = tmp_path_factory.mktemp("failing")
    library = home / "failing.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, HERE / "failing.c", "-ldl"], check=True)
    return library


@pytest.fixture(scope="module")
def failing(library, tmp_path_factory):
    """The server of forks with failures, warm."""
    home = tmp_path_factory.mktemp("said")
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, HERE / "failing.py", home / "said"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def ask(**what):
            server.stdin.write(json.dumps(what) + "\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())

        yield ask
        server.stdin.close()


@pytest.fixture(params=[pytest.param(case, id=case.name) for case in CASES])
def bench(request, failing, tmp_path):
    """Each command with an output, over an output that is there."""
    return set_up(request.param, failing, tmp_path)
