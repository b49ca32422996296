"""Running the service: where it may listen, and how it ends.

1. Beyond this machine it listens only with tokens, or when that is what was asked for (--insecure).
2. SIGTERM and SIGINT end it gracefully: nothing new is accepted, what was accepted is written and answered. That has a
   time; when it is over the process ends, whatever it is doing: the system's own alarm needs nothing of Python.
3. SIGHUP reads the token file again; one that cannot be read changes nothing. It never ends the service, also not while
   that begins or ends.
4. A signal breaks into whatever Python does, in the midst of a line of the log: what it is about is done by the loop.
"""

import asyncio
import contextlib
import os
import resource
import signal
import socket
from collections.abc import Callable, Generator
from functools import partial
from ipaddress import ip_address
from typing import Any

from uvicorn import Config, Server

from nearsame.errors import ConfigError, NearSameError, OutputError
from nearsame.service import lookups
from nearsame.service.access import Access
from nearsame.service.app import create
from nearsame.service.connections import Connections
from nearsame.service.logs import Log
from nearsame.service.service import Service
from nearsame.service.settings import Settings
from nearsame.service.tokens import Tokens, is_open_to_others

__all__ = ["configured", "serve"]

_GRACE = 5  # seconds for answers, and as many for the writer and the readers, when the timeout is over
_FILES = 4096  # that may be open, where the system allows so many: each connection is one


def serve(
    opener: Callable[..., Any], name: str, settings: Settings, *, say: Callable[[str], None], log: Log | None = None
) -> None:
    """Serve an index until a signal comes.

    Args:
        opener: Opens it, given `read_only`.
        name: What the index is called, for people.
        settings: Where, and the bounds.
        say: Is given the address as soon as requests are answered there.
        log: Where events go; default standard error.

    Raises:
        NearSameError: It would listen beyond this machine without tokens, or the address, the tokens or the index
            cannot be used.
    """
    log = log or Log(requests=settings.request_log)
    log.adopt("uvicorn.error", "asyncio", "psycopg")
    with _calm() as hangups, contextlib.closing(_listener(settings)) as listener:
        access = _access(settings, log)
        service = Service.around(name, opener, settings, access, log)
        _allow_files()
        try:
            service.start()
            with contextlib.closing(opener(read_only=True)) as index:
                lookups.warm_up(index)
            started, reload = partial(_announce, listener, service, say), partial(_reload, access, log)
            _Server(configured(service), started, reload, service.expect_end, hangups).run([listener])
            log.event("stopping", waiting="what was accepted is written and answered")
        finally:
            is_done = service.close(_GRACE)
        if not is_done:
            message = "something took too long: a change that was not answered may not have been written"
            log.event("stopped", level="error", message=message)
            os._exit(1)
        log.event("stopped")


def configured(service: Service) -> Config:
    """How the application is run."""
    settings = service.settings
    return Config(
        create(service),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        root_path=settings.root_path,
        http=Connections(settings.connections, settings.timeout, service.metrics),  # type: ignore[arg-type]
        timeout_graceful_shutdown=int(settings.timeout) + _GRACE,
        timeout_keep_alive=15,
    )


class _Server(Server):
    """Uvicorn's server, whose end on a signal is not a failure."""

    def __init__(
        self,
        config: Config,
        started: Callable[[], None],
        reload: Callable[[], None],
        ending: Callable[[], None],
        hangups: list[int],
    ) -> None:
        super().__init__(config)
        self._tell = started
        self._reload = reload
        self._ending = ending
        self._hangups = hangups

    def handle_exit(self, sig: int, frame: Any) -> None:
        """A signal came: the end, in time."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, int(self.config.timeout_graceful_shutdown or 0) + 2 * _GRACE)
        self._loop.call_soon_threadsafe(self._ending)
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so."""
        await super().startup(sockets)
        self._tell()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Take the signals while it runs; not raised again at the end, for a graceful end is exit code 0."""
        self._loop = asyncio.get_running_loop()
        handlers: dict[signal.Signals, Callable[[int, Any], Any]] = {
            signal.SIGTERM: self.handle_exit,
            signal.SIGINT: self.handle_exit,
            # not by the loop's own way to take a signal, which leaves it without any handler for a moment at the end
            signal.SIGHUP: lambda *_: self._loop.call_soon_threadsafe(self._reload),
        }
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        if self._hangups:  # since the tokens were read, perhaps
            self._loop.call_soon(self._reload)
        try:
            yield
        finally:
            if self.should_exit:  # what was accepted is being written, and the alarm is set
                before[signal.SIGTERM] = signal.SIG_IGN
            for number, handler in before.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def _calm() -> Generator[list[int], None, None]:
    """SIGHUP ends nothing; those that came before somebody else took them.

    Behind a graceful end the signals that ask for it are ignored for good: the process is done, and another one would
    make a failure of it, for Python takes away its own handlers before it ends, and leaves only what is ignored.
    """
    came: list[int] = []
    after = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)}
    signal.signal(signal.SIGHUP, lambda number, _: came.append(number))
    try:
        yield came
        after = dict.fromkeys(after, signal.SIG_IGN)
    finally:
        for number, handler in after.items():
            signal.signal(number, handler)


def _allow_files() -> None:
    """Let so many files be open as connections and the index need."""
    with contextlib.suppress(OSError, ValueError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < _FILES:
            most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _access(settings: Settings, log: Log) -> Access:
    path = settings.token_file
    if path is None:
        return Access(None)
    access = Access(lambda: Tokens.read(path))
    if is_open_to_others(path):
        log.event("token-file", level="warning", message="others on this machine can read it: chmod 600")
    return access


def _reload(access: Access, log: Log) -> None:
    try:
        number = access.reload()
    except NearSameError as error:
        log.event("tokens", level="error", message=error.message, kept="the tokens read before stay valid")
    else:
        log.event("tokens", number=number)


def _announce(listener: socket.socket, service: Service, say: Callable[[str], None]) -> None:
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}{service.settings.root_path}"
    service.log.event("started", address=address, read_only=service.settings.read_only, tokens=service.access.asks)
    say(address)


def _listener(settings: Settings) -> socket.socket:
    """A socket at the address, if it may listen there."""
    try:
        addresses = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        message = f"--host {settings.host}: {error.strerror or error}"
        raise ConfigError(message, hint="Name an address of this machine, such as 127.0.0.1 or ::1.") from error
    family, _, _, _, address = addresses[0]
    if not ip_address(str(address[0]).partition("%")[0]).is_loopback:
        _require_secured(settings)
    # TCP by name: asyncio spares such sockets the 40 ms that an answer in two parts waits for
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        where = f"{settings.host}, port {settings.port}"
        hint = "Choose another --port, or 0 for one that is free."
        raise OutputError(f"cannot listen at {where}: {error.strerror}", hint=hint) from error
    return listener


def _require_secured(settings: Settings) -> None:
    if settings.token_file is None and not settings.insecure:
        message = f"--host {settings.host} can be reached from other machines, and there are no tokens"
        raise ConfigError(message, hint="Name a --token-file; or say --insecure if everybody may read and write.")
