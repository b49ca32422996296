"""Lines of plain text as Rich would lay them out, without Rich, whose start is an eighth of that of a small run.

1. Rich has the terminals, the styles, the tables, and every text that is not plain ASCII.
2. Where both could do it they do the same.
"""

import os
import sys
from contextlib import suppress
from typing import TextIO

__all__ = ["cells", "columns", "cropped", "is_plain"]

_USUAL = 80


def is_plain(stream: TextIO) -> bool:
    """Whether there are no styles: it is no terminal, and nobody asks for those of one."""
    asked = os.environ.get("FORCE_COLOR") or os.environ.get("TTY_COMPATIBLE") == "1"
    return not (asked or stream.isatty())


def columns() -> int:
    """The width of the terminal that is there, be it behind another stream; else 80."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        with suppress(ValueError, OSError):  # it is closed, or no terminal
            if stream is not None:
                return os.get_terminal_size(stream.fileno()).columns or _USUAL
    return _USUAL


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415  (see above)

    return cell_len(text)


def cropped(text: str, width: int) -> str:
    """What of a text fits into so many columns, with spaces where it is shorter."""
    if text.isascii():
        return text[:width].ljust(width)
    from rich.cells import set_cell_size  # noqa: PLC0415  (see above)

    return set_cell_size(text, width)
