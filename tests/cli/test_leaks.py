"""`nearsame leaks`: what is printed, written and refused."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from .commands import leftovers, run, words, write_jsonl


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Training data of three documents, of which one holds an item of one of two benchmarks."""
    first, second = (" ".join(words(30, seed)) for seed in (1, 2))
    records = [{"id": "a", "text": f"before {first} behind"}, {"id": "b", "text": " ".join(words(60, 3))},
               {"id": "c", "text": "a daisy"}]  # fmt: skip
    write_jsonl(tmp_path / "train.jsonl", records)
    write_jsonl(tmp_path / "quiz.jsonl", [{"id": "q1", "question": first}, {"id": "q2", "question": "Who?"}])
    write_jsonl(tmp_path / "songs.jsonl", [{"id": "s1", "line": second}])
    return tmp_path


def _evals(home: Path) -> list[str]:
    return ["--eval", str(home / "quiz.jsonl"), "--eval", str(home / "songs.jsonl")]


def test_leaks_are_printed(home: Path) -> None:
    """Within 80 columns: counts, benchmarks, the items, and what counts as found."""
    result = run("leaks", home / "train.jsonl", *_evals(home))
    assert 0 == result.exit_code, result.stderr
    assert "leaked                   1   in 1 document" in result.stdout
    assert "  quiz                                    2        1        1   50.0%          1" in result.stdout
    assert "  1.000 quiz q1: 1 document, question" in result.stdout
    assert "Not looked for: 1 text too short" in result.stdout
    assert "has at least 0.8 of the text's different 5-word shingles" in " ".join(result.stdout.split())
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_folder_and_a_summary_appear(home: Path) -> None:
    """With the training data that are left, where they are asked for."""
    out, card = home / "out", home / "card.md"
    result = run("leaks", home / "train.jsonl", *_evals(home), "-o", out, "--remove", "documents", "--markdown", card)
    assert 0 == result.exit_code, result.stderr
    assert "".join(result.stdout.split()).endswith(f"Written:{out}/Written:{card}")  # a long path is wrapped
    names = ["boilerplate.parquet", "items.parquet", "kept", "matrix.parquet", "sources.parquet",
             "spans.parquet", "stats.json", "unsought.parquet"]  # fmt: skip
    assert names == sorted(path.name for path in out.iterdir())
    lines = (out / "kept" / "train.jsonl").read_text("utf-8").splitlines()
    assert ["b", "c"] == [json.loads(line)["id"] for line in lines]
    assert ["a"] == pq.read_table(out / "spans.parquet").column("id").to_pylist()
    assert "| quiz | 2 | 1 | 1 | 50.00% | 1 |" in card.read_text("utf-8")
    assert [] == leftovers(home)


def test_all_of_it_comes_as_json(home: Path) -> None:
    """Counts, settings, matrix, items and boilerplate."""
    found = json.loads(run("leaks", home / "train.jsonl", *_evals(home), "--json", "--threshold", "0.9").stdout)
    assert (1, 0.9) == (found["stats"]["leaked"], found["settings"]["threshold"])
    assert [("quiz", "q1")] == [(item["benchmark"], item["item"]) for item in found["items"]]


def test_passages_are_cut_out(home: Path) -> None:
    """And counted; of standard input, too, and not of web pages, which is said before anything is searched."""
    out = home / "out"
    lines = (home / "train.jsonl").read_bytes()
    result = run("leaks", "-", *_evals(home), "-o", out, "--remove", "spans", stdin=lines)
    assert 0 == result.exit_code, result.stderr
    assert "removed                  0   without a word left; 1 passage (" in result.stdout
    assert "before  behind" == json.loads((out / "kept" / "stdin.jsonl").read_bytes().splitlines()[0])["text"]
    assert "leaked                   0" in run("leaks", out / "kept", *_evals(home)).stdout
    (home / "a.html").write_text("<p>a", "utf-8")
    result = run("leaks", home / "a.html", *_evals(home), "-o", home / "new", "--remove", "spans")
    assert (2, True) == (result.exit_code, "a.htmlholdswebpages" in "".join(result.stderr.split()))


