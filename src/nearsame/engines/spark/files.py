"""The files that a path, a folder or a pattern leads to, in Hadoop's file systems, and what their beginnings say.

1. Of a file no more is opened than what names its columns, or tells whether it is packed as its name says.
2. A name that leads to a file is that file, whatever a pattern would make of the signs in it.
"""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from nearsame.engines.spark.failures import CutOffError, hint_about, innermost, verdict
from nearsame.engines.spark.footers import AT_A_TIME, Footers, HadoopFile, footers
from nearsame.engines.spark.forms import DELIMITERS, OWN_PACKING, READERS, SIGNS, Form, kind_of, name_of
from nearsame.engines.spark.places import as_name, as_pattern
from nearsame.errors import ColumnError, SourceError
from nearsame.files.compressions import COMPRESSIONS, MOST_END, MOST_MAGIC, begins_as, ends_as
from nearsame.files.formats import WHOLE
from nearsame.files.refused import require_no_table

__all__ = ["AS_IT_IS", "HadoopFiles", "is_hidden", "mishaps", "require_apart"]

AS_IT_IS = Footers({}, ())
# How the first row of CSV ends, behind cells in quotes. A header is short, and each byte of it goes through py4j.
_FIRST_ROW = re.compile(rb'(?:[^"\r\n]++|"[^"]*+")*+(\r?\n|\r[^\n])')
_CHUNK_BYTES, _LONGEST_HEADER = 1 << 12, 1 << 17
_HINTS = {"PARQUET_TYPE_ILLEGAL": "Write that column in another type, such as microseconds in place of nanoseconds."}


