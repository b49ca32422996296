"""URLs by the sourceful: what comes out for each, the groups, and what is counted."""

import gzip
import json
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import ColumnError, ConfigError, OutputError
from nearsame.web.rules import UrlRule, UrlRules

URLS = [
    "http://example.org/a/index.html",
    "https://example.org/a/?utm_id=1",
    "https://example.org/a",
    "https://example.org/b",
    "no url",
    "https://example.org/a",
]
FORM = "https://example.org/a"


def test_each_url_has_its_row_in_order() -> None:
    """With its form, and the rules that made it."""
    table = ns.urls(URLS).table
    assert URLS == table.column("url").to_pylist()
    assert [FORM, FORM, FORM, "https://example.org/b", "no url", FORM] == table.column("canonical").to_pylist()
    assert ["documents,trailing_slash,scheme", "trailing_slash,tracking", "", "", "", ""] == table["rules"].to_pylist()
    assert ["guess", "usual", *["standard"] * 4] == table["degree"].to_pylist()


def test_groups_are_of_different_urls() -> None:
    """The same URL read twice is one, with a count."""
    expected = [(0, FORM, URLS[0], 1), (0, FORM, URLS[1], 1), (0, FORM, URLS[2], 2)]
    assert expected == list(zip(*ns.urls(URLS).groups.to_pydict().values(), strict=True))


def test_counts_tell_what_each_rule_merges() -> None:
    """Without the rule for documents one form more; two URLs have a slash too many, and are one form with it, too."""
    stats = ns.urls(URLS).stats
    assert (6, 5, 3, 1, 1) == (stats.read, stats.distinct, stats.canonical, stats.groups, stats.invalid)
    merged = {name: (rule.changed, rule.merged) for name, rule in stats.rules.items()}
    assert {"scheme": (1, 1), "documents": (1, 1), "trailing_slash": (2, 1), "tracking": (1, 1)} == merged


PARTS = ["http://", "https://", "example.org", "www.", "/", "a", "index.html", "?", "utm_id=1", "&b=2", "#c", ":80"]


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=8).map("".join), max_size=12))
def test_what_a_rule_merges_is_what_leaving_it_out_parts(urls: list[str]) -> None:
    """Slow and obvious: how many more forms those groups have by a recipe without the rule."""
    found = ns.urls(urls)
    forms: dict[str, list[str]] = {}
    for url in dict.fromkeys(urls):
        forms.setdefault(ns.canonical_url(url), []).append(url)
    assert len(forms) == found.stats.canonical
    for rule, counted in found.stats.rules.items():
        without = ns.CanonicalUrl().without(rule)
        apart = 0
        for form, members in forms.items():
            touched = {url for url in members if rule in found.table["rules"][urls.index(url)].as_py().split(",")}
            left = {ns.canonical_url(url, without) if url in touched else form for url in members}
            apart += len(left) - 1
        assert apart == counted.merged


def test_sources_are_text_files_tables_and_lists(tmp_path: Path) -> None:
    """All of them in one call; a null URL keeps its row."""
    (tmp_path / "a.txt").write_text("http://example.org/1\n\n  http://example.org/2  \r\n", "utf-8")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"http://example.org/3"))
    (tmp_path / "c.jsonl").write_text('{"url": "http://example.org/4", "n": 1}\n{"url": null}\n', "utf-8")
    pq.write_table(pa.table({"link": ["x"], "url": ["http://example.org/5"]}), tmp_path / "d.parquet")
    (tmp_path / "e.csv").write_text("id,url\n1,http://example.org/6\n", "utf-8")
    files = tuple(str(tmp_path / name) for name in ("a.txt", "b.txt.gz", "c.jsonl", "d.parquet", "e.csv"))
    column = pa.chunked_array([["http://example.org/9"]])
    found = ns.urls((*files, ["http://example.org/7", None], [{"url": "http://example.org/8"}], column))
    expected = [f"https://example.org/{n}" if n else None for n in (1, 2, 3, 4, 0, 5, 6, 7, 0, 8, 9)]
    assert expected == found.table.column("canonical").to_pylist()
    assert (11, 2) == (found.stats.read, found.stats.without_url)


def test_lines_that_are_no_text_are_told_with_their_number(tmp_path: Path) -> None:
    """The others are read."""
    (tmp_path / "a.txt").write_bytes(b"http://example.org/1\nhttp://example.org/\xff\nhttp://example.org/3\n")
    found = ns.urls(str(tmp_path / "a.txt"))
    assert (2, 1) == (found.table.num_rows, found.stats.unread)
    assert [(str(tmp_path / "a.txt"), 2)] == [(row["source"], row["line"]) for row in found.skipped.to_pylist()]


