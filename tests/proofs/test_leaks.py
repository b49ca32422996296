"""What `leaks` writes is proved again by other code; and whatever is changed in it does not hold."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import SourceError
from tests.cli.commands import run
from tests.examples import share
from tests.studies.leak_cases import small_cases

QUESTION = "Which wise old wallaby waltzes with Wendy every Wednesday evening?"
CHOICES = ["Walter the wizened wallaby of Wollongong", "Wilma of the western woods and wide waters"]
RULE = {"shingle_size": 3, "boilerplate": 1, "least_bytes": 0}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Training data with a leak and without, two benchmarks, and what `leaks` wrote of them."""
    texts = [f"Ünser quiz: {QUESTION.upper()} And {CHOICES[1]}, or _not_.", "a daisy", None, f"{QUESTION} Again."]
    lines = [json.dumps({"id": f"d{at}", "text": text}, ensure_ascii=False) for at, text in enumerate(texts)]
    (tmp_path / "train.jsonl").write_text("\n".join([*lines, "{broken", ""]), "utf-8")
    (tmp_path / "one.jsonl").write_text(
        json.dumps({"id": "q", "question": QUESTION, "choices": CHOICES}) + "\n", "utf-8"
    )
    rows = {"q": ["Say it now: do re mi fa", "Say it now: mi fa so la", "12"], "id": ["a", "a", "b"]}
    pq.write_table(pa.table(rows), tmp_path / "two.parquet")
    return tmp_path


def _written(home: Path, remove: str = "none") -> Path:
    evals = [str(home / "one.jsonl"), str(home / "two.parquet")]
    found = ns.leaks(str(home / "train.jsonl"), tuple(evals), **RULE)
    found.write(home / "out", remove=remove)
    return home / "out"


@given(
    small_cases(),
    st.sampled_from([2, 3]),
    st.sampled_from([0.5, 0.8, 1]),
    st.sampled_from(["none", "documents", "spans"]),
)
@settings(max_examples=share(40))
def test_whatever_is_found_holds(tmp_path_factory: Any, case: Any, size: int, threshold: float, remove: Any) -> None:
    """Of documents and items in memory: the two ways to find them agree in every window."""
    texts, documents = case
    evals = {f"b{number}": [{"q": list(text)} for own, text in texts if own == number] for number in (0, 1)}
    train = pa.table({"text": pa.array(documents, pa.large_string())})
    out = tmp_path_factory.mktemp("leaks") / "out"
    found = ns.leaks(train, evals, **RULE | {"shingle_size": size}, threshold=threshold)
    found.write(out, remove=remove)
    proof = ns.verify(out, source=train, against=evals)
    assert proof.holds, (proof.problems, case)


@pytest.mark.parametrize("remove", ["none", "documents", "spans"])
def test_an_output_of_files_holds(home: Path, remove: str) -> None:
    """Also on the command line; and with a sample of none only what is said is looked at."""
    out = _written(home, remove)
    done = run("verify", out)
    assert (0, True) == (done.exit_code, "Everything holds." in done.stdout), done.stdout
    assert ns.verify(out, sample=0).holds


def _changed(table: pa.Table, name: str, value: Any) -> pa.Table:
    at = table.column_names.index(name)
    changed = [value(one) if number == 0 else one for number, one in enumerate(table.column(at).to_pylist())]
    return table.set_column(at, table.schema.field(at), pa.array(changed, table.schema.field(at).type))


CHANGES = [
    *[
        ("spans", name, lambda number: number + 1)
        for name in ("row", "shared", "shingles", "start", "end", "item_start")
    ],
    ("spans", "score", lambda score: score - 0.01),
    *[("spans", name, lambda text: f"{text}x") for name in ("benchmark", "item", "column", "id", "source", "passage")],
    ("items", "score", lambda score: score - 0.01),
    ("items", "documents", lambda number: number + 1),
    ("matrix", "items", lambda number: number + 1),
    ("unsought", "reason", lambda _: "plain"),
    ("boilerplate", "texts", lambda number: number + 1),
    ("cuts", "end", lambda number: number - 1),
    ("sources", "source", lambda text: f"{text}x"),
]


def test_no_change_of_a_table_holds(home: Path) -> None:
    """One value of one column each, a line less, and a table that is not there."""
    out = _written(home, "spans")
    assert ns.verify(out).holds
    for name, column, value in CHANGES:
        path = out / f"{name}.parquet"
        table = pq.read_table(path)
        pq.write_table(_changed(table, column, value), path)
        assert not ns.verify(out).holds, (name, column)
        pq.write_table(table.slice(1), path)
        assert not ns.verify(out).holds, name
        path.unlink()
        if name != "spans":  # by which an output of leaks is known
            assert not ns.verify(out).holds, name
        pq.write_table(table, path)
    assert ns.verify(out).holds


