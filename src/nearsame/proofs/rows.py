"""A removed document and its witness: whether what their row says of them is so."""

from array import array
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from statistics import median
from typing import Any

from nearsame.proofs.agreement import SHARES, Shares
from nearsame.proofs.claims import Claim, Claims, key_of
from nearsame.proofs.decided import Decided
from nearsame.proofs.evidence import Evidence
from nearsame.proofs.features import Cut
from nearsame.proofs.files import Part, Record
from nearsame.proofs.indexes import same_payload
from nearsame.proofs.measures import Judge
from nearsame.proofs.priority import Priority
from nearsame.proofs.records import default_id
from nearsame.proofs.settings import TEXTLESS
from nearsame.proofs.verdict import Estimates, Findings

__all__ = ["Known", "Rows"]

Known = Callable[[str, str, str, str | None], tuple[float, str] | None]

_LAYERS = ("url", "redirect", "canonical", "revisit")
_GUESSED = "url-guess"  # the layer of URLs that are one by a guess, where the texts are near enough
_BEFORE = (*_LAYERS, _GUESSED, "digest")  # layers before the method
_INDEX = "index"  # the layer of what an index knows
_USUAL = Fraction(4, 5)


@dataclass
class Rows:
    """The rows of removed.parquet, one after the other.

    Attributes:
        claims: what the output says.
        judge: of two documents.
        priority: who comes before whom.
        findings: what does not hold.
        decided: what people have decided.
        evidence: what rows say besides; None: they say nothing.
        lost: sources that cannot be read to their end.
        exact: rows whose documents have one text.
        near: of the others, those that the method removed, or copies of these.
        texts: rows whose documents are texts.
        shares: by line, of rows whose pairs say them.
        known: what an index says of a document: asked with its name, the id of a witness in it, a text and a URL.
    """

    claims: Claims
    judge: Judge
    priority: Priority
    findings: Findings
    decided: Decided
    evidence: Evidence | None = None
    lost: AbstractSet[str] = frozenset()
    exact: int = 0
    near: int = 0
    texts: int = 0
    shares: dict[int, Shares] = field(default_factory=dict)
    known: Known | None = None
    _truths: "array[float]" = field(default_factory=lambda: array("d"))
    _measure: str = ""

    def check(self, claim: Claim, part: Part, record: Record, witness: Mapping[str, Any] | None) -> None:
        """Hold a row to what was read of both."""
        place = f"removed.parquet, line {claim.line}"
        who = f"{claim.source}, record {claim.row} (witness {claim.witness_source}, record {claim.witness_row})"
        if witness is None:
            if self.claims.is_whole and claim.witness_source not in self.lost:
                self.findings.wrong(place, f"{who}: its witness was not found in the sources")
            return
        self.findings.count("removed")
        if default_id(part, record) != claim.id or witness["id"] != claim.witness_id:
            ids = f"ids are {claim.id!r} and {claim.witness_id!r}"
            self.findings.wrong(place, f"{who}: {ids}, which are {default_id(part, record)!r} and {witness['id']!r}")
        wrong = self._told(place, who)
        if not self.claims.recipe["within"] and not witness["against"]:
            wrong("the witness is of the same side, which was not to be compared")
        if witness["number"] is not None and claim.cluster != witness["number"]:
            wrong(f"cluster is {claim.cluster:,}, and the witness is document {witness['number']:,}")
        key = key_of(part.number, record.position)
        if self.decided.apart(key, record.content, witness["key"], witness["content"], witness["group"]):
            wrong("the two were kept apart, and one is removed for the other")
        self.priority.check(record._asdict() | {"key": key, "against": False}, witness, wrong, self.findings.note)
        if claim.layer in _BEFORE and claim.via is None:
            self._check_texts(claim, record, witness, wrong)
        if claim.layer == _INDEX:
            self._check_known(claim, record, wrong)
        else:
            self._check_similarity(claim, record, witness, wrong)
        self._check_beside(claim, record, witness, wrong)

    @staticmethod
    def _check_texts(claim: Claim, record: Record, witness: Mapping[str, Any], wrong: Callable[[str], None]) -> None:
        """What has no text takes nobody along, and goes as a redirect or a revisit only."""
        if not witness["content"]:
            wrong("the witness has no text")
        if not record.content and claim.layer not in TEXTLESS:
            wrong(f"it has no text, and the layer {claim.layer} is about texts")

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

    def _check_beside(
        self, claim: Claim, record: Record, witness: Mapping[str, Any], wrong: Callable[[str], None]
    ) -> None:
        """What follows from the contents: how the row is counted, what its pair says, and its evidence."""
        method, content, other = self.claims.method, record.content, witness["content"]
        is_same = bool(content == other or (not content and not other))
        by_method = claim.layer == "text"
        measured = claim.layer != _INDEX and claim.measure == (
            self._guesses.recipe["method"] if self._is_guess(claim) else method.reports
        )
        if isinstance(content or "", str) and all(part.is_own for part in self.claims.parts):
            self.texts += 1  # of a web page it is the text that is the same, and the run has compared bytes
            self.exact += is_same
            self.near += (by_method or measured) and not is_same
        if by_method and self.claims.written["pairs"] and method.name in SHARES:
            self.shares[claim.line] = self._shares(content, other)
        if self.evidence is not None:
            is_text = is_same or (by_method and self._is_one(content, other))
            holds = {"bytes": self._bytes_are_same(record, witness, is_same=is_same)}
            holds |= {"text": is_text, "near": measured and not is_text}
            self.evidence.check(claim, record.beside, witness["beside"], holds, wrong)

    def _bytes_are_same(self, record: Record, witness: Mapping[str, Any], *, is_same: bool) -> bool:
        """Of web pages, whether an archive has recorded one digest of what was sent."""
        if all(part.is_own for part in self.claims.parts) and not self.claims.columns["html"]:
            return is_same
        return same_payload(record.beside.get("payload_digest"), witness["beside"].get("payload_digest"))

    def _is_one(self, content: Any, other: Any) -> bool:
        """Whether two contents are to the method the same."""
        method = self.claims.method
        if method.by_equality:
            return self.judge.same(content, other)
        same = self.judge.letters(content or "") == self.judge.letters(other or "")
        return method.tells_texts and same and self.judge.true(content, other) == 1

    def _shares(self, content: Any, other: Any) -> Shares:
        return Shares(*(float(share) for share in self.judge.shares(content, other)))

    def _check_similarity(
        self, claim: Claim, record: Record, witness: Mapping[str, Any], wrong: Callable[[str], None]
    ) -> None:
        content, other = record.content, witness["content"]
        measure = self.claims.method.reports if claim.measure == "component" else claim.measure
        judge = self._guesses if self._is_guess(claim) else self.judge
        is_pair = claim.measure == self.claims.method.reports or self._is_guess(claim)
        if is_pair and self.claims.recipe["clusters"] == "greedy" and (problem := judge.unconfirmed(content, other)):
            wrong(problem)
        if judge.estimates(measure):
            self._check_estimate(claim, wrong)
            if claim.measure == "component":
                self.findings.count("not recomputed: component")
                return
            self._measure = measure
            self._truths.append(float(self.judge.true(content, other)))
            self.findings.count("estimates")
            return
        if claim.measure in _LAYERS:
            self._check_layer(claim, record, witness, wrong)
            return
        if self._is_guess(claim):
            self._check_url(record, witness, "guess", wrong)
        # of what a copy has from the document that it equals, the method says it
        is_digest = claim.measure == "digest" and claim.layer == "digest" and claim.via is None
        is_equal = content == other if is_digest else None
        value = Fraction(is_equal) if is_equal is not None else judge.similarity(measure, content, other)
        if value is None:
            self.findings.count(f"not recomputed: {claim.measure}")
            return
        self.findings.count("similarities")
        is_below = value < judge.least
        if float(value) != claim.similarity:
            wrong(f"the similarity is said to be {claim.similarity:g}, and is {float(value):.10g}")
        elif claim.measure == "component" and not is_below:
            wrong(f"the similarity {claim.similarity:g} reaches the threshold, and the measure says component")
        elif claim.measure not in ("component", "digest") and is_below:
            wrong(f"the similarity {claim.similarity:g} is below the threshold {float(judge.least):g}")

    def _check_estimate(self, claim: Claim, wrong: Callable[[str], None]) -> None:
        """An estimate is not computed here; it must be one that there can be."""
        steps, value = self.claims.method.similarity_parts, claim.similarity
        if steps is not None and float(Fraction(round(value * steps), steps)) != value:
            wrong(f"the similarity {value:g} is not a number of {steps}ths")
        elif claim.measure != "component" and value < float(self.judge.least):
            wrong(f"the similarity {value:g} is below the threshold {float(self.judge.least):g}")
        elif claim.measure == "component" and value >= float(self.judge.least):
            wrong(f"the similarity {value:g} reaches the threshold, and the measure says component")

    def _check_known(self, claim: Claim, record: Record, wrong: Callable[[str], None]) -> None:
        """What an index has said it must say again."""
        if self.known is None:
            self.findings.count(f"not recomputed: {claim.measure} of an index")
            return
        url = record.beside.get(self.claims.columns["beside"][0])
        answer = self.known(claim.witness_source, claim.witness_id, record.content or "", url)
        self.findings.count("answers of indexes")
        if answer != (claim.similarity, claim.measure):
            said = "nothing" if answer is None else f"{answer[1]} {answer[0]:g}"
            wrong(f"the index is said to say {claim.measure} {claim.similarity:g}, and says {said}")

    def _check_layer(
        self, claim: Claim, record: Record, witness: Mapping[str, Any], wrong: Callable[[str], None]
    ) -> None:
        """What layers before the method go by are URLs, which `evidence` compares; each says 1 of what it removes."""
        if claim.similarity != 1:
            wrong(f"the similarity {claim.similarity:g} is given for {claim.measure}, which can only be 1")
        if claim.measure != "url" or not self._check_url(record, witness, "usual", wrong):
            self.findings.count(f"not recomputed: {claim.measure}")

    def _check_url(self, record: Record, witness: Mapping[str, Any], degree: str, wrong: Callable[[str], None]) -> bool:
        """Whether it can be known here that both have one canonical URL by the rules up to a degree."""
        forms = None if self.evidence is None else self.evidence.redirects.forms
        url = "" if self.evidence is None else self.evidence.redirects.url
        one, two = record.beside.get(url), witness["beside"].get(url)
        if forms is None or one is None or two is None:
            return False
        self.findings.count("URLs")
        here, there = forms[degree](one), forms[degree](two)
        if here != there or not here:
            wrong(f"their canonical URLs are {here!r} and {there!r}" if here or there else "neither has a URL")
        return True

    def _is_guess(self, claim: Claim) -> bool:
        return claim.layer == _GUESSED and claim.measure != "chain"

    @cached_property
    def _guesses(self) -> Judge:
        """What judges two texts whose URLs are one by a guess."""
        recipe = self.claims.recipe["guesses"]
        return Judge(recipe, Cut(recipe))