@contextmanager
def mishaps(name: str = "") -> Iterator[None]:
    """What Spark cannot read is an error of one line, about what has that name."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        said = re.sub(r"^\[[A-Z_.]+\] ", "", innermost(error))
        said = said if not name or name in said else f"{name}: {said}"
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        if condition == "COLUMN_ALREADY_EXISTS":
            raise ColumnError(said, hint="Rename one: Spark ignores capitals in names.") from None
        hint = _HINTS.get(str(condition), hint_about(said, "Check the path, and that Spark can read it."))
        raise verdict(error, SourceError(said, hint=hint)) from None


class HadoopFiles:
    """Hadoop's file systems, as the session has them."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.jvm = session._jvm  # noqa: SLF001  (no other way to Hadoop's file systems)
        self.conf = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001  (likewise)

    def literally(self, path: str) -> str:
        """A path as a pattern that nothing else matches, if something of that very name is there."""
        if not SIGNS.intersection(path):
            return path
        place = self._path(path)
        with mishaps(path):
            return as_pattern(path) if place.getFileSystem(self.conf).exists(place) else path

    def at(self, path: str) -> list[Any]:
        """What a path or a pattern leads to."""
        place = self._path(path)
        with mishaps(path):
            return list(place.getFileSystem(self.conf).globStatus(place) or [])

    def below(self, entries: list[Any], folders: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """All files: name, the folders that it lies in, path; what is hidden for Spark is not listed."""
        for entry in entries:
            place = entry.getPath()
            name = str(place.getName())
            if entry.isFile():
                yield name, folders[1:], place
            elif not folders or not is_hidden(name):
                with mishaps():
                    inner = {
                        str(one.getPath().getName()): one for one in place.getFileSystem(self.conf).listStatus(place)
                    }
                inside = (f"{name}/{one}{'/' * is_hidden(one)}" for one in inner)  # what hides a log is a folder
                require_no_table(as_name(str((place.getParent() or place).toString())), inside)
                yield from self.below([entry for one, entry in inner.items() if not is_hidden(one)], (*folders, name))

    def require_packing(self, path: str, kind: str, packings: set[str | None]) -> None:
        """Refuse what this Spark cannot unpack.

        Raises:
            SourceError: It is such.
        """
        if kind in OWN_PACKING or READERS[kind] == WHOLE:
            return
        unread = "xz" if "xz" in packings else None
        if "zst" in packings and not self.jvm.org.apache.hadoop.io.compress.ZStandardCodec.isNativeCodeLoaded():
            unread = "zst"
        if unread is not None:
            message = f"{path}: this Spark cannot read .{unread}"
            raise SourceError(message, hint="Pack the files with gzip or bzip2, or write them as Parquet.")

    def footers(self, path: str, form: Form) -> Footers:
        """What the files of a path, a folder or a pattern say of themselves."""
        return footers(self.session, self.conf, form.kind, self.listed(path, form))

    def whole(self, path: str, form: Form, torn: Mapping[str, str]) -> Footers:
        """The files of a path without packed ones that cannot be read, or are empty; none: as they are.

        Those whose headers lack a name stand by their headers: Spark gives them names, and then finds that they differ.

        Raises:
            CutOffError: One that is not in `torn` lacks its end.
        """
        delimited = form.alone and form.kind in DELIMITERS
        if not (form.is_packed or delimited):
            return AS_IT_IS
        every = {str(file.path.toString()): file for file in self.listed(path, form)}
        first = sorted(every.keys() - torn.keys())[:1]
        unnamed = delimited and any(self._lacks_a_name(address, form.kind) for address in first)
        if not (form.is_packed or unnamed):
            return AS_IT_IS
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            heads = pool.map(self._odd, (file.path for file in every.values()))
            odd = {
                address: torn.get(address) if head is None else head for address, head in zip(every, heads, strict=True)
            }
            unseen = {address: file.path for address, file in every.items() if odd[address] is None}
            cut = [
                address
                for address, is_cut in zip(unseen, pool.map(self._cut_off, unseen.values()), strict=True)
                if is_cut
            ]
        if cut:
            raise CutOffError(cut[0])
        broken = tuple(sorted((address, odd[address] or "") for address in every if odd[address]))
        good: dict[tuple[str, str | None], list[str]] = defaultdict(list)
        for address in sorted(address for address in every if odd[address] is None):
            columns = self.columns(address, form.kind) if unnamed else form.columns
            good[columns, every[address].base].append(address)
        same = (not unnamed and sum(map(len, good.values())) == len(every)) or not (good or broken)
        return AS_IT_IS if same else Footers(dict(good), broken)

    def _odd(self, path: Any) -> str | None:
        """Why a packed file cannot be read, by how it begins; nothing where it is empty, None where nothing is odd."""
        compression = COMPRESSIONS.get(f".{kind_of(str(path.getName()))[1]}")
        if compression is None:
            return None
        with mishaps():
            stream = path.getFileSystem(self.conf).open(path)
            try:
                head = bytes(stream.readNBytes(MOST_MAGIC))
            finally:
                stream.close()
        if not head:
            return ""
        return None if begins_as(head, compression) else f"not readable as {compression}"

    def _cut_off(self, path: Any) -> bool:
        """Whether a packed file lacks its end, as far as its last bytes tell; Hadoop does not miss that of bz2."""
        compression = COMPRESSIONS.get(f".{kind_of(str(path.getName()))[1]}")
        if compression != "bz2":
            return False
        with mishaps():
            system = path.getFileSystem(self.conf)
            size = int(system.getFileStatus(path).getLen())
            stream = system.open(path)
            try:
                stream.seek(max(0, size - MOST_END))
                return size > 0 and not ends_as(bytes(stream.readNBytes(MOST_END)), compression)
            finally:
                stream.close()

    def listed(self, path: str, form: Form) -> list[HadoopFile]:
        """The files of a path, a folder or a pattern that are of its format."""
        every = []
        for root in self.at(path):
            inside = [
                (folders, place)
                for name, folders, place in self.below([root])
                if form.pattern is None or kind_of(name)[0] == form.kind
            ]
            parted = not form.nested and any("=" in folder for folders, _ in inside for folder in folders)
            base = str(root.getPath().toString()) if parted else None
            every += [HadoopFile(place, base) for _, place in inside]
        return every

    def columns(self, path: str, kind: str) -> str:
        """What tells which columns a file has; files that agree are read together."""
        if kind == "text" or READERS[kind] == WHOLE:
            return ""
        try:
            with mishaps():
                return _named_by(self._first_line(path), kind)
        except SourceError:  # of a packed file that is torn: it is told when it is read
            if kind_of(name_of(path))[1] is None:
                raise
            return ""

    def by_line_end(self, form: Form, paths: list[str]) -> Iterator[tuple[Form, list[str]]]:
        r"""The paths of a form, those of CSV by how their rows end: with \r\n Spark makes that \n in quoted cells, too.

        It does not where it is told how rows end, which then holds for all of what is read together. A file that does
        not say it goes with the others. Where Spark looks for columns, it takes names of files for patterns: there the
        header is ours to say.

        Raises:
            ColumnError: A header has a name twice: Spark would give them others.
        """
        every = [file for path in paths for file in self.listed(path, form)] if form.kind in DELIMITERS else []
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            rows = list(pool.map(self._first_row, (file.path for file in every)))
        headers = [_header(row, form.kind) for row in rows]
        for file, header in zip(every, headers, strict=True):
            require_apart([name for name in header if name], as_name(str(file.path.toString())))
        if any(SIGNS.intersection(str(file.path.toString())) for file in every):
            form = form._replace(header=next(filter(None, headers), ()))
        found = [row[len(row.rstrip(b"\r\n")) :].decode() for row in rows]
        ends = [end if end.endswith("\n") else "" for end in found]
        known = [end for end in ends if end] or [""]
        if len(set(known)) == 1:
            yield form._replace(line_end=known[0]), paths
            return
        groups: dict[tuple[str, str | None], list[str]] = defaultdict(list)
        for file, end in zip(every, ends, strict=True):
            groups[end or known[0], file.base].append(as_pattern(str(file.path.toString())))
        ignored = form.ignored
        for (end, base), own in groups.items():
            apart = form._replace(columns=own[0], pattern=None, base=base) if form.alone else form
            yield apart._replace(line_end=end, ignored=ignored), own
            ignored = 0

    def _first_row(self, place: Any) -> bytes:
        """The first row of a file, and how it ends; nothing where it cannot be read, or is too long."""
        head = b""
        with suppress(SourceError), mishaps():
            stream = place.getFileSystem(self.conf).open(place)
            try:
                plain = self._unpacked(place, stream)
                while len(head) < _LONGEST_HEADER and (chunk := bytes(plain.readNBytes(_CHUNK_BYTES))):
                    head += chunk
                    if found := _FIRST_ROW.match(head):
                        return found[0]
            finally:
                stream.close()
        return head if len(head) < _LONGEST_HEADER else b""

    def _lacks_a_name(self, path: str, kind: str) -> bool:
        """Whether a column in the header of a file has no name, as the index of a frame of pandas."""
        header = self.columns(path, kind).removeprefix("\ufeff")
        return "" in next(csv.reader([header], delimiter=DELIMITERS[kind]), [])

    def _first_line(self, path: str) -> str:
        place = self._path(path)
        stream = place.getFileSystem(self.conf).open(place)
        try:
            reader = self.jvm.java.io.InputStreamReader(self._unpacked(place, stream), "UTF-8")
            return str(self.jvm.java.io.BufferedReader(reader).readLine() or "")
        finally:
            stream.close()

    def _unpacked(self, place: Any, stream: Any) -> Any:
        codec = self.jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(self.conf).getCodec(place)
        return stream if codec is None else codec.createInputStream(stream)

    def _path(self, path: str) -> Any:
        return self.jvm.org.apache.hadoop.fs.Path(path)


def is_hidden(name: str) -> bool:
    """Whether a file or folder of that name is passed over by Spark where a folder is read."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def require_apart(names: Sequence[str], source: str) -> None:
    """Refuse names that Spark takes for one.

    Raises:
        ColumnError: There are such.
    """
    counts = Counter(name.lower() for name in names)
    twins = [name for name in names if counts[name.lower()] > 1]
    if twins:
        message = f"{source} has the columns {', '.join(map(repr, twins))}, which Spark takes for one"
        raise ColumnError(message, hint="Rename all but one of them.")


def _header(row: bytes, kind: str) -> tuple[str, ...]:
    """The names in a header; some may be empty."""
    lines = row.decode("utf-8-sig", "replace").splitlines(keepends=True)
    return tuple(next(csv.reader(lines, delimiter=DELIMITERS[kind]), []))


def _named_by(line: str, kind: str) -> str:
    """The columns of a file, by its header or its first record."""
    if kind != "jsonl":
        return line
    try:
        return repr(sorted(json.loads(line)))
    except (ValueError, TypeError, RecursionError):  # a record that cannot be read names nothing
        return ""
