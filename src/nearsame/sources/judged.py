"""What people have judged, line by line: the file that a report saves, that `review` writes, and that runs read.

1. A line is id1, id2 and an optional label, separated by tabs. A first line that names the columns may name others:
   `weight` (how many pairs of the corpus a pair stands for), `keep` (which of the two stays), `note`, `who`, `when`.
   The third column is the label where none is called so, unless it has one of these names.
2. With a column `when`, lines stand in the order in which they were decided: the last one about a pair counts.
3. A label says yes, no or that nobody is sure, in words or as a number; any other is an error. A choice of who stays
   says yes, where its label is empty.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from nearsame.errors import ConfigError, SourceError
from nearsame.named import NamedTuple
from nearsame.sources.whole import read_text, text_lines

__all__ = ["DECISION_COLUMNS", "FIELDS", "WEIGHED_COLUMNS", "JudgedPair", "judgement_of", "read_judgements"]

DECISION_COLUMNS: Final = ("id1", "id2", "label", "keep", "note", "who", "when")  # of a file that is added to
WEIGHED_COLUMNS: Final = (*DECISION_COLUMNS, "weight")  # of what a report saves: likewise
FIELDS: Final = DECISION_COLUMNS[:5]  # of a record

_YES = {"yes", "true", "duplicate", "y", "right", "same"}
_NO = {"no", "false", "different", "n", "wrong", "distinct"}
_UNSURE = {"unknown", "unsure", "maybe", "u", "?", "nan", ""}
_OTHERS = {"keep", "note", "who", "when", "weight"}
_HEADERS = {"id", "id1", "id2", "id_1", "id_2", "a", "b", "a_id", "b_id", "id_a", "id_b"}


class JudgedPair(NamedTuple):
    """A line.

    Attributes:
        line: its number.
        a: an id.
        b: the other.
        label: what it says, as it is written; None: it has none.
        weight: as it is written; None: nothing is weighed.
        keep: the id of the one that is to stay, or nothing.
        note: what was noted.
        who: has decided it.
        when: likewise, as it is written.
    """

    line: int
    a: str
    b: str
    label: str | None = None
    weight: str | None = None
    keep: str = ""
    note: str = ""
    who: str = ""
    when: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        """The two, whichever is named first."""
        return (self.a, self.b) if self.a < self.b else (self.b, self.a)

    @property
    def is_decided(self) -> bool:
        """Whether anything was said of it, be it that nobody is sure."""
        return bool(self.label or self.keep)

    def verdict(self, least: float = 1.0) -> bool | None:
        """Whether they are duplicates, as they are from the least number that counts; None: nobody says so."""
        if self.label is None or (self.keep and not self.label):
            return True
        word = self.label.lower()
        if word in _YES | _NO:
            return word in _YES
        try:
            number = float(word)
        except ValueError:
            return None
        return None if math.isnan(number) else number >= least


def read_judgements(path: str, ids: Collection[str] = ()) -> list[JudgedPair]:
    """Read a file of them.

    Args:
        path: A file or URL, compressed or not.
        ids: What documents are called, if that is known: what names two of them is no line of names.

    Raises:
        ConfigError: A pair is one document, or a label says nothing.
        SourceError: It cannot be read, or a line is not a pair.
    """
    text = read_text(path)
    lines, names = list(_lines(path, text)), list[str]()
    if lines and _is_header(lines[0][1], ids):
        names = [name.lower() for name in lines.pop(0)[1]]
    elif lines and _is_disordered(lines[0][1], ids):
        number, fields = lines[0]
        message = f"{path}, line {number}: {' '.join(fields)!r} are names of columns, and do not begin with two ids"
        hint = "Put the two ids first; if these are ids, put the line `id1`, a tab, `id2` above them."
        raise SourceError(message, hint=hint)
    is_log = tuple(names) in (DECISION_COLUMNS, WEIGHED_COLUMNS)
    if is_log and lines and len(lines[-1][1]) < len(names) and not text.endswith("\n"):
        message = f"{path}, line {lines[-1][0]}, the last one: its writer was stopped before it was whole"
        raise SourceError(
            message, hint="Go on with review, which takes it away; or end it, with a line break behind it."
        )
    at = _label_of(names)
    judged = [_judgement(number, fields, names, at) for number, fields in lines]
    for one in judged:
        _require_sense(f"{path}, line {one.line}", one)
    if "when" not in names:
        return judged
    last = {one.pair: one for one in judged}
    return [one for one in last.values() if one.label or one.keep or one.note]  # others were taken back


def judgement_of(record: Mapping[str, Any], number: int) -> JudgedPair:
    """The same of a record; `number`: its place among others.

    Raises:
        ConfigError: It is none, its two documents are one, or its label says nothing.
    """
    odd = next((name for name, value in record.items() if name in FIELDS and not isinstance(value, str)), None)
    if odd is not None:
        message = f"decisions, number {number}: {odd} is {record[odd]!r}, which is no text"
        hint = "Give ids as texts, a number by its digits, and the label as yes, no or unknown."
        raise ConfigError(message, hint=hint)
    if not {"id1", "id2"} <= record.keys() <= {*FIELDS}:
        message = f"decisions: {dict(record)!r} is not one of two ids"
        raise ConfigError(message, hint=f"Give texts as {', '.join(FIELDS)}; the first two are needed.")
    keep, note = (record.get(name, "") for name in ("keep", "note"))
    one = JudgedPair(number, record["id1"], record["id2"], record.get("label"), None, keep, note)
    _require_sense(f"decisions, number {number}", one)
    return one


def _require_sense(where: str, one: JudgedPair) -> None:
    if one.a == one.b:
        raise ConfigError(f"{where}: {one.a!r} is paired with itself", hint="Leave it out.")
    if one.verdict() is None and str(one.label).lower() not in _UNSURE:
        message = f"{where}: the label {str(one.label)[:60]!r} says neither yes nor no"
        raise ConfigError(message, hint="Write yes, no, unknown, or a number; call a column of remarks note.")


def _is_header(fields: list[str], ids: Collection[str]) -> bool:
    first, second = (field.lower() for field in fields[:2])
    if first == second or not {first, second} <= _HEADERS:
        return False
    if (first, second, *map(str.lower, fields[2:3])) == ("id1", "id2", "label"):
        return True  # as decisions and pairs to label begin, whatever documents are called
    if set(fields[:2]) <= set(ids):
        return False
    if len(fields) < 3:
        return {first, second} != {"a", "b"}  # which are ids as likely as names, and a pair must not be lost
    return JudgedPair(1, "", "", fields[2]).verdict() is None


def _is_disordered(fields: list[str], ids: Collection[str]) -> bool:
    """Whether these are names of columns beyond doubt, one of them of an id, and yet the first two are not."""
    names = [field.lower() for field in fields]
    others, first = _OTHERS | {"label"}, set(names[:2])
    if set(fields[:2]) <= set(ids) or not first & others or not set(names) <= _HEADERS | others:
        return False
    return bool(set(names) & _HEADERS - {"id", "a", "b"})  # which are ids as likely


def _label_of(names: list[str]) -> int | None:
    """Where the label stands."""
    if "label" in names:
        return names.index("label")
    return None if names[2:3] and names[2] in _OTHERS else 2


def _judgement(number: int, fields: list[str], names: list[str], at: int | None) -> JudgedPair:
    said = dict(zip(names[2:], fields[2:], strict=False))
    label = None
    if at is not None and at < max(len(names), len(fields)):
        label = fields[at] if at < len(fields) else ""  # editors take away blanks at the end of a line
    weight = said.get("weight", "") if "weight" in names else None
    rest = (said.get(name, "") for name in ("keep", "note", "who", "when"))
    return JudgedPair(number, fields[0], fields[1], label, weight, *rest)


def _lines(path: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of each line that has any."""
    for number, line in enumerate(text_lines(text if "\n" in text else text.replace("\r", "\n")), start=1):
        fields = [field.strip() for field in line.split("\t")]
        if not any(fields):
            continue
        if len(fields) < 2 or not all(fields[:2]):
            message = f"{path}, line {number}: {line[:60]!r} is not id1, a tab, id2"
            raise SourceError(message, hint="Separate the ids by a tab.")
        yield number, fields
