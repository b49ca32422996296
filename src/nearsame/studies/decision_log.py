"""A file of decisions that is only ever added to: none is lost, none is changed, whoever else writes to it.

1. Each line is on disk before the next decision is asked for. Taking one back is a line, too: the last one about a pair
   counts.
2. Writers take turns by a lock on the file. Each first takes away what one that was stopped has left of a line, and
   reads what others have added; a line that could not be written whole is not there. Who must not wait for long for
   another one's turn to end says for how long.
3. What a report has saved is gone on with, too: there a pair keeps its weight, and a new one stands for itself.
"""

import contextlib
import fcntl
import getpass
import os
import re
import time
from collections.abc import Iterator
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path

from nearsame.answers.doubts import Undecided
from nearsame.dataclass import dataclass
from nearsame.errors import NearSameError, OutputError, SourceError, StoreBusyError
from nearsame.files.inputs import Inputs
from nearsame.outputs.folder import require_place
from nearsame.printable import fits_a_line
from nearsame.sources.judged import DECISION_COLUMNS, WEIGHED_COLUMNS, JudgedPair, read_judgements

__all__ = ["DecisionLog", "unfit"]

_HEADER = "\t".join(DECISION_COLUMNS)
_AGAIN = 0.05  # seconds, after which one who does not wait for long tries to get the lock again
_UNFIT = re.compile("[\t\n\r]")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _who() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # a user without a name
        return ""


def _fit(text: str) -> str:
    """A text as a line holds it."""
    return _UNFIT.sub(" ", text).strip().encode("utf-8", "replace").decode()


