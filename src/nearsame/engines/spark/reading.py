"""What Spark can read as DataFrames: frames as they are, paths by their endings, and tables of its catalog by name.

1. A folder or a pattern is what its files are, however deep they lie; other files in it are passed over.
2. Paths are Spark's own, s3a and hdfs included; of a file no more is opened here than what names its columns.
3. Files of one format with the same columns are read together. Of Parquet and ORC every file is asked for its columns,
   those of folders and patterns, too, and one that cannot be read is left out and reported; of other formats the files
   of a folder or a pattern have to have the same.
4. A record that cannot be read has its text in a column of its own, UNREAD.
5. A name that leads to a file is its path, whatever tables there are, and whatever a pattern makes of its signs.
6. A packed file of lines that does not begin as its name says is left out and reported; which ones break off further in
   only shows when they are read, and whoever has found out names them.
7. Web archives are read by whoever knows them: here they are files, with their bytes where only Spark reaches these.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.engines.spark.files import AS_IT_IS, HadoopFiles, is_hidden, mishaps
from nearsame.engines.spark.folders import with_folders
from nearsame.engines.spark.footers import Footers
from nearsame.engines.spark.forms import (
    DELIMITERS,
    GLOB,
    KNOWN,
    OWN_PACKING,
    READERS,
    SIGNS,
    Form,
    is_packed,
    kind_of,
    name_of,
)
from nearsame.engines.spark.json_lines import LINE, odd_lines
from nearsame.engines.spark.mapping import quoted
from nearsame.engines.spark.places import as_name, as_path, as_pattern, on_disk, place_at
from nearsame.engines.spark.plans import said_by_folders, twice_named, with_file
from nearsame.engines.spark.strings import UNREAD, read_lines, require_one_home, row_options, strings_of
from nearsame.errors import ConfigError, SourceError
from nearsame.files.formats import WHOLE
from nearsame.files.inputs import NAMED_TWICE
from nearsame.files.refused import require_no_list, require_no_output
from nearsame.named import NamedTuple

__all__ = ["FILE", "Given", "PackedFile", "Salvaged", "is_frame", "packed_files", "read", "whole_files"]

FILE = "nearsame_file"  # the path of the file that a record stands in, where Spark itself does not tell
# Of a text what `as_path` makes of its file, in SQL.
_FILE = "replace(coalesce(nearsame_path, input_file_name()), '+', '%2B')"
_PATH = f"regexp_replace(url_decode({_FILE}), '^file:/+', '/')"
_TEXT = "nearsame_text"  # a name that no folder has
_TABLE = re.compile(r"(?:\w+|`[^`]+`)(?:\.(?:\w+|`[^`]+`)){0,2}")  # catalog, schema and name, as SQL has them


@dataclass(frozen=True, eq=False)
class Given:
    """One frame of what was given.

    Attributes:
        name: what messages call it: the first of its paths.
        frame: as Spark reads it, with UNREAD where some records may be unreadable, and FILE where it cannot tell.
        kind: of files the kind, as jsonl.
        ignored: how many files of its folder are of no known format.
        broken: files that cannot be read, and why.
        is_archive: whether its rows are archives: path, length, modified, content (null where the path leads to it).
        roots: of several paths of archives the files and folders that they lead to, with the number of the first one.
    """

    name: str
    frame: Any
    kind: str = ""
    ignored: int = 0
    broken: tuple[tuple[str, str], ...] = ()
    is_archive: bool = False
    roots: Mapping[str, int] = field(default_factory=dict)

    @property
    def delimited(self) -> bool:
        """Whether it comes from CSV or TSV, where all is text and bad bytes have become U+FFFD."""
        return self.kind in DELIMITERS


class Salvaged(NamedTuple):
    """Packed files that break off, as somebody else has read them.

    Attributes:
        reasons: of each address why it breaks off.
        texts: what names of their folders say that is no whole number.
        frames: what stands before the breaks.
    """

    reasons: Mapping[str, str] = {}
    texts: frozenset[str] = frozenset()
    frames: tuple[Given, ...] = ()


def is_frame(source: Any) -> bool:
    """Whether it is a DataFrame of Spark."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "mapInArrow")


