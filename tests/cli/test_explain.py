"""`nearsame explain`: a file, a text or standard input in; tables of 80 columns or JSON out."""

import json
import re
import shlex

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from nearsame.cli.main import commands
from nearsame.recipes.choices import EXAMPLE_NAMES

TEXT = "The quick brown fox jumps over the lazy dog."
MINHASH = ("--method", "minhash")


def run(*arguments: object, stdin: str | None = None, columns: int = 80):
    """The command as a user would call it."""
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(commands, ["explain", *map(str, arguments)], input=stdin)


def test_a_file_a_text_and_standard_input_are_explained_alike(tmp_path):
    """A file if such a file exists, else the text itself."""
    path = tmp_path / "fox.txt"
    path.write_text(TEXT, "utf-8")
    shown = [run(path, *MINHASH), run(TEXT, *MINHASH), run("-", *MINHASH, stdin=TEXT)]
    assert [0] * 3 == [result.exit_code for result in shown]
    assert 1 == len({result.stdout for result in shown})


def test_the_walk_fits_eighty_columns():
    """Three steps; of the long table the first rows, and how many more."""
    lines = run(TEXT, *MINHASH, "--shingle-size", 3).stdout.splitlines()
    assert 80 >= max(map(len, lines))
    assert ["1.", "2.", "3."] == [line[:2] for line in lines if line[:1].isdigit() and line[1:2] == "."]
    assert "... and 108 more: --all shows them." in lines


def test_all_shows_all_rows():
    """Nothing is cut short."""
    out = run(TEXT, *MINHASH, "--all").stdout
    assert "--all shows" not in out
    assert any(line.split()[:1] == ["128"] for line in out.splitlines())


def test_sums_of_several_digits_stand_in_columns_without_quotes():
    """Those of 64 bits, of which some are shorter than others."""
    lines = run(" ".join(f"word{number}" for number in range(40))).stdout.splitlines()
    sums = [line for line in lines if line[:1].isdigit() and line.rstrip().endswith(("0", "1")) and "-" in line[:5]]
    found = [re.fullmatch(r"\d+-\d+ +((?:[+-]?\d+ +){8})[01]{8} *", line) for line in sums]
    assert 8 == len([each for each in found if each])
    assert 1 == len({tuple(number.start() for number in re.finditer(r"\S+", line)) for line in sums})


@pytest.mark.parametrize("text", ["a[/b]c", "[red]x", ":smile: d"])
def test_a_text_is_shown_as_it_is_whatever_it_holds(text):
    """What rich would take for its markup is a text like others, and so is the name of an emoji."""
    shown = run(text, "--unit", "chars", "--shingle-size", len(text), "--keep-punctuation")
    assert (0, True) == (shown.exit_code, f" {text} " in shown.stdout), shown.stderr


def test_spaces_of_a_shingle_can_be_seen():
    """At its ends by quotes; inside they are as many as there are."""
    features = run("a bc", "--unit", "chars", "--shingle-size", 2).stdout
    assert [True] * 3 == [shown in features for shown in ('"a "', '" b"', " bc ")]


def test_a_long_word_is_cut_and_no_line_ends_in_spaces():
    """Unless all is asked for."""
    word = "a" * 100_000
    short, whole = run(word).stdout, run(word, "--all").stdout
    assert "(100,000 characters)" in " ".join(short.split())
    assert (True, True) == (len(short) < 5_000, len(whole) > 100_000)
    lines = run("a b", "b c", "--method", "minhash").stdout.splitlines()
    assert lines == [line.rstrip() for line in lines]


def test_json_is_all_of_it():
    """Steps, answer and recipe."""
    record = json.loads(run(TEXT, *MINHASH, "--json", "--num-perm", 16, "--bands", 4, "--rows", 4).stdout)
    assert (16, 4) == (len(record["answer"]["signature"]), len(record["answer"]["bands"]))
    assert 16 == record["recipe"]["num_perm"]


def test_simhash_is_walked_through_by_default(tmp_path):
    """The worked example of four bits, with its table of hashes from a file; in 80 columns whatever the bits."""
    path = tmp_path / "hashes.json"
    words = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog"]
    path.write_text(json.dumps(dict(zip(words, (13, 10, 9, 15, 6, 11, 12, 5), strict=True))), "utf-8")
    out = run(TEXT, "--hashes", path, "--bits", 4, "--weights", "tf").stdout
    assert "3-0   +5 +3 -1 +3  1101" in out
    for bits in (32, 64, 128):
        assert 80 >= max(map(len, run(TEXT, "--bits", bits).stdout.splitlines()))


def test_an_option_of_the_other_method_is_refused():
    """None is ever ignored."""
    result = run(TEXT, "--num-perm", 16)
    first = "error: --method simhash has no option --num-perm"
    assert (2, first) == (result.exit_code, result.stderr.splitlines()[0])
    assert "choose --method minhash" in result.stderr


