"""A service on a real port, in a thread of the test's own process."""

import io
import json
import socket
import threading
from contextlib import contextmanager

import httpx
from uvicorn import Server

from nearsame.service.access import Access
from nearsame.service.logs import Log
from nearsame.service.server import configured
from nearsame.service.service import Service
from nearsame.service.settings import Settings
from nearsame.service.tokens import Tokens
from tests.patience import PATIENCE, eventually


class Running:
    """What a test may ask of a running service."""

    def __init__(self, service, url, log):
        self.service = service
        self.url = url
        self.log = log
        self.client = httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False)

    def events(self, name=None, least=0):
        """The lines of the log, as soon as there are so many: some are written when the answer has left."""

        def found():
            lines = [json.loads(line) for line in self.log.getvalue().splitlines()]
            return [each for each in lines if name is None or each["event"] == name]

        eventually(lambda: len(found()) >= least)
        return found()

    def metric(self, name, **labels):
        """A value that Prometheus would see."""
        return self.service.metrics.registry.get_sample_value(name, labels)


@contextmanager
def running(opener, *, token_file=None, host="127.0.0.1", **settings):
    """Serve what `opener` opens."""
    log = io.StringIO()
    chosen = Settings(token_file=str(token_file) if token_file else None, **settings)
    access = Access((lambda: Tokens.read(str(token_file))) if token_file else None)
    service = Service.around("test.ns", opener, chosen, access, Log(log))
    service.start()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, 0), family=family)
    port = listener.getsockname()[1]
    server = Server(configured(service))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    seen = Running(service, f"http://{f'[{host}]' if ':' in host else host}:{port}", log)
    try:
        yield seen
    finally:
        seen.client.close()
        server.should_exit = True
        thread.join()
        service.close(30)
        listener.close()
