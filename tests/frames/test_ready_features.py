"""Lists of ready features on Spark, strings or whole numbers of any size: one machine's answer."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from tests.engines.spark.test_parity_with_local import decisions

pytestmark = pytest.mark.slow


def _table(seed, kind, size=150):
    """Lists with copies, near copies, repeats and nulls among them, and some that are empty or are not there."""
    drawn, rows = random.Random(seed), []
    signed = not pa.types.is_unsigned_integer(kind)
    most = 1 << (kind.bit_width - signed) if pa.types.is_integer(kind) else 1 << 63
    least = -most if signed else 0
    for _ in range(size):
        if rows and drawn.random() < 0.5 and (before := drawn.choice(rows)):
            items = [item for item in before if drawn.random() < 0.95]
            items += [drawn.choice([None, *items])] if items and drawn.random() < 0.4 else []
        else:
            items = [
                drawn.choice([drawn.randrange(least, most), least, most - 1, 0]) for _ in range(drawn.randrange(30))
            ]
        rows.append(None if drawn.random() < 0.03 else items)
    of_texts = not pa.types.is_integer(kind)
    spelt = [row and [str(item) if of_texts and item is not None else item for item in row] for row in rows]
    beside = [drawn.choice([None, [1.5, float("nan")], [-0.0, None]]) for _ in rows]
    ids = [f"d{number}" for number in range(size)]
    return pa.table({"id": ids, "items": pa.array(spelt, pa.list_(kind)), "beside": beside})


def _both(spark, source, **asked):
    """(one machine's decisions, those of the cluster, those of few documents on the driver)."""
    against = asked.pop("against", None)
    asked |= {"features_column": "items", "audit": False}
    sides = {} if against is None else {"against": against}
    here = ns.dedup(source, ties="content", **sides, **asked)
    found = [(decisions(here.removals), here.stats.kept, here.stats.empty)]
    sides = {} if against is None else {"against": spark.createDataFrame(against)}
    for settings in ({"driver_bytes": 0}, {}):
        there = ns.dedup(
            spark.createDataFrame(source).repartition(3), engine=ns.Spark(spark, **settings), **sides, **asked
        )
        found.append((decisions(there.removals), there.stats.kept, there.stats.empty))
        there.release()
    return found


@pytest.mark.parametrize("method", [ns.Jaccard(threshold=0.6), ns.SimHash()], ids=lambda method: method.name)
def test_numbers_are_their_texts(spark, method):
    """Whatever a document is made of, and whoever spells it."""
    table = _table(1, pa.int64())
    here, there, few = _both(spark, table, method=method)
    assert here == there == few
    assert len(here[0]) > 20
    texts = table.set_column(1, "items", table.column("items").cast(pa.list_(pa.string())))
    spelt = ns.dedup(texts, method=method, ties="content", features_column="items", audit=False)
    assert here[0] == decisions(spelt.removals)


def test_unsigned_numbers_of_a_file(spark, tmp_path):
    """Of which Spark makes decimals: hashes of 64 bits are often such."""
    source = _table(4, pa.uint64())
    pq.write_table(source, tmp_path / "a.parquet")
    here = ns.dedup(source, method=ns.Jaccard(threshold=0.6), ties="content", features_column="items", audit=False)
    assert len(here.removals) > 20
    for settings in ({"driver_bytes": 0}, {}):
        asked = {"engine": ns.Spark(spark, **settings), "method": ns.Jaccard(threshold=0.6), "ties": "content"}
        there = ns.dedup(str(tmp_path / "a.parquet"), features_column="items", audit=False, **asked)
        assert decisions(here.removals) == decisions(there.removals)
        there.release()


@pytest.mark.parametrize(("kind", "other"), [(pa.int8(), pa.int8()), (pa.int32(), pa.string())], ids=str)
def test_numbers_beside_others(spark, kind, other):
    """Both sides of one type, or the other of strings: then numbers are spelt as well."""
    source = _table(2, kind)
    as_other = source.set_column(1, "items", source.column("items").cast(pa.list_(other)))
    against = pa.concat_tables([_table(3, other), as_other]).slice(60, 150)
    here, there, few = _both(spark, source, against=against, method=ns.Jaccard(threshold=0.6))
    assert here == there == few
    assert len(here[0]) > 20
