"""Wheels: with kernels compiled ahead for Linux on x86-64, where the environment that builds one has Numba.

1. `make wheel` builds in the environment of the checkout, whose Numba is that of constraints.txt. `pip install .` has
   an environment of its own without Numba: what it makes is quick to build, and compiles kernels at their first call.
2. NEARSAME_WHEEL_KERNELS=checkout takes what `make kernels` has built for this processor alone, for tests.
3. The library asks the C library for malloc, realloc, free, memcpy, memset and log10, without the version of a symbol,
   so any glibc will do: the tag is of the oldest that pip still knows by name.
"""

import json
import os
import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_LEVELS = ("x86-64-v3", "x86-64-v2")
_TAG = "py3-none-manylinux_2_17_x86_64"


class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the libraries into a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build them, and name the platform that the wheel is for."""
        if version == "editable" or sys.platform != "linux" or platform.machine() != "x86_64":
            return
        if not (find_spec("numba") and find_spec("numpy")):
            self.app.display_info("No Numba here: a wheel without kernels compiled ahead.")
            return
        if os.environ.get("NEARSAME_WHEEL_KERNELS") == "checkout":
            folder, options = Path(self.root, "src", "nearsame", "kernels", "built"), ["--missing"]
        else:
            self._scratch = TemporaryDirectory()
            folder = Path(self._scratch.name)
            options = ["--folder", str(folder), "--levels", *_LEVELS]
        environment = {**os.environ, "PYTHONPATH": str(Path(self.root, "src"))}
        command = [sys.executable, "-m", "nearsame.kernels.building", *options]
        subprocess.run(command, env=environment, check=True)  # noqa: S603  (this interpreter)
        build_data |= {"tag": _TAG, "pure_python": False}
        levels = json.loads((folder / "contents.json").read_bytes())["levels"].values()
        for name in ("contents.json", *(level["file"] for level in levels)):
            build_data["force_include"][str(folder / name)] = f"nearsame/kernels/built/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take away what the wheel has in it now."""
        del version, build_data, artifact_path
        if hasattr(self, "_scratch"):
            self._scratch.cleanup()
