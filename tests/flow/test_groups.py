"""Groups: one run gives what the runs of the groups, each for itself, give together."""

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame.errors import ColumnError, ConfigError
from tests.cli.commands import run
from tests.examples import share

METHODS = {
    "jaccard": ns.Jaccard(threshold=0.6, shingle_size=1),
    "cosine": ns.Cosine(threshold=0.6, shingle_size=1),
    "containment": ns.Containment(threshold=0.6, shingle_size=1),
    "minhash": ns.MinHash(threshold=0.6, shingle_size=1),
    "modp": ns.ModP(threshold=0.6, shingle_size=1, modulus=2, floor=2),
    "digest": ns.Digest(),
    "simhash": ns.SimHash(k=16, shingle_size=1),
    "rotated": ns.SimHash(k=16, shingle_size=1, search="adjacent"),
}
TEXT = "the quick brown fox jumps over the lazy dog near the river"
ROWS = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdef"), max_size=6).map(" ".join), st.sampled_from([None, "x", "y", "z"])),
    min_size=1,
    max_size=14,
)


def _table(rows):
    texts, groups = zip(*rows, strict=True) if rows else ((), ())
    ids = [str(number) for number in range(len(rows))]
    return pa.table({"id": ids, "text": pa.array(texts, pa.string()), "g": pa.array(groups, pa.string())})


def _removed(found):
    return sorted((row["id"], row["witness_id"], row["similarity"]) for row in found.removals.to_pylist())


@pytest.mark.slow
@given(
    ROWS,
    st.integers(0, 5),
    st.sampled_from(["greedy", "components"]),
    st.booleans(),
    st.sampled_from(["longest", "min:g, last"]),
)
@settings(max_examples=share(60))
@pytest.mark.parametrize("name", METHODS)
def test_one_run_gives_what_the_runs_of_all_groups_give(  # noqa: PLR0917  (a setting each)
    name, rows, num_against, clusters, layered, keep
):
    """Who goes, by whose witness, how similar; on one side and on two, and with layers before the method."""
    against, judged = _table(rows).slice(0, num_against), _table(rows).slice(num_against)
    given_settings = {"method": METHODS[name], "keep": keep, "clusters": clusters, "audit": False}
    if name == "containment":
        given_settings["clusters"] = "greedy"
    if layered and name != "digest":
        given_settings["use"] = "digest,text"

    def removed(wanted, **more):
        sides = [
            side.filter(pa.array([wanted(value) for value in side["g"].to_pylist()], pa.bool_()))
            for side in (judged, against)
        ]
        return _removed(ns.dedup(sides[0], against=sides[1] if num_against else None, **given_settings, **more))

    expected = sorted(
        row for group in (None, "x", "y", "z") for row in removed(lambda value, group=group: value == group)
    )
    assert expected == removed(lambda _: True, group_by="g")


