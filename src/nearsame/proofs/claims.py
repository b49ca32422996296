"""What an output folder claims: who is removed, for whom, from which sources.

1. What cannot be claimed (a table of another form, a recipe that no run could have had) is reported, and nothing is
   built on it: whoever asks a claim can trust its types.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.errors import SourceError
from nearsame.named import NamedTuple
from nearsame.proofs import tables
from nearsame.proofs.files import Part
from nearsame.proofs.parts import part_problems, parts_of
from nearsame.proofs.settings import about_problems, method_of, orders_of, recipe_problems
from nearsame.proofs.statistics import read_stats
from nearsame.proofs.tables import Look, metadata
from nearsame.proofs.verdict import Findings
from nearsame.recipes.base import TOKENISER
from nearsame.recipes.methods import Method

__all__ = ["Claim", "Claims", "Skips", "key_of"]

Ints = npt.NDArray[np.int64]

_BITS = 40  # of a key, for the position in a part
_MARKS = ("removed.parquet", "sources.parquet")  # of which no other command writes any
_READ = ("unread:", "breaks off:")  # how the reason begins where more follows behind what was read, or breaks off
_HINT = "Name a folder that dedup -o wrote."


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
    cluster: int
    layer: str
    via: tuple[str, int] | None
    evidence: list[str] | None
    same_host: bool | None


@dataclass(frozen=True)
class Claims:
    """An output folder.

    Attributes:
        home: where it is.
        stats: its statistics, as far as they are of their types; the recipe among them always is.
        method: the one of the recipe.
        removed: its removed documents.
        parts: what it was read from, in order.
        columns: what was read of these.
        written: how the output was written.
        look: says why a Parquet file must not be opened.
        skips: what could not be read.
        ignored: how many files of no known format the sources had.
        call: what was asked; nothing, where an older version wrote it.
    """

    home: Path
    stats: Mapping[str, Any]
    method: Method
    removed: pa.Table
    parts: tuple[Part, ...]
    columns: Mapping[str, Any]
    written: Mapping[str, Any]
    look: Look
    skips: "Skips"
    ignored: int
    call: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, home: Path, findings: Findings, look: Look) -> "Claims | None":
        """What a folder says; None where so little of it can be read that nothing can be proven.

        Raises:
            SourceError: It is not an output of `dedup`, or one that Spark wrote.
        """
        _require_output(home)
        listed = tables.read(home, "sources.parquet", tables.SOURCES, findings, look)
        removed = tables.read(home, "removed.parquet", tables.REMOVED, findings, look)
        stats = read_stats(home, findings)
        _require_tokeniser(home, stats)
        about = None if listed is None else metadata(listed)
        if listed is not None:
            problems = [*part_problems(listed), *about_problems(about)]
            findings.wrong_all("sources.parquet", problems)
            listed = None if problems else listed
        if listed is None or about is None or stats is None:
            return None
        parts = parts_of(listed, about.get("encodings", {}))
        has_against = any(part.against for part in parts)
        formats = [part.format for part in parts]
        problems = list(recipe_problems(stats.get("recipe"), about["columns"], formats, has_against=has_against))
        findings.wrong_all("stats.json", problems)
        if problems or removed is None:
            return None
        skips = Skips.read(home, findings, look, {part.name for part in parts})
        method, written = method_of(stats["recipe"]), about["written"]
        columns = about["columns"] | {"order": orders_of(about["columns"])}
        ignored, call = about["ignored"], about.get("call", {})
        return cls(home, stats, method, removed, parts, columns, written, look, skips, ignored, call)

    @property
    def recipe(self) -> Mapping[str, Any]:
        """What decided the answer."""
        recipe: Mapping[str, Any] = self.stats["recipe"]
        return recipe

    @property
    def is_whole(self) -> bool:
        """Whether all sources can be read again."""
        return all(part.format != "stdin" for part in self.parts)

    @property
    def has_revisits(self) -> bool:
        """Whether all records stay, some of them as revisits; outputs of older versions do not tell."""
        return bool(self.written.get("revisits"))

    @property
    def has_mask(self) -> bool:
        """Whether nothing was copied, and a table says what goes."""
        return bool(self.written.get("mask"))

    @property
    def skipped(self) -> Mapping[str, set[int]]:
        """Positions that could not be read, by source."""
        return self.skips.positions

    @cached_property
    def keys(self) -> Ints:
        """The key of each removed document, by line."""
        return self._keys("source", "row", judged=True)

    @cached_property
    def witnesses(self) -> Ints:
        """The key of each witness, by line."""
        return self._keys("witness_source", "witness_row", judged=False)

    @cached_property
    def vias(self) -> Mapping[tuple[str, int], int]:
        """The keys of removed documents by source and row, where layers name them."""
        if "via_source" not in self.removed.column_names:
            return {}
        names = zip(self.removed.column("source").to_pylist(), self.removed.column("row").to_pylist(), strict=True)
        return dict(zip(names, self.keys.tolist(), strict=True))

    @property
    def asked(self) -> Ints:
        """The keys of all documents whose contents others are compared with."""
        return np.concatenate([self.witnesses, np.fromiter(self.vias.values(), np.int64, len(self.vias))])

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
        fields = {name: row.get(name) for name in Claim._fields if name not in ("line", "layer", "via")}
        via = None if row.get("via_source") is None else (row["via_source"], row["via_row"])
        return Claim(line=line, layer=row.get("layer") or "text", via=via, **fields)

    def _keys(self, source: str, row: str, *, judged: bool) -> Ints:
        """Keys of documents named by source and row; of sources named twice, the first that goes on ascending."""
        numbers: dict[str, list[int]] = {}
        for part in self.parts:
            if not (judged and part.against):
                numbers.setdefault(part.name, []).append(part.number)
        names, rows = self.removed.column(source).to_pylist(), self.removed.column(row).to_numpy()
        keys = np.full(len(names), -1, np.int64)
        last: dict[str, tuple[int, int]] = {}
        for at, (name, position) in enumerate(zip(names, rows.tolist(), strict=True)):
            choice = numbers.get(name, [])
            place, before = last.get(name, (0, -1))
            if judged and position <= before and place + 1 < len(choice):
                place += 1
            last[name] = place, position
            if choice:
                keys[at] = key_of(choice[place if judged else 0], position)
        return keys


def _require_tokeniser(home: Path, stats: Mapping[str, Any] | None) -> None:
    """Refuse what another tokeniser has made: it would be called wrong where it was right.

    Raises:
        SourceError: It is such an output.
    """
    recipe = (stats or {}).get("recipe")
    if not isinstance(recipe, dict) or "method" not in recipe:
        return
    version = recipe.get("tokeniser", "unknown")
    if version == "unknown" or (type(version) is int and version >= 1 and version != TOKENISER):
        message = (
            f"{home} was made with version {version} of the tokeniser, and this version of nearsame has {TOKENISER}"
        )
        raise SourceError(message, hint="Write the output again with this version of nearsame.")


def _require_output(home: Path) -> None:
    """Refuse what `dedup` has not written, or not on this machine.

    Raises:
        SourceError: It is not a folder, none of ours, or one of Spark's.
    """
    if not os.path.lexists(home):
        raise SourceError(f"{home} does not exist", hint="Check the path.")
    if not home.is_dir():
        message = f"{home} is a file, and an output of dedup that can be read again is a folder"
        raise SourceError(message, hint=f"{_HINT} A file of pairs or kept records has no proof beside it.")
    if any((home / name).is_dir() and not (home / f"{name}.parquet").exists() for name in ("removed", "spans")):
        message = f"{home} was written on Spark, and only an output of one machine can be read again"
        raise SourceError(message, hint="Run it without --engine spark to have an output that can be.")
    if not any((home / name).exists() for name in _MARKS):
        message = f"{home} is not an output of dedup: it has no {_MARKS[0]}"
        raise SourceError(message, hint=f"{_HINT[:-1]} with this version of nearsame.")


@dataclass(frozen=True)
class Skips:
    """What could not be read.

    Attributes:
        positions: by source.
        unread: sources of which nothing could be read.
        torn: sources that are said to break off somewhere.
        lines: by source and position, the line that it is said to begin at.
        number: how many there are; None: nobody can tell.
    """

    positions: dict[str, set[int]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    torn: set[str] = field(default_factory=set)
    lines: dict[tuple[str, int], int | None] = field(default_factory=dict)
    number: int | None = 0

    @classmethod
    def read(cls, home: Path, findings: Findings, look: Look, names: set[str]) -> "Skips":
        """What skipped.parquet says, where there is one."""
        if not (home / "skipped.parquet").exists():
            return cls()
        table = tables.read(home, "skipped.parquet", tables.SKIPPED, findings, look)
        if table is None:
            return cls(number=None)
        skips = cls(number=len(table))
        for number, line in enumerate(table.to_pylist()):
            findings.wrong_all(f"skipped.parquet, line {number}", skips._problems(line, names))
            name, position = line["source"], line["position"]
            skips.positions.setdefault(name, set())
            if position is not None:
                skips.positions[name].add(position)
                skips.lines[name, position] = line["line"]
            elif line["line"] not in (None, 1):
                skips.torn.add(name)
            elif not line["reason"].startswith(_READ):
                skips.unread.add(name)
        return skips

    def _problems(self, line: Mapping[str, Any], names: set[str]) -> Iterator[str]:
        """What is wrong with a line, after those before it."""
        if line["source"] not in names:
            yield f"{line['source']} is not one of the sources"
        if not line["reason"].strip():
            yield "it does not say why"
        if line["position"] in self.positions.get(line["source"], ()):
            yield f"{line['source']}, record {line['position']}, is there twice"
