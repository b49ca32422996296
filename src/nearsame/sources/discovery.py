"""From what the user names to parts: files, folders, globs, URLs, standard input, tables.

1. The order is the user's; inside a folder or a glob it is that of the paths, its text files (one part) last.
2. What is named explicitly must be readable; what a folder happens to hold may be passed over, and is counted.
3. Only regular files are read: of a folder or glob, others are passed over; a link to nothing is a skip.
4. Nothing is read here but directories and file times (and standard input, which cannot be read twice).
5. A file is named once: what an answer says of it by its name has to be about one document.
"""

import glob
import itertools
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NoReturn

from nearsame.arrow import Rows
from nearsame.errors import ColumnError, ConfigError, MissingExtraError, SourceError
from nearsame.files.compressions import COMPRESSIONS
from nearsame.files.formats import ARCHIVES_NEED, BY_SUFFIX, HUDI_LOG, PAGES, PAGES_NEED, SOURCE_CODE, TEXTS, Format
from nearsame.files.inputs import NAMED_TWICE, local_paths, local_stamp, name_as_text, names_of
from nearsame.files.passed_over import PassedOver, converter_of, kind_of
from nearsame.files.systems import File, chained, filesystem, is_url, joined, mishaps, require_bucket, suffixed_name
from nearsame.named import NamedTuple
from nearsame.sources.base import Columns, Part
from nearsame.sources.folder import TextFolder, list_name
from nearsame.sources.folder_keys import names_of_folders
from nearsame.sources.kinds import require_distinct
from nearsame.sources.memory import Memory, giving_back, in_memory
from nearsame.sources.parts import Dangling
from nearsame.sources.standard_input import json_input
from nearsame.sources.targets import with_own_names, with_own_targets
from nearsame.sources.wanted import Wanted

__all__ = ["Parts", "open_parts"]

_TEXTS = (*TEXTS, *PAGES)
_WHATEVER = Wanted()
_ABOUT_DATA = frozenset({"dataset_dict.json", "dataset_info.json", "dataset_infos.json"})


class Parts(list[Part]):
    """The parts of some sources.

    Attributes:
        passed_over: Which files of folders and globs are not read.
        give_back: Makes of some rows of each part what the source was, where it was one table of a library.
    """

    passed_over: PassedOver = PassedOver()
    give_back: Callable[[Sequence[Rows]], Any] | None = None


class _Listing(NamedTuple):
    """Files below a root; `explicit` ones were named one by one."""

    root: str  # as the user gave it
    paths: list[str]  # relative to the root
    explicit: bool
    passed_over: PassedOver = PassedOver()
    dangling: Sequence[str] = ()  # links that lead to no file
    wanted: Wanted = _WHATEVER

    def url(self, path: str) -> str:
        """The path as the user would write it."""
        return joined(self.root, path)

    def suffix(self, path: str) -> str | None:
        """What says what a file holds."""
        return self.wanted.form(self.url(path))[0]


def open_parts(  # noqa: PLR0913  (what, and how each kind of it is taken)
    sources: Sequence[Any],
    *,
    columns: Columns,
    strict: bool = False,
    stdin: BinaryIO | None = None,
    without_extras: bool = False,
    wanted: Wanted = _WHATEVER,
) -> Parts:
    """The parts of everything that the user named, in order.

    Args:
        sources: Paths of files and folders, globs, URLs, `-` for JSON lines from standard input, compressed or not, and
            what is in memory or comes out of it: the kinds of kinds.py.
        columns: The columns that will be read; named ones that text files cannot have are refused here.
        strict: Whether a record that cannot be read is an error.
        stdin: What `-` reads, in place of standard input.
        without_extras: Whether files of folders and globs whose reader is not installed may be passed over, as others
            are: whoever says so reports them.
        wanted: Which files are read, and as what, where their names do not say so.

    Raises:
        ConfigError: Files are asked for, and there are none; or one is named twice.
        SourceError: A source does not exist, cannot be listed, or holds nothing of a known format.
        MissingExtraError: A URL's scheme needs a package that is not installed.

    Example:
        >>> parts = open_parts([["a rose", "is a rose"]], columns=Columns())
        >>> [part.name for part in parts]
        ['memory']
    """
    names_of(tuple(sources))  # refuses what is none
    require_distinct(sources)
    opened: list[Part] = []
    passed_over = PassedOver()
    named = set[str]()
    many = sum(not isinstance(source, (str, os.PathLike)) for source in sources) > 1
    if wanted and not any(isinstance(source, (str, os.PathLike)) for source in sources):
        message = "include, exclude and read_as are about files, and no source is a file"
        raise ConfigError(message, hint="Leave them out.")
    for source in _texts_together(sources, wanted):
        if isinstance(source, _Listing):
            listing = _with_columns(source, columns)
            if len(sources) > 1:  # a folder or a pattern names no file twice
                _require_once(listing, named)
            opened += _parts_of(listing, columns, strict=strict)
            passed_over += listing.passed_over
        elif isinstance(source, str):
            opened.append(json_input(stdin, columns.encoding, strict=strict))
        else:
            before = sum(isinstance(part, Memory) for part in opened)
            opened += in_memory(source, before if many else None, strict=strict)
    parts = Parts(with_own_targets(with_own_names(opened)))
    parts.passed_over = passed_over
    parts.give_back = giving_back(sources[0], parts) if len(sources) == 1 else None
    if passed_over.uninstalled and (not without_extras or not opened):
        _require_installed(passed_over)
    return parts