def test_nothing_else_is_measured_than_what_was_asked(tmp_path):
    """The audit knows groups, and so does the proof, also of an output that was changed."""
    rows = [{"text": f"{TEXT} {number % 3}", "g": number % 2} for number in range(40)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = ns.dedup(tmp_path / "in.jsonl", method=ns.MinHash(threshold=0.7), group_by="g", audit=True)
    audit = found.stats.record()["audit"]
    assert (2, 1.0, 0.0) == (found.stats.kept, audit["recall"]["value"], audit["residual"]["value"])
    found.write(tmp_path / "out")
    assert ns.verify(tmp_path / "out").holds
    alike = ns.dedup(tmp_path / "in.jsonl", group_by="g")
    alike.write(tmp_path / "exact")
    assert 2 == alike.stats.kept
    assert ns.verify(tmp_path / "exact").holds
    for name in ("stats.json",):  # as if there had been no groups: then two that are similar stay
        stats = json.loads((tmp_path / "exact" / name).read_text())
        stats["recipe"]["group_by"] = "host"
        (tmp_path / "exact" / name).write_text(json.dumps(stats))
    assert not ns.verify(tmp_path / "exact").holds


def test_folders_and_hosts_are_groups(tmp_path):
    """On the command line, with a proof that holds."""
    for lang in ("en", "de"):
        (tmp_path / "in" / f"lang={lang}").mkdir(parents=True)
        lines = [json.dumps({"text": TEXT, "url": f"http://{host}/"}) + "\n" for host in ("a.org", "b.org")]
        (tmp_path / "in" / f"lang={lang}" / "a.jsonl").write_text("".join(lines))
    for group, kept in (("lang", 2), ("host", 2), (None, 1)):
        out = tmp_path / f"out-{group}"
        done = run("dedup", tmp_path / "in", *(["--group-by", group] if group else []), "-o", out)
        assert 0 == done.exit_code, done.stderr
        assert kept == json.loads((out / "stats.json").read_text())["kept"]
        verification = ns.verify(out)
        assert verification.holds, verification
    found = ns.dedup(str(tmp_path / "in"), use="url,digest,text", group_by="lang")
    assert 2 == found.stats.kept


def test_what_cannot_be_is_refused():
    """A column or a host that nobody has."""
    with pytest.raises(ColumnError, match="no column 'g'"):
        ns.dedup(["a"], group_by="g")
    with pytest.raises(ConfigError, match="group_by=host: no document has one"):
        ns.dedup(["a"], group_by="host")


def test_what_is_promised_holds_within_groups(tmp_path):
    """Equal documents of two groups both stay, and no promise says otherwise."""
    (tmp_path / "in.jsonl").write_text('{"text": "a b", "g": 1}\n{"text": "a b", "g": 2}\n')
    for layers in ([], ["--use", "digest,text"]):
        result = run("dedup", tmp_path / "in.jsonl", "--group-by", "g", "--dry-run", *layers)
        assert "within each group of one g: no others were compared." in " ".join(result.stdout.split())
    result = run("dedup", tmp_path / "in.jsonl", "--group-by", "h", "--dry-run")
    assert (2, True) == (result.exit_code, "with --keep or --group-by: text, g." in result.stderr)


@pytest.mark.parametrize("method", ["jaccard", "simhash", "digest"])
def test_what_was_decided_of_two_holds_for_their_copies_of_the_same_group(method, tmp_path):
    """In another group their like go for each other, and the proof of an honest output knows that."""
    words, more = TEXT, TEXT if method == "digest" else f"{TEXT} now"
    rows = [(f"{group}{number}", text, group) for group in "xy" for number, text in enumerate((words, more) * 2)]
    table = pa.table(dict(zip(("id", "text", "g"), map(list, zip(*rows, strict=True)), strict=True)))
    apart = [{"id1": "x0", "id2": "x1", "label": "no"}]
    found = ns.dedup(table, method=METHODS[method], group_by="g", decisions=apart)
    kept = ["x0", "x1", "y0"]
    assert kept == found.kept().column("id").to_pylist()
    found.write(tmp_path / "out", pairs=True)
    assert () == ns.verify(tmp_path / "out", source=table).problems
    whole = ns.dedup(table, method=METHODS[method], decisions=apart)
    assert kept[:2] == whole.kept().column("id").to_pylist()


@pytest.mark.parametrize("other", [2**64 - 1, 1])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_hashes_of_64_bits_are_told_apart(tmp_path, kind, other):
    """A double would hold neighbours as one number: they would be one group, and none the smaller one."""
    numbers = [other, 2**64 - 2, 2**64 - 2]
    rows = [{"id": str(at), "text": "one rose is a rose", "h": number} for at, number in enumerate(numbers)]
    path = tmp_path / f"in.{kind}"
    if kind == "csv":
        path.write_text("".join(f"{row['id']},{row['text']},{row['h']}\n" for row in [{k: k for k in rows[0]}, *rows]))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    kept = ns.dedup(str(path), group_by="h").kept().column("h").to_pylist()
    assert 2 == len(kept)
    least = ns.dedup(str(path), keep="min:h").removed()
    assert sorted(numbers)[1:] == sorted(int(number) for number in least.column("h").to_pylist())
    path.write_text(path.read_text().replace(str(numbers[1]), "-1", 1))
    assert ["1"] == ns.dedup(str(path), keep="min:h").kept().column("id").cast(pa.string()).to_pylist()
