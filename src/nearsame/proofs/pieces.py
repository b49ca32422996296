"""The pieces of files of lines and of CSV, up to where a file breaks off."""

from collections.abc import Iterator

from nearsame.proofs.files import BROKEN, Part, Piece, as_utf8, csv_pieces, line_pieces, raw

__all__ = ["pieces_at", "pieces_of"]


def pieces_of(part: Part, broken: dict[str, str]) -> Iterator[Piece]:
    """The pieces of a source that is lines or CSV, up to where it breaks off."""
    yield from pieces_at(part.path, part, broken, part.name)


def pieces_at(path: str, part: Part, broken: dict[str, str], name: str) -> Iterator[Piece]:
    """Likewise of any file of that format."""
    chunks = _until_broken(as_utf8(raw(path, part.compression), part.encoding), broken, name)
    delimiter = part.form.delimiter
    pieces = line_pieces(chunks) if delimiter is None else csv_pieces(chunks, delimiter)
    last = None
    for piece in pieces:
        if last is not None:
            yield last
        last = piece
    if last is not None:  # where a file breaks off, what stands there is half a record
        yield last._replace(position=None) if name in broken and not last.data.endswith(b"\n") else last


def _until_broken(chunks: Iterator[bytes], broken: dict[str, str], name: str) -> Iterator[bytes]:
    try:
        yield from chunks
    except BROKEN as error:
        if type(error).__name__ == "SourceError":
            raise
        broken[name] = str(error) or "it ends too early"
