"""Answers in folders: Spark's executors write the parts, the driver writes the statistics.

1. In a local (or mounted) file system a folder appears complete or not at all, as on one machine.
2. Elsewhere a folder cannot be renamed as one: there the statistics are written last, and what has them is complete.
3. What nearsame did not write is never replaced.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nearsame.errors import OutputError
from nearsame.outputs.folder import appearing, require_place

__all__ = ["DONE", "STATS", "check_target", "format_of", "write_folder", "write_frame"]

STATS, DONE = "stats.json", "_SUCCESS"  # what tells that nearsame, or Spark, wrote a folder
_FORMATS = {".parquet": "parquet", ".jsonl": "json", ".csv": "csv"}


def format_of(path: str | Path) -> str:
    """The format of Spark's that the name of a place ends with.

    Raises:
        OutputError: It is none of them.

    Example:
        >>> format_of("s3a://bucket/pairs.jsonl")
        'json'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise OutputError(f"{path} is of no known format", hint=f"Name it by what it is to hold: {' '.join(_FORMATS)}.")
    return _FORMATS[suffix]


def check_target(session: Any, target: str | Path, sources: Sequence[str], mark: str, *, overwrite: bool) -> None:
    """See that a folder may be written, or replaced: it has the mark of an earlier run.

    Raises:
        OutputError: It may not.
    """
    if "://" not in str(target):
        require_place(target, tuple(sources), overwrite=overwrite, mark=mark)
        return
    url = str(target).rstrip("/")
    for source in (each.rstrip("/") for each in sources):
        if f"{url}/".startswith(f"{source}/") or f"{source}/".startswith(f"{url}/"):
            raise OutputError(f"{target} and the source {source}: one is in the other", hint="Name another place.")
    system, place = _of_hadoop(session, url)
    if not system.exists(place):
        return
    if not overwrite:
        raise OutputError(f"{target} exists", hint="Name another, or add --overwrite (overwrite=True) to replace it.")
    if len(system.listStatus(place)) and not system.exists(_of_hadoop(session, f"{url}/{mark}")[1]):
        message = f"{target} is not empty, and nothing that nearsame wrote: it has no {mark}"
        raise OutputError(message, hint="Empty it yourself, or name another place.")


def write_folder(  # noqa: PLR0913  (what is written, where, and over what)
    session: Any,
    target: str | Path,
    frames: Mapping[str, Any],
    sources: Sequence[str],
    record: Callable[[str], dict[str, Any]],
    *,
    overwrite: bool,
) -> None:
    """Write each frame as a folder of Parquet parts, and what `record(folder)` then says as the statistics."""
    check_target(session, target, sources, STATS, overwrite=overwrite)
    with _home(session, target) as home:
        for name, frame in frames.items():
            frame.write.parquet(f"{home}/{name}", compression="zstd")
        _write_text(session, f"{home}/{STATS}", json.dumps(record(home), indent=2, ensure_ascii=False) + "\n")


def write_frame(session: Any, target: str | Path, frame: Any, sources: Sequence[str], *, overwrite: bool) -> None:
    """Write a frame as a folder of parts in the format that its name ends with."""
    kind = format_of(target)
    check_target(session, target, sources, DONE, overwrite=overwrite)
    with _home(session, target) as home:
        options = {"header": True, "escape": '"'} if kind == "csv" else {}
        frame.write.format(kind).options(**options).save(home)


@contextmanager
def _home(session: Any, target: str | Path) -> Iterator[str]:
    """The URL to write to; what was there goes only when the new is there, or where that cannot be, before it."""
    if "://" in str(target):
        url = str(target).rstrip("/")
        system, place = _of_hadoop(session, url)
        system.delete(place, True)
        yield url
        return
    with appearing(require_place(target, overwrite=True, mark=None)) as made:
        yield made.as_uri()


def _write_text(session: Any, url: str, text: str) -> None:
    system, place = _of_hadoop(session, url)
    stream = system.create(place)
    stream.write(bytearray(text.encode()))
    stream.close()
    folder, _, name = url.rpartition("/")
    system.delete(_of_hadoop(session, f"{folder}/.{name}.crc")[1], False)  # what Hadoop adds on a local disk


def _of_hadoop(session: Any, url: str) -> tuple[Any, Any]:
    """The file system of a URL, and its path."""
    place = session._jvm.org.apache.hadoop.fs.Path(url)  # noqa: SLF001  (there is no public way to Hadoop)
    return place.getFileSystem(session._jsparkSession.sessionState().newHadoopConf()), place  # noqa: SLF001  (likewise)
