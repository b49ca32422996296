"""`nearsame demo` prints what it kept, what it removed, and why."""

import re

from nearsame.demo import corpus_path

from .commands import run


def test_the_demo_explains_itself_in_80_columns():
    """Every part is there, no line is too long, and no character of our own is beyond ASCII."""
    done = run("demo")
    assert (0, "") == (done.exit_code, done.stderr)
    for part in ("369 made-up", "Guarantee: exact", "Removed (-)", "Rightly kept", "language ", "twin "):
        assert part in done.stdout
    lines = done.stdout.splitlines()
    assert [] == [line for line in lines if len(line) > 80]
    ours = [line for line in lines if not line.startswith(("    ", "  - ", "  + ", "  largest"))]
    assert [] == [line for line in ours if not line.isascii()]


def test_originals_stay_and_every_edited_version_goes():
    """What the corpus says of its texts and what was decided agree."""
    rows = dict(re.findall(r"^(\w+) +\d+ +(\d+ +\d+)", run("demo").stdout, re.MULTILINE))
    assert ["0", "67"] == rows["original"].split()
    assert ["75", "0"] == rows["edited"].split()
    assert ["0", "24"] == rows["revised"].split()


def test_the_demo_can_be_written(tmp_path):
    """-o gives the same folder as dedup; the bundled corpus is never in the way."""
    assert 0 == run("demo", "-o", tmp_path / "demo", "-q").exit_code
    assert corpus_path().name in [path.name for path in (tmp_path / "demo" / "kept").iterdir()]
    assert 2 == run("demo", "-o", tmp_path / "demo").exit_code


def test_the_demo_ends_with_a_report_to_open(tmp_path, monkeypatch):
    """Of a name of its own, or of one that is given; nothing is replaced unasked."""
    monkeypatch.chdir(tmp_path)
    assert "A page to look at: nearsame demo --report" == run("demo").stdout.splitlines()[-1]
    done = run("demo", "--report")
    assert (0, "Written: nearsame-demo.html") == (done.exit_code, done.stdout.splitlines()[-1])
    assert "<!DOCTYPE html>" == (tmp_path / "nearsame-demo.html").read_text("utf-8")[:15]
    assert 2 == run("demo", "--report").exit_code
    assert 0 == run("demo", "--report", "--overwrite", "-q").exit_code
    assert 0 == run("demo", "--report", "other.html", "-q").exit_code
    assert ["nearsame-demo.html", "other.html"] == sorted(path.name for path in tmp_path.iterdir())


def test_the_corpus_can_be_written(tmp_path):
    """--corpus gives it as it is bundled, over nothing, and with no result beside it."""
    assert 0 == run("demo", "--corpus", tmp_path / "corpus.jsonl").exit_code
    assert corpus_path().read_bytes() == (tmp_path / "corpus.jsonl").read_bytes()
    assert 2 == run("demo", "--corpus", tmp_path / "corpus.jsonl").exit_code
    assert 2 == run("demo", "--corpus", tmp_path / "other.jsonl", "-o", tmp_path / "demo").exit_code
