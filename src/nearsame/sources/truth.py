"""What people have judged: a tab-separated file of `id1 id2 [label]`, read against the ids of a corpus.

1. Without labels every line is a true pair, and every other pair is false: the truth is whole.
2. With labels a pair is true from the least number that counts (or by `yes`, `true`, `duplicate`), false below it (or
   by `no`, `false`), and otherwise, as by `unknown`, not judged. Pairs that are not listed are not judged either.
3. A first line that names its columns may name one `weight`: how many pairs of the corpus a pair stands for.
4. An id that no document has, or that two have, is an error that names it; so is a pair that is judged twice,
   differently.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt

from nearsame.errors import ConfigError, SourceError
from nearsame.files.compressions import COMPRESSIONS
from nearsame.files.systems import File, suffixed_name
from nearsame.sources.streams import BrokenStreamError, chunks, without_bom

__all__ = ["Truth", "read_truth"]

_YES = {"yes", "true", "duplicate", "y"}
_NO = {"no", "false", "different", "n"}
_HEADERS = {"id", "id1", "id2", "id_1", "id_2", "a", "b", "a_id", "b_id", "id_a", "id_b"}
_NAMED = 5


@dataclass(frozen=True)
class Truth:
    """Judged pairs of rows a < b, and whether they are true."""

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    is_true: npt.NDArray[np.bool_]
    is_whole: bool  # every pair that is not listed is false
    num_unjudged: int = 0  # listed, but neither true nor false
    weights: npt.NDArray[np.float64] | None = None  # how many pairs each stands for; None: itself

    def within(self, rows: npt.NDArray[np.int64]) -> "Truth":
        """The pairs whose documents are both among some rows (ascending), numbered by their places there."""
        if not rows.size:
            nothing = np.zeros(0, np.int64)
            return Truth(nothing, nothing, np.zeros(0, np.bool_), self.is_whole, self.num_unjudged)
        places = [np.minimum(np.searchsorted(rows, side), rows.size - 1) for side in (self.a, self.b)]
        here = (rows[places[0]] == self.a) & (rows[places[1]] == self.b)
        weights = None if self.weights is None else self.weights[here]
        return Truth(places[0][here], places[1][here], self.is_true[here], self.is_whole, self.num_unjudged, weights)


def read_truth(path: str, ids: Sequence[str], *, least: float = 1.0) -> Truth:
    """Read a truth file.

    Args:
        path: A file or URL, compressed or not.
        ids: What the documents are called, by row.
        least: The least label that says that a pair is true.

    Raises:
        ConfigError: It names ids that there are not, or contradicts itself.
        SourceError: It cannot be read, or a line is not a pair.
    """
    lines, weighed = list(_lines(path)), None
    if lines and {field.lower() for field in lines[0][1][:2]} <= _HEADERS and not set(lines[0][1][:2]) <= set(ids):
        weighed = lines[0][1].index("weight") if "weight" in lines[0][1] else None
        del lines[0]
    rows = _rows(path, lines, ids)
    judged: dict[tuple[int, int], bool | None] = {}
    weights: dict[tuple[int, int], float] = {}
    for number, fields in lines:
        pair = (min(rows[fields[0]], rows[fields[1]]), max(rows[fields[0]], rows[fields[1]]))
        verdict = _verdict(fields[2], least) if len(fields) > 2 else True
        if pair[0] == pair[1]:
            raise ConfigError(f"{path}, line {number}: {fields[0]!r} is paired with itself", hint="Leave the line out.")
        if judged.setdefault(pair, verdict) != verdict:
            message = f"{path}, line {number}: {fields[0]!r} and {fields[1]!r} are judged twice, differently"
            raise ConfigError(message, hint="Leave one of the lines out.")
        if weighed is not None:
            weights[pair] = _weight(f"{path}, line {number}", fields, weighed)
    known = sorted(pair for pair, verdict in judged.items() if verdict is not None)
    if judged and not known:
        message = f"{path}: none of its {len(judged):,} pairs is judged true or false"
        raise ConfigError(message, hint="Write numbers, or yes and no, as the third column.")
    places = np.array(known, np.int64).reshape(-1, 2)
    is_true = np.array([bool(judged[pair]) for pair in known], np.bool_)
    labelled = any(len(fields) > 2 for _, fields in lines)
    stand_for = None if weighed is None else np.array([weights[pair] for pair in known], np.float64)
    return Truth(places[:, 0], places[:, 1], is_true, not labelled, len(judged) - len(known), stand_for)


def _weight(where: str, fields: list[str], place: int) -> float:
    try:
        weight = float(fields[place])
    except (IndexError, ValueError):
        weight = math.nan
    if not 0 < weight < math.inf:
        given = fields[place] if place < len(fields) else ""
        raise ConfigError(f"{where}: the weight {given!r} is not above 0", hint="Say how many pairs it stands for.")
    return weight


def _verdict(label: str, least: float) -> bool | None:
    word = label.strip().lower()
    if word in _YES | _NO:
        return word in _YES
    try:
        number = float(word)
    except ValueError:
        return None
    return None if math.isnan(number) else number >= least


def _rows(path: str, lines: list[tuple[int, list[str]]], ids: Sequence[str]) -> dict[str, int]:
    """The row of each id that the file names."""
    named = dict.fromkeys(name for _, fields in lines for name in fields[:2])
    rows: dict[str, int] = {}
    twice = set()
    for row, name in enumerate(ids):
        if name in named and rows.setdefault(name, row) != row:
            twice.add(name)
    unknown = [name for name in named if name not in rows]
    if unknown:
        message = f"{path} names {_some(unknown)}, which no document has"
        raise ConfigError(message, hint="Choose the column of ids with --id-column, or leave these lines out.")
    if twice:
        message = f"{path} names {_some(sorted(twice))}, which several documents have"
        raise ConfigError(message, hint="Give documents ids of their own.")
    return rows


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    count = f"{len(names)} ids" if len(names) > 1 else "the id"
    return f"{count} {shown}" + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of each line that has any."""
    suffix = PurePosixPath(suffixed_name(path)).suffix
    try:
        _, stream = without_bom(chunks(File(path), COMPRESSIONS.get(suffix)))
        text = b"".join(stream).decode("utf-8")
    except (BrokenStreamError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: {error}", hint="Give a UTF-8 file of id1, id2 and label, with tabs.") from None
    for number, line in enumerate(text.splitlines(), start=1):
        fields = [field.strip() for field in line.split("\t")]
        if not any(fields):
            continue
        if len(fields) < 2 or not all(fields[:2]):
            message = f"{path}, line {number}: {line[:60]!r} is not id1, a tab, id2"
            raise SourceError(message, hint="Separate the ids by a tab.")
        yield number, fields
