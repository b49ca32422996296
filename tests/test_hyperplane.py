"""Vectors by random hyperplanes: what codes are, what they find, and that what they find is true."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame import arrow, schemas
from nearsame.stages.features.vectors import RoundedVectors
from nearsame.stages.keys.slices import SliceKeys, bit_agrees, choose_slices, meeting_probability
from nearsame.stages.sketches.hyperplanes import SignCodes, planes
from tests.oracle import vectors as oracle
from tests.oracle.corpora import thresholds
from tests.oracle.decisions import decide_similar

Matrix = npt.NDArray[np.float64]

# 512 bands of a bit: two vectors with an angle below 90 degrees share one but for a chance of 2^-512.
ALL = {"bits": 512, "bands": 512, "rows": 1}

NUMBERS = st.integers(-3, 3).map(float) | st.floats(-1e300, 1e300) | st.floats(width=16, allow_nan=False).map(float)


@st.composite
def vectors(draw: st.DrawFn) -> list[list[float] | None]:
    """A few vectors of one length, many alike, some without a direction."""
    size = draw(st.integers(1, 9))
    finite = NUMBERS.filter(math.isfinite)
    whole = st.lists(finite, min_size=size, max_size=size)
    found: list[list[float] | None] = draw(st.lists(whole | st.none() | st.just([]), max_size=8))
    copies = st.tuples(st.sampled_from(found or [None]), st.integers(0, size - 1), st.floats(-2, 2), NUMBERS)
    for vector, place, factor, number in draw(st.lists(copies, max_size=4)):
        if vector and math.isfinite(number):
            copy = [x * factor if math.isfinite(x * factor) else x for x in vector]
            found.append(draw(st.sampled_from([copy, [*copy[:place], number, *copy[place + 1 :]]])))
    return found


def _table(found: list[list[float] | None]) -> pa.Table:
    return pa.table({"vector": pa.array(found, pa.list_(pa.float64()))})


def _features(found: list[list[float] | None]) -> pa.RecordBatch:
    columns = [pa.array(range(len(found)), pa.int64()), pa.array(found, schemas.VECTORS.field("vector").type)]
    return RoundedVectors()(pa.RecordBatch.from_arrays(columns, schema=schemas.VECTORS))


def _at_angle(matrix: Matrix, cosine: float, random: np.random.Generator) -> Matrix:
    """For each vector another one with that cosine."""
    units = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    others = random.standard_normal(matrix.shape)
    others -= (others * units).sum(axis=1, keepdims=True) * units
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    return np.asarray(cosine * units + math.sqrt(1 - cosine**2) * others)


def _random(num: int, size: int, seed: int) -> tuple[Matrix, np.random.Generator]:
    random = np.random.Generator(np.random.PCG64(seed))
    return random.standard_normal((num, size)), random


@given(vectors())
def test_features_are_the_rounded_vectors(found: list[list[float] | None]) -> None:
    """The sum of squares, then four numbers to a word; nothing of what has no direction; of any batch the same."""
    batch = _features(found)
    for row, vector in enumerate(map(oracle.rounded, found)):
        items = batch.column("items")[row].values.to_numpy()
        padded = (*(vector or ()), *[0] * (-len(vector or ()) % 4))
        assert [] == items.tolist() if vector is None else list(padded) == items[1:].view(np.int16).tolist()
        assert vector is None or sum(x * x for x in vector) == items[0]
    assert all(_features([vector]).column("items")[0] == batch.column("items")[i] for i, vector in enumerate(found))


@given(vectors(), st.sampled_from([64, 128, 512]), st.integers(0, 3))
def test_codes_and_keys_are_what_their_definitions_say(found: list[list[float] | None], bits: int, seed: int) -> None:
    """The signs of the products; keys are equal where slices of one number are."""
    sketches = SignCodes(bits, seed)(_features(found))
    size = max((len(vector) for vector in found if vector), default=1)
    rows = planes(bits, seed, size).tolist()
    codes = [None if vector is None else oracle.code(vector, rows) for vector in map(oracle.rounded, found)]
    words = [arrow.unsigned(row.values.to_numpy()).tolist() for row in sketches.column("items")]
    assert [[] if code is None else [code >> 64 * i & 2**64 - 1 for i in range(bits // 64)] for code in codes] == words
    for bands, width in ((1, 64), (bits // 7, 7), (bits, 1)):
        keys = SliceKeys(ns.Hyperplane(bits=bits, bands=bands, rows=width))(sketches)
        expected = [slice_ for code in codes if code is not None for slice_ in oracle.slices(code, bands, width)]
        told = keys.column("key").to_pylist()
        assert len(expected) == len(told)
        assert len(set(expected)) == len(set(told)) == len(set(zip(expected, told, strict=True)))


@given(vectors(), thresholds(), st.data())
def test_pairs_are_those_of_brute_force(found: list[list[float] | None], threshold: str, data: st.DataObject) -> None:
    """With bands that miss nothing: every pair, with its cosine to nine decimals."""
    how = {"batch_rows": data.draw(st.sampled_from([1, 7, 1000])), "threads": data.draw(st.sampled_from([1, 2, 4]))}
    table = ns.pairs(_table(found), method=ns.Hyperplane(threshold=threshold, **ALL), **how).table
    whole = [oracle.rounded(vector) for vector in found]
    expected = oracle.pairs(whole, Fraction(threshold))
    assert {pair: float(value) for pair, value in expected.items()} == {
        (line["a_row"], line["b_row"]): line["similarity"] for line in table.to_pylist()
    }


@given(vectors(), thresholds(), st.data())
def test_what_goes_is_what_brute_force_removes(
    found: list[list[float] | None], threshold: str, data: st.DataObject
) -> None:
    """The same vectors with the same witnesses, whatever the batches and threads; at once or with `at`."""
    how = {"batch_rows": data.draw(st.sampled_from([1, 7, 1000])), "threads": data.draw(st.sampled_from([1, 2, 4]))}
    result = ns.dedup(_table(found), method=ns.Hyperplane(threshold=threshold, **ALL), **how)
    whole = [oracle.rounded(vector) for vector in found]
    expected = decide_similar(whole, oracle.pairs(whole, Fraction(threshold)), range(len(found)))
    assert {row: (witness, float(similarity)) for row, (witness, similarity) in expected.items()} == {
        line["row"]: (line["witness_row"], line["similarity"]) for line in result.removals.to_pylist()
    }
    assert whole.count(None) == result.stats.empty
    low = ns.dedup(_table(found), method=ns.Hyperplane(threshold="0.001", **ALL))
    assert result.removals.equals(low.at(threshold=threshold).removals)


@pytest.mark.parametrize("size", [2, 3, 128, 1024])
def test_rounding_moves_a_cosine_by_no_more_than_it_says(size: int) -> None:
    """By (1/|a| + 1/|b|) · √d / 2 at most, of the rounded vectors."""
    matrix, random = _random(60, size, size)
    both = np.concatenate([matrix, _at_angle(matrix, 0.9, random)])
    table = ns.pairs(both, method=ns.Hyperplane(threshold="0.5", **ALL)).table
    lengths = np.array([math.hypot(*(oracle.rounded(row) or ())) for row in both.tolist()])
    units = both / np.linalg.norm(both, axis=1, keepdims=True)
    a, b = table.column("a_row").to_numpy(), table.column("b_row").to_numpy()
    error = np.abs(table.column("similarity").to_numpy() - (units[a] * units[b]).sum(axis=1))
    bound = (1 / lengths[a] + 1 / lengths[b]) * math.sqrt(size) / 2 + 2e-9
    assert a.size >= 60
    assert (error <= bound).all()
    assert bound.max() < 0.0005


@pytest.mark.parametrize("cosine", [-0.5, 0.0, 0.5, 0.9, 0.99])
def test_a_hyperplane_separates_two_vectors_as_often_as_their_angle_says(cosine: float) -> None:
    """P(h(u) = h(v)) = 1 - θ/π, and θ/π ≥ 0.878 · (1 - cos θ)/2 (Goemans and Williamson)."""
    num, bits = 400, 512
    matrix, random = _random(num, 64, 3)
    both = np.concatenate([matrix, _at_angle(matrix, cosine, random)])
    codes = SignCodes(bits, 5)(_features(both.tolist())).column("items").flatten().to_numpy()
    differ = np.bitwise_count((codes[: codes.size // 2] ^ codes[codes.size // 2 :]).view(np.uint64)).sum()
    expected = math.acos(cosine) / math.pi
    error = math.sqrt(expected * (1 - expected) / (num * bits))
    assert expected == pytest.approx(differ / (num * bits), abs=5 * error)
    assert expected == pytest.approx(1 - bit_agrees(cosine))
    assert differ / (num * bits) >= 0.878 * (1 - cosine) / 2 - 5 * error


@pytest.mark.parametrize("size", [2, 3, 5])
def test_few_numbers_are_cut_as_evenly_as_many(size: int) -> None:
    """Along the axes, where hyperplanes of ±1 would never separate (1, 0) and (1, 0.9)."""
    a, b = [1.0] + [0.0] * (size - 1), [1.0, 0.9] + [0.0] * (size - 2)
    told = []
    for seed in range(40):
        codes = SignCodes(512, seed)(_features([a, b])).column("items").flatten().to_numpy().view(np.uint64)
        told.append(int(np.bitwise_count(codes[:8] ^ codes[8:]).sum()) / 512)
    assert math.acos(1 / math.hypot(1, 0.9)) / math.pi == pytest.approx(np.mean(told), abs=0.015)


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_recall_at_the_threshold_is_what_was_asked_for(bits: int) -> None:
    """Of 2,000 pairs that just reach it, in clusters of two: 99 % at least, less three standard errors."""
    matrix, random = _random(2000, 64, 17)
    both = np.concatenate([matrix, _at_angle(matrix, 0.9002, random)])
    found = ns.pairs(both, method=ns.Hyperplane(bits=bits)).table
    apart = found.column("b_row").to_numpy() - found.column("a_row").to_numpy()
    assert (apart == 2000).sum() / 2000 >= 0.99 - 3 * math.sqrt(0.99 * 0.01 / 2000)
    assert found.column("similarity").to_numpy().min() >= 0.9


def test_planted_near_duplicates_are_all_found() -> None:
    """200 vectors with a cosine of .95 to one of 10,000 of 128 numbers; nothing else goes."""
    matrix, random = _random(10_000, 128, 1)
    planted = _at_angle(matrix[:200], 0.95, random)
    found = ns.dedup(np.concatenate([matrix, planted]).astype(np.float32), method=ns.Hyperplane(recall=0.99))
    assert list(range(10_000, 10_200)) == found.removals.column("row").to_pylist()
    assert list(range(200)) == found.removals.column("witness_row").to_pylist()
    assert found.stats.compared < 0.01 * math.comb(10_200, 2)
    assert {"cosine"} == set(found.removals.column("measure").to_pylist())


@pytest.mark.slow
@pytest.mark.parametrize("bands", [1, 4])
def test_the_audit_measures_what_bands_miss(bands: int) -> None:
    """Against what brute force says of all: of a sample that is everything, no estimate but the figure."""
    matrix, random = _random(400, 24, 21)
    both = np.concatenate([matrix, _at_angle(matrix, 0.93, random)])
    found = ns.dedup(both, method=ns.Hyperplane(bands=bands, rows=10))
    whole = [oracle.rounded(row) for row in both.tolist()]
    partners = oracle.pairs(whole, Fraction(9, 10))
    removed = dict(zip(*(found.removals.column(name).to_pylist() for name in ("row", "witness_row")), strict=True))
    lost = {row for pair in partners for row in pair if not removed.keys() & set(pair)}
    must_go = {max(pair) for pair in partners if min(pair) not in removed}
    told = found.audit
    assert (800, len(must_go), "cosine") == (told.sampled, told.with_partner, told.measure)
    assert (len(lost), 800 - len(removed)) == (told.residual.num, told.residual.of)
    assert 0 < len(removed) == told.precision.num == told.precision.of
    assert (len(must_go & removed.keys()), len(must_go)) == (told.recall.num, told.recall.of)
    assert 0.99 < ns.dedup(both, method="hyperplane").audit.recall.value


@pytest.mark.threaded
def test_one_answer_for_all_batches_and_threads() -> None:
    """With bands that miss some pairs, too: it misses the same ones."""
    matrix, random = _random(400, 33, 9)
    both = np.concatenate([matrix, _at_angle(matrix, 0.88, random)])
    method = ns.Hyperplane(threshold="0.8", recall=0.5, bits=64)
    told = [
        ns.dedup(both, method=method, batch_rows=rows, threads=threads).removals
        for rows, threads in ((1000, 1), (7, 2), (1, 4))
    ]
    assert 0 < told[0].num_rows < 400
    assert told[0].equals(told[1])
    assert told[0].equals(told[2])


def test_slices_are_chosen_by_recall_at_the_angle() -> None:
    """As wide as the bits allow; 1 - (1 - p^r)^b reaches the recall."""
    for threshold, recall, bits in ((0.9, 0.99, 512), (0.9, 0.99, 64), (0.5, 0.999, 256), (1.0, 0.9, 64)):
        bands, rows = choose_slices(threshold, recall, bits)
        assert bands * rows <= bits
        assert meeting_probability(threshold, bands, rows) >= recall
        fewer = bit_agrees(threshold) ** (rows + 1)
        assert rows == 64 or bits < (rows + 1) * math.log(1 - recall) / math.log(1 - fewer)
    with pytest.raises(ns.ConfigError, match=r"recall=0.999999 at threshold=0.001 cannot be reached with bits=16"):
        choose_slices(0.001, 0.999999, 16)


def _parquet(folder: Path, table: pa.Table) -> str:
    pq.write_table(table, folder / "vectors.parquet")
    return str(folder / "vectors.parquet")


def _feather(folder: Path, table: pa.Table) -> str:
    pa.feather.write_feather(table, folder / "vectors.arrow")
    return str(folder / "vectors.arrow")


def _json(folder: Path, table: pa.Table) -> str:
    lines = (json.dumps(line) + "\n" for line in table.to_pylist())
    (folder / "vectors.jsonl").write_text("".join(lines), "utf-8")
    return str(folder / "vectors.jsonl")


@pytest.mark.parametrize("write", [_parquet, _feather, _json, lambda _, table: table])
@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float32(), 6),
        pa.list_(pa.float64(), 6),
        pa.list_(pa.float16(), 6),
        pa.list_(pa.float32()),
        pa.large_list(pa.float64()),
        pa.list_(pa.int8(), 6),
    ],
    ids=str,
)
def test_vectors_come_from_files_and_tables(
    write: Callable[[Path, pa.Table], Any], kind: pa.DataType, tmp_path: Path
) -> None:
    """In columns of any kind of list of numbers; a null, or a vector of zeros, is no near-duplicate of its like."""
    rows = [[1, 2, 3, 4, 5, 6], None, [0] * 6, [6, -5, 4, -3, 2, -1], [2, 4, 6, 8, 10, 12], [0] * 6, None]
    if pa.types.is_floating(kind.value_type):
        rows = [row and [np.float16(number) for number in row] for row in rows]
    values = pa.array(rows, pa.list_(pa.float16() if pa.types.is_floating(kind.value_type) else pa.int8()))
    whole = pa.array([row and [float(number) for number in row] for row in values.to_pylist()], pa.list_(pa.float64()))
    table = pa.table({"id": [f"v{i}" for i in range(7)], "embedding": _as(whole, kind)})
    source = write(tmp_path, table)
    found = ns.dedup(source, method="hyperplane", vector_column="embedding", keep="last")
    assert [("v0", "v4", 1.0)] == [
        (line["id"], line["witness_id"], line["similarity"]) for line in found.removals.to_pylist()
    ]
    assert 4 == found.stats.empty
    assert ["v1", "v2", "v3", "v4", "v5", "v6"] == found.kept().column("id").to_pylist()
    found.write(tmp_path / "clean")
    assert "1 2 3 4 5 6" == found.examples().column("text")[0].as_py()


def _as(whole: pa.Array, kind: pa.DataType) -> pa.Array:
    """The lists in another type; Arrow knows no cast for halves within lists."""
    if pa.types.is_float16(kind.value_type):
        return pa.array([row and [np.float16(x) for x in row] for row in whole.to_pylist()], kind)
    if pa.types.is_integer(kind.value_type):
        return pa.array([row and [int(x) for x in row] for row in whole.to_pylist()], kind)
    return pa.array(whole.to_pylist(), kind)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4", "int16", "uint8"])
def test_a_matrix_is_a_table_of_vectors(dtype: str) -> None:
    """Its rows, in whatever order they lie in memory."""
    matrix = np.array([[1, 2, 3], [3, 2, 1], [2, 4, 6]], dtype)
    for source in (matrix, np.asfortranarray(matrix)):
        found = ns.dedup(source, method="hyperplane")
        assert [(2, 0)] == [(line["row"], line["witness_row"]) for line in found.removals.to_pylist()]
        assert matrix[:2].tolist() == found.kept().column("vector").to_pylist()


def test_nothing_at_all_is_no_error() -> None:
    """No vectors, or none of any length."""
    for source in (np.zeros((0, 4)), np.zeros((3, 0)), np.zeros((3, 4))):
        assert 0 == ns.dedup(source, method="hyperplane").stats.removed
        assert 0 == ns.pairs(source, method="hyperplane").table.num_rows


@pytest.mark.parametrize("write", [_parquet, _json, lambda _, table: table])
@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.list_(pa.float64(), 2)], ids=str)
def test_a_vector_that_is_not_finite_is_skipped(
    write: Callable[[Path, pa.Table], Any], kind: pa.DataType, tmp_path: Path
) -> None:
    """Counted, with its place and the reason; never removed."""
    rows = [[1.0, 2.0], None, [math.nan, 1.0], [1.0, -math.inf], [None, math.nan], [1.0, 2.0]]
    source = write(tmp_path, pa.table({"vector": pa.array(rows, kind)}))
    found = ns.dedup(source, method="hyperplane")
    assert [
        (2, "NaN at place 0 of the vector"),
        (3, "infinity at place 1 of the vector"),
        (4, "null at place 0 of the vector"),
    ] == [(line["position"], line["reason"]) for line in found.skipped.to_pylist()]
    assert [5] == [int(line["id"].rsplit(":", 1)[1]) for line in found.removals.to_pylist()]
    with pytest.raises(ns.SourceError, match="NaN at place 0 of the vector"):
        ns.dedup(source, method="hyperplane", strict=True)


def test_a_vector_of_another_length_is_an_error_that_names_both(tmp_path: Path) -> None:
    """Two lengths are two models: whatever was meant, it was not this."""
    first = _json(tmp_path, pa.table({"vector": [None, [1.0, 2.0]]}))
    with pytest.raises(ns.SourceError) as caught:
        ns.dedup(pa.table({"vector": [[1.0, 2.0], [1.0, 2.0, 3.0]]}), method="hyperplane", against=first, batch_rows=1)
    message = f"memory, record 1: a vector of 3 numbers, where that of {first}, record 1 has 2"
    assert message == str(caught.value)


MATRIX = np.eye(3)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (["a"], {}, "memory has no column 'vector'"),
        (pa.table({"vector": ["a"]}), {}, "memory: column 'vector' is string, not a list of numbers"),
        (pa.table({"vector": [["a"]]}), {}, "memory: column 'vector' is list<item: string>, not a list of numbers"),
        (MATRIX[0], {}, "documents cannot be read from a ndarray"),
        (MATRIX, {"vector_column": "b"}, "memory has no column 'b'"),
        (MATRIX, {"text_column": "b"}, "method=hyperplane needs vectors, not text_column='b'"),
        (MATRIX, {"features_column": "b"}, "method=hyperplane needs vectors, not features_column='b'"),
        (MATRIX, {"keep": "longest"}, "keep='longest' cannot rank vectors of one length"),
        (MATRIX, {"method": "jaccard", "vector_column": "b"}, "vector_column='b' does nothing with method=jaccard"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_is_an_error_that_names_it(source: Any, options: dict[str, Any], message: str) -> None:
    """Before anything is compared."""
    with pytest.raises(ns.NearSameError) as caught:
        ns.dedup(source, **{"method": "hyperplane", **options})
    assert message == str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bits": 100}, "bits=100 is not a multiple of 64"),
        ({"bits": 1024}, "bits=1024: 1024 is above 512"),
        ({"bands": 3}, "bands=3 and rows=None must be given together"),
        ({"bands": 30, "rows": 20}, "bands=30 of rows=20 need 600 bits, bits=512"),
        ({"threshold": 0}, "threshold=0: 0 is not above 0 and at most 1"),
        ({"shingle_size": 3}, "shingle_size=3: there is no such setting"),
    ],
)
def test_a_bad_recipe_names_its_values(settings: dict[str, Any], message: str) -> None:
    """What cannot be is refused at once."""
    with pytest.raises(ns.ConfigError) as caught:
        ns.Hyperplane(**settings)
    assert message in str(caught.value)
