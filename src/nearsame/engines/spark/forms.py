"""What files are by the endings of their names, and what those that are read together have in common."""

from nearsame.files.formats import FORMATS, WHOLE
from nearsame.named import NamedTuple

__all__ = ["DELIMITERS", "GLOB", "KNOWN", "OWN_PACKING", "READERS", "SIGNS", "Form", "is_packed", "kind_of", "name_of"]

_TEXTS = {"txt": "text"}  # a file is a document; packed ones are of no known format, as on one machine
KNOWN = _TEXTS | {suffix[1:]: form.name for form in FORMATS if form.on_spark for suffix in form.suffixes}
READERS = {"text": "text"} | {form.name: form.on_spark for form in FORMATS if form.on_spark}
_PACKED = {"gz", "bz2", "zst", "xz", "lz4", "snappy", "deflate"}
OWN_PACKING = ("parquet", "orc")  # whatever the name of the file says
DELIMITERS = {form.name: form.settings.get("delimiter", ",") for form in FORMATS if form.on_spark == "csv"}
GLOB = frozenset("*?[{")
SIGNS = GLOB | {"\\"}  # of all that Hadoop reads a pattern by


class Form(NamedTuple):
    """What files that are read together have in common."""

    kind: str
    columns: str = ""  # what tells them: a schema, a header, a path that stands alone
    pattern: str | None = None  # which files of a folder
    nested: bool = False  # whether some lie in folders of their own, which are not partitions
    alone: bool = False
    ignored: int = 0
    base: str | None = None  # the folder whose subfolders are partitions
    is_packed: bool = False  # whether some are packed, in formats that are not packed by themselves
    is_checked: bool = False  # whether their headers have been seen to be the same
    line_end: str = ""  # of rows of CSV, where they say it
    header: tuple[str, ...] = ()  # of CSV in files by whose names Spark finds no columns


def kind_of(name: str) -> tuple[str | None, str | None]:
    """The format of a file, and how it is packed, by the endings of its name."""
    _, *endings = name.lower().split(".")
    packing = endings.pop() if endings and endings[-1] in _PACKED else None
    kind = KNOWN.get(endings[-1]) if endings else None
    return (None if packing and kind == "text" else kind), packing


def name_of(path: str) -> str:
    """The last part of a path, without the wildcards at its end."""
    return path.rstrip("/").rsplit("/", 1)[-1].rstrip("*")


def is_packed(kind: str, packings: set[str | None]) -> bool:
    """Whether a format is packed by something else than itself, and some files are."""
    return kind not in OWN_PACKING and READERS[kind] != WHOLE and packings != {None}
