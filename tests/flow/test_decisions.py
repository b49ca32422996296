"""`decisions=`: what people have decided about pairs is obeyed, counted, recorded, and nothing else changes."""

import json
import random
import tempfile
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import ConfigError, WorkdirError
from nearsame.files.passed_over import PassedOver
from nearsame.flow.decisions import _depths
from nearsame.outputs.promises import guarantee
from nearsame.outputs.remarks import remarks
from tests.oracle.apart import chosen_first, decide, is_apart
from tests.oracle.corpora import corpora, thresholds_for
from tests.oracle.decisions import pairs
from tests.oracle.priority import order
from tests.oracle.shingles import features

ROSES = {"a": "a rose is a rose", "b": "a rose is a rose!", "c": "A rose is a rose", "d": "a daisy"}


def table(texts: list[str | None]) -> pa.Table:
    """Documents d0, d1 and so on."""
    return pa.table({"id": [f"d{row}" for row in range(len(texts))], "text": pa.array(texts, pa.string())})


@pytest.mark.slow
@given(corpora(max_size=10), st.data())
def test_what_was_decided_is_obeyed_as_the_rule_says(texts: list[str | None], data: st.DataObject) -> None:
    """Document by document, without any collapsing or blocks; sides, components, copies, chosen ones that lose."""
    num_against = data.draw(st.sampled_from([0, 0, len(texts) // 3, len(texts) // 2]))
    again = data.draw(st.lists(st.integers(0, num_against - 1), max_size=2)) if num_against else []
    copies = [(row, len(texts) + number) for number, row in enumerate(again)]  # of the `against` side, on the other one
    texts = [*texts, *(texts[row] for row in again)]
    sets = [features(text, size=2) for text in texts]
    rows = st.integers(0, max(0, len(texts) - 1))
    some = st.lists(st.tuples(rows, rows).filter(lambda pair: pair[0] < pair[1]), max_size=6, unique=True)
    decided = [*dict.fromkeys([*copies, *(data.draw(some) if len(texts) > 1 else [])])]
    cut = data.draw(st.integers(len(copies), len(decided)))
    apart, chosen = decided[:cut], decided[cut:]
    within = not num_against or data.draw(st.booleans())
    linked, keep = data.draw(st.booleans()), data.draw(st.sampled_from(["first", "last", "longest"]))
    threshold = data.draw(thresholds_for(sets))
    whole = table(texts)
    given_decisions = [
        *({"id1": f"d{a}", "id2": f"d{b}", "label": "no"} for a, b in apart),
        *({"id1": f"d{a}", "id2": f"d{b}", "keep": f"d{b}"} for a, b in chosen),
    ]
    found = ns.dedup(
        whole[num_against:], method=ns.Jaccard(threshold=threshold, shingle_size=2), keep=keep, within=within,
        against=whole[:num_against] if num_against else None, decisions=given_decisions,
        clusters="components" if linked else "greedy",
    )  # fmt: skip
    similar = pairs(sets, Fraction(threshold))
    ranked = chosen_first(order(len(texts), keep, texts, num_against), [(b, a) for a, b in chosen], num_against)
    gone = decide(sets, similar, ranked, apart, num_against=num_against, within=within, linked=linked)
    lines = found.removals.select(["id", "witness_id"]).to_pylist()
    assert {f"d{row}" for row in gone} == {line["id"] for line in lines}
    witnesses = [(int(line["id"][1:]), int(line["witness_id"][1:])) for line in lines]
    assert not [pair for pair in witnesses if pair[1] in gone or is_apart(*pair, sets, apart)]
    both = [(a, b) for a, b in similar if not gone & {a, b} and is_apart(a, b, sets, apart)
            and b >= num_against and (a < num_against or within)]  # fmt: skip
    counts = found.stats.decisions
    with tempfile.TemporaryDirectory() as home:
        found.write(f"{home}/out", pairs=True)  # which verifies it
    if decided:
        assert len(both) == counts["both_kept"]
        assert counts["chosen"] == sum(b not in gone and a in gone for a, b in chosen)


def test_a_pair_that_is_kept_apart_stays_and_the_promise_says_so(tmp_path):
    """Counted, printed, recorded, at a higher threshold too, and when the run is asked again."""
    decisions = tmp_path / "decided.tsv"
    decisions.write_text("id1\tid2\tlabel\tkeep\nb\ta\tno\t\na\tc\tyes\tc\nx\ta\tno\t\na\td\tno\t\nb\tc\t?\t\n")
    found = ns.dedup(
        ROSES, decisions=decisions, method=ns.Jaccard(threshold=0.5, shingle_size=1, keep_punctuation=True)
    )
    assert ["b", "c", "d"] == sorted(found.kept().column("id").to_pylist())
    expected = {"read": 5, "apart": 1, "chosen": 1, "both_kept": 1, "confirmed": 1, "unsure": 1}
    assert expected | {"not_similar": 1, "overruled": 0, "lost": 1, "lost_ids": ["x"]} == found.stats.decisions
    assert "but for 1 pair that was decided" in guarantee(found.stats)
    said = "2 decisions no longer fit: ids that no document has, or several have (x): 1; no duplicates here: 1."
    assert said in set(remarks(found.stats, PassedOver()))
    found.write(tmp_path / "out")
    assert found.removals.equals(ns.rerun(tmp_path / "out", ROSES).removals)
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    stats["recipe"]["decisions"][1] |= {"label": "no"}
    (tmp_path / "out" / "stats.json").write_text(json.dumps(stats))
    wrong = {problem.what.partition(": ")[2] for problem in ns.verify(tmp_path / "out", source=ROSES).problems}
    assert "the two were kept apart, and one is removed for the other" in wrong
    assert {"a", "d"} > set(found.at(threshold=1).removals.column("id").to_pylist())


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize("clusters", ["greedy", "components"])
def test_a_copy_told_apart_from_one_of_the_against_side_goes_for_another(clusters, within, tmp_path):
    """Of two that stay whoever resembles them, the one that it was told apart from is not all that it meets."""
    whole = "one two three four five six seven eight nine ten"
    half = whole.removesuffix(" nine ten")
    against, apart = {"id": ["o0", "o1"], "text": [whole, half]}, [{"id1": "o1", "id2": "d0", "label": "no"}]
    asked = {"method": ns.Jaccard(threshold=0.7, shingle_size=2), "clusters": clusters, "within": within}
    found = ns.dedup({f"d{row}": half for row in range(2)}, against=against, decisions=apart, **asked)
    found.write(tmp_path / "out")
    lines = found.removals.select(["id", "witness_id", "similarity"]).to_pylist()
    assert [("d0", "o0", 7 / 9), ("d1", "o1", 1)] == [tuple(line.values()) for line in lines]
    again = found.at(threshold=0.8)
    assert ["d1"] == again.removals.column("id").to_pylist()
    assert (0, 1) == (found.stats.decisions["both_kept"], again.stats.decisions["both_kept"])


def test_what_a_chain_joined_is_counted_without_those_that_were_told_apart():
    """A link to a document that stays is none of the component's."""
    words = [f"w{at}" for at in range(30)]
    texts = [{"id": f"d{at}", "text": " ".join(words[5 * at : 5 * at + 20])} for at in range(3)]
    asked = {"method": ns.Jaccard(threshold=0.5, shingle_size=1), "clusters": "components"}
    found = ns.dedup(texts, decisions=[{"id1": "d0", "id2": "d2", "label": "no"}], **asked)
    component = found.stats.component
    assert (2, 1, ["d1"]) == (component.documents, component.bridges, found.removals.column("id").to_pylist())


_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_LIKE = {"a": _WORDS, "b": f"{_WORDS} thirteen", "c": f"{_WORDS} fourteen", "d": _WORDS, "e": "another text of its own"}


@pytest.mark.parametrize(
    "method",
    [
        ns.Cosine(threshold=0.5, shingle_size=2, weights="tf"),
        ns.Containment(threshold=0.5, shingle_size=2),
        ns.MinHash(threshold=0.5, shingle_size=1),
        ns.MinHash(threshold=0.5, shingle_size=1, verify="estimate"),
        ns.ModP(threshold=0.3, shingle_size=1, modulus=1),
        ns.SimHash(k=16, shingle_size=1),
        ns.SimHash(k=16, shingle_size=1, search="adjacent"),
    ],
    ids=lambda method: f"{method.name}-{method.get('verify') or method.get('search') or ''}",
)
@pytest.mark.parametrize("clusters", ["greedy", "components"])
def test_every_method_obeys_and_its_output_holds(method: Any, clusters: Any, tmp_path: Any) -> None:
    """All but one go for the first; told apart from it (and its copy), b stays, and c goes for either."""
    if method.has_direction and clusters == "components":
        clusters = "greedy"
    apart = [{"id1": "a", "id2": "b", "label": "no"}, {"id1": "c", "id2": "a", "label": "yes", "note": "sure"}]
    found = ns.dedup(_LIKE, method=method, clusters=clusters, decisions=apart)
    gone = {line["id"]: line["witness_id"] for line in found.removals.to_pylist()}
    plain = ns.dedup(_LIKE, method=method, clusters=clusters).removals.column("id").to_pylist()
    if "b" in plain and method.name != "containment":
        assert gone.get("b") not in {"a", "d"}
    assert gone["d"] == gone.get("a", "a")
    found.write(tmp_path / "out")


@pytest.mark.parametrize(
    ("decisions", "options", "message"),
    [
        ([{"id1": "a", "id2": "b", "keep": "c"}], {}, "keep is 'c', which is neither 'a' nor 'b'"),
        ([{"id1": "a"}], {}, "is not one of two ids"),
        ([{"id1": 1, "id2": 2, "label": "no"}], {}, "decisions, number 1: id1 is 1, which is no text"),
        ([{"id1": "a", "id2": "b", "label": True}], {}, "decisions, number 1: label is True, which is no text"),
        ([{"id1": "a", "id2": "a"}], {}, "'a' is paired with itself"),
        ([{"id1": "a", "id2": "b", "label": "nope"}], {}, "number 1: the label 'nope' says neither yes nor no"),
        (
            [{"id1": "a", "id2": "b", "label": "no"}, {"id1": "a", "id2": "c"}, {"id1": "b", "id2": "a", "keep": "a"}],
            {},
            "decisions, number 3: 'b' and 'a' are decided twice, differently",
        ),
        ([{"id1": x, "id2": y, "keep": x} for x, y in ("ab", "bc", "ca")], {}, "each is kept in place of another"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_in_words(decisions: Any, options: Any, message: str) -> None:
    """Contradictions, and what is no decision."""
    with pytest.raises(ConfigError, match=message):
        ns.dedup(ROSES, decisions=decisions, **options)


def test_a_choice_without_a_label_is_no_doubt(tmp_path: Any) -> None:
    """In a file and in a record: who says which one stays says that they are duplicates."""
    decided = tmp_path / "decided.tsv"
    decided.write_text("id1\tid2\tlabel\tkeep\na\tc\t\tc\na\tb\t\t\n")
    for decisions, unsure in ((decided, 1), ([{"id1": "a", "id2": "c", "keep": "c"}, {"id1": "a", "id2": "b"}], 0)):
        found = ns.dedup(ROSES, decisions=decisions)
        said = {name: found.stats.decisions[name] for name in ("read", "chosen", "confirmed", "unsure")}
        assert {"read": 2, "chosen": 1, "confirmed": 2 - unsure, "unsure": unsure} == said
        found.write(tmp_path / f"out{unsure}")


def test_the_last_word_counts_where_lines_say_when(tmp_path):
    """Of one file, and of several; else a pair that is decided twice is an error."""
    log = tmp_path / "log.tsv"
    log.write_text("id1\tid2\tlabel\twhen\na\tb\tno\t1\na\tb\tyes\t2\n")
    assert ["b", "c"] == ns.dedup(ROSES, decisions=log).removals.column("id").to_pylist()
    later = tmp_path / "later.tsv"
    later.write_text("b\ta\tno\n")
    assert {"b"} <= set(ns.dedup(ROSES, decisions=[log, later]).kept().column("id").to_pylist())
    record = {"id1": "a", "id2": "b", "label": "yes"}
    for decisions, apart in (([log, later, record], 0), ([record, later], 1), ([record, record, log], 0)):
        assert apart == ns.dedup(ROSES, decisions=decisions).stats.decisions["both_kept"]
    later.write_text("b\ta\tno\na\tb\tyes\n")
    with pytest.raises(ConfigError, match="line 2: 'a' and 'b' are decided twice, differently"):
        ns.dedup(ROSES, decisions=later)


def test_finished_steps_are_of_one_choice_of_keepers(tmp_path):
    """Who was told apart may change in between, since that is decided last."""
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in ROSES.items()))
    apart, chosen = ([{"id1": "a", "id2": "b", name: value}] for name, value in (("label", "no"), ("keep", "b")))
    run = {"workdir": tmp_path / "work"}
    for decisions, kept in ((None, ["a", "d"]), (apart, ["a", "b", "d"])):
        found = ns.dedup(tmp_path / "in.jsonl", decisions=decisions, **run)
        assert kept == found.kept().column("id").to_pylist()
    with pytest.raises(WorkdirError, match="chosen"):
        ns.dedup(tmp_path / "in.jsonl", decisions=chosen, **run)


@pytest.mark.parametrize("line", ["a\tb", "b\ta", "a\tb\tyes"])
def test_a_first_line_that_may_be_a_pair_is_one(tmp_path, line):
    """Without a further column `a` and `b` are ids; names of columns are told by `id`."""
    decided = tmp_path / "decided.tsv"
    decided.write_text(f"{line}\na\tc\n")
    assert 2 == ns.dedup(ROSES, decisions=decided).stats.decisions["read"]
    decided.write_text(f"id1\tid2\n{line}\n")
    assert 1 == ns.dedup(ROSES, decisions=decided).stats.decisions["read"]


@pytest.mark.parametrize(
    ("method", "column", "values"),
    [
        (ns.SimHash(k=3, shingle_size=1, weights="tf"), "text", ("a a a b", "a a a c")),
        (ns.Hyperplane(threshold=0.9), "vector", ([1.0, 0.0], [2.0, 0.0])),
    ],
    ids=["code", "direction"],
)
def test_what_a_method_cannot_tell_from_each_other_is_apart_for_two_alone(
    method: Any, column: str, values: Any, tmp_path: Any
) -> None:
    """Other documents with these two contents go for the first, and the proof of an honest output knows that."""
    source = pa.table({"id": ["x0", "x1", "y0", "y1"], column: [*values, *values]})
    found = ns.dedup(source, method=method, decisions=[{"id1": "x0", "id2": "x1", "label": "no"}])
    assert {"y0": "x0", "y1": "x0"} == {line["id"]: line["witness_id"] for line in found.removals.to_pylist()}
    found.write(tmp_path / "out")
    assert () == ns.verify(tmp_path / "out", source=source).problems


def test_decisions_of_one_pair_in_a_direction_are_counted_in_theirs() -> None:
    """A small text of this side is in the large one, which is in no text of the `against` side: nothing is excepted."""
    large, small = "one two three four", "one two"
    found = ns.dedup(
        {"large": large, "small": small}, against={"other": small}, method=ns.Containment(shingle_size=1),
        decisions=[{"id1": "large", "id2": "small", "label": "no"}],
    )  # fmt: skip
    assert (1, 0) == tuple(found.stats.decisions[name] for name in ("apart", "both_kept"))
    apart = [{"id1": "large", "id2": "other", "label": "no"}, {"id1": "small", "id2": "other", "label": "no"}]
    found = ns.dedup({"large": large, "small": small}, against={"other": small}, decisions=apart,
                     method=ns.Containment(shingle_size=1))  # fmt: skip
    assert ["large", "small"] == sorted(found.kept().column("id").to_pylist())
    assert 2 == found.stats.decisions["both_kept"]


def test_a_chain_of_decisions_is_taken_apart_in_one_go():
    """Each over the one before; time that grows with the square of its length would be minutes."""
    number = 30_000
    chain = [(at, at + 1) for at in range(number)]
    random.Random(1).shuffle(chain)
    assert {at: at for at in range(number)} == _depths(chain)
    assert {"a": 0, "b": 2, "c": 1} == _depths([("a", "b"), ("c", "b"), ("a", "c"), ("b", "d")])
