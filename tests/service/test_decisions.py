"""What people change on the pages: decisions about pairs, and documents that go."""

import asyncio
import fcntl
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

import nearsame as ns
from nearsame.answers.doubts import Undecided
from nearsame.answers.reports import SeenDocument
from nearsame.files.inputs import Inputs
from nearsame.service.decisions import PageDecisions, said
from nearsame.shares import cut, percent
from nearsame.sources.judged import read_judgements
from nearsame.studies.decision_log import DecisionLog
from tests.cli.commands import words
from tests.patience import PATIENCE
from tests.service.fakes import Shelf
from tests.service.running import running

READ, WRITE = "r" * 32, "w" * 32
PAIR = {"a": "ferry", "b": "notice 17?"}


@pytest.fixture
def served(tmp_path):
    """Two documents that resemble each other; whoever reads, and Anna, who may write."""
    shelf, tokens = Shelf(), tmp_path / "tokens"
    for id in PAIR.values():
        shelf.documents[id] = {
            "id": id,
            "text": "the ferry leaves at seven",
            "url": f"https://harbour.example/{len(id)}",
        }
    tokens.write_text(f"read {READ} bob\nwrite {WRITE} anna\n")
    tokens.chmod(0o600)
    with running(shelf.open, token_file=tokens, decisions=str(tmp_path / "d.tsv"), timeout=PATIENCE) as found:
        yield found


def sign_in(served, token):
    """Sign in as a browser does; the key of its forms."""
    served.client.post("/sign-in", data={"token": token, "next": "/"})
    return re.search('name="form_key" value="(.*?)"', served.client.get("/").text)[1]


def test_decisions_are_a_file_with_who_and_when_that_dedup_obeys(served, tmp_path):
    """The last word is shown and exported; what was taken back is gone; an unknown document is no half of a pair."""
    form = PAIR | {"form_key": sign_in(served, WRITE), "note": "two\tferries"}
    assert "Nothing can be decided" not in served.client.get("/side-by-side", params=PAIR).text
    answer = served.client.post("/side-by-side", data=form | {"choice": "keep-b"})
    assert (303, True) == (answer.status_code, answer.headers["location"].endswith("#decide"))
    for choice, status in [("different", 303), ("else", 422)]:
        assert status == served.client.post("/side-by-side", data=form | {"choice": choice}).status_code
    assert 404 == served.client.post("/side-by-side", data=form | {"choice": "unsure", "b": "nobody"}).status_code
    shown = served.client.get("/decisions").text
    assert ["not duplicates", "two ferries", "anna"] == re.findall("<td[^>]*>([^<]*)</td>", shown)
    file = tmp_path / "exported.tsv"
    file.write_bytes(served.client.get("/decisions.tsv").content)
    (one,) = read_judgements(str(file))
    assert ("no", "", "anna", True) == (one.label, one.keep, one.who, one.when.startswith("20"))
    source = [{"id": id, "text": "the ferry leaves at seven"} for id in PAIR.values()]
    assert (1, 2) == (ns.dedup(source).stats.kept, ns.dedup(source, decisions=str(file)).stats.kept)
    served.client.post("/side-by-side", data=form | {"choice": "back"})
    assert "There are none" in served.client.get("/decisions").text
    assert [] == read_judgements(str(tmp_path / "d.tsv"))


def test_who_decides_without_a_token_gives_a_name(tmp_path):
    """It stands in the file, and in the form of the next pair; what cannot stand in a line does not."""
    shelf = Shelf()
    for id in PAIR.values():
        shelf.documents[id] = {"id": id, "text": "the ferry leaves at seven", "url": None}
    with running(shelf.open, decisions=str(tmp_path / "d.tsv"), timeout=PATIENCE) as found:
        assert 'name="who" maxlength="100" value=""' in found.client.get("/side-by-side", params=PAIR).text
        form = PAIR | {"choice": "unsure", "who": ' Ann\t"O" \u05d0 '}
        assert 303 == found.client.post("/side-by-side", data=form).status_code
        assert 'value="Ann\t&#34;O&#34; \u05d0"' in found.client.get("/side-by-side", params=PAIR).text
        assert '<td dir="auto">Ann &#34;O&#34; \u05d0</td>' in found.client.get("/decisions").text
    (one,) = read_judgements(str(tmp_path / "d.tsv"))
    assert 'Ann "O" \u05d0' == one.who


