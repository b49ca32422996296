"""Codes of any origin: the Hamming join held to brute force, in every form in which codes are written."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.sources.codes import code_words, read_code
from nearsame.stages.pairs import near
from tests.cli.commands import run
from tests.examples import share
from tests.oracle.decisions import decide_similar
from tests.oracle.simhash import similarities

Codes = list[int | None]


@st.composite
def near_codes(draw: st.DrawFn, most: int = 512) -> tuple[int, int, Codes]:
    """A length, a distance, and codes of which some are near."""
    bits = draw(st.sampled_from([b for b in (2, 32, 48, 64, 65, 128, 250, 256, 320, 512) if b <= most]))
    k = draw(st.integers(0, min(16, bits - 1)))
    numbers: Codes = draw(st.lists(st.integers(0, 2**bits - 1) | st.none(), max_size=9))
    for at, flips in draw(st.lists(st.tuples(st.integers(0, 8), st.sets(st.integers(0, bits - 1), max_size=18)))):
        if at < len(numbers) and (number := numbers[at]) is not None:
            numbers.append(number ^ sum(1 << bit for bit in flips))
    return bits, k, numbers


def _bytes(numbers: Codes, bits: int) -> pa.Array:
    size = -(-bits // 8)
    return pa.array([None if number is None else number.to_bytes(size) for number in numbers], pa.binary(size))


def _hex(number: int | None, bits: int) -> str | None:
    digits = f"{number or 0:0{-(-bits // 4)}x}"
    return None if number is None else digits if not re.fullmatch("0b[01]+", digits) else f"0x{digits}"  # not bits


@settings(max_examples=share(40), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(near_codes(), st.sampled_from(["blocks", "rotations", "brute"]), st.data())
def test_pairs_and_clusters_are_those_of_brute_force(given: tuple[int, int, Codes], search: Any, data: Any) -> None:
    """Of any length and distance, by any search, also against others; a null is like nothing."""
    bits, k, numbers = given
    method = ns.Codes(bits=bits, k=k, search=search)
    expected = similarities(numbers, bits, k)
    table = pa.table({"code": _bytes(numbers, bits)})
    found = ns.pairs(table, method=method).table
    rows = zip(*(found.column(name).to_pylist() for name in ("a_row", "b_row", "similarity")), strict=True)
    assert {(a, b): value for a, b, value in rows} == {pair: float(value) for pair, value in expected.items()}
    kept = ns.dedup(table, method=method).kept().column("code").to_pylist()
    gone = decide_similar(numbers, expected, range(len(numbers)))
    assert kept == [value for row, value in enumerate(table.column("code").to_pylist()) if row not in gone]
    split = data.draw(st.integers(0, len(numbers)))
    across = ns.pairs(table[split:], against=table[:split], method=method).table
    sides = zip(across.column("a_row").to_pylist(), across.column("b_row").to_pylist(), strict=True)
    assert {(a, b + split) for a, b in sides} == {(a, b) for a, b in expected if a < split <= b}


@settings(max_examples=share(60))
@given(near_codes(), st.data())
def test_a_code_is_the_same_in_every_form(given: tuple[int, int, Codes], data: Any) -> None:
    """Numbers, two's complement, bytes, digits of three bases, words: null where there is none."""
    bits, _, numbers = given
    words = -(-bits // 64)
    expected = [[(number or 0) >> 64 * at & (1 << 64) - 1 for at in range(words)] for number in numbers]
    known = [number is not None for number in numbers]
    texts = [None if number is None else data.draw(st.sampled_from(_spellings(number, bits))) for number in numbers]
    rows = [None if number is None else row for number, row in zip(numbers, expected, strict=True)]
    forms: list[tuple[pa.Array, bool]] = [
        (_bytes(numbers, bits), False),
        (_bytes(numbers, bits).cast(pa.binary()), False),
        (pa.array([_hex(number, bits) for number in numbers], pa.string()), False),
        (pa.array(texts, pa.large_string()), False),
        (pa.array([None if number is None else str(number) for number in numbers], pa.string()), True),
        (pa.array(rows, pa.list_(pa.uint64(), words)), False),
    ]
    if bits <= 64:
        signed = [None if number is None else number - (number >> bits - 1 << bits) for number in numbers]
        forms += [(pa.array(numbers, pa.uint64()), False), (pa.array(signed, pa.int64()), False)]
        forms += (
            [(pa.array([number and str(number) for number in signed], pa.string()), True)] if 0 not in signed else []
        )
    if bits <= 252:
        signed = [None if number is None else number - (number >> bits - 1 << bits) for number in numbers]
        forms += [(pa.array(some, pa.decimal256(76)), False) for some in (numbers, signed)]
    for column, decimal in forms:
        found, good = code_words(column, bits, decimal=decimal)
        assert (found.tolist(), good.tolist()) == (expected, known), column.type
    for number, text in zip(numbers, texts, strict=True):
        assert text is None or read_code(text, bits, decimal=False) == number


def test_numbers_of_more_than_64_bits_in_a_list_are_codes() -> None:
    """Negative ones beside them, too."""
    assert 2 == ns.pairs([1, 3, -1, 2**64 - 1], method=ns.Codes(k=1)).num_pairs
    assert 1 == ns.pairs([-1, 2**128 - 1, 5, None], method=ns.Codes(bits=128, k=0)).num_pairs
    assert 1 == ns.pairs([2**300, 2**300 + 1], method=ns.Codes(bits=512, k=1)).num_pairs
    large, small = (pa.array(some, pa.decimal128(38)) for some in ([2**70, 7, None], [5, 4, 1]))
    assert ([3, 2, None], [1, 0, 2]) == (ns.hamming(large, small).to_pylist(), ns.hamming(small, 4).to_pylist())
    with pytest.raises(ns.SourceError, match="up to 91 digits and negative ones"):
        ns.pairs([2**300, -1], method=ns.Codes(bits=512, k=1))


@given(st.integers(1, 512), st.data())
def test_large_numbers_that_do_not_fit_are_no_codes(bits: int, data: Any) -> None:
    """Of the shorter and of the longer type, from both ends of what fits."""
    kind, digits = data.draw(st.sampled_from([(pa.decimal128(38), 38), (pa.decimal256(76), 76)]))
    ends = [end for end in (0, 2**bits, 2 ** (bits - 1), -(2 ** (bits - 1))) if abs(end) < 10**digits - 9]
    near = st.sampled_from(ends).flatmap(lambda end: st.integers(end - 2, end + 2))
    values = data.draw(st.lists(st.none() | near | st.integers(1 - 10**digits, 10**digits - 1), max_size=6))
    words, good = code_words(pa.array([5, *values, 7], kind).slice(1, len(values)), bits)
    expected = [value if value is not None and -(2 ** (bits - 1)) <= value < 2**bits else None for value in values]
    found = [sum(word << 64 * at for at, word in enumerate(row)) for row in words.tolist()]
    assert good.tolist() == [value is not None for value in expected]
    assert found == [(value or 0) % 2**bits for value in expected]


def test_a_text_among_numbers_is_one_bad_record(tmp_path: Path) -> None:
    """JSON has both: the numbers are codes, and what is none is skipped."""
    path = tmp_path / "codes.jsonl"
    path.write_text('{"code": 5}\n{"code": "deadbeef"}\n{"code": 7}\n', "utf-8")
    found = ns.pairs(path, codes_column="code", method=ns.Codes(k=3))
    assert (1, 1) == (found.stats.skipped, len(found.table))


def _spellings(number: int, bits: int) -> list[str]:
    digits = str(_hex(number, bits))
    return [digits, digits.upper(), hex(number), f"0X{digits}", bin(number), f"{number:0{bits}b}"]


DAMAGED = ["00ff", "00ff00ff00ff00ff00", "00ff00ff00ff00fg", "", "0x1ff00ff00ff00ff00", "ÿÿ"]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv", ".arrow", ".orc"])
def test_what_is_no_code_is_skipped_counted_and_kept(tmp_path: Path, suffix: str) -> None:
    """Too short, too long, of other characters: it stays; `verify` reads the others as the run has."""
    codes = ["00ff00ff00ff00ff", "00ff00ff00ff00f7", *DAMAGED, None, "ff00ff00ff00ff00", "0xff00ff00ff00ff01"]
    table = pa.table({"id": [str(at) for at in range(len(codes))], "phash": codes})
    path = tmp_path / f"codes{suffix}"
    if suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), "utf-8")
    elif suffix == ".csv":
        path.write_text("id,phash\n" + "".join(f"{at},{code or ''}\n" for at, code in enumerate(codes)), "utf-8")
    else:
        write = {".parquet": pq.write_table, ".arrow": pa.feather.write_feather, ".orc": pa.orc.write_table}[suffix]
        write(table, path)
    found = ns.dedup(path, codes_column="phash", method=ns.Codes(k=1))
    num_damaged = len(DAMAGED) - (suffix == ".csv")  # where an empty field is a null
    assert (found.stats.documents, found.stats.skipped) == (len(codes) - num_damaged, num_damaged)
    reasons = found.skipped.column("reason").to_pylist()
    assert all(f"{code!r} is not a code of 64 bits" in reasons for code in DAMAGED[:3])
    assert found.removed().column("id").cast(pa.string()).to_pylist() == ["1", str(len(codes) - 1)]
    found.write(tmp_path / "clean")
    verdict = ns.verify(tmp_path / "clean")
    assert verdict.holds, verdict.problems
    with pytest.raises(ns.SourceError, match=r"'00ff' is not a code of 64 bits"):
        ns.pairs(path, codes_column="phash", strict=True)


