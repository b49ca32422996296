"""Lines and rows in other encodings than UTF-8: read as UTF-8, and written again as they were.

1. The encoding is the one that is asked for, else that of a byte order mark; `auto`: as the first bytes look.
2. What is read can be written again byte for byte: bytes that are no characters of the encoding come as what no UTF-8
   has, so that their record is reported; where characters do not lead back to their bytes, the file is refused.
"""

import codecs
import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from nearsame.errors import OutputError, SourceError
from nearsame.files.systems import BrokenStreamError
from nearsame.page_encodings import by_mark, detected, looks_like

__all__ = ["codec_of", "encoded", "headed", "odd_looks", "raw_bytes", "to_utf8"]

_SEEN = 64 << 10  # bytes that `auto` goes by
_ODD = "surrogateescape"  # a byte that is no character, as a character that no text has
_KEPT = "surrogatepass"  # and as bytes that no UTF-8 has


def headed(stream: Iterator[bytes], asked: str | None) -> tuple[bytes, Iterator[bytes]]:
    """The bytes by which the encoding of a stream is told, and the whole of it."""
    pieces: list[bytes] = []
    wanted = _SEEN if asked == "auto" else 1  # a first piece is never so short that it cuts a byte order mark
    broken: list[BrokenStreamError] = []
    try:
        while sum(map(len, pieces)) < wanted and (piece := next(stream, None)) is not None:
            pieces.append(piece)
    except BrokenStreamError as error:
        broken.append(error)

    def whole() -> Iterator[bytes]:
        yield from pieces
        if broken:
            raise broken.pop()
        yield from stream

    return b"".join(pieces), whole()


def codec_of(head: bytes, asked: str | None) -> str | None:
    """The encoding of what begins like this; None: UTF-8.

    Example:
        >>> codec_of("{}".encode("utf-16"), None), codec_of(b"{}", "latin-1"), codec_of(b"{}", "auto")
        ('utf-16-le', 'iso8859-1', None)
    """
    marked = by_mark(head)
    if asked is None:
        return None if marked in (None, "utf-8") else marked
    if asked == "auto":
        name = detected(head)
    else:
        name = codecs.lookup(asked).name
        name = marked if name in ("utf-16", "utf-32") and marked and marked.startswith(name) else name
    return None if name in ("utf-8", "utf-8-sig", "ascii") else name


def odd_looks(stream: Iterator[bytes]) -> str:
    r"""The encoding that a stream of lines looks like where it first is not UTF-8; nothing where that cannot be told.

    Example:
        >>> odd_looks(iter([b"a\n" * 99, "größere Bären fraßen süße Früchte\n".encode("cp1252")]))
        'cp1252'
    """
    decoder, before = codecs.getincrementaldecoder("utf-8")(), b""
    with suppress(BrokenStreamError, SourceError):
        for piece in stream:
            try:
                decoder.decode(piece)
            except UnicodeDecodeError as error:
                at = len(before) + error.start - (len(error.object) - len(piece))
                around = before + piece
                begin = around.rfind(b"\n", 0, max(at, 0)) + 1
                lines = around[begin : begin + _SEEN]
                return looks_like(lines[: lines.rfind(b"\n") + 1] or lines)
            before = piece
    return ""


def to_utf8(stream: Iterator[bytes], codec: str, name: str) -> Iterator[bytes]:
    """The same in UTF-8.

    Raises:
        SourceError: It cannot be read, or not be written again as it was.
    """
    decoder, encoder = codecs.getincrementaldecoder(codec)(_ODD), codecs.getincrementalencoder(codec)(_ODD)
    waiting, done = bytearray(), 0
    for piece in itertools.chain(stream, [None]):
        try:
            text = decoder.decode(piece or b"", final=piece is None)
            again = encoder.encode(text, final=piece is None)
        except UnicodeError as error:
            raise _not_in(name, codec, done) from error
        waiting += piece or b""
        if not waiting.startswith(again) or (piece is None and len(waiting) > len(again)):
            raise _not_in(name, codec, done)
        del waiting[: len(again)]
        done += len(again)
        yield text.encode("utf-8", _KEPT)


def _not_in(name: str, codec: str, done: int) -> SourceError:
    hint = f"Write it in UTF-8 (iconv -f {codec} -t utf-8), name another --encoding, or leave it out with --exclude."
    return SourceError(f"{name} is not readable as {codec} from byte {done:,} on", hint=hint)


def raw_bytes(piece: Any) -> bytes:
    """What `to_utf8` made, with the bytes that are no characters as they were."""
    return bytes(piece).decode("utf-8", _KEPT).encode("utf-8", _ODD)


@contextmanager
def encoded(out: Any, codec: str | None) -> Iterator[Any]:
    """What takes what `to_utf8` made, and writes it as it was."""
    if codec is None:
        yield out
        return
    writer = _Encoded(out, codec)
    yield writer
    writer.write(b"", final=True)


class _Encoded:
    """A file in another encoding, to which UTF-8 is written."""

    def __init__(self, out: Any, codec: str) -> None:
        self._out, self._codec = out, codec
        self._decoder = codecs.getincrementaldecoder("utf-8")(_KEPT)
        self._encoder = codecs.getincrementalencoder(codec)(_ODD)

    def write(self, piece: Any, *, final: bool = False) -> None:
        """Write some bytes of UTF-8, however they are cut."""
        text = self._decoder.decode(bytes(piece), final)
        try:
            self._out.write(self._encoder.encode(text, final))
        except UnicodeEncodeError as error:
            odd = error.object[error.start]
            message = f"{odd!r} cannot be written in {self._codec}, the encoding of the source"
            raise OutputError(message, hint="Convert the source to UTF-8, or leave out --annotate.") from None

    def writelines(self, pieces: Iterator[Any]) -> None:
        """Write them one after the other."""
        for piece in pieces:
            self.write(piece)
