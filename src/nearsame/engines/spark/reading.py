"""What Spark can read as DataFrames: frames as they are, paths by their endings, and tables of its catalog by name.

1. A folder or a pattern is what its files are, however deep they lie; other files in it are passed over.
2. Paths are Spark's own, s3a and hdfs included; of a file no more is opened here than what names its columns.
3. Files of one format with the same columns are read together. Of Parquet and ORC every file is asked for its columns,
   those of folders and patterns, too, and one that cannot be read is left out and reported; of other formats the files
   of a folder or a pattern have to have the same.
4. A record that cannot be read has its text in a column of its own, UNREAD.
5. A name that leads to a file is its path, whatever tables there are.
6. A packed file of lines that does not begin as its name says is left out and reported; which ones break off further in
   only shows when they are read, and whoever has found out names them.
7. Web archives are read by whoever knows them: here they are files, with their bytes where only Spark reaches these.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from nearsame.dataclass import dataclass
from nearsame.engines.spark.failures import innermost, verdict
from nearsame.engines.spark.footers import AT_A_TIME, Footers, HadoopFile, footers
from nearsame.engines.spark.places import as_pattern, place_at
from nearsame.errors import ColumnError, SourceError
from nearsame.files.compressions import COMPRESSIONS, MOST_MAGIC, begins_as
from nearsame.files.formats import FORMATS, WHOLE

__all__ = ["UNREAD", "Given", "is_frame", "packed_files", "read"]

UNREAD = "nearsame_unread"
_TEXTS = {"txt": "text"}  # a file is a document; packed ones are of no known format, as on one machine
_FORMATS = _TEXTS | {suffix[1:]: form.name for form in FORMATS if form.on_spark for suffix in form.suffixes}
_READERS = {"text": "text"} | {form.name: form.on_spark for form in FORMATS if form.on_spark}
_PACKED = {"gz", "bz2", "zst", "xz", "lz4", "snappy", "deflate"}
_OWN_PACKING = ("parquet", "orc")  # whatever the name of the file says
_DELIMITERS = {form.name: form.settings.get("delimiter", ",") for form in FORMATS if form.on_spark == "csv"}
_GLOB = frozenset("*?[{")
_TABLE = re.compile(r"(?:\w+|`[^`]+`)(?:\.(?:\w+|`[^`]+`)){0,2}")  # catalog, schema and name, as SQL has them


@dataclass(frozen=True, eq=False)
class Given:
    """One frame of what was given.

    Attributes:
        name: what messages call it: the first of its paths.
        frame: as Spark reads it, with UNREAD where some records may be unreadable.
        delimited: whether it comes from CSV or TSV, where all is text and bad bytes have become U+FFFD.
        ignored: how many files of its folder are of no known format.
        broken: files that cannot be read, and why.
        is_archive: whether its rows are archives: path, length, modified, content (null where the path leads to it).
    """

    name: str
    frame: Any
    delimited: bool = False
    ignored: int = 0
    broken: tuple[tuple[str, str], ...] = ()
    is_archive: bool = False


def is_frame(source: Any) -> bool:
    """Whether it is a DataFrame of Spark."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "mapInArrow")


def read(
    session: Any, sources: Sequence[Any], *, strict: bool = False, torn: Mapping[str, str] | None = None
) -> list[Given]:
    """The frames of some sources: DataFrames and tables first, then files, those that go together in one.

    Args:
        session: Spark's.
        sources: DataFrames, paths and names of tables.
        strict: Whether a file that cannot be read is an error.
        torn: Addresses of packed files that break off, and why: they are left out.

    Raises:
        SourceError: One is a path that Spark cannot read.
    """
    frames = [Given("the DataFrame", source) for source in sources if is_frame(source)]
    together: dict[_Form, list[str]] = defaultdict(list)
    files = _Files(session)
    broken: list[tuple[str, str]] = []
    for path in (str(os.fspath(source)) for source in sources if not is_frame(source)):
        if _is_table(files, path):
            frames.append(Given(path, session.table(path)))
            continue
        form = _form(files, path)
        schemas = files.footers(path, form) if form.kind in _OWN_PACKING else files.whole(path, form, torn or {})
        broken += schemas.broken
        for common, paths in _by_columns(form, path, schemas).items():
            together[common] += paths
    if broken and (strict or not (together or frames)):
        file, reason = broken[0]
        raise SourceError(f"{file} cannot be read: {reason}", hint="Repair the file, or leave it out.")
    frames += [_loaded(session, form, paths, strict=strict) for form, paths in together.items()]
    return [replace(frames[0], broken=tuple(broken)), *frames[1:]] if frames else frames


