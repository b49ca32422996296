"""Small outputs of every kind, whose documents are chosen so that each setting and each count makes a difference."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import nearsame as ns
from tests.cli.commands import words

__all__ = ["KINDS", "Kind", "make"]

Kind = Callable[[Path], Any]


def _records() -> list[dict[str, Any]]:
    """Copies, an edited one, capitals, marks, repeats, bare and empty texts, ids that repeat, hosts and paths."""
    first, second, third = (words(24, seed) for seed in (1, 2, 3))
    texts = {
        "a": " ".join(first),
        "b": " ".join(second).upper() + " the and THE and",
        "a-copy": " ".join(first),
        "a-edited": " ".join([*first[:12], "another", *first[13:]]),
        "b-plain": " ".join(second) + ", the and the and",
        "c": " ".join([*third, *third[:8], *third[:8]]) + " caf\u00e9 \ufb01n",
        "c-again": " ".join([*third, *third[:8], *third[:8]]) + " cafe\u0301 fin.",
        "marks": "!!! ???",
        "marks-copy": "!!! ???",
        "nothing": "",
    }
    hosts = ("https://one.example/", "https://two.example/")
    return [
        {"id": name, "text": text, "url": f"{hosts[number % 2]}{name.partition('-')[0]}", "rank": number}
        for number, (name, text) in enumerate(texts.items())
    ]


def _lines(path: Path, records: list[dict[str, Any]], *, broken: bool = False) -> str:
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    if broken:
        lines[2:2] = ["", '{"id": "broken", "text": ']
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def _plain(home: Path) -> Any:
    """JSON lines with a broken one, compressed ones, CSV and Parquet, with URLs."""
    records = _records()
    sources = home / "in"
    sources.mkdir()
    _lines(sources / "a.jsonl", records, broken=True)
    _lines(sources / "b.jsonl.gz", [*records[3:5], {"id": "x", "text": " ".join(words(20, 9))}])
    table = pa.Table.from_pylist([{**record, "text": record["text"] or None} for record in records[4:]])
    pyarrow.csv.write_csv(table, sources / "c.csv")
    pq.write_table(table.replace_schema_metadata({"made": "here"}), sources / "d.parquet")
    (sources / "picture.png").write_bytes(b"no text")
    return ns.dedup(str(sources), method=ns.Jaccard(threshold="0.6", shingle_size=3)).write(home / "out", pairs=True)


def _against(home: Path) -> Any:
    """With another side, in chars, and repeats that count."""
    records = _records()
    old, new = _lines(home / "old.jsonl", records[:2]), _lines(home / "new.jsonl", records[1:])
    method = ns.Jaccard(threshold="0.7", unit="chars", repeats=True, keep_case=True)
    return ns.dedup(new, against=old, within=False, method=method, keep="longest").write(home / "out", annotate=True)


def _minhash(home: Path) -> Any:
    """A method that may miss, audited; nothing unreadable is kept."""
    source = _lines(home / "a.jsonl", _records(), broken=True)
    method = ns.MinHash(threshold="0.6", shingle_size=2, stop_words=("en", "rose", "=it"))
    return ns.dedup(source, method=method, keep="max:rank").write(home / "out", drop_unreadable=True)


def _layers(home: Path) -> Any:
    """Several layers, one after the other."""
    records = _records()
    for record, number in zip(records, (0, 1, 2, 3, 1, 5, 5, 7, 8, 9), strict=True):
        record["url"] = f"https://h.example/{number}"
    source = _lines(home / "a.jsonl", [*records, {**records[3], "id": "late", "url": None}])
    method = ns.Jaccard(threshold="0.6", shingle_size=2)
    return ns.dedup(source, use="url,digest,text", keep="last", method=method).write(home / "out", pairs=True)


def _texts(home: Path) -> Any:
    """A folder of text files, copied and annotated."""
    for record in _records():
        place = home / "in" / record["id"][0] / f"{record['id']}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(record["text"], "utf-8")
    method = ns.Digest(normalise=True, keep_punctuation=True)
    return ns.dedup(str(home / "in"), method=method).write(home / "out", copy_files=True, annotate=True)


def _rare(home: Path) -> Any:
    """SimHash codes of TF-IDF weights, confirmed."""
    source = _lines(home / "a.jsonl", _records())
    method = ns.SimHash(k=16, weights="tfidf", confirm="jaccard", threshold="0.5", nfkc=True, strip_accents=True)
    return ns.dedup(source, method=method).write(home / "out")


def _chains(home: Path) -> Any:
    """Components: a chain whose ends are not alike."""
    all_words = words(40, 5)
    chain = [" ".join(all_words[start : start + 20]) for start in (0, 3, 6, 9)]
    source = _lines(home / "a.jsonl", [{"id": f"n{number}", "text": text} for number, text in enumerate(chain)])
    method = ns.Jaccard(threshold="0.5", shingle_size=1, drop_boilerplate=3)
    return ns.dedup(source, clusters="components", method=method).write(home / "out", pairs=True)


def _angles(home: Path) -> Any:
    """Cosines of sets; one of them is the threshold, which has no decimal fraction."""
    twos = [{"id": "two", "text": "alpha beta gamma"}, {"id": "three", "text": "alpha beta delta"}]
    source = _lines(home / "a.jsonl", [*_records(), *twos])
    return ns.dedup(source, method=ns.Cosine(threshold="2/3", shingle_size=1)).write(home / "out", pairs=True)


def _hosts(home: Path) -> Any:
    """Two hosts with footers of their own, one that is too small, and a page without a URL."""
    pages = []
    for host, number in (("one.org", 25), ("two.org", 24), ("small.org", 3)):
        footer = " ".join(words(9, len(host)))
        for page in range(number):
            own = " ".join(words(12, 100 + page // 2))
            text = f"{own} {footer} {page % 2}" if page % 5 else own  # 20 of 25 have it: just as many as are asked for
            pages.append({"id": f"{host}-{page}", "url": f"http://{host}/{page}", "text": text})
    pages.append({**pages[0], "id": "nowhere", "url": None})
    method = ns.Jaccard(threshold="0.6", shingle_size=2, boilerplate_per_host=0.8)
    return ns.dedup(_lines(home / "a.jsonl", pages), method=method).write(home / "out", pairs=True)


def _index(home: Path) -> Any:
    """Lines of an index, with metadata and a line that cannot be read."""
    lines = [" CDX N b a m s k r V g", "a b"]
    for number in range(9):
        url, digest = (
            f"http://a.example/{number % 7}?utm_source={number}",
            "-" if number == 5 else f"{'Dd'[number % 2]}{number % 4 // 2}",
        )
        lines.append(f"example,a)/ 2020010{number + 1}030405 {url} text/html 200 {digest} - {number} a.warc")
    (home / "a.cdx").write_text("\n".join(lines) + "\n")
    return ns.dedup(str(home / "a.cdx"), method="digest", keep="newest:date").write(home / "out")


def _contained(home: Path) -> Any:
    """Containment with a floor, and ties by content."""
    records = _records()
    table = pa.Table.from_pylist([*records, {**records[0], "id": "part", "text": " ".join(words(24, 1)[:14])}])
    with pa.OSFile(str(home / "a.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    method = ns.Containment(threshold="0.8", jaccard_floor="0.1", shingle_size=2, overlapping=True)
    return ns.dedup(str(home / "a.arrow"), method=method, ties="content").write(home / "out", pairs=True)


def _estimated(home: Path) -> Any:
    """Fingerprints, whose pairs tell the exact values, too."""
    source = _lines(home / "a.jsonl", _records())
    return ns.dedup(source, method=ns.ModP(modulus=2, floor=8, threshold="0.5")).write(home / "out", pairs=True)


def _confirmed(home: Path) -> Any:
    """Sets that are alike, whose letters must be so as well."""
    source = _lines(home / "a.jsonl", _records())
    method = ns.Jaccard(threshold="0.4", unit="chars", shingle_size=3, confirm="edit", confirm_threshold="0.7")
    return ns.dedup(source, method=method).write(home / "out", pairs=True)


KINDS: dict[str, Kind] = {
    "plain": _plain,
    "against": _against,
    "minhash": _minhash,
    "layers": _layers,
    "hosts": _hosts,
    "index": _index,
    "texts": _texts,
    "rare": _rare,
    "confirmed": _confirmed,
    "chains": _chains,
    "angles": _angles,
    "contained": _contained,
    "estimated": _estimated,
}


def make(kind: str, home: Path) -> Path:
    """An output of a kind, below a folder."""
    KINDS[kind](home)
    return home / "out"
