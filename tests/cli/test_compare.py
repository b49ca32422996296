"""`nearsame compare`: files, URLs and standard input in; a report of 80 columns or JSON out; 0, 1 or 2."""

import gzip
import json

import fsspec
import pytest
from click.testing import CliRunner

from nearsame.cli.compare import MEASURES
from nearsame.cli.main import commands
from nearsame.studies.compare import DECIDING

A = "The town council approved the new bridge on Tuesday night after a debate of three hours.\n" * 2
B = A.replace("Tuesday", "Wednesday").replace("bridge", "Bridge")


def run(*arguments: object, stdin: str | bytes | None = None, columns: int = 80):
    """The command as a user would call it."""
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(commands, ["compare", *map(str, arguments)], input=stdin)


@pytest.fixture
def files(tmp_path):
    """Two texts."""
    paths = tmp_path / "a.txt", tmp_path / "b.md"
    for path, text in zip(paths, (A, B), strict=True):
        path.write_text(text, "utf-8")
    return paths


@pytest.mark.parametrize(("threshold", "status"), [("0.4", 0), ("0.9", 1)])
def test_the_exit_code_is_the_verdict(files, threshold, status):
    """0: near-duplicates at the threshold, 1: not."""
    result = run(*files, "--threshold", threshold)
    assert status == result.exit_code
    assert ("Near-duplicates: Jaccard" if status == 0 else "Not near-duplicates: Jaccard") in result.stdout


def test_the_report_fits_eighty_columns(files):
    """The measures, the promise, and the shared passages between markers."""
    lines = run(*files).stdout.splitlines()
    assert 80 >= max(map(len, lines))
    assert any(line.startswith("Levenshtein") or "edit distance (Levenshtein)" in line for line in lines)
    assert any("Every shared run of 8 or more words is" in line for line in lines)
    assert any("[[" in line for line in lines)


def test_json_is_all_of_it(files):
    """And the names of the files."""
    result = run(*files, "--json", "--shingle-size", 3, "--keep-case")
    record = json.loads(result.stdout)
    assert [str(path) for path in files] == [record["a_name"], record["b_name"]]
    assert 3 == record["recipe"]["shingle_size"]
    assert set(DECIDING) - {"containment", "clusters"} <= {measured["name"] for measured in record["measures"]}


def test_standard_input_may_be_one_of_them(files):
    """`-` is read as a text as a whole."""
    assert 0 == run("-", files[0], stdin=A).exit_code
    assert 0 == run(files[0], "-", stdin=A).exit_code


def test_a_url_and_a_packed_file_are_texts_too(files, tmp_path):
    """Through fsspec, unpacked by the name; a byte order mark is none of the text."""
    with fsspec.open("memory://compare/a.txt", "wb") as out:
        out.write(b"\xef\xbb\xbf" + A.encode())
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(A.encode()))
    result = run("memory://compare/a.txt", packed, "--json")
    (indel,) = (measured for measured in json.loads(result.stdout)["measures"] if measured["name"] == "indel")
    assert (0, 0.0) == (result.exit_code, indel["distance"])


def test_the_same_path_twice_is_an_error(files, tmp_path):
    """By its name, by a link, and for standard input."""
    link = tmp_path / "link.txt"
    link.symlink_to(files[0])
    for pair, message in (
        ((files[0], files[0]), f"error: {files[0]} is given twice"),
        ((files[0], link), f"error: {files[0]} and {link} are the same file"),
        (("-", "-"), "error: - is given twice, and standard input can be read only once"),
    ):
        result = run(*pair)
        assert (2, message) == (result.exit_code, result.stderr.splitlines()[0])


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "does not exist"), (b"\xff\xfe", "line 1: invalid UTF-8"), ("folder", "is a folder")],
)
def test_what_cannot_be_read_is_named(files, tmp_path, content, message):
    """One line, a hint, no traceback; no verdict either."""
    path = tmp_path / "bad.txt"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    result = run(files[0], path)
    assert result.exit_code not in (0, 1)
    assert f"{path}" in result.stderr.splitlines()[0]
    assert message in result.stderr.splitlines()[0]


