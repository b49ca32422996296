"""Priority is a total order: every way to keep, nulls and what cannot be read last, ties by the order of reading."""

import datetime as dt
import math
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import ConfigError
from nearsame.stages.clusters.policies import Keep, Policy, order_of, ranks, readable
from tests.oracle.priority import order

BY_COLUMN = ("newest:c", "oldest:c", "max:c", "min:c")
UTC = dt.UTC


def _order(keep, values, *, num_against=0, sizes=None, chunks=()):
    """The rows from the most to the least worth keeping."""
    column = None if values is None else values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if chunks:
        edges = [0, *sorted(chunks), len(column)]
        column = pa.chunked_array([column.slice(a, b - a).combine_chunks() for a, b in pairwise(edges)], column.type)
    policy = Keep.parse(keep)
    found, size = readable(policy.policies[0], column)[0], len(column)
    columns = {
        "side": (np.arange(size) >= num_against).astype(np.int64),
        "value0": found,
        "size": np.array(sizes or (), np.int64),
    }
    places = ranks(order_of(policy, larger_first=sizes is not None), columns, size)
    assert list(range(size)) == sorted(places.tolist())
    return np.argsort(places).tolist()


@given(
    st.lists(st.none() | st.integers(-3, 3), max_size=30),
    st.sampled_from(BY_COLUMN),
    st.integers(0, 5),
    st.lists(st.integers(0, 30), max_size=3),
)
def test_values_order_within_each_side(values, keep, num_against, cuts):
    """However the column is cut into chunks, ties stay in the order of reading; nulls come last, also descending."""
    num_against = min(num_against, len(values))
    chunks = [min(cut, len(values)) for cut in cuts]
    found = _order(keep, pa.array(values, pa.int64()), num_against=num_against, chunks=chunks)
    assert order(len(values), keep, values, num_against) == found


@given(st.lists(st.sampled_from(["", "a", "bb", "é", "ccc", "漢"]), max_size=12), st.integers(0, 4))
@pytest.mark.parametrize("keep", ["first", "last", "longest", "shortest"])
def test_texts_order_by_their_bytes(keep, texts, num_against):
    """UTF-8, so that é is as long as bb."""
    num_against = min(num_against, len(texts))
    text_bytes = np.array([len(text.encode()) for text in texts], np.int64)
    columns = {"side": (np.arange(len(texts)) >= num_against).astype(np.int64), "text_bytes": text_bytes}
    found = np.argsort(ranks(order_of(Keep.parse(keep)), columns, len(texts))).tolist()
    assert order(len(texts), keep, texts, num_against) == found


@given(st.lists(st.integers(0, 4), max_size=12), st.data())
def test_larger_sets_come_first_where_they_must(sizes, data):
    """Then the policy's value, then the order of reading."""
    values = data.draw(st.lists(st.integers(0, 2), min_size=len(sizes), max_size=len(sizes)))
    found = _order("max:c", pa.array(values, pa.int64()), num_against=1, sizes=sizes)
    assert sorted(range(len(sizes)), key=lambda row: (row >= 1, -sizes[row], -values[row], row)) == found


@pytest.mark.parametrize(
    ("kind", "values", "ascending"),
    [
        (pa.float64(), [1.5, None, -0.0, 0.0, -math.inf, math.inf], [4, 2, 3, 0, 5, 1]),
        (pa.string(), ["b", None, "a", "B", "", "é"], [4, 3, 2, 0, 5, 1]),
        (pa.large_string(), ["b", None, "a"], [2, 0, 1]),
        (pa.bool_(), [True, None, False, True], [2, 0, 3, 1]),
        (pa.uint64(), [2**64 - 1, 0, None], [1, 0, 2]),
        (pa.decimal128(5, 2), [Decimal("1.50"), Decimal("-2.00"), None], [1, 0, 2]),
        (pa.date32(), [dt.date(2024, 1, 2), dt.date(2023, 1, 2), None], [1, 0, 2]),
        (pa.timestamp("us", "Asia/Tokyo"), [dt.datetime(2024, 1, 2, tzinfo=UTC), None], [0, 1]),
        (pa.dictionary(pa.int8(), pa.string()), ["z", "a", None, "z"], [1, 0, 3, 2]),
        (pa.dictionary(pa.int8(), pa.int64()), [9, 10, None, 9], [0, 3, 1, 2]),
        (pa.null(), [None, None], [0, 1]),
    ],
    ids=str,
)
def test_columns_of_any_kind_are_ordered(kind, values, ascending):
    """By values, not by how they are encoded; descending the other way round, but nulls last and ties in order."""
    column = pa.array(values, kind)
    assert ascending == _order("min:c", column)
    known = [row for row in range(len(values)) if values[row] is not None]
    rank = {row: place for place, row in enumerate(ascending)}
    for one, two in pairwise(ascending):
        if values[one] == values[two]:
            rank[two] = rank[one]
    descending = sorted(known, key=lambda row: (-rank[row], row))
    assert descending + [row for row in range(len(values)) if values[row] is None] == _order("max:c", column)


