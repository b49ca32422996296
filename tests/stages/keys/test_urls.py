"""Canonical URLs: each rule by example, and what holds for any text at all."""

import gzip
import random
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.errors import ConfigError
from nearsame.recipes.urls import DEGREE_OF, DEGREES, RULES, CanonicalUrl
from nearsame.stages.keys import urls
from nearsame.stages.keys.surt import surt
from nearsame.stages.keys.urls import Canonical, canonical_url, host_of, pieces, whatwg
from tests.examples import share

SESSION = "0123456789abcdef0123456789abcdef"

EXAMPLES = [  # the rule, what comes in, what comes out, what comes out without it
    ("scheme", "http://example.org/a", "https://example.org/a", "http://example.org/a"),
    ("scheme", "http://example.org:8080/a", "http://example.org:8080/a", "http://example.org:8080/a"),
    ("root_dot", "https://example.org./a", "https://example.org/a", "https://example.org./a"),
    ("ports", "https://example.org:443/a", "https://example.org/a", "https://example.org:443/a"),
    ("ports", "http://example.org:0080/a", "https://example.org/a", "http://example.org:80/a"),
    ("percent", "https://example.org/%7ea%c3%a4", "https://example.org/~a%C3%A4", "https://example.org/%7ea%c3%a4"),
    ("slashes", "https://example.org//a///b", "https://example.org/a/b", "https://example.org//a///b"),
    ("slashes", "https://example.org/a//", "https://example.org/a", "https://example.org/a//"),
    (
        "slashes",
        "https://example.org/w/http://a.example",
        "https://example.org/w/http://a.example",
        "https://example.org/w/http://a.example",
    ),
    ("documents", "https://example.org/a/Index.HTML?b", "https://example.org/a?b", "https://example.org/a/Index.HTML?b"),
    ("documents", "https://example.org/wiki/index.php", "https://example.org/wiki", "https://example.org/wiki/index.php"),
    ("documents", "https://example.org/default.aspx", "https://example.org/", "https://example.org/default.aspx"),
    ("documents", "https://example.org/index.xml", "https://example.org/index.xml", "https://example.org/index.xml"),
    ("documents", "https://example.org/index", "https://example.org/index", "https://example.org/index"),
    ("trailing_slash", "https://example.org/a/", "https://example.org/a", "https://example.org/a/"),
    ("fragments", "https://example.org/a#b", "https://example.org/a", "https://example.org/a#b"),
    ("fragments", "https://example.org/a#!b", "https://example.org/a#!b", "https://example.org/a#!b"),
    ("states", "https://example.org/a#page=2", "https://example.org/a", "https://example.org/a#page=2"),
    ("fragments", "https://example.org/a#:~:text=b,c=d", "https://example.org/a", "https://example.org/a#:~:text=b,c=d"),
    ("fragments", "https://example.org/a#utm_id=1", "https://example.org/a", "https://example.org/a#utm_id=1"),
    ("entities", "https://example.org/?a&amp;amp;b", "https://example.org/?a&b", "https://example.org/?a&amp;amp;b"),
    (
        "sessions",
        f"https://example.org/a;jsessionid={SESSION}/b?sid={SESSION}&c",
        "https://example.org/a/b?c",
        f"https://example.org/a;jsessionid={SESSION}/b?c&sid={SESSION}",
    ),
    (
        "sessions",
        "https://example.org/(S(0123456789abcdefghijklmn))/a?PHPSESSID=1",
        "https://example.org/a",
        "https://example.org/(S(0123456789abcdefghijklmn))/a?PHPSESSID=1",
    ),
    ("sessions", "https://example.org/?sid=42", "https://example.org/?sid=42", "https://example.org/?sid=42"),
    (
        "sessions",
        "https://example.org/?sid=550e8400-e29b-41d4-a716-446655440000&a",
        "https://example.org/?a",
        "https://example.org/?a&sid=550e8400-e29b-41d4-a716-446655440000",
    ),
    (
        "tracking",
        "https://example.org/?gad_campaignid=1&mibextid=2&spm=3",
        "https://example.org/",
        "https://example.org/?gad_campaignid=1&mibextid=2&spm=3",
    ),
    ("tracking", "https://example.org/?UTM_x=1&fbclid=2", "https://example.org/", "https://example.org/?UTM_x=1&fbclid=2"),
    ("empty_query", "https://example.org/a?&", "https://example.org/a", "https://example.org/a?&"),
    ("query_order", "https://example.org/?b=1&2&1", "https://example.org/?2&1&b=1", "https://example.org/?b=1&2&1"),
    ("query_order", "https://example.org/?b=1&a=2&a=1", "https://example.org/?a=2&a=1&b=1", "https://example.org/?b=1&a=2&a=1"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "url", "expected", "without"), EXAMPLES)
