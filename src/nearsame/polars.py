"""The plain functions as expressions of polars: values are those of `nearsame.simhash` and the others, row by row.

1. A column is a name or an expression; one value for all rows is `pl.lit(value)`.
2. A settings error is raised when the expression is made. Lazy frames know each type, and rows may come in pieces.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Unpack

import pyarrow as pa

from nearsame.errors import MissingExtraError
from nearsame.recipes.arguments import checked
from nearsame.recipes.settings import CodeSettings, SetSettings, SignatureSettings, lasting
from nearsame.studies import sketches

try:
    import polars as pl
except ImportError as error:
    raise MissingExtraError.of("nearsame.polars needs the package polars", "polars") from error

__all__ = ["hamming", "jaccard", "minhash", "shingles", "simhash"]

Column = str | pl.Expr


@checked
def simhash(text: Column, **settings: Unpack[CodeSettings]) -> pl.Expr:
    """The SimHash code of each text: UInt64, UInt32 up to 32 bits, Binary beyond 64.

    Example:
        >>> frame = pl.DataFrame({"text": ["a rose is a rose", None]})
        >>> frame.select(simhash("text", bits=32))["text"].to_list()
        [168971439, None]
    """
    return _mapped(partial(sketches.simhash, **lasting(settings)), text)


@checked
def minhash(text: Column, **settings: Unpack[SignatureSettings]) -> pl.Expr:
    """The MinHash signature of each text, a list of UInt64.

    Example:
        >>> pl.select(minhash(pl.lit("a rose is a rose"), num_perm=2, shingle_size=2).alias("s"))["s"].to_list()
        [[19799627693526, 69087435542021]]
    """
    return _mapped(partial(sketches.minhash, **lasting(settings)), text)


@checked
def shingles(text: Column, *, hashed: bool = False, **settings: Unpack[SetSettings]) -> pl.Expr:
    """The shingles of each text, a list of String, or of UInt64 if hashed.

    Example:
        >>> pl.select(shingles(pl.lit("A rose is a rose!"), shingle_size=2).alias("s"))["s"].to_list()
        [['a rose', 'rose is', 'is a']]
    """
    return _mapped(partial(sketches.shingles, hashed=hashed, **lasting(settings)), text)


@checked
def jaccard(a: Column, b: Column, **settings: Unpack[SetSettings]) -> pl.Expr:
    """The Jaccard similarity of the shingles of two texts, row by row.

    Example:
        >>> frame = pl.DataFrame({"text": ["a rose is red", "a rose"]})
        >>> frame.select(jaccard("text", pl.lit("a rose is a rose"), shingle_size=2))["text"].to_list()
        [0.5, 0.3333333333333333]
    """
    return _mapped(partial(sketches.jaccard, **lasting(settings)), a, b)


@checked
def hamming(a: Column, b: Column) -> pl.Expr:
    """In how many bits two codes differ, row by row.

    Example:
        >>> pl.DataFrame({"code": [7, None, 5]}).select(hamming("code", pl.lit(4)))["code"].to_list()
        [2, None, 1]
    """
    return _mapped(sketches.hamming, a, b)


def _mapped(function: Callable[..., Any], *columns: Column) -> pl.Expr:
    """What a function makes of columns; its type is that of what it makes of no rows."""
    nothing = pl.Series(function(*[pa.array([], pa.string())] * len(columns)))

    def of_rows(given: Sequence[pl.Series]) -> pl.Series:
        sizes = {len(each) for each in given} - {1}  # a literal comes as one row beside many, or none
        if sizes == {0}:
            return nothing.rename(given[0].name)
        many = [each if len(each) != 1 or not sizes else _everywhere(each, max(sizes)) for each in given]
        found: pl.Series = function(*many)
        return found.rename(given[0].name)

    return pl.map_batches(columns, of_rows, nothing.dtype, is_elementwise=True)


def _everywhere(one: pl.Series, size: int) -> Any:
    """One value for so many rows: itself, unless it is a list, which would be a column."""
    return one.new_from_index(0, size) if one.dtype.is_nested() else one[0]
