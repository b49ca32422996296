"""What people have judged, as a truth: judged pairs, held to the ids of a corpus.

1. Without labels every line is a true pair, and every other pair is false: the truth is whole.
2. With labels a pair is true from the least number that counts (or by `yes`, `true`, `duplicate`), false below it (or
   by `no`, `false`), and not judged where nobody is sure (`unknown`). Pairs that are not listed are not judged either.
3. An id that no document has, or that two have, is an error that names it; so is a pair that is judged twice,
   differently, where lines do not say when.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.sources.judged import JudgedPair, read_judgements

__all__ = ["Truth", "read_truth"]

_NAMED = 5
_LEAST_WEIGHT = 1e-100  # and 1 over it the greatest: sums of so many stay exact enough, and finite


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
    judged = read_judgements(path, ids)
    rows = _rows(path, judged, ids)
    verdicts: dict[tuple[int, int], bool | None] = {}
    weights: dict[tuple[int, int], float] = {}
    for one in judged:
        pair = (min(rows[one.a], rows[one.b]), max(rows[one.a], rows[one.b]))
        verdict = one.verdict(least)
        if verdicts.setdefault(pair, verdict) != verdict:
            message = f"{path}, line {one.line}: {one.a!r} and {one.b!r} are judged twice, differently"
            raise ConfigError(message, hint="Leave one of the lines out.")
        if one.weight is not None:
            weights[pair] = _weight(f"{path}, line {one.line}", one.weight)
    known = sorted(pair for pair, verdict in verdicts.items() if verdict is not None)
    if verdicts and not known:
        message = f"{path}: none of its {len(verdicts):,} pairs is judged true or false"
        raise ConfigError(message, hint="Write numbers, or yes and no, as the third column.")
    places = np.array(known, np.int64).reshape(-1, 2)
    is_true = np.array([bool(verdicts[pair]) for pair in known], np.bool_)
    stand_for = np.array([weights[pair] for pair in known], np.float64) if weights else None
    is_whole = all(one.label is None for one in judged)
    return Truth(places[:, 0], places[:, 1], is_true, is_whole, len(verdicts) - len(known), stand_for)


def _weight(where: str, given: str) -> float:
    try:
        weight = float(given)
    except ValueError:
        weight = math.nan
    if not _LEAST_WEIGHT <= weight <= 1 / _LEAST_WEIGHT:
        message = f"{where}: the weight {given!r} is not above 0, or is out of all proportion"
        raise ConfigError(message, hint="Say how many pairs it stands for.")
    return weight


def _rows(path: str, judged: list[JudgedPair], ids: Sequence[str]) -> dict[str, int]:
    """The row of each id that the file names."""
    named = dict.fromkeys(name for one in judged for name in (one.a, one.b))
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
