"""Leaks are what plain Python finds by trying every window, whatever the batches, the threads and the hashes."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import ColumnError, ConfigError, OutputError, SourceError
from nearsame.recipes.leaks import LeakRule
from nearsame.stages.features import leaks as stage
from nearsame.stages.features.leaks import LeakStage
from nearsame.stages.features.sought import SoughtTexts
from tests.oracle import leaks as oracle
from tests.studies.leak_cases import small_cases

QUESTION = "Which wise old wallaby waltzes with Wendy every Wednesday evening?"


def _benchmarks(texts: Sequence[tuple[int, tuple[str, ...]]]) -> dict[str, list[dict[str, Any]]]:
    """The texts as the items of two benchmarks; of several pieces as a list."""
    column = [pieces[0] if len(pieces) == 1 else list(pieces) for _, pieces in texts]
    return {
        f"b{number}": [{"id": str(at), "q": text} for at, (text, (of, _)) in enumerate(zip(column, texts, strict=True))
                       if of == number]
        for number in (0, 1)
    }  # fmt: skip


def _written(benchmarks: dict[str, list[dict[str, Any]]], folder: Any) -> dict[str, str]:
    import json

    paths = {}
    for name, records in benchmarks.items():
        paths[name] = str(folder / f"{name}.jsonl")
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return paths


def _spans(found: ns.Leaks) -> dict[tuple[int, int], tuple[int, int, list[str]]]:
    return {
        (int(line["item"]), line["row"]): (line["shared"], line["shingles"], oracle.words(line["passage"]))
        for line in found.spans.to_pylist()
    }


@given(
    small_cases(), st.integers(1, 4), st.sampled_from(["0.2", "0.5", "0.8", "1"]),
    st.sampled_from(["1", "1.5", "2", "4"]), st.integers(1, 3), st.integers(0, 6),
)  # fmt: skip
@example(([(0, ("a b a b a b",))], ["b a b a b a b a b"]), 4, "0.8", "2", 9, 0)
@example(([(0, ("a b c",)), (1, ("a b c",))], ["x a b c a b c"]), 2, "1", "1", 9, 0)
@example(([(0, ("a b c Dd é f",))], ["a b c Dd é " * 2 + "é f"]), 2, "0.8", "2", 9, 0)
def test_leaks_are_what_trying_every_window_finds(  # noqa: PLR0917  (what Hypothesis draws)
    tmp_path_factory: Any, case: Any, size: int, threshold: str, window: str, most: int, least_bytes: int
) -> None:
    """The same texts in the same documents, with the same shares and passages, and the same reasons for the others."""
    texts, documents = case
    settings = {"size": size, "threshold": Fraction(threshold), "window": Fraction(window)}
    found = ns.leaks(
        pa.table({"text": pa.array(documents, pa.large_string())}),
        _written(_benchmarks(texts), tmp_path_factory.mktemp("evals")),
        threshold=Fraction(threshold), shingle_size=size, window=Fraction(window), boilerplate=most,
        least_bytes=least_bytes, eval_columns=["q"] if texts else None,
    )  # fmt: skip
    asked = oracle.texts_of(texts, size=size, most=most, least_bytes=least_bytes)
    expected = {}
    for number, text in enumerate(asked):
        for row, document in enumerate(documents):
            best = oracle.leaks(text, document or "", **settings)
            if best is not None:
                words = oracle.words(document or "")[best.first : best.behind]
                expected[number, row] = best.shared, len(text.asked), words
    assert expected == _spans(found)
    reasons = {int(line["item"]): line["reason"] for line in found.unsought.to_pylist()}
    assert {number: text.reason for number, text in enumerate(asked) if text.reason} == reasons
    common = oracle.boilerplate(texts, size, most)
    told = {(line["benchmark"], line["shingle"]): line["texts"] for line in found.boilerplate.to_pylist()}
    assert {(f"b{number}", " ".join(words)): count for (number, words), count in common.items()} == told


@pytest.mark.threaded
@given(small_cases(), st.integers(1, 3))
def test_batches_threads_and_little_room_change_nothing(case: Any, size: int) -> None:
    """The kernel stops where its buffers are full, and goes on with larger ones."""
    texts, documents = case
    sought = SoughtTexts.made(
        [text for _, text in texts],
        [number for number, _ in texts],
        LeakRule(Fraction(1, 2), size, Fraction(2), 9, 0),
    )
    batch = pa.RecordBatch.from_arrays(
        [pa.array(range(len(documents)), pa.int64()), pa.array(documents, pa.large_string())], ["row", "text"]
    )
    whole = LeakStage(sought)(batch).to_pylist()
    assert whole == [line for at in range(len(batch)) for line in LeakStage(sought)(batch.slice(at, 1)).to_pylist()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage, "_ROOM", 0)
        patch.setattr(stage, "_LEAST_LINES", 0)
        assert whole == LeakStage(sought)(batch).to_pylist()


@given(small_cases(), st.integers(1, 3), st.sampled_from(["0.5", "1"]))
def test_a_collision_makes_no_leak_and_loses_none(case: Any, size: int, threshold: str) -> None:
    """Shingles of two words each have the hash of another's: what is found is what the words say."""
    texts, documents = case
    rule = LeakRule(Fraction(threshold), size, Fraction(2), 9, 0)
    numbers = [number for number, _ in texts]
    sought = SoughtTexts.made([text for _, text in texts], numbers, rule)
    others = {"b": "a", "a": "b", "c": "dd", "dd": "c"}
    swapped = SoughtTexts.made([tuple(_replaced(piece, others) for piece in text) for _, text in texts], numbers, rule)
    batch = pa.RecordBatch.from_arrays(
        [pa.array(range(len(documents)), pa.int64()), pa.array(documents, pa.large_string())], ["row", "text"]
    )
    # the tables of one, the words of the other: as if every hash had met a stranger's
    colliding = replace(sought, table=swapped.table)
    rows = [(line["row"], line["text"]) for line in LeakStage(colliding)(batch).to_pylist()]
    by_words = {(line["row"], line["text"]) for line in LeakStage(sought)(batch).to_pylist()}
    assert set(rows) <= by_words
    by_hash = {(line["row"], line["text"]) for line in LeakStage(swapped)(batch).to_pylist()}
    assert by_words & by_hash == set(rows)


