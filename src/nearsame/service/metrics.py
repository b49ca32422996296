"""What is counted, in the words of Prometheus.

1. A service has a registry of its own: two in one process don't mix.
2. Labels are routes and codes, never ids or anything else that a client chooses.
"""

from collections.abc import Callable
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from nearsame._version import __version__

__all__ = ["MEDIA_TYPE", "Metrics"]

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_DOCUMENTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        here = self.registry
        self.requests = Counter("nearsame_requests", "Requests answered.", ("method", "route", "status"), registry=here)
        self.seconds = Histogram(
            "nearsame_request_seconds", "From a request to its answer.", ("route",), buckets=_SECONDS, registry=here
        )
        self.refused = Counter(
            "nearsame_refused", "Requests refused, by the code of the problem.", ("code",), registry=here
        )
        self.documents = Counter(
            "nearsame_documents", "Documents that came, by what became of them.", ("what",), registry=here
        )
        self.transactions = Counter(
            "nearsame_transactions", "Transactions of the writer, by result.", ("result",), registry=here
        )
        self.group = Histogram(
            "nearsame_transaction_documents", "Documents of one transaction.", buckets=_DOCUMENTS, registry=here
        )
        self.commit = Histogram(
            "nearsame_transaction_seconds", "From look-ups to durable.", buckets=_SECONDS, registry=here
        )
        self.held = Gauge("nearsame_request_bytes_held", "Bytes of requests in memory.", registry=here)
        self.waiting = Gauge("nearsame_waiting", "Requests that wait for a thread.", ("kind",), registry=here)
        self.indexed = Gauge("nearsame_indexed_documents", "Documents of the index.", registry=here)
        self.info = Gauge("nearsame_info", "The version.", ("version",), registry=here)
        self.info.labels(__version__).set(1)
        for what in ("added", "known", "removed", "queried"):
            self.documents.labels(what)
        ProcessCollector(registry=self.registry)

    def watch(self, kind: Literal["read", "health", "write", "work"], waiting: Callable[[], int]) -> None:
        """Ask how many wait, whenever somebody looks."""
        self.waiting.labels(kind).set_function(waiting)

    def page(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)