def test_clean_data_are_one_file_or_a_stream(home: Path) -> None:
    """As `dedup` writes them, without the documents or without the passages; the summary makes room for them."""
    asked = ("leaks", home / "train.jsonl", *_evals(home), "--remove")
    result = run(*asked, "spans", "-o", home / "clean.jsonl.gz")
    assert (0, True) == (result.exit_code, "1 passage (" in result.stdout), result.output
    result = run(*asked, "documents", "-o", "-")
    assert (["b", "c"], True) == (
        [json.loads(line)["id"] for line in result.stdout.splitlines()],
        "leaked                   1" in result.stderr,
    )
    assert "leaked                   0" in run("leaks", home / "clean.jsonl.gz", *_evals(home)).stdout
    assert 0 == run(*asked, "documents", "-o", home / "out").exit_code
    assert result.stdout == run("rerun", home / "out", "-o", "-").stdout


@pytest.mark.parametrize(("most", "status"), [(0, 4), (1, 0)])
def test_the_exit_code_says_whether_too_many_leaked(home: Path, most: int, status: int) -> None:
    """For CI; what is to be written is written all the same."""
    result = run("leaks", home / "train.jsonl", *_evals(home), "-q", "--max-leaked", most, "-o", home / "out")
    assert (status, "") == (result.exit_code, result.stdout)
    assert (home / "out" / "stats.json").is_file()
    if status:
        assert "error: 1 item leaked, more than --max-leaked 0\n" == result.stderr


def test_a_benchmark_of_which_nothing_is_looked_for_passes_no_gate(home: Path) -> None:
    """Numbers alone: none leaked, and none was sought."""
    write_jsonl(home / "numbers.jsonl", [{"n": 1}, {"n": 2}])
    asked = ["leaks", home / "train.jsonl", "--eval", home / "numbers.jsonl", "-q"]
    (home / "none.jsonl").touch()
    said = run(*asked[:-1], "--eval", home / "none.jsonl").stdout
    assert "Nothing to look for in numbers: no text.\nNothing to look for in none: no items.\n" in said
    result = run(*asked, "--max-leaked", 0)
    assert (4, "error: --max-leaked: no item of numbers could be looked for\n") == (result.exit_code, result.stderr)


def test_columns_of_a_benchmark_are_chosen(home: Path) -> None:
    """And those that it has not are refused, with those that it has."""
    train, quiz = home / "train.jsonl", home / "quiz.jsonl"
    assert 0 == run("leaks", train, "--eval", quiz, "--eval-column", "question").exit_code
    result = run("leaks", train, "--eval", quiz, "--eval-column", "answer")
    assert (2, True) == (result.exit_code, "has no column 'answer'" in result.stderr)
    assert "question" in result.stderr
    assert "s1" in run("leaks", home / "songs.jsonl", "--text-column", "line", "--eval", home / "songs.jsonl").stdout


def test_files_are_chosen_and_read_as_in_dedup(home: Path) -> None:
    """Of training data which of them, as what and in which encoding; of benchmarks as what."""
    phrase = f"{' '.join(words(20, 4))} très bien señor".upper()
    for name, encoding in (("a.txt", "utf-8"), ("b.log", "latin-1"), ("c.txt", "latin-1"), ("x/d.txt", "utf-8")):
        (home / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "in" / name).write_text(phrase, encoding)
    (home / "quiz.log").write_text(json.dumps({"q": phrase}) + "\n", "utf-8")
    asked = ["leaks", home / "in", "--eval", home / "quiz.log", "--as", "jsonl=quiz.log", "--as", "text=b.log",
             "--exclude", "x/**", "--encoding", "auto", "-o", home / "out"]  # fmt: skip
    result = run(*asked)
    assert 0 == result.exit_code, result.stderr
    assert ["a.txt", "b.log", "c.txt"] == sorted(pq.read_table(home / "out" / "spans.parquet").column("id").to_pylist())
    assert "Note: files in other encodings than UTF-8: " in " ".join(result.stdout.split())
    assert 0 == run(*asked[:-1], home / "few", "--include", "a.*").exit_code
    assert ["a.txt"] == pq.read_table(home / "few" / "spans.parquet").column("id").to_pylist()
    assert "not readable" in run(*asked[:-2], "--max-record", "20B").stdout