def test_each_rule_does_what_it_says_and_can_be_switched_off(rule: str, url: str, expected: str, without: str) -> None:
    """One form with the rule, another without it."""
    assert expected == canonical_url(url)
    assert without == canonical_url(url, CanonicalUrl().without(rule))


@pytest.mark.parametrize(
    ("url", "another"),
    [
        ("https://blog.example/?s=covid19vaccination", "https://blog.example/?s=playstation5console"),
        ("https://blog.example/?s=covid19vaccination", "https://blog.example/"),
        ("https://shop.example/?sid=1234567890123456789", "https://shop.example/?sid=9876543210987654321"),
        ("https://app.example/#/users/1", "https://app.example/#/users/2"),
        ("https://wiki.example/wiki//dev/null", "https://wiki.example/wiki/dev/null"),
        ("https://wiki.example/wiki/Index.php", "https://wiki.example/wiki"),
    ],
)
def test_two_pages_are_not_one_by_a_guess(url: str, another: str) -> None:
    """Words that people searched for, numbers of shelves, routes of an application, titles of a wiki."""
    assert canonical_url(url) != canonical_url(another)


@pytest.mark.parametrize(("rule", "url", "expected", "without"), EXAMPLES)
def test_a_rule_is_applied_up_to_its_degree(rule: str, url: str, expected: str, without: str) -> None:
    """What is less sure than what was asked for changes nothing."""
    for number, degree in enumerate(DEGREES):
        is_sure = number >= DEGREES.index(DEGREE_OF[rule])
        traced = Canonical(CanonicalUrl(up_to=degree)).trace(url)
        assert (rule in traced.rules) == (is_sure and expected != without)
        assert all(DEGREES.index(DEGREE_OF[each]) <= number for each in traced.rules)


def test_degrees_are_those_of_the_least_sure_rule() -> None:
    """And what no recipe knows, as a learnt rule, is a guess."""
    recipe = CanonicalUrl()
    assert ["standard", "standard", "usual", "guess", "guess"] == [
        recipe.degree(rules) for rules in ([], ["ports"], ["ports", "scheme"], ["scheme", "sessions"], ["learnt"])
    ]
    assert "standard" == CanonicalUrl(up_to="standard").at_most("guess").up_to
    assert set(RULES) == {name for name, value in recipe if isinstance(value, bool) or name == "drop"}


def test_www_is_another_host_unless_it_is_asked_for() -> None:
    """Off by default; and what is left must still be a name."""
    assert "https://www.example.org/" == canonical_url("http://www.example.org")
    recipe = CanonicalUrl(www=True)
    assert "https://example.org/" == canonical_url("http://www.www.example.org", recipe)
    assert "https://www.org/" == canonical_url("http://www.org", recipe)
    assert "https://10.0.0.1/" == canonical_url("http://10.0.0.1/", recipe)


def test_a_host_is_written_in_ascii_or_in_its_own_letters() -> None:
    """Both ways lead to the same host."""
    letters = CanonicalUrl(idn="unicode")
    assert "https://xn--bcher-kva.example/" == canonical_url("http://BÜCHER.example")
    assert "https://bücher.example/" == canonical_url("http://xn--bcher-kva.example", letters)
    assert "https://xn--bcher-kva.example/" == canonical_url(canonical_url("http://bücher.example", letters))


def test_parameters_are_dropped_and_kept_by_name() -> None:
    """What is kept is kept by every rule; a star stands for anything."""
    recipe = CanonicalUrl(drop="ref, from*", keep="utm_id,sid,jsessionid")
    url = f"https://example.org/a;jsessionid=1?utm_id=7&utm_source=x&REF=1&from_a=2&sid={SESSION}&b"
    assert f"https://example.org/a;jsessionid=1?b&sid={SESSION}&utm_id=7" == canonical_url(url, recipe)


def test_a_rule_that_there_is_not_cannot_be_switched_off() -> None:
    """A misspelt rule is an error that names the rules."""
    with pytest.raises(ConfigError, match="'port' is not a rule"):
        CanonicalUrl().without("port")


@pytest.mark.parametrize(
    "text", ["", "x", "example.org/a", "http://", "http://a b/", "http://[1/", "\ud800", "//a/b", "http://a:99999/"]
)
def test_what_is_no_url_stays_as_it_is(text: str) -> None:
    """And it is known to be none."""
    assert (text, (), False) == Canonical(CanonicalUrl()).trace(text)


