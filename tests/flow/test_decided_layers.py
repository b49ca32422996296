"""`decisions=` and `use=`: each layer obeys what people have decided, against a slow twin."""

import json
import tempfile
from fractions import Fraction
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import WorkdirError
from nearsame.outputs.promises import guarantee
from tests.examples import share
from tests.flow.test_layers import PAGES, THRESHOLD, USES, Page, order_of, strings_of, table
from tests.oracle.apart import chosen_first, is_apart
from tests.oracle.decisions import pairs
from tests.oracle.layers import Gone, Pairs, layered
from tests.oracle.shingles import features


def _expected(
    pages: list[Page], use: list[str], order: list[int], num_against: int, apart: Pairs, *, within: bool
) -> dict[int, Gone]:
    def near(left: list[int], told: Pairs, size: int, least: Fraction, *, of_copies: bool) -> dict[int, int]:
        sets = [
            features(page["text"] or "", size=size) if row in left else frozenset() for row, page in enumerate(pages)
        ]
        similar, rows = pairs(sets, least), [(min(pair), max(pair)) for pair in told]
        keepers: list[int] = []
        went = {}
        for row in order:
            found = {
                keeper: similar[min(row, keeper), max(row, keeper)] for keeper in keepers
                if (min(row, keeper), max(row, keeper)) in similar
                and frozenset((row, keeper)) not in told
                and not (of_copies and is_apart(row, keeper, sets, rows))
            }  # fmt: skip
            if row >= num_against and found:
                went[row] = max(found, key=lambda keeper: found[keeper])
            elif within or row < num_against:
                keepers.append(row)
        return went

    text = partial(near, size=2, least=THRESHOLD, of_copies=True)
    guessed = (2, THRESHOLD) if "text" in use else (5, Fraction(4, 5))
    guess = partial(near, size=guessed[0], least=guessed[1], of_copies=False)
    strings = {name: values for name, values in strings_of(pages).items() if name.partition("-")[0] in use}
    empty = [not page["text"] for page in pages]
    whole = text if "text" in use else None
    return layered(strings, order, whole, num_against=num_against, within=within, empty=empty, near=guess, apart=apart)


@pytest.mark.slow
@settings(deadline=None, max_examples=share(300))
@given(PAGES, PAGES, USES, st.sampled_from(["first", "last", "longest", "max:when"]), st.booleans(), st.data())
def test_every_layer_obeys_as_the_rule_says(  # noqa: PLR0917  (drawn by Hypothesis)
    old: list[Page], new: list[Page], use: list[str], keep: str, within: bool, data: st.DataObject
) -> None:
    """The same rows go by the same layers, nobody for one it was told apart from; the output holds."""
    pages = [*old, *new]
    needs = {"url": "url", "canonical": "canonical", "revisit": "payload_digest"}
    use = [name for name in use if name not in needs or any(page[needs[name]] for page in pages)] or ["digest"]
    rows = st.integers(0, max(0, len(pages) - 1))
    some = st.lists(st.tuples(rows, rows).filter(lambda pair: pair[0] < pair[1]), max_size=8, unique=True)
    decided = data.draw(some) if len(pages) > 1 else []
    cut = data.draw(st.integers(0, len(decided)))
    apart, chosen = decided[:cut], [(b, a) for a, b in decided[cut:]]
    ids = [*(f"o{row}" for row in range(len(old))), *(f"d{row}" for row in range(len(new)))]
    found = ns.dedup(
        table(new), against=table(old, "o"), use=use, keep=keep, within=within,
        decisions=[
            *({"id1": ids[a], "id2": ids[b], "label": "no"} for a, b in apart),
            *({"id1": ids[a], "id2": ids[b], "keep": ids[a]} for a, b in chosen),
        ],
        **({"method": ns.Jaccard(threshold="0.7", shingle_size=2)} if "text" in use else {}),
    )  # fmt: skip
    order = chosen_first(order_of(pages, keep, len(old)), chosen, len(old))
    expected = _expected(pages, use, order, len(old), {frozenset(pair) for pair in apart}, within=within)
    lines = {row["id"]: row for row in found.removals.to_pylist()}
    assert {ids[row]: gone.layer for row, gone in expected.items()} == {
        name: row["layer"] for name, row in lines.items()
    }
    told = {frozenset((ids[a], ids[b])) for a, b in apart}
    assert not [name for name, row in lines.items() if frozenset((name, row["witness_id"])) in told]
    assert not {row["witness_id"] for row in lines.values()} & lines.keys()
    counts = found.stats.decisions
    assert sum(ids[a] not in lines and ids[b] in lines for a, b in chosen) == counts["chosen"]
    assert len(decided) == sum(counts[name] for name in ("apart", "chosen", "not_similar", "overruled"))
    assert counts["apart"] or not counts["both_kept"]
    with tempfile.TemporaryDirectory() as home:
        found.write(f"{home}/out")  # which verifies it


