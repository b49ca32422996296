"""Learnt URL rules: a generated site with planted rules and traps, what is learnt from it, and the file of rules."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from bench import _sites as sites
from nearsame.errors import ColumnError, ConfigError, SourceError
from nearsame.recipes.urls import CanonicalUrl
from nearsame.web import dust
from nearsame.web.dust import learn_urls
from nearsame.web.learning import Learning
from nearsame.web.rules import UrlRule, UrlRules, split_url, without_parameters

Page = dict[str, str]


def words(key: str, number: int = 60) -> str:
    """A text that belongs to a key."""
    chance = random.Random(key)
    return " ".join("".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(number))


def site(host: str = "news.example", num_stories: int = 40) -> list[Page]:
    """Stories at many URLs: `ref` and `v` never matter, `p` only on /list, `id` always; two more ways to a story."""
    pages = []

    def page(path: str, content: str) -> None:
        pages.append({"url": f"http://{host}{path}", "text": words(content), "content": content})

    for n in range(num_stories):
        story = f"{host} story {n}"
        page(f"/story?id={n}", story)
        page(f"/story?id={n}&ref=home", story)
        page(f"/story?id={n}&ref=mail&p=2", story)
        page(f"/story?id={n}&p=1", story)
        page(f"/story_{n}", story)
        page(f"/print/text/{n}", f"{host} text {n}")
        page(f"/text/{n}", f"{host} text {n}")
        page(f"/text;v={n * 7}/{n}", f"{host} text {n}")
        for p in (1, 2):
            page(f"/list?tag={n}&p={p}", f"{host} list {n} {p}")
    return pages


def rules_of(found: UrlRules) -> set[tuple[str, str, str]]:
    """Host, folder and what is done."""
    return {(rule.host, rule.folder, str(rule)) for rule in found.rules}


PLANTED = {
    ("news.example", "", "drop ref"),
    ("news.example", "", "drop ;v"),
    ("news.example", "/story", "drop p"),
    ("news.example", "", "?id= -> _"),
    ("news.example", "", "print/ -> (nothing)"),
}


def test_planted_rules_are_learnt_and_traps_are_not() -> None:
    """All of them from a column of contents, and no other: `p` holds on stories only, `id` and `tag` nowhere."""
    found = learn_urls(site(), cluster_column="content")
    assert PLANTED == rules_of(found)


def test_rules_are_learnt_from_texts_as_well() -> None:
    """Runs of dedup find the pages of one content, and the rules are the same."""
    assert PLANTED == rules_of(learn_urls(site()))


def test_a_rejected_rule_tells_the_evidence_against_it() -> None:
    """`p` has support on the host as a whole, and each list of two pages is against it."""
    found = learn_urls(site(), cluster_column="content")
    rejected = [rule for rule in found.rejected if str(rule) == "drop p" and not rule.folder]
    evidence = rejected[0].evidence
    assert ["evidence against it"] == [rule.why_not for rule in rejected]
    assert 40 == evidence.against + evidence.held_against


def test_evidence_counts_urls_on_both_parts() -> None:
    """A rule without exceptions: as many URLs as it merges, the held-out part included."""
    pages = [{"url": f"http://a.example/{n}?ref={r}", "d": str(n)} for n in range(50) for r in "xyz"]
    (rule,) = learn_urls(pages, cluster_column="d").rules
    assert 100 == rule.evidence.support + rule.evidence.held_support
    assert rule.evidence.held_support > 10
    assert (0, 0) == (rule.evidence.against, rule.evidence.held_against)
    assert all(rule.apply(ns.canonical_url(a)) == rule.apply(ns.canonical_url(b)) for a, b in rule.examples)


def test_a_rule_that_fails_on_the_held_out_part_is_not_taken() -> None:
    """All exceptions stand in the part held out: what was learnt does not hold there."""
    from nearsame.web.dust import _share

    how = Learning()
    pages = []
    for n in range(200):
        held = _share(f"https://a.example/{n}") < how.held_out
        pages += [{"url": f"http://a.example/{n}?x={x}", "d": f"{n} {x}" if held else str(n)} for x in "ab"]
    found = learn_urls(pages, cluster_column="d")
    rejected = [rule.why_not for rule in found.rejected if str(rule) == "drop x"]
    assert ((), ["evidence against it on the part held out"]) == (found.rules, rejected)


def test_parameters_that_only_vary_together_are_dropped_together() -> None:
    """Neither has two URLs of its own to be judged by."""
    pages = [{"url": f"http://a.example/{n}?s={n}{i}&t={i}{n}", "d": str(n)} for n in range(30) for i in range(3)]
    assert {("a.example", "", "drop s, t")} == rules_of(learn_urls(pages, cluster_column="d"))


def test_what_many_hosts_agree_on_holds_for_all_but_those_that_object() -> None:
    """One rule in the place of twenty; the host where the parameter matters is named, and left alone."""
    pages = [
        {"url": f"http://h{h}.example/{n}?ref={r}", "d": f"{h} {n}" + (r if h == 0 else "")}
        for h in range(21)
        for n in range(20)
        for r in "xy"
    ]
    found = learn_urls(pages, cluster_column="d")
    assert [("", 20, ("h0.example",))] == [(rule.host, rule.num_hosts, rule.not_hosts) for rule in found.rules]
    assert "https://new.example/1" == found.apply("http://new.example/1?ref=z")
    assert "https://h0.example/1?ref=z" == found.apply("http://h0.example/1?ref=z")


def test_rewritings_are_all_tried() -> None:
    """A common one that does not hold, first, keeps none of the rarer ones from being learnt; ten in a row are."""
    pages = [{"url": f"http://a.example/{f}/{n}", "d": f"{n}"} for f in "abcdefghijk" for n in range(20)]
    trap = [(f, n, f"{n}" if n % 2 else f"{n}{f}") for f in ("x", "y") for n in range(100, 200)]
    found = learn_urls(
        [*pages, *({"url": f"http://a.example/{f}/{n}", "d": d} for f, n, d in trap)], cluster_column="d"
    )
    assert {f"{f} -> a" for f in "bcdefghijk"} == {str(rule) for rule in found.rules}
    assert "y -> x" in {str(rule) for rule in found.rejected}
    assert 20 == len({found.apply(page["url"]) for page in pages})


def test_two_hosts_do_not_make_a_rule_for_all() -> None:
    """`min_hosts` must agree."""
    pages = [
        {"url": f"http://h{h}.example/{n}?ref={r}", "d": f"{h} {n}"} for h in range(2) for n in range(20) for r in "xy"
    ]
    assert {"h0.example", "h1.example"} == {rule.host for rule in learn_urls(pages, cluster_column="d").rules}


def test_thresholds_decide() -> None:
    """More support than there is; more error than there may be."""
    pages = site(num_stories=20)
    assert () == learn_urls(pages, cluster_column="content", learning=Learning(min_support=1000)).rules
    lax = learn_urls(pages, cluster_column="content", learning=Learning(max_error=0.9, held_out=0))
    assert ("news.example", "", "drop p") in rules_of(lax)


@pytest.mark.parametrize("wrong", [{"min_support": 0}, {"max_error": 1}, {"held_out": -0.1}, {"min_hosts": 0}])
def test_thresholds_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    """The value is named."""
    with pytest.raises(ConfigError, match="="):
        Learning(**wrong)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.02, 0.05])
@pytest.mark.parametrize("again", [0.0, 0.1])
@pytest.mark.parametrize(("hosts", "stories"), [(2, 50), (10, 6)])
def test_pages_that_change_between_visits_cost_few_rules(noise: float, again: float, hosts: int, stories: int) -> None:
    """Nearly all that the planted rules bring together is found, on large and on small hosts, and nothing else."""
    made = sites.crawl(hosts, stories, noise, again=again)
    recall, precision = sites.quality(learn_urls(made.pages, cluster_column="content"), made)
    assert recall >= 0.95
    assert precision >= 0.999


def test_noise_is_counted_where_a_url_was_read_twice() -> None:
    """Also at two URLs that are one without a guess; as 5 of 50 before there is any; what is given stays."""
    pages = [{"url": f"http://a.example/{n}", "d": f"{n}{'changed' if again and n % 5 == 0 else ''}"}
             for n in range(100) for again in (0, 1)]  # fmt: skip
    found = learn_urls(pages, cluster_column="d")
    assert (100, 20) == (found.stats["repeated_urls"], found.stats["changed"])
    assert (20 + 5) / (100 + 50) == found.settings["noise"]
    twins = [{**page, "url": page["url"] + "#top" * (number % 2)} for number, page in enumerate(pages)]
    assert (20 + 5) / (100 + 50) == learn_urls(twins, cluster_column="d").settings["noise"]
    guesses = [{**page, "url": page["url"] + "/index.php" * (number % 2)} for number, page in enumerate(pages)]
    assert 5 / 50 == learn_urls(guesses, cluster_column="d").settings["noise"]
    assert 0.2 == learn_urls(pages, cluster_column="d", learning=Learning(noise=0.2)).settings["noise"]


def test_a_folder_that_objects_is_not_outvoted() -> None:
    """A hundred stories do not make the parameter meaningless on ten lists."""
    pages = [{"url": f"http://a.example/story/{n}?p={p}", "d": f"{n}"} for n in range(100) for p in (1, 2)]
    pages += [{"url": f"http://a.example/list/{n}?p={p}", "d": f"list {n} {p}"} for n in range(10) for p in (1, 2)]
    assert {("a.example", "/story", "drop p")} == rules_of(learn_urls(pages, cluster_column="d"))


def test_small_hosts_agree_together() -> None:
    """Each has too few URLs to tell; a host where the parameter matters is left alone."""
    pages = [
        {"url": f"http://h{h}.example/{n}?ref={r}", "d": f"{h} {n}{r if h == 0 else ''}"}
        for h in range(30)
        for n in range(7 if h == 0 else 3)
        for r in "xy"
    ]
    (rule,) = learn_urls(pages, cluster_column="d").rules
    assert ("", "drop ref", ("h0.example",)) == (rule.host, str(rule), rule.not_hosts)


def test_small_hosts_agree_on_a_folder() -> None:
    """Where the parameter matters elsewhere on all of them."""
    pages = [
        {"url": f"http://h{h}.example/{folder}/{n}?p={p}", "d": f"{h} {folder} {n}{p if folder == 'list' else ''}"}
        for h in range(9)
        for n in range(4)
        for folder in ("story", "list")
        for p in "12"
    ]
    found = learn_urls(pages, cluster_column="d")
    assert {("", "/story", "drop p")} == rules_of(found)
    assert "https://new.example/story/1" == found.apply("http://new.example/story/1?p=7")
    assert "https://new.example/list/1?p=7" == found.apply("http://new.example/list/1?p=7")


def test_rewritings_are_bounded_by_the_urls_that_they_are_held_against(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all rounds together; what was left out is counted."""
    pages = [{"url": f"http://a.example/{f}/{n}", "d": f"{n}"} for f in "abcdefghijk" for n in range(20)]
    free = learn_urls(pages, cluster_column="d").stats
    monkeypatch.setattr(dust, "_MOST_TRIED", 3)
    monkeypatch.setattr(dust, "_MOST_WORK", 4 * len(pages))
    bounded = learn_urls(pages, cluster_column="d").stats
    assert free["rewritings_tried"] > 4 >= bounded["rewritings_tried"]
    assert bounded["rewritings_not_tried"] > 0


