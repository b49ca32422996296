"""The proof of one output: two passes over its sources, others where boilerplate was dropped or frequencies weigh.

1. The first pass counts, holds kept/ to what was read, and keeps the witnesses' contents and a sample.
2. The second one compares each removed document with its witness, and the sample with all that stays.
3. Memory holds a few numbers for each removed document; contents beyond the bound go to a file.
4. Damage is a finding with the name of its file: only what is not an output at all is an error.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.named import NamedTuple
from nearsame.proofs.agreement import check_pairs, check_tables
from nearsame.proofs.claims import Claims, key_of
from nearsame.proofs.counting import Boilerplate, boilerplate
from nearsame.proofs.counts import check_counts, check_decisions, unproven
from nearsame.proofs.decided import Decided
from nearsame.proofs.evidence import Evidence, Redirects, of_urls
from nearsame.proofs.features import Cut
from nearsame.proofs.files import Part, Piece, Record
from nearsame.proofs.groups import Groups
from nearsame.proofs.kept import Kept
from nearsame.proofs.listing import check_files
from nearsame.proofs.measures import Judge
from nearsame.proofs.pieces import pieces_of
from nearsame.proofs.priority import Priority
from nearsame.proofs.records import Reader, default_id
from nearsame.proofs.rows import Known, Rows
from nearsame.proofs.sample import Sample, is_asked
from nearsame.proofs.sites import of_host
from nearsame.proofs.store import Store
from nearsame.proofs.tables import FREQUENCIES, metadata, read
from nearsame.proofs.tally import Tally
from nearsame.proofs.verdict import Findings, Verification
from nearsame.proofs.weights import are_counted, counted
from nearsame.recipes.base import Shingling

__all__ = ["Effort", "Watch", "prove", "unreadable"]


class Watch(Protocol):
    """Who is shown how far the proof has come."""

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """Called when a pass over the sources begins, with the bytes to be read where they are known."""

    def add(self, documents: int, num_bytes: int) -> None:
        """Called when this many more documents and bytes have been read."""


class Effort(NamedTuple):
    """What a proof may cost.

    Attributes:
        sample: how many of the documents that stay are compared with all that stay.
        seed: of their choice.
        memory: bytes of contents to hold; more goes to a file.
    """

    sample: int
    seed: int
    memory: int


_LAST = (1 << 63) - 1  # nanosecond that a column holds


@dataclass
class _Proof:
    claims: Claims
    reader: Reader
    judge: Judge
    sample: Sample
    watch: Watch
    findings: Findings
    redirects: Redirects
    tally: Tally
    decided: Decided
    groups: Groups
    known: Known | None = None
    rows: Rows | None = None
    dropped: Boilerplate = field(default_factory=Boilerplate)
    lost: set[str] = field(default_factory=set)  # sources that are not there any more
    kinds: set[tuple[str, type]] = field(default_factory=set)  # of the values that --keep goes by

    @property
    def recipe(self) -> Any:
        return self.claims.recipe


def prove(  # noqa: PLR0913  (what is claimed, how it is read, watched by whom, how far)
    claims: Claims,
    reader: Reader,
    watch: Watch,
    findings: Findings,
    effort: Effort,
    *,
    canonical: Mapping[str, Callable[[str], str]] | None = None,
    known: Known | None = None,
) -> Verification:
    """Prove an output.

    Args:
        claims: What it says.
        reader: How its sources are read.
        watch: Who is shown how far it is.
        findings: What was found before.
        effort: What it may cost.
        canonical: The canonical form of a URL, by degree; None: nobody can tell here.
        known: What an index that was asked says again.
    """
    judge = Judge(claims.recipe, Cut(claims.recipe))
    wanted = effort.sample if is_asked(claims.recipe) else 0
    decided = Decided(claims.recipe, judge)
    drawn = Sample(wanted, effort.seed, judge, bool(claims.recipe["within"]), decided)
    with ExitStack() as stack:
        tally = stack.enter_context(Tally())
        redirects = Redirects(reader.beside[0], None if canonical is None else of_urls(canonical))
        groups = Groups(claims.recipe.get("group_by"), reader.beside[0])
        proof = _Proof(claims, reader, judge, drawn, watch, findings, redirects, tally, decided, groups, known)
        _say_what_was_read(proof)
        if known is not None:
            findings.note("what an index knows was asked of it again, which the product's own code answers")
        check_files(claims, findings)
        check_tables(claims, findings)
        if any(claims.recipe.get(name) is not None for name in ("drop_boilerplate", "boilerplate_per_host")):
            _find_boilerplate(proof)
        if are_counted(claims.recipe):
            _count_frequencies(proof)
        store = stack.enter_context(Store(claims.asked, effort.memory))
        _first_pass(proof, store)
        proof.decided.settle(proof.groups.settled)
        proof.sample.draw(proof.groups.settled)
        _second_pass(proof, store)
        _check_rest(proof)
    return _verdict(proof, wanted)


def unreadable(home: Path, findings: Findings) -> Verification:
    """The verdict where so little of an output can be read that there is nothing to prove."""
    findings.note("nothing else was looked at, since what it says of itself cannot be read")
    return Verification(str(home), findings.num_problems, tuple(findings.problems), {}, notes=tuple(findings.notes))


def _stat(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except OSError:
        return None


def _say_what_was_read(proof: _Proof) -> None:
    findings, formats = proof.findings, set()
    for part in proof.claims.parts:
        if not part.is_own or proof.claims.columns["html"]:
            formats.add(part.format)
        if part.format == "stdin":
            findings.note(f"{part.name}: standard input cannot be read again, so nothing of it was verified")
        for path, (size, time) in zip(part.paths, part.stamps, strict=True):
            if path is None or size is None:
                continue
            place = Path(os.fsdecode(path))
            status = _stat(place)
            if status is None:
                findings.wrong(str(place), "it is not there any more: put it back where it was for the run")
                proof.lost.add(part.name)
            elif status.st_size != size:
                findings.wrong(str(place), f"it has changed since the run: {size:,} bytes then, {status.st_size:,} now")
            elif min(status.st_mtime_ns, _LAST) != time:
                findings.note(f"{place} has changed since the run: its time is another")
    if formats:
        findings.note(f"read by the product's own readers, which the run used, too: {', '.join(sorted(formats))}")


def _documents(proof: _Proof, *, kept: Kept | None = None) -> Iterator[tuple[Part, Record]]:
    """All documents of all parts, in the order of reading; on the way kept/ may be held to them."""
    for part in proof.claims.parts:
        if part.format == "stdin" or part.name in proof.lost:
            continue
        pieces, is_copied = None, not (part.against or proof.claims.has_mask)
        if part.form.is_stream and part.name not in proof.claims.skips.unread and kept is not None:
            pieces = _lines_held(proof, part, pieces_of(part, proof.reader.broken))
            pieces = kept.passing(part, pieces) if is_copied else pieces
        elif kept is not None and is_copied:
            kept.check(part)
        for record in proof.reader.documents(part, pieces):
            yield part, record._replace(content=_told(proof, record.content, record.beside))
            size = len(record.content) if isinstance(record.content, str) else 0
            proof.watch.add(1, size)
        for _ in pieces or ():
            pass  # what comes after the last document belongs to the copy, too


def _told(proof: _Proof, content: Any, beside: Mapping[str, str | None]) -> Any:
    """A content; where hosts count, one that knows its own."""
    if proof.recipe.get("boilerplate_per_host") is None:
        return content
    return of_host(content, beside.get(proof.reader.beside[0]))


def _stored(proof: _Proof, store: Store, key: int) -> dict[str, Any] | None:
    """What was kept of a document."""
    known = store.get(key)
    return None if known is None else known | {"content": _told(proof, known["content"], known["beside"])}


def _lines_held(proof: _Proof, part: Part, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The same pieces; where one was skipped, it must begin at the line that skipped.parquet names."""
    line = 1
    for piece in pieces:
        place = (part.name, -1 if piece.position is None else piece.position)
        claimed = proof.claims.skips.lines.get(place, line)
        if claimed != line:
            what = f"{part.name}, record {piece.position}, is said to begin at line {claimed}, and begins at {line}"
            proof.findings.wrong("skipped.parquet", what)
        line += piece.data.count(b"\n") or piece.data.count(b"\r")
        yield piece


