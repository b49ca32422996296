"""Documents into an index: what each resembles, whether it goes in, and whom it follows.

1. Everything is made ready before the transaction. Within it the store is asked once for all documents, then they are
   settled one after the other, each against those of its own batch that went in before it as well.
2. Documents of a batch with the same items are one as far as comparing goes.
"""

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from nearsame.answers.matches import Added, AddStatus, Matches
from nearsame.arrow import Int64s
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.flow.options import SourceOptions
from nearsame.index.candidates import Pairs, bound, closest
from nearsame.index.documents import BATCH_ROWS
from nearsame.index.facet import Facets, Input, Keys
from nearsame.index.removing import remove
from nearsame.index.search import (
    Hit,
    Questioned,
    Resembling,
    ask,
    evidence_of,
    followed,
    look_up,
    matches_of,
    mosts,
    similar_pairs,
)
from nearsame.index.shelves import Blobs, same_items
from nearsame.recipes.arguments import require_number
from nearsame.recipes.choices import StoreKind
from nearsame.recipes.signatures import Default, Doc
from nearsame.stores.base import Row, Writer

__all__ = ["AddOptions", "Prepared", "blobs_of", "prepared", "require_addable", "settle", "without_repeats"]

_MOST_MET = 64  # documents of its own batch that one is compared with


class AddOptions(SourceOptions, total=False):
    """What an index does with documents that are added."""

    if_new: Annotated[
        bool,
        Doc(
            "Whether a document that resembles another, by any method, is left out. Looking and adding are one step:"
            " of two that come at the same moment one goes in."
        ),
        Default(value=False),
    ]
    replace: Annotated[
        bool,
        Doc("Whether a document takes the place of another one with its id; otherwise that one stays."),
        Default(value=False),
    ]
    limit: Annotated[int, Doc("At most this many matches of each."), Default(10)]
    matches: Annotated[bool, Doc("Whether matches are wanted; without them it is faster."), Default(value=True)]


def require_addable(options: AddOptions) -> None:
    """Refuse what cannot be asked of adding."""
    require_number("limit", options["limit"], 1)
    if options["if_new"] and options["replace"]:
        message = "if_new and replace exclude each other: another text of an id is hardly ever new"
        raise ConfigError(message, hint="Give one of the two.")


@dataclass(frozen=True)
class Prepared:
    """Documents with different ids, ready to be added."""

    inputs: Sequence[Input]
    asked: Questioned
    texts: Sequence[bytes | None]  # compressed

    def lock_keys(self) -> Int64s:
        """All that will be looked up, or written: keys, and a hash of each id."""
        ids = [
            int.from_bytes(hashlib.blake2b(document.id.encode(), digest_size=8).digest(), "little", signed=True)
            for document in self.inputs
        ]
        return np.concatenate([self.asked.all_keys(), np.array(ids, np.int64)])


def blobs_of(facets: Facets, inputs: Sequence[Input]) -> list[bytes]:
    """What is stored of each document to compare it by, and the columns that are kept of it."""
    return Blobs(facets, inputs).of(range(len(facets)))


def prepared(facets: Facets, store: StoreKind, inputs: Sequence[Input]) -> Prepared:
    """Compute what the store gets of documents: items, keys, compressed texts; none may be of the wrong kind."""
    for document in inputs:
        if document.sketch is not None and all(facet.width == 8 for facet in facets):
            message = f"document {document.id!r} is a sketch, and an index with store={store} compares exactly"
            raise ConfigError(message, hint="Create the index with store=sketch, or give the text.")
        if document.text is None and store == "text":
            message = f"document {document.id!r} has no text, and the index stores texts"
            raise ConfigError(message, hint="Create the index with store=shingles, or give the text.")
    texts = [zlib.compress(document.text or b"") if store == "text" else None for document in inputs]
    return Prepared(inputs, ask(facets, blobs_of(facets, inputs)), texts)


def without_repeats(inputs: Sequence[Input]) -> Iterator[Sequence[Input]]:
    """Runs of documents in which no id occurs twice, none too long."""
    start, seen = 0, set[str]()
    for at, document in enumerate(inputs):
        if document.id in seen or at - start == BATCH_ROWS:
            yield inputs[start:at]
            start, seen = at, set()
        seen.add(document.id)
    if start < len(inputs):
        yield inputs[start:]


