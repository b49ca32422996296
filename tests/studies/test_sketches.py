"""Plain functions of texts and codes: the values of a run, as columns of the kind that was given."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.flow.steps import steps
from nearsame.stages.sketches.minhash import Signatures
from tests.oracle import measures
from tests.oracle.minhash import classic_sketch
from tests.oracle.shingles import features
from tests.oracle.simhash import FUNCTIONS, code_of, features_of

TEXTS = st.lists(st.sampled_from(["a", "rose", "Is", "漢字", "--", "ß", "é"]), max_size=12).map(" ".join)
COLUMNS = st.lists(TEXTS | st.none(), max_size=6)


def _xxh3(bits: int, feature: str) -> int:
    return FUNCTIONS["xxh3"](feature.encode(), bits)


@given(COLUMNS, st.sampled_from([32, 64, 128]), st.sampled_from(["one", "tf"]), st.sampled_from([0, 1]))
def test_codes_are_those_of_the_oracle(texts: list[str | None], bits: int, weights: str, zero_bit: int) -> None:
    """Of any list; a text without tokens has none."""
    expected: list[int | None] = []
    for text in texts:
        counted = features_of(text)
        weighted = counted if weights == "tf" else dict.fromkeys(counted, 1)
        expected.append(code_of(weighted, partial(_xxh3, bits), bits, zero_bit) if counted else None)
    assert ns.simhash(texts, bits=bits, weights=weights, zero_bit=zero_bit) == expected


@given(COLUMNS, st.integers(1, 3), st.sampled_from(["words", "chars"]), st.booleans())
def test_shingles_are_hashed_to_the_sets_that_are_compared(
    texts: list[str | None], size: int, unit: str, repeats: bool
) -> None:
    """As they read, and as hashes: as many, and two texts have them in common alike; so Jaccard follows."""
    how: dict[str, Any] = {"shingle_size": size, "unit": unit, "repeats": repeats}
    named, hashed = ns.shingles(texts, **how), ns.shingles(texts, hashed=True, **how)
    sets = [features(text or "", size=size, unit=unit, repeats=repeats) for text in texts]
    for text, names, items, expected in zip(texts, named, hashed, sets, strict=True):
        assert (names is None) == (items is None) == (text is None)
        assert len(items or ()) == (2 if expected and not names else len(expected))  # a text without tokens has two
        assert names is None or len(names) == len(expected) or not names
    found = ns.jaccard(texts, texts[::-1], **how)
    pairs = zip(zip(texts, sets, strict=True), list(zip(texts, sets, strict=True))[::-1], found, strict=True)
    for (a, one), (b, other), value in pairs:
        expected_value = None if None in (a, b) else float(measures.jaccard(one, other)) if one or other else 1.0
        assert value == expected_value


@given(TEXTS, st.integers(1, 9), st.sampled_from(["fast", "classic"]))
@settings(max_examples=25)
def test_signatures_are_those_of_a_run(text: str, num_perm: int, sketch: Any) -> None:
    """The minima of the set that `shingles` gives; an empty text has none."""
    recipe = ns.MinHash(num_perm=num_perm, sketch=sketch, shingle_size=2)
    signature = ns.minhash(text, num_perm=num_perm, sketch=sketch, shingle_size=2)
    items = np.array(ns.shingles(text, shingle_size=2, hashed=True), np.uint64)
    made = Signatures(recipe).signatures(items, np.array([0]), np.array([items.size]))[0].tolist()
    assert signature == (made if items.size else None)
    if sketch == "classic" and items.size:
        assert signature == classic_sketch(items.tolist(), *(seeds.tolist() for seeds in Signatures(recipe).seeds))
    assert steps(recipe).sketches is not None


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a b", None, "c"]),
        pa.chunked_array([["a b"], [None, "c"]]),
        pa.array(["a b", None, "c"]).dictionary_encode(),
        pl.Series("texts", ["a b", None, "c"]),
        pd.Series(["a b", None, "c"], index=[7, 8, 9], name="texts"),
        np.array(["a b", None, "c"], object),
    ],
    ids=lambda column: f"{type(column).__module__.partition('.')[0]}-{type(column).__name__}",
)
def test_a_column_gives_a_column_of_its_kind(column: Any) -> None:
    """With the values of a list, whole numbers exactly, though there is a null."""
    kind = type(column) if not isinstance(column, pa.Array) else pa.Array
    for function, how in ((ns.simhash, {}), (ns.minhash, {"num_perm": 2}), (ns.shingles, {"shingle_size": 1})):
        made = function(column, **how)
        assert isinstance(made, kind)
        values = made.to_list() if isinstance(made, pl.Series) else made.tolist() if hasattr(made, "tolist") else made
        values = values.to_pylist() if isinstance(values, (pa.Array, pa.ChunkedArray)) else values
        assert [None if value is pd.NA else value for value in values] == function(["a b", None, "c"], **how)
    if isinstance(column, pd.Series):
        assert (made.index.tolist(), made.name) == ([7, 8, 9], "texts")


@given(st.lists(st.integers(0, 2**64 - 1) | st.none(), max_size=5), st.integers(0, 2**64 - 1))
def test_distances_of_codes_in_any_form(codes: list[int | None], other: int) -> None:
    """Numbers, numbers in two's complement, bytes and hexadecimal digits."""
    expected = [None if code is None else (code ^ other).bit_count() for code in codes]
    signed = [None if code is None else code - (code >> 63 << 64) for code in codes]
    hexed = [None if code is None else f"{code:016x}" for code in codes]
    data = [None if code is None else code.to_bytes(8) for code in codes]
    assert ns.hamming(codes, other) == ns.hamming(other, signed) == ns.hamming(hexed, other) == expected
    for column in (
        pa.array(codes, pa.uint64()), pa.array(signed, pa.int64()), pa.array(hexed, pa.string()),
        pa.array(data, pa.binary()), pa.array(data, pa.binary(8)),
    ):  # fmt: skip
        assert ns.hamming(column, other).to_pylist() == expected
    assert ns.hamming(1 << 500, 0) == 1


