"""What a rule will take, predicted from a few of the documents that meet.

1. The rule is applied to a sample of the documents, and to half of it. What twice as many documents multiply the work
   by, twice for copies of one template and four times where all are keepers, is what more of them will multiply it by.
2. Clusters are thin in a sample, so where documents have many near-duplicates the number is too high, not too low.
"""

from collections.abc import Callable, Iterable, Iterator
from math import log2
from typing import Any

import numpy as np

from nearsame import arrow
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.kernels.buckets import Entries, Meeting
from nearsame.kernels.deciding import Work
from nearsame.kernels.stamps import Array

__all__ = ["Foresight", "most_work"]

_SAMPLED = 2048


def most_work(meeting: Meeting) -> Work:
    """All documents compared with all that share a bucket with them, once for each bucket: it cannot be more."""
    most = meeting.most_meetings()
    return Work(most, most, most, 2 * most * meeting.items.size // max(1, meeting.entries.rows.size))


@dataclass(frozen=True)
class Foresight:
    """The rule that foretells what another one takes.

    Attributes:
        work: applies that rule to a meeting, by the given way to run things, and counts what it takes.
        times: of a meeting that is itself a sample, by how many times the documents that it stands for are more.
    """

    work: Callable[[Meeting, Any], Work]
    times: float = 1.0

    def sample(self, meeting: Meeting, _array: Array = np.empty) -> Work:
        """About what a meeting takes."""
        total = meeting.entries.rows.size
        docs = np.linspace(0, total - 1, min(total, _SAMPLED)).astype(np.int64)
        half, whole = (self.work(_thinned(meeting, part), _serially) for part in (docs[::2], docs))
        times = self.times * total / max(docs.size, 1)
        return Work(*(_grown(few, more, times) for few, more in zip(half, whole, strict=True)))


def _grown(half: int, whole: int, times: float) -> int:
    """What grows from `half` to `whole` where documents double, of so many times the documents."""
    growth = min(2.0, max(1.0, log2(max(whole, 1) / max(half, 1))))
    return round(float(whole * times**growth))


def _serially(things: Iterable[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
    return map(work, things)


def _thinned(meeting: Meeting, docs: Rows) -> Meeting:
    """The same meeting of fewer documents."""
    entries = meeting.entries
    at, starts = _ranges(entries.doc_starts, docs)
    buckets, places = entries.doc_buckets[at], entries.doc_places[at]
    bucket_starts = np.zeros(entries.bucket_starts.size, np.int64)
    np.cumsum(np.bincount(buckets, minlength=bucket_starts.size - 1), out=bucket_starts[1:])
    firsts = np.arange(0, meeting.offsets.size - 1, max(1, entries.rows.size))  # weights or letters are second lists
    which, offsets = _ranges(meeting.offsets, (firsts[:, None] + docs).ravel())
    thin = Entries(entries.rows[docs], starts, buckets, places, bucket_starts)
    return Meeting.of((*thin, meeting.items[which], offsets))


def _ranges(starts: Rows, docs: Rows) -> tuple[Rows, Rows]:
    """Where all that belongs to some documents stands, and where each one's begins in it."""
    sizes = np.asarray(starts)[docs + 1] - np.asarray(starts)[docs]
    begins = np.zeros(docs.size + 1, np.int64)
    np.cumsum(sizes, out=begins[1:])
    at = np.repeat(np.asarray(starts)[docs] - begins[:-1], sizes) + np.arange(begins[-1])
    return arrow.frozen(at), begins
