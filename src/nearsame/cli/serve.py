"""`nearsame serve`: an index as an HTTP service with pages to look at it."""

import re
from importlib.util import find_spec
from typing import Any

import click

from nearsame.cli import options
from nearsame.cli.options import spec
from nearsame.errors import ConfigError, MissingExtraError
from nearsame.printable import printable

__all__ = ["serve"]

_PACKAGES = ("fastapi", "jinja2", "prometheus_client", "python_multipart", "uvicorn")
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}

_DAY = 86_400  # seconds
_MOST_BYTES = 10**18
_DIGITS = 50  # Python makes no number of thousands


class _Bytes(click.ParamType[int]):
    """A size, as 10MB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes that a size such as 10MB or 1GiB stands for: at least one."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?I?B?)", str(value).strip().upper())
        size = float(match[1]) * _UNITS.get(match[2], 0) if match else 0
        if not size >= 1:
            self.fail(f"{value!r} is not a size: write 10MB", param, ctx)
        if size > _MOST_BYTES:
            self.fail(f"{value!r} is more than {_MOST_BYTES} bytes", param, ctx)
        return int(size)


class _Seconds(click.ParamType[float]):
    """A time, as 30s."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds that a time such as 30s, 500ms or 2min stands for: more than none, and at most a day."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min)?", str(value).strip().lower())
        seconds = float(match[1]) * {"ms": 0.001, "m": 60, "min": 60}.get(match[2], 1) if match else 0
        if not seconds:
            self.fail(f"{value!r} is not a time: write it as in 30s", param, ctx)
        if seconds > _DAY:
            self.fail(f"{value!r} is more than a day, {_DAY}s", param, ctx)
        return seconds


