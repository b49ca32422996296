"""Prefix pairs against a slow oracle: all pairs of sites, all pairs of prefixes."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.errors import ConfigError
from nearsame.web.prefixes import MirrorThresholds, Pair, Segments, Sites, find_pairs
from tests.examples import share

Contents = dict[Segments, int]


def prefixes(contents: Contents) -> list[Segments]:
    """All that paths begin with, the whole paths included."""
    return sorted({path[:length] for path in contents for length in range(len(path) + 1)})


def below(contents: Contents, prefix: Segments) -> Contents:
    """What is left of the paths below a prefix."""
    return {path[len(prefix) :]: content for path, content in contents.items() if path[: len(prefix)] == prefix}


def oracle(sites: list[Contents], how: MirrorThresholds) -> list[Pair]:
    """Every prefix of every site with every other: those that hold, with none above them that does."""
    places = [(site, prefix) for site, contents in enumerate(sites) for prefix in prefixes(contents)]
    holding = {}
    for (a, alpha), (b, beta) in combinations(sorted(places), 2):
        one, two = below(sites[a], alpha), below(sites[b], beta)
        common = one.keys() & two.keys()
        agreeing = sum(one[path] == two[path] for path in common)
        pair = Pair(a, alpha, b, beta, len(common), agreeing, len(one), len(two))
        if how.hold(pair):
            holding[a, alpha, b, beta] = pair
    return [pair for key, pair in holding.items() if not any(above in holding for above in parents(*key))]


def parents(a: int, alpha: Segments, b: int, beta: Segments) -> list[tuple[int, Segments, int, Segments]]:
    """The prefix pairs above one: both without the same last segment, again and again."""
    found = []
    while alpha and beta and alpha[-1] == beta[-1]:
        alpha, beta = alpha[:-1], beta[:-1]
        found.append((a, alpha, b, beta) if (a, alpha) <= (b, beta) else (b, beta, a, alpha))
    return found


SEGMENT = st.sampled_from(["a", "b", "c"])
PATH = st.lists(SEGMENT, max_size=4).map(tuple)
SITE = st.dictionaries(PATH, st.integers(0, 3), max_size=12)
HOW = st.builds(
    MirrorThresholds,
    min_common=st.integers(2, 4),
    min_agreement=st.sampled_from([0.5, 0.8, 1.0]),
    min_share=st.sampled_from([0.2, 0.5, 1.0]),
    most=st.just(10_000),
)


@settings(max_examples=share(250))
@given(sites=st.lists(SITE, min_size=1, max_size=3), how=HOW)
def test_what_is_found_is_what_all_pairs_of_prefixes_say(sites: list[Contents], how: MirrorThresholds) -> None:
    """On sites drawn at random, the same site with itself included."""
    assert sorted(oracle(sites, how)) == sorted(find_pairs(Sites(sites), how)[0])


@settings(max_examples=share(200))
@given(
    base=st.dictionaries(PATH, st.integers(0, 1000), min_size=4, max_size=12),
    alpha=PATH, beta=PATH, lost=st.sets(st.integers(0, 11), max_size=3), other=SITE, how=HOW,
)  # fmt: skip
def test_planted_mirrors_are_found_as_well(
    *, base: Contents, alpha: Segments, beta: Segments, lost: set[int], other: Contents, how: MirrorThresholds
) -> None:
    """One tree below two prefixes, some of its pages lost, among other pages."""
    left = [item for number, item in enumerate(sorted(base.items())) if number not in lost]
    one = {(*alpha, *path): content for path, content in base.items()} | {("other", *p): c for p, c in other.items()}
    two = {(*beta, *path): content for path, content in left}
    assert sorted(oracle([one, two], how)) == sorted(find_pairs(Sites([one, two]), how)[0])


def test_a_page_on_very_many_sites_is_bounded_and_counted() -> None:
    """A "not found" page on 5,000 sites proposes neighbours, makes no mirror, and the rest is counted exactly."""
    sites: list[Contents] = [{("404.html",): -1, (f"own-{n}",): n} for n in range(5000)]
    found, counts = find_pairs(Sites(sites), MirrorThresholds(min_common=2))
    assert [] == found
    proposed = 3 * 5000 - 1 - 2 - 3
    assert (1, 5000, 5000 * 4999 // 2 - proposed) == (
        counts.large_buckets, counts.largest_bucket, counts.pairs_not_proposed,
    )  # fmt: skip


def test_very_many_copies_of_a_site_are_a_chain() -> None:
    """Of 300 sites with the same 20 pages each is joined with its neighbours."""
    sites = [{("docs", str(n)): n for n in range(20)} for _ in range(300)]
    found, counts = find_pairs(Sites(sites), MirrorThresholds())
    assert {(n, n + 1) for n in range(299)} <= {(pair.a, pair.b) for pair in found}
    assert 20 == counts.large_buckets


def test_sites_that_share_boilerplate_only_are_no_mirrors() -> None:
    """The same imprint and terms on both, everything else their own."""
    legal = {("legal", name): number for number, name in enumerate(["imprint", "terms"], 1000)}
    one = {(f"page-{n}",): n for n in range(50)} | legal
    two = {(f"page-{n}",): 100 + n for n in range(50)} | legal
    assert [] == find_pairs(Sites([one, two]), MirrorThresholds())[0]


@pytest.mark.parametrize("wrong", [{"min_common": 1}, {"min_agreement": 0}, {"min_share": 1.5}, {"most": 1}])
def test_thresholds_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    """The value is named."""
    with pytest.raises(ConfigError, match="="):
        MirrorThresholds(**wrong)
