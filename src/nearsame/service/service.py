"""What requests are answered with: the parts of the service around one index.

Whoever runs the application starts it before, and closes it when the last request has been answered.
"""

import time
from collections.abc import Callable
from dataclasses import field
from functools import partial
from threading import Event
from typing import Any

from fastapi import Request

from nearsame.dataclass import dataclass
from nearsame.service.access import Access
from nearsame.service.changes import Removing
from nearsame.service.decisions import PageDecisions
from nearsame.service.limits import seconds_left
from nearsame.service.logs import Log
from nearsame.service.lookups import Later, unknown
from nearsame.service.metrics import Metrics
from nearsame.service.problems import HttpProblem
from nearsame.service.readers import Readers
from nearsame.service.receiving import Receiver
from nearsame.service.settings import Settings
from nearsame.service.workers import WorkerProcesses
from nearsame.service.writer import GroupWriter

__all__ = ["Service"]


@dataclass(frozen=True)
class Service:
    """What requests are answered with.

    Attributes:
        name: of the index, for people.
        settings: the bounds.
        access: who may.
        log: where events go.
        metrics: what is counted.
        readers: who answers questions.
        health: the same for nothing but whether the index can be read, so that it waits for no question.
        workers: who does what takes long by itself.
        receiver: who reads bodies.
        writer: who makes changes; None: nobody may.
        decisions: what people decide about pairs; None: there is no place for it.
    """

    name: str
    settings: Settings
    access: Access
    log: Log
    metrics: Metrics
    readers: Readers
    health: Readers
    workers: WorkerProcesses
    receiver: Receiver
    writer: GroupWriter | None
    decisions: PageDecisions | None = None
    _ends: Event = field(default_factory=Event)

    @classmethod
    def around(cls, name: str, opener: Callable[..., Any], settings: Settings, access: Access, log: Log) -> "Service":
        """The parts; `opener(read_only=...)` opens the index."""
        metrics = Metrics()
        reading, waiting = partial(opener, read_only=True), settings.queue
        readers = Readers(reading, metrics, threads=settings.readers, most_waiting=waiting)
        health = Readers(reading, metrics, threads=1, most_waiting=waiting, kind="health")
        writer = None
        if not settings.read_only:
            writer = GroupWriter(
                lambda: opener(read_only=False), metrics, most_waiting=settings.queue, group=settings.group
            )
        workers = WorkerProcesses(settings.readers, settings.queue, metrics)
        receiver = Receiver(settings, workers)
        decisions = None if settings.decisions is None or writer is None else PageDecisions(settings.decisions)
        return cls(name, settings, access, log, metrics, readers, health, workers, receiver, writer, decisions)

    def start(self) -> None:
        """Open the index for the writer, if there is one, and for the readers."""
        if self.decisions is not None:
            self.decisions.start(self.settings.timeout)
        if self.writer is not None:
            self.writer.start()
        self.readers.start()
        self.health.start()

    async def ask(self, request: Request, question: Callable[[Any], Any]) -> Any:
        """The answer to a question about the index; what a reader leaves for a worker is done by one."""
        answer = await self.readers.ask(question, seconds_left(request.scope))
        if isinstance(answer, Later):
            return await self.workers.run(seconds_left(request.scope), answer.task, *answer.given)
        return answer

    def require_writer(self) -> GroupWriter:
        """Who makes changes.

        Raises:
            HttpProblem: Nobody may.
        """
        if self.writer is None:
            raise HttpProblem(403, "read-only", "the service only reads", hint="Start it without --read-only.")
        return self.writer

    async def remove(self, request: Request, id: str) -> None:
        """Take a document out of the index.

        Raises:
            HttpProblem: It is not there, or nobody may change anything.
        """
        if not await self.require_writer().submit(Removing(id), seconds_left(request.scope)):
            raise unknown()
        self.metrics.documents.labels("removed").inc()

    def require_going_on(self, request: Request, scope: str) -> None:
        """Refuse to go on with a stream: its token is no more, or the service ends.

        Raises:
            HttpProblem: It is so.
        """
        self.access.require(request, scope)
        if self._ends.is_set():
            raise HttpProblem(503, "stopping", "the service ends", hint="Send the rest when it is there again.")

    def expect_end(self) -> None:
        """The service ends soon, whatever is under way then."""
        self._ends.set()
        if self.writer is not None:
            self.writer.ends = True

    def close(self, seconds: float) -> bool:
        """Write and answer what was accepted, and let go of the index, within this time; whether all of it was done."""
        deadline = time.monotonic() + seconds
        self.workers.close()
        if self.writer is not None:
            self.writer.finish(seconds)
        parts = [part for part in (self.readers, self.health, self.writer) if part is not None]
        closed = [part.close(max(0.0, deadline - time.monotonic())) for part in parts]
        return all(closed)
