"""Indexes of texts as the other side: the answer is that of the documents themselves, and nothing is changed."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import ConfigError, SourceError, StoreError
from tests.cli.commands import run
from tests.examples import share

TEXT = "the quick brown fox jumps over the lazy dog near the river"
WORDS = st.lists(st.sampled_from("abcd"), max_size=4).map(" ".join)
METHODS = [ns.Jaccard(threshold=0.6, shingle_size=1), ns.SimHash(k=8), ns.Digest(normalise=True)]


def _index(path: Path, texts: list[str], store: str = "text") -> Path:
    with ns.Index.create(path, store=store) as index:
        index.add([{"id": f"{path.stem}{at}", "text": text, "url": f"http://{at}/"} for at, text in enumerate(texts)])
    return path


@given(
    st.lists(st.lists(WORDS, max_size=5), max_size=2), st.lists(WORDS, min_size=1, max_size=5), st.sampled_from(METHODS)
)
@settings(max_examples=share(40))
def test_the_answer_is_that_of_the_documents(tmp_path_factory, stored, judged, method) -> None:
    """Of several indexes beside a list, in this order, by any method."""
    home = tmp_path_factory.mktemp("stored")
    places = [_index(home / f"{name}.ns", texts) for name, texts in zip("xy", stored, strict=False)]
    tables = [
        {"id": [f"{name}{at}" for at in range(len(texts))], "text": texts}
        for name, texts in zip("xy", stored, strict=False)
        if texts
    ]
    beside = [{"id": "o", "text": "a b"}]
    found = ns.dedup(judged, against=(*places, beside), method=method, audit=False)
    expected = ns.dedup(judged, against=(beside, *tables), method=method, audit=False)
    columns = ["id", "row", "witness_id", "witness_row", "similarity"]
    assert expected.removals.select(columns).to_pylist() == found.removals.select(columns).to_pylist()


def test_an_output_is_proved_as_far_as_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is added later changes no proof, and is there when it is run again; what was taken out is said."""
    monkeypatch.chdir(tmp_path)
    _index(Path("seen.ns"), ["other words", TEXT])
    before = Path("seen.ns").read_bytes()
    Path("new.jsonl").write_text(f'{{"body": "{TEXT.upper()}"}}\n{{"body": "new words"}}\n')
    done = run("dedup", "new.jsonl", "--text-column", "body", "--against", "seen.ns", "-o", "out")
    assert (0, True) == (done.exit_code, "2 documents of the index seen.ns are compared by their texts" in done.stdout)
    assert before == Path("seen.ns").read_bytes()
    with ns.Index.open("seen.ns") as index:
        index.add([{"id": "n", "text": "new words"}])
    assert ns.verify("out").holds
    again = ns.rerun("out")
    assert {("seen1", "against/seen.ns"), ("n", "against/seen.ns")} == {
        (row["witness_id"], row["witness_source"]) for row in again.removals.to_pylist()
    }
    assert 2 == run("dedup", "new.jsonl", "--against", "seen.ns", "-o", "seen.ns/", "--overwrite").exit_code
    with ns.Index.open("seen.ns") as index:
        index.remove("seen0")
    with pytest.raises(SourceError, match="had 2 documents up to number 2 when it was compared with, and has 1 now"):
        ns.verify("out")


LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
JUDGED = [f"{LONG} eighteen", "short", "quite other words here", "SHORT!", f"{LONG} eighteen", ""]


@pytest.mark.parametrize("store", ["shingles", "sketch"])
def test_what_has_no_texts_is_asked(tmp_path: Path, store: str) -> None:
    """It removes what it knows, by its own methods; what it does not know is compared with all else."""
    index = _index(tmp_path / "seen.ns", ["other words", LONG, "short"], store)
    found = ns.dedup(JUDGED, against=(index, ["quite other words here", ""]))
    columns = ["row", "witness_id", "similarity", "measure", "layer"]
    with ns.Index.open(index) as opened:
        (own,) = opened.query(JUDGED[0])
    expected = [
        (0, "seen1", own.similarity, own.measure, "index"),
        (1, "seen2", 1.0, own.measure, "index"),
        (2, "against:0", 1.0, "jaccard", "text"),
        (3, "seen2", 1.0, own.measure, "index"),
        (4, "seen1", own.similarity, own.measure, "index"),
    ]
    assert expected == [tuple(row[name] for name in columns) for row in found.removals.to_pylist()]
    (again,) = ns.dedup([LONG, JUDGED[0]]).removals.column("similarity").to_pylist()
    assert store == "sketch" or own.similarity == again
    stats = found.stats
    assert (11, 5, 1, 5, 4, 2) == (
        stats.documents, stats.against, stats.kept, stats.removed, stats.known_copies, stats.empty
    )  # fmt: skip
    found.report(tmp_path / "page.json")
    assert [] == ns.dedup(JUDGED[:1], against=index, method=ns.Jaccard(threshold=0.99)).removals.to_pylist()


def test_what_an_index_said_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By `verify`, which refuses another word; and the run can be run again."""
    monkeypatch.chdir(tmp_path)
    _index(Path("seen.ns"), ["other words", LONG], "shingles")
    Path("new.jsonl").write_text(
        f'{{"text": "{LONG} x", "url": "http://1/#a"}}\n{{"text": "new", "url": "http://2/"}}\n'
    )
    done = run("dedup", "new.jsonl", "--against", "seen.ns", "--use", "url,text", "-o", "out")
    assert (0, True) == (done.exit_code, "known 1 to an index that was asked" in " ".join(done.stdout.split())), (
        done.output
    )
    assert ns.verify("out").holds, ns.verify("out")
    assert ["seen1"] == ns.rerun("out").removals.column("witness_id").to_pylist()
    with ns.Index.open("seen.ns") as index:
        index.add([{"id": "later", "text": f"{LONG} x"}])
    assert ns.verify("out").holds
    removed = pq.read_table("out/removed.parquet")
    at = removed.schema.get_field_index("similarity")
    pq.write_table(removed.set_column(at, "similarity", pa.array([0.9])), "out/removed.parquet")
    assert any("and says jaccard" in problem.what for problem in ns.verify("out").problems)


def test_what_no_index_can_answer_is_refused(tmp_path: Path) -> None:
    """What is no index, or is not there; columns that it cannot have; what only texts could tell."""
    asked = _index(tmp_path / "asked.ns", ["a"], "shingles")
    with pytest.raises(ConfigError, match=r"group_by='lang' and .*stores no texts"):
        ns.dedup([{"text": "a", "lang": "en"}], against=asked, group_by="lang")
    with pytest.raises(ConfigError, match=r"pairs and .*stores no texts"):
        ns.pairs(["a"], against=asked)
    with pytest.raises(ConfigError, match="an index was asked"):
        ns.dedup(["a"], against=asked).at(threshold=0.9)
    (tmp_path / "odd.ns").write_text("odd")
    for name in ("none.ns", "odd.ns"):
        with pytest.raises(StoreError):
            ns.dedup(["a"], against=tmp_path / name)
    with pytest.raises(ConfigError, match="which has no column 'f'"):
        ns.dedup([{"f": ["a"]}], against=_index(tmp_path / "texts.ns", ["a"]), features_column="f")