def test_large_clusters_are_bounded_and_counted() -> None:
    """One text at 300 URLs proposes neighbours only, and that is told exactly."""
    pages = [{"url": f"http://a.example/x{n}y/z{n}", "d": "login"} for n in range(300)]
    stats = learn_urls(pages, cluster_column="d").stats
    assert (1, 300 * 299 // 2 - 299) == (stats["large_clusters"], stats["pairs_not_proposed"])


def test_saved_rules_come_back(tmp_path: Path) -> None:
    """With their evidence and settings; and they bring the site's URLs to one for each content."""
    found = learn_urls(site(), cluster_column="content")
    found.save(tmp_path / "rules.json")
    again = UrlRules.load(tmp_path / "rules.json")
    assert found == again
    forms: dict[str, set[str]] = {}
    for page in site():
        forms.setdefault(page["content"], set()).add(again.apply(page["url"]))
    assert {1} == {len(each) for each in forms.values()}


def test_rules_of_another_recipe_are_refused(tmp_path: Path) -> None:
    """The fields that differ are named."""
    learn_urls(site(), cluster_column="content").save(tmp_path / "rules.json")
    with pytest.raises(ConfigError, match="scheme=True there, False here"):
        UrlRules.load(tmp_path / "rules.json", CanonicalUrl(scheme=False))


def test_a_parameter_that_the_recipe_keeps_is_not_dropped() -> None:
    """Whatever the evidence says; the others are."""
    found = learn_urls(site(), cluster_column="content", recipe=CanonicalUrl(keep="REF,p"))
    assert {"drop ;v"} == {str(rule) for rule in found.rules if rule.parameters}


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"format": "other"}', '{"format": "nearsame-url-rules", "version": 2}',
             '{"format": "nearsame-url-rules", "version": 1, "recipe": {}, "rules": [{"host": 1}], "rejected": []}'],
)  # fmt: skip
def test_a_file_that_holds_no_rules_is_refused(text: str, tmp_path: Path) -> None:
    """Each with a hint of what to do."""
    (tmp_path / "rules.json").write_text(text, "utf-8")
    with pytest.raises(ConfigError):
        UrlRules.load(tmp_path / "rules.json")