def _replaced(text: str, others: dict[str, str]) -> str:
    return " ".join(others.get(word, word) for word in oracle.words(text))


ROAD = (
    "Because of the long and winding road that leads to your door it will never disappear, said the ugly yellow toad."
)
EVALS = {
    "quiz": [
        {"id": "q1", "question": QUESTION, "answer": "Wendy"},
        {"id": "q2", "question": "What is it?", "answer": ROAD},
        {"id": "q3", "question": "Why?", "answer": ROAD.upper()},
        {"id": "q4", "question": "How?", "answer": "1 2 3 4 5 6 7"},
    ],
    "songs": [{"id": "q1", "line": ROAD}, {"id": "s2", "line": f"Nobody ever said that {ROAD}"}],
}
TRAIN = {
    "a.jsonl": [{"id": "x", "text": f"Ünd: {ROAD.lower()}"}, {"id": "y", "text": "a daisy"}],
    "b.jsonl": [{"id": "z", "text": f"{QUESTION} {ROAD}"}, {"id": "w", "text": None}],
}


@pytest.fixture
def train(tmp_path: Path) -> tuple[str, ...]:
    """Two files."""
    for name, records in TRAIN.items():
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return tuple(str(tmp_path / name) for name in TRAIN)


def test_items_are_listed_by_their_best_score(train: tuple[str, ...]) -> None:
    """With the columns that were found, and the documents; texts that are one are found in each of their items."""
    found = ns.leaks(train, EVALS)
    expected = [
        ("quiz", "q1", 1.0, ["question"], 1),
        ("quiz", "q2", 1.0, ["answer"], 2),
        ("quiz", "q3", 1.0, ["answer"], 2),
        ("songs", "q1", 1.0, ["line"], 2),
        ("songs", "s2", 17 / 21, ["line"], 2),
    ]
    assert expected == [tuple(line.values()) for line in found.items.to_pylist()]


