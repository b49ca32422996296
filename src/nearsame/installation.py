"""What is installed, and how to install an extra, for the way in which nearsame was installed.

1. A hint is a line that can be pasted: it names the checkout, or the address that this copy came from.
"""

import json
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["install_command", "versions"]

_NAME = "nearsame"


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
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _installed() -> tuple[str, dict[str, Any]]:
    """What installed this copy, and what it wrote down about where from; nothing for a copy from the package index."""
    try:
        found = metadata.distribution(_NAME)
    except metadata.PackageNotFoundError:  # run from its source folder
        return "pip", {}
    return (found.read_text("INSTALLER") or "pip").strip(), json.loads(found.read_text("direct_url.json") or "{}")


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
