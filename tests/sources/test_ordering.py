"""The column of --keep: one type for all sources, exactly, or an error that names two of them."""

from datetime import UTC, date, datetime
from itertools import permutations
from pathlib import Path

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings

from nearsame.errors import ColumnError, ConfigError
from nearsame.sources import Columns, open_parts
from nearsame.sources.ordering import one_order
from nearsame.sources.reading import Reading

DAY, NOON = date(2024, 1, 2), datetime(2024, 1, 2, 12)  # noqa: DTZ001  (a time without a zone)
UNITS = ["s", "ms", "us", "ns"]
KINDS = [
    *(pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "UTC", "Europe/Berlin")),
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("s"), pa.duration("ns")),
    *(pa.int8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
    *(pa.decimal128(38, 0), pa.decimal128(5, 5), pa.bool_(), pa.string(), pa.large_string(), pa.binary(), pa.binary(2)),
    *(pa.null(), pa.list_(pa.int8()), pa.struct([("a", pa.int8())]), pa.month_day_nano_interval()),
]


def _order(*arrays: pa.Array) -> pa.ChunkedArray:
    return one_order(arrays, [f"{number}.parquet" for number in range(len(arrays))], "score")


@pytest.mark.parametrize(
    ("arrays", "values"),
    [
        ([pa.array([1], pa.int8()), pa.array([2**63 - 1])], [1, 2**63 - 1]),
        ([pa.array([-1]), pa.array([2**64 - 1], pa.uint64())], [-1, 2**64 - 1]),
        ([pa.array([2**53]), pa.array([0.5])], [2**53, 0.5]),
        ([pa.array([1.5], pa.float16()), pa.array([0.1], pa.float64())], [1.5, 0.1]),
        ([pa.array(["a"]), pa.array(["b"], pa.large_string())], ["a", "b"]),
        ([pa.array([None], pa.string()), pa.array([3])], [None, 3]),
        ([pa.array([None], pa.int64()), pa.array(["b"])], [None, "b"]),
        ([pa.array([None], pa.int64()), pa.nulls(1)], [None, None]),
        ([pa.array([True]), pa.array([None, False])], [True, None, False]),
    ],
)
def test_what_goes_together_becomes_one_column_of_the_same_values(arrays: list[pa.Array], values: list[object]) -> None:
    """Whatever the widths; what has only nulls goes with anything."""
    assert values == _order(*arrays).to_pylist()


@pytest.mark.parametrize("unit", UNITS)
def test_dates_and_times_become_microseconds_in_utc(unit: str) -> None:
    """A time without a zone is in UTC."""
    found = _order(pa.array([DAY]), pa.array([NOON], pa.timestamp(unit)), pa.array([NOON], pa.timestamp("s", "UTC")))
    midnight, noon = datetime(2024, 1, 2, tzinfo=UTC), NOON.replace(tzinfo=UTC)
    assert (pa.timestamp("us", "UTC"), [midnight, noon, noon]) == (found.type, found.to_pylist())


def test_nanoseconds_are_not_cut_off() -> None:
    """Two moments of one microsecond stay apart."""
    found = _order(pa.array([1_001, 1_002], pa.timestamp("ns")), pa.array([DAY]))
    assert (pa.timestamp("ns", "UTC"), [1_001, 1_002]) == (found.type, found.cast(pa.int64()).to_pylist()[:2])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array(["2024-01-02"]), pa.array([DAY])),
        (pa.array(["7"]), pa.array([7])),
        (pa.array([True]), pa.array([1])),
        (pa.array([2**53 + 1]), pa.array([0.5])),
        (pa.array([2**64 - 1], pa.uint64()), pa.array([0.5])),
        (pa.array([1], pa.timestamp("ns")), pa.array([date(9000, 1, 1)])),
        (pa.array([1]), pa.array([DAY])),
    ],
)
def test_what_does_not_is_an_error_that_names_both_sources_and_types(one: pa.Array, other: pa.Array) -> None:
    """Also where numbers would not stay exact."""
    for arrays in ((one, other), (other, one)):
        with pytest.raises(ConfigError) as caught:
            _order(arrays[0], pa.nulls(1), arrays[1])
        for word in ("'score'", f"{arrays[0].type} in 0.parquet", f"{arrays[1].type} in 2.parquet"):
            assert word in caught.value.message


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.booleans()), max_size=4))
@settings(deadline=None)
def test_any_types_give_a_column_that_can_be_sorted_or_a_config_error(kinds: list[tuple[pa.DataType, bool]]) -> None:
    """Never an error of Arrow's."""
    arrays = [pa.nulls(2, kind) if empty else _some(kind) for kind, empty in kinds]
    try:
        found = _order(*arrays)
    except ConfigError:
        return
    assert 2 * len(kinds) == len(pc.sort_indices(pa.table({"v": found}), [("v", "descending")]))


