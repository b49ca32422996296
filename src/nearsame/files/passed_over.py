"""Files of folders and patterns that are not read: each counted by its kind, with a word on how to read it."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from pathlib import PurePosixPath

from nearsame.dataclass import dataclass
from nearsame.files.compressions import COMPRESSIONS
from nearsame.installation import install_command

__all__ = ["PassedOver", "converter_of", "kind_of"]

_ENDING = r"(?:\.[a-z0-9]{1,10}){1,2}"  # anything else is a name, not a kind
_MOST_KINDS = 8
_CONVERTERS = {
    ".doc": "soffice --convert-to txt", ".docx": "pandoc", ".epub": "pandoc", ".ipynb": "jupyter nbconvert",
    ".odt": "pandoc", ".pdf": "pdftotext", ".rtf": "pandoc",
    ".7z": "7z x", ".rar": "unrar x", ".tar": "tar -xf", ".tgz": "tar -xf", ".zip": "unzip",
    ".db": "an export to .csv", ".sqlite": "an export to .csv", ".xls": "a save as .csv", ".xlsx": "a save as .csv",
    ".xml": "an export to .jsonl",
}  # fmt: skip


@dataclass(frozen=True)
class PassedOver:
    """How many files were passed over.

    Attributes:
        kinds: By what their names end in; `hidden`, `without an ending`, and so on.
        uninstalled: Those of them whose reader is not installed.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    uninstalled: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "PassedOver") -> "PassedOver":
        return PassedOver(self.kinds + other.kinds, self.uninstalled + other.uninstalled)

    @property
    def total(self) -> int:
        """How many in all."""
        return self.kinds.total()

    @property
    def listed(self) -> str:
        """Each kind with its number, the most frequent first."""
        first = self._by_number[:_MOST_KINDS]
        others = self.total - sum(count for _, count in first)
        return ", ".join(f"{kind} {count:,}" for kind, count in (*first, ("others", others)) if count)

    @property
    def _by_number(self) -> list[tuple[str, int]]:
        return sorted(self.kinds.items(), key=lambda pair: (-pair[1], pair[0]))

    def sentences(self) -> Iterator[str]:
        """What to tell of them; nothing where there are none."""
        if not self.total:
            return
        yield f"{self.total:,} file{'s' * (self.total > 1)} passed over: {self.listed}."
        ways = [f"{kind} by {_CONVERTERS[kind]}" for kind, _ in self._by_number if kind in _CONVERTERS]
        if ways:
            yield f"To read them, convert them first: {', '.join(ways[:_MOST_KINDS])}."
        if self.uninstalled:
            yield f"To read {', '.join(sorted(self.uninstalled))}, run: {install_command('web')}"


def converter_of(name: str) -> str | None:
    """What makes a file of that name one that is read; None for a kind of which nothing is known."""
    return _CONVERTERS.get(kind_of(name))


def kind_of(name: str) -> str:
    """What kind of file it is that is not read, by its name.

    Example:
        >>> kind_of("a/Report.DOCX"), kind_of("a/LICENSE"), kind_of("a/.git")
        ('.docx', 'without an ending', 'hidden')
    """
    last = name.rpartition("/")[2]
    if last.startswith("."):
        return "hidden"
    path = PurePosixPath(last.lower())
    if not path.suffix:
        return "without an ending"
    inner = path.with_suffix("").suffix if path.suffix in COMPRESSIONS else ""
    return f"{inner}{path.suffix}" if re.fullmatch(_ENDING, f"{inner}{path.suffix}") else "with other endings"
