"""What the footers of Parquet and ORC files say: which columns each file has, and which files cannot be read at all.

1. Spark takes the columns of a folder from one file, and reads the others as if they had them: so all are asked.
2. Footers are read by the driver, some at a time; a file that has none is reported with the reason.
"""

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import itemgetter
from typing import Any

from nearsame.engines.spark.failures import innermost
from nearsame.named import NamedTuple

__all__ = ["AT_A_TIME", "Footers", "HadoopFile", "footers"]

AT_A_TIME = 32


class HadoopFile(NamedTuple):
    """One file (Hadoop's path), and the folder whose subfolders are partitions of its data set."""

    path: Any
    base: str | None = None


class Footers(NamedTuple):
    """Files by what they hold.

    Attributes:
        alike: by their columns and folder the addresses of the files that have them.
        broken: files that cannot be read, and why.
    """

    alike: dict[tuple[str, str | None], list[str]]
    broken: tuple[tuple[str, str], ...]


def footers(session: Any, conf: Any, kind: str, files: Sequence[HadoopFile]) -> Footers:
    """The footers of some files of one format."""
    ask = partial({"parquet": _of_parquet, "orc": _of_orc}[kind], session._jvm.org.apache, conf)  # noqa: SLF001  (no public way)
    alike: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    broken = []
    addresses = ((str(file.path.toString()), file) for file in files)
    named = sorted(addresses, key=itemgetter(0))  # folders list theirs in no order
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        answers = pool.map(partial(_columns, ask), (file.path for _, file in named))
        for (address, file), (columns, reason) in zip(named, answers, strict=True):
            if reason:
                broken.append((address, reason))
            else:
                alike[columns, file.base].append(address)
    return Footers(dict(alike), tuple(broken))


def _columns(ask: Any, path: Any) -> tuple[str, str]:
    """The columns of a file, or why they cannot be read."""
    from py4j.protocol import Py4JJavaError

    try:
        return ask(path), ""
    except Py4JJavaError as error:
        said = innermost(error).replace(f"{path.toString()} ", "")
        return "", said or "its footer cannot be read"


def _of_parquet(apache: Any, conf: Any, path: Any) -> str:
    schema = apache.parquet.hadoop.ParquetFileReader.readFooter(conf, path).getFileMetaData().getSchema()
    return str(schema.toString()).partition("\n")[2]  # without the name of the message


def _of_orc(apache: Any, conf: Any, path: Any) -> str:
    reader = apache.orc.OrcFile.createReader(path, apache.orc.OrcFile.readerOptions(conf))
    try:
        return str(reader.getSchema().toString())
    finally:
        reader.close()
