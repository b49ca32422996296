"""Mirrors: made-up sites with planted ones and false friends, what is kept of them, and where URLs lead."""

import gzip
import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import ColumnError, ConfigError, OutputError
from tests.examples import share

Page = dict[str, str]


def words(key: str, number: int = 60) -> str:
    """A text that belongs to a key."""
    chance = random.Random(key)
    return " ".join("".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(number))


def site(root: str, names: list[str], content: str, edit: str = "") -> list[Page]:
    """Pages below a root; of each text one word is another, where it is edited."""
    pages = []
    for name in names:
        text = words(f"{content} {name}").split()
        pages.append({"url": f"{root}/{name}", "text": " ".join([*text[:-1], edit] if edit else text)})
    return pages


NAMES = [f"{folder}/page-{n}" for folder in ("a", "b/c") for n in range(10)]
LEGAL = ["legal/imprint", "legal/terms", "legal/privacy"]
WEB = [
    *site("http://origin.example", NAMES, "one"),
    *site("https://origin.example", NAMES, "one"),  # a scheme twin
    *site("http://www.origin.example", NAMES, "one"),  # a www twin
    *site("http://alias.example", NAMES, "one", edit="edited"),  # a virtual host, nearly the same
    *site("http://docs.example/manual/en", NAMES, "one"),  # moved below a prefix
    *site("http://docs.example", [f"own/{n}" for n in range(20)], "docs"),
    *site("http://part.example/x", NAMES[:12], "one"),  # a partial mirror
    *site("http://part.example/x", [f"other-{n}" for n in range(12)], "part"),
    *site("http://friend.example", LEGAL, "legal"),  # false friends: boilerplate alone
    *site("http://friend.example", [f"f-{n}" for n in range(20)], "friend"),
    *site("http://stranger.example", LEGAL, "legal"),
    *site("http://stranger.example", [f"s-{n}" for n in range(20)], "stranger"),
    *site("http://same.example/old", [f"p-{n}" for n in range(8)], "same"),  # on one host
    *site("http://same.example/new/home", [f"p-{n}" for n in range(8)], "same"),
]


@pytest.fixture(scope="module")
def found() -> ns.Mirrors:
    """What is found in the made-up web by its texts."""
    return ns.mirrors(WEB)


def kinds(found: ns.Mirrors) -> dict[frozenset[str], str]:
    """The kind of each pair of prefixes."""
    return {frozenset((row["a"], row["b"])): row["kind"] for row in found.table.to_pylist()}


def pair(found: ns.Mirrors, a: str, b: str) -> dict[str, object]:
    """The row of two prefixes, the first one as `a`."""
    rows = {(row["a"], row["b"]): row for row in found.table.to_pylist()}
    if (a, b) in rows:
        return rows[a, b]
    row = rows[b, a]
    return {
        **row,
        "a_in_b": row["b_in_a"],
        "b_in_a": row["a_in_b"],
        "a_pages": row["b_pages"],
        "b_pages": row["a_pages"],
    }


def test_planted_mirrors_are_found_by_kind(found: ns.Mirrors) -> None:
    """Twins, another name, another prefix, a part of a site, and two folders of one host."""
    origin = "http://origin.example/"
    by_kind = kinds(found)
    assert "scheme twin" == by_kind[frozenset((origin, "https://origin.example/"))]
    assert "www twin" == by_kind[frozenset((origin, "http://www.origin.example/"))]
    assert "virtual host" == by_kind[frozenset((origin, "http://alias.example/"))]
    assert "mirror" == by_kind[frozenset((origin, "http://docs.example/manual/en"))]
    assert "partial mirror" == by_kind[frozenset((origin, "http://part.example/x"))]
    assert "same host" == by_kind[frozenset(("http://same.example/old", "http://same.example/new/home"))]


def test_false_friends_are_no_mirrors(found: ns.Mirrors) -> None:
    """Three pages of boilerplate in common make none."""
    assert [] == [
        prefixes for prefixes in kinds(found) if any("friend" in each or "stranger" in each for each in prefixes)
    ]


