"""DataFrames of any columns to documents that can be told apart: which columns count, and what a row is called.

1. A DataFrame has no order and its partitions may be computed again, so a row is called by its content: 63 bits of the
   SHA-256 of its side and all its columns. 64 more beside them show if two different rows got one name: these two get
   others (naming.py). Rows are the same if all 127 bits are.
2. Rows that are the same in every column are one document with a number of copies.
3. Values are spelt for the digest so that no two are spelt alike: with their lengths, and a mark for null.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property, reduce
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.engines.spark.mapping import quoted
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import SourceError
from nearsame.flow.arrays import HOST
from nearsame.frames.inputs import ORDERED, SOURCE, FramePart, not_finite, with_source
from nearsame.frames.naming import Renamed, renamed
from nearsame.frames.pages import FOUND, HEADER, extracted
from nearsame.frames.types import as_type
from nearsame.sources import Columns
from nearsame.stages.clusters.policies import Keep

__all__ = ["CARRIED", "GROUP", "STANDS", "STAY", "FrameSide", "require_one_length", "spelt_out"]

CARRIED = ("fp", "side", "bad", "id")  # beside a document's features, and the values that --keep goes by
STANDS = "stands"  # where a record of an archive does, by a number
GROUP = "grouped"  # 64 bits of its group, 0 of none: mixed into all that documents meet by
STAY = "these documents stay, and are compared with nothing"
_BITS = (1 << 63) - 1  # of a name
_KINDS = {"text": "string", "items": "array<string>", "vector": "array<double>"}
_BYTES = frozenset({"string", "char", "varchar", "binary"})
_DIGITS = frozenset({"byte", "short", "integer", "long", "float", "double"})
_NESTED = frozenset({"struct", "map", "variant"})
_MOMENT = "cast(unix_micros({}) as string)"  # whatever the session's time zone, and whatever the clock said twice
# ASCII, characters of 2, 3 and 4 bytes, and a byte that is of none
_UTF8_OR_BYTE = (
    r"[\x00-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    r"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    r"|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]"
)
_JSON = "map('ignoreNullFields', 'false')"


@dataclass(frozen=True, eq=False)
class FrameSide:
    """The documents of one side.

    Attributes:
        number: 0 for the `against` side, else 1.
        parts: the frames that were given, with the same columns.
        columns: which columns count.
        keep: what comes first.
        orders: of columns that it goes by the type in which they are compared.
        group_by: what two documents must have in common: a column, or `host`.
        as_pages: whether what is known of documents as pages is read, too.
        of_pages: whether there are pages on some side, so that texts are taken out of all documents.
        of_archives: whether there are archives on some side, whose records are in order.
        of_numbers: whether ready features are whole numbers on all sides: stages spell them, which takes Java longer.
    """

    number: int
    parts: tuple[FramePart, ...]
    columns: Columns
    keep: Keep
    orders: Mapping[str, str] = field(default_factory=dict)
    group_by: str | None = None
    as_pages: bool = False
    of_pages: bool = False
    of_archives: bool = False
    of_numbers: bool = False

    @cached_property
    def frame(self) -> Any:
        """All parts as one."""
        return reduce(lambda one, other: one.union(other), (part.frame for part in self.parts))

    def named(self, names: Sequence[Renamed]) -> Any:
        """The frame with `nearsame_row`, what each row is called, and `nearsame_fp`, 64 more bits of its digest."""
        frame = _named(self.frame, self.number, self.frame.schema)
        return frame.withColumn("nearsame_row", Verbs.expression(renamed(names, "nearsame_row", "nearsame_fp")))

    def documents(self) -> Any:
        """What the stages need of each row: row (nothing is renamed yet), content, and CARRIED."""
        return self.as_texts(self.records())

    def as_texts(self, records: Any) -> Any:
        """Some of the records with texts in place of web pages; of pages taken for their bytes, without a header."""
        if not self.of_pages:
            return records.drop(*HEADER)
        return records if FOUND[0] in records.columns else extracted(records, self.columns)

    def records(self, *, placed: bool = False, by_stages: bool = False) -> Any:
        """The same as it came: of a web page its markup; of one in an archive that and HEADER, or its text and FOUND.

        Args:
            placed: Whether the file that each stands in is beside it, as `source`; null where Spark does not tell.
            by_stages: Whether stages are told these documents before anybody else, so that they can see which of the
                texts are UTF-8 (mapping.py): `bad` is null of those that nobody has asked about.
        """
        by_stages = by_stages and not self.of_pages
        parts = (self._records(part, placed=placed, by_stages=by_stages) for part in self.parts)
        return reduce(lambda one, other: one.union(other), parts)

    def _records(self, part: FramePart, *, placed: bool, by_stages: bool) -> Any:
        chosen, frame = part.chosen, part.frame if part.pages is None else part.pages
        frame = with_source(frame, is_archive=part.is_archive) if placed else frame
        fits = _fits(part, self.columns, by_stages=by_stages)
        named = _named(frame, self.number, part.frame.schema).withColumn("nearsame_fits", fits)
        return named.selectExpr(
            "nearsame_row as row",
            f"{_content(part, *self.content)} as {self.content[0]}",
            "nearsame_fp as fp",
            f"{self.number} as side",
            f"{_is_bad(part, self.columns, by_stages=by_stages)} as bad",
            "cast(null as string) as id" if chosen.id is None else f"{spelt_out(part, chosen.id)} as id",
            *(f"{self._order(part, str(policy.column))} as {name}" for name, policy in self.keep.values.items()),
            *([] if self.group_by is None else [f"{self._group(part, self.group_by)} as {GROUP}"]),
            *(f"{_beside(part, name)} as {own}" for name, own in self.beside.items()),
            *([f"{ORDERED if part.is_archive else 'cast(null as bigint)'} as {STANDS}"] if self.of_archives else []),
            *([] if part.pages is None else HEADER if part.as_they_came else FOUND),
            *((f"{SOURCE} as source",) if placed else ()),
        )

    @property
    def content(self) -> tuple[str, str]:
        """What documents are made of: the column that stages read, and its type."""
        name = _column_of(self.columns)
        return name, "array<bigint>" if name == "items" and self.of_numbers else _KINDS[name]

    @property
    def beside(self) -> dict[str, str]:
        """What is known of documents as pages: what records call these columns."""
        return {name: f"beside{number}" for number, name in enumerate(self.columns.beside)} if self.as_pages else {}

    @property
    def extras(self) -> tuple[str, ...]:
        """What else records have that nobody is compared by: what is known of pages, and where they stand."""
        return (*self.beside.values(), *([STANDS] if self.of_archives else []))

    def _group(self, part: FramePart, name: str) -> str:
        """What a document's group is called; of hosts, its URL."""
        if name == HOST:
            return _beside(part, self.columns.beside[0])
        value, kind = self._value(part, name), self.orders[name]
        value = f"{value} + 0" if kind in ("float", "double") else value  # -0.0 is 0.0
        return _MOMENT.format(value) if kind == "timestamp" else f"cast({value} as string)"

    def _order(self, part: FramePart, column: str) -> str:
        value = self._value(part, column)
        is_number = self.orders[column] in ("float", "double")
        return f"if(isnan({value}), null, {value})" if is_number else value  # NaN has no place

    def _value(self, part: FramePart, column: str) -> str:
        common = self.orders[column]
        if column not in part.chosen.order:
            return f"cast(null as {common})"
        value, kind = quoted(column), dict(part.frame.dtypes)[column]
        return value if kind == common else as_type(value, kind, common, "try_cast")