def test_the_matrix_counts_items_and_documents_by_source(train: tuple[str, ...]) -> None:
    """A line for each benchmark and source with a leak."""
    expected = [
        ("quiz", train[0], 2, 1),
        ("quiz", train[1], 3, 1),
        ("songs", train[0], 2, 1),
        ("songs", train[1], 2, 1),
    ]
    assert expected == [tuple(line.values()) for line in ns.leaks(train, EVALS).matrix.to_pylist()]


def test_spans_say_where_on_both_sides(train: tuple[str, ...]) -> None:
    """By characters of the document and of the item's text."""
    spans = ns.leaks(train, EVALS).spans.to_pylist()
    assert 9 == len(spans)
    line = next(line for line in spans if (line["id"], line["item"], line["benchmark"]) == ("x", "q3", "quiz"))
    assert (5, 5 + len(ROAD) - 1, ROAD.lower()[:-1]) == (line["start"], line["end"], line["passage"])
    assert (0, len(ROAD) - 1, ROAD.upper()[:-1]) == (line["item_start"], line["item_end"], line["item_passage"])
    assert (train[0], 0, 17, 17) == (line["source"], line["row"], line["shared"], line["shingles"])


def test_counts_say_what_was_looked_for(train: tuple[str, ...]) -> None:
    """Of each benchmark."""
    stats = ns.leaks(train, EVALS).stats
    quiz, songs = stats.benchmarks
    assert (4, 3, 3, 2, 8) == (quiz.items, quiz.sought, quiz.leaked, quiz.documents, quiz.texts)
    assert {"plain": 1, "short": 4} == quiz.unsought
    assert (2, 2, 2, 2, {}) == (songs.items, songs.sought, songs.leaked, songs.documents, songs.unsought)
    assert (4, 6, 5, 5, 2) == (stats.documents, stats.items, stats.sought, stats.leaked, stats.leaked_documents)
    assert "Leaks(5 of 6 items, in 2 documents)" == repr(ns.leaks(train, EVALS))


def test_boilerplate_is_left_out_and_shown() -> None:
    """What all questions begin with does not make two of them alike."""
    prompt = "Please read this question carefully before you answer it:"
    evals = [{"q": f"{prompt} {ROAD} {number}" if number else f"{prompt} which wallaby"} for number in range(4)]
    found = ns.leaks([f"{prompt} x", prompt], evals, boilerplate=3)
    assert [(5, 4)] == [(len(line["shingle"].split()), line["texts"]) for line in found.boilerplate.to_pylist()][:1]
    assert 5 == found.boilerplate.num_rows
    assert 0 == found.stats.leaked
    assert 4 == ns.leaks([f"{prompt} which wallaby, {ROAD}"], evals, boilerplate=4, threshold=0.3).stats.leaked


def test_training_data_come_without_leaks(train: tuple[str, ...], tmp_path: Path) -> None:
    """Every file by its own name, its other lines as they were; nothing is left to be found."""
    ns.leaks(train, EVALS).write(tmp_path / "out", remove="documents")
    kept = tmp_path / "out" / "kept"
    assert [json.dumps(TRAIN["a.jsonl"][1])] == (kept / "a.jsonl").read_text("utf-8").splitlines()
    assert [json.dumps(TRAIN["b.jsonl"][1])] == (kept / "b.jsonl").read_text("utf-8").splitlines()
    assert 0 == ns.leaks(kept, EVALS).stats.leaked


def test_a_folder_appears_with_its_tables(train: tuple[str, ...], tmp_path: Path) -> None:
    """And may be replaced by another, and by no other thing."""
    found = ns.leaks(train, EVALS)
    found.write(tmp_path / "out")
    tables = {path.stem: pq.read_table(path) for path in (tmp_path / "out").glob("*.parquet")}
    names = ("items", "spans", "matrix", "unsought", "boilerplate")
    assert ["a.jsonl", "b.jsonl"] == tables.pop("sources").column("target").to_pylist()
    assert {name: getattr(found, name) for name in names} == tables
    record = json.loads((tmp_path / "out" / "stats.json").read_text("utf-8"))
    assert {"stats", "settings", "matrix", "items", "boilerplate", "remove"} == record.keys()
    with pytest.raises(OutputError, match="exists"):
        found.write(tmp_path / "out")
    found.write(tmp_path / "out", overwrite=True)
    with pytest.raises(OutputError, match=r"a\.jsonl"):
        found.write(tmp_path / "a.jsonl", remove="documents", overwrite=True)
    with pytest.raises(OutputError):
        found.write_markdown(tmp_path / "a.jsonl", overwrite=True)


