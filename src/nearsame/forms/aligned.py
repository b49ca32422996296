"""A text as the recipe wants it, and where each piece of it came from.

1. A piece is a character, or with normalisation the least stretch that is normalised by itself.
2. Offsets on the side of the original count characters (code points), as Python does; the other side counts bytes.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.errors import ConfigError
from nearsame.forms.normalise import normalise
from nearsame.kernels import normalise as kernels
from nearsame.kernels import unicode
from nearsame.named import NamedTuple

__all__ = ["Aligned", "align", "utf8"]


class Aligned(NamedTuple):
    """A text and its pieces: piece i is text[ends[i]:ends[i + 1]], and origins[i] to origins[i + 1] there."""

    text: arrow.Bytes  # UTF-8
    ends: arrow.Int64s
    origins: arrow.Int64s

    def original(self, starts: arrow.Int64s, ends: arrow.Int64s) -> tuple[arrow.Int64s, arrow.Int64s]:
        """From spans of bytes here to spans of characters there, whole pieces."""
        first = np.searchsorted(self.ends, starts, "right") - 1
        return self.origins[first], self.origins[np.searchsorted(self.ends, ends, "left")]


def utf8(text: str) -> bytes:
    """The bytes of a text.

    Raises:
        ConfigError: The text holds half of a surrogate pair, which no UTF-8 can say.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        message = f"the text is not Unicode: {text[error.start : error.end]!r} at character {error.start}"
        raise ConfigError(message, hint="Decode it as UTF-8, with errors='replace' where it is broken.") from None


def align(text: str, *, nfkc: bool = False, strip_accents: bool = False) -> Aligned:
    """The text, normalised or not, with the places of its pieces.

    Raises:
        ConfigError: The text holds half of a surrogate pair, which no UTF-8 can say.

    >>> aligned = align("a ﬁn", nfkc=True)
    >>> bytes(aligned.text), aligned.original(np.array([2]), np.array([5]))
    (b'a fin', (array([2]), array([4])))
    """
    encoded = utf8(text)
    origins = _starts(text, nfkc=nfkc, strip_accents=strip_accents)
    offsets = _bytes_before(text)[origins]
    pieces = pa.LargeStringArray.from_buffers(origins.size - 1, pa.py_buffer(offsets), pa.py_buffer(encoded))
    normalised = arrow.strings(normalise(pieces, nfkc=nfkc, strip_accents=strip_accents))
    size = int(normalised.offsets[-1])
    return Aligned(arrow.frozen(normalised.data[:size]), normalised.offsets, origins)


def _bytes_before(text: str) -> arrow.Int64s:
    """The bytes of UTF-8 before each character, and of all of them."""
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    sizes = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _starts(text: str, *, nfkc: bool, strip_accents: bool) -> arrow.Int64s:
    """Where pieces begin, and the end of the last."""
    boundary: npt.NDArray[np.bool_] = np.ones(len(text), np.bool_)
    if nfkc or strip_accents:
        mode = kernels.BOTH if nfkc and strip_accents else kernels.NFKC if nfkc else kernels.STRIP_ACCENTS
        points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        table = unicode.normalisation()
        entries = table.stage2[(table.stage1[points >> 8].astype(np.uint32) << 8) | (points & 255)]
        boundary = (entries >> np.uint32(unicode.BOUNDARY_SHIFT + mode)) & 1 != 0
        boundary[:1] = True
    return arrow.frozen(np.append(np.flatnonzero(boundary), len(text)).astype(np.int64))
