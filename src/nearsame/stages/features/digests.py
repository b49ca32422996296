"""TEXTS to FEATURES for whole documents: a checksum, or the text itself where the checksum can collide.

1. `items` is what two documents must have in common, all of it: the words of the digest (of MD5, SHA-1 and XXH3, which
   can be forged, and of SHA-256), or (crc32, bytesum) the text.
2. `set_a`, `set_b` are what they meet by: the digest's first words, or the weak checksum.
3. A null or empty text has no items; normalised, a text without tokens is its raw bytes.
"""

import hashlib
import zlib
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa
import xxhash

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.recipes.choices import DigestName
from nearsame.stages.features.words import hash_words, join_words

__all__ = ["FORGEABLE", "TextDigests", "available", "digest_bytes"]

_WEAK = ("crc32", "bytesum")
FORGEABLE = ("md5", "sha1", "xxh3_128")  # whoever wants two texts of one digest can have them


def available() -> tuple[str, ...]:
    """The algorithms that this platform has."""
    return tuple(name for name in (*_STRONG, *_WEAK) if name in _WEAK or _has(name))


def digest_bytes(name: str) -> int:
    """The length of a digest that cannot collide, unless somebody forges it."""
    return len(_STRONG[name](b""))


def _has(name: str) -> bool:
    try:
        _STRONG[name](b"")
    except ValueError:  # what hashlib raises where OpenSSL leaves an algorithm out
        return False
    return True


def _from_hashlib(name: str) -> Callable[[bytes], bytes]:
    return lambda data: hashlib.new(name, data, usedforsecurity=False).digest()


_STRONG: dict[str, Callable[[bytes], bytes]] = {
    **{name: _from_hashlib(name) for name in ("sha256", "sha512", "sha3_256", "blake2b", "md5", "sha1", "ripemd160")},
    "xxh3_128": xxhash.xxh3_128_digest,
}


def _bytesum(data: bytes) -> int:
    return int(np.frombuffer(data, np.uint8).sum(dtype=np.int64))


@dataclass(frozen=True)
class TextDigests:
    """The stage that digests whole texts."""

    algorithm: DigestName
    normalise: bool = False
    flags: int = 0
    stop_words: frozenset[str] = frozenset()

    output = schemas.FEATURES

    def __post_init__(self) -> None:
        if self.algorithm not in available():
            message = (
                f"digest={self.algorithm!r} is not one that this platform has, which are: {', '.join(available())}"
            )
            raise ConfigError(message, hint="Choose another digest.")

    @cached_property
    def _stops(self) -> arrow.UInt64s:
        return hash_words(self.stop_words, self.flags, 0)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of a batch of TEXTS."""
        texts = arrow.strings(batch.column("text"))
        contents, num_tokens = self.contents(texts)
        if self.algorithm in _WEAK:
            sums = np.array([self._checksum(content) for content in contents], np.int64)
            words, offsets = _joined(contents)
            met = sums, np.zeros(len(batch), np.int64)
        else:
            words, offsets = _joined([self._digest(content) for content in contents])
            met = _first_words(words, offsets)
        raw = [batch.column(name) for name in ("row", "text_bytes", "digest_a", "digest_b")]
        about = [pa.array(column) for column in (num_tokens, *met)]
        return pa.RecordBatch.from_arrays([*raw, *about, arrow.items(words, offsets)], schema=schemas.FEATURES)

    def words(self, texts: arrow.Strings) -> list[arrow.UInt64s]:
        """The words of each text's digest, its length in front, without a table around them: none of an empty text."""
        contents, _ = self.contents(texts)
        return [np.frombuffer(_padded(self._digest(content)), np.uint64) for content in contents]

    def _digest(self, content: bytes) -> bytes:
        """Nothing of an empty text; behind a digest that can be forged one that cannot."""
        if not content:
            return b""
        sure = hashlib.sha256(content).digest() if self.algorithm in FORGEABLE else b""
        return _STRONG[self.algorithm](content) + sure

    def _checksum(self, content: bytes) -> int:
        return zlib.crc32(content) if self.algorithm == "crc32" else _bytesum(content)

    def contents(self, texts: arrow.Strings) -> tuple[list[bytes], arrow.Int64s]:
        """What is digested of each text, and the number of its tokens; raw, it counts as one."""
        raw = _cut(texts.data, texts.offsets)
        if not self.normalise:
            return raw, np.ones(len(raw), np.int64)
        joined = _cut(*join_words(texts, self.flags, self._stops))
        num_tokens = np.array([words.count(b" ") + bool(words) for words in joined], np.int64)
        return [words or text for words, text in zip(joined, raw, strict=True)], num_tokens


def _cut(data: arrow.Bytes, offsets: arrow.Int64s) -> list[bytes]:
    """Each content as bytes."""
    return [data[a:b].tobytes() for a, b in pairwise(offsets.tolist())]


def _padded(content: bytes) -> bytes:
    """A content as 64-bit words: zero-padded, and as that would hide its length, with the length in front."""
    return len(content).to_bytes(8, "little") + content + bytes(-len(content) % 8) if content else b""


def _joined(contents: list[bytes]) -> tuple[arrow.UInt64s, arrow.Int64s]:
    """(words, offsets) of contents."""
    padded = [_padded(content) for content in contents]
    offsets = np.zeros(len(padded) + 1, np.int64)
    np.cumsum([len(each) // 8 for each in padded], out=offsets[1:])
    return np.frombuffer(b"".join(padded), np.uint64), offsets


def _first_words(words: arrow.UInt64s, offsets: arrow.Int64s) -> tuple[arrow.Int64s, arrow.Int64s]:
    """The first two words of each digest (behind its length); zeros for none."""
    signed, present = words.view(np.int64), np.diff(offsets) > 0
    first, second = np.zeros(present.size, np.int64), np.zeros(present.size, np.int64)
    at = offsets[:-1][present]
    first[present] = signed[at + 1]
    second[present] = signed[np.minimum(at + 2, offsets[1:][present] - 1)]
    return first, second
