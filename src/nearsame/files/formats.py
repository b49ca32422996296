"""The formats of files: what a name ends in, and who reads it. A format is a row here, and one file in `sources/`.

1. A class is loaded when a file of its format is met, and not before.
2. Where Spark has a reader of its own, that is what a cluster reads the format by; where it has none it passes it over.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from nearsame.named import NamedTuple

__all__ = [
    "ARCHIVES_NEED",
    "BY_SUFFIX",
    "FORMATS",
    "HUDI_LOG",
    "PAGES",
    "PAGES_NEED",
    "SOURCE_CODE",
    "TEXTS",
    "WHOLE",
    "Format",
]

_PROSE = ("adoc", "md", "org", "rst", "tex", "txt")
SOURCE_CODE = tuple(
    f".{ending}"
    for group in (
        "asm bas bat c cc clj cob coffee cpp cs cu cxx d dart el erl ex exs f f90 for fs go groovy h hpp hs java",
        "jl js jsx kt lean lisp lua m ml mli nim pas php pl pm proto ps1 py r rb rs scala scm sh sol sql sv swift",
        "tcl ts tsx v vb vhd vhdl zig",
    )
    for ending in group.split()
)
TEXTS = (*(f".{ending}" for ending in _PROSE), *SOURCE_CODE)  # files that are one text each
PAGES = {  # and those that are one web page each, with the type that says so
    ".htm": "text/html", ".html": "text/html", ".mht": "multipart/related", ".mhtml": "multipart/related",
    ".xhtml": "application/xhtml+xml",
}  # fmt: skip

HUDI_LOG = ".hoodie"  # the folder that makes one a table of Hudi
WHOLE = "binaryFile"  # to Spark, which leaves the reading to us
PAGES_NEED = ("resiliparse",)
ARCHIVES_NEED = ("fastwarc", "resiliparse")


class Format(NamedTuple):
    """A format of files with records.

    Attributes:
        name: What `sources.parquet` of an output calls it.
        suffixes: What the names of its files end in.
        home: The module and class that reads it on one machine, below `nearsame.sources`.
        settings: What the class is given besides.
        on_spark: What Spark calls its reader.
        is_archive: Whether its records are web pages among others.
        needs: The packages of the extra `web` that read it.
        is_written: Whether a table can be written as one file of it (outputs/lists.py).
    """

    name: str
    suffixes: tuple[str, ...]
    home: str
    settings: Mapping[str, Any] = MappingProxyType({})
    on_spark: str | None = None
    is_archive: bool = False
    needs: tuple[str, ...] = ()
    is_written: bool = False


FORMATS = (
    Format("jsonl", (".json", ".jsonl", ".ndjson"), "jsonl.JsonLines", on_spark="json", is_written=True),
    Format("csv", (".csv",), "delimited.Delimited", on_spark="csv", is_written=True),
    Format("tsv", (".tsv",), "delimited.Delimited", {"delimiter": "\t"}, on_spark="csv", is_written=True),
    Format("parquet", (".parquet",), "parquet.Parquet", on_spark="parquet", is_written=True),
    Format("orc", (".orc",), "orc.Orc", on_spark="orc", is_written=True),
    Format("arrow", (".arrow", ".feather"), "feather.Feather", is_written=True),
    Format("warc", (".warc", ".wet", ".wat"), "warc.WebArchive", on_spark=WHOLE, is_archive=True, needs=ARCHIVES_NEED),
    Format("warc", (".arc",), "warc.WebArchive", {"form": ".arc"}, WHOLE, is_archive=True, needs=ARCHIVES_NEED),
    Format("cdx", (".cdx", ".cdxj"), "cdx.ArchiveIndex"),
    Format("wacz", (".wacz",), "wacz.Wacz", on_spark=WHOLE, is_archive=True, needs=ARCHIVES_NEED),
)

BY_SUFFIX = {suffix: form for form in FORMATS for suffix in form.suffixes}