def test_a_benchmark_in_the_way_of_an_output_is_not_overwritten(train: tuple[str, ...], tmp_path: Path) -> None:
    """What was read is safe on both sides."""
    (tmp_path / "evals").mkdir()
    path = tmp_path / "evals" / "quiz.jsonl"
    path.write_text(json.dumps(EVALS["quiz"][0]) + "\n", "utf-8")
    found = ns.leaks(train, path)
    for place in (path, tmp_path / "evals"):
        with pytest.raises(OutputError):
            found.write_markdown(place, overwrite=True)
    with pytest.raises(OutputError):
        found.write(tmp_path / "evals", overwrite=True)


def test_the_summary_for_a_model_card_says_what_was_found(train: tuple[str, ...], tmp_path: Path) -> None:
    """As plain Markdown, in which no name makes a table of its own."""
    found = ns.leaks(train, {"a|b": EVALS["quiz"], **EVALS})
    found.write_markdown(tmp_path / "leaks.md")
    text = (tmp_path / "leaks.md").read_text("utf-8")
    assert text == found.markdown()
    assert "8 of 10 items of 3 benchmarks were found in 2 of 4 training documents" in text
    assert "| a\\|b | 4 | 3 | 3 | 75.00% | 2 |" in text
    assert f"| benchmark | {train[1]} | {train[0]} |" in text
    assert "Texts of items that were not looked for: 8 too short" in text


def test_pages_are_searched_by_their_text(tmp_path: Path) -> None:
    """What a reader sees, not the markup."""
    words = [f"<em>{word}</em>" for word in ROAD.split()]
    (tmp_path / "a.html").write_text(f"<html><body><p>{' '.join(words)}</p></body></html>", "utf-8")
    found = ns.leaks(tmp_path / "a.html", EVALS, extract="text")
    assert 4 == found.stats.leaked
    with pytest.raises(ConfigError, match="extract does nothing"):
        ns.leaks(["a"], EVALS, extract="text")


def test_nothing_to_look_for_and_nowhere_to_look_are_no_errors() -> None:
    """Counts of zero."""
    assert (0, 1) == (ns.leaks([], EVALS).stats.leaked, ns.leaks([ROAD], [{"q": "a"}]).stats.items)
    empty = ns.leaks([ROAD, None, ""], [])
    assert (0, 0, []) == (empty.stats.items, empty.stats.leaked, empty.spans.to_pylist())
    assert "0 of 0 items" in empty.markdown()


@pytest.mark.parametrize(
    ("evals", "message"),
    [
        ((), "there are no benchmarks"),
        ({}, "there are no benchmarks"),
        (([{"q": "a"}], [{"q": "b"}]), "2 benchmarks are called memory"),
    ],
)
def test_benchmarks_have_names(evals: Any, message: str) -> None:
    """Each its own."""
    with pytest.raises(ConfigError, match=message):
        ns.leaks(["a"], evals)


def test_files_of_one_name_are_called_by_their_paths(tmp_path: Path) -> None:
    """Those of different names by these, without what their files end in."""
    paths = [tmp_path / "a" / "test.jsonl", tmp_path / "b" / "test.jsonl", tmp_path / "b" / "dev.jsonl.gz"]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        data = (json.dumps({"q": ROAD}) + "\n").encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    names = [one.name for one in ns.leaks(["a"], tuple(paths)).stats.benchmarks]
    assert [str(paths[0]), str(paths[1]), "dev"] == names


