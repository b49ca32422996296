"""The formats of files: what a name ends in, and who reads it. A format is a row here, and one file in `sources/`.

1. A class is loaded when a file of its format is met, and not before.
2. Where Spark has a reader of its own, that is what a cluster reads the format by; where it has none it passes it over.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["BY_SUFFIX", "FORMATS", "Format"]


class Format(NamedTuple):
    """A format of files with records.

    Attributes:
        name: What `sources.parquet` of an output calls it.
        suffixes: What the names of its files end in.
        home: The module and class that reads it on one machine, below `nearsame.sources`.
        settings: What the class is told besides.
        on_spark: What Spark calls its reader.
        is_archive: Whether its records are web pages among others.
    """

    name: str
    suffixes: tuple[str, ...]
    home: str
    settings: Mapping[str, Any] = MappingProxyType({})
    on_spark: str | None = None
    is_archive: bool = False


FORMATS = (
    Format("jsonl", (".json", ".jsonl", ".ndjson"), "jsonl.JsonLines", on_spark="json"),
    Format("csv", (".csv",), "delimited.Delimited", on_spark="csv"),
    Format("tsv", (".tsv",), "delimited.Delimited", {"delimiter": "\t"}, on_spark="csv"),
    Format("parquet", (".parquet",), "parquet.Parquet", on_spark="parquet"),
    Format("orc", (".orc",), "orc.Orc", on_spark="orc"),
    Format("arrow", (".arrow", ".feather"), "feather.Feather"),
    Format("warc", (".warc", ".wet", ".wat"), "warc.WebArchive", is_archive=True),
    Format("warc", (".arc",), "warc.WebArchive", {"form": ".arc"}, is_archive=True),
    Format("wacz", (".wacz",), "wacz.Wacz", is_archive=True),
)

BY_SUFFIX = {suffix: form for form in FORMATS for suffix in form.suffixes}