_TEXT = " ".join(f"word{n}" for n in range(60))
_CHAIN = {
    "id": ["z", "a", "b", "c", "d"],
    "url": ["https://z.org/", "https://a.org/", "http://a.org/?utm_source=mail", "https://c.org/", "https://d.org/"],
    "text": [f"{_TEXT} end", _TEXT, "another text altogether", _TEXT, "another text altogether"],
}


@pytest.mark.parametrize(
    ("apart", "gone", "both_kept", "higher"),
    [
        ([], {"a": "z", "b": "z", "c": "z"}, 0, "bc"),
        ([("a", "b")], {"a": "z", "c": "z", "d": "b"}, 0, "cd"),
        ([("a", "c")], {"a": "z", "b": "z", "c": "z"}, 0, "b"),
        ([("b", "z")], {"b": "a", "c": "a"}, 1, "bc"),
        ([("d", "z")], {"a": "z", "b": "z", "c": "z"}, 0, "bc"),
    ],
)
def test_what_is_told_of_a_document_is_told_of_the_one_that_it_went_for(
    apart: list[tuple[str, str]], gone: dict[str, str], both_kept: int, higher: str, tmp_path: Any
) -> None:
    """So b, which goes by its URL for a, does not inherit a keeper of a's that it was told apart from."""
    decisions = [{"id1": one, "id2": other, "label": "no"} for one, other in apart]
    found = ns.dedup(pa.table(_CHAIN), use="url,digest,text", decisions=decisions or None)
    lines = found.removals.select(["id", "witness_id"]).to_pylist()
    assert gone == {line["id"]: line["witness_id"] for line in lines}
    assert both_kept == found.stats.decisions.get("both_kept", 0)
    assert (f"but for {both_kept} pair" in guarantee(found.stats)) == bool(both_kept)
    found.write(tmp_path / "out")
    assert found.removals.equals(ns.rerun(tmp_path / "out", pa.table(_CHAIN)).removals)
    assert [*higher] == found.at(threshold=1).removals.column("id").to_pylist()


def test_an_output_that_disobeys_is_found_out(tmp_path: Any) -> None:
    """By `verify`, of the two themselves; and the counts of what is lost are held to the sources."""
    decisions = [{"id1": "a", "id2": "d", "label": "no"}, {"id1": "x", "id2": "d", "label": "no"}]
    found = ns.dedup(pa.table(_CHAIN), use="url,digest", decisions=decisions)
    assert ["x"] == found.stats.decisions["lost_ids"]
    found.write(tmp_path / "out")
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    stats["recipe"]["decisions"][0] |= {"id2": "b"}
    (tmp_path / "out" / "stats.json").write_text(json.dumps(stats))
    proof = ns.verify(tmp_path / "out", source=pa.table(_CHAIN))
    wrong = {problem.what.partition(": ")[2] for problem in proof.problems}
    assert "the two were kept apart, and one is removed for the other" in wrong


def test_finished_steps_are_of_the_same_decisions(tmp_path: Any) -> None:
    """Who is left to the method depends on all of them."""
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pa.table(_CHAIN).to_pylist()))
    run = {"use": "url,digest,text", "workdir": tmp_path / "work"}
    apart = [{"id1": "a", "id2": "b", "label": "no"}]
    for _ in range(2):
        found = ns.dedup(tmp_path / "in.jsonl", decisions=apart, **run)
        assert ["a", "c", "d"] == found.removals.column("id").to_pylist()
    for other in (None, [apart[0] | {"label": "yes"}]):
        with pytest.raises(WorkdirError, match="decisions"):
            ns.dedup(tmp_path / "in.jsonl", decisions=other, **run)


@pytest.mark.parametrize(("groups", "counted"), [("pqqp", (0, 0, 1)), ("pppp", (1, 1, 0))])
def test_a_decision_about_documents_of_two_groups_is_not_obeyed_by_a_guess(
    groups: str, counted: tuple[int, int, int]
) -> None:
    """Nobody would have removed one for the other."""
    urls = [f"https://a.org/x{tail}" for tail in ("", "/", "/index.html", "/index.htm")]
    texts = [f"{_TEXT} {end}" for end in ("", "x", "y", "z")]
    table = pa.table({"id": [*"abcd"], "url": urls, "text": texts, "group": [*groups]})
    decisions = [{"id1": "a", "id2": "b", "label": "no"}]
    told = ns.dedup(table, use="url,digest,text", group_by="group", decisions=decisions).stats.decisions
    assert counted == (told["apart"], told["both_kept"], told["not_similar"])
