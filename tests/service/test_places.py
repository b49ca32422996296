"""The service around a real index, on SQLite and on PostgreSQL."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from nearsame.index.index import Index
from nearsame.recipes.methods import MinHash
from tests.patience import PATIENCE

from .running import running

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
]


@pytest.fixture
def served(place):
    """An index of single words, and its service."""
    Index.create(place, method=MinHash(shingle_size=1), store="text").close()
    with running(lambda *, read_only: Index.open(place, read_only=read_only), timeout=PATIENCE) as found:
        yield found


def test_of_many_that_add_the_same_new_text_exactly_one_does(served):
    """At the same moment, each nearly the same text under an id of its own, `if_new`."""

    def add(number):
        text = " ".join([*WORDS, f"extra{number}"])
        return served.client.post("/documents", json={"id": f"d{number}", "text": text, "if_new": True}).json()

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(add, range(40)))
    winners = [answer["id"] for answer in answers if answer["added"]]
    assert 1 == len(winners)
    assert {(winners[0],)} == {
        tuple(match["id"] for match in answer["matches"]) for answer in answers if not answer["added"]
    }
    assert 1 == served.client.get("/stats").json()["documents"]


def test_a_document_lives_on_every_store(served):
    """Added, found, compared, shown, grouped, removed."""
    client, text = served.client, " ".join(WORDS)
    for id in ("a/1", "b 2"):
        assert client.post("/documents", json={"id": id, "text": text, "url": "https://x.example/"}).json()["added"]
    assert {"a/1", "b 2"} == {match["id"] for match in client.post("/query", json={"text": text}).json()["matches"]}
    assert ["b 2"] == [match["id"] for match in client.get("/documents/a%2F1/duplicates").json()["duplicates"]]
    assert client.post("/compare", json={"a": "a/1", "b": "b 2"}).json()["similar"]
    page = client.get("/clusters", headers={"Accept": "text/html"}).text
    assert 'href="/document?id=a/1"' in page
    assert 200 == client.delete("/documents/a%2F1").status_code
    assert 404 == client.get("/documents/a%2F1").status_code
    assert text == client.get("/documents/b%202").json()["text"]


def test_a_file_is_whole_when_its_service_has_ended(tmp_path):
    """Without its log: readers, who cannot write it back, are not the last to close it."""
    place = tmp_path / "seen.ns"
    Index.create(place, method=MinHash(shingle_size=1), store="text").close()
    with running(lambda *, read_only: Index.open(place, read_only=read_only), timeout=PATIENCE) as served:
        served.client.post("/documents", json={"id": "a", "text": " ".join(WORDS)})
        assert 1 == served.client.get("/stats").json()["documents"]
    assert ["seen.ns"] == [path.name for path in tmp_path.iterdir()]
    shutil.copy(place, tmp_path / "copy.ns")
    with Index.open(tmp_path / "copy.ns") as index:
        assert ["a"] == list(index.ids())