def _require_once(listing: _Listing, named: set[str]) -> None:
    """Refuse a file that is among those that were `named` before, and add the others to these."""
    for path in (*listing.paths, *listing.dangling):
        url = listing.url(path)
        local = () if "::" in url else local_paths(url)
        place = os.path.abspath(local[0]) if local else url  # noqa: PTH100  (a link is a name of its own)
        if place in named:
            raise ConfigError(f"{url} is named twice", hint=NAMED_TWICE)
        named.add(place)


def _texts_together(sources: Sequence[Any], wanted: Wanted) -> Iterator[Any]:
    """Each source, located; text files named one after the other (as a shell's glob does) become one listing."""
    waiting: list[str] = []
    for source in sources:
        named = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
        located = source if named is None else named if named == "-" else _located(str(named), wanted)
        if isinstance(located, _Listing) and located.explicit and wanted.form(str(named))[0] in _TEXTS:
            waiting.append(str(named))
            continue
        yield from _together(waiting, wanted)
        waiting = []
        yield located
    yield from _together(waiting, wanted)


def _together(paths: list[str], wanted: Wanted) -> Iterator[_Listing]:
    pieces = [path.split("/") for path in paths]
    levels = zip(*(piece[:-1] for piece in pieces), strict=False)
    common = len(list(itertools.takewhile(lambda level: len(set(level)) == 1, levels)))
    # a copy must not leave kept/ through `..` or a path from the root
    apart = any({"..", ""}.intersection(piece[common:-1]) for piece in pieces)
    groups = [[path] for path in paths] if apart else [paths] if paths else []
    for group in groups:
        depth = common if len(groups) == 1 else group[0].count("/")
        root = _rooted("/".join(group[0].split("/")[:depth]), group[0])
        yield _Listing(root, ["/".join(path.split("/")[depth:]) for path in group], explicit=True, wanted=wanted)


def _located(path: str, wanted: Wanted) -> _Listing:
    if is_url(path):
        return _located_remotely(path, wanted)
    with mishaps(path):
        if Path(path).is_dir():
            return _inside(path, list(_walked(path)), wanted)
        if glob.has_magic(path) and not os.path.lexists(path):
            return _matched(path, wanted)
        mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode):
        message = f"{path} is not a regular file, and others cannot be read twice"
        raise SourceError(message, hint="Give its contents, as JSON lines, to the source - (standard input).")
    root, name = os.path.split(path)
    return _explicit(root, name, path, wanted)


def _explicit(root: str, name: str, path: str, wanted: Wanted) -> _Listing:
    if wanted.form(path)[0] is None:
        known = " ".join(sorted([*BY_SUFFIX, *_TEXTS]))
        hint = f"Name it by what it holds: {known} (data also {' '.join(COMPRESSIONS)}), or say so with --as."
        if converter := converter_of(path):
            hint = f"Convert it first, by {converter}; or say with --as what it holds."
        raise SourceError(f"{path} has an unknown format", hint=hint)
    if name.startswith("kept"):
        from nearsame.files.refused import require_no_list  # noqa: PLC0415  (few are called so)

        require_no_list(root, [name])
    return _Listing(root, [name], explicit=True, wanted=wanted)


def _walked(root: str) -> Iterator[str]:
    """The files below a folder, relative; hidden folders, and folders behind links, are not entered."""

    def stop(error: OSError) -> None:
        with mishaps(str(error.filename or root)):
            raise error

    for folder, inner, names in os.walk(root, onerror=stop):
        inner[:] = [name for name in inner if not _is_hidden(name)]
        yield from (Path(folder, name).relative_to(root).as_posix() for name in names)