def packed_files(session: Any, sources: Sequence[Any]) -> tuple[list[str], Any]:
    """The packed files of lines among some sources: (their addresses, a frame of them as of archives)."""
    files, found = _Files(session), []
    for path in (str(os.fspath(source)) for source in sources if not is_frame(source)):
        form = None if _is_table(files, path) else _form(files, path)
        if form is not None and form.is_packed:
            every = (str(file.path.toString()) for file in files.listed(path, form))
            found += [address for address in every if _kind(_name(address))[1] is not None]
    if not found:
        return [], None
    reader = session.read.format(WHOLE)
    return found, _whole_files(session, reader, _Form(WHOLE), [*map(as_pattern, found)]).frame


def _is_table(files: "_Files", name: str) -> bool:
    if not _TABLE.fullmatch(name) or files.at(name):
        return False
    try:
        with _mishaps():
            return bool(files.session.catalog.tableExists(name))
    except SourceError:  # no catalog has such names: it is a path that leads nowhere
        return False


class _Form(NamedTuple):
    """What files that are read together have in common."""

    kind: str
    columns: str = ""  # what tells them: a schema, a header, a path that stands alone
    pattern: str | None = None  # which files of a folder
    nested: bool = False  # whether some lie in folders of their own, which are not partitions
    alone: bool = False
    ignored: int = 0
    base: str | None = None  # the folder whose subfolders are partitions
    is_packed: bool = False  # whether some are packed, in formats that are not packed by themselves


def _by_columns(form: _Form, path: str, schemas: Footers) -> dict[_Form, list[str]]:
    """How the files of a path are read: together where they have the same columns."""
    unmixed = not schemas.broken and (len(schemas.alike) <= 1 if form.alone else not schemas.alike)
    if unmixed if form.kind in _OWN_PACKING else schemas == _AS_IT_IS:
        return {form: [path]}
    if not form.alone:
        return {form._replace(columns=columns): [path] for columns, _ in schemas.alike}
    forms, ignored = {}, form.ignored
    for (_, base), paths in schemas.alike.items():
        forms[_Form(form.kind, paths[0], alone=True, ignored=ignored, base=base)] = [*map(as_pattern, paths)]
        ignored = 0
    return forms


_AS_IT_IS = Footers({}, ())


def _loaded(session: Any, form: _Form, paths: list[str], *, strict: bool) -> Given:
    delimited = form.kind in _DELIMITERS
    reader = session.read.format(_READERS[form.kind])
    if form.pattern is not None:
        reader = reader.option("pathGlobFilter", form.pattern).option("recursiveFileLookup", form.nested)
    if form.base is not None:
        reader = reader.option("basePath", form.base)
    if delimited:
        reader = reader.option("header", True).option("multiLine", True).option("escape", '"')
        reader = reader.option("sep", _DELIMITERS[form.kind]).option("enforceSchema", not form.alone)
    if delimited or form.kind == "jsonl":
        reader = reader.option("mode", "FAILFAST" if strict else "PERMISSIVE")
        reader = reader if strict else reader.option("columnNameOfCorruptRecord", UNREAD)
    if _READERS[form.kind] == WHOLE:
        return _whole_files(session, reader, form, paths)
    with _mishaps():
        frame = reader.option("wholetext", True).load(paths) if form.kind == "text" else reader.load(paths)
        if delimited and not strict and frame.columns:
            frame = reader.schema(frame.schema.add(UNREAD, "string")).load(paths)
        if form.kind == "jsonl" and set(frame.columns) <= {UNREAD}:  # without a record that names columns
            frame = reader.schema(f"text string, {UNREAD} string").load(paths)
    if form.kind == "text":  # a file is a document, as on one machine
        others = [f"`{name}`" for name in frame.columns if name != "value"]
        frame = frame.selectExpr("_metadata.file_path as id", "value as text", *others)
    return Given(paths[0], frame, delimited, form.ignored)


