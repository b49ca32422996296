"""Tables as files: the suffix decides, and every format says the same."""

import io
import json

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
