"""Answers that are questioned later: what they say of themselves, and of files that changed meanwhile."""

import json
import os

import pytest

import nearsame as ns
from nearsame.errors import ConfigError, SourceError, WorkdirError

ROSE, NEARLY, DAISY = "a rose is a rose is a rose", "a rose is a rose is a rose", "a daisy is a daisy is a daisy"


def _written(place, kind):
    if kind == "folder":
        place.mkdir()
        for number, text in enumerate((ROSE, NEARLY, DAISY)):
            (place / f"{number}.txt").write_text(text)
        return place, place / "0.txt"
    path = place.with_suffix(".jsonl")
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in (ROSE, NEARLY, DAISY)))
    return path, path


@pytest.mark.parametrize("kind", ["folder", "jsonl"])
@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("ask", [ns.Result.examples, lambda found: (found.kept(), found.removed())])
def test_a_source_that_changed_since_is_refused(tmp_path, kind, gone, ask):
    """Positions counted in other contents are those of other documents."""
    source, file = _written(tmp_path / "texts", kind)
    found = ns.dedup(source)
    ask(found)
    if gone:
        file.unlink()
    else:
        file.write_text(DAISY + DAISY)
    with pytest.raises(SourceError, match="does not exist" if gone else "changed while it was being read"):
        ask(found)


def test_answers_are_one_line():
    """With the counts, not with all arrays."""
    assert "Result(3 documents, 2 kept, 1 removed)" == repr(ns.dedup([ROSE, NEARLY, DAISY]))
    assert "Pairs(1 pair, method=jaccard, threshold=0.8)" == repr(ns.pairs([ROSE, NEARLY, DAISY]))


def test_a_higher_threshold_says_that_it_was_not_audited():
    """What was measured is of another threshold; of a run that was not audited there is nothing to say."""
    found = ns.dedup([ROSE, NEARLY, DAISY], method="minhash").at(threshold=0.9)
    assert found.stats.audit is None
    assert ("recall was not measured at threshold 0.9: that takes a run of its own",) == found.stats.notes
    assert 1 == len(found.at(threshold=0.95).stats.notes)
    assert () == ns.dedup([ROSE, NEARLY, DAISY]).at(threshold=0.9).stats.notes


def test_values_that_are_no_dates_are_counted():
    """They come last; if all are such, the policy does nothing."""
    rows = [{"text": ROSE, "date": date} for date in ("2024-01-01", "yesterday", None, "", "2025-01-01")]
    found = ns.dedup(rows, keep="newest:date")
    assert ("1 of 3 values of 'date' are not dates: they come last",) == found.stats.notes
    assert ["2025-01-01"] == found.kept()["date"].to_pylist()
    with pytest.raises(ConfigError, match="keep=oldest:date: 1 of 1 values of 'date' are not dates"):
        ns.dedup(rows[1:3], keep="oldest:date")
    assert () == ns.dedup(rows[2:4], keep="oldest:date").stats.notes
    assert () == ns.dedup(rows, keep="max:date").stats.notes


def test_a_workdir_knows_what_is_in_a_table_of_frequencies(tmp_path):
    """Not only where it is."""
    source, _ = _written(tmp_path / "texts", "jsonl")
    path = tmp_path / "frequencies"
    ns.dedup(source, method=ns.SimHash(weights="tfidf")).write(path)
    table = path / "frequencies.parquet"
    recipe = ns.SimHash(weights="tfidf", frequencies=os.fspath(table))
    again = {"method": recipe, "workdir": tmp_path / "work"}
    assert 1 == ns.dedup(source, **again).stats.removed
    assert 1 == ns.dedup(source, **again).stats.removed
    ns.dedup([DAISY], method=ns.SimHash(weights="tfidf")).write(path, overwrite=True)
    with pytest.raises(WorkdirError):
        ns.dedup(source, **again)


def test_a_normalised_digest_counts_texts_without_a_word():
    """Of raw texts, words are no matter."""
    texts = ["***", "!!!", "", None, "a rose"]
    assert 2 == ns.dedup(texts, method=ns.Digest(normalise=True)).stats.bare
    assert 0 == ns.dedup(texts, method="digest").stats.bare


def test_bytes_go_in_and_come_out_of_each_step(tmp_path):
    """Text, features of eight bytes, keys of 21, and the files that are there in the end."""
    found = ns.dedup([ROSE, NEARLY, DAISY, "", DAISY + " is"], method=ns.Jaccard(shingle_size=1, threshold=0.5))
    stats = found.write(tmp_path / "out")
    steps = stats.bytes
    assert {"documents": 5, "in": stats.text_bytes, "out": 8 * (3 + 3 + 3 + 3)} == steps["features"]
    assert steps["features"]["out"] == steps["identical"]["in"]
    assert 8 * stats.features == steps["identical"]["out"] == steps["keys"]["in"]
    assert 21 * stats.keys == steps["keys"]["out"] == steps["meeting"]["in"]
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and path.name != "stats.json"]
    assert {"documents": stats.kept, "out": sum(path.stat().st_size for path in files)} == steps["writing"]
    assert steps == json.loads((tmp_path / "out" / "stats.json").read_text())["bytes"]
    assert "in" not in ns.dedup([ROSE, DAISY], method="minhash").stats.bytes["keys"]
