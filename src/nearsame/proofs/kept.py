"""Whether kept/ is what was read without what is removed: in order, and byte for byte where a format is bytes."""

import json
import os
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.errors import NearSameError
from nearsame.proofs.archive_bytes import problem_of_records
from nearsame.proofs.archives import Archive, problem_of_lines
from nearsame.proofs.claims import Claims
from nearsame.proofs.files import BROKEN, Part, Piece, csv_fields, first_line, listed_files, packing, raw, same_bytes
from nearsame.proofs.pieces import pieces_at
from nearsame.proofs.places import annotations_of
from nearsame.proofs.records import Opened, Reader
from nearsame.proofs.revisit_copies import RevisitCopies
from nearsame.proofs.revisits import stored_records
from nearsame.proofs.unpacking import goes_on
from nearsame.proofs.values import is_string, stored
from nearsame.proofs.verdict import Findings

__all__ = ["ADDED", "Kept"]

_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
ADDED = ("cluster", "witness_id", "num_duplicates")
Added = Mapping[int, tuple[Any, ...]]


class Kept:
    """The copies of one output."""

    def __init__(self, claims: Claims, reader: Reader, findings: Findings) -> None:
        self.claims = claims
        self.reader = reader
        self.findings = findings
        self._revisits = RevisitCopies(claims, findings)

    def passing(self, part: Part, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """The same pieces; those that stay are held to the copy as they pass."""
        path = self._path(part)
        broken: dict[str, str] = {}
        copied = iter(pieces_at(str(path), part, broken, part.name)) if path.is_file() else iter(())
        gone, added = self._gone(part), self.added(part)
        line, right = 0, path.is_file()
        for piece in pieces:
            yield piece
            is_torn = self.claims.written["drop_unreadable"] and part.name in self.reader.broken
            if piece.position in gone or not right or (is_torn and piece.position is None):
                continue
            line += 1
            mine = next(copied, None)
            right = mine is not None and self._is_copy(part, piece, mine.data, added)
            if not right:
                self._differs(part, piece, line, None if mine is None else mine.data)
            elif piece.position is not None:
                self.findings.count("kept records")
        if part.name in self.reader.broken:
            self.findings.note(f"{part.name} breaks off, and what is kept of it was compared up to there")
        elif broken:
            self.findings.wrong(self._place(part), f"it cannot be read to its end: {broken[part.name]}")
        elif right and (more := next(copied, None)) is not None:
            text = more.data[:40].decode("utf-8", "replace")
            self.findings.wrong(self._place(part), f"it goes on after the last record of {part.name}: {text!r}")
        elif not path.is_file():
            self._missing(part)
        if right and not broken:
            self._check_end(part, path)

    def _check_end(self, part: Part, path: Path) -> None:
        """What is decompressed may be right, and something else may follow, of which nothing is decompressed."""
        try:
            with path.open("rb") as file:
                if goes_on(file, part.compression):
                    self.findings.wrong(self._place(part), "something follows the end of its compressed stream")
        except BROKEN as error:
            self.findings.wrong(self._place(part), f"it cannot be read to its end: {first_line(error)}")

    def check(self, part: Part) -> None:
        """Whether the copy of what is not a stream of pieces holds."""
        if part.form.reads == "nothing":
            return
        if part.name in self.claims.skips.unread:
            self._check_unread(part)
            return
        try:
            self._check(part)
        except (*BROKEN, NearSameError) as error:
            if part.name not in self.claims.skipped:
                self.findings.wrong(self._place(part), f"it cannot be compared with {part.name}: {first_line(error)}")

    def _check(self, part: Part) -> None:
        if part.form.is_folder:
            self._check_texts(part)
            if self.claims.written["annotate"]:
                self._check_annotations(part)
        elif part.form.reads == "table":
            self._check_table(part)
        else:
            if part.form.is_archive and not self.claims.has_revisits:
                self._check_bytes(part)
            documents = self._check_other(part, self._revisits.positions(part))
            if documents is not None and self.claims.written["annotate"]:
                self._check_beside(part, documents)

    def added(self, part: Part) -> Added:
        """By position, what --annotate says; nothing where that was not asked for."""
        if not self.claims.written["annotate"]:
            return {}
        annotations: dict[int, list[Any]] = {}
        table = self.claims.removed
        names = ["source", "row", "witness_source", "witness_row", "cluster", "witness_id"]
        for line in table.select(names).to_pylist():
            if line["source"] == part.name:
                annotations.setdefault(line["row"], [None, None, 0])[:2] = [line["cluster"], line["witness_id"]]
            if line["witness_source"] == part.name:
                values = annotations.setdefault(line["witness_row"], [None, None, 0])
                values[0], values[2] = line["cluster"], values[2] + 1
        return {position: tuple(values) for position, values in annotations.items()}

    def _gone(self, part: Part) -> set[int]:
        written = self.claims.written
        removed = set() if written["annotate"] else self.claims.positions(part.number)
        return removed | (self.claims.skipped.get(part.name, set()) if written["drop_unreadable"] else set())

    def _path(self, part: Part) -> Path:
        return self.claims.home / "kept" / part.target

    def _place(self, part: Part) -> str:
        return f"kept/{part.target}"

    def _is_copy(self, part: Part, piece: Piece, mine: bytes, added: Added) -> bool:
        if not self.claims.written["annotate"]:
            return piece.data == mine
        if part.form.reads == "rows":
            return self._is_wider(part, piece, mine, added)
        skipped = self.claims.skipped.get(part.name, set())
        if piece.position is None or piece.position in skipped:
            return piece.data.rstrip() == mine.rstrip() or _annotates(piece.data, mine, (None, None, None))
        return _annotates(piece.data, mine, added.get(piece.position, (None, None, 0)))

    def _is_wider(self, part: Part, piece: Piece, mine: bytes, added: Added) -> bool:
        body, delimiter = piece.data.rstrip(b"\r\n"), part.form.delimiter or ","
        if not body or not mine.startswith(body) or not mine.endswith(piece.data[len(body) :]):
            return piece.data == mine
        fields = csv_fields(mine, delimiter)[-3:]
        if piece.position is None:
            return fields == [name.encode() for name in ADDED]
        if piece.position in self.claims.skipped.get(part.name, set()):
            return mine in (piece.data, body + 3 * delimiter.encode() + piece.data[len(body) :])
        values = added.get(piece.position, (None, None, 0))
        return fields == [b"" if value is None else str(value).encode() for value in values]

    def _differs(self, part: Part, piece: Piece, line: int, mine: bytes | None) -> None:
        what = f"record {piece.position} of {part.name}" if piece.position is not None else f"a line of {part.name}"
        if mine is None:
            self.findings.wrong(self._place(part), f"it ends where {what} should stand")
            return
        at = next(
            (i for i, (a, b) in enumerate(zip(piece.data, mine, strict=False)) if a != b),
            min(len(piece.data), len(mine)),
        )
        place = f"{self._place(part)}, {'record' if part.form.reads == 'rows' else 'line'} {line}"
        self.findings.wrong(place, f"it is not {what}: they differ at byte {at}")

    def _missing(self, part: Part) -> None:
        self.findings.wrong(self._place(part), f"the copy of {part.name} is missing")

    def _check_unread(self, part: Part) -> None:
        """A file of which nothing could be read is copied as it is, or with --drop-unreadable left out."""
        path = self._path(part)
        if self.claims.written["drop_unreadable"]:
            if path.exists():
                self.findings.wrong(self._place(part), f"nothing of {part.name} could be read, yet it exists")
        elif not path.is_file() or not same_bytes(str(path), part.path):
            self.findings.wrong(self._place(part), f"it is not {part.name}, which could not be read, as it is")

    def _check_texts(self, part: Part) -> None:
        gone = self._gone(part)
        stay = [at for at in range(len(part.files)) if at not in gone]
        if self.claims.written["copy_files"]:
            for at in stay:
                self._check_file(part, at)
            return
        listed = self._path(part)
        if not listed.is_file():
            self._missing(part)
            return
        wanted, end = listed_files(part, stay)
        if listed.read_bytes() != wanted:
            pairs = zip_longest(wanted.split(end), listed.read_bytes().split(end), fillvalue=b"")
            line, (a, b) = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
            shown = (name.decode("utf-8", "replace") for name in (b, a))
            self.findings.wrong(f"{self._place(part)}, line {line}", "it is {!r}, and should be {!r}".format(*shown))
        else:
            self.findings.count("kept records", len(stay))

    def _check_file(self, part: Part, at: int) -> None:
        name = os.fsdecode(part.files[at] or b"")
        copy = self._path(part) / name
        if not copy.is_file():
            self.findings.wrong(f"{self._place(part)}/{name}", "the copy is missing")
        elif not same_bytes(str(copy), os.fsdecode(part.paths[at] or b"")):
            self.findings.wrong(f"{self._place(part)}/{name}", "it is not what was read")
        else:
            self.findings.count("kept records")

    def _check_annotations(self, part: Part) -> None:
        """Beside the list of text files, or among their copies, stands a line for each that stays."""
        gone, added, skipped = self._gone(part), self.added(part), self.claims.skipped.get(part.name, set())
        lines = []
        for at, name in enumerate(part.files):
            if at not in gone:
                path = (name or b"").decode("utf-8", "backslashreplace")
                values = (None, None, None) if at in skipped else added.get(at, (None, None, 0))
                lines.append({"path": path, **dict(zip(ADDED, values, strict=True))})
        place = self.claims.home / os.fsdecode(annotations_of(self.claims, part) or b"")
        data = place.read_bytes() if place.is_file() else b"-"
        if data[-1:] in (b"", b"\n") and [json.loads(line) for line in data.split(b"\n")[:-1]] == lines:
            return
        self.findings.wrong(
            self._place(part), "the annotations of its files are missing, or are not those of its documents"
        )

    def _check_table(self, part: Part) -> None:
        path = self._path(part)
        if not path.is_file():
            self._missing(part)
            return
        self._check_end(part, path)
        copy = part._replace(format="parquet", compression=None) if part.format == "memory" else part
        with self.reader.table(part) as source, self.reader.table(copy, str(path)) as copied:
            problem = _schema_problem(source, copied, annotated=self.claims.written["annotate"])
            if problem:
                self.findings.wrong(self._place(part), problem)
            kinds = copied.schema
            self._check_rows(part, _rows(source.batches(None), kinds), _rows(copied.batches(None), kinds))
            rest = 0 if self.claims.written["drop_unreadable"] else source.rest()
            if copied.rest() != rest:
                self.findings.wrong(
                    self._place(part), f"what follows its records is not what follows those of {part.name}"
                )

    def _check_rows(self, part: Part, source: Iterator[dict[str, Any]], copied: Iterator[dict[str, Any]]) -> None:
        gone, added, written = self._gone(part), self.added(part), self.claims.written
        for position, row in enumerate(source):
            if position in gone:
                continue
            values = [
                value.encode() if isinstance(value, str) else value for value in added.get(position, (None, None, 0))
            ]
            more = dict(zip(ADDED, values, strict=True)) if written["annotate"] else {}
            if position in self.claims.skipped.get(part.name, ()):
                more = dict.fromkeys(more)
            mine = next(copied, None)
            if mine is None or repr(mine) != repr(row | more):
                what = "it ends where" if mine is None else "it has something else where"
                self.findings.wrong(self._place(part), f"{what} record {position} of {part.name} should stand")
                return
            self.findings.count("kept records")
        if next(copied, None) is not None:
            self.findings.wrong(self._place(part), f"it goes on after the last record of {part.name}")

    def _check_bytes(self, part: Part) -> None:
        """Of an archive also what is not a document: all of it, or where some went, what are whole records."""
        path, written = self._path(part), self.claims.written
        if not path.is_file():
            return
        gone = set() if written["annotate"] else self._gone(part)
        if not gone and not written["drop_unreadable"]:
            if not same_bytes(str(path), part.path):
                self.findings.wrong(self._place(part), f"nothing of {part.name} was removed, and it is not as that is")
            return
        if part.format != "warc":
            return
        source, copy = (raw(at, packing(at, part.compression)) for at in (part.path, str(path)))
        try:
            problem = problem_of_records(stored_records(source), stored_records(copy), gone)
        except BROKEN as error:
            problem = f"its records cannot be told apart: {first_line(error)}"
        if problem and self._is_whole(part):
            self.findings.wrong(self._place(part), problem)

    def _is_whole(self, part: Part) -> bool:
        """Whether an archive is whole records from end to end, as many as the product has read."""
        try:
            packed = packing(part.path, part.compression)
            return len(self.reader.labels(part, None)) == _num_records(part.path, packed)
        except BROKEN:
            return False

    def _check_other(self, part: Part, revisits: AbstractSet[int]) -> set[int] | None:
        """By the product's reader: the documents of the copy are those that stay; their positions, if they are."""
        path = self._path(part)
        if not path.exists():
            self._missing(part)
            return None
        read = revisits if self.claims.columns["bare"] else frozenset[int]()  # revisits are documents there, too
        gone, positions = (self._gone(part) | revisits) - read, set(revisits)
        stay = (document for document in self.reader.other(part, None) if document.position not in gone)
        for record, mine in zip_longest(stay, self.reader.other(part, str(path))):
            if record is not None and mine is not None and record.position in read:
                continue  # what it leads to has been looked at
            if record is None or mine is None or record[1:] != mine[1:]:
                what = f"record {record.position} of {part.name}" if record is not None else "nothing"
                self.findings.wrong(self._place(part), f"it has something else where {what} should stand")
                return None
            positions.add(record.position)
            self.findings.count("kept records")
        return positions

    def _check_beside(self, part: Part, documents: set[int]) -> None:
        """Beside a copied archive stands a line for each record of it."""
        name = os.fsdecode(annotations_of(self.claims, part) or b"")
        place = self.claims.home / name
        if not place.is_file():
            self.findings.wrong(name, "it is missing")
            return
        archive = Archive(self.reader.labels(part, None), documents, self._gone(part), self.added(part))
        problem = problem_of_lines(place.read_bytes(), archive, self.reader.labels(part, str(self._path(part))))
        if problem:
            self.findings.wrong(name, problem)


def _num_records(path: str, compression: str | None) -> int:
    return sum(1 for _ in stored_records(raw(path, compression)))


def _schema_problem(source: Opened, copied: Opened, *, annotated: bool) -> str:
    """What a copy has made of the columns: names, types, nulls and the metadata of the schema are to be the same."""
    wanted = source.schema
    if annotated:
        for field in (pa.field(ADDED[0], pa.int64()), pa.field(ADDED[1], pa.string()), pa.field(ADDED[2], pa.int64())):
            wanted = wanted.append(field)
    said, metadata = _saying(source.said, more=annotated), _saying(wanted.metadata, more=annotated)
    if copied.schema.names != wanted.names:
        return f"its columns are {', '.join(copied.schema.names)}, and should be {', '.join(wanted.names)}"
    kinds = _as_parquet(wanted) if copied.file == "parquet" != source.file else wanted
    for mine, theirs in zip(copied.schema, kinds, strict=True):
        if not mine.equals(theirs):
            return f"column {mine.name!r} is {_told(mine)}, and should be {_told(theirs)}"
    if (said != copied.said and source.file == copied.file) or (copied.schema.metadata or {}) != metadata:
        return "the metadata of its schema is not that of its source"
    return ""


def _saying(said: Mapping[bytes, bytes] | None, *, more: bool) -> dict[bytes, bytes]:
    """What is said besides columns; where a copy has more of them, without Spark's own list, which lacks those."""
    return {key: value for key, value in (said or {}).items() if not (more and key.endswith(_SPARK))}


def _as_parquet(schema: pa.Schema) -> pa.Schema:
    """What a schema is once it was written as Parquet, which has no seconds, and dictionaries of strings alone."""
    written = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), written)
    return pq.read_schema(pa.BufferReader(written.getvalue()))


