"""Learnt URL rules in proofs: applied by other code than the run's, to the same URLs."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame.proofs.learnt import learnt_form
from nearsame.stages.keys.urls import Canonical
from nearsame.web.rules import UrlRule

pytest.importorskip("can_ada")

HOSTS = ("a.org", "b.org:8080")
_TOKENS = st.sampled_from(["a", "b", "ref", "id", "print", "x-y", "", "é", "1"])
_PARTS = st.lists(_TOKENS, max_size=4)


@st.composite
def urls(draw: st.DrawFn) -> str:
    """URLs of few words, so that rules are about them."""
    path = "/".join(draw(_PARTS)) + draw(st.sampled_from(["", ";b", ";a=1;b=2", "/", ".html"]))
    query = "&".join(
        f"{name}={value}" if value else name for name, value in draw(st.lists(st.tuples(_TOKENS, _TOKENS), max_size=3))
    )
    fragment = draw(st.sampled_from(["", "", "#top", "#/users/1"]))
    scheme, host = draw(st.sampled_from(["http", "https", "ftp"])), draw(st.sampled_from(HOSTS))
    return draw(
        st.sampled_from([f"{scheme}://{host}/{path}{f'?{query}' if query else ''}{fragment}", path, f"//{host}"])
    )


@st.composite
def rules(draw: st.DrawFn) -> UrlRule:
    """A rule of any kind."""
    where: dict[str, Any] = {
        "host": draw(st.sampled_from(["", *HOSTS])),
        "folder": draw(st.sampled_from(["", "/a", "/print"])),
    }
    if not where["host"]:
        where["not_hosts"] = tuple(draw(st.lists(st.sampled_from(HOSTS), max_size=1)))
    if draw(st.booleans()):
        return UrlRule(
            **where,
            parameters=tuple(
                draw(st.lists(st.sampled_from(["a", "b", "ref", "id", ";b", ";a", ""]), min_size=1, max_size=2))
            ),
        )
    find = draw(st.sampled_from(["print/", "a", "/a/", "?id=", "&b=", "x-", "=1", "b/a", "/"]))
    return UrlRule(**where, find=find, replace=draw(st.sampled_from(["", "_", "a"])))


@given(st.lists(rules(), max_size=4), st.lists(urls(), max_size=8))
def test_rules_are_applied_as_the_run_applies_them(learnt: list[UrlRule], given_urls: list[str]) -> None:
    """To any URL, in the same order, as often."""
    whole = ns.UrlRules(ns.CanonicalUrl(), tuple(learnt))
    form = learnt_form(json.loads(json.dumps(whole.record())), Canonical(whole.recipe))
    assert form is not None
    assert [whole.apply(url) for url in given_urls] == [form(url) for url in given_urls]


def _output(home: Path) -> Path:
    pages = []
    for number in range(12):
        text = " ".join(f"w{number}x{word}" for word in range(20))
        pages += [
            {"id": f"{number}{kind}", "url": f"http://a.org/{kind}p{number}?ref={number % 5}", "text": text}
            for kind in ("", "print/")
        ]
    source = home / "pages.jsonl"
    source.write_text("".join(json.dumps(page) + "\n" for page in pages))
    learnt = ns.UrlRules(ns.CanonicalUrl(), (UrlRule("a.org", parameters=("ref",)), UrlRule("", find="print/")))
    found = ns.dedup(str(source), use="url,text", urls=learnt)
    assert 12 == {layer["layer"]: layer["removed"] for layer in found.stats.layers}["url-guess"]
    found.write(home / "out")
    return home / "out"


def _changed(home: Path, urls_of_run: Any) -> ns.Verification:
    place = home / "stats.json"
    stats = json.loads(place.read_text("utf-8"))
    stats["recipe"]["urls"] = urls_of_run(stats["recipe"]["urls"])
    place.write_text(json.dumps(stats), "utf-8")
    return ns.verify(home)


def test_an_output_of_learnt_rules_is_proven(tmp_path: Path) -> None:
    """Whose URLs they make one, and what the evidence says of it."""
    found = ns.verify(_output(tmp_path))
    assert (True, 12) == (found.holds, found.checked["URLs"])
    assert not any("not recomputed" in note for note in found.notes)


def test_rules_that_say_another_format_are_applied_all_the_same(tmp_path: Path) -> None:
    """So that nobody gets around them by a word."""
    found = _changed(_output(tmp_path), lambda record: {**record, "format": "mine", "rules": record["rules"][:1]})
    assert any("their canonical URLs are" in problem.what for problem in found.problems)


def test_another_rule_than_the_run_had_is_told(tmp_path: Path) -> None:
    """Rows say what it does not make one."""
    found = _changed(_output(tmp_path), lambda record: {**record, "rules": record["rules"][:1]})
    assert any("their canonical URLs are" in problem.what for problem in found.problems)


_RULE = {"host": "a.org", "folder": "", "parameters": ["ref"], "find": "", "replace": "", "not_hosts": []}


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"rules": 5}, "recipe.urls.rules is not a list"),
        ({"rules": [_RULE, 5]}, "recipe.urls.rules[1] is not a rule about URLs"),
        ({"rules": [{"find": 1}]}, "recipe.urls.rules[0] is not"),
        ({"rules": [{**_RULE, "parameters": [5]}]}, "recipe.urls.rules[0] is not"),
        ({"rules": [{**_RULE, "parameters": 5}]}, "recipe.urls.rules[0] is not"),
        ({"recipe": None}, "recipe.urls.recipe is not one of canonical URLs"),
        ({"recipe": {"method": "x", "colour": 1}}, "recipe.urls.recipe is not one of canonical URLs"),
    ],
    ids=["a number", "numbers", "another rule", "a name of a number", "no names", "no recipe", "another recipe"],
)
def test_rules_that_cannot_be_read_fail_the_proof(tmp_path: Path, changed: dict[str, Any], what: str) -> None:
    """They are there, so nobody may say that they are not known."""
    found = _changed(_output(tmp_path), lambda record: {**record, **changed})
    assert not found.holds
    assert any(what in problem.what for problem in found.problems)


class _Own:
    """What makes URLs one by a rule that nobody else knows."""

    recipe = ns.CanonicalUrl()

    def apply(self, url: str) -> str:
        """One form of both."""
        return url.replace("print/", "")

    def record(self) -> dict[str, Any]:
        """What it is."""
        return {"format": "mine", "what": "drop print/"}


def test_what_is_not_ours_is_not_applied(tmp_path: Path) -> None:
    """It says so by its format, and the proof says that it leaves out what goes by it."""
    pages = [{"url": f"http://a.org/{kind}p", "text": "a rose is a rose"} for kind in ("", "print/")]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    ns.dedup(str(tmp_path / "pages.jsonl"), use="url,text", urls=_Own()).write(tmp_path / "out")
    found = ns.verify(tmp_path / "out")
    assert found.holds
    assert any("the rules that made them are not known here" in note for note in found.notes)
