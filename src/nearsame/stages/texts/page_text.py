"""PAGES to DOCUMENTS: what a browser got becomes the text that a reader sees.

1. Each page is read by itself (one_page.py), by whom does not matter: the parser keeps Python's lock, so an engine may
   have the pages of a batch read in other processes.
2. Bytes become UTF-8 as page_encodings.py says.
3. `main` is what stands for a page (page_content.py): its main content, or more where that is too little. `text` is all
   visible text. `none` is the markup itself. Where the text was found is reported, so that it can be counted.
4. A row without a media type is text already (UTF-8) and passes as it is; what is neither HTML nor XML is only decoded.
5. A page that is beyond the bounds of parsers, and loses tags or attributes for it, is counted.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import arrow, computing, schemas
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.kernels import markup
from nearsame.recipes.choices import EXTRACTS, Extract
from nearsame.stages.texts.one_page import NUM_BOUNDS, page_content
from nearsame.stages.texts.page_content import ELSEWHERE, MAIN, NOWHERE, VISIBLE, PageContent

__all__ = ["TALLIES", "PageTexts", "content_of", "page_text"]

TALLIES = ("without_main", "elsewhere", "nowhere", "bounded")  # what is counted of pages


@dataclass(frozen=True)
class PageTexts:
    """The stage that takes the text out of pages."""

    extract: Extract = "main"

    output = schemas.EXTRACTED
    work = staticmethod(page_content)

    def __post_init__(self) -> None:
        if self.extract not in EXTRACTS:
            known = ", ".join(EXTRACTS)
            raise ConfigError(f"extract={self.extract!r} is not one of {known}", hint="Choose one of these.")

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """EXTRACTED of a batch of PAGES."""
        return self.result(batch, (self.work(*task) for task in self.tasks(batch)))

    @property
    def holds_lock(self) -> bool:
        """Whether only another process runs alongside it: the parsers keep Python's lock."""
        return self.extract != "none"

    def tasks(self, batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
        """For each page the arguments of `work`."""
        seen, is_page = arrow.strings(batch.column("body")), _are_pages(batch)
        shapes = np.zeros((len(batch), NUM_BOUNDS), np.int64)
        if self.extract != "none" and is_page.any():
            markup.survey(seen.data, seen.offsets, shapes)
        charsets, mimes = batch.column("charset"), batch.column("mime")
        for row in np.flatnonzero(is_page).tolist():
            raw = seen.data[seen.offsets[row] : seen.offsets[row + 1]].tobytes()
            yield raw, charsets[row].as_py(), mimes[row].as_py(), self.extract, shapes[row].tolist()

    def result(self, batch: pa.RecordBatch, answers: Iterable[tuple[bytes, int, bool]]) -> pa.RecordBatch:
        """EXTRACTED of a batch, of what `work` has answered for each page."""
        body, is_page = batch.column("body"), _are_pages(batch)
        places, bounded = np.full(len(batch), MAIN, np.int8), np.zeros(len(batch), np.bool_)
        texts = body.view(pa.large_string())
        if is_page.any():
            contents = [None if page else body[row].as_py() for row, page in enumerate(is_page.tolist())]
            for row, answer in zip(np.flatnonzero(is_page).tolist(), answers, strict=True):
                contents[row], places[row], bounded[row] = answer
            texts = pa.array(contents, pa.large_binary()).view(pa.large_string())
        columns = [batch.column("row"), texts, pa.array(places), pa.array(bounded)]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.EXTRACTED)

    @staticmethod
    def tally(batch: pa.RecordBatch) -> dict[str, int]:
        """What is to be counted of a batch of EXTRACTED."""
        counts = np.bincount(batch.column("found").to_numpy(), minlength=NOWHERE + 1)
        bounded = computing.sum_(batch.column("bounded")).as_py() or 0
        values = (int(counts[VISIBLE]), int(counts[ELSEWHERE]), int(counts[NOWHERE]), int(bounded))
        return dict(zip(TALLIES, values, strict=True))


def page_text(
    body: bytes, charset: str | None = None, mime: str | None = "text/html", extract: Extract = "main"
) -> str:
    r"""The text of one page.

    Args:
        body: As it came, decompressed.
        charset: What the header says; None if it says nothing.
        mime: The media type; None for UTF-8 text.
        extract: main, text, none or trafilatura.

    >>> page_text(b"<nav><a href=/>Home</a></nav><script>x</script><p>a rose", extract="text")
    'Home\n\na rose'
    """
    return content_of(body, charset, mime, extract).text


def content_of(body: bytes, charset: str | None, mime: str | None, extract: Extract) -> PageContent:
    """The same with where it was found."""
    columns = ([0], pa.array([body], pa.large_binary()), [charset], [mime])
    batch = pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schemas.PAGES, strict=True)],
                                       schema=schemas.PAGES)  # fmt: skip
    texts = PageTexts(extract)(batch)
    return PageContent(str(texts.column("text")[0].as_py()), texts.column("found")[0].as_py())


def _are_pages(batch: pa.RecordBatch) -> arrow.Mask:
    """The rows that are to be read as pages: not those without a body, nor what is text already."""
    valid = computing.and_(batch.column("body").is_valid(), batch.column("mime").is_valid())
    return np.asarray(valid.to_numpy(zero_copy_only=False))