def test_agreement_is_told_both_ways(found: ns.Mirrors) -> None:
    """Of 20 pages 12 are on the partial mirror, which has 12 others."""
    row = pair(found, "http://origin.example/", "http://part.example/x")
    counts = [row[name] for name in ("common", "agreeing", "a_pages", "b_pages", "agreement", "a_in_b", "b_in_a")]
    assert [12, 12, 20, 24, 1.0, 12 / 20, 12 / 24] == counts


def test_mirrors_of_each_other_are_one_group_with_one_keeper(found: ns.Mirrors) -> None:
    """Six sites, one of which is kept: that with the most pages below the prefix; of equals, on its whole site."""
    rows = [row for row in found.table.to_pylist() if "origin" in row["a"] + row["b"]]
    assert ({0}, {"http://part.example/x"}) == ({row["group"] for row in rows}, {row["keep"] for row in rows})
    strict = ns.mirrors(WEB, thresholds=ns.MirrorThresholds(min_share=0.7))
    kept = {row["keep"] for row in strict.table.to_pylist() if row["a"] == "http://origin.example/"}
    assert {"http://docs.example/manual/en"} == kept


@pytest.mark.parametrize(
    ("prefer", "expected"),
    [
        ("named:alias.example", "http://alias.example/"),
        ("named:http://www.origin.example,alias.example", "http://www.origin.example/"),
        ("fastest:seconds", "http://docs.example/manual/en"),
        ("freshest:day", "http://origin.example/"),
    ],
)
def test_the_policy_says_what_is_kept(prefer: str, expected: str) -> None:
    """By name, by the least mean, by the greatest value."""
    web = [
        {
            **page,
            "seconds": "0.1" if "docs" in page["url"] else str(0.2 + n % 7),
            "day": "2026-05-02" if page["url"] == "http://origin.example/a/page-3" else "2025-01-01",
        }
        for n, page in enumerate(WEB)
    ]
    found = ns.mirrors(web, prefer=prefer)
    assert {expected} == {row["keep"] for row in found.table.to_pylist() if "origin" in row["a"] + row["b"]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Wed, 06 Mar 2019 10:00:00 GMT", "Tue, 05 Mar 2024 10:00:00 GMT"),
        ("31.12.2019", "05.03.2024"),
        ("2024-03-05T01:00:00+02:00", "2024-03-04T23:30:00Z"),
        ("9", "10.5"),
        ("2019", "2024-03-05"),
        ("nan", "2019-03-05"),
        ("nan", "-3"),
        ("x", "1970"),
    ],
)
def test_the_freshest_goes_by_dates_however_they_are_written(old: str, new: str) -> None:
    """Not by how they are spelt; what is none says nothing."""
    web = [
        {"url": f"http://{host}.example/p{number}", "same": str(number), "date": date}
        for number in range(6)
        for host, date in (("a", old), ("b", new))
    ]
    found = ns.mirrors(web, cluster_column="same", prefer="freshest:date")
    assert ["http://b.example/"] == found.table.column("keep").to_pylist()
    assert (6 if old == "x" else 0) == found.stats.undated
    with pytest.raises(ConfigError, match="none of its values is a date"):
        ns.mirrors([{**page, "date": "soon"} for page in web], cluster_column="same", prefer="freshest:date")


def test_paths_of_any_depth_are_taken_apart() -> None:
    """A trap for crawlers makes URLs of a thousand folders, of which none is a mirror by its whole."""
    deep = "a/" * 1100
    web = [
        {"url": f"http://{host}.example/{deep}p{number}", "same": f"{number}" if number < 6 else f"{number}{host}"}
        for number in range(10)
        for host in "ab"
    ]
    assert 0 == len(ns.mirrors(web, cluster_column="same").table)
    web += [{"url": f"http://{host}.example/{deep}b/{n}", "same": f"b{n}"} for n in range(9) for host in "ab"]
    assert ["b"] == [row["a"].rsplit("/", 1)[-1] for row in ns.mirrors(web, cluster_column="same").table.to_pylist()]