def test_orders_come_from_a_file(tmp_path):
    """In the place of permutations; what is none is named."""
    path = tmp_path / "orders.json"
    path.write_text('[["cat", "dog", "mouse"]]', "utf-8")
    out = run("mouse dog", *MINHASH, "--shingle-size", 1, "--orders", path).stdout
    assert "cat < dog < mouse  dog" in out
    path.write_text("{", "utf-8")
    result = run("mouse dog", *MINHASH, "--orders", path)
    assert 2 == result.exit_code
    assert f"error: {path} is not JSON" in result.stderr


@pytest.mark.parametrize("text", ["a://b", "x" * 300, "a\nb"])
def test_texts_that_look_odd_are_texts_or_named_errors(text):
    """A URL that cannot be opened is an error; a text that is not a file's name is a text."""
    result = run(text, *MINHASH)
    assert (result.exit_code != 0) == ("://" in text)
    assert "unexpected" not in result.stderr


@pytest.mark.parametrize("method", ["jaccard", "cosine", "containment", "minhash", "modp", "simhash", "digest"])
def test_two_texts_side_by_side_fit_eighty_columns(method):
    """Each ends in a verdict."""
    result = run(TEXT, "The fast brown fox jumps over a lazy dog", "--method", method)
    assert (0, True) == (result.exit_code, max(map(len, result.stdout.splitlines())) <= 80), result.stderr
    assert "duplicates  no" in re.sub(r" +", "  ", result.stdout)


def test_numbers_are_vectors_or_hashes_as_they_are():
    """In brackets or not; a word among them is named."""
    assert "0 of 512 bits" in run("[1, 0.5]", "2, 1", "--method", "hyperplane").stdout
    shown = run("938 664 463 492", "--numbers", "--method", "modp", "--modulus", 4, "--floor", 0, "--json").stdout
    assert [664, 492] == json.loads(shown)["answer"]["fingerprint"]
    assert "'x' is not a number" in run("1 x", "--method", "hyperplane").stderr


def test_standard_input_is_read_once():
    """It cannot be both texts."""
    result = run("-", "-", stdin=TEXT)
    assert (2, True) == (result.exit_code, "- is named twice" in result.stderr)


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_every_example_fits_eighty_columns(name):
    """With all its rows."""
    result = run("--example", name, "--all")
    assert (0, True) == (result.exit_code, max(map(len, result.stdout.splitlines())) <= 80), result.stderr