@pytest.mark.parametrize("keep", ["max:c", "min:c", "newest:c", "oldest:c"])
def test_what_is_not_a_number_comes_behind_all_numbers(keep):
    """NaN is never the greatest, nor the least: it is as good as a null."""
    found = _order(keep, pa.array([math.nan, 1.0, None, 2.0, math.nan], pa.float64()))
    assert {1, 3} == set(found[:2])
    assert [0, 2, 4] == found[2:]


MOMENTS = [
    ("2024-01-01T12:00:00+02:00", dt.datetime(2024, 1, 1, 10, tzinfo=UTC)),
    ("2024-01-01T10:30:00Z", dt.datetime(2024, 1, 1, 10, 30, tzinfo=UTC)),
    ("2024-01-01 10:15", dt.datetime(2024, 1, 1, 10, 15, tzinfo=UTC)),  # names no zone: UTC
    ("2024-01-01", dt.datetime(2024, 1, 1, tzinfo=UTC)),
    ("20231231", dt.datetime(2023, 12, 31, tzinfo=UTC)),
    ("2023-12-31T23:30:00-05:00", dt.datetime(2024, 1, 1, 4, 30, tzinfo=UTC)),
    (" 2025-06-01\n", dt.datetime(2025, 6, 1, tzinfo=UTC)),
    ("1969-07-20T20:17:40Z", dt.datetime(1969, 7, 20, 20, 17, 40, tzinfo=UTC)),
    ("2022", dt.datetime(2022, 1, 1, tzinfo=UTC)),
    ("2022-05", dt.datetime(2022, 5, 1, tzinfo=UTC)),
    ("2022/5/31", dt.datetime(2022, 5, 31, tzinfo=UTC)),
    ("2022/06/01 10:15", dt.datetime(2022, 6, 1, 10, 15, tzinfo=UTC)),
    ("31.12.2022", dt.datetime(2022, 12, 31, tzinfo=UTC)),
    ("20220601123456", dt.datetime(2022, 6, 1, 12, 34, 56, tzinfo=UTC)),
    ("Sat, 02 Jul 2022 10:00:00 GMT", dt.datetime(2022, 7, 2, 10, tzinfo=UTC)),
    ("3 Jul 2022 10:00:00 +0200", dt.datetime(2022, 7, 3, 8, tzinfo=UTC)),
    ("September 4, 2022", dt.datetime(2022, 9, 4, tzinfo=UTC)),
    ("5th Sept. 2022", dt.datetime(2022, 9, 5, tzinfo=UTC)),
    ("Oct 2022", dt.datetime(2022, 10, 1, tzinfo=UTC)),
    ("0001-01-01", dt.datetime(1, 1, 1, tzinfo=UTC)),
    ("9999-12-31T23:59:59.999999", dt.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
]
UNREADABLE = [
    "",
    "yesterday",
    "2024-13-01",
    "31.13.2023",
    "0",
    "1/2/2024",
    "99999",
    "1700000000",
    "2024-02-30",
    "Mayor 2024",
]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
@given(st.permutations([*MOMENTS, *((text, None) for text in UNREADABLE), (None, None)]))
def test_dates_in_texts_are_moments(kind, rows):
    """In the zone that they name, else in UTC; what is not a date comes last, as a null does."""
    moments = [moment for _, moment in rows]
    column = pa.array([text for text, _ in rows], kind)
    for keep in ("newest:c", "oldest:c"):
        assert order(len(rows), keep, moments) == _order(keep, column)


@given(
    st.datetimes(
        timezones=st.sampled_from([UTC, dt.timezone(dt.timedelta(hours=9)), dt.timezone(dt.timedelta(hours=-5))])
    )
    | st.sampled_from(
        [dt.datetime(9999, 12, 31, 23, 59, 59, 1, tzinfo=UTC), dt.datetime(2100, 1, 1, 0, 0, 0, 5, tzinfo=UTC)]
    ),
    st.integers(1, 3),
)
def test_a_microsecond_makes_a_date_newer(moment, later):
    """In the year 2100 too, where a float of seconds has no room for it."""
    try:
        after = moment + dt.timedelta(microseconds=later)
    except OverflowError:
        after, moment = moment, moment - dt.timedelta(microseconds=later)
    column = pa.array([moment.isoformat(), after.isoformat()])
    assert [1, 0] == _order("newest:c", column)
    assert [0, 1] == _order("oldest:c", column)


def test_texts_that_look_like_dates_are_texts_to_max_and_min():
    """Only newest and oldest read them."""
    column = pa.array(["9", "10", "2024-01-01"])
    assert [0, 2, 1] == _order("max:c", column)


@pytest.mark.parametrize("text", ["", "best", "newest", "newest:", "first:c", "longest:c", "max", "MAX:c", ":c"])
def test_a_policy_that_cannot_be_is_an_error_that_lists_them(text):
    """A column where none belongs, none where one is needed."""
    with pytest.raises(ConfigError, match="is not one of first, last, longest, shortest, newest:COLUMN") as caught:
        Keep.parse(text)
    assert f"keep={text!r}" in str(caught.value)


def test_a_column_may_have_any_name():
    """Colons and commas included; what comes after a comma is a policy where it reads as one."""
    assert Keep((Policy("max", "a:b c"),)) == Keep.parse("max:a:b c")
    assert Keep((Policy("max", "a, b"), Policy("last"))) == Keep.parse("max:a, b ,  last")
    assert Keep((Policy("max", "a, last"), Policy("min", "b"))) == Keep.parse(["max:a, last", "min:b"])


@given(
    st.lists(st.tuples(st.none() | st.integers(0, 2), st.sampled_from(["", "a", "bb", "cc"]), st.integers(0, 1))),
    st.permutations(["max:n", "longest", "min:m"]),
    st.sampled_from(["", ", first", ", last"]),
    st.integers(0, 3),
)
def test_a_later_policy_decides_what_the_earlier_ones_leave_equal(rows, policies, end, num_against):
    """Nulls are last in each of them; the order of reading decides at the end."""
    numbers, texts, others = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    keep, num_against = ", ".join(policies) + end, min(num_against, len(rows))
    by_policy = {"max:n": numbers, "longest": texts, "min:m": others}
    values = [by_policy.get(policy) for policy in keep.split(", ")]
    expected = order(len(rows), keep, values, num_against)
    columns = {
        "side": (np.arange(len(rows)) >= num_against).astype(np.int64),
        "text_bytes": np.array([len(text) for text in texts], np.int64),
    }
    for name, policy in Keep.parse(keep).values.items():
        columns[name] = readable(policy, pa.chunked_array([pa.array(by_policy[str(policy)], pa.int64())]))[0]
    found = ranks(order_of(Keep.parse(keep)), columns, len(rows))
    assert expected == np.argsort(found).tolist()
    assert Keep.parse(keep) == Keep.parse(keep.split(", "))


@pytest.mark.parametrize("keep", ["first, longest", ["last", "max:c"], "max:c, first, last"])
def test_nothing_comes_after_the_order_of_reading(keep):
    """It leaves nothing to decide."""
    with pytest.raises(ConfigError, match=r"(first|last) leaves nothing to decide"):
        Keep.parse(keep)


def test_an_order_column_is_the_last_of_the_policies():
    """Ascending, and for `last` descending; what is first by it comes before the id."""
    assert Keep.parse("max:a, min:c", "content") == Keep.parse("max:a", "content", "c")
    assert Keep.parse("max:c", "content") == Keep.parse("last", "content", "c")


@pytest.mark.parametrize(
    ("keep", "example"), [("quality", "max:quality"), ("MAX:c", "max:c"), ("newest", "max:quality")]
)
def test_what_is_no_policy_is_told_how_a_column_is_named(keep, example):
    """As most people mean it."""
    with pytest.raises(ConfigError) as caught:
        Keep.parse(keep)
    assert caught.value.hint.endswith(f"as in {example}.")


@pytest.mark.parametrize(("keep", "kept"), [("newest:when", "c"), ("oldest:when", "b"), ("max:n", "b"), ("min:n", "c")])
def test_a_column_of_any_source_decides(keep, kept):
    """Polars has strings that Arrow calls views; categories come as dictionaries."""
    import polars as pl

    frame = pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "text": ["same words here"] * 3,
            "when": ["2024-01-01T00:00:00+01:00", "2023-12-31T22:59:00Z", "2024-01-02"],
            "n": [2, 3, 1],
        }
    )
    for given_frame in (frame, frame.with_columns(pl.col("when").cast(pl.Categorical))):
        assert [kept] == ns.dedup(given_frame, keep=keep).kept()["id"].to_list()


def test_a_date_that_is_no_utf8_is_none() -> None:
    """As any text that is no date: it comes last, and is counted."""
    written = [b"2020-01-01", b"2020\xff", None, b"1970"]
    offsets = pa.array([0, 10, 15, 15, 19], pa.int32()).buffers()[1]
    valid = pa.array([True, True, False, True]).buffers()[1]
    data = pa.py_buffer(b"".join(value or b"" for value in written))
    dates = pa.chunked_array([pa.Array.from_buffers(pa.string(), 4, [valid, offsets, data])])
    expected = [1_577_836_800_000_000, None, None, 0]
    values, (note,) = readable(Policy("newest", "date"), dates)
    assert expected == values.to_pylist()
    assert "1 of 3 values" in note