def _told(field: pa.Field) -> str:
    return f"{field.type}{'' if field.nullable else ' without nulls'}"


def _rows(batches: Iterator[pa.RecordBatch], kinds: pa.Schema) -> Iterator[dict[str, Any]]:
    """Rows, as they are stored in columns of these types; columns that have none stay what they are."""
    for batch in batches:
        wanted = (kinds.field(name).type if name in kinds.names else None for name in batch.schema.names)
        columns = [_stored(column, kind) for column, kind in zip(batch.columns, wanted, strict=True)]
        yield from pa.table(columns, batch.schema.names).to_pylist()


def _stored(column: pa.Array, kind: pa.DataType | None) -> pa.Array:
    column.validate(full=not (pa.types.is_nested(column.type) or is_string(column.type)))
    return stored(column if kind in (None, column.type) else column.cast(kind))


def _annotates(line: bytes, mine: bytes, values: tuple[Any, ...]) -> bool:
    """Whether a line is another with three keys more before its closing brace, and nothing else."""
    head, brace, rest = line.rpartition(b"}")
    closing = brace + rest
    if not mine.startswith(head) or not mine.endswith(closing) or len(mine) < len(line):
        return False
    added = mine[len(head) : len(mine) - len(closing)].strip().removeprefix(b",")
    try:
        return list(json.loads(b"{" + added + b"}").items()) == list(zip(ADDED, values, strict=True))
    except (RecursionError, ValueError):
        return False
