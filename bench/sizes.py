"""How much disk the package and each of its extras take, by what pip has installed here.

1. A size is that of the files which a distribution lists, without compiled copies of Python code.
2. An extra is counted with all that it needs and the package alone does not.
"""

import argparse
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import report
from packaging.requirements import Requirement

PURPOSES = {
    "web": "HTML pages, web archives, canonical URLs",
    "trafilatura": "main content by trafilatura, which is slower",
    "remote": "sources at http(s) addresses",
    "serve": "the HTTP service and its pages",
    "postgres": "an index in PostgreSQL",
    "report": "HTML pages and plots",
    "spark": "the Spark engine (with Java 17 or 21)",
    "scrapy": "the Scrapy add-on",
    "polars": "SimHash, MinHash and the others as expressions of polars",
    "duckdb": "the same as functions of SQL in DuckDB",
    "murmur3": "MurmurHash3 as SimHash's hash of features",
}
HEADER = ("extra, and what it is for", "adds")


def needs(name: str, extra: str = "") -> set[str]:
    """A distribution and all that it needs, by name, where that is installed."""
    open_names, found = [(name, extra)], {(name, extra)}
    while open_names:
        for needed in _direct(*open_names.pop()):
            if needed not in found:
                found.add(needed)
                open_names.append(needed)
    return {each for each, _ in found}


def _direct(name: str, extra: str) -> Iterable[tuple[str, str]]:
    for line in _installed(name).requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            try:
                _installed(requirement.name)
            except PackageNotFoundError:
                continue
            yield from ((requirement.name.lower().replace("_", "-"), each) for each in ("", *requirement.extras))


def _installed(name: str) -> Distribution:
    return distribution(name)


def size_bytes(names: Iterable[str]) -> int:
    """What the files of distributions take."""
    files = (Path(str(file.locate())) for name in names for file in _installed(name).files or ())
    return sum(file.stat().st_size for file in files if file.suffix != ".pyc" and file.is_file())


def main() -> None:
    """Print the table, and write it into README.md."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    base = needs("nearsame")
    rows = [("nearsame alone: texts in files and tables", _megabytes(base))]
    for extra, purpose in PURPOSES.items():
        rows.append((f"`{extra}`: {purpose}", _megabytes(needs("nearsame", extra) - base)))
    report.show("What is installed", HEADER, rows)
    note = report.made_by("sizes", ("nearsame", "pyarrow", "numba"))
    report.write_between(report.ROOT / "README.md", "sizes", f"{report.markdown(HEADER, rows)}\n\n{note}")


def _megabytes(names: Iterable[str]) -> str:
    size = size_bytes(names) / 1e6
    return f"{size:,.0f} MB" if size >= 1 else f"{size:.1f} MB"


if __name__ == "__main__":
    main()
