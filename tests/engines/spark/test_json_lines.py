"""JSON on Spark: of a line nothing is lost, and no text becomes another one."""

import json
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

import nearsame as ns
from nearsame.engines.spark.json_lines import LINE, odd_lines
from nearsame.engines.spark.reading import UNREAD, read

# Of each line the ids of its records, or none where it cannot be read.
LINES: dict[str, list[str]] = {
    '\ufeff{"id": "1", "text": "one"}{"id": "x", "text": "two"}': [],
    '{"id": "2", "text": "red"} ': ["2"],
    '{"id": "x", "text": "a"} trailing': [],
    '{"id": "x", "text": "a"},': [],
    '{"id": "x", "text": "a"}]': [],
    '{"id": "x", "text": "a"}}': [],
    "{'id': 'x', 'text': 'a'}": [],
    '{"id": "x", "text": "a"}, {"id": "y", "text": "b"}': [],
    '{"id": "3", "text": "code {\\"a\\": {}} { else", "in": {"of": {"n": 1}}}': ["3"],
    '[{"id": "4", "text": "a"}, {"id": "5", "text": "b"}]': ["4", "5"],
    "[]": [],
    " ": [],
    '{"id": "x", "text": "cut \\ud83d"}': [],
    '{"id": "x", "text": "a", "note": "cut \\uDE00"}': [],
    '{"id": "6", "text": "whole \\ud83d\\ude00"}': ["6"],
    '{"id": "7", "text": "half in words: \\\\ud83d"}': ["7"],
    '{"id": "8", "text": "a", "share": NaN}': ["8"],
    '{"id": "x", "text": "cut': [],
    '{"id": "9", "text": "tab\\t and é"}': ["9"],
    '{"id": "x", "text": "b"},"x": 5}': [],
    '{"id": "x", "text": "c"},[{"id": "y", "text": "d"}]}': [],
    '{"id": "x", "text": "e"}]{"id": "y", "text": "lost"}': [],
    '{"id": "x", "text": "e"},null,{"id": "y", "text": "lost"}': [],
    '[null, {"id": "x", "text": "c"}]': [],
    '{"id": "a", "text": "a question \ufffd mark"}': ["a"],
}

NOT_UTF8 = [b"\xff", b"x\xed\xa0\xbdy", b"x\xed\xa0\xbey", b"x\xc0\xaf", b"z\xe0\x80\xaf"]


def _ids(spark, path):
    (found,) = read(spark, [str(path)])
    good = found.frame.filter(f"{UNREAD} is null") if UNREAD in found.frame.columns else found.frame
    return sorted(row.id for row in good.collect())


def test_of_each_line_there_is_what_stands_in_it(spark, tmp_path: Path) -> None:
    """Jackson stops behind the first value, and takes half of a surrogate pair for a question mark."""
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(LINES) + "\n", "utf-8")
    with path.open("ab") as file:
        file.writelines(b'{"id": "x", "text": "%s"}\n' % odd for odd in NOT_UTF8)
    good = sorted(name for names in LINES.values() for name in names)
    assert good == _ids(spark, path)
    found = ns.dedup(str(path), engine=ns.Spark(spark, driver_bytes=0))
    unread = sum(not ids for line, ids in LINES.items() if line.strip() not in ("", "[]")) + len(NOT_UTF8)
    assert (len(good), unread) == (found.stats.documents, found.stats.skipped)
    assert [{"source": str(path), "reason": f"{unread} records are not readable"}] == [
        {name: row[name] for name in ("source", "reason")} for row in found.skipped.to_pylist()
    ]


@pytest.mark.parametrize("line", [line for line, ids in LINES.items() if not ids and line.strip() not in ("", "[]")])
def test_a_strict_run_stops_at_each_of_them(spark, tmp_path: Path, line: str) -> None:
    """With the name of the file."""
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "one"}\n' + line + "\n", "utf-8")
    with pytest.raises(ns.SourceError, match=r"a\.jsonl"):
        ns.dedup(str(tmp_path / "a.jsonl"), engine=ns.Spark(spark), strict=True)


def test_lines_that_are_fine_are_read_by_spark_itself(spark, tmp_path: Path) -> None:
    """So nothing goes to Python and back; and folders say what they say beside lines that are not."""
    for day, more in ((1, ""), (2, '{"id": "x", "text": "a"} trailing\n')):
        (tmp_path / f"h/day={day}").mkdir(parents=True)
        (tmp_path / f"h/day={day}/a.jsonl").write_text(f'{{"id": "{day}", "text": "one", "n": {day}}}\n{more}')
    (found,) = read(spark, [str(tmp_path / "h/day=1/a.jsonl")])
    assert UNREAD not in found.frame.columns
    rows = ns.dedup(str(tmp_path / "h"), method="digest", group_by="day", engine=ns.Spark(spark)).kept().collect()
    assert [(1, "1", 1), (2, "2", 2)] == sorted((row.day, row.id, row.n) for row in rows)


@pytest.mark.parametrize("more", [pytest.param("", marks=pytest.mark.long), "trailing"])
def test_groups_of_numbers_that_are_rounded_are_refused(spark, tmp_path: Path, more: str) -> None:
    """As on one machine: two of them could be one."""
    path, engine = tmp_path / "a.jsonl", ns.Spark(spark)
    for values, num in ((["9007199254740992", "9007199254740993"], 0), (["18446744073709551616", "0"], 0), ("12", 0)):
        path.write_text("".join(f'{{"text": "one", "g": {value}}}\n' for value in values) + more)
        assert num == ns.dedup(str(path), group_by="g", engine=engine).stats.removed
    path.write_text("".join(f'{{"text": "one", "g": {value}}}\n' for value in ("9007199254740992", 0.5)) + more)
    for asked in ({}, {"engine": engine}):
        with pytest.raises(ns.ColumnError, match="column 'g' has numbers that are rounded"):
            ns.dedup(str(path), group_by="g", **asked)