def test_verify_sees_a_distance_that_is_not_so(tmp_path: Path) -> None:
    """It computes each one again, from the column as it stands in the source."""
    pq.write_table(pa.table({"code": pa.array([5, 4, 200, -1], pa.int64())}), tmp_path / "codes.parquet")
    ns.dedup(tmp_path / "codes.parquet", method=ns.Codes(k=1)).write(tmp_path / "clean")
    removed = pq.read_table(tmp_path / "clean" / "removed.parquet")
    at = removed.schema.get_field_index("similarity")
    wrong = removed.set_column(at, "similarity", pa.array([1.0]))
    pq.write_table(wrong.replace_schema_metadata(removed.schema.metadata), tmp_path / "clean" / "removed.parquet")
    problems = str(ns.verify(tmp_path / "clean").problems)
    assert "the similarity is said to be 1, and is 0.984375" in problems


@pytest.mark.parametrize(
    ("column", "method", "message"),
    [
        (pa.array([1, 2], pa.uint32()), ns.Codes(), "holds codes of 32 bits, not of 64.*--bits 32"),
        (pa.array([b"a" * 16] * 2, pa.binary(16)), ns.Codes(), "holds codes of 128 bits, not of 64.*--bits 128"),
        (pa.array(["0f" * 8] * 2), ns.Codes(bits=32), "holds codes of 64 bits, not of 32.*--bits 64"),
        (pa.array([2**40, 2**41]), ns.Codes(bits=32), "holds codes of 64 bits, not of 32.*--bits 64"),
        (pa.array(["12345678901234567", "-123"]), ns.Codes(), "digits that are not codes of 64 bits.*--decimal"),
        (pa.array(["a rose", "a daisy"] * 50), ns.Codes(), "holds no codes of 64 bits, but 'a rose'.*--codes-column"),
        (pa.array([0.5, 1.5]), ns.Codes(), "column 'code' is double, not codes"),
    ],
)
def test_another_column_is_an_error_that_says_which(column: pa.Array, method: ns.Codes, message: str) -> None:
    """The length that the codes have, or that they are decimal numbers, with the option that says so."""
    with pytest.raises(ns.ColumnError) as caught:
        ns.pairs(pa.table({"code": column}), method=method)
    assert re.search(message, f"{caught.value}\n{caught.value.hint}", re.DOTALL)


