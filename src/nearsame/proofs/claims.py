"""What an output folder claims: who is removed, for whom, from which sources; and whether its tables agree."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearsame.errors import SourceError
from nearsame.proofs.files import Part
from nearsame.proofs.verdict import Findings
from nearsame.recipes import TOKENISER

__all__ = ["Claim", "Claims", "key_of"]

Ints = npt.NDArray[np.int64]

_BITS = 40  # of a key, for the position in a part
_AGAIN = "Write the output again with this version of nearsame."
_SAME = ["id", "source", "row", "cluster", "similarity"]


def key_of(part: int, position: int) -> int:
    """A number for each record of all parts, ascending in the order of reading."""
    return part << _BITS | position


class Claim(NamedTuple):
    """One removed document, and its witness."""

    line: int  # of removed.parquet
    id: str
    source: str
    row: int
    witness_id: str
    witness_source: str
    witness_row: int
    similarity: float
    measure: str
    layer: str


@dataclass(frozen=True)
class Claims:
    """An output folder.

    Attributes:
        home: where it is.
        stats: its statistics.
        removed: its removed documents.
        parts: what it was read from, in order.
        columns: what was read of these.
        written: how kept/ was written.
        skipped: positions that could not be read, by source.
        unread: sources of which nothing could be read.
    """

    home: Path
    stats: Mapping[str, Any]
    removed: pa.Table
    parts: tuple[Part, ...]
    columns: Mapping[str, Any]
    written: Mapping[str, Any]
    skipped: Mapping[str, set[int]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, home: Path) -> "Claims":
        """What a folder says.

        Raises:
            SourceError: It is no output of `dedup`, or one of an older version.
        """
        if not home.exists():
            raise SourceError(f"{home} does not exist", hint="Check the path.")
        if not home.is_dir():
            message = f"{home} is a file, and what can be verified is a folder"
            raise SourceError(message, hint="Name one that dedup -o wrote.")
        for name in ("stats.json", "removed.parquet", "sources.parquet"):
            if not (home / name).exists():
                message = f"{home} is no output that can be verified: it has no {name}"
                raise SourceError(message, hint="Name a folder that dedup -o wrote with this version of nearsame.")
        try:
            stats = json.loads((home / "stats.json").read_text("utf-8"))
            removed = pq.read_table(home / "removed.parquet")
            listed = pq.read_table(home / "sources.parquet")
            skipped: dict[str, set[int]] = {}
            unread: set[str] = set()
            if (home / "skipped.parquet").exists():
                for line in pq.read_table(home / "skipped.parquet").to_pylist():
                    skipped.setdefault(line["source"], set()).update({line["position"]} - {None})
                    unread |= {line["source"]} if line["position"] is None and line["line"] in (None, 1) else set()
        except (OSError, ValueError, pa.ArrowException) as error:
            raise SourceError(f"{home} cannot be read: {str(error).splitlines()[0]}", hint=_AGAIN) from None
        if (home / "removed.parquet").is_dir() or b"nearsame" not in (listed.schema.metadata or {}):
            raise SourceError(f"{home} was written on Spark, or by another version", hint=_AGAIN)
        tokeniser = stats.get("recipe", {"tokeniser": TOKENISER}).get("tokeniser", "unknown")
        if tokeniser != TOKENISER:
            message = f"{home} was made with version {tokeniser} of the tokeniser, and this version of nearsame has"
            raise SourceError(f"{message} {TOKENISER}", hint=_AGAIN)
        told = json.loads(listed.schema.metadata[b"nearsame"])
        return cls(home, stats, removed, _parts(listed), told["columns"], told["written"], skipped, unread)

    @cached_property
    def keys(self) -> Ints:
        """The key of each removed document, by line."""
        return self._keys("source", "row", judged=True)

    @cached_property
    def witnesses(self) -> Ints:
        """The key of each witness, by line."""
        return self._keys("witness_source", "witness_row", judged=False)

    @cached_property
    def order(self) -> Ints:
        """The lines in the order of reading."""
        return np.argsort(self.keys, kind="stable")

    @cached_property
    def sorted_keys(self) -> Ints:
        """The keys in the order of reading."""
        return self.keys[self.order]

    def line(self, key: int) -> int | None:
        """The line of a removed document; None: it is not removed."""
        at = int(np.searchsorted(self.sorted_keys, key))
        return int(self.order[at]) if at < len(self.order) and self.sorted_keys[at] == key else None

    def positions(self, part: int) -> set[int]:
        """What is removed from a part."""
        low, high = np.searchsorted(self.sorted_keys, [key_of(part, 0), key_of(part + 1, 0)])
        return set((self.sorted_keys[low:high] - key_of(part, 0)).tolist())

    def claim(self, line: int) -> Claim:
        """A line of removed.parquet."""
        row = self.removed.slice(line, 1).to_pylist()[0]
        names = [name for name in Claim._fields[1:] if name != "layer"]
        told = {name: row[name] for name in names}
        return Claim(line=line, layer=row.get("layer") or "text", **told)

    def claims(self) -> Iterator[Claim]:
        """All lines."""
        return map(self.claim, range(len(self.removed)))

    def _keys(self, source: str, row: str, *, judged: bool) -> Ints:
        """Keys of documents named by source and row; of sources named twice, the first that goes on ascending."""
        numbers: dict[str, list[int]] = {}
        for part in self.parts:
            if not (judged and part.against):
                numbers.setdefault(part.name, []).append(part.number)
        names, rows = self.removed.column(source).to_pylist(), self.removed.column(row).to_numpy()
        found = np.full(len(names), -1, np.int64)
        last: dict[str, tuple[int, int]] = {}
        for at, (name, position) in enumerate(zip(names, rows.tolist(), strict=True)):
            choice = numbers.get(name, [])
            place, before = last.get(name, (0, -1))
            if judged and position <= before and place + 1 < len(choice):
                place += 1
            last[name] = place, position
            if choice:
                found[at] = key_of(choice[place if judged else 0], position)
        return found

    def check(self, findings: Findings) -> None:
        """Whether the tables agree with each other, and with the counts."""
        self._check_counts(findings)
        self._check_places(findings)
        self._check_clusters(findings)
        self._check_pairs(findings)
        self._check_chains(findings)

    def _check_counts(self, findings: Findings) -> None:
        told, found = self.stats, self.removed
        clusters = len(found.group_by(["witness_source", "witness_row"]).aggregate([]))
        judged = told["documents"] - told["against"]
        for name, value in (("removed", len(found)), ("clusters", clusters), ("kept", judged - len(found))):
            if told[name] != value:
                findings.wrong("stats.json", f"{name} is {told[name]:,}, and the tables have {value:,}")
        kinds = told["exact_copies"] + told["near_copies"] + told["other_copies"]
        if kinds != len(found):
            findings.wrong("stats.json", f"exact, near and other copies are {kinds:,}, and {len(found):,} are removed")

    def _check_places(self, findings: Findings) -> None:
        again = np.flatnonzero(np.diff(self.sorted_keys) == 0)
        for line in self.order[again + 1].tolist():
            claim = self.claim(line)
            if self.keys[line] >= 0:
                findings.wrong(_place(claim), f"{claim.source}, record {claim.row}, is removed twice")
        for line in np.flatnonzero((self.keys < 0) | (self.witnesses < 0)).tolist():
            claim = self.claim(line)
            name = claim.source if self.keys[line] < 0 else claim.witness_source
            findings.wrong(_place(claim), f"{name} is none of the sources")
        known = self.witnesses[self.witnesses >= 0]
        for line in np.flatnonzero(np.isin(self.witnesses, self.keys) & (self.witnesses >= 0)).tolist():
            claim = self.claim(line)
            if sum(part.name == claim.witness_source for part in self.parts) == 1:
                what = f"its witness, {claim.witness_source}, record {claim.witness_row}, is removed itself"
                findings.wrong(_place(claim), what)
        findings.count("witnesses", int(np.unique(known).size))

    def _check_clusters(self, findings: Findings) -> None:
        path = self.home / "clusters.parquet"
        if not path.exists():
            findings.wrong("clusters.parquet", "it is missing")
            return
        table = pq.read_table(path)
        members = table.filter(pc.equal(table.column("role"), "removed")).select(_SAME)
        _same_lines(findings, "clusters.parquet", members, self.removed.select(_SAME))
        names = ["witness_id", "witness_source", "witness_row", "cluster"]
        keepers = self.removed.group_by(names).aggregate([]).select(names)
        own = table.filter(pc.equal(table.column("role"), "keeper"))
        _same_lines(findings, "clusters.parquet", own.select(_SAME[:4]), keepers.rename_columns(_SAME[:4]))

    def _check_pairs(self, findings: Findings) -> None:
        path = self.home / "pairs.parquet"
        if not path.exists():
            return
        table = pq.read_table(path)
        names = ["source", "row", "witness_source", "witness_row", "similarity", "measure"]
        told = set()
        for line in table.to_pylist():
            ends = sorted([(line["a_source"], line["a_row"]), (line["b_source"], line["b_row"])])
            told.add((*ends, line["similarity"], line["measure"]))
        for number, line in enumerate(self.removed.select(names).to_pylist()):
            ends = sorted([(line["source"], line["row"]), (line["witness_source"], line["witness_row"])])
            if (*ends, line["similarity"], line["measure"]) not in told:
                findings.wrong("pairs.parquet", f"it lacks the pair of line {number} of removed.parquet")
        if len(table) != len(self.removed):
            findings.wrong("pairs.parquet", f"{len(table):,} pairs, and {len(self.removed):,} documents are removed")

    def _check_chains(self, findings: Findings) -> None:
        """What lost its witness to a later layer goes by what that one went for."""
        if "via_source" not in self.removed.column_names:
            return
        names = ["source", "row", "witness_source", "witness_row", "similarity", "measure", "via_source", "via_row"]
        lines = self.removed.select(names).to_pylist()
        by_place = {(line["source"], line["row"]): line for line in lines}
        for number, line in enumerate(lines):
            if line["via_source"] is None:
                continue
            findings.count("inherited witnesses")
            via = by_place.get((line["via_source"], line["via_row"]))
            same = ("witness_source", "witness_row", "similarity")
            if via is None or any(via[name] != line[name] for name in same):
                findings.wrong(f"removed.parquet, line {number}", "what it says of `via` is not what `via` went for")


def _place(claim: Claim) -> str:
    return f"removed.parquet, line {claim.line}"


def _same_lines(findings: Findings, place: str, told: pa.Table, wanted: pa.Table) -> None:
    """Whether two tables have the same lines, in any order."""
    by = [(name, "ascending") for name in told.column_names]
    one, other = (table.combine_chunks().sort_by(by) for table in (told, wanted))
    findings.count("lines of clusters.parquet", len(one))
    if one.equals(other):
        return
    if len(one) != len(other):
        findings.wrong(place, f"{len(one):,} lines, where removed.parquet asks for {len(other):,}")
    for mine, theirs in zip(one.to_pylist(), other.to_pylist(), strict=False):
        if mine != theirs:
            findings.wrong(place, f"{mine} is not what removed.parquet says: {theirs}")
            return


def _parts(listed: pa.Table) -> tuple[Part, ...]:
    lines: dict[int, list[dict[str, Any]]] = {}
    for line in listed.to_pylist():
        lines.setdefault(line["part"], []).append(line)
    found = []
    for number, some in sorted(lines.items()):
        first = some[0]
        stamps = [(line["size_bytes"], line["mtime_ns"]) for line in some]
        paths, files = [line["path"] for line in some], [line["file"] for line in some]
        told = {name: first[name] for name in ("against", "target", "format", "compression")}
        found.append(Part(number=number, name=first["source"], paths=paths, files=files, stamps=stamps, **told))
    return tuple(found)
