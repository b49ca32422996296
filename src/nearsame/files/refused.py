"""Folders that are not read as the files in them, since these hold more than documents: one refusal for both engines.

1. A table of Delta Lake, Iceberg or Hudi: which of its files count, only its own log says. Rows that were deleted or
   changed still stand in older ones.
2. What a run wrote: its documents are in kept/, beside tables about them; or elsewhere, where it wrote a mask. Of text
   files kept/ may have only a list, which is none of them.
"""

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import suppress

from nearsame.errors import NearSameError, SourceError
from nearsame.files.formats import HUDI_LOG
from nearsame.files.systems import File, is_url, joined
from nearsame.named import NamedTuple

__all__ = ["require_no_list", "require_no_output", "require_no_table"]

_LIST = re.compile(r"(?:^|/)kept(?:-nul)?(?:-\d+)?\.txt$")
_ABOUT = ("removed", "clusters", "spans")  # of what a run writes, as files or as folders of parts


class _Format(NamedTuple):
    """A format of tables: the path of what makes a folder one, and what to give in its place."""

    name: str
    sign: str
    give: str


_FORMATS = (
    _Format("Delta Lake", r"_delta_log/", "DeltaTable({!r}) of the package deltalake"),
    _Format(
        "Iceberg",
        r"metadata/(?:v\d+|\d+-[0-9a-f-]{36})(?:\.gz)?\.metadata\.json(?:\.gz)?$",
        "the table as a catalog of the package pyiceberg loads it",
    ),
    _Format("Hudi", rf"{re.escape(HUDI_LOG)}/", "what Hudi's own packages read of it"),
)
_SIGN = re.compile(rf"(?:^|(?<=/))(?:{'|'.join(f'({form.sign})' for form in _FORMATS)})")


def require_no_table(root: str, paths: Iterable[str], read: Sequence[str] | None = None) -> None:
    """Refuse a folder that holds a table of such a format, where files of it would be read.

    Args:
        root: The folder.
        paths: What is in it; folders end in a slash.
        read: What of it would be read; otherwise all.

    Raises:
        SourceError: It does.
    """
    for found in filter(None, map(_SIGN.search, paths)):
        home = found.string[: found.start()]
        if read is None or any(path.startswith(home) for path in read):
            form, place = _FORMATS[(found.lastindex or 1) - 1], joined(root, home[:-1]) if home else root or "."
            message = f"{place} is a table of {form.name}, and its files also hold rows that are no longer in it"
            raise SourceError(message, hint=f"In Python give {form.give.format(place)}; or name the files that count.")


def require_no_output(root: str, paths: Sequence[str], leave: str = "") -> None:
    """Refuse a folder that holds what a run wrote, by the paths in it, which ascend.

    Args:
        root: The folder.
        paths: What is in it.
        leave: How such a folder further down can be left out, if it can; `{}` is its path.

    Raises:
        SourceError: It does.
    """

    def has(start: str) -> bool:
        at = bisect_left(paths, start)
        return at < len(paths) and paths[at].startswith(start)

    for home, name in (path.rpartition("/")[::2] for path in paths):
        below = f"{home}/" if home else ""
        if name != "stats.json" or not any(has(below + table) for table in _ABOUT):
            continue
        is_mask = has(f"{below}mask.parquet")
        if is_mask or has(f"{below}kept/"):
            place = joined(root, home) if home else root
            where, give = "its documents are in kept/, beside tables about them", joined(place, "kept")
            if is_mask:
                where, give = "tables about documents that are elsewhere", "what `nearsame apply` makes of it"
            message = f"{place} is what nearsame wrote: {where}"
            raise SourceError(message, hint=f"Name {give}{leave.format(home) if home else ''}.")


def require_no_list(root: str, paths: Iterable[str]) -> None:
    """Refuse a list of the text files that stayed, in the kept/ of what a run wrote.

    Args:
        root: A folder.
        paths: Files in it that would be read.

    Raises:
        SourceError: One is such a list.
    """
    for place in (joined(root, path) for path in paths if _LIST.search(path)):
        spelt = {place} if is_url(place) else {os.path.abspath(place), os.path.realpath(place)}  # noqa: PTH100  (both)
        ends = [(whole, found) for whole in sorted(spelt) for found in re.finditer("/kept/", whole)]
        if any(whole[found.end() :] in _targets(whole[: found.start()]) for whole, found in ends):
            message = f"{place} is a list of the text files that stayed, and not their texts"
            hint = "Write with --copy, which puts the files themselves into kept/; or name the files that it lists."
            raise SourceError(message, hint=hint)


def _targets(output: str) -> set[str]:
    """What a run wrote below kept/; nothing, where it is not a run's."""
    import pyarrow as pa  # noqa: PLC0415  (few folders have a file of such a name)
    import pyarrow.parquet as pq  # noqa: PLC0415  (the same)

    place = f"{output}/sources.parquet"
    if not is_url(place) and not os.path.isfile(place):  # noqa: PTH113  (a pipe has no end)
        return set()
    with suppress(OSError, ImportError, NearSameError, pa.ArrowException), File(place).open() as file:
        table = pq.ParquetFile(file).read(columns=["target"], use_threads=False)
        return {str(target) for target in table["target"].to_pylist()}
    return set()