HOST_RULES = st.builds(
    UrlRule,
    host=st.sampled_from(["", "a.example"]),
    folder=st.sampled_from(["", "/a", "/"]),
    find=st.sampled_from(["/b", "?a=", "a/", "1", "", "//"]),
    replace=st.sampled_from(["", "a", "/"]),
).map(lambda rule: rule if len(rule.find) > len(rule.replace) else UrlRule(rule.host, parameters=("a", ";b")))
PATHS = st.lists(st.sampled_from(["/", "a", "b", ";b=1", "?", "&", "a=1", "=", "1", "#!x", "."]), max_size=10).map(
    "".join
)


@given(rules=st.lists(HOST_RULES, max_size=4), path=PATHS)
def test_applying_rules_is_idempotent_and_stays_on_the_host(rules: list[UrlRule], path: str) -> None:
    """Whatever the rules, once is enough."""
    made = UrlRules(CanonicalUrl(), tuple(rules))
    once = made.apply(f"http://a.example/{path}")
    assert once == made.apply(once)
    assert "a.example" == split_url(once)[0]


@given(rules=st.lists(HOST_RULES, max_size=4), url=st.text())
def test_rules_do_no_harm_to_any_text(rules: list[UrlRule], url: str) -> None:
    """What is not a URL comes back as it is."""
    made = UrlRules(CanonicalUrl(), tuple(rules))
    assert made.apply(url) == made.apply(made.apply(url))
    if "://" not in url and ns.canonical_url(url) == url:
        assert url == made.apply(url)


