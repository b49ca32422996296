"""Training data without the passages in which items leaked: everything else is as it was."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import ConfigError

ITEM = 'Which wise old wallaby, known as "Wally", waltzes with Wendy the whole Wednesday evening?'
EVALS = {"quiz": [{"id": "q", "question": ITEM}]}
TEXTS = [
    f'Före: {ITEM} — Après "x", y',
    'a daisy, "nothing" else',
    f"(1) {ITEM.upper()}\n\n(2) {ITEM} so?",
    ITEM,
    None,
]
LEFT = ['Före: ? — Après "x", y', TEXTS[1], "(1) ?\n\n(2) ? so?", None, None]
TABLE = pa.table({"n": [1, 2, 3, 4, 5], "text": TEXTS, "more": ["é", None, 'b,"c', ITEM, ""]})
KEPT = TABLE.set_column(1, "text", [LEFT]).take([0, 1, 2, 4])


def _opened(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_passages_are_cut_out_of_lines_of_json(tmp_path: Path, name: str) -> None:
    """All other bytes stay: keys, numbers, escapes, ends of lines, what cannot be read."""
    lines = [json.dumps(record, ensure_ascii=at == 2) for at, record in enumerate(TABLE.to_pylist())]
    odd = '"a": [{"text": "x"}, 1.50, 1e-400], "text": "other", "t\\u0065xt" :\t'
    lines[0] = lines[0].replace('"text": ', odd)
    data = ("\r\n".join(lines) + "\n\n{broken\n").encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    ns.leaks(tmp_path / name, EVALS, text_column="text").write(tmp_path / "out", remove="spans")
    own = json.dumps(LEFT[0], ensure_ascii=False)
    lines[0] = lines[0].replace('"other"', own).replace(json.dumps(TEXTS[0], ensure_ascii=False), own)
    lines[2] = lines[2].replace(json.dumps(TEXTS[2]), json.dumps(LEFT[2]))
    del lines[3]
    assert ("\r\n".join(lines) + "\n\n{broken\n").encode() == _opened(tmp_path / "out" / "kept" / name)
    assert 0 == ns.leaks(tmp_path / "out" / "kept", EVALS, text_column="text").stats.leaked


def test_passages_are_cut_out_of_delimited_fields(tmp_path: Path) -> None:
    """All other fields stay as they are quoted, and records that cannot be read."""
    home = tmp_path / "in"
    home.mkdir()
    records = [[str(value or "").replace('"', '""') for value in row.values()] for row in TABLE.to_pylist()]
    rows = [f'{number},"{text}","{more}"' for number, text, more in records]
    bare = ITEM.replace('"', "")
    rows.append(f'6,"{bare} ""so"""x,')
    (home / "a.csv").write_bytes("\r\n".join(["n,text,more", *rows, "1,2"]).encode())
    (home / "b.tsv").write_text(f'n\ttext\tmore\n1\t{bare} "x"\t"\n"\n2\ta\t\n3\t{bare}" so\tx', "utf-8")
    ns.leaks(home, EVALS).write(tmp_path / "out", remove="spans")
    for at in (0, 2):
        rows[at] = rows[at].replace(*(str(text).replace('"', '""') for text in (TEXTS[at], LEFT[at])))
    rows[5] = '6,"? ""so""x",'
    del rows[3]
    kept = tmp_path / "out" / "kept"
    assert "\r\n".join(["n,text,more", *rows, "1,2"]).encode() == (kept / "a.csv").read_bytes()
    assert '? "x"\t"\n"\n2\ta\t\n3\t?" so\tx' == (kept / "b.tsv").read_text("utf-8").partition("1\t")[2]
    assert 0 == ns.leaks(kept, EVALS).stats.leaked


def test_passages_are_cut_out_of_columns(tmp_path: Path) -> None:
    """All other columns stay, and the type of this one; what is encoded in a dictionary becomes plain."""
    home, kept = tmp_path / "in", tmp_path / "out" / "kept"
    home.mkdir()
    pq.write_table(TABLE, home / "a.parquet", row_group_size=2)
    pa.orc.write_table(TABLE, home / "b.orc")
    kinds = {"c": pa.dictionary(pa.int32(), pa.string()), "d": pa.string_view(), "e": pa.large_binary()}
    for name, kind in kinds.items():
        column = TABLE.column("text").cast(pa.large_binary() if name == "e" else pa.string()).cast(kind)
        table = TABLE.set_column(1, pa.field("text", kind, metadata={"a": "b"}), column)
        with pa.ipc.new_file(home / f"{name}.arrow", table.schema) as out:
            out.write_table(table, max_chunksize=2)
    ns.leaks(home, EVALS, text_column="text").write(tmp_path / "out", remove="spans")
    assert KEPT == pq.read_table(kept / "a.parquet")
    assert 3 == pq.ParquetFile(kept / "a.parquet").num_row_groups
    assert KEPT == pa.orc.read_table(kept / "b.orc")
    for name, kind in {**kinds, "c": pa.string()}.items():
        table = pa.ipc.open_file(kept / f"{name}.arrow").read_all()
        assert pa.field("text", kind, metadata={"a": "b"}).equals(table.schema.field("text"), check_metadata=True)
        plain = table.column("text").cast(pa.large_binary()).cast(pa.string())
        assert KEPT == table.set_column(1, "text", plain).combine_chunks()
    assert 0 == ns.leaks(kept, EVALS, text_column="text").stats.leaked