def test_records_that_cannot_be_read_are_told(home: Path) -> None:
    """Of both sides, with exit code 3."""
    (home / "quiz.jsonl").write_text('{"question": \n{"question": "Who?"}\n', "utf-8")
    result = run("leaks", home / "train.jsonl", *_evals(home))
    assert (3, True) == (result.exit_code, "quiz.jsonl,line1:" in "".join(result.stdout.split()))


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 2, "Missing option '--eval'"),
        (["--eval", "none.jsonl"], 3, "none.jsonl"),
        (["--eval", "quiz.jsonl", "--threshold", "80"], 2, "did you mean 0.8?"),
        (["--eval", "quiz.jsonl", "--remove", "documents"], 2, "--remove documents does nothing without -o"),
        (["--eval", "quiz.jsonl", "--overwrite"], 2, "--overwrite does nothing without -o, --markdown or --report"),
        (["--eval", "quiz.jsonl", "-o", "-", "--json"], 2, "--json and -o -: both want standard output"),
        (
            ["--eval", "quiz.jsonl", "-o", "o.csv", "--remove", "spans", "--engine", "spark"],
            2,
            "--remove spans on Spark: that takes a folder",
        ),
        (["--eval", "quiz.jsonl", "--encoding", "idna"], 2, "encoding='idna' is not an encoding"),
        (["--eval", "quiz.jsonl", "--threshold", "2"], 2, "threshold=2.0 is not above 0 and at most 1"),
        (["--eval", "quiz.jsonl", "--markdown", "quiz.jsonl", "--overwrite"], 2, "quiz.jsonl"),
        (["--eval", "quiz.jsonl", "-o", "quiz.jsonl"], 2, "quiz.jsonl"),
        (["--eval", "quiz.jsonl", "--eval", "quiz.jsonl"], 2, "2 benchmarks are called quiz.jsonl"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, said: str
) -> None:
    """In words, before anything is written."""
    monkeypatch.chdir(home)
    result = run("leaks", "train.jsonl", *arguments)
    assert status == result.exit_code, result.output
    assert said in result.stderr
    assert ["quiz.jsonl", "songs.jsonl", "train.jsonl"] == sorted(path.name for path in home.iterdir())


def test_a_page_shows_items_beside_their_documents(home: Path) -> None:
    """Both passages, with what they share marked, and nothing that a browser would run; or no text at all."""
    page, plain, question = home / "page.html", home / "plain.html", " ".join(words(30, 1))
    write_jsonl(home / "train.jsonl", [{"id": "<i>", "text": f"<script>{question} &amp;"}])
    result = run("leaks", home / "train.jsonl", *_evals(home), "--report", page, "-q")
    assert 0 == result.exit_code, result.stderr
    shown = page.read_text("utf-8")
    assert 2 == shown.count(f'<mark class="p0">{question}</mark>')
    assert (True, False, False) == ("&lt;i&gt;" in shown, "<i>" in shown, "<script>" in shown)
    assert 0 == run("leaks", home / "train.jsonl", *_evals(home), "--report", plain, "--report-without-texts").exit_code
    assert question.split()[0] not in plain.read_text("utf-8").split()
    for wrong in (["--report", home / "page.txt"], ["--report-without-texts"]):
        assert 2 == run("leaks", home / "train.jsonl", *_evals(home), *wrong).exit_code


def test_places_come_as_one_file(home: Path) -> None:
    """By its name, or as lines on standard output, with the summary beside."""
    out = home / "out.jsonl"
    assert 0 == run("leaks", home / "train.jsonl", *_evals(home), "-o", out, "-q").exit_code
    shown = run("leaks", home / "train.jsonl", *_evals(home), "-o", "-")
    assert out.read_text("utf-8") == shown.stdout
    assert [("quiz", "q1", "a")] == [
        tuple(json.loads(line)[name] for name in ("benchmark", "item", "id")) for line in shown.stdout.splitlines()
    ]
    assert "Leaked items" in shown.stderr