def _inside(root: str, every: list[str], wanted: Wanted) -> _Listing:
    from nearsame.files.refused import (  # noqa: PLC0415  (only folders are)
        require_no_list,
        require_no_output,
        require_no_table,
    )
    from nearsame.sources.tables import is_annotations  # noqa: PLC0415  (the same)

    paths = [path for path in every if wanted.takes(path)]
    require_no_table(root, every, read=paths)
    visible = sorted(path for path in paths if wanted.form(path)[0] and not PurePosixPath(path).name.startswith("."))
    require_no_output(root, visible, leave=", or leave it out with --exclude '{}/**'")
    require_no_list(root, visible)
    kinds = Counter(sorted(kind_of(path) for path in set(paths).difference(visible)))
    kinds += Counter({"left out as asked": len(every) - len(paths)})
    about_data = _about_data(visible, wanted) | {path for path in visible if is_annotations(joined(root, path))}
    visible = [path for path in visible if path not in about_data]
    modes = {path: _mode(root, path) for path in visible}
    regular = [path for path, mode in modes.items() if mode is not None and stat.S_ISREG(mode)]
    dangling = [path for path, mode in modes.items() if mode is None]
    known = _installed(regular, wanted)
    without = Counter(kind_of(path) for path in set(regular).difference(known))
    odd = Counter({"no regular file": len(visible) - len(regular) - len(dangling)})
    passed_over = PassedOver(kinds + without + odd + Counter({"about a data set": len(about_data)}), without)
    if not known and not dangling and not without:
        what = f"{len(every)} files, none of a known format ({passed_over.listed})" if every else "no files"
        hint = "Name a folder with .jsonl, .csv, .parquet, .arrow, .txt, .html or .warc files."
        raise SourceError(f"{root or '.'} holds {what}", hint=hint)
    return _Listing(root, known, explicit=False, passed_over=passed_over, dangling=dangling, wanted=wanted)


def _about_data(paths: Sequence[str], wanted: Wanted) -> set[str]:
    """The files that tell of a data set, as Hugging Face has them, and that are not its documents."""
    split = [(path, *path.rpartition("/")[::2]) for path in paths]
    told = {path for path, _, name in split if name in _ABOUT_DATA}
    saved = {folder for _, folder, name in split if name == "dataset_info.json"}
    told |= {path for path, folder, name in split if name == "state.json" and folder in saved}
    if "README.md" in paths:
        others = [path for path in paths if path not in told and path != "README.md"]
        is_card = bool(others) and not any(wanted.form(path)[0] in _TEXTS for path in others)
        told |= {"README.md"} if is_card else set()
    return told


def _installed(paths: list[str], wanted: Wanted) -> list[str]:
    """Those whose readers are installed."""
    needed = {path: _packages_of(str(wanted.form(path)[0])) for path in paths}
    missing = {package for packages in set(needed.values()) for package in packages if find_spec(package) is None}
    return [path for path in paths if missing.isdisjoint(needed[path])]


def _packages_of(suffix: str) -> tuple[str, ...]:
    form = BY_SUFFIX.get(suffix)
    return form.needs if form else PAGES_NEED if suffix in PAGES else ()


def _require_installed(passed_over: PassedOver) -> NoReturn:
    missing = [name for name in dict.fromkeys((*PAGES_NEED, *ARCHIVES_NEED)) if find_spec(name) is None]
    files = ", ".join(f"{kind} {count:,}" for kind, count in sorted(passed_over.uninstalled.items()))
    raise MissingExtraError.of(
        f"not installed, and needed by files of the source ({files}): {', '.join(missing)}", "web"
    )


def _mode(root: str, path: str) -> int | None:
    """What kind of file it is; None for a link that leads to none."""
    if is_url(root):
        return stat.S_IFREG
    place = Path(joined(root, path))
    with mishaps(str(place)):
        try:
            return place.stat().st_mode
        except OSError:
            if place.is_symlink():
                return None
            raise


def _matched(pattern: str, wanted: Wanted) -> _Listing:
    paths = [path for path in dict.fromkeys(glob.glob(pattern, recursive=True)) if not Path(path).is_dir()]  # noqa: PTH207  (it would rewrite the pattern)
    if not paths:
        raise SourceError(f"{pattern} matches no file", hint="Check the pattern; ** also goes into folders.")
    root = _static_prefix(pattern)
    inner = [os.path.relpath(path, root or ".") for path in paths]
    if any(path.startswith("..") for path in inner):
        raise SourceError(f"{pattern} leads out of {root or '.'}", hint="Write it without .. after a wildcard.")
    return _inside(root, inner, wanted)


