"""What two runs decide differently, against each document's own fate in both, and the reasons that are given."""

import pytest

import nearsame as ns
from nearsame.errors import ConfigError
from nearsame.outputs.html import report_page
from tests.cli.commands import run as cli
from tests.cli.commands import words, write_jsonl

BASE = words(40, 1)


def documents(*changed):
    """A text, and others in which so many words are changed, far from each other."""
    made = {"first": BASE}
    for count in changed:
        made[f"changed {count}"] = [
            f"new{count}" if at % 13 == 6 and at // 13 < count else w for at, w in enumerate(BASE)
        ]
    return [{"id": id, "text": " ".join(text)} for id, text in made.items()]


def run(source, threshold, **options):
    """A run by words, so that similarities are plain."""
    return ns.dedup(source, method=ns.Jaccard(threshold=threshold, shingle_size=1), **options)


def fates(found):
    """Who goes."""
    return set(found.removed().column("id").to_pylist())


def found_changes(newer, older):
    """The changes of a report, held to what became of each document."""
    changes = ns.report(newer, against=older).changes
    assert fates(newer) - fates(older) == {one.id for one in changes.gone}
    assert fates(older) - fates(newer) == {one.id for one in changes.back}
    assert (changes.num_gone, changes.num_back) == (len(changes.gone), len(changes.back))
    assert changes.num_gone == sum(number for is_gone, _, number in changes.reasons if is_gone)
    return changes


def test_a_source_is_the_same_by_another_name(tmp_path, monkeypatch):
    """From another folder, or by its whole path, as by the name that it had; another file of that kind is not."""
    source = write_jsonl(tmp_path / "a.jsonl", documents(1, 2, 3))
    other = write_jsonl(tmp_path / "b.jsonl", documents(1, 2, 3))
    newer = run(source, "0.8")
    monkeypatch.chdir(tmp_path)
    names = (source, "a.jsonl", source.as_uri())
    for name, expected in (*((name, "threshold") for name in names), (other, "unread")):
        older = run(name, "0.93")
        older.write(tmp_path / "older", overwrite=True)
        for one in (older, tmp_path / "older"):
            assert {expected} == {gone.kind for gone in ns.report(newer, against=one).changes.gone}


def test_a_lower_threshold_is_told_by_the_similarity(tmp_path):
    """Of a folder, too; the other way round it is the same pairs."""
    source = write_jsonl(tmp_path / "a.jsonl", documents(1, 2, 3))
    low, high = run(source, "0.8"), run(source, "0.93")
    high.write(tmp_path / "older")
    changes = found_changes(low, high)
    assert ("threshold", True) == (
        changes.gone[0].kind,
        changes.gone[0].why.endswith("is below 0.93, the threshold then"),
    )
    assert ["threshold"] == [name for name, *_ in changes.settings]
    assert {one.id for one in found_changes(high, low).back} == {one.id for one in changes.gone}
    low.write(tmp_path / "newer")
    page = tmp_path / "page.html"
    assert 0 == cli("report", tmp_path / "newer", "--against", tmp_path / "older", "-o", page).exit_code
    assert "is below 0.93, the threshold then" in page.read_text("utf-8")


def test_decisions_witnesses_and_order_are_told_apart():
    """Kept apart, another one stays, the witness goes itself, another measure."""
    source = documents(1, 2)
    plain = run(source, "0.8")
    apart = run(source, "0.8", decisions=[{"id1": "first", "id2": "changed 1", "label": "no"}])
    assert ["decision"] == [one.kind for one in found_changes(plain, apart).gone if one.id == "changed 1"]
    last = run(source, "0.8", keep="last")
    changes = found_changes(last, plain)
    assert {"first": "swapped", "changed 1": "witness"}.items() >= {one.id: one.kind for one in changes.gone}.items()
    other = ns.dedup(source, method=ns.Jaccard(threshold="0.8", shingle_size=9))
    assert {"settings"} == {one.kind for one in found_changes(plain, other).gone}
    fewer = run(source[1:], "0.8")
    assert {"documents"} >= {one.kind for one in found_changes(plain, fewer).gone} - {"swapped", "witness", "unread"}


def test_what_cannot_be_compared_is_said():
    """Ids that several have are left out and counted; pairs decide nothing; hostile ids are escaped."""
    twice = [*documents(1), *documents(1)]
    assert 0 < ns.report(run(twice, "0.8"), against=run(documents(1), "0.8")).changes.num_unknown
    with pytest.raises(ConfigError, match="pairs decides nothing"):
        ns.report(ns.pairs(documents(1)), against=run(documents(1), "0.8"))
    hostile = [{"id": f"</script><b>{at}", "text": " ".join(BASE)} for at in range(2)]
    page = report_page(ns.report(run(hostile, "0.8"), against=run(documents(), "0.8")))
    assert "<b>1" not in page.partition("<script")[0]


def test_a_witness_that_shares_its_id_with_a_removed_document_is_not_said_to_go(tmp_path):
    """It stays in both runs; what goes is its copy in another file, so the reason is the threshold."""
    for name, counts in (("a.jsonl", (3,)), ("b.jsonl", ())):
        write_jsonl(tmp_path / name, documents(*counts))
    low, high = (run(str(tmp_path / "*.jsonl"), threshold) for threshold in ("0.8", "0.93"))
    assert {"first", "changed 3"} == fates(low)
    assert ["threshold"] == [one.kind for one in ns.report(high, against=low).changes.back]
