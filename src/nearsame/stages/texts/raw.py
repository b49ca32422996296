"""DOCUMENTS to TEXTS: what is known of the raw text, and the text as the recipe wants it."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.kernels.blake2b import digest_texts
from nearsame.stages.texts.normalise import normalise

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
            pa.array(part) for part in (np.diff(texts.offsets), *digest_texts(texts.data, texts.offsets, self.seed))
        ]
        if self.nfkc or self.strip_accents:
            column = normalise(column, nfkc=self.nfkc, strip_accents=self.strip_accents)
        return pa.RecordBatch.from_arrays([batch.column("row"), *about, column], schema=schemas.TEXTS)
