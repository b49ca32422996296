"""Pairs to label: of every degree, weighed, in a file that an evaluation reads back."""

from collections import Counter

import pyarrow as pa
import pytest

import nearsame as ns
from nearsame.demo import corpus_path

DEMO = str(corpus_path())


def test_pairs_are_of_every_degree_and_stand_for_all():
    """The weights add up to all pairs, each stratum is there, and another draw is another."""
    found = ns.to_label(DEMO, number=30)
    every = ns.pairs(DEMO, method=ns.Jaccard(threshold="0.2", shingle_size=3), audit=False).table
    similarity = {tuple(sorted(pair)): float(value) for *pair, value in zip(
        *(every.column(name).to_pylist() for name in ("a_id", "b_id", "similarity")), strict=True
    )}  # fmt: skip
    rows = found.table.to_pylist()
    drawn = [similarity[tuple(sorted((row["id1"], row["id2"])))] for row in rows]
    assert (30, len(every), 0.2) == (len(rows), found.pairs, found.floor)
    assert sum(row["weight"] for row in rows) == pytest.approx(len(every), rel=1e-3)
    strata = {min(int(value * 10), 9) + (value == 1) for value in similarity.values()}
    assert strata == {min(int(value * 10), 9) + (value == 1) for value in drawn}
    assert found.table == ns.to_label(DEMO, number=30).table != ns.to_label(DEMO, number=30, seed_of_draw=1).table


def test_only_equal_texts_are_few_of_what_is_drawn():
    """Without any, the highest tenth that has pairs is drawn from as the others are."""
    words = [f"w{number}" for number in range(60)]
    groups = [
        [[f"{group}{word}" for word in words[:-1]] + [f"u{group}{copy}"] for copy in range(6)] for group in "abcd"
    ]
    for number, group in enumerate(groups):
        for copy, text in enumerate(group):
            text[30] = f"v{copy}" if number % 2 else text[30]
    texts = [" ".join(text) for group in groups for text in group]
    assert {2.0} == set(ns.to_label(texts, number=30).table.column("weight").to_pylist())
    equal = ns.to_label([*texts, *[texts[0]] * 9], number=30)
    shown = (equal.table.column(name).to_pylist() for name in ("text1", "text2"))
    assert 5 == sum(one == other for one, other in zip(*shown, strict=True))


def test_all_pairs_are_drawn_where_there_are_few():
    """Each stands for itself, and both texts are shown from shortly before they part."""
    texts = [" ".join(["same"] * 50 + [ending]) for ending in ("one\tend\u2028", "other")]
    found = ns.to_label(pa.table({"id": ["x", "y"], "text": texts}), number=9, shingle_size=1)
    [row] = found.table.to_pylist()
    assert ("x", "y", "", 1.0) == (row["id1"], row["id2"], row["label"], row["weight"])
    assert ["… " + "same " * 20 + "one end", "… " + "same " * 20 + "other"] == [row["text1"], row["text2"]]


def test_a_labelled_file_is_a_truth(tmp_path):
    """What nobody has labelled is not judged; the weights are read."""
    path = tmp_path / "pairs.tsv"
    ns.write_to_label(ns.to_label(DEMO, number=60), path)
    header, *lines = path.read_text("utf-8").splitlines()
    for at, line in enumerate(lines[:-5]):
        cells = line.split("\t")
        lines[at] = "\t".join([*cells[:2], str(at % 2), *cells[3:]])
    path.write_text("\n".join([header, *lines]), "utf-8")
    found = ns.evaluate(DEMO, methods=["digest"], truth=path, apart=False)
    assert Counter(true=27, false=28) == Counter(true=found.advice.true, false=found.advice.false)
    assert found.advice.weighed
    assert "pairs.tsv: 27 true and 28 false pairs, 5 not judged; only these count" == found.truth


@pytest.mark.parametrize(
    ("texts", "settings", "error", "message"),
    [
        (["a b", "c d"], {}, ns.ConfigError, "no two of 2 documents have a Jaccard similarity of 0.2 or more"),
        (["a", "a"], {"number": 0}, ns.ConfigError, "number must be at least 1"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(texts, settings, error, message):
    """With its reason."""
    with pytest.raises(error, match=message):
        ns.to_label(texts, **settings)


def test_too_many_pairs_are_drawn_from_a_higher_floor(monkeypatch):
    """Until they are few enough, or there is no way."""
    monkeypatch.setattr("nearsame.studies.labelling._MOST_PAIRS", 650)
    assert 0.5 == ns.to_label(DEMO, number=10).floor
    monkeypatch.setattr("nearsame.studies.labelling._MOST_PAIRS", 1)
    with pytest.raises(ns.ConfigError, match="more than 1 pairs"):
        ns.to_label(DEMO)


def test_an_id_that_a_line_cannot_hold_is_refused(tmp_path):
    """Before anything is written."""
    found = ns.to_label(pa.table({"id": ["x\ty", "z"], "text": ["a b c", "a b c"]}))
    with pytest.raises(ns.OutputError, match=r"the id 'x\\ty' is empty, or has a tab"):
        ns.write_to_label(found, tmp_path / "pairs.tsv")
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a\n", " a", "a\u2028", "a\tb", "a\rb", ""])
def test_an_id_that_would_not_be_read_again_is_refused(tmp_path, name):
    """Wherever the blank or the line break stands."""
    found = ns.to_label(pa.table({"id": [name, "z"], "text": ["a b c", "a b c"]}))
    with pytest.raises(ns.OutputError, match="cannot hold"):
        ns.write_to_label(found, tmp_path / "pairs.tsv")