def _contents(proof: _Proof) -> Iterator[Any]:
    """What the method has compared: the documents that no layer before it has removed."""
    for part, record in _documents(proof):
        line = proof.claims.line(key_of(part.number, record.position))
        if line is None or proof.claims.claim(line).layer == "text":
            yield record.content


def _count_frequencies(proof: _Proof) -> None:
    proof.watch.begin("counting frequencies", _size(proof.claims))
    proof.judge.weights = counted(_contents(proof), proof.judge.cut)
    proof.findings.note("frequencies of documents were counted in a pass of its own")


def _find_boilerplate(proof: _Proof) -> None:
    proof.watch.begin("counting boilerplate", _size(proof.claims))
    proof.dropped = boilerplate(lambda: _contents(proof), proof.judge.cut, proof.recipe)
    proof.judge.cut = Cut(proof.recipe, proof.dropped.items)
    proof.sample.judge = proof.judge
    proof.findings.note("boilerplate was counted in passes of its own")


def _first_pass(proof: _Proof, store: Store) -> None:
    claims, tally = proof.claims, proof.tally
    is_numbered = claims.is_whole and not claims.stats.get("unread")  # what was not read has no number
    proof.watch.begin("verifying kept", _size(claims))
    for part, record in _documents(proof, kept=Kept(claims, proof.reader, proof.findings)):
        key = key_of(part.number, record.position)
        proof.kinds |= {(name, type(record.order.get(name, record))) for name in proof.reader.orders}
        proof.redirects.see(record.beside)
        group = proof.groups.of(record)
        known = record._asdict() | {"id": default_id(part, record), "against": part.against, "key": key, "group": group}
        proof.decided.see(known["id"], key, record.content, against=part.against, group=group)
        store.add(key, known | {"number": tally.documents if is_numbered else None})
        tally.see(record.content, record.id, record.beside.get(proof.reader.beside[0]), against=part.against)
        if not part.against and claims.line(key) is None:
            proof.sample.offer(part, record.position, record.content, group)
    for name, why in proof.reader.broken.items():
        if name not in claims.skipped and name not in proof.lost:
            proof.findings.wrong(name, f"it cannot be read to its end: {why}")
            proof.lost.add(name)
    passed = {part.name for part in claims.parts if part.format == "stdin"}  # gone: nobody can say where it broke off
    for name in sorted(claims.skips.torn - proof.reader.broken.keys() - proof.lost - passed):
        proof.findings.wrong("skipped.parquet", f"{name} is said to break off, and can be read to its end")
    proof.findings.count("documents", tally.documents)


