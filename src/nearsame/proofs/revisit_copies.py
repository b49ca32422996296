"""All copies of an output that hold revisits, together: what one leads to stays a response, in whichever copy.

1. A revisit stands in place of a removed document. It leads to the witness, or to another removed document or
   witness with the same payload.
2. Replay does not follow two revisits, so what one leads to is not a revisit itself.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from nearsame.proofs.claims import Claims
from nearsame.proofs.files import BROKEN, Part, packing, raw, same_bytes
from nearsame.proofs.revisits import Change, Lead, Place, changes, stored_records
from nearsame.proofs.verdict import Findings

__all__ = ["RevisitCopies"]


class RevisitCopies:
    """The copies of the archives of one output."""

    def __init__(self, claims: Claims, findings: Findings) -> None:
        self.claims = claims
        self.findings = findings

    def positions(self, part: Part) -> set[int]:
        """The positions at which the copy has a revisit; all other records are to be what was read."""
        return {change.position for change in self._changes.get(part.name, ())}

    @cached_property
    def _changes(self) -> Mapping[str, Sequence[Change]]:
        if not self.claims.has_revisits:
            return {}
        changes = {part.name: list(self._changes_of(part)) for part in self._archives() if self._path(part).is_file()}
        changed = {(name, change.position) for name, those in changes.items() for change in those}
        for part in self._archives():
            for change in changes.get(part.name, ()):
                self.findings.count("revisits")
                problem = change.problem or ("what it leads to is a revisit" if change.lead in changed else "")
                if problem:
                    self.findings.wrong(f"kept/{part.target}", f"record {change.position}: {problem}")
        return changes

    def _changes_of(self, part: Part) -> Iterator[Change]:
        path = self._path(part)
        witnesses = {row: self._known.get(other) for row, other in self._claimed.get(part.name, {}).items()}
        source, copy = (raw(at, packing(at, part.compression)) for at in (part.path, str(path)))
        try:
            yield from changes(stored_records(source), stored_records(copy), witnesses, self._leads)
        except BROKEN as error:
            if not same_bytes(str(path), part.path):
                self.findings.wrong(f"kept/{part.target}", f"its revisits cannot be looked at: {error}")

    def _archives(self) -> Iterator[Part]:
        return (part for part in self.claims.parts if part.format == "warc" and not part.against)

    def _path(self, part: Part) -> Path:
        return self.claims.home / "kept" / part.target

    @cached_property
    def _claimed(self) -> Mapping[str, Mapping[int, Place]]:
        """By source and position of each removed document the place of its witness."""
        names = ("source", "row", "witness_source", "witness_row")
        claimed: dict[str, dict[int, Place]] = {}
        for source, row, other, at in zip(
            *(self.claims.removed.column(name).to_pylist() for name in names), strict=True
        ):
            claimed.setdefault(source, {})[row] = (other, at)
        return claimed

    @cached_property
    def _known(self) -> Mapping[Place, Lead]:
        """The removed documents and the witnesses, of archives that can be read from end to end."""
        places = {source: set(rows) for source, rows in self._claimed.items()}
        for rows in self._claimed.values():
            for name, at in rows.values():
                places.setdefault(name, set()).add(at)
        known: dict[Place, Lead] = {}
        for part in self._archives():
            wanted = places.get(part.name, set())
            with contextlib.suppress(*BROKEN):
                source = raw(part.path, packing(part.path, part.compression)) if wanted else None
                for position, record in enumerate(stored_records(source) if source else ()):
                    if position in wanted:
                        known[part.name, position] = Lead.of((part.name, position), record)
        return known

    @cached_property
    def _leads(self) -> Mapping[bytes, Sequence[Lead]]:
        leads: dict[bytes, list[Lead]] = {}
        for lead in self._known.values():
            leads.setdefault(lead.fields.get(b"warc-record-id", b""), []).append(lead)
        return leads
