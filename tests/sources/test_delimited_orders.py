"""What the columns of a file without types are ordered and grouped by, whichever block of it says so first."""

import pytest

import nearsame as ns
from nearsame.sources import streams

WORDS = "the same few words"


@pytest.fixture(params=[16, 1 << 24], ids=["a block for each record", "one block"])
def write(request, tmp_path, monkeypatch):
    """Write a file whose records come in blocks of so many bytes."""
    for size in ("BATCH_BYTES", "_RAW_CHUNK"):
        monkeypatch.setattr(streams, size, request.param)

    def written(cells):
        (tmp_path / "a.csv").write_text("".join(f"{line}\n" for line in ["id,text,g", *cells]))
        return str(tmp_path / "a.csv")

    return written


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (
            ["9007199254740992", "9007199254740993", *"23456789", "0.5"],
            range(11),
        ),  # the last block has none of the first
        (["nan", "1e300", *"23456789", "12345678901234567890123"], range(11)),
        (["5", "05", "x"], [0, 1, 2]),
        (["5", "05", "5.0"], [0]),
    ],
)
def test_groups_are_of_one_type_in_all_blocks(write, cells, kept):
    """What an early block could be must fit a later one."""
    path = write(f"{at},{WORDS},{cell}" for at, cell in enumerate(cells))
    assert [str(at) for at in kept] == [str(at) for at in ns.dedup(path, group_by="g").kept()["id"].to_pylist()]


@pytest.mark.parametrize(
    ("cells", "best"),
    [
        (["1.000000000000000000e+00", "9.099999999999999949e-25", "5.000000000000000000e-01"], 0),
        (["5", "1e400", "40"], 1),
        (["5", "1e-400", "40"], 2),
        (["nan", "1e300", "12345678901234567890123"], 1),
        (["0.91", "9.123456789012345e-05"], 0),
    ],
)
def test_numbers_are_ordered_as_numbers_however_long(write, cells, best):
    """Where a double holds no more than their beginning, too."""
    path = write(f"{at},{WORDS},{cell}" for at, cell in enumerate(cells))
    assert [str(best)] == [str(at) for at in ns.dedup(path, keep="max:g").kept()["id"].to_pylist()]


def test_numbers_of_two_files_are_ordered_together(tmp_path):
    """One with more digits than the other."""
    (tmp_path / "a.csv").write_text(f"id,text,g\na,{WORDS},0.5\n")
    (tmp_path / "b.csv").write_text(f"id,text,g\nb,{WORDS},0.10000000000000000555\nc,{WORDS},0.75\n")
    assert ["c"] == ns.dedup(str(tmp_path), keep="max:g").kept()["id"].to_pylist()