def _second_pass(proof: _Proof, store: Store) -> None:
    claims, findings = proof.claims, proof.findings
    places, by_length = proof.decided.places, not _has_layers_of_pages(claims)
    priority = Priority(proof.recipe, frozenset(proof.kinds), by_length=by_length, chosen=places)
    rows = proof.rows = Rows(claims, proof.judge, priority, findings, proof.decided, _evidence(proof), proof.lost)
    rows.known = proof.known
    may_miss = claims.method.may_miss
    proof.watch.begin("verifying witnesses", _size(claims))
    seen = 0
    for part, record in _documents(proof):
        line = None if part.against else claims.line(key_of(part.number, record.position))
        layer, group = "text", proof.groups.settled(proof.groups.of(record))
        if line is not None:
            seen += 1
            claim = claims.claim(line)
            layer, witness = claim.layer, _stored(proof, store, int(claims.witnesses[line]))
            if witness is not None and group is not None and group != proof.groups.settled(witness["group"]):
                findings.wrong(f"removed.parquet, line {claim.line}", "the witness is of another group")
            rows.check(claim, part, record, witness)
            via = witness if claim.via is None else _stored(proof, store, int(claims.vias.get(claim.via, -1)))
            proof.tally.note_other(layer, record.content, None if via is None else via["content"])
        else:
            key = key_of(part.number, record.position)
            proof.decided.see_kept(key, record.content, against=part.against, group=group)
            if proof.sample.size:
                proof.sample.compare(part, record.position, (record.content, group), findings, may_miss=may_miss)
        if layer == "text":
            proof.tally.compare(record.content, proof.judge, group)
        else:
            proof.tally.leave_out(layer, record.content)
    if seen < len(claims.removed) and claims.is_whole:
        findings.wrong(
            "removed.parquet", f"{len(claims.removed) - seen:,} of its documents were not found in the sources"
        )


