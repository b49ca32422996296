"""A hook of MkDocs: pages that stand outside of docs/ join the site, and links between the two lead where they led.

1. README.md becomes the front page, `index.md`; ARCHITECTURE.md and CONTRIBUTING.md stand beside it.
2. A link to a page of the site leads there. A link to another file of the repository, which the site does not hold,
   becomes the name of that file. What stands in code is left alone.
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {"README.md": "index.md", "ARCHITECTURE.md": "ARCHITECTURE.md", "CONTRIBUTING.md": "CONTRIBUTING.md"}
_LINK_OR_CODE = re.compile(
    r"^```.*?^```|`[^`\n]*`|(?<!!)\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s:]+)\)", re.DOTALL | re.MULTILINE
)


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add the pages that stand outside."""
    for name, uri in OUTSIDE.items():
        files.append(File.generated(config, uri, content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(text: str, page: Any, files: Files, **_: Any) -> str:
    """The page with links as the site needs them."""
    uri = page.file.src_uri
    home = next((ROOT / name for name, at in OUTSIDE.items() if at == uri), ROOT / "docs" / uri).parent

    def mended(match: re.Match[str]) -> str:
        words, link = match.groups()
        if link is None or link.startswith("#"):
            return match[0]
        file, _, fragment = link.partition("#")
        target = Path(os.path.normpath(home / file)).relative_to(ROOT).as_posix()
        target = OUTSIDE.get(target, target.removeprefix("docs/") if target.startswith("docs/") else "")
        if not target or (files.get_file_from_path(target) is None and not target.endswith(".md")):
            return words if words.startswith("`") else f"{words} (`{Path(file).name}`)"
        relative = os.path.relpath(target, Path(uri).parent)
        return f"[{words}]({relative}{'#' + fragment if fragment else ''})"

    return _LINK_OR_CODE.sub(mended, text)
