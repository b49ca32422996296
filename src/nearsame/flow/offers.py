"""What a result offers to whoever looks at it in a notebook.

It is made above, by studies/notebooks.py, which is named here and loaded when something is asked for.
"""

import os
from importlib import import_module
from typing import Any

from nearsame.answers.in_notebooks import InNotebooks
from nearsame.recipes.arguments import checked, require_number

__all__ = ["Offers", "Plots"]


def _notebooks() -> Any:
    return import_module("nearsame.studies.notebooks")


class Plots:
    """The pictures of a result."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def __repr__(self) -> str:
        return f"Plots({self._found!r})"

    def similarity(self) -> Any:
        """How many pairs there are by similarity.

        Raises:
            ConfigError: The run was on Spark.
        """
        return _notebooks().similarity(self._found)

    def clusters(self) -> Any:
        """How many clusters there are by size, and the largest.

        Raises:
            ConfigError: The run was on Spark, or found pairs, which have no clusters.
        """
        return _notebooks().clusters(self._found)


class Offers(InNotebooks):
    """What `Result` and `Pairs` show."""

    @property
    def plot(self) -> Plots:
        """Pictures: `.plot.similarity()`, `.plot.clusters()`."""
        return Plots(self)

    @checked
    def show(self, count: int = 5) -> Any:
        """Some pairs with their texts side by side, the least similar first; in a terminal as text.

        Example:
            >>> import nearsame as ns
            >>> print(ns.dedup(["a rose is a rose", "A rose is a rose!"]).show())
            1.0000 jaccard
              - memory:1
                A rose is a rose!
              + memory:0
                a rose is a rose
        """
        require_number("count", count, 0)
        return _notebooks().shown_pairs(self, count)

    @checked
    def report(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        texts: bool = True,
        against: "str | os.PathLike[str] | None" = None,
    ) -> None:
        """Write its report, for people: what `write_report(report(found), path)` does.

        Where the page has no room for all pairs, page.html.pairs.parquet has them.

        Args:
            path: A .html or .json file.
            overwrite: Whether a file that exists is replaced.
            texts: Whether texts of documents stand in it.
            against: The folder of an older run of `dedup`: what it decided otherwise stands in it, too.

        Raises:
            OutputError: The name says no such format, the file exists, or it cannot be written.
            ConfigError: The run was on Spark.
            MissingExtraError: HTML needs the extra `report`.
        """
        _notebooks().written(self, path, overwrite=overwrite, texts=texts, against=against)

    def _repr_html_(self) -> str:
        html: str = _notebooks().summary(self)._repr_html_()
        return html
