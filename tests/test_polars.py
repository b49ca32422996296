"""The plain functions as expressions of polars: the values of `ns.simhash` and the others."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nearsame as ns
import nearsame.polars as nsp

TEXTS = ["a rose is a rose", None, "", "--", "A daisy is a flower, a rose is red"]
OTHERS = ["a rose", "a rose", None, "--", "a flower"]
CODES: list[int | None] = [7, None, 2**63 + 1, 0, 5]
# What is asked of polars, and the same of a list.
ASKED: dict[str, tuple[pl.Expr, Callable[[], Any], pl.DataType]] = {
    "simhash": (nsp.simhash("text"), lambda: ns.simhash(TEXTS), pl.UInt64()),
    "of 32 bits": (nsp.simhash(pl.col("text"), bits=32), lambda: ns.simhash(TEXTS, bits=32), pl.UInt32()),
    "of 128 bits": (nsp.simhash("text", bits=128).bin.encode("hex"), lambda: _hexed(128), pl.String()),
    "minhash": (nsp.minhash("text", num_perm=3), lambda: ns.minhash(TEXTS, num_perm=3), pl.List(pl.UInt64)),
    "shingles": (nsp.shingles("text"), lambda: ns.shingles(TEXTS), pl.List(pl.String)),
    "hashed": (nsp.shingles("text", hashed=True), lambda: ns.shingles(TEXTS, hashed=True), pl.List(pl.UInt64)),
    "jaccard": (
        nsp.jaccard("text", "other", shingle_size=1), lambda: ns.jaccard(TEXTS, OTHERS, shingle_size=1), pl.Float64(),
    ),
    "with one text": (
        nsp.jaccard("text", pl.lit("a rose"), shingle_size=1),
        lambda: [None if text is None else ns.jaccard(text, "a rose", shingle_size=1) for text in TEXTS],
        pl.Float64(),
    ),
    "hamming": (nsp.hamming("code", pl.lit(4)), lambda: ns.hamming(CODES, 4), pl.Int32()),
    "with null": (nsp.hamming(pl.lit(None), "code"), lambda: [None] * 5, pl.Int32()),
}  # fmt: skip


def _hexed(bits: int) -> list[str | None]:
    codes: list[int | None] = ns.simhash(TEXTS, bits=bits)
    return [None if code is None else f"{code:0{bits // 4}x}" for code in codes]


def frame() -> pl.LazyFrame:
    """Texts and codes in several pieces."""
    whole = pl.DataFrame(
        {"text": TEXTS, "other": OTHERS, "code": CODES}, {"code": pl.UInt64, "text": pl.String, "other": pl.String}
    )
    return pl.concat([whole[:2], whole[2:]], rechunk=False).lazy()


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_values_are_those_of_the_plain_functions(engine: Any) -> None:
    """Of lazy frames, whose schema has their types before anything is computed, in memory and streaming."""
    made = frame().select(**{name: expression for name, (expression, _, _) in ASKED.items()})
    assert {name: kind for name, (_, _, kind) in ASKED.items()} == dict(made.collect_schema())
    found = made.collect(engine=engine)
    assert {name: values() for name, (_, values, _) in ASKED.items()} == found.to_dict(as_series=False)


def test_expressions_are_those_of_polars_wherever_they_stand() -> None:
    """In filters, groups and chains of others; of no rows; named after the first column."""
    alike = frame().filter(nsp.jaccard("text", "other", shingle_size=1) > 0.6).collect()
    assert ["a rose is a rose", "--"] == alike["text"].to_list()
    least = frame().group_by("other").agg(nsp.simhash("text", bits=32).min().alias("least")).sort("other").collect()
    codes = ns.simhash(["a rose is a rose", TEXTS[4]], bits=32)
    assert [None, None, codes[1], codes[0]] == least["least"].to_list()
    near = nsp.hamming(nsp.simhash("text"), nsp.simhash("other"))
    assert ns.hamming(ns.simhash(TEXTS), ns.simhash(OTHERS)) == frame().select(near).collect()["text"].to_list()
    assert ["text"] == frame().collect().clear().select(nsp.jaccard("text", "other")).columns


def test_one_value_goes_for_all_rows_and_nothing_else_does() -> None:
    """For no rows, too; a column of another length is refused; a list is one value."""
    for asked in (nsp.jaccard("text", pl.lit("a")), nsp.jaccard(pl.lit("a"), "text"), nsp.hamming("code", pl.lit(4))):
        none = frame().filter(pl.col("text") == "z").select(asked.alias("made"))
        for engine in ("in-memory", "streaming"):
            assert none.collect(engine=engine)["made"].to_list() == []  # type: ignore[call-overload]
    emptied = nsp.jaccard(pl.col("text").filter(pl.col("text") == "z"), pl.lit("a")).alias("made")
    assert frame().group_by("other").agg(emptied).collect()["made"].to_list() == [[]] * 4
    for short in (pl.col("text").head(2), pl.col("text").head(0)):
        with pytest.raises(ns.ConfigError, match="cannot be compared row by row"):
            frame().collect().select(nsp.jaccard("text", short))
    words = pl.DataFrame({"words": [[1, 2], [3, 4]]}, {"words": pl.List(pl.UInt64)})
    one = pl.lit(pl.Series([[1, 0]], dtype=pl.List(pl.UInt64)))
    assert words.select(nsp.hamming("words", one))["words"].to_list() == [1, 2]


def test_settings_are_the_same_in_every_piece() -> None:
    """A seed that is drawn is drawn once; stop words may come from anywhere."""
    asked = (nsp.minhash("text", seed="random"), nsp.shingles("text", stop_words=iter(["=a"])).alias("words"))
    made = frame().select(*asked).collect(engine="streaming")
    both = pl.DataFrame({"text": ["a rose"] * 2}).group_by(pl.int_range(2)).agg(asked[0].first())["text"].to_list()
    assert both[0] == both[1]
    assert ns.shingles(TEXTS, stop_words=["=a"]) == made["words"].to_list()


def test_what_cannot_be_is_refused_where_it_is_written() -> None:
    """Settings and columns at once; a column of something else when it is read, as by `ns.simhash`."""
    for make, error, problem in (
        (lambda: nsp.simhash("text", bits=7), ns.ConfigError, "bits=7 is not 32"),
        (lambda: nsp.minhash("text", threshold=0.5), TypeError, "threshold"),
        (lambda: nsp.simhash(5), ns.ConfigError, "text must be a string or Expr, got 5"),
        (lambda: frame().select(nsp.simhash("code")).collect(), ns.ColumnError, "no texts"),
        (lambda: frame().select(nsp.simhash("name")).collect(), pl.exceptions.ColumnNotFoundError, "name"),
    ):
        with pytest.raises(error, match=problem):
            make()


def test_the_page_shows_what_runs() -> None:
    """The block of docs/codes.md about polars."""
    page = (Path(__file__).parents[1] / "docs" / "codes.md").read_text("utf-8")
    [block] = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "nearsame.polars" in block]
    made: dict[str, Any] = {}
    exec(block, made)  # noqa: S102  (our own page)
    assert made["near"]["id"].to_list() == ["a"]
