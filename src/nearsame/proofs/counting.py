"""Which items stand in too many documents: counted a part of them at a time, so that memory is bounded.

1. Where a share of each host's documents is asked for, an item is another one on every host, and hosts that are not
   known have none. Otherwise all documents are of one host, called None.
"""

import hashlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any

from nearsame.proofs.features import Cut, Raw
from nearsame.proofs.sites import host_of

__all__ = ["Boilerplate", "boilerplate", "digest", "frequent", "items_of"]

_FILES, _BYTES = 64, 16
_LEAST_OF_HOST = 20  # documents, whatever the share
_MOST_HOSTS = 20  # that statistics name

Host = str | None


@dataclass
class Boilerplate:
    """What stands in too many documents.

    Attributes:
        items: of each host.
        documents: of each host, those that have shingles.
        occurrences: of each host, in how many documents each of its items stands, summed.
        is_per_host: whether hosts are counted apart.
    """

    items: dict[Host, frozenset[Any]] = field(default_factory=dict)
    documents: Counter[Host] = field(default_factory=Counter)
    occurrences: Counter[Host] = field(default_factory=Counter)
    is_per_host: bool = False

    def counts(self) -> dict[str, Any]:
        """What statistics say of it."""
        hosts = self.items if self.is_per_host else {}
        most_first = sorted(hosts, key=lambda host: (-self.occurrences[host], str(host)))
        by_host = [
            {
                "host": host,
                "documents": self.documents[host],
                "shingles": len(self.items[host]),
                "occurrences": self.occurrences[host],
            }
            for host in most_first
        ]
        return {
            "dropped_shingles": sum(map(len, self.items.values())),
            "dropped_occurrences": sum(self.occurrences.values()),
            "dropped_hosts": len(by_host),
            "dropped_by_host": by_host[:_MOST_HOSTS],
        }


def boilerplate(contents: Callable[[], Iterable[Any]], cut: Cut, recipe: Mapping[str, Any]) -> Boilerplate:
    """The items that stand in too many documents.

    Args:
        contents: Reads the documents: digests are counted, and then their items are looked for.
        cut: How they are cut up.
        recipe: Says how many documents are too many.
    """
    share = recipe.get("boilerplate_per_host")
    dropped = Boilerplate(is_per_host=share is not None)
    fewest = _LEAST_OF_HOST if share is not None else recipe["drop_boilerplate"] + 1

    def counted() -> Iterator[Any]:
        return (content for content in contents() if share is None or host_of(content) is not None)

    many = frequent(_items(counted(), cut, dropped), fewest)
    least = dict.fromkeys(dropped.documents, fewest)
    if share is not None:
        least = {host: max(fewest, ceil(Fraction(str(share)) * number)) for host, number in dropped.documents.items()}
    items: defaultdict[Host, set[Any]] = defaultdict(set)
    for host, item in _items(counted(), cut) if many else ():
        times = many.get(digest(host, item), 0)
        if times >= least[host] and item not in items[host]:
            items[host].add(item)
            dropped.occurrences[host] += times
    dropped.items = {host: frozenset(several) for host, several in items.items() if several}
    return dropped


def _items(contents: Iterable[Any], cut: Cut, dropped: Boilerplate | None = None) -> Iterator[tuple[Host, Any]]:
    """All items of all documents, with their hosts; documents are counted on the way, where that is asked for."""
    for content in contents:
        host, (items,) = host_of(content), items_of([content], cut.bare)
        if dropped is not None and items:
            dropped.documents[host] += 1
        yield from ((host, item) for item in items)


def items_of(contents: Iterable[Any], features: Callable[[Any], Iterable[Any]]) -> Iterator[list[Any]]:
    """The items of each document, without what stands for all of a text that has none."""
    return ([item for item in features(content) if not isinstance(item, Raw)] for content in contents)


def frequent(items: Iterable[tuple[Host, Any]], fewest: int) -> dict[bytes, int]:
    """The digests of those that come at least so many times, and how many times."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(_FILES)]
        for host, item in items:
            name = digest(host, item)
            files[name[0] % _FILES].write(name)
        many: dict[bytes, int] = {}
        for file in files:
            file.seek(0)
            counts = Counter(iter(lambda file=file: file.read(_BYTES), b""))  # type: ignore[misc]
            many |= {name: times for name, times in counts.items() if times >= fewest}
    return many


def digest(host: Host, item: Any) -> bytes:
    """What stands for an item of a host in a file."""
    return hashlib.blake2b(repr((host, item)).encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