def settle(writer: Writer, facets: Facets, given: Prepared, options: AddOptions) -> list[Added]:
    """Add what goes in."""
    present = writer.named(
        [document.id for document in given.inputs], text=any(text is not None for text in given.texts)
    )
    status = {
        at: _status(facets, given, at, present[document.id], replace=options["replace"])
        for at, document in enumerate(given.inputs)
        if document.id in present
    }
    remove(writer, facets, [present[given.inputs[at].id].number for at, what in status.items() if what == "replaced"])
    most = options["limit"] + 1 if options["matches"] else 1
    resembling = look_up(writer, facets, given.asked, most, ranked=options["matches"])
    batch = _Batch(facets, given, resembling, writer.reserve(len(given.inputs)), options, status)
    answers = [batch.settle(at) for at in range(len(given.inputs))]
    batch.write(writer)
    return answers


def _status(facets: Facets, given: Prepared, at: int, row: Row, *, replace: bool) -> AddStatus:
    """What becomes of a document whose id is there: the same has the same text, address and columns.

    Where the index knows neither the text nor a digest of its bytes, equal items may be of another text: to replace by
    it is never wrong, and without `replace` the document counts as the one that is there.
    """
    document = given.inputs[at]
    is_same = row.items == given.asked.blobs[at] and row.url == document.url
    is_known = document.text is None or any(getattr(facet, "is_raw", False) for facet in facets)
    if is_same and not is_known and row.text is not None:
        is_same, is_known = zlib.decompress(row.text) == document.text, True
    if is_same and (is_known or not replace):
        return "present"
    return "replaced" if replace else "conflict"