def read(
    session: Any,
    sources: Sequence[Any],
    *,
    strict: bool = False,
    text: str | None = None,
    salvaged: Salvaged | None = None,
) -> list[Given]:
    """The frames of some sources: DataFrames and tables first, then files, those that go together in one.

    Args:
        session: Spark's.
        sources: DataFrames, paths and names of tables.
        strict: Whether a file that cannot be read is an error.
        text: The key of texts in JSON, where there are any: what stands there and is none makes no document.
        salvaged: What is known of packed files that break off: Spark does not read them.

    Raises:
        ConfigError: A file is named twice.
        SourceError: One is a path that Spark cannot read.
    """
    frames = [Given("the DataFrame", source) for source in sources if is_frame(source)]
    together: dict[Form, list[str]] = defaultdict(list)
    files, salvaged = HadoopFiles(session), salvaged or Salvaged()
    broken: list[tuple[str, str]] = []
    named: list[tuple[str, bool]] = []
    for path in (str(os.fspath(source)) for source in sources if not is_frame(source)):
        if _is_table(files, path):
            frames.append(Given(path, session.table(path)))
            continue
        path = files.literally(path)  # noqa: PLW2901  (the same one)
        if "**" in path:
            message = f"{path}: to Spark ** means *, and leads to no folders below"
            raise SourceError(message, hint="Name the folder: all below it is read.")
        entries = files.at(path)
        form = _form(files, path, entries)
        named += [(str(entry.getPath().toString()), not entry.isFile()) for entry in entries]
        schemas = files.footers(path, form) if form.kind in OWN_PACKING else files.whole(path, form, salvaged.reasons)
        broken += [(on_disk(address), reason) for address, reason in schemas.broken]
        for common, alike in _by_columns(form, path, schemas).items():
            for one, paths in files.by_line_end(common, alike):
                together[one] += paths
    _require_once(named)
    if broken and (strict or not (together or frames or salvaged.frames)):
        file, reason = broken[0]
        raise SourceError(f"{file} cannot be read: {reason}", hint="Repair the file, or leave it out.")
    loaded = [_loaded(session, form, paths, text, strict=strict) for form, paths in together.items()]
    kinds = [said_by_folders(given.frame) for given in loaded]
    texts = salvaged.texts | {name for said in kinds for name, kind in said.items() if kind == "string"}
    frames += [  # what is a text in some files is one in all
        given
        if all(said[name] == "string" for name in texts & said.keys())
        else _loaded(session, form, paths, text, strict=strict, texts=texts)
        for given, said, (form, paths) in zip(loaded, kinds, together.items(), strict=True)
    ]
    frames += salvaged.frames
    return [replace(frames[0], broken=tuple(broken)), *frames[1:]] if frames else frames


def _require_once(named: list[tuple[str, bool]]) -> None:
    """Refuse files and folders (told by True) of which one is named twice, or lies in another."""
    folders = {address for address, is_folder in named if is_folder}
    before = set[str]()
    for address, _ in named:
        ways = (address[:at] for at, letter in enumerate(address) if letter == "/")
        inside = (address[len(way) + 1 :].split("/") for way in ways if way in folders)
        if address in before or any(not any(map(is_hidden, names)) for names in inside):
            raise ConfigError(f"{as_name(on_disk(address))} is named twice", hint=NAMED_TWICE)
        before.add(address)


class PackedFile(NamedTuple):
    """A packed file of lines or rows: where it is, of which kind, and the folder whose subfolders are partitions."""

    address: str
    kind: str
    base: str | None


def packed_files(session: Any, sources: Sequence[Any]) -> list[PackedFile]:
    """The packed files of lines and rows among some sources."""
    files, found = HadoopFiles(session), list[PackedFile]()
    for path in (str(os.fspath(source)) for source in sources if not is_frame(source)):
        path = files.literally(path)  # noqa: PLW2901  (the same one)
        form = None if _is_table(files, path) else _form(files, path, files.at(path))
        if form is not None and form.is_packed:
            every = (PackedFile(str(file.path.toString()), form.kind, file.base) for file in files.listed(path, form))
            found += [file for file in every if kind_of(name_of(file.address))[1] is not None]
    return found


