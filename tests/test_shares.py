"""Similarities are shown by one rule."""

from fractions import Fraction
from pathlib import Path

from nearsame import Jaccard, Match, dedup, plan_simhash, report
from nearsame.shares import cut


def test_a_number_with_a_point_is_cut_like_the_share_that_it_stands_for() -> None:
    """.57 * 10,000 is less than 5,700 in binary: what is at a threshold must not look as if it were below it."""
    shares = [Fraction(part, whole) for whole in range(1, 201) for part in range(whole + 1)]
    for digits in (3, 4):
        exact = [cut(share, digits) for share in shares]
        assert [cut(float(share), digits) for share in shares] == exact
        assert all(
            Fraction(shown) <= share < Fraction(shown) + Fraction(1, 10**digits)
            for shown, share in zip(exact, shares, strict=True)
        )


def test_every_face_shows_a_similarity_alike() -> None:
    """57 of 100 is .57 for a match of an index and step by step in a report; all of a text is 100 % of it."""
    match = Match("a", 0.57, "jaccard", ("near",))
    assert "0.5700 jaccard" in repr(match)
    shared = [f"same{at}" for at in range(57)]
    a, b = " ".join([*shared, "left"]), " ".join([*shared, *(f"right{at}" for at in range(42))])
    [pair] = report(dedup([a, b], method=Jaccard(threshold="0.57", shingle_size=1)), texts=False).pairs
    assert "jaccard 0.57 (verified); at least 0.57 counts." == dict(pair.reasons)["Over the line?"]
    other = report(dedup([f"{'x' * 300} y", f"{'z' * 300} y"], method=Jaccard(threshold="0.3", shingle_size=1)))
    assert "No: 99.3 % of a and 99.3 % of b stand alone." == dict(other.beside[0].reasons)["The same words?"]


def test_a_plan_that_finds_nearly_all_says_so_in_plain_figures() -> None:
    """And not 1e+02 %."""
    shown = plan_simhash(k=24, threshold=0.9)._repr_html_()
    assert 0.995 < plan_simhash(k=24, threshold=0.9).at_threshold < 1
    assert "e+" not in shown


def test_a_page_calls_all_only_what_is_all(tmp_path: Path) -> None:
    """299 of 300 are not 100 % of a host."""
    pages = [{"text": "a text of a page", "url": f"https://a.example/{at}"} for at in range(300)]
    dedup([*pages, {"text": "another one", "url": "https://b.example"}]).report(tmp_path / "r.html")
    assert "299 (99 %)" in (tmp_path / "r.html").read_text("utf-8")
