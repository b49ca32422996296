"""What speaks for two pages being the same."""

from collections import defaultdict
from urllib.parse import urlsplit

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import given, settings

from nearsame.stages.pairs import evidence
from nearsame.stages.pairs.evidence import KINDS, hosts, kinds, mirrored, named, paths, same

_URLS = st.none() | st.builds(
    "http://{}.org/{}".format, st.sampled_from(["a", "b", "c"]), st.sampled_from(["", "1", "2", "3?q"])
)
_PAIRS = st.lists(st.tuples(_URLS, _URLS), max_size=40)


def _columns(pairs: list[tuple[str | None, str | None]]) -> tuple[pa.Array, pa.Array]:
    return pa.array([a for a, _ in pairs], pa.string()), pa.array([b for _, b in pairs], pa.string())


@settings(deadline=None)
@given(_PAIRS, st.integers(1, 3))
def test_mirrored_pairs_are_those_of_hosts_that_share_enough_paths(
    pairs: list[tuple[str | None, str | None]], least: int
) -> None:
    """Against a plain count of the different paths of each two hosts."""
    shared: dict[frozenset[str | None], set[str]] = defaultdict(set)
    at = []
    for a, b in pairs:
        x, y = urlsplit(a or ""), urlsplit(b or "")
        fits = bool(a and b) and x.hostname != y.hostname and (x.path, x.query) == (y.path, y.query)
        at.append((frozenset((x.hostname, y.hostname)), fits))
        if fits:
            shared[at[-1][0]].add(f"{x.path}?{x.query}")
    expected = [fits and len(shared[two]) >= least for two, fits in at]
    assert expected == mirrored(*_columns(pairs), least).tolist()


@given(_PAIRS)
def test_the_same_is_symmetric_and_never_unknown(pairs: list[tuple[str | None, str | None]]) -> None:
    """Two unknown URLs are not the same."""
    a, b = _columns(pairs)
    assert [x is not None and x == y for x, y in pairs] == same(a, b).tolist()
    assert same(a, b).tolist() == same(b, a).tolist()


def test_one_names_the_other_or_both_name_the_same() -> None:
    """In either direction; what neither names is no evidence."""
    cases = [
        ("v", "u", None, "v", True),
        (None, "u", "u", "v", True),
        ("w", "u", "w", "v", True),
        ("w", "u", "x", "v", False),
        (None, "u", None, "u", False),
        (None, None, None, None, False),
    ]
    columns = [pa.array([case[i] for case in cases], pa.string()) for i in range(4)]
    assert [case[4] for case in cases] == named(*columns).tolist()


def test_hosts_and_paths() -> None:
    """Users, ports, IPv6, capitals; what has no host has no path either."""
    urls = [
        "HTTP://user:pw@Host.ORG:8080/a/b?c=d#e", "https://[::1]:80/", "//x.org", "mailto:a@b", "/a", "", None,
        "http:///a", "http://a.org?x@y",
    ]  # fmt: skip
    assert ["host.org", "[::1]", "x.org", None, None, None, None, None, "a.org"] == hosts(pa.array(urls)).to_pylist()
    expected = ["/a/b?c=d", "/", "", None, None, None, None, "/a", "?x@y"]
    assert expected == paths(pa.array(urls)).to_pylist()


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), max_size=8))
def test_any_text_has_a_host_or_none(texts: list[str]) -> None:
    """Nothing raises, and nothing is lost."""
    column = pa.array(texts, pa.string())
    assert len(texts) == len(hosts(column)) == len(paths(column)) == len(mirrored(column, column))


@given(st.lists(st.sets(st.sampled_from(KINDS)), max_size=10))
def test_kinds_stand_in_the_order_of_what_they_prove(rows: list[set[str]]) -> None:
    """Strongest first, each once."""
    holds = {kind: np.array([kind in row for row in rows], np.bool_) for kind in reversed(KINDS)}
    assert [[kind for kind in KINDS if kind in row] for row in rows] == kinds(holds).to_pylist()


def test_the_lists_have_the_declared_type() -> None:
    """Even where there are none."""
    assert evidence.LISTS == kinds({"url-usual": np.zeros(0, np.bool_)}).type