def _some(kind: pa.DataType) -> pa.Array:  # noqa: PLR0911  (a line for each kind)
    match kind:
        case _ if pa.types.is_nested(kind):
            return pa.array([[1]] if pa.types.is_list(kind) else [{"a": 1}], kind).take(pa.array([0, 0]))
        case _ if pa.types.is_interval(kind):
            return pa.array([pa.MonthDayNano([1, 2, 3])] * 2, kind)
        case _ if pa.types.is_decimal(kind):
            return pa.array([0, None], pa.int64()).cast(pa.decimal128(38, kind.scale)).cast(kind)
        case _ if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return pa.array(["ab", "b"], kind)
        case _ if pa.types.is_date64(kind):
            return pa.array([0, 86_400_000]).cast(kind)
        case _ if str(kind).startswith(("binary", "fixed_size_binary")):
            return pa.array([b"ab", None], kind)
        case _ if pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
            return pa.nulls(2, kind) if pa.types.is_null(kind) else pa.array([1, 0]).cast(pa.float32()).cast(kind)
        case _:
            return pa.array([1, 0], pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)


def test_sources_of_two_types_are_named(tmp_path: Path) -> None:
    """From end to end: what a reading says."""
    (tmp_path / "a.csv").write_bytes(b"id,text,score\na,A,x\n")
    (tmp_path / "b.csv").write_bytes(b"id,text,score\nb,B,7\n")
    columns = Columns(order=("score",))
    reading = Reading(open_parts([tmp_path], columns=columns), columns)
    list(reading)
    with pytest.raises(ConfigError, match=r"string in .*a\.csv and int64 in .*b\.csv"):
        _ = reading.orders


def test_the_against_side_may_lack_the_column(tmp_path: Path) -> None:
    """Its documents all stay anyway: their values are null; a skipped record is still reported once."""
    files = {"a.jsonl": b'{"text":"A"}\n{"text":\n', "b.csv": b"text,n\nB\nB,1\n", "c.jsonl": b'{"text":"C","n":7}\n'}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    columns = Columns(order=("n",), text="text")
    against = open_parts([["D"], tmp_path / "a.jsonl", tmp_path / "b.csv"], columns=columns)
    reading = Reading(open_parts([tmp_path / "c.jsonl"], columns=columns), columns, against)
    assert 4 == sum(len(batch) for batch in reading)
    assert ([None, None, 1, 7], 2) == (reading.orders["n"].to_pylist(), len(reading.skipped))


def test_some_sources_may_lack_a_column_and_not_all(tmp_path: Path) -> None:
    """Whichever comes first: what lacks it has nulls; of two columns each may stand in another source."""
    files = {"a.txt": b"A", "b.csv": b"text,n\nB,1\n", "c.jsonl": b'{"text":"C","m":7}\n', "e.csv": b""}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    columns = Columns(order=("n", "m"), text="text")
    for names in permutations(files):
        reading = Reading(open_parts([tmp_path / name for name in names], columns=columns), columns)
        list(reading)
        read = [name[0] for name in names if name != "e.csv"]
        expected = {
            "n": [1 if name == "b" else None for name in read],
            "m": [7 if name == "c" else None for name in read],
        }
        assert expected == {name: values.to_pylist() for name, values in reading.orders.items()}
    for lacking in (["a.txt"], ["c.jsonl", "a.txt"], ["e.csv", "a.txt", "c.jsonl"]):
        parts = open_parts([tmp_path / name for name in lacking], columns=columns)
        with pytest.raises(ColumnError, match="no column 'n'"):
            list(Reading(parts, columns))


def test_the_text_column_is_asked_of_the_against_side_too() -> None:
    """Only the order may be lacking."""
    columns = Columns(order=("n",), text="text")
    with pytest.raises(ColumnError, match="no column 'text'"):
        list(Reading([], columns, open_parts([[{"body": "A"}]], columns=columns)))