def test_other_schemes_get_no_rule() -> None:
    """Only the normal form, which never fails."""
    assert ["mailto:a@example.org", "ftp://example.org/a/#b", "data:x"] == [
        canonical_url(url) for url in ("MAILTO:a@example.org", "FTP://Example.org:21/a/#b", "data:x  ")
    ]


def test_rules_that_changed_something_are_told() -> None:
    """In the order in which they did, each once."""
    traced = Canonical(CanonicalUrl()).trace("http://example.org:80//a/index.html?utm_id=1&b#c")
    assert ("ports", "slashes", "documents", "trailing_slash", "tracking", "fragments", "scheme") == traced.rules


def test_a_column_keeps_its_nulls_and_its_length() -> None:
    """Chunked or not, null stays null."""
    urls = pa.chunked_array([["http://example.org/#a", None], ["no url"]])
    assert ["https://example.org/", None, "no url"] == Canonical(CanonicalUrl()).column(urls).to_pylist()


URLISH = st.lists(
    st.sampled_from(
        [
            *(
                "http",
                "https",
                "HTTP",
                "ftp",
                "://",
                ":",
                "/",
                "//",
                "\\",
                "?",
                "#",
                "#!",
                "&",
                "=",
                ";",
                ".",
                "..",
                "%",
            ),
            *(
                "%2e",
                "%2F",
                "%7E",
                "%25",
                "%c3",
                "%00",
                "www.",
                "example.org",
                "bücher",
                "xn--",
                "a",
                "B",
                "1",
                "@",
                "[::1]",
            ),
            *("index.html", "utm_a", "sid", "PHPSESSID", ";jsessionid=1", ":80", ":443", "\t", " ", "\ud800", SESSION),
            *("(S(0123456789abcdefghijklmn))", "127.1", "0x7f", "🦉", "\u00ad", "。"),
        ]
    ),
    max_size=14,
).map("".join)
ANY = st.one_of(st.text(), URLISH, URLISH.map("http://".__add__), URLISH.map("http://www.example.org/".__add__))
RECIPES = st.builds(
    CanonicalUrl,
    idn=st.sampled_from(["ascii", "unicode"]),
    drop=st.sampled_from([(), ("a",), ("*",)]),
    keep=st.sampled_from([(), ("sid",)]),
    up_to=st.sampled_from(DEGREES),
    **{rule: st.booleans() for rule in RULES if rule != "drop"},
)


@settings(deadline=None, max_examples=share(600))
@given(url=ANY, recipe=RECIPES)
def test_any_text_has_one_canonical_form(url: str, recipe: CanonicalUrl) -> None:
    """Nothing raises, and the canonical form of a canonical form is itself."""
    once = canonical_url(url, recipe)
    assert once == canonical_url(once, recipe)


@pytest.mark.parametrize(
    "url", ["http://x.example/?amp;c=3&a=1", "https://x.example/?amp;amp;b=1&a=2", "http://x/?b=1&amp;a=2"]
)
def test_what_stands_behind_an_ampersand_now_is_read_again(url: str) -> None:
    """A name that began with the rest of one is another name there."""
    once = canonical_url(url)
    assert "amp;" not in once
    assert once == canonical_url(once)