def test_a_packed_file_that_ends_early_is_an_error(files, tmp_path):
    """What is there is not compared as if it were all."""
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(A.encode() * 100)[:-12])
    result = run(files[0], path)
    assert result.exit_code not in (0, 1)
    assert f"error: {path}: " in result.stderr


def test_a_name_that_promises_another_packing_is_an_error(files, tmp_path):
    """It says that the name is wrong, not that the file ends too early."""
    path = tmp_path / "a.txt.gz"
    path.write_text("no gzip at all")
    result = run(files[0], path)
    assert result.exit_code not in (0, 1)
    assert f"error: {path} is not readable as gzip: " in result.stderr
    assert "hint: Check that its name says how it is compressed." in result.stderr


def test_many_passages_are_cut_and_counted(tmp_path):
    """The longest ten are shown, unless all are wanted."""
    shared = [" ".join(f"w{i}x{j}" for j in range(9)) for i in range(12)]
    for name, between in (("a.txt", " a b "), ("b.txt", " c d ")):
        (tmp_path / name).write_text(between.join(shared), "utf-8")
    cut, whole = (run(tmp_path / "a.txt", tmp_path / "b.txt", *extra).stdout for extra in ((), ("--all",)))
    assert "The 10 longest are shown; --all shows all 12." in cut
    assert (10, 12) == (cut.count("9 words: characters"), whole.count("9 words: characters"))


def test_clusters_come_from_a_file(files, tmp_path):
    """Words that count as one decide."""
    path = tmp_path / "clusters.json"
    path.write_text('[["Tuesday", "Wednesday"]]', "utf-8")
    result = run(*files, "--clusters", path, "--measure", "clusters", "--threshold", 1)
    assert 0 == result.exit_code
    assert "Near-duplicates: Jaccard of clusters 1.0000 >= 1." in result.stdout


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    """A document cannot drive the terminal that shows it."""
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"one two three four \x1b[31mfive six seven eight nine {name}", "utf-8")
    assert "\x1b" not in run(tmp_path / "a.txt", tmp_path / "b.txt").stdout


def test_the_choices_are_the_librarys():
    """What --measure takes is what can decide."""
    assert tuple(DECIDING) == tuple(name.replace("-", "_") for name in MEASURES)


def test_a_text_in_the_place_of_a_file_is_told_as_one():
    """The command compares files."""
    for a, b in (("two words", "two words"), ("two words", "three more words")):
        done = run(a, b)
        assert (2, True) == (done.exit_code, "'two words' is not a file" in " ".join(done.stderr.split()))


def test_codes_are_made_as_asked(files):
    """By the settings of SimHash; the rest of the table stays."""
    record, plain = (
        json.loads(run(*files, "--json", *extra).stdout)["measures"]
        for extra in (("--bits", 32, "--weights", "tf", "--code-shingle-size", 2), ())
    )
    assert "32 bits of 2-word shingles" == next(one["of"] for one in record if one["name"] == "simhash")
    assert [one for one in plain if one["name"] != "simhash"] == [one for one in record if one["name"] != "simhash"]


def test_similarity_and_distance_add_up(tmp_path):
    """A third and two thirds; both are rounded, to one together."""
    for name, text in (("a.txt", "one two"), ("b.txt", "two three")):
        (tmp_path / name).write_text(text, "utf-8")
    done = run(tmp_path / "a.txt", tmp_path / "b.txt", "--shingle-size", 1, "--threshold", "1/3")
    (line,) = (line for line in done.stdout.splitlines() if line.lstrip().startswith("Jaccard"))
    assert ["Jaccard", "0.3333", "0.6667"] == line.split()[:3]
    done = run(tmp_path / "a.txt", tmp_path / "b.txt", "--shingle-size", 1, "--json")
    assert "1/3" == json.loads(done.stdout)["measures"][0]["exact"]


def test_a_page_without_main_content_is_told(files, tmp_path):
    """A menu is compared as what it is."""
    page = tmp_path / "menu.html"
    page.write_text("<ul>" + "".join(f"<li><a href='/{n}'>A long menu item {n}</a></li>" for n in range(9)) + "</ul>")
    out = run(files[0], page).stdout.splitlines()
    assert "   No main content was found: all its visible text is compared." in out
    remarks = json.loads(run(files[0], page, "--json").stdout)["remarks"]
    assert ["", "No main content was found: all its visible text is compared."] == remarks