def test_what_others_decide_is_shown_at_once(served, tmp_path):
    """By another service or in a terminal, before anything is decided here; a file that is gone decides nothing."""
    sign_in(served, READ)
    pages = [lambda: served.client.get("/decisions").text, lambda: served.client.get("/side-by-side", params=PAIR).text]
    assert [False, False] == ["carol" in page() for page in pages]
    log = DecisionLog.open(tmp_path / "d.tsv", Inputs())
    about = Undecided(*(SeenDocument(id, "", 0) for id in PAIR.values()))
    for who in ("carol", "dave"):
        log.decide(about, "no", who=who)
        assert [True, True] == [who in page() for page in pages]
        assert who in served.client.get("/decisions.tsv").text
    (tmp_path / "d.tsv").unlink()
    assert [False, False] == ["dave" in page() for page in pages]
    assert "dave" not in served.client.get("/decisions.tsv").text
    form = PAIR | {"form_key": sign_in(served, WRITE), "choice": "unsure"}
    assert 303 == served.client.post("/side-by-side", data=form).status_code
    assert [True, True] == ["anna" in page() for page in pages]


def test_a_file_that_somebody_holds_stops_nothing_but_its_pages(tmp_path):
    """Large bodies are parsed meanwhile: the threads that do so are not all waiting."""
    (place := tmp_path / "d.tsv").write_text("")
    body = {"documents": [{"text": "a" * 200_000}]}
    with (
        running(Shelf().open, decisions=str(place), timeout=PATIENCE) as found,
        place.open("rb") as other,
        ThreadPoolExecutor(40) as threads,
    ):
        fcntl.flock(other, fcntl.LOCK_EX)
        pages = [threads.submit(found.client.get, "/decisions") for _ in range(40)]
        assert 200 == found.client.post("/query", json=body).status_code
        assert not any(page.done() for page in pages)
        fcntl.flock(other, fcntl.LOCK_UN)
        assert {200} == {page.result().status_code for page in pages}


def test_who_waits_for_a_file_that_somebody_holds_is_told(tmp_path):
    """When the time of the request is over, be it the first in the row or not."""
    (place := tmp_path / "d.tsv").write_text("")
    decisions = PageDecisions(str(place))
    decide = partial(decisions.decide, ("a", "b"), "unsure", "", "me")

    async def told():
        calls = (decisions.look, decisions.exported, decide)
        return await asyncio.gather(*(call(seconds=0.1) for call in calls), return_exceptions=True)

    with place.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert [(503, "store-busy")] * 3 == [(problem.status, problem.code) for problem in asyncio.run(told())]
    asyncio.run(decide(seconds=PATIENCE))
    assert "unsure" == said(decisions.about("a", "b"))


def test_only_who_may_write_changes_something_and_only_from_our_pages(served):
    """Neither a token that reads, nor a form without its key or from elsewhere, nor one that was not confirmed."""
    gone = {"id": "ferry", "sure": "yes"}
    key = sign_in(served, READ)
    for address, form in [("/document", gone), ("/side-by-side", PAIR | {"choice": "different"})]:
        assert 403 == served.client.post(address, data=form | {"form_key": key}).status_code
    assert 'action="/document"' not in served.client.get("/document", params={"id": "ferry"}).text
    key = sign_in(served, WRITE)
    assert 'action="/document"' in served.client.get("/document", params={"id": "ferry"}).text
    assert 403 == served.client.post("/document", data=gone).status_code
    foreign = served.client.post("/document", data=gone | {"form_key": key}, headers={"Origin": "https://evil.example"})
    unsure = served.client.post("/document", data={"id": "ferry", "form_key": key})
    assert (403, 422) == (foreign.status_code, unsure.status_code)
    assert "ferry" in served.client.get("/search", params={"q": "ferry"}).text.partition("<table>")[2]
    assert 200 == served.client.post("/document", data=gone | {"form_key": key}).status_code
    assert 404 == served.client.post("/document", data=gone | {"form_key": key}).status_code