def whole_files(session: Any, addresses: Iterable[str]) -> Any:
    """A frame of some files, as of archives."""
    reader = session.read.format(WHOLE)
    return _whole_files(session, reader, Form(WHOLE), [*map(as_pattern, addresses)]).frame


def _is_table(files: HadoopFiles, name: str) -> bool:
    if not _TABLE.fullmatch(name) or files.at(name):
        return False
    try:
        with mishaps():
            return bool(files.session.catalog.tableExists(name))
    except SourceError:  # no catalog has such names: it is a path that leads nowhere
        return False


def _by_columns(form: Form, path: str, schemas: Footers) -> dict[Form, list[str]]:
    """How the files of a path are read: together where they have the same columns."""
    unmixed = not schemas.broken and (len(schemas.alike) <= 1 if form.alone else not schemas.alike)
    if unmixed if form.kind in OWN_PACKING else schemas == AS_IT_IS:
        return {form: [path]}
    if not form.alone:
        return {form._replace(columns=columns): [path] for columns, _ in schemas.alike}
    forms, ignored = {}, form.ignored
    for (columns, base), paths in schemas.alike.items():
        checked = form.kind in DELIMITERS and columns != form.columns
        made = Form(form.kind, paths[0], alone=True, ignored=ignored, base=base, is_checked=checked)
        forms[made] = [*map(as_pattern, paths)]
        ignored = 0
    return forms


def _loaded(  # noqa: PLR0913  (what is read, and how)
    session: Any,
    form: Form,
    paths: list[str],
    text: str | None,
    *,
    strict: bool,
    texts: AbstractSet[str] = frozenset(),
) -> Given:
    """What Spark reads of some paths; what names of folders say of `texts` is none but these."""
    delimited = form.kind in DELIMITERS
    reader, name = _reader(session, form, READERS[form.kind]), as_name(paths[0])
    if READERS[form.kind] == WHOLE:
        return replace(_whole_files(session, reader, form, paths), roots=_roots(session, paths))
    if delimited:
        reader = reader.options(header=True, **row_options(form.kind))
        reader = reader.option("enforceSchema", form.is_checked or not form.alone)
        reader = reader.option("lineSep", form.line_end) if form.line_end else reader
        reader = reader.schema(strings_of(form.header)) if form.header else reader
    if delimited or form.kind == "jsonl":
        reader = reader.option("mode", "FAILFAST" if strict else "PERMISSIVE")
        reader = reader if strict else reader.option("columnNameOfCorruptRecord", UNREAD)
    if form.kind == "text":
        reader = reader.schema(f"{_TEXT} string").option("wholetext", True)
    with mishaps(name):
        if form.kind == "jsonl":
            lines = with_folders(_reader(session, form, "text").schema(f"{LINE} string"), paths, texts)
            odd = _odd_lines(lines, name, text, strict=strict)
            if odd:
                return Given(name, read_lines(lines, name, text), form.kind, form.ignored)
            reader = reader.option("allowSingleQuotes", False)
        frame = with_folders(reader, paths, texts)
        require_one_home(twice_named(frame, form.header), name)
        if delimited and not strict and frame.columns:
            frame = reader.schema(frame.schema.add(UNREAD, "string")).load(paths)
        if form.kind == "jsonl" and set(frame.columns) <= {UNREAD}:  # without a record that names columns
            frame = reader.schema(f"text string, {UNREAD} string").load(paths)
    if form.kind == "text":  # a file is a document, as on one machine
        others = [quoted(name) for name in frame.columns if name != _TEXT]
        named = with_file(frame, "nearsame_path")  # of which sources of the second version say nothing
        frame = named.selectExpr(f"{_PATH} as id", f"{_TEXT} as text", *others)
    return Given(name, frame, form.kind, form.ignored)