@pytest.mark.parametrize("folder", ["value=x", "Value=7", "value={}", "nearsame_line=1", "k=01"])
@pytest.mark.parametrize("more", ["", '{"id": 3, "text": "c"} junk\n'])
def test_no_name_of_a_folder_takes_the_place_of_lines(spark, tmp_path: Path, folder: str, more: str) -> None:
    """Spark's reader of texts has a column `value`, and folders come before what files say."""
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "a.jsonl").write_text('{"id": 1, "text": "a"}\n{"id": 2, "text": "b"}\n' + more)
    if folder.startswith("nearsame"):
        with pytest.raises(ns.ColumnError, match="nearsame"):
            ns.dedup(str(tmp_path), engine=ns.Spark(spark))
        return
    found = ns.dedup(str(tmp_path), engine=ns.Spark(spark))
    here = ns.dedup(str(tmp_path))
    name, _, value = folder.partition("=")
    assert [1, 2] == sorted(row.id for row in found.kept().collect())
    assert {int(value) if value.isdigit() else value} == {row[name] for row in found.kept().collect()}
    assert (here.stats.documents, here.stats.skipped) == (found.stats.documents, found.stats.skipped)


@pytest.mark.parametrize(
    "junk",
    [
        '{"id": 12, "text": "other", "score": "n/a"} junk',
        '{"id": "x", "text": "b", "score": 1.5, "new": 1},',
        '{"id": 3, "text": "b", "text": "c"} junk',
        '{"id": 3, "text": "b", "${y}": 2, "id\\ud83d": 5}',
    ],
)
def test_what_is_left_out_has_no_say(spark, tmp_path: Path, junk: str) -> None:
    """In types and columns of all others."""
    text = " ".join(f"word{number}" for number in range(40))
    rows = [json.dumps({"id": n, "text": f"{text} v{n}", "score": n}) for n in (8, 9, 10, 11)]
    (tmp_path / "a.jsonl").write_text("\n".join([*rows, junk]) + "\n")
    found = ns.dedup(str(tmp_path / "a.jsonl"), engine=ns.Spark(spark), keep="max:score")
    assert [{"id": 11, "score": 11, "text": f"{text} v11"}] == [row.asDict() for row in found.kept().collect()]
    assert 1 == found.stats.skipped


def test_a_first_record_may_be_deep(spark, tmp_path: Path) -> None:
    """The driver looks at it for the names of columns."""
    deep = '{"id": 1, "text": "a", "n": ' + "[" * 1500 + "]" * 1500 + "}"
    (tmp_path / "a.jsonl").write_text(deep + '\n{"id": 2, "text": "b"}\n')
    found = ns.dedup(str(tmp_path / "a.jsonl"), engine=ns.Spark(spark))
    assert 2 == found.stats.documents + found.stats.skipped


@given(values=st.lists(st.text(max_size=6) | st.integers() | st.dictionaries(st.text("a{}", max_size=2), st.none())))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_line_of_a_writer_is_odd(spark, tmp_path: Path, values: list[object]) -> None:
    """Whatever is in it."""
    lines = [json.dumps({"text": "a", "in": value}, ensure_ascii=at % 2 == 0) for at, value in enumerate(values)]
    frame = spark.createDataFrame([(line,) for line in lines], f"{LINE} string")
    assert {} == odd_lines(frame)


@pytest.mark.parametrize("value", ["5", "true", '{"a": 1}', '["5"]'])
@pytest.mark.parametrize("named", [None, 'odd \\" key', "t\\\\Ext"])
def test_what_is_no_string_is_no_text(spark, tmp_path: Path, value: str, named: str | None) -> None:
    """Spark makes strings of all that stand beside strings, and equal ones would be copies."""
    key = json.dumps(named or "text")
    path = tmp_path / "a.jsonl"
    path.write_text(
        f'{{"id": "a", {key}: {value}}}\n{{"id": "b", {key}: {json.dumps(value)}}}\n{{"id": "c", {key}: null}}\n'
    )
    for engine in (ns.Spark(spark, driver_bytes=0), None):
        found = ns.dedup(str(path), text_column=named, engine=engine, audit=False)
        assert (2, 1, 0) == (found.stats.documents, found.stats.skipped, found.stats.removed)
        kept = found.kept()
        rows = kept if engine is None else kept.toArrow()
        assert ["b", "c"] == sorted(rows.column("id").to_pylist())
    with pytest.raises(ns.SourceError, match="a text that is no string"):
        ns.dedup(str(path), text_column=named, engine=ns.Spark(spark, driver_bytes=0), strict=True)


def test_a_key_may_be_escaped(spark, tmp_path: Path) -> None:
    """As Python writes what is not ASCII."""
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(json.dumps({"id": name, "t\u00ebxt": text}) + "\n" for name, text in (("a", 5), ("b", "5")))
    )
    found = ns.dedup(str(path), text_column="t\u00ebxt", engine=ns.Spark(spark, driver_bytes=0), audit=False)
    assert (1, 1, 0) == (found.stats.documents, found.stats.skipped, found.stats.removed)