def _content(part: FramePart, name: str, kind: str) -> str:
    """What a document is made of, null where it cannot be read."""
    content = f"cast({quoted(part.chosen.content or '')} as {kind})"
    if name == "vector":  # one that holds something else than finite numbers says nothing
        return f"if({not_finite(content)}, null, {content})"
    if name == "items":  # an item that is null says nothing about its document
        return f"array_compact({content})"
    return f"if(nearsame_fits, {content}, null)"


def _fits(part: FramePart, columns: Columns, *, by_stages: bool) -> Any:
    """Whether a text is UTF-8 and not too long, asked once for each; null where there is none; true of any page.

    Java asks byte by byte whether it is UTF-8, which took a fifth of the time of reading; stages ask Arrow.
    """
    if _column_of(columns) != "text" or part.as_they_came:
        return Verbs.expression("true")
    text = f"cast({quoted(part.chosen.text or '')} as string)"
    valid = "true" if by_stages else f"is_valid_utf8({text})"
    if part.delimited:  # Spark has put this in place of what was none
        valid = f"not contains({text}, '\N{REPLACEMENT CHARACTER}')"
    return Verbs.expression(f"{valid} and octet_length({text}) <= {columns.max_record}")


def _beside(part: FramePart, name: str) -> str:
    """What is known besides the content, as a string; null where nothing is, and for lists and records."""
    kind = part.frame.schema[name].dataType.typeName() if name in part.chosen.beside else "void"
    return "cast(null as string)" if kind in {"array", "void", *_NESTED} else spelt_out(part, name)


