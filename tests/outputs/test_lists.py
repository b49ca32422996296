"""Tables as files: the suffix decides, and every format says the same."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pytest

from nearsame.errors import OutputError
from nearsame.outputs.lists import json_lines, writer


def test_an_unknown_suffix_lists_those_there_are():
    """The hint names them."""
    with pytest.raises(OutputError, match=r"pairs\.txt has an unknown format") as caught:
        writer("pairs.txt")
    endings = ".json .jsonl .ndjson .csv .tsv .parquet .orc .arrow .feather"
    assert f"Name it by what it is to hold: {endings}." == caught.value.hint


def test_capitals_in_a_suffix_are_fine():
    """As in sources."""
    assert writer("PAIRS.CSV").args[1] is writer("pairs.csv").args[1]


def test_json_lines_are_one_object_a_row():
    """Of tables longer than a batch, too."""
    out = io.BytesIO()
    json_lines(pa.table({"a": list(range(25_000))}), out)
    assert [{"a": 0}, {"a": 24_999}] == [json.loads(line) for line in out.getvalue().splitlines()[::24_999]]


SURROGATE = pa.array([b"fine", b"\xed\xa0\xbd"]).view(pa.string())
FAR = pa.array([2**63 - 1], pa.timestamp("us"))  # DuckDB's infinity


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv.gz", "a.parquet", "a.arrow", "a.orc"])
def test_what_is_no_text_is_not_written(name: str, tmp_path: Path):
    """Formats take bytes unseen, and every reader then refuses the whole file."""
    with pytest.raises(OutputError, match="column 'note' has a text that is not UTF-8"):
        writer(name)(pa.table({"note": SURROGATE}), tmp_path / "made")
    with pytest.raises(OutputError, match="column 'note' has a text that is not UTF-8"):
        json_lines(pa.table({"note": SURROGATE}), io.BytesIO())


def test_times_that_cannot_be_spelt_are_told(tmp_path: Path):
    """Python has the years 1 to 9999; Arrow writes a remark in their place."""
    for name in ("a.csv", "a.jsonl"):
        with pytest.raises(OutputError, match=r"column 'until' is timestamp\[us\], and has a time .*"):
            writer(name)(pa.table({"until": FAR}), tmp_path / "made")
    for found in (FAR.slice(1), pa.nulls(1, FAR.type)):
        writer("a.csv")(pa.table({"until": found}), tmp_path / "made")


def test_an_object_has_a_name_once():
    """The last value would be all that is left."""
    with pytest.raises(OutputError, match="2 columns are called 'x'"):
        json_lines(pa.table([[1], [2]], names=["x", "x"]), io.BytesIO())


@pytest.mark.parametrize(
    ("times", "told"),
    [
        (pa.array([1_000, 2_000], pa.time64("ns")), ["00:00:00.000001", "00:00:00.000002"]),
        (pa.array([123_456_789, None], pa.time64("ns")), ["00:00:00.123456789", None]),
        (pa.array([[1_000]], pa.list_(pa.time64("ns"))), [["00:00:00.000001"]]),
        (pa.array([{"at": 1_000}], pa.struct([("at", pa.timestamp("ns"))])), [{"at": "1970-01-01T00:00:00.000001"}]),
    ],
)
def test_nanoseconds_are_not_lost(times, told):
    """Whether pandas is there, whose times have them, or not."""
    out = io.BytesIO()
    json_lines(pa.table({"t": times}), out)
    assert told == [json.loads(line)["t"] for line in out.getvalue().splitlines()]


def test_nanoseconds_deep_inside_are_refused():
    """Python's own times end at microseconds, and would be cut."""
    with pytest.raises(OutputError, match="column 't' has times with nanoseconds"):
        json_lines(pa.table({"t": pa.array([[1]], pa.list_(pa.time64("ns")))}), io.BytesIO())