@pytest.mark.parametrize(
    "settings",
    [{"threshold": 0}, {"threshold": 1.1}, {"shingle_size": 0}, {"shingle_size": 1001}, {"window": 0.9},
     {"window": 1001}, {"boilerplate": 0}, {"least_bytes": -1}, {"threads": 0}],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    """By name and value."""
    ((name, value),) = settings.items()
    with pytest.raises(ConfigError, match=f"{name}.*{value}"):
        ns.leaks(["a"], EVALS, **settings)


def test_of_documents_without_findings_nothing_is_held() -> None:
    """Where they are is said by the gaps between them; what they are called, by the documents themselves."""
    documents = pa.table(
        {"id": [f"d{at}" for at in range(20_000)], "text": [ROAD if at == 17_001 else "a" for at in range(20_000)]}
    )
    found = ns.leaks(documents, EVALS)
    names = found._searched.names
    assert (["d17001"], 1, 0) == (
        names.origins["id"].to_pylist(),
        len(names.stretches),
        len(found._searched.reading.origins),
    )
    assert {"d17001"} == set(found.spans["id"].to_pylist())
    assert [f"d{at}" for at in range(20_000) if at != 17_001] == found.kept()["id"].to_pylist()


def test_a_column_that_a_benchmark_has_not_is_refused() -> None:
    """With those that it has."""
    with pytest.raises(ColumnError, match="the benchmark songs has no column 'question'"):
        ns.leaks(["a"], EVALS, eval_columns=["question"])


@pytest.mark.parametrize(
    ("wanted", "message", "hint"),
    [
        (["question", "anwser", "line"], "no benchmark has a column 'anwser'", "Did you mean answer?"),
        (["question", "line", "melody"], "no benchmark has a column 'melody'", "Choose of: id, question, answer, line"),
        (
            ["line.text", "question", "line"],
            "no benchmark has a column 'line.text'",
            "Did you mean line? There are: id,",
        ),
    ],
)
def test_a_column_that_no_benchmark_has_is_refused_beside_others(wanted: list[str], message: str, hint: str) -> None:
    """A name with a wrong letter would leave a column out without a word."""
    with pytest.raises(ColumnError, match=message) as refused:
        ns.leaks(["a"], EVALS, eval_columns=wanted)
    assert hint in refused.value.hint


def test_columns_may_be_those_of_one_benchmark_or_hold_no_text() -> None:
    """What a benchmark has is known by its path, whatever it holds; the id is looked for where it is asked for."""
    evals = {
        "quiz": [{"id": ROAD, "q": {"text": QUESTION, "hint": None}}],
        "songs": [{"line": [[{"of": 1}]], "id": "a"}],
    }
    found = ns.leaks([ROAD, QUESTION], evals, eval_columns=["q.text", "q.hint", "line.of", "id"])
    assert {"id", "q.text"} == set(found.spans.column("column").to_pylist())


def test_maps_are_columns_by_their_keys_and_bytes_are_there_without_a_text(tmp_path: Path) -> None:
    """In Parquet: an entry of a map is a column by its path, and what holds no text is not said to be missing."""
    entries = [[("question", QUESTION), ("n", "7")], None]
    columns = {"m": pa.array(entries, pa.map_(pa.string(), pa.string())), "image": pa.array([QUESTION.encode(), b""])}
    pq.write_table(pa.table({"id": ["a", "b"], **columns}), tmp_path / "quiz.parquet")
    found = ns.leaks([QUESTION], {"quiz": tmp_path / "quiz.parquet"}, eval_columns=["m.question"])
    assert [("a", "m.question")] == [(line["item"], line["column"]) for line in found.spans.to_pylist()]
    found.write(tmp_path / "out")
    assert 0 == ns.verify(tmp_path / "out", source=[QUESTION]).num_problems
    assert 0 == len(ns.leaks([QUESTION], {"quiz": tmp_path / "quiz.parquet"}, eval_columns=["image"]).spans)
    with pytest.raises(ColumnError, match="no column"):
        ns.leaks([QUESTION], {"quiz": tmp_path / "quiz.parquet"}, eval_columns=["o"])


SIAM = "ข้อใดต่อไปนี้เป็นเมืองหลวงของประเทศไทยและมีประชากรมากที่สุดในประเทศ"
MANY = "wise old wallabies waltz with Wendy every Wednesday evening in the long and winding road of the toad"


@pytest.mark.parametrize("remove", ["none", "documents", "spans"])
@pytest.mark.parametrize(
    ("item", "document"),
    [
        (f"คำ{SIAM}", f"นำ{SIAM} ครับ"),  # the vowel is two characters in NFKC, and the second one a word
        (f"2 {MANY}", f"Take ½ {MANY}"),
        (f"2 {MANY}", f"Take &frac12; {MANY}"),
        (f"{MANY} 1", f"{MANY} ½"),
        (f"عليه وسلم {MANY}", f"قال ﷺ {MANY}"),
        (f"½ {MANY}", f"Take 2 {MANY}"),
        (["a", f"½ {MANY}"], f"2 {MANY}"),
    ],
)
def test_a_character_of_several_words_goes_as_a_whole(tmp_path: Path, item: Any, document: str, remove: str) -> None:
    """A window that begins or ends within one has the whole of it, and the proof knows it."""
    (tmp_path / "train.jsonl").write_text(json.dumps({"text": document}) + "\n", "utf-8")
    found = ns.leaks(tmp_path / "train.jsonl", {"quiz": _written({"quiz": [{"id": "a", "q": item}]}, tmp_path)["quiz"]})
    (line,) = found.spans.to_pylist()
    assert line["passage"] == document[line["start"] : line["end"]]
    found.write(tmp_path / "out", remove=remove)
    verdict = ns.verify(tmp_path / "out")
    assert [] == list(verdict.problems)


def test_what_cannot_be_read_is_counted_on_both_sides(tmp_path: Path) -> None:
    """And with strict it is an error."""
    (tmp_path / "train.jsonl").write_text('{"text": "a"}\n{"text": \n', "utf-8")
    (tmp_path / "eval.jsonl").write_text('{"q": "a"}\n{"q": \n', "utf-8")
    found = ns.leaks(tmp_path / "train.jsonl", tmp_path / "eval.jsonl")
    assert (2, 1, 1) == (found.stats.skipped, found.stats.documents, found.stats.items)
    assert ["eval.jsonl", "train.jsonl"] == [Path(line["source"]).name for line in found.skipped.to_pylist()]
    for train, evals in (("train", EVALS), (["a"], "eval")):
        sources = [tmp_path / f"{one}.jsonl" if isinstance(one, str) else one for one in (train, evals)]
        with pytest.raises(SourceError, match="line 2"):
            ns.leaks(*sources, strict=True)


def test_standard_input_is_read_once() -> None:
    """It cannot be both."""
    with pytest.raises(ConfigError, match="- is named twice"):
        ns.leaks("-", "-")


@pytest.mark.parametrize("name", ["b.jsonl", "b.csv", "b/one.txt"])
def test_benchmarks_are_read_in_the_encoding_that_is_named(tmp_path, name):
    """Records and text files alike; without it the note says what they look like; and the output is proved so, too."""
    text = "Où est passée la clé de l'écurie où dormaient les chevaux fatigués de l'évêque?"
    whole = {"b.jsonl": json.dumps({"q": text}, ensure_ascii=False) + "\n", "b.csv": f"q\n{text}\n", "b/one.txt": text}[
        name
    ]
    (tmp_path / "b").mkdir()
    (tmp_path / name).write_text(whole, "latin-1")
    benchmark = tmp_path / name.split("/")[0]
    pq.write_table(pa.table({"text": [f"Quiz. {text} Réponse.", "a daisy"]}), tmp_path / "train.parquet")
    found = ns.leaks(tmp_path / "train.parquet", benchmark, encoding="latin-1")
    assert [1.0] == found.items.column("score").to_pylist()
    assert "benchmarks: files in other encodings than UTF-8: iso8859-1 1" in found.stats.notes
    found.write(tmp_path / "out")
    assert ns.verify(tmp_path / "out").holds
    unread = ns.leaks(tmp_path / "train.parquet", benchmark)
    assert (0, 1) == (unread.stats.items, unread.stats.skipped)
    assert any(note.startswith("benchmarks: 1 ") and "--encoding" in note for note in unread.stats.notes)


def test_an_encoding_that_no_side_has_is_refused(tmp_path):
    """Parquet says its own."""
    pq.write_table(pa.table({"text": ["a daisy"]}), tmp_path / "a.parquet")
    with pytest.raises(ConfigError, match="no source is one"):
        ns.leaks(tmp_path / "a.parquet", {"b": [{"q": QUESTION}]}, encoding="latin-1")


def test_a_column_of_codes_is_refused():
    """Leaks are of texts."""
    with pytest.raises(ns.ConfigError, match="codes_column='x' does nothing to leaks"):
        ns.leaks(["a text"], ["another text"], codes_column="x")