def spelt_out(part: FramePart, name: str) -> str:
    """A value as a string; a byte that is no UTF-8 is written as one machine does, as a backslash, an x and its hex."""
    value = f"cast({quoted(name)} as string)"
    if part.frame.schema[name].dataType.typeName() not in _BYTES:
        return value
    latin = f"decode(cast({value} as binary), 'ISO-8859-1')"  # a character for each byte
    byte = "encode(x, 'ISO-8859-1')"
    told = f"if(length(x) = 1 and hex({byte}) >= '80', concat(r'\\x', lower(hex({byte}))), decode({byte}, 'UTF-8'))"
    spelt = f"array_join(transform(regexp_extract_all({latin}, r'{_UTF8_OR_BYTE}', 0), x -> {told}), '')"
    return f"if(is_valid_utf8({value}), {value}, {spelt})"


def _is_bad(part: FramePart, columns: Columns, *, by_stages: bool) -> str:
    """Whether a text is too long, or no UTF-8 where nobody has counted that; null where stages are to tell."""
    if _column_of(columns) != "text" or part.pages is not None:
        return "false"
    if not part.delimited:
        fitting = "cast(null as boolean)" if by_stages else "false"
        return f"if(nearsame_fits is null, false, if(nearsame_fits, {fitting}, true))"
    return f"coalesce(octet_length(cast({quoted(part.chosen.text or '')} as string)) > {columns.max_record}, false)"


def _named(frame: Any, side: int, schema: Any) -> Any:
    """The frame with `nearsame_row` and `nearsame_fp`: 63 and 64 bits of a digest of columns of each row."""
    if any(field.dataType.typeName() == "struct" for field in schema.fields):
        frame = frame.toDF(*frame.columns)  # `a`.`b` is the field b of a, and not the column b of a frame called a
    spelt = ", ".join(f"coalesce({_spelt(quoted(field.name), field.dataType)}, 'n')" for field in schema.fields)
    digested = frame.selectExpr("*", f"sha2(cast(concat_ws(',', {side}, {spelt}) as binary), 256) as nearsame_digest")
    first, second = (f"cast(conv(substring(nearsame_digest, {at}, 16), 16, -10) as bigint)" for at in (1, 17))
    return digested.selectExpr("*", f"{first} & {_BITS}L as nearsame_row", f"{second} as nearsame_fp").drop(
        "nearsame_digest"
    )


def _spelt(name: str, kind: Any, depth: int = 0) -> str:
    """A value as a string that no other value of its type has; null for null."""
    what = kind.typeName()
    if what == "void":
        return "cast(null as string)"
    if what in _BYTES:  # as bytes: what a collation holds for equal is not the same
        return _counted(name)
    if what == "array" and kind.elementType.typeName() in _DIGITS:  # in a tenth of the time of what is below
        return f"to_json({name}, {_JSON})"
    if what == "array":
        element = _spelt(f"x{depth}", kind.elementType, depth + 1)
        values = f"array_join(transform({name}, x{depth} -> coalesce({element}, 'n')), ',')"
        return f"concat(size({name}), '[', {values}, ']')"
    if what in _NESTED:
        return _spelt_nested(name, kind, depth)
    return _MOMENT.format(name) if what == "timestamp" else f"cast({name} as string)"


def _spelt_nested(name: str, kind: Any, depth: int) -> str:
    """The same of a record, a map or a variant."""
    what = kind.typeName()
    if what == "map":
        of = {"key": kind.keyType, "value": kind.valueType}
        key, value = (_spelt(f"x{depth}.{part}", inner, depth + 1) for part, inner in of.items())
        entries = f"transform(map_entries({name}), x{depth} -> concat({key}, '=', coalesce({value}, 'n')))"
        return f"concat(size({name}), '{{', array_join({entries}, ','), '}}')"
    if what == "struct" and len({field.lower() for field in kind.names}) == len(kind) > 0:
        fields = (_spelt(f"{name}.{quoted(field.name)}", field.dataType, depth) for field in kind.fields)
        values = ", ".join(f"coalesce({field}, 'n')" for field in fields)
        return f"if({name} is null, null, concat_ws(',', '(', {values}))"
    return _counted(f"to_json(struct({name}), {_JSON})")  # SQL has no word for one of several fields of one name


def _counted(text: str) -> str:
    """Bytes behind their number: then whatever is in them, it is known where they end."""
    return f"concat(octet_length({text}), ':', cast(cast({text} as binary) as string))"


def require_one_length(documents: Any) -> None:
    """Refuse vectors of several lengths.

    Raises:
        SourceError: There are some.
    """
    lengths = documents.filter("size(vector) > 0").selectExpr("min(size(vector)) as least", "max(size(vector)) as most")
    least, most = lengths.first()
    if least != most:
        message = f"the DataFrame has vectors of {least} and of {most} numbers"
        raise SourceError(message, hint="Give vectors of one length, from one model.")


def _column_of(columns: Columns) -> str:
    """What documents are made of: the column that stages read."""
    if columns.vectors is not None:
        return "vector"
    return "items" if columns.items is not None else "text"
