"""Running the service: where it may listen, and how it ends.

1. Beyond this machine it listens only with tokens, or when told that it is meant (--insecure).
2. SIGTERM and SIGINT end it gracefully: nothing new is accepted, what was accepted is written and answered.
3. SIGHUP reads the token file again; one that cannot be read changes nothing.
"""

import contextlib
import signal
import socket
from collections.abc import Callable, Generator
from ipaddress import ip_address
from typing import Any

from uvicorn import Config, Server

from nearsame.errors import ConfigError, NearSameError, OutputError
from nearsame.service import lookups
from nearsame.service.access import Access
from nearsame.service.app import Service, create
from nearsame.service.logs import Log
from nearsame.service.settings import Settings
from nearsame.service.tokens import Tokens, is_open_to_others

__all__ = ["configured", "serve"]

_CONNECTIONS = 1000


def serve(
    opener: Callable[..., Any], name: str, settings: Settings, *, say: Callable[[str], None], log: Log | None = None
) -> None:
    """Serve an index until a signal comes.

    Args:
        opener: Opens it, given `read_only`.
        name: What the index is called, for people.
        settings: Where, and the bounds.
        say: Is told the address as soon as requests are answered there.
        log: Where events go; default standard error.

    Raises:
        NearSameError: It would listen beyond this machine without tokens, or the address, the tokens or the index
            cannot be used.
    """
    log = log or Log(requests=settings.request_log)
    log.adopt("uvicorn.error", "asyncio")
    access = _access(settings, log)
    service = Service.around(name, opener, settings, access, log)
    with contextlib.closing(_listener(settings)) as listener, contextlib.closing(service):
        service.start()
        with contextlib.closing(opener(read_only=True)) as index:
            lookups.warm_up(index)
        server = _Server(configured(service), lambda: _announce(listener, service, say), lambda: _reload(access, log))
        server.run([listener])
        log.event("stopping", waiting="what was accepted is written and answered")
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
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=int(settings.timeout) + 5,
        timeout_keep_alive=15,
    )


class _Server(Server):
    """Uvicorn's server, whose end on a signal is no failure."""

    def __init__(self, config: Config, started: Callable[[], None], reload: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = started
        self._reload = reload

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so."""
        await super().startup(sockets)
        self._tell()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Take the signals while it runs; not raised again at the end, for a graceful end is exit code 0."""
        handlers = {
            signal.SIGTERM: self.handle_exit,
            signal.SIGINT: self.handle_exit,
            signal.SIGHUP: lambda _number, _frame: self._reload(),
        }
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


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
        log.event("tokens", level="error", message=error.message, kept="the tokens of before are valid")
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
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        message = f"--host {settings.host}: {error.strerror or error}"
        raise ConfigError(message, hint="Name an address of this machine, as 127.0.0.1 or ::1.") from error
    family, _, _, _, address = found[0]
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