def _odd_lines(lines: Any, name: str, text: str | None, *, strict: bool) -> bool:
    """Whether there are lines of which Spark would lose something, or make something else."""
    odd = odd_lines(lines, text)
    if odd and strict:
        file = min(odd, key=str)
        what = f"{odd[file]:,} lines are no value of JSON, have half of a surrogate pair, or a text that is no string"
        raise SourceError(f"{as_path(file) if file else name}: {what}", hint="Fix them, or leave out strict.")
    return bool(odd)


def _reader(session: Any, form: Form, kind: str) -> Any:
    """What reads the files of a form, as files of a kind."""
    reader = session.read.format(kind)
    for setting in ("ignoreCorruptFiles", "ignoreMissingFiles"):  # whatever the session has: without a word they lose
        reader = reader.option(setting, False)
    if form.pattern is not None:
        reader = reader.option("pathGlobFilter", form.pattern).option("recursiveFileLookup", form.nested)
    return reader if form.base is None else reader.option("basePath", form.base)


def _whole_files(session: Any, reader: Any, form: Form, paths: list[str]) -> Given:
    local = all(place_at(session, path).local is not None for path in paths)
    modified = "unix_millis(modificationTime) as modified"
    content = "cast(null as binary) as content" if local else "content"
    with mishaps(as_name(paths[0])):
        frame = reader.load(paths).selectExpr(
            "regexp_replace(path, '^file:/+', '/') as path", "length", modified, content
        )
    return Given(as_name(paths[0]), frame, ignored=form.ignored, is_archive=True)


def _roots(session: Any, paths: list[str]) -> dict[str, int]:
    """What several paths lead to, as `Given` has it."""
    roots: dict[str, int] = {}
    files = HadoopFiles(session)
    for number, path in enumerate(paths if len(paths) > 1 else ()):
        for entry in files.at(path):
            roots.setdefault(on_disk(str(entry.getPath().toString())), number)
    return roots


def _form(files: HadoopFiles, path: str, entries: list[Any]) -> Form:
    """How a path is read, that leads to some entries.

    Raises:
        SourceError: Its files have no known ending, or several, or are packed in a way that Spark cannot read.
    """
    if not entries:
        problem = "matches no file" if GLOB.intersection(path) else "does not exist"
        raise SourceError(f"{path} {problem}", hint="Check the path.")
    kind, packing = kind_of(name_of(path))
    if kind is not None:
        files.require_packing(path, kind, {packing})
        if SIGNS.intersection(path) or not entries[0].isFile():
            return Form(kind, path, alone=True, is_packed=is_packed(kind, {packing}))
        columns = "" if kind in OWN_PACKING else files.columns(path, kind)
        return Form(kind, columns, is_packed=is_packed(kind, {packing}))
    return _form_of_folder(files, path, entries)


def _form_of_folder(files: HadoopFiles, path: str, entries: list[Any]) -> Form:
    kinds, packings, endings, nested, ignored = set(), set(), set(), False, 0
    every = [(name, folders) for name, folders, _ in files.below(entries)]
    names = sorted("/".join((*folders, name)) for name, folders in every)
    require_no_output(as_name(path), names)
    require_no_list(as_name(path), names)
    for name, folders in every:
        known, packing = kind_of(name)
        ignored += known is None
        if known is not None:
            kinds.add(known)
            packings.add(packing)
            endings.add(".".join(name.split(".")[-2 if packing else -1 :]))
            nested = nested or any("=" not in folder for folder in folders)
    if len(kinds) != 1:
        lacking = (
            "has no known ending" if any(entry.isFile() for entry in entries) else "holds no file of a known format"
        )
        problem = f"holds files of several formats ({', '.join(sorted(kinds))})" if kinds else lacking
        raise SourceError(
            f"{as_name(path)} {problem}", hint=f"Name files that end in one of {', '.join(sorted(KNOWN))}."
        )
    kind = kinds.pop()
    files.require_packing(path, kind, packings)
    pattern = f"*.{{{','.join(sorted(endings))}}}" if len(endings) > 1 else f"*.{endings.pop()}"
    return Form(kind, path, pattern, nested, alone=True, ignored=ignored, is_packed=is_packed(kind, packings))
