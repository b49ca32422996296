"""An output of `leaks` proved again from its sources: what it says is so, and what it does not say is not.

1. Every document is looked through for every text, by words; each line of `spans` must be what that finds, and the
   other tables, the counts and `kept/` must follow from it.
2. The records of benchmarks are read by the product, and so are training data that have no reader here.
"""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearsame.proofs import tables
from nearsame.proofs.files import Part, Record, first_line, listed_files, same_bytes
from nearsame.proofs.leak_search import StandingText, WordSearch, counts_of, items_of, matrix_of, name_of
from nearsame.proofs.leak_texts import Benchmark, Read, Rule, read_texts, shingles, words_of
from nearsame.proofs.records import Reader, default_id
from nearsame.proofs.tables import Form, Look
from nearsame.proofs.verdict import Findings, Verification

__all__ = ["LeakClaims", "is_leaks", "prove_leaks", "read_record"]

_TEXT, _WHOLE, _SHARE = pa.string(), pa.int64(), pa.float64()
_WHERE = {"benchmark": _TEXT, "item": _TEXT, "column": _TEXT}
_PASSAGES = {
    **_WHERE, "id": _TEXT, "source": _TEXT, "row": _WHOLE, "score": _SHARE, "shared": _WHOLE, "shingles": _WHOLE,
    "start": _WHOLE, "end": _WHOLE, "passage": pa.large_string(), "item_start": _WHOLE, "item_end": _WHOLE,
    "item_passage": pa.large_string(),
}  # fmt: skip
_FORMS = {
    "items": {"benchmark": _TEXT, "item": _TEXT, "score": _SHARE, "columns": pa.list_(_TEXT), "documents": _WHOLE},
    "spans": _PASSAGES,
    "matrix": {"benchmark": _TEXT, "source": _TEXT, "items": _WHOLE, "documents": _WHOLE},
    "unsought": {**_WHERE, "reason": _TEXT},
    "boilerplate": {"benchmark": _TEXT, "shingle": _TEXT, "texts": _WHOLE},
}

_Span = tuple[int, int]


def is_leaks(home: Path) -> bool:
    """Whether a folder is what `leaks` wrote on one machine."""
    return os.path.isfile(home / "spans.parquet") and not os.path.exists(home / "removed.parquet")  # noqa: PTH110, PTH113  (a name that no file can have is no error)


def read_record(home: Path, findings: Findings) -> dict[str, Any] | None:
    """What stats.json says; None, and a finding, where that is not what `leaks` writes."""
    try:
        record = json.loads((home / "stats.json").read_bytes())
        Rule.of(record["settings"])
        missing = [name for name in ("stats", "remove", "items", "matrix", "boilerplate") if name not in record]
    except (OSError, ValueError, TypeError, KeyError, RecursionError, ZeroDivisionError) as error:
        findings.wrong("stats.json", f"it cannot be read: {first_line(error)}")
        return None
    findings.wrong_all("stats.json", (f"it has no {name}" for name in missing))
    return None if missing else record


@dataclass
class LeakClaims:
    """An output folder.

    Attributes:
        home: where it is.
        record: stats.json.
        parts: the training data.
        told: the tables, by name, as lists of lines.
    """

    home: Path
    record: Mapping[str, Any]
    parts: Sequence[Part]
    told: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def remove(self) -> str:
        """What was removed from kept/: documents, spans or none."""
        return str(self.record["remove"])

    def read(self, findings: Findings, look: Look) -> None:
        """Read the tables; one that is damaged is a finding, and empty."""
        forms = _FORMS | ({"cuts": {**_PASSAGES, "left": pa.bool_()}} if self.remove == "spans" else {})
        for name, columns in forms.items():
            table = tables.read(self.home, f"{name}.parquet", Form(columns), findings, look)
            self.told[name] = [] if table is None else table.to_pylist()