@pytest.mark.slow
def test_a_torn_file_gives_what_stands_before_the_break(tmp_path: Path) -> None:
    """And says that it is torn."""
    whole = gzip.compress("".join(f"http://example.org/{n}\n" for n in range(200_000)).encode())
    (tmp_path / "a.txt.gz").write_bytes(whole[: len(whole) // 2])
    found = ns.urls(str(tmp_path / "a.txt.gz"))
    assert 1 == found.stats.unread
    assert 1000 < found.table.num_rows < 200_000


def test_lone_surrogates_are_no_urls() -> None:
    """A string that is no text is mended, kept and counted."""
    assert 1 == ns.urls(["http://example.org/\ud800", "x\ud800"]).stats.invalid


def test_learnt_rules_are_applied_and_counted() -> None:
    """As a rule of their own; theirs is the recipe."""
    rules = UrlRules(ns.CanonicalUrl(www=True), (UrlRule("example.org", parameters=("ref",)),))
    found = ns.urls(["http://www.example.org/a?ref=1", "http://example.org/a"], rules=rules)
    assert (1, 1) == (found.stats.canonical, found.stats.rules["learnt"].merged)
    with pytest.raises(ConfigError, match="differ"):
        ns.urls(URLS, rules=rules, recipe=ns.CanonicalUrl())


def test_rules_that_have_been_applied_can_be_pickled() -> None:
    """As a cluster sends them to its workers."""
    rules = UrlRules(ns.CanonicalUrl(), (UrlRule("example.org", parameters=("ref",)),))
    assert "https://example.org/a" == rules.apply("https://example.org/a?ref=1")
    again = pickle.loads(pickle.dumps(rules))  # noqa: S301  (what the test just wrote)
    assert "https://example.org/a" == again.apply("https://example.org/a?ref=1")


@pytest.mark.parametrize("name", ["urls.parquet", "urls.csv", "urls.jsonl"])
def test_tables_and_groups_are_written(name: str, tmp_path: Path) -> None:
    """In each format; nothing is replaced unasked."""
    found = ns.urls(URLS)
    found.write(tmp_path / name, surt=True)
    found.write(tmp_path / f"groups-{name}", groups=True)
    if name.endswith(".parquet"):
        assert "org,example)/a" == pq.read_table(tmp_path / name).column("surt")[0].as_py()
        assert 3 == pq.read_table(tmp_path / f"groups-{name}").num_rows
    else:
        assert "org,example)/a" in (tmp_path / name).read_text("utf-8").splitlines()[1]
        assert FORM in (tmp_path / f"groups-{name}").read_text("utf-8").splitlines()[1]
    with pytest.raises(OutputError, match="exists"):
        found.write(tmp_path / name)


def test_a_missing_column_names_the_option() -> None:
    """And the columns that there are."""
    with pytest.raises(ColumnError, match="'url'") as error:
        ns.urls([{"link": "a"}])
    assert "--url-column" in error.value.hint


def test_statistics_are_json() -> None:
    """For machines."""
    assert 2 == json.loads(json.dumps(ns.urls(URLS).stats.record()))["merged"]


def test_a_column_of_lists_of_urls_is_refused(tmp_path):
    """It does nothing there, unless another source has columns."""
    (tmp_path / "urls.txt").write_text("http://a.example/\n")
    (tmp_path / "pages.csv").write_text("page\nhttp://b.example/\n")
    for source in (["http://a.example/"], str(tmp_path / "urls.txt")):
        with pytest.raises(ns.ConfigError, match="url_column='page' does nothing to a list of URLs"):
            ns.urls(source, url_column="page")
    assert 0 == len(ns.urls([], url_column="page").table)
    both = ns.urls((str(tmp_path / "urls.txt"), str(tmp_path / "pages.csv")), url_column="page")
    assert 2 == len(both.table)


def test_a_host_in_its_own_letters_is_no_guess():
    """It is another spelling of the same name."""
    recipe = ns.CanonicalUrl(idn="unicode", up_to="standard")
    (row,) = ns.urls(["https://b\u00fccher.example/a"], recipe=recipe).table.to_pylist()
    assert ("idn", "standard") == (row["rules"], row["degree"])
