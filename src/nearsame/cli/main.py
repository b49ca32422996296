"""The command line: its commands, and what becomes of their errors.

1. An error is one line and a hint on standard error, never a traceback unless --debug is given.
2. Exit codes stand in one table, here.
3. Nothing that computes is imported before a command runs, and no command before it is asked for.
4. In a process of ours pyarrow, which imports pandas to make an array of any kind, does without: nobody hands us a
   data frame there. Only Spark has a use for it.
5. There, too, NumPy starts no threads for linear algebra, of which we have none: they wait for it busily, which was a
   fifth of a small run.
"""

import gc
import importlib
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

import click

from nearsame._version import __version__
from nearsame.cli import options
from nearsame.errors import NearSameError, SourceError
from nearsame.kernels.waiting import telling
from nearsame.printable import printable

__all__ = ["DONE", "INTERRUPTED", "UNREADABLE", "USER_ERROR", "commands", "main"]

DONE = 0
USER_ERROR = 2
UNREADABLE = 3
INTERRUPTED = 128 + signal.SIGINT
_BROKEN_PIPE = 128 + signal.SIGPIPE
_ROOM = 40_000  # values of a frame: CPython gives it half a megabyte, and three eighths of that are left
_DEFECT = 70  # what sysexits.h calls an internal software error

# In the order in which one meets them; each is the function of that name in the module of that name.
_NAMES = (
    "demo",
    "dedup",
    "pairs",
    "plan",
    "compare",
    "explain",
    "codes",
    "evaluate",
    "leaks",
    "urls",
    "mirrors",
    "report",
    "review",
    "verify",
    "rerun",
    "apply",
    "restore",
    "index",
    "serve",
)

_EPILOG = """Exit codes: 0 done; 1 compare says that they are not near-duplicates, or verify or index check
that something is wrong; 2 the request cannot be met as it is; 3 some input could not be read, whether the rest was done
without it or not; 4 what was measured is not what --require-recall, --max-residual or --max-leaked asks for."""