def prove_leaks(
    claims: LeakClaims, benchmarks: Sequence[Benchmark], reader: Reader, findings: Findings, *, everything: bool
) -> Verification:
    """Prove an output of `leaks`.

    Args:
        claims: What it says.
        benchmarks: What was looked for.
        reader: How the training data are read.
        findings: What was found before.
        everything: Whether documents of which nothing is said are looked through, too.
    """
    claims.read(findings, reader.look)
    settings = claims.record["settings"]
    read = read_texts(benchmarks, settings)
    proof = _Proof(WordSearch.of(read, Rule.of(settings)), findings, everything)
    said = defaultdict[tuple[str, int], list[dict[str, Any]]](list)
    for line in claims.told["spans"]:
        said[line["source"], line["row"]].append(line)
    for part in claims.parts:
        for record in reader.documents(part):
            proof.look(part, record, said.pop((part.name, record.position), []))
    for (source, row), lines in said.items():
        findings.wrong(f"spans.parquet, {source}, record {row}", f"no such document was read, of {len(lines)} lines")
    findings.wrong_all("the sources", (f"{name}: {why}" for name, why in reader.broken.items()))
    if everything:
        _check_tables(claims, read, proof, findings)
    else:
        findings.note("documents of which the output says nothing were not looked through")
    if claims.remove != "none":
        _check_kept(claims, proof, reader, findings)
    findings.note("the records of benchmarks were read by the product's own readers")
    known = tuple(findings.problems), dict(findings.checked)
    return Verification(str(claims.home), findings.num_problems, *known, notes=tuple(findings.notes))


@dataclass
class _Proof:
    """What is found, document by document, and held to what is said."""

    search: WordSearch
    findings: Findings
    everything: bool
    documents: int = 0
    text_bytes: int = 0
    hits: list[StandingText] = field(default_factory=list)

    @property
    def leaked(self) -> set[tuple[str, int]]:
        """The documents in which an item stands."""
        return {(hit.source, hit.row) for hit in self.hits}

    def look(self, part: Part, record: Record, lines: Sequence[dict[str, Any]]) -> None:
        """Look through a document, and hold what is said of it to what is there."""
        text = record.content or ""
        self.documents += 1
        self.text_bytes += len(text.encode("utf-8", "surrogatepass"))
        self.findings.count("documents")
        self.findings.count("spans", len(lines))
        if not (lines or self.everything):
            return
        words = words_of(text)
        hits = [
            StandingText(number, one, part.name, record.position, best)
            for asked, best in self.search.of_words(words).items()
            for number, one in self.search.texts[asked]
        ]
        self.hits += hits
        place = f"spans.parquet, {part.name}, record {record.position}"
        self.findings.wrong_all(place, self._untold(hits, lines))
        for line in lines:
            own = [hit for hit in hits if name_of(self.search.read, hit.text) == _named(line)]
            wrong = [_wrong_in(line, text, words, hit, self.search.rule) for hit in own] or ["it does not stand there"]
            if line["id"] != default_id(part, record):
                wrong = [f"the document is {default_id(part, record)}, not {line['id']}"]
            if all(wrong):
                self.findings.wrong(place, f"{' '.join(_named(line))}: {wrong[0]}")

    def _untold(self, hits: Sequence[StandingText], lines: Sequence[dict[str, Any]]) -> Iterator[str]:
        waiting = Counter(map(_named, lines))
        waiting.subtract(name_of(self.search.read, hit.text) for hit in hits)
        for name, number in waiting.items():
            if number < 0:
                yield f"{' '.join(name)} stands there, and is not told"


def _named(line: Mapping[str, Any]) -> tuple[str, str, str]:
    return line["benchmark"], line["item"], line["column"]