def test_pages_of_a_service_that_only_reads_say_why(served):
    """No form, no file."""
    with running(Shelf().open, read_only=True, decisions="x.tsv", timeout=PATIENCE) as found:
        assert "Nothing can be decided here" in found.client.get("/decisions").text
        assert 404 == found.client.get("/decisions.tsv").status_code


def test_a_real_index_is_searched_and_its_clusters_have_excerpts(tmp_path):
    """By parts of ids and URLs; with similarities and totals, and without texts the way to have them."""
    text = "a rose is a rose is a rose by any other name would smell as sweet"
    documents = [{"id": f"Page-{n}", "text": f"{text} {'x ' * n}", "url": f"https://e.org/{n}"} for n in range(2)]
    for store in ("text", "shingles"):
        place = tmp_path / f"{store}.ns"
        ns.Index.create(place, store=store, source=documents).close()
        with running(lambda *, read_only, place=place: ns.Index.open(place, read_only=read_only)) as found:
            shown = found.client.get("/clusters").text
            assert "2 of 2 documents are in 1 cluster." in shown
            assert (store == "text", store != "text") == ("a rose is a rose" in shown, "--store text" in shown)
            assert re.search(r"0\.\d{4}<span", shown)
            hits = found.client.get("/search", params={"q": "E.ORG page-1"}).text
            assert (True, False) == ("Page-1</a>" in hits, "Page-0</a>" in hits)
            for words in ("a\0", " ".join(map(chr, range(0x4E00, 0x4E00 + 500)))):  # no id holds them
                assert 200 == found.client.get("/search", params={"q": words}).status_code
                assert {"ids": []} == found.client.get("/documents", params={"containing": words}).json()
            beside = found.client.get("/side-by-side", params={"a": "Page-0", "b": "Page-1"}).text
            assert (store == "text", False) == (" edits</td>" in beside or " edit</td>" in beside, "000 edit" in beside)


def test_pages_show_the_numbers_of_a_report(tmp_path):
    """Of clusters, of what resembles a document, and side by side: cut alike, whatever the similarity."""
    documents = []
    for group in range(12):
        text = words(90 + group, group)
        edited = [*text[:40], *"ab"[: 1 + group % 2], *text[41:]]
        documents += [{"id": f"{group}a", "text": " ".join(text)}, {"id": f"{group}b", "text": " ".join(edited)}]
    page = ns.report(ns.dedup(documents))
    ns.Index.create(tmp_path / "t.ns", store="text", source=documents).close()
    with running(lambda *, read_only: ns.Index.open(tmp_path / "t.ns", read_only=read_only)) as found:
        clusters = found.client.get("/clusters").text
        for pair in page.pairs:
            a, b = (page.documents[one].id for one in (pair.a, pair.b))
            shown, view = cut(pair.similarity), page.beside[pair.beside]
            assert f'side-by-side?a={b}&amp;b={a}">{shown}<' in clusters
            assert f"</meter> {shown}</td>" in found.client.get("/document", params={"id": a}).text
            beside = found.client.get("/side-by-side", params={"a": a, "b": b}).text
            assert f"</meter> {shown}</td>" in beside
            assert f"{percent(view.a_in_b, 1)} of a and {percent(view.b_in_a, 1)} of b." in beside
    assert 12 == len(page.pairs) == len({pair.similarity for pair in page.pairs})