def _whole_files(session: Any, reader: Any, form: _Form, paths: list[str]) -> Given:
    local = all(place_at(session, path).local is not None for path in paths)
    modified = "unix_millis(modificationTime) as modified"
    content = "cast(null as binary) as content" if local else "content"
    with _mishaps():
        frame = reader.load(paths).selectExpr(
            "regexp_replace(path, '^file:/+', '/') as path", "length", modified, content
        )
    return Given(paths[0], frame, ignored=form.ignored, is_archive=True)


@contextmanager
def _mishaps() -> Iterator[None]:
    """What Spark cannot read is an error of one line."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        if isinstance(error, PySparkException) and error.getCondition() == "COLUMN_ALREADY_EXISTS":
            raise ColumnError(innermost(error), hint="Rename one: Spark ignores capitals in names.") from None
        unread = SourceError(innermost(error), hint="Check the path, and that Spark can read it.")
        raise verdict(error, unread) from None


def _form(files: "_Files", path: str) -> _Form:
    """How a path is read.

    Raises:
        SourceError: Its files have no known ending, or several, or are packed in a way that Spark cannot read.
    """
    entries = files.at(path)
    if not entries:
        problem = "matches no file" if _GLOB.intersection(path) else "does not exist"
        raise SourceError(f"{path} {problem}", hint="Check the path.")
    kind, packing = _kind(_name(path))
    if kind is not None:
        files.require_packing(path, kind, {packing})
        if _GLOB.intersection(path) or not entries[0].isFile():
            return _Form(kind, path, alone=True, is_packed=_is_packed(kind, {packing}))
        columns = "" if kind in _OWN_PACKING else files.columns(path, kind)
        return _Form(kind, columns, is_packed=_is_packed(kind, {packing}))
    return _form_of_folder(files, path, entries)


def _form_of_folder(files: "_Files", path: str, entries: list[Any]) -> _Form:
    kinds, packings, endings, nested, ignored = set(), set(), set(), False, 0
    for name, folders, _ in files.below(entries):
        known, packing = _kind(name)
        ignored += known is None
        if known is not None:
            kinds.add(known)
            packings.add(packing)
            endings.add(".".join(name.split(".")[-2 if packing else -1 :]))
            nested = nested or any("=" not in folder for folder in folders)
    if len(kinds) != 1:
        problem = f"holds files of several formats ({', '.join(sorted(kinds))})" if kinds else "has no known ending"
        raise SourceError(f"{path} {problem}", hint=f"Name files that end in one of {', '.join(sorted(_FORMATS))}.")
    kind = kinds.pop()
    files.require_packing(path, kind, packings)
    pattern = f"*.{{{','.join(sorted(endings))}}}" if len(endings) > 1 else f"*.{endings.pop()}"
    return _Form(kind, path, pattern, nested, alone=True, ignored=ignored, is_packed=_is_packed(kind, packings))


def _is_packed(kind: str, packings: set[str | None]) -> bool:
    return kind not in _OWN_PACKING and _READERS[kind] != WHOLE and packings != {None}


def _name(path: str) -> str:
    """The last part of a path, without the wildcards at its end."""
    return path.rstrip("/").rsplit("/", 1)[-1].rstrip("*")


def _kind(name: str) -> tuple[str | None, str | None]:
    """The format of a file, and how it is packed, by the endings of its name."""
    _, *endings = name.lower().split(".")
    packing = endings.pop() if endings and endings[-1] in _PACKED else None
    kind = _FORMATS.get(endings[-1]) if endings else None
    return (None if packing and kind == "text" else kind), packing


class _Files:
    """Hadoop's file systems, as the session has them."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.jvm = session._jvm  # noqa: SLF001  (no other way to Hadoop's file systems)
        self.conf = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001  (likewise)

    def at(self, path: str) -> list[Any]:
        """What a path or a pattern leads to."""
        place = self._path(path)
        with _mishaps():
            return list(place.getFileSystem(self.conf).globStatus(place) or [])

    def below(self, entries: list[Any], folders: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """All files: name, the folders that it lies in, path; what is hidden for Spark is not listed."""
        for entry in entries:
            place = entry.getPath()
            name = str(place.getName())
            if entry.isFile():
                yield name, folders[1:], place
            elif not folders or not _is_hidden(name):
                with _mishaps():
                    inner = place.getFileSystem(self.conf).listStatus(place)
                yield from self.below(
                    [one for one in inner if not _is_hidden(str(one.getPath().getName()))], (*folders, name)
                )

    def require_packing(self, path: str, kind: str, packings: set[str | None]) -> None:
        """Refuse what this Spark cannot unpack.

        Raises:
            SourceError: It is such.
        """
        if kind in _OWN_PACKING or _READERS[kind] == WHOLE:
            return
        unread = "xz" if "xz" in packings else None
        if "zst" in packings and not self.jvm.org.apache.hadoop.io.compress.ZStandardCodec.isNativeCodeLoaded():
            unread = "zst"
        if unread is not None:
            message = f"{path}: this Spark cannot read .{unread}"
            raise SourceError(message, hint="Pack the files with gzip or bzip2, or write them as Parquet.")

    def footers(self, path: str, form: _Form) -> Footers:
        """What the files of a path, a folder or a pattern say of themselves."""
        return footers(self.session, self.conf, form.kind, self.listed(path, form))

    def whole(self, path: str, form: _Form, torn: Mapping[str, str]) -> Footers:
        """The files of a path without packed ones that cannot be read, or are empty; none: as they are."""
        if not form.is_packed:
            return _AS_IT_IS
        every = {str(file.path.toString()): file for file in self.listed(path, form)}
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            heads = pool.map(self._odd, (file.path for file in every.values()))
            odd = {
                address: torn.get(address) if head is None else head for address, head in zip(every, heads, strict=True)
            }
        broken = tuple(sorted((address, odd[address] or "") for address in every if odd[address]))
        good: dict[tuple[str, str | None], list[str]] = defaultdict(list)
        for address in sorted(address for address in every if odd[address] is None):
            good[form.columns, every[address].base].append(address)
        same = sum(map(len, good.values())) == len(every) or not (good or broken)
        return _AS_IT_IS if same else Footers(dict(good), broken)

    def _odd(self, path: Any) -> str | None:
        """Why a packed file cannot be read, by how it begins; nothing where it is empty, None where nothing is odd."""
        compression = COMPRESSIONS.get(f".{_kind(str(path.getName()))[1]}")
        if compression is None:
            return None
        with _mishaps():
            stream = path.getFileSystem(self.conf).open(path)
            try:
                head = bytes(stream.readNBytes(MOST_MAGIC))
            finally:
                stream.close()
        if not head:
            return ""
        return None if begins_as(head, compression) else f"not readable as {compression}"

    def listed(self, path: str, form: _Form) -> list[HadoopFile]:
        """The files of a path, a folder or a pattern that are of its format."""
        every = []
        for root in self.at(path):
            inside = [
                (folders, place)
                for name, folders, place in self.below([root])
                if form.pattern is None or _kind(name)[0] == form.kind
            ]
            parted = not form.nested and any("=" in folder for folders, _ in inside for folder in folders)
            base = str(root.getPath().toString()) if parted else None
            every += [HadoopFile(place, base) for _, place in inside]
        return every

    def columns(self, path: str, kind: str) -> str:
        """What tells which columns a file has; files that agree are read together."""
        if kind == "text" or _READERS[kind] == WHOLE:
            return ""
        try:
            with _mishaps():
                return _named_by(self._first_line(path), kind)
        except SourceError:  # of a packed file that is torn: it is told when it is read
            if _kind(_name(path))[1] is None:
                raise
            return ""

    def _first_line(self, path: str) -> str:
        place = self._path(path)
        codec = self.jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(self.conf).getCodec(place)
        stream = place.getFileSystem(self.conf).open(place)
        try:
            plain = stream if codec is None else codec.createInputStream(stream)
            reader = self.jvm.java.io.InputStreamReader(plain, "UTF-8")
            return str(self.jvm.java.io.BufferedReader(reader).readLine() or "")
        finally:
            stream.close()

    def _path(self, path: str) -> Any:
        return self.jvm.org.apache.hadoop.fs.Path(path)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _named_by(line: str, kind: str) -> str:
    """The columns of a file, by its header or its first record."""
    if kind != "jsonl":
        return line
    try:
        return repr(sorted(json.loads(line)))
    except (ValueError, TypeError):  # a record that cannot be read names nothing
        return ""