def _wrong_in(line: Mapping[str, Any], text: str, words: Sequence[str], hit: StandingText, rule: Rule) -> str:
    """What is wrong with a line about a text that stands in a document; nothing if all is right."""
    asked, (shared, first, behind) = hit.text.asked, hit.best
    told = line["shared"], line["shingles"], line["score"]
    if told != (shared, len(asked.asked), hit.score):
        return (
            f"{told[0]} of {told[1]} shingles ({told[2]}) are said to be there, and {shared} of {len(asked.asked)} are"
        )
    window = tuple(words[first:behind])
    if not _is_passage([text], line["start"], line["end"], line["passage"], tuple(words), first, behind):
        return "the passage is not the window with the largest share"
    begins, ends = 0, len(asked.words)
    if not asked.is_whole(rule):
        starts = [asked.every[shingle] for shingle in shingles(window, rule.size) if shingle in asked.asked]
        begins, ends = min(starts), max(starts) + rule.size
    place = line["item_start"], line["item_end"], line["item_passage"]
    if not _is_passage(hit.text.given, *place, asked.words, begins, ends):
        return "the passage of the item is not what the window has of it"
    return ""


def _is_passage(  # noqa: PLR0913, PLR0917  (where it is said to stand, and what must stand there)
    pieces: Sequence[str], start: int, end: int, said: str, words: tuple[str, ...], first: int, behind: int
) -> bool:
    """Whether a passage is the words from the first to behind the last, and these alone.

    A character that is in several words (½, ﷺ, ำ) goes as a whole, so that there may be more; then no less will do.
    """
    whole = "\n".join(pieces)
    if not whole[start:end] == said == said.strip():
        return False
    if _words(pieces, 0, start) == words[:first] and _words(pieces, start, end) == words[first:behind]:
        return True
    num = len(words) - first
    begins = [_words(pieces, at, len(whole))[-num:] == words[first:] for at in (start, start + 1)]
    ends = [_words(pieces, 0, at)[:behind] == words[:behind] for at in (end, end - 1)]
    return begins == ends == [True, False]


def _words(pieces: Sequence[str], start: int, end: int) -> tuple[str, ...]:
    """The words of a part of a text, each piece of which is read by itself."""
    words, at = list[str](), 0
    for piece in pieces:
        words += words_of(piece[max(start - at, 0) : max(end - at, 0)])
        at += len(piece) + 1
    return tuple(words)


def _check_tables(claims: LeakClaims, read: Read, proof: _Proof, findings: Findings) -> None:
    """Hold tables and counts to what was found."""
    left_out = [one for one in read.texts if one.asked.reason]
    expected = {
        "items": items_of(read, proof.hits),
        "matrix": matrix_of(read, proof.hits),
        "unsought": [dict(zip(_WHERE, name_of(read, one), strict=True), reason=one.asked.reason) for one in left_out],
        "boilerplate": [
            {"benchmark": read.names[benchmark], "shingle": " ".join(shingle), "texts": times}
            for (benchmark, shingle), times in read.common.items()
        ],
    }
    for name, lines in expected.items():
        findings.count(name, len(lines))
        told = claims.told[name]
        if sorted(map(repr, lines)) != sorted(map(repr, told)):
            findings.wrong(f"{name}.parquet", f"its {len(told):,} lines are not the {len(lines):,} that follow")
    for name in ("items", "matrix", "boilerplate"):
        if claims.record[name] != claims.told[name]:
            findings.wrong("stats.json", f"{name} are not those of {name}.parquet")
    about = {"documents": proof.documents, "text_bytes": proof.text_bytes, "leaked_documents": len(proof.leaked)}
    for name, count in (about | counts_of(read, proof.hits)).items():
        told = claims.record["stats"].get(name)
        if told != count:
            findings.wrong("stats.json", f"{name} should be {count}, and is {told}")