class _Commands(options.Commands):
    """A group that turns every error into a line, a hint and an exit code."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command line, say what went wrong, and leave the process with its exit code."""
        given = args[0] if args else extra.pop("args", None)
        given = sys.argv[1:] if given is None else list(given)
        extra = {"prog_name": "nearsame", **extra, "standalone_mode": False}
        try:
            status = super().main(given, *args[1:], **extra)
        except BaseException as error:  # noqa: BLE001  (this is where all of them end)
            if "--debug" in given:
                error.__suppress_context__ = False  # what Spark said, too
                click.echo(printable(traceback.format_exc(), lines=True), err=True)
            status, message, hint = _verdict(error)
            _say(message, hint)
        gc.freeze()  # the interpreter collects once more at its end: a fifth of a second over tables and kernels
        sys.exit(status or DONE)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader of our output that has gone is not an error."""
        try:
            with telling(lambda line: click.echo(line, err=True)):
                return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python's last flush complains
            raise click.exceptions.Exit(_BROKEN_PIPE) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which one meets them."""
        del ctx
        return list(_NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, which is imported now."""
        if cmd_name in _NAMES and cmd_name not in self.commands:
            self.add_command(getattr(importlib.import_module(f"nearsame.cli.{cmd_name}"), cmd_name))
        return super().get_command(ctx, cmd_name)


def _verdict(error: BaseException) -> tuple[int, str, str]:
    """The exit code of an error, and what is to be said."""
    status, message, hint = USER_ERROR, "", ""
    match error:
        case SystemExit():
            status = error.code if isinstance(error.code, int) else USER_ERROR
        case click.exceptions.Exit():
            status = error.exit_code
        case click.Abort() | KeyboardInterrupt():
            status = INTERRUPTED
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.ctx.get_help())
            status = DONE
        case click.UsageError():
            message, hint = error.format_message(), f"See {error.ctx.command_path if error.ctx else 'nearsame'} --help."
        case NearSameError():
            status = UNREADABLE if _is_unreadable(error) else USER_ERROR
            message, hint = error.message, error.hint
        case MemoryError():
            message, hint = "out of memory", "Use a machine with more of it, or split the source and use --against."
        case OSError():
            place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
            message = f"{place}{error.strerror or error}"
            hint = "Check that there is room, and permission to read and write; TMPDIR names a temporary folder."
        case _:
            status, message = _DEFECT, f"unexpected {type(error).__name__}: {error}"
            hint = "Run again with --debug, and report what it shows."
    return status, message, hint


def _is_unreadable(error: NearSameError) -> bool:
    return type(error) is SourceError  # a missing column is the user's choice


def _say(message: str, hint: str) -> None:
    if message:
        click.echo(f"error: {printable(' '.join(message.split()))}", err=True)
    if hint:
        click.echo(f"hint: {printable(' '.join(hint.split()))}", err=True)


# What ends a process from outside, where there is such a thing: a terminal that closes, a bound on its time.
_ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGXCPU") if hasattr(signal, name)]


def _terminate(number: int, _: Any) -> None:
    """End as after Ctrl-C: what is half written is taken away."""
    sys.exit(128 + number)


class _WithoutPandas:
    """What says that pandas is not installed, until Spark asks for it."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        """Nothing is found here; what is not to be found at all is refused."""
        del path, target
        if name == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError(f"no module named {name!r} is needed here", name=name)


@click.group(cls=_Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="nearsame %(version)s")
def commands() -> None:
    """Find the documents that are the same, and nearly the same.

    \b
      nearsame demo                          see it work on a sample corpus
      nearsame dedup crawl/ -o clean/        one copy of each document
      nearsame pairs crawl/ -o pairs.csv     who resembles whom
      nearsame plan --threshold 0.7          what a setting finds and misses
      nearsame compare a.txt b.txt           two texts by every measure
      nearsame explain "some text" "another" a method step by step
      nearsame evaluate crawl/ --sample 2000 how methods do on your texts
      nearsame leaks crawl/ --eval tests/    which test items are in training data
      nearsame urls urls.txt                 which URLs name one page
      nearsame mirrors crawl/                which sites serve the same pages
      nearsame report clean/ -o page.html    a run to be looked at
      nearsame verify clean/                 an output proved again, by other code
      nearsame apply mask/ -o clean/         the copies that --mask left out
      nearsame restore clean/kept/ -o all/   what --revisits took, given back
      nearsame index create seen.ns          an index that stays, and grows
      nearsame serve seen.ns                 an index over HTTP, with pages
    """  # noqa: D301  (click wants a real backspace before lines that are not to be wrapped)


def _open_closed() -> None:
    """Put nothing where a standard stream was closed: else the next file that is opened would take its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8", errors="backslashreplace")  # noqa: PTH123, SIM115  (for good)
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


class _Heard(io.FileIO):
    """Where people are told how it goes: what cannot be written there, as a disk is full, is nobody's error."""

    def write(self, data: Any) -> int:
        """Write what can be."""
        try:
            return super().write(data) or len(data)
        except OSError:
            return len(data)


def _tell_if_possible() -> None:
    """Let standard error be without failures: an exit code says how a run ended, and not how its log did."""
    told = sys.stderr
    try:
        raw = _Heard(told.fileno(), "w", closefd=False)
    except (OSError, ValueError):
        return  # it is no file
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=told.encoding, errors=told.errors, line_buffering=True
    )


def main() -> NoReturn:
    """What the `nearsame` command runs."""
    _open_closed()
    _tell_if_possible()
    for ending in _ENDINGS:
        if signal.getsignal(ending) == signal.SIG_DFL:  # by nohup one is ignored
            signal.signal(ending, _terminate)
    sys.meta_path.insert(0, _WithoutPandas())
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # is read when NumPy is imported
    gc.set_threshold(200_000)  # imports leave objects, not garbage: looking for it took a tenth of a small run
    _with_room(commands.main)()


def _with_room(function: Callable[[], NoReturn]) -> Callable[[], NoReturn]:
    """The same, by a frame behind which there is room for those of all calls.

    CPython takes memory for frames by 16 KB, and gives a piece back as soon as it is empty: where the calls of imports
    come to stand at the end of one, that was done nine hundred times in a small run.
    """

    def called() -> NoReturn:
        function()

    return FunctionType(called.__code__.replace(co_stacksize=_ROOM), globals(), closure=called.__closure__)
