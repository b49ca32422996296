"""What Spark can read as DataFrames: frames as they are, and paths by their endings.

1. A folder or a pattern of one format is that format's; a path without a known ending is asked about by its files.
2. Paths are Spark's own, s3a and hdfs included; nothing is opened here.
"""

import os
import re
from typing import Any

from samesame.errors import SourceError

__all__ = ["frame_of", "is_frame"]

_FORMATS = {
    "parquet": "parquet", "jsonl": "json", "json": "json", "ndjson": "json", "csv": "csv", "tsv": "csv",
    "txt": "text", "text": "text", "orc": "orc",
}  # fmt: skip
_PACKED = {"gz", "bz2", "zst", "lz4", "snappy", "deflate"}


def is_frame(source: Any) -> bool:
    """Whether it is a DataFrame of Spark."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "mapInArrow")


def frame_of(session: Any, source: Any, *, strict: bool = False) -> Any:
    """The DataFrame of a source.

    Raises:
        SourceError: It is neither a DataFrame nor a path that Spark can read.
    """
    if is_frame(source):
        return source
    if not isinstance(source, (str, os.PathLike)):
        message = f"source of type {type(source).__name__} is neither a Spark DataFrame nor a path"
        raise SourceError(message, hint="Give a DataFrame (session.createDataFrame(...)) or the path of files.")
    path = os.fspath(source)
    kind = _kind(session, path)
    reader = session.read.format(kind)
    if kind == "csv":
        reader = reader.option("header", True).option("multiLine", True).option("escape", '"')
        reader = reader.option("sep", "\t") if _ending(path) == "tsv" else reader
    if kind in ("csv", "json"):
        reader = reader.option("mode", "FAILFAST" if strict else "PERMISSIVE")
    from pyspark.errors import PySparkException  # noqa: PLC0415  (an extra)

    try:
        frame = reader.load(path)
    except PySparkException as error:
        raise SourceError(_first_line(error), hint="Check the path, and that Spark can read it.") from None
    return frame.withColumnRenamed("value", "text") if kind == "text" else frame


def _kind(session: Any, path: str) -> str:
    ending = _ending(path)
    if ending in _FORMATS:
        return _FORMATS[ending]
    found = {_FORMATS[each] for name in _files(session, path) if (each := _ending(name)) in _FORMATS}
    if len(found) == 1:
        return found.pop()
    problem = f"holds files of several formats ({', '.join(sorted(found))})" if found else "has no known ending"
    raise SourceError(f"{path} {problem}", hint=f"Name files that end in one of {', '.join(sorted(_FORMATS))}.")


def _ending(path: str) -> str:
    parts = re.split(r"[./]", path.rstrip("/*").lower())
    if len(parts) > 1 and parts[-1] in _PACKED:
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""


def _files(session: Any, path: str) -> list[str]:
    """Names of files in a folder, as Hadoop's file systems list them."""
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415  (pyspark's)

    jvm = session._jvm  # noqa: SLF001  (no other way to Hadoop's file systems)
    place = jvm.org.apache.hadoop.fs.Path(path)
    try:
        system = place.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())  # noqa: SLF001  (likewise)
        pattern = jvm.org.apache.hadoop.fs.Path(path if "*" in path else path.rstrip("/") + "/*")
        found = system.globStatus(pattern) or []
    except Py4JJavaError as error:
        raise SourceError(f"{path}: {_first_line(error)}", hint="Check the path.") from None
    if not found and not system.exists(place):
        raise SourceError(f"{path} does not exist", hint="Check the path.")
    return [each.getPath().getName() for each in found]


def _first_line(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    return str(java.getMessage() if java is not None else error).strip().splitlines()[0]