def _check_kept(claims: LeakClaims, proof: _Proof, reader: Reader, findings: Findings) -> None:
    """Hold what is kept to what was read: without documents or without passages, and nothing is left to be found."""
    cuts, gone = defaultdict[tuple[str, int], list[_Span]](list), proof.leaked
    if claims.remove == "spans":
        gone = {(line["source"], line["row"]) for line in claims.told["cuts"] if not line["left"]}
        for line in claims.told["cuts"]:
            cuts[line["source"], line["row"]].append((line["start"], line["end"]))
        if set(cuts) != proof.leaked:
            findings.wrong("cuts.parquet", "its documents are not those in which an item stands")
    whole = replace(reader, skipped={})  # what could not be read stays, and is read here alike on both sides
    for part in claims.parts:
        if part.form.is_folder:
            _check_files(claims, part, {row for source, row in gone if source == part.name}, cuts, proof, reader)
            continue
        if part.name in reader.unread or not part.is_own:
            findings.note(f"kept/{part.target} is not proven: an archive, or what cannot be read")
            continue
        form = "parquet" if part.format == "memory" else part.format
        copy = part._replace(paths=[str(claims.home / "kept" / part.target).encode()], format=form)
        stays = (one for one in whole.documents(part) if (part.name, one.position) not in gone)
        for number, (record, kept) in enumerate(zip_longest(stays, whole.documents(copy))):
            findings.count("kept documents")
            own = cuts.get((part.name, record.position), []) if record else []
            if problem := _wrong_in_kept(record, kept, own, proof.search):
                findings.wrong(f"kept/{part.target}, record {number}", problem)
                break


def _check_files(  # noqa: PLR0913, PLR0917  (what went of which files, and who reads and tells)
    claims: LeakClaims,
    part: Part,
    gone: AbstractSet[int],
    cuts: Mapping[tuple[str, int], Sequence[_Span]],
    proof: _Proof,
    reader: Reader,
) -> None:
    """Hold the list of the files of a folder that stay, or their copies, to what was read."""
    home, findings = claims.home / "kept" / part.target, proof.findings
    stay = [at for at in range(len(part.files)) if at not in gone]
    findings.count("kept documents", len(stay))
    if claims.remove == "documents":
        if not home.is_file() or home.read_bytes() != listed_files(part, stay)[0]:
            findings.wrong(f"kept/{part.target}", "it does not list the files in which no item stands")
        return
    paths = [home / os.fsdecode(name or b"") for name in part.files]
    changed = [at for at in stay if (part.name, at) in cuts]
    for at in range(len(paths)):
        if paths[at].is_file() == (at in gone):
            findings.wrong(f"kept/{part.target}", f"{paths[at].name} {'is there' if at in gone else 'is missing'}")
        elif at in stay and at not in changed and not same_bytes(str(paths[at]), os.fsdecode(part.paths[at] or b"")):
            findings.wrong(f"kept/{part.target}", f"{paths[at].name} is not the file that was read")
    there = [at for at in changed if paths[at].is_file()]
    if not there:
        return
    copies = part._replace(
        paths=[os.fsencode(paths[at]) for at in there],
        files=[part.files[at] for at in there],
        stamps=[(None, None)] * len(there),
    )
    sources = (record for record in reader.documents(part) if record.position in there)
    for at, record, kept in zip_longest(there, sources, replace(reader, skipped={}).documents(copies)):
        if problem := _wrong_in_kept(record, kept, cuts[part.name, at], proof.search):
            findings.wrong(f"kept/{part.target}", f"{paths[at].name}: {problem}")


def _wrong_in_kept(record: Record | None, kept: Record | None, cuts: Sequence[_Span], search: WordSearch) -> str:
    """What is wrong with a document that stays; nothing if all is right."""
    if record is None or kept is None:
        return "there is one document too many" if record is None else "a document is missing"
    if not cuts:
        return "" if (record.id, record.content) == (kept.id, kept.content) else "it is not the document that was read"
    if kept.content != _without(record.content, cuts):
        return "it is not the document without what was cut out"
    return "an item still stands in it" if search.of_words(words_of(kept.content)) else ""


def _without(text: str, cuts: Sequence[_Span]) -> str:
    """A text without some passages, with a space where two words would become one."""
    left, at = "", 0
    for start, end in sorted([*cuts, (len(text), len(text))]):
        part = text[at : max(start, at)]
        is_one_word = left and part and all(char.isalnum() or char == "_" for char in (left[-1], part[0]))
        left += f" {part}" if is_one_word else part
        at = max(at, end)
    return left
