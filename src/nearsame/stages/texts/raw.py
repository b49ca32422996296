"""DOCUMENTS to TEXTS: what is known of the raw text, and the text as the recipe wants it."""

import numpy as np
import pyarrow as pa

from nearsame import arrow, computing, schemas
from nearsame.dataclass import dataclass
from nearsame.forms.normalise import normalise
from nearsame.kernels.blake2b import digest_texts

__all__ = ["Texts"]


@dataclass(frozen=True)
class Texts:
    """The stage that digests the raw texts and normalises them where the recipe says so."""

    nfkc: bool = False
    strip_accents: bool = False
    seed: int = 0

    output = schemas.TEXTS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """TEXTS of a batch of DOCUMENTS."""
        column = batch.column("text")
        texts = arrow.strings(column)
        about = [
            arrow.numbers(part)
            for part in (np.diff(texts.offsets), *digest_texts(texts.data, texts.offsets, self.seed))
        ]
        if self.nfkc or self.strip_accents:
            column = _kept(normalise(column, nfkc=self.nfkc, strip_accents=self.strip_accents), column, texts)
        return pa.RecordBatch.from_arrays([batch.column("row"), *about, column], schema=schemas.TEXTS)


def _kept(normalised: pa.LargeStringArray, column: pa.Array, texts: arrow.Strings) -> pa.Array:
    """The normalised texts; one of which nothing is left, being all marks, stays as it is: it is not an empty text."""
    gone = (np.diff(arrow.strings(normalised).offsets) == 0) & (np.diff(texts.offsets) > 0)
    return computing.if_else(pa.array(gone), column, normalised) if gone.any() else normalised
