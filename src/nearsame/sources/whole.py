"""A file that is one text as a whole, whatever its name says: a path, a URL, or standard input."""

from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from nearsame.errors import ConfigError, SourceError
from nearsame.files.compressions import COMPRESSIONS
from nearsame.files.inputs import is_folder
from nearsame.files.systems import File, is_url, suffixed_name
from nearsame.sources.streams import BrokenStreamError, chunks, looks_compressed, without_bom

__all__ = ["read_json", "read_text", "require_different", "text_lines", "utf8"]


def read_text(path: str, stdin: BinaryIO | None = None) -> str:
    """The text of a file (decompressed if its name ends in .gz, .zst, .bz2 or .xz), or of `-`.

    Raises:
        SourceError: It cannot be read, breaks off, or is not UTF-8.
    """
    if path == "-":
        from nearsame.sources.standard_input import plain_input  # noqa: PLC0415  (it recognises formats of records)

        with plain_input(stdin) as given:
            return utf8(given.read(), "standard input")
    if not is_url(path) and is_folder(path):
        raise SourceError(f"{path} is a folder", hint="Name a file in it.")
    file, compression = File(path), COMPRESSIONS.get(Path(suffixed_name(path)).suffix.lower())
    try:
        _, pieces = without_bom(chunks(file, compression))
        data = b"".join(pieces)
    except BrokenStreamError as error:
        if not looks_compressed(file, compression):
            hint = "Check that its name says how it is compressed."
            raise SourceError(f"{path} is not readable as {compression}: {error}", hint=hint) from None
        raise SourceError(f"{path}: {error}", hint="Fetch or write the file again: it ends too early.") from None
    return utf8(data, path)


def text_lines(text: str) -> list[str]:
    r"""The lines of a text, which \n or \r\n ends and nothing else: what else Python breaks lines at may stand in ids.

    >>> text_lines("a\r\nb\x85c\n")
    ['a', 'b\x85c']
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def read_json(path: str, what: str) -> Any:
    """What a JSON file says; `what` it should be is for the error.

    Raises:
        ConfigError: It is not JSON.
    """
    try:
        return orjson.loads(read_text(path))
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{path} is not JSON: {error}", hint=f"Write {what}.") from None


def require_different(a: str, b: str) -> None:
    """Refuse two names for one file.

    Raises:
        ConfigError: It is the same path twice, or leads to the same file.
    """
    if a == b == "-":
        raise ConfigError(
            "- is given twice, and standard input can be read only once", hint="Name a file for one of them."
        )
    if a == b:
        raise ConfigError(f"{a} is given twice", hint="Name two files.")
    if "-" in (a, b) or is_url(a) or is_url(b):
        return
    is_one = False
    with suppress(OSError):  # one that is not there is reported when it is read
        is_one = Path(a).samefile(b)
    if is_one:
        raise ConfigError(f"{a} and {b} are the same file", hint="Name two files.")


def utf8(data: bytes, name: str) -> str:
    """The text that bytes are.

    Raises:
        SourceError: They are none.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"{name}, line {line:,}: invalid UTF-8", hint="Save the file as UTF-8 text.") from None
