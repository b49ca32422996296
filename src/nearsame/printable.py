"""Foreign text on its way to a terminal or a page: names of files and columns, ids, what other libraries say.

1. What a terminal would obey is shown as an escape: control characters (C0, C1, DEL), line and paragraph separators,
   marks that turn the direction of text, and halves of surrogate pairs. All else stays as it is, in any script.
2. Whatever writes to a terminal calls this: errors, hints, notes of progress, lines of reports, JSON. A page has it
   shortened, where it is long.
"""

import json
import re

__all__ = [
    "fits_a_line",
    "lacks_bars",
    "printable",
    "printable_json",
    "shortened",
    "without_halves",
    "without_secrets",
    "wrapped",
]

_OBEYED = "[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff\ufff9-\ufffb]"

_HALVES = "[\ud800-\udfff]"
_SERVER = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
_PASSWORD = re.compile(r"(postgres(?:ql)?://[^\s:/?#@]*):\S*@", re.IGNORECASE)
_PARAMETER = re.compile(r"[?&](?:ssl)?password=[^&\s]*", re.IGNORECASE)


def fits_a_line(name: str) -> bool:
    r"""Whether a name between tabs is read again as it is.

    Example:
        >>> fits_a_line("a\x85b"), fits_a_line("a\tb"), fits_a_line("a\n"), fits_a_line("")
        (True, False, False, False)
    """
    return bool(name) and name == name.strip() and not {*name} & {*"\t\n\r"}


def printable(text: str, *, lines: bool = False) -> str:
    r"""A text that a terminal shows and does not obey.

    Args:
        text: Whatever it is.
        lines: Whether line feeds are ours, and stay.

    Example:
        >>> printable("a\x1b[31mb\u202e")
        'a\\x1b[31mb\\u202e'
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_OBEYED, lambda match: "\n" if lines and match[0] == "\n" else _escaped(match[0]), text)


def lacks_bars(encoding: str | None) -> bool:
    """Whether a stream of this encoding lacks the bars of a sparkline."""
    try:
        "▁█".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def printable_json(text: str) -> str:
    """JSON of the same value, in whose strings nothing is left that a terminal would obey."""
    return re.sub(_OBEYED, lambda match: match[0] if match[0] == "\n" else json.dumps(match[0])[1:-1], text)


def without_secrets(text: str) -> str:
    """A text in whose addresses of servers no password is left.

    Example:
        >>> without_secrets("postgresql://ann:secret@host/base?password=b&schema=news is of this version")
        'postgresql://ann@host/base?schema=news is of this version'
    """
    if not _SERVER.search(text):
        return text
    return re.sub(r"(://[^\s?&]*)&", r"\1?", _PARAMETER.sub("", _PASSWORD.sub(r"\1@", text)))


def without_halves(text: str) -> str:
    r"""A text as long, with U+FFFD for each half of a surrogate pair: UTF-8 can say it, and its words stay the same.

    Example:
        >>> without_halves("a\ud800b") == "a\ufffdb"
        True
    """
    return re.sub(_HALVES, "\ufffd", text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def shortened(text: str, most: int) -> str:
    """A text as it is, or how it begins, and how much of it is left out.

    >>> shortened("abcdef", 4)
    'abcd… [2 characters more]'
    """
    return text if len(text) <= most else f"{text[:most]}… [{len(text) - most:,} characters more]"


def wrapped(text: str, width: int) -> list[str]:
    """A text of one line and of ASCII, in lines that are so wide at most: folded between words, and in longer ones.

    Example:
        >>> wrapped("one two three", 8)
        ['one two', 'three']
    """
    lines, start = list[str](), 0
    if " ".join(text.split()) == text:  # nearly all are: then a step is a line, not a word
        while len(text) - start > width and (end := text.rfind(" ", start, start + width + 1)) >= 0:
            lines.append(text[start:end])
            start = end + 1
    return [*lines, *_wrapped_by_words(text[start:], width)]


def _wrapped_by_words(text: str, width: int) -> list[str]:
    lines = [""]
    for match in re.finditer(r"\s*\S+\s*", text):
        word = match[0].rstrip()
        if len(lines[-1]) + len(word) > width:
            lines += [word[start : start + width] for start in range(0, len(word), width)]
        else:
            lines[-1] += word
        lines[-1] += match[0][len(word) :]
    return [line.rstrip() for line in (lines if lines[0] else lines[1:])]
