"""What a footer is refused for before pyarrow believes it, and that sound ones of any shape are not."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearsame.sources.footers import _fits, _Leaf, why_not_readable

from .damaging import damaged

NESTED = {
    "list": [[1], None, [2, 3]],
    "text": ["x", None, "y"],
    "struct": [{"k": [["a"]]}, None, {"k": None}],
    "truth": [True, False, None],
    "number": [1.5, None, 2.5],
}


@pytest.mark.parametrize("use_dictionary", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.6"])
def test_columns_of_every_depth_fit_their_statistics(version, use_dictionary):
    """Lists, structs and maps have levels; required columns have none."""
    table = pa.table({**NESTED, "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64()))})
    table = table.append_column(pa.field("required", pa.string(), nullable=False), pa.array(["a", "b", "c"]))
    out = io.BytesIO()
    pq.write_table(table, out, version=version, use_dictionary=use_dictionary)
    assert not why_not_readable(out)


def test_sizes_of_another_type_are_refused():
    """A damaged footer with bytes of text for a column of truth values: pyarrow would end the process."""
    assert "are not of its type" in why_not_readable(io.BytesIO(damaged("delta.parquet", 30_076)))


def test_histograms_have_a_place_for_each_level():
    """Or none at all."""
    leaf = _Leaf("a", 6, 2, 1)
    assert _fits({}, leaf)
    assert _fits({1: 10, 2: [1, 2], 3: [1, 2, 3]}, leaf)
    assert not _fits({2: [1, 2, 3]}, leaf)
    assert not _fits({3: [1, 2]}, leaf)
    assert not _fits({1: 10}, leaf._replace(kind=0))