@dataclass
class DecisionLog:
    """A file of decisions.

    Attributes:
        path: where it is.
        known: the last word on each pair, as of the last look at the file.
        who: decides.
        seconds: until waiting for other writers is given up; None: never.
    """

    path: Path
    known: dict[tuple[str, str], JudgedPair] = field(default_factory=dict)
    who: str = field(default_factory=_who)
    seconds: float | None = None
    _is_weighed: bool = False
    _undo: list[tuple[JudgedPair, JudgedPair | None]] = field(default_factory=list)
    _seen: tuple[int, int] | None = None  # which file was looked at, and how long it was

    @classmethod
    def open(cls, path: str | os.PathLike[str], inputs: Inputs, *, seconds: float | None = None) -> "DecisionLog":
        """Begin a file, or go on with one.

        Raises:
            OutputError: It cannot be written, or is a file that the run has read.
            SourceError: It is a file of another form.
            StoreBusyError: Another writer has not ended its turn in time.
        """
        log = cls(Path(path), seconds=seconds)
        is_new = not os.path.lexists(path)
        if is_new:
            require_place(path, inputs, folder=False, overwrite=False)
        log.look(os.O_CREAT if is_new else 0)
        if is_new:
            _sync_folder(log.path)
        return log

    def look(self, flags: int = 0) -> None:
        """Read what others have added since.

        Raises:
            OutputError: It cannot be opened.
            SourceError: It is a file of another form by now.
        """
        with self._turn(flags, "what was decided could not be read"):
            pass

    def decide(
        self, doubt: Undecided, label: str, *, keep: str = "", note: str | None = None, who: str | None = None
    ) -> None:
        """Write a decision, of `who` else decides; without a `note` of its own it has the one from before."""
        with self._turn() as file:
            before = self.about(doubt)
            said = (before.note if before else "") if note is None else _fit(note)
            by = self.who if who is None else who
            one = self._write(file, JudgedPair(0, doubt.goes.id, doubt.stays.id, label, None, keep, said, by))
        self._undo.append((one, before))

    def about(self, doubt: Undecided) -> JudgedPair | None:
        """What was decided about a pair, if anything was."""
        return self.known.get(JudgedPair(0, doubt.goes.id, doubt.stays.id).pair)

    def undo(self) -> tuple[str, str] | None:
        """Take back the last decision that was made here: the pair that it was about.

        What somebody else has decided about it since stays.
        """
        if not self._undo:
            return None
        with self._turn() as file:
            one, before = self._undo[-1]
            if self.known.get(one.pair) == _word(one):
                self._write(file, (before or one._replace(label="", keep="", note=""))._replace(who=self.who))
        self._undo.pop()
        return one.pair

    def _write(self, file: int, one: JudgedPair) -> JudgedPair:
        """Add a decision: as it stands in the file."""
        known = self.known.get(one.pair)
        weight = ((known.weight if known else None) or "1") if self._is_weighed else None
        one = one._replace(line=0, label=one.label or "", weight=weight, who=_fit(one.who), when=_now())
        self._append(file, "\t".join((one.a, one.b, one.label or "", *one[5:], *([weight] if weight else ()))))
        self._know(one)
        return one

    def _know(self, one: JudgedPair) -> None:
        self.known.pop(one.pair, None)
        if word := _word(one):
            self.known[one.pair] = word

    def _append(self, file: int, line: str) -> None:
        data, size = f"{line}\n".encode(), os.fstat(file).st_size
        try:
            _write_whole(file, data)
        except OSError:
            with contextlib.suppress(OSError):  # or the next one takes it away
                os.ftruncate(file, size)
            raise
        self._seen = (os.fstat(file).st_ino, size + len(data))

    @contextlib.contextmanager
    def _turn(self, flags: int = 0, problem: str = "the last decision could not be written") -> Iterator[int]:
        """The file, while nobody else writes to it, whole and read to its end."""
        try:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | flags, 0o666)
            try:
                self._lock(file)
                self._look(file)
                yield file
            finally:
                os.close(file)
        except NearSameError:
            raise
        except OSError as error:
            message = f"{self.path}: {problem}: {error.strerror or error}"
            raise OutputError(message, hint="All before it are in the file; mend that, and go on.") from error

    def _lock(self, file: int) -> None:
        """Wait for other writers; some network file systems have no locks."""
        if self.seconds is None:
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
            return
        deadline = time.monotonic() + self.seconds
        while not _try_to_lock(file):
            if time.monotonic() >= deadline:
                message = f"another process is writing to {self.path}; gave up after {self.seconds:.3g} s"
                raise StoreBusyError(message, hint="Try again when it is done.")
            time.sleep(_AGAIN)

    def _look(self, file: int) -> None:
        """Take away what was left of a line, see that the rest is ours, and read what is new."""
        found = os.fstat(file)
        if self._seen == (found.st_ino, found.st_size):
            return
        data = self.path.read_bytes()
        first = data.partition(b"\n")[0].decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r").split("\t")
        end = data.rfind(b"\n") + 1
        self._is_weighed = bool(end) and tuple(first) == WEIGHED_COLUMNS
        is_ours = self._is_weighed or tuple(first) == DECISION_COLUMNS
        if data and not is_ours and (end or not _HEADER.startswith("\t".join(first))):
            message = f"{self.path} has other columns than {', '.join(DECISION_COLUMNS)}"
            hint = "Name another file with --decisions; dedup takes several."
            raise SourceError(message, hint=hint)
        if end < len(data):
            os.ftruncate(file, end)
        if not end:
            self._append(file, _HEADER)
        self.known = {one.pair: word for one in read_judgements(os.fspath(self.path)) if (word := _word(one))}
        self._seen = (found.st_ino, os.fstat(file).st_size)


def _try_to_lock(file: int) -> bool:
    """Whether nobody else has the lock, who would then have to wait."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _write_whole(file: int, data: bytes) -> None:
    if os.write(file, data) < len(data):
        raise OSError("the disk is full")
    os.fsync(file)


def _word(one: JudgedPair) -> JudgedPair | None:
    """A decision wherever it stands; nothing where it was taken back."""
    return one._replace(line=0, label=one.label or "") if one.label or one.keep or one.note else None


def _sync_folder(path: Path) -> None:
    """See that the name of a new file is on disk, too."""
    folder = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def unfit(doubt: Undecided) -> str:
    """Why a decision about a pair could not be read again; nothing where it can."""
    for name in (doubt.goes.id, doubt.stays.id):
        if not fits_a_line(name):
            return "an id with a tab, a line break or a blank at an end cannot stand in a file of decisions"
        if name != _fit(name):
            return "an id that is not Unicode cannot stand in a file of decisions"
    if doubt.goes.id == doubt.stays.id:
        return "both have the same id, so nobody could tell which is meant"
    return ""
