"""The texts of files that are one document each, web pages among them.

1. One page becomes the same text here as among many: by the same stage.
2. Nothing here knows records: who compares two files has no use for what reads millions.
"""

from collections.abc import Sequence

from nearsame.errors import ConfigError, SourceError
from nearsame.files.systems import File, suffixed_name
from nearsame.recipes.choices import Extract
from nearsame.sources import Columns
from nearsame.sources.page_records import is_page, page_of_file
from nearsame.sources.whole import read_text
from nearsame.stages.texts.page_content import MAIN, PageContent
from nearsame.stages.texts.page_text import content_of

__all__ = ["contents_of", "texts_of"]


def texts_of(paths: Sequence[str], extract: Extract | None = None) -> list[str]:
    """The text of each file that is one document: of a web page (by its name), what `extract` takes out of it."""
    return [content.text for content in contents_of(paths, extract)]


def contents_of(paths: Sequence[str], extract: Extract | None = None) -> list[PageContent]:
    """The same with where the text was found.

    Raises:
        SourceError: One cannot be read.
        ConfigError: `extract` is given, and none of them is a web page.
    """
    kinds = [None if path == "-" else is_page(suffixed_name(path)) for path in paths]
    if extract is not None and not any(kinds):
        message = f"extract={extract!r} does nothing: not web pages by their names: {' and '.join(paths)}"
        raise ConfigError(message, hint="Name a file that ends in .html, .xhtml or .mhtml, or leave it out.")
    return [
        PageContent(read_text(path), MAIN) if kind is None else _content_of_page(path, kind, extract or "main")
        for path, kind in zip(paths, kinds, strict=True)
    ]


def _content_of_page(path: str, kind: str, extract: Extract) -> PageContent:
    with File(path).open() as raw:
        data = raw.read()
    try:
        page = page_of_file(data, kind, Columns(max_document=max(len(data), 1)))
    except ValueError as error:
        raise SourceError(f"{path}: {error}", hint="Save the page again.") from None
    return content_of(page.body or b"", page.charset, page.mime, extract)
