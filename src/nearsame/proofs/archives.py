"""The annotations beside the copy of an archive: a line for each of its records, documents or not, in order."""

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest
from typing import Any

from nearsame.named import NamedTuple

__all__ = ["Archive", "problem_of_lines"]

Label = tuple[str, str]  # the id of a record and its URL


class Archive(NamedTuple):
    """What is known of the records of an archive.

    Attributes:
        labels: of all records.
        documents: positions of those that are documents, and stay.
        gone: positions of those that could not be read, and are left out; what was written for them may be, too.
        added: what --annotate says, by position; a document that is not there has no near-duplicate.
    """

    labels: Sequence[Label]
    documents: AbstractSet[int]
    gone: AbstractSet[int]
    added: Mapping[int, tuple[Any, ...]]

    def line(self, position: int) -> list[tuple[str, Any]]:
        """The keys and values that are given of a record."""
        name, url = self.labels[position]
        unknown = (None, None, 0) if position in self.documents else (None, None, None)
        cluster, witness, number = self.added.get(position, unknown)
        return [
            ("position", position),
            ("record_id", name),
            ("url", url),
            ("cluster", cluster),
            ("witness_id", witness),
            ("num_duplicates", number),
        ]

    def follows(self, position: Any, last: int) -> bool:
        """Whether a record may be the one that stays after another."""
        if not isinstance(position, int) or isinstance(position, bool):
            return False
        if not last < position <= len(self.labels) or position in self.gone:
            return False
        between = range(last + 1, position)
        return all(place in self.gone or (bool(self.gone) and place not in self.documents) for place in between)


def problem_of_lines(data: bytes, archive: Archive, copied: Sequence[Label]) -> str:
    """What is wrong with annotations; nothing: all is right.

    Args:
        data: The lines.
        archive: What was read.
        copied: The records of the copy.
    """
    *lines, rest = data.split(b"\n")
    if rest:
        return "its last line has no end"
    last = -1
    for number, (line, label) in enumerate(zip_longest(lines, copied), start=1):
        if line is None:
            return f"it ends where line {number} should stand"
        if label is None:
            return f"line {number} stands for no record of the copy"
        items = _items(line)
        position: Any = dict(items).get("position")
        if position == len(archive.labels) or not archive.follows(position, last):
            return f"line {number} is not of the record that follows in the copy"
        if archive.labels[position] != label or repr(items) != repr(archive.line(position)):
            return f"line {number} is not what is known of record {position}"
        last = position
    return "" if archive.follows(len(archive.labels), last) else "it ends before the last record that stays"


def _items(line: bytes) -> list[tuple[str, Any]]:
    try:
        pairs = json.loads(line, object_pairs_hook=list)
        return [(str(name), value) for name, value in pairs]
    except (RecursionError, TypeError, ValueError):
        return []