class _Count(click.ParamType[int]):
    """A whole number, at least and at most so large; the help of a range of click's would say so twice."""

    name = "count"

    def __init__(self, least: int = 1, most: int = 10**12) -> None:
        self._least = least
        self._most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The whole number that is written, if it is within the bounds."""
        given = str(value).strip().replace("_", "")
        if not given.isdecimal() or len(given) > _DIGITS or not self._least <= int(given) <= self._most:
            most = f" and at most {self._most}" if self._most < 10**12 else ""
            self.fail(f"{value!r} is not a whole number of at least {self._least}{most}", param, ctx)
        return int(given)


_COUNT = _Count()
_LOCK_SECONDS = 30.0  # for another process that writes to the index
# Likewise; the writer asks again and again, for as long as its clients wait. In a server's queue it loses its place so.
_TURN_SECONDS, _SERVER_SECONDS = 1.0, 10.0
_listening = options.section(
    "Listening",
    spec("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen at.", stands="127.0.0.1"),
    spec(
        "--port",
        type=_Count(0, 65535),
        default=8800,
        metavar="N",
        help="Port to listen at; 0: any free one.",
        stands="8800",
    ),
    spec(
        "--root-path", default="", metavar="PATH", help="Path at which a proxy shows it, as in /nearsame.", stands="/"
    ),
    spec(
        "--token-file",
        metavar="FILE",
        reads=True,
        help="Access tokens: lines `read TOKEN` or `write TOKEN`. SIGHUP reads it again.",
        stands="no tokens: anyone who can reach the port",
    ),
    spec(
        "--insecure",
        is_flag=True,
        help="Listen beyond this machine even without tokens.",
        stands="refused",
    ),
    spec(
        "--allow-host",
        "allowed_hosts",
        multiple=True,
        metavar="NAME",
        help="Without tokens: a Host header to accept besides this machine's own. Repeatable.",
        stands="none",
    ),
    spec("--read-only", is_flag=True, help="Refuse what would change the index.", stands="read and write"),
    spec(
        "--decisions",
        metavar="FILE",
        writes=options.APART,
        help="Where what people decide on the pages is added, for `dedup --decisions`.",
        stands="INDEX.decisions.tsv",
    ),
)
_bounds = options.section(
    "Limits",
    spec("--max-body", type=_Bytes(), default="10MB", metavar="SIZE", help="Size of a request.", stands="10MB"),
    spec("--max-batch", type=_COUNT, default=1000, metavar="N", help="Documents in a request.", stands="1000"),
    spec("--max-text", type=_COUNT, default=5_000_000, metavar="N", help="Characters in a text.", stands="5000000"),
    spec(
        "--timeout",
        type=_Seconds(),
        default="30s",
        metavar="TIME",
        help="From a request's start to its answer; a day at most.",
        stands="30s",
    ),
    spec(
        "--queue",
        type=_COUNT,
        default=1000,
        metavar="N",
        help="Changes that wait, and questions that wait; more get 429.",
        stands="1000",
    ),
    spec(
        "--memory",
        type=_Bytes(),
        default="200MB",
        metavar="SIZE",
        help="Bytes of requests held at once; more get 429.",
        stands="200MB",
    ),
    spec(
        "--group",
        type=_COUNT,
        default=1000,
        metavar="N",
        help="Documents written together, of several requests.",
        stands="1000",
    ),
    spec(
        "--readers",
        type=_COUNT,
        default=2,
        metavar="N",
        help="Threads that answer questions, and processes for pages and long texts.",
        stands="2 of each",
    ),
    spec(
        "--connections",
        type=_COUNT,
        default=1000,
        metavar="N",
        help="Open at once; half for one address.",
        stands="1000",
    ),
)
_logging = options.output(
    spec("--no-request-log", is_flag=True, help="Do not log requests.", stands="one JSON line each"),
)


@click.command(cls=options.Command, short_help="Serve an index over HTTP, with pages to look at it.")
@click.argument("index", cls=options.Argument, metavar="INDEX", reads=True)
@_listening
@_bounds
@_logging
@options.running_plainly
def serve(index: str, *, no_request_log: bool, decisions: str | None, **given: Any) -> None:
    """Serve an index over HTTP: JSON for programs, and pages to look at it.

    INDEX is what `nearsame index create` made: a file, or postgresql://... Ctrl-C or SIGTERM ends the service; what
    was accepted is written first. Defaults stand in brackets.
    """
    _require_packages()
    from nearsame.files.inputs import is_address
    from nearsame.index.index import Index
    from nearsame.service import server
    from nearsame.service.settings import Settings

    settings = Settings(**given, decisions=_decisions(index, decisions, given), request_log=not no_request_log)

    def opened(*, read_only: bool) -> Index:
        most = _LOCK_SECONDS if read_only else _SERVER_SECONDS if is_address(index) else _TURN_SECONDS
        return Index.open(index, read_only=read_only, timeout_seconds=min(most, settings.timeout))

    name = _called(index)
    server.serve(opened, name, settings, say=lambda address: click.echo(printable(f"{name}: {address}")))


def _require_packages() -> None:
    """Make sure that what the service is made with is installed.

    Raises:
        MissingExtraError: It is not.
    """
    missing = next((name for name in _PACKAGES if find_spec(name) is None), None)
    if missing is not None:
        message = f"the service needs a package that is not installed: {missing}"
        raise MissingExtraError.of(message, "serve")


def _decisions(index: str, named: str | None, given: dict[str, Any]) -> str | None:
    """The file for decisions: beside an index that is a file and may be written to."""
    from nearsame.files.inputs import is_address

    if named is not None and given["read_only"]:
        raise ConfigError("--decisions does nothing with --read-only", hint="Leave one of the two out.")
    if named is not None or given["read_only"] or is_address(index):
        return named
    return f"{index}.decisions.tsv"


def _called(index: str) -> str:
    """What an index is called where others read it: no folders of ours, no password."""
    from urllib.parse import urlsplit

    place = urlsplit(index)
    if place.scheme in {"postgresql", "postgres"}:
        return f"{place.hostname or 'localhost'}{place.path}"
    return index.rstrip("/").rpartition("/")[2]
