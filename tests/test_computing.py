"""Arrow's functions without `pyarrow.compute`: the same answers, and the same errors."""

import sys

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from nearsame import computing

WORDS = pa.array([" a", None, "B1", "B1"])
NUMBERS = pa.array([2, None, 1, 2])
TRUTHS = pa.array([True, None, False, False])
FLOATS = pa.array([1.5, None, float("nan"), 2.0])
LISTS = pa.array([[1, 2], None, [], [3]])
STRUCTS = pa.array([{"host": "a"}, None, {"host": "b"}, {"host": None}])
TIMES = pa.array([0, None, 10**9, 5], pa.timestamp("us"))
CALLS = {  # of each function its arguments; what else is given by name stands in NAMED
    "add": [(FLOATS, pa.scalar(0.0))],
    "all_": [(TRUTHS,), (pa.array([], pa.bool_()),)],
    "and_": [(TRUTHS, TRUTHS)],
    "any_": [(TRUTHS,)],
    "ascii_trim_whitespace": [(WORDS,)],
    "binary_join_element_wise": [(WORDS, WORDS, ":"), (WORDS, WORDS, pa.scalar(":"))],
    "binary_length": [(WORDS,)],
    "cast": [(NUMBERS, pa.string()), (pa.chunked_array([NUMBERS, NUMBERS]), pa.float64())],
    "coalesce": [(WORDS, "x"), (NUMBERS, NUMBERS)],
    "count_distinct": [(NUMBERS,)],
    "drop_null": [(WORDS,), (pa.chunked_array([WORDS]),)],
    "equal": [(WORDS, "B1")],
    "extract_regex": [(WORDS, "(?P<letter>[A-Z])")],
    "fill_null": [(NUMBERS, 0), (WORDS, ""), (pa.chunked_array([NUMBERS]), 7)],
    "filter_": [(WORDS, TRUTHS), (pa.table({"a": WORDS}), pa.array([True, False, True, False]))],
    "greater_equal": [(NUMBERS, 2)],
    "if_else": [(TRUTHS, WORDS, "else")],
    "invert": [(TRUTHS,)],
    "is_finite": [(FLOATS,)],
    "is_in": [],
    "is_nan": [(FLOATS,)],
    "is_valid": [(WORDS,)],
    "less": [(NUMBERS, FLOATS)],
    "list_value_length": [(LISTS,)],
    "match_substring_regex": [(WORDS, "[0-9]$")],
    "max_": [(NUMBERS,), (pa.array([], pa.int64()),)],
    "min_": [(NUMBERS,)],
    "min_max": [(NUMBERS,)],
    "multiply": [(NUMBERS, 8)],
    "not_equal": [(WORDS, "")],
    "or_": [(TRUTHS, TRUTHS)],
    "replace_substring_regex": [(WORDS, "[A-Z]", r"'\0")],
    "run_end_decode": [(pc.run_end_encode(NUMBERS),)],
    "sort_indices": [(WORDS,), (pa.table({"v": NUMBERS}), [("v", "descending")])],
    "strftime": [(TIMES, "%Y-%m-%d")],
    "struct_field": [(STRUCTS, "host")],
    "sum_": [(NUMBERS,), (pa.array([], pa.int64()),)],
    "take": [(WORDS, pa.array([3, 0])), (pa.table({"a": WORDS}), pa.array([1])), (WORDS, pa.array([0, None]))],
    "utf8_lower": [(WORDS,)],
    "value_counts": [(NUMBERS,)],
}
NAMED = {
    "all_": [((TRUTHS,), {"min_count": 0})],
    "is_in": [((WORDS,), {"value_set": pa.array(["B1", "x"])})],
}
EACH = [(name, given, {}) for name, calls in CALLS.items() for given in calls]
EACH += [(name, *call) for name, calls in NAMED.items() for call in calls]


def of_arrow(name):
    """The function of that name in `pyarrow.compute`, which has an underscore less but for words of the language."""
    return getattr(pc, name if name in {"and_", "or_"} else name.rstrip("_"))


def shown(value):
    """What can be compared, NaN too."""
    return str(type(value)), str(value.type) if hasattr(value, "type") else "", str(value)


def test_every_function_is_held_to_arrows():
    assert set(computing.__all__) == set(CALLS)


@pytest.mark.parametrize(("name", "given", "named"), EACH)
def test_a_function_answers_as_arrows_does(name, given, named):
    assert shown(of_arrow(name)(*given, **named)) == shown(getattr(computing, name)(*given, **named))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("cast", (pa.array([1000]), pa.int8())),
        ("cast", (pa.array([1.5]), pa.int64())),
        ("cast", (LISTS, pa.string())),
        ("take", (WORDS, pa.array([4]))),
        ("filter_", (WORDS, pa.array([True]))),
        ("equal", (LISTS, LISTS)),
        ("extract_regex", (WORDS, "(")),
    ],
)
def test_a_function_refuses_what_arrows_does(name, given):
    with pytest.raises(pa.ArrowException) as theirs:
        of_arrow(name)(*given)
    with pytest.raises(type(theirs.value)) as ours:
        getattr(computing, name)(*given)
    assert str(theirs.value) == str(ours.value)


def test_where_arrow_keeps_its_functions_elsewhere_they_come_from_the_public_place(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow._compute", None)
    monkeypatch.delattr(pa, "_compute")
    computing._arrow.cache_clear()
    try:
        assert pc is computing._arrow()
        assert ["1"] == computing.cast(pa.array([1]), pa.string()).to_pylist()
    finally:
        monkeypatch.undo()
        computing._arrow.cache_clear()
