"""Arrow's functions as `pyarrow.compute` has them, without its import, which a small job would mostly wait for.

1. That import writes a Python function with its signature and its documentation for each of some 290, a quarter of what
   importing NumPy, pyarrow and click takes. The methods of an array (`take`, `filter`, `cast`) import it, too.
2. What such a function calls is the same here: `call_function` and the classes of options, from where `pyarrow.compute`
   has them; of a pyarrow that keeps them elsewhere, from `pyarrow.compute` itself.
3. Only what a run of few documents may come by has to stand here. Elsewhere a method or `pyarrow.compute` does as well.
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pyarrow as pa

__all__ = [
    "add", "all_", "and_", "any_", "ascii_trim_whitespace", "binary_join_element_wise", "binary_length", "cast",
    "coalesce", "count_distinct", "drop_null", "equal", "extract_regex", "fill_null", "filter_", "greater_equal",
    "if_else", "invert", "is_finite", "is_in", "is_nan", "is_valid", "less", "list_value_length",
    "match_substring_regex", "max_", "min_", "min_max", "multiply", "not_equal", "or_", "replace_substring_regex",
    "run_end_decode", "sort_indices", "strftime", "struct_field", "sum_", "take", "utf8_lower", "value_counts",
]  # fmt: skip


@functools.cache
def _arrow() -> ModuleType:
    try:
        from pyarrow import _compute as found  # noqa: PLC0415  (many runs call no function)
    except ImportError:
        from pyarrow import compute as found  # noqa: PLC0415  (likewise)
    return found  # type: ignore[no-any-return]


def _of_all(name: str) -> Callable[..., Any]:
    """A function of values alone."""
    return lambda *values: _arrow().call_function(name, values)


def _with(options: str, name: str) -> Callable[..., Any]:
    """A function of one column, and of options, which are given as their class takes them."""

    def call(column: Any, *given: Any, **named: Any) -> Any:
        asked = getattr(_arrow(), options)(*given, **named) if given or named else None
        return _arrow().call_function(name, [column], asked)

    return call


add = _of_all("add")
all_ = _with("ScalarAggregateOptions", "all")
and_ = _of_all("and")
any_ = _of_all("any")
ascii_trim_whitespace = _of_all("ascii_trim_whitespace")
binary_join_element_wise = _of_all("binary_join_element_wise")
binary_length = _of_all("binary_length")
coalesce = _of_all("coalesce")
count_distinct = _of_all("count_distinct")
drop_null = _of_all("drop_null")
equal = _of_all("equal")
extract_regex = _with("ExtractRegexOptions", "extract_regex")
filter_ = _of_all("filter")
greater_equal = _of_all("greater_equal")
if_else = _of_all("if_else")
invert = _of_all("invert")
is_finite = _of_all("is_finite")
is_in = _with("SetLookupOptions", "is_in")
is_nan = _of_all("is_nan")
is_valid = _of_all("is_valid")
less = _of_all("less")
list_value_length = _of_all("list_value_length")
match_substring_regex = _with("MatchSubstringOptions", "match_substring_regex")
max_ = _of_all("max")
min_ = _of_all("min")
min_max = _of_all("min_max")
multiply = _of_all("multiply")
not_equal = _of_all("not_equal")
or_ = _of_all("or")
replace_substring_regex = _with("ReplaceSubstringOptions", "replace_substring_regex")
run_end_decode = _of_all("run_end_decode")
sort_indices = _with("SortOptions", "sort_indices")
strftime = _with("StrftimeOptions", "strftime")
struct_field = _with("StructFieldOptions", "struct_field")
sum_ = _of_all("sum")
take = _of_all("take")
utf8_lower = _of_all("utf8_lower")
value_counts = _of_all("value_counts")


def cast(column: Any, kind: pa.DataType, *, nearest: bool = False) -> Any:
    """A column as another type; an error where a value has no place in it, or the `nearest` that has."""
    how = _arrow().CastOptions.unsafe if nearest else _arrow().CastOptions.safe
    return _arrow().call_function("cast", [column], how(kind))


def fill_null(column: Any, value: Any) -> Any:
    """A column with a value where it has none."""
    return coalesce(column, pa.scalar(value, column.type))
