"""What pages say of an index, before any of it is printed."""

import re

import pytest

import nearsame as ns
from nearsame.service import views
from tests.cli.commands import run, write_jsonl

ROWS = [{"id": id, "text": f"the ferry leaves at seven {id}"} for id in "ab"]


@pytest.mark.parametrize(
    ("view", "name"),
    [
        (views.clusters(0, 5), "no_text"),
        (views.search("a", None, 5), "no_text"),
        (views.document("a", 5, None), "no_text"),
        (views.beside("a", "b", everything=False), "summary"),
    ],
)
def test_what_an_index_without_texts_lacks_is_made_by_the_command_that_pages_tell(tmp_path, view, name):
    """As it stands there, with the places filled in."""
    source, old, new = write_jsonl(tmp_path / "a.jsonl", ROWS), tmp_path / "old.ns", tmp_path / "new.ns"
    assert 0 == run("index", "create", old, "--from", source).exit_code
    with ns.Index.open(old) as index:
        (line,) = re.findall(r"nearsame (index create .*)\.$", view(index)[name])
    assert 0 == run(*line.replace("NEW.ns", str(new)).replace("SOURCE", str(source)).split()).exit_code
    with ns.Index.open(new) as index:
        assert ROWS[0]["text"] == index.text("a")
        assert "" == views.search("a", None, 5)(index)["no_text"]


@pytest.mark.parametrize("gone", ["a", "b", "c"])
@pytest.mark.parametrize(
    "page",
    [
        (
            "clusters",
            views.clusters(0, 5),
            lambda page: [[one["id"] for one in c["members"]] for c in page["clusters"]],
        ),
        ("ids", views.search("a", None, 5), lambda page: [hit["id"] for hit in page["hits"]]),
        ("query", views.find("the ferry leaves at seven", "", 5, 5), lambda page: len(page["comparisons"])),
    ],
    ids=["clusters", "search", "find"],
)
def test_what_others_remove_meanwhile_is_left_out(tmp_path, monkeypatch, gone, page):
    """A page asks several questions; a document that has gone between two of them makes no page of an error."""
    asked, view, shown = page
    given = [{"id": id, "text": "the ferry leaves at seven", "url": "http://a/"} for id in "abc"]
    with ns.Index.create(tmp_path / "i.ns", store="text") as index:
        index.add(given)
        ask = getattr(index, asked)

        def answered(*args, **settings):
            found = list(ask(*args, **settings))
            index.remove(gone)
            return found

        monkeypatch.setattr(index, asked, answered)
        left = [id for id in "abc" if id != gone]
        expected = {"clusters": [] if gone == "a" else [[id for id in left if id != "a"]], "ids": left, "query": 2}
        assert expected[asked] == shown(view(index))