def _static_prefix(pattern: str) -> str:
    parts = pattern.split("/")
    fixed = next(index for index, part in enumerate(parts) if glob.has_magic(part))
    return _rooted("/".join(parts[:fixed]), pattern)


def _rooted(root: str, path: str) -> str:
    """A first part of a path, with the slashes at its end that mean something."""
    if root.endswith(":/") and is_url(path):
        return f"{root}/"
    return root or ("/" if path.startswith("/") else "")


def _located_remotely(url: str, wanted: Wanted) -> _Listing:
    system, path = filesystem(url)
    named, container = chained(url)
    with mishaps(url):
        if "*" in path:
            prefix = _static_prefix(path)
            matches = [item for item, info in system.glob(path, detail=True).items() if info["type"] == "file"]
            if not matches:
                require_bucket(system, prefix)
                raise SourceError(f"{url} matches no file", hint="Check the pattern; ** also goes into folders.")
            root = _static_prefix(named) + container
            return _inside(root, _visible(matches, prefix), wanted)
        if _WHATEVER.form(url)[0] is None and (system.isdir(path) or system.info(path)["type"] == "directory"):
            return _inside(url, _visible(system.find(path), path), wanted)
    at = suffixed_name(url).rindex("/") + 1
    root = named[:at] if named[:at].endswith("://") else named[: at - 1]
    return _explicit(root + container, named[at:], url, wanted)


def _visible(paths: Iterable[str], root: str) -> list[str]:
    """The paths below a root, but for those in hidden folders."""
    inner = (path[len(root.rstrip("/")) :].lstrip("/") for path in paths)
    return [path for path in inner if not any(map(_is_hidden, path.split("/")[:-1]))]


def _is_hidden(folder: str) -> bool:
    return folder.startswith(".") and folder != HUDI_LOG


def _parts_of(listing: _Listing, columns: Columns, *, strict: bool) -> Iterator[Part]:
    texts = [path for path in listing.paths if listing.suffix(path) in _TEXTS]
    for path in listing.paths:
        url = listing.url(path)
        suffix, compression = listing.wanted.form(url)
        form = BY_SUFFIX.get(str(suffix))
        if form is not None:
            file = File(url)
            yield _reader_of(form)(
                file,
                **form.settings,
                format=form.name,
                name=name_as_text(url),
                target=name_as_text(suffixed_name(url)[len(chained(url)[0]) - len(path) :]),
                compression=compression,
                strict=strict,
                lenient=not listing.explicit and len(listing.paths) > 1,
                encoding=columns.encoding,
                bare=columns.bare,
                stamp=file.stamp(),
            )
    for path in listing.dangling:
        stamp = local_stamp(Path(listing.url(path)).lstat())
        yield Dangling(listing.url(path), name_as_text(path), strict=strict, stamp=stamp)
    if texts:
        _refuse_columns(columns, listing.root)
        yield _text_folder(listing, texts, strict=strict)


def _reader_of(form: Format) -> Callable[..., Part]:
    """The class that reads a format, loaded when the first of its files is met."""
    module, _, name = form.home.partition(".")
    reader: Callable[..., Part] = getattr(import_module(f"nearsame.sources.{module}"), name)
    return reader


def _text_folder(listing: _Listing, texts: list[str], *, strict: bool) -> TextFolder:
    files = [] if is_url(listing.root) else [File(listing.url(path)) for path in texts]
    return TextFolder(
        listing.root,
        tuple(texts),
        name=name_as_text(listing.url(texts[0]) if listing.explicit and len(texts) == 1 else listing.root or "."),
        target=list_name(texts),
        strict=strict,
        stamps=tuple(file.stamp() for file in files),
    )


def _with_columns(listing: _Listing, columns: Columns) -> _Listing:
    """Without the source code that lies about in a folder of records, where a column is asked for that it has not."""
    if listing.explicit or not (columns.order or columns.no_text):
        return listing
    others = [
        path
        for path in listing.paths
        if listing.suffix(path) not in SOURCE_CODE
        or not (columns.no_text or set(columns.order).difference(names_of_folders([listing.url(path)])))
    ]
    if not others:
        return listing
    code = Counter(kind_of(path) for path in set(listing.paths).difference(others))
    return listing._replace(paths=others, passed_over=listing.passed_over + PassedOver(code))


def _refuse_columns(columns: Columns, root: str) -> None:
    options = ("--features-column", "--vector-column", "--codes-column")
    for option, name in zip(options, (columns.items, columns.vectors, columns.codes), strict=True):
        if name is not None:
            raise ColumnError(f"the text files of {root or '.'} have no column {name!r}", hint=f"Leave out {option}.")
