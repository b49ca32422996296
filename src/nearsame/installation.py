"""What is installed, and how to install an extra, for the way in which nearsame was installed.

1. A hint is a line that can be pasted: it names the checkout, or the address that this copy came from.
2. Versions are read off the names of what installers leave beside a package: every run wants them, and
   importlib.metadata takes as long to import and to read as a small run takes to compute.
"""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["import_folders", "install_command", "versions"]

_NAME = "nearsame"
_METADATA = r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-py\d+\.\d+)?\.(?:dist|egg)-info"


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation.

    Example:
        >>> install_command("web").endswith("[web]'")
        True
    """
    return _command(*_installed(), extra)


def versions(names: Iterable[str]) -> dict[str, str]:
    """The versions of those packages that are installed: kernels that were compiled ahead need no Numba.

    >>> sorted(versions(["numpy", "no-such-package"]))
    ['numpy']
    """
    there: dict[str, str] = {}
    for folder in reversed(import_folders()):  # what comes first is what is imported
        with contextlib.suppress(OSError):  # no folder, or one that we may not look into
            for entry in os.listdir(folder or "."):  # noqa: PTH208  (names)
                if entry.endswith("-info") and (installed := re.fullmatch(_METADATA, entry)):
                    there[_normal(installed["name"])] = installed["version"]
    return {name: there[_normal(name)] for name in names if _normal(name) in there}


def import_folders() -> list[str]:
    """What of `sys.path` Python looks into: it passes over all but strings, and so over a `Path`.

    >>> all(isinstance(folder, str) for folder in import_folders())
    True
    """
    return [folder for folder in sys.path if isinstance(folder, str)]


def _normal(name: str) -> str:
    """The one of the spellings of a package's name by which two are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed() -> tuple[str, dict[str, Any]]:
    """What installed this copy, and what it wrote down about where from; nothing for a copy from the package index."""
    from importlib import metadata  # noqa: PLC0415  (it reads messages with the library for mail; only hints need it)

    try:
        package = metadata.distribution(_NAME)
    except metadata.PackageNotFoundError:  # run from its source folder
        return "pip", {}
    return (package.read_text("INSTALLER") or "pip").strip(), json.loads(package.read_text("direct_url.json") or "{}")


def _command(installer: str, origin: dict[str, Any], extra: str) -> str:
    install = "uv pip install" if installer == "uv" else "pip install"
    url = origin.get("url", "")
    if "dir_info" in origin:
        folder = Path(unquote(urlsplit(url).path))
        edit = " -e" if origin["dir_info"].get("editable") else ""
        place = "." if folder == Path.cwd() else str(folder)
        return f"{install}{edit} '{place}[{extra}]'"
    if "vcs_info" in origin:
        return f"{install} '{_NAME}[{extra}] @ {origin['vcs_info']['vcs']}+{url}'"
    if url:
        return f"{install} '{_NAME}[{extra}] @ {url}'"
    return f"{install} '{_NAME}[{extra}]'"
