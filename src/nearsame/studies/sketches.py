"""Methods as plain functions: of a text its shingles, code or signature; of two texts or codes how near they are.

1. A text gives one value, a column of texts a column of the same kind (sources/series.py); a null gives a null.
2. Settings are those of the recipes, and values those of a run: the stages are the same (flow/sketching.py).
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearsame import arrow, schemas
from nearsame.arrow import Rows, UInt64s
from nearsame.errors import ConfigError
from nearsame.flow.sketching import Sketching, sets_of, sketching
from nearsame.flow.steps import cut_flags, stops
from nearsame.kernels import deciding, scores
from nearsame.kernels.hamming_search import distances
from nearsame.recipes.arguments import checked
from nearsame.recipes.methods import Jaccard, MinHash, Shingled, SimHash
from nearsame.recipes.settings import CodeSettings, SetSettings, SignatureSettings, given_settings
from nearsame.sources.codes import code_words, has_prefixes, is_codes, is_prefixed, length_of, read_code, words_of
from nearsame.sources.series import as_given, is_column, text_batches, values_of
from nearsame.stages.pairs import measures
from nearsame.studies.walks.shingled import runs_of
from nearsame.studies.walks.shingled import words_of as tokens_of

__all__ = ["hamming", "jaccard", "minhash", "shingles", "simhash"]

_WORD = 64
_LONGEST = 1 << 16  # bits of a code whose form does not tell its length
_CODES = "Give whole numbers, bytes or hexadecimal digits."
_OF_COLUMNS = ("__iter__", "__arrow_c_array__", "__arrow_c_stream__")


@checked
def simhash(text: Any, **settings: Unpack[CodeSettings]) -> Any:
    """The SimHash code of a text, a whole number; settings are those of `SimHash` that are about one text.

    Args:
        text: A text, or a column of them: a list, or one of Arrow, polars, pandas or NumPy.

    Returns:
        The code; None of a text without tokens. Of an Arrow or polars column uint32 up to 32 bits, uint64 up to 64, and
        bytes beyond that, the highest first.

    Raises:
        ConfigError: The settings cannot be, or weights need a corpus.
        SourceError: It holds something else than texts.

    Example:
        >>> f"{simhash('a rose is a rose'):016x}"
        'c6ee32820a124caf'
        >>> simhash(["a rose is a rose", None], bits=32)
        [168971439, None]
    """
    made = sketching(SimHash(**given_settings(settings, CodeSettings)))
    codes = _mapped(text, made)
    if not pa.types.is_fixed_size_binary(made.kind):
        return codes
    if isinstance(text, (list, tuple)):
        return [code and int.from_bytes(code) for code in codes]
    return int.from_bytes(codes) if isinstance(codes, bytes) else codes


@checked
def minhash(text: Any, **settings: Unpack[SignatureSettings]) -> Any:
    """The MinHash signature of a text, a list of whole numbers: two agree in a share of places about their Jaccard.

    Settings are those of `MinHash` that are about one text.

    Args:
        text: A text, or a column of them: a list, or one of Arrow, polars, pandas or NumPy.

    Returns:
        The signature; None of an empty text. Of a column lists of uint64, of NumPy's a row each.

    Raises:
        ConfigError: The settings cannot be.
        SourceError: It holds something else than texts.

    Example:
        >>> minhash("a rose is a rose", num_perm=2, shingle_size=2)
        [19799627693526, 69087435542021]
    """
    return _mapped(text, sketching(MinHash(**given_settings(settings, SignatureSettings))))


@checked
def shingles(text: Any, *, hashed: bool = False, **settings: Unpack[SetSettings]) -> Any:
    """The shingles of a text, as they read, in the order of the text, each once (with repeats=True each time).

    Args:
        text: A text, or a column of them: a list, or one of Arrow, polars, pandas or NumPy.
        hashed: Whether to give the hashes that are compared in place of the shingles: of 64 bits, ascending, and of a
            text without tokens those of the text itself.

    Returns:
        A list of texts (of numbers if hashed); None of a null.

    Raises:
        ConfigError: The settings cannot be.
        SourceError: It holds something else than texts.

    Example:
        >>> shingles("A rose is a rose!", shingle_size=2)
        ['a rose', 'rose is', 'is a']
    """
    recipe = Jaccard(**given_settings(settings, SetSettings))
    made = sets_of(recipe)
    if hashed:
        return _mapped(text, _with_empty(made))
    named = Sketching((), pa.large_list(pa.large_string()), lambda batch: _named(batch, recipe))
    return _mapped(text, named)


@checked
def jaccard(a: Any, b: Any, **settings: Unpack[SetSettings]) -> Any:
    """The Jaccard similarity of the shingles of two texts: the share of all their shingles that both have.

    Args:
        a: A text, or a column of them.
        b: Another text or column; of two columns, row by row.

    Returns:
        A number from 0 to 1, the nearest to the fraction; None where a text is null. Two empty texts have 1.

    Raises:
        ConfigError: The settings cannot be, or the columns are of different lengths.
        SourceError: They hold something else than texts.

    Example:
        >>> jaccard("a rose is a rose is a rose", "a rose is a rose", shingle_size=2)
        1.0
    """
    made = _with_empty(sets_of(Jaccard(**given_settings(settings, SetSettings))))
    columns = [_column(side if is_column(side) else [side], made).combine_chunks() for side in (a, b)]
    whole = pa.concat_arrays(columns)
    return _row_by_row(a, b, columns, lambda one, other: _shares(whole, one, other + len(columns[0])))


def hamming(a: Any, b: Any) -> Any:
    """In how many bits two codes differ.

    Args:
        a: A code: a whole number (a negative one is of 64 bits, in two's complement), bytes, or a text of hexadecimal
            digits, or of digits behind 0x or 0b. Or a column of codes of one length: of numbers, bytes or such texts.
        b: Another code or column; of two columns, row by row.

    Returns:
        A whole number; None where a code is null.

    Raises:
        ConfigError: Something is no code, or two are of different lengths.
        SourceError: It is no column: an iterator, say, or a set.

    Example:
        >>> hamming(0b1101, 0b1011), hamming("ff00", "0f00"), hamming([7, None], 4)
        (2, 4, [2, None])
    """
    if not (_is_many(a) or _is_many(b)):
        return _distance(a, b)
    if any(isinstance(side, (list, tuple)) for side in (a, b)):
        return _listed(a, b)
    columns = [values_of(side if _is_many(side) else [None if side is None else 0]) for side in (a, b)]
    sides = list(zip((a, b), columns, strict=True))
    held = [column for side, column in sides if _is_many(side)]
    single = [side for side in (a, b) if not _is_many(side)]
    if odd := [column.type for column in held if not is_codes(column.type)]:
        raise ConfigError(f"a column of {odd[0]} holds no codes", hint=_CODES)
    if any(has_prefixes(column) or pa.types.is_decimal(column.type) for column in held):  # each has its own length
        listed = _listed(*(_values(column) if _is_many(side) else side for side, column in sides))
        return as_given(a if _is_many(a) else b, pa.chunked_array([pa.array(listed, pa.int32())]))
    bits = _common_length(held, single)
    one, other = (_words(column, bits) if _is_many(side) else _word(side, bits) for side, column in sides)
    return _row_by_row(a, b, columns, lambda x, y: distances(one[x], other[y]))


def _values(column: pa.Array) -> list[Any]:
    """Codes one by one; numbers as such, whatever holds them."""
    values: list[Any] = column.to_pylist()
    return [int(value) if isinstance(value, Decimal) else value for value in values]


def _common_length(columns: Sequence[pa.Array], single: Sequence[Any]) -> int:
    """How many bits the codes of columns have; where they hold none, the one that stands by itself."""
    lengths = {length_of(column) for column in columns if column.null_count < len(column)}
    if all(pa.types.is_integer(column.type) for column in columns):
        return _WORD
    if len(lengths) > 1 or None in lengths:
        raise ConfigError("the codes are not all of one length", hint="Give numbers, or codes of one length.")
    ours = [_code(code) for code in single if code is not None]
    return next(iter(lengths), None) or max([size or number.bit_length() for number, size in ours], default=0) or _WORD


def _mapped(texts: Any, made: Sketching) -> Any:
    """The value of a text, or those of a column, as such a column."""
    if not is_column(texts):
        return _column([texts], made)[0].as_py()
    return as_given(texts, _column(texts, made))


def _column(texts: Any, made: Sketching) -> pa.ChunkedArray:
    return pa.chunked_array([made(batch) for batch in _documents(texts)], made.kind)


def _documents(texts: Any) -> Iterator[pa.RecordBatch]:
    for column in text_batches(texts):
        rows = pa.array(np.arange(len(column)))
        yield pa.RecordBatch.from_arrays([rows, column], schema=schemas.DOCUMENTS)


def _named(batch: pa.RecordBatch, recipe: Shingled) -> pa.Array:
    """Shingles as they read."""
    flags, left_out = cut_flags(recipe), stops(recipe)
    rows = []
    for text in batch.column("text").to_pylist():
        words = [] if text is None else tokens_of(text, recipe, flags, recipe.seed, left_out)[0]
        runs = runs_of(recipe, words)
        rows.append(None if text is None else runs if recipe.repeats else list(dict.fromkeys(runs)))
    return pa.array(rows, pa.large_list(pa.large_string()))


def _with_empty(made: Sketching) -> Sketching:
    """The same, but that only a null has none: the set of an empty text is empty."""

    def column(batch: pa.RecordBatch) -> pa.Array:
        lists, is_null = made(batch), batch.column("text").is_null()
        return pc.if_else(is_null, pa.scalar(None, made.kind), lists.fill_null(pa.scalar([], made.kind)))

    return Sketching((), made.kind, column)


def _row_by_row(a: Any, b: Any, columns: Sequence[pa.Array], compare: Callable[[Rows, Rows], Any]) -> Any:
    """What comparing rows gives, as a column of the kind of the first one given; a value by itself is in every row."""
    given = [side for side in (a, b) if _is_many(side)]
    sizes = {len(column) for side, column in zip((a, b), columns, strict=True) if _is_many(side)} or {1}
    if len(sizes) > 1:
        raise _of_different_lengths(*map(len, columns))
    rows = [np.arange(max(sizes)) * int(_is_many(side)) for side in (a, b)]
    known = [~column.is_null().to_numpy(zero_copy_only=False)[at] for column, at in zip(columns, rows, strict=True)]
    values = pa.array(compare(*rows), mask=~(known[0] & known[1]))
    return as_given(given[0], pa.chunked_array([values])) if given else values[0].as_py()


def _of_different_lengths(a: int, b: int) -> ConfigError:
    message = f"columns of {a:,} and {b:,} rows cannot be compared row by row"
    return ConfigError(message, hint="Give columns of one length.")


def _is_many(thing: Any) -> bool:
    """Whether it is a column of codes, or one code, whatever is wrong with that."""
    return (
        not isinstance(thing, (str, bytes)) and any(hasattr(thing, name) for name in _OF_COLUMNS) and is_column(thing)
    )


def _shares(whole: pa.Array, a: Rows, b: Rows) -> npt.NDArray[np.float64]:
    """The Jaccard similarity of the sets of these rows."""
    whole = whole.fill_null(pa.scalar([], whole.type))
    offsets = np.zeros(len(whole) + 1, np.int64)
    np.cumsum(pc.list_value_length(whole).to_numpy(), out=offsets[1:])
    nums, dens = np.empty(a.size, np.int64), np.empty(a.size, np.int64)
    bound = scores.unbounded(measures.bound(measures.JACCARD, Fraction(1)))
    items = arrow.frozen(whole.flatten().to_numpy())
    deciding.verify_pairs(a, b, items, arrow.frozen(offsets), bound, nums, dens)
    return np.asarray(np.where(dens > 0, nums, 1) / np.maximum(dens, 1))  # two empty sets are equal


def _distance(a: Any, b: Any) -> int | None:
    """In how many bits two codes differ; None where one is null."""
    if a is None or b is None:
        return None
    (one, size), (other, length) = map(_code, (a, b))
    if size and length and size != length:
        message = f"a code of {size} bits and one of {length} have no distance"
        raise ConfigError(message, hint="Give codes of one length.")
    return (one ^ other).bit_count()


def _code(code: Any) -> tuple[int, int]:
    """A code as a number, and its length where its form tells."""
    if isinstance(code, bytes):
        return int.from_bytes(code), 8 * len(code)
    if isinstance(code, str):
        bits = _LONGEST if is_prefixed(code) else 4 * len(code)
        return read_code(code, max(bits, 1), decimal=False), bits % _LONGEST
    if not isinstance(code, int | np.integer) or isinstance(code, bool) or code < -(1 << _WORD - 1):
        raise ConfigError(f"{code!r} is not a code", hint=_CODES)
    return (int(code) & (1 << _WORD) - 1, 0) if code < 0 else (int(code), 0)


def _listed(a: Any, b: Any) -> list[int | None]:
    """Distances of lists, whose numbers may be of any size."""
    one, other = (list(side) if _is_many(side) else None for side in (a, b))
    if one is None or other is None:
        return [_distance(a if one is None else b, code) for code in one or other or ()]
    if len(one) != len(other):
        raise _of_different_lengths(len(one), len(other))
    return [_distance(x, y) for x, y in zip(one, other, strict=True)]


def _word(code: Any, bits: int) -> UInt64s:
    """The words of a code by itself, in one row; of a null zeros."""
    number, size = (0, bits) if code is None else _code(code)
    if size not in (0, bits) or number >> bits:
        raise ConfigError(f"{code!r} is not a code of {bits} bits", hint="Give codes of one length.")
    return arrow.frozen(np.array([words_of(number, bits)], np.uint64))


def _words(column: pa.Array, bits: int) -> UInt64s:
    """The codes of a column; of a null zeros."""
    words, good = code_words(column, bits)
    bad = np.flatnonzero(~good & column.is_valid().to_numpy(zero_copy_only=False))
    if bad.size:
        message = f"row {bad[0]:,}, {str(column[bad[0].item()])[:80]!r}, is not a code of {bits} bits"
        raise ConfigError(message, hint="Give codes of one length and form.")
    return words