@pytest.mark.parametrize(
    "given",
    [
        np.array([5, 4, 1 << 63], np.uint64),
        np.array([[0, 5], [0, 4], [128, 0]], np.uint8),
        [5, 4, 1 << 63],
        ["0000000000000005", "0000000000000004", "8000000000000000"],
        pl.Series("phash", [5, 4, 1 << 63], dtype=pl.UInt64),
        pl.DataFrame({"phash": [5, 4, -(1 << 63)]}),
        [{"id": "a", "code": 5}, {"id": "b", "code": 4}, {"id": "c", "code": 1 << 63}],
    ],
    ids=lambda given: type(given).__name__,
)
def test_whatever_holds_codes_is_read(given: Any) -> None:
    """NumPy words and packed bytes, lists, columns and tables."""
    bits = 16 if getattr(given, "ndim", 1) == 2 and isinstance(given, np.ndarray) else 64
    found = ns.pairs(given, method=ns.Codes(bits=bits, k=1)).table
    assert [(row["a_row"], row["b_row"]) for row in found.to_pylist()] == [(0, 1)]
    assert ns.pairs([1 << 500, 1 << 500 | 1], method=ns.Codes(bits=512)).num_pairs == 1


def test_the_command_line_takes_a_column_for_the_method(tmp_path: Path) -> None:
    """`--codes-column` is enough; decimal digits are said to be so; settings of texts are refused."""
    path = tmp_path / "codes.csv"
    path.write_text("name,hash\na,5\nb,-9223372036854775808\nc,4\n", "utf-8")
    asked = ["pairs", path, "--codes-column", "hash", "--id-column", "name", "-o", "-", "-q"]
    (pair,) = map(json.loads, run(*asked, "--decimal", "--k", 1).stdout.splitlines())
    assert (pair["a_id"], pair["b_id"], pair["measure"], pair["similarity"]) == ("a", "c", "hamming", 1 - 1 / 64)
    for options, problem in (
        ([], "--decimal"),
        (["--method", "jaccard"], "codes_column='hash' does nothing with method=jaccard"),
        (["--shingle-size", 3], "--method codes has no option --shingle-size"),
    ):
        done = run(*asked, *options)
        assert done.exit_code != 0
        assert problem in done.stderr + str(done.exception)


