"""Pairs to label, as `evaluate --to-label` writes them: read to be judged, and filled in mark by mark.

1. A mark changes one cell of the file: the file is read again, and appears anew with it, as a whole. What somebody
   else has written into it by then stays, and so do the weights.
2. Texts are those of the file.
"""

import os
from functools import cached_property

from nearsame.answers.doubts import Undecided
from nearsame.answers.reports import SeenDocument
from nearsame.errors import SourceError
from nearsame.files.systems import File
from nearsame.outputs.folder import appearing, require_place
from nearsame.sources.judged import JudgedPair
from nearsame.sources.streams import chunks
from nearsame.sources.whole import utf8
from nearsame.studies.compare import compare
from nearsame.studies.side_by_side import LaidOut, laid_out

__all__ = ["Sheet"]

_NEEDED = ("id1", "id2", "label", "text1", "text2")


class Sheet:
    """A file of pairs to label, to be looked at pair by pair: both what there is to judge and what was.

    Attributes:
        known: the pairs that have a label.

    Raises:
        SourceError: It cannot be read, or has other columns.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._undo: list[tuple[Undecided, str]] = []
        lines = self._read()
        self._column = {name: place for place, name in enumerate(_names(lines[0]))}
        self._rows = [line for line in lines[1:] if any(map(str.strip, line))]
        for row in self._rows:
            if len(row) < len(lines[0]):
                message = f"{self._path}: the line of {' and '.join(row[:2])} has {len(row)} columns of {len(lines[0])}"
                raise SourceError(message, hint="Draw the pairs anew, or mend the line.")
        if not self._rows:
            raise SourceError(f"{self._path} has no pairs", hint="Draw some with nearsame evaluate --to-label.")
        judged = (JudgedPair(0, row[0], row[1], row[self._column["label"]].strip()) for row in self._rows)
        self.known = {one.pair: one for one in judged if one.label}

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The ids of each pair, in the order of the file, whichever is named first."""
        return [_pair(row) for row in self._rows]

    @cached_property
    def numbers(self) -> dict[tuple[str, str], int]:
        """The place of each pair in that order."""
        return {pair: number for number, pair in enumerate(self.pairs)}

    def doubt(self, number: int) -> Undecided:
        """One pair."""
        a, b = self._rows[number][:2]
        return Undecided(SeenDocument(a, "", 0), SeenDocument(b, "", 0))

    def laid_out(self, number: int) -> LaidOut:
        """Its texts beside each other."""
        a, b = (self._rows[number][self._column[name]].strip() for name in ("text1", "text2"))
        return laid_out((a, b), compare(a, b, edits=False))

    def about(self, doubt: Undecided) -> JudgedPair | None:
        """Its label, if it has one."""
        return self.known.get(_pair((doubt.goes.id, doubt.stays.id)))

    def decide(self, doubt: Undecided, label: str, *, keep: str = "", note: str | None = None) -> None:
        """Write a label; of a pair to label there is no other word to say.

        Raises:
            OutputError: It cannot be written.
            SourceError: The file is gone, or another one.
        """
        del keep, note
        before = self.about(doubt)
        self._write(doubt, label)
        self._undo.append((doubt, (before.label if before else None) or ""))

    def undo(self) -> tuple[str, str] | None:
        """Take back the last label that was given here: the pair that it was about."""
        if not self._undo:
            return None
        doubt, label = self._undo.pop()
        self._write(doubt, label)
        return _pair((doubt.goes.id, doubt.stays.id))

    def _write(self, doubt: Undecided, label: str) -> None:
        one = JudgedPair(0, doubt.goes.id, doubt.stays.id, label)
        lines = self._read()
        place = _names(lines[0]).index("label")
        mine = [line for line in lines[1:] if len(line) > place and _pair(line) == one.pair]
        if not mine:
            raise SourceError(f"{self._path} does not have the pair any more", hint="Begin again with what it has now.")
        for line in mine:
            line[place] = label
        with appearing(require_place(self._path, folder=False, overwrite=True)) as made:
            made.write_bytes("\n".join(map("\t".join, lines)).encode("utf-8"))
        self.known[one.pair] = one
        if not label:
            del self.known[one.pair]

    def _read(self) -> list[list[str]]:
        """The cells of each line, as they are: joined again they are the file."""
        text = utf8(b"".join(chunks(File(self._path), None)), self._path)
        lines = [line.split("\t") for line in text.split("\n")]
        names = _names(lines[0])
        if tuple(names[:2]) != _NEEDED[:2] or not set(_NEEDED) <= set(names):
            message = f"{self._path} is no file of pairs to label: its columns are not {', '.join(_NEEDED)}"
            raise SourceError(message, hint="Draw pairs with nearsame evaluate SOURCE --to-label 100 -o pairs.tsv.")
        return lines


def _names(cells: list[str]) -> list[str]:
    return [cell.strip("\ufeff\r ") for cell in cells]


def _pair(row: "list[str] | tuple[str, str]") -> tuple[str, str]:
    return JudgedPair(0, row[0], row[1]).pair
