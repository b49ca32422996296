"""Boilerplate of a host: the shingles that stand in a large share of its documents, dropped from these alone.

1. An item of a document counts as another one on every host: it is mixed with the hash of the host's name. So hosts are
   counted by what counts all documents together, and an item that is boilerplate here is not boilerplate elsewhere.
2. A document whose host is not known has no such items: it counts nowhere, and loses nothing.
3. The share is of the host's documents that have shingles, copies and the `against` side included.
"""

from fractions import Fraction
from hashlib import blake2b
from itertools import count

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.arrow import Int64s, Mask, Rows, UInt64s
from nearsame.dataclass import dataclass
from nearsame.named import NamedTuple
from nearsame.stages.features.boilerplate import Boilerplate, WithoutBoilerplate

__all__ = ["LEAST_DOCUMENTS", "ByHost", "HostBoilerplate", "HostCounts", "Hosts", "OfHosts", "WithoutHostBoilerplate"]

LEAST_DOCUMENTS = 20  # what fewer of a host's documents have is not its boilerplate, whatever the share

_SHIFTS = tuple(map(np.uint64, (30, 27, 31)))
_FACTORS = tuple(map(np.uint64, (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))


@dataclass(frozen=True, eq=False)
class Hosts:
    """The hosts of all documents.

    Attributes:
        names: of the hosts.
        numbers: by row, the number of its host in `names`; negative where it is not known.
    """

    names: list[str]
    numbers: Rows

    @property
    def hashes(self) -> UInt64s:
        """Of each host's name."""
        digests = (blake2b(name.encode(), digest_size=8).digest() for name in self.names)
        return np.frombuffer(b"".join(digests), np.uint64)


class HostCounts(NamedTuple):
    """What is counted of hosts; arrays, filled batch by batch.

    Attributes:
        documents: of each host.
        hosts: by item that may be boilerplate, the number of its host.
    """

    documents: Int64s
    hosts: Int64s


class _Mixed(NamedTuple):
    """The items of a batch that may be boilerplate: each with its place, its document and its mixed hash."""

    places: Int64s
    documents: Int64s  # in the batch
    hashes: UInt64s


@dataclass(frozen=True, eq=False)
class ByHost:
    """The stage that makes one ascending list of all mixed items of a batch: all that is counted by."""

    hosts: Hosts
    hashes: UInt64s

    output = schemas.FEATURES

    @classmethod
    def of(cls, hosts: Hosts) -> "ByHost":
        """With the hashes made."""
        return cls(hosts, hosts.hashes)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of one row."""
        items = np.sort(self.mixed(batch).hashes)
        ones = pa.array(np.ones(1, np.int64))
        columns = [ones] * (len(schemas.FEATURES) - 1)
        return pa.RecordBatch.from_arrays(
            [*columns, arrow.items(items, np.array([0, items.size]))], schema=schemas.FEATURES
        )

    def mixed(self, batch: pa.RecordBatch) -> _Mixed:
        """The shingles of documents whose hosts are known."""
        lists, sizes = arrow.lists(batch.column("items")), arrow.lists(batch.column("items")).sizes
        counted = self.counted(batch)
        documents = np.repeat(np.arange(len(batch)), np.where(counted, sizes, 0))
        before = np.cumsum(sizes[counted]) - sizes[counted]
        places = np.repeat(lists.starts[counted] - before, sizes[counted]) + np.arange(documents.size)
        salts = self.hashes[self.numbers(batch)[documents]]
        return _Mixed(places, documents, _scattered(lists.items[places] ^ salts))

    def counted(self, batch: pa.RecordBatch) -> Mask:
        """Which documents have shingles and a host."""
        return np.asarray((arrow.ints(batch.column("num_tokens")) > 0) & (self.numbers(batch) >= 0))

    def numbers(self, batch: pa.RecordBatch) -> Rows:
        """The hosts of a batch's documents."""
        rows: Rows = arrow.ints(batch.column("row"))
        return self.hosts.numbers[rows]


def _scattered(items: UInt64s) -> UInt64s:
    """A permutation of all 64-bit numbers (the finaliser of SplitMix64): no two items of a host become one."""
    first, second, last = _SHIFTS
    items = (items ^ (items >> first)) * _FACTORS[0]
    items = (items ^ (items >> second)) * _FACTORS[1]
    return items ^ (items >> last)


@dataclass(frozen=True, eq=False)
class OfHosts:
    """The fold that counts the documents of each host, and the host of each item that may be boilerplate."""

    by_host: ByHost
    frequent: UInt64s  # mixed, ascending

    def start(self) -> HostCounts:
        """No documents, and no hosts."""
        return HostCounts(np.zeros(len(self.by_host.hosts.names), np.int64), np.full(self.frequent.size, -1))

    def add(self, state: HostCounts, batch: pa.RecordBatch, part: int, _: int) -> HostCounts:
        """Count a batch; a document is one of its host, so part 0 does it."""
        if part == 0:
            numbers = self.by_host.numbers(batch)
            np.add.at(state.documents, numbers[self.by_host.counted(batch)], 1)
            mixed = self.by_host.mixed(batch)
            at, is_frequent = _found(self.frequent, mixed.hashes)
            state.hosts[at[is_frequent]] = numbers[mixed.documents[is_frequent]]
        return state

    def merge(self, a: HostCounts, b: HostCounts) -> HostCounts:
        """The counts of both together."""
        return HostCounts(a.documents + b.documents, np.maximum(a.hosts, b.hosts))


@dataclass(frozen=True, eq=False)
class HostBoilerplate:
    """What is dropped: mixed items, ascending, in how many documents each stands, and of which host."""

    items: UInt64s
    counts: Int64s
    hosts: Int64s

    @classmethod
    def of(cls, frequent: Boilerplate, counted: HostCounts, share: Fraction) -> "HostBoilerplate":
        """Of frequent items those that stand in this share of their host's documents."""
        p, q = share.numerator, share.denominator
        least = np.array([-(-number * p // q) for number in counted.documents.tolist()], np.int64)
        common = frequent.counts >= least[counted.hosts]
        items, counts, hosts = frequent.items[common], frequent.counts[common], counted.hosts[common]
        return cls(arrow.frozen(items), arrow.frozen(counts), arrow.frozen(hosts))


@dataclass(frozen=True, eq=False)
class WithoutHostBoilerplate:
    """The stage that drops from FEATURES the items that are boilerplate on the document's host."""

    by_host: ByHost
    boilerplate: HostBoilerplate
    output: pa.Schema = schemas.FEATURES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch without the items; one that has none left has the digest of its text, and counts no tokens."""
        mixed = self.by_host.mixed(batch)
        _, is_common = _found(self.boilerplate.items, mixed.hashes)
        if not is_common.any():
            return batch
        column = batch.column("items")
        items = arrow.lists(column).items.copy()
        mark = next(number for number in count() if not (items == np.uint64(number)).any())
        items[mixed.places[is_common]] = mark  # so that one item stands for all that are dropped
        marked = arrow.items(items, arrow.list_offsets(column))
        at = batch.schema.get_field_index("items")
        dropping = Boilerplate(np.array([mark], np.uint64), np.ones(1, np.int64))
        return WithoutBoilerplate.of(dropping, self.output)(batch.set_column(at, batch.schema.field(at), marked))


def _found(wanted: UInt64s, hashes: UInt64s) -> tuple[Int64s, Mask]:
    """For each hash a place in ascending `wanted`, and whether it stands there."""
    at = np.minimum(np.searchsorted(wanted, hashes), max(wanted.size - 1, 0))
    return at, (wanted[at] == hashes) if wanted.size else np.zeros(hashes.size, np.bool_)