def _evidence(proof: _Proof) -> Evidence | None:
    """What holds rows to the URLs of their documents, where there are any."""
    claims, findings = proof.claims, proof.findings
    has = "evidence" in claims.removed.column_names
    if claims.is_whole and not proof.lost and has != proof.tally.urls:
        what = "no evidence, and documents have URLs" if proof.tally.urls else "evidence, and no document has a URL"
        findings.wrong("removed.parquet", f"it has {what}")
    if not has:
        return None
    if proof.redirects.form is None:
        findings.note("not recomputed: what goes by canonical URLs, since the rules that made them are not known here")
    return Evidence(proof.redirects, findings, by_content=not _has_layers_of_pages(claims))


def _has_layers_of_pages(claims: Claims) -> bool:
    """Whether the run went by the bytes of pages, which are not read here."""
    of_pages = claims.columns["html"] or any(not part.is_own for part in claims.parts)
    return bool(of_pages and "use" in claims.recipe)


def _check_rest(proof: _Proof) -> None:
    """What can be said when all documents have been seen: counts, pairs and mirrors."""
    claims, findings, rows = proof.claims, proof.findings, proof.rows
    if rows is None:
        return
    if rows.evidence is not None:
        rows.evidence.close()
    copies = (rows.exact, rows.near) if rows.texts == len(claims.removed) else None
    if claims.method.needs_frequencies:
        _check_frequencies(claims, findings)
    if not proof.lost:
        check_counts(claims, proof.tally, copies, proof.dropped, findings)
        if proof.decided.are_there and claims.is_whole:
            check_decisions(claims, proof.decided, findings)
        check_pairs(claims, rows.shares, findings)


def _check_frequencies(claims: Claims, findings: Findings) -> None:
    """A table of frequencies is of these features, and has each once; which feature a hash is, nobody knows here."""
    name = "frequencies.parquet"
    table = read(claims.home, name, FREQUENCIES, findings, claims.look)
    if table is None:
        return
    header, items = metadata(table) or {}, table.column("item").to_numpy().view(np.uint64)
    names = [*Shingling.model_fields, *(["seed"] if claims.method.weighs_items else [])]  # hashes are of the seed, too
    record = {key: claims.recipe[key] for key in names}
    number = header.get("num_documents")
    if header.keys() != {"num_documents", "recipe"} or not isinstance(number, int):
        findings.wrong(name, "it does not say of what it is")
    elif header["recipe"] != record | {"ready_items": claims.columns["items"] is not None}:
        findings.wrong(name, "the recipe of its features is not that of stats.json")
    elif (items[1:] <= items[:-1]).any() or not 0 < (_largest(table) or 1) <= max(number, 1):
        findings.wrong(name, "its features or its numbers are impossible")


def _largest(table: pa.Table) -> int | None:
    """The largest number of documents that a feature stands in."""
    largest: int | None = pc.max(table.column("documents")).as_py()
    return largest


def _size(claims: Claims) -> int | None:
    """Bytes of all sources, where all are known."""
    sizes = [size for part in claims.parts for size, _ in part.stamps]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _verdict(proof: _Proof, wanted: int) -> Verification:
    claims, findings, rows = proof.claims, proof.findings, proof.rows
    if not wanted:
        findings.note(f"no two kept documents were compared: {_why_not(proof.recipe)}")
    residual = proof.sample.residual(may_miss=claims.method.may_miss) if wanted else None
    return Verification(
        str(claims.home),
        findings.num_problems,
        tuple(findings.problems),
        dict(sorted(findings.checked.items())),
        None if rows is None else rows.estimates(),
        residual,
        tuple(findings.notes),
        unproven(claims),
    )


def _why_not(recipe: Any) -> str:
    if not is_asked(recipe):
        return "what the method or the layers go by cannot be seen from two documents alone"
    return "no sample was asked for"
