"""Evidence: what besides the method says that a removed document and its witness are one page.

1. It decides nothing: it is given pairs that are decided.
2. What is declared (a redirect, rel=canonical) may be relative to the page; URLs are compared in canonical form, or as
   they stand where what makes that is not installed, and a note says so.
3. What was not looked at is not claimed: of documents that a layer removed by URL, texts are known to be the same, or
   nothing is said of them.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.errors import MissingExtraError
from nearsame.installation import install_command
from nearsame.placeholders import NO_URL
from nearsame.recipes.urls import DEGREES, CanonicalUrl, Degree
from nearsame.sources.markup import absolute
from nearsame.sources.payload_digests import comparable
from nearsame.sources.reading import Reading
from nearsame.stages.pairs import evidence

__all__ = ["BESIDE", "OneForm", "PageEvidence", "PageFacts", "sides"]


BESIDE = ("redirect", "canonical", "revisit_of", "payload_digest")  # what sources know of a page beside its URL


@runtime_checkable
class OneForm(Protocol):
    """What makes one of several URLs, as learnt rules do: a guess, besides what its recipe is sure of."""

    @property
    def recipe(self) -> CanonicalUrl:
        """Of the canonical URLs that it is about."""

    def apply(self, url: str) -> str:
        """The form of a URL: those that are taken for one page have the same."""

    def record(self) -> dict[str, Any]:
        """What it is made by, JSON-able."""


@dataclass(frozen=True)
class PageEvidence:
    """Of pairs of documents: which kinds hold, and whether both are of one host (null: not known)."""

    kinds: pa.Array
    same_host: pa.Array

    def counts(self) -> dict[str, int]:
        """For how many pairs each kind holds, strongest first; kinds that hold for none are left out."""
        counts = {
            entry["values"]: entry["counts"] for entry in computing.value_counts(self.kinds.flatten()).to_pylist()
        }
        return {kind: counts[kind] for kind in evidence.KINDS if kind in counts}

    def sides(self) -> tuple[int, int]:
        """Pairs of one host, and of two."""
        return sides(self.same_host)


def sides(same_host: pa.Array) -> tuple[int, int]:
    """How many are of one host, and of two."""
    same = computing.sum_(same_host).as_py() or 0
    return same, len(same_host) - same_host.null_count - same


@dataclass(frozen=True)
class PageFacts:
    """What is known of documents as pages, by row.

    Attributes:
        reading: that has read them, with the URL first in `Columns.beside`, and `BESIDE` behind it.
        recipe: of canonical URLs, or whatever else makes one of several URLs.
        required: whether there must be canonical forms; else, without what makes them, URLs are compared as they stand.
        leads: where redirects lead, at least those that another one leads to; None: the documents here say so.
    """

    reading: Reading
    recipe: CanonicalUrl | OneForm
    required: bool = False
    leads: Mapping[str, str] | None = None

    @property
    def have_urls(self) -> bool:
        """Whether any document has a URL."""
        return self.has(self.url_column)

    @property
    def url_column(self) -> str:
        """What it is called."""
        return self.reading.columns.beside[0]

    def has(self, name: str) -> bool:
        """Whether any document has something in a column."""
        if name not in self.reading.columns.beside:
            return False
        return bool(computing.any_(computing.not_equal(self.reading.beside(name), pa.scalar("", pa.string()))).as_py())

    def known(self, name: str, rows: Rows | None = None) -> pa.Array:
        """A column as it stands, of all rows or of some; null where it says nothing."""
        column = self.reading.beside(name)
        return _said((column if rows is None else computing.take(column, pa.array(rows))).combine_chunks())

    def urls(self, rows: Rows | None = None, degree: Degree = "usual") -> pa.Array:
        """Canonical URLs by the rules up to a degree; null where what stands there is none, as a `-`."""
        known = self.known(self.url_column, rows)
        is_none = computing.match_substring_regex(known, pattern=NO_URL)
        return _said(self.forms[degree](computing.if_else(is_none, pa.scalar(None, known.type), known)))

    def payloads(self, rows: Rows | None = None) -> pa.Array:
        """Digests of payloads in one spelling."""
        digests = self.known("payload_digest", rows).to_pylist()
        return pa.array([None if digest is None else comparable(digest) for digest in digests], pa.large_string())

    def target(self, name: str, rows: Rows | None = None) -> pa.Array:
        """The canonical form of what pages say of themselves, null where they say nothing; of redirects the last."""
        if not self.has(name):
            return self.known(name, rows)
        targets = self.said(name, rows)
        return (
            targets if name != "redirect" else _followed(targets, self._redirects if self.leads is None else self.leads)
        )

    def said(self, name: str, rows: Rows | None = None) -> pa.Array:
        """The same, and of redirects where each leads to at once."""
        known = self.known(name, rows)
        if name != "revisit_of":  # which an archive says, and not a page
            known = _absolute(self.known(self.url_column, rows), known)
        return _said(self.form(known))

    @cached_property
    def _redirects(self) -> dict[str, str]:
        """From canonical URLs to those that they redirect to; of several the least, whatever the order of reading."""
        rows = np.flatnonzero(computing.is_valid(self.known("redirect")))
        urls = self.urls(rows).to_pylist()
        redirects: dict[str, str] = {}
        for url, target in zip(urls, self.said("redirect", rows).to_pylist(), strict=True):
            if url is not None and target is not None and url != target:
                redirects[url] = min(target, redirects.get(url, target))
        return redirects

    @property
    def form(self) -> Callable[[Any], pa.Array]:
        """From URLs to canonical ones, without a guess."""
        return self.forms["usual"]

    @cached_property
    def forms(self) -> Mapping[Degree, Callable[[Any], pa.Array]]:
        """From URLs to canonical ones, by the rules up to each degree."""
        if self.notes:
            return dict.fromkeys(DEGREES, lambda urls: urls)
        from nearsame.stages.keys.urls import Canonical, mapped  # noqa: PLC0415  (for URLs, which few texts have)

        own = self.recipe if isinstance(self.recipe, CanonicalUrl) else self.recipe.recipe
        forms = {degree: Canonical(own.at_most(degree)).column for degree in DEGREES}
        return (
            forms if isinstance(self.recipe, CanonicalUrl) else {**forms, "guess": partial(mapped, self.recipe.apply)}
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """That there are no canonical forms, where that is so."""
        if self.required or not self.have_urls or self.reading.columns.beside[1:] != BESIDE:
            return ()  # no form is asked for
        from nearsame.stages.keys.urls import Canonical  # noqa: PLC0415  (see `forms`)

        try:
            Canonical(CanonicalUrl())("")
        except MissingExtraError:
            return (f"URLs were compared as they are. To compare their canonical forms, run: {install_command('web')}",)
        return ()

    def same_host(self, rows: Rows, others: Rows) -> pa.Array:
        """Whether documents are of one host; null where a URL is not known."""
        if rows.size < self.reading.num_documents:
            return computing.equal(*(evidence.hosts(self.known(self.url_column, side)) for side in (rows, others)))
        a, b = self._host_numbers[rows], self._host_numbers[others]  # rows occur again and again
        return pa.array(a == b, mask=(a < 0) | (b < 0))

    @cached_property
    def _host_numbers(self) -> Rows:
        """By row; negative where the URL is not known."""
        numbers = evidence.hosts(self.known(self.url_column)).dictionary_encode().indices
        return np.asarray(numbers.fill_null(-1))

    def evidence(self, rows: Rows, witnesses: Rows, holds: dict[str, Mask]) -> PageEvidence:
        """Which kinds hold between rows and their witnesses.

        Args:
            rows: documents.
            witnesses: another one for each.
            holds: the kinds that are about the content.
        """
        url, other = (self.urls(side) for side in (rows, witnesses))
        holds = {**holds, **self._by_degree(rows, witnesses), "mirror": evidence.mirrored(url, other)}
        for name in ("redirect", "canonical"):
            if self.has(name):
                holds[name] = evidence.named(self.target(name, rows), url, self.target(name, witnesses), other)
        if self.has("revisit_of") or self.has("payload_digest"):
            holds["revisit"] = self._revisits(rows, witnesses, url, other)
        return PageEvidence(evidence.kinds(holds), self.same_host(rows, witnesses))

    def _by_degree(self, rows: Rows, witnesses: Rows) -> dict[str, Mask]:
        """Which URLs are one, each by the surest rules that make them one."""
        holds, before = {}, np.zeros(rows.size, np.bool_)
        for degree in DEGREES:
            same = evidence.same(*(self.urls(side, degree) for side in (rows, witnesses)))
            holds[f"url-{degree}"] = same & ~before
            before |= same
        return holds

    def same_payload(self, rows: Rows, witnesses: Rows) -> Mask:
        """Whether an archive has recorded the same digest of what was sent."""
        return evidence.same(*(self.payloads(side) for side in (rows, witnesses)))

    def _revisits(self, rows: Rows, witnesses: Rows, url: pa.Array, other: pa.Array) -> Mask:
        """One of the two is a revisit, of the other's URL or with the other's payload digest."""
        revisited, other_revisited = (self.target("revisit_of", side) for side in (rows, witnesses))
        is_revisit = np.asarray(computing.or_(computing.is_valid(revisited), computing.is_valid(other_revisited)))
        nothing = pa.nulls(len(rows), pa.large_string())
        named = evidence.named(revisited, url, nothing, other) | evidence.named(nothing, url, other_revisited, other)
        return np.asarray(named | (self.same_payload(rows, witnesses) & is_revisit))


def _said(strings: pa.Array) -> pa.Array:
    """The same with null for what is empty: an unknown URL, or digest, is the same as no other."""
    strings = computing.cast(strings, pa.large_string())
    return computing.if_else(computing.equal(strings, ""), pa.scalar(None, strings.type), strings)


def _followed(targets: pa.Array, redirects: Mapping[str, str]) -> pa.Array:
    """Where redirects end; one that goes round in a circle ends at the least URL on the way."""

    def end(target: str | None) -> str | None:
        if target is None:
            return None
        seen = {target}
        while (after := redirects.get(target)) is not None:
            if after in seen:
                return min(seen)
            seen.add(target := after)
        return target

    return pa.array(map(end, targets.to_pylist()), pa.large_string())


def _absolute(base: pa.Array, target: pa.Array) -> pa.Array:
    pairs = zip(base.to_pylist(), target.to_pylist(), strict=True)
    return pa.array([absolute(there, here) for here, there in pairs], pa.large_string())