def test_no_change_of_counts_or_of_what_is_kept_holds(home: Path) -> None:
    """Counts, settings, a line of kept/, and the training data themselves."""
    out = _written(home, "spans")
    stats, kept, train = out / "stats.json", out / "kept" / "train.jsonl", home / "train.jsonl"
    for path, old, new in [
        (stats, '"leaked": 1', '"leaked": 2'), (stats, '"least_bytes": 0', '"least_bytes": 99'),
        (stats, '"documents": 4', '"documents": 5'), (stats, '"remove"', '"removed"'), (stats, "{", ""),
        (kept, "a daisy", "a rose"), (train, "a daisy", f"a daisy. {QUESTION}"),
    ]:  # fmt: skip
        before = path.read_text("utf-8")
        assert old in before, old
        path.write_text(before.replace(old, new, 1), "utf-8")
        assert not ns.verify(out).holds, (path.name, old)
        path.write_text(before, "utf-8")
    assert ns.verify(out).holds


def test_what_was_in_memory_is_asked_for(tmp_path: Path) -> None:
    """Both sides, and benchmarks by their names."""
    train, evals = [{"text": QUESTION}], {"wallabies": [{"q": QUESTION}]}
    ns.leaks(train, evals).write(tmp_path / "out")
    refused = [
        ({"source": train}, "benchmarks in memory"),
        ({"against": evals}, "documents in memory"),
        ({"source": train, "against": {"emus": []}}, "is about the benchmarks wallabies"),
    ]
    for given_, said in refused:
        with pytest.raises(SourceError, match=said):
            ns.verify(tmp_path / "out", **given_)
    assert ns.verify(tmp_path / "out", source=train, against=evals).holds


def test_copies_and_lists_of_text_files_are_held_to_them(tmp_path: Path) -> None:
    """Without passages, and in their encoding; a file that was changed, left or taken away does not hold."""
    (tmp_path / "train" / "b").mkdir(parents=True)
    texts = {"a.txt": f"Größe: {QUESTION} And more.", "b/c.txt": "a daisy", "d.txt": QUESTION, "e.txt": "\udcff odd"}
    for name, text in texts.items():
        encoding = "utf-16" if name == "a.txt" else "utf-8"
        (tmp_path / "train" / name).write_bytes(text.encode(encoding, "surrogateescape"))
    (tmp_path / "one.jsonl").write_text(json.dumps({"id": "q", "question": QUESTION}))
    found = ns.leaks(str(tmp_path / "train"), str(tmp_path / "one.jsonl"), **RULE)
    for remove in ("documents", "spans"):
        found.write(tmp_path / remove, remove=remove)
        proof = ns.verify(tmp_path / remove)
        assert (True, ["the records of benchmarks were read by the product's own readers"]) == (
            proof.holds,
            list(proof.notes),
        )
    (tmp_path / "documents/kept/kept.txt").write_text("b/c.txt\n")
    assert not ns.verify(tmp_path / "documents").holds
    kept = tmp_path / "spans" / "kept"
    for name, other in (("a.txt", "Größe: ? And less.".encode("utf-16")), ("b/c.txt", b"a lily"), ("e.txt", b"odd"),
                        ("a.txt", None), ("d.txt", b"")):  # fmt: skip
        before = (kept / name).read_bytes() if (kept / name).exists() else None
        (kept / name).unlink(missing_ok=True) if other is None else (kept / name).write_bytes(other)
        assert not ns.verify(tmp_path / "spans").holds, name
        (kept / name).unlink(missing_ok=True) if before is None else (kept / name).write_bytes(before)
    assert ns.verify(tmp_path / "spans").holds


def test_text_files_of_an_encoding_of_which_none_changed(tmp_path: Path) -> None:
    """A passage is cut out of what stands beside them."""
    (folder := tmp_path / "train").mkdir()
    (folder / "a.txt").write_bytes("ein Gänseblümchen, und noch eins auf der grünen Wiese".encode("latin-1"))
    (folder / "b.jsonl").write_text(json.dumps({"text": f"Quiz: {QUESTION}"}) + "\n", "utf-8")
    found = ns.leaks(str(folder), {"quiz": [QUESTION]}, encoding="latin-1")
    found.write(tmp_path / "out", remove="spans")
    assert ns.verify(tmp_path / "out", against={"quiz": [QUESTION]}).holds