def test_two_codes_are_explained_as_texts_are() -> None:
    """By the same walk as many codes."""
    walk = ns.explain("00ff", "01ff", method=ns.Codes(bits=16, k=1))
    assert (walk.method, walk.answer["found"]) == ("codes", [[1, 2, 1]])


def test_statistics_say_how_codes_were_searched() -> None:
    """Blocks, tables and candidates, counted as a walk through the tables shows them; of two sides those of both."""
    numbers = [37586, 50086, 2648, 934, 40957, 2650, 64475, 40955]
    table = pa.table({"code": pa.array(numbers, pa.uint16())})
    method = ns.Codes(bits=16, k=2, blocks=4, header=2)
    shown = ns.explain_codes(numbers, bits=16, k=2, blocks=4, header=2).steps[2].rows
    groups = [group.split() for row in shown for group in str(row[2]).split(" | ")]
    expected = {"kind": "blocks", "blocks": 4, "header": 2, "tables": 6}
    candidates = sum(len(group) * (len(group) - 1) // 2 for group in groups)
    assert ns.pairs(table, method=method).stats.room["search"] == {**expected, "candidates": candidates}
    across = ns.pairs(table[4:], against=table[:4], method=method).stats.room["search"]
    old = sum(len([name for name in group if int(name) <= 4]) == 2 for group in groups)
    assert across == {**expected, "candidates": candidates - old}
    assert ns.dedup(table, method=method).stats.room["search"] == expected
    turned = ns.Codes(bits=16, k=2, search="adjacent")
    assert ns.pairs(table, method=turned).stats.room["search"] == {"kind": "adjacent", "tables": 16, "candidates": 112}


def test_candidates_of_many_codes_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting takes no time: every so many codes stand for all, and the statistics say of how many."""
    monkeypatch.setattr(near, "_COUNTED", 1000)
    table = pa.table({"code": pa.array(np.arange(2000, dtype=np.uint64) << 32)})
    search = ns.pairs(table, method=ns.Codes(k=1, search="brute")).stats.room["search"]
    assert search == {"kind": "brute", "tables": 1, "candidates": 4 * (1000 * 999 // 2), "sampled": 1000}


@pytest.mark.parametrize(("bits", "text", "value"), [(64, bin(8193), 8193), (12, "0b1", 1), (16, "0bff", 0x0BFF)])
def test_prefixes_win_over_hexadecimal_digits_wherever_a_code_is_read(bits: int, text: str, value: int) -> None:
    """0 and 1 behind 0b are bits, though all of it is as long as a whole code; before other digits it is no prefix."""
    assert read_code(text, bits, decimal=False) == value
    assert code_words(pa.array([text]), bits)[0].tolist() == [[value]]
    for form in (text, [text], pa.array([text]), pa.array([text, None]).dictionary_encode()):
        found = ns.hamming(form, 0)
        values = found.to_pylist() if isinstance(found, pa.Array) else found if isinstance(found, list) else [found]
        assert values[0] == value.bit_count()
    near = ns.pairs([text, hex(value ^ 1)], method=ns.Codes(k=1, bits=bits))
    assert near.num_pairs == 1