def test_each_url_leads_to_one_that_leads_to_itself(found: ns.Mirrors) -> None:
    """All URLs, each once; nothing leads on; reasons say why."""
    rows = found.map.to_pylist()
    leads = {row["url"]: row["canonical_url"] for row in rows}
    assert {page["url"] for page in WEB} == set(leads)
    assert len(rows) == len(leads)
    assert all(leads[target] == target for target in leads.values())
    assert {"itself"} == {row["reason"] for row in rows if row["url"] == row["canonical_url"]}
    assert {"mirror", "cross host", "scheme twin", "www twin", "itself"} >= {row["reason"] for row in rows}
    boilerplate = {row["reason"] for row in rows if "stranger.example/legal" in row["url"]}
    assert {"cross host"} == boilerplate


def test_what_is_kept_stands_for_its_mirrors_where_it_has_the_page() -> None:
    """Preferred by name; pages that it lacks go to another mirror."""
    found = ns.mirrors(WEB, prefer="named:part.example")
    leads = {row["url"]: (row["canonical_url"], row["reason"]) for row in found.map.to_pylist()}
    assert ("http://part.example/x/a/page-1", "mirror") == leads["http://docs.example/manual/en/a/page-1"]
    expected = ("http://docs.example/manual/en/b/c/page-9", "mirror")
    assert expected == leads["https://origin.example/b/c/page-9"]


def test_alternatives_are_on_other_hosts_first(found: ns.Mirrors) -> None:
    """One of each other host, then the rest; as many as are asked for, and how many there are."""
    rows = {row["url"]: row for row in found.alternatives.to_pylist()}
    row = rows["http://origin.example/a/page-1"]
    hosts = [url.split("/")[2] for url in row["alternatives"]]
    assert ({"www.origin.example", "alias.example", "docs.example", "part.example"}, "origin.example") == (
        set(hosts[:4]), hosts[4],
    )  # fmt: skip
    assert 5 == row["num_alternatives"] == len(row["alternatives"])
    few = ns.mirrors(WEB, alternatives=2).alternatives.to_pylist()
    assert {2, 1} >= {len(row["alternatives"]) for row in few}


def test_same_host_and_cross_host_duplicates_are_told_apart(found: ns.Mirrors) -> None:
    """Pages of the one host's two folders; pages of the six sites and the boilerplate; the twins are both."""
    stats = found.stats
    assert (16 + 40, 5 * 20 + 12 + 6) == (stats.same_host, stats.cross_host)
    assert (len(WEB), 8, 9) == (stats.pages, stats.hosts, stats.sites)


def test_other_spellings_of_a_url_lead_to_its_page() -> None:
    """Counted as one page; the reason says so."""
    web = [*WEB[:20], {"url": "http://origin.example/a/page-1/?utm_id=1#x", "text": "other"}]
    found = ns.mirrors(web)
    leads = {row["url"]: (row["canonical_url"], row["reason"]) for row in found.map.to_pylist()}
    assert ("http://origin.example/a/page-1", "url") == leads[web[-1]["url"]]
    assert 20 == found.stats.pages