@pytest.mark.parametrize("bits", [4, 16, 32, 64, 128])
@pytest.mark.parametrize("search", ["adjacent", "rotations", "blocks", "brute"])
def test_a_search_for_codes_fits_eighty_columns(search, bits):
    """Whatever their length."""
    codes = ",".join(str(number % 2**bits) for number in (1, 3, 2**bits - 1, 2**bits // 3, 2**bits // 3 + 1))
    result = run("--codes", codes, "--bits", bits, "--k", 2, "--search", search, "--all")
    assert (0, True) == (result.exit_code, max(map(len, result.stdout.splitlines())) <= 80), result.stderr


def test_codes_come_from_a_file_too(tmp_path):
    """One on a line, or with commas."""
    path = tmp_path / "codes.txt"
    path.write_text("1101\n0b1111, 6\n", "utf-8")
    shown = [run("--codes", codes, "--bits", 4, "--k", 1, "--json") for codes in (path, "13,15,0b0110")]
    assert [[[1, 2, 1]]] * 2 == [json.loads(result.stdout)["answer"]["found"] for result in shown]


def test_stop_words_are_ones_own_or_a_files(tmp_path):
    """Dropped before features are made."""
    path = tmp_path / "stop.txt"
    path.write_text("in\nthe and\n", "utf-8")
    for words in ("in,the,and", path):
        shown = json.loads(run("fish in the sea and", "--stop-words", words, "--json").stdout)
        assert ["fish", "sea"] == [row[1] for row in shown["steps"][0]["rows"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--example", "fox", "--k", 2), "--example takes no --k"),
        (("--example", "fox", "a text"), "--example takes no text"),
        (("--codes", "1,2", "--num-perm", 8), "--codes takes no --num-perm"),
        (("--codes", "1,2", "--search", "adjacent", "--turns", "x"), "--turns 'x' is not a whole number"),
        (("--codes", "1,x"), "'x' is not a code of 64 bits"),
        (("a", "--turns", 1), "--turns does nothing without --codes"),
        ((), "Missing argument 'FILE|TEXT', or --example, or --codes"),
    ],
)
def test_what_does_nothing_is_refused(arguments, message):
    """By name."""
    result = run(*arguments)
    assert (2, True) == (result.exit_code, message in result.stderr), result.stderr


LONG = f"{'x' * 200} {'漢字' * 60} {' '.join(f'word{number}' for number in range(50))}"


@pytest.mark.parametrize("texts", [(LONG,), (LONG, f"{LONG} more"), ("", "***")], ids=["one", "two", "without words"])
@pytest.mark.parametrize("method", ["jaccard", "cosine", "containment", "minhash", "modp", "simhash", "digest"])
def test_no_text_makes_a_table_wider(texts, method):
    """Long words and wide characters are folded, and 128 bits have room."""
    wide = [("--bits", 128), ("--bits", 32)] if method == "simhash" else [()]
    for settings in wide:
        result = run(*texts, "--method", method, *settings, "--all")
        assert (0, True) == (result.exit_code, max(map(cell_len, result.stdout.splitlines())) <= 80), result.stderr


def test_markdown_has_the_same_tables():
    """A column of numbers is aligned right; what a text holds is no mark."""
    result = run("a|b <i> *c*", "--unit", "chars", "--shingle-size", 11, "--keep-punctuation", "--markdown")
    assert "### 1. The text becomes weighted features" in result.stdout
    assert "| ---: | --- | ---: | ---: | --- |" in result.stdout
    assert r"| 1 | a\|b \<i\> \*c\* | 1 | 1 |" in result.stdout
    cut = run(TEXT, *MINHASH, "--markdown").stdout
    assert "... and 108 more: --all shows them." in cut
    assert 128 < len(run(TEXT, *MINHASH, "--markdown", "--all").stdout.splitlines())
    both = run(TEXT, "--markdown", "--json")
    assert (2, True) == (both.exit_code, "--json and --markdown are both given" in both.stderr)


def records(tmp_path, name="a.jsonl"):
    """Three of them; the last has no id of its own."""
    lines = ({"id": "a", "text": "a rose"}, {"id": 7, "text": "a daisy"}, {"id": None, "text": "an aster"})
    path = tmp_path / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_a_record_is_chosen_by_its_id(tmp_path):
    """By its place where it has none; two of one file, one of each of two, or one and a text."""
    path, other = records(tmp_path), records(tmp_path, "b.jsonl")

    def sizes(*arguments):
        result = run(*arguments, "--method", "digest", "--json")
        assert 0 == result.exit_code, result.stderr
        return [row[-1] for row in json.loads(result.stdout)["steps"][0]["rows"]]

    assert ["a rose"] == sizes(path, "--id", "a")
    assert ["an aster"] == sizes(path, "--id", f"{path}:2")
    assert ["a daisy", "a rose"] == sizes(path, "--id", 7, "--id", "a")
    assert ["a daisy", "a rose"] == sizes(path, other, "--id", 7, "--id", "a")
    assert ["a rose", "the text"] == sizes(path, "the text", "--id", "a")


def test_columns_of_records_can_be_named(tmp_path):
    """Of a CSV file, too."""
    path = tmp_path / "a.csv"
    path.write_text("key,title,body\nx,one,two words\n", "utf-8")
    result = run(path, "--id", "x", "--id-column", "key", "--text-column", "body", "--method", "digest", "--json")
    assert "two words" == json.loads(result.stdout)["steps"][0]["rows"][0][-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "holds records, not one text"),
        (("--id", "z"), "has no record with the id 'z'"),
        (("--id", "a", "--id", "b", "--id", "c"), "--id is given 3 times"),
        (("--id", "a", "--extract", "text"), "extract does nothing"),
        (("--text-column", "text"), "--text-column does nothing without --id"),
    ],
)
def test_records_that_cannot_be_chosen_are_errors(tmp_path, arguments, message):
    """A file of records is never read as one text."""
    result = run(records(tmp_path), *arguments)
    assert (True, True) == (result.exit_code != 0, message in result.stderr), result.stderr


def test_every_command_of_the_page_runs(tmp_path, monkeypatch, root):
    """With files such as it names."""
    records(tmp_path, "crawl.jsonl").write_text('{"id": "page-1", "text": "a"}\n{"id": "page-2", "text": "b"}\n')
    for name, content in (("a.txt", TEXT), ("b.html", f"<p>{TEXT}</p>"), ("codes.txt", "1 3 7 0xff")):
        (tmp_path / name).write_text(content, "utf-8")
    monkeypatch.chdir(tmp_path)
    page = (root / "docs" / "explain.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    commands_of_page = [shlex.split(line, comments=True)[2:] for block in blocks for line in block.splitlines()]
    assert len(commands_of_page) >= 7
    assert [] == [words for words in commands_of_page if run(*words).exit_code]


def test_every_example_has_its_row_in_the_page(root):
    """And no other."""
    page = (root / "docs" / "explain.md").read_text("utf-8")
    table = page[page.index("## Examples of the literature") :]
    assert [*EXAMPLE_NAMES] == re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)


def test_a_page_with_pictures_is_written(tmp_path):
    """One file, which is not replaced without being asked for; other forms exclude it."""
    page = tmp_path / "fox.html"
    assert f"Written: {page}" in run("--example", "fox", "--html", page).stdout
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "exists" in run("--example", "fox", "--html", page).stderr
    assert 0 == run("--example", "rose", "--html", page, "--overwrite").exit_code
    assert "--json and --html are both given" in run("a b", "--html", tmp_path / "other.html", "--json").stderr
    assert "--overwrite does nothing without --html FILE" in run("a b", "--overwrite").stderr
