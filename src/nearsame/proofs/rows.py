"""A removed document and its witness: whether what their row says of them is so."""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import median
from typing import Any

from nearsame.proofs.claims import Claim, Claims, key_of
from nearsame.proofs.files import Part, Record
from nearsame.proofs.measures import ESTIMATES, Judge
from nearsame.proofs.priority import Priority
from nearsame.proofs.records import default_id
from nearsame.proofs.verdict import Estimates, Findings

__all__ = ["Rows"]

_LAYERS = ("url", "redirect", "canonical", "revisit")
_USUAL = Fraction(4, 5)


@dataclass
class Rows:
    """The rows of removed.parquet, one after the other.

    Attributes:
        claims: what the output says.
        judge: of two documents.
        priority: who comes before whom.
        findings: what does not hold.
        canonical: of a URL, the one that stands for it; None: nobody can tell here.
        same: rows whose documents have one text.
        texts: rows whose documents are texts.
    """

    claims: Claims
    judge: Judge
    priority: Priority
    findings: Findings
    canonical: Callable[[str], str | None] | None = None
    same: int = 0
    texts: int = 0
    _truths: "array[float]" = field(default_factory=lambda: array("d"))
    _measure: str = ""

    def check(self, claim: Claim, part: Part, record: Record, witness: Mapping[str, Any] | None) -> None:
        """Hold a row to what was read of both."""
        place = f"removed.parquet, line {claim.line}"
        who = f"{claim.source}, record {claim.row} (witness {claim.witness_source}, record {claim.witness_row})"
        if witness is None:
            if all(part.format != "stdin" for part in self.claims.parts):
                self.findings.wrong(place, f"{who}: its witness was not found in the sources")
            return
        self.findings.count("removed")
        if default_id(part, record) != claim.id or witness["id"] != claim.witness_id:
            told = f"ids are {claim.id!r} and {claim.witness_id!r}"
            self.findings.wrong(place, f"{who}: {told}, which are {default_id(part, record)!r} and {witness['id']!r}")
        recipe = self.claims.stats["recipe"]
        if not recipe.get("within", True) and not witness["against"]:
            self.findings.wrong(place, f"{who}: the witness is of the same side, which was not to be compared")
        key = key_of(part.number, record.position)
        self.priority.check(record._asdict() | {"key": key, "against": False}, witness, self._told(place, who))
        self._count(record.content, witness["content"])
        self._check_similarity(claim, record, witness, self._told(place, who))

    def estimates(self) -> Estimates | None:
        """What is true of rows that are estimates."""
        if not self._truths:
            return None
        least = self.judge.least if self._measure == "estimated" else _USUAL
        reached = sum(value >= float(least) for value in self._truths) / len(self._truths)
        middle = float(median(self._truths))
        return Estimates(self._measure, len(self._truths), min(self._truths), middle, reached, float(least))

    def _told(self, place: str, who: str) -> Callable[[str], None]:
        return lambda what: self.findings.wrong(place, f"{who}: {what}")

    def _count(self, content: Any, witness: Any) -> None:
        if isinstance(content or "", str) and all(part.is_own for part in self.claims.parts):
            self.texts += 1  # of a web page it is the text that is the same, and the run has compared bytes
            self.same += bool(content == witness or (not content and not witness))

    def _check_similarity(
        self, claim: Claim, record: Record, witness: Mapping[str, Any], wrong: Callable[[str], None]
    ) -> None:
        content, other = record.content, witness["content"]
        if claim.measure in ESTIMATES:
            self._measure = claim.measure
            self._truths.append(float(self.judge.true(content, other)))
            self.findings.count("estimates")
            return
        if claim.measure in _LAYERS:
            self._check_layer(claim, record, witness, wrong)
            return
        found = content == other if claim.measure == "digest" and claim.layer == "digest" else None
        value = Fraction(found) if found is not None else self.judge.similarity(claim.measure, content, other)
        if value is None:
            self.findings.count(f"not recomputed: {claim.measure}")
            return
        self.findings.count("similarities")
        if float(value) != claim.similarity:
            wrong(f"the similarity is said to be {claim.similarity:g}, and is {float(value):.10g}")
        elif claim.measure not in ("component", "digest") and value < self.judge.least:
            wrong(f"the similarity {claim.similarity:g} is below the threshold {float(self.judge.least):g}")
        elif claim.measure in ("containment", "container") and not self.judge.above_floor(content, other):
            wrong(f"their Jaccard similarity is below jaccard_floor={float(self.judge.floor):g}")

    def _check_layer(
        self, claim: Claim, record: Record, witness: Mapping[str, Any], wrong: Callable[[str], None]
    ) -> None:
        """URLs can be compared; what a page says of itself is taken as said."""
        if claim.measure != "url" or self.canonical is None or not (record.url and witness["url"]):
            self.findings.count(f"not recomputed: {claim.measure}")
            return
        self.findings.count("URLs")
        one, two = self.canonical(record.url), self.canonical(witness["url"])
        if one != two:
            wrong(f"their canonical URLs are {one!r} and {two!r}")