PAGES = st.lists(
    st.builds(
        lambda scheme, host, path, content: {"url": f"{scheme}://{host}/{path}", "d": content},
        st.sampled_from(["http", "https"]),
        st.sampled_from(["a.example", "www.a.example", "b.example", "c.example:81"]),
        st.lists(st.sampled_from(["x", "y", "z?q=1", "#!k"]), max_size=3).map("/".join),
        st.sampled_from(["", "1", "2", "3", "4"]),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=share(150))
@given(pages=PAGES, prefer=st.sampled_from(["most-complete", "freshest:d"]))
def test_the_map_and_the_alternatives_agree_with_the_clusters(pages: list[Page], prefer: str) -> None:
    """A URL leads to a page of its own content, for any pages; what is listed beside it is of that content, too."""
    pages = [*pages, {"url": "http://z.example/", "d": "9"}]
    found = ns.mirrors(pages, cluster_column="d", prefer=prefer, thresholds=ns.MirrorThresholds(min_common=2))
    content: dict[str, str] = {}
    for page in pages:
        content.setdefault(page["url"], page["d"])
    leads = {row["url"]: row for row in found.map.to_pylist()}
    assert content.keys() == leads.keys()
    for url, row in leads.items():
        target = row["canonical_url"]
        assert target == leads[target]["canonical_url"]
        assert row["reason"] == "url" or url == target or content[url] == content[target] != ""
    for row in found.alternatives.to_pylist():
        assert row["url"] not in row["alternatives"]
        assert len(set(row["alternatives"])) == min(10, row["num_alternatives"])
        assert {content[row["url"]]} == {content[url] for url in row["alternatives"]}


@pytest.mark.parametrize(
    "suffixes",
    [("html", "php"), ("asp", ""), ("JSP", "shtml"), ("php?id=1", "aspx?id=1"), ("md", "html"), ("rst", "txt")],
)
def test_mirrors_may_have_another_suffix(suffixes: tuple[str, str]) -> None:
    """Ten pages of two hosts that are made by other servers; each leads to the page that it is a copy of."""
    names = [[f"docs/{n}.{suffix}".rstrip(".") for n in range(10)] for suffix in suffixes]
    pages = [
        {"url": f"http://{host}/{name}", "same": str(n)}
        for host, each in zip(("a.example", "b.example"), names, strict=True)
        for n, name in enumerate(each)
    ]
    found = ns.mirrors(pages, cluster_column="same")
    assert [("virtual host", 10)] == [(row["kind"], row["agreeing"]) for row in found.table.to_pylist()]
    assert {"mirror": 10} == found.stats.mapped


def test_pages_that_differ_in_the_suffix_alone_stay_two_pages() -> None:
    """Then they are compared by their whole names, whatever else stands beside them."""
    names = ["x", "x.html", "x.html.php", "y.html", "y.php", "z.html"]
    pages = [{"url": f"http://{host}/f/{n}", "same": n} for n in names for host in ("a.example", "b.example")]
    found = ns.mirrors(pages, cluster_column="same")
    (row,) = found.table.to_pylist()
    assert (6, 6, 6) == (row["common"], row["agreeing"], row["a_pages"])
    assert 12 == found.stats.pages


def test_a_suffix_that_names_no_page_is_a_part_of_the_name() -> None:
    """A document and its picture are two things."""
    pages = [
        {"url": f"http://{h}/{n}.{s}", "same": str(n)}
        for n in range(9)
        for h, s in (("a.example", "pdf"), ("b.example", "png"))
    ]
    assert 0 == ns.mirrors(pages, cluster_column="same").table.num_rows


def test_a_text_on_very_many_hosts_is_bounded_and_counted() -> None:
    """An error page on 3,000 hosts: neighbours only, no mirror, and all of them lead to one."""
    pages = [{"url": f"http://h{n}.example/404.html", "d": "404"} for n in range(3000)]
    found = ns.mirrors(pages, cluster_column="d")
    stats = found.stats
    assert (0, 1, 3000) == (found.table.num_rows, stats.large_buckets, stats.largest_bucket)
    assert 3000 * 2999 // 2 - (3 * 3000 - 6) == stats.pairs_not_proposed
    assert {"cross host": 2999} == stats.mapped


def test_a_folder_is_written_and_read_again(found: ns.Mirrors, tmp_path: Path) -> None:
    """As Parquet or JSON lines; nothing is replaced unasked."""
    found.write(tmp_path / "out")
    assert found.map == pq.read_table(tmp_path / "out" / "map.parquet")
    assert found.stats.record() == json.loads((tmp_path / "out" / "stats.json").read_text("utf-8"))["stats"]
    found.write(tmp_path / "lines", tables="jsonl")
    first = json.loads((tmp_path / "lines" / "mirrors.jsonl").read_text("utf-8").splitlines()[0])
    assert found.table.to_pylist()[0] == first
    with pytest.raises(OutputError, match="exists"):
        found.write(tmp_path / "out")
    with pytest.raises(ConfigError, match="'csv'"):
        found.write(tmp_path / "other", tables="csv")


def test_clusters_of_an_earlier_run_give_the_same_mirrors(found: ns.Mirrors, tmp_path: Path) -> None:
    """The folder that dedup wrote takes the place of comparing again."""
    crawl = tmp_path / "crawl.jsonl"
    crawl.write_text("".join(json.dumps(page) + "\n" for page in WEB), "utf-8")
    ns.dedup(str(crawl)).write(tmp_path / "clean")
    assert found.table == ns.mirrors(str(crawl), clusters=tmp_path / "clean").table


@pytest.mark.parametrize("prefer", ["", "best", "most-complete:x", "fastest", "fastest:", "named:", "named: ,"])
def test_a_policy_that_there_is_not_is_refused(prefer: str) -> None:
    """The hint lists those that there are."""
    with pytest.raises(ConfigError, match="is not a policy") as error:
        ns.mirrors(WEB, prefer=prefer)
    assert "freshest:COLUMN" in error.value.hint


def test_a_policy_that_cannot_be_applied_is_refused() -> None:
    """A column that is missing or holds no numbers, a host that has no page."""
    with pytest.raises(ColumnError, match="'seconds'"):
        ns.mirrors(WEB, prefer="fastest:seconds")
    with pytest.raises(ConfigError, match="needs numbers"):
        ns.mirrors([{**page, "seconds": "fast"} for page in WEB], prefer="fastest:seconds")
    with pytest.raises(ConfigError, match=r"'nobody\.example'"):
        ns.mirrors(WEB, prefer="named:nobody.example")


def test_settings_that_do_nothing_are_refused() -> None:
    """How texts are compared, where nothing is compared; a second side."""
    with pytest.raises(ConfigError, match="method does nothing"):
        ns.mirrors(WEB, cluster_column="text", method="digest")
    with pytest.raises(TypeError, match="unexpected keyword argument 'against'"):
        ns.mirrors(WEB, against=WEB)


def test_what_has_no_host_is_counted() -> None:
    """No URL, and URLs of nothing that is served."""
    found = ns.mirrors(
        [{"url": None, "d": "1"}, {"url": "mailto:a@b.example", "d": "1"}, {"url": "x", "d": "1"}], cluster_column="d"
    )
    assert (3, 3, 0, 0) == (found.stats.read, found.stats.without_url, found.stats.pages, found.map.num_rows)


def test_known_mirrors_of_a_real_crawl_are_found(data_dir: Path) -> None:
    """The clusters are others', machine-made; these hosts are names of one site by what they serve."""
    found = ns.mirrors(str(data_dir / "web" / "clueweb12-url-groups.tsv.gz"), cluster_column="group")
    by_kind = kinds(found)
    assert "virtual host" == by_kind[frozenset(("http://www.nasascience.nasa.gov/", "http://science1.nasa.gov/"))]
    assert "www twin" == by_kind[frozenset(("http://pinksunrise.com/", "http://www.pinksunrise.com/"))]
    assert frozenset(("http://justteddybears.stores.yahoo.net/", "http://www.bears-n-friends.com/")) in by_kind
    assert all(row["agreement"] >= 0.8 for row in found.table.to_pylist())


def test_a_fork_of_real_documentation_on_two_hosts_is_found(data_dir: Path) -> None:
    """Redis' and Valkey's manuals, as if each stood on a host of its own: most common pages are alike."""
    with gzip.open(data_dir / "docs" / "redis-valkey-docs.docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    hosts = {"redis/redis-doc": "redis.example", "valkey-io/valkey-doc": "valkey.example/docs"}
    web = [
        {"url": f"http://{hosts[document['version']]}/{document['group']}", "text": document["text"]}
        for document in documents
    ]
    found = ns.mirrors(web, method=ns.Jaccard(threshold=0.5, shingle_size=3))
    prefixes = kinds(found)
    assert frozenset(("http://redis.example/", "http://valkey.example/docs")) in prefixes


@pytest.mark.parametrize("order", [1, -1])
def test_a_guess_makes_two_urls_one_page_only_with_one_content(order: int) -> None:
    """The old page beside the one that a server sends for the folder stays a page of its own."""
    pages = [
        {"url": "http://a.example/", "same": "new"},
        {"url": "http://a.example/index.html", "same": "old"},
        {"url": "http://a.example/b/", "same": "b"},
        {"url": "http://a.example/b/index.html", "same": "b"},
    ][::order]
    found = ns.mirrors(pages, cluster_column="same")
    leads = {row["url"]: row["reason"] for row in found.map.to_pylist()}
    assert ["itself", "itself"] == [leads[page["url"]] for page in pages if page["same"] != "b"]
    assert ["itself", "url"] == sorted(leads[page["url"]] for page in pages if page["same"] == "b")
