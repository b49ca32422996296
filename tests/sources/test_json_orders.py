"""Columns of JSON lines that groups go by: two values that differ are two groups, or the run is refused."""

import pytest

import nearsame as ns
from nearsame.errors import ColumnError
from nearsame.sources import streams

WORDS = "the same few words"


@pytest.fixture(params=[16, 1 << 24], ids=["a block for each record", "one block"])
def write(request, tmp_path, monkeypatch):
    """Write a file whose records come in blocks of so many bytes."""
    for size in ("BATCH_BYTES", "_RAW_CHUNK"):
        monkeypatch.setattr(streams, size, request.param)

    def written(values):
        lines = (f'{{"id": {at}, "text": "{WORDS}", "g": {value}}}\n' for at, value in enumerate(values))
        (tmp_path / "a.jsonl").write_text("".join(lines))
        return str(tmp_path / "a.jsonl")

    return written


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (["9007199254740992", "9007199254740993", "null", "9007199254740993"], [0, 1, 2]),
        (["18446744073709551615", "18446744073709551614", "7"], [0, 1, 2]),
        (["9007199254740991", "0.5", "9007199254740991.0", "0.50"], [0, 1]),
        (["9007199254740992", '"9007199254740993"', "9007199254740993"], [0, 1]),
        (["9007199254740992", "9007199254740993", '"x"', "0.5", "9007199254740992"], [0, 1, 2, 3]),
    ],
)
def test_groups_of_numbers_are_exact(write, values, kept):
    """Where 64 bits hold them, or doubles do, or where all are texts."""
    gone = {row["id"] for row in ns.dedup(write(values), group_by="g").removals.to_pylist()}
    assert kept == [at for at in range(len(values)) if str(at) not in gone]


@pytest.mark.parametrize(
    "values",
    [
        ["9007199254740992", "9007199254740993", "0.5"],
        ["0.5", "-9007199254740992", "-9007199254740993"],
        ["18446744073709551616", "18446744073709551617"],
        ["-1", "9223372036854775808", "9223372036854775809"],
        ["1e400", "2e400"],
        ['"a"', "18446744073709551616", "18446744073709551617"],
    ],
)
def test_groups_that_would_be_rounded_are_refused(write, values):
    """Two of them could be one, and a document of another group would go; to be in order by them is no harm."""
    path = write(values)
    with pytest.raises(ColumnError, match="column 'g' has numbers that are rounded"):
        ns.dedup(path, group_by="g")
    assert ns.dedup(path, keep="max:g").stats.removed == len(values) - 1