def test_a_parameter_is_dropped_by_its_whole_name() -> None:
    """Not one that begins so, in the query or in the path."""
    url = "https://a.example/x;vv=1;v/y?va=1&v=2#!v"
    assert "https://a.example/x;vv=1/y?va=1#!v" == without_parameters(url, ("v", ";v"))


def test_pages_without_url_and_repeated_ones_are_counted() -> None:
    """Neither is evidence."""
    pages = [{"url": "http://a.example/", "d": "1"}, {"url": "http://a.example/", "d": "2"}, {"url": None, "d": "3"}]
    stats = learn_urls(pages, cluster_column="d").stats
    assert (3, 1, 1) == (stats["pages"], stats["without_url"], stats["repeated_urls"])


def test_clusters_come_from_the_folder_of_a_run(tmp_path: Path) -> None:
    """What dedup wrote says which pages are alike; a folder about other sources is refused."""
    crawl = tmp_path / "crawl.jsonl"
    crawl.write_text("".join(json.dumps(page) + "\n" for page in site()), "utf-8")
    ns.dedup(str(crawl), text_column="text").write(tmp_path / "clean")
    assert PLANTED == rules_of(learn_urls(str(crawl), clusters=tmp_path / "clean"))
    other = tmp_path / "other.jsonl"
    other.write_text('{"url": "http://a.example/", "text": "a"}\n', "utf-8")
    with pytest.raises(ConfigError, match="is not among the sources"):
        learn_urls(str(other), clusters=tmp_path / "clean")
    with pytest.raises(SourceError, match="holds no clusters"):
        learn_urls(str(crawl), clusters=tmp_path)


def test_clusters_of_a_source_that_has_changed_are_refused(tmp_path: Path) -> None:
    """The same pages in another order stand elsewhere; a folder of pages may have one more, or one less."""
    crawl = tmp_path / "crawl.jsonl"
    lines = [json.dumps(page) + "\n" for page in site()]
    crawl.write_text("".join(lines), "utf-8")
    ns.dedup(str(crawl), text_column="text").write(tmp_path / "clean")
    crawl.write_text("".join(reversed(lines)), "utf-8")
    with pytest.raises(SourceError, match=r"is not what the run of .*clean read") as caught:
        learn_urls(str(crawl), clusters=tmp_path / "clean")
    assert "Run dedup on it again" in caught.value.hint
    with pytest.raises(SourceError, match="is not what the run"):
        ns.mirrors(str(crawl), clusters=tmp_path / "clean")
    (tmp_path / "clean" / "sources.parquet").unlink()
    with pytest.raises(SourceError, match="holds no sources"):
        ns.mirrors(str(crawl), clusters=tmp_path / "clean")


def test_a_column_that_is_missing_is_named() -> None:
    """The column of URLs, and that of clusters."""
    with pytest.raises(ColumnError, match="'link'"):
        learn_urls(site(), url_column="link")
    with pytest.raises(ColumnError, match="'digest'"):
        learn_urls(site(), cluster_column="digest")
    with pytest.raises(ConfigError, match="they exclude each other"):
        learn_urls(site(), cluster_column="content", clusters="x")


def test_a_list_of_urls_is_no_crawl(tmp_path: Path) -> None:
    """Without content nothing can be learnt, and the message says so, not that a column is missing."""
    urls = tmp_path / "urls.txt"
    urls.write_text("http://a.example/\n")
    with pytest.raises(ConfigError, match="is a list of URLs"):
        learn_urls(urls)
