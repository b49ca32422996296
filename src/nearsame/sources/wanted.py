"""Which files of folders and patterns are read, and as what: the ends of their names say so, or else who asks.

1. A pattern is held to the end of a path: `*.java` is about all Java files, `tests/**` about all that lies in any
   folder `tests`. `*` and `?` stay within one name, `**` goes into folders.
2. What is excluded is not read, even if it is included, too.
3. Who names a file and what it is read as is obeyed; the first kind whose pattern fits counts.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import PurePosixPath

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.files.compressions import COMPRESSIONS, Compression
from nearsame.files.formats import BY_SUFFIX, PAGES, TEXTS
from nearsame.files.systems import suffixed_name
from nearsame.recipes.choices import FILE_KINDS

__all__ = ["Wanted"]

_TEXTS = (*TEXTS, *PAGES)
_PACKED: dict[str, Compression] = {**COMPRESSIONS, ".lz4": "lz4"}  # of archives
_SUFFIXES: dict[str, str] = {kind: ".txt" if kind == "text" else f".{kind}" for kind in FILE_KINDS}
_WILD = {"**/": r"(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True)
class Wanted:
    """What is asked for of the files of sources.

    Attributes:
        include: patterns, one of which a file of a folder has to fit; none: any file will do.
        exclude: patterns of files that are left out.
        kinds: (kind, pattern) of files that are read as something else than their names say.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        include: str | Sequence[str] | None = None,
        exclude: str | Sequence[str] | None = None,
        read_as: str | Sequence[str] | None = None,
    ) -> "Wanted":
        """What options ask for.

        Raises:
            ConfigError: A kind is not known, or a pattern is missing.

        Example:
            >>> Wanted.of(exclude="tests/**", read_as="text=*.log").kinds
            (('text', '*.log'),)
        """
        split = [(text, *text.partition("=")[::2]) for text in _several(read_as)]
        for text, kind, pattern in split:
            if kind not in FILE_KINDS or not pattern:
                hint = f"Write it as in text=*.log; kinds are {', '.join(FILE_KINDS)}."
                raise ConfigError(f"read_as={text!r} is not KIND=PATTERN", hint=hint)
        return cls(_several(include), _several(exclude), tuple((kind, pattern) for _, kind, pattern in split))

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.include or self.exclude or self.kinds)

    def takes(self, path: str) -> bool:
        """Whether a file of a folder is read."""
        included = not self.include or _fits(path, self.include)
        return included and not _fits(path, self.exclude)

    def form(self, path: str) -> tuple[str | None, str | None]:
        """The suffix that says what a file holds, and its compression; None for an unknown one.

        Raises:
            ConfigError: It is asked to be read as a text, and is a web page or compressed.
        """
        name = suffixed_name(path).lower()
        suffix = PurePosixPath(name).suffix
        compression = _PACKED.get(suffix)
        kind = next((kind for kind, pattern in self.kinds if _fits(suffixed_name(path), (pattern,))), None)
        if kind == "text" and (compression or suffix in PAGES):
            what = "compressed" if compression else "a web page"
            hint = "Unpack it first." if compression else "To compare its markup, choose extract none."
            raise ConfigError(f"read_as=text: {path} is {what}", hint=hint)
        if kind is not None:
            return _SUFFIXES[kind], compression
        if suffix in _TEXTS:
            return suffix, None
        inner = PurePosixPath(name.removesuffix(suffix)).suffix if compression else suffix
        form = BY_SUFFIX.get(inner)
        known = form is not None and (form.is_archive or compression != "lz4")
        return (inner if known else None), compression


def _several(patterns: str | Sequence[str] | None) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else tuple(patterns or ())


def _fits(path: str, patterns: Sequence[str]) -> bool:
    return any(_compiled(pattern).fullmatch(path) for pattern in patterns)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/"))
    return re.compile("(?:.*/)?" + "".join(_WILD.get(piece, re.escape(piece)) for piece in pieces), re.DOTALL)
