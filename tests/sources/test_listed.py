"""A list of strings: texts; and what happens where they are names of files."""

import warnings
from pathlib import Path

import pytest

import nearsame as ns

ROSE = '{"text": "a rose is a rose is a rose"}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two files and a folder, where the process is."""
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(ROSE)
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "c.jsonl").write_text(ROSE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "names",
    [
        ["a.jsonl", "b.jsonl"],
        ["crawl"],
        ["a.jsonl", None, "crawl/"],
        ["crawl/*"],
        ["not-there.parquet", "nor-this.csv.gz"],
        ["s3://bucket/a.jsonl", "https://example.org/b.JSONL.ZST"],
        ["s3://bucket/crawl", "hf://datasets/who/what"],
    ],
)
def test_a_list_of_nothing_but_names_is_refused(home: Path, names: list[str | None]) -> None:
    """Whether they are there or only end like files; the hint has the tuple, and how texts like these are given."""
    first = names[0]
    for asked in (ns.dedup, ns.pairs, lambda given: ns.dedup("a.jsonl", against=given)):
        with pytest.raises(
            ns.SourceError, match="a list of strings is read as texts, but these are names of files"
        ) as caught:
            asked(names)
        assert f"{first!r}" in caught.value.message
        assert '("a.jsonl", "b.jsonl")' in caught.value.hint


def test_a_dict_of_nothing_but_names_is_refused(home: Path) -> None:
    """As `leaks` takes one for benchmarks: what `dedup` takes is ids with their texts."""
    with pytest.raises(ns.SourceError, match=r"a dict of strings is read as texts, but .*: 'a.jsonl', 'b.jsonl'"):
        ns.dedup({"train": "a.jsonl", "test": "b.jsonl"})
    with pytest.warns(UserWarning, match=r"'a.jsonl' is compared as a text"):
        assert 2 == ns.dedup({"a": "a.jsonl", "b": "what is in b"}).stats.documents
    assert 2 == ns.dedup(["https://example.org/a", "https://example.org/b"]).stats.documents


def test_one_text_of_an_index_is_a_text_whatever_it_reads_like(home: Path) -> None:
    """Texts of strangers are added one by one: a file of that name is nothing to them."""
    with ns.Index.create(str(home / "seen.ns")) as index:
        for text in ("a.jsonl", str(home / "a.jsonl"), "another.html"):
            assert 1 == len(index.add(text))


def test_an_index_and_a_list_of_urls_refuse_names_of_files_too(home: Path) -> None:
    """A URL may end like a file; what is there is one."""
    with ns.Index.create(str(home / "seen.ns")) as index, pytest.raises(ns.SourceError, match="names of files"):
        index.add(["a.jsonl", "b.jsonl"])
    with pytest.raises(ns.SourceError, match="names of files"):
        ns.urls(["a.jsonl"])
    assert 2 == len(ns.urls(["https://example.org/a.html", "https://example.org/b.html"]).table)
    assert 3 == len(ns.urls(["/", "crawl", "/"]).table)


def test_a_question_to_an_index_never_looks_for_files(home: Path) -> None:
    """It may come from strangers, by the service: it must not tell them what is on the disk."""
    with ns.Index.create(str(home / "seen.ns")) as index:
        index.add({"id": "a", "text": "crawl"})
        assert ["a"] == [match.id for match in index.query(["crawl"])[0]]


def test_one_name_among_texts_is_a_text_with_a_warning(home: Path) -> None:
    """A stranger's text must not stop a run; but nobody is left to find out alone."""
    with pytest.warns(UserWarning, match=r"'a\.jsonl' is compared as a text, since it is in a list of texts"):
        found = ns.dedup(["a rose", "a.jsonl", "a daisy"])
    assert 3 == found.stats.documents


@pytest.mark.parametrize(
    "texts",
    [
        ["a rose", "not-there.jsonl"],
        ["see a.jsonl", "and b.jsonl"],
        ["a" * 5000, "\0", "\ud800", ""],
        ["", None],
        [],
        ["crawl of a folder", "crawl"],
    ],
)
def test_texts_stay_texts_without_a_word(home: Path, texts: list[str | None]) -> None:
    """Sentences that end with a name, folders among texts, and what no path can be."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ns.dedup(texts)


def test_texts_that_read_like_names_are_given_as_records(home: Path) -> None:
    """As the hint says."""
    assert 2 == ns.dedup([{"text": "a.jsonl"}, {"text": "b.jsonl"}]).stats.documents


def test_a_list_of_paths_is_several_sources_like_a_tuple(home: Path) -> None:
    """A `Path` is no text, wherever it stands; and no output replaces what was read so."""
    paths = [Path("a.jsonl"), Path("b.jsonl"), Path("crawl")]
    found, same = ns.dedup(paths), ns.dedup(tuple(map(str, paths)))
    assert same.removals.to_pylist() == found.removals.to_pylist()
    assert ["a.jsonl", "b.jsonl", "crawl/c.jsonl"] == [part.name for part in found.run.reading.parts]
    with pytest.raises(ns.OutputError):
        found.write("crawl", overwrite=True)
    assert 3 == ns.dedup("a.jsonl", against=[Path("b.jsonl"), Path("crawl/c.jsonl")]).stats.documents
    with pytest.raises(ns.SourceError, match="elements of type PosixPath") as caught:
        ns.dedup([Path("a.jsonl"), "b.jsonl"])
    assert "tuple of Paths" in caught.value.hint


def test_an_iterator_of_paths_is_refused_with_the_list_as_the_hint(home: Path) -> None:
    """`Path.glob` gives one."""
    with pytest.raises(ns.SourceError, match="elements of type PosixPath") as caught:
        ns.dedup(home.glob("*.jsonl"))
    assert "list(iterator)" in caught.value.hint