@pytest.mark.parametrize("code", [b"x" * 16, "ff", "0b1", 5, -1, 1 << 70, None])
@pytest.mark.parametrize("kind", [pa.null(), pa.string(), pa.binary(), pa.binary(16), pa.list_(pa.uint64())], ids=str)
def test_of_a_column_without_codes_there_are_nulls(kind: pa.DataType, code: Any) -> None:
    """Whatever length the other one has: here no two are compared."""
    for values in ([], [None]):
        assert ns.hamming(pa.array(values, kind), code).to_pylist() == values
        assert ns.hamming(code, pa.array(values, kind)).to_pylist() == values


def test_a_lazy_frame_is_refused_without_a_warning() -> None:
    """It is a table, and is not asked for its columns."""
    with pytest.raises(ns.SourceError, match="a LazyFrame is not a column of values"):
        ns.simhash(pl.LazyFrame({"text": ["a b c"]}))


def test_what_does_nothing_or_is_nothing_is_refused() -> None:
    """Tables, codes of two lengths, columns of two lengths."""
    for call, problem in (
        (lambda: ns.simhash("a", weights="tfidf"), "needs a corpus"),
        (lambda: ns.simhash(pa.table({"text": ["a"]})), "not a column"),
        (lambda: ns.simhash(pa.array([b"\xff"])), "invalid UTF-8"),
        (lambda: ns.hamming("ff", "00ff"), "8 bits and one of 16"),
        (lambda: ns.hamming(pa.array(["ff", "0"]), "ff"), "not all of one length"),
        (lambda: ns.hamming(pa.array(["ff", "0g"]), "ff"), "row 1, '0g'"),
        (lambda: ns.hamming(1.5, 2), "1.5 is not a code"),
        (lambda: ns.jaccard(["a"], ["a", "b"]), "1 and 2 rows"),
        (lambda: ns.hamming((code for code in [1]), 2), "generator.* is not a column"),
        (lambda: ns.hamming(map(int, "12"), map(int, "34")), "map.* is not a column"),
        (lambda: ns.hamming([1], {1}), "set.* is not a column"),
        (lambda: ns.hamming({1: 2}, 1), "dict.* is not a column"),
        (lambda: ns.hamming(bytearray(b"a"), b"b"), "bytearray.* is not a column"),
        (lambda: ns.hamming(b"b", memoryview(b"a")), "memoryview.* is not a column"),
        (lambda: ns.jaccard("b", bytearray(b"a")), "bytearray.* is not a column"),
        (lambda: ns.hamming(pa.array([], pa.string()), 1.5), "1.5 is not a code"),
    ):
        with pytest.raises(ns.NearSameError, match=problem):
            call()


# Worked values of other packages' code, each run as it was installed.
OTHERS: dict[str, dict[str, dict[Any, Any]]] = {
    # simhash 2.1.2: Simhash(text, f=bits).value
    "simhash": {
        "how": {
            "unit": "chars", "shingle_size": 4, "whitespace": False, "weights": "tf", "feature_hash": "md5",
        },
        "values": {
            ("the quick brown fox jumps over the lazy dog", 64): 3182376498800265610,
            ("the quick brown fox jumps over the lazy dog", 128): 55423179981541540515949847695011252618,
            ("How are you? I am fine. Thanks, 42!", 64): 3419226668999305355,
            ("How are you? I am fine. Thanks, 42!", 32): 608102539,
            ("aaaa aaaa bbbb", 64): 15222026846552835557,
            ("abc", 64): 15462616177412505458,
        },
    },
    # text-dedup 0.4.0: text_dedup.simhash.embed_func with ngram=3 and its default hashes, the bytes as a number
    "text-dedup": {
        "how": {"unit": "chars", "shingle_size": 3, "keep_punctuation": True},
        "values": {
            ("the quick brown fox jumps over the lazy dog", 64): 11690998649019380844,
            ("the quick brown fox jumps over the lazy dog", 128): 47086731655607241553246954169112147052,
            ("a rose is a rose is a rose", 64): 10356103278731139072,
        },
    },
}  # fmt: skip


@pytest.mark.parametrize("package", OTHERS)
def test_codes_are_those_of_other_packages(package: str) -> None:
    """By the settings that docs/codes.md names for each."""
    how = OTHERS[package]["how"]
    for (text, bits), value in OTHERS[package]["values"].items():
        assert ns.simhash(text, bits=bits, **how) == value
    page = (Path(__file__).parents[2] / "docs" / "codes.md").read_text("utf-8")
    assert ", ".join(f"{name}={value!r}" for name, value in how.items()).replace("'", '"') in page
