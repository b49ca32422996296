"""The facets of an index: which one a method has, and those that are equality."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from nearsame import arrow
from nearsame.arrow import UInt64s
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.flow.steps import steps
from nearsame.index.codes import EXPECTED, CodeFacet
from nearsame.index.facet import NOTHING, Batch, Facet, IndexMethod, Input, cut, documents, through
from nearsame.index.sets import SetFacet
from nearsame.placeholders import is_no_url
from nearsame.recipes.choices import StoreKind
from nearsame.recipes.methods import Digest, MinHash, SimHash
from nearsame.recipes.urls import CanonicalUrl
from nearsame.stages.keys import blocks
from nearsame.stages.keys.urls import Canonical
from nearsame.stages.pairs import measures

__all__ = ["DigestFacet", "digest_column", "digest_columns", "facet_of"]

_DISK = blocks.Costs(3e-6, 8e-6)  # a key more to look up, a document more to fetch


@dataclass(frozen=True)
class DigestFacet(Facet):
    """Whole texts, raw or normalised."""

    recipe: Digest

    @property
    def label(self) -> str:
        """What a digest is called: of what, by which function."""
        return f"{self.recipe.algorithm} of {self.name}"

    def items(self, inputs: Sequence[Input]) -> list[UInt64s]:
        """What each document is compared by."""
        if self.recipe.nfkc or self.recipe.strip_accents:
            texts = documents([document.text or b"" for document in inputs])
            return cut(arrow.lists(through(texts, self._stages).column("items")))
        words: list[UInt64s] = self._stages[-1].words((inputs if isinstance(inputs, Batch) else Batch(inputs)).texts)
        return words

    @property
    def is_raw(self) -> bool:
        """Whether equal items are equal texts, byte for byte."""
        return not (self.recipe.normalise or self.recipe.nfkc or self.recipe.strip_accents)

    def implies(self, other: Facet) -> bool:
        """Equal texts have equal items everywhere; equal words where words are made in the same way."""
        return self.is_raw or (getattr(other.recipe, "unit", "words") == "words" and self.cutting == other.cutting)

    @cached_property
    def _stages(self) -> tuple[Any, ...]:
        return steps(self.recipe).features


def digest_column(label: str) -> str:
    """The column of an export in which the digests of that label stand."""
    return label.replace(" of ", "_of_")


def digest_columns(facets: Sequence[Facet]) -> list[str]:
    """All such columns."""
    return [digest_column(facet.label) for facet in facets if isinstance(facet, DigestFacet)]


@dataclass(frozen=True)
class _Urls(Facet):
    """Canonical URLs, 128 bits of each."""

    recipe: CanonicalUrl

    @cached_property
    def _canonical(self) -> Canonical:
        return Canonical(self.recipe)

    def items(self, inputs: Sequence[Input]) -> list[UInt64s]:
        """What each document is compared by."""
        return [NOTHING if not url or is_no_url(url) else self._of(url) for url in (one.url for one in inputs)]

    def _of(self, url: str) -> UInt64s:
        return np.frombuffer(hashlib.blake2b(self._canonical(url).encode(), digest_size=16).digest(), np.uint64)


def facet_of(recipe: IndexMethod, store: StoreKind) -> Facet:
    """The facet of a method, in an index that stores so much.

    Raises:
        ConfigError: An index cannot have this method.
    """
    match recipe:
        case MinHash():
            recipe.require_alone("an index, which grows")
            estimated = store == "sketch" or recipe.verify == "estimate"
            bound = measures.bound(measures.AGREEMENT if estimated else measures.JACCARD, recipe.threshold)
            return SetFacet("minhash", recipe, bound, "estimated" if estimated else "jaccard", 4 if estimated else 8)
        case SimHash():
            _check_codes(recipe, store)
            resolved = _with_headers(recipe)
            bound = measures.bound(measures.codes(resolved.confirm, resolved.bits, resolved.k), resolved.least)
            return CodeFacet("simhash", resolved, bound, resolved.reports)
        case Digest():
            if recipe.can_collide:
                message = f"algorithm={recipe.algorithm} can collide, and an index keeps no text to confirm it"
                raise ConfigError(message, hint="Choose another digest.")
            return DigestFacet("text" if recipe.normalise else "bytes", recipe)
        case CanonicalUrl():
            return _Urls("url", recipe.at_most("usual"))  # it decides alone, so it must not guess


def _check_codes(recipe: SimHash, store: StoreKind) -> None:
    if recipe.weights == "tfidf":
        message = "weights=tfidf needs all documents at once, and an index grows"
        raise ConfigError(message, hint="Use weights one or tf.")
    if recipe.search != "blocks":
        message = f"search={recipe.search} does nothing in an index, which looks codes up by blocks"
        raise ConfigError(message, hint="Leave it out.")
    if recipe.confirm is not None and store == "sketch":
        message = f"confirm={recipe.confirm} needs what store=sketch does not keep"
        raise ConfigError(message, hint="Use store=shingles, or leave out what confirms.")


def _with_headers(recipe: SimHash) -> SimHash:
    """The recipe with its blocks written down: keys must not change when the way to choose them does."""
    if recipe.blocks is not None and recipe.header is not None:
        return recipe
    codes = blocks.CodeCounts(EXPECTED, recipe.bits, num_queries=EXPECTED)
    plan = blocks.plan(codes, recipe.k, num_blocks=recipe.blocks, header_blocks=recipe.header, costs=_DISK)
    return SimHash(**{**recipe.settings, "blocks": plan.num_blocks, "header": plan.header_blocks})
