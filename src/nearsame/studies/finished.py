"""A finished run as a report asks about it: a result in memory, or the folder that it was written to.

1. Pairs have one form, whatever they came from: the columns of a list of pairs, `a` the document that goes.
2. Nothing is decided here.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from nearsame.answers.stats import Stats
from nearsame.arrow import Int64s, Mask
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, SourceError
from nearsame.files.inputs import Files, Inputs
from nearsame.files.passed_over import PassedOver
from nearsame.files.remote import at_hand
from nearsame.flow.results import Pairs, Result
from nearsame.outputs.folder import read_table
from nearsame.outputs.tables import skipped_table
from nearsame.proofs.claims import Claims
from nearsame.proofs.leaks import is_leaks
from nearsame.proofs.verdict import Findings
from nearsame.sources.footers import why_not_readable
from nearsame.studies.second_reading import RunSources, of_claims, of_reading

__all__ = ["Finished", "Moved", "finished"]

_HERE = {"id": "a_id", "source": "a_source", "row": "a_row"}
_WITNESS = {f"witness_{name}": f"b_{name}" for name in ("id", "source", "row")}


@dataclass(frozen=True)
class Moved:
    """What would have been decided at another threshold: who goes, by row, and how many documents each cluster has."""

    gone: Mask
    clusters: Int64s


@dataclass(frozen=True)
class Finished:
    """A finished run.

    Attributes:
        of: which question it answered.
        stats: its statistics.
        pairs: what it found, as PAIRS; of removed documents with `cluster`, and what else is known of them.
        skipped: the records that could not be read.
        passed_over: the files that were not read.
        sources: where the documents are.
        inputs: every file that was read.
        at: decides again at a higher threshold; None where that cannot be done, for the reason `fixed`.
        fixed: why.
        peaks: bytes that the process had held at most at the end of each step, where it is this one.
        data: the file that all its pairs stand in, where there is one.
    """

    of: Literal["dedup", "pairs"]
    stats: Stats
    pairs: pa.Table
    skipped: pa.Table
    passed_over: PassedOver
    sources: RunSources
    inputs: Inputs
    at: Callable[[str], Moved] | None = None
    fixed: str = ""
    peaks: Mapping[str, int] = field(default_factory=dict)
    data: str = ""


def finished(found: Result | Pairs | str | os.PathLike[str]) -> Finished:
    """A run as a report sees it.

    Raises:
        ConfigError: It ran on Spark.
        SourceError: The folder is not an output of dedup, or damaged.
    """
    if isinstance(found, str | os.PathLike):
        with at_hand(found) as home:
            return _of_folder(home, os.fspath(found))
    if not isinstance(found.pairs, pa.Table):
        raise ConfigError("a report is made on one machine, and this run was on Spark", hint="Run it without engine.")
    common = (
        found.skipped,
        found.passed_over,
        of_reading(found.run.reading, found.run.extract),
        found.run.inputs,
    )
    if isinstance(found, Pairs):
        return Finished("pairs", found.stats, found.table, *common, peaks=found.run.clock.peaks)
    reason = _fixed(found)
    at = None if reason else partial(_moved, found)
    return Finished("dedup", found.stats, _as_pairs(found.removals), *common, at, reason, found.run.clock.peaks)


def _as_pairs(removed: pa.Table) -> pa.Table:
    names = {**_HERE, **_WITNESS}
    return removed.rename_columns([names.get(name, name) for name in removed.column_names])


def _fixed(found: Result) -> str:
    """Why nothing can be decided again."""
    if found.stats.recipe.get("indexes"):
        return "an index was asked, which knows its answers of one threshold"
    try:
        found.method.raised(found.method.least)
    except ConfigError as error:
        return error.message
    return ""


def _moved(found: Result, threshold: str) -> Moved:
    groups = found.at(threshold=threshold).groups
    rows = np.arange(groups.size)
    gone = groups != rows
    return Moved(gone, np.unique(groups[gone], return_counts=True)[1] + 1)


def _of_folder(home: Path, name: str) -> Finished:
    """What `dedup -o` has written, by the name that it was given."""
    if is_leaks(home):
        message = f"{home} is an output of leaks, and a report is made of what dedup has found"
        raise SourceError(message, hint="nearsame leaks --report FILE makes a page of leaks.")
    findings = Findings()
    claims = Claims.read(home, findings, why_not_readable)
    if claims is None or findings.num_problems:
        first = findings.problems[0]
        raise SourceError(
            f"{home}: {first.place}: {first.what}", hint=f"See what else is wrong: nearsame verify {home}."
        )
    skipped = home / "skipped.parquet"
    unread = read_table(skipped) if skipped.exists() else skipped_table([])
    paths = tuple(os.fsdecode(path) for part in claims.parts for path in part.paths if path is not None)
    return Finished(
        of="dedup",
        stats=Stats.of(claims.stats),
        pairs=_as_pairs(claims.removed),
        skipped=unread,
        passed_over=PassedOver(),
        sources=of_claims(claims),
        inputs=Inputs((name,), (), (Files("", paths),)),
        fixed="a folder does not hold what deciding again takes; dedup --report does",
        data=f"{name.rstrip('/')}/removed.parquet",
    )
