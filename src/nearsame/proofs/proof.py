"""The proof of one output: two passes over its sources, a third where boilerplate was dropped.

1. The first pass counts, holds kept/ to what was read, and keeps the witnesses' contents and a sample.
2. The second one compares each removed document with its witness, and the sample with all that stays.
3. Memory holds a few numbers for each removed document; contents beyond the bound go to a file.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from nearsame.proofs.claims import Claims, key_of
from nearsame.proofs.counting import boilerplate
from nearsame.proofs.features import Cut
from nearsame.proofs.files import Part, Record
from nearsame.proofs.kept import Kept
from nearsame.proofs.measures import Judge
from nearsame.proofs.priority import Priority
from nearsame.proofs.records import Reader, default_id, pieces_of
from nearsame.proofs.rows import Rows
from nearsame.proofs.sample import Sample, is_asked
from nearsame.proofs.store import Store
from nearsame.proofs.verdict import Findings, Verification

__all__ = ["Watch", "prove"]

_STREAMS = ("jsonl", "csv", "tsv")
_TOTALS = ("documents", "against", "empty")


class Watch(Protocol):
    """Who is told how far it is."""

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """A pass begins."""

    def add(self, documents: int, num_bytes: int) -> None:
        """Documents were read."""


@dataclass
class _Proof:
    claims: Claims
    reader: Reader
    judge: Judge
    sample: Sample
    watch: Watch
    findings: Findings = field(default_factory=Findings)
    rows: Rows | None = None
    totals: dict[str, int] = field(default_factory=dict)
    kinds: set[type] = field(default_factory=set)  # of the values that --keep goes by

    @property
    def recipe(self) -> Any:
        return self.claims.stats["recipe"]


def prove(  # noqa: PLR0913  (what is claimed, how it is read, watched by whom, how far)
    claims: Claims, reader: Reader, watch: Watch, *, sample: int, seed: int, memory: int, canonical: Any = None
) -> Verification:
    """Prove an output.

    Args:
        claims: What it says.
        reader: How its sources are read.
        watch: Who is told how far it is.
        sample: How many of the documents that stay are compared with all that stay.
        seed: Of the choice.
        memory: Bytes of contents to hold; more goes to a file.
        canonical: The canonical URL of a URL, for the layer `url`.
    """
    recipe = claims.stats["recipe"]
    judge = Judge(recipe, Cut(recipe))
    wanted = sample if is_asked(recipe) else 0
    proof = _Proof(claims, reader, judge, Sample(wanted, seed, judge, bool(recipe.get("within", True))), watch)
    _say_what_was_read(proof)
    claims.check(proof.findings)
    if recipe.get("drop_boilerplate") is not None:
        _find_boilerplate(proof)
    with Store(claims.witnesses, memory) as store:
        _first_pass(proof, store)
        proof.sample.draw()
        _second_pass(proof, store, canonical)
    return _verdict(proof, wanted)


def _say_what_was_read(proof: _Proof) -> None:
    findings, formats = proof.findings, set()
    for part in proof.claims.parts:
        if not part.is_own or proof.claims.columns.get("html"):
            formats.add(part.format)
        if part.format == "stdin":
            findings.note(f"{part.name}: standard input cannot be read again, so nothing of it was verified")
        for path, (size, time) in zip(part.paths, part.stamps, strict=True):
            if path is None or size is None or b"://" in path:
                continue
            place = Path(os.fsdecode(path))
            found = place.stat() if place.exists() else None
            if found is None:
                findings.wrong(str(place), "it is not there any more")
            elif (found.st_size, found.st_mtime_ns) != (size, time):
                what = f"{size:,} bytes then, {found.st_size:,} now" if found.st_size != size else "its time is another"
                findings.note(f"{place} has changed since the run: {what}")
    if formats:
        findings.note(f"read by the product's own readers, which the run used, too: {', '.join(sorted(formats))}")


def _documents(proof: _Proof, *, kept: Kept | None = None) -> Iterator[tuple[Part, Record]]:
    """All documents of all parts, in the order of reading; on the way kept/ may be held to them."""
    for part in proof.claims.parts:
        if part.format == "stdin":
            continue
        pieces = None
        if kept is not None and not part.against:
            if part.format in _STREAMS and part.name not in proof.claims.unread:
                pieces = kept.passing(part, pieces_of(part, proof.reader))
            else:
                kept.check(part)
        for record in proof.reader.documents(part, pieces):
            yield part, record
            size = len(record.content) if isinstance(record.content, str) else 0
            proof.watch.add(1, size)
        for _ in pieces or ():
            pass  # what comes after the last document belongs to the copy, too


def _find_boilerplate(proof: _Proof) -> None:
    most, cut = proof.recipe["drop_boilerplate"], proof.judge.cut

    def contents() -> Iterator[Any]:
        for part, record in _documents(proof):
            line = proof.claims.line(key_of(part.number, record.position))
            if line is None or proof.claims.claim(line).layer == "text":
                yield record.content

    proof.watch.begin("counting boilerplate", _size(proof.claims))
    proof.judge.cut = Cut(proof.recipe, boilerplate(contents(), cut, most, contents()))
    proof.sample.judge = proof.judge
    proof.findings.note("boilerplate was counted in passes of its own")


def _first_pass(proof: _Proof, store: Store) -> None:
    claims, findings = proof.claims, proof.findings
    proof.watch.begin("verifying kept", _size(claims))
    totals = dict.fromkeys(_TOTALS, 0)
    for part, record in _documents(proof, kept=Kept(claims, proof.reader, findings)):
        key = key_of(part.number, record.position)
        totals["documents"] += 1
        proof.kinds.add(type(record.order))
        totals["against"] += part.against
        totals["empty"] += not record.content
        known = record._asdict() | {"id": default_id(part, record), "against": part.against, "key": key}
        store.add(key, known)
        if not part.against and claims.line(key) is None:
            proof.sample.offer(part, record.position, record.content)
    findings.count("documents", totals["documents"])
    proof.totals = totals


def _second_pass(proof: _Proof, store: Store, canonical: Any) -> None:
    claims, findings = proof.claims, proof.findings
    rows = Rows(claims, proof.judge, Priority(proof.recipe, frozenset(proof.kinds)), findings, canonical)
    may_miss = proof.recipe["method"] == "minhash"
    proof.watch.begin("verifying witnesses", _size(claims))
    seen = 0
    for part, record in _documents(proof):
        line = None if part.against else claims.line(key_of(part.number, record.position))
        if line is not None:
            seen += 1
            rows.check(claims.claim(line), part, record, store.get(int(claims.witnesses[line])))
        elif proof.sample.size:
            proof.sample.compare(part, record.position, record.content, findings, may_miss=may_miss)
    proof.rows = rows
    if _is_whole(claims):
        _check_totals(proof, seen)


def _is_whole(claims: Claims) -> bool:
    """Whether all sources can be read again."""
    return all(part.format != "stdin" for part in claims.parts)


def _check_totals(proof: _Proof, seen: int) -> None:
    claims, findings, rows = proof.claims, proof.findings, proof.rows
    if seen < len(claims.removed):
        what = f"{len(claims.removed) - seen:,} of its documents were not found in the sources"
        findings.wrong("removed.parquet", what)
    elif rows is not None and rows.texts == seen and rows.same != claims.stats["exact_copies"]:
        findings.wrong("stats.json", f"exact_copies is {claims.stats['exact_copies']:,}, and {rows.same:,} are")
    asked = [name for name in _TOTALS if proof.recipe["method"] != "hyperplane" or name != "empty"]
    for name in asked:
        if proof.totals[name] != claims.stats[name]:
            findings.wrong("stats.json", f"{name} is {claims.stats[name]:,}, and {proof.totals[name]:,} were read")


def _size(claims: Claims) -> int | None:
    """Bytes of all sources, where all are known."""
    sizes = [size for part in claims.parts for size, _ in part.stamps]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _verdict(proof: _Proof, wanted: int) -> Verification:
    findings, rows = proof.findings, proof.rows
    method = proof.recipe["method"]
    if not wanted:
        findings.note(f"no two kept documents were compared: {_why_not(proof.recipe)}")
    residual = proof.sample.residual(may_miss=method == "minhash") if wanted else None
    return Verification(
        str(proof.claims.home),
        findings.num_problems,
        tuple(findings.problems),
        dict(sorted(findings.checked.items())),
        None if rows is None else rows.estimates(),
        residual,
        tuple(findings.notes),
    )


def _why_not(recipe: Any) -> str:
    if not is_asked(recipe):
        return "what the method or the layers go by cannot be told from two documents alone"
    return "no sample was asked for"
