"""A column of a file without types is numbers where these are what is written."""

import pyarrow as pa
import pytest

from nearsame.sources.delimited_types import are_held, typed


@pytest.mark.parametrize(
    "cell", ["12e4567", "1e-400", "4e-324", "9007199254740993.5", "0.1234567890123456789", "007", "+1"]
)
def test_what_a_double_would_change_stays_text(cell: str) -> None:
    """Beside a number that it would hold."""
    table = typed(f"text,n\na,{cell}\nb,2.5\n".encode(), ",")
    assert [cell, "2.5"] == table["n"].to_pylist()


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1.10", 1.1),
        ("1e5", 1e5),
        ("0.12345678901234568", 0.12345678901234568),
        ("0.10000000000000001", 0.1),
        ("-0.0", 0.0),
    ],
)
def test_numbers_that_are_held_are_numbers(cell: str, number: float) -> None:
    """However they are spelt; but an id is a name."""
    table = typed(f"text,n,id\na,{cell},{cell}\nb,2.5,2.5\n".encode(), ",")
    assert [number, 2.5] == table["n"].to_pylist()
    assert [cell, "2.5"] == table["id"].to_pylist()


def test_nulls_and_nothing_are_held() -> None:
    """They say nothing."""
    assert are_held(pa.array([None, "1"]), pa.array([None, 1.0]))
    assert are_held(pa.array([], pa.string()), pa.array([], pa.float64()))