@settings(deadline=None, max_examples=share(400))
@given(url=ANY, recipe=RECIPES)
def test_a_round_that_is_spared_would_change_nothing(url: str, recipe: CanonicalUrl) -> None:
    """The form and the rules that made it are those of all rounds."""
    expected = Canonical(recipe).trace(url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(urls, "_at_rest", lambda *_: False)
        assert expected == Canonical(recipe).trace(url)


@settings(deadline=None, max_examples=share(400))
@given(url=ANY, recipe=RECIPES.filter(lambda recipe: not recipe.www))
def test_no_rule_merges_two_hosts(url: str, recipe: CanonicalUrl) -> None:
    """Without `www` the host is the one of the normal form; the dot of the root is not part of it."""
    assert host_of(url).rstrip(".") == host_of(canonical_url(url, recipe)).rstrip(".")


@settings(deadline=None, max_examples=share(500))
@given(url=ANY)
def test_without_rules_only_the_normal_form_is_left(url: str) -> None:
    """Every rule off: what the parser says of it, where it says the same twice."""
    off = CanonicalUrl(ports=False, **{rule: False for rule in RULES if rule not in ("drop", "ports")})
    normal = whatwg(url)
    expected = url if normal is None else normal
    assert whatwg(canonical_url(url, off)) == whatwg(expected)


@settings(deadline=None, max_examples=share(500))
@given(url=ANY)
def test_pieces_join_to_the_same_url(url: str) -> None:
    """Cutting loses nothing."""
    href = whatwg(url)
    if href is not None and href.startswith(("http://", "https://")):
        assert href == str(pieces(href))


@settings(deadline=None, max_examples=share(500))
@given(url=ANY)
def test_surt_never_raises(url: str) -> None:
    """Whatever the text, something comes out of it."""
    assert isinstance(surt(url), str)


# After the examples that describe the form: the Internet Archive's key maker, and Heritrix' glossary.
SURTS = [
    (None, "-"),
    ("", "-"),
    ("dns:example.org", "dns:example.org"),
    ("warcinfo:foo.warc.gz", "warcinfo:foo.warc.gz"),
    ("filedesc://foo.arc.gz", "filedesc://foo.arc.gz"),
    ("mailto:foo@example.org", "mailto:foo@example.org"),
    ("http://www.example.org/", "org,example)/"),
    ("http://www34.example.org/", "org,example)/"),
    ("http://example.org/goo/", "org,example)/goo"),
    ("http://example.org/goo/?", "org,example)/goo"),
    ("http://example.org/goo/?b&a", "org,example)/goo?a&b"),
    ("http://example.org/goo/?a=2&b&a=1", "org,example)/goo?a=1&a=2&b"),
    (f"http://example.org/i.php?PHPSESSID={SESSION}&action=profile;u=4", "org,example)/i.php?action=profile;u=4"),
    ("whois://whois.example.org.il/name.co.il", "il,org,example,whois)/name.co.il"),
    ("http://example.org/v.gif?&r=http%3A//a.example/x%20y&b=Q%28R%29", "org,example)/v.gif?&b=q(r)&r=http://a.example/x%20y"),
    ("https://example.org:80/", "org,example:80)/"),
    ("https://www.example.org:443/", "org,example)/"),
    ("http://host/%25%32%35%25%32%35", "host)/%25%25"),
    ("http://host.example//twoslashes?more//slashes", "example,host)/twoslashes?more//slashes"),
    ("http://3279880203/blah", "11,0,127,195)/blah"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "expected"), SURTS)
def test_surt_is_that_of_archives(url: str | None, expected: str) -> None:
    """The published examples, on example hosts."""
    assert expected == surt(url)


def test_surt_comes_with_scheme_comma_and_www() -> None:
    """The forms by which a prefix stands for a whole domain."""
    assert "http://(com,example,)/" == surt("http://www.example.com/", with_scheme=True, trailing_comma=True)
    assert "com,example,www)/" == surt("http://www.example.com/", www=False)


def real_urls(data_dir: Path) -> list[tuple[str, str]]:
    """Crawled URLs, and the groups of near-duplicates that they are in."""
    with gzip.open(data_dir / "web" / "clueweb12-url-groups.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1:]
    return [(row[1], row[2]) for row in rows]


def test_real_urls_changed_at_random_behave(data_dir: Path) -> None:
    """Letters of crawled URLs dropped, doubled and swapped: the laws hold."""
    chance, letters = random.Random(1), [*"/?#&=%;:.@[]\\ aA0", "%2", "www.", "ü", "\x00"]
    transform = Canonical(CanonicalUrl())
    for url, _ in chance.sample(real_urls(data_dir), 3000):
        changed = list(url)
        for _ in range(chance.randrange(4)):
            place = chance.randrange(len(changed))
            changed[place : place + chance.randrange(3)] = chance.choice(letters)
        once = transform("".join(changed))
        assert once == transform(once)
        assert host_of("".join(changed)).rstrip(".") == host_of(once).rstrip(".")


@pytest.mark.slow
def test_canonical_urls_are_near_duplicates_on_a_real_crawl(data_dir: Path) -> None:
    """Of the pairs with one canonical URL nine in ten are listed as near-duplicates by others, from content alone."""
    groups: dict[str, list[str]] = {}
    transform = Canonical(CanonicalUrl())
    for url, group in real_urls(data_dir):
        groups.setdefault(transform(url), []).append(group)
    pairs = [(a, b) for each in groups.values() for i, a in enumerate(each) for b in each[:i]]
    right = sum(a == b != "" for a, b in pairs)
    assert len(pairs) >= 550
    assert right / len(pairs) >= 0.9
    assert len({urlsplit(url).hostname for url in groups}) > 1000