class _Batch:
    """Documents that are settled one after the other."""

    def __init__(  # noqa: PLR0913, PLR0917  (what settle knows by then)
        self,
        facets: Facets,
        given: Prepared,
        resembling: Resembling,
        first: int,
        options: AddOptions,
        status: dict[int, AddStatus],
    ) -> None:
        self._facets, self._given, self._found = facets, given, resembling
        self._first, self._options, self._status = first, options, status
        self._mosts, self._bound = mosts(facets, options["limit"] + 1), bound(options["limit"] + 1)
        self._leaders: dict[int, int | None] = {}  # of the documents that went in
        self._members: list[dict[int, list[int]]] = [{} for _ in facets]  # by facet and group, those that went in
        self._is_cut = resembling.is_cut.copy()
        # whether the store has a document with the items of this one, by facet
        self._is_stored = [[any(hit.is_copy for hit in hits) for hits in by_facet] for by_facet in resembling.hits]

    def settle(self, at: int) -> Added:
        """Decide about a document."""
        document, status = self._given.inputs[at], self._status.get(at, "added")
        hits = self._hits(at)
        matches = self._matches(at, hits) if self._options["matches"] else Matches(complete=not self._is_cut[at])
        if status == "added" and self._options["if_new"] and any(hits):
            status = "resembles"
        if status in ("added", "replaced"):
            self._take(at, hits)
        return Added(document.id, status in ("added", "replaced"), status, tuple(matches), matches.complete)

    def write(self, writer: Writer) -> None:
        """Write down what went in."""
        taken = sorted(self._leaders)
        if not taken:
            return
        places = [number - self._first for number in taken]
        rows = [
            Row(
                number,
                self._given.inputs[at].id,
                self._given.inputs[at].url,
                self._given.asked.blobs[at],
                self._given.texts[at],
                self._leaders[number],
            )
            for number, at in zip(taken, places, strict=True)
        ]
        keys, of = self._postings(np.array(places))
        writer.insert(rows, keys, of + self._first)

    def _postings(self, places: Int64s) -> tuple[Int64s, Int64s]:
        """(keys, places) of columns and set keys, and of the others of those that are the first with their items."""
        values, rows = self._given.asked.column_keys
        is_taken = np.isin(rows, places)
        keys, of = [values[is_taken]], [rows[is_taken]]
        for number, facet_keys in enumerate(self._given.asked.keys):
            chosen = places[facet_keys.present[places]]
            keys.append(facet_keys.sets[chosen])
            of.append(chosen)
            if facet_keys.keys.size:
                is_first = np.zeros(facet_keys.sets.size, np.bool_)
                firsts = (members[0] for members in self._members[number].values())
                is_first[[at for at in firsts if not self._is_stored[at][number]]] = True
                leads = is_first[facet_keys.rows]
                keys.append(facet_keys.keys[leads])
                of.append(facet_keys.rows[leads])
        return np.concatenate(keys), np.concatenate(of)

    def _take(self, at: int, hits: Sequence[list[Hit]]) -> None:
        self._leaders[self._first + at] = followed(
            [facet_hits for facet, facet_hits in zip(self._facets, hits, strict=True) if facet.name != "url"],
            self._leader,
        )
        for number, groups in enumerate(self._groups):
            if groups[at] >= 0:
                self._members[number].setdefault(int(groups[at]), []).append(at)

    def _leader(self, number: int) -> int | None:
        if number in self._leaders:
            return self._leaders[number]
        return self._found.rows[number].leader

    def _hits(self, at: int) -> list[list[Hit]]:
        """What resembles a document, in the store and in the batch, by facet."""
        hits = []
        for number, groups in enumerate(self._groups):
            own = int(groups[at])
            facet_hits = list(self._found.hits[at][number])
            most = self._mosts[number]
            for group, value in self._near[number].get(own, ()):
                members = self._members[number].get(group, [])
                self._is_cut[at] |= most == self._bound and len(members) > most
                members = members[:most]
                first = -1 if not members or self._is_stored[members[0]][number] else members[0]
                facet_hits += [Hit(self._first + member, value, group == own, member == first) for member in members]
            hits.append(facet_hits)
        return hits

    def _matches(self, at: int, hits: Sequence[list[Hit]]) -> Matches:
        numbers = list(dict.fromkeys(hit.number for facet_hits in hits for hit in facet_hits))
        if not numbers:
            return Matches(complete=not self._is_cut[at])
        rows = [self._row(number) for number in numbers]
        evidence = evidence_of(self._facets, self._given.asked.blobs[at], rows)
        own = self._given.inputs[at].id if at in self._status else None
        limit, is_cut = self._options["limit"], bool(self._is_cut[at])
        return matches_of(self._facets, rows, evidence, limit, is_cut=is_cut, but=own)

    def _row(self, number: int) -> Row:
        if number in self._found.rows:
            return self._found.rows[number]
        at = number - self._first
        document = self._given.inputs[at]
        return Row(number, document.id, document.url, self._given.asked.blobs[at], None, self._leaders[number])

    @cached_property
    def _groups(self) -> list[Int64s]:
        """By facet, for each document: the first one of the batch with its items; -1 without items."""
        by_facet = []
        blobs = self._given.asked.blobs
        for number, keys in enumerate(self._given.asked.keys):
            _, first, inverse = np.unique(keys.sets, return_index=True, return_inverse=True)
            groups = np.where(keys.present, first[inverse], -1)
            for at in np.flatnonzero(keys.present & (groups != np.arange(groups.size))).tolist():
                if not same_items(self._facets, number, blobs[groups[at]], blobs[at]):
                    groups[at] = at
            by_facet.append(groups)
        return by_facet

    @cached_property
    def _near(self) -> list[dict[int, list[tuple[int, Any]]]]:
        """By facet: the groups that resemble a group, itself first, and how much."""
        by_facet = []
        for number, (facet, keys) in enumerate(zip(self._facets, self._given.asked.keys, strict=True)):
            groups = self._groups[number]
            near: dict[int, list[tuple[int, Any]]] = {
                group: [(group, 1)] for group in np.unique(groups[groups >= 0]).tolist()
            }
            (b, a), cut = _meeting(keys, groups)
            self._is_cut[np.isin(groups, cut)] = True
            values = similar_pairs(facet, self._given.asked.shelf.items(number), a, b)
            for one, other, value in zip(a.tolist(), b.tolist(), values, strict=True):
                if value is not None:
                    near[one].append((other, value))
                    near[other].append((one, value))
            by_facet.append(near)
        return by_facet


def _meeting(keys: Keys, groups: Int64s) -> tuple[Pairs, Int64s]:
    """(later group, earlier group) that share a key, of each later one the closest; and those groups that had more.

    Of a key that very many of the batch have, each is paired with the first few.
    """
    leads = groups[keys.rows] == keys.rows
    values, rows = keys.keys[leads], keys.rows[leads]
    order = np.lexsort((rows, values))
    values, rows = values[order], rows[order]
    starts = np.searchsorted(values, values)
    before = np.arange(values.size) - starts
    sizes = np.minimum(before, _MOST_MET)
    later = np.repeat(np.arange(values.size), sizes)
    earlier = np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(later.size)
    pairs, cut = closest(rows[later], rows[earlier], _MOST_MET)
    ends = np.searchsorted(values, values, "right")
    return pairs, np.union1d(cut, rows[ends - starts > _MOST_MET])