def test_what_was_cut_is_recorded(tmp_path: Path) -> None:
    """By item, document and characters, also of what went as a whole; and counted."""
    stats = ns.leaks(TABLE, EVALS, text_column="text").write(tmp_path / "out", remove="spans")
    cuts = pq.read_table(tmp_path / "out" / "cuts.parquet").to_pylist()
    assert [(0, True), (2, True), (2, True), (3, False)] == [(line["row"], line["left"]) for line in cuts]
    assert {("quiz", "q", "question", 1.0)} == {
        tuple(line[name] for name in ("benchmark", "item", "column", "score")) for line in cuts
    }
    assert [line["passage"] for line in cuts] == [str(TEXTS[line["row"]])[line["start"] : line["end"]] for line in cuts]
    assert (1, 2, 4, 4 * (len(ITEM) - 1)) == tuple(vars(stats.removed).values())
    record = json.loads((tmp_path / "out" / "stats.json").read_text("utf-8"))
    assert ("spans", vars(stats.removed)) == (record["remove"], record["stats"]["removed"])
    assert {"benchmarks", "training", "cutting"} == record["stats"]["seconds"].keys()
    assert KEPT == pq.read_table(tmp_path / "out" / "kept")


@pytest.mark.parametrize("encoding", [None, "latin-1", "utf-16", "auto"])
def test_text_files_stay_in_their_encoding(tmp_path: Path, encoding: str | None) -> None:
    """What is cut as well as what is not: files, where without cuts a list would do."""
    home, kept = tmp_path / "in" / "deep", tmp_path / "out" / "kept" / "deep"
    home.mkdir(parents=True)
    known = {None: "utf-8", "auto": "utf-16"}.get(encoding, str(encoding))
    (home / "a.txt").write_bytes(f"Größe: {ITEM} Ende".encode(known))
    (home / "b.txt").write_bytes("Tschüß, alle zusammen, und bis bald in größerer Runde".encode(known))
    ns.leaks(tmp_path / "in", EVALS, encoding=encoding).write(tmp_path / "out", remove="spans")
    assert (home / "b.txt").read_bytes() == (kept / "b.txt").read_bytes()
    assert "Größe: ? Ende".encode(known) == (kept / "a.txt").read_bytes()


def test_web_pages_are_not_cut(tmp_path: Path) -> None:
    """Their texts are not written in them."""
    (tmp_path / "a.html").write_text(f"<p>{ITEM}</p>", "utf-8")
    for found in (ns.leaks(tmp_path / "a.html", EVALS), ns.leaks([{"page": ITEM}], EVALS, html_column="page")):
        with pytest.raises(ConfigError, match=r"remove=spans: .* holds web pages"):
            found.write(tmp_path / "out", remove="spans")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet", ".arrow"])
def test_several_sources_become_one_file(tmp_path: Path, ending: str) -> None:
    """Lines, columns, folders of texts and what is in memory, whatever the format of the file."""
    home = tmp_path / "in"
    (home / "part=1").mkdir(parents=True)
    (home / "part=1" / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), "utf-8")
    pq.write_table(TABLE.select(["text"]), home / "b.parquet")
    (home / "c.txt").write_text(str(TEXTS[0]), "utf-8")
    (home / "d.txt").write_text(ITEM, "utf-8")
    found = ns.leaks((home, TABLE.select(["text"])), EVALS)
    left = [*LEFT[:3], None]
    for remove, texts in (("spans", [*left, *left, LEFT[0], *left]), ("documents", [TEXTS[1], None] * 3)):
        stats = found.write(tmp_path / f"{remove}{ending}", remove=remove)
        assert (stats.documents - stats.removed.documents) == len(texts)
        out = ns.leaks(tmp_path / f"{remove}{ending}", EVALS, text_column="text")
        assert (len(texts), 0) == (out.stats.documents, out.stats.leaked)
        kept = ns.dedup(tmp_path / f"{remove}{ending}", method="digest", text_column="text").kept()
        assert {text or "" for text in texts} == {text or "" for text in kept.column("text").to_pylist()}
        assert {"part", "text"} <= set(kept.column_names)


def test_a_file_alone_is_copied_as_it_was(tmp_path: Path) -> None:
    """In its own format only what is cut or left out makes a difference, and it says how it was made."""
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=2)
    ns.leaks(tmp_path / "a.parquet", EVALS, text_column="text").write(tmp_path / "b.parquet", remove="spans")
    assert KEPT == pq.read_table(tmp_path / "b.parquet").replace_schema_metadata(None)
    assert 3 == pq.ParquetFile(tmp_path / "b.parquet").num_row_groups
    assert 3 == ns.rerun(tmp_path / "b.parquet", against=EVALS).stats.leaked_documents


def test_training_documents_stay_as_what_came_in(tmp_path: Path) -> None:
    """Without those that leaked as the frame that they were; with passages cut out as an Arrow table."""
    frame = TABLE.to_pandas()
    found = ns.leaks(frame, EVALS, text_column="text")
    assert found.kept().equals(frame.iloc[[1, 4]])
    assert found.kept(remove="spans").select(TABLE.column_names).to_pylist() == KEPT.to_pylist()
    pq.write_table(TABLE, tmp_path / "a.parquet")
    several = ns.leaks((tmp_path / "a.parquet", TABLE.to_pandas()), EVALS, text_column="text")
    assert [2, 5, 2, 5] == several.kept()["n"].to_pylist()
    with pytest.raises(ConfigError, match="remove='none' is not 'documents' or 'spans'"):
        found.kept(remove="none")  # type: ignore[arg-type]  (on purpose)
