"""The tables of an output, held to the form that each must have: anything else is a finding, never an error.

1. A form is declared here anew: it is what the documentation says of a table, not what the writer of it knows.
2. What is read has the columns, types and nulls of its form, and only numbers that can be.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearsame.named import NamedTuple
from nearsame.proofs.files import BROKEN, first_line, said_by
from nearsame.proofs.verdict import Findings

__all__ = [
    "CLUSTERS",
    "FREQUENCIES",
    "MASK",
    "PAIRS",
    "POSITIONS",
    "REMOVED",
    "SKIPPED",
    "SOURCES",
    "Form",
    "Look",
    "metadata",
    "read",
]

Look = Callable[[BinaryIO], str]  # why a Parquet file must not be opened; nothing if it may be
POSITIONS = 1 << 40  # records in a source, at most
_KEY = b"nearsame"

_TEXT, _WHOLE, _NUMBER, _FLAG = pa.string(), pa.int64(), pa.float64(), pa.bool_()
_WHO = {"id": _TEXT, "source": _TEXT, "row": _WHOLE}


class Form(NamedTuple):
    """What a table must be.

    Attributes:
        columns: of every such table, in order.
        more: groups of columns that stand behind them, each whole or not at all.
        nullable: the columns that may have nulls.
    """

    columns: Mapping[str, pa.DataType]
    more: tuple[Mapping[str, pa.DataType], ...] = ()
    nullable: frozenset[str] = frozenset()

    def wrong(self, table: pa.Table) -> str:
        """What is wrong with a table; nothing if it has the form."""
        wanted = dict(self.columns)
        for group in self.more:
            if any(name in table.column_names for name in group):
                wanted |= group
        if table.column_names != list(wanted):
            return f"its columns are {', '.join(table.column_names) or 'none'}, and should be {', '.join(wanted)}"
        for name, kind in wanted.items():
            column = table.column(name)
            if column.type != kind:
                return f"column {name!r} is {column.type}, and should be {kind}"
            if column.null_count and name not in self.nullable:
                return f"column {name!r} has {column.null_count:,} nulls"
            if problem := _out_of_range(name, column):
                return problem
        return ""


def _out_of_range(name: str, column: pa.ChunkedArray) -> str:
    if pa.types.is_floating(column.type) and len(column) > column.null_count:
        if pc.any(pc.is_nan(column)).as_py() and not name.endswith(("a_in_b", "b_in_a", "exact")):
            return f"column {name!r} has values that are not numbers"
        numbers = column.filter(pc.invert(pc.is_nan(column)))  # shares are measured where a layer has not decided
        low, high = pc.min_max(numbers).as_py().values()
        if low is not None and not 0 <= low <= high <= 1:
            return f"column {name!r} has values that are not from 0 to 1"
    if column.type == _WHOLE and name not in ("mtime_ns", "item") and len(column) > column.null_count:
        low, high = pc.min_max(column).as_py().values()
        if low < 0 or (name.endswith(("row", "position")) and high >= POSITIONS):
            return f"column {name!r} has impossible numbers: {low:,} to {high:,}"
    return ""


def _prefixed(prefix: str) -> dict[str, pa.DataType]:
    return {f"{prefix}_{name}": kind for name, kind in _WHO.items()}


_EVIDENCE = {"evidence": pa.list_(_TEXT), "same_host": _FLAG}
_LAYER = {"layer": _TEXT, **_prefixed("via")}
_HOW = {"similarity": _NUMBER, "measure": _TEXT}
_SHARES = {"a_in_b": _NUMBER, "b_in_a": _NUMBER}
_VIA = frozenset({"via_id", "via_source", "via_row", "same_host"})

REMOVED = Form({**_WHO, **_prefixed("witness"), **_HOW, "cluster": _WHOLE}, (_LAYER, _EVIDENCE), _VIA)
CLUSTERS = Form(
    {**_WHO, "cluster": _WHOLE, "role": _TEXT, "similarity": _NUMBER}, (_EVIDENCE,), frozenset({*_EVIDENCE})
)
PAIRS = Form(
    {**_prefixed("a"), **_prefixed("b"), **_HOW},
    (_SHARES, {"exact": _NUMBER, **{f"exact_{name}": kind for name, kind in _SHARES.items()}}),
)
SOURCES = Form(
    {
        "part": pa.int32(), "against": _FLAG, "source": _TEXT, "target": _TEXT, "format": _TEXT, "compression": _TEXT,
        "path": pa.binary(), "file": pa.binary(), "size_bytes": _WHOLE, "mtime_ns": _WHOLE,
    },
    nullable=frozenset({"compression", "path", "file", "size_bytes", "mtime_ns"}),
)  # fmt: skip
SKIPPED = Form(
    {"source": _TEXT, "position": _WHOLE, "line": _WHOLE, "reason": _TEXT}, nullable=frozenset({"position", "line"})
)
FREQUENCIES = Form({"item": _WHOLE, "documents": _WHOLE})
MASK = Form({"part": pa.int32(), "row": _WHOLE})


def read(home: Path, name: str, form: Form, findings: Findings, look: Look) -> pa.Table | None:
    """A table of an output; None, and a finding, where it is missing or not of its form."""
    path = home / name
    if not path.is_file():
        findings.wrong(name, "it is missing")
        return None
    try:
        with closing(path.open("rb")) as file:
            if reason := look(file):
                findings.wrong(name, f"it cannot be read: {reason}")
                return None
            file.seek(0)
            opened = pq.ParquetFile(file, pre_buffer=False)
            table = opened.read(use_threads=False)  # as records.py says
            table.validate(full=True)
            to_all, to_arrow = said_by(opened.metadata.metadata)
            problem = form.wrong(table)
            if not problem and (to_all.keys() > {_KEY} or to_all != to_arrow):
                problem = "what it says besides its columns is not what it says in the schema for Arrow"
    except BROKEN as error:
        findings.wrong(name, f"it cannot be read: {first_line(error)}")
        return None
    if problem:
        findings.wrong(name, problem)
        return None
    return table


def metadata(table: pa.Table) -> dict[str, Any] | None:
    """What a table of ours says besides its columns; None where that is nothing that can be read."""
    try:
        about = json.loads((table.schema.metadata or {})[_KEY])
    except (KeyError, ValueError, RecursionError):
        return None
    return about if isinstance(about, dict) else None
